"""Columns → roles: which column of a table holds what, as given or as names and values tell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from explorer.benchmarks.tables.names import CONTEXT, breaks_off, find_column, numbered_columns, option_columns
from explorer.errors import UsageError

# Roles of each kind; those in the second list may be missing. A choice's options are option1, option2 ... or, where
# one column holds a list of them, options; contexts likewise. A text may stand in several columns: a+b.
ROLES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "pair": (("good", "bad"), ("context", "id", "group", "language", "good_words", "bad_words")),
    "judged": (("sentence", "judged"), ("item", "context", "group", "language")),
    "turns": (("sentence",), ("context", "group", "language")),
    "choice": (
        ("gold",),
        ("passage", "context", "options", "names", "relation", "pronoun", "place", "id", "group", "language"),
    ),
    "contexts": (("gold", "continuation"), ("contexts", "id", "group", "language")),
    "cloze": (("text",), ("target", "id", "group", "language")),
    "labelled": (("text", "label"), ("second", "id", "group", "language")),
    "rating": (("sentence", "rating"), ("id", "group", "language", "words")),
    "suite": (("item", "condition", "region", "content"), ("group", "language")),
}
KIND_WORDS = {
    "pair": "minimal pairs, a row per pair",
    "judged": "sentences judged acceptable or not, a row per sentence of an item",
    "turns": "sentences by turns, acceptable and unacceptable",
    "choice": "choices between continuations of one context",
    "contexts": "choices between contexts of one continuation",
    "cloze": "texts whose last word is asked",
    "labelled": "texts with a class each",
    "rating": "sentences with a rating each",
    "suite": "a SyntaxGym suite, a row per region",
}
RECOGNIZED_BY_VALUES = ("relation", "pronoun", "place", "passage", "language", "good_words", "bad_words", "words")
NUMBERED = {"choice": "option", "contexts": "context"}
TEXTS = ("context", "passage", "text", "sentence", "continuation", "second")  # roles that several columns may share


def roles_of(kind: str) -> tuple[str, ...]:
    """All roles of a kind, without those that are numbered."""
    return (*ROLES[kind][0], *ROLES[kind][1])


def numbered_roles(kind: str, columns: Mapping[str, str]) -> list[str]:
    """The roles option1, option2 ... (of contexts, context1 ...) that have a column, in their order."""
    stem = NUMBERED.get(kind, "")
    roles = [role for role in columns if stem and re.fullmatch(rf"{stem}[1-9]\d*", role)]
    return sorted(roles, key=lambda role: int(role[len(stem) :]))


def check_given(kind: str, columns: Sequence[str], given_columns: Mapping[str, str]) -> None:
    """UsageError for a kind or role that there is not, a column that there is not, or one with two roles."""
    if kind not in ROLES:
        raise UsageError(f"A table can be read as {', '.join(ROLES)}, not as {kind!r}.")
    stem = NUMBERED.get(kind, "")
    for role, column in given_columns.items():
        if role not in roles_of(kind) and not (stem and re.fullmatch(rf"{stem}[1-9]\d*", role)):
            roles = ", ".join((*roles_of(kind), *((f"{stem}1, {stem}2 ...",) if stem else ())))
            raise UsageError(f"There is no role {role!r} in a {kind} table; there are {roles}.")
        for part in column_parts(column, columns, role):
            if part not in columns:
                raise UsageError(f"There is no column {part!r}; the columns are {list_columns(columns)}.")
    refuse_double({role: column for role, column in given_columns.items()})


def refuse_double(roles: Mapping[str, str]) -> None:
    """UsageError where one column has two roles; an option may be the right one by its text."""
    role_of_column: dict[str, str] = {}
    for role, column in roles.items():
        earlier = role_of_column.setdefault(column, role)
        if earlier != role and not (
            "gold" in (role, earlier) and (role + earlier).replace("gold", "").startswith("option")
        ):
            raise UsageError(
                f"The column {column!r} cannot be both {earlier} and {role}. Name another for one of them."
            )


def column_parts(column: str, columns: Sequence[str], role: str) -> list[str]:
    """The columns that one name means: itself, or several with + between."""
    return [column] if column in columns or role not in TEXTS else column.split("+")


def assign_roles(kind: str, columns: Sequence[str], given_columns: Mapping[str, str]) -> dict[str, str]:
    """Role → column: those given, the rest guessed by their names; UsageError says what is missing."""
    check_given(kind, columns, given_columns)
    needed, extra = ROLES[kind]
    roles = dict(given_columns)
    stem = NUMBERED.get(kind, "")
    list_role = f"{stem}s"
    if stem and not numbered_roles(kind, roles) and list_role not in roles:
        free = [column for column in columns if column not in roles.values()]
        series = option_columns(free) if kind == "choice" else numbered_columns(free, CONTEXT)
        if len(series) > 1 and breaks_off(series):
            raise UsageError(
                f"The columns {list_columns(series)} are numbered or lettered with some left out, so that a number or "
                f"letter may mean another than its place. Name each with --column {stem}1=COLUMN, {stem}2=COLUMN ..."
            )
        roles |= {f"{stem}{n}": column for n, column in enumerate(series, 1)} if len(series) > 1 else {}
    order: list[str] = [role for role in ("options", "names", "contexts") if role in extra]
    order += [role for role in (*needed, *extra) if role not in order]
    for role in order:
        if (
            role in roles
            or (role == list_role and numbered_roles(kind, roles))
            or (role == "names" and "options" not in roles)
        ):
            continue
        if role in RECOGNIZED_BY_VALUES:
            continue
        if kind != "pair" and role == "context" and kind != "choice":
            continue
        guessed = _column_called(role, columns, roles)
        if guessed:
            roles[role] = guessed
    missing = [role for role in needed if role not in roles]
    if stem and list_role not in roles and len(numbered_roles(kind, roles)) < 2:
        missing.append(f"{stem}1 and {stem}2")
    if missing:
        raise UsageError(
            f"No column was recognized as {', '.join(missing)} of a {kind} table; the columns are "
            f"{list_columns(columns)}. Name it with --column {missing[0].split()[0]}=COLUMN."
        )
    refuse_double(roles)
    return roles


def _column_called(role: str, columns: Sequence[str], roles: Mapping[str, str]) -> str | None:
    """The free column that is called like a role; of pairs only what is called so plainly is a context."""
    taken_columns = list(roles.values())
    if role == "names":
        stem = roles.get("options", "").rpartition(".")[0]
        names_beside_options = (f"{stem}.label", f"{stem}.labels", f"{stem}.key")
        return next((name for name in names_beside_options if name in columns and name not in taken_columns), None)
    if role == "gold" and roles.get("names"):
        taken_columns.append(roles["names"])
    if role == "context" and "good" in roles:
        plain_names = {"context", "premise", "prefix", "preamble", "ctx", "prompt", "question", "discourse"}
        return next(
            (name for name in columns if name not in taken_columns and name.strip().lower() in plain_names), None
        )
    return find_column(role, columns, taken_columns)


def list_columns(columns: Sequence[str]) -> str:
    """The columns' names for a message."""
    shown = ", ".join(column[:40] for column in columns[:20])
    return f"{shown} ... ({len(columns)} in all)" if len(columns) > 20 else shown
