"""The page that searches a corpus: its example, a reader's own text, the address, and what is never asked unasked."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from explorer import settings as settings_module
from explorer.figures import theme
from explorer.glassbox import index as glassbox_index
from explorer.popularity import verbatim
from explorer.popularity.counter import Document
from explorer.popularity.verbatim import ABSENT, UNKNOWN, WHOLE, Verbatim
from explorer.settings import Settings
from explorer.ui.corpus import asking, figure_grams, lens, marked, search
from explorer.ui.corpus.figure_grams import Gram, gram_pyramid
from explorer.ui.corpus.figure_next import Guess, next_tokens
from tests.ui.test_pages import html_of


@pytest.fixture(scope="module")
def boxed(shared_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the index of the glass box."""
    made = settings_module.read(cache=tmp_path_factory.mktemp("boxed") / "cache")
    made.cache.mkdir()
    (made.cache / "nltk_data").symlink_to(shared_settings.nltk_data, target_is_directory=True)
    glassbox_index.ensure_own(made)
    return made.cache


def figures_of(app) -> dict[str, dict]:
    return {chart.proto.id.rsplit("-", 1)[-1]: json.loads(chart.proto.spec) for chart in app.get("plotly_chart")}


def test_the_page_opens_on_an_example_that_shows_what_was_planted(open_page, boxed):
    app = open_page("corpus", boxed, model="glassbox-m")
    assert not app.exception and not app.error
    shown = html_of(app)
    assert "the longest part that does is “drugstores near the houses”, 171 times" in shown
    assert '<mark class="lx-held"' in shown and "which Glass box M saw" in shown
    assert "“were” comes next in 100%. Glass box M expects it too" in shown
    assert "The <mark>drugstores near the houses</mark> were gone." in shown, "a document with the match marked"
    assert "text" not in app.query_params, "the example is what opens without an address"


def test_a_text_of_a_readers_own_and_an_open_ngram_stand_in_the_address(open_page, boxed):
    app = open_page("corpus", boxed, model="glassbox-m")
    app.text_area(key="pick:text").set_value("The drugstores near the houses were gone.").run()
    assert app.query_params["text"] == "The drugstores near the houses were gone."
    assert "The whole text occurs in the corpus of the glass box, 171 times." in html_of(app)
    again = open_page("corpus", boxed, **dict(app.query_params), gram="1+3")
    assert not again.exception and not again.error
    assert "Where “drugstores” occurs:" in html_of(again) and again.query_params["gram"] == "1+3"
    odd = open_page("corpus", boxed, model="glassbox-m", gram="99+99", least="900", text="  ")
    assert not odd.exception and "No text yet" in html_of(odd)


def test_an_index_that_is_not_the_models_data_is_marked(open_page, boxed, tiny_gpt2):
    app = open_page("corpus", boxed, model=str(tiny_gpt2), index="glassbox")
    assert not app.exception and "‡" in html_of(app)


def test_without_wordnet_the_index_is_not_fetched_unasked(open_page, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "explorer.variants.wordnet.find_wordnet", lambda settings: None
    )  # it may be in a folder of nltk's own
    app = open_page("corpus", tmp_path / "cache")
    assert not app.exception and not app.error
    assert [one.label for one in app.button if one.key == "corpus:ask:glassbox"] == ["Fetch WordNet and build it"]
    assert not app.get("plotly_chart")


def test_a_service_is_asked_only_when_somebody_says_so(open_page, boxed, monkeypatch):
    monkeypatch.setattr(asking, "_counter", lambda index: pytest.fail("nothing may be sent"))
    app = open_page("corpus", boxed, model="glassbox-m", index="v4_pileval_llama")
    assert not app.exception
    assert [one.label for one in app.button if str(one.key).startswith("corpus:ask:")] == ["Ask it"]


def test_a_large_model_is_not_loaded_unasked(open_page, boxed, monkeypatch):
    monkeypatch.setattr("explorer.ui.live.answers_at_once", lambda model: False)
    app = open_page("corpus", boxed, model="glassbox-m")
    assert not app.exception
    assert "Ask Glass box M too" in [one.label for one in app.button]
    assert "expects it too" not in html_of(app)


def test_a_text_that_is_too_long_is_refused_with_what_to_do(open_page, boxed):
    app = open_page("corpus", boxed, model="glassbox-m", text="word " * 600)
    assert not app.exception
    assert any("expected at most 2,000" in one.value for one in app.error)


def test_the_pyramid_has_a_cell_an_ngram_that_carries_its_place():
    grams = [Gram(0, 1, "the", 9.0), Gram(1, 1, " cat", 0.0), Gram(0, 2, "the <cat", float("nan"))]
    figure = gram_pyramid(["the", " cat"], grams, (0, 2))
    cells = figure.data[0]
    assert [tuple(one[:2]) for one in cells.customdata] == [(0, 1), (1, 1), (0, 2)]
    assert list(cells.x) == [0, 1, 0.5], "over the middle of its tokens"
    assert list(cells.text) == ["9", "", ""] and "&lt;cat" in cells.customdata[2][2]
    assert list(cells.marker.line.width) == [0, 0, 2.5]
    assert not any(cells.marker.color[0] == color for color in cells.marker.color[1:]), "0 and unknown are no color"


def test_what_is_frequent_stands_out_from_the_ground_and_is_read_in_both_themes():
    css = (Path(figure_grams.__file__).parent / "corpus.css").read_text("utf-8")
    counts = [1.0, *(10**power for power in range(1, 7)), 284_936.0]
    cells, scale = gram_pyramid(["a"] * 8, [Gram(place, 1, "a", n) for place, n in enumerate(counts)]).data
    colors = {color.rpartition(",")[0] for color in (*cells.marker.color, *scale.marker.color)}
    assert colors == {"rgba(0, 75, 120"} and 'path[style*="rgb(0, 75, 120)"]' in css
    strong = re.search(r"light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", css.partition("rgb(0, 75, 120)")[2])
    assert strong and strong[1] == figure_grams.DEEPEST
    assert cells.text[-1] == "285K", "no more digits than a narrow cell has room for"
    for name, color in zip(("light", "dark"), strong.groups(), strict=True):
        ground = theme.THEMES[name].paper
        far = []
        for share in range(101):
            opacity = figure_grams._opacity(share / 100)
            cell, ink = theme.between(ground, color, opacity), figure_grams._ink(opacity)
            ink = ink if name == "light" else {"#000000": "#ffffff", "#ffffff": "#000000"}[ink]
            assert theme.contrast(ink, cell) >= 4.5
            far.append(theme.contrast(cell, ground))
        assert far == sorted(far) and far[0] < 1.5 and far[-1] > 6


def test_each_source_of_next_tokens_has_its_bars_or_says_why_not():
    figure = next_tokens(
        [Guess("A", (("were", 0.9), ("is", 0.1))), Guess("B", (("were", 0.5),)), Guess("C", (), "gone")]
    )
    assert [len(one.y) for one in figure.data] == [2, 1, 0]
    assert figure.data[0].marker.color[0] == figure.data[1].marker.color[0] != figure.data[0].marker.color[1]
    assert "gone" in [note.text for note in figure.layout.annotations]
    assert [figure.layout[name].visible for name in ("xaxis", "xaxis2", "xaxis3", "yaxis3")] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("label", "said"),
    [
        (verbatim.UNKNOWN, "Too short to tell: the text has 2 tokens."),
        (verbatim.ABSENT, "No part of this text, however short, occurs in the corpus word for word."),
    ],
)
def test_what_a_label_means_is_said_in_words(label, said):
    found = verbatim.Verbatim("a b", (1, 2), (), 0.0, 0.0, label, "the text has 2 tokens")
    assert search.in_words(found, "the corpus") == [said]


def test_the_fold_of_an_instance_tells_which_text_the_corpus_holds(open_page, boxed):
    instance = "starter_causes/cause/cause-03"  # planted four times
    about = {"model": "glassbox-m", "benchmark": "starter_causes", "instance": instance}
    closed = open_page("instance", boxed, **about)
    assert not closed.exception and "The corpus holds" not in html_of(closed), "nothing is looked up unasked"
    assert "In the corpus, word for word" in [one.label for one in closed.expander]

    def both(found):
        return lens.compared(found, 0)

    whole, absent, short = (Verbatim("a", (1,), (), 1, 1, label) for label in (WHOLE, ABSENT, UNKNOWN))
    assert both([whole, whole]) == "The corpus holds both texts."
    assert both([whole, absent]) == "The corpus holds the right text as a whole, and not the other."
    assert both([absent, whole]).startswith("The corpus holds the wrong text")
    assert both([short, whole]) == "" and both([whole]) == ""


def test_a_match_is_read_with_the_line_before_and_the_line_after():
    pieces = (("Far.\nBefore.\nThe ", False), ("drugstores", True), (" are.\nAfter.\nFurther.", False))
    assert marked._around(Document(1, 9, pieces)) == "… Before.<br>The <mark>drugstores</mark> are.<br>After. …"
    short = Document(1, 3, (("The ", False), ("cat", True), (" sat.", False)))
    assert marked._around(short) == "The <mark>cat</mark> sat."


def test_the_blank_before_a_match_is_not_marked():
    found = Document(1, 3, (("The", False), (" cat", True), (" sat.", False)))
    assert marked._around(found) == "The <mark>cat</mark> sat."


def test_where_a_document_stands_is_said_in_words():
    assert marked.place_of(Document(7, 1735, (), "glassbox:3923")) == "Glass box, document 3,923 · 1,735 tokens"
    assert marked.place_of(Document(7, 9, (), "news.jsonl:12")) == "news.jsonl, document 12 · 9 tokens"
    assert marked.place_of(Document(7, 9, ())) == "document 7 · 9 tokens"


def test_tokens_whose_labels_would_touch_are_tilted():
    few, many = (gram_pyramid(["cat"] * tokens, [Gram(0, 1, "cat", 1)]).layout.xaxis for tokens in (12, 13))
    assert few.tickangle is None and list(few.autotickangles) == [0, -60] and many.tickangle == -60
    # What is measured has blanks around it, so that neighbors tilt before they touch.
    assert few.ticktext[0] == "\u00a0cat\u00a0"
