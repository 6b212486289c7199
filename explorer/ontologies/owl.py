"""OWL in RDF/XML, read element by element."""

from __future__ import annotations

import dataclasses
import io
import re
from collections.abc import Iterator
from xml.etree import ElementTree
from xml.parsers import expat

from explorer.errors import OntologyError
from explorer.ontologies.contents import Contents, Problem, as_curie, is_true
from explorer.records import Concept

LONGEST_ENTITY = 300  # characters that a short name may stand for: the address of an ontology

_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_RDFS = "{http://www.w3.org/2000/01/rdf-schema#}"
_OWL = "{http://www.w3.org/2002/07/owl#}"
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_SYNONYMS = ("hasExactSynonym", "hasRelatedSynonym", "hasBroadSynonym", "hasNarrowSynonym")
_GONE = ("DeprecatedClass", "ObsoleteClass")  # a type or a parent of what is obsolete


def read(text: str, name: str) -> Contents:
    """The classes of an OWL file, with the same fields as an OBO file's terms; what it imports is not looked at."""
    data = text.encode("utf-8")
    _refuse_entities(data, name)
    concepts: dict[str, Concept] = {}
    deprecated: set[str] = set()
    problems: list[Problem] = []
    declared = ""
    try:
        for element in _described(data):
            about = element.get(f"{_RDF}about") or element.get(f"{_RDF}ID") or ""
            curie = as_curie(about)
            if element.tag == f"{_OWL}Ontology":
                declared = about.rstrip("/").rpartition("/")[2].partition(".")[0]
                imported = sorted(
                    child.get(f"{_RDF}resource", "") for child in element if child.tag == f"{_OWL}imports"
                )
                problems += [Problem(0, f"{address} is imported, and was not read") for address in imported]
            elif _is_deprecated(element):
                deprecated.add(curie)
            if not _is_class(element) or not about:
                continue
            if not curie:
                problems.append(Problem(0, f"a class has no id that reads as PREFIX:number: {about!r}"))
            elif curie in concepts and concepts[curie].label:
                problems.append(Problem(0, f"{curie} for the second time"))
            else:
                concepts[curie] = _concept(element, curie, name)
    except (ElementTree.ParseError, LookupError, ValueError, RecursionError) as error:
        raise OntologyError(
            f"{name} cannot be read as OWL ({type(error).__name__}: {str(error)[:120]}). "
            "Give the ontology's OBO file instead."
        ) from error
    if not concepts and re.search(r"<(\w+:)?Declaration>", text):
        raise OntologyError(f"{name} is OWL/XML, expected RDF/XML. Convert it, for example with robot convert.")
    # A file may say of a class that it is deprecated in another place than where it describes it.
    classes = tuple(dataclasses.replace(concept, obsolete=curie in deprecated) for curie, concept in concepts.items())
    return Contents(classes, tuple(problems), declared)


def _described(data: bytes) -> Iterator[ElementTree.Element]:
    """Each element right under the root, with what it holds; forgotten once it has been looked at."""
    depth = 0
    for event, element in ElementTree.iterparse(io.BytesIO(data), ("start", "end")):
        depth += 1 if event == "start" else -1
        if event == "end" and depth == 1:
            yield element
            element.clear()


def _concept(element: ElementTree.Element, curie: str, name: str) -> Concept:
    def values(*names: str) -> tuple[str, ...]:
        texts = (child.text or "" for child in element if child.tag.rpartition("}")[2] in names)
        return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))

    labels = {child.get(_LANGUAGE, ""): (child.text or "").strip() for child in element if child.tag == f"{_RDFS}label"}
    return Concept(
        id=curie,
        label=labels.get("") or labels.get("en") or next(iter(labels.values()), ""),
        synonyms=values(*_SYNONYMS),
        alt_ids=tuple(as_curie(alt_id) or alt_id for alt_id in sorted(values("hasAlternativeId"))),
        xrefs=tuple(sorted(values("hasDbXref"))),
        source=name,
    )


def _is_class(element: ElementTree.Element) -> bool:
    if element.tag in (f"{_OWL}Class", f"{_OWL}DeprecatedClass"):
        return True
    types = (child.get(f"{_RDF}resource", "") for child in element if child.tag == f"{_RDF}type")
    return element.tag == f"{_RDF}Description" and any(kind.endswith(("#Class", "#DeprecatedClass")) for kind in types)


def _is_deprecated(element: ElementTree.Element) -> bool:
    """Whether an element says so: by a property or an attribute, by its class, or by a parent for what is gone."""
    if element.tag == f"{_OWL}DeprecatedClass" or is_true(element.get(f"{_OWL}deprecated")):
        return True
    for child in element:
        if child.tag == f"{_OWL}deprecated" and is_true(child.text):
            return True
        named = child.get(f"{_RDF}resource", "")
        if child.tag in (f"{_RDF}type", f"{_RDFS}subClassOf") and named.endswith(_GONE):
            return True
    return False


def _refuse_entities(data: bytes, name: str) -> None:
    """OntologyError where the file declares a name that stands for another file, for other names or for a long text."""

    def declared(entity: str, parameter: bool, value: str | None, *where: str | None) -> None:
        if value is None or parameter or "&" in value or len(value) > LONGEST_ENTITY:
            raise OntologyError(
                f"{name} declares the entity {entity[:40]!r}, which stands for another file or without end, expected "
                "short addresses. Do not use it."
            )

    def stop(tag: str, attributes: object) -> None:
        raise StopIteration

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = declared
    parser.StartElementHandler = stop  # declarations stand before the first element
    try:
        parser.Parse(data, True)
    except (StopIteration, expat.ExpatError):
        return  # a broken file is told by its reader
