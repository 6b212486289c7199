"""What the page on ontologies asks of the database."""

from __future__ import annotations

import pandas as pd

from explorer.results.store import Store


def runs(store: Store, benchmark: str) -> pd.DataFrame:
    """Every ontology run on a benchmark, imports included: complete ones first, then larger, then newer ones."""
    return store.frame(
        """
        SELECT run_id, model, status, created, done, total, spec
        FROM runs
        WHERE study = 'ontology'
            AND benchmark = ?
        ORDER BY status = 'complete' DESC, done DESC, created DESC
        """,
        [benchmark],
    )


def buckets(store: Store, run_id: str, setting: str) -> pd.DataFrame:
    """A row a popularity bucket: concepts, mean count, accuracy, nearness of wrong ids, share of repeated ids."""
    return store.frame(
        """
        SELECT CAST(grp AS INTEGER) AS bucket,
            max(n) FILTER (finding = 'bucket_accuracy') AS n,
            max(CAST(json_extract(detail, '$.mean_count') AS DOUBLE)) AS mean_count,
            max(value) FILTER (finding = 'bucket_accuracy') AS accuracy,
            max(value) FILTER (finding = 'bucket_jaccard') AS jaccard,
            max(value) FILTER (finding = 'bucket_levenshtein') AS levenshtein,
            max(value) FILTER (finding = 'bucket_repeated_ratio') AS repeated
        FROM findings
        WHERE run_id = ?
            AND setting = ?
            AND finding IN ('bucket_accuracy', 'bucket_jaccard', 'bucket_levenshtein', 'bucket_repeated_ratio')
        GROUP BY bucket
        ORDER BY bucket
        """,
        [run_id, setting],
    )


def overall(store: Store, run_id: str) -> pd.DataFrame:
    """What a run found over all its concepts; `setting` tells the authors' way of counting from the corrected one."""
    return store.frame(
        """
        SELECT finding, grp, setting, condition, language, value, low, high, p, n, left_out, reason, detail
        FROM findings
        WHERE run_id = ?
            AND finding NOT LIKE 'bucket_%'
        ORDER BY finding, grp, setting
        """,
        [run_id],
    )


def invariance(store: Store, run_id: str) -> pd.DataFrame:
    """A row a way to repeat the question and bucket: average invariance of parsed ids, and accuracy."""
    return store.frame(
        """
        SELECT setting AS way, CAST(grp AS INTEGER) AS bucket, max(n) AS n,
            max(value) FILTER (finding = 'bucket_invariance') AS invariance,
            max(value) FILTER (finding = 'bucket_invariance_accuracy') AS accuracy
        FROM findings
        WHERE run_id = ?
            AND finding IN ('bucket_invariance', 'bucket_invariance_accuracy')
        GROUP BY way, bucket
        ORDER BY way, bucket
        """,
        [run_id],
    )


def knowledge(store: Store, run_id: str) -> pd.DataFrame:
    """A row a popularity bucket: how likely the right ids are there, each measure with its interval."""
    return store.frame(
        """
        SELECT CAST(grp AS INTEGER) AS bucket, max(n) AS n,
            max(value) FILTER (finding = 'bucket_gold_logprob') AS gold_logprob,
            max(low) FILTER (finding = 'bucket_gold_logprob') AS gold_logprob_low,
            max(high) FILTER (finding = 'bucket_gold_logprob') AS gold_logprob_high,
            max(value) FILTER (finding = 'bucket_gold_rank') AS gold_rank,
            max(low) FILTER (finding = 'bucket_gold_rank') AS gold_rank_low,
            max(high) FILTER (finding = 'bucket_gold_rank') AS gold_rank_high,
            max(value) FILTER (finding = 'bucket_gold_preferred') AS gold_preferred,
            max(value) FILTER (finding = 'bucket_gold_gain_preferred') AS gold_gain_preferred
        FROM findings
        WHERE run_id = ?
            AND finding IN (
                'bucket_gold_logprob', 'bucket_gold_rank', 'bucket_gold_preferred', 'bucket_gold_gain_preferred'
            )
        GROUP BY bucket
        ORDER BY bucket
        """,
        [run_id],
    )


def languages(store: Store, run_id: str) -> pd.DataFrame:
    """Accuracy of the repeated question in each language, with its interval."""
    return store.frame(
        """
        SELECT language AS grp, value, low, high, n
        FROM findings
        WHERE run_id = ?
            AND finding = 'language_accuracy'
        """,
        [run_id],
    )


def agreement(store: Store, run_id: str) -> pd.DataFrame:
    """How often two languages of the question get the same answer."""
    return store.frame(
        """
        SELECT language AS grp, grp AS other, value, n
        FROM findings
        WHERE run_id = ?
            AND finding = 'language_agreement'
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
