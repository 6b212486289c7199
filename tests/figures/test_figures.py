import re
import tomllib

import numpy as np
import pandas as pd
import pytest

from explorer.figures import theme
from explorer.figures.accuracy_by_group import accuracy_by_group
from explorer.figures.comparison import MOST_DOTS, OUTCOMES, groups_of_two_runs, margins_of_two_runs
from explorer.figures.correlation_matrix import SCALE, correlation_matrix, ground_of
from explorer.figures.headline import headline
from explorer.figures.margins import margin_histogram
from explorer.figures.models import COLORS
from explorer.figures.surprisal import surprisal_lines
from explorer.settings import ROOT
from explorer.ui.icl.figure_follow import _away
from explorer.ui.perturbation.figure_margins import COLORS as fates
from explorer.ui.popularity.figure_curve import popularity_curve
from explorer.ui.priming.figure_curves import LOOKS, Panel, priming_curves
from explorer.ui.priming.figure_edits import COLORS as edits
from explorer.ui.priming.figure_edits import edit_curves
from explorer.ui.priming.figure_suites import baseline_against_longest


@pytest.fixture
def groups():
    return pd.DataFrame(
        {
            "grp": ["islands", "agreement", "<b>odd</b> & long " + "x" * 60],
            "value": [0.5, 0.9, np.nan],
            "low": [0.4, 0.85, np.nan],
            "high": [0.6, 0.94, np.nan],
            "n": [100, 100, 0],
        }
    )


def test_the_best_group_stands_at_the_top(groups):
    dots = accuracy_by_group(groups, overall=0.7).data[0]
    assert dots.x[-1] == 0.9
    assert dots.error_x.array[-1] == pytest.approx(0.04)
    assert dots.error_x.arrayminus[-1] == pytest.approx(0.05)


def test_names_from_files_are_shown_as_text(groups):
    figure = accuracy_by_group(groups)
    assert "<b>" not in "".join(figure.layout.yaxis.ticktext)
    assert "&lt;b&gt;" in "".join(figure.layout.yaxis.ticktext)


def test_a_line_is_drawn_only_for_a_known_value(groups):
    assert len(accuracy_by_group(groups, overall=float("nan")).layout.shapes) == 0
    assert len(accuracy_by_group(groups, overall=0.7, ideal=0.5).layout.shapes) == 2


def test_every_finite_margin_is_in_a_bar():
    items = pd.DataFrame(
        {"margin": [-900.0, -1, 0, 1, 2, np.nan], "verdict": ["wrong", "wrong", "tie", "right", "right", "wrong"]}
    )
    bars = {bar.name: sum(bar.y) for bar in margin_histogram(items).data}
    assert bars == {"wrong (2)": 2, "tie (1)": 1, "right (2)": 2}


def test_a_histogram_of_nothing_is_empty():
    assert not margin_histogram(pd.DataFrame({"margin": [], "verdict": []})).data


def test_surprisal_lines_carry_their_tokens_escaped():
    figure = surprisal_lines([("good", ["The", " <cat>"], [1.0, 2.0]), ("bad", ["The"], [1.0])], "bits")
    assert figure.data[0].customdata[1] == " &lt;cat&gt;"
    assert "bits" in figure.layout.yaxis.title.text


def test_two_runs_are_dots_by_outcome_and_a_density_when_many():
    items = pd.DataFrame(
        {
            "instance_id": ["a", "b"],
            "margin_a": [1.0, -1.0],
            "margin_b": [1.0, 2.0],
            "outcome": ["both right", "only the second"],
        }
    )
    assert [trace.name for trace in margins_of_two_runs(items, "x", "y").data] == [
        "both right (1)",
        "only the second (1)",
    ]
    many = pd.concat([items] * MOST_DOTS)
    (density,) = margins_of_two_runs(many, "x", "y").data
    assert np.sum(density.customdata) == len(many)


def test_the_widest_gap_between_two_runs_stands_at_the_top():
    groups = pd.DataFrame({"grp": ["a", "b"], "n": [10, 10], "value_a": [0.1, 0.5], "low_a": [0.0, 0.4],
                           "high_a": [0.3, 0.6], "value_b": [0.9, 0.6], "low_b": [0.7, 0.5],
                           "high_b": [np.nan, 0.8]})  # fmt: skip
    figure = groups_of_two_runs(groups, "x", "y")
    assert list(figure.layout.yaxis.ticktext) == ["b", "a"]
    (one, two) = [trace for trace in figure.data if trace.name]
    assert list(one.error_x.array) == pytest.approx([0.1, 0.2]) and list(two.error_x.array) == pytest.approx([0.2, 0])
    assert all(first > second for first, second in zip(one.y, two.y, strict=True)), "equal shares hide no dot"


def test_the_headline_has_a_dot_a_model_and_benchmark():
    rows = pd.DataFrame(
        {
            "benchmark": ["p", "q", "p"],
            "model": ["m", "m", "k"],
            "value": [0.5, 0.6, 0.7],
            "low": [0.4] * 3,
            "high": [0.8] * 3,
            "n": [9] * 3,
        }
    )
    assert [len(trace.x) for trace in headline(rows).data] == [2, 1]


def test_pages_and_figures_share_one_palette():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))
    assert tuple(config["theme"]["chartCategoricalColors"]) == theme.PALETTE
    for name, inks in theme.THEMES.items():
        assert config["theme"][name]["textColor"] == inks.text
        assert config["theme"][name]["backgroundColor"] == inks.paper


@pytest.mark.parametrize("name", theme.THEMES)
def test_palette_stands_out_from_the_ground(name):
    # WCAG 2.1 asks 3 to 1 of graphics; light orange and sky are for dots with a line or a label beside them.
    for color in theme.PALETTE[:4]:
        assert _contrast(color, theme.THEMES[name].paper) >= 2.9
    assert _contrast(theme.THEMES[name].text, theme.THEMES[name].paper) >= 7
    assert _contrast(theme.THEMES[name].quiet, theme.THEMES[name].paper) >= 4.5


def test_what_is_no_model_has_colors_of_its_own():
    conditions = {look.color for look in LOOKS.values()}
    outcomes = {color for color, _ in OUTCOMES.values()}
    for colors in (conditions, outcomes, set(edits.values()), set(fates.values())):
        assert not colors & set(COLORS)
        for ground in (theme.THEMES["light"].paper, theme.THEMES["dark"].paper):
            assert min(theme.contrast(color, ground) for color in colors) >= 3
    assert len({(look.color, look.symbol) for look in list(LOOKS.values())[:5]}) == 5
    assert len(set(OUTCOMES.values())) == len(OUTCOMES)


def _contrast(one, other):
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color):
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_number_of_the_correlation_matrix_can_be_read_in_both_themes():
    # Each cell has a ground of its own, whatever the theme; the rule for text is a contrast of 4.5.
    values = [rho / 50 for rho in range(-50, 51)]
    assert all(theme.contrast(ground, theme.ink_on(ground)) >= 4.5 for ground in map(ground_of, values))
    pairs = pd.DataFrame(
        [
            {"first": "a", "second": "b", "rho": rho, "low": rho, "high": rho, "p": 0.5, "adjusted_p": 0.5, "n": 9}
            for rho in (0.9,)
        ]
    )
    figure = correlation_matrix(pairs, ["a", "b"])
    texts = [trace for trace in figure.data if trace.type == "scatter"]
    assert [trace.textfont.color for trace in texts] == [theme.ink_on(ground_of(0.9))]
    assert all(len(color) == 7 for _, color in SCALE)  # opaque, so that the ground of the page plays no part


def test_contrast_is_that_of_the_rule():
    assert theme.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert theme.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)  # WebAIM's example
    assert theme.between("#000000", "#ffffff", 0.5) == "#808080"


def test_the_axes_of_the_popularity_curve_hold_the_data_not_the_scores_far_out():
    bins = pd.DataFrame(
        {"value": [0.5, 0.6], "low": [0.45, 0.5], "high": [0.55, 0.7], "n": [50, 50], "mean": [4.0, 6.0],
         "lowest": [-90.0, 5.0], "highest": [5.0, 80.0]}
    )  # fmt: skip
    figure = popularity_curve(bins, None, score="IPS", tick=".1f", overall=0.55, color="#123456")
    assert figure.data[0].marker.color == "#123456", "dots have the color of their model"
    left, right = figure.layout.xaxis.range
    low, high = figure.layout.yaxis.range
    assert 3 < left < 4 and 6 < right < 7
    assert low <= 0.45 and high >= 0.7 and high - low >= 0.2
    assert [note.text for note in figure.layout.annotations] == ["all 55.0%"], "the line across has a name"


def test_differences_of_shares_are_drawn_in_points():
    curve = pd.DataFrame(
        {"condition": "matched_acceptable", "setting": "none", "length": [0, 100], "value": [0.0, 0.2],
         "low": [0.0, 0.1], "high": [0.0, 0.3], "n": 5}
    )  # fmt: skip
    figure = priming_curves([Panel("", curve)], title="Change of accuracy, in points", tick="+.0%")
    band, line = figure.data
    assert line.y == (0.0, 20.0) and max(band.y) == 30.0 and figure.layout.yaxis.tickformat == "+"
    assert "+20.0 points (+10.0 points to +30.0 points)" in line.customdata[1][1]
    shares = priming_curves([Panel("", curve)], title="Accuracy", tick=".0%")
    assert shares.data[1].y == (0.0, 0.2) and shares.layout.yaxis.tickformat == ".0%"
    edits = edit_curves(curve)
    assert edits.data[0].y == (0.0, 20.0) and edits.layout.yaxis.title.text.endswith("in points")


def test_no_axis_of_differences_is_in_percent():
    for path in (ROOT / "explorer").rglob("*.py"):
        assert not re.search(r'tickformat="\+\.\d%"', path.read_text(encoding="utf-8")), path


def test_the_name_of_a_dot_lies_opposite_to_the_lines_that_meet_there():
    # up and down again: the name of the peak stands above it, those of the feet below them
    assert _away([(0.0, 0.0), (0.5, 1.0), (1.0, 0.0)], (1.0, 1.0)) == ["bottom left", "top center", "bottom right"]
    assert _away([(0.0, 0.5), (1.0, 0.5)], (1.0, 1.0)) == ["middle left", "middle right"]
    assert _away([(0.3, 0.3)], (1.0, 1.0)) == ["top center"]


def test_a_long_name_beside_the_correlations_is_broken_into_lines():
    rows = [{"first": "Margin", "second": "Primed, mismatched unacceptable", "rho": 0.1, "low": 0, "high": 0.2, "n": 9}]
    figure = correlation_matrix(
        pd.DataFrame(rows).assign(adjusted_p=0.5), ["Margin", "Primed, mismatched unacceptable"]
    )
    assert figure.layout.yaxis.ticktext == ("Primed, mismatched<br>unacceptable",)


def test_suites_that_lie_on_one_place_are_seen_both_and_axes_hold_what_there_is():
    suites = pd.DataFrame(
        {
            "grp": ["a", "a"], "condition": ["matched_acceptable", "matched_unacceptable"],
            "baseline": [0.8, 0.8], "longest": [0.9, 0.9], "longest_length": [300, 300],
        }
    )  # fmt: skip
    figure = baseline_against_longest(suites)
    ring, diamond = figure.data[1:]
    assert ring.marker.symbol == "circle-open" and ring.marker.size > diamond.marker.size
    assert figure.layout.xaxis.range == figure.layout.yaxis.range == (pytest.approx(0.72), 1.03)


def test_marks_at_zero_and_at_the_longest_context_are_whole():
    curves = pd.DataFrame(
        {"condition": "unrelated", "length": [0, 300], "value": [0.0, 0.1], "low": 0.0, "high": 0.2, "n": 9}
    )
    layout = priming_curves([Panel("", curves)], title="Change", tick="+.0%", zero=0.0).layout
    assert layout.xaxis.range[0] < 0 and layout.xaxis.range[1] > 300
    assert layout.yaxis.range == pytest.approx((-1.2, 21.2)), "points, from the band's lower end to its upper"


def test_the_key_of_the_matrix_takes_no_width_from_its_cells():
    pairs = pd.DataFrame({"first": ["a"], "second": ["b"], "rho": [0.5], "low": [0.4], "high": [0.6], "p": [0.01],
                          "adjusted_p": [0.01], "n": [9]})  # fmt: skip
    key = correlation_matrix(pairs, list("abcdef")).data[0].colorbar
    assert key.orientation == "h" and (key.xanchor, key.yanchor) == ("right", "top") and key.x == key.y == 1
    above = correlation_matrix(pairs, ["a", "b"]).data[0].colorbar
    assert above.y > 1 and above.yanchor == "bottom", "the empty half of few measures is too low for it"
