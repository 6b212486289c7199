"""Dose and response, on worked examples and on a run of the model that comes along."""

from __future__ import annotations

import contextlib
import math

import pandas as pd
import pytest

from explorer.stats.mcnemar import mcnemar
from explorer.studies.calibration import doses, queries, words
from explorer.studies.calibration.doses import Response


def response(dose: int, value: float, low: float, high: float, name: str = "m") -> Response:
    return Response(name, dose, value, low, high, 100)


def test_accuracy_of_each_dose_is_the_share_of_right_verdicts_with_wilsons_interval():
    frame = pd.DataFrame(
        {"model": ["m"] * 14, "dose": [0] * 4 + [8] * 10, "correct": [1, 0, 0.5, 0.5, *[1] * 9, 0]},
    )
    zero, eight = doses.accuracy(frame)
    assert (zero.dose, zero.value, zero.n) == (0, 0.5, 4)
    # Wilson, 9 of 10: center (0.9 + 1.92/10) / 1.384, half-width 1.96 sqrt(0.9 * 0.1 / 10 + 0.96 / 100) / 1.384
    assert (eight.value, eight.n) == (0.9, 10)
    assert eight.low == pytest.approx(0.5958, abs=1e-3) and eight.high == pytest.approx(0.9821, abs=1e-3)


def test_detection_is_the_auc_against_texts_that_the_corpus_lacks_in_the_attacks_own_direction():
    values = {0: [3.0, 4.0, 5.0, 6.0], 1: [3.5, 4.5, 5.5, 6.5], 64: [0.1, 0.2, 0.3, 0.4]}
    frame = pd.DataFrame(
        [{"attack": "loss", "dose": dose, "value": value} for dose, members in values.items() for value in members]
    )
    once, often = doses.detection(frame, {"loss": False})
    # Of the 16 pairs of a text seen once and one never seen, 6 have the lower loss on the seen one.
    assert once.value == 6 / 16 and often.value == 1.0
    assert doses.detection(frame, {"loss": True})[1].value == 0.0
    assert doses.detection(frame, {}) == []
    assert doses.detection(frame.assign(value=math.nan), {"loss": False}) == []


def test_the_first_dose_above_chance_is_that_from_which_all_larger_ones_are():
    rising = [response(0, 0.5, 0.4, 0.6), response(1, 0.7, 0.6, 0.8), response(2, 0.55, 0.45, 0.65)]
    rising += [response(4, 0.8, 0.7, 0.9), response(8, 0.9, 0.8, 1.0)]
    assert doses.first_above(rising) == 4  # that of 2 holds chance, so what 1 shows is not relied on
    assert doses.first_above(rising[:3]) is None
    assert doses.first_above([response(1, math.nan, math.nan, math.nan)]) is None


def test_sentences_say_what_is_seen_and_what_is_not():
    flat = [response(1, 0.5, 0.4, 0.6), response(64, 0.52, 0.42, 0.62)]
    assert "does not tell" in words.detection_in_words("Min-k %", flat)
    found = [response(1, 0.55, 0.45, 0.65), response(4, 0.7, 0.6, 0.8), response(64, 0.99, 0.95, 1.0)]
    assert words.detection_in_words("Min-k %", found) == (
        "Min-k % finds texts seen 4 times better than chance (AUC 0.70), not those seen once; at 64 times the AUC is "
        "0.99."
    )
    assert words.accuracy_in_words("Glass box M", [response(0, 0.5, 0.4, 0.6), *found]) == (
        "Glass box M beats chance once the deciding n-gram occurs 4 times in its corpus, and is right in 99.0% (95% "
        "interval 95.0% to 100.0%) where it occurs 64 times. Where it never occurs, 50.0% (95% "
        "interval 40.0% to 60.0%)."
    )
    assert "no effect" in words.accuracy_in_words("Glass box M", flat)


FLAT = [response(0, 0.1, 0.05, 0.15), response(1, 0.1, 0.05, 0.15), response(16, 0.12, 0.08, 0.16)]
RISING = [response(0, 0.02, 0.0, 0.05), response(1, 0.03, 0.0, 0.06), response(16, 0.6, 0.5, 0.7)]
RISING += [response(64, 0.9, 0.8, 1.0)]


def test_what_lies_beyond_the_texts_that_were_never_read_is_seen():
    assert doses.first_beyond(RISING) == 16  # 1 reaches down to 0.0, below the 0.05 of what was never read
    assert doses.first_beyond(FLAT) is None
    assert doses.first_beyond(RISING[1:]) is None  # nothing to compare with


def test_shares_and_means_of_each_line_and_dose():
    frame = pd.DataFrame({"n": [2, 2, 3, 3], "dose": [1, 1, 1, 4], "value": [1.0, 0.0, 1.0, 0.0]})
    assert [(one.name, one.dose, one.value) for one in doses.shares(frame, "n", "value")] == [
        ("2", 1, 0.5), ("3", 1, 1.0), ("3", 4, 0.0),
    ]  # fmt: skip
    nats = pd.DataFrame({"model": "m", "dose": 4, "value": [-2.0, -4.0, -6.0] * 10})
    [mean] = doses.means(nats, "model", "value")
    assert mean.value == -4.0 and -5 < mean.low < -4 < mean.high < -3 and mean.n == 30


def test_roc_curves_are_of_each_dose_against_all_that_the_corpus_lacks():
    values = {0: [3.0, 4.0], 1: [3.5, 4.5], 64: [0.1, 0.2]}
    frame = pd.DataFrame([{"dose": dose, "value": value} for dose, many in values.items() for value in many])
    curves = doses.roc_curves(frame, is_high=False)
    assert list(curves) == [1, 64]
    assert (0.0, 1.0) in zip(curves[64].false_positive, curves[64].true_positive, strict=True)  # all, no false alarm


def test_a_sentence_says_from_which_dose_on_texts_are_finished():
    assert words.extraction_in_words("Glass box M", RISING).startswith(
        "Glass box M finishes texts seen 16 times, not those seen once: 60.0% (95% interval 50.0% to 70.0%) of those "
        "seen 16 times, 90.0% (95% interval 80.0% to 100.0%) of those seen 64 times, and 2.0%"
    )
    assert words.extraction_in_words("Glass box M", FLAT).startswith("Extraction does not tell what")
    assert "read the IDs" in words.concepts_in_words("Glass box M", FLAT)
    told = words.concepts_in_words("Glass box M", RISING)
    assert "16 times, not those seen once" in told and "60.0%" in told and "right at 16 times, 90.0%" in told
    told = words.replication_in_words("Glass box M", 4, RISING)
    assert "tell apart items seen 16 times" in told and "60.0%" in told and "items seen 64 times against 2.0%" in told
    assert words.replication_in_words("Glass box M", 0, FLAT).startswith("Completions without demonstrations do not")
    assert "Neither" in words.likelihood_in_words(FLAT) and "16 times" in words.likelihood_in_words(RISING)


def test_an_attack_that_points_the_wrong_way_is_said_to():
    told = words.detection_in_words("ReCaLL", [response(1, 0.4, 0.3, 0.5), response(64, 0.05, 0.0, 0.1)])
    assert told.startswith("ReCaLL points the wrong way: texts of the corpus look less seen than others")
    assert "does not tell" in words.detection_in_words("ReCaLL", [response(64, 0.45, 0.3, 0.6)])


def test_attacks_that_find_the_same_are_told_in_one_sentence():
    once = [response(1, 0.7, 0.6, 0.8), response(64, 0.9, 0.8, 1.0)]
    often = [response(1, 0.5, 0.4, 0.6), response(64, 0.8, 0.7, 0.9)]
    against = [response(1, 0.4, 0.3, 0.5), response(64, 0.05, 0.0, 0.1)]
    assert words.attacks_in_words([("Loss", once), ("Zlib", once), ("TDE", often), ("ReCaLL", against)]) == (
        "In brackets: the area under the ROC curve (AUC) at the dose named → at 64 times. Loss (0.70 → 0.90) and Zlib "
        "(0.70 → 0.90) find texts seen once better than chance. TDE (0.80) finds texts seen 64 times better than "
        "chance, not those seen once. ReCaLL (0.05) points the wrong way: texts of the corpus look less seen than "
        "others."
    )


def test_the_popularity_score_is_said_to_see_presence_or_frequency_by_its_intervals():
    same = {2: [response(1, 0.5, 0.4, 0.6), response(64, 0.5, 0.4, 0.6)],
            5: [response(0, 0.5, 0.4, 0.6), response(1, 0.96, 0.9, 0.99), response(64, 0.98, 0.92, 1.0)]}  # fmt: skip
    told = words.popularity_in_words(same)
    assert told.startswith("With n = 5") and "n = 2 in 50.0%" in told and "not how often" in told
    more = {5: [response(1, 0.6, 0.5, 0.7), response(64, 0.98, 0.92, 1.0)]}
    assert "more of what occurs often" in words.popularity_in_words(more)
    assert words.popularity_in_words({}) == ""


def test_a_swap_costs_only_what_the_test_says():
    lost = mcnemar([1] * 20 + [0] * 5, [0] * 15 + [1] * 5 + [0] * 5)
    assert words.swap_in_words("Glass box M", lost).startswith("A swap to a rare synonym costs Glass box M")
    kept = mcnemar([1] * 20, [1] * 19 + [0])
    assert words.swap_in_words("Glass box M", kept).startswith("There is no evidence that a swap")


def test_contexts_are_a_control_where_their_change_does_not_follow_the_dose():
    still = pd.DataFrame({"dose": [0, 1, 2, 4] * 10, "delta": [0.0, 0.0, 0.0, 0.0] * 5 + [1.0, 1.0, 1.0, 1.0] * 5})
    assert words.priming_in_words(still).startswith("The control")
    follows = pd.DataFrame({"dose": [0, 1, 2, 4] * 10, "delta": [0.0, 0.0, 1.0, 1.0] * 10})
    assert words.priming_in_words(follows).startswith("Not the control")


def test_ones_own_texts_are_learned_from_the_dose_whose_gain_is_above_nothing():
    dose, gain = [0] * 5 + [64] * 5, [-0.1, 0.1, 0.0, 0.05, -0.05, 2.0, 2.1, 1.9, 2.2, 1.8]
    told = words.own_in_words("Glass box S of mine", "Glass box M", dose, gain)
    assert told.startswith("Glass box S of mine has learned texts planted 64 times or more")
    assert "has not learned" in words.own_in_words("S", "M", dose[:5], gain[:5])
    few = words.own_in_words("S", "M", dose[3:7], gain[3:7])
    assert few.startswith("Of texts planted 64 times a token is likelier to S than to M")
    assert few.endswith("by +2.05 nats. Fewer than five texts a dose allow no interval.")


def test_a_run_of_the_model_that_comes_along_rises_with_the_dose(tmp_path, monkeypatch):
    from explorer import settings as settings_module
    from explorer.resources import Resources
    from explorer.runs import request, worker
    from explorer.runs.folder import RunFolder

    monkeypatch.setenv("EXPLORER_OFFLINE", "1")
    resources = Resources(settings_module.read(cache=tmp_path))
    spec = request.make_spec(
        resources, study="accuracy", model="glassbox-m", benchmark="glassbox_pairs", settings={"per_group": 60}
    )
    folder = RunFolder.create(resources.settings.runs, spec)
    assert worker.work(folder, resources, lambda text: None, wait=False) == "complete"
    with contextlib.closing(resources.store()) as store:
        frame = queries.verdicts(store, "glassbox_pairs")
        assert queries.attacks(store).empty
    assert len(frame) == 480 and set(frame["model"]) == {"glassbox-m"}
    frame = frame.assign(dose=frame["phenomenon"].str.removeprefix("dose ").astype(int))
    shares = {dose: rows["correct"].mean() for dose, rows in frame.groupby("dose")}
    low, high = (sum(shares[dose] for dose in some) / 3 for some in ((0, 1, 2), (256, 512, 1024)))
    assert high > 0.8 > low + 0.1


def test_attacks_have_no_models_color_and_are_told_apart_by_dashes():
    from explorer.figures import models, theme
    from explorer.stats.auc import RocCurve
    from explorer.ui.calibration.figure_doses import dose_curves
    from explorer.ui.calibration.figure_roc import roc_by_dose
    from explorer.ui.memorization.figure_roc import roc_curves

    of_models = {*models.COLORS, *models.OWN.values()}
    lines = [(name, [response(1, 0.5, 0.4, 0.6), response(4, 0.9, 0.6, 1.0)]) for name in "abcdef"]
    drawn = dose_curves(lines, response="AUC", of_models=False).data
    by_score = roc_curves({name: ([0, 1], [0, 1], 0.5) for name in "abcdef"}).data[1:]
    for traces in (drawn, by_score):
        assert not {trace.line.color for trace in traces} & of_models
        assert len({trace.line.dash for trace in traces}) == 6
    _, seldom, often = roc_by_dose({1: RocCurve((0, 1), (0, 1)), 64: RocCurve((0, 1), (0, 1))}).data
    assert seldom.line.color != often.line.color and seldom.line.width < often.line.width
    for ground in theme.THEMES.values():
        assert theme.contrast(seldom.line.color, ground.paper) >= 3


def test_lengths_have_colors_of_an_order_that_no_model_has_and_marks():
    from explorer.figures import theme
    from explorer.ui.calibration.figure_doses import dose_curves

    lines = [(name, [response(1, 0.5, 0.4, 0.6)]) for name in "abcdef"]
    drawn = dose_curves(lines, response="IPS", colors=theme.in_order(6), of_models=False).data
    colors = [trace.line.color for trace in drawn]
    assert colors == [trace.marker.color for trace in drawn] and len(set(colors)) == 6
    assert colors[0] == theme.LEAST and colors[-1] == theme.MOST and not set(colors) & set(theme.PALETTE)
    assert len({trace.marker.symbol for trace in drawn}) == 6 and {trace.line.dash for trace in drawn} == {"solid"}
    for ground in ("#ffffff", theme.THEMES["dark"].paper):
        assert min(theme.contrast(color, ground) for color in colors) >= 3, "lines are seen in both themes"


def test_the_line_across_doses_says_what_it_is_and_a_fall_has_a_true_minus():
    from explorer.ui.calibration.figure_doses import dose_curves

    lines = [("m", [response(1, -0.1, -0.2, -0.05)])]
    drawn = dose_curves(lines, response="Accuracy", chance=0.5, is_share=True)
    assert [note.text for note in drawn.layout.annotations] == ["chance"]
    assert drawn.data[0].customdata[0][1] == "−20.0% to −5.0%"
    assert not dose_curves(lines, response="Accuracy").layout.annotations


def test_a_dose_without_interval_says_so_under_the_pointer():
    from explorer.ui.calibration.figure_doses import dose_curves

    drawn = dose_curves(
        [("m", [response(1, 0.5, math.nan, math.nan), response(4, 0.9, 0.6, 1.0)])], response="Accuracy"
    )
    assert [row[1] for row in drawn.data[0].customdata] == ["no interval", "0.600 to 1.000"]
