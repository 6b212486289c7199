"""OWL in RDF/XML, read by pronto; slower than the other forms by a factor of ten."""

from __future__ import annotations

import io
import warnings
from xml.parsers import expat

from explorer.errors import OntologyError
from explorer.ontologies.contents import Contents, Problem
from explorer.records import Concept

LARGEST = 400 << 20  # characters; the tree of one more takes more memory than most machines have
LONGEST_ENTITY = 300  # characters that a short name may stand for: the address of an ontology


def read(text: str, name: str) -> Contents:
    """The classes of an OWL file, with the same fields as an OBO file's terms; what it imports is not looked at."""
    import pronto

    if len(text) > LARGEST:
        raise OntologyError(
            f"{name} has {len(text) >> 20:,} MiB, expected at most {LARGEST >> 20} of OWL. Give the ontology's OBO "
            "file instead."
        )
    data = text.encode("utf-8")
    _refuse_entities(data, name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Left to itself, pronto fetches what the file imports.
            ontology = pronto.Ontology(io.BytesIO(data), import_depth=0)
            terms = list(ontology.terms())
    except Exception as error:  # pronto passes on whatever its XML parser and its own checks raise
        raise OntologyError(
            f"{name} cannot be read as OWL ({type(error).__name__}: {str(error)[:120]}). "
            "Give the ontology's OBO file instead."
        ) from error
    concepts = tuple(
        Concept(
            id=term.id,
            label=term.name or "",
            synonyms=tuple(synonym.description for synonym in term.synonyms),
            alt_ids=tuple(sorted(term.alternate_ids)),
            xrefs=tuple(sorted(reference.id for reference in term.xrefs)),
            obsolete=term.obsolete,
            source=name,
        )
        for term in terms
    )
    imported = sorted(ontology.metadata.imports)
    problems = tuple(Problem(0, f"{address} is imported, and was not read") for address in imported)
    return Contents(concepts, problems, ontology.metadata.ontology or "")


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
