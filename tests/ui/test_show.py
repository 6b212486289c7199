import ast

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from explorer.rows.schema import TABLES
from explorer.settings import ROOT
from explorer.ui import show
from explorer.ui.columns import count_column, link_column
from explorer.ui.runs import details as runs_details


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a_b*c", r"a\_b\*c"),
        ("[x](http://y)", r"\[x\](http\://y)"),
        ("<b>", r"\<b\>"),
        (
            ":material/home:",
            "\\:\u2060material/home\\:",
        ),  # Streamlit draws icons behind a backslash, too
        ("$x$", r"\$x\$"),
        ("- item", r"\- item"),
        ("1. item", r"1\. item"),
        ("gemma-3-270m (base)", "gemma-3-270m (base)"),
    ],
)
def test_text_is_shown_as_it_is(text, shown):
    assert show.plain(text) == shown


@pytest.mark.parametrize(
    ("seconds", "told"), [(5, "5 s"), (89, "89 s"), (120, "2 min"), (7200, "2.0 h"), (float("nan"), "unknown")]
)
def test_a_duration_is_told_as_people_say_it(seconds, told):
    assert show.duration(seconds) == told


def test_a_sentence_on_a_page_breaks_no_p_value():
    def page():
        from explorer.ui import show

        show.says("Alike (p = 0.9, n = 20).")
        show.note("Apart (p < 0.001).")

    app = AppTest.from_function(page).run()
    assert [text.proto.body.count("\xa0") for text in app.html] == [4, 2]


def test_a_file_is_called_after_study_model_benchmark_and_what_it_shows():
    about = show.About("Priming", "EleutherAI/pythia-160m", "blimp", 12)
    assert about.file_name("curves", "svg") == "priming_pythia-160m_blimp_curves.svg"
    assert show.About().file_name("../x", "csv") == "x.csv"


def test_a_caption_says_model_benchmark_and_number():
    about = show.About("Priming", "toy", "blimp", 1200)
    assert about.caption("Accuracy.") == "Accuracy. Model: toy; benchmark: blimp; n = 1,200 instances."
    assert about.caption("Accuracy", 3).endswith("n = 3 instances.")
    assert show.About().caption("Accuracy") == "Accuracy."


def test_a_text_of_a_megabyte_is_cut_on_the_screen_alone():
    frame = pd.DataFrame({"text": ["x" * 1_000_000, "short", None], "n": [1, 2, 3]})
    shown = show.shortened(frame)
    assert shown["text"].str.len().max() < 2_100 and "1,000,000 characters" in shown["text"].iloc[0]
    assert len(frame["text"].iloc[0]) == 1_000_000
    assert show.shortened(shown.tail(2)) is not None and list(shown["n"]) == [1, 2, 3]


def test_columns_of_links_and_settings_give_their_headings():
    columns = {
        "grp": "Group",
        "n": count_column("Items"),
        "started": st.column_config.DatetimeColumn("Started"),
        "look": link_column("Tokens"),
        "raw": None,
    }
    assert show._titles(columns) == {"grp": "Group", "n": "Items", "started": "Started", "raw": "raw"}


def page_with_a_figure_and_a_table():
    import pandas as pd
    import plotly.graph_objects as go

    from explorer.ui import show

    show.about("accuracy", "toy", "blimp", 3)
    show.chart(go.Figure(go.Scatter(y=[1, 2])), alt="Two dots", key="dots")
    show.table(pd.DataFrame({"a": [1, 2]}), "numbers")


def test_nothing_is_drawn_or_written_before_somebody_asks(monkeypatch):
    from explorer.figures import images
    from explorer.results import formats

    def never(*arguments, **named):
        raise AssertionError("made without being asked for")

    monkeypatch.setattr(images, "render", never)
    monkeypatch.setattr(formats, "as_bytes", never)
    app = AppTest.from_function(page_with_a_figure_and_a_table).run()
    assert not app.exception
    labels = [button.label for button in app.get("download_button")]
    assert {"HTML", "JSON", "CSV", "Parquet", "LaTeX"} <= set(labels)


@pytest.mark.parametrize(("opened", "labels"), [("", []), ("figure:dots", ["HTML", "JSON"]), ("save:numbers", ["CSV"])])
def test_what_downloads_offer_is_made_when_the_menu_is_opened(monkeypatch, opened, labels):
    monkeypatch.setattr(show, "is_open", lambda menu: menu.open)
    app = AppTest.from_function(page_with_a_figure_and_a_table)
    if opened:
        app.session_state[opened] = True
    app.run()
    assert not app.exception
    offered = {button.label for button in app.get("download_button")}
    assert offered >= set(labels) and bool(offered) == bool(labels)
    assert ("CSV" in offered) == (opened == "save:numbers")


def build(rows, name, write=str):
    built.append(name)
    return write(len(rows))


built: list[str] = []


def test_a_figure_of_the_same_numbers_is_built_once():
    from explorer.ui import resources

    built.clear()
    rows = pd.DataFrame({"a": [1, 2]})
    for _ in range(2):
        assert resources.drawn(build, rows.copy(), "first", write=repr) == "2"
    resources.drawn(build, rows, "second")
    resources.drawn(build, rows.assign(a=[1, 3]), "third")
    assert built == ["first", "second", "third"]


def test_a_figure_of_a_large_table_follows_every_row_of_it():
    from explorer.ui import resources

    built.clear()
    rows = pd.DataFrame({"a": range(60_000)})
    sampled = set(rows.sample(n=10_000, random_state=0).index)
    changed = rows.assign(a=rows["a"].where(rows.index.isin(sampled), -1))
    resources.drawn(build, rows, "first")
    resources.drawn(build, changed, "first")
    assert built == ["first", "first"]


def test_whatever_is_remembered_by_a_table_looks_at_every_row_of_it():
    sampled = [
        f"{path.name}: {function.name}"
        for path in sorted((ROOT / "explorer" / "ui").rglob("*.py"))
        for function in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(function, ast.FunctionDef)
        and any("DataFrame" in ast.unparse(given.annotation) for given in function.args.args if given.annotation)
        and any(
            (said := ast.unparse(mark)).startswith("st.cache_") and "every_row" not in said
            for mark in function.decorator_list
        )
    ]
    assert not sampled


def test_a_figure_that_depends_on_a_function_without_a_name_is_refused():
    from explorer.ui import resources

    with pytest.raises(Exception, match="Give one that its name tells"):
        resources.drawn(build, pd.DataFrame({"a": [1]}), "unnamed", write=lambda rows: "no")


def page_with_folds():
    import pandas as pd

    from explorer.ui import show

    show.about("accuracy", "toy", "blimp", 3)
    show.folded_table(pd.DataFrame({"a": [1, 2]}), "numbers")
    show.command_line("python -m explorer runs")
    show.about("priming", "other", "piqa", 3)


@pytest.mark.parametrize("opened", ["", "folded:numbers", "command:"])
def test_a_folded_table_or_command_is_drawn_when_it_is_opened(monkeypatch, opened):
    monkeypatch.setattr(show, "is_open", lambda fold: fold.open)
    app = AppTest.from_function(page_with_folds)
    if opened:
        app.session_state[opened] = True
    app.run()
    assert not app.exception
    assert [fold.label for fold in app.expander] == ["The numbers", show.COMMAND_LINE]
    assert len(app.dataframe) == (opened == "folded:numbers")
    assert [code.value for code in app.code] == (["python -m explorer runs"] if opened == "command:" else [])


def test_a_folded_table_is_saved_under_what_the_page_spoke_of_when_it_was_drawn(monkeypatch):
    named = []
    monkeypatch.setattr(show, "save", lambda *arguments, **rest: named.append(show._subject().model))
    monkeypatch.setattr(show, "is_open", lambda fold: fold.open)
    app = AppTest.from_function(page_with_folds).run()
    assert app.session_state[show.ABOUT].model == "other"
    app.session_state["folded:numbers"] = True
    app.run()
    assert named == ["toy"]


def test_every_table_can_be_downloaded():
    rooms = [*(ROOT / "explorer" / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")]
    drawing = 0
    for path in rooms:
        for function in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(function, ast.FunctionDef):
                continue
            called = {ast.unparse(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
            if called & {"st.dataframe", "st.table", "st.data_editor"}:
                drawing += 1
                assert called & {"show.save", "save"}, f"{path.name}: {function.name} draws a table without a download"
    assert drawing


def test_every_column_of_a_runs_findings_has_a_heading():
    # What a finding is stands above its rows, in words; its details, which are JSON, are in the file alone.
    assert set(runs_details.FINDINGS) - {"title", "p_adjusted"} == set(TABLES["findings"]) - {"finding", "detail"}


def page_with_a_problem():
    from explorer.errors import UsageError
    from explorer.ui import show

    with show.problems():
        raise UsageError("There is no benchmark 'x'. `python -m explorer benchmarks` lists all.")
    with show.lens("Its verdict"):
        raise UsageError("Train it: `python -m explorer glassbox train m`.")


def test_a_command_of_an_error_is_under_its_heading_and_not_in_the_sentence():
    app = AppTest.from_function(page_with_a_problem, default_timeout=60).run()
    assert not app.exception
    [error] = app.error
    assert error.value.endswith("The command below lists all\\.") or error.value.endswith(
        "The command below lists all."
    )
    assert any("Train it: the command below." in one.proto.body for one in app.html)
    assert [one.label for one in app.expander] == [show.COMMAND_LINE] * 2
