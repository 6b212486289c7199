"""An ontology by name or file as a benchmark: a concept an instance."""

from __future__ import annotations

import math
import os
from pathlib import Path

from explorer import fetch
from explorer.benchmarks.core.benchmark import LeftOut, Loaded
from explorer.ontologies import load as ontologies
from explorer.ontologies.parse import id_rule
from explorer.ontologies.prompts import instances
from explorer.records import Concept, Instance
from explorer.settings import Settings, path_of

# Besides those that explorer/benchmarks/concepts.py reads row by row.
TITLES = {
    "go-basic": "Gene Ontology, basic edition",
    "uberon-basic": "Uberon, basic edition",
    "glassbox-ontology": "Glass box: planted IDs",
}
NAMES = tuple(TITLES)
ENDINGS = (".obo", ".json", ".owl", ".csv", ".tsv", ".txt")


def is_ontology(name: str) -> bool:
    """Whether a benchmark's name means an ontology: one that is fetched by name, or a file."""
    file = ontologies.named(name)[0]
    return name in NAMES or (file.removesuffix(".gz").endswith(ENDINGS) and os.path.isfile(path_of(file)))


def load(name: str, settings: Settings, progress: fetch.Progress | None = None) -> Loaded:
    """The ontology's concepts as instances, and what of it is no concept to ask for."""
    ontology = ontologies.load(name, settings, progress)
    report = ontology.report
    short = name if name in NAMES else Path(ontologies.named(name)[0]).name.partition(".")[0]
    left_out = [LeftOut(f"line {problem.line}" if problem.line else "", problem.what) for problem in report.malformed]
    if report.form != "table" or "obsolete" in report.columns:
        left_out += [LeftOut(curie, "obsolete") for curie in report.obsolete]
    if report.form != "table":
        left_out += [LeftOut(curie, f"not of {report.prefix}") for curie in report.foreign]
    id_rule(report.prefix, (concept.id for concept in ontology.concepts))  # refuses ids that no answer could be told by
    made = instances(ontology.concepts, short, report.prefix)
    return Loaded(tuple(made), tuple(left_out), f"{report.source}, read as {report.form}", report.sha256)


def concept_of(instance: Instance) -> Concept:
    """The concept that an instance asks for."""
    extra = instance.extra
    return Concept(
        id=instance.options[0],
        label=instance.context,
        obsolete=bool(extra.get("obsolete", instance.context.lower().startswith("obsolete "))),
        annotations=float(extra.get("annotations", math.nan)),
        web_count=float(extra.get("web_count", math.nan)),
    )
