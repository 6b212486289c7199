"""What the page on memorization asks of the database."""

from __future__ import annotations

import pandas as pd

from explorer.finding import quoted
from explorer.results.measures import mean_of_all
from explorer.results.queries import runs_on
from explorer.results.store import Store
from explorer.studies.memorization import declared


def runs(store: Store, benchmark: str) -> pd.DataFrame:
    """The memorization runs on a benchmark that concluded something: complete ones first, then the larger ones."""
    return runs_on(store, "memorization", benchmark, declared.SCORE)


def groups(store: Store, run_id: str) -> pd.DataFrame:
    """The groups of instances that a run has findings about, the broadest first."""
    return store.frame(
        f"""
        SELECT grp, max(n) AS n
        FROM findings
        WHERE run_id = ?
            AND finding = '{declared.SCORE}'
        GROUP BY grp
        ORDER BY grp <> 'overall', n DESC, grp
        """,
        [run_id],
    )


def findings_of_group(store: Store, run_id: str, group: str) -> pd.DataFrame:
    """All that a memorization run found about one group: rows of findings, `setting` naming the attack."""
    return store.frame(
        f"""
        SELECT finding, setting, condition, part, value, low, high, p, n, left_out, reason, detail
        FROM findings
        WHERE run_id = ?
            AND grp = ?
            AND finding IN ({quoted(*declared.OF_ATTACK)})
        ORDER BY finding, setting, condition, part
        """,
        [run_id, group],
    )


def by_task(store: Store, model: str) -> pd.DataFrame:
    """How well a model's scores of memorization tell right from wrong, task by task, each from the run with most items.

    A row per task (`grp`) and attack (`setting`): macro-F1 of logistic regression (value, low, high, n), of the
    majority dummy (dummy), and the run.
    """
    return store.frame(
        f"""
        SELECT run_id, benchmark, grp, setting,
            max(value) FILTER (condition = 'logistic') AS value,
            max(low) FILTER (condition = 'logistic') AS low,
            max(high) FILTER (condition = 'logistic') AS high,
            max(findings.n) FILTER (condition = 'logistic') AS n,
            max(value) FILTER (condition = 'majority') AS dummy
        FROM findings
        JOIN runs USING (run_id)
        WHERE study = 'memorization'
            AND status = 'complete'
            AND model = ?
            AND finding = '{declared.CLASSIFIER_F1}'
            AND setting IS NOT NULL
        GROUP BY run_id, benchmark, grp, setting
        HAVING max(value) FILTER (condition = 'logistic') IS NOT NULL
        QUALIFY row_number() OVER (PARTITION BY grp, setting ORDER BY max(findings.n) DESC, run_id) = 1
        ORDER BY grp, setting
        """,
        [model],
    )


def neighbors_by(store: Store, run_id: str) -> pd.DataFrame:
    """Who proposed a run's neighbors, of how many instances, and why not of more; no row without neighbors."""
    return store.frame(
        f"""
        SELECT setting, value, left_out, reason, detail
        FROM findings
        WHERE run_id = ?
            AND finding = '{declared.NEIGHBORS_BY}'
        """,
        [run_id],
    )


def labels(store: Store, run_id: str) -> pd.DataFrame:
    """A row per text of a run that was made with labels: instance_id, option, member (1, 0, nan where unknown)."""
    return store.frame(
        """
        SELECT instance_id, option, value AS member
        FROM measures
        WHERE run_id = ?
            AND measure = 'member'
            AND option >= 0
        ORDER BY ALL
        """,
        [run_id],
    )


def items(store: Store, run_id: str, attack: str) -> pd.DataFrame:
    """A row per instance: the attack's score of the right text, the mean of the others', and whether it was right."""
    return store.frame(
        f"""
        SELECT instances.instance_id, instances.benchmark, instances.grp, instances.phenomenon, instances.field,
            max(measures.value) FILTER (measures.option = coalesce(instances.gold, 0)) AS own,
            {mean_of_all("measures.value", "measures.option <> coalesce(instances.gold, 0)")} AS other,
            max(verdict.value) AS correct
        FROM instances
        JOIN measures
            ON measures.run_id = instances.run_id
            AND measures.instance_id = instances.instance_id
            AND measures.measure = ?
            AND measures.option >= 0
        LEFT JOIN measures AS verdict
            ON verdict.run_id = instances.run_id
            AND verdict.instance_id = instances.instance_id
            AND verdict.measure = 'correct'
            AND verdict.condition IS NULL
        WHERE instances.run_id = ?
        GROUP BY ALL
        ORDER BY instances.instance_id
        """,
        [attack, run_id],
    )
