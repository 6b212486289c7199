"""What the page on calibration asks of the database: runs of glass-box models on what was planted for them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from explorer.results.store import Store
from explorer.studies.popularity.declared import EDGE

_STARTER = "starts_with(runs.benchmark, 'starter_')"
_EACH_SET = "runs.model, runs.benchmark"


# A model may have been run on the same set several times: the run with most instances counts, of equal ones the newest.
def _largest(condition: str, *, per: str = "runs.model") -> str:
    """The query of one complete run a planted model (or a model and benchmark) that meets the condition."""
    return f"""
            SELECT runs.run_id, runs.model AS name, runs.benchmark
            FROM runs
            WHERE {condition}
                AND runs.status = 'complete'
                AND starts_with(runs.model, 'glassbox-')
            QUALIFY row_number() OVER (PARTITION BY {per} ORDER BY runs.done DESC, runs.created DESC) = 1
        """


# Runs that came along are packed, and what a join leaves over is known only when all are unpacked. So the runs are
# asked for first, and then named: an answer takes a third of the time.
def _ids(store: Store, runs: str, values: Sequence[str] = ()) -> list[str]:
    """The ids of the runs that a query gives."""
    return [row["run_id"] for row in store.rows(runs, values)]


def _rows_of(run_ids: Sequence[str], table: str) -> str:
    """The rows of a table that belong to these runs, whose ids go in as values."""
    return f"(SELECT * FROM {table} WHERE run_id IN ({', '.join('?' * len(run_ids)) or 'NULL'})) AS {table}"


def verdicts(store: Store, benchmark: str) -> pd.DataFrame:
    """A row per model and instance of its largest accuracy or popularity run: verdict, margin, group and dose."""
    largest = _largest("runs.benchmark = ? AND runs.study IN ('accuracy', 'popularity')")
    runs = _ids(store, largest, [benchmark])
    return store.frame(
        f"""
        WITH chosen AS ({largest})
        SELECT chosen.name AS model, chosen.run_id, instances.instance_id, instances.grp, instances.phenomenon,
            max(measures.value) FILTER (measures.measure = 'correct') AS correct,
            max(measures.value) FILTER (measures.measure = 'margin') AS margin
        FROM chosen
        JOIN {_rows_of(runs, "instances")} USING (run_id)
        JOIN {_rows_of(runs, "measures")}
            ON measures.run_id = chosen.run_id
            AND measures.instance_id = instances.instance_id
            AND measures.measure IN ('correct', 'margin')
            AND measures.condition IS NULL
        GROUP BY ALL
        ORDER BY model, instances.instance_id
        """,
        [benchmark, *runs, *runs],
    )


def attacks(store: Store) -> pd.DataFrame:
    """A row per model, text of a starter set and attack: the score of the text that the corpus has or lacks."""
    largest = _largest(f"runs.study = 'memorization' AND {_STARTER}", per=_EACH_SET)
    runs = _ids(store, largest)
    return store.frame(
        f"""
        WITH chosen AS ({largest})
        SELECT chosen.name AS model, instances.benchmark, instances.instance_id, measures.measure AS attack,
            measures.value
        FROM chosen
        JOIN {_rows_of(runs, "instances")} USING (run_id)
        JOIN {_rows_of(runs, "measures")}
            ON measures.run_id = chosen.run_id
            AND measures.instance_id = instances.instance_id
            AND measures.option = coalesce(instances.gold, 0)
        ORDER BY ALL
        """,
        [*runs, *runs],
    )


def popularity(store: Store, benchmark: str) -> pd.DataFrame:
    """A row per model, n-gram length and pair: the relative difference in IPS of the pair, and its phenomenon."""
    edges = """
            SELECT runs.run_id, runs.model, CAST(json_extract(findings.detail, '$.n') AS INTEGER) AS n
            FROM runs
            JOIN findings USING (run_id)
            WHERE runs.study = 'popularity'
                AND runs.benchmark = ?
                AND runs.status = 'complete'
                AND starts_with(runs.model, 'glassbox-')
                AND findings.finding = ?
                AND findings.part = 1
            QUALIFY row_number() OVER (PARTITION BY runs.model, n ORDER BY runs.done DESC, runs.created DESC) = 1
        """
    values = [benchmark, EDGE.name]
    runs = _ids(store, edges, values)
    return store.frame(
        f"""
        WITH edges AS ({edges})
        SELECT edges.model, edges.n, instances.phenomenon, measures.value
        FROM edges
        JOIN {_rows_of(runs, "instances")} USING (run_id)
        JOIN {_rows_of(runs, "measures")}
            ON measures.run_id = edges.run_id
            AND measures.instance_id = instances.instance_id
            AND measures.measure = 'relative_difference'
        ORDER BY ALL
        """,
        [*values, *runs, *runs],
    )


def concepts(store: Store) -> pd.DataFrame:
    """A row per model, concept of the made-up ontology and measure (correct, gold_logprob): its value."""
    largest = _largest("runs.study = 'ontology' AND runs.benchmark = 'glassbox-ontology'")
    runs = _ids(store, largest)
    return store.frame(
        f"""
        WITH chosen AS ({largest})
        SELECT chosen.name AS model, measures.instance_id, measures.measure, any_value(measures.value) AS value
        FROM chosen
        JOIN {_rows_of(runs, "measures")} USING (run_id)
        WHERE measures.measure IN ('correct', 'gold_logprob')
            AND measures.part IS NULL
            AND measures.condition IS NULL
        GROUP BY ALL
        ORDER BY ALL
        """,
        runs,
    )


def completions(store: Store) -> pd.DataFrame:
    """A row per model, labeled item, prompt and k: the rule's verdict on the completion."""
    largest = _largest(f"runs.study = 'icl' AND {_STARTER}", per=_EACH_SET)
    runs = _ids(store, largest)
    return store.frame(
        f"""
        WITH chosen AS ({largest})
        SELECT chosen.name AS model, chosen.benchmark, generations.instance_id, generations.setting, generations.k,
            generations.verdict
        FROM chosen
        JOIN {_rows_of(runs, "generations")} USING (run_id)
        WHERE generations.role = 'replication'
            AND generations.verdict IS NOT NULL
        ORDER BY ALL
        """,
        runs,
    )


def primed(store: Store, benchmark: str) -> pd.DataFrame:
    """A row per model, pair, condition and length of context: whether the verdict was right, and its phenomenon."""
    largest = _largest("runs.study = 'priming' AND runs.benchmark = ?")
    runs = _ids(store, largest, [benchmark])
    return store.frame(
        f"""
        WITH chosen AS ({largest})
        SELECT chosen.name AS model, instances.instance_id, instances.phenomenon, measures.condition, measures.length,
            measures.value AS correct
        FROM chosen
        JOIN {_rows_of(runs, "instances")} USING (run_id)
        JOIN {_rows_of(runs, "measures")}
            ON measures.run_id = chosen.run_id
            AND measures.instance_id = instances.instance_id
            AND measures.measure = 'correct'
        ORDER BY ALL
        """,
        [benchmark, *runs, *runs],
    )


def models(store: Store) -> list[str]:
    """The glass-box models that have runs, without checkpoints."""
    rows = store.rows(
        """
        SELECT DISTINCT model
        FROM runs
        WHERE starts_with(model, 'glassbox-')
            AND NOT contains(model, '@')
            AND status = 'complete'
        ORDER BY model
        """
    )
    return [row["model"] for row in rows]
