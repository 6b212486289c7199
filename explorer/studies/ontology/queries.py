"""What the page on ontologies asks of the database."""

from __future__ import annotations

import math

import pandas as pd

from explorer.finding import quoted
from explorer.results.queries import runs_on
from explorer.results.store import Store
from explorer.stats.proportion import wilson
from explorer.studies.ontology import declared


def runs(store: Store, benchmark: str) -> pd.DataFrame:
    """Every ontology run on a benchmark, imports included: complete ones first, then larger, then newer ones."""
    return runs_on(store, "ontology", benchmark)


def rising(store: Store) -> pd.DataFrame:
    """The runs (run_id) whose accuracy clearly rises with popularity, by their interval over buckets."""
    return store.frame(
        f"""
        SELECT run_id
        FROM findings
        WHERE finding = '{declared.SPEARMAN_BUCKETS}'
            AND setting = 'corrected'
            AND low > 0
        """
    )


def buckets(store: Store, run_id: str, setting: str) -> pd.DataFrame:
    """A row per popularity bucket: concepts, mean count, accuracy with its 95% interval, nearness of wrong ids, share
    of repeated ids."""
    rows = store.frame(
        f"""
        SELECT CAST(grp AS INTEGER) AS bucket,
            max(n) FILTER (finding = '{declared.BUCKET_ACCURACY}') AS n,
            max(CAST(json_extract(detail, '$.mean_count') AS DOUBLE)) AS mean_count,
            max(value) FILTER (finding = '{declared.BUCKET_ACCURACY}') AS accuracy,
            max(value) FILTER (finding = '{declared.BUCKET_JACCARD}') AS jaccard,
            max(value) FILTER (finding = '{declared.BUCKET_LEVENSHTEIN}') AS levenshtein,
            max(value) FILTER (finding = '{declared.BUCKET_REPEATED_RATIO}') AS repeated
        FROM findings
        WHERE run_id = ?
            AND setting = ?
            AND finding IN ({quoted(*declared.ANSWERS_IN_BUCKET)})
        GROUP BY bucket
        ORDER BY bucket
        """,
        [run_id, setting],
    )
    ends = [
        wilson(share * n, n, 0.95) if n > 0 else (math.nan, math.nan)
        for share, n in zip(rows["accuracy"], rows["n"], strict=True)
    ]
    return rows.assign(accuracy_low=[low for low, _ in ends], accuracy_high=[high for _, high in ends])


def overall(store: Store, run_id: str) -> pd.DataFrame:
    """What a run found over all its concepts; `setting` tells the authors' way of counting from the corrected one."""
    return store.frame(
        f"""
        SELECT finding, grp, setting, condition, language, value, low, high, p, n, left_out, reason, detail
        FROM findings
        WHERE run_id = ?
            AND finding NOT IN ({quoted(*declared.BUCKETS)})
        ORDER BY finding, grp, setting
        """,
        [run_id],
    )


def invariance(store: Store, run_id: str) -> pd.DataFrame:
    """A row per way to repeat the question and bucket: average invariance of parsed ids, and accuracy."""
    return store.frame(
        f"""
        SELECT setting AS way, CAST(grp AS INTEGER) AS bucket, max(n) AS n,
            max(value) FILTER (finding = '{declared.BUCKET_INVARIANCE}') AS invariance,
            max(value) FILTER (finding = '{declared.BUCKET_INVARIANCE_ACCURACY}') AS accuracy
        FROM findings
        WHERE run_id = ?
            AND finding IN ({quoted(*declared.REPEATS_IN_BUCKET)})
        GROUP BY way, bucket
        ORDER BY way, bucket
        """,
        [run_id],
    )


def knowledge(store: Store, run_id: str) -> pd.DataFrame:
    """A row per popularity bucket: how likely the right ids are there, each measure with its interval."""
    logprob, rank, preferred, gain = (
        declared.IN_BUCKET[finding]
        for finding in (
            declared.GOLD_LOGPROB, declared.GOLD_RANK, declared.GOLD_PREFERRED, declared.GOLD_GAIN_PREFERRED,
        )
    )  # fmt: skip
    return store.frame(
        f"""
        SELECT CAST(grp AS INTEGER) AS bucket, max(n) AS n,
            max(value) FILTER (finding = '{logprob}') AS gold_logprob,
            max(low) FILTER (finding = '{logprob}') AS gold_logprob_low,
            max(high) FILTER (finding = '{logprob}') AS gold_logprob_high,
            max(value) FILTER (finding = '{rank}') AS gold_rank,
            max(low) FILTER (finding = '{rank}') AS gold_rank_low,
            max(high) FILTER (finding = '{rank}') AS gold_rank_high,
            max(value) FILTER (finding = '{preferred}') AS gold_preferred,
            max(low) FILTER (finding = '{preferred}') AS gold_preferred_low,
            max(high) FILTER (finding = '{preferred}') AS gold_preferred_high,
            max(value) FILTER (finding = '{gain}') AS gold_gain_preferred,
            max(low) FILTER (finding = '{gain}') AS gold_gain_preferred_low,
            max(high) FILTER (finding = '{gain}') AS gold_gain_preferred_high
        FROM findings
        WHERE run_id = ?
            AND finding IN ({quoted(logprob, rank, preferred, gain)})
        GROUP BY bucket
        ORDER BY bucket
        """,
        [run_id],
    )


def concepts(store: Store, run_id: str, bucket: int) -> pd.DataFrame:
    """A row per concept of a popularity bucket: its web count, whether its ID was given, and how likely the ID is."""
    return store.frame(
        """
        SELECT instances.instance_id, instances.grp, max(value) FILTER (measure = 'web_count') AS web_count,
            max(value) FILTER (measure = 'correct') AS correct,
            max(value) FILTER (measure = 'gold_logprob') AS gold_logprob,
            max(value) FILTER (measure = 'gold_rank') AS gold_rank,
            max(value) FILTER (measure = 'gold_preferred') AS gold_preferred
        FROM instances
        JOIN measures USING (run_id, instance_id)
        WHERE run_id = ?
        GROUP BY ALL
        HAVING max(value) FILTER (measure = 'bucket') = ?
        ORDER BY web_count DESC
        """,
        [run_id, bucket],
    )


def preferred(store: Store, run_id: str) -> pd.DataFrame:
    """A row per concept: its popularity bucket, and the share of other IDs that are less likely than the right one."""
    return store.frame(
        """
        SELECT instance_id, CAST(max(value) FILTER (measure = 'bucket') AS INTEGER) AS bucket,
            max(value) FILTER (measure = 'gold_preferred') AS value
        FROM measures
        WHERE run_id = ?
            AND measure IN ('bucket', 'gold_preferred')
        GROUP BY instance_id
        HAVING bucket IS NOT NULL AND value IS NOT NULL
        """,
        [run_id],
    )


def languages(store: Store, run_id: str) -> pd.DataFrame:
    """Accuracy of the repeated question in each language, with its interval."""
    return store.frame(
        f"""
        SELECT language AS grp, value, low, high, n
        FROM findings
        WHERE run_id = ?
            AND finding = '{declared.LANGUAGE_ACCURACY}'
        """,
        [run_id],
    )


def agreement(store: Store, run_id: str) -> pd.DataFrame:
    """How often two languages of the question get the same answer."""
    return store.frame(
        f"""
        SELECT language AS grp, grp AS other, value, n
        FROM findings
        WHERE run_id = ?
            AND finding = '{declared.LANGUAGE_AGREEMENT}'
        """,
        [run_id],
    )


def repeated_answers(store: Store, run_id: str, most: int = 50) -> pd.DataFrame:
    """The most repeated raw answers and how often each was given."""
    return store.frame(
        """
        SELECT text, verdict, count(*) AS times
        FROM generations
        JOIN instances USING (run_id, instance_id)
        WHERE run_id = ?
            AND request = 0
        GROUP BY text, verdict
        ORDER BY times DESC, min(position)
        LIMIT ?
        """,
        [run_id, most],
    )


def answers(store: Store, run_id: str, instance_id: str) -> pd.DataFrame:
    """All answers of a run about one concept, in the order asked."""
    return store.frame(
        """
        SELECT request, role, setting, language, temperature, part, text, verdict, reason
        FROM generations
        WHERE run_id = ?
            AND instance_id = ?
        ORDER BY request
        """,
        [run_id, instance_id],
    )
