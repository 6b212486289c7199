"""No lens takes another down: what cannot be had is a quiet line in its place, and the rest goes on."""

from __future__ import annotations

import dataclasses
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from explorer import packaged
from explorer import settings as settings_module
from explorer.glassbox import corpus
from explorer.popularity import count_cache, counters, infinigram_local, manifest
from explorer.popularity.documents import SourceDocument
from explorer.popularity.ips import DecileEdges
from explorer.records import RunSpec
from explorer.resources import Resources
from explorer.results import store
from explorer.rows.builders import instance_row
from explorer.runs.folder import RunFolder
from explorer.settings import Settings
from explorer.ui import resources as app_resources
from explorer.ui.cockpit import effects, gauges
from explorer.ui.icl import lab as icl_lab
from explorer.ui.instance import ngram_rating
from explorer.ui.layout import PAGES
from explorer.variants import tagging, wordnet, wordnet_files
from explorer.variants.lexicon import Lemma, Sense
from tests.ui.conftest import strip_of

PAIR = "starter_pairs/anaphor_gender/kin-01-1"  # "My grandmother taught herself to knit last winter."
OWN = "The old teacher visited her grandmother at home."
SWAP = "grandmother.n:granny"
MARGIN = "Margin (nats)"
GLOSS = '00001740 03 n 01 entity 0 000 | a thing that is; "the thing was old"\n'


class OneWord:
    """A lexicon that knows a synonym of "grandmother" and nothing else."""

    name = "one word"

    def senses(self, lemma, pos):
        lemmas = (Lemma("grandmother"), Lemma("granny"))
        return (Sense("grandmother.n.01", "n", 1, lemmas[0], lemmas, "a kin"),) if lemma == "grandmother" else ()

    def has(self, expression):
        return False

    def related(self, synset):
        return ()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_index: Path) -> Settings:
    """A cache of the test's own with a small index."""
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("nltk.data.path", [])
    settings = settings_module.read()
    shutil.copytree(small_index, settings.indexes / "small")
    return settings


@pytest.fixture
def words(here: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """WordNet stands on this machine: a lexicon of one word, and files of other bytes than the known ones."""
    monkeypatch.setattr(wordnet, "find_wordnet", lambda settings: settings.nltk_data)
    app_resources.resources().once(("lexicon",), OneWord)


def keep_run(settings: Settings, index_name: str, key: str, benchmark: str = "starter_pairs", detail: str = "") -> str:
    """A stored popularity run with decile edges, counted in the index of this name and key."""
    edges = DecileEdges((0.0, 0, 0, 0, 1, 1, 2, 3, 5), "all options of 24 pairs", key, 2, "running", 40, 0)
    spec = RunSpec("popularity", 1, "gemma-3-270m", benchmark, seed=len(key), settings={"index": index_name, "n": 2})
    folder = RunFolder.create(settings.runs, spec)
    some = Resources(settings).instances("starter_pairs").instances[:1]
    folder.write_part(0, 0, {"instances": [instance_row(one, place) for place, one in enumerate(some)]})
    rows = edges.to_rows()
    for row in rows:
        row["detail"] = detail or row["detail"] if row["detail"] else row["detail"]
    folder.write_findings(rows)
    folder.write_progress(status="complete", total=1)
    store.ingest_runs(settings, [folder])
    return folder.run_id


# Each makes popularity something that cannot be had, and leaves a stored run that asks for it.


def an_index_of_earlier_versions(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_run(settings, "demo", "demo-94f1f3912ca8")


def no_such_index(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_run(settings, "gone", "gone-0123456789ab", "starter_causes")
    keep_run(settings, "gone", "gone-0123456789ab")


def an_index_half_built(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_run(settings, "small", manifest.read(settings.indexes / "small").key)
    (settings.indexes / "small" / manifest.FILE).unlink()


def an_index_rebuilt_from_other_texts(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_run(settings, "small", "small-0123456789ab")


def a_damaged_index(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_run(settings, "small", manifest.read(settings.indexes / "small").key)
    (settings.indexes / "small" / "table.0").write_bytes(b"short")


def a_damaged_manifest(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_run(settings, "small", manifest.read(settings.indexes / "small").key)
    (settings.indexes / "small" / manifest.FILE).write_text("{")


def a_damaged_count_cache(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_run(settings, "small", manifest.read(settings.indexes / "small").key)
    settings.counts.mkdir()
    (settings.counts / count_cache.FILE).write_bytes(b"no database at all, " * 99)


def no_engine(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_run(settings, "small", manifest.read(settings.indexes / "small").key)
    monkeypatch.setattr(infinigram_local, "available", lambda: False)


def a_service_without_a_network(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_run(settings, "v4_piletrain_llama", "v4_piletrain_llama")


def a_service_that_is_down(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXPLORER_OFFLINE", "0")
    keep_run(settings, "http://127.0.0.1:9#x", "http://127.0.0.1:9#x")


def damaged_deciles(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_run(settings, "small", manifest.read(settings.indexes / "small").key, detail='{"values": [1]}')


WAYS = (
    an_index_of_earlier_versions,
    no_such_index,
    an_index_half_built,
    an_index_rebuilt_from_other_texts,
    a_damaged_index,
    a_damaged_manifest,
    a_damaged_count_cache,
    no_engine,
    a_service_without_a_network,
    a_service_that_is_down,
    damaged_deciles,
)


@pytest.fixture(params=WAYS, ids=[way.__name__ for way in WAYS])
def without_popularity(request, here: Settings, words: None, monkeypatch: pytest.MonkeyPatch):
    """Popularity cannot be had, in one of many ways."""
    held = request.param(here, monkeypatch)
    app_resources.resources().once(("lexicon",), OneWord)  # a changed environment makes new resources
    yield request.param
    if held:
        held.release()


def opened(page: str, model: Path | str, **choices: str) -> AppTest:
    """A page in which the model has been asked to score."""
    app = AppTest.from_file(str(settings_module.ROOT / "pages" / f"{page}.py"), default_timeout=120)
    for name, value in {"model": str(model), "benchmark": "starter_pairs", **choices}.items():
        app.query_params[name] = value
    app.session_state["score:asked"] = str(model)
    app.session_state["cockpit:indexes"] = ("http://127.0.0.1:9#x", "v4_piletrain_llama")
    return app.run()


def quiet(app: AppTest) -> list[str]:
    """The small remarks of a page."""
    bodies = [element.proto.body for element in app.html]
    return [re.sub("<[^>]+>", "", body) for body in bodies if "lx-note" in body and "<style>" not in body]


def cells(app: AppTest) -> list[dict]:
    """Every cell of the strip."""
    blocks = strip_of(app)["blocks"]
    return [cell for block in blocks for column in block["columns"] for cell in column["cells"] if cell]


def synonyms(app: AppTest) -> set[str]:
    """The words that the panel of the open word offers."""
    return {one["lemma"] for sense in strip_of(app)["panel"]["senses"] for one in sense["synonyms"]}


def alike(app: AppTest) -> set[str]:
    """The measures that compare the changed text with the original."""
    lines = [line for line in quiet(app) if line.startswith("Against the original text")]
    return {name for name in ("BERTScore", "ROUGE-L") if lines and name in lines[0]}


def whole(app: AppTest) -> AppTest:
    assert not app.exception
    assert [error.value for error in app.error] == []
    return app


def labels(app: AppTest) -> set[str]:
    return {metric.label for metric in app.metric}


@pytest.mark.parametrize(
    "choices", [{"instance": PAIR}, {"what": "A text of my own", "text": OWN}], ids=["pair", "own"]
)
def test_the_swap_lab_goes_on_without_popularity(without_popularity, tiny_gpt2, choices):
    app = whole(opened("perturbation", tiny_gpt2, swaps=SWAP, word="grandmother.n", **choices))
    scored = {MARGIN} if "instance" in choices else {"log P, text"}
    assert scored <= labels(app)
    assert alike(app) == {"BERTScore", "ROUGE-L"}
    assert gauges.IPS not in labels(app)
    assert any("lx-swapped" in cell["kinds"] for cell in cells(app))
    assert "granny" in synonyms(app)
    assert len([line for line in quiet(app) if "Popularity cannot be shown" in line]) == 1


def test_an_instance_and_its_strip_go_on_without_popularity(without_popularity, tiny_gpt2):
    app = whole(opened("instance", tiny_gpt2, instance=PAIR))
    assert any("lx-verdict" in element.proto.body for element in app.html)
    assert strip_of(app)["blocks"]
    assert len([line for line in quiet(app) if "Popularity cannot be shown" in line]) == 1


@pytest.mark.parametrize("page", PAGES, ids=[page.address for page in PAGES])
@pytest.mark.parametrize(
    "way", [an_index_of_earlier_versions, no_engine, damaged_deciles], ids=lambda way: way.__name__
)
def test_every_page_comes_up_without_popularity(here, words, monkeypatch, tiny_gpt2, page, way):
    way(here, monkeypatch)
    whole(opened(Path(page.path).stem, tiny_gpt2))


def test_an_index_that_failed_is_not_asked_again_at_every_click(here, words, monkeypatch, tiny_gpt2):
    monkeypatch.setenv("EXPLORER_OFFLINE", "0")
    monkeypatch.setenv("EXPLORER_INFINIGRAM_URL", "http://127.0.0.1:9")  # one's own, which no question is asked about
    keep_run(here, "http://127.0.0.1:9#x", "http://127.0.0.1:9#x")
    app_resources.resources().once(("lexicon",), OneWord)
    tried: list[str] = []
    seen = ngram_rating._rate
    monkeypatch.setattr(ngram_rating, "_rate", lambda *asked: (tried.append("once"), seen(*asked))[1])
    app = whole(opened("perturbation", tiny_gpt2, instance=PAIR))
    app.run()
    assert tried == ["once"]
    again = next(button for button in app.button if button.label == "Try again")
    whole(again.click().run())
    assert tried == ["once", "once"]


def test_stored_deciles_of_an_index_of_earlier_versions_give_way_to_those_counted_now(
    here, words, monkeypatch, tiny_gpt2
):
    documents = [SourceDocument(f" {GLOSS}", "glassbox", 0)]
    monkeypatch.setattr(corpus, "build", lambda settings: documents)
    monkeypatch.setattr(corpus, "CORPUS", corpus.corpus_hash(documents))
    keep_run(here, "demo", "demo-94f1f3912ca8")
    for choices in ({"instance": PAIR}, {"what": "A text of my own", "text": OWN}):
        app = whole(opened("perturbation", tiny_gpt2, swaps=SWAP, **choices))
        assert gauges.IPS in labels(app)
        help_text = next(metric.help for metric in app.metric if metric.label == gauges.IPS)
        assert "Deciles of 2,800 instances of Starter pairs" in help_text
    app = whole(opened("instance", tiny_gpt2, instance=PAIR, layer="Popularity"))
    assert any(cell["hue"] == "popular" and cell["number"] != "–" for cell in cells(app))


def test_a_stored_run_that_fits_rates_where_the_newest_does_not(here, words, tiny_gpt2):
    fits = keep_run(here, "small", manifest.read(here.indexes / "small").key)
    keep_run(here, "small", "small-0123")
    assert list(ngram_rating.stored("starter_pairs", str(tiny_gpt2)).sources) == [fits]
    assert gauges.IPS in labels(whole(opened("perturbation", tiny_gpt2, instance=PAIR)))


# The other way round: what else may be missing.


@pytest.fixture
def popular(here: Settings) -> None:
    keep_run(here, "small", manifest.read(here.indexes / "small").key)


def test_a_model_that_fails_leaves_swaps_and_popularity(popular, words, tiny_gpt2, tmp_path):
    broken = Path(shutil.copytree(tiny_gpt2, tmp_path / "broken"))
    (broken / "model.safetensors").write_bytes(b"short")
    app = opened("perturbation", broken, instance=PAIR, swaps=SWAP, word="grandmother.n")
    assert not app.exception
    assert len(app.error) == 1  # the score that was asked for
    assert gauges.IPS in labels(app) and alike(app) == {"BERTScore", "ROUGE-L"}
    assert "granny" in synonyms(app)


def test_a_missing_wordnet_leaves_scores_and_popularity(popular, tiny_gpt2):
    app = whole(opened("perturbation", tiny_gpt2, instance=PAIR))
    assert {MARGIN, gauges.IPS} <= labels(app)
    assert any("is not on this machine yet" in line for line in quiet(app))
    app.button(key="lab:fetch:now").click()
    app = whole(app.run())
    assert {MARGIN, gauges.IPS} <= labels(app)
    assert any("Words to swap cannot be shown" in line for line in quiet(app))


def test_a_damaged_wordnet_leaves_scores_and_popularity(here, popular, tiny_gpt2):
    folder = here.nltk_data / "corpora" / "wordnet"
    folder.mkdir(parents=True)
    for name in wordnet_files.FILES:
        (folder / name).write_text("half a li")
    app = whole(opened("perturbation", tiny_gpt2, instance=PAIR))
    assert {MARGIN, gauges.IPS} <= labels(app)


def test_what_a_synonym_would_do_is_what_it_does(popular, words, tiny_gpt2):
    app = whole(opened("perturbation", tiny_gpt2, instance=PAIR, word="grandmother.n"))
    assert strip_of(app)["panel"]["preview"] and not any(effects_of(app).values())
    app.session_state[effects.WANTED] = (PAIR, "grandmother.n")
    app = whole(app.run())
    swapped = whole(opened("perturbation", tiny_gpt2, instance=PAIR, swaps="grandmother.n:granny"))
    margin = next(metric.value for metric in swapped.metric if metric.label == MARGIN)
    assert effects_of(app)["granny"].split()[0] == margin
    assert not strip_of(app)["panel"]["preview"]


def effects_of(app):
    """What each synonym of the open word would do, as its chip says."""
    senses = strip_of(app)["panel"]["senses"]
    return {synonym["form"]: synonym["effect"] for sense in senses for synonym in sense["synonyms"]}


def test_another_copy_of_wordnet_is_a_quiet_mark(popular, words, tiny_gpt2):
    app = whole(opened("perturbation", tiny_gpt2, instance=PAIR, word="grandmother.n"))
    assert any("another copy than shipped runs" in line for line in quiet(app))
    assert "granny" in synonyms(app)


HALF = SimpleNamespace(second="One half.", text="One half.")  # an item's second piece, and what a model wrote


def without(monkeypatch, name):
    """As if the package that carries this data were not installed."""
    missing = dataclasses.replace(getattr(packaged, name), module="no_such_package")
    monkeypatch.setattr(packaged, name, missing)


def test_a_missing_tagger_leaves_scores_and_popularity(popular, words, tiny_gpt2, monkeypatch):
    without(monkeypatch, "ENGLISH")
    monkeypatch.setattr(tagging, "_loaded", [])
    app = whole(opened("perturbation", tiny_gpt2, instance=PAIR))
    assert {MARGIN, gauges.IPS} <= labels(app)
    assert any("Words to swap cannot be shown" in line for line in quiet(app))
    assert "not installed" in str(icl_lab._judge_completion(HALF, HALF, True))


def test_a_missing_encoder_leaves_swaps_by_another_method_scores_and_popularity(popular, words, tiny_gpt2, monkeypatch):
    without(monkeypatch, "MINILM")
    app = whole(opened("perturbation", tiny_gpt2, instance=PAIR, swaps=SWAP))
    assert {MARGIN, gauges.IPS} <= labels(app)
    assert alike(app) == {"ROUGE-L"}
    assert any("told apart by Lesk" in line for line in quiet(app))
    assert "not installed" in str(icl_lab._judge_completion(HALF, HALF, True))


def test_a_model_whose_text_is_here_is_rated_in_no_other(here):
    keep_run(here, "small", manifest.read(here.indexes / "small").key)
    assert ngram_rating.stored("starter_pairs", "gemma-3-270m").sources
    of_glass_box = ngram_rating.stored("starter_pairs", "glassbox-m")
    assert not of_glass_box.sources and "not this model's training text" in of_glass_box.unfit
    fits = keep_run(here, "glassbox", counters.GLASSBOX_INDEX)
    assert list(ngram_rating.stored("starter_pairs", "glassbox-m").sources) == [fits]
