"""The cockpit: a word is swapped, typed over or removed and the numbers move; the address holds it, and undo works."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from explorer import prompts
from explorer.popularity.counter import Document
from explorer.popularity.ips import IPS
from explorer.records import Condition, Instance
from explorer.ui.cockpit import cockpit, edits, gauges, layers, panel, state
from explorer.ui.cockpit.edits import Change
from explorer.ui.cockpit.layers import Marks
from explorer.ui.cockpit.words import Span
from explorer.ui.instance import own_texts
from explorer.ui.instance.ngram_rating import Rated, RatedNgram
from explorer.ui.scored_options import ScoredOption
from explorer.ui.token_view import Token
from explorer.variants import fields
from tests.ui.conftest import strip_of

PAIR = Instance(
    "s/g/1", "s", "test", "g", "pair", "sentence", options=("The cat sees itself.", "The cat see itself."), gold=0
)
CHOICE = Instance(
    "c/g/1", "c", "test", "g", "choice", "copa", context="It rained.", options=("He got wet.", "He sang."), gold=0,
    extra={"question": "effect"},
)  # fmt: skip
CLOZE = Instance("l/t/1", "l", "test", "t", "cloze", "cloze", context="He sat on the", options=("chair",), gold=0)
SUITE = Instance(
    "y/g/1", "y", "test", "g", "regions", "syntaxgym",
    conditions=(Condition("match", ("The cat", "sleeps", ".")), Condition("mismatch", ("The cat", "sleep", "."))),
    extra={"formulas": ["(2;%match%) < (2;%mismatch%)"]},
)  # fmt: skip
EVERY = [PAIR, CHOICE, CLOZE, SUITE]


def asked(instance: Instance) -> list[ScoredOption]:
    """What the instance is asked, each word a token of one nat."""
    made = []
    for request in prompts.requests(instance):
        texts, rest = [], request.continuation
        for word in rest.split():
            at = rest.index(word) + len(word)
            texts.append(rest[:at])
            rest = rest[at:]
        tokens = tuple(Token(text, 1.0) for text in texts)
        condition, part = str(request.factors.get("condition", "")), int(request.factors.get("part", 0))
        made.append(
            ScoredOption(request.option, request.role, condition, part, request.context, request.continuation,
                  -float(len(tokens)), tokens, False, "")
        )  # fmt: skip
    return made


# Texts typed over


@pytest.mark.parametrize("instance", EVERY, ids=lambda one: one.kind)
def test_unchanged_texts_leave_the_instance_as_it_is(instance):
    assert edits.with_texts(instance, fields.field_texts(instance)) is instance
    assert edits.differing(instance, instance) == {}


@pytest.mark.parametrize("instance", EVERY, ids=lambda one: one.kind)
def test_what_differs_from_the_original_makes_the_changed_instance_again(instance):
    part = next(part for part, text in fields.field_texts(instance).items() if text)
    changed = edits.with_texts(instance, {part: "Something else"})
    assert edits.with_texts(instance, edits.differing(instance, changed)) == changed
    assert changed.id == instance.id and changed.parent == instance.id


def test_regions_keep_their_number_whatever_is_typed():
    few = edits.typed_over(SUITE, "condition 0", "The dog | runs")
    assert few.conditions[0].regions == ("The dog", "runs", "")
    many = edits.typed_over(SUITE, "condition 1", "The dog | run | away | .")
    assert many.conditions[1].regions == ("The dog", "run", "away.")
    assert edits.whole_text(SUITE, "condition 1") == "The cat | sleep | ."


def test_a_word_that_the_options_share_is_changed_in_both_and_one_of_its_own_in_one():
    assert edits.word_changed(PAIR, "option 0", 5, "dog").options == ("The dog sees itself.", "The dog see itself.")
    assert edits.word_changed(PAIR, "option 0", 9, "hears").options == ("The cat hears itself.", "The cat see itself.")


def test_a_word_is_removed_with_its_blank_and_the_sentence_begins_with_a_capital():
    assert edits.word_changed(PAIR, "option 0", 5, "").options == ("The sees itself.", "The see itself.")
    assert edits.word_changed(PAIR, "option 1", 0, "").options == ("Cat sees itself.", "Cat see itself.")
    assert edits.word_changed(PAIR, "option 0", 99, "x") is PAIR


def test_words_that_were_typed_are_found_again():
    changed = edits.word_changed(PAIR, "option 0", 9, "hears")
    assert edits.touched(PAIR, changed) == {"option 0": [Change(8, 13, "sees")]}
    marks = Marks((Span("option 0", 8, 13, "hear.v", ""),), changed=edits.touched(PAIR, changed))
    (cell,) = [
        cell
        for block in layers.blocks(changed, [], None, "nats", {}, total="each", marks=marks)
        for column in block.columns
        for cell in column.cells
        if cell and cell.text == "hears"
    ]
    assert "lx-swapped" in cell.kinds and cell.say[-1] == "was “sees”"  # whether it has synonyms or not


def test_what_was_typed_over_is_put_back_in_all_texts_in_which_it_was_changed():
    dog = edits.word_changed(PAIR, "option 0", 5, "dog")
    assert edits.put_back(PAIR, dog, "option 1", 5).options == PAIR.options
    both = edits.word_changed(dog, "option 0", 9, "hears")  # a word of the first alone
    assert edits.put_back(PAIR, both, "option 0", 5).options == ("The cat hears itself.", "The cat see itself.")
    assert edits.put_back(PAIR, both, "option 0", 9).options == dog.options
    many = edits.word_changed(PAIR, "option 0", 5, "big old dog")
    assert edits.put_back(PAIR, many, "option 0", many.options[0].index("old")).options == PAIR.options
    added = edits.typed_over(PAIR, "option 0", "The cat often sees itself.")
    assert edits.put_back(PAIR, added, "option 0", 9).options == PAIR.options
    assert edits.put_back(PAIR, dog, "option 0", 0) is dog  # a word that nobody changed


def test_likeness_is_that_of_a_text_that_was_changed():
    first, second = (edits.typed_over(PAIR, f"option {n}", "The dog sees itself.") for n in (0, 1))
    assert gauges._texts(PAIR, first) == (PAIR.options[0], first.options[0])
    assert gauges._texts(PAIR, second) == (PAIR.options[1], second.options[1])


# What the strip shows


@pytest.mark.parametrize("instance", EVERY, ids=lambda one: one.kind)
def test_every_token_is_tied_to_the_characters_of_its_field(instance):
    parts = fields.field_texts(instance)
    rows = layers.rows(instance, asked(instance))
    tokens = [one for row in rows for one in row.tokens]
    assert tokens
    for one in tokens:
        assert parts[one.part][one.start : one.end].casefold() == one.token.text.strip().casefold()
        text = prompts.option_texts(instance)[one.option]
        assert text[one.at : one.at + one.end - one.start].casefold() == one.token.text.strip().casefold()


@pytest.mark.parametrize("instance", EVERY, ids=lambda one: one.kind)
@pytest.mark.parametrize("scored", [True, False])
def test_no_word_of_an_instance_is_missing_from_its_strip(instance, scored):
    marks = Marks(())
    rows = layers.rows(instance, asked(instance)) if scored else []
    blocks = layers.blocks(instance, rows, lambda one: layers.surprisal_cell(one, "nats", marks), "nats", {},
                           total="each", marks=marks)  # fmt: skip
    cells = [cell for block in blocks for column in block.columns for cell in column.cells if cell]
    assert all(cell.key for cell in cells)  # each can be opened
    for text in prompts.option_texts(instance):
        for word in text.replace(".", " ").split():
            assert any(word.casefold() == cell.text.strip(".").casefold() for cell in cells), word


def test_the_running_sum_of_the_differences_ends_at_the_margin():
    first, second = asked(PAIR)
    # 4 tokens of 1 nat against 4 of 1, 3, 1 and 1: the first is ahead by 2 nats from the verb on
    tokens = (second.tokens[0], second.tokens[1], Token(" see", 3.0), second.tokens[3])
    second = ScoredOption(1, "option", "", 0, "", second.continuation, -6.0, tokens, False, "")
    marks = Marks(())
    blocks = layers.blocks(
        PAIR, layers.rows(PAIR, [first, second]), lambda one: layers.surprisal_cell(one, "nats", marks), "nats", {},
        total="Margin so far", marks=marks,
    )  # fmt: skip
    assert [column.delta.text for column in blocks[0].columns] == ["0.0", "0.0", "+2.0", "+2.0"]


def test_a_token_of_the_model_has_the_popularity_of_the_index_tokens_it_overlaps():
    rated = Rated(
        text="The cat sees itself.",
        tokens=("The", " c", "at", " sees", " itself", "."),
        popularity=(2.0, 4.0, 6.0, 8.0, math.nan, math.nan),
        ngrams=(RatedNgram("The c", (1, 2), 0, 3.0, 4.0, ""), RatedNgram("at sees", (3, 4), 2, 1.0, 2.0, "")),
        n=2,
        ips=IPS(4.0, 1),
    )
    (row, _) = layers.rows(PAIR, asked(PAIR))
    cells = [layers.popularity_cell(one, rated, Marks(())) for one in row.tokens]
    assert [cell.number for cell in cells] == ["2.0", "5.0", "8.0", "–"]  # " cat" is " c" and "at": the mean of 4 and 6
    assert [gram.text for gram in layers.grams_over(row.tokens[1], rated)] == ["The c", "at sees"]
    assert "3 × “The c”" in cells[1].say


def test_a_word_that_was_swapped_says_what_it_was_and_opens_by_its_name():
    marks = Marks((Span("option 0", 4, 7, "dog.n", "dog"),), word="dog.n")
    row = layers.rows(PAIR, asked(PAIR))[0]
    cell = layers.surprisal_cell(row.tokens[1], "nats", marks)
    assert "was “dog”" in cell.say and cell.open
    assert cell.key == "dog.n|option 0@4"


def test_a_document_is_cut_around_its_n_gram():
    pieces = (("x" * 1000, False), ("<i>", True), ("y" * 1000, False))
    page = panel.page_of(Document(1, 9, pieces, "a.txt"))
    assert page.pieces[1] == ("<i>", True)
    assert sum(len(text) for text, _ in page.pieces) < 800
    assert page.where == "a.txt · 9 tokens"


# The address and the way back


def test_edits_survive_the_address():
    swaps = {"arrest.v": "collar", "actor.n": "make-up artist"}
    assert state.parse(state.format_swaps(swaps)) == swaps
    assert state.parse("") == state.parse("nonsense;x:") == {}
    texts = {"option 0": 'He said: "é;:"', "context": ""}
    assert state.parse_texts(state.format_texts(texts)) == texts
    assert state.parse_texts("") == state.parse_texts("[1]") == state.parse_texts("{broken") == {}


def walk() -> None:
    """An app that changes one thing and says what there is; the buttons walk through the history."""
    import streamlit as st

    from explorer.ui.cockpit import state

    state.forget_other_instance("i")
    for swaps in ("a.n:b", "a.n:c"):
        st.button(swaps, key=swaps, on_click=state.change, args=(swaps,), kwargs={"swaps": swaps})
    for name in ("undo", "redo", "reset"):
        st.button(name, key=name, on_click=getattr(state, name))
    st.button("first", key="first", on_click=state.go_to_step, args=(0,))
    state.write()
    st.text(state.edits().swaps)


def test_edits_are_undone_redone_and_returned_to():
    app = AppTest.from_function(walk, default_timeout=60).run()

    def press(*keys: str) -> str:
        for key in keys:
            app.button(key=key).click().run()
        assert not app.exception
        return app.text[0].value

    assert press("a.n:b") == "a.n:b"
    assert app.query_params["swaps"] == "a.n:b"
    assert press("a.n:c") == "a.n:c"
    assert press("undo") == "a.n:b"
    assert press("redo") == "a.n:c"
    assert press("redo") == "a.n:c"  # nothing is left to redo
    assert press("first") == ""
    assert "swaps" not in app.query_params
    assert press("redo", "redo") == "a.n:c"
    assert press("undo", "undo", "a.n:c", "redo") == "a.n:c"  # a new edit is the newest
    assert press("undo") == ""
    assert press("redo", "reset") == ""
    assert press("undo") == "a.n:c"  # starting over is undone, too


# The page


def html_of(app: AppTest) -> str:
    return "\n".join(element.proto.body for element in app.html if "<style>" not in element.proto.body)


def texts_of_rows(strip: dict) -> list[str]:
    """The rows of the strip as running text."""
    rows = []
    for block in strip["blocks"]:
        for line in range(len(block["lines"])):
            rows.append("".join(
                (" " if column["starts"] else "") + column["cells"][line]["text"]
                for column in block["columns"] if column["cells"][line]
            ))  # fmt: skip
    return rows


@pytest.fixture
def here(tiny_gpt2: Path) -> dict[str, str]:
    return {"model": str(tiny_gpt2), "benchmark": "starter_pairs"}


def test_the_strip_stands_there_without_a_click(open_page, cache, run_id, here):
    app = open_page("instance", cache, run=run_id, **here)
    assert not app.exception and not app.error
    strip = strip_of(app)
    assert len(strip["blocks"][0]["lines"]) == 2
    assert all(cell["number"] for column in strip["blocks"][0]["columns"] for cell in column["cells"] if cell)
    assert "lx-verdict" in html_of(app)
    assert next(metric.label for metric in app.metric) == "Margin (nats)"


def test_a_small_model_that_is_here_scores_at_once_where_no_run_is_stored(open_page, tmp_path, here):
    app = open_page("instance", tmp_path / "cache", **here)
    assert "score:now" not in {button.key for button in app.button}
    assert "lx-verdict" in html_of(app)


def test_a_model_that_is_not_here_is_never_loaded_unasked(open_page, tmp_path):
    app = open_page("instance", tmp_path / "cache", model="gemma-3-270m", benchmark="starter_pairs")
    assert app.button(key="score:now")
    assert strip_of(app)["blocks"][0]["plain"]  # its words can be read and opened meanwhile


def test_a_changed_text_is_scored_beside_the_original(open_page, cache, run_id, here):
    before = open_page("instance", cache, run=run_id, **here)
    edit = json.dumps({"option 0": "Our <b>Today</b> sentence."})
    app = open_page("instance", cache, run=run_id, edit=edit, **here)
    assert not app.exception and not app.error
    assert "<b>Today" not in html_of(app)
    assert texts_of_rows(strip_of(app))[0].replace("␣", "").replace(" ", "") == "Our<b>Today</b>sentence."
    margin = next(metric for metric in app.metric if metric.label == "Margin (nats)")
    assert margin.delta and margin.value != before.metric[0].value
    assert "before the change" in html_of(app)
    assert strip_of(app)["history"] == {"labels": ["Original text", "As opened"], "at": 1}


def test_the_address_has_a_change_before_the_change_is_shown(open_page, tmp_path, here, monkeypatch):
    import streamlit as st

    drawn = []
    draw_strip = cockpit.draw_strip

    def drawing(strip, *rest):
        drawn.append((bool(strip.changed), st.query_params.get("edit")))
        draw_strip(strip, *rest)

    monkeypatch.setattr(cockpit, "draw_strip", drawing)
    app = open_page("instance", tmp_path / "cache", **here)
    typed = json.dumps({"option 0": "They sing."})
    app.session_state["chosen:edit"] = typed  # as a reader's change leaves it
    app.run()
    assert not app.exception
    # "Copy link" copies the browser's address: one that came later would be copied without the change.
    assert drawn == [(False, None), (True, typed)]


def test_a_link_brings_edits_context_layer_pins_and_the_open_word_back(open_page, tmp_path, here):
    choices = {
        "instance": "starter_pairs/anaphor_gender/kin-01-1", "edit": json.dumps({"option 0": "They sing."}),
        "context": json.dumps(["Nobody sings."]), "layer": "Difference of options", "word": "option 0@0",
        "at": "option 0@0", "pins": json.dumps([{"id": "starter_pairs/anaphor_gender/kin-01-1"}]), "unit": "bits",
    }  # fmt: skip
    app = open_page("instance", tmp_path / "cache", **choices, **here)
    assert not app.exception and not app.error
    assert {name: app.query_params[name] for name in choices} == choices
    strip = strip_of(app)
    assert strip["panel"]["title"] == "They"
    assert strip["key"]["label"].endswith("bits")
    assert len(strip["panel"]["expected"]["tokens"]) == 10
    assert any(one.value == "Pinned" for one in app.subheader)
    assert len(app.get("plotly_chart")) == 1  # the margin, sentence by sentence


@pytest.mark.parametrize(
    ("own", "choices"),
    [
        (own_texts.own_text("The old clock stopped."), {"what": "A text of my own", "text": "The old clock stopped."}),
        (
            own_texts.own_pair("starter_pairs", "anaphor_gender", "Two clocks stop.", "Two clocks stops."),
            {"what": "A pair of my own", "good": "Two clocks stop.", "bad": "Two clocks stops."},
        ),
    ],
)
def test_a_pinned_text_of_ones_own_is_shown_from_a_link_and_opened_again(open_page, tmp_path, here, own, choices):
    pins = json.dumps([{"id": own.id, **own_texts.fields_of(own)}])
    app = open_page("instance", tmp_path / "cache", pins=pins, **here)
    assert not app.exception and not app.error
    assert not any("Its text is not on this machine" in one.proto.body for one in app.get("html"))
    (opening,) = [one for one in app.button if one.label == "Open"]
    opening.click().run()
    assert not app.exception and not app.error
    assert {name: app.query_params[name] for name in choices} == choices
    assert strip_of(app)["of"] == own.id and strip_of(app)["pinned"]


def test_an_instance_of_a_benchmark_whose_split_is_called_typed_is_not_ones_own():
    cloze = dataclasses.replace(CLOZE, split="typed")
    assert own_texts.fields_of(cloze) == {} == own_texts.fields_of(dataclasses.replace(PAIR, split="typed"))


def test_what_a_model_expects_is_asked_for_where_it_is_not_loaded(open_page, cache, run_id, here):
    from explorer.ui.cockpit import scores

    choices = {**here, "run": run_id, "word": "option 0@0", "at": "option 0@0"}
    app = open_page("instance", cache, **choices)
    expected = strip_of(app)["panel"]["expected"]
    assert expected["offer"].startswith("Ask ") and "is not loaded: loading it takes some seconds" in expected["note"]
    assert not expected["tokens"]
    app.session_state[scores.EXPECTS] = here["model"]  # what the button does
    app.run()
    assert not app.exception
    expected = strip_of(app)["panel"]["expected"]
    assert len(expected["tokens"]) == 10 and not expected["offer"]


def test_two_models_stand_over_each_other(open_page, tmp_path, here, tiny_gpt2):
    import shutil

    other = shutil.copytree(tiny_gpt2, tmp_path / "other")
    app = open_page("instance", tmp_path / "cache", layer="Two models", other=str(other), **here)
    assert not app.exception and not app.error
    blocks = strip_of(app)["blocks"]
    assert [len(block["lines"]) for block in blocks] == [2, 2]
    # The strip stays where it is from layer to layer: what a layer asks for stands beneath it.
    kinds = [element.key if element.type == "selectbox" else element.type for element in app.main]
    assert kinds.index("pick:other") > kinds.index("bidi_component")
    # The same weights: no token is less surprising to either.
    assert {column["delta"]["text"] for block in blocks for column in block["columns"] if column["delta"]} == {"0.0"}


@pytest.mark.parametrize("benchmark", ["starter_cloze", "starter_causes", "starter_physics", "starter_pronouns",
                                       "starter_entailment", "starter_questions"])  # fmt: skip
def test_every_kind_of_instance_has_its_strip(open_page, tmp_path, tiny_gpt2, benchmark):
    app = open_page("instance", tmp_path / "cache", model=str(tiny_gpt2), benchmark=benchmark)
    assert not app.exception and not app.error
    assert strip_of(app)["blocks"]
    assert "lx-verdict" in html_of(app)


def test_an_instance_that_there_is_not_is_told_with_the_nearest(open_page, cache, here):
    app = open_page("instance", cache, instance="starter_pairs/anaphor_gender/kin-01-x", **here)
    assert not app.exception
    assert any("There is no instance" in warning.value for warning in app.warning)
    assert not app.get("bidi_component")  # never another one silently
    first = next(button for button in app.button if (button.key or "").startswith("nearest:"))
    name = first.key.removeprefix("nearest:")
    assert name.startswith("starter_pairs/anaphor_gender/kin-01-")
    first.click().run()
    assert app.query_params["instance"] == name
    assert strip_of(app)["of"] == name


# Words on the strip


@pytest.mark.parametrize("instance", EVERY, ids=lambda one: one.kind)
def test_the_words_of_a_row_add_up_to_it_and_stand_where_they_are_written(instance):
    parts = fields.field_texts(instance)
    for row in layers.rows(instance, asked(instance)):
        worded = layers.by_word(row)
        assert sum(one.token.nats for one in worded.tokens) == pytest.approx(sum(one.token.nats for one in row.tokens))
        for one in worded.tokens:
            assert parts[one.part][one.start : one.end].casefold() == one.token.text.strip().casefold()


def test_a_word_says_its_tokens_and_one_without_a_number_says_why():
    tokens = (Token("The", math.nan), Token(" c", 2.0), Token("at", 0.5), Token(".", 1.0))
    one = ScoredOption(0, "option", "", 0, "", "The cat.", math.nan, tokens, False, "")
    (row,) = layers.rows(PAIR, [one])
    first, cat = (layers.word_cell(word, "nats", Marks(())) for word in layers.by_word(row).tokens)
    assert (first.text, first.number, first.kinds) == ("The", "–", "lx-unscored")
    assert first.say == (
        "“The”",
        "word 1 of 2",
        "its first token has no probability: nothing stands before it (no BOS)",
    )
    assert (cat.text, cat.number) == ("cat.", "3.5")
    assert cat.say == ("“␣cat.”", "word 2 of 2", "of ␣c + at + .", "3.500 nats, 5.049 bits")
    given = layers.by_word(row, ["The", "ca", "t."]).tokens[1]
    told = layers.word_cell(given, "nats", Marks(())).say
    assert told[2] == "2 words, over which a token reaches" and told[0] == "“␣cat.”"


def test_a_verdict_that_stays_tells_how_its_margin_moved():
    from explorer.ui.cockpit import gauges

    def scores(before, after):
        answers = [SimpleNamespace(judgment=SimpleNamespace(value=lambda _, m=margin: m)) for margin in (before, after)]
        return SimpleNamespace(before=answers[0], after=answers[1], margin_unit="nats")

    assert gauges._margin_before(scores(-5.0, -7.5)) == ", by 5.00 nats"
    assert gauges._margin_before(scores(-5.0, -2.5)) == ", by 5.00 nats"
    assert gauges._margin_before(scores(5.0, 5.001)) == ""


def test_a_token_that_goes_on_with_a_word_is_marked():
    from explorer.ui.cockpit import panel

    assert [panel._goes_on(token, at_start=False) for token in (" taught", "ing", ",")] == [False, True, False]
    assert not panel._goes_on("Old", at_start=True)


def test_a_token_makes_a_word_with_what_stands_before_it():
    def word(token, before="", at_start=False):
        return panel._word_of(token, before, at_start=at_start)

    assert [word("ld", "O"), word(" the", "O"), word("ld", "7"), word(",", "O")] == ["Old", "", "", ""]
    assert [word(" taught"), word("ing"), word("Old", at_start=True), word(" 7")] == ["taught", "", "Old", ""]


def test_until_a_strip_is_there_its_texts_stand_in_its_place(open_page, cache, run_id, here, monkeypatch):
    import streamlit as st

    done = open_page("instance", cache, run=run_id, **here)
    assert "lx-waiting" not in html_of(done)
    monkeypatch.setattr("explorer.ui.cockpit.gauges.draw_gauges", lambda *_: st.stop())
    stopped = html_of(open_page("instance", cache, run=run_id, **here))
    assert "lx-waiting lx-under-verdict" in stopped and strip_of(done)["blocks"]
    box = stopped[stopped.index("lx-waiting") :]
    assert all(line["text"] in box for line in strip_of(done)["blocks"][0]["lines"])


def test_a_word_typed_over_and_then_swapped_goes_back_to_what_the_benchmark_has():
    swapped = Span("option 0", 4, 7, "pup.n", "pup")
    assert cockpit._was_typed(Change(4, 7, "pwaton"), swapped)
    assert not cockpit._was_typed(Change(4, 7, "Pup"), swapped) and not cockpit._was_typed(None, swapped)
