"""How a table is best read: what is given is kept, the rest guessed, and asked where no rule is sure."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from explorer import languages
from explorer.benchmarks.tables import (
    gold as table_gold,
)
from explorer.benchmarks.tables import (
    instances as table_instances,
)
from explorer.benchmarks.tables import (
    kinds,
    options,
    segmentation,
    suites,
)
from explorer.benchmarks.tables import (
    languages as table_languages,
)
from explorer.benchmarks.tables import (
    roles as table_roles,
)
from explorer.benchmarks.tables import (
    rows as table_rows,
)
from explorer.benchmarks.tables.names import Release, bare_name, find_column
from explorer.benchmarks.tables.questions import Answer, Question
from explorer.benchmarks.tables.reading import RULES, Reading
from explorer.benchmarks.tables.rows import Table
from explorer.benchmarks.tables.values import acceptable_value, is_empty, is_text, number, written
from explorer.errors import ExplorerError, UsageError
from explorer.gaps import find_gaps

QUESTIONS = ("question", "query", "stem", "prompt")  # what a passage stands before
MOST_BESIDE = 20  # files beside a table that are looked at for how they count
LARGEST_BESIDE = 20_000_000  # bytes


def guess_reading(
    path: Path,
    *,
    kind: str | None = None,
    columns: Mapping[str, str] | None = None,
    encoding: str = "",
    delimiter: str | None = None,
    quoting: bool | None = None,
    header: bool | None = None,
    gold: str = "",
    labels: Path | None = None,
    first: str = "",
    acceptable: str = "",
    split: str = "",
    formulas: Sequence[str] = (),
    connectors: Sequence[str] = (),
    language: str = "",
) -> Reading:
    """How the file is best read; what is given is kept, the rest guessed, and asked where no rule is sure."""
    given_columns = dict(columns or {})
    opened = table_rows.open_file(
        path, encoding=encoding, delimiter=delimiter, quoting=quoting, header=header, columns=given_columns,
        labels=labels, split=split,
    )  # fmt: skip
    if not labels and not opened.suites and _lacks_gold(opened.table.names, given_columns) and labels_beside(path):
        labels = labels_beside(path)
        opened = table_rows.open_file(
            path, encoding=encoding, delimiter=delimiter, quoting=quoting, header=header, columns=given_columns,
            labels=labels, split=split,
        )  # fmt: skip
    table, draft = opened.table, opened.reading
    suites.check_formulas(formulas)
    language_code = languages.code_of(language)
    draft = dataclasses.replace(
        draft, rules=RULES, formulas=tuple(formulas), connectors=tuple(connectors), language=language_code
    )
    if opened.suites:
        if kind not in (None, "suite"):
            raise UsageError(f"{path.name} is a SyntaxGym suite, which cannot be read as {kind}.")
        return dataclasses.replace(draft, prompt="syntaxgym", why={**draft.why, "kind": "a suite in SyntaxGym's form"})
    if labels:
        _place_labels(table.names[-1], kind, given_columns)
    if kind is None and first:
        kind = "turns"
    guessed = kinds.Guess(kind) if kind else kinds.guess_kind(table, path.name, given_columns)
    if kind in ("judged", "rating", "choice", "contexts", "turns"):
        guessed = kinds.complete_kind(kind, table, path.name, given_columns)
    roles = table_roles.assign_roles(guessed.kind, table.names, {**guessed.columns, **given_columns})
    if not kind:
        kinds.check_context(guessed.kind, roles, table, path.name)
    if kind != "labelled":  # a class may well be asked of a text with a gap
        kinds.check_gaps(guessed.kind, roles, table, path.name)
    why = {**draft.why, **({"kind": guessed.why} if guessed.why else {})}
    reading = dataclasses.replace(draft, kind=guessed.kind, columns=roles, names=table.names, why=why)
    reading = segmentation.with_words(table_languages.with_language(reading, table, path.name), table)
    return _with_details(
        reading, table, path, guessed.release, gold=gold, first=first, acceptable=acceptable, labels=labels
    )


def labels_beside(path: Path) -> Path | None:
    """The file with a label a line that releases put beside a table: dev.jsonl and dev-labels.lst."""
    names = (f"{path.stem}-labels.lst", f"{path.stem}_labels.lst", f"{path.stem}-labels.txt")
    return next((path.with_name(name) for name in names if path.with_name(name).is_file()), None)


def _lacks_gold(names: Sequence[str], given_columns: Mapping[str, str]) -> bool:
    return (
        not any(find_column(role, names) for role in ("gold", "label", "judged", "rating"))
        and "gold" not in given_columns
    )


def _place_labels(column: str, kind: str | None, given_columns: dict[str, str]) -> None:
    """Gives the column from a file of its own to the role that the kind has for it."""
    role = {"labelled": "label", "judged": "judged", "rating": "rating", "cloze": "target"}.get(kind or "", "gold")
    if not kind and any(role in given_columns for role in ("label", "judged", "rating", "target")):
        return
    given_columns.setdefault(role, column)


def _with_details(
    reading: Reading,
    table: Table,
    path: Path,
    release: Release | None,
    *,
    gold: str,
    first: str,
    acceptable: str,
    labels: Path | None,
) -> Reading:
    """The reading with what its kind still needs: how gold is written, which judgment means acceptable ..."""
    if reading.kind in ("choice", "contexts"):
        reading = _with_options(reading, table)
        reading = _with_prompt(reading, table, path, release)
        return _with_gold(reading, table, path, release, gold, labels)
    if reading.kind in ("judged", "rating"):
        return _with_judgments(reading, table, path, acceptable)
    if reading.kind == "turns":
        return _with_turns(reading, table, path, first)
    if reading.kind == "suite":
        if not reading.formulas:
            raise UsageError(
                f"{path.name} is a suite as a table, which holds no predictions. Give each with --formula, like "
                "'((4;%bad%) > (4;%good%))': the surprisal of region 4 of the condition bad is the larger one."
            )
        return dataclasses.replace(reading, prompt="syntaxgym")
    prompts = {"pair": "pair_in_context" if "context" in reading.columns else "sentence", "cloze": "cloze",
               "labelled": "labelled"}  # fmt: skip
    return dataclasses.replace(reading, prompt=prompts[reading.kind])


def _with_options(reading: Reading, table: Table) -> Reading:
    column = reading.columns.get(f"{table_roles.NUMBERED[reading.kind]}s", "")
    values = [value for value in table.column(column) if not is_empty(value)] if column else []
    return dataclasses.replace(reading, separator=options.guess_separator(values))


def _with_prompt(reading: Reading, table: Table, path: Path, release: Release | None) -> Reading:
    """The prompt format; a choice whose sentences have a gap is asked like WinoGrande, causes like COPA."""
    if reading.kind == "contexts":
        return dataclasses.replace(reading, prompt="context_options")
    roles = dict(reading.columns)
    relation = roles.get("relation") or next(
        (name for name in table.names if name not in roles.values() and _is_relation(table.column(name))), ""
    )
    # A column of "cause" and "effect" that was taken for the question is the relation.
    if not relation and roles.get("context") and _is_relation(table.column(roles["context"])):
        relation = roles.pop("context")
        free_columns = [name for name in table.names if name not in (*roles.values(), relation)]
        context = table_roles.find_column("context", free_columns)
        roles |= {"context": context} if context else {}
    if relation:
        reading = dataclasses.replace(reading, columns={**roles, "relation": relation}, prompt="copa")
        _check_language(reading, table, path)
        return reading
    if "context" in roles and "passage" not in roles:
        free_columns = [name for name in table.names if name not in roles.values()]
        question = next((name for name in free_columns if bare_name(name) in QUESTIONS), None)
        if question and bare_name(roles["context"]) not in QUESTIONS and not _is_relation(table.column(question)):
            # A text beside a question is what the question is about.
            roles |= {"passage": roles["context"], "context": question}
            free_columns.remove(question)
    if "context" in roles and "passage" not in roles:
        passage = table_roles.find_column("passage", free_columns)
        if passage and is_text(table.column(passage)):
            roles["passage"] = passage
    contexts = [written(value) for value in table.column(roles.get("context", "")) if not is_empty(value)]
    gaps = sum(bool(find_gaps(text)) for text in contexts)
    filled = bool(contexts) and ("pronoun" in roles or gaps >= max(1, 0.5 * len(contexts)))
    return dataclasses.replace(reading, columns=roles, prompt="winogrande" if filled else "choice")


def _is_relation(values: Sequence[Any]) -> bool:
    texts = {written(value).lower() for value in values} - {""}
    return bool(texts) and texts <= {"cause", "effect"}


def _check_language(reading: Reading, table: Table, path: Path) -> None:
    """UsageError where causes and effects would be joined by English words in a text that is not English."""
    if reading.language == languages.ENGLISH:
        return
    if reading.connectors:
        if len(reading.connectors) != 2:
            raise UsageError("--connectors takes two: the word before a cause and the one before an effect.")
        return
    context = reading.columns.get("context", "")
    texts = [written(value).lower() for value in table.column(context)][:200] if context else []
    english = {
        "the",
        "a",
        "an",
        "i",
        "my",
        "he",
        "she",
        "it",
        "was",
        "to",
        "of",
        "his",
        "her",
        "they",
        "we",
        "you",
        "in",
    }
    heard = sum(bool(english & set(re.findall(r"[a-z]+", text))) for text in texts)
    if reading.language:
        raise UsageError(
            f"{path.name} asks for causes and effects, which are joined by because and therefore; its language is "
            f"{languages.in_words(reading.language)}. Give the words of its language with --connectors CAUSE,EFFECT."
        )
    if texts and (heard < 0.5 * len(texts) or any(bare_name(name) == "changed" for name in table.names)):
        raise UsageError(
            f"{path.name} asks for causes and effects in a text that does not look English; because and therefore "
            "cannot stand in it. Give the words of its language with --connectors CAUSE,EFFECT."
        )


def _with_gold(
    reading: Reading, table: Table, path: Path, release: Release | None, gold: str, labels: Path | None
) -> Reading:
    if gold:
        return dataclasses.replace(reading, gold=gold)
    rows = table_instances.gold_rows(table, reading)
    column = reading.columns["gold"]
    if not rows:
        return dataclasses.replace(reading, gold="text")
    published = (release.gold, release.title) if release and release.gold in ("0", "1") else ("", "")
    columns_beside = _columns_beside(path, reading, column, labels)
    notation, why = table_gold.guess_notation(rows, column, published, columns_beside)
    return dataclasses.replace(reading, gold=notation, why={**reading.why, **({"gold": why} if why else {})})


def _columns_beside(path: Path, reading: Reading, column: str, labels: Path | None) -> dict[str, list[Any]]:
    """The column with the right options in files beside this one that have the same columns."""
    label_columns: dict[str, list[Any]] = {}
    origin = labels or path
    try:
        near = sorted(file for file in origin.parent.iterdir() if file.suffix == origin.suffix and file != origin)
    except OSError:
        return label_columns
    for file in near[:MOST_BESIDE]:
        try:
            if not file.is_file() or file.stat().st_size > LARGEST_BESIDE:
                continue
            if labels:
                if re.sub(r"^[a-z]+", "", file.stem) == re.sub(r"^[a-z]+", "", origin.stem):
                    label_columns[file.name] = file.read_text("utf-8").split()
                continue
            table = table_rows.read_rows(file, table_rows.read_bytes(file), reading)
        except (ExplorerError, OSError, UnicodeError):
            continue
        if table.names == reading.names:
            label_columns[file.name] = table.column(column)
    return label_columns


def _with_judgments(reading: Reading, table: Table, path: Path, acceptable: str) -> Reading:
    """Which judgment means acceptable; ratings that are numbers need none."""
    column = reading.columns["judged" if reading.kind == "judged" else "rating"]
    values = table.column(column)
    reading = dataclasses.replace(reading, prompt="pair_in_context" if "context" in reading.columns else "sentence")
    numbers = [number(value) for value in values if not is_empty(value)]
    if reading.kind == "rating" and sum(number is not None for number in numbers) >= 0.5 * max(1, len(numbers)):
        rated = [number for number in numbers if number is not None]
        unrated = "-1" if -1.0 in rated and all(rating >= 0 or rating == -1 for rating in rated) else ""
        meanings = acceptable_value(column, values)
        if not acceptable and not (
            meanings and meanings[0] in ("0", "0.0")
        ):  # 1 for what is ungrammatical is turned round
            return dataclasses.replace(reading, unrated=unrated)
    judgments = list(dict.fromkeys(written(value) for value in values))
    if acceptable:
        if acceptable not in judgments:
            raise UsageError(f"{column} of {path.name} is never {acceptable!r}; it is {', '.join(judgments[:10])}.")
        others = [value for value in judgments if value != acceptable and not table_gold.is_unlabeled(value)]
        if len(others) != 1:
            raise UsageError(f"{column} of {path.name} has {len(others) + 1} values, expected two judgments.")
        return dataclasses.replace(reading, acceptable=acceptable, unacceptable=others[0])
    meanings = acceptable_value(column, values)
    if meanings:
        why = {
            **reading.why,
            "acceptable": f"{column} is {meanings[0] or 'empty'!r} for acceptable, {meanings[1] or 'empty'!r} for not",
        }
        return dataclasses.replace(reading, acceptable=meanings[0], unacceptable=meanings[1], why=why)
    marks = [value for value in judgments if value and not table_gold.is_unlabeled(value)]
    if len(marks) != 2:
        raise UsageError(
            f"{column} of {path.name} has the values {', '.join(map(repr, judgments[:6]))}, expected two: one "
            "for acceptable, one for not. Name another column with --column judged=COLUMN."
        )
    row = next(row for row in table.rows if written(row.cells.get(column)) in marks)
    sentence, mark = written(row.cells.get(reading.columns["sentence"]))[:80], written(row.cells.get(column))
    raise Question(
        "acceptable",
        f"Which judgment in {column} of {path.name} means acceptable cannot be told",
        [
            Answer(choice, f"{sentence!r}, judged {mark}, as {'acceptable' if choice == mark else 'unacceptable'}")
            for choice in marks
        ],
    )


def _with_turns(reading: Reading, table: Table, path: Path, first: str) -> Reading:
    reading = dataclasses.replace(reading, prompt="pair_in_context" if "context" in reading.columns else "sentence")
    if first:
        if first not in ("good", "bad"):
            raise UsageError(f"The first of two sentences is good or bad, not {first!r}.")
        return dataclasses.replace(reading, first=first)
    sentences = [written(row.cells.get(reading.columns["sentence"]))[:80] for row in table.rows[:2]]
    raise kinds.which_first(path.name, [*sentences, "", ""])


def column_names(
    path: Path,
    *,
    encoding: str = "",
    delimiter: str | None = None,
    quoting: bool | None = None,
    header: bool | None = None,
    labels: Path | None = None,
    split: str = "",
) -> tuple[str, ...]:
    """The file's columns, for a reader who has to say what they hold."""
    return table_rows.open_file(
        path, encoding=encoding, delimiter=delimiter, quoting=quoting, header=header, labels=labels, split=split
    ).table.names
