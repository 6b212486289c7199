"""What the page on findings across studies asks of the database."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from explorer.results.measures import MEASURES
from explorer.results.store import Store


def runs(store: Store, benchmark: str) -> pd.DataFrame:
    """Every run on a benchmark that judged something: complete ones first, then larger, then newer ones."""
    return store.frame(
        """
        SELECT run_id, study, model, status, created, done, spec
        FROM runs
        WHERE benchmark = ?
            AND done > 0
        ORDER BY status = 'complete' DESC, done DESC, created DESC
        """,
        [benchmark],
    )


def size(store: Store, measure: str, run_id: str) -> pd.DataFrame:
    """How many instances have a measure (a key of MEASURES) in a run."""
    return store.frame(
        f"""
        WITH asked AS ({MEASURES[measure].query})
        SELECT count(*) AS n
        FROM asked
        WHERE value IS NOT NULL
            AND NOT isnan(value)
        """,
        [run_id],
    )


def table(store: Store, sources: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """A row per instance, a column for each measure, which is asked of its own run: `sources` are (measure, run id).

    The text of an instance is the one that the first of these runs saw; what a run measured of another text under the
    same id is left out, and `other_text` says how many values that were.
    """
    runs = list(dict.fromkeys(run_id for _, run_id in sources))
    subqueries, joins, columns, others = [], [], [], ["0"]
    for measure, run_id in sources:
        number = runs.index(run_id) + 1
        query = MEASURES[measure].query.replace("$1", f"${number}")
        subqueries.append(
            f"""
            {measure} AS (
                SELECT asked.instance_id, asked.value, seen.text_hash
                FROM ({query}) AS asked
                JOIN instances AS seen
                    ON seen.run_id = ${number}
                    AND seen.instance_id = asked.instance_id
                WHERE asked.value IS NOT NULL
                    AND NOT isnan(asked.value)
            )
            """
        )
        joins.append(f"LEFT JOIN {measure} ON {measure}.instance_id = items.instance_id")
        same = f"{measure}.text_hash = items.text_hash"
        columns.append(f"CASE WHEN {same} THEN {measure}.value END AS {measure}")
        others.append(f"coalesce(CAST({measure}.text_hash <> items.text_hash AS INTEGER), 0)")
    return store.frame(
        f"""
        WITH items AS (
            SELECT instance_id, min_by(text_hash, place) AS text_hash, min_by(grp, place) AS grp,
                min_by(phenomenon, place) AS phenomenon, min_by(field, place) AS field, min(position) AS position
            FROM (
                SELECT instances.*, list_position([{", ".join(f"${n + 1}" for n in range(len(runs)))}], run_id) AS place
                FROM instances
            )
            WHERE place IS NOT NULL
                AND place > 0
            GROUP BY instance_id
        ),
        {", ".join(subqueries)}
        SELECT items.instance_id, items.grp, items.phenomenon, items.field, {", ".join(columns)},
            {" + ".join(others)} AS other_text
        FROM items
        {" ".join(joins)}
        ORDER BY items.position, items.instance_id
        """,
        runs,
    )


def phenomena(store: Store, run_id: str) -> pd.DataFrame:
    """The phenomenon of each instance of a run."""
    return store.frame("SELECT instance_id, phenomenon FROM instances WHERE run_id = ?", [run_id])


def undecided(store: Store) -> pd.DataFrame:
    """A row per run with verdicts: how many it gave, and how many of them lie within its number format's precision.

    Such a verdict keeps the option with the higher sum; it could as well be the other way round.
    """
    return store.frame(
        """
        SELECT run_id, count(*) AS n, count(*) FILTER (reason = 'undecided at this precision') AS undecided
        FROM measures
        WHERE measure = 'correct'
            AND value IS NOT NULL
            AND NOT isnan(value)
        GROUP BY run_id
        """
    )
