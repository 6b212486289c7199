"""Attacks against labels that do not come from the model, and the attacks that a run may ask for beside the usual."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from explorer.figures.low_rates import LEAST, low_rates
from explorer.records import Count
from explorer.results.store import Store
from explorer.settings import PRECOMPUTED
from explorer.studies.memorization import membership
from explorer.studies.memorization.study import STUDY


def test_an_attack_is_judged_at_low_rates_of_false_alarms_and_by_its_area():
    chance = np.random.default_rng(0)
    member = (chance.random(800) < 0.5).astype(float)
    loss = chance.normal(3, 1, 800) - 1.5 * member
    (found,) = membership.judge_attacks({"mia_loss": loss}, member, resamples=200)
    assert found.area.value == pytest.approx(roc_auc_score(member, -loss)), "a low loss speaks for membership"
    assert [one.rate for one in found.at] == [0.01, 0.05]
    assert found.at[0].value < found.at[1].value and found.at[1].low > 0.05
    assert found.curve.false_positive[0] == 0 and found.curve.true_positive[-1] == 1


def test_of_texts_whose_label_is_unknown_nothing_is_said():
    (found,) = membership.judge_attacks({"recall": [0.9, 0.8, 0.7]}, [math.nan, math.nan, 1.0], resamples=10)
    assert math.isnan(found.area.value) and found.at[0].reason == "all texts are members"


def test_labels_come_from_doses_and_from_a_column():
    assert membership.labels_of_doses([0, 4, 1024]).tolist() == [0, 1, 1]
    assert math.isnan(membership.labels_of_doses([math.nan])[0])
    assert membership.labels_of_column(["yes", 0, "Unseen", 1.0, True]).tolist() == [1, 0, 0, 1, 1]
    assert math.isnan(membership.labels_of_column(["perhaps"])[0])


class Corpus:
    """An index of two sentences whose tokens are words."""

    index = "corpus"
    held = ("the cat sleeps", "a dog barks")

    def __init__(self):
        self.words: list[str] = []

    def encode(self, texts, *, bare=False):
        for text in (*self.held, *texts):
            self.words += [word for word in text.split() if word not in self.words]
        return [tuple(self.words.index(word) for word in text.split()) for text in texts]

    def count(self, wanted, progress=None):
        held = self.encode(self.held)
        return [Count(self.index, ngram, float(sum(ngram == text for text in held))) for ngram in wanted]


def test_labels_come_from_an_index_that_holds_a_text_verbatim():
    labels = membership.labels_of_index(Corpus(), ["the cat sleeps", "the dog sleeps", "a dog barks", "a " * 600])
    assert labels[:3].tolist() == [1, 0, 1] and math.isnan(labels[3])


def test_the_loss_is_calibrated_by_a_stored_run_of_a_reference_model():
    store = Store(None, PRECOMPUTED)
    runs = store.frame(
        "SELECT run_id, model FROM runs WHERE study = 'memorization' AND benchmark = 'starter_causes' ORDER BY model"
    ).set_index("model")["run_id"]
    own, reference = runs["gemma-3-270m"], runs["smollm2-135m-instruct"]
    table, other = membership.texts(store, own, reference), membership.texts(store, reference)
    store.close()
    assert len(table) == len(other) == 240
    both = table.merge(other, on=["instance_id", "option"], suffixes=("", "_other"))
    expected = both["mia_loss"] - both["mia_loss_other"]
    pd.testing.assert_series_equal(both[membership.CALIBRATED], expected, check_names=False)


def test_further_attacks_stand_in_a_runs_settings_only_where_they_are_asked_for():
    assert "more" not in STUDY.resolve({}), "runs made before keep their ids"
    assert "more" not in STUDY.resolve({"more": []}), "as the dialog gives it where none is chosen"
    assert STUDY.resolve({"more": "min_k_plus,recall"})["more"] == ["min_k_plus", "recall"]


def test_the_figure_has_logarithmic_axes_and_a_line_of_chance():
    figure = low_rates({"Loss": ((0.0, 0.02, 1.0), (0.1, 0.4, 1.0))})
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    chance, loss = figure.data
    assert chance.name == "by chance" and min(loss.x) == LEAST
