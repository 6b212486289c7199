import pytest

from explorer.ui import show


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
