"""PI-3 taken apart: how often each language of the question gets the right id, and how often two give the same."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

import pandas as pd

from explorer.finding import Finding
from explorer.ontologies import invariance
from explorer.ontologies.parse import Outcome
from explorer.ontologies.prompts import LANGUAGES
from explorer.records import Concept
from explorer.rows.builders import Row, finding_row
from explorer.stats.proportion import proportion
from explorer.studies.ontology import declared

WAY = "PI-3"


def compare(answers: pd.DataFrame, concepts: Mapping[str, Concept], parse: Callable[[str], Outcome]) -> list[Row]:
    """Rows of `findings` from the answers in several languages (columns instance_id, language, text)."""
    wide = answers.pivot_table(index="instance_id", columns="language", values="text", aggfunc="first", sort=False)
    gold = [concepts[name].id for name in wide.index]
    shares_known = {
        language: [parsed for (parsed,) in invariance.parsed([(text,) for text in wide[language]], parse)]
        for language in LANGUAGES
        if language in wide
    }
    rows = [
        _share(declared.LANGUAGE_ACCURACY, "overall", language, list(map(str.__eq__, ids, gold)))
        for language, ids in shares_known.items()
    ]
    rows += [
        _share(
            declared.LANGUAGE_AGREEMENT, second, first, list(map(str.__eq__, shares_known[first], shares_known[second]))
        )
        for first, second in itertools.permutations(shares_known, 2)
    ]
    return rows


def _share(finding: Finding, group: str, language: str, hits: list[bool]) -> Row:
    share = proportion([float(hit) for hit in hits])
    return finding_row(finding, group, share, factors={"setting": WAY, "language": language})
