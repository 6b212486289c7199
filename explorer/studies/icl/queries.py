"""What the page on in-context memorization asks of the database."""

from __future__ import annotations

import pandas as pd

from explorer.finding import quoted
from explorer.results.queries import runs_on
from explorer.results.store import Store
from explorer.rows.schema import TABLES
from explorer.studies.icl import declared


def runs(store: Store, benchmark: str) -> pd.DataFrame:
    """The in-context runs on a benchmark that concluded something: complete ones first, then those with more items."""
    return runs_on(store, "icl", benchmark, declared.REPLICATION)


def rows(store: Store, run_id: str, table: str, columns: tuple[str, ...]) -> pd.DataFrame:
    """Columns of a stored run's table, in no order, as `rows.verdict_table` takes them."""
    named = ", ".join(name for name in columns if name in TABLES[table])
    return store.frame(f"SELECT {named} FROM {table} WHERE run_id = ?", [run_id])


def findings(store: Store, run_id: str, finding: str, group: str = "overall") -> pd.DataFrame:
    """A finding's rows over settings, k, verdicts (`condition`) and orders (`part`)."""
    return store.frame(
        """
        SELECT grp, setting, k, part, condition, value, low, high, p, n, left_out, reason, detail
        FROM findings
        WHERE run_id = ?
            AND finding = ?
            AND (grp = ? OR ? = '')
        ORDER BY setting, condition, part, k
        """,
        [run_id, finding, group, group],
    )


def memorized_against_others(store: Store, run_id: str, condition: str) -> pd.DataFrame:
    """Label accuracy of memorized items and of the others by setting and k, by whose verdicts (`condition`).

    Columns setting, k, memorized, other, n_memorized, n_other, and of their gap value, low, high, n, p.
    """
    memorized, other, gap = (
        quoted(finding) for finding in (declared.ACCURACY_MEMORIZED, declared.ACCURACY_OTHER, declared.ACCURACY_GAP)
    )
    return store.frame(
        f"""
        SELECT
            setting,
            k,
            any_value(value) FILTER (finding = {memorized}) AS memorized,
            any_value(value) FILTER (finding = {other}) AS other,
            any_value(n) FILTER (finding = {memorized}) AS n_memorized,
            any_value(n) FILTER (finding = {other}) AS n_other,
            any_value(value) FILTER (finding = {gap}) AS value,
            any_value(low) FILTER (finding = {gap}) AS low,
            any_value(high) FILTER (finding = {gap}) AS high,
            any_value(n) FILTER (finding = {gap}) AS n,
            any_value(p) FILTER (finding = {gap}) AS p
        FROM findings
        WHERE run_id = ?
            AND finding IN ({memorized}, {other}, {gap})
            AND grp = 'overall'
            AND condition = ?
        GROUP BY setting, k
        ORDER BY setting, k
        """,
        [run_id, condition],
    )


def together(store: Store, model: str) -> pd.DataFrame:
    """Of the model's largest complete run on each benchmark the shares replicated and the label accuracy over k.

    Columns benchmark, run_id, finding, setting, k, condition (whose verdicts), value, low, high, n.
    """
    return store.frame(
        f"""
        WITH largest AS (
            SELECT benchmark, run_id
            FROM runs
            WHERE study = 'icl'
                AND status = 'complete'
                AND model = ?
            QUALIFY row_number() OVER (PARTITION BY benchmark ORDER BY done DESC, created DESC) = 1
        )
        SELECT largest.benchmark, largest.run_id, finding, setting, k, condition, value, low, high, n
        FROM findings
        JOIN largest USING (run_id)
        WHERE finding IN ({
            quoted(
                declared.REPLICATION,
                declared.REPLICATION_EXACT,
                declared.LABEL_ACCURACY,
                declared.LABEL_ACCURACY_WRITTEN,
            )
        })
            AND grp = 'overall'
            AND part IS NULL
            AND k IS NOT NULL
            AND value IS NOT NULL
        ORDER BY largest.benchmark, finding, setting, condition, k
        """,
        [model],
    )
