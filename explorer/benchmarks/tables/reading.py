"""How a user's file is read: what was guessed or said of it, kept beside its copy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from explorer.records import Kind

RULES = 2  # manifests that name no rules were written when there were only the first


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is read; every part was guessed or given."""

    format: str  # csv, json, jsonl, parquet, or suite: a SyntaxGym suite as JSON
    kind: str  # a key of table_roles.ROLES
    columns: Mapping[str, str]  # role → column; several texts that stand one after the other are joined by +
    names: tuple[str, ...] = ()  # all columns of the file
    encoding: str = ""
    delimiter: str = ""  # "" where each line is one cell
    quoting: bool = False
    header: bool = True
    gold: str = ""  # how the right option is written: "0", "1", "letter", "text", "names", "flags"
    prompt: str = ""  # a key of prompts.FORMATS
    rules: int = 1  # by which rules rows become instances; an import stays as it was read
    skip: int = 0  # lines before the table
    separator: str = ""  # what parts options in one cell: "json", "python" or a sign
    acceptable: str = ""  # the judgment that means acceptable
    unacceptable: str = ""  # the judgment that means unacceptable
    first: str = ""  # of sentences by turns: "good" or "bad"
    unrated: str = ""  # the number that means that a sentence was not rated
    labels: str = ""  # the column that comes from a file of its own, line by line
    split: str = ""  # the one read where a file has several
    formulas: tuple[str, ...] = ()  # predictions of a suite whose file has none
    connectors: tuple[str, ...] = ()  # words before a cause and before an effect
    language: str = ""  # ISO 639 code as given or as its column says, "mul" for several, "" where nobody said
    why: Mapping[str, str] = field(default_factory=dict)  # what a part rests on, in words

    def cell(self, cells: Mapping[str, Any], role: str) -> Any:
        """A row's cell of a role; None where no column has the role, though one column may have no name."""
        column = self.columns.get(role)
        return None if column is None else cells.get(column)

    @property
    def instance_kind(self) -> Kind:
        """The kind of the instances that the file's rows become."""
        instance_kinds: Mapping[str, Kind] = {
            "judged": "pair", "turns": "pair", "contexts": "choice", "rating": "rating", "suite": "regions"
        }  # fmt: skip
        return instance_kinds.get(self.kind) or self.kind  # type: ignore[return-value]

    @property
    def unused(self) -> tuple[str, ...]:
        """The file's columns that are not used."""
        used = {part for column in self.columns.values() for part in (column, *column.split("+"))}
        return tuple(name for name in self.names if name not in used)
