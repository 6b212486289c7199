"""Draws are balanced, nested, disjoint and seeded; cuts lie where they should."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.errors import UsageError
from explorer.records import Instance
from explorer.variants.demonstrations import Pieces, cut_in_two, on_one_line, sample_items, sample_orders

LABELS = ("red", "green", "blue")


def labelled(number: int, label: str, first: str, second: str = "", split: str = "train") -> Instance:
    return Instance(
        id=f"toy/{label}/{split}-{number}", benchmark="toy", split=split, group=label, kind="labelled",
        format="labelled", context=first, second=second, options=LABELS, gold=LABELS.index(label), label=label,
    )  # fmt: skip


def texts(counts: dict[str, int], split: str = "train") -> list[Instance]:
    return [
        labelled(number, label, f"this {label} text has the number {number} in it", split=split)
        for label, count in counts.items()
        for number in range(count)
    ]


def label_of(pieces: Pieces) -> str:
    return pieces.instance.label


@st.composite
def sets(draw_from: st.DrawFn) -> list[Instance]:
    """Labelled pairs whose first sentences recur, as WNLI's do, or single texts."""
    pairs = draw_from(st.booleans())
    made = []
    for number in range(draw_from(st.integers(12, 60))):
        label = draw_from(st.sampled_from(LABELS[: draw_from(st.integers(2, 3))]))
        if pairs:
            first = f"The {draw_from(st.integers(0, 15))} dogs saw the cat."
            made.append(labelled(number, label, first, f"The cat saw {number} dogs."))
        else:
            made.append(labelled(number, label, f"text {draw_from(st.integers(0, 50))} of some words"))
    return made


@given(sets(), st.integers(1, 30), st.integers(1, 30), st.integers(0, 5))
def test_draws_are_balanced_in_every_beginning_and_disjoint(candidates, instances, shots, seed):
    try:
        found = sample_items(candidates, instances=instances, demonstrations=shots, seed=seed)
    except UsageError:
        assert len({one.label for one in candidates}) < 2 or len({one.context for one in candidates}) < 4
        return
    labels = {one.label for one in candidates}
    for side, wanted in ((found.instances, instances), (found.demonstrations, shots)):
        assert len(side) <= wanted
        for k in range(len(side) + 1):
            counts = Counter(label_of(one) for one in side[:k])
            assert max(counts.values(), default=0) - min((counts[label] for label in labels), default=0) <= 1 or (
                len({label_of(one) for one in side}) < len(labels)
            )
    firsts = [{one.instance.context.casefold() for one in side} for side in (found.instances, found.demonstrations)]
    assert not firsts[0] & firsts[1]
    every = [one.instance.id for one in (*found.instances, *found.demonstrations)]
    assert len(every) == len(set(every))


@given(st.integers(0, 3), st.integers(1, 4))
def test_orders_hold_the_same_demonstrations_and_stay_balanced(seed, count):
    shots = sample_items(
        texts({"red": 40, "green": 40, "blue": 40}), instances=10, demonstrations=50, seed=seed
    ).demonstrations
    found = sample_orders(shots, count, seed)
    assert len(found) == count and found[0] == shots
    for order in found:
        assert sorted(one.instance.id for one in order) == sorted(one.instance.id for one in shots)
        for k in range(len(order) + 1):
            counts = Counter(label_of(one) for one in order[:k])
            assert max(counts.values(), default=0) - min(counts[label] for label in LABELS) <= 1
    assert count == 1 or found[1] != found[0]


def test_the_same_seed_draws_the_same_and_another_seed_does_not():
    candidates = texts({"red": 60, "green": 60, "blue": 60})
    assert sample_items(candidates, seed=3) == sample_items(candidates, seed=3)
    assert sample_items(candidates, seed=3).instances != sample_items(candidates, seed=4).instances


def test_a_small_class_gives_fewer_and_is_named():
    found = sample_items(texts({"red": 8, "green": 50, "blue": 50}), instances=30, demonstrations=30)
    # 8 of the smallest class are shared out 4 and 4; one more of each other class keeps the balance.
    assert len(found.instances) == len(found.demonstrations) == 14
    assert any("14 of 30 demonstrations: the class red has only 4" in remark for remark in found.remarks)


def test_what_is_not_wanted_much_leaves_more_for_the_other_side():
    found = sample_items(texts({"red": 12, "green": 12}), instances=4, demonstrations=20)
    assert len(found.instances) == 4 and len(found.demonstrations) >= 18


def test_the_training_split_is_drawn_from_unless_another_is_named():
    both = texts({"red": 10, "green": 10}, split="dev") + texts({"red": 10, "green": 10})
    assert {one.instance.split for one in sample_items(both, instances=4, demonstrations=4).instances} == {"train"}
    assert sample_items(both, split="dev", instances=4, demonstrations=4).split == "dev"
    with pytest.raises(UsageError, match="the splits are dev, train"):
        sample_items(both, split="test")
    assert sample_items(texts({"red": 9, "green": 9}, split="all"), instances=4, demonstrations=4).split == "all"


def test_repeated_texts_and_texts_without_a_blank_are_left_out_and_counted():
    candidates = [
        *texts({"red": 10, "green": 10}), labelled(90, "red", "unsplittable"),
        labelled(91, "green", "This  RED text has the number 3 in it"),
    ]  # fmt: skip
    found = sample_items(candidates, instances=20, demonstrations=20)
    assert "1 left out: the text has no blank to cut at" in found.remarks
    assert "1 left out: the text occurs before" in found.remarks


def test_two_texts_of_two_labels_are_test_items_without_demonstrations():
    candidates = texts(dict.fromkeys(LABELS[:2], 1))
    found = sample_items(candidates)
    assert len(found.instances) + len(found.demonstrations) == 2
    assert found.instances
    assert any("demonstrations" in remark for remark in found.remarks)
    assert sample_orders(found.demonstrations, 3) == [found.demonstrations] * 3


def test_one_label_is_not_enough():
    with pytest.raises(UsageError, match="at least two"):
        sample_items(texts({"red": 20}))


@given(st.lists(st.text("abcé", min_size=1, max_size=6), min_size=2, max_size=60), st.integers(0, 9))
def test_a_text_is_cut_at_60_to_80_percent_of_its_blanks(words, seed):
    text = " ".join(words)
    found = cut_in_two(labelled(1, "red", text), seed)
    assert isinstance(found, Pieces)
    assert f"{found.first} {found.second}" == text
    assert found.first.count(" ") == found.blank - 1
    blanks = len(words) - 1
    assert found.blanks == blanks
    if math.ceil(0.6 * blanks) <= math.floor(0.8 * blanks):
        assert 0.6 * blanks <= found.blank <= 0.8 * blanks
    else:
        assert found.first and found.second


def test_texts_are_cut_at_different_shares():
    text = " ".join(map(str, range(101)))
    shares = {cut_in_two(labelled(number, "red", text)).blank for number in range(40)}
    assert len(shares) > 10 and min(shares) >= 60 and max(shares) <= 80


def test_the_sentences_of_a_pair_are_its_pieces():
    found = cut_in_two(labelled(1, "red", "One dog\tran.", " It\nran fast. "))
    assert (found.first, found.second) == ("One dog ran.", "It ran fast.")
    assert on_one_line("a  b\r\nc") == "a  b c"


@pytest.mark.parametrize("name", ["wnli", "rte", "trec", "dbpedia14"])
def test_the_real_sets_give_200_and_200(name, real_settings):
    from explorer import benchmarks

    loaded = benchmarks.load(name, real_settings)
    found = sample_items(loaded.instances)
    assert found.split == "train"
    assert len(found.instances) == len(found.demonstrations) == 200, found.remarks
    firsts = [{one.instance.context for one in side} for side in (found.instances, found.demonstrations)]
    assert not firsts[0] & firsts[1]
