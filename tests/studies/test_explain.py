"""Popularity or memorization: what is joined from stored runs, which measures say nothing, what the sentence says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from explorer.benchmarks import starter
from explorer.results.measures import MEASURES
from explorer.results.store import Store
from explorer.settings import PRECOMPUTED
from explorer.studies.declared import COMPUTED_FROM, shared_number
from explorer.studies.explain import answer
from explorer.studies.explain.gather import Gathered, gather, with_unigrams
from explorer.studies.explain.predictors import DEFAULT, PREDICTORS, TWO_SIDED, of_kind, shares_verdict

ONE_AT_A_TIME = (
    "Each interval is for one measure at a time: of models in which nothing goes with being right, 11 to 22% find "
    "something."
)


@pytest.fixture(scope="module")
def packed():
    store = Store(None, PRECOMPUTED)
    yield store
    store.close()


def made_up(n: int = 600, groups: int = 6, seed: int = 0, **effects: float) -> Gathered:
    """Items whose verdicts follow from these measures, each by so many log odds per standard deviation."""
    chance = np.random.default_rng(seed)
    names = ("ips_difference", "length", "min_k_level", "loss_difference")
    columns = {name: chance.normal(size=n) for name in names}
    odds = sum(size * columns[name] for name, size in effects.items()) + np.zeros(n)
    right = (chance.random(n) < 1 / (1 + np.exp(-odds))).astype(float)
    table = pd.DataFrame(
        {"instance_id": [f"i{k}" for k in range(n)], "grp": [f"g{k % groups}" for k in range(n)], "kind": "choice",
         "correct": right, **columns}
    )  # fmt: skip
    return Gathered(table, "choice", {})


def test_every_measure_says_what_it_is_computed_from():
    assert all(one.computed_from for one in PREDICTORS.values())
    assert set(COMPUTED_FROM) >= set(MEASURES)
    assert set(DEFAULT) < set(PREDICTORS)


def test_measures_that_share_the_deciding_numbers_are_known_in_pairs():
    assert shared_number("margin", "mia_loss") and shared_number("correct", "tde_likelihood")
    assert not shared_number("margin", "ips") and not shared_number("ips", "web_count")
    assert shared_number("ips", "relative_difference"), "both follow from the same counts"


@pytest.mark.parametrize("kind", TWO_SIDED)
def test_a_difference_of_the_options_scores_shares_them_with_the_verdict_and_a_level_does_not(kind):
    for name in ("loss_difference", "min_k_difference", "extraction_difference", "neighbors_difference"):
        assert shares_verdict(name, kind) and name not in DEFAULT
    for name in ("loss_level", "min_k_level", "extracted_level", "length", "ips_difference"):
        assert not shares_verdict(name, kind)
    assert shares_verdict("loss_level", "cloze"), "the deciding last word is part of the passage"


def test_what_is_usual_is_stored_and_shares_nothing_with_the_verdict():
    gathered = made_up()
    assert answer.usual(gathered) == ("ips_difference", "length", "min_k_level")
    few = Gathered(gathered.table.assign(swaps=[1.0, 2.0] * 20 + [np.nan] * 560), "choice", {})
    assert "swaps" not in answer.usual(few), "forty items would take the others' with them"
    assert "ips" not in of_kind("choice") and "ips" in of_kind("cloze")


def test_the_sentence_says_what_survives_and_for_what_there_is_no_evidence():
    gathered = made_up(ips_difference=0.8)
    told = answer.explain(gathered, answer.usual(gathered))
    first, unit, second, each = answer.sentences(told, "Gemma on COPA")
    assert first.startswith(
        "Gemma on COPA: with all else held, being right goes with popularity difference (odds times"
    )
    assert unit == "The odds are those of a standard deviation more, over 600 items of 6 groups, errors by group."
    assert second == "There is no evidence for length and min-k %, level: the intervals hold zero."
    assert each == ONE_AT_A_TIME


def test_without_any_effect_there_is_no_evidence():
    gathered = made_up(seed=5)
    told = answer.explain(gathered, answer.usual(gathered))
    assert answer.sentences(told, "Gemma on COPA") == (
        "Gemma on COPA: no evidence that any of these measures goes with being right (600 items of 6 groups, errors by "
        "group).",
        ONE_AT_A_TIME,
    )


def test_a_measure_that_varies_in_few_groups_is_told_without_interval():
    gathered = made_up(ips_difference=0.8)
    flat = ~gathered.table["grp"].isin(["g0", "g1", "g2"])
    table = gathered.table.assign(length=gathered.table["length"].where(~flat, 7.0))
    told = answer.explain(Gathered(table, "choice", {}), answer.usual(gathered))
    lines = answer.sentences(told, "Gemma on COPA")
    assert lines[2] == "There is no evidence for min-k %, level: the interval holds zero."
    assert "Of length there is an effect of" in lines[3] and "varies within 3 groups, at least 5 are needed" in lines[3]
    (length,) = [one for one in told.model.effects if one.name == "length"]
    assert not answer.survives(length)


def test_a_measure_that_was_not_tested_is_not_said_to_lack_evidence():
    gathered = made_up(seed=5)
    only = gathered.table["grp"].isin(["g0", "g1", "g2"])
    table = gathered.table.assign(length=gathered.table["length"].where(only, 7.0))
    lines = answer.sentences(answer.explain(Gathered(table, "choice", {}), ("ips_difference", "length")), "Gemma")
    assert lines[0].startswith("Gemma: no evidence that popularity difference goes with being right (600")
    assert "Of length there is an effect of" in lines[1] and ONE_AT_A_TIME not in lines
    (first, second) = answer.sentences(answer.explain(Gathered(table, "choice", {}), ("length",)), "Gemma")
    assert first == "Gemma: nothing can be said beyond these 600 items of 6 groups."
    assert second.startswith("Of length")
    one_group = gathered.table.assign(
        length=gathered.table["length"] * np.where(gathered.table["grp"] == "g0", 1, 1e-6)
    )
    lines = answer.sentences(answer.explain(Gathered(one_group, "choice", {}), ("length",)), "Gemma")
    assert "no interval: one group alone decides it" in lines[1]


def test_of_few_paradigms_there_are_effects_without_intervals_and_of_few_sorts_errors_over_items():
    gathered = made_up(groups=3, ips_difference=0.8)
    sorts = answer.explain(gathered, ("ips_difference", "length"))
    assert answer.survives(sorts.model.effects[0]) and "errors over items" in answer.sentences(sorts, "Gemma")[1]
    for kind in ("pair", "regions"):
        told = answer.explain(Gathered(gathered.table.assign(kind=kind), kind, {}), ("ips_difference", "length"))
        assert not any(map(answer.survives, told.model.effects))
        first, second = answer.sentences(told, "Gemma")
        assert first == "Gemma: nothing can be said beyond these 600 items of 3 groups."
        assert second.startswith(
            "Items of a group share material, and of 3 groups there is no interval, at least 5 are"
        )
        assert "in log odds: popularity difference +0.7" in second
    written = gathered.table.assign(kind="pair", benchmark="crows_pairs")
    told = answer.explain(Gathered(written, "pair", {}), ("ips_difference",))
    assert not told.model.too_few, "people wrote these pairs one by one"


def test_one_measure_has_no_others_to_outlast():
    gathered = made_up(seed=3)
    ease = gathered.table["grp"].map({f"g{k}": place for k, place in enumerate(np.linspace(-0.6, 1.8, 6))}).to_numpy()
    odds = ease * gathered.table["length"].to_numpy()
    right = (np.random.default_rng(0).random(600) < 1 / (1 + np.exp(-odds))).astype(float)
    told = answer.explain(Gathered(gathered.table.assign(correct=right), "choice", {}), ("length",))
    lines = answer.sentences(told, "Gemma")
    assert lines[0].startswith("Gemma: no evidence that length goes with being right")
    assert lines[1].startswith("Alone, length goes with being right by a rank correlation of")
    assert lines[1].endswith("within groups; its interval in the model holds zero.") and len(lines) == 2


def test_where_dose_is_planted_the_joint_view_names_dose_and_not_length(packed):
    gathered = gather(packed, "glassbox-m", "glassbox_pairs")
    model = answer.explain(gathered, answer.usual(gathered), cross_validate=False).model
    assert model.is_by_group and [one.name for one in model.effects if answer.survives(one)] == ["dose"]
    assert {"length", "length_difference", "ips_difference"} <= {one.name for one in model.effects}


def test_a_measure_that_shares_the_score_is_named_where_it_is_chosen():
    gathered = made_up(loss_difference=-2.0)
    told = answer.explain(gathered, ("ips_difference", "loss_difference"))
    assert told.sharing == ("loss_difference",)
    assert "MIA loss is computed from the numbers that decide the verdict" in answer.sentences(told, "Gemma")[-1]
    assert answer.sentences(told, "Gemma")[-1].endswith("and what stands beside it is explained away by it.")
    alone = answer.sentences(answer.explain(gathered, ("loss_difference",)), "Gemma")
    assert alone[-1].endswith("its effect is near to a definition."), "nothing stands beside it"


def test_a_measure_that_did_not_enter_explains_nothing_away():
    gathered = made_up()
    table = gathered.table.assign(loss_difference=2 * gathered.table["length"] + 1)
    told = answer.explain(Gathered(table, "choice", {}), ("length", "loss_difference"))
    assert "loss_difference" in told.model.dropped
    assert not any("explained away" in line or "decide the verdict" in line for line in answer.sentences(told, "Gemma"))


def test_too_few_items_are_said():
    gathered = made_up(n=40, groups=2)
    told = answer.explain(gathered, answer.usual(gathered))
    assert answer.sentences(told, "Gemma on COPA") == (
        "Gemma on COPA: no joint model, since 40 items have all measures, at least 62 are needed for 3 measures.",
    )


def test_verdicts_and_measures_are_joined_from_several_stored_runs(packed):
    gathered = gather(packed, "gemma-3-270m", "copa")
    assert len(gathered.table) == 1000 and gathered.kind == "choice"
    assert {"ips_difference", "length", "swaps", "min_k_level", "loss_difference"} <= set(gathered.measures)
    assert len({run for runs in gathered.runs.values() for run in runs}) >= 3
    assert gathered.table["length"].min() > 5


def test_copa_popularity_survives_and_extraction_likelihood_explains_it_away_by_definition(packed):
    gathered = gather(packed, "gemma-3-270m", "copa")
    usual = {
        one.name: one for one in answer.explain(gathered, answer.usual(gathered), cross_validate=False).model.effects
    }
    assert answer.survives(usual["ips_difference"]) and usual["length_difference"].high < 0
    told = answer.explain(gathered, ("ips_difference", "extraction_difference"), cross_validate=False)
    held = {one.name: one for one in told.model.effects}
    assert held["ips_difference"].partial.value < 0.6 * usual["ips_difference"].alone
    assert held["ips_difference"].partial.low <= 0 < usual["ips_difference"].partial.low
    assert told.sharing == ("extraction_difference",)


def test_nothing_stored_is_an_empty_table(packed):
    gathered = gather(packed, "no-such-model", "copa")
    assert gathered.measures == () and answer.usual(gathered) == ()


class Letters:
    """A counter whose tokens are words, each as frequent as it has letters to the power of ten."""

    index = "letters"

    def __init__(self):
        self.words: list[str] = []

    def encode(self, texts, *, bare=False):
        for text in texts:
            self.words += [word for word in text.split() if word not in self.words]
        return [tuple(self.words.index(word) for word in text.split()) for text in texts]

    def count(self, wanted, progress=None):
        from explorer.records import Count

        return [Count(self.index, ngram, 10.0 ** len(self.words[ngram[0]]) - 1) for ngram in wanted]


def test_unigram_frequency_is_the_right_options_less_that_of_the_others():
    from explorer.records import Instance

    instance = Instance(id="starter_pairs/a/1", benchmark="starter_pairs", split="all", group="a", kind="pair",
                        format="sentence", options=("aaa bb", "a bb"), gold=0)  # fmt: skip
    gathered = Gathered(pd.DataFrame({"instance_id": [instance.id, "gone"], "correct": [1.0, 0.0]}), "pair", {})
    found = with_unigrams(gathered, Letters(), {instance.id: instance}).table["unigrams"]
    # log10 of 1 + count is the number of letters: (3 + 2) / 2 - (1 + 2) / 2
    assert found[0] == pytest.approx(1.0) and np.isnan(found[1])
    assert starter.BENCHMARKS
