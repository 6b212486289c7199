"""The swaps in our own test sentences, each judged by a reader who did not write the code."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def annotations() -> ModuleType:
    spec = importlib.util.spec_from_file_location("annotate_swaps", Path(__file__).with_name("annotate_swaps.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def sentences(annotations, kit):
    """Our test sentences with what perturbing makes of each."""
    return annotations.perturbed(kit)


def test_every_swap_is_judged_and_at_least_95_in_100_are_grammatical(annotations, sentences):
    judged = {annotations.key(row): row["verdict"] for row in annotations.read(annotations.ANNOTATIONS)}
    made = [annotations.key(row) for row in annotations.swaps(sentences)]
    unjudged = [key for key in made if judged.get(key) not in ("grammatical", "ungrammatical")]
    assert not unjudged, "run tests/variants/annotate_swaps.py and have the new swaps judged"
    verdicts = [judged[key] for key in made]
    assert len(annotations.read(annotations.SENTENCES)) >= 150
    assert verdicts.count("grammatical") >= 0.95 * len(verdicts)


def test_at_least_35_in_100_swappable_words_are_swapped(annotations, sentences):
    swapped, stayed = annotations.coverage(sentences)
    assert swapped >= 0.35 * (swapped + stayed)


def test_an_ungrammatical_verdict_says_why(annotations):
    rows = annotations.read(annotations.ANNOTATIONS)
    assert all(row["reason"] for row in rows if row["verdict"] == "ungrammatical")
