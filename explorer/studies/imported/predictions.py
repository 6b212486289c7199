"""Predictions made elsewhere → a stored run of the ontology study, analyzed exactly like our own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer.ontologies.analysis import Analysis, analyze
from explorer.ontologies.predictions import Predictions
from explorer.ontologies.prompts import instances
from explorer.records import RunSpec
from explorer.studies.ontology.rows import answer_rows, finding_rows

if TYPE_CHECKING:
    from explorer.runs.folder import RunFolder
    from explorer.settings import Settings

VERSION = 1  # of the analysis; a later one makes new runs


def released_and_corrected(
    predictions: Predictions, after_prefix: bool = False, seed: int = 0
) -> tuple[Analysis, Analysis]:
    """The figures as released and the corrected ones."""

    def analysis(as_released: bool, beside: Analysis | None = None) -> Analysis:
        return analyze(
            predictions.concepts,
            predictions.answers,
            predictions.rule,
            labels=predictions.labels,
            after_prefix=after_prefix,
            as_released=as_released,
            seed=seed,
            beside=beside,
        )

    released = analysis(as_released=True)
    return released, analysis(as_released=False, beside=released)


def store_predictions(
    predictions: Predictions,
    released: Analysis,
    corrected: Analysis,
    *,
    ontology: str,
    model_name: str,
    settings: Settings,
    after_prefix: bool = False,
    seed: int = 0,
    rows: bool = True,
) -> RunFolder:
    """The run folder that holds the answers (unless `rows` is false) and both analyses.

    Importing the same file again finds it.
    """
    from explorer.runs.folder import RunFolder

    spec = RunSpec(
        study="ontology",
        version=VERSION,
        model=model_name,
        benchmark=ontology,
        data_hash=predictions.sha256,
        seed=seed,
        dtype="",
        settings={"imported": True, "after_prefix": after_prefix},
    )
    folder = RunFolder.create(settings.runs, spec)
    with folder.lock():
        total = len(predictions.concepts)
        if folder.unfinished(total):
            concept_instances = instances(predictions.concepts, ontology, predictions.rule.prefix)
            folder.write_part(0, total - 1, answer_rows(concept_instances, corrected) if rows else {})
        folder.write_findings(finding_rows(released) + finding_rows(corrected))
        folder.write_progress(status="complete", total=total, done=total, message="")
    return folder
