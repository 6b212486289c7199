"""What each row of a finding is about, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from explorer import display
from explorer.results import queries_overview
from explorer.ui import resources

FACTORS: Mapping[str, str] = {
    "grp": "{}", "condition": "{}", "setting": "{}", "length": "{} tokens", "k": "k = {}", "part": "part {}",
    "language": "{}", "temperature": "temperature {}",
}  # fmt: skip
OVERALL = "overall"
SWAPPED = {"N": "nouns", "V": "verbs", "NV": "nouns and verbs"}


def first_of(study: str, names: Sequence[str]) -> str:
    """The finding that a study is known for, where it is among these, else the first of them."""
    heads = resources.ask_store(queries_overview.study_headlines)
    known = heads.loc[heads["study"] == study, "finding"]
    return next((str(name) for name in known if name in names), names[0])


def labels(rows: pd.DataFrame) -> list[str]:
    """A label a row, of the factors in which the rows differ."""
    varying = [name for name in FACTORS if name in rows and rows[name].astype(str).nunique() > 1]
    return [_label(row, varying) for row in rows.to_dict("records")]


def _label(row: Mapping, varying: list[str]) -> str:
    parts = []
    for name in varying:
        value = row[name]
        if value is not None and value == value and value != "":
            value_in_words = f"{value:g}" if isinstance(value, float) else display.words(str(value))
            value_in_words = SWAPPED.get(value_in_words, value_in_words) if name == "setting" else value_in_words
            parts.append(FACTORS[name].format(value_in_words))
    return ", ".join(parts) or OVERALL
