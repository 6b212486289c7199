"""Dose and response, on worked examples and on a run of the model that comes along."""

from __future__ import annotations

import contextlib
import math

import pandas as pd
import pytest

from explorer.studies.calibration import doses, queries
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
    assert "does not tell" in doses.detection_in_words("Min-k %", flat)
    found = [response(1, 0.55, 0.45, 0.65), response(4, 0.7, 0.6, 0.8), response(64, 0.99, 0.95, 1.0)]
    assert doses.detection_in_words("Min-k %", found) == (
        "Min-k % finds texts seen 4 times, not those seen once (AUC 0.99 at 64 times)."
    )
    assert doses.accuracy_in_words("Glass box M", [response(0, 0.5, 0.4, 0.6), *found]) == (
        "Glass box M is right above chance from 4 times on, and in 99.0% (95.0% – 100.0%) where the deciding n-gram "
        "stands 64 times in the corpus. Where it never stands there, 50.0% (40.0% – 60.0%)."
    )
    assert "no effect" in doses.accuracy_in_words("Glass box M", flat)


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
