"""Sentences written from findings: worked examples, no evidence where an interval holds zero, nothing of gaps."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from explorer.finding import Finding
from explorer.rows.builders import finding_row
from explorer.rows.schema import TABLES
from explorer.stats.estimate import Estimate, Range
from explorer.studies import STUDIES, declared, sentences
from explorer.studies.accuracy.declared import ACCURACY
from explorer.studies.icl import declared as icl
from explorer.studies.memorization import declared as memorization
from explorer.studies.ontology import declared as ontology
from explorer.studies.perturbation import declared as perturbation
from explorer.studies.popularity import declared as popularity
from explorer.studies.priming import declared as priming
from explorer.studies.runs_together import ACROSS, OfRun, together
from explorer.studies.sentences import About, Findings

COPA = About("Gemma", "COPA", "copa")
BLIMP = About("Gemma", "BLiMP", "blimp", chance=0.5)


FACTORS = (
    {}, {"setting": "NV"}, {"setting": "corrected"}, {"setting": "full", "condition": "rule", "k": 4},
    {"setting": "tde_accuracy", "condition": "correct"}, {"condition": "unrelated", "length": 9},
)  # fmt: skip


def frame(*rows: dict) -> pd.DataFrame:
    """Rows of `findings` as a run folder and the database give them."""
    return pd.DataFrame(list(rows), columns=list(TABLES["findings"]))


def share(finding: Finding, value: float, low: float, high: float, n: int = 100, group: str = "overall", **factors):
    return finding_row(finding, group, Estimate(value, low, high, n), factors=factors)


def primed(condition: str, before: float, after: float, low: float, high: float, suites: int = 67) -> list[dict]:
    """The change and the accuracy after a context of a condition, before it and after 900 tokens, over suites."""
    rows = []
    for length, value, ends in ((0, before, (0.0, 0.0)), (900, after, (low, high))):
        factors = {"condition": condition, "length": length}
        change = Estimate(value - before, *ends, n=3350)
        rows += [
            finding_row(priming.PRIMING_DELTA, "mean over suites", change, factors=factors),
            finding_row(
                priming.PRIMING_ACCURACY, "mean over suites", Estimate(value, value - 0.1, value + 0.1, 3350),
                factors=factors, detail={"suites": suites},
            ),
        ]  # fmt: skip
    return rows


def test_a_run_as_a_chat_says_so_in_its_sentences():
    about = About("Gemma", "BLiMP", "blimp", {"chat": "always", "ask": "judge"}, 0.5)
    (said, *_) = sentences.sentences("accuracy", frame(share(ACCURACY, 0.8, 0.7, 0.9)), about)
    assert " of BLiMP asked as a chat, with each sentence put up for judgment (95% interval" in said
    assert " asked" not in sentences.sentences("accuracy", frame(share(ACCURACY, 0.8, 0.7, 0.9)), BLIMP)[0]


def test_accuracy_says_its_interval_and_chance():
    rows = [share(ACCURACY, 0.79, 0.78, 0.80, 1000)]
    assert sentences.sentences("accuracy", frame(*rows), BLIMP) == [
        "Gemma prefers what the benchmark calls right in 79% of 1,000 instances of BLiMP (95% interval 78.0% to 80.0%)"
        ", above chance, which is 50%."
    ]
    (at_chance,) = sentences.sentences("accuracy", frame(share(ACCURACY, 0.51, 0.48, 0.54, 1000)), BLIMP)
    assert "there is no evidence that it differs from chance, 50%" in at_chance


def test_accuracy_names_the_weakest_group_and_those_below_chance():
    groups = [
        share(ACCURACY, value, value - 0.05, value + 0.05, 50, f"group_{value}") for value in (0.2, 0.6, 0.7, 0.9)
    ]
    small = share(ACCURACY, 0.0, 0.0, 0.3, 5, "of five items")
    lines = sentences.sentences("accuracy", frame(share(ACCURACY, 0.6, 0.55, 0.65), *groups, small), BLIMP)
    assert lines[1] == (
        "It is weakest on group 0.2 (20.0% of 50) and best on group 0.9 (90.0% of 50); in 1 of 4 groups it is clearly "
        "below chance."
    )


def test_accuracy_tells_where_another_reduction_lies_outside_the_interval():
    rows = [share(ACCURACY, 0.70, 0.68, 0.72), share(ACCURACY, 0.60, 0.58, 0.62, setting="per_char")]
    assert sentences.sentences("accuracy", frame(*rows), COPA)[1] == (
        "How scores are reduced matters: per character it would be 60.0%."
    )


def test_contexts_that_move_a_judgment_and_one_that_does_not():
    rows = [
        *primed("matched_acceptable", 0.777, 0.960, 0.137, 0.235),
        *primed("matched_unacceptable", 0.777, 0.209, -0.630, -0.504),
        *primed("unrelated", 0.777, 0.787, -0.006, 0.029),
    ]
    assert sentences.sentences("priming", frame(*rows), BLIMP) == [
        "900 tokens of unacceptable matched contexts take Gemma from 78% to 21% on BLiMP (−56.8 points, 95% interval "
        "−63.0 to −50.4, over 67 suites).",
        "Acceptable matched ones take it to 96% (+18.3 points, 95% interval +13.7 to +23.5, over 67 suites).",
        "There is no evidence that unrelated contexts change it (+1.0 points, 95% interval −0.6 to +2.9, over 67 "
        "suites).",
    ]


def test_an_interval_over_few_suites_is_none():
    lines = sentences.sentences(
        "priming", frame(*primed("matched_unacceptable", 0.8, 0.2, -0.7, -0.5, suites=3)), BLIMP
    )
    assert lines == ["There are too few suites or items to say whether contexts change a judgment."]


def swapped(value: float, p: float, lost: float = math.nan) -> pd.DataFrame:
    of = {"setting": "NV"}
    gained = 49 + round(1000 * (value - 0.645))
    change = Estimate.point(100 * (value - 0.684) / 0.684, 1000, p=p)
    flips = Estimate(lost, lost - 0.1, lost + 0.1, 88 + 596)
    return frame(
        share(perturbation.ACCURACY_ORIGINAL, 0.684, 0.65, 0.71, 1000, **of),
        share(perturbation.ACCURACY_PERTURBED, value, 0.61, 0.67, 1000, **of),
        finding_row(
            perturbation.CHANGE, "overall", change, factors=of, detail={"unchanged": 299, "lost": 88, "gained": gained}
        ),
        finding_row(perturbation.IPS_LOST_LESS_KEPT, "overall", flips, factors=of),
    )


def test_swapped_words():
    assert sentences.sentences("perturbation", swapped(0.645, 0.001, -0.38), COPA) == [
        "Synonyms for nouns and verbs take Gemma from 68.4% to 64.5% on COPA (−3.9 points, 95% interval −6.2 to "
        "−1.6, n = 1,000; 299 have no such word to swap).",
        "What the swaps turn wrong became less popular than what stays right (−0.38 of the popularity score, "
        "IPS; 95% interval −0.48 to −0.28, "
        "n = 684).",
    ]
    first, second = sentences.sentences("perturbation", swapped(0.68, 0.6, 0.0), COPA)
    assert first.startswith(
        "There is no evidence that synonyms for nouns and verbs change the accuracy of Gemma on COPA"
    )
    assert second.startswith("There is no evidence that what the swaps turn wrong became less popular than what stays")


def halves(low: float, high: float, ends: tuple[float, float] = (0.01, 0.2), *, paradigms: bool = False) -> list[dict]:
    gap = Estimate(high - low, *ends, n=1000)
    rows = [
        share(popularity.SPLIT.half, low, 0, 1, 500, setting="low"),
        share(popularity.SPLIT.half, high, 0, 1, 500, setting="high"),
        finding_row(popularity.SPLIT.difference, "overall", Estimate(high - low, 0.01, 0.2, 1000)),
        finding_row(popularity.INDEX_IS_PRETRAINING_DATA, "overall", 0.0),
    ]
    if paradigms:
        over = popularity.SPLIT.difference_over_paradigms
        rows.append(finding_row(over, "overall", gap, detail={"paradigms": 23}))
    return rows


def test_popularity_is_told_over_paradigms_where_items_of_one_are_alike():
    assert sentences.sentences("popularity", frame(*halves(0.63, 0.74)), COPA) == [
        "Gemma does better on the more popular half of COPA (74% are right, 63% of the other half; +11.0 points, 95% "
        "interval +1.0 to +20.0, n = 1,000).",
        "Counts are from an index that is not the model's data.",
    ]
    first, _ = sentences.sentences("popularity", frame(*halves(0.856, 0.876, (-0.012, 0.053), paradigms=True)), BLIMP)
    assert first.startswith("There is no evidence that Gemma does better on the more popular half of BLiMP")
    assert "95% interval −1.2 to +5.3, over 23 paradigms" in first


def test_ontology_at_chance_and_drawn_by_bucket():
    rows = [
        share(ontology.ACCURACY, 0.0, 0.0, 0.0007, 5571, setting="corrected"),
        share(ontology.GOLD_GAIN_PREFERRED, 0.433, 0.424, 0.441, 5571),
        share(ontology.SPEARMAN_BUCKETS, math.nan, math.nan, math.nan, 50, setting="corrected"),
    ]
    about = About("Gemma", "Gene Ontology", "go", {"per_bucket": 130})
    assert sentences.sentences("ontology", frame(*rows), about) == [
        "Gemma gives the right ID of none of 5,571 concepts of Gene Ontology (95% interval 0.0% to 0.1%).",
        "There is no evidence that a concept's label tells its ID from others (against 43.3% of other IDs, 95% "
        "interval 42.4% to 44.1%; 50% by chance).",
        "Concepts were drawn by popularity bucket: shares are of this sample, not of the whole ontology.",
    ]
    rises = share(ontology.SPEARMAN_BUCKETS, 0.9, 0.8, 0.95, 50, setting="corrected")
    assert sentences.sentences("ontology", frame(rises), About()) == [
        "Accuracy rises with the popularity of a concept (Spearman 0.90, 95% interval 0.80 to 0.95, over 50 buckets)."
    ]


def test_memorization_says_that_the_loss_decides_the_verdict():
    rows = [
        share(memorization.SCORE, 0.0, 0.0, 0.0, 1000, setting="tde_accuracy", condition="correct"),
        share(memorization.CLASSIFIER_AUC, 0.96, 0.93, 0.98, 1002, setting="mia_loss", condition="logistic"),
    ]
    # nothing but zeros drawn anew has no spread: Wilson's upper end of 0 of 1,000 is z² / (n + z²) = 0.4 %
    assert sentences.sentences("memorization", frame(*rows), COPA) == [
        "Given the first half, Gemma completes none of 1,000 right texts of COPA word for word (95% interval 0.0% to "
        "0.4%).",
        "That the loss tells right from wrong answers (AUC 0.96, 95% interval 0.93 to 0.98, n = 1,002) is no evidence "
        "of memorization: the same log-probabilities decide the verdict.",
    ]
    beside = share(memorization.CLASSIFIER_AUC, 0.5, 0.39, 0.61, 100, setting="mia_neighbours", condition="logistic")
    (line,) = sentences.sentences("memorization", frame(beside), COPA)
    assert line.startswith("There is no evidence that the loss beside that of neighbors tells right from wrong")


def test_membership_is_said_by_labels_from_outside_and_as_a_control_where_the_model_read_nothing():
    loss = {"setting": "mia_loss"}
    area = share(memorization.MEMBERSHIP_AUC, 0.95, 0.9, 0.99, 120, **loss, condition="planted")
    found = share(memorization.FOUND_AT_5, 0.87, 0.77, 0.97, 120, **loss, condition="planted")
    (line,) = sentences.sentences("memorization", frame(area, found), COPA)
    assert line.startswith(
        "Its loss distinguishes texts that it has read from others (AUC 0.95, 95% interval 0.90 to 0.99"
    )
    assert line.endswith("at 5% false alarms it finds 87.0% of them).")
    chance = share(memorization.MEMBERSHIP_AUC, 0.49, 0.47, 0.51, 3280, **loss, condition="control")
    (line,) = sentences.sentences("memorization", frame(chance), COPA)
    assert line.startswith("As a control, by texts planted in a corpus that it never read, its loss is at chance")
    unclear = share(memorization.MEMBERSHIP_AUC, 0.55, 0.45, 0.65, 80, **loss, condition="planted")
    assert sentences.sentences("memorization", frame(unclear), COPA)[0].startswith("There is no evidence")


def test_replication_beside_none_and_a_range_called_a_range():
    of = {"setting": "full", "condition": "rule"}
    rows = [
        share(icl.REPLICATION, 0.0, 0.0, 0.02, 200, k=0, **of),
        share(icl.REPLICATION, 0.105, 0.07, 0.155, 200, k=200, **of),
        finding_row(icl.LABEL_ACCURACY, "overall", Range(0.738, 0.695, 0.775, 3, of="3 orders"), factors={"k": 200}),
        share(icl.ACCURACY_GAP, 0.145, -0.057, 0.241, 200, k=200, **of),
    ]
    about = About("Gemma", "TREC questions", "trec")
    assert sentences.sentences("icl", frame(*rows), about) == [
        "With 200 demonstrations Gemma replicates 10.5% of 200 items of TREC questions exactly or nearly (95% interval "
        "7.0% to 15.5%), without them none of 200.",
        "With 200 it labels 73.8% correctly, from 69.5% to 77.5% over 3 orders.",
        "There is no evidence that replicated items are labeled better than the others (+14.5 points, 95% interval "
        "−5.7 to +24.1, n = 200).",
    ]
    rows[0] = share(icl.REPLICATION, 0.1, 0.07, 0.15, 200, k=0, **of)
    first, *_ = sentences.sentences("icl", frame(*rows), about)
    assert first.endswith("without them 10.0% of 200: there is no evidence that demonstrations add to it.")


def test_two_models_are_told_apart_by_the_interval_of_their_difference():
    far = {"Gemma": frame(share(ACCURACY, 0.82, 0.80, 0.85)), "SmolLM2": frame(share(ACCURACY, 0.52, 0.48, 0.55))}
    assert sentences.compare("accuracy", far, COPA) == [
        "The accuracy on COPA is higher for Gemma than for SmolLM2 (82.0% against 52.0%; +30.0 points, 95% interval "
        "+26.4 to +35.0)."
    ]
    near = {"Gemma": frame(share(ACCURACY, 0.68, 0.65, 0.71)), "SmolLM2": frame(share(ACCURACY, 0.66, 0.63, 0.69))}
    (line,) = sentences.compare("accuracy", near, COPA)
    assert line.startswith("There is no evidence that the accuracy on COPA differs between Gemma and SmolLM2")
    assert sentences.compare("accuracy", {"Gemma": near["Gemma"]}, COPA) == []


def test_every_study_has_its_rule_and_its_number():
    assert set(sentences.RULES) == set(sentences.EFFECTS) == set(ACROSS) == set(STUDIES)


@pytest.mark.parametrize("study", STUDIES)
def test_nothing_is_said_of_what_is_missing_and_nan_is_never_written(study):
    assert sentences.sentences(study, frame()) == [] and sentences.effect(study, frame()) is None
    for value in (math.nan, 0.3):
        numbers = Estimate(value, value, value, 30) if value == value else Estimate.point(value, 30)
        rows = [
            finding_row(finding, "overall", numbers, factors=factors)
            for finding in declared.FINDINGS[study]
            for factors in FACTORS
        ]
        lines = sentences.sentences(study, frame(*rows))
        assert not [line for line in lines if "nan" in line or "None" in line or "–" in line]
        assert bool(lines) == (value == value)


def test_a_study_that_is_not_known_says_nothing():
    assert sentences.sentences("another", frame(share(ACCURACY, 0.5, 0.4, 0.6))) == []


def test_a_number_without_an_interval_or_a_test_is_no_evidence_and_no_lack_of_it():
    bare = finding_row(ontology.GOLD_GAIN_PREFERRED, "overall", Estimate.point(0.6, 30))
    assert sentences.sentences("ontology", frame(bare)) == []


def runs_of(study: str, *of: tuple[str, str, pd.DataFrame]) -> str:
    """What runs say together, each given by its model, its benchmark and its findings."""
    runs = [
        OfRun(f"{place}", About(model, on), Findings(found.to_dict("records")))
        for place, (model, on, found) in enumerate(of)
    ]
    said = together(study, runs)
    return said.sentence if said else ""


def test_models_over_benchmarks():
    high, low = frame(share(ACCURACY, 0.82, 0.80, 0.85)), frame(share(ACCURACY, 0.52, 0.48, 0.55))
    differing = [("Gemma", "SyntaxGym", high), ("SmolLM2", "SyntaxGym", low)]
    alike = [("Gemma", "COPA", high), ("SmolLM2", "COPA", high)]
    assert runs_of("accuracy", *differing, *alike) == (
        "The models differ on 1 of 2 benchmarks, most on SyntaxGym (Gemma 82.0%, SmolLM2 52.0%); on the others there "
        "is no evidence that they do."
    )
    assert runs_of("accuracy", *alike).startswith("There is no evidence that the models differ on any of 1 benchmark")
    assert runs_of("accuracy", differing[0]) == "Gemma prefers the right option in 82.0% of SyntaxGym."


def test_contexts_over_models():
    runs = [
        (model, "BLiMP", frame(*primed("matched_unacceptable", 0.78, low, low - 0.8, low - 0.7),
                               *primed("unrelated", 0.78, 0.79, -0.01, 0.03)))
        for model, low in (("Gemma", 0.21), ("SmolLM2", 0.25))
    ]  # fmt: skip
    assert runs_of("priming", *runs) == (
        "Unacceptable sentences of the same kind before a pair take accuracy from 78% to 21% (Gemma) and from 78% to "
        "25% (SmolLM2); there is no evidence that unrelated ones change it."
    )


def test_changes_over_many_runs():
    runs = [("Gemma", "COPA", swapped(0.645, 0.001)), ("Gemma", "PIQA", swapped(0.684, 1.0))]
    assert runs_of("perturbation", *runs) == (
        "Swapping nouns and verbs for synonyms costs accuracy in 1 of 2 runs, most on COPA (Gemma −3.9 points); in the "
        "others there is no evidence of it."
    )
    assert runs_of("perturbation", runs[1]).startswith("There is no evidence that synonyms cost accuracy")
    popular = [("Gemma", "COPA", frame(*halves(0.63, 0.74))), ("Gemma", "PIQA", frame(*halves(0.6, 0.6, (-0.1, 0.1))))]
    assert runs_of("popularity", *popular) == (
        "Popular instances are answered better in 1 of 2 runs; most on COPA (Gemma +11.0 points)."
    )


def test_concepts_that_nobody_knows_and_that_somebody_knows():
    none = frame(share(ontology.ACCURACY, 0.0, 0, 0, setting="corrected"),
                 share(ontology.GOLD_GAIN_PREFERRED, 0.43, 0.42, 0.44))  # fmt: skip
    assert runs_of("ontology", ("Gemma", "GO", none)) == (
        "No model gives the right IDs, and in 1 of 1 run there is no evidence that a concept's label tells its ID from "
        "others."
    )
    some = frame(share(ontology.ACCURACY, 0.2, 0.19, 0.21, setting="corrected"),
                 share(ontology.SPEARMAN_BUCKETS, 0.9, 0.8, 0.95, 50, setting="corrected"))  # fmt: skip
    assert runs_of("ontology", ("Gemma", "GO", none), ("GPT", "GO", some)) == (
        "GPT gives the right ID of 20.0% of concepts of GO, and accuracy rises with the popularity of a concept "
        "(Spearman 0.90); Gemma gives none."
    )
    rare = frame(share(ontology.ACCURACY, 0.005, 0.004, 0.006, setting="corrected"),
                 share(ontology.SPEARMAN_BUCKETS, 0.9, 0.8, 0.95, 50, setting="corrected"))  # fmt: skip
    assert "accuracy rises with the popularity" in runs_of("ontology", ("Pythia", "GO", rare))
    flat = frame(share(ontology.ACCURACY, 0.005, 0.004, 0.006, setting="corrected"),
                 share(ontology.SPEARMAN_BUCKETS, 0.1, -0.3, 0.5, 50, setting="corrected"))  # fmt: skip
    assert runs_of("ontology", ("Pythia", "GO", flat)) == "No model gives the right IDs."


def test_texts_by_heart():
    none = share(memorization.SCORE, 0.0, 0, 0, 1000, setting="tde_accuracy", condition="correct")
    area = share(memorization.CLASSIFIER_AUC, 0.7, 0.6, 0.8, setting="mia_neighbours", condition="logistic")
    assert runs_of("memorization", ("Gemma", "COPA", frame(none, area))) == (
        "No right text is completed word for word from its first half; the loss beside that of neighbors tells right "
        "from wrong answers in 1 of 1 run."
    )
    of = {"setting": "full", "condition": "rule"}
    back = [
        share(icl.REPLICATION, 0.105, 0.07, 0.155, 200, k=200, **of),
        share(icl.REPLICATION, 0, 0, 0.02, 200, k=0, **of),
    ]
    same = [share(icl.REPLICATION, 0.2, 0.15, 0.25, 200, k=k, **of) for k in (200, 0)]
    assert runs_of("icl", ("Gemma", "TREC", frame(*back)), ("Gemma", "WNLI", frame(*same))) == (
        "After 200 demonstrations Gemma replicates 10.5% of TREC, without them none of 200; on 1 other there is no "
        "evidence of it."
    )


@pytest.mark.parametrize("study", STUDIES)
def test_of_nothing_nothing_is_said_together(study):
    assert together(study, []) is None and runs_of(study, ("Gemma", "COPA", frame())) == ""


def test_a_change_over_paradigms_keeps_its_stored_interval():
    of = {"setting": "NV"}
    before, after = (share(one, value, 0.7, 0.9, **of) for one, value in
                     ((perturbation.ACCURACY_ORIGINAL, 0.8), (perturbation.ACCURACY_PERTURBED, 0.76)))  # fmt: skip
    # -5 % of 80 %, from -10 % to 1 %: -8 to +0.8 points
    change = finding_row(perturbation.CHANGE, "overall", Estimate(-5.0, -10.0, 1.0, 1000, 0.2), factors=of,
                         detail={"lost": 50, "gained": 10, "units": 7})  # fmt: skip
    (line,) = sentences.sentences("perturbation", frame(before, after, change), BLIMP)
    assert line == (
        "There is no evidence that synonyms for nouns and verbs change the accuracy of Gemma on BLiMP: 80.0% before, "
        "76.0% after (−4.0 points, 95% interval −8.0 to +0.8, over 7 paradigms)."
    )


def test_a_sample_by_bucket_that_was_reweighted_says_so():
    row = finding_row(ontology.ACCURACY, "overall", Estimate(0.1, 0.08, 0.12, 500), factors={"setting": "corrected"},
                      detail={"sample": 0.3})  # fmt: skip
    lines = sentences.sentences("ontology", frame(row), About("Gemma", "GO", "go", {"per_bucket": 130}))
    assert lines[-1] == sentences.WEIGHED


def test_suites_that_are_named_one_by_one_are_counted():
    assert sentences._count(["a", "b"]) == 2
    assert sentences._count(3) == 3 and sentences._count(None) == 0 and sentences._count("a") == 0


def test_shares_are_whole_percents_unless_their_difference_would_be_another():
    assert sentences.two_shares(0.781, 0.210) == ["78%", "21%"]
    assert sentences.two_shares(0.741, 0.846) == ["74.1%", "84.6%"], "85 less 74 is 11, not 10.5"
    assert sentences.two_shares(0.424, 0.394) == ["42.4%", "39.4%"], "closer than five points"
