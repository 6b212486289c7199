import ast

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from explorer.rows.schema import TABLES
from explorer.settings import ROOT
from explorer.ui import show
from explorer.ui.runs import details as runs_details


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a_b*c", r"a\_b\*c"),
        ("[x](http://y)", r"\[x\](http\://y)"),
        ("<b>", r"\<b\>"),
        (":material/home:", r"\:material/home\:"),
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


def test_a_share_is_told_with_its_interval():
    assert show.percent(0.5, 0.4, 0.6) == "50.0% (40.0% – 60.0%)"
    assert show.percent(0.5) == "50.0%"
    assert show.percent(float("nan")) == "–"


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
        "n": st.column_config.NumberColumn("Items"),
        "look": st.column_config.LinkColumn("Tokens"),
        "raw": None,
    }
    assert show._titles(columns) == {"grp": "Group", "n": "Items", "raw": "raw"}


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
    assert drawing > 3


def test_a_p_value_is_never_printed_as_zero():
    assert [show.p_value(p) for p in (0.0, 3e-5, 0.01234, 1.0)] == ["< 0.0001", "< 0.0001", "0.0123", "1"]
    assert show.p_value(float("nan")) == "–"
    said = [show.p_in_words(p) for p in (0.0, 0.02, 1.0, float("nan"))]
    assert said == ["p < 0.0001", "p = 0.02", "p = 1", "p –"]
    assert show.above_zero(0.0) > 0 and show.above_zero(0.25) == 0.25
    assert show.above_zero(float("nan")) != show.above_zero(float("nan"))


def test_shares_are_shown_with_one_decimal_and_saved_as_they_are():
    frame = pd.DataFrame({"share": [0.7, 2 / 3, float("nan")], "n": [1, 2, 3]})
    columns = {"share": st.column_config.NumberColumn("Share", format="percent"), "n": "Items"}
    shown, config = show._in_percent(frame, columns)
    assert config["share"]["type_config"]["format"] == "%.1f%%"
    assert config["share"]["label"] == "Share"
    assert shown["share"].round(3).tolist()[:2] == [70.0, 66.667]
    assert shown["share"].isna().tolist() == [False, False, True]
    assert frame["share"][0] == 0.7 and columns["share"]["type_config"]["format"] == "percent"


def test_every_column_of_a_runs_findings_has_a_heading():
    assert set(runs_details.FINDINGS) == set(TABLES["findings"])
