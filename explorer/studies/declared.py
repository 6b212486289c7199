"""Every finding of every study, as each declares it."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.finding import Finding
from explorer.studies.accuracy import declared as accuracy
from explorer.studies.icl import declared as icl
from explorer.studies.imported import declared as imported
from explorer.studies.memorization import declared as memorization
from explorer.studies.ontology import declared as ontology
from explorer.studies.perturbation import declared as perturbation
from explorer.studies.popularity import declared as popularity
from explorer.studies.priming import declared as priming

# Study → what its runs may find, imported ones included.
FINDINGS: Mapping[str, tuple[Finding, ...]] = {
    "accuracy": (*accuracy.FINDINGS, *imported.FINDINGS),
    "popularity": (*accuracy.FINDINGS, *popularity.FINDINGS),
    "perturbation": (*perturbation.FINDINGS, popularity.EDGE),
    "memorization": (*accuracy.FINDINGS, *memorization.FINDINGS),
    "priming": priming.FINDINGS,
    "ontology": ontology.FINDINGS,
    "icl": icl.FINDINGS,
}


# Study → its families of tests: those that are looked at together, whose p-values are adjusted together.
FAMILIES: Mapping[str, Mapping[str, tuple[Finding, ...]]] = {
    "accuracy": accuracy.FAMILIES,
    "popularity": {**accuracy.FAMILIES, **popularity.FAMILIES},
    "perturbation": perturbation.FAMILIES,
    "memorization": {**accuracy.FAMILIES, **memorization.FAMILIES},
    "priming": priming.FAMILIES,
    "ontology": ontology.FAMILIES,
    "icl": icl.FAMILIES,
}


# Measure of an instance → what it is computed from, as each study declares it.
COMPUTED_FROM: Mapping[str, tuple[str, ...]] = {
    name: sources
    for module in (accuracy, popularity, perturbation, priming, memorization, icl, ontology)
    for name, sources in module.COMPUTED_FROM.items()
}


def shared_number(measure: str, other: str) -> str:
    """What two measures of an instance are both computed from, so that they go together by the way they are made."""
    both = [source for source in COMPUTED_FROM.get(measure, ()) if source in COMPUTED_FROM.get(other, ())]
    return " and ".join(both)


def family_of(study: str, name: str) -> str:
    """The family that the tests of a finding belong to; "" where it has none, or is of a later version."""
    families = FAMILIES.get(study, {})
    return next((family for family, findings in families.items() if name in {finding.name for finding in findings}), "")


def in_words(study: str) -> str:
    """What a study's runs find, a line each: the name, what it is called, its unit, and what it means."""
    return "\n".join(
        f"  {entry.name} ({entry.title}; {entry.unit})\n      {entry.meaning}" for entry in FINDINGS.get(study, ())
    )


def find(study: str, name: str) -> Finding | None:
    """What a run of this study stores under this name; none where a run of a later version has stored it."""
    return next((finding for finding in FINDINGS.get(study, ()) if finding.name == name), None)


def finding(study: str, name: str) -> Finding:
    """The same, where it is known to be declared."""
    known = find(study, name)
    if known is None:
        raise KeyError(f"The study {study} declares no finding {name}; declare it in its declared.py.")
    return known
