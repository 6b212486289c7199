"""`index` and `popularity` on the command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from explorer.__main__ import main
from explorer.commands import jsonl
from explorer.errors import UsageError
from explorer.popularity import brute_force, infinigram_local, manifest
from explorer.popularity.count_cache import FILE
from explorer.popularity.infinigram_server import IndexServer


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("EXPLORER_OFFLINE", raising=False)
    return tmp_path / "cache"


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path: Path, *rows: dict) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_an_index_is_built_checked_and_asked(cache_folder: Path, tmp_path: Path, capsys):
    (tmp_path / "a.txt").write_text("The cat sat. The cat ran. A dog sat. " * 20)
    assert (
        main(["index", "build", "--in", str(tmp_path / "a.txt"), "--out", "mine", "--vocabulary", "300", "--json"]) == 0
    )
    built = json.loads(capsys.readouterr().out)
    assert built["wrong"] == 0 and built["compared"] >= 50
    assert manifest.read(cache_folder / "indexes" / "mine").name == "mine"
    assert main(["index", "check", "--in", "mine", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["wrong"] == 0
    assert main(["index", "count", "--index", "mine", "cat sat", "cat flew", "--json"]) == 0
    assert [row["count"] for row in json.loads(capsys.readouterr().out)] == [20, 0]
    assert main(["index", "count", "--index", "mine", "cat sat"]) == 0
    assert "cat sat" in capsys.readouterr().out


@pytest.mark.parametrize("out", ["", "  "])
def test_an_index_without_a_name_is_refused_before_any_work(cache_folder: Path, tmp_path: Path, out, capsys):
    (tmp_path / "a.txt").write_text("The cat sat.")
    assert main(["index", "build", "--in", str(tmp_path / "a.txt"), "--out", out]) == 1
    assert "--out is empty, expected a new folder" in capsys.readouterr().err
    assert not cache_folder.exists()


def test_counts_on_the_command_line_equal_brute_force(cache_folder: Path, index_folder, ngrams, truth, tmp_path):
    source = write(tmp_path / "in.jsonl", *({"ids": list(ngram)} for ngram in ngrams))
    assert main(["index", "count", "--index", str(index_folder), "--in", source, "--out", str(tmp_path / "out")]) == 0
    assert [row["count"] for row in lines(tmp_path / "out")] == truth


def test_an_id_that_cannot_be_counted_gives_null_and_a_failing_exit(cache_folder: Path, index_folder, tmp_path):
    source = write(tmp_path / "in.jsonl", {"ids": [60000]}, {"text": "the cat"})
    assert main(["index", "count", "--index", str(index_folder), "--in", source, "--out", str(tmp_path / "out")]) == 1
    first, second = lines(tmp_path / "out")
    assert first["count"] is None and first["reason"]
    assert second["count"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["index", "count", "--index", "demo"], "What is to be counted"),
        (["index", "check"], "What is to be checked"),
        (["index", "check", "--in", "nowhere"], "does not exist"),
        (["index", "build", "--in", "nowhere", "--out", "x"], "does not exist"),
        (["index", "build", "--in", "nowhere", "--out", "demo"], "name of an index that is or was built by itself"),
        (["index", "build", "--in", "nowhere", "--out", "glassbox"], "name of an index that is or was built by itself"),
        (
            ["index", "build", "--in", "nowhere", "--out", "x", "--name", "demo"],
            "name of an index that is or was built by itself",
        ),
        (["index", "serve", "--in", "nowhere"], "does not exist"),
        (["index", "check", "--counts", "--forget", "x"], "No counts of x"),
        (["popularity", "--index", "demo", "--in", "nowhere"], "cannot be read"),
        (["popularity", "--index", "http://[#x", "--in", __file__], "not a JSON object"),
        (["corpus", "--index", "http://[#x", "the cat"], "no address of the form"),
        (["corpus", "--index", "http://a\u2100b#x", "the cat"], "no address of the form"),
        (["corpus", "--index", "demo", "--in", "nowhere"], "cannot be read"),
    ],
)
def test_wrong_usage_is_one_sentence(cache_folder: Path, capsys, arguments, message):
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) == 1


@pytest.mark.parametrize("command", ["corpus", "popularity", "index count"])
def test_half_a_character_costs_its_own_line_alone(cache_folder: Path, index_folder, tmp_path, command):
    source = write(tmp_path / "in.jsonl", {"text": "the cat"}, {"text": "half \ud83d"}, {"text": "the cat"})
    asked = [*command.split(), "--index", str(index_folder), "--in", source, "--out", str(tmp_path / "out")]
    main([*asked, "--n", "1"] if command == "popularity" else asked)
    first, half, last = lines(tmp_path / "out")
    assert "surrogate" in json.dumps(half) or "not valid Unicode" in json.dumps(half)
    assert half["text"] == "half \ud83d"
    assert {**first, "line": 0} == {**last, "line": 0} and "surrogate" not in json.dumps(first)


def test_lines_without_end_are_refused(monkeypatch):
    monkeypatch.setattr(jsonl, "MOST_BYTES", 1 << 20)
    with pytest.raises(UsageError, match="expected less"):
        jsonl.read_lines("/dev/zero", ("text",))


def test_planted_faults_are_told_on_the_command_line(cache_folder: Path, index_folder, tmp_path, capsys):
    truncated = Path(shutil.copytree(index_folder, tmp_path / "truncated"))
    with (truncated / "table.0").open("r+b") as file:
        file.truncate(1000)
    assert main(["index", "count", "--index", str(truncated), "the cat"]) == 1
    assert "table.0 has 1,000 bytes, expected" in capsys.readouterr().err
    assert main(["index", "check", "--in", str(truncated)]) == 1
    assert "damaged" in capsys.readouterr().err


def test_stored_counts_are_listed_forgotten_and_repaired(cache_folder: Path, index_folder, capsys):
    main(["index", "count", "--index", str(index_folder), "the cat"])
    capsys.readouterr()
    assert main(["index", "check", "--counts", "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert row["counts"] == 1
    assert main(["index", "check", "--counts", "--forget", row["index"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    for part in (cache_folder / "counts").iterdir():
        part.unlink()
    (cache_folder / "counts" / FILE).write_bytes(b"broken" * 1000)
    assert main(["index", "count", "--index", str(index_folder), "the cat"]) == 1
    assert "--repair" in capsys.readouterr().err
    assert main(["index", "check", "--counts"]) == 1
    assert main(["index", "check", "--counts", "--repair"]) == 0
    assert main(["index", "count", "--index", str(index_folder), "the cat"]) == 0


def test_popularity_adds_ngrams_counts_and_scores(cache_folder: Path, index_folder, tmp_path):
    source = write(
        tmp_path / "texts.jsonl", {"text": "the cat sees the dog", "id": 7}, {"text": "cat"}, {"text": "garden birds"}
    )
    out = tmp_path / "ips.jsonl"
    assert main(["popularity", "--index", str(index_folder), "--n", "2", "--in", source, "--out", str(out)]) == 0
    first, short, _ = lines(out)
    assert first["id"] == 7
    assert "".join(first["tokens"]) == " the cat sees the dog"
    assert first["ips"] == pytest.approx(sum(each["popularity"] for each in first["ngrams"]) / len(first["ngrams"]))
    assert all(each["text"] == "".join(first["tokens"][each["start"] : each["start"] + 2]) for each in first["ngrams"])
    stream = brute_force.token_stream(index_folder, "u16")
    assert all(each["count"] == brute_force.count(stream, each["ids"]) for each in first["ngrams"])
    assert short["ips"] is None and "fewer than n = 2" in short["reason"]


def test_stored_edges_rate_other_texts(cache_folder: Path, index_folder, tmp_path, capsys):
    source = write(tmp_path / "a.jsonl", {"text": "the cat sees the dog near the small green house"})
    other = write(tmp_path / "b.jsonl", {"text": "the cat"})
    where, out = ["--index", str(index_folder), "--n", "2"], tmp_path / "out.jsonl"
    assert main(["popularity", *where, "--in", source, "--out", str(out)]) == 0
    edges = f"{out}.edges.json"
    assert main(["popularity", *where, "--in", other, "--edges-from", edges, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["reference"] == "a.jsonl"
    assert shown["edges"] == json.loads(Path(edges).read_text())["values"]
    wrong = ["popularity", "--index", str(index_folder), "--n", "3", "--in", other, "--edges-from", edges]
    assert main(wrong) == 1
    assert "were made with n = 2" in capsys.readouterr().err


def test_a_lone_text_can_be_read_from_standard_input(cache_folder: Path, index_folder, capsys, monkeypatch):
    import io

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"text": "the cat sees"}\n')))
    assert main(["popularity", "--index", str(index_folder), "--n", "2", "--in", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["ips"] >= 1


def test_without_the_package_a_servers_index_still_works(
    cache_folder: Path, server: IndexServer, monkeypatch, capsys, tmp_path
):
    monkeypatch.setattr(infinigram_local, "available", lambda: False)
    (tmp_path / "a.txt").write_text("some text")
    assert main(["index", "build", "--in", str(tmp_path / "a.txt"), "--out", str(tmp_path / "x")]) == 1
    assert "pip install infini-gram" in capsys.readouterr().err
    assert main(["index", "count", "--index", f"{server.url}#small", "the cat", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["count"] > 0


def test_texts_are_looked_up_in_a_corpus(cache_folder: Path, index_folder, server: IndexServer, tmp_path, capsys):
    document = "Zoë’s café AND bar, naïve 日本 text."
    for index in (str(index_folder), f"{server.url}#small"):
        assert main(["corpus", document, "a", "--index", index, "--documents", "1", "--json"]) == 0
        whole, short = json.loads(capsys.readouterr().out)["texts"]
        assert (whole["label"], whole["covered"], whole["spans"][0]["text"]) == ("in the corpus", 1, document)
        [shown] = whole["spans"][0]["documents"]
        assert shown["text"][shown["first"] : shown["last"]].strip() == document and shown["source"] == "odd.txt:4"
        after = whole["next_after_longest_ending"]
        assert sum(one["count"] for one in after["tokens"]) == after["places"] == 1
        assert short["label"] == "unknown" and short["covered"] is None and "at least 6" in short["reason"]
        assert len(short["ngrams"]) == sum(max(0, len(short["tokens"]) - n + 1) for n in range(1, 7))
    source = write(tmp_path / "in.jsonl", {"text": document, "id": 7})
    assert main(["corpus", "--in", source, "--out", str(tmp_path / "out"), "--index", str(index_folder)]) == 0
    assert [(row["id"], row["label"]) for row in lines(tmp_path / "out")] == [(7, "in the corpus")]
    assert main(["corpus", document, "--index", str(index_folder), "--documents", "1"]) == 0
    assert "in the corpus, spans cover 100%" in capsys.readouterr().out


def test_a_look_up_that_cannot_be_meant_is_refused(cache_folder: Path, index_folder, capsys):
    assert main(["corpus", "--index", str(index_folder)]) != 0
    assert "no text" in capsys.readouterr().err
    assert main(["corpus", "a", "--index", str(index_folder), "--longest", "11"]) != 0
    assert "--longest got 11, expected a number up to 10" in capsys.readouterr().err
