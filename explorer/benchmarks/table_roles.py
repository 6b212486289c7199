"""Columns → roles: which column of a table holds what, guessed from names and values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from explorer.errors import UsageError
from explorer.records import Kind

# Roles of each kind; those in the second list may be missing. A choice's options are option1, option2 ... or, where
# one column holds a list of them, options.
ROLES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "pair": (("good", "bad"), ("id", "group")),
    "choice": (("gold",), ("context", "options", "id", "group")),
    "cloze": (("text",), ("target", "id", "group")),
    "labelled": (("text", "label"), ("second", "id", "group")),
}

# Column names, in small letters and digits only, that tell a role; the first that occurs is taken.
NAMES: Mapping[str, str] = {
    # CrowS-Pairs names its sentences by how stereotypical they are.
    "good": "sentencegood good goodsentence sentgood acceptable grammatical correctsentence plausible sentless",
    "bad": "sentencebad bad badsentence sentbad unacceptable ungrammatical incorrectsentence wrongsentence implausible "
    "sentmore",
    "context": "context premise goal sentence question prompt query ctx stem passage text",
    "options": "options choices choicestext endings candidates alternatives answers",
    "gold": "gold label answer answerkey correct goldlabel target labelindex mostplausiblealternative",
    "text": "text passage sentence sentence1 premise question input content document review title context",
    "second": "sentence2 hypothesis second text2 question2 secondtext",
    "label": "label class category goldlabel labeltext coarselabel gold target type answer",
    "target": "target lastword word completion continuation answer",
    "id": "id idx index pairid qid itemid key guid",
    "group": "group uid paradigm suite phenomenon biastype linguisticsterm subject domain task",
}
_OPTION = re.compile(r"(option|choice|sol|solution|alternative|alt|a|answer|ending|candidate)([0-9]|[a-e])")


def guess_kind(columns: Sequence[str]) -> Kind | None:
    """What the columns look like, or none."""
    roles = {role: find_column(role, columns) for role in NAMES}
    if roles["good"] and roles["bad"]:
        return "pair"
    if len(option_columns(columns)) > 1 or (roles["options"] and roles["gold"]):
        return "choice"
    if roles["label"] and find_column("text", columns, {roles["label"]}):
        return "labelled"
    return "cloze" if roles["text"] else None


def assign(kind: str, columns: Sequence[str], given: Mapping[str, str]) -> dict[str, str]:
    """Role → column: those given, the rest guessed; UsageError says what is missing."""
    if kind not in ROLES:
        raise UsageError(f"A table can be read as {', '.join(ROLES)}, not as {kind!r}.")
    needed, extra = ROLES[kind]
    for role, column in given.items():
        if role not in (*needed, *extra) and not (kind == "choice" and re.fullmatch(r"option[1-9]\d*", role)):
            known = ", ".join((*needed, *extra, *(("option1, option2 ...",) if kind == "choice" else ())))
            raise UsageError(f"There is no role {role!r} in a {kind} table; there are {known}.")
        if column not in columns:
            raise UsageError(f"There is no column {column!r}; the columns are {_listed(columns)}.")
    roles = dict(given)
    if kind == "choice" and not any(role.startswith("option") for role in roles):
        numbered = {f"option{n}": column for n, column in enumerate(option_columns(columns), 1)}
        roles |= numbered if len(numbered) > 1 else {}
    for role in (*needed, *extra):
        if role in roles or (role == "options" and "option1" in roles):
            continue
        guessed = find_column(role, columns, roles.values())
        if guessed:
            roles[role] = guessed
    missing = [role for role in needed if role not in roles]
    if kind == "choice" and "options" not in roles and not {"option1", "option2"} <= set(roles):
        missing.append("option1 and option2")
    if missing:
        raise UsageError(
            f"No column was recognized as {', '.join(missing)} of a {kind} table; the columns are {_listed(columns)}. "
            f"Name it with --column {missing[0].split()[0]}=COLUMN."
        )
    return roles


def find_column(role: str, columns: Sequence[str], taken: Iterable[str | None] = ()) -> str | None:
    """The column whose name tells this role, if it is not taken."""
    free = {_bare(column): column for column in reversed(columns) if column not in set(taken)}
    return next((free[name] for name in NAMES[role].split() if name in free), None)


def option_columns(columns: Sequence[str]) -> list[str]:
    """Columns named like option1, option2 or choice_a, choice_b, in that order; the family with the most members."""
    families: dict[str, list[tuple[str, str]]] = {}
    for column in columns:
        match = _OPTION.fullmatch(_bare(column))
        if match:
            families.setdefault(match[1], []).append((match[2], column))
    members = max(families.values(), key=len, default=[])
    return [column for _, column in sorted(members)]


def guess_gold(values: Iterable[Any], options: int) -> str:
    """How the right option is written: "0" (counted from 0), "1" (from 1), "letter" or "text"."""
    texts = {str(value).strip() for value in values if value is not None}
    if texts and all(re.fullmatch(r"[A-Za-z]", text) for text in texts):
        return "letter"
    if texts and all(re.fullmatch(r"\d+(\.0)?", text) for text in texts):
        numbers = {int(float(text)) for text in texts if len(text) < 10}
        return "1" if 0 not in numbers and options in numbers else "0"
    return "text"


def gold_index(value: Any, options: Sequence[str], written: str) -> int | None:
    """The index of the right option, or none where the value names none."""
    text = str(value).strip()
    if written == "text":
        matches = [i for i, option in enumerate(options) if option.strip() == text]
        return matches[0] if matches else None
    if written == "letter":
        index = ord(text.upper()) - ord("A") if len(text) == 1 else -1
    else:
        number = re.fullmatch(r"(\d{1,9})(\.0)?", text)
        index = int(number[1]) - int(written) if number else -1
    return index if 0 <= index < len(options) else None


def _bare(column: str) -> str:
    return re.sub(r"[\W_]", "", column.lower())


def _listed(columns: Sequence[str]) -> str:
    shown = ", ".join(column[:40] for column in columns[:20])
    return f"{shown} ... ({len(columns)} in all)" if len(columns) > 20 else shown
