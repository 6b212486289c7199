"""p-values of a run adjusted within the families of tests that its study declares.

Of twenty tests of nothing one has p below .05. Those that a reader looks at together, such as the halves by popularity
of every paradigm, are one family; Benjamini and Hochberg's adjusted p bounds the share of false ones among those that
are called clear. A family is declared with the findings (`FAMILIES` in a study's declared.py), not after the fact.
"""

from __future__ import annotations

import pandas as pd

from explorer.stats.multiple_tests import correct_p_values
from explorer.studies import declared

FAMILY, TESTS, ADJUSTED = "family", "tests", "p_adjusted"


def with_families(findings: pd.DataFrame, study: str) -> pd.DataFrame:
    """The rows of a run's findings with three more columns, in the same order.

    family      what the tests of its finding belong to, "" for none
    tests       how many p-values the family has in this run
    p_adjusted  its p, adjusted by Benjamini and Hochberg within the family; nan without a p or a family
    """
    families = [declared.family_of(study, str(name)) for name in findings["finding"]]
    with_family = findings.assign(family=families, tests=0, p_adjusted=float("nan"))
    for family in dict.fromkeys(filter(None, families)):
        members = with_family[FAMILY] == family
        # Within one run: the tests of another model are another question, and would change this run's p when they come.
        adjusted = correct_p_values(with_family.loc[members, "p"].astype(float), "benjamini-hochberg")
        with_family.loc[members, TESTS] = adjusted.n
        with_family.loc[members, ADJUSTED] = list(adjusted.p)
    return with_family


def in_words(study: str, name: str, tests: int) -> str:
    """What is adjusted together with a finding's p-values; "" where there is nothing to adjust."""
    family = declared.family_of(study, name)
    if not family or tests < 2:
        return ""
    titles = [finding.title for finding in declared.FAMILIES[study][family]]
    listed = titles[0] if len(titles) == 1 else f"{', '.join(titles[:-1])} and {titles[-1]}"
    return (
        f"The {tests:,} tests that this run made of {listed} are one family (\u201c{family}\u201d), within which p is "
        "adjusted by Benjamini and Hochberg."
    )
