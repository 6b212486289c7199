"""One study a file, each a recipe: load, vary, ask, score, count, save."""

from __future__ import annotations

import importlib

from explorer.errors import UsageError
from explorer.experiments.study import Study

# Study → the module whose STUDY is its recipe.
STUDIES = {
    "accuracy": "explorer.experiments.accuracy",
    "popularity": "explorer.experiments.popularity",
    "perturbation": "explorer.experiments.perturbation",
    "memorization": "explorer.experiments.memorization",
    "priming": "explorer.experiments.priming",
    "ontology": "explorer.experiments.ontology",
    "icl": "explorer.experiments.icl",
}


def study(name: str) -> Study:
    """The recipe with this name; UsageError where there is none."""
    if name not in STUDIES:
        raise UsageError(f"There is no study {name!r}; the studies are {', '.join(STUDIES)}.")
    recipe: Study = importlib.import_module(STUDIES[name]).STUDY
    return recipe
