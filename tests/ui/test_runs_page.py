"""The list of runs by study and benchmark, and several runs side by side."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pandas as pd
import pytest

from explorer import settings as settings_module
from explorer.figures.runs import MOST_ROWS, dots_of_runs
from explorer.records import RunSpec
from explorer.resources import Resources
from explorer.results.store import Store
from explorer.runs import request, worker
from explorer.runs.folder import RunFolder
from explorer.runs.queue import RunInfo
from explorer.settings import PRECOMPUTED
from explorer.ui.layout import Chosen
from explorer.ui.runs import compare, details, run_list


def html_of(app) -> str:
    return "\n".join(element.proto.body for element in app.html if "<style>" not in element.proto.body)


@pytest.fixture(scope="session")
def three(finished: tuple[Path, str], tiny_gpt2: Path, tmp_path_factory) -> tuple[Path, list[str]]:
    """A cache with three finished accuracy runs on the same instances, under three conventions; and their ids."""
    cache = tmp_path_factory.mktemp("three") / "cache"
    shutil.copytree(finished[0], cache)
    resources = Resources(settings_module.read(cache=cache))
    ids = [finished[1]]
    for normalization in ("mean_token", "per_char"):
        spec = request.make_spec(
            resources, study="accuracy", model=str(tiny_gpt2), benchmark="starter_pairs",
            settings={"per_group": 2, "normalization": normalization},
        )  # fmt: skip
        folder = RunFolder.create(resources.settings.runs, spec)
        assert worker.work(folder, resources, lambda text: None, wait=False) == "complete"
        ids.append(folder.run_id)
    return cache, ids


def pressed(app) -> str:
    return app.button_group(key="runs:study").value


def table(app) -> pd.DataFrame:
    return next(frame.value for frame in app.dataframe if "so_far" in frame.value)


def test_runs_stand_under_their_study_with_what_each_found(open_page, everything):
    app = open_page("runs", everything)
    assert not app.exception and not app.error
    options = app.button_group(key="runs:study").options
    assert any(option.startswith("Accuracy ") for option in options)
    assert any(option.startswith("Priming ") for option in options)
    app.button_group(key="runs:study").set_value("priming").run()
    assert not app.exception
    assert app.subheader[0].value.startswith("Priming")
    assert pressed(app) == "priming"


def test_a_link_to_a_run_opens_its_study(open_page, everything):
    listed = open_page("runs", everything)
    listed.button_group(key="runs:study").set_value("accuracy").run()
    shown = listed.query_params.get("shown", [""])
    app = open_page("runs", everything, shown=shown if isinstance(shown, str) else shown[0])
    assert pressed(app) == "accuracy"


def test_filters_narrow_the_list_and_name_their_choices_in_words(open_page, three):
    cache, _ = three
    app = open_page("runs", cache, shown=three[1][0])
    assert len(table(app)) >= 3
    box = app.selectbox(key="pick:of_benchmark")
    assert box.options[0] == "All benchmarks" and "Starter pairs" in box.options
    settings = set(table(app)["settings"])
    assert "normalization mean token, 2 a group" in settings


def test_a_folder_that_cannot_be_read_is_one_quiet_row_that_can_be_deleted(open_page, three, tmp_path):
    cache = tmp_path / "cache"
    shutil.copytree(three[0], cache)
    broken = cache / "runs" / "accuracy-broken"
    broken.mkdir()
    (broken / "spec.json").write_text("{")
    app = open_page("runs", cache, shown="accuracy-broken")
    assert not app.exception and not app.error
    assert pressed(app) == "other"
    (row,) = [frame.value for frame in app.dataframe if "remark" in frame.value]
    assert list(row["status"]) == ["damaged"]
    assert app.button(key="run:really")
    # The others are listed as before.
    other = open_page("runs", cache, shown=three[1][0])
    assert len(table(other)) >= 3 and not other.error


def test_three_runs_are_compared_pair_by_pair_with_an_adjusted_test(open_page, three):
    cache, ids = three
    app = open_page("runs", cache, view="Compare", runs=",".join(ids))
    assert not app.exception and not app.error
    pairs = next(frame.value for frame in app.dataframe if "adjusted" in frame.value)
    assert len(pairs) == 3
    assert (pairs["adjusted"] >= pairs["p"]).all()
    assert (pairs["low"] <= pairs["difference"]).all() and (pairs["difference"] <= pairs["high"]).all()
    # The starter pairs' groups are templates, so the interval is over them.
    assert "groups whose items share material" in html_of(app) or "All are right equally often" in html_of(app)
    assert app.multiselect(key="compare:runs").value == ids
    assert "shared instances" in html_of(app)
    # Another choice is what is then compared, and the address says so.
    app.multiselect(key="compare:runs").set_value(ids[:2]).run()
    pairs = next(frame.value for frame in app.dataframe if "adjusted" in frame.value)
    assert len(pairs) == 1
    assert ",".join(ids[:2]) in str(app.query_params["runs"])


def test_an_address_of_an_earlier_version_still_compares_its_two_runs(open_page, three):
    cache, ids = three
    app = open_page("runs", cache, view="Compare two", first=ids[2], second=ids[1])
    assert not app.exception
    assert app.multiselect(key="compare:runs").value == [ids[2], ids[1]]


def said_in_warnings(app) -> str:
    return " ".join(str(warning.value).replace("\\", "") for warning in app.warning)


def test_runs_that_an_address_asks_for_in_vain_are_named(open_page, three):
    cache, ids = three
    app = open_page("runs", cache, view="Compare", runs=f"{ids[0]},accuracy-000000000000,{ids[1]}")
    assert app.multiselect(key="compare:runs").value == ids[:2]
    assert "The address asks for “accuracy-000000000000”, left out here: no run is called so" in said_in_warnings(app)
    app = open_page("runs", cache, view="Compare", runs="a,b,c,d")
    assert "“a”, “b”, “c” and 1 more" in said_in_warnings(app) and "Shown is a choice of two" in said_in_warnings(app)
    app.multiselect(key="compare:runs").set_value(ids[:2]).run()
    assert "The address asks for" not in said_in_warnings(app)


def test_runs_of_any_study_are_compared_by_what_they_found(open_page, everything):
    app = open_page("runs", everything, view="Compare")
    assert not app.exception
    for study in app.selectbox(key="compare:study").options:
        app.selectbox(key="compare:study").select(study).run()
        assert not app.exception and not app.error


def test_one_run_alone_cannot_be_compared(open_page, cache):
    assert "Two runs are needed" in html_of(open_page("runs", cache, view="Compare"))


def dots(many: int, rows: int) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"run": f"run {r}", "row": f"row {i}", "value": r * i / 100, "low": float("nan"), "high": 0.9, "n": 5}
            for r in range(many)
            for i in range(rows)
        ]
    )


def test_rows_in_which_runs_lie_widest_apart_stand_at_the_top_and_the_first_above_all():
    figure = dots_of_runs(dots(3, 5), "share", "Right", first="row 2")
    assert list(figure.layout.yaxis.ticktext) == ["row 0", "row 1", "row 3", "row 4", "row 2"]
    assert len({trace.marker.color for trace in figure.data}) == 3
    assert len(dots_of_runs(dots(2, MOST_ROWS + 9), "nats", "x").layout.yaxis.ticktext) == MOST_ROWS


def test_runs_that_differ_in_their_seed_are_shown_as_one_thing(open_page, finished, tmp_path):
    cache = tmp_path / "cache"
    shutil.copytree(finished[0], cache)
    resources = Resources(settings_module.read(cache=cache))
    first = RunFolder.find(resources.settings.runs, finished[1])
    other = RunFolder.create(resources.settings.runs, dataclasses.replace(first.spec, seed=1))
    assert worker.work(other, resources, lambda text: None, wait=False) == "complete"
    app = open_page("runs", cache, shown=finished[1])
    assert not app.exception
    assert "Over 2 seeds: mean" in html_of(app) and "sd over seeds" in html_of(app)
    app = open_page("runs", cache, view="Compare", runs=f"{finished[1]},{other.run_id}")
    assert not app.exception
    assert "Spread over seeds and sampling error are two things" in html_of(app)
    over = next(frame.value for frame in app.dataframe if "greatest" in frame.value)
    assert set(over["seeds"]) == {2}


def test_tests_of_a_run_are_adjusted_within_their_family(open_page, tmp_path, monkeypatch):
    monkeypatch.setenv("EXPLORER_PRECOMPUTED", str(PRECOMPUTED))
    opened = Store(None, PRECOMPUTED)
    runs = opened.frame("SELECT run_id FROM findings WHERE finding = 'popularity_slope' AND p < 1 ORDER BY run_id")
    opened.close()
    app = open_page("runs", tmp_path / "cache", shown=runs["run_id"].mode()[0], concluded="popularity_slope")
    assert not app.exception
    assert "are one family (“popularity and being right”)" in html_of(app)
    assert any("p_adjusted" in frame.value for frame in app.dataframe)


def test_runs_are_told_with_their_year_where_it_says_something():
    from explorer.ui.runs.run_list import _started

    days = pd.Series(pd.to_datetime(["2026-01-05", "2026-11-29"]))
    assert _started(days, 2026)["type_config"]["format"] == "D MMM"
    assert _started(days, 2027)["type_config"]["format"] == "D MMM YYYY"


def test_where_all_runs_came_along_the_page_opens_on_that_of_the_bar():
    def run(name, source, model="gemma", benchmark="copa", study="popularity"):
        return RunInfo(run_id=name, study=study, model=model, benchmark=benchmark, status="complete", done=1, total=1,
                       created=1.0, rate=1.0, eta=0.0, message="", source=source)  # fmt: skip

    runs = [run("other", "precomputed", benchmark="piqa"), run("counted", "precomputed"),
            run("judged", "precomputed", study="accuracy")]  # fmt: skip
    assert run_list.first_of(runs, Chosen("gemma", "copa")).run_id == "judged"
    assert run_list.first_of(runs, Chosen("gemma", "blimp")).run_id == "other"
    assert run_list.first_of([run("own", "here"), *runs], Chosen("gemma", "copa")).run_id == "own"


def test_a_dtype_is_said_where_one_model_was_asked_about_one_benchmark_in_several():
    def of(model, benchmark, dtype):
        return RunSpec(study="accuracy", version=1, model=model, benchmark=benchmark, dtype=dtype)

    twice = [of("gemma", "copa", "float32"), of("gemma", "copa", "auto"), of("gemma", "copa", "")]
    others = [of("gemma", "piqa", "float32"), of("smollm", "copa", "bfloat16"), None]
    said = run_list.dtypes_in_words([*twice, *others])
    assert said == ["dtype float32", "dtype auto", "", "", "", ""]


def test_where_half_of_the_margins_lie_is_said_above_their_figure():
    assert details.margins_in_words(pd.Series([-3.0, -1.0, 1.0, 3.0, 5.0])) == (
        "Half of the margins lie between \u22121.00 and +3.00 nats."
    )
    assert details.margins_in_words(pd.Series([1.0, 2.0])) == ""


def test_a_sentence_says_on_which_sides_of_zero_two_runs_lie():
    first, second = pd.Series([True, True, True, False]), pd.Series([True, False, False, False])
    assert compare.sides_in_words(first, second, "Gemma", "SmolLM2") == (
        "Both prefer the right option in 1 of 4 instances, neither in 1; Gemma alone in 2, SmolLM2 alone in none."
    )
