"""Trajectories: places of models, runs on lines, when an instance was learned; figures are those that runs stored."""

from __future__ import annotations

import dataclasses
import json
import math
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from explorer.__main__ import main
from explorer.records import RunSpec
from explorer.results.store import open_store
from explorer.runs import spec as specs
from explorer.runs import sweep as sweeps
from explorer.runs.folder import RunFolder
from explorer.studies.trajectories import judged, learned, lines, place, planted, queries, readings, table, words
from tests import made_up_sweep


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with runs of five made-up checkpoints."""
    return made_up_sweep.make(tmp_path_factory.mktemp("swept") / "cache")


# Where a model stands


@pytest.mark.parametrize(
    ("model", "family", "step", "tokens"),
    [
        ("EleutherAI/pythia-160m@step512", "EleutherAI/pythia-160m", 512, 512 * 2_097_152),
        ("EleutherAI/pythia-160m", "EleutherAI/pythia-160m", 143_000, 143_000 * 2_097_152),
        ("glassbox-m@step0", "glassbox-m", 0, 0),
        ("glassbox-l", "glassbox-l", 1_399, 1_399 * 16_384),
        ("allenai/OLMo-1B-hf@step20000-tokens84B", "allenai/OLMo-1B-hf", 20_000, 84e9),
        ("allenai/OLMo-2-0425-1B@stage1-step10000-tokens21B", "allenai/OLMo-2-0425-1B", 10_000, 21e9),
        ("allenai/OLMo-2-0425-1B@stage2-ingredient1-step1000-tokens3B", "allenai/OLMo-2-0425-1B", math.nan, math.nan),
        ("lab/own@step7", "lab/own", 7, math.nan),
        ("/home/me@lab/own@step7", "/home/me@lab/own", 7, math.nan),
        ("openai-community/gpt2", "openai-community/gpt2", math.nan, math.nan),
    ],
)
def test_a_name_tells_family_steps_and_tokens(model, family, step, tokens):
    at = place.place_of(model)
    assert at.family == family
    assert (at.step, at.tokens) == (pytest.approx(step, nan_ok=True), pytest.approx(tokens, nan_ok=True))


def test_parameters_are_those_of_the_list_of_models():
    assert place.place_of("EleutherAI/pythia-160m@step512").parameters == 162_322_944
    assert math.isnan(place.place_of("lab/own").parameters)
    assert place.place_of("glassbox-s").suite == place.place_of("glassbox-l@step4").suite == "glassbox"


def test_a_record_beside_the_weights_says_more_than_a_name(settings):
    from explorer.scoring import hf_source

    folder = settings.models / "glassbox-s@step4"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / place.RECORD).write_text(json.dumps({"step": 4, "tokens": 64}))
    own = place.place_here("glassbox-s@step4", hf_source.folder_hash(folder, settings), settings)
    others = place.place_here("glassbox-s@step4", "sha256:of-another-training", settings)
    assert (own.step, own.tokens) == (4, 64) and others.tokens == 4 * 16_384


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"step": "4", "tokens": 64}', '{"step": -1, "tokens": 0}', "{" * 99])
def test_a_damaged_record_counts_as_none(tmp_path, text):
    (tmp_path / place.RECORD).write_text(text)
    assert place.read_record(tmp_path) is None


# Lines


def runs_of(*asked: dict) -> tuple[pd.DataFrame, dict[str, place.Place]]:
    """Rows as the database has them, of runs asked with these fields beside study and benchmark, and their places."""
    rows = []
    for number, fields in enumerate(asked):
        status = fields.pop("status", "complete")
        spec = RunSpec("accuracy", 1, benchmark="starter_pairs", **fields)
        created = pd.Timestamp("2026-01-01") + pd.Timedelta(minutes=number)
        rows.append({"run_id": f"run-{number}", "study": "accuracy", "model": spec.model, "benchmark": spec.benchmark,
                     "status": status, "created": created, "spec": specs.to_json(spec)})  # fmt: skip
    frame = pd.DataFrame(rows)
    return frame, {run: place.place_of(model) for run, model in zip(frame["run_id"], frame["model"], strict=True)}


def test_checkpoints_of_a_family_are_a_line_in_the_order_of_training():
    frame, places = runs_of(
        {"model": "glassbox-m"}, {"model": "glassbox-m@step64"}, {"model": "glassbox-m@step0"},
        {"model": "glassbox-s@step64"}, {"model": "gemma-3-270m"}, {"model": "glassbox-m@step2", "status": "running"},
    )  # fmt: skip
    found, out = lines.lines_of(frame, places, "tokens")
    assert [line.name for line in found] == ["glassbox-m"]
    assert [stop.run_id for stop in found[0].stops] == ["run-2", "run-1", "run-0"]
    reasons = {one.run_id: one.reason for one in out}
    assert reasons == {"run-3": lines.ALONE, "run-4": lines.NO_PLACE["tokens"], "run-5": lines.NOT_COMPLETE}


def test_a_model_whose_tokens_were_never_published_is_left_out_of_their_axis_with_that_reason():
    frame, places = runs_of(
        {"model": "openai-community/gpt2"}, {"model": "openai-community/gpt2-xl"}, {"model": "facebook/opt-125m"},
        {"model": "facebook/opt-1.3b"}, {"model": "allenai/OLMo-1B-hf"},
        {"model": "allenai/OLMo-1B-hf@step20000-tokens84B"},
        {"model": "glassbox-m@step1"}, {"model": "glassbox-m@step2"},
    )  # fmt: skip
    (line,), out = lines.lines_of(frame, places, "tokens")
    reasons = {one.model: one.reason for one in out}
    assert line.name == "glassbox-m" and all(math.isnan(places[run].tokens) for run in ("run-0", "run-2", "run-4"))
    assert "never published" in reasons["openai-community/gpt2"]
    assert "180 billion" in reasons["facebook/opt-125m"] and "without a revision" in reasons["allenai/OLMo-1B-hf"]
    assert places["run-5"].tokens == 84e9 and reasons["allenai/OLMo-1B-hf@step20000-tokens84B"] == lines.ALONE
    said = table.in_short(out)
    assert "2 of GPT-2, of which was never published how many tokens it read" in said
    sizes, _ = lines.lines_of(frame, places, "parameters")
    assert {one.name for one in sizes} == {"gpt-2", "opt"}


def test_models_that_read_other_chat_templates_are_one_line_and_a_seed_is_not():
    marks = [{"chat": "always", "template": mark} for mark in "ab"]
    frame, places = runs_of(
        {"model": "glassbox-m@step1", "settings": marks[0]}, {"model": "glassbox-m@step2", "settings": marks[1]},
        {"model": "glassbox-m@step1", "settings": marks[1], "seed": 1},
    )  # fmt: skip
    (line,), _ = lines.lines_of(frame, places, "tokens")
    assert [stop.run_id for stop in line.stops] == ["run-0", "run-1"]
    assert not lines.lines_of(frame, places, "seed")[0]


def test_runs_asked_otherwise_are_another_line():
    frame, places = runs_of(
        {"model": "glassbox-m@step1"}, {"model": "glassbox-m@step2"},
        {"model": "glassbox-m@step1", "settings": {"n": 3}}, {"model": "glassbox-m@step2", "settings": {"n": 3}},
        {"model": "glassbox-m@step4", "limit": 10},
    )  # fmt: skip
    found, out = lines.lines_of(frame, places, "tokens")
    assert [[stop.run_id for stop in line.stops] for line in found] in (
        [["run-0", "run-1"], ["run-2", "run-3"]], [["run-2", "run-3"], ["run-0", "run-1"]],
    )  # fmt: skip
    assert [(one.run_id, one.reason) for one in out] == [("run-4", lines.ALONE)]
    assert sorted(map(str, lines.differing(found).values())) == ["{'n': 3}", "{}"]


def test_sizes_are_a_line_at_equal_steps_and_seeds_one_of_a_model():
    frame, places = runs_of(
        {"model": "glassbox-m@step64"}, {"model": "glassbox-s@step64"}, {"model": "glassbox-l@step2"},
        {"model": "glassbox-m@step64", "seed": 1},
    )  # fmt: skip
    (sizes,), _ = lines.lines_of(frame, places, "parameters")
    assert sizes.name == "glassbox" and sizes.step == 64
    assert [stop.model for stop in sizes.stops] == ["glassbox-s@step64", "glassbox-m@step64"]
    (seeds,), _ = lines.lines_of(frame, places, "seed")
    assert seeds.name == "glassbox-m@step64" and [stop.seed for stop in seeds.stops] == [0, 1]


def test_the_newest_of_two_runs_of_a_checkpoint_counts():
    frame, places = runs_of(
        {"model": "glassbox-m@step1", "weights": "a"}, {"model": "glassbox-m@step2"},
        {"model": "glassbox-m@step1", "weights": "b"},
    )  # fmt: skip
    (line,), out = lines.lines_of(frame, places, "tokens")
    assert [stop.run_id for stop in line.stops] == ["run-2", "run-1"]
    assert [(one.run_id, one.reason) for one in out] == [("run-0", lines.NEWER)]


def test_a_spec_that_cannot_be_read_is_left_out_with_the_reason():
    frame, places = runs_of({"model": "glassbox-m@step1"}, {"model": "glassbox-m@step2"})
    frame.loc[0, "spec"] = "{}"
    found, out = lines.lines_of(frame, places, "tokens")
    assert not found and {one.reason for one in out} == {lines.UNREADABLE, lines.ALONE}


# When an instance was learned


@pytest.mark.parametrize(
    ("outcomes", "at"),
    [
        ([0, 0, 1, 1, 1], 2),
        ([1, 0, 1, 0, 1], 4),  # what was right before was lost again
        ([1, 1, 1], 0),
        ([1, 1, 0], None),
        ([0, 0.5, 1], 2),  # a tie is not right
        ([0, 1, 0.5], None),
        ([0, math.nan, 1], None),
        ([], None),
    ],
)
def test_an_instance_is_learned_from_where_it_stays_right(outcomes, at):
    assert learned.learned_at(outcomes) == at


def rows_of(**outcomes: list[float]) -> pd.DataFrame:
    """What `queries.learned` gives for these instances, over equally many runs."""
    return pd.DataFrame(
        [
            {
                "instance_id": name, "grp": f"g{number % 6}", "phenomenon": "", "kind": "pair", "benchmark": "blimp",
                "position": number, "text_hash": name, "runs": len(values), "texts": 1,
                "gaps": sum(math.isnan(value) for value in values),
                "last_wrong": max((at for at, value in enumerate(values) if value < 1), default=-1),
            }
            for number, (name, values) in enumerate(outcomes.items())
        ]
    )  # fmt: skip


def test_what_is_missing_somewhere_is_left_out_with_the_reason():
    rows = rows_of(a=[0, 1], b=[1, 0], c=[math.nan, 1], d=[1], e=[1, 1])
    rows.loc[4, "texts"] = 2
    found = learned.learned(rows, 2)
    assert found.items["place"].tolist()[0] == 1 and math.isnan(found.items["place"].tolist()[1])
    assert found.left_out == {learned.NO_VERDICT: 1, learned.NOT_IN_ALL: 1, learned.OTHER_TEXT: 1}


def test_the_correlation_is_scipys_with_those_never_learned_tied_last():
    # Learned at 0, 1, 2, 2, never, never; popularity falls but for one pair that is swapped.
    rows = rows_of(a=[1, 1, 1], b=[0, 1, 1], c=[0, 0, 1], d=[0, 0, 1], e=[0, 0, 0], f=[1, 1, 0], g=[0, 1, 1])
    popularity = {"a": 9.0, "b": 7.0, "c": 8.0, "d": 3.0, "e": 2.0, "f": 1.0}
    found = learned.earlier(learned.learned(rows, 3), popularity)
    expected = spearmanr([9, 7, 8, 3, 2, 1], [0, 1, 2, 2, 3, 3]).statistic
    assert found.rho.value == pytest.approx(expected) and found.rho.n == 6 and found.never == 2
    assert found.left_out == {learned.NO_POPULARITY: 1}
    assert found.over == "paradigms" and found.rho.units == 6 and found.rho.low <= expected <= found.rho.high


def test_an_interval_over_few_paradigms_is_not_drawn():
    rows = rows_of(**{f"i{number}": [0.0, float(number % 3 > 0)] for number in range(30)})
    rows["grp"] = [f"g{number % 3}" for number in range(30)]
    found = learned.earlier(learned.learned(rows, 2), {f"i{number}": float(number % 7) for number in range(30)})
    assert not math.isnan(found.rho.value) and math.isnan(found.rho.low) and "3 groups" in found.rho.reason


def test_shares_learned_rise_and_count_who_was_learned_here():
    items = learned.learned(rows_of(a=[1, 1], b=[0, 1], c=[0, 0]), 2).items
    shares = learned.shares_learned(items, pd.Series(["x", "x", "y"]), ["x", "y"], 2)
    assert shares["share"].tolist() == [0.5, 1.0, 0.0, 0.0] and shares["here"].tolist() == [1, 1, 0, 0]


def test_groups_of_doses_and_of_parts():
    groups, order = judged.groups_of(pd.Series([0, 1, 2, 4, 8, 16, math.nan]), dosed=True)
    assert order == ["never in the corpus", "1 to 2 times", "4 to 8 times", "16 times"]
    assert groups.isna().tolist() == [False] * 6 + [True]
    groups, order = judged.groups_of(pd.Series(np.arange(8.0)), dosed=False)
    assert order == ["least popular", "part 2 of 4", "part 3 of 4", "most popular"]
    assert groups.value_counts().tolist() == [2, 2, 2, 2]
    assert judged.groups_of(pd.Series([1.0, 1.0]), dosed=False)[1] == ["all"]


# A whole sweep


def test_the_database_finds_the_step_that_was_planted(swept):
    from explorer import settings as settings_module

    settings = settings_module.read(cache=swept)
    store = open_store(settings)
    known = judged.lines(queries.runs(store), settings)
    study, line = known[made_up_sweep.BENCHMARK][0]
    assert study == "accuracy" and [stop.place.step for stop in line.stops] == list(made_up_sweep.STEPS)
    run_ids = [stop.run_id for stop in line.stops]
    found = learned.learned(queries.learned(store, run_ids), len(run_ids))
    planted = {one.id: made_up_sweep.right_from(one) for one in made_up_sweep.instances(swept)}
    for name, at in zip(found.items["instance_id"], found.items["place"], strict=True):
        assert (len(run_ids) if math.isnan(at) else at) == planted[name]
    for name in list(planted)[:6]:
        trace = queries.instance(store, run_ids, name)
        assert trace["run_id"].tolist() == run_ids
        assert learned.learned_at(trace["correct"].tolist()) == (planted[name] if planted[name] < 5 else None)
    dosed = judged.doses(made_up_sweep.BENCHMARK, line, found.items, list)
    earlier = learned.earlier(found, dosed)
    assert earlier.rho.value < -0.9 and earlier.rho.high < 0
    said = words.earlier_in_words("Glass box M", earlier, judged.DOSED)
    assert said.startswith("Glass box M learns popular instances earlier")
    store.close()


def test_every_number_is_one_that_a_run_stored(swept):
    from explorer import settings as settings_module

    settings = settings_module.read(cache=swept)
    store = open_store(settings)
    runs = table.runs_of(queries.runs(store), "popularity", made_up_sweep.BENCHMARK)
    found, _ = lines.lines_of(runs, table.places_of(runs, settings), "tokens")
    ask = table.of_store(store)
    offered = {reading.key: reading for reading in table.readings_of(ask, "popularity", made_up_sweep.BENCHMARK, found)}
    rows = table.as_table(table.trace(ask, found, offered["halves"]))
    assert len(rows) == 2 * len(made_up_sweep.STEPS)
    for row in rows.to_dict("records"):
        side = {"popular half": "high", "unpopular half": "low"}[row["series"]]
        stored = RunFolder.find(settings.runs, row["run_id"]).read("findings")
        [half] = stored[(stored["finding"] == "popularity_half") & (stored["setting"] == side)].to_dict("records")
        assert [row[name] for name in ("value", "low", "high", "n")] == [
            half[name] for name in ("value", "low", "high", "n")
        ]
    key = json.dumps(["popularity_half", "overall", {"setting": "low"}], sort_keys=True)
    again = table.as_table(table.trace(ask, found, offered[key]))
    assert again["value"].tolist() == rows[rows["series"] == "unpopular half"]["value"].tolist()
    store.close()


def test_each_study_has_readings_in_plain_words():
    from explorer.studies import STUDIES

    assert set(readings.PLAIN) == set(STUDIES)
    for offered in readings.PLAIN.values():
        assert len({reading.key for reading in offered}) == len(offered)


def told(name: str, *values: tuple[float, float, float], steps: tuple[int, ...]) -> words.DescribedLine:
    stops = tuple(
        lines.Stop(
            float(step),
            f"run-{step}",
            name,
            dataclasses.replace(place.place_of(name), step=step, tokens=step * 10.0),
            0,
        )
        for step in steps
    )
    return words.DescribedLine(name, stops, tuple(readings.Point(*value, 100) for value in values))


def test_the_sentence_follows_from_the_numbers():
    line = told("M", (0.5, 0.45, 0.55), (0.52, 0.47, 0.57), (0.7, 0.65, 0.75), (0.9, 0.85, 0.95), steps=(0, 1, 2, 4))
    said = words.in_words([line], "the share of right answers", "share", "tokens")
    assert "rises from 50.0% without training to 90.0% after 4 steps (40 tokens)" in said
    assert "from 2 steps (20 tokens) on it is clearly above" in said
    flat = told("M", (0.5, 0.45, 0.55), (0.52, 0.47, 0.57), steps=(0, 1))
    assert "no evidence" in words.in_words([flat], "the share of right answers", "share", "tokens")
    assert words.in_words([], "x", "share", "tokens") == ""


def test_a_sweep_that_was_killed_and_resumed_gives_the_runs_findings(
    settings, tiny_gpt2, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("EXPLORER_CACHE", str(settings.cache))
    names = []
    for step in (0, 1, 2):
        folder = Path(shutil.copytree(tiny_gpt2, tmp_path / f"tiny@step{step}"))
        (folder / place.RECORD).write_text(json.dumps({"step": step, "tokens": 100 * step}))
        names.append(str(folder))
    asked = ["run", "accuracy", "--model", *names, "--benchmark", "starter_pairs", "--limit", "6", "--sweep", "three"]
    with made_up_sweep.killed_at_the_second_run():
        assert main(asked) == 130
    assert main(["resume", "three"]) == 0
    members = sweeps.find(settings, "three").members
    assert {sweeps.status_of(settings, member) for member in members} == {"complete"}
    capsys.readouterr()
    assert main(["trajectories", "--study", "accuracy", "--benchmark", "starter_pairs", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["model"], row["step"], row["tokens"]) for row in rows] == [
        (name, step, 100 * step) for step, name in enumerate(names)
    ]
    for row in rows:
        stored = RunFolder.find(settings.runs, row["run_id"]).read("findings")
        whole = stored[(stored["finding"] == "accuracy") & (stored["grp"] == "overall") & stored["setting"].isna()]
        assert [row["value"], row["n"]] == [whole["value"].iloc[0], whole["n"].iloc[0]]
    assert main(["trajectories", "--learned", "--benchmark", "starter_pairs", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["n"] == 0 and row["reason"] and sum(row["learned_at"].values()) + row["never_learned"] == 6


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--along", "age"], "expected one of tokens"),
        (["--study", "accuracy"], "expected both"),
        (["--learned", "--benchmark", "blimp"], "no runs of several checkpoints"),
        (["--study", "accuracy", "--benchmark", "glassbox_pairs", "--read", "x"], "--list says"),
        (["--instance", "x", "--benchmark", "glassbox_pairs"], "no run of these checkpoints".capitalize()),
    ],
)
def test_wrong_questions_are_answered_in_one_sentence(swept, monkeypatch, capsys, more, message):
    monkeypatch.setenv("EXPLORER_CACHE", str(swept))
    assert main(["trajectories", *more]) == 1
    assert message in capsys.readouterr().err


def test_membership_is_read_against_what_was_planted():
    # Three texts read 64 times with low losses, two never read; a text of another dose has no part.
    rows = pd.DataFrame(
        {
            "run_id": "run-1", "instance_id": ["a", "b", "c", "d", "e", "f"],
            "value": [1.0, 2.0, 5.0, 4.0, 6.0, 0.0],
        }
    )  # fmt: skip
    dealt = {"a": 64, "b": 64, "c": 64, "d": 0, "e": 0, "f": 1}
    found = planted.points(lambda *asked: rows, ["run-1"], "mia_loss", 64, dealt, seen_is_high=False)
    # Of the six pairs of a read and an unread text one is the wrong way round: 5 against 4.
    assert found["run-1"].value == pytest.approx(5 / 6) and found["run-1"].n == 5
    shares = planted.points(lambda *asked: rows.assign(value=[1.0, 1, 0, 0, 0, 0]), ["run-1"], planted.EXTRACTED, 64,
                            dealt, seen_is_high=True)  # fmt: skip
    assert shares["run-1"].value == pytest.approx(2 / 3) and shares["run-1"].n == 3


def test_planted_truth_is_offered_for_the_glass_box_on_starter_sets_alone():
    line = lines.Line(
        "glassbox-m", math.nan, 0, {}, (lines.Stop(1.0, "r", "glassbox-m@step1", place.place_of("x"), 0),)
    )
    assert planted.readings("memorization", "starter_cloze", [line]) == planted.READINGS
    assert not planted.readings("memorization", "blimp", [line]) and not planted.readings(
        "accuracy", "starter_cloze", [line]
    )
