"""What is no JSON is told in our words."""

import pytest

from explorer import plain_json

BROKEN = {
    "[" * 100_000: "nested too deeply",
    "9" * 5_000: "number of thousands of digits",
    '{"a": ': "at line 1, column 7",
    b"\xff\xfe\xff": "expected",
}


@pytest.mark.parametrize("data", BROKEN, ids=range(len(BROKEN)))
def test_what_is_no_json_is_told_in_our_words(data):
    with pytest.raises(ValueError, match=BROKEN[data]) as caught:
        plain_json.read(data)
    assert not any(word in str(caught.value) for word in ("recursion", "sys.", "codec"))


def test_json_is_read_as_it_is():
    assert plain_json.read('{"a": [1, 2.5, null]}') == plain_json.read(b'{"a": [1, 2.5, null]}')


@pytest.mark.parametrize("text", ["[" * 100_000, '{"rows": ' + "9" * 5_000 + "}"], ids=["deep", "digits"])
@pytest.mark.parametrize("what", ["table", "log", "spec", "progress"])
def test_no_refusal_holds_the_words_of_the_parser(what, text, tmp_path, capsys):
    import zipfile

    from explorer.__main__ import main

    path = tmp_path / ("x.zip" if what in ("spec", "progress") else "x.json")
    if what in ("spec", "progress"):
        spec = '{"study":"accuracy","version":2,"model":"m","benchmark":"b","suites":[],"uses":[]}'
        with zipfile.ZipFile(path, "w") as out:
            out.writestr("spec.json", text if what == "spec" else spec)
            out.writestr("progress.json", text)
    else:
        path.write_text(text)
    command = {"table": "import", "log": "import-log"}.get(what, "import-run")
    more = ["--name", "mine"] if what == "table" else []
    assert main([command, str(path), *more, "--cache", str(tmp_path / "cache")]) == 1
    said = capsys.readouterr().err
    assert "recursion" not in said and "sys." not in said and "Traceback" not in said and said.strip(), said
