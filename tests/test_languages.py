"""Languages by their codes and names."""

import pytest

from explorer import languages
from explorer.errors import UsageError


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("de", "de"), ("DE", "de"), ("de-AT", "de"), ("pt_BR", "pt"), ("deu", "de"), ("ger", "de"), ("German", "de"),
        ("cmn", "zh"), ("Chinese", "zh"), ("qxq", "qxq"), ("", ""), ("unknown", ""), ("und", ""), ("several", "mul"),
    ],
)  # fmt: skip
def test_a_language_is_read_as_people_write_it(said, code):
    assert languages.code_of(said) == code


@pytest.mark.parametrize("said", ["Klingonese talk", "c++", "d3", "python"])
def test_what_is_no_language_is_told_so(said):
    with pytest.raises(UsageError, match=r"is no language, expected a code of ISO 639 like en, de or zh"):
        languages.code_of(said)


def test_a_language_is_said_in_words_and_nobody_s_is_unknown():
    assert [languages.in_words(code) for code in ("de", "", "mul", "qxq")] == [
        "German", "unknown", "several languages", "qxq",
    ]  # fmt: skip


def test_only_listed_codes_and_names_are_known_for_sure():
    # "c" or "bash" in a column called language are programming languages; "qxq" may be a language or not.
    assert [languages.is_known(one) for one in ("de", "German", "qxq", "c", "python", "")] == [
        True, True, False, False, False, False,
    ]  # fmt: skip
