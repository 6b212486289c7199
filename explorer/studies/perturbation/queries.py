"""What the page on perturbation asks of the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from explorer.finding import quoted
from explorer.results.store import Store
from explorer.studies.perturbation import declared

# What became of an instance → the condition on its outcomes before and after; a tie is not right, as in the tests.
FATES: Mapping[str, str] = {
    "lost (right, then wrong)": "correct_before = 1 AND correct_after < 1",
    "gained (wrong, then right)": "correct_before < 1 AND correct_after = 1",
    "right both times": "correct_before = 1 AND correct_after = 1",
    "wrong both times": "correct_before < 1 AND correct_after < 1",
    "no verdict": "accepted AND (correct_before IS NULL OR correct_after IS NULL "
    "OR isnan(correct_before) OR isnan(correct_after))",
    "rejected": "NOT accepted",
    "nothing to swap": "accepted AND swaps = 0",
}


def runs(store: Store) -> pd.DataFrame:
    """Every complete perturbation run with its settings (JSON)."""
    return store.frame(
        """
        SELECT run_id, model, benchmark, status, created, done, seed, json_extract(spec, '$.settings') AS settings
        FROM runs
        WHERE study = 'perturbation'
            AND status = 'complete'
        ORDER BY done DESC, created DESC
        """
    )


def changes(store: Store) -> pd.DataFrame:
    """A row per run, group and setting: accuracies and perplexities before and after, McNemar's p, the popularity of
    flips, the shares accepted and judged the same."""
    finding_of_column = {
        "all_value": (declared.ACCURACY_ORIGINAL_ALL, "value"),
        "all_n": (declared.ACCURACY_ORIGINAL_ALL, "n"),
        "before": (declared.ACCURACY_ORIGINAL, "value"),
        "before_low": (declared.ACCURACY_ORIGINAL, "low"),
        "before_high": (declared.ACCURACY_ORIGINAL, "high"),
        "after": (declared.ACCURACY_PERTURBED, "value"),
        "after_low": (declared.ACCURACY_PERTURBED, "low"),
        "after_high": (declared.ACCURACY_PERTURBED, "high"),
        "change": (declared.CHANGE, "value"),
        "p": (declared.CHANGE, "p"),
        "n": (declared.CHANGE, "n"),
        "left_out": (declared.CHANGE, "left_out"),
        "change_detail": (declared.CHANGE, "detail"),
        "change_low": (declared.CHANGE, "low"),
        "change_high": (declared.CHANGE, "high"),
        "draws_change": (declared.CHANGE_OVER_DRAWS, "value"),
        "draws_low": (declared.CHANGE_OVER_DRAWS, "low"),
        "draws_high": (declared.CHANGE_OVER_DRAWS, "high"),
        "draws_detail": (declared.CHANGE_OVER_DRAWS, "detail"),
        "perplexity_before": (declared.PERPLEXITY_ORIGINAL, "value"),
        "perplexity_after": (declared.PERPLEXITY_PERTURBED, "value"),
        "perplexity_change": (declared.PERPLEXITY_CHANGE, "value"),
        "flips_p": (declared.IPS_OF_LOST, "p"),
        "flips_n": (declared.IPS_OF_LOST, "n"),
        "flips_detail": (declared.IPS_OF_LOST, "detail"),
        "flips_reason": (declared.IPS_OF_LOST, "reason"),
        "accepted": (declared.ACCEPTED, "value"),
        "accepted_detail": (declared.ACCEPTED, "detail"),
        "same": (declared.JUDGED_SAME, "value"),
        "same_low": (declared.JUDGED_SAME, "low"),
        "same_high": (declared.JUDGED_SAME, "high"),
        "same_n": (declared.JUDGED_SAME, "n"),
        "same_unparsed": (declared.JUDGED_SAME, "left_out"),
    }
    picked = ",\n".join(
        f"max(found.{column}) FILTER (found.finding = '{finding}') AS {name}"
        for name, (finding, column) in finding_of_column.items()
    )
    return store.frame(
        f"""
        SELECT runs.run_id, runs.model, runs.benchmark, runs.done, runs.created, found.grp, found.setting,
            coalesce(json_extract_string(runs.spec, '$.settings.method'), 'careful') AS method, {picked}
        FROM findings AS found
        JOIN runs USING (run_id)
        WHERE runs.study = 'perturbation'
            AND runs.status = 'complete'
            AND found.setting IS NOT NULL
        GROUP BY ALL
        HAVING n IS NOT NULL
        ORDER BY runs.done DESC, runs.created DESC
        """
    )


def popularity(store: Store, run_id: str, setting: str, width: float = 0.25) -> pd.DataFrame:
    """How many right options' texts have which IPS, original and perturbed, in bins of `width`."""
    return store.frame(
        """
        SELECT measures.condition AS series, floor(measures.value / ?) * ? AS bin, count(*) AS n
        FROM measures
        JOIN instances
            ON instances.run_id = measures.run_id
            AND instances.instance_id = measures.instance_id
        WHERE measures.run_id = ?
            AND measures.measure = 'ips'
            AND measures.option = coalesce(instances.gold, 0)
            AND (measures.condition = 'original' OR measures.setting = ?)
            AND measures.value IS NOT NULL
            AND NOT isnan(measures.value)
        GROUP BY ALL
        ORDER BY series, bin
        """,
        [width, width, run_id, setting],
    )


def frequencies(store: Store, run_id: str, setting: str, width: float = 0.25) -> pd.DataFrame:
    """How many swapped words and substitutes occur how often, in bins of log10(1 + count) of `width`."""
    return store.frame(
        """
        SELECT CASE part WHEN 0 THEN 'original' ELSE 'synonym' END AS series,
            floor(log10(1 + "count") / ?) * ? AS bin, count(*) AS n
        FROM counts
        WHERE run_id = ?
            AND condition = 'swap'
            AND setting = ?
            AND "count" IS NOT NULL
            AND NOT isnan("count")
        GROUP BY ALL
        ORDER BY series, bin
        """,
        [width, width, run_id, setting],
    )


def similarities(store: Store, run_id: str, setting: str, width: float = 0.025) -> pd.DataFrame:
    """How many changed texts are how like their originals, by field (formal, functional), in bins of `width`."""
    return store.frame(
        f"""
        SELECT measures.measure || CASE WHEN measures.reason = 'by characters' THEN ' by characters' ELSE '' END
            AS measure, coalesce(nullif(instances.field, ''), 'other') AS series,
            floor(least(measures.value, 0.9999) / ?) * ? AS bin, count(*) AS n
        FROM measures
        JOIN instances
            ON instances.run_id = measures.run_id
            AND instances.instance_id = measures.instance_id
        WHERE measures.run_id = ?
            AND measures.setting = ?
            AND measures.measure IN ({quoted(*declared.SIMILARITIES)})
            AND measures.value IS NOT NULL
            AND NOT isnan(measures.value)
        GROUP BY ALL
        ORDER BY measure, series, bin
        """,
        [width, width, run_id, setting],
    )


def likeness(store: Store, model: str, setting: str) -> pd.DataFrame:
    """How alike a model's texts are before and after swaps, group by group, each from the run with most changed texts.

    A row per group (`grp`) and measure (`finding`): mean (value), n, quantiles and encoder in `detail` (JSON).
    """
    return store.frame(
        f"""
        SELECT run_id, benchmark, grp, finding, value, n, detail
        FROM (
            SELECT findings.*, runs.benchmark,
                row_number() OVER (PARTITION BY grp, finding ORDER BY n DESC, run_id) AS place
            FROM findings
            JOIN runs USING (run_id)
            WHERE study = 'perturbation'
                AND status = 'complete'
                AND model = ?
                AND setting = ?
                AND finding IN ({quoted(*declared.SIMILARITIES)})
                AND value IS NOT NULL
        )
        WHERE place = 1
        ORDER BY finding, grp
        """,
        [model, setting],
    )


def pairs(store: Store, run_id: str, setting: str, fate: str, limit: int = 200) -> pd.DataFrame:
    """Instances with their perturbed versions (payloads and edit as JSON) whose outcomes are of this kind (FATES)."""
    return store.frame(
        f"""
        WITH {_OUTCOMES}
        SELECT instance_id, grp, payload, variant, edit, accepted, reason, swaps, correct_before, correct_after,
            margin_before, margin_after, ips_before, ips_after
        FROM outcomes
        WHERE {FATES[fate]}
        ORDER BY hash(instance_id)
        LIMIT ?
        """,
        [setting, run_id, setting, limit],
    )


def outcomes(store: Store, run_id: str, setting: str) -> pd.DataFrame:
    """A row per instance: whether its swaps were accepted and why not, verdict, margin and IPS before and after."""
    return store.frame(
        f"""
        WITH {_OUTCOMES}
        SELECT instance_id, grp, accepted, reason, swaps, edit, correct_before, correct_after, margin_before,
            margin_after, ips_before, ips_after
        FROM outcomes
        ORDER BY instance_id
        """,
        [setting, run_id, setting],
    )


def pairs_of(store: Store, run_id: str, setting: str, ids: Sequence[str]) -> pd.DataFrame:
    """These instances with their perturbed versions, as `pairs` gives those of a fate."""
    return store.frame(
        f"""
        WITH {_OUTCOMES}
        SELECT instance_id, grp, payload, variant, edit, accepted, reason, swaps, correct_before, correct_after,
            margin_before, margin_after, ips_before, ips_after
        FROM outcomes
        WHERE list_contains(?, instance_id)
        ORDER BY instance_id
        """,
        [setting, run_id, setting, list(ids)],
    )


def fates(store: Store, run_id: str, setting: str) -> pd.DataFrame:
    """How many instances are of which fate, in the order of FATES."""
    counted = ", ".join(f"count(*) FILTER ({condition}) AS '{fate}'" for fate, condition in FATES.items())
    counts = store.frame(f"WITH {_OUTCOMES} SELECT {counted} FROM outcomes", [setting, run_id, setting])
    return pd.DataFrame({"fate": list(FATES), "n": [int(counts[fate].iloc[0]) for fate in FATES]})


def judge_answers(store: Store, run_id: str) -> pd.DataFrame:
    """What the run's judge answered: instance, setting, raw answer, what it was taken for."""
    return store.frame(
        """
        SELECT instance_id, setting, text AS answer, verdict
        FROM generations
        WHERE run_id = ?
            AND role = 'judge'
        """,
        [run_id],
    )


def changed_pairs(store: Store, run_id: str, setting: str, limit: int) -> pd.DataFrame:
    """Changed instances with both payloads: those judged in the run first, then in an order by chance that stays."""
    return store.frame(
        """
        SELECT instances.instance_id, instances.grp, instances.payload, variants.payload AS variant, variants.edit
        FROM instances
        JOIN variants
            ON variants.run_id = instances.run_id
            AND variants.instance_id = instances.instance_id
            AND variants.setting = ?
        LEFT JOIN generations
            ON generations.run_id = instances.run_id
            AND generations.instance_id = instances.instance_id
            AND generations.setting = variants.setting
            AND generations.role = 'judge'
        WHERE instances.run_id = ?
            AND variants.accepted
            AND json_array_length(variants.edit, '$.swaps') > 0
            AND instances.gold IS NOT NULL
        ORDER BY generations.instance_id IS NULL, hash(instances.instance_id)
        LIMIT ?
        """,
        [setting, run_id, limit],
    )


_OUTCOMES = """
    outcomes AS (
        SELECT instances.instance_id, instances.grp, instances.payload,
            any_value(variants.payload) AS variant, any_value(variants.edit) AS edit,
            any_value(variants.accepted) AS accepted, any_value(variants.reason) AS reason,
            max(measures.value) FILTER (measure = 'correct' AND measures.setting IS NULL) AS correct_before,
            max(measures.value) FILTER (measure = 'correct' AND measures.setting IS NOT NULL) AS correct_after,
            max(measures.value) FILTER (measure IN ('margin', 'logprob') AND measures.setting IS NULL) AS margin_before,
            max(measures.value) FILTER (measure IN ('margin', 'logprob') AND measures.setting IS NOT NULL)
                AS margin_after,
            max(measures.value) FILTER (measure = 'ips' AND measures.setting IS NULL AND of_gold) AS ips_before,
            max(measures.value) FILTER (measure = 'ips' AND measures.setting IS NOT NULL AND of_gold) AS ips_after,
            max(measures.value) FILTER (measure = 'swaps') AS swaps
        FROM instances
        JOIN variants
            ON variants.run_id = instances.run_id
            AND variants.instance_id = instances.instance_id
            AND variants.setting = ?
        LEFT JOIN (
            SELECT measures.*, measures.option = coalesce(own.gold, 0) AS of_gold
            FROM measures
            JOIN instances AS own USING (run_id, instance_id)
            WHERE measures.part IS NULL
        ) AS measures
            ON measures.run_id = instances.run_id
            AND measures.instance_id = instances.instance_id
        WHERE instances.run_id = ?
            AND (measures.setting IS NULL OR measures.setting = ?)
        GROUP BY ALL
    )
"""
