"""Building, checking and taking over indexes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from explorer.errors import CountError
from explorer.popularity import brute_force, index, infinigram_local, manifest
from explorer.popularity import tokenizer as tokenizers
from explorer.popularity.documents import SourceDocument
from explorer.popularity.infinigram_local import Engine


def documents(*texts: str):
    return lambda: [SourceDocument(text, "given.txt", i) for i, text in enumerate(texts)]


def test_a_built_index_says_what_it_is(index_folder: Path):
    made = manifest.read(index_folder)
    stream = brute_force.token_stream(index_folder, "u16")
    assert made.documents == 40
    assert made.tokens == (stream != 0xFFFF).sum()
    assert made.compared >= 50
    assert made.shards[0].closed and stream[-1] == 0xFFFF
    assert set(made.sizes) == {"tokenized.0", "table.0", "offset.0", "metadata.0", "metaoff.0"}


def test_the_documents_stand_in_it_as_they_are(index_folder: Path):
    stream = brute_force.token_stream(index_folder, "u16")
    last = stream[np.flatnonzero(stream == 0xFFFF)[-2] + 1 : -1]
    text = tokenizers.load(index_folder).join(last.tolist())
    assert text == "Zoë’s café AND bar, naïve 日本 text.\n\nÜber the cat sees the dog."


def test_checking_an_index_compares_counts(index_folder: Path):
    found = index.check(index_folder, compared=60, seed=5)
    assert found.compared >= 50
    assert found.wrong == ()


def test_checking_sees_a_single_changed_byte(index_folder: Path, tmp_path: Path):
    copy = Path(shutil.copytree(index_folder, tmp_path / "copy"))
    data = bytearray((copy / "table.0").read_bytes())
    data[1000] ^= 1
    (copy / "table.0").write_bytes(data)
    with pytest.raises(CountError, match="its content has changed"):
        index.check(copy)


def test_a_table_that_counts_wrongly_is_never_marked_usable(tmp_path: Path, monkeypatch):
    write = index._write_table

    def write_wrongly(folder: Path, cpus: int) -> None:
        write(folder, cpus)
        size = (folder / "tokenized.0").stat().st_size
        table = (folder / "table.0").read_bytes()
        width = manifest.pointer_width(size)
        (folder / "table.0").write_bytes(table[: len(table) // 2 // width * width] * 2 + table[:width] * 3)
        with (folder / "table.0").open("r+b") as file:
            file.truncate(len(table))

    monkeypatch.setattr(index, "_write_table", write_wrongly)
    with pytest.raises(CountError, match="differ from brute force"):
        index.build(documents("the cat sat on the mat " * 40, "a dog"), tmp_path / "wrong", vocabulary=300)
    assert list(tmp_path.iterdir()) == []


def test_the_same_documents_give_the_same_index(tmp_path: Path):
    made = [
        index.build(documents("the cat sat", "the dog sat"), tmp_path / name, name="same", vocabulary=300)
        for name in ("one", "two")
    ]
    assert made[0] == made[1]
    assert made[0].key == made[1].key


def test_a_folder_that_exists_is_left_alone(tmp_path: Path):
    (tmp_path / "there").mkdir()
    with pytest.raises(CountError, match="exists already"):
        index.build(documents("a b c"), tmp_path / "there")


@pytest.mark.parametrize("texts", [(), ("",)])
def test_an_empty_corpus_is_told_plainly_and_leaves_nothing(tmp_path: Path, texts):
    with pytest.raises(CountError, match="no text"):
        index.build(documents(*texts), tmp_path / "empty", vocabulary=300)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("texts", [("a",), ("ab", "b"), ("the cat",) * 5])
def test_tiny_corpora_count_rightly(tmp_path: Path, texts):
    made = index.build(documents(*texts), tmp_path / "tiny", vocabulary=300)
    assert made.documents == len(texts)
    assert index.check(tmp_path / "tiny").wrong == ()


def test_several_jobs_give_the_same_counts_as_one(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(index, "BYTES_A_JOB", 400_000)
    random = np.random.default_rng(4)
    words = ["cat", "dog", "bird", "sees", "the"]
    text = " ".join(random.choice(words, size=420_000))
    own = tokenizers.train([" ".join(words * 20)], 300)
    index.build(documents(text), tmp_path / "parts", tokenizer=own, cpus=2)
    assert index.check(tmp_path / "parts", compared=200).wrong == ()


def test_a_users_tokenizer_is_stored_beside_the_index(tmp_path: Path):
    own = tokenizers.train(["cats and dogs"] * 3, 270)
    made = index.build(documents("cats and dogs", "dogs"), tmp_path / "own", tokenizer=own)
    assert made.tokenizer_hash == own.hash
    assert tokenizers.load(tmp_path / "own").hash == own.hash
    assert made.vocabulary == own.highest_id + 1


def test_a_tokenizer_with_too_many_ids_is_refused(tmp_path: Path):
    own = tokenizers.train(["cats and dogs"] * 3, 270)
    content = json.loads(own.data)
    content["model"]["vocab"]["cats"] = 65_534
    large = tokenizers.IndexTokenizer(json.dumps(content), "large")
    with pytest.raises(CountError, match=r"ids up to 65,534.*smaller tokenizer"):
        index.build(documents("cats"), tmp_path / "large", tokenizer=large)


def test_without_the_package_building_says_what_to_install(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(infinigram_local, "available", lambda: False)
    with pytest.raises(CountError, match="pip install infini-gram"):
        index.build(documents("a b c"), tmp_path / "none")


def test_a_failing_step_is_told_with_what_it_said(tmp_path: Path, monkeypatch):
    def failing(folder: Path, cpus: int) -> None:
        index._run_side_by_side([["make-part", "--data-file", folder / "no such file", "--parts-dir", folder]])

    monkeypatch.setattr(index, "_write_table", failing)
    with pytest.raises(CountError, match="make-part ended with code"):
        index.build(documents("a b c"), tmp_path / "failing", vocabulary=300)


def test_what_a_killed_build_left_behind_is_removed_by_the_next(tmp_path: Path):
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom explorer.popularity import index\n"
        "from explorer.popularity.documents import SourceDocument\n"
        "def documents():\n    print('building', flush=True)\n    time.sleep(600)\n"
        "    yield SourceDocument('a b', 'x', 0)\n"
        "index.build(documents, Path(sys.argv[1]))\n"
    )
    out = tmp_path / "mine"
    builder = subprocess.Popen([sys.executable, "-c", code, str(out)], stdout=subprocess.PIPE, text=True)
    assert builder.stdout is not None and builder.stdout.readline() == "building\n"
    with pytest.raises(CountError, match="being built by another process"):
        index.build(documents("cats and dogs"), out, vocabulary=300)
    builder.kill()
    builder.wait()
    assert (tmp_path / ".mine.building").is_dir()
    said = []
    index.build(documents("cats and dogs"), out, vocabulary=300, progress=lambda what, done, total: said.append(what))
    assert "removing what a killed build left behind" in said
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


# An index made elsewhere


@pytest.fixture
def foreign(index_folder: Path, tmp_path: Path) -> Path:
    """The index as another program would leave it: no manifest, no tokenizer, no closing separator."""
    copy = Path(shutil.copytree(index_folder, tmp_path / "foreign"))
    for name in ("manifest.json", "tokenizer.json", "metadata.0", "metaoff.0", "table.0"):
        (copy / name).unlink()
    data = (copy / "tokenized.0").read_bytes()
    (copy / "tokenized.0").write_bytes(data[:-2])
    index._write_table(copy, 1)
    return copy


def test_an_index_without_a_manifest_is_not_used(foreign: Path):
    with pytest.raises(CountError, match="--adopt"):
        manifest.read(foreign)


def test_a_foreign_index_is_taken_over_after_its_counts_were_compared(foreign: Path, index_folder: Path):
    made = index.adopt(foreign, tokenizers.load(index_folder), "u16", name="foreign")
    assert made.tokens == manifest.read(index_folder).tokens
    assert made.documents == 40
    assert not made.shards[0].closed
    assert index.check(foreign).wrong == ()


def test_taking_over_refuses_the_wrong_token_width(foreign: Path, index_folder: Path):
    with pytest.raises(CountError, match=r"are no whole u8 tokens|its tokens are not u8"):
        index.adopt(foreign, tokenizers.load(index_folder), "u8")


def test_taking_over_refuses_a_tokenizer_with_too_few_ids(foreign: Path):
    with pytest.raises(CountError, match="not the tokenizer of this index"):
        index.adopt(foreign, tokenizers.train(["a b"], 257), "u16")


def test_taking_over_refuses_a_folder_that_is_no_index(tmp_path: Path, index_folder: Path):
    with pytest.raises(CountError, match="no infini-gram index"):
        index.adopt(tmp_path, tokenizers.load(index_folder), "u16")


# Next-token distributions need the closing separator


def test_next_tokens_of_a_prefix_that_ends_the_corpus_are_right(tmp_path: Path):
    index.build(documents("cat dog\ncat dog\nbird cat\n", "cat\n"), tmp_path / "ending", vocabulary=300)
    made = manifest.read(tmp_path / "ending")
    engine = Engine(tmp_path / "ending", "u16", made.vocabulary)
    newline = tokenizers.load(tmp_path / "ending").encode_verbatim(["\n"])[0]
    answer = engine.call("ntd", prompt_ids=list(newline), max_support=1000)
    engine.close()
    stream = brute_force.token_stream(tmp_path / "ending", "u16").astype(int)
    following = stream[1:][stream[:-1] == newline[0]]
    truth = {int(each): int((following == each).sum()) for each in following}
    truth[made.vocabulary] = truth.pop(0xFFFF)  # the end of a document
    assert {int(key): value["cont_cnt"] for key, value in answer["result_by_token_id"].items()} == truth
