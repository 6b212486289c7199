"""One study a folder, each a recipe: load, vary, ask, score, count, save."""

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

# Study → what it asks, in one sentence of plain words; here, so that a list of the studies imports none of them.
QUESTIONS = {
    "accuracy": "How often does the model prefer what the benchmark calls right?",
    "popularity": "Are instances whose n-grams are frequent in the corpus answered better?",
    "perturbation": "Does the verdict survive when words give way to synonyms?",
    "memorization": "Does the model know the texts of a benchmark by heart, and does that say what it gets right?",
    "priming": "How does a growing context move a judgment of acceptability?",
    "ontology": "Does the model know the ID of a concept?",
    "icl": "Do demonstrations bring out what the model knows by heart, and is that why it gets better?",
}


def study(name: str) -> Study:
    """The recipe with this name; UsageError where there is none."""
    if name not in STUDIES:
        raise UsageError(f"There is no study {name!r}; the studies are {', '.join(STUDIES)}.")
    recipe: Study = importlib.import_module(STUDIES[name]).STUDY
    return recipe
