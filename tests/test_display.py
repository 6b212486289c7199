"""Numbers and names as people read them."""

from __future__ import annotations

import math
import re

import pytest

from explorer import display
from explorer.settings import ROOT

NAN = math.nan


@pytest.mark.parametrize(
    ("value", "signed", "shown"),
    [
        (1.234, False, "1.23"),
        (-1.235001, False, "−1.24"),
        (1.2, True, "+1.20"),
        (-0.001, True, "0.00"),  # rounds to zero, which has no sign
        (-0.001, False, "0.00"),
        (-12345.678, False, "−12,345.68"),
        (NAN, True, "–"),
        (-math.inf, False, "−∞"),
    ],
)
def test_a_number_has_a_true_minus_and_zero_no_sign(value, signed, shown):
    assert display.number(value, signed=signed) == shown


def test_a_share_is_told_with_its_interval():
    assert [display.listed(names) for names in ((), ("a",), ("a", "b"), ("a", "b", "c"))] == [
        "", "a", "a and b", "a, b and c",
    ]  # fmt: skip
    assert display.share(0.5, 0.4, 0.6) == "50.0% (95% interval 40.0% to 60.0%)"
    assert display.share(0.5) == "50.0%"
    assert display.share(-0.025) == "−2.5%"
    assert display.share(NAN) == "–"


def test_units_have_their_decimals():
    assert display.points(-0.1234) == "−12.3" and display.points(0.05) == "+5.0" and display.points(NAN) == "–"
    assert display.nats(-1.5) == "−1.50 nats" and display.nats(1.5, signed=True) == "+1.50 nats"
    assert [display.compact(value) for value in (70e6, 1.4e9, 12, NAN)] == ["70M", "1.4B", "12", "–"]
    assert display.count(1234567) == "1,234,567" and display.count(NAN) == "–"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.5, "0.5000"), (12.3456, "12.35"), (-1234.5678, "−1,235"), (3.0, "3"), (0.0, "0"), (-2.5e-7, "−2.5 × 10⁻⁷")],
)
def test_a_number_of_any_unit_has_the_digits_that_matter(value, shown):
    assert display.significant(value) == shown


def test_a_p_value_is_never_printed_as_zero():
    assert [display.p_value(p) for p in (0.0, 3e-4, 0.001, 0.01234, 1.0)] == [
        "< 0.001", "< 0.001", "0.001", "0.012", "1.000"
    ]  # fmt: skip
    assert display.p_value(NAN) == "–"
    said = [display.p_in_words(p) for p in (0.0, 0.02, 1.0, NAN)]
    assert said == ["p < 0.001", "p = 0.020", "p = 1.000", "p –"]
    assert display.above_zero(0.0) > 0 and display.above_zero(0.25) == 0.25
    assert math.isnan(display.above_zero(NAN))


def test_no_line_ends_between_a_sign_and_its_number():
    told = display.unbroken("r = 0.50, p < 0.001, n = 1,200; x > y, a = −2, p = –")
    assert told.split(" ") == [
        "r\xa0=\xa00.50,", "p\xa0<\xa00.001,", "n\xa0=\xa01,200;", "x", ">", "y,", "a\xa0=\xa0−2,", "p\xa0=\xa0–"
    ]  # fmt: skip


def test_no_line_ends_between_a_statistic_and_its_number():
    assert display.unbroken("goes together (rho −0.32, AUC 0.9)") == "goes together (rho\xa0−0.32, AUC\xa00.9)"


def test_a_remark_stands_in_the_parentheses_that_a_name_has():
    assert display.remarked("Pythia 12B (deduped)", "imported") == "Pythia 12B (deduped, imported)"
    assert display.remarked("GPT-2", "imported") == "GPT-2 (imported)"
    assert display.remarked("GPT-2 (small)", "") == "GPT-2 (small)"


def test_stored_names_are_read_as_words():
    assert display.words("principle_A_case_2") == "principle A case 2"


def test_a_long_name_keeps_both_its_ends():
    assert display.name("short") == "short"
    cut = display.name("a" * 50 + "end", 20)
    assert len(cut) == 20 and cut.startswith("aaaa") and cut.endswith("end") and "…" in cut


def test_a_percent_sign_follows_its_number_without_a_blank():
    """One way everywhere: 95%, as Plotly's axes and Python write it."""
    sources = [ROOT / "app.py", *(ROOT / "pages").rglob("*.py"), *(ROOT / "explorer").rglob("*.py")]
    apart = re.compile(r"[\d}][ \u00a0\u2009\u202f]%(?![{\w(])")
    modulo = re.compile(r"\d % (\d|[a-z_(])")  # arithmetic
    for path in sources:
        for line in path.read_text("utf-8").splitlines():
            found = apart.search(line)
            assert not found or modulo.search(line, found.start()), f"{path.name}: write 95%, without a blank: {line}"


def test_an_interval_in_a_sentence_is_two_ends_or_none():
    assert display.interval(0.1, 0.25) == "95% interval 0.10 to 0.25"
    assert display.interval(float("nan"), 0.25) == display.interval(0.1, float("nan")) == "no interval"
    assert display.interval(0.5, 0.5) == "no interval, since every resample has this value"
    assert display.share(1.0, 1.0, 1.0) == "100.0%"


@pytest.mark.parametrize(
    ("instance_id", "told"),
    [
        ("starter_pairs/anaphor_gender/kin-01-1", "anaphor gender · kin-01-1"), ("copa/12", "12"), ("alone", "alone"),
        ("", ""),
    ],
)  # fmt: skip
def test_an_instance_is_named_by_its_group_in_words(instance_id, told):
    assert display.instance(instance_id) == told


def test_one_of_a_kind_has_no_s_and_none_is_a_word():
    assert [display.counted(many, "instance") for many in (0, 1, 2_800)] == [
        "0 instances", "1 instance", "2,800 instances",
    ]  # fmt: skip
    assert display.counted(1, "entry", "entries") == "1 entry" and display.counted(2, "entry", "entries") == "2 entries"
    assert [display.none_or(many) for many in (0, 1, 1_200)] == ["none", "1", "1,200"]
