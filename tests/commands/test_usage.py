"""A wrong command line is one line that says what was found, what was expected and what to do."""

import pytest

from explorer.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "COMMAND is missing"),
        (["nonsense"], "COMMAND is 'nonsense', expected one of"),
        (["export"], "ID, --format, --out is missing"),
        (["export", "x", "--format", "docx", "--out", "y"], "--format is 'docx', expected one of"),
        (["export", "x", "--format"], "--format has no value"),
        (["runs", "--colour"], "--colour is not known here"),
        (["run", "accuracy", "--benchmark", "blimp", "--limit", "many"], "--limit is 'many', expected a whole number"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(capsys, arguments, said):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    out, err = capsys.readouterr()
    assert stop.value.code == 2 and out == ""
    assert err.startswith("error: ") and err.count("\n") == 1
    assert said in err and "--help` tells what it takes" in err
