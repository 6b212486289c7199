"""How much of what counts as memorized needs no memory: copies of what stands in the prompt, and very short endings."""

from __future__ import annotations

import pandas as pd

from explorer import display
from explorer.writing import fold_text, pieces

FEWEST_WORDS = 4
COUNTED = ("exact", "near-exact")


def with_baselines(table: pd.DataFrame) -> pd.DataFrame:
    """The completions with two columns more: whether one repeats the first piece of its item, and whether it is shorter
    than four words. `table` has the columns first, completion."""
    return table.assign(
        copies=[
            _bare_text(completion) == _bare_text(other) != ""
            for completion, other in zip(table["completion"], table["first"], strict=True)
        ],
        short=[len(list(pieces(str(text or "")))) < FEWEST_WORDS for text in table["completion"]],
    )


def in_words(table: pd.DataFrame, source: str) -> str:
    """Of the completions that count as memorized (column `source`), how many are copies or too short to tell."""
    completions = with_baselines(table[table[source].isin(COUNTED)])
    copies = int(completions["copies"].sum())
    short = int((completions["short"] & ~completions["copies"]).sum())
    if completions.empty or not copies + short:
        return ""
    parts = [f"{copies:,} repeat the first sentence, which is in the prompt" if copies else ""]
    parts += [f"{short:,} have fewer than four words" if short else ""]
    rest = len(completions) - copies - short
    return (
        f"Of {len(completions):,} completions that count as memorized, {' and '.join(filter(None, parts))}; these need "
        f"no memory, and {rest:,} ({display.share(rest / len(completions))}) are left."
    )


def _bare_text(text: object) -> str:
    """A text without capitals, blanks at its ends and closing marks."""
    return fold_text(str(text or "")).strip().rstrip(".!?;:, ").strip()
