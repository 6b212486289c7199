"""Short names that pages use: what each stands for and how to read it, at the head of every page that has them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from explorer.ui import show


@dataclass(frozen=True, slots=True)
class Term:
    """A short name: what it stands for, how its values are read, and how it looks in a text."""

    means: str
    reads: str
    pattern: str


TERMS: Mapping[str, Term] = {
    "Nats and bits": Term(
        "units of log-probability",
        "Surprisal is the negative log-probability of a token: 0 where it was certain. One nat less is 2.7 times as "
        "likely, one bit less twice as likely.",
        r"\b(nats|bits)\b",
    ),
    "Margin": Term(
        "how much more probable the right option is than the wrong one",
        "Above 0 the model prefers the right one; below 0 the wrong one.",
        r"\b[Mm]argins?\b",
    ),
    "IPS": Term(
        "Instance Popularity Score",
        "From 1 to 10: how frequent an instance's n-grams are in the corpus, 10 for the most frequent tenth.",
        r"\bIPS\b",
    ),
    "n-gram": Term(
        "n tokens in a row",
        "A 2-gram is two tokens next to each other, as they occur in the text.",
        r"\bn-grams?\b|\d-grams?\b",
    ),
    "AUC": Term(
        "area under the curve",
        "0.5 where a score tells nothing, 1 where it tells every seen text from every other.",
        r"\bAUC\b",
    ),
    "TDE": Term(
        "Training Data Extraction",
        "Given the first half of a text, does the model go on with its second half? 1 where it does, word for word.",
        r"\bTDE\b",
    ),
    "MIA": Term(
        "Membership Inference Attack",
        "A score by which one guesses whether a text was in the training data; it is only as good as its AUC.",
        r"\bMIA\b",
    ),
    "Min-k %": Term(
        "the mean of the k percent least likely tokens",
        "A text that was seen has few tokens that surprise, so a higher value speaks for its having been seen.",
        r"\b[Mm]in-k\b",
    ),
    "ROUGE-L": Term(
        "overlap of two texts",
        "The longest sequence of words that both have, from 0 for nothing to 1 for the same text.",
        r"\bROUGE-L\b",
    ),
    "k": Term(
        "number of demonstrations",
        "Solved examples in the prompt before the question.",
        r"\bk demonstrations\b|\bover k\b",
    ),
}

# Page → the terms that are told there.
ON_PAGES: Mapping[str, Sequence[str]] = {
    "Overview": ("IPS", "n-gram", "Margin", "Nats and bits", "AUC", "TDE", "MIA", "Min-k %"),
    "Instance": ("Nats and bits", "Margin", "IPS", "n-gram", "TDE", "Min-k %", "ROUGE-L"),
    "Corpus": ("n-gram",),
    "Popularity": ("IPS", "n-gram", "AUC", "Nats and bits", "Margin"),
    "Perturbation": ("Nats and bits", "Margin", "IPS", "n-gram", "ROUGE-L"),
    "Priming": ("Margin", "Nats and bits", "IPS", "n-gram"),
    "Ontologies": ("Nats and bits", "n-gram"),
    "Memorization": ("TDE", "MIA", "Min-k %", "AUC", "Nats and bits", "Margin"),
    "In-context": ("k", "ROUGE-L", "Nats and bits"),
    "Findings": ("IPS", "n-gram", "Margin", "Nats and bits", "TDE", "MIA", "Min-k %", "AUC", "ROUGE-L"),
    "Replication": ("IPS", "n-gram", "AUC", "TDE", "MIA", "Min-k %", "ROUGE-L", "Margin", "Nats and bits", "k"),
    "Calibration": ("AUC", "MIA", "Min-k %", "TDE", "Nats and bits", "Margin", "IPS", "n-gram"),
    "Trajectories": ("IPS", "n-gram", "TDE", "MIA", "Min-k %", "AUC", "ROUGE-L", "Margin", "Nats and bits", "k"),
    "Runs": ("IPS", "n-gram", "AUC", "TDE", "MIA", "Min-k %", "ROUGE-L", "Margin", "Nats and bits", "k"),
}


def draw_terms(page: str) -> None:
    """The terms of a page, folded."""
    terms = ON_PAGES.get(page, ())
    if not terms:
        return
    with st.popover("Words used here", icon=":material/menu_book:", type="tertiary", key="lx-terms"):
        rows = "".join(
            f"<dt><b>{show.escaped(name)}</b>: {show.escaped(TERMS[name].means)}</dt>"
            f"<dd>{show.escaped(TERMS[name].reads)}</dd>"
            for name in terms
        )
        st.html(f'<dl class="lx-terms">{rows}</dl>')


def spelled(*names: str) -> str:
    """What short names stand for, in one sentence: for a figure whose labels they are."""
    return f"{'; '.join(f'{name}: {TERMS[name].means}' for name in names)}."


def used(text: str) -> set[str]:
    """The terms that a text uses."""
    return {name for name, term in TERMS.items() if re.search(term.pattern, text)}
