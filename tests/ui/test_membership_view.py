"""The view of attacks judged by labels, on what comes along with the explorer."""

from __future__ import annotations

import math

import numpy as np

from explorer import settings as settings_module
from explorer.glassbox import index as glassbox_index
from explorer.glassbox import starters
from explorer.popularity import verbatim
from explorer.resources import Resources
from explorer.settings import Settings
from explorer.stats.true_positive_rate import RATES
from explorer.studies.memorization import membership
from explorer.studies.memorization.membership import JUDGED
from explorer.ui.memorization import membership_view
from explorer.ui.memorization.figure_found import found_at
from tests.ui.test_pages import html_of


def test_attacks_are_judged_by_what_is_planted_on_a_clean_clone(open_page, tmp_path, monkeypatch):
    monkeypatch.delenv("EXPLORER_PRECOMPUTED")
    app = open_page(
        "memorization", tmp_path / "cache", model="glassbox-m", benchmark="starter_causes", facet="Membership"
    )
    assert not app.exception and not app.error
    told = html_of(app)
    assert "At 1% false alarms" in told and "At 5% false alarms" in told and "of 5 starter sets together" in told
    assert len(app.get("plotly_chart")) == 2
    [table] = [one.value for one in app.dataframe if "at1" in one.value]
    assert {"MIA loss", "Min-k %", "Calibrated loss"} <= set(table["attack"])
    assert (table["low1"] <= table["at1"]).all() and (table["at1"] <= table["high1"]).all()


def test_a_model_that_never_read_the_glass_box_is_judged_by_it_as_a_control(open_page, tmp_path, monkeypatch):
    monkeypatch.delenv("EXPLORER_PRECOMPUTED")
    app = open_page(
        "memorization", tmp_path / "cache", model="gemma-3-270m", benchmark="starter_causes", facet="Membership"
    )
    assert not app.exception and not app.error
    told = html_of(app)
    assert "never read that corpus" in told and "texts that were planted there" in told
    [table] = [one.value for one in app.dataframe if "at1" in one.value]
    loss = table[table["attack"] == "MIA loss"].iloc[0]
    assert loss["low"] <= 0.5 <= loss["high"], "its loss knows nothing of what was planted elsewhere"
    beside = table[table["attack"] == "Calibrated loss"].iloc[0]
    # Two constructions are all held out, which a loss may tell a little from the others; a reader's loss told a lot.
    assert abs(beside["area"] - 0.5) < 0.05, "nor does the reference, which did not read it either"


def test_without_labels_no_attack_is_judged(open_page, tmp_path, monkeypatch):
    monkeypatch.delenv("EXPLORER_PRECOMPUTED")
    app = open_page("memorization", tmp_path / "cache", model="gemma-3-270m", benchmark="copa", facet="Membership")
    assert not app.exception and not app.error
    assert "only where it is known which texts were seen" in html_of(app)
    assert not app.get("plotly_chart")
    assert "Loss calibrated by" not in {box.label for box in app.selectbox}  # there is no loss to calibrate


def test_labels_of_the_index_are_those_of_the_schedule(shared_settings: Settings, tmp_path):
    settings = settings_module.read(cache=tmp_path / "cache")
    settings.cache.mkdir()
    (settings.cache / "nltk_data").symlink_to(shared_settings.nltk_data, target_is_directory=True)
    glassbox_index.ensure_own(settings)
    resources = Resources(settings)
    instances = resources.instances("starter_causes").instances[::4]
    doses = starters.doses(resources.instances("starter_causes").instances)
    counter = resources.counter("glassbox")
    for instance in instances:
        found = verbatim.trace_text(counter, starters.text_of(instance))
        assert (found.label == verbatim.WHOLE) == (doses[instance.id] > 0), "what is planted and nothing else"
        if found.label == verbatim.WHOLE:
            assert max(span.count for span in found.spans) == doses[instance.id]
    counter.close()  # type: ignore[attr-defined]


def judged(seed: int, better: float, texts: int = 400) -> list[membership.AttackResult]:
    chance = np.random.default_rng(seed)
    member = np.repeat([1.0, 0.0], texts // 2)
    return membership.judge_attacks({"mia_loss": chance.normal(size=texts) - better * member}, member, resamples=100)


def test_what_is_said_follows_the_intervals():
    good, none = membership_view.in_words(judged(0, 3.0)), membership_view.in_words(judged(1, 0.0))
    assert "MIA loss finds most members" in good[0] and "MIA loss finds most members" in good[1]
    assert all("no attack surely finds more members than chance" in one for one in none[:2])
    few = membership_view.in_words(judged(0, 3.0, texts=40))
    assert "nothing can be told: 20 texts that are no members, at least 100 are needed" in few[0]


def test_the_figure_has_a_dot_an_attack_and_rate():
    figure = found_at(judged(0, 2.0), JUDGED)
    assert [len(trace.x) for trace in figure.data] == [1, 1]
    assert [trace.name for trace in figure.data] == [f"at {rate:.0%} false alarms" for rate in RATES]
    assert figure.layout.yaxis.ticktext == ("MIA loss",)
    few = found_at(judged(0, 2.0, texts=40), JUDGED)
    assert [len(trace.x) for trace in few.data] == [0, 1], "what cannot be told is no dot"
    assert math.isnan(judged(0, 2.0, texts=40)[0].at[0].value)


def test_of_two_members_a_share_is_told_and_no_interval():
    labels = [1, 1] + [0] * 100
    (found,) = membership.judge_attacks({"mia_loss": [0.1, 0.2, *range(1, 101)]}, labels, resamples=20)
    said = membership_view.in_words([found])
    assert all("of 2 texts that are members: too few for an interval." in line for line in said[:2])
    assert said[2].startswith("MIA loss has the largest area under the curve, 1.00 (no interval)")
