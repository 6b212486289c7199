"""What the page on popularity and the n-gram strip ask of the database."""

from __future__ import annotations

import pandas as pd

from explorer.finding import quoted
from explorer.results.measures import mean_of_all
from explorer.results.store import Store
from explorer.studies.popularity import declared


def runs(store: Store) -> pd.DataFrame:
    """Every run that rated popularity, alone or before and after a perturbation: its index and its deciles (JSON)."""
    return store.frame(
        f"""
        SELECT runs.run_id, runs.study, runs.model, runs.benchmark, runs.status, runs.created, runs.done,
            json_extract_string(runs.spec, '$.settings.index') AS index_name,
            findings.detail AS edges
        FROM runs
        JOIN findings USING (run_id)
        WHERE findings.finding = '{declared.EDGE}'
            AND findings.detail IS NOT NULL
        ORDER BY runs.status = 'complete' DESC, runs.done DESC, runs.created DESC
        """
    )


def halves(store: Store) -> pd.DataFrame:
    """A row per group of every popularity run: accuracy of its low and high half, their difference and its p."""
    return store.frame(
        f"""
        WITH half AS (
            SELECT run_id, grp, setting, value, low, high, n
            FROM findings
            WHERE finding = '{declared.SPLIT.half}'
        )
        SELECT runs.run_id, runs.model, runs.benchmark, runs.done, runs.created, gap.grp,
            below.value AS low_value, below.low AS low_low, below.high AS low_high, below.n AS low_n,
            above.value AS high_value, above.low AS high_low, above.high AS high_high, above.n AS high_n,
            gap.value AS difference, gap.low AS difference_low, gap.high AS difference_high, gap.p, gap.n,
            gap.left_out, gap.reason, over_paradigms.low AS over_low, over_paradigms.high AS over_high,
            CAST(over_paradigms.detail->>'paradigms' AS INTEGER) AS over_units,
            edges.detail AS edges
        FROM findings AS gap
        JOIN runs USING (run_id)
        JOIN half AS below
            ON below.run_id = gap.run_id
            AND below.grp = gap.grp
            AND below.setting = 'low'
        JOIN half AS above
            ON above.run_id = gap.run_id
            AND above.grp = gap.grp
            AND above.setting = 'high'
        LEFT JOIN findings AS over_paradigms
            ON over_paradigms.run_id = gap.run_id
            AND over_paradigms.grp = gap.grp
            AND over_paradigms.finding = '{declared.SPLIT.difference_over_paradigms}'
        JOIN findings AS edges
            ON edges.run_id = gap.run_id
            AND edges.finding = '{declared.EDGE}'
            AND edges.detail IS NOT NULL
        WHERE gap.finding = '{declared.SPLIT.difference}'
            AND runs.study = 'popularity'
            AND runs.status = 'complete'
        ORDER BY runs.done DESC, runs.created DESC
        """
    )


def findings_of_group(store: Store, run_id: str, group: str) -> pd.DataFrame:
    """All that a popularity run found about one group of instances, bins of its curve in order."""
    return store.frame(
        f"""
        SELECT finding, setting, part, value, low, high, p, n, left_out, reason, detail
        FROM findings
        WHERE run_id = ?
            AND grp = ?
            AND finding IN ({quoted(*declared.SPLIT.every)})
        ORDER BY finding, part, setting
        """,
        [run_id, group],
    )


def groups(store: Store, run_id: str) -> pd.DataFrame:
    """The groups that a popularity run compared, as it found them."""
    return store.frame(
        f"""
        SELECT grp, n, left_out
        FROM findings
        WHERE run_id = ?
            AND finding = '{declared.SPLIT.difference}'
        """,
        [run_id],
    )


def items(store: Store, run_id: str) -> pd.DataFrame:
    """A row per instance: IPS of its right option and mean IPS of the others, relative difference, outcome; the most
    popular first."""
    others = "measures.measure = 'ips' AND measures.option <> coalesce(instances.gold, 0)"
    return store.frame(
        f"""
        SELECT instances.instance_id, instances.benchmark, instances.grp, instances.phenomenon, instances.field,
            max(measures.value) FILTER (measures.measure = 'ips' AND measures.option = coalesce(instances.gold, 0))
                AS ips,
            {mean_of_all("measures.value", others)}
                AS ips_others,
            max(measures.value) FILTER (measures.measure = 'relative_difference') AS relative_difference,
            max(measures.value) FILTER (measures.measure = 'correct') AS correct,
            max(measures.reason) FILTER (
                measures.measure = 'ips' AND measures.option = coalesce(instances.gold, 0)
            ) AS reason
        FROM instances
        LEFT JOIN measures
            ON measures.run_id = instances.run_id
            AND measures.instance_id = instances.instance_id
        WHERE instances.run_id = ?
        GROUP BY ALL
        ORDER BY ips DESC NULLS LAST, instances.instance_id
        """,
        [run_id],
    )


def undefined(store: Store, run_id: str) -> pd.DataFrame:
    """Why instances have no popularity in a run, and how many: the counts that could not be had or texts too short."""
    return store.frame(
        """
        SELECT CASE WHEN count(DISTINCT reason) = 1 THEN min(reason) ELSE 'such as: ' || min(reason) END AS why,
            count(DISTINCT instance_id) AS n
        FROM measures
        WHERE run_id = ?
            AND measure = 'ips'
            AND (value IS NULL OR isnan(value))
        GROUP BY regexp_replace(reason, '[0-9][0-9,]*', '', 'g')
        ORDER BY n DESC
        """,
        [run_id],
    )
