"""Model folders that lost a file or its end, WordNet and vectors cut short: made again, or named with what to do."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3

import numpy as np
import pytest

from explorer import doctor
from explorer.errors import LexiconError, ModelError
from explorer.popularity.count_cache import FILE, CountCache
from explorer.records import Generation, Request
from explorer.runs.response_cache import FILE as FILE_OF_ANSWERS
from explorer.runs.response_cache import CachedAnswers
from explorer.scoring import embedded, hf, hf_source
from explorer.variants import wordnet, wordnet_files
from explorer.variants.gloss_store import VectorStore

SMOL = "smollm2-135m-instruct"


def finding(settings, what: str) -> doctor.Finding:
    return next(found for found in doctor.examine(settings) if found.what == what)


@pytest.fixture
def copy(tiny_gpt2, tmp_path):
    """A model folder of the test's own."""
    return shutil.copytree(tiny_gpt2, tmp_path / "model")


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
@pytest.mark.parametrize("how", ["cut", "empty", "garbage", "gone"])
def test_a_damaged_model_folder_is_named_in_a_sentence(copy, settings, spoil, file, how, one_sentence):
    (copy / file).unlink() if how == "gone" else spoil(copy / file, how)
    with pytest.raises(ModelError, match="model") as caught:
        hf.load(str(copy), settings, device="cpu")
    one_sentence(str(caught.value))


def test_weights_without_their_last_bytes_are_told_with_both_sizes(copy, settings):
    weights = copy / "model.safetensors"
    size = weights.stat().st_size
    weights.write_bytes(weights.read_bytes()[:-1])
    with pytest.raises(ModelError, match=rf"has {size - 1:,} bytes, expected {size:,}: it was cut short"):
        hf.load(str(copy), settings, device="cpu")


def test_a_damaged_memory_of_hashes_is_made_anew(copy, settings, spoil):
    before = hf_source.folder_hash(copy, settings)
    for how in ("cut", "empty", "garbage"):
        spoil(next((settings.models / ".hashes").iterdir()), how)
        assert hf_source.folder_hash(copy, settings) == before


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json", embedded.ORIGIN])
@pytest.mark.parametrize("how", ["cut", "gone"])
def test_an_embedded_model_that_was_cut_is_made_again(settings, spoil, monkeypatch, file, how):
    made = []

    def convert(model, gguf, out, report):
        made.append(model.id)
        out.mkdir()
        for name in ("config.json", "tokenizer.json", "model.safetensors"):
            (out / name).write_text(json.dumps({"file": name}))

    monkeypatch.setattr(embedded, "_fetch", lambda *given: None)
    monkeypatch.setattr(embedded, "_convert", convert)
    folder = embedded.ensure(SMOL, settings)
    assert embedded.is_ready(SMOL, settings) and not embedded.is_damaged(SMOL, settings)
    (folder / file).unlink() if how == "gone" else spoil(folder / file, how)
    assert not embedded.is_ready(SMOL, settings) and embedded.is_damaged(SMOL, settings)
    told = finding(settings, "embedded models")
    assert told.status == "fault" and f"models add {SMOL}" in told.message
    assert embedded.ensure(SMOL, settings) == folder
    assert made == [SMOL, SMOL] and embedded.is_ready(SMOL, settings)


@pytest.mark.parametrize("file", ["model.safetensors", "config.json"])
def test_a_changed_byte_of_an_embedded_model_is_noticed_before_it_is_used(settings, monkeypatch, file):
    def convert(model, gguf, out, report):
        out.mkdir()
        for name in ("config.json", "tokenizer.json", "model.safetensors"):
            (out / name).write_text(json.dumps({"file": name}))

    monkeypatch.setattr(embedded, "_fetch", lambda *given: None)
    monkeypatch.setattr(embedded, "_convert", convert)
    path = hf_source.locate(SMOL, settings).path / file
    assert hf_source.locate(SMOL, settings).path == path.parent
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(ModelError, match="another SHA-256") as told:
        hf_source.locate(SMOL, settings)
    assert "Delete the folder" in str(told.value)


# WordNet


@pytest.fixture
def shelf(settings, monkeypatch):
    """A WordNet folder whose files have the right form, if not the right words."""
    monkeypatch.setattr(wordnet_files, "SIZES", {"data.noun": 400})
    monkeypatch.setattr("nltk.data.path", [])
    folder = settings.nltk_data / "corpora" / "wordnet"
    folder.mkdir(parents=True)
    for name in wordnet_files.FILES:
        (folder / name).write_text("word after word\n" * 25)
    return folder


@pytest.mark.parametrize("name", ["data.noun", "index.verb", "noun.exc"])
@pytest.mark.parametrize("how", ["cut", "empty", "gone"])
def test_a_wordnet_that_was_cut_is_not_taken_for_whole(settings, shelf, spoil, name, how):
    assert wordnet.find_wordnet(settings) == shelf
    (shelf / name).unlink() if how == "gone" else spoil(shelf / name, how)
    if how == "cut":  # in the middle of a line, as cuts are
        (shelf / name).write_bytes((shelf / name).read_bytes()[:-3])
    assert wordnet.find_wordnet(settings) is None
    told = finding(settings, "WordNet")
    assert told.status == "fault" and name in told.message and "Delete that folder" in told.message
    with pytest.raises(LexiconError, match="stay offline"):
        wordnet.open_lexicon(settings)


def test_a_wordnet_of_nonsense_is_named_with_what_to_do(settings, shelf, one_sentence):
    with pytest.raises(LexiconError, match="Delete it to fetch it again") as caught:
        wordnet.open_lexicon(settings)
    one_sentence(str(caught.value))


# Counts and vectors


class Encoder:
    name = "letters"

    def encode(self, texts):
        return np.array([[len(text), text.count("a")] for text in texts], np.float32)


@pytest.mark.parametrize("how", ["cut", "empty", "garbage", "zeros"])
def test_damaged_vectors_are_made_again(tmp_path, spoil, how):
    texts = [f"banana {number}" for number in range(3000)]
    before = VectorStore(Encoder(), tmp_path).vectors(texts)
    path = next(tmp_path.glob("*.sqlite"))
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    spoil(path, how)
    store = VectorStore(Encoder(), tmp_path)
    assert (store.vectors(texts) == before).all()
    assert (VectorStore(Encoder(), tmp_path).vectors(texts) == before).all()


def test_vectors_that_cannot_be_kept_are_one_sentence(tmp_path, one_sentence):
    (tmp_path / "file").write_text("")
    with pytest.raises(LexiconError, match="could not be used") as caught:
        VectorStore(Encoder(), tmp_path / "file")
    one_sentence(str(caught.value))


@pytest.mark.parametrize("how", ["cut", "garbage"])
def test_the_doctor_finds_damaged_counts_and_says_how_to_save_the_rest(settings, spoil, how):
    cache = CountCache(settings.counts)
    cache.store_counts("i", {(number, number + 1): (number, False) for number in range(9000)})
    cache.close()
    assert finding(settings, "stored counts").message == "sound"
    spoil(settings.counts / FILE, how)
    told = finding(settings, "stored counts")
    assert told.status == "fault" and "--repair" in told.message


# Answers that were paid for


class Endpoint:
    name = "http://127.0.0.1/v1#m"

    def __init__(self):
        self.asked: list[str] = []

    def generate(self, requests, *, on_answer, **rest):
        for place, request in enumerate(requests):
            self.asked.append(request.context)
            on_answer(place, Generation(request, f"after {request.context}", (1,), "stop"))


def test_a_damaged_line_of_kept_answers_costs_that_answer_alone(tmp_path):
    asked = [Request(f"x/{number}", 0, f"prompt {number}") for number in range(4)]
    first = Endpoint()
    before = CachedAnswers(first, tmp_path).generate(asked, max_new_tokens=3)
    assert len(first.asked) == 4
    path = tmp_path / FILE_OF_ANSWERS
    lines = path.read_bytes().splitlines()
    lines[1] = lines[1][: len(lines[1]) // 2]
    odd = [b"\xff\x00\xfe", b"[" * 100_000, b'[["a"], 1, 2, 3]', b"3", b'{"a": 1}', b'["short"]']
    path.write_bytes(b"\n".join([*lines, *odd]))
    again = Endpoint()
    assert CachedAnswers(again, tmp_path).generate(asked, max_new_tokens=3) == before
    assert again.asked == ["prompt 1"]
