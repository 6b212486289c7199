"""What the dossier of one instance asks of the database: everything stored about it, whatever the study or model."""

from __future__ import annotations

import pandas as pd

from explorer.results.store import Store


def runs(store: Store, instance_id: str) -> pd.DataFrame:
    """A row per run that looked at the instance, with the hash of the text that it saw."""
    return store.frame(
        """
        SELECT runs.run_id, runs.study, runs.model, runs.benchmark, runs.status, runs.created, runs.dtype,
            instances.text_hash, instances.gold, instances.payload, runs.spec,
            json_extract_string(runs.spec, '$.settings.preset') AS preset
        FROM instances
        JOIN runs USING (run_id)
        WHERE instances.instance_id = ?
        ORDER BY runs.study, runs.status = 'complete' DESC, runs.done DESC, runs.created DESC
        """,
        [instance_id],
    )


def measures(store: Store, instance_id: str) -> pd.DataFrame:
    """Every number that any run measured of the instance, with its factors."""
    return store.frame(
        """
        SELECT run_id, option, condition, length, k, setting, part, language, temperature, measure, value, reason
        FROM measures
        WHERE instance_id = ?
        ORDER BY run_id, measure, option, condition, length, k, setting, part
        """,
        [instance_id],
    )


def swaps(store: Store, instance_id: str) -> pd.DataFrame:
    """A row per perturbation run and setting: what was swapped (`edit`, JSON), or why nothing was."""
    return store.frame(
        """
        SELECT variants.run_id, variants.setting, variants.edit, variants.accepted, variants.reason, variants.payload
        FROM variants
        JOIN runs USING (run_id)
        WHERE runs.study = 'perturbation'
            AND variants.instance_id = ?
        ORDER BY variants.run_id, variants.setting
        """,
        [instance_id],
    )


def answers(store: Store, instance_id: str) -> pd.DataFrame:
    """Everything that a model wrote about the instance in any run, in the order asked."""
    return store.frame(
        """
        SELECT run_id, request, role, condition, k, setting, language, temperature, part, text, verdict, reason
        FROM generations
        WHERE instance_id = ?
        ORDER BY run_id, request
        """,
        [instance_id],
    )


def stored(store: Store, benchmark: str, part: str = "", most: int = 2_000) -> pd.DataFrame:
    """Instances of a benchmark of which anything is stored and whose id holds `part`, in benchmark order, with how many
    runs looked at each."""
    return store.frame(
        """
        SELECT instances.instance_id, any_value(instances.grp) AS grp, count(*) AS runs
        FROM instances
        JOIN runs USING (run_id)
        WHERE runs.benchmark = ?
            AND contains(lower(instances.instance_id), lower(?))
        GROUP BY instances.instance_id
        ORDER BY min(instances.position), instances.instance_id
        LIMIT ?
        """,
        [benchmark, part, most],
    )
