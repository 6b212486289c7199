"""OBO Graphs JSON, the form in which the OBO library publishes ontologies for programs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from explorer import plain_json
from explorer.errors import OntologyError
from explorer.ontologies.contents import Contents, Problem, as_curie, is_true
from explorer.records import Concept

# How the name of a property ends, as an IRI or shortened: .../owl#deprecated, owl:deprecated.
_ALTERNATIVE = "hasAlternativeId"
_DEPRECATED = ("deprecated", "is_obsolete")
_GRAVEYARDS = ("#ObsoleteClass", ":ObsoleteClass", "#DeprecatedClass", ":DeprecatedClass")  # parents of what is gone


def read(text: str, name: str) -> Contents:
    """The classes of an OBO Graphs document, with the same fields as an OBO file's terms."""
    try:
        document = plain_json.read(text)
        graphs = [document] if "nodes" in document else document["graphs"]
        nodes = [node for graph in graphs for node in graph.get("nodes", [])]
        buried = {
            str(edge.get("sub"))
            for graph in graphs
            for edge in graph.get("edges") or []
            if str(edge.get("obj", "")).endswith(_GRAVEYARDS)
        }
        declared = str(graphs[0].get("id", "")) if graphs else ""
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise OntologyError(
            f"{name} is not an OBO Graphs document ({error}); expected JSON with a list called graphs. "
            "Give an OBO file, OBO Graphs JSON or a table."
        ) from error
    concepts: list[Concept] = []
    problems: list[Problem] = []
    seen: set[str] = set()
    for number, node in enumerate(nodes, 1):
        if not isinstance(node, Mapping) or node.get("type", "CLASS") != "CLASS":
            continue
        try:
            concept = _concept(node, name, buried)
        except (AttributeError, TypeError, KeyError) as error:
            problems.append(Problem(0, f"node {number} has a meta that cannot be read: {str(error)[:60]}"))
            continue
        if not concept.id:
            problems.append(Problem(0, f"node {number} has no id that reads as PREFIX:number: {node.get('id')!r}"))
        elif concept.id in seen:
            problems.append(Problem(0, f"{concept.id} for the second time"))
        else:
            seen.add(concept.id)
            concepts.append(concept)
    return Contents(tuple(concepts), tuple(problems), declared.rpartition("/")[2].partition(".")[0])


def _concept(node: Mapping[str, Any], name: str, buried: Collection[str]) -> Concept:
    meta = node.get("meta") or {}
    properties = meta.get("basicPropertyValues") or []
    return Concept(
        id=as_curie(str(node.get("id", ""))),
        label=str(node.get("lbl") or "").strip(),
        synonyms=tuple(dict.fromkeys(str(item["val"]) for item in meta.get("synonyms") or [] if item.get("val"))),
        alt_ids=tuple(
            as_curie(str(item["val"])) or str(item["val"])
            for item in properties
            if str(item.get("pred", "")).endswith(_ALTERNATIVE) and item.get("val")
        ),
        xrefs=tuple(str(item["val"]) for item in meta.get("xrefs") or [] if item.get("val")),
        obsolete=is_true(meta.get("deprecated"))
        or str(node.get("id")) in buried
        or any(str(item.get("pred", "")).endswith(_DEPRECATED) and is_true(item.get("val")) for item in properties),
        source=name,
    )
