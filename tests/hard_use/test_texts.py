"""Markup, marks of direction, emoji, half characters and very long lines: through every door, and shown as they are."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from explorer.__main__ import main
from explorer.benchmarks.tables import table
from explorer.errors import ExplorerError
from explorer.records import Request
from explorer.resources import Resources
from explorer.results import store as stores
from explorer.rows.builders import instance_of
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work
from explorer.settings import ROOT
from tests.ui.conftest import strip_of

found = importlib.util.spec_from_file_location("hostile", Path(__file__).with_name("hostile.py"))
hostile = importlib.util.module_from_spec(found)
found.loader.exec_module(hostile)
HOSTILE: dict[str, str] = hostile.HOSTILE

PAIRS = [{"good": f"{text} Yes.", "bad": f"{text} No.", "group": name} for name, text in HOSTILE.items()]


def written(folder: Path, form: str) -> Path:
    path = folder / f"pairs.{form}"
    frame = pd.DataFrame(PAIRS)
    if form == "csv":
        frame.to_csv(path, index=False)
    elif form == "tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in PAIRS))
    elif form == "json":
        path.write_text(json.dumps(PAIRS, ensure_ascii=False), "utf-8")
    else:
        frame.to_parquet(path)
    return path


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_the_importer_keeps_every_character(tmp_path, form):
    path = written(tmp_path, form)
    parsed = table.read_file(path, table.guess_reading(path), "hostile")
    kept = [instance.options for instance in parsed.instances]
    assert kept == [(row["good"], row["bad"]) for row in PAIRS]
    assert parsed.left_out == ()


@pytest.fixture(scope="module")
def hostile_run(tiny_gpt2, tmp_path_factory):
    """A finished run over the hostile pairs, and the settings that find it."""
    from explorer import settings as settings_module

    home = tmp_path_factory.mktemp("hostile")
    settings = settings_module.read(cache=home / "cache")
    path = written(home, "jsonl")
    table.store_import(path, "hostile", settings, table.guess_reading(path), title=HOSTILE["image"])
    spec = make_spec(Resources(settings), study="accuracy", model=str(tiny_gpt2), benchmark="imported_hostile")
    folder = RunFolder.create(settings.runs, spec)
    assert work(folder, Resources(settings), lambda text: None, wait=False) == "complete"
    return settings, folder


def test_a_run_scores_every_text_and_the_store_gives_it_back_unchanged(hostile_run):
    settings, folder = hostile_run
    scores = folder.read("scores")
    assert len(scores) == 2 * len(PAIRS)
    assert scores["logprob"].notna().all() and not scores["reason"].fillna("").any()
    stored = stores.open_store(settings).frame("SELECT payload FROM instances ORDER BY position")["payload"]
    assert [instance_of(text).options for text in stored] == [(row["good"], row["bad"]) for row in PAIRS]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_an_export_gives_every_text_back_unchanged(hostile_run, tmp_path, form):
    settings, folder = hostile_run
    out = tmp_path / f"scores.{form}"
    asked = ["export", folder.run_id, "--table", "scores", "--format", form, "--out", str(out)]
    assert main([*asked, "--cache", str(settings.cache)]) == 0
    if form == "csv":
        texts = pd.read_csv(out, keep_default_na=False)["continuation"].tolist()
    elif form == "jsonl":
        texts = [json.loads(line)["continuation"] for line in out.read_text("utf-8").split("\n") if line]
    else:
        texts = pd.read_parquet(out)["continuation"].tolist()
    assert texts == folder.read("scores")["continuation"].tolist()
    assert sorted(text.strip() for text in texts) == sorted(text for row in PAIRS for text in (row["good"], row["bad"]))


def drawn(app: AppTest) -> str:
    """All that a page gives the browser as HTML."""
    # The style sheet, and the scripts of the keyboard's shortcuts and of what draws figures.
    ours = ("<style>", "window.lexiscopeKeys", "window.lexiscopeFigures")
    bodies = [element.proto.body for element in app.html]
    return "\n".join(body for body in bodies if not any(sign in body for sign in ours))


def marked(app: AppTest) -> list[str]:
    """All that a page lets the browser read as Markdown: texts, labels, remarks."""
    kinds = (
        app.markdown,
        app.title,
        app.header,
        app.subheader,
        app.caption,
        app.error,
        app.warning,
        app.info,
        app.success,
    )
    told = [str(element.value) for kind in kinds for element in kind]
    told += [
        element.label for kind in (app.button, app.metric, app.expander, app.checkbox, app.toggle) for element in kind
    ]
    return told


DANGEROUS = re.compile(r"<(script|img|svg|b|i)\b|onmouseover=\"|</style", re.IGNORECASE)
LIVE_LINK = re.compile(r"(?<!\\)\]\((javascript|http)")


@pytest.mark.parametrize("name", HOSTILE)
def test_the_instance_page_shows_a_text_and_runs_none_of_it(hostile_run, name, monkeypatch):
    settings, folder = hostile_run
    number = list(HOSTILE).index(name)
    instance = instance_of(folder.read("instances")["payload"].iloc[number])
    app = opened("instance", settings, folder, monkeypatch, instance=instance.id, words=name)
    assert not app.exception and not app.error
    shown = drawn(app)
    assert "lx-verdict" in shown and strip_of(app)["of"] == instance.id  # its texts, which strip.js sets as text
    ours = re.sub(r"<b>[^<]*</b>|<b class=[^>]*>|<i style=\"background:#\w{6}\"></i>", "", shown)
    assert not DANGEROUS.search(ours), DANGEROUS.search(ours)
    for text in marked(app):
        assert not LIVE_LINK.search(text), text


@pytest.mark.parametrize("page", ["overview", "runs", "data", "priming", "perturbation", "popularity", "ontology"])
def test_the_other_pages_show_a_hostile_benchmark_as_text(hostile_run, page, monkeypatch):
    settings, folder = hostile_run
    app = opened(page, settings, folder, monkeypatch, shown=folder.run_id)
    assert not app.exception
    ours = re.sub(r"<b>[^<]*</b>", "", drawn(app))
    assert not DANGEROUS.search(ours), DANGEROUS.search(ours)
    for text in marked(app):
        assert not LIVE_LINK.search(text), text
        assert not re.search(r"(?<!\\)<img", text), text


def opened(page: str, settings, folder, monkeypatch, **choices: str) -> AppTest:
    monkeypatch.setenv("EXPLORER_CACHE", str(settings.cache))
    monkeypatch.setenv("EXPLORER_OFFLINE", "1")
    st.cache_data.clear()
    st.cache_resource.clear()
    app = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=60)
    for key, value in {"model": folder.spec.model, "benchmark": "imported_hostile", **choices}.items():
        app.query_params[key] = value
    return app.run()


def test_half_characters_and_nul_cost_their_own_line_alone(tiny_gpt2, tmp_path, settings, capsys):
    lines = [
        '{"context": "The cat", "continuation": " sleeps"}',
        '{"context": "half \\ud83d", "continuation": " sleeps"}',
        '{"context": "The \\u0000 cat", "continuation": " sleeps\\u0000"}',
        '{"context": "The cat", "continuation": " \\udc00"}',
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    out = tmp_path / "out.jsonl"
    asked = ["score", "--model", str(tiny_gpt2), "--in", str(tmp_path / "in.jsonl"), "--out", str(out)]
    assert main([*asked, "--cache", str(settings.cache)]) == 1
    answers = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [answer["logprob"] is None for answer in answers] == [False, True, False, True]
    assert all("surrogate" in answer["error"] for answer in (answers[1], answers[3]))
    assert [answer["context"] for answer in answers] == [json.loads(line)["context"] for line in lines]

    path = tmp_path / "pairs.jsonl"
    path.write_text(
        '{"good": "A cat sleeps.", "bad": "A cat sleep."}\n'
        '{"good": "half \\ud83d.", "bad": "x"}\n{"good": "nul \\u0000.", "bad": "x"}\n'
    )
    parsed = table.read_file(path, table.guess_reading(path), "mine")
    assert len(parsed.instances) == 1
    assert [left.reason for left in parsed.left_out] == [
        "good holds half a surrogate pair",
        "good holds a NUL character",
    ]


LONG = "The cat sleeps near the stove and the dog eats. " * 21_000  # a megabyte


def test_a_line_of_a_megabyte_is_imported_and_refused_by_the_model_in_a_sentence(
    tiny_gpt2, tmp_path, settings, one_sentence
):
    path = tmp_path / "pairs.csv"
    path.write_text(f'good,bad\n"{LONG}Yes.","{LONG}No."\nA cat sleeps.,A cat sleep.\n')
    parsed = table.read_file(path, table.guess_reading(path), "mine")
    assert [len(instance.options[0]) > 10**6 for instance in parsed.instances] == [True, False]

    resources = Resources(settings)
    long, short = resources.scorer(str(tiny_gpt2)).score([Request("a", 0, "", LONG), Request("b", 0, "", " cat")])
    assert long.sum != long.sum and "window" in one_sentence(long.reason)
    assert short.sum == short.sum


def test_a_line_of_a_megabyte_is_cut_for_the_counting_service_in_a_moment():
    from explorer.popularity.pieces import MOST_CHARACTERS, split_text

    for text in (LONG, "x AND y OR z. " * 70_000, " ".join("ab" for _ in range(350_000))):
        pieces = split_text(text)
        assert len(pieces) > 900 and max(len(piece.text) for piece in pieces) <= MOST_CHARACTERS
        whole = pieces[0].text + "".join(piece.text[len(piece.overlap) :] for piece in pieces[1:])
        assert whole == text


def test_swapping_words_leaves_what_is_no_word_as_it_is(settings):
    from explorer.variants.perturb import Tools, perturb_texts
    from explorer.variants.senses_first import FirstSense
    from explorer.variants.tagging import load_tagger

    class Nothing:
        name = "no synonyms"

        def senses(self, lemma: str, pos: str) -> tuple:
            return ()

        def has(self, expression: str) -> bool:
            return False

        def related(self, synset: str) -> tuple[str, ...]:
            return ()

    texts = [*HOSTILE.values(), "half \ud83d cat", "nul \x00 cat", ""]
    made = perturb_texts(texts, Tools(Nothing(), load_tagger(), FirstSense()))
    assert [one.text for one in made] == texts


def test_an_error_that_holds_a_hostile_text_stays_one_line(settings, capsys, one_sentence):
    for text in HOSTILE.values():
        with pytest.raises(ExplorerError) as caught:
            Resources(settings).instances(text)
        assert str(caught.value).strip()
        assert main(["resume", text, "--cache", str(settings.cache)]) == 1
        one_sentence(capsys.readouterr().err)
