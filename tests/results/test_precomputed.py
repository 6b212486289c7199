"""The precomputed file: what was packed reads as if the runs were in the store, and no benchmark's text is in it."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from explorer import benchmarks, prompts
from explorer.__main__ import main
from explorer.benchmarks import starter, wikitext
from explorer.errors import StoreError
from explorer.records import Generation, Instance, Request, RunSpec, Score
from explorer.resources import Resources
from explorer.results import precomputed, precomputed_add, queries, store
from explorer.results.precomputed_schema import FORMAT
from explorer.rows.builders import (
    finding_row,
    generation_row,
    instance_of,
    instance_row,
    measure_row,
    payload,
    score_row,
)
from explorer.rows.schema import TABLES
from explorer.runs import request, worker
from explorer.runs.folder import RunFolder
from explorer.settings import ROOT
from explorer.settings import read as read_settings
from explorer.stats.estimate import Estimate
from explorer.studies.accuracy.declared import ACCURACY
from explorer.studies.perturbation import queries as perturbation_queries
from explorer.studies.priming import queries as priming_queries
from explorer.variants import wordnet
from explorer.variants.swapped import swapped_instance

FEWEST = 3  # words: of fewer, any sentence of ours may hold some
WRITTEN = 5  # words: fewer stand by chance in what a model wrote about an item of our own
TEXT = {"context", "continuation", "token_texts", "token_logprobs", "prompt", "payload", "ids"}


def a_run(settings, benchmark: str, seed: int = 0) -> RunFolder:
    """A run with rows in every table, on three pairs."""
    folder = RunFolder.create(settings.runs, RunSpec("accuracy", 1, "toy", benchmark, seed=seed))
    names = [f"{benchmark}/one/0", f"{benchmark}/one/07", f"{benchmark}/two groups/x-12"]
    pairs = [
        Instance(name, benchmark, "test", name.split("/")[1], "pair", "sentence", options=("A cat sat.", "A cat sit."),
                 gold=0, phenomenon="p", field="formal")
        for name in names
    ]  # fmt: skip
    rows: dict[str, list[dict]] = {table: [] for table in TABLES if table not in ("instances", "findings")}
    for number, pair in enumerate(pairs):
        for option, text in enumerate(pair.options):
            factors = {"condition": "perturbed", "setting": "NV"} if number else {"condition": "original"}
            score = Score(Request(pair.id, option, "Before.", text, factors=factors), ("A", " cat"), (1, 2),
                          (-1.25 - number, math.nan), len(text), len(text) + 1, True, False)  # fmt: skip
            rows["scores"].append(score_row(score, 10_000 * number + option))
        rows["measures"].append(measure_row(pair.id, "correct", 0.5 * number, reason="tie" if number == 1 else ""))
        rows["measures"].append(measure_row(pair.id, "ips", math.nan, option=1, factors={"length": 300, "k": 25}))
        rows["counts"].append(
            {"instance_id": pair.id, "option": 0, "condition": "swap", "index_name": "demo", "n": 2, "start": 3,
             "ids": [4, 5], "count": 2_000_000_000.0, "approx": False, "reason": ""}
        )  # fmt: skip
        for text in ("GO:0005737", " 0005737.", "the cytoplasm of a cell", ""):
            answer = Generation(Request(pair.id, 0, "Give the ID.", role="prompt", factors={"language": "en"}), text)
            rows["generations"].append(generation_row(answer, len(rows["generations"]), verdict="id"))
    swap = {"start": 2, "end": 5, "original": "cat", "lemma": "cat", "pos": "n", "synset": "cat.n.01",
            "definition": "a feline", "substitute": "feline", "part": "option 0"}  # fmt: skip
    rows["variants"] = [
        {"instance_id": names[0], "variant_id": f"{names[0]}#perturbed-NV-0", "condition": "perturbed", "setting": "NV",
         "edit": json.dumps({"study": "perturbation", "pos": "NV", "seed": 3, "swaps": [swap]}), "accepted": True,
         "reason": "", "payload": payload(pairs[0])},
        {"instance_id": names[1], "variant_id": f"{names[1]}#matched", "condition": "matched_acceptable",
         "edit": json.dumps({"items": [names[1]], "condition": "matched_acceptable", "seed": 5, "edit": "none",
                             "ids": [f"{names[0]}#1", "unrelated/000007", f"{benchmark}/unseen/3#0"], "reason": "",
                             "checkpoints": [{"length": 100, "sentences": 2, "tokens": 96}]}),
         "accepted": True, "reason": "the pool is exhausted", "payload": None},
        {"instance_id": names[2], "variant_id": f"{names[2]}#none", "condition": "perturbed", "setting": "N",
         "edit": None, "accepted": False, "reason": "two options became the same", "payload": None},
    ]  # fmt: skip
    folder.write_part(0, 2, {"instances": [instance_row(pair, i) for i, pair in enumerate(pairs)], **rows})
    folder.write_findings(
        [
            finding_row(ACCURACY, "overall", Estimate(2 / 3, 0.2, 0.9, n=3, p=1e-60, left_out=1, reason="few")),
            finding_row(ACCURACY, "two groups", math.nan, factors={"setting": "sum"}, detail={"ties": 1}),
        ]
    )
    folder.write_progress(status="complete", total=3)
    return folder


def both(settings, folders: list[RunFolder], tmp_path: Path) -> tuple[store.Store, store.Store]:
    """The runs in the store, and the same runs packed."""
    store.ingest_runs(settings, folders)
    precomputed.pack_runs(folders, tmp_path / "packed.duckdb")
    return store.Store(store.current_generation(settings)), store.Store(None, tmp_path / "packed.duckdb")


@pytest.fixture(scope="module")
def looked_at(tmp_path_factory) -> Callable[[str], tuple[store.Store, store.Store]]:
    """`both` of a run on a benchmark, made once: tests only look at it."""

    @functools.cache
    def made(benchmark: str) -> tuple[store.Store, store.Store]:
        place = tmp_path_factory.mktemp("both")
        own = read_settings(cache=place / "cache")
        return both(own, [a_run(own, benchmark)], place)

    return made


def rows_of(one: store.Store, table: str) -> pd.DataFrame:
    frame = one.frame(f"SELECT * FROM {table}")
    return frame.sort_values(
        [name for name in frame if name not in TEXT], ignore_index=True, key=lambda c: c.astype(str)
    )


def same(ours: pd.Series, theirs: pd.Series, atol: float = 1e-6) -> bool:
    if pd.api.types.is_float_dtype(ours) or pd.api.types.is_float_dtype(theirs):
        return np.allclose(ours.astype(float), theirs.astype(float), rtol=1e-6, atol=atol, equal_nan=True)
    ours, theirs = (column.map(lambda one: repr(list(one)) if isinstance(one, np.ndarray) else one)
                    for column in (ours, theirs))  # fmt: skip
    return list(ours.where(ours.notna(), None)) == list(theirs.where(theirs.notna(), None))


@pytest.mark.parametrize("table", store.RUN_TABLES)
def test_packed_runs_have_the_columns_and_types_of_the_store(looked_at, table):
    own, packed = looked_at("starter_pairs")
    ours, theirs = own.frame(f"SELECT * FROM {table}"), packed.frame(f"SELECT * FROM {table}")
    assert list(ours) == list(theirs)
    assert len(ours) == len(theirs) > 0


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("benchmark", ["starter_pairs", "blimp"])
def test_packed_rows_are_the_stored_rows_but_for_what_is_left_out(looked_at, table, benchmark):
    own, packed = looked_at(benchmark)
    ours, theirs = rows_of(own, table), rows_of(packed, table)
    # Variants are their edits, of the starter sets too; an answer's text stays there.
    changed = (
        {"variants": {"edit"}} if benchmark == "starter_pairs" else {"variants": {"edit"}, "generations": {"text"}}
    )
    atol = 1e-5 if table == "findings" else 1e-6
    for name in set(ours) - TEXT - changed.get(table, set()):
        assert same(ours[name], theirs[name], atol), name
    for name in TEXT & set(ours):
        gone = table == "variants" or name == "ids"
        if benchmark == "blimp" or gone:
            assert theirs[name].isna().all(), name
        else:
            assert same(ours[name], theirs[name]), name


def test_a_run_that_kept_no_tokens_has_none_of_its_texts_packed(settings, tmp_path):
    folder = a_run(settings, "starter_pairs", seed=4)
    rows = folder.read("scores").assign(token_texts=None, token_logprobs=None)
    bare = RunFolder.create(settings.runs, RunSpec("accuracy", 1, "toy", "starter_pairs", seed=5))
    bare.write_part(0, 2, {"instances": folder.read("instances").to_dict("records"), "scores": rows.to_dict("records")})
    bare.write_findings([])
    bare.write_progress(status="complete", total=3)
    precomputed.pack_runs([bare], tmp_path / "packed.duckdb")
    with contextlib.closing(store.Store(None, tmp_path / "packed.duckdb")) as packed:
        kept = packed.frame("SELECT count(logprob) AS n, count(continuation) AS texts FROM scores")
    assert kept.loc[0].tolist() == [6, 0]


def test_a_file_of_the_first_format_reads_without_tokens_and_takes_runs_that_have_them(settings, tmp_path):
    file, grown = tmp_path / "packed.duckdb", tmp_path / "grown.duckdb"
    precomputed.pack_runs([a_run(settings, "starter_pairs")], file)
    with duckdb.connect(str(file)) as connection:
        for name in ("token_texts", "token_logprobs"):
            connection.execute(f"ALTER TABLE scores DROP COLUMN {name}")
        connection.execute("UPDATE about SET format = 1")
    counted = "SELECT count(logprob) AS sums, count(token_texts) AS texts, count(token_logprobs) AS lists FROM scores"
    with contextlib.closing(store.Store(None, file)) as packed:
        assert packed.frame(counted).loc[0].tolist() == [6, 0, 0]
    precomputed_add.add_runs([a_run(settings, "starter_pairs", seed=1)], file, grown)
    with contextlib.closing(store.Store(None, grown)) as packed:
        assert packed.frame(counted).loc[0].tolist() == [12, 6, 6]


def a_primed_run(settings) -> RunFolder:
    """A run that scores two texts without a context and after three, one of which makes a text one token longer."""
    folder = RunFolder.create(settings.runs, RunSpec("priming", 1, "toy", "blimp"))
    pair = Instance("blimp/one/0", "blimp", "test", "one", "pair", "sentence", options=("A cat.", "A café."), gold=0)
    scores = []
    for condition, length in (("baseline", 0), ("matched", 100), ("matched", 200), ("unrelated", 100)):
        for option, text in enumerate(pair.options):
            tokens = ("A", " cat", ".") if (condition, option) == ("unrelated", 1) else ("A", " cat.")
            request = Request(pair.id, option, "Before.", text, factors={"condition": condition, "length": length})
            score = Score(request, tokens, tuple(range(len(tokens))), tuple(-1.5 for _ in tokens), len(text),
                          len(text.encode()), True, False)  # fmt: skip
            scores.append(score_row(score, len(scores)))
    folder.write_part(0, 0, {"instances": [instance_row(pair, 0)], "scores": scores})
    folder.write_findings([])
    folder.write_progress(status="complete", total=1)
    return folder


def test_lengths_of_a_text_are_kept_once_for_all_contexts_and_read_at_each(settings, tmp_path):
    own, packed = both(settings, [a_primed_run(settings)], tmp_path)
    ours, theirs = rows_of(own, "scores"), rows_of(packed, "scores")
    assert len(ours) == len(theirs) == 8
    for name in set(ours) - TEXT:
        assert same(ours[name], theirs[name]), name
    kept = packed.frame("SELECT count(tokens) AS tokens, count(chars) AS chars FROM precomputed.scores")
    assert kept.loc[0].tolist() == [3, 3]  # both without a context, and the one that differs after one


def test_numbers_in_the_details_of_findings_keep_six_decimals(settings, tmp_path):
    folder = a_run(settings, "blimp")
    folder.write_findings(
        [finding_row(ACCURACY, "overall", 1.0, detail={"mean": -0.123456789, "p": 1.23456789e-30, "n": 12345678})]
    )
    _, packed = both(settings, [folder], tmp_path)
    assert json.loads(packed.frame("SELECT detail FROM findings")["detail"][0]) == {
        "mean": -0.123456, "p": 1.234567e-30, "n": 12345678,
    }  # fmt: skip


HASHED = f"sha256:{hashlib.sha256(b'the cytoplasm of a cell').hexdigest()[:16]}"


def test_an_answer_stays_only_where_it_is_a_bare_number(settings, tmp_path):
    _, packed = both(settings, [a_run(settings, "go")], tmp_path)
    texts = packed.frame("SELECT DISTINCT text FROM generations ORDER BY text")["text"]
    assert set(texts) == {"", " 0005737.", "GO:0005737", HASHED}


def test_a_swap_is_kept_as_place_synset_and_words(looked_at):
    _, packed = looked_at("blimp")
    edit = json.loads(packed.frame("SELECT edit FROM variants WHERE setting = 'NV'")["edit"][0])
    assert edit == {
        "pos": "NV", "seed": 3,
        "swaps": [{"part": "option 0", "start": 2, "end": 5, "synset": "cat.n.01", "lemma": "cat",
                   "substitute": "feline"}],
    }  # fmt: skip


def test_a_context_is_kept_as_its_seed_and_the_keys_of_its_sentences(looked_at):
    _, packed = looked_at("blimp")
    edit = json.loads(packed.frame("SELECT edit FROM variants WHERE condition = 'matched_acceptable'")["edit"][0])
    assert edit["seed"] == 5 and edit["lengths"] == [100] and edit["sentences_at"] == [2]
    first, unrelated, unseen = edit["sentences"]
    assert unrelated == -8
    named = packed.frame(
        f"""
        SELECT sets.stem || items.number AS name
        FROM precomputed.items AS items
        JOIN precomputed.sets AS sets USING (set_key)
        WHERE items.item IN ({first % 2**20}, {unseen % 2**20})
        ORDER BY items.item
        """
    )
    assert list(named["name"]) == ["blimp/one/0", "blimp/unseen/3"]
    assert (first // 2**20, unseen // 2**20) == (1, 0)


def test_ones_own_run_hides_the_packed_one_of_the_same_id(settings, tmp_path):
    mine = a_run(settings, "blimp")
    other = a_run(settings, "blimp", seed=1)
    precomputed.pack_runs([mine, other], tmp_path / "packed.duckdb")
    store.ingest_runs(settings, [mine])
    opened = store.Store(store.current_generation(settings), tmp_path / "packed.duckdb")
    assert opened.frame("SELECT count(*) AS n FROM runs")["n"][0] == 2
    counts = opened.frame("SELECT run_id, count(context) AS texts, count(*) AS n FROM scores GROUP BY run_id")
    found = counts.set_index("run_id")
    assert found.loc[mine.run_id].tolist() == [6, 6]
    assert found.loc[other.run_id].tolist() == [0, 6]


def test_a_run_that_is_not_finished_is_not_packed(settings, tmp_path):
    folder = RunFolder.create(settings.runs, RunSpec("accuracy", 1, "toy", "blimp"))
    with pytest.raises(StoreError, match="not finished"):
        precomputed.pack_runs([folder], tmp_path / "packed.duckdb")
    assert not (tmp_path / "packed.duckdb").exists()


def named(settings, monkeypatch, text: object):
    monkeypatch.setenv("EXPLORER_PRECOMPUTED", str(text))
    return read_settings(cache=settings.cache)


def test_a_damaged_file_says_what_to_do(settings, tmp_path, monkeypatch):
    packed = tmp_path / "packed.duckdb"
    packed.write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(StoreError, match="EXPLORER_PRECOMPUTED=none"):
        store.open_store(named(settings, monkeypatch, packed))
    monkeypatch.setattr(store, "PRECOMPUTED", packed)
    with pytest.raises(StoreError, match="git checkout"):
        store.open_store(named(settings, monkeypatch, packed))


def test_a_named_file_that_is_not_there_is_told_and_one_that_did_not_come_along_is_no_fault(
    settings, tmp_path, monkeypatch, capsys
):
    absent = tmp_path / "packed.duckdb"
    for text, what in ((absent, "is not there"), (tmp_path, "is no file")):
        with pytest.raises(StoreError, match=f"EXPLORER_PRECOMPUTED names .*{what}"):
            store.open_store(named(settings, monkeypatch, text))
        assert main(["runs", "--cache", str(settings.cache)]) == 1
        told = capsys.readouterr().err
        assert told.count("\n") == 1 and "EXPLORER_PRECOMPUTED names" in told
    monkeypatch.setattr(store, "PRECOMPUTED", absent)
    assert store.open_store(named(settings, monkeypatch, absent)).frame("SELECT * FROM runs").empty
    assert store.open_store(named(settings, monkeypatch, "none")).frame("SELECT * FROM runs").empty


def test_a_file_damaged_in_any_block_says_how_to_go_without_it(settings, tmp_path):
    packed = tmp_path / "packed.duckdb"
    precomputed.pack_runs([a_run(settings, "starter_pairs"), a_run(settings, "blimp")], packed)
    whole, told = packed.read_bytes(), []
    for start in range(3 * 4096 + 64, len(whole), 256 * 1024):  # behind the headers, within each block
        packed.write_bytes(whole[:start] + bytes(255 - byte for byte in whole[start : start + 8]) + whole[start + 8 :])
        try:
            with contextlib.closing(store.Store(None, packed)) as held:
                for table in store.RUN_TABLES:
                    held.frame(f"SELECT * FROM {table}")
        except StoreError as error:
            told.append(str(error))
    assert told and all("EXPLORER_PRECOMPUTED=none" in sentence for sentence in told), told


def test_a_file_of_a_later_format_is_refused(settings, tmp_path):
    precomputed.pack_runs([a_run(settings, "blimp")], tmp_path / "packed.duckdb")
    with duckdb.connect(str(tmp_path / "packed.duckdb")) as connection:
        connection.execute("UPDATE about SET format = ?", [FORMAT + 1])
    with pytest.raises(StoreError, match="newer version"):
        store.Store(None, tmp_path / "packed.duckdb")


# No text of a benchmark


def real_texts(settings) -> Iterator[str]:
    """Every text of every real benchmark whose files are here, as a reader would see it."""
    for name in benchmarks.available_names(settings):
        if name in precomputed.OWN:
            continue
        for item in benchmarks.load(name, settings).instances:
            yield from (item.context, item.second, *item.options)
            yield from (text for condition in item.conditions for text in condition.regions)
            if item.kind not in ("labelled", "text", "concept"):
                yield from prompts.option_texts(item)


def strings(path: Path) -> Iterator[str]:
    """Every distinct string of a database, those inside lists and structs too."""
    with duckdb.connect(str(path), read_only=True) as connection:
        columns = connection.execute(
            "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE data_type LIKE '%VARCHAR%'"
        ).fetchall()
        for table, column, kind in columns:
            asked = f'unnest("{column}")' if kind.endswith("[]") else f'"{column}"'
            for (value,) in connection.execute(f"SELECT DISTINCT {asked} FROM {table}").fetchall():
                yield from _leaves(value)


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _leaves(part)
    elif isinstance(value, list):
        for part in value:
            yield from _leaves(part)


_all_words = re.compile(r"[^\W_]+").findall


def words_of(text: str) -> tuple[str, ...]:
    return tuple(_all_words(text.lower()))


Words = tuple[str, ...]
ByStart = dict[Words, list[Words]]  # the first words of a text → the texts that begin so


def by_start(texts: Iterable[Words]) -> ByStart:
    found: ByStart = {}
    for text in texts:
        found.setdefault(text[:FEWEST], []).append(text)
    return found


def inside(values: Iterable[str], texts: ByStart) -> Iterator[tuple[str, Words]]:
    """The strings in which one of the texts stands, each with that text."""
    for value in values:
        words = words_of(value)
        for place, start in enumerate(zip(*(words[number:] for number in range(FEWEST)), strict=False)):
            for text in texts.get(start, ()):
                if words[place : place + len(text)] == text:
                    yield value, text


def leaks(path: Path, texts: ByStart) -> list[str]:
    """What of the texts stands in a file, a line each."""
    own = written(path)
    return [
        f"{value[:200]!r} holds {' '.join(text)!r}"
        for value, text in inside(strings(path), texts)
        if len(text) >= WRITTEN or value not in own
    ]


def written(path: Path) -> set[str]:
    """What models wrote about items of the starter sets."""
    with duckdb.connect(str(path), read_only=True) as connection:
        rows = connection.execute(
            "SELECT DISTINCT text FROM generations JOIN runs USING (run) WHERE benchmark IN (SELECT unnest(?))",
            [list(starter.BENCHMARKS)],
        ).fetchall()
    return {text for (text,) in rows if text}


@pytest.fixture(scope="session")
def texts(data_folder) -> ByStart:
    """The words of every real text, but for those that stand in the explorer's own starter sets, too."""
    settings = read_settings(data=data_folder)
    found = {words_of(text) for text in set(real_texts(settings))}
    found |= {words_of(text) for text in wikitext.load_sentences(settings)}
    found = {words for words in found if len(words) >= FEWEST}
    starts = by_start(found)
    own = (payload(item) for name in starter.BENCHMARKS for item in benchmarks.load(name, settings).instances)
    for text in {text for _, text in inside(own, starts)}:
        starts[text[:FEWEST]].remove(text)
    return starts


def test_the_search_finds_a_text_that_is_there(settings, tmp_path, texts):
    folder = a_run(settings, "blimp")
    folder.write_findings(
        [finding_row(ACCURACY, "overall", Estimate.point(1.0, reason="Some cats that aren't hissing had sat."))]
    )
    precomputed.pack_runs([folder], tmp_path / "packed.duckdb")
    assert leaks(tmp_path / "packed.duckdb", by_start([words_of("cats that aren't hissing")]))
    assert not leaks(tmp_path / "packed.duckdb", by_start([words_of("dogs that aren't hissing")]))


def real_runs(settings, model: Path) -> list[RunFolder]:
    """Small real runs of a tiny model on real benchmarks and starter sets."""
    resources = Resources(settings)
    asked = [
        ("accuracy", "blimp", {"per_group": 2}),
        ("accuracy", "winogrande", {}),
        ("accuracy", "syntaxgym", {"per_group": 1}),
        ("accuracy", "starter_cloze", {"per_group": 2}),
        ("priming", "blimp", {"per_group": 1, "lengths": "0,100", "overlap": 0}),
        ("ontology", "go", {"others": 2, "max_new_tokens": 12}),
    ]
    folders = []
    for study, benchmark, given in asked:
        spec = request.make_spec(
            resources, study=study, model=str(model), benchmark=benchmark, settings=given,
            limit=40 if benchmark in ("winogrande", "go") else 6 if study == "priming" else None,
        )  # fmt: skip
        folder = RunFolder.create(settings.runs, spec)
        assert worker.work(folder, resources, print, wait=False) == "complete"
        folders.append(folder)
    return folders


def test_real_runs_read_the_same_and_give_no_text_away(real_settings, tiny_gpt2, tmp_path, texts):
    folders = real_runs(real_settings, tiny_gpt2)
    own, packed = both(real_settings, folders, tmp_path)
    assert not leaks(tmp_path / "packed.duckdb", texts)
    blimp, _, suites, _, primed, _ = (folder.run_id for folder in folders)
    pd.testing.assert_frame_equal(queries.headline(own), queries.headline(packed), atol=1e-5)
    for question, *arguments in (
        (queries.items, blimp),
        (queries.accuracy_by_group, blimp),
        (queries.overall, suites),
        (priming_queries.suites, primed),
        (priming_queries.regression, primed),
    ):
        ours, theirs = (question(one, *arguments) for one in (own, packed))
        assert len(ours) == len(theirs) > 0
        for name in ours:
            # Rows that tie in the order of the question may change places.
            keys = [
                column for column in ("instance_id", "grp", "condition", "finding", "setting", "term") if column in ours
            ]
            first, second = (frame.sort_values(keys, ignore_index=True)[name] for frame in (ours, theirs))
            assert same(first, second, atol=0.6 * 10**-precomputed.DECIMALS), name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("study", "benchmark", "given"),
    [
        ("perturbation", "copa", {"pos": "N,NV", "rows": "false", "similarity": "false"}),
        ("memorization", "piqa", {"neighbours": "2", "neighbours_by": "infill:{model}"}),
        ("icl", "rte", {"k": "0,1", "instances": "4", "max_new_tokens": "8"}),
    ],
)
def test_runs_that_write_texts_give_none_away(
    real_settings, shared_settings, tiny_gpt2, tmp_path, texts, study, benchmark, given
):
    resources = Resources(real_settings)
    if study == "perturbation":
        lexicon = wordnet.open_lexicon(shared_settings)
        resources.once(("lexicon",), lambda: lexicon)
        real_settings.cache.mkdir()  # the index that rates popularity is made of WordNet, too
        real_settings.nltk_data.symlink_to(shared_settings.nltk_data, target_is_directory=True)
    settings = {name: value.format(model=tiny_gpt2) for name, value in given.items()}
    limit = None if study == "icl" else 6
    spec = request.make_spec(
        resources, study=study, model=str(tiny_gpt2), benchmark=benchmark, limit=limit, settings=settings
    )
    folder = RunFolder.create(real_settings.runs, spec)
    assert worker.work(folder, resources, print, wait=False) == "complete"
    own, packed = both(real_settings, [folder], tmp_path)
    assert not leaks(tmp_path / "packed.duckdb", texts)
    for table in ("instances", "variants", "generations", "findings"):
        ours, theirs = (len(one.frame(f"SELECT * FROM {table}")) for one in (own, packed))
        assert theirs == ours, table
    if study == "perturbation":
        fates = [perturbation_queries.fates(one, folder.run_id, "NV") for one in (own, packed)]
        pd.testing.assert_frame_equal(*fates)
        # With the benchmark at hand the perturbed texts come back from the swaps.
        variants = own.frame("SELECT instance_id, variant_id, payload FROM variants WHERE accepted").merge(
            packed.frame("SELECT variant_id, edit FROM variants"), on="variant_id"
        )
        known = {item.id: item for item in benchmarks.load(benchmark, real_settings).instances}
        for row in variants.to_dict("records"):
            again = swapped_instance(known[row["instance_id"]], json.loads(row["edit"])["swaps"])
            assert prompts.option_texts(again) == prompts.option_texts(instance_of(row["payload"]))


def test_the_committed_file_is_small_and_gives_no_text_away(texts):
    for path in (ROOT / "cache").glob("precomputed.duckdb"):
        assert path.stat().st_size < precomputed.LARGEST
        assert not leaks(path, texts)
