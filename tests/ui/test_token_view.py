import html
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.ui import token_view
from explorer.ui.token_view import Token

HOSTILE = "</span><script>alert('x')</script><img src=x onerror=\"alert(1)\">&amp;"
texts = st.text(max_size=12)
tokens = st.lists(st.builds(Token, texts, st.one_of(st.floats(0, 60), st.just(math.nan))), max_size=8)


@given(tokens, tokens, st.sampled_from(["nats", "bits"]))
def test_no_text_ever_becomes_markup(first, second, unit):
    dressed = [Token(HOSTILE + token.text, token.nats) for token in first]
    made = [
        token_view.strip(dressed, unit, context=HOSTILE, label=HOSTILE),
        token_view.aligned(dressed, second, unit, labels=(HOSTILE, HOSTILE)),
        token_view.verdict("right", HOSTILE, HOSTILE),
    ]
    for body in made:
        assert not re.search(r"<(script|img)", body)
        assert set(re.findall(r"</?([a-z]+)", body)) <= {"div", "span", "p", "br", "b"}
        # Inside a tag no quote of the text ends an attribute.
        for tag in re.findall(r"<[^>]*>", body):
            assert re.fullmatch(r"<(/?[a-z]+)(\s[a-z-]+=\"[^\"<>]*\")*\s*>", tag), tag


@given(st.lists(texts, max_size=12), st.lists(texts, max_size=12))
def test_aligning_keeps_every_token_once_and_in_order(first, second):
    pairs = token_view.align(first, second)
    assert [a for a, _ in pairs if a is not None] == list(range(len(first)))
    assert [b for _, b in pairs if b is not None] == list(range(len(second)))
    assert not any(a is None and b is None for a, b in pairs)


def test_equal_tokens_stand_over_each_other():
    pairs = token_view.align(["The", " cat", " sleeps", "."], ["The", " old", " cat", " sleep", "."])
    assert pairs == [(0, 0), (None, 1), (1, 2), (2, 3), (3, 4)]


def test_very_long_texts_are_aligned_too():
    words = [f" word{number % 97}" for number in range(30_000)]
    other = [*words[:15_000], " old", *words[15_000:-1], "."]
    pairs = token_view.align(words, other)
    assert [a for a, _ in pairs if a is not None] == list(range(len(words)))
    assert [b for _, b in pairs if b is not None] == list(range(len(other)))
    assert pairs[:15_000] == [(place, place) for place in range(15_000)]


def test_only_differing_tokens_are_marked():
    body = token_view.aligned([Token("The", 1.0), Token(" cat", 2.0)], [Token("The", 1.0), Token(" dog", 5.0)])
    assert body.count("lx-differs") == 2


def test_the_differences_below_add_up_to_the_margin():
    # 1 + 2 nats against 1 + 5 + 3: the first text is less surprising by 6 nats; the token it lacks counts whole
    first = [Token("a", 1.0), Token(" b", 2.0)]
    second = [Token("a", 1.0), Token(" c", 5.0), Token(" d", 3.0)]
    shown = re.findall(r'class="lx-delta[^>]*>([^<]*)<', token_view.aligned(first, second))
    assert shown == ["0.0", "+3.0", "+3.0"]


def test_bits_are_nats_over_ln_2():
    assert token_view.in_unit(math.log(8), "bits") == pytest.approx(3)
    assert ">3.0<" in token_view.strip([Token("a", math.log(8))], "bits")


def test_a_token_tells_its_text_place_surprisal_and_probability():
    label = re.search(r'role="listitem"[^>]*aria-label="([^"]*)"', token_view.strip([Token(" book\n", math.log(4))]))
    assert html.unescape(label[1]) == "“␣book↵”, token 1 of 1, 1.386 nats, 2.000 bits, probability 25.0%"


def test_an_unscored_token_says_so_and_has_no_number():
    body = token_view.strip([Token("The", math.nan)])
    assert "not scored" in body
    assert "nan" not in body


def test_the_tint_grows_with_surprisal_and_stays_within_its_range():
    tints = [
        float(re.search(r"--tint:([\d.]+)", token_view.strip([Token("a", nats)]))[1]) for nats in (0.0, 3.0, 12.0, 90.0)
    ]
    assert tints == [0.0, 0.25, 1.0, 1.0]


def test_a_long_text_does_not_stop_the_keyboard_at_every_token():
    few, many = [Token("a", 1.0)] * 5, [Token("a", 1.0)] * (token_view.FOCUSABLE + 1)
    assert token_view.strip(few).count('tabindex="0"') == 5
    assert 'tabindex="0"' not in token_view.strip(many)


def test_a_small_probability_keeps_its_digits():
    assert token_view.probability(math.log(2)) == "50.0%"
    assert token_view.probability(20.0) == "2.1 × 10⁻⁹"
