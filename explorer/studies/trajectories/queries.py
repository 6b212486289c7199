"""What the page on trajectories asks of the database."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from explorer.results.measures import MEASURES
from explorer.results.store import Store
from explorer.rows.schema import FACTORS


def runs(store: Store) -> pd.DataFrame:
    """Every run that is known here, the oldest first."""
    return store.frame(
        """
        SELECT run_id, study, model, benchmark, status, created, done, total, seed, spec
        FROM runs
        ORDER BY created, run_id
        """
    )


def findings_of_several(store: Store, run_ids: Sequence[str]) -> pd.DataFrame:
    """A row per finding, group and factors that several of these runs have a number of, in the order of their names."""
    names = ", ".join(FACTORS)
    return store.frame(
        f"""
        SELECT finding, grp, {names}, count(DISTINCT run_id) AS runs
        FROM findings
        WHERE run_id IN ({_marks(run_ids)})
            AND value IS NOT NULL
            AND NOT isnan(value)
        GROUP BY ALL
        HAVING count(DISTINCT run_id) > 1
        ORDER BY ALL
        """,
        list(run_ids),
    )


# Where tables are joined, both name the runs: of packed ones, which are unpacked to be joined, only theirs are.
def learned(store: Store, run_ids: Sequence[str]) -> pd.DataFrame:
    """A row per instance of these runs, which are in the order of training: when its verdict was last not right.

    last_wrong  place (from 0) of the last run in which it was wrong or a tie; -1 where it was right in all
    runs        in how many of the runs it is; gaps: in how many it has no verdict; texts: how many texts its id had
    """
    return store.frame(
        f"""
        WITH judged AS (
            SELECT instances.run_id, instances.instance_id, instances.grp, instances.phenomenon, instances.kind,
                instances.benchmark, instances.position, instances.text_hash,
                max(measures.value) FILTER (measures.measure = 'correct') AS correct
            FROM instances
            LEFT JOIN measures
                ON measures.run_id = instances.run_id
                AND measures.run_id IN ({_marks(run_ids)})
                AND measures.instance_id = instances.instance_id
                AND measures.measure = 'correct'
                AND measures.part IS NULL
                AND (measures.condition IS NULL OR measures.condition = 'original')
            WHERE instances.run_id IN ({_marks(run_ids)})
            GROUP BY ALL
        ),
        placed AS (
            SELECT *, list_position([{_marks(run_ids)}], run_id) - 1 AS place
            FROM judged
        )
        SELECT instance_id, any_value(grp) AS grp, any_value(phenomenon) AS phenomenon, any_value(kind) AS kind,
            any_value(benchmark) AS benchmark, min(position) AS position, min(text_hash) AS text_hash,
            count(*) AS runs,
            count(DISTINCT text_hash) AS texts,
            count(*) FILTER (correct IS NULL OR isnan(correct)) AS gaps,
            coalesce(max(place) FILTER (correct < 1), -1) AS last_wrong
        FROM placed
        GROUP BY instance_id
        ORDER BY position, instance_id
        """,
        [*run_ids, *run_ids, *run_ids],
    )


def instance(store: Store, run_ids: Sequence[str], instance_id: str) -> pd.DataFrame:
    """A row per run, in the order given: outcome and margin (nats) of one instance, and the hash of its text."""
    return store.frame(
        f"""
        SELECT instances.run_id, instances.text_hash,
            list_position([{_marks(run_ids)}], instances.run_id) AS place,
            max(measures.value) FILTER (measures.measure = 'correct') AS correct,
            max(measures.value) FILTER (measures.measure IN ('margin', 'logprob')) AS margin
        FROM instances
        LEFT JOIN measures
            ON measures.run_id = instances.run_id
            AND measures.run_id IN ({_marks(run_ids)})
            AND measures.instance_id = ?
            AND measures.measure IN ('correct', 'margin', 'logprob')
            AND measures.option = -1
            AND measures.part IS NULL
            AND (measures.condition IS NULL OR measures.condition = 'original')
        WHERE instances.run_id IN ({_marks(run_ids)})
            AND instances.instance_id = ?
        GROUP BY ALL
        ORDER BY place
        """,
        [*run_ids, *run_ids, instance_id, *run_ids, instance_id],
    )


def popularity(store: Store, run_id: str, measure: str) -> pd.DataFrame:
    """A row per instance of a run that counted n-grams: a measure of its popularity, and the hash of its text."""
    return store.frame(
        f"""
        SELECT asked.instance_id, asked.value, instances.text_hash
        FROM ({MEASURES[measure].query}) AS asked
        JOIN instances
            ON instances.run_id = $1
            AND instances.instance_id = asked.instance_id
        WHERE asked.value IS NOT NULL
            AND NOT isnan(asked.value)
        """,
        [run_id],
    )


def of_right_texts(store: Store, run_ids: Sequence[str], measure: str) -> pd.DataFrame:
    """A row per run and instance: a measure of its right text, of the only one where none is right."""
    return store.frame(
        f"""
        SELECT measures.run_id, measures.instance_id, measures.value
        FROM measures
        JOIN instances USING (run_id, instance_id)
        WHERE measures.run_id IN ({_marks(run_ids)})
            AND instances.run_id IN ({_marks(run_ids)})
            AND measures.measure = ?
            AND measures.option = coalesce(instances.gold, 0)
        ORDER BY measures.run_id, instances.position, measures.instance_id
        """,
        [*run_ids, *run_ids, measure],
    )


def counted_runs(store: Store, benchmark: str) -> pd.DataFrame:
    """The complete runs on a benchmark that counted n-grams, the largest and then the newest first."""
    return store.frame(
        """
        SELECT run_id, study, model, benchmark, status, created, done, total, seed, spec
        FROM runs
        WHERE study = 'popularity'
            AND benchmark = ?
            AND status = 'complete'
        ORDER BY done DESC, created DESC, run_id
        """,
        [benchmark],
    )


def _marks(run_ids: Sequence[str]) -> str:
    return ", ".join("?" * len(run_ids))
