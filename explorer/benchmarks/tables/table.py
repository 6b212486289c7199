"""A user's own table as a benchmark: CSV, TSV, JSON, JSON Lines or Parquet → pairs, choices, cloze, classes, ratings.

reading = guess(path)                  what the file seems to be, to be shown; a Question where that is not sure
reading = guess(path, kind="pair", columns={"good": "ok", "bad": "wrong"}, delimiter=";")    and overridden
parsed = read(path, reading, "mine")   instances, and the rows left out with the reason
store(path, "mine", settings, reading) keeps it: `imported_mine` is then a benchmark for every process

The way: bytes → text (table_encoding) → cells (table_text) → rows (table_rows) → kind (table_kinds) and roles
(table_roles) → instances (table_instances, table_suites).
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from explorer import leftovers, sharing
from explorer.benchmarks.core.benchmark import Benchmark, LeftOut, Parsed, SourceFile
from explorer.benchmarks.core.reading import unique_keys
from explorer.benchmarks.tables import (
    gold as table_gold,
)
from explorer.benchmarks.tables import (
    instances as table_instances,
)
from explorer.benchmarks.tables import (
    kinds,
    options,
    suites,
)
from explorer.benchmarks.tables import (
    roles as table_roles,
)
from explorer.benchmarks.tables import (
    rows as table_rows,
)
from explorer.benchmarks.tables.names import Release, bare, find_column
from explorer.benchmarks.tables.questions import Answer, Question
from explorer.benchmarks.tables.reading import RULES, Reading
from explorer.benchmarks.tables.rows import Table
from explorer.benchmarks.tables.values import acceptable_value, is_empty, is_text, number, written
from explorer.errors import BenchmarkError, ExplorerError, UsageError
from explorer.gaps import find_gaps
from explorer.settings import Settings

__all__ = ["PREFIX", "Answer", "Question", "Reading", "guess", "imported", "imported_names", "read", "store"]

PREFIX = "imported_"
MANIFEST = "import.json"
QUESTIONS = ("question", "query", "stem", "prompt")  # what a passage stands before
MOST_BESIDE = 20  # files beside a table that are looked at for how they count
LARGEST_BESIDE = 20_000_000  # bytes


def guess(
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
) -> Reading:
    """How the file is best read; what is given is kept, the rest guessed, and asked where no rule is sure."""
    given = dict(columns or {})
    opened = table_rows.open_file(
        path, encoding=encoding, delimiter=delimiter, quoting=quoting, header=header, columns=given, labels=labels,
        split=split,
    )  # fmt: skip
    if not labels and not opened.suites and _lacks_gold(opened.table.names, given) and labels_beside(path):
        labels = labels_beside(path)
        opened = table_rows.open_file(
            path, encoding=encoding, delimiter=delimiter, quoting=quoting, header=header, columns=given, labels=labels,
            split=split,
        )  # fmt: skip
    table, draft = opened.table, opened.reading
    suites.check_formulas(formulas)
    draft = dataclasses.replace(draft, rules=RULES, formulas=tuple(formulas), connectors=tuple(connectors))
    if opened.suites:
        if kind not in (None, "suite"):
            raise UsageError(f"{path.name} is a SyntaxGym suite, which cannot be read as {kind}.")
        return dataclasses.replace(draft, prompt="syntaxgym", why={**draft.why, "kind": "a suite in SyntaxGym's form"})
    if labels:
        _place_labels(table.names[-1], kind, given)
    if kind is None and first:
        kind = "turns"
    guessed = kinds.Guess(kind) if kind else kinds.guess_kind(table, path.name, given)
    if kind in ("judged", "rating", "choice", "contexts", "turns"):
        guessed = kinds.complete(kind, table, path.name, given)
    roles = table_roles.assign(guessed.kind, table.names, {**guessed.columns, **given})
    if not kind:
        kinds.check_context(guessed.kind, roles, table, path.name)
    if kind != "labelled":  # a class may well be asked of a text with a gap
        kinds.check_gaps(guessed.kind, roles, table, path.name)
    why = {**draft.why, **({"kind": guessed.why} if guessed.why else {})}
    reading = dataclasses.replace(draft, kind=guessed.kind, columns=roles, names=table.names, why=why)
    return _detailed(
        reading, table, path, guessed.release, gold=gold, first=first, acceptable=acceptable, labels=labels
    )


def labels_beside(path: Path) -> Path | None:
    """The file with a label a line that releases put beside a table: dev.jsonl and dev-labels.lst."""
    names = (f"{path.stem}-labels.lst", f"{path.stem}_labels.lst", f"{path.stem}-labels.txt")
    return next((path.with_name(name) for name in names if path.with_name(name).is_file()), None)


def _lacks_gold(names: Sequence[str], given: Mapping[str, str]) -> bool:
    return not any(find_column(role, names) for role in ("gold", "label", "judged", "rating")) and "gold" not in given


def _place_labels(column: str, kind: str | None, given: dict[str, str]) -> None:
    """Gives the column from a file of its own to the role that the kind has for it."""
    role = {"labelled": "label", "judged": "judged", "rating": "rating", "cloze": "target"}.get(kind or "", "gold")
    if not kind and any(role in given for role in ("label", "judged", "rating", "target")):
        return
    given.setdefault(role, column)


def _detailed(
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
        rest = [name for name in table.names if name not in (*roles.values(), relation)]
        context = table_roles.find_column("context", rest)
        roles |= {"context": context} if context else {}
    if relation:
        reading = dataclasses.replace(reading, columns={**roles, "relation": relation}, prompt="copa")
        _check_language(reading, table, path)
        return reading
    if "context" in roles and "passage" not in roles:
        rest = [name for name in table.names if name not in roles.values()]
        question = next((name for name in rest if bare(name) in QUESTIONS), None)
        if question and bare(roles["context"]) not in QUESTIONS and not _is_relation(table.column(question)):
            # A text beside a question is what the question is about.
            roles |= {"passage": roles["context"], "context": question}
            rest.remove(question)
    if "context" in roles and "passage" not in roles:
        passage = table_roles.find_column("passage", rest)
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
    if texts and (heard < 0.5 * len(texts) or any(bare(name) == "changed" for name in table.names)):
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
    known = (release.gold, release.title) if release and release.gold in ("0", "1") else ("", "")
    beside = _beside(path, reading, column, labels)
    way, why = table_gold.guess(rows, column, known, beside)
    return dataclasses.replace(reading, gold=way, why={**reading.why, **({"gold": why} if why else {})})


def _beside(path: Path, reading: Reading, column: str, labels: Path | None) -> dict[str, list[Any]]:
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
        ways = acceptable_value(column, values)
        if not acceptable and not (ways and ways[0] in ("0", "0.0")):  # 1 for what is ungrammatical is turned round
            return dataclasses.replace(reading, unrated=unrated)
    judgments = list(dict.fromkeys(written(value) for value in values))
    if acceptable:
        if acceptable not in judgments:
            raise UsageError(f"{column} of {path.name} is never {acceptable!r}; it is {', '.join(judgments[:10])}.")
        others = [value for value in judgments if value != acceptable and not table_gold.is_unlabeled(value)]
        if len(others) != 1:
            raise UsageError(f"{column} of {path.name} has {len(others) + 1} values, expected two judgments.")
        return dataclasses.replace(reading, acceptable=acceptable, unacceptable=others[0])
    ways = acceptable_value(column, values)
    if ways:
        why = {
            **reading.why,
            "acceptable": f"{column} is {ways[0] or 'empty'!r} for acceptable, {ways[1] or 'empty'!r} for not",
        }
        return dataclasses.replace(reading, acceptable=ways[0], unacceptable=ways[1], why=why)
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


def read(path: Path, reading: Reading, name: str, labels: Path | None = None) -> Parsed:
    """The instances of a file, and the rows left out with the reason; ids hold row numbers unless a column has ids."""
    data = table_rows.read_bytes(path)
    if reading.format == "suite":
        made, left_out = suites.from_json(table_rows.suites_of(path, data, reading), reading)
    else:
        beside = (labels or labels_beside(path)) if reading.labels else None
        table = table_rows.read_rows(path, data, reading, beside)
        _check_columns(path, table, reading)
        if reading.kind == "suite":
            made, left_out = suites.from_table(table, reading)
        else:
            made, left_out = table_instances.make(table, reading, path.name)
        left_out = _in_order([*table.left_out, *left_out])
    if not made:
        why = f"; the first: {left_out[0].where}: {left_out[0].reason}" if left_out else ""
        raise BenchmarkError(f"No row of {path.name} could be read as {reading.kind}{why}. Check kind and columns.")
    benchmark = PREFIX + name
    keys = unique_keys(f"{instance.group}/{key}" for key, instance in made)
    instances = (
        dataclasses.replace(instance, id=f"{benchmark}/{key}", benchmark=benchmark)
        for key, (_, instance) in zip(keys, made, strict=True)
    )
    return Parsed(tuple(instances), tuple(left_out))


def _check_columns(path: Path, table: Table, reading: Reading) -> None:
    for role, column in reading.columns.items():
        lacking = [part for part in table_roles.parts(column, table.names, role) if part not in table.names]
        if lacking:
            raise UsageError(f"{path.name} has no column {lacking[0]!r}; it has {', '.join(table.names[:20])}.")


def _in_order(left_out: Sequence[LeftOut]) -> list[LeftOut]:
    """By line; those of other splits stay at the end."""

    def place(left: LeftOut) -> tuple[bool, int]:
        match = re.fullmatch(r"(?:line|row) (\d+)", left.where)
        return not match, int(match[1]) if match else 0

    return sorted(left_out, key=place)


def store(
    path: Path, name: str, settings: Settings, reading: Reading, title: str = "", labels: Path | None = None
) -> Benchmark:
    """The benchmark `imported_<name>`, kept under the cache with a copy of the file; an older one is replaced.

    It is titled as the file is called, unless `title` says otherwise.
    """
    name = clean_name(name)
    labels = (labels or labels_beside(path)) if reading.labels else None
    read(path, reading, name, labels)  # what cannot be read is not kept
    target = settings.imports / name
    try:
        settings.imports.mkdir(parents=True, exist_ok=True)
        with leftovers.scratch(settings.cache, settings.imports, f".{name}.") as fresh:
            file = f"table{path.suffix.lower()}"
            shutil.copyfile(path, fresh / file)
            manifest = {"version": 2, "title": title or path.name, "file": file, "reading": dataclasses.asdict(reading)}
            if labels:
                manifest["labels"] = f"labels{labels.suffix.lower()}"
                shutil.copyfile(labels, fresh / str(manifest["labels"]))
            text = json.dumps(manifest, ensure_ascii=False, indent=2)
            (fresh / MANIFEST).write_bytes(text.encode("utf-8", "backslashreplace"))
            with sharing.hold(settings.cache / ".imports.lock"):  # two may import under one name at once
                if why := sharing.kept_within(target, writing=True):
                    raise BenchmarkError(why)
                if target.exists():
                    os.replace(target, fresh / leftovers.REPLACED)
                os.replace(fresh, target)
            shutil.rmtree(target / leftovers.REPLACED, ignore_errors=True)
    except OSError as error:
        raise BenchmarkError(f"{target} cannot be written ({error.strerror or error}). Check the cache.") from error
    return imported(name, settings)


def _manifest(folder: Path, settings: Settings) -> str:
    """What stands in an import's manifest; FileNotFoundError where there is none, also once nobody is replacing it."""
    try:
        return (folder / MANIFEST).read_text("utf-8")
    except FileNotFoundError:
        if not settings.imports.is_dir():
            raise
    with sharing.hold(settings.cache / ".imports.lock"):
        return (folder / MANIFEST).read_text("utf-8")


def imported(name: str, settings: Settings) -> Benchmark:
    """The benchmark that `store` kept under this name."""
    name = clean_name(name)
    folder = settings.imports / name
    try:
        manifest = json.loads(_manifest(folder, settings))
        reading = _reading(manifest["reading"])
        title, file, labels = str(manifest["title"]), str(manifest["file"]), str(manifest.get("labels", ""))
        if reading.kind not in table_roles.ROLES or not isinstance(reading.columns, dict):
            raise ValueError(f"it holds no reading of a {reading.kind!r}")
        for filename in (file, *([labels] if labels else [])):
            if Path(filename).name != filename:
                raise ValueError(f"it names {filename[:80]!r}, expected a file beside it")
    except FileNotFoundError as error:
        known = ", ".join(imported_names(settings)) or "none yet"
        raise UsageError(f"Nothing was imported as {name!r}; imported were {known}.") from error
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BenchmarkError(f"{folder / MANIFEST} is damaged ({error}). Import the file again.") from error
    return Benchmark(
        name=PREFIX + name,
        title=title,
        kind=reading.instance_kind,
        load=partial(_load, name, file, labels, reading),
        files=(SourceFile(file), *([SourceFile(labels)] if labels else [])),
        splits=("all",),
        default_splits=("all",),
        folder=folder,
    )


def imported_names(settings: Settings) -> list[str]:
    """The names of all imports, with the prefix."""
    manifests = settings.imports.glob(f"*/{MANIFEST}") if settings.imports.is_dir() else ()
    return sorted(PREFIX + path.parent.name for path in manifests if _is_name(path.parent.name))


def clean_name(name: str) -> str:
    """The name without the prefix; UsageError unless it is made of small letters, digits, - and _."""
    bare = name.removeprefix(PREFIX)
    if not _is_name(bare):
        raise UsageError(
            f"{name[:80]!r} is no name for an import: use small letters, digits, - and _ (at most 64), and none that "
            "Windows keeps for devices (con, nul, com1 ...)."
        )
    return bare


def _is_name(text: str) -> bool:
    # A cache may lie on a disk that Windows reads too, where no folder can be called like a device.
    device = r"con|prn|aux|nul|com[0-9]|lpt[0-9]"
    return bool(re.fullmatch(rf"(?!(?:{device})$)[a-z0-9][a-z0-9_-]{{0,63}}", text))


def _reading(stored: Mapping[str, Any]) -> Reading:
    """The reading of a manifest, in which tuples are lists."""
    lists = {name: tuple(value) for name, value in stored.items() if isinstance(value, list)}
    return Reading(**{**stored, "names": tuple(stored["names"]), **lists})


def _load(
    name: str, file: str, labels: str, reading: Reading, paths: Mapping[str, Path], splits: Sequence[str]
) -> Parsed:
    return read(paths[file], reading, name, paths[labels] if labels else None)
