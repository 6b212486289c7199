"""Perturbation runs over a small dictionary, a counter by hand and a small real model; findings worked by hand."""

from __future__ import annotations

import json
import math

import pandas as pd
import pytest

from explorer.benchmarks.core.benchmark import Loaded
from explorer.records import Generation
from explorer.resources import Resources
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work
from explorer.settings import Settings
from explorer.studies.perturbation import (
    declared,
)
from explorer.studies.perturbation import (
    findings as perturbation_findings,
)
from explorer.studies.perturbation import (
    judge as perturbation_judge,
)
from explorer.studies.perturbation import (
    study as perturbation_study,
)
from explorer.variants.perturb import PerturbedInstance, held_back
from tests.stand_ins import EqualTexts, Lexicon, WordCounter, pair

JUDGE = "http://judge.test/v1#strict"


class StrictJudge:
    """A judge that finds physicians no doctors."""

    name = JUDGE

    def __init__(self):
        self.asked = 0

    def generate(self, requests, *, max_new_tokens, seed=0, progress=None, **rest):
        self.asked += len(requests)
        return [Generation(request, "different" if "physician" in request.context else "Same.") for request in requests]


PAIRS = (
    pair("0", "The doctors astound Bill.", "The doctors astounds Bill."),
    pair("1", "The actors astound Bill.", "The actors astounds Bill."),
    pair("2", "The lions see Bill.", "The lions sees Bill."),
    pair("3", "The doctor astounds Bill.", "The doctor astounds.", "argument_structure"),
)


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Resources:
    """Resources with the small dictionary, the counter and the judge, and four pairs for BLiMP."""
    resources = Resources(Settings(cache=tmp_path_factory.mktemp("perturbation"), offline=True))
    for key, made in {
        ("lexicon",): Lexicon(),
        ("counter", "words"): WordCounter(),
        ("endpoint", JUDGE, False): StrictJudge(),
        ("bertscore", "equal"): EqualTexts(),
        ("instances", "blimp", ()): Loaded(PAIRS, (), "here", "hash"),
    }.items():
        resources.once(key, lambda made=made: made)
    return resources


@pytest.fixture(scope="module")
def finished(world, tiny_gpt2) -> RunFolder:
    """A finished run under all three settings, judged."""
    given = {"index": "words", "n": 2, "senses": "first", "encoder": "equal", "judge": JUDGE}
    spec = make_spec(world, study="perturbation", model=str(tiny_gpt2), benchmark="blimp", settings=given)
    folder = RunFolder.create(world.settings.runs, spec)
    assert work(folder, world, lambda text: None, wait=False) == "complete", folder.progress().message
    return folder


def test_a_run_swaps_nouns_verbs_and_both(finished):
    variants = finished.read("variants")
    options = {
        (row["instance_id"].rsplit("/")[-1], row["setting"]): json.loads(row["payload"])["options"][0]
        for row in variants.to_dict("records")
        if row["accepted"]
    }
    assert options["0", "N"] == "The physicians astound Bill."
    assert options["0", "V"] == "The doctors amaze Bill."
    assert options["0", "NV"] == "The physicians amaze Bill."
    assert options["2", "N"] == "The lions see Bill."  # no synonym: stays, and is counted as unchanged


def test_names_and_words_without_a_synonym_are_not_counted_as_swappable(finished):
    measures = finished.read("measures").query("measure == 'swappable_left'")
    assert not measures.empty and (measures["value"] == 0).all()
    assert held_back([("Bill", "a name"), ("has", "an auxiliary, a modal verb, or be, have, do")]) == 0
    assert held_back([("bank", "no fitting synonym in the sense bank.n.01"), ("Faith", "perhaps a name")]) == 2


def test_unchanged_instances_have_the_score_of_the_original(finished):
    scores = finished.read("scores")
    same = scores[scores["instance_id"].str.endswith("/2") & (scores["option"] == 0)]
    by_version = {str(row["setting"]): row["logprob"] for row in same.to_dict("records")}
    assert len(same) == 4
    assert list(by_version.values()) == pytest.approx([by_version["NV"]] * 4, abs=1e-3)
    assert scores.groupby("instance_id")["request"].nunique().eq(8).all()


def test_the_findings_follow_from_the_stored_verdicts(finished):
    measures = finished.read("measures")
    correct = measures[measures["measure"] == "correct"]
    findings = finished.read("findings")
    for pos in ("N", "V", "NV"):
        before = correct[correct["condition"] == "original"].set_index("instance_id")["value"]
        after = correct[correct["setting"] == pos].set_index("instance_id")["value"]
        own = findings[(findings["setting"] == pos) & (findings["grp"] == "overall")].set_index("finding")
        assert own.loc["accuracy_original_all", "value"] == before.mean()
        assert own.loc["accuracy_original", "value"] == before[after.index].mean()
        assert own.loc["accuracy_perturbed", "value"] == after.mean()


def test_swapped_words_and_substitutes_are_counted_in_running_text(finished):
    counts = finished.read("counts")
    swaps = counts[(counts["condition"] == "swap") & (counts["setting"] == "N")]
    # doctors, actors and doctor in both options each; physicians 10 letters, players 7, physician 9
    assert sorted(swaps.loc[swaps["part"] == 0, "count"]) == [6, 6, 6, 6, 7, 7]
    assert sorted(swaps.loc[swaps["part"] == 1, "count"]) == [7, 7, 9, 9, 10, 10]


def test_a_swapped_verb_in_argument_structure_is_reported_apart(finished):
    findings = finished.read("findings")
    change = findings[(findings["finding"] == "change")]
    apart = change[change["grp"] == "argument_structure: verb swapped"]
    assert set(apart["setting"]) == {"V", "NV"}
    assert (apart["n"] == 1).all()


def test_the_judge_is_asked_about_the_right_text_of_changed_instances(finished, world):
    answers = finished.read("generations")
    verdicts = {row["instance_id"].rsplit("/")[-1]: row["verdict"] for row in answers.to_dict("records")}
    assert verdicts == {"0": "different", "1": "same", "3": "different"}
    assert set(answers["setting"]) == {"NV"}
    findings = finished.read("findings")
    share = findings[(findings["finding"] == "judged_same") & (findings["grp"] == "overall")].iloc[0]
    assert (share["value"], share["n"], share["left_out"]) == (pytest.approx(1 / 3), 3, 0)


def test_a_sample_is_filled_from_each_group_and_depends_on_seed_and_ids_alone():
    many = [pair(str(i), f"The actor {i}.", "x", phenomenon) for phenomenon in ("a", "b") for i in range(40)]
    asked: list[str] = []

    def perturb(instances):
        asked.extend(one.id for one in instances)
        # Of the group "a" every other instance stays as it is.
        return [
            PerturbedInstance(
                one
                if one.group == "a" and int(one.id.rsplit("/")[-1]) % 2
                else pair("p", "The player.", "x", one.group)
            )
            for one in instances
        ]

    drawn = perturbation_judge.sample_judged(many, perturb, 10, seed=0)
    assert len(asked) == len(set(asked)) < 80
    groups = pd.Series([name.split("/")[1] for name in drawn]).value_counts()
    assert groups.to_dict() == {"a": 10, "b": 10}
    assert all(int(name.rsplit("/")[-1]) % 2 == 0 for name in drawn if "/a/" in name)
    assert perturbation_judge.sample_judged(list(reversed(many)), perturb, 10, seed=0) == drawn
    assert perturbation_judge.sample_judged(many, perturb, 10, seed=1) != drawn
    assert len(perturbation_judge.sample_judged(many, perturb, 100, seed=0)) == 60


def test_a_model_of_its_own_gets_a_place_of_its_own(world, tiny_gpt2):
    given = {"index": "words", "judge": "judge", "senses": "lm", "senses_model": "reader"}
    spec = make_spec(world, study="perturbation", model=str(tiny_gpt2), benchmark="blimp", settings=given)
    places = [perturbation_study._resources_beside(name, spec, world) for name in (spec.model, "reader", "judge")]
    assert places[0] is world
    assert len({id(place) for place in places}) == 3
    assert places[1].counter("words") is world.counter("words")


# Findings by hand


def paired(before, after, **columns) -> pd.DataFrame:
    n = len(before)
    standard = {
        "grp": "g", "kind": "choice", "correct_before": before, "correct_after": after, "logprob_before": math.nan,
        "logprob_after": math.nan, "ips_before": math.nan, "ips_after": math.nan, "swaps": 1.0, "bertscore": math.nan,
        "rouge_l": math.nan, "accepted": True, "reason": "", "judged": None,
    }  # fmt: skip
    return pd.DataFrame({"instance_id": [str(i) for i in range(n)], **standard, **columns})


def findings_of(frame: pd.DataFrame) -> dict[str, dict]:
    return {row["finding"]: row for row in perturbation_findings.compare("overall", frame, {"setting": "NV"})}


def test_changes_use_the_instances_valid_in_both_versions():
    # four of six survive: 3 of 4 right before, 1 of 4 after; 2 lost and none gained: p = 2 * (1/2)^2
    nan = math.nan
    found = findings_of(paired([1, 1, 1, 0, 1, 0], [1, 0, 0, 0, nan, nan], accepted=[True] * 4 + [False] * 2))
    assert found["accuracy_original_all"]["value"] == pytest.approx(4 / 6)
    assert found["accuracy_original"]["value"] == 0.75
    assert found["accuracy_perturbed"]["value"] == 0.25
    assert found["change"]["value"] == pytest.approx(100 * (0.25 - 0.75) / 0.75)
    assert found["change"]["p"] == 0.5
    assert (found["change"]["n"], found["change"]["left_out"]) == (4, 2)
    assert json.loads(found["change"]["detail"])["lost"] == 2


def test_unchanged_instances_stay_and_are_counted():
    found = findings_of(paired([1, 1], [1, 0], swaps=[0.0, 2.0]))
    assert found["change"]["n"] == 2
    assert json.loads(found["change"]["detail"])["unchanged"] == 1


def test_rejections_are_counted_by_reason():
    found = findings_of(
        paired([1, 1, 1], [1, math.nan, math.nan], accepted=[True, False, False], reason=["", "same", "same"])
    )
    assert found["accepted"]["value"] == pytest.approx(1 / 3)
    assert json.loads(found["accepted"]["detail"])["rejected"] == {"same": 2}


def test_a_group_without_instances_says_so():
    found = findings_of(paired([], []))
    assert math.isnan(found["accepted"]["value"]) and found["accepted"]["reason"] == "no instance is in this group"
    assert found["perplexity_change"]["reason"] == "no values"  # a group of none is a group of passages, too


def test_perplexity_is_that_of_the_last_words():
    logs = {"logprob_before": [-1.0, -3.0], "logprob_after": [-2.0, -4.0]}
    found = findings_of(paired([1, 0], [1, 0], kind="cloze", **logs))
    assert found["perplexity_original"]["value"] == pytest.approx(math.exp(2))
    assert found["perplexity_perturbed"]["value"] == pytest.approx(math.exp(3))
    assert found["perplexity_change"]["value"] == pytest.approx(100 * (math.e - 1))


def test_the_popularity_of_flips_is_that_of_instances_lost():
    found = findings_of(paired([1, 1, 0, 1], [0, 0.5, 1, 1], ips_before=[6, 5, 9, 9], ips_after=[2, 3, 9, 9]))
    lost = json.loads(found["ips_of_lost"]["detail"])
    assert (lost["before"], lost["after"]) == (5.5, 2.5)
    assert lost["sd_before"] == pytest.approx(math.sqrt(0.5))
    assert found["ips_of_lost"]["n"] == 2


def test_unparsed_answers_are_left_out_and_counted():
    found = findings_of(paired([1] * 4, [1] * 4, judged=["same", "different", "unparsed", "same"]))
    assert found["judged_same"]["value"] == pytest.approx(2 / 3)
    assert (found["judged_same"]["n"], found["judged_same"]["left_out"]) == (3, 1)


def test_holm_counts_the_tests_of_one_table():
    def change(group, setting, p):
        return {"finding": "change", "grp": group, "setting": setting, "p": p, "detail": None}

    rows = [
        change("piqa", "NV", 0.01), change("copa", "NV", 0.04), change("lambada", "NV", math.nan),
        change("piqa", "N", 0.01), change("piqa", "V", 0.02), change("overall", "NV", 0.03),
    ]  # fmt: skip
    perturbation_findings.adjust_tables(rows, declared.CHANGE)
    adjusted = [json.loads(row["detail"])["p_holm"] for row in rows]
    # two tests in the first table, two in that of nouns and verbs, one alone
    assert adjusted == [pytest.approx(0.02), pytest.approx(0.04), None, pytest.approx(0.02), pytest.approx(0.02), 0.03]


def test_a_run_as_published_draws_several_times_and_its_change_is_over_items_and_draws(world, tiny_gpt2):
    given = {"index": "words", "n": 2, "senses": "first", "encoder": "equal", "pos": ["NV"], "method": "published",
             "draws": 3}  # fmt: skip
    spec = make_spec(world, study="perturbation", model=str(tiny_gpt2), benchmark="blimp", settings=given)
    folder = RunFolder.create(world.settings.runs, spec)
    assert work(folder, world, lambda text: None, wait=False) == "complete", folder.progress().message
    edits = [json.loads(text) for text in folder.read("variants")["edit"]]
    assert len(edits) == 4 and {edit["method"] for edit in edits} == {"published"}  # of the first draw alone
    measures = folder.read("measures")
    correct = measures[(measures["measure"] == "correct") & (measures["setting"] == "NV")]
    assert sorted(correct["part"].fillna(0).unique()) == [0, 1, 2]
    assert len(correct) == 3 * 4
    findings = folder.read("findings").set_index(["finding", "grp"])
    found = findings.loc[("change_over_draws", "overall")]
    detail = json.loads(found["detail"])
    assert detail["draws"] == 3 and detail["least"] <= found["value"] <= detail["greatest"]
    first = findings.loc[("change", "overall")]["value"]
    assert detail["least"] - 1e-9 <= first <= detail["greatest"] + 1e-9


def test_runs_of_before_keep_their_ids_since_the_new_settings_are_optional(world, tiny_gpt2):
    spec = make_spec(world, study="perturbation", model=str(tiny_gpt2), benchmark="blimp", settings={"index": "words"})
    assert not {"method", "draws"} & set(spec.settings)
