"""Where answers go: whole files, links kept, devices left as they are, strict JSON."""

from __future__ import annotations

import json
import os

import pytest

from explorer.commands import output
from explorer.errors import UsageError


def test_a_link_stays_a_link_and_its_file_gets_the_text(tmp_path):
    real = tmp_path / "real.jsonl"
    real.write_text("keep")
    link = tmp_path / "link.jsonl"
    link.symlink_to(real)
    output.write_text(output.check_writable(link), "new\n")
    assert link.is_symlink() and real.read_text() == "new\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.jsonl", "real.jsonl"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path):
    import threading

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    output.write_text(output.check_writable(pipe), "through\n")
    reader.join(timeout=10)
    assert read == ["through\n"] and pipe.is_fifo()


def test_a_folder_is_refused_before_the_work(tmp_path):
    with pytest.raises(UsageError, match="cannot be written"):
        output.check_writable(tmp_path)
    with pytest.raises(UsageError, match="cannot be written"):
        (tmp_path / "file").touch()
        output.check_writable(tmp_path / "file" / "below.jsonl")


def test_a_line_is_strict_json_whatever_it_holds():
    row = {"x": float("nan"), "deep": [{"y": float("inf")}], "half": "\ud800", "word": "naïve"}
    line = output.json_line(row)
    line.encode("utf-8")
    assert json.loads(line) == {"x": None, "deep": [{"y": None}], "half": "\ud800", "word": "naïve"}
    assert "naïve" in output.json_line({"word": "naïve"})


def test_a_text_of_a_megabyte_is_cut_in_a_terminal_s_table(capsys):
    from explorer.commands import common

    common.print_rows([{"name": "x" * 1_000_000, "n": 1}, {"name": "two\nlines", "n": 2}], ["name", "n"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and max(map(len, lines)) < 250 and "two lines" in lines[2]
