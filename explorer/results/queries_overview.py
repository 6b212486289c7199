"""What the Overview asks of the database."""

from __future__ import annotations

import pandas as pd

from explorer.results.store import Store
from explorer.studies.accuracy.declared import ACCURACY
from explorer.studies.icl.declared import REPLICATION
from explorer.studies.memorization.declared import CLASSIFIER_AUC
from explorer.studies.perturbation.declared import CHANGE
from explorer.studies.popularity.declared import SPLIT
from explorer.studies.priming.declared import PRIMING_DELTA


def study_headlines(store: Store) -> pd.DataFrame:
    """A row a complete run and headline of its study; of a curve, its last point (`length` or `k`)."""
    return store.frame(
        f"""
        SELECT runs.run_id, runs.study, runs.model, runs.benchmark, runs.done, runs.created,
            coalesce(json_extract_string(runs.spec, '$.suites'), '[]') AS suites,
            coalesce(json_extract_string(runs.spec, '$.settings.neighbours'), '0') AS neighbours,
            found.finding, found.condition, found.setting, found.length, found.k, found.value, found.low, found.high,
            found.n
        FROM findings AS found
        JOIN runs USING (run_id)
        WHERE runs.status = 'complete'
            AND (
                (runs.study = 'accuracy' AND finding = '{ACCURACY}' AND grp = 'overall' AND setting IS NULL)
                OR (runs.study = 'priming' AND finding = '{PRIMING_DELTA}' AND grp = 'mean over suites'
                    AND condition IN ('matched_acceptable', 'matched_unacceptable'))
                OR (runs.study = 'perturbation' AND finding = '{CHANGE}' AND grp = 'overall' AND setting = 'NV')
                OR (runs.study = 'popularity' AND finding = '{SPLIT.difference}' AND grp = 'overall')
                OR (runs.study = 'ontology' AND finding = '{ACCURACY}' AND grp = 'overall' AND setting = 'corrected')
                OR (runs.study = 'memorization' AND finding = '{CLASSIFIER_AUC}' AND grp = 'overall'
                    AND setting IN ('mia_loss', 'mia_neighbours') AND condition = 'logistic')
                OR (runs.study = 'icl' AND finding = '{REPLICATION}' AND grp = 'overall' AND setting = 'full'
                    AND condition = 'rule')
            )
        QUALIFY row_number() OVER (
            PARTITION BY runs.run_id, finding, condition, setting ORDER BY length DESC NULLS LAST, k DESC NULLS LAST
        ) = 1
        ORDER BY runs.done DESC, runs.created DESC
        """
    )
