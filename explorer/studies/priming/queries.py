"""What the page on priming asks of the database."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from explorer.finding import quoted
from explorer.results.queries import runs_on
from explorer.results.store import Store
from explorer.studies.priming import declared


def runs(store: Store, benchmark: str) -> pd.DataFrame:
    """The priming runs on a benchmark that concluded something: complete ones first, then those with more items."""
    return runs_on(store, "priming", benchmark, declared.PRIMING_ACCURACY)


def curves(store: Store, run_ids: Sequence[str], finding: str, group: str) -> pd.DataFrame:
    """A row per run, condition and length: a finding of the curves (for example priming_delta) for one group."""
    return store.frame(
        """
        SELECT findings.run_id, runs.model, condition, length, value, low, high, n, left_out, reason,
            CAST(detail->>'units' AS INTEGER) AS units
        FROM findings
        JOIN runs USING (run_id)
        WHERE list_contains(?, findings.run_id)
            AND finding = ?
            AND grp = ?
        ORDER BY list_position(?, findings.run_id), condition, length
        """,
        [list(run_ids), finding, group, list(run_ids)],
    )


def groups(store: Store, run_id: str) -> pd.DataFrame:
    """What the curves of a run are given for: overall, means over suites, suites, phenomena (`finding` tells which)."""
    accuracy = declared.PRIMING_ACCURACY
    return store.frame(
        f"""
        SELECT grp, finding, max(n) AS n
        FROM findings
        WHERE run_id = ?
            AND finding IN ({quoted(accuracy, declared.BY_PHENOMENON[accuracy])})
        GROUP BY ALL
        """,
        [run_id],
    )


def suites(store: Store, run_id: str) -> pd.DataFrame:
    """A row per suite and condition: mean change of accuracy over lengths, its sd, and accuracy at both ends."""
    return store.frame(
        f"""
        WITH accuracy AS (
            SELECT grp, condition, min_by(value, length) AS baseline, max_by(value, length) AS longest,
                max(length) AS longest_length, max(n) AS n
            FROM findings
            WHERE run_id = ?
                AND finding = '{declared.PRIMING_ACCURACY}'
            GROUP BY ALL
        )
        SELECT findings.grp, findings.condition, findings.value AS delta,
            CAST(findings.detail->>'sd' AS DOUBLE) AS sd, accuracy.baseline, accuracy.longest,
            accuracy.longest_length, accuracy.n
        FROM findings
        JOIN accuracy USING (grp, condition)
        WHERE run_id = ?
            AND finding = '{declared.SUITE_DELTA}'
        ORDER BY findings.condition, delta DESC
        """,
        [run_id, run_id],
    )


def items(store: Store, run_id: str, condition: str, length: int = -1) -> pd.DataFrame:
    """A row per pair: verdict and margin (nats) without a context and after one of this condition and length.

    The longest length where it is below 0; several contexts of a pair are averaged.
    """
    return store.frame(
        """
        WITH judged AS (
            SELECT instance_id, condition, length, measure, avg(value) AS value
            FROM measures
            WHERE run_id = $1
                AND option = -1
                AND setting IS NULL
                AND measure IN ('margin', 'correct')
                AND condition IN ('baseline', $2)
                AND value IS NOT NULL
                AND NOT isnan(value)
            GROUP BY ALL
        ),
        wanted AS (
            SELECT CASE WHEN $3 >= 0 THEN $3 ELSE max(length) END AS length
            FROM judged
            WHERE condition = $2
        )
        SELECT instances.instance_id, instances.grp, max(wanted.length) AS length,
            max(value) FILTER (condition = 'baseline' AND measure = 'correct') AS correct_before,
            max(value) FILTER (condition = 'baseline' AND measure = 'margin') AS margin_before,
            max(value) FILTER (condition = $2 AND measure = 'correct') AS correct_after,
            max(value) FILTER (condition = $2 AND measure = 'margin') AS margin_after
        FROM judged
        JOIN wanted ON judged.condition = 'baseline' OR judged.length = wanted.length
        JOIN instances ON instances.run_id = $1 AND instances.instance_id = judged.instance_id
        GROUP BY instances.instance_id, instances.grp
        HAVING correct_after IS NOT NULL
        ORDER BY instances.instance_id
        """,
        [run_id, condition, length],
    )


def reach(store: Store, run_id: str) -> pd.DataFrame:
    """A row per suite and condition whose contexts end before the longest length, with the reason."""
    return store.frame(
        f"""
        SELECT grp, condition, CAST(value AS INTEGER) AS length, n, left_out AS cut, reason
        FROM findings
        WHERE run_id = ?
            AND finding = '{declared.PRIMING_REACH}'
            AND reason <> ''
        ORDER BY length, grp, condition
        """,
        [run_id],
    )


def regression(store: Store, run_id: str) -> pd.DataFrame:
    """A row per term of each fitted regression (`setting`), in the order of the formula."""
    return store.frame(
        f"""
        SELECT setting, grp AS term, value AS estimate, CAST(detail->>'se' AS DOUBLE) AS se,
            CAST(detail->>'z' AS DOUBLE) AS z, p, low, high, n, reason
        FROM findings
        WHERE run_id = ?
            AND finding = '{declared.REGRESSION}'
        ORDER BY setting, part
        """,
        [run_id],
    )


def fits(store: Store, run_id: str) -> pd.DataFrame:
    """A row per regression (`setting`): its log-likelihood, AIC, formula and remarks (JSON)."""
    return store.frame(
        f"""
        SELECT setting, value AS loglik, n, left_out, reason, detail
        FROM findings
        WHERE run_id = ?
            AND finding = '{declared.REGRESSION_FIT}'
        """,
        [run_id],
    )


def edits(store: Store, run_id: str) -> pd.DataFrame:
    """The curves and effects of prefix perturbations, and their correlation with similarity (`finding`)."""
    return store.frame(
        f"""
        SELECT finding, condition, setting, length, value, low, high, p, n, reason,
            CAST(detail->>'similarity' AS DOUBLE) AS similarity, CAST(detail->>'suites' AS INTEGER) AS suites
        FROM findings
        WHERE run_id = ?
            AND finding IN ({quoted(*declared.EDITS)})
        ORDER BY finding, condition, length
        """,
        [run_id],
    )


def matrix(store: Store, run_id: str, finding: str) -> pd.DataFrame:
    """A row per cell of a suite-by-suite matrix: target suite `grp`, context suite `other`."""
    return store.frame(
        """
        SELECT grp, setting AS other, value, n
        FROM findings
        WHERE run_id = ?
            AND finding = ?
        ORDER BY grp, other
        """,
        [run_id, finding],
    )


def correlations(store: Store, run_id: str) -> pd.DataFrame:
    """Every correlation that a run concluded, with its interval or permutation p."""
    return store.frame(
        f"""
        SELECT finding, condition, setting, value, low, high, p, n, left_out, reason
        FROM findings
        WHERE run_id = ?
            AND finding IN ({quoted(*declared.CORRELATIONS)})
        ORDER BY finding, condition, setting
        """,
        [run_id],
    )


def remarks(store: Store, run_id: str) -> pd.DataFrame:
    """What a reader should know about a run: the source of unrelated sentences, shared contexts, whole suites."""
    return store.frame(
        f"""
        SELECT finding, setting, value, reason, detail
        FROM findings
        WHERE run_id = ?
            AND finding IN ({quoted(*declared.REMARKS)})
        """,
        [run_id],
    )


def curves_by_group(store: Store, run_id: str, finding: str) -> pd.DataFrame:
    """A row per group, condition and length of one finding of the curves."""
    return store.frame(
        """
        SELECT grp, condition, length, value, low, high, n, left_out, reason
        FROM findings
        WHERE run_id = ?
            AND finding = ?
        ORDER BY grp, condition, length
        """,
        [run_id, finding],
    )
