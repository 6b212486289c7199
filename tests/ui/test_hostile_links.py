"""What an address or a browser may say: any of it is read, or left out, and no page breaks or works for minutes."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from explorer import numbers, plain_json
from explorer.records import Instance
from explorer.ui.cockpit import edits, scores, state
from explorer.ui.priming import context
from explorer.ui.strip import strip

PAIR = Instance("s/g/1", "s", "test", "g", "pair", "sentence", options=("The cat sees.", "The cat see."), gold=0)
DEEP = "[" * 60_000
POOLS = SimpleNamespace(by_id={})


@pytest.mark.parametrize("text", [DEEP, '{"a":' * 60_000, "[" + "9" * 6_000 + "]", "{", '"a"', "null", "[1, null]"])
def test_json_of_an_address_is_read_or_left_out(text, monkeypatch):
    monkeypatch.setattr(state.links, "recall", lambda name, default="": text)
    assert state.parse_texts(text) == {} and state.pins() == []
    lines, _ = context.unpack(text, POOLS)
    assert all(isinstance(line.text, str) for line in lines)


def test_half_a_surrogate_pair_of_an_address_is_a_sign():
    assert state.parse_texts('{"option 0": "a\\ud800b"}') == {"option 0": "a\N{REPLACEMENT CHARACTER}b"}
    assert plain_json.without_halves({"\ud83d\ude00": ["\udc00", 1]}) == {
        "\U0001f600": ["\N{REPLACEMENT CHARACTER}", 1]
    }


def test_a_link_holds_few_pins_and_a_bounded_context(monkeypatch):
    pins = json.dumps([{"id": f"s/g/{number}"} for number in range(5_000)])
    monkeypatch.setattr(state.links, "recall", lambda name, default="": pins)
    assert len(state.pins()) == state.MOST_PINS
    lines, lost = context.unpack(json.dumps(["A sentence."] * 3_000), POOLS)
    assert (len(lines), lost) == (context.MOST_LINES, 3_000 - context.MOST_LINES)


@pytest.mark.parametrize("text", ["9" * 5_000, "²", "٣", "-1", "", "1e3"])
def test_a_place_of_an_address_is_a_plain_number(text):
    assert numbers.whole_or(text, -1) == -1 and numbers.places([text, "2"], 3) == [2]
    assert edits.whole_text(PAIR, f"condition {text}") == ""


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ({"do": "back", "to": 3}, {"do": "back", "to": 3}),
        ({"do": "back", "to": "x" * 200_000}, {"do": "back"}),
        ({"do": "back", "to": 10**400}, {"do": "back"}),
        ({"do": "back", "to": float("inf")}, {"do": "back"}),
        ({"do": ["undo"], "n": {"a": 1}, 5: "x", "flag": True}, {}),
        ({"do": "type", "text": "a\ud800"}, {"do": "type", "text": "a\N{REPLACEMENT CHARACTER}"}),
    ],
)
def test_what_the_browser_says_of_the_strip_is_text_and_whole_numbers(sent, kept):
    assert strip.checked_act(sent) == kept


def test_a_long_text_or_context_counts_each_time_it_is_read():
    assert scores._volume(PAIR, []) == 25 < scores.MOST_UNASKED
    assert scores._volume(PAIR, ["A sentence of a context."] * 100) > scores.MOST_UNASKED


@pytest.mark.parametrize(
    "choices",
    [
        {"edit": DEEP, "pins": DEEP, "context": DEEP, "word": f"option 0@{'9' * 5_000}", "dot": "9" * 5_000},
        {"edit": '{"option 0": "a\\ud800b"}', "context": "[NaN, 1e999, {}]", "word": "option ٣@٣", "at": "@²"},
        {"edit": json.dumps({"option 0": "word " * 10_000}), "swaps": ";".join(f"w{n}.n:x" for n in range(3_000))},
    ],
    ids=["deep", "odd", "long"],
)
def test_the_cockpit_comes_up_whatever_a_link_says(open_page, tmp_path, tiny_gpt2, choices):
    app = open_page("instance", tmp_path / "cache", benchmark="starter_pairs", model=str(tiny_gpt2), **choices)
    assert not app.exception
