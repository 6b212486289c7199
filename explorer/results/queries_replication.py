"""What the replication board asks of the database."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from explorer.results.store import Store


def findings(store: Store, names: Sequence[str]) -> pd.DataFrame:
    """Every stored finding of these names with how its run was made: model, study, benchmark, preset, spec (JSON).

    Runs over more instances come first, then newer ones; gaps in text columns are "", in k -1.
    """
    return store.frame(
        """
        SELECT runs.run_id, runs.model, runs.study, runs.benchmark, runs.status,
            coalesce(json_extract_string(runs.spec, '$.settings.preset'), '') AS preset,
            runs.spec, runs.done, runs.total, findings.finding, findings.grp, coalesce(findings.setting, '') AS setting,
            coalesce(findings.condition, '') AS condition, coalesce(findings.k, -1) AS k,
            findings.value, findings.low, findings.high, findings.n, coalesce(findings.detail, '') AS detail
        FROM findings
        JOIN runs USING (run_id)
        WHERE list_contains(?, findings.finding)
            AND findings.length IS NULL
            AND findings.part IS NULL
            AND findings.language IS NULL
            AND findings.value IS NOT NULL
        ORDER BY runs.status = 'complete' DESC, runs.done DESC, runs.created DESC
        """,
        [list(names)],
    )
