"""The grammar of SyntaxGym's formulas and what they are worth."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.benchmarks.core import syntaxgym_formula as formulas
from explorer.benchmarks.core.syntaxgym_formula import Arithmetic, Comparison, Logic, Minus, Number, Region
from explorer.errors import BenchmarkError

NATS = {("a", 1): 1.0, ("a", 2): 2.0, ("b", 1): 4.0, ("b", 2): 0.0}


def holds(text, **kwargs):
    return formulas.holds(formulas.parse_formula(text), NATS, **kwargs)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("(1;%a%) < (1;%b%)", True),
        ("(1;%a%) > (1;%b%)", False),
        ("(*;%a%) < (*;%b%)", True),  # 1 + 2 against 4 + 0
        ("[(1;%a%) + (2;%a%)] > 2.5", True),
        ("(1;%b%) - (2;%a%) - (1;%a%) > 0", True),  # from the left: 4 - 2 - 1
        ("(1;%b%) - [(2;%a%) - (1;%a%)] > 2", True),
        ("[(1;%a%)<(2;%a%)]&[(1;%b%)<(2;%b%)]", False),
        ("[(1;%a%)<(2;%a%)]|[(1;%b%)<(2;%b%)]", True),
        ("(1;%a%)<(2;%a%) | 1<0 & 1<0", True),  # & binds closer than |
        ("[(1;%a%)<(2;%a%) | 1<0] & 1<0", False),
        ("-(1;%a%) < 0", True),
        ("  ( ( ( 2 ; %a%) ) )  =  2 ", True),
    ],
)
def test_what_a_formula_is_worth(text, expected):
    assert holds(text) is expected


def test_equality_has_a_tolerance_that_can_be_set():
    assert holds("(1;%a%) = 1.0009")
    assert not holds("(1;%a%) = 1.002")
    assert holds("(1;%a%) = 1.4", equal_within=0.5)
    assert not holds("(1;%a%) < 1") and not holds("(1;%a%) > 1")


def test_equality_is_marked():
    assert formulas.tests_equality(formulas.parse_formula("1 < 2 & (1;%a%) = 1"))
    assert not formulas.tests_equality(formulas.parse_formula("1 < 2 | 2 > 1"))


def test_an_unknown_surprisal_makes_no_comparison_true():
    for sign in "<>=":
        assert not formulas.holds(formulas.parse_formula(f"(1;%a%) {sign} 1"), {("a", 1): math.nan})


def test_a_region_the_item_lacks_is_told():
    with pytest.raises(BenchmarkError, match=r"\(9;%a%\).*conditions are a, b"):
        holds("(9;%a%) < 1")


@pytest.mark.parametrize(
    "text, place",
    [
        ("", 1),
        ("(5;%a%)", 1),  # a number is not true or false
        ("(5;%a%) <", 10),
        ("[(5;%a%) < 1", 13),
        ("(5;%a%) < 1)", 12),
        ("1 < 2 < 3", 7),
        ("(1 < 2) + 3 > 2", 1),
        ("1 & 2", 1),
        ("1 < 2 & 3", 9),
        ("__import__('os')", 1),
        ("(1 < 2]", 7),
        ("1 2", 3),
        ("1 < (5;%a)", 7),
        ("1 < 2 && 2 < 3", 8),
    ],
)
def test_a_mistake_is_told_with_its_place(text, place):
    with pytest.raises(BenchmarkError, match=f"at character {place},"):
        formulas.parse_formula(text)


def test_brackets_without_end_are_told():
    with pytest.raises(BenchmarkError, match="too deep"):
        formulas.parse_formula("[" * 5_000 + "1 < 2" + "]" * 5_000)


regions = st.builds(
    Region,
    st.none() | st.integers(1, 99),
    st.text(st.characters(exclude_characters="%", exclude_categories=("Cs",)), min_size=1, max_size=8),
)
numbers = st.builds(Number, st.integers(0, 1000).map(float) | st.sampled_from([0.5, 2.25]))
sums = st.recursive(
    regions | numbers,
    lambda inner: st.builds(Minus, inner) | st.builds(Arithmetic, st.sampled_from("+-"), inner, inner),
    max_leaves=6,
)
trees = st.recursive(
    st.builds(Comparison, st.sampled_from("<>="), sums, sums),
    lambda inner: st.builds(Logic, st.sampled_from("&|"), inner, inner),
    max_leaves=6,
)


@given(trees)
def test_a_rendered_tree_parses_to_itself(tree):
    assert formulas.parse_formula(formulas.render(tree)) == tree


@given(st.text("()[]<>=&|+-;%*ab12 .", max_size=30))
def test_any_text_parses_or_is_refused_in_one_sentence(text):
    try:
        formulas.parse_formula(text)
    except BenchmarkError as error:
        assert "expected" in str(error)
