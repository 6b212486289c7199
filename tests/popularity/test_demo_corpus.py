"""The demonstration index: the same bytes on every machine, or none."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from explorer import settings as settings_module
from explorer.errors import CountError
from explorer.popularity import demo_corpus, demo_tokenizer, documents, index, indexes, manifest
from explorer.popularity.counters import open_counter
from explorer.settings import ROOT, Settings
from explorer.variants import wordnet, wordnet_files

# What shipped runs were counted in. A change here means that all of them are counted anew.
CORPUS = "24f97c7e0a3e13a47d23c7bbd207afe19e423ca73487ef2e8b5912e5ebf41df4"
TOKENIZER = "dd4b6115a938d3abc15d513020b732a0268261f91f753b9c90b76d01d97ba2df"
INDEX = "demo-94f1f3912ca8"
TOKENS = 1_989_085
DOCUMENTS = 307

GLOSS = '00001740 03 n 01 entity 0 000 | a thing that is; "the thing was old"; "no thing at all"\n'


def shelve(settings: Settings, gloss: str = GLOSS) -> Path:
    """A WordNet folder in the cache whose nouns have one entry."""
    folder = settings.nltk_data / "corpora" / "wordnet"
    folder.mkdir(parents=True, exist_ok=True)
    for name in wordnet_files.DATA_SHA256:
        (folder / name).write_text("  1 This is a license.\n" + (gloss if name == "data.noun" else ""), newline="\n")
    return folder


@pytest.fixture
def small(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A WordNet of one entry, taken for the real one, so that the index is built at once."""
    monkeypatch.setattr("nltk.data.path", [])
    folder = shelve(settings)
    hashes = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in wordnet_files.DATA_SHA256}
    monkeypatch.setattr(wordnet_files, "DATA_SHA256", hashes)
    corpus = demo_corpus.corpus_hash(demo_corpus.documents(settings))
    monkeypatch.setattr(demo_corpus, "DEMO_INDEX", demo_corpus.index_id(corpus, TOKENIZER))
    return settings


@pytest.fixture(scope="module")
def real(shared_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A cache of the test's own, in which the real WordNet lies."""
    own = settings_module.read(cache=tmp_path_factory.mktemp("demo") / "cache")
    folder = own.nltk_data / "corpora" / "wordnet"
    folder.mkdir(parents=True)
    for name, content in wordnet.data_files(shared_settings).items():
        (folder / name).write_bytes(content)
    return own


def test_the_tokenizer_is_the_same_bytes_with_every_version_of_its_library():
    loaded = demo_tokenizer.load()
    assert loaded.hash == TOKENIZER
    assert loaded.size == demo_tokenizer.VOCABULARY
    assert loaded.join(loaded.encode(["Zoë’s café → 日本"])[0]) == " Zoë’s café → 日本"
    assert indexes.DEMO_INDEX == INDEX == demo_corpus.index_id(CORPUS, TOKENIZER)


@pytest.mark.slow
def test_corpus_index_and_token_count_are_those_that_shipped_runs_were_counted_in(real):
    assert demo_corpus.corpus_hash(demo_corpus.documents(real)) == CORPUS
    folder = demo_corpus.ensure(real)
    made = manifest.read(folder)
    assert (made.key, made.tokens, made.documents) == (INDEX, TOKENS, DOCUMENTS)
    assert open_counter("demo", real).index == INDEX
    assert index.check(folder, compared=60).wrong == ()


PRINTED = """
import os, sys
listed = os.listdir
os.listdir = lambda *given: sorted(listed(*given), reverse=True)
from explorer import settings
from explorer.popularity import demo_corpus, demo_tokenizer, manifest
found = settings.read(cache=sys.argv[1])
print(demo_corpus.corpus_hash(demo_corpus.documents(found)), demo_tokenizer.load().hash)
made = manifest.read(demo_corpus.ensure(found))
print(made.key, made.tokens, made.sha256["tokenized.0"])
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "conditions",
    [
        {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "Pacific/Kiritimati"},
        {"PYTHONHASHSEED": "77", "LC_ALL": "tr_TR.UTF-8", "TZ": "America/St_Johns", "PYTHONUTF8": "0", "HOME": "/"},
    ],
    ids=["C", "Turkish"],
)
def test_another_process_place_and_locale_make_the_same_index(real, tmp_path, conditions):
    own = tmp_path / "cache"
    own.mkdir()
    (own / "nltk_data").symlink_to(real.nltk_data)
    environment = {**os.environ, **conditions, "PYTHONPATH": str(ROOT), "EXPLORER_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", PRINTED, str(own)], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    corpus, tokenizer, made, tokens, stream = done.stdout.split()
    assert (corpus, tokenizer, made, int(tokens)) == (CORPUS, TOKENIZER, INDEX, TOKENS)
    assert stream == manifest.read(demo_corpus.ensure(real)).sha256["tokenized.0"]


def test_nothing_of_the_corpus_comes_from_installed_packages(small):
    kinds = {each.path.split("/")[0] for each in demo_corpus.documents(small)}
    assert kinds == {"wordnet", "grammar", "starter"}


def test_definitions_and_examples_are_taken_from_wordnet(small):
    texts = [each.text for each in demo_corpus.documents(small) if each.path.startswith("wordnet/")]
    assert texts == [" a thing that is\n the thing was old\n no thing at all"]


def test_neither_member_of_a_starter_pair_and_no_candidate_answer_is_in_the_corpus(small):
    lines = {line.strip() for each in demo_corpus.documents(small) for line in each.text.split("\n")}
    for name, fields in {"starter_pairs": ("good", "bad"), "starter_causes": (), "starter_physics": ()}.items():
        rows = [json.loads(line) for line in (demo_corpus.STARTER / f"{name}.jsonl").read_text().splitlines()]
        answers = {text for row in rows for text in (*(row[field] for field in fields), *row.get("options", ()))}
        assert not answers & lines, name


def test_every_line_begins_with_a_blank_as_words_in_running_text_do(small):
    for document in demo_corpus.documents(small):
        assert all(line.startswith(" ") for line in document.text.split("\n"))


def test_the_first_visit_builds_it_and_the_second_finds_it(small):
    steps: list[str] = []
    counter = open_counter("demo", small, progress=lambda what, done, total: steps.append(what))
    assert steps
    steps.clear()
    again = open_counter("demo", small, progress=lambda what, done, total: steps.append(what))
    assert not steps
    assert counter.index == again.index
    assert counter.count(counter.encode(["the"]))[0].count > 100
    assert indexes.is_pretraining_data(counter.index, "gemma-3-270m") is False
    assert "not the pre-training data" in manifest.read(small.indexes / "demo").note


def test_an_index_of_another_corpus_or_with_a_damaged_file_is_replaced_quietly(small):
    small.indexes.mkdir(parents=True)
    other = [documents.SourceDocument(" The text of some package.", "packages/some", 0)]
    index.build(lambda: other, small.indexes / "demo", name="demo", vocabulary=300)
    assert manifest.read(small.indexes / "demo").key != demo_corpus.DEMO_INDEX
    folder = demo_corpus.ensure(small)
    assert manifest.read(folder).key == demo_corpus.DEMO_INDEX
    (folder / "table.0").write_bytes(b"")
    demo_corpus.ensure(small)
    manifest.check_sizes(folder, manifest.read(folder))


def test_another_wordnet_of_the_same_size_is_passed_over_and_not_counted_in(small):
    shelve(small, GLOSS.replace("old", "new"))
    with pytest.raises(CountError, match="No WordNet folder here has the bytes"):
        demo_corpus.ensure(small)
    assert not (small.indexes / "demo").exists()


def test_a_right_wordnet_behind_a_wrong_one_is_found(small, tmp_path, monkeypatch):
    shelf = tmp_path / "nltk_data" / "corpora" / "wordnet"
    shelf.parent.mkdir(parents=True)
    (small.nltk_data / "corpora" / "wordnet").rename(shelf)
    shelve(small, GLOSS.replace("old", "new"))
    monkeypatch.setattr("nltk.data.path", [str(tmp_path / "nltk_data")])
    assert manifest.read(demo_corpus.ensure(small)).key == demo_corpus.DEMO_INDEX


def test_a_changed_text_of_our_own_gives_no_index_rather_than_another_under_its_name(small, tmp_path, monkeypatch):
    for path in demo_corpus.STARTER.glob("*.jsonl"):
        (tmp_path / path.name).write_text(path.read_text().replace("bread", "loaf"))
    monkeypatch.setattr(demo_corpus, "STARTER", tmp_path)
    with pytest.raises(CountError, match="a file of explorer/ was changed"):
        demo_corpus.ensure(small)


def test_a_cache_that_cannot_be_written_is_one_sentence(small):
    small.indexes.write_text("a file where a folder should be")
    with pytest.raises(CountError, match="cannot be written"):
        demo_corpus.ensure(small)


def test_indexes_made_before_they_had_an_identity_keep_their_key(tmp_path):
    texts = [documents.SourceDocument(" A small corpus.", "a", 0)]
    made = index.build(lambda: texts, tmp_path / "own", vocabulary=300)
    content = json.loads((tmp_path / "own" / manifest.FILE).read_text())
    content.pop("identity")
    (tmp_path / "own" / manifest.FILE).write_text(json.dumps(content))
    assert manifest.read(tmp_path / "own").key == made.key
    assert made.key.startswith("own-")
