"""Instances to rows of counts and measures."""

from __future__ import annotations

import math

import pytest

from explorer.errors import CountError, UsageError
from explorer.popularity import measure
from explorer.popularity.cached import UNREACHABLE
from explorer.popularity.ips import DecileEdges
from explorer.popularity.tasks import S_SELECTION, TASKS, task_of
from explorer.records import Count, Instance
from explorer.rows.columns import as_arrow
from explorer.rows.schema import TABLES


class Letters:
    """A counter whose tokens are characters; an n-gram occurs as often as the number of its first letter."""

    index = "letters"

    def __init__(self, away: bool = False) -> None:
        self.away = away

    def encode(self, texts, *, bare: bool = False):
        return [tuple(map(ord, text.replace(" ", ""))) for text in texts]

    def decode(self, ids):
        return tuple(map(chr, ids))

    def count(self, ngrams, progress=None):
        if progress:
            progress(0, len(ngrams))
            progress(len(ngrams), len(ngrams))
        if self.away:
            return [Count(self.index, each, math.nan, reason=f"{UNREACHABLE}: no answer") for each in ngrams]
        return [Count(self.index, each, float(each[0] - ord("a"))) for each in ngrams]

    def total_tokens(self) -> float:
        return math.nan


def pair(key: str, good: str, bad: str) -> Instance:
    return Instance(
        id=f"blimp/g/{key}", benchmark="blimp", split="test", group="g", kind="pair", format="sentence",
        options=(good, bad), gold=0,
    )  # fmt: skip


PAIRS = [pair("1", "abc", "abz"), pair("2", "zzz", "aaa"), pair("3", "ab", "abc")]
CLOZE = Instance(
    id="lambada/all/0", benchmark="lambada", split="test", group="all", kind="cloze", format="cloze", context="a b",
    options=("c",), gold=0,
)  # fmt: skip


def test_the_survey_counts_every_distinct_ngram_of_all_options_once():
    edges = measure.survey_edges(Letters(), PAIRS, reference="three pairs", n=2)
    # ab bc bz zz aa: counts 0 1 1 25 0
    assert (edges.ngrams, edges.reference, edges.n) == (5, "three pairs", 2)
    # sorted 0 0 1 1 25 at places 0.4 0.8 1.2 ... 3.6
    assert edges.values == pytest.approx((0, 0, 0.2, 0.6, 1, 1, 1, 5.8, 15.4))


def test_the_surveys_progress_never_goes_back():
    seen: list[tuple[int, int]] = []
    measure.survey_edges(Letters(), PAIRS, reference="x", n=2, progress=lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (1000, 1000)


def rows(measured, counts):
    return {name: as_arrow(name, made).to_pylist() for name, made in measure.popularity_rows(measured, counts).items()}


def test_rows_hold_counts_scores_and_differences():
    counter = Letters()
    edges = measure.survey_edges(counter, PAIRS, reference="three pairs", n=2)
    measured, counts = measure.measure_instances(counter, PAIRS, edges)
    tables = rows(measured, counts)
    assert all(set(row) <= set(TABLES["counts"]) for row in tables["counts"])
    assert all(set(row) <= set(TABLES["measures"]) for row in tables["measures"])
    first = [row for row in tables["counts"] if row["instance_id"] == "blimp/g/1" and row["option"] == 1]
    assert [(row["start"], row["ids"], row["count"]) for row in first] == [(0, [97, 98], 0.0), (1, [98, 122], 1.0)]
    values = {(row["instance_id"], row["option"], row["measure"]): row["value"] for row in tables["measures"]}
    # ab has no edge below (1), bc and bz have four: 0 0 0.2 0.6 (5); zz has nine (10), aa none (1)
    assert values["blimp/g/1", 0, "ips"] == 3 == values["blimp/g/1", 1, "ips"]
    assert values["blimp/g/1", -1, "relative_difference"] == 0
    assert values["blimp/g/2", -1, "relative_difference"] == pytest.approx((10 - 1) / 10)


def test_a_text_too_short_leaves_its_instance_without_a_score():
    counter = Letters()
    edges = measure.survey_edges(counter, PAIRS, reference="three pairs", n=3)
    measured, counts = measure.measure_instances(counter, PAIRS, edges)
    assert math.isnan(measured[2].score)
    assert "fewer than n = 3" in measured[2].reason
    row = rows(measured, counts)["measures"][-1]
    assert row["value"] is None and row["reason"] == measured[2].reason


def test_a_cloze_is_scored_by_its_own_ips():
    counter = Letters()
    edges = measure.survey_edges(counter, [*PAIRS, CLOZE], reference="all", n=2)
    [measured], counts = measure.measure_instances(counter, [CLOZE], edges)
    assert measured.score_name == "ips"
    assert measured.score == measured.options[0].ips.value
    assert [row["measure"] for row in rows([measured], counts)["measures"]] == ["ips"]


def test_parts_measured_apart_equal_the_whole():
    counter = Letters()
    edges = measure.survey_edges(counter, PAIRS, reference="three pairs", n=2)
    whole, counts = measure.measure_instances(counter, PAIRS, edges)
    parts = [measure.measure_instances(counter, [instance], edges)[0][0] for instance in PAIRS]
    assert parts == whole
    assert len(counts) == 5


def test_a_survey_during_an_outage_stops_instead_of_making_edges():
    with pytest.raises(CountError, match="start again"):
        measure.survey_edges(Letters(away=True), PAIRS, reference="three pairs", n=2)


def test_edges_of_another_index_are_refused():
    edges = DecileEdges((0,) * 9, "others", "another index", 2, "running", 1, 0)
    with pytest.raises(UsageError, match="another index"):
        measure.measure_instances(Letters(), PAIRS, edges)


def test_the_papers_tasks_are_four_formal_and_four_functional():
    assert [task.field for task in TASKS.values()] == ["formal"] * 4 + ["functional"] * 4


def blimp(phenomenon: str) -> Instance:
    return Instance(
        id="x", benchmark="blimp", split="test", group="g", kind="pair", format="sentence", phenomenon=phenomenon
    )


def test_a_blimp_pair_belongs_to_the_task_of_its_phenomenon():
    assert task_of(blimp("anaphor_agreement")) == "anaphor_agreement"
    assert task_of(blimp("island_effects")) == ""
    assert task_of(blimp("s-selection")) == ""
    assert task_of(blimp("s-selection"), S_SELECTION) == "argument_structure"
    assert task_of(CLOZE) == "lambada"
