"""How fast questions and pages answer over a million stored score rows, the user's own or precomputed.

    EXPLORER_DATA=... python bench/store.py [--rows 1000000] [--repeats 5]

Makes runs of invented numbers on BLiMP's own instances in a cache of its own, once in the store and once packed as
precomputed runs, and prints Markdown tables of medians for bench/RESULTS.md. A question is asked anew each time; a page
is opened as by a click, over a warm app.
"""

from __future__ import annotations

import argparse
import logging
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from explorer import benchmarks, settings
from explorer.records import RunSpec
from explorer.results import precomputed, queries, store
from explorer.rows.builders import instance_row, measure_row
from explorer.runs.folder import RunFolder
from explorer.studies import study as find_study
from explorer.studies.accuracy import findings as accuracy_findings
from explorer.studies.accuracy import study as accuracy_study

PAGES = ("overview", "instance", "runs", "findings", "popularity", "perturbation", "priming", "ontology")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        own = settings.read(cache=Path(place) / "own")
        folders = make_runs(own, args.rows)
        packed = Path(place) / "precomputed.duckdb"
        size = precomputed.pack_runs(folders, packed)
        store.ingest_runs(own, folders)
        print(f"{args.rows:,} score rows in {len(folders)} runs; packed {size / 2**20:.1f} MiB\n")
        run_ids = [folder.run_id for folder in folders]
        stores = {"own": store.Store(store.current_generation(own)), "precomputed": store.Store(None, packed)}
        print("| question | own (ms) | its processor time | precomputed (ms) | its processor time |")
        print("| --- | ---: | ---: | ---: | ---: |")
        for name, question in questions(run_ids, folders[0]).items():
            times = [each for one in stores.values() for each in median(partial(question, one), args.repeats)]
            print(f"| {name} | {' | '.join(f'{1000 * each:.0f}' for each in times)} |", flush=True)
        for one in stores.values():
            one.close()
        print("\n| page | own (s) | precomputed (s) |\n| --- | ---: | ---: |")
        empty = Path(place) / "empty"
        for page in PAGES:
            times = [
                open_page(page, cache, file, args.repeats)
                for cache, file in ((own.cache, "none"), (empty, str(packed)))
            ]
            print(f"| {page} | {times[0]:.2f} | {times[1]:.2f} |", flush=True)


def make_runs(chosen: settings.Settings, rows: int) -> list[RunFolder]:
    """Finished accuracy runs on BLiMP with about so many score rows in all."""
    instances = benchmarks.load("blimp", chosen).instances
    chance = np.random.default_rng(0)
    resolved = find_study("accuracy").resolve({"tokens": False})
    folders = []
    for number in range(max(1, round(rows / (2 * len(instances))))):
        spec = RunSpec("accuracy", accuracy_study.STUDY.version, f"invented-{number}", "blimp", settings=resolved)
        folder = RunFolder.create(chosen.runs, spec)
        sums = chance.normal(-60, 20, (len(instances), 2))
        made: dict[str, list[Any]] = {"instances": [], "scores": [], "measures": []}
        for place, (item, pair) in enumerate(zip(instances, sums, strict=True)):
            made["instances"].append(instance_row(item, place))
            for option, value in enumerate(pair):
                made["scores"].append(score(item, option, float(value)))
            margin = float(pair[0] - pair[1])
            made["measures"].append(measure_row(item.id, "correct", float(margin > 0)))
            made["measures"].append(measure_row(item.id, "margin", margin))
            made["measures"].append(measure_row(item.id, "chosen", float(margin <= 0)))
        folder.write_part(0, len(instances) - 1, made)
        folder.write_findings(accuracy_findings.summarize(spec, None, folder))  # type: ignore[arg-type]
        folder.write_progress(status="complete", total=len(instances))
        folders.append(folder)
    return folders


def score(item: Any, option: int, value: float) -> dict[str, Any]:
    text = item.options[option]
    return {
        "instance_id": item.id, "request": option, "option": option, "role": "option", "logprob": value, "tokens": 9,
        "scored": 9, "chars": len(text), "bytes": len(text.encode()), "greedy": False, "straddles": False,
        "truncated": 0, "reason": "", "context": "", "continuation": text,
    }  # fmt: skip


def questions(run_ids: list[str], first: RunFolder) -> dict[str, Callable[[store.Store], Any]]:
    """What the pages ask."""
    run_id = run_ids[0]
    name = str(first.read("instances", ["instance_id"])["instance_id"].iloc[-1])
    asked: dict[str, Callable[[store.Store], Any]] = {
        "runs": queries.runs,
        "headline": queries.headline,
        "groups of a run": lambda one: queries.accuracy_by_group(one, run_id),
        "one instance's scores": lambda one: queries.instance_scores(one, run_id, name),
        "two runs compared": lambda one: queries.two_runs(one, run_ids[0], run_ids[-1]),
    }
    for verdict in queries.VERDICT_FILTERS:
        asked[f"filter: {verdict}"] = lambda one, verdict=verdict: queries.items(one, run_id, verdict=verdict)
    for order in queries.ORDERS:
        asked[f"order: {order}"] = lambda one, order=order: queries.items(one, run_id, verdict="wrong", order=order)
    return asked


def open_page(page: str, cache: Path, file: str, repeats: int) -> float:
    """Seconds until the page's script has ended."""
    import streamlit as st
    from streamlit.testing.v1 import AppTest

    logging.getLogger("streamlit").setLevel(logging.ERROR)
    os.environ |= {"EXPLORER_CACHE": str(cache), "EXPLORER_PRECOMPUTED": file, "EXPLORER_OFFLINE": "1"}
    st.cache_data.clear()
    st.cache_resource.clear()

    def look() -> None:
        app = AppTest.from_file(str(settings.ROOT / "pages" / f"{page}.py"), default_timeout=120)
        app.query_params["model"], app.query_params["benchmark"] = "invented-0", "blimp"
        app.run()
        if app.exception:
            raise SystemExit(f"{page}: {app.exception[0].value}")

    look()
    return median(look, repeats)[0]


def median(call: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """Seconds on the clock, and of processors (all threads together), after one call that does not count."""
    clock, processors = [], []
    for _ in range(repeats + 1):
        started, before = time.perf_counter(), time.process_time()
        call()
        clock.append(time.perf_counter() - started)
        processors.append(time.process_time() - before)
    return statistics.median(clock[1:]), statistics.median(processors[1:])


if __name__ == "__main__":
    main()
