import dataclasses
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.errors import BenchmarkError
from explorer.records import Instance
from explorer.variants.context_pools import CONDITIONS, Sentence, make_pools
from explorer.variants.contexts import (
    fold_text,
    make_contexts,
    read_context,
    rebuild_text,
    sample_sentences,
    suite_context,
)
from explorer.variants.prefix_edits import PREFIX_EDITS, edit_sentence
from explorer.variants.running_text import TokenCounter, join_sentences


def encode(text):
    """One token a word."""
    return [hash(word) for word in text.split()]


def pair(suite, number):
    good = f"The {suite} bird number {number} sings."
    return Instance(
        f"made/{suite}/{number}", "made", "test", suite, "pair", "sentence",
        options=(good, good.replace("sings", "sing")), gold=0, phenomenon=suite[0],
    )  # fmt: skip


PAIRS = [pair(suite, number) for suite in ("ash", "alder", "beech") for number in range(30)]
UNRELATED = [f"On day {number} of the trip it rained" for number in range(40)]
POOLS = make_pools(PAIRS, UNRELATED)
LENGTHS = (0, 10, 20, 40, 60)


def contexts(items, pools=POOLS, **choices):
    choices = {"lengths": LENGTHS, "room": lambda item: 1_000} | choices
    room = choices.pop("room")
    return list(make_contexts(items, pools, TokenCounter(encode), room, **choices))


@settings(deadline=None)
@given(st.sampled_from(PAIRS), st.integers(0, 5), st.sampled_from(list(PREFIX_EDITS)))
def test_a_checkpoint_is_the_longest_join_of_whole_sentences_within_its_length(item, seed, edit):
    for context in contexts([item], seed=seed, edit=edit):
        chosen = [POOLS.by_id[name] for name in context.ids]
        edited = [edit_sentence(edit, one.text, key=f"{seed}|{one.id}", common=POOLS.common) for one in chosen]
        assert [checkpoint.length for checkpoint in context.checkpoints] == list(LENGTHS)
        for checkpoint in context.checkpoints:
            text = join_sentences(edited[: checkpoint.sentences])
            assert rebuild_text(context, POOLS, checkpoint.sentences) == text
            assert encode(text) == encode(rebuild_text(context, POOLS))[: checkpoint.tokens]
            assert len(encode(text)) == checkpoint.tokens <= checkpoint.length
            if checkpoint.sentences < len(edited):
                assert len(encode(join_sentences(edited[: checkpoint.sentences + 1]))) > checkpoint.length
        assert rebuild_text(context, POOLS) == join_sentences(edited)


@settings(deadline=None)
@given(st.sampled_from(PAIRS), st.integers(0, 3), st.integers(0, 3))
def test_a_context_holds_no_text_twice_and_never_the_items_own(item, seed, chains):
    for context in contexts([item], seed=seed, chains=chains, lengths=(200,) if chains != 1 else (0,)):
        used = [fold_text(POOLS.by_id[name].text) for name in context.ids]
        assert len(set(used)) == len(used)
        assert not set(used) & set(map(fold_text, item.options))


def test_each_condition_draws_from_its_own_sentences():
    found = {context.condition: [POOLS.by_id[name] for name in context.ids] for context in contexts([PAIRS[0]])}
    assert list(found) == list(CONDITIONS)
    for condition, sentences in found.items():
        assert sentences
        for sentence in sentences:
            if condition == "unrelated":
                assert sentence.text in UNRELATED
                continue
            assert ("made/ash/" in sentence.id) == condition.startswith("matched")
            assert sentence.text.endswith("sings.") == (not condition.endswith("unacceptable"))
    (other,) = contexts([PAIRS[0]], conditions=("mismatched_acceptable",), other_phenomenon=True, lengths=(150,))
    assert all("made/beech/" in name for name in other.ids)


def test_a_draw_depends_on_the_item_and_the_seed_alone():
    alone = contexts([PAIRS[3]])
    among = [
        context for context in contexts(PAIRS[::-1], make_pools(PAIRS[::-1], UNRELATED)) if PAIRS[3].id in context.items
    ]
    assert alone == among
    assert contexts([PAIRS[3]], seed=1)[0].ids != alone[0].ids
    assert contexts([PAIRS[4]])[0].ids != alone[0].ids
    # an edit makes sentences longer, so fewer fit, but they are the same ones
    edited = contexts([PAIRS[3]], edit="all")
    for plain, long in zip(alone, edited, strict=True):
        assert 0 < len(long.ids) < len(plain.ids) and plain.ids[: len(long.ids)] == long.ids


def test_texts_are_excluded_however_they_are_written():
    twin = dataclasses.replace(PAIRS[0], id="made/ash/twin", options=tuple(f" {text} " for text in PAIRS[0].options))
    pools = make_pools([*PAIRS, twin])
    for context in contexts([PAIRS[0]], pools, conditions=("matched_acceptable",), lengths=(0, 170)):
        assert not {"made/ash/twin#0", "made/ash/0#0"} & set(context.ids)


def test_an_exhausted_pool_ends_the_curve_with_the_reason():
    # 29 other sentences of 6 words: 174 tokens
    (found,) = contexts([PAIRS[0]], conditions=("matched_acceptable",), lengths=(0, 100, 140, 200, 300))
    assert [checkpoint.length for checkpoint in found.checkpoints] == [0, 100, 140]
    assert "exhausted after 29 sentences, 174 tokens" in found.reason
    # the tokens there are reach exactly
    (exact,) = contexts([PAIRS[0]], conditions=("matched_acceptable",), lengths=(174,))
    assert exact.checkpoints[0].sentences == 29 and not exact.reason


def test_a_suite_without_unacceptable_sentences_has_length_0_only():
    pools = dataclasses.replace(POOLS, unacceptable={})
    (found,) = contexts([PAIRS[0]], pools, conditions=("matched_unacceptable",))
    assert [(one.length, one.tokens) for one in found.checkpoints] == [(0, 0)] and found.ids == ()
    assert "exhausted after 0 sentences" in found.reason and rebuild_text(found, pools) == ""


def test_lengths_beyond_the_window_are_missing_with_the_reason():
    (found,) = contexts([PAIRS[0]], conditions=("unrelated",), room=lambda item: 45)
    assert [checkpoint.length for checkpoint in found.checkpoints] == [0, 10, 20, 40]
    assert found.reason == "the window has room for 45 tokens of context"


def test_in_the_preview_items_share_chains_that_leave_out_all_their_texts():
    items = [one for one in PAIRS if one.group == "ash"]
    found = contexts(items, chains=3, conditions=("matched_acceptable",), lengths=(0, 50))
    assert len(found) == 3
    assert sorted(name for context in found for name in context.items) == sorted(one.id for one in items)
    for context in found:
        assert not {name.split("#")[0] for name in context.ids} & set(context.items)
    # and which chain an item gets does not depend on who else is asked
    (alone,) = contexts(items[:1], chains=3, conditions=("matched_acceptable",), lengths=(0, 50))
    assert alone.ids in [context.ids for context in found if items[0].id in context.items]


def test_a_stored_context_comes_back_and_gives_its_text():
    for context in contexts([PAIRS[7]], edit="quotation"):
        stored = json.loads(json.dumps(dataclasses.asdict(context)))
        assert read_context(stored) == context
        assert rebuild_text(read_context(stored), POOLS) == rebuild_text(context, POOLS)


def test_a_stored_context_without_its_data_says_what_is_missing():
    (context,) = contexts([PAIRS[0]], conditions=("unrelated",))
    with pytest.raises(BenchmarkError, match="not in the pools"):
        rebuild_text(context, make_pools(PAIRS))


def test_ten_sentences_of_one_other_suite():
    found = suite_context(PAIRS[0], POOLS, TokenCounter(encode), "beech")
    assert (len(found.ids), found.condition, found.reason) == (10, "suite:beech", "")
    assert found.checkpoints[0].tokens == len(encode(rebuild_text(found, POOLS))) == 60
    own = suite_context(PAIRS[0], POOLS, TokenCounter(encode), "ash", sentences=40)
    assert len(own.ids) == 29 and "only 29" in own.reason


def test_a_draw_is_a_fair_shuffle_read_as_far_as_needed():
    pool = [Sentence(str(number), f"text {number}", "") for number in range(5)]
    assert sorted(one.id for one in sample_sentences(pool, "any")) == list("01234")
    first = [next(sample_sentences(pool, str(key))).id for key in range(2_000)]
    third = [[*sample_sentences(pool, str(key))][2].id for key in range(2_000)]
    for place in (first, third):
        # 400 expected, standard deviation 18
        assert all(math.isclose(place.count(name), 400, abs_tol=75) for name in "01234")
