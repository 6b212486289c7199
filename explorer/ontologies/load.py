"""An ontology by name or path → its concepts, with a report of what was left out or looks wrong."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer import fetch
from explorer.errors import OntologyError
from explorer.ontologies import obo, obo_json, owl, table
from explorer.ontologies.contents import Contents, Problem, prefix_of, read_text
from explorer.records import Concept
from explorer.settings import Settings, path_of

# Bombieri et al. 2024, "Do LLMs dream of ontologies?": labels, annotation counts and web counts as released.
_RELEASED = (
    "https://raw.githubusercontent.com/marcobombieri/do-LLM-dream-of-ontologies/"
    "ef64e3e32101db07f38524d65d07badf0981c9d4/Dataset/"
)


@dataclass(frozen=True, slots=True)
class Known:
    """An ontology that the explorer can find by name: `path` in a data folder, else downloaded from `address`.

    One without an address comes with the explorer, below `explorer/benchmarks/`.
    """

    title: str
    prefix: str
    path: str
    address: str
    sha256: str = ""  # "" where the published file changes from release to release


BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"

ONTOLOGIES: Mapping[str, Known] = {
    "go": Known(
        "Gene Ontology",
        "GO",
        "go/go_dataset.csv",
        _RELEASED + "go_dataset.csv",
        "94fc3e9d13aa05644ef364347313414b86031f10fd5c417ba73f0286ebd82d9f",
    ),
    "uberon": Known(
        "Uberon Ontology",
        "UBERON",
        "uberon/uberon_dataset.csv",
        _RELEASED + "uberon_dataset.csv",
        "68297c445f53a737e2d0326caa0b0eefa944f0290c4e919b152c861185b7d027",
    ),
    "go-basic": Known("Gene Ontology", "GO", "go/go-basic.obo", "https://purl.obolibrary.org/obo/go/go-basic.obo"),
    "uberon-basic": Known(
        "Uberon Ontology", "UBERON", "uberon/basic.obo", "https://purl.obolibrary.org/obo/uberon/basic.obo"
    ),
    "glassbox-ontology": Known("Glass Box Ontology", "GB", "glassbox_data/glassbox.obo", ""),
}

# Form → its reader; told apart by how the text begins (see `form_of`).
READERS: Mapping[str, Callable[[str, str], Contents]] = {
    "obo": obo.read,
    "obo-json": obo_json.read,
    "owl": owl.read,
    "table": table.read,
}


@dataclass(frozen=True, slots=True)
class Report:
    """What a file held and what of it is no concept to ask for.

    From OBO, OBO-JSON and OWL, obsolete terms, terms of another prefix and terms without a label are left out; tables
    keep every row that has an id and a label and is not obsolete by a column of that name, and the same lists are
    remarks.
    """

    source: str
    form: str
    prefix: str
    read: int  # terms or rows that could be read
    kept: int
    obsolete: tuple[str, ...]  # ids
    foreign: tuple[str, ...]  # ids of another prefix
    duplicate_labels: tuple[tuple[str, tuple[str, ...]], ...]  # a label and the ids that share it
    duplicate_ids: tuple[str, ...]
    malformed: tuple[Problem, ...]
    columns: tuple[str, ...] = ()  # tables: how the columns were read
    sha256: str = ""

    def counts(self) -> dict[str, Any]:
        """The report as numbers, for JSON and a summary line."""
        return {
            "source": self.source,
            "form": self.form,
            "prefix": self.prefix,
            "read": self.read,
            "kept": self.kept,
            "obsolete": len(self.obsolete),
            "foreign_prefix": len(self.foreign),
            "repeated_labels": sum(len(ids) - 1 for _, ids in self.duplicate_labels),
            "duplicate_ids": len(self.duplicate_ids),
            "malformed": len(self.malformed),
        }


@dataclass(frozen=True, slots=True)
class Loaded:
    """The concepts to ask for, in file order, and the report of the rest."""

    concepts: tuple[Concept, ...]
    report: Report
    title: str  # what a prompt calls the ontology


def load(source: str | Path, settings: Settings, progress: fetch.Progress | None = None) -> Loaded:
    """The ontology with this name in ONTOLOGIES, or in this file."""
    known = ONTOLOGIES.get(str(source))
    file, prefix = named(source)
    path = locate(known, settings, progress) if known else path_of(file)
    if not os.path.isfile(path):
        raise OntologyError(
            f"There is no ontology {str(source)!r}; expected one of {', '.join(ONTOLOGIES)}, or the path of an OBO, "
            "OBO-JSON or OWL file or of a table id;label."
        )
    text = read_text(path)
    form = form_of(text)
    contents = table.read(text, path.name, prefix=prefix) if form == "table" else READERS[form](text, path.name)
    prefix = known.prefix if known else prefix or own_prefix(contents)
    concepts, report = judge(contents, prefix, form, path.name, fetch.file_hash(path))
    if not concepts:
        about = f"{len(report.obsolete):,} obsolete, {len(report.foreign):,} of another prefix"
        unread = (
            f"; {len(report.malformed):,} could not be used: {report.malformed[0].what}" if report.malformed else ""
        )
        raise OntologyError(
            f"{path.name} has no live term with a label{f' and the prefix {prefix}' if prefix else ''} ({about}"
            f"{unread}), expected at least one. Check the file."
        )
    return Loaded(concepts, report, title_of(prefix))


def named(source: str | Path) -> tuple[str, str]:
    """The file that a name means, and the prefix for its ids without one: terms.csv#HP; "" where none is named."""
    text = str(source)
    file, mark, prefix = text.rpartition("#")
    if not mark or os.path.exists(path_of(text)) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_.-]*", prefix):
        return text, ""
    return file, prefix


def title_of(prefix: str) -> str:
    """What a prompt calls the ontology with this prefix."""
    return next((known.title for known in ONTOLOGIES.values() if known.prefix == prefix), f"{prefix} ontology")


def is_here(source: str, settings: Settings) -> bool:
    """Whether the ontology with this name, or in this file, can be read without fetching anything."""
    known = ONTOLOGIES.get(source)
    if known is None:
        return os.path.isfile(path_of(named(source)[0]))
    in_data = settings.data is not None and (settings.data / known.path).is_file()
    return not known.address or in_data or (settings.datasets / known.path).is_file()


def locate(known: Known, settings: Settings, progress: fetch.Progress | None = None) -> Path:
    """The known ontology's file, from the data folder, the cache or the web, in this order."""
    if not known.address:
        return BENCHMARKS / known.path
    local = settings.data / known.path if settings.data else None
    if local and local.is_file():
        return local
    target = settings.datasets / known.path
    return fetch.download(known.address, target, sha256=known.sha256, progress=progress, offline=settings.offline)


def form_of(text: str) -> str:
    """obo, obo-json, owl or table, by how the text begins."""
    start = text[:4096].lstrip()
    if start.startswith(("@prefix", "@base", "PREFIX ", "Prefix(", "Prefix:", "Ontology(", "Ontology:")):
        raise OntologyError(
            "The file is OWL in Turtle, Manchester or functional syntax, expected OBO, OBO-JSON, RDF/XML or a table. "
            "Convert it, for example with robot convert."
        )
    if start.startswith("{"):
        return "obo-json"
    if start.startswith(("<?xml", "<rdf:", "<Ontology", "<!DOCTYPE")):
        return "owl"
    if re.search(r"^(format-version:|\[Term\])", start, re.MULTILINE):
        return "obo"
    return "table"


def own_prefix(contents: Contents) -> str:
    """The prefix that the ontology calls its own: the one its header names, else the most frequent one."""
    counts = Counter(prefix_of(concept.id) for concept in contents.concepts)
    declared = contents.declared.partition("/")[0].partition(".")[0].lower()
    named = [prefix for prefix in counts if prefix.lower() == declared]
    return named[0] if named else counts.most_common(1)[0][0] if counts else ""


def judge(
    contents: Contents, prefix: str, form: str, source: str, sha256: str = ""
) -> tuple[tuple[Concept, ...], Report]:
    """The concepts to ask for and the report."""
    foreign = [concept for concept in contents.concepts if prefix_of(concept.id) != prefix]
    under_prefix = [concept for concept in contents.concepts if prefix_of(concept.id) == prefix]
    obsolete = [concept for concept in under_prefix if concept.obsolete]
    problems = contents.problems
    if form == "table":
        # A column says what is obsolete; a label alone is only a remark.
        usable = tuple(
            concept for concept in contents.concepts if not ("obsolete" in contents.columns and concept.obsolete)
        )
    else:
        live = [concept for concept in under_prefix if not concept.obsolete]
        problems += tuple(Problem(0, f"{concept.id} has no label") for concept in live if not concept.label)
        usable = tuple(concept for concept in live if concept.label)
    by_label: dict[str, list[str]] = defaultdict(list)
    for concept in usable:
        if concept.label:
            by_label[concept.label].append(concept.id)
    repeated = [curie for curie, count in Counter(concept.id for concept in usable).items() if count > 1]
    report = Report(
        source=source,
        form=form,
        prefix=prefix,
        read=len(contents.concepts),
        kept=len(usable),
        obsolete=tuple(concept.id for concept in obsolete),
        foreign=tuple(concept.id for concept in foreign),
        duplicate_labels=tuple((label, tuple(ids)) for label, ids in by_label.items() if len(ids) > 1),
        duplicate_ids=tuple(repeated),
        malformed=problems,
        columns=contents.columns,
        sha256=sha256,
    )
    return usable, report
