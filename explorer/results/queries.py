"""The named questions that pages ask of the database; SQL stands here and in the studies' `queries.py`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from explorer.studies.accuracy.declared import ACCURACY

if TYPE_CHECKING:
    import pandas as pd

    from explorer.finding import Finding
    from explorer.results.store import Store

# What may be asked of the list of instances → the condition, and the order.
VERDICT_FILTERS: Mapping[str, str] = {
    "in the run": "TRUE",
    "wrong": "correct < 0.5",
    "ties": "correct = 0.5",
    "right": "correct > 0.5 AND NOT isnan(correct)",
    "no verdict": "correct IS NULL OR isnan(correct)",
}
ORDERS: Mapping[str, str] = {
    "benchmark order": "position",
    "largest margin": "CASE WHEN isnan(margin) THEN NULL ELSE abs(margin) END DESC NULLS LAST, position",
    "smallest margin": "CASE WHEN isnan(margin) THEN NULL ELSE abs(margin) END ASC NULLS LAST, position",
}


_RUNS = """
    SELECT run_id, study, model, benchmark, status, created, updated, done, total, seed, dtype, message, spec
    FROM runs
    ORDER BY created DESC
"""


def runs(store: Store) -> pd.DataFrame:
    """Every run in the database, the newest first."""
    return store.frame(_RUNS)


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as the database lists it."""

    run_id: str
    study: str
    model: str
    benchmark: str
    status: str
    created: datetime
    done: int
    total: int
    message: str


def stored_runs(store: Store) -> list[StoredRun]:
    """The same as `runs`, a record a run, without pandas."""
    names = [field.name for field in dataclasses.fields(StoredRun)]
    return [StoredRun(**{name: row[name] for name in names}) for row in store.rows(_RUNS)]


def runs_on(store: Store, study: str, benchmark: str, finding: Finding | None = None) -> pd.DataFrame:
    """The runs of a study on a benchmark, with a finding those that concluded it: complete ones first, then larger,
    then newer ones."""
    concluded = "AND run_id IN (SELECT run_id FROM findings WHERE finding = ?)" if finding else ""
    return store.frame(
        f"""
        SELECT run_id, model, status, created, done, total, seed, spec
        FROM runs
        WHERE study = ?
            AND benchmark = ?
            {concluded}
        ORDER BY status = 'complete' DESC, done DESC, created DESC
        """,
        [study, benchmark, *([finding.name] if finding else [])],
    )


def runs_of(store: Store, study: str, model: str, benchmark: str) -> pd.DataFrame:
    """The runs of one study with one model on one benchmark: complete ones first, then those with more instances, then
    newer ones."""
    return store.frame(
        """
        SELECT run_id, status, created, done, total, seed, dtype, spec
        FROM runs
        WHERE study = ?
            AND model = ?
            AND benchmark = ?
        ORDER BY status = 'complete' DESC, done DESC, created DESC
        """,
        [study, model, benchmark],
    )


def run(store: Store, run_id: str) -> pd.DataFrame:
    """One run's row: what was asked (`spec`), where it was done (`environment`) and how it stands."""
    return store.frame("SELECT * FROM runs WHERE run_id = ?", [run_id])


def headline(store: Store) -> pd.DataFrame:
    """Overall accuracy of each model on each benchmark, from its accuracy run with the most instances.

    Without the checkpoints of the glass box, which the page Calibration shows.
    """
    return store.frame(
        f"""
        SELECT runs.benchmark, runs.model, findings.value, findings.low, findings.high, findings.n, runs.run_id,
            runs.created, runs.spec
        FROM findings
        JOIN runs USING (run_id)
        WHERE runs.study = 'accuracy'
            AND findings.finding = '{ACCURACY}'
            AND findings.grp = 'overall'
            AND findings.setting IS NULL
            AND NOT isnan(findings.value)
            AND NOT regexp_matches(runs.model, '^glassbox-.*@step')
        QUALIFY row_number() OVER (
            PARTITION BY runs.benchmark, runs.model ORDER BY findings.n DESC, runs.created DESC
        ) = 1
        ORDER BY runs.benchmark, runs.model
        """
    )


def findings(store: Store, run_id: str) -> pd.DataFrame:
    """All that a run concluded, as stored."""
    return store.frame("SELECT * EXCLUDE (run_id) FROM findings WHERE run_id = ?", [run_id])


def accuracy_by_group(store: Store, run_id: str) -> pd.DataFrame:
    """A row per group: accuracy with its Wilson interval, the count, ties, and how many had no verdict."""
    return store.frame(
        f"""
        SELECT grp, value, low, high, n, left_out
        FROM findings
        WHERE run_id = ?
            AND finding = '{ACCURACY}'
            AND setting IS NULL
            AND grp NOT IN ('overall', 'mean over groups')
        ORDER BY value DESC
        """,
        [run_id],
    )


def overall(store: Store, run_id: str) -> pd.DataFrame:
    """What a run found over all its instances: accuracy, mean over groups, each way to reduce a score, perplexity."""
    return store.frame(
        """
        SELECT finding, grp, setting, value, low, high, n, left_out, reason, detail
        FROM findings
        WHERE run_id = ?
            AND grp IN ('overall', 'mean over groups')
        ORDER BY finding, grp DESC, setting NULLS FIRST
        """,
        [run_id],
    )


def items(store: Store, run_id: str, *, verdict: str = "in the run", order: str = "benchmark order") -> pd.DataFrame:
    """A row per instance of an accuracy run: group, outcome (1, 0, 0.5 for a tie, nan), margin in nats, verdict."""
    return store.frame(
        f"""
        WITH judged AS ({_JUDGED})
        SELECT instance_id, grp, position, text_hash, correct, margin, reason, {_VERDICT} AS verdict
        FROM judged
        WHERE {VERDICT_FILTERS[verdict]}
        ORDER BY {ORDERS[order]}
        """,
        [run_id],
    )


def instance_scores(store: Store, run_id: str, instance_id: str) -> pd.DataFrame:
    """The stored scores of one instance, in the order asked, with their tokens."""
    return store.frame(
        """
        SELECT request, option, role, condition, part, logprob, tokens, scored, chars, bytes, greedy, straddles,
            truncated, reason, context, continuation, token_texts, token_logprobs
        FROM scores
        WHERE run_id = ?
            AND instance_id = ?
        ORDER BY request
        """,
        [run_id, instance_id],
    )


def instance_measures(store: Store, run_id: str, instance_id: str) -> pd.DataFrame:
    """The stored measures of one instance."""
    return store.frame(
        """
        SELECT option, part, measure, value, reason
        FROM measures
        WHERE run_id = ?
            AND instance_id = ?
        """,
        [run_id, instance_id],
    )


def stored_instance(store: Store, run_id: str, instance_id: str) -> pd.DataFrame:
    """The instance as the run saw it: payload (JSON) and text_hash."""
    return store.frame(
        """
        SELECT payload, text_hash
        FROM instances
        WHERE run_id = ?
            AND instance_id = ?
        """,
        [run_id, instance_id],
    )


def two_runs(store: Store, first: str, second: str) -> pd.DataFrame:
    """A row per instance that both runs judged and whose text is the same in both: outcomes and margins (nats)."""
    return store.frame(
        f"""
        WITH a AS ({_JUDGED}),
        b AS ({_JUDGED})
        SELECT a.instance_id, a.grp, a.position, a.correct AS correct_a, b.correct AS correct_b,
            a.margin AS margin_a, b.margin AS margin_b,
            CASE
                WHEN a.correct IS NULL OR b.correct IS NULL OR isnan(a.correct) OR isnan(b.correct) THEN 'no verdict'
                WHEN a.correct = 0.5 OR b.correct = 0.5 THEN 'a tie'
                WHEN a.correct > 0.5 AND b.correct > 0.5 THEN 'both right'
                WHEN a.correct > 0.5 THEN 'only the first'
                WHEN b.correct > 0.5 THEN 'only the second'
                ELSE 'both wrong'
            END AS outcome
        FROM a
        JOIN b USING (instance_id, text_hash)
        ORDER BY a.position
        """,
        [first, second],
    )


def judged_instances(store: Store, run_ids: Sequence[str]) -> pd.DataFrame:
    """A row per run and instance: group, place, hash of the text, outcome (1, 0, 0.5 for a tie, nan), margin (nats)."""
    query = " UNION ALL ".join([f"SELECT ? AS run_id, of_run.* FROM ({_JUDGED}) AS of_run"] * len(run_ids))
    return store.frame(
        f"SELECT * FROM ({query}) ORDER BY position", [name for run_id in run_ids for name in (run_id, run_id)]
    )


def all_findings(store: Store, run_ids: Sequence[str]) -> pd.DataFrame:
    """All that these runs concluded, as stored."""
    marks = ", ".join("?" * len(run_ids))
    return store.frame(f"SELECT * FROM findings WHERE run_id IN ({marks})", list(run_ids))


def differing_texts(store: Store, first: str, second: str) -> int:
    """How many instances occur in both runs under the same id but with another text."""
    counts = store.frame(
        """
        SELECT count(*) AS n
        FROM instances AS a
        JOIN instances AS b USING (instance_id)
        WHERE a.run_id = ?
            AND b.run_id = ?
            AND a.text_hash <> b.text_hash
        """,
        [first, second],
    )
    return int(counts["n"].iloc[0])


_JUDGED = """
    SELECT instances.instance_id, instances.grp, instances.position, instances.text_hash,
        max(measures.value) FILTER (measures.measure = 'correct') AS correct,
        max(measures.value) FILTER (measures.measure IN ('margin', 'logprob')) AS margin,
        max(measures.reason) FILTER (measures.measure = 'correct') AS reason
    FROM instances
    LEFT JOIN measures
        ON measures.run_id = instances.run_id
        AND measures.instance_id = instances.instance_id
        AND measures.measure IN ('correct', 'margin', 'logprob')
        AND measures.part IS NULL
    WHERE instances.run_id = ?
    GROUP BY ALL
"""

# The same words as `scoring.reduce.word_of`.
_VERDICT = """
    CASE
        WHEN correct IS NULL OR isnan(correct) THEN 'no verdict'
        WHEN correct = 0.5 THEN 'tie'
        WHEN correct > 0.5 THEN 'right'
        ELSE 'wrong'
    END
"""
