"""What the Overview asks of the database."""

from __future__ import annotations

import pandas as pd

from explorer.finding import quoted
from explorer.results.store import Store
from explorer.studies.accuracy.declared import ACCURACY
from explorer.studies.icl.declared import REPLICATION
from explorer.studies.memorization.declared import CLASSIFIER_AUC, SCORE
from explorer.studies.ontology.declared import ACCURACY as ONTOLOGY_ACCURACY
from explorer.studies.ontology.declared import BUCKET_ACCURACY, GOLD_GAIN_PREFERRED, SPEARMAN_BUCKETS
from explorer.studies.perturbation.declared import ACCURACY_ORIGINAL, ACCURACY_PERTURBED, CHANGE
from explorer.studies.popularity.declared import INDEX_IS_PRETRAINING_DATA, SPLIT
from explorer.studies.priming.declared import PRIMING_ACCURACY, PRIMING_DELTA


def study_headlines(store: Store) -> pd.DataFrame:
    """A row per complete run and headline of its study; of a curve, its last point (`length` or `k`)."""
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


def findings_for_figures(store: Store) -> pd.DataFrame:
    """What the figures of the Overview are made of: findings of the largest complete run of each study, benchmark (or
    part of it) and model, with the run's own columns in front.

    Without the checkpoints of the glass box, which the page Calibration shows.
    """
    return store.frame(
        f"""
        WITH chosen AS (
            SELECT run_id, study, model, benchmark, spec, done
            FROM runs
            WHERE status = 'complete'
                AND NOT regexp_matches(model, '^glassbox-.*@step')
            QUALIFY row_number() OVER (
                PARTITION BY study, model, benchmark, json_extract_string(spec, '$.suites'),
                    coalesce(json_extract_string(spec, '$.settings.neighbours'), '0') = '0'
                ORDER BY done DESC, created DESC
            ) = 1
        )
        SELECT chosen.*, found.* EXCLUDE (run_id)
        FROM findings AS found
        JOIN chosen USING (run_id)
        WHERE (study = 'accuracy' AND finding = '{ACCURACY}' AND grp = 'overall' AND setting IS NULL)
            OR (study = 'priming' AND finding IN ({quoted(PRIMING_ACCURACY, PRIMING_DELTA)})
                AND grp IN ('overall', 'mean over suites')
                AND condition IN ('matched_acceptable', 'matched_unacceptable', 'unrelated'))
            OR (study = 'perturbation' AND finding IN ({quoted(ACCURACY_ORIGINAL, ACCURACY_PERTURBED, CHANGE)})
                AND grp = 'overall')
            OR (study = 'popularity' AND grp = 'overall'
                AND finding IN ({quoted(SPLIT.difference, SPLIT.difference_over_paradigms, INDEX_IS_PRETRAINING_DATA)}))
            OR (study = 'ontology' AND (setting IS NULL OR setting = 'corrected')
                AND finding IN ({quoted(ONTOLOGY_ACCURACY, GOLD_GAIN_PREFERRED, SPEARMAN_BUCKETS, BUCKET_ACCURACY)}))
            OR (study = 'memorization' AND finding IN ({quoted(CLASSIFIER_AUC, SCORE)}) AND grp = 'overall'
                AND setting IN ('tde_accuracy', 'mia_neighbours')
                AND condition IN ('logistic', 'correct', 'text'))
            OR (study = 'icl' AND finding = '{REPLICATION}' AND grp = 'overall')
        ORDER BY done DESC, chosen.run_id
        """
    )
