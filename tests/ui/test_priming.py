"""The page on priming: the live lab, and every view of a run's results."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from explorer import settings as settings_module
from explorer.records import Instance
from explorer.ui.cockpit import context_line
from explorer.ui.priming import context as priming_context
from explorer.ui.priming.context import Line
from explorer.ui.priming.suites import moved_in_words
from explorer.variants.context_pools import make_pools
from tests.ui.conftest import strip_of

VIEWS = ["Curves", "Suites", "Regression", "Perturbed contexts", "Heat maps", "Beside the paper"]
SUITES = ("binding", "islands", "npi_licensing", "passive")


@pytest.fixture(scope="session")
def primed(tiny_gpt2: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with a finished priming run of the tiny model, edits and matrix included."""
    from explorer.resources import Resources
    from explorer.runs import request, worker
    from explorer.runs.folder import RunFolder

    cache = tmp_path_factory.mktemp("primed") / "cache"
    resources = Resources(settings_module.read(cache=cache))
    spec = request.make_spec(
        resources, study="priming", model=str(tiny_gpt2), benchmark="starter_pairs", suites=SUITES,
        settings={
            "per_group": 4, "lengths": (0, 100, 200), "unrelated": "starter", "matrix": 1, "overlap": 20,
            "edits": ("clause", "all", "suffix_adverb"), "chains": 2,
        },
    )  # fmt: skip
    folder = RunFolder.create(resources.settings.runs, spec)
    assert worker.work(folder, resources, lambda text: None, wait=False) == "complete"
    return cache


@pytest.fixture
def here(tiny_gpt2: Path) -> dict[str, str]:
    return {"model": str(tiny_gpt2), "benchmark": "starter_pairs"}


def html_of(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in app.html if "<style>" not in element.proto.body)


@pytest.mark.shares_answers("primed")
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_shows_a_run(open_page, primed, here, view):
    app = open_page("priming", primed, priming=view, **here)
    assert not app.exception and not app.error
    assert "lx-empty" not in html_of(app)
    assert "fast preview" in "\n".join(str(warning.value) for warning in app.warning)
    assert len(app.get("plotly_chart")) + len(app.dataframe) >= 1


@pytest.mark.shares_answers("primed")
@pytest.mark.parametrize(
    ("view", "note"),
    [
        ("Suites", "Published, mean of three sets: 0.85 and 0.79 for GPT-2, 0.59 and 0.52 for OPT 2.7B (figures 10"),
        ("Perturbed contexts", "Published for OPT 6.7B: 0.93 and −0.7 (figure 9)."),
    ],
)
def test_printed_correlations_are_told_beside_those_of_the_run(open_page, primed, here, view, note):
    app = open_page("priming", primed, priming=view, **here)
    assert note in html_of(app) + "\n".join(str(one.value) for one in (*app.caption, *app.markdown))


@pytest.mark.shares_answers("primed")
def test_figures_of_blimp_stand_beside_a_run_of_another_set(open_page, primed, here):
    app = open_page("priming", primed, priming="Beside the paper", **here)
    table = next(one.value for one in app.dataframe if "published" in one.value.columns)
    said = dict(zip(table["what"], table["published"], strict=True))
    assert said["matched unacceptable contexts"] == "−50 to −80 points"
    assert said["length and acceptability"] == "p < 0.002 for all models"


@pytest.mark.parametrize("view", VIEWS)
def test_without_a_run_every_view_says_how_to_start_one(open_page, tmp_path, here, view):
    app = open_page("priming", tmp_path / "cache", priming=view, **here)
    assert not app.exception and not app.error
    assert any("python -m explorer run priming" in code.value for code in app.code)


def test_a_run_too_small_for_both_halves_says_why_no_edit_was_measured(open_page, tmp_path, tiny_gpt2, here):
    from explorer.resources import Resources
    from explorer.runs import request, worker
    from explorer.runs.folder import RunFolder

    resources = Resources(settings_module.read(cache=tmp_path / "cache"))
    given = {"lengths": (0, 60), "unrelated": "starter", "overlap": 0, "edits": ("all",)}
    spec = request.make_spec(
        resources, study="priming", model=here["model"], benchmark="starter_pairs", limit=1, settings=given
    )
    folder = RunFolder.create(resources.settings.runs, spec)
    assert worker.work(folder, resources, lambda text: None, wait=False) == "complete"
    app = open_page("priming", tmp_path / "cache", priming="Perturbed contexts", **here)
    assert not app.exception and not app.error
    assert "too small for both" in html_of(app) and "No perturbed contexts" not in html_of(app)


def test_a_benchmark_without_pairs_is_told(open_page, tmp_path, here):
    app = open_page("priming", tmp_path / "cache", **{**here, "benchmark": "starter_cloze"})
    assert not app.exception
    assert "no pairs" in html_of(app)


@pytest.mark.shares_answers("primed")
@pytest.mark.parametrize("measure", ["Change of accuracy", "Accuracy", "Margin", "Perplexity margin"])
@pytest.mark.parametrize("lines", ["Five conditions", "Matched and mismatched, side by side"])
def test_curves_of_every_measure(open_page, primed, here, measure, lines):
    app = open_page("priming", primed, priming="Curves", measure=measure, lines=lines, of="binding", **here)
    assert not app.exception and not app.error
    assert len(app.get("plotly_chart")) == 1


@pytest.mark.shares_answers("primed")
def test_curves_of_matched_and_mismatched_together_and_of_each_suite(open_page, primed, here):
    for lines in ("Acceptable and unacceptable, matched or not", "Five conditions for each phenomenon"):
        app = open_page("priming", primed, priming="Curves", lines=lines, **here)
        assert not app.exception and not app.error
        assert len(app.get("plotly_chart")) == 1


@pytest.mark.shares_answers("primed")
@pytest.mark.parametrize("matrix", ["token_f1", "dependency_f1", "matrix_accuracy", "matrix_delta"])
def test_every_heat_map_is_drawn(open_page, primed, here, matrix):
    app = open_page("priming", primed, priming="Heat maps", matrix=matrix, **here)
    assert not app.exception and not app.error
    assert len(app.get("plotly_chart")) == 1


def test_the_lab_judges_a_pair_after_every_sentence_of_the_context(open_page, tmp_path, here):
    app = open_page("priming", tmp_path / "cache", group="islands", draw="3", **here)
    assert not app.exception and not app.error
    margin = next(metric for metric in app.metric if metric.label == "Margin (nats)")
    assert not margin.delta
    app.session_state["context:menu"] = True
    app.run()
    app.button(key="context:draw:matched_unacceptable").click().run(timeout=120)
    app.text_input(key="context:typed").set_value("<b>Nobody</b> sings").run(timeout=120)
    assert not app.exception
    margin = next(metric for metric in app.metric if metric.label == "Margin (nats)")
    assert margin.delta and "In the original text" in margin.proto.help
    kept = json.loads(app.query_params["context"])
    assert len(kept) == 4 and kept[-1] == "<b>Nobody</b> sings"
    assert all(one.startswith("#starter_pairs/islands/") for one in kept[:3])
    assert "<b>Nobody" not in html_of(app)
    steps = strip_of(app)["history"]["labels"]
    assert steps[1:] == ["3 sentences before it: matched, unacceptable", "Before it: <b>Nobody</b> sings"]
    app.button(key="context:clear").click().run()
    assert "context" not in app.query_params


def test_a_link_brings_the_lab_back(open_page, tmp_path, here):
    app = open_page("priming", tmp_path / "cache", group="passive", draw="10", seed="4", **here)
    app.session_state["context:menu"] = True
    app.run()
    app.button(key="context:draw:matched_acceptable").click().run()
    chosen = dict(app.query_params)
    again = open_page("priming", tmp_path / "cache", **chosen)
    assert dict(again.query_params) == chosen
    assert chosen["seed"] == "4" and chosen["group"] == "passive" and len(json.loads(chosen["context"])) == 10


def test_a_pair_of_ones_own_is_judged(open_page, tmp_path, here):
    app = open_page(
        "priming", tmp_path / "cache", what="A pair of my own", good="They sing.", bad="They sings.", **here
    )
    assert not app.exception and not app.error
    assert "lx-verdict" in html_of(app)
    columns = strip_of(app)["blocks"][0]["columns"]
    assert "".join(column["cells"][0]["text"] for column in columns if column["cells"][0]).startswith("They")


# The context of the lab


def pair(number: int, suite: str = "g") -> Instance:
    return Instance(
        f"t/{suite}/{number}", "t", "all", suite, "pair", "sentence",
        options=(f"It is {number} {suite}.", f"It are {number} {suite}."), gold=0,
    )  # fmt: skip


POOLS = make_pools([pair(number, suite) for number in range(6) for suite in "gh"], ["Rain fell."])


def test_a_packed_context_comes_back_and_what_is_not_here_is_counted():
    drawn = priming_context.draw_lines(POOLS, pair(0), "matched_acceptable", 0, 3, [])
    lines = [*drawn, Line("typed, not drawn"), Line("unrelated", "unrelated/000000")]
    back, lost = priming_context.unpack(priming_context.pack(lines), POOLS)
    assert [line.id for line in back] == [line.id for line in lines] and lost == 0
    assert back[-1].text == "Rain fell."
    assert priming_context.unpack('["#t/elsewhere/1#0", "typed"]', POOLS) == ([Line("typed")], 1)
    assert priming_context.unpack("broken", POOLS) == ([], 1)


def test_more_sentences_are_never_those_there_are_nor_the_pairs_own():
    first = priming_context.draw_lines(POOLS, pair(0), "matched_acceptable", 0, 2, [])
    more = priming_context.draw_lines(POOLS, pair(0), "matched_acceptable", 0, 9, first)
    texts = [line.text for line in (*first, *more)]
    assert len(texts) == len(set(texts)) == 5  # all of the suite but the pair's own
    assert "It is 0 g." not in texts


def test_a_sentence_is_matched_or_not_by_the_pair_before_it():
    sides = priming_context.sides_of(POOLS)
    line = Line("It are 1 h.", "t/h/1#1")
    assert priming_context.kind_of(line, pair(0, "h"), sides) == "matched_unacceptable"
    assert priming_context.kind_of(line, pair(0, "g"), sides) == "mismatched_unacceptable"
    assert priming_context.kind_of(Line("Rain fell.", "unrelated/000000"), pair(0), sides) == "unrelated"
    assert priming_context.kind_of(Line("Rain fell."), pair(0), sides) == "typed"


def test_lines_are_put_in_order_and_removed_by_their_old_places():
    lines = [Line("a"), Line("b"), Line("c")]
    assert priming_context.rearranged(lines, [2, 0]) == [Line("c"), Line("a")]
    assert priming_context.rearranged(lines, [0, 7]) == [Line("a")]


def test_where_the_verdict_flips_is_said():
    told = context_line.flips_in_words(["right", "right", "wrong", "wrong", "none"])
    assert told == "Right without a context; counted in sentences, wrong from 2, no score from 4 on."
    assert context_line.flips_in_words(["wrong", "wrong"]).startswith("Wrong without a context, and after every")


def test_the_sentence_on_suites_counts_those_that_change_by_more_than_the_lines_that_are_drawn():
    suites = pd.DataFrame(
        {"grp": ["nouns_of_adjectives", "b", "c", "d"], "delta": [-0.1, 0.02, 0.03, 0.0], "sd": [0.02, 0.05, 0.01, 0.0]}
    )
    assert moved_in_words(suites, "matched acceptable") == (
        "On average over lengths, matched acceptable contexts lower accuracy in 1 of 4 suites and raise it in 2; in 2 "
        "the change is larger than its standard deviation over lengths. The suite “nouns of adjectives” changes most, "
        "by −10.0 points."
    )
