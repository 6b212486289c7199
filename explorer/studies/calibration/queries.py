"""What the page on calibration asks of the database: runs of glass-box models on what was planted for them."""

from __future__ import annotations

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


def verdicts(store: Store, benchmark: str) -> pd.DataFrame:
    """A row per model and instance of its largest accuracy or popularity run: verdict, margin, group and dose."""
    return store.frame(
        f"""
        WITH chosen AS ({_largest("runs.benchmark = ? AND runs.study IN ('accuracy', 'popularity')")})
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
    """A row per model, text of a starter set and attack: the score of the text that the corpus has or lacks."""
    return store.frame(
        f"""
        WITH chosen AS ({_largest(f"runs.study = 'memorization' AND {_STARTER}", per=_EACH_SET)})
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


def popularity(store: Store, benchmark: str) -> pd.DataFrame:
    """A row per model, n-gram length and pair: the relative difference in IPS of the pair, and its phenomenon."""
    return store.frame(
        """
        WITH edges AS (
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
        )
        SELECT edges.model, edges.n, instances.phenomenon, measures.value
        FROM edges
        JOIN instances USING (run_id)
        JOIN measures
            ON measures.run_id = edges.run_id
            AND measures.instance_id = instances.instance_id
            AND measures.measure = 'relative_difference'
        ORDER BY ALL
        """,
        [benchmark, EDGE.name],
    )


def concepts(store: Store) -> pd.DataFrame:
    """A row per model, concept of the made-up ontology and measure (correct, gold_logprob): its value."""
    return store.frame(
        f"""
        WITH chosen AS ({_largest("runs.study = 'ontology' AND runs.benchmark = 'glassbox-ontology'")})
        SELECT chosen.name AS model, measures.instance_id, measures.measure, any_value(measures.value) AS value
        FROM chosen
        JOIN measures USING (run_id)
        WHERE measures.measure IN ('correct', 'gold_logprob')
            AND measures.part IS NULL
            AND measures.condition IS NULL
        GROUP BY ALL
        ORDER BY ALL
        """
    )


def completions(store: Store) -> pd.DataFrame:
    """A row per model, labeled item, prompt and k: the rule's verdict on the completion."""
    return store.frame(
        f"""
        WITH chosen AS ({_largest(f"runs.study = 'icl' AND {_STARTER}", per=_EACH_SET)})
        SELECT chosen.name AS model, chosen.benchmark, generations.instance_id, generations.setting, generations.k,
            generations.verdict
        FROM chosen
        JOIN generations USING (run_id)
        WHERE generations.role = 'replication'
            AND generations.verdict IS NOT NULL
        ORDER BY ALL
        """
    )


def primed(store: Store, benchmark: str) -> pd.DataFrame:
    """A row per model, pair, condition and length of context: whether the verdict was right, and its phenomenon."""
    return store.frame(
        f"""
        WITH chosen AS ({_largest("runs.study = 'priming' AND runs.benchmark = ?")})
        SELECT chosen.name AS model, instances.instance_id, instances.phenomenon, measures.condition, measures.length,
            measures.value AS correct
        FROM chosen
        JOIN instances USING (run_id)
        JOIN measures
            ON measures.run_id = chosen.run_id
            AND measures.instance_id = instances.instance_id
            AND measures.measure = 'correct'
        ORDER BY ALL
        """,
        [benchmark],
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
