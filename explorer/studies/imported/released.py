"""The predictions that the ontology paper's authors released, as runs that hold figures over all answers and no rows.

The files (Bombieri et al., CC0) lie in a data folder. Their runs come with the explorer, so that a fresh clone opens on
accuracy that rises with popularity; whoever imports a file himself under the same model name has the answers, too, in a
run of the same id.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.errors import OntologyError
from explorer.ontologies.load import load
from explorer.ontologies.predictions import read_predictions
from explorer.studies.imported.predictions import released_and_corrected, store_predictions

if TYPE_CHECKING:
    from explorer.runs.folder import RunFolder
    from explorer.settings import Settings


@dataclass(frozen=True, slots=True)
class Released:
    """A file of predictions under a data folder, the ontology they are about, and the model that gave them."""

    file: str
    ontology: str
    model: str


RELEASED = (
    Released("go/predictions_pythia12b.csv", "go", "EleutherAI/pythia-12b-deduped"),
    Released("uberon/predictions_gpt35.csv", "uberon", "openai:gpt-3.5-turbo"),
)


def aggregates(settings: Settings, place: Path) -> list[RunFolder]:
    """A finished run a released file, made under the folder `place`, that holds findings alone."""
    elsewhere = dataclasses.replace(settings, cache=place)
    return [_aggregate(release, settings, elsewhere) for release in RELEASED]


def _aggregate(release: Released, settings: Settings, elsewhere: Settings) -> RunFolder:
    path = (settings.data or Path()) / release.file
    if not settings.data or not path.is_file():
        raise OntologyError(
            f"There is no {release.file} in {settings.data or 'a data folder'}, expected the predictions that the "
            "authors released. Name the folder that holds it with --data."
        )
    predictions = read_predictions(path, load(release.ontology, settings))
    released, corrected = released_and_corrected(predictions)
    return store_predictions(
        predictions,
        released,
        corrected,
        ontology=release.ontology,
        model_name=release.model,
        settings=elsewhere,
        rows=False,
    )
