"""Ratings of sentences and scores for their length, correlated."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from explorer.benchmarks.tables import table
from explorer.resources import Resources
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work
from explorer.studies.accuracy.ratings import correlations

TABLES = Path(__file__).resolve().parents[1] / "data" / "tables"


def test_scores_are_correlated_with_ratings_for_their_length():
    ids = ["a", "b", "c", "d"]
    instances = pd.DataFrame({"instance_id": ids, "grp": "all"})
    measures = pd.DataFrame({"instance_id": ids, "measure": "rating", "value": [4.0, 3.0, 2.0, 1.0]})
    # Nats a token -1, -2, -3, -4 fall with the rating; the sums -40, -8, -3, -4 do not.
    scores = pd.DataFrame(
        {
            "instance_id": ids, "role": "option", "logprob": [-40.0, -8.0, -3.0, -4.0], "scored": [40, 4, 1, 1],
            "chars": [10, 2, 1, 1], "bytes": [10, 2, 1, 1],
        }
    )  # fmt: skip
    found = {(row["finding"], row["setting"]): row for row in correlations(instances, measures, scores)}
    assert found["rating_pearson", "mean_token"]["value"] == pytest.approx(1)
    assert found["rating_spearman", "mean_token"]["value"] == pytest.approx(1)
    # Nats a character -4, -4, -3, -4: ranks 2 2 4 2 against 4 3 2 1, so -1 / sqrt(3 * 5) = -0.2582
    assert found["rating_spearman", "per_char"]["value"] == pytest.approx(-0.2582, abs=1e-4)
    assert {row["n"] for row in found.values()} == {4}
    assert "sum" not in {setting for _, setting in found}


def test_a_sentence_without_a_score_is_left_out_and_counted():
    ids = ["a", "b", "c", "d", "e"]
    instances = pd.DataFrame({"instance_id": ids, "grp": ["x", "x", "y", "y", "y"]})
    measures = pd.DataFrame({"instance_id": ids, "measure": "rating", "value": [5.0, 4.0, 3.0, 2.0, 1.0]})
    scores = pd.DataFrame(
        {"instance_id": ids, "role": "option", "logprob": [-1.0, -2.0, float("nan"), -4.0, -5.0], "scored": 1,
         "chars": 1, "bytes": 1}
    )  # fmt: skip
    rows = [row for row in correlations(instances, measures, scores) if row["setting"] == "mean_token"]
    overall = next(row for row in rows if row["finding"] == "rating_spearman" and row["grp"] == "overall")
    assert (overall["n"], overall["left_out"]) == (4, 1)
    of_x = next(row for row in rows if row["finding"] == "rating_pearson" and row["grp"] == "x")
    assert of_x["value"] != of_x["value"] and "at least" in of_x["reason"]


def test_a_run_over_ratings_concludes_correlations_and_no_accuracy(settings, tiny_gpt2):
    path = TABLES / "ratings.csv"
    kept = table.store_import(path, "rated", settings, table.guess_reading(path))
    resources = Resources(settings)
    spec = make_spec(resources, study="accuracy", model=str(tiny_gpt2), benchmark=kept.name)
    folder = RunFolder.create(settings.runs, spec)
    assert work(folder, resources, print, wait=False) == "complete", folder.progress().message
    found = pd.read_parquet(folder.parts / "findings" / "all.parquet")
    assert set(found["finding"]) == {"rating_pearson", "rating_spearman"}
    assert set(found["setting"]) == {"mean_token", "per_char", "per_byte"}
    measures = folder.read("measures")
    assert measures[measures["measure"] == "rating"]["value"].tolist()[:2] == [6.9, 6.8]
    assert measures[measures["measure"] == "correct"]["value"].isna().all()
