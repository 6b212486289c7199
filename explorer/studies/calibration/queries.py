"""What the page on calibration asks of the database: runs of glass-box models on what was planted for them."""

from __future__ import annotations

import pandas as pd

from explorer.results.store import Store


def verdicts(store: Store, benchmark: str) -> pd.DataFrame:
    """A row a model and instance of its largest accuracy or popularity run: verdict, margin, group and dose."""
    return store.frame(
        """
        WITH chosen AS (
            SELECT runs.run_id, runs.model AS name
            FROM runs
            WHERE runs.benchmark = ?
                AND runs.study IN ('accuracy', 'popularity')
                AND runs.status = 'complete'
                AND starts_with(runs.model, 'glassbox-')
            QUALIFY row_number() OVER (PARTITION BY runs.model ORDER BY runs.done DESC, runs.created DESC) = 1
        )
        SELECT chosen.name AS model, chosen.run_id, instances.instance_id, instances.grp, instances.phenomenon,
            max(measures.value) FILTER (measures.measure = 'correct') AS correct,
            max(measures.value) FILTER (measures.measure = 'margin') AS margin
        FROM chosen
        JOIN instances USING (run_id)
        JOIN measures
            ON measures.run_id = chosen.run_id
            AND measures.instance_id = instances.instance_id
            AND measures.measure IN ('correct', 'margin')
            AND measures.condition IS NULL
        GROUP BY ALL
        ORDER BY model, instances.instance_id
        """,
        [benchmark],
    )


def attacks(store: Store) -> pd.DataFrame:
    """A row a model, text of a starter set and attack: the score of the text that the corpus has or lacks."""
    return store.frame(
        """
        WITH chosen AS (
            SELECT runs.run_id, runs.model AS name
            FROM runs
            WHERE runs.study = 'memorization'
                AND starts_with(runs.benchmark, 'starter_')
                AND runs.status = 'complete'
                AND starts_with(runs.model, 'glassbox-')
            QUALIFY row_number() OVER (
                PARTITION BY runs.model, runs.benchmark ORDER BY runs.done DESC, runs.created DESC
            ) = 1
        )
        SELECT chosen.name AS model, instances.benchmark, instances.instance_id, measures.measure AS attack,
            measures.value
        FROM chosen
        JOIN instances USING (run_id)
        JOIN measures
            ON measures.run_id = chosen.run_id
            AND measures.instance_id = instances.instance_id
            AND measures.option = coalesce(instances.gold, 0)
        ORDER BY ALL
        """
    )
