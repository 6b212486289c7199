"""One study a file, each a recipe: load, vary, ask, score, count, save."""

from __future__ import annotations

import importlib

from explorer.errors import UsageError
from explorer.studies.study import Study

# Study → the module whose STUDY is its recipe.
STUDIES = {
    "accuracy": "explorer.studies.accuracy.study",
    "popularity": "explorer.studies.popularity.study",
    "perturbation": "explorer.studies.perturbation.study",
    "memorization": "explorer.studies.memorization.study",
    "priming": "explorer.studies.priming.study",
    "ontology": "explorer.studies.ontology.study",
    "icl": "explorer.studies.icl.study",
}


def study(name: str) -> Study:
    """The recipe with this name; UsageError where there is none."""
    if name not in STUDIES:
        raise UsageError(f"There is no study {name!r}; the studies are {', '.join(STUDIES)}.")
    recipe: Study = importlib.import_module(STUDIES[name]).STUDY
    return recipe
