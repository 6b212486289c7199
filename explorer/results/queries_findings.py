"""What the page on findings across studies asks of the database."""

from __future__ import annotations

import pandas as pd

from explorer.results.measures import MEASURES
from explorer.results.store import Store


def runs(store: Store, benchmark: str) -> pd.DataFrame:
    """Every run on a benchmark that judged something: complete ones first, then larger, then newer ones."""
    return store.frame(
        """
        SELECT run_id, study, model, status, created, done
        FROM runs
        WHERE benchmark = ?
            AND done > 0
        ORDER BY status = 'complete' DESC, done DESC, created DESC
        """,
        [benchmark],
    )


def values(store: Store, measure: str, run_id: str) -> pd.DataFrame:
    """A row an instance that has the measure (a key of MEASURES) in a run: its value, groups and text_hash."""
    return store.frame(
        f"""
        WITH asked AS ({MEASURES[measure].query})
        SELECT instance_id, instances.text_hash, instances.grp, instances.phenomenon, instances.field, asked.value
        FROM asked
        JOIN (SELECT * FROM instances WHERE run_id = $1) AS instances USING (instance_id)
        WHERE asked.value IS NOT NULL
            AND NOT isnan(asked.value)
        ORDER BY instances.position
        """,
        [run_id],
    )


def undecided(store: Store) -> pd.DataFrame:
    """A row a run with verdicts: how many it gave, and how many of them lie within the precision of its number format.

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
