"""A user's own table as a benchmark: CSV, TSV, JSON, JSON Lines or Parquet → pairs, choices, cloze or labelled text.

reading = guess(path)                  what the file seems to be, to be shown
reading = guess(path, kind="pair", columns={"good": "ok", "bad": "wrong"}, delimiter=";")    and overridden
parsed = read(path, reading, "mine")   instances, and the rows left out with the reason
store(path, "mine", settings, reading) keeps it: `imported_mine` is then a benchmark for every process
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from explorer import sharing
from explorer.benchmarks import table_limits, table_roles, table_text
from explorer.benchmarks.benchmark import Benchmark, LeftOut, Parsed, SourceFile
from explorer.benchmarks.reading import unique_keys
from explorer.errors import BenchmarkError, UsageError
from explorer.records import Instance, Kind
from explorer.settings import Settings

PREFIX = "imported_"
MANIFEST = "import.json"
MOST_CLASSES = 200


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is read; every part was guessed or given."""

    format: str  # csv, json, jsonl or parquet
    kind: Kind
    columns: Mapping[str, str]  # role → column
    names: tuple[str, ...] = ()  # all columns of the file
    encoding: str = ""
    delimiter: str = ""  # "" where each line is one cell
    quoting: bool = False
    header: bool = True
    gold: str = ""  # how the right option is written: "0", "1", "letter", "text"
    prompt: str = ""  # a key of prompts.FORMATS


@dataclass(frozen=True, slots=True)
class _Row:
    where: str
    cells: Mapping[str, Any]


@dataclass(slots=True)
class _Table:
    names: tuple[str, ...]
    rows: list[_Row | LeftOut] = field(default_factory=list)

    def column(self, name: str) -> list[Any]:
        return [row.cells.get(name) for row in self.rows if isinstance(row, _Row)]


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
) -> Reading:
    """How the file is best read; what is given is kept, the rest guessed."""
    draft, table = _open(path, encoding, delimiter, quoting, header)
    found = kind or table_roles.guess_kind(table.names)
    if not found and len(table.names) == 1:
        found, columns = "cloze", {"text": table.names[0], **(columns or {})}
    if not found:
        raise UsageError(
            f"The columns of {path.name} ({', '.join(name[:40] for name in table.names[:20])}) do not tell what it "
            "holds. Say the kind (--kind pair, choice, cloze or labelled) and name the columns (--column ROLE=COLUMN)."
        )
    roles = table_roles.assign(found, table.names, columns or {})
    if found == "choice" and not gold:
        gold = table_roles.guess_gold(table.column(roles["gold"]), _most_options(table, roles))
    return dataclasses.replace(
        draft,
        kind=found,  # type: ignore[arg-type]
        columns=roles,
        names=table.names,
        gold=gold if found == "choice" else "",
        prompt=_guess_prompt(found, table, roles),
    )


def column_names(
    path: Path,
    *,
    encoding: str = "",
    delimiter: str | None = None,
    quoting: bool | None = None,
    header: bool | None = None,
) -> tuple[str, ...]:
    """The file's columns, for a reader who has to say what they hold."""
    return _open(path, encoding, delimiter, quoting, header)[1].names


def _open(
    path: Path, encoding: str, delimiter: str | None, quoting: bool | None, header: bool | None
) -> tuple[Reading, _Table]:
    """A reading without kind and columns, and the rows as it has them."""
    data = _read_bytes(path)
    draft = Reading(_guess_format(path, data), "cloze", {})
    if draft.format != "parquet":
        text, encoding = table_text.decode(data, path.name, encoding)
        draft = dataclasses.replace(draft, encoding=encoding)
        if draft.format == "csv":
            table_limits.check_cells(text, path.name, "")
            dialect = table_text.guess_dialect(text, path.name, delimiter, quoting, header)
            draft = dataclasses.replace(
                draft, delimiter=dialect.delimiter, quoting=dialect.quoting, header=dialect.header
            )
    return draft, _table(path, data, draft)


def read(path: Path, reading: Reading, name: str) -> Parsed:
    """The instances of a file, and the rows left out with the reason; ids hold row numbers unless a column has ids."""
    table = _table(path, _read_bytes(path), reading)
    lacking = [column for column in reading.columns.values() if column not in table.names]
    if lacking:
        raise UsageError(f"{path.name} has no column {lacking[0]!r}; it has {', '.join(table.names[:20])}.")
    classes = _classes(path, table, reading) if reading.kind == "labelled" else ()
    made: list[tuple[str, Instance]] = []
    left_out: list[LeftOut] = []
    for number, row in enumerate(table.rows):
        if isinstance(row, LeftOut):
            left_out.append(row)
            continue
        try:
            key = _optional(row.cells, reading, "id") or str(number)
            made.append((key, _instance(row.cells, reading, classes)))
        except _Unfit as error:
            left_out.append(LeftOut(row.where, str(error)))
    if not made:
        why = f"; the first: {left_out[0].where}: {left_out[0].reason}" if left_out else ""
        raise BenchmarkError(f"No row of {path.name} could be read as {reading.kind}{why}. Check kind and columns.")
    benchmark = PREFIX + name
    keys = unique_keys(f"{instance.group}/{key}" for key, instance in made)
    instances = (
        dataclasses.replace(instance, id=f"{benchmark}/{key}", benchmark=benchmark)
        for key, (_, instance) in zip(keys, made)
    )
    return Parsed(tuple(instances), tuple(left_out))


def store(path: Path, name: str, settings: Settings, reading: Reading, title: str = "") -> Benchmark:
    """The benchmark `imported_<name>`, kept under the cache with a copy of the file; an older one is replaced.

    It is titled as the file is called, unless `title` says otherwise.
    """
    name = clean_name(name)
    read(path, reading, name)  # what cannot be read is not kept
    target = settings.imports / name
    fresh: Path | None = None
    try:
        settings.imports.mkdir(parents=True, exist_ok=True)
        fresh = sharing.new_folder(settings.imports, f".{name}.")
        file = f"table{path.suffix.lower()}"
        shutil.copyfile(path, fresh / file)
        manifest = {"version": 1, "title": title or path.name, "file": file, "reading": dataclasses.asdict(reading)}
        text = json.dumps(manifest, ensure_ascii=False, indent=2)
        (fresh / MANIFEST).write_bytes(text.encode("utf-8", "backslashreplace"))
        with sharing.hold(settings.cache / ".imports.lock"):  # two may import under one name at once
            if target.exists():
                os.replace(target, fresh / "replaced")
            os.replace(fresh, target)
    except OSError as error:
        raise BenchmarkError(f"{target} cannot be written ({error.strerror or error}). Check the cache.") from error
    finally:
        if fresh:
            shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(target / "replaced", ignore_errors=True)
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
        reading = Reading(**{**manifest["reading"], "names": tuple(manifest["reading"]["names"])})
        title, file = str(manifest["title"]), str(manifest["file"])
        if reading.kind not in table_roles.ROLES or not isinstance(reading.columns, dict):
            raise ValueError(f"it holds no reading of a {reading.kind!r}")
        if Path(file).name != file:
            raise ValueError(f"it names {file[:80]!r}, expected a file beside it")
    except FileNotFoundError as error:
        known = ", ".join(imported_names(settings)) or "none yet"
        raise UsageError(f"Nothing was imported as {name!r}; imported were {known}.") from error
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BenchmarkError(f"{folder / MANIFEST} is damaged ({error}). Import the file again.") from error
    return Benchmark(
        name=PREFIX + name,
        title=title,
        kind=reading.kind,
        load=partial(_load, name, file, reading),
        files=(SourceFile(file),),
        splits=("all",),
        default_splits=("all",),
        folder=folder,
    )


def imported_names(settings: Settings) -> list[str]:
    """The names of all imports, with the prefix."""
    found = settings.imports.glob(f"*/{MANIFEST}") if settings.imports.is_dir() else ()
    return sorted(PREFIX + path.parent.name for path in found if _is_name(path.parent.name))


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


def _load(name: str, file: str, reading: Reading, paths: Mapping[str, Path], splits: Sequence[str]) -> Parsed:
    return read(paths[file], reading, name)


# --- files → rows


def _read_bytes(path: Path) -> bytes:
    table_limits.check_file(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror or error}). Check the path.") from error
    table_text.refuse_foreign(data, path.name)
    return data


def _guess_format(path: Path, data: bytes) -> str:
    if data.startswith(b"PAR1") or path.suffix.lower() == ".parquet":
        return "parquet"
    suffix = path.suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        return "jsonl"
    begin = table_text.decode(data[:4000].rsplit(b"\n", 1)[0] if len(data) > 4000 else data, path.name)[0].lstrip()
    if suffix == ".json" or begin[:1] in ("{", "["):
        first = begin.partition("\n")[0].strip()
        with contextlib.suppress(ValueError, RecursionError):
            # One object on the first line and more lines below are JSON Lines, whatever the file is called.
            if isinstance(json.loads(first), dict) and len(begin) > len(first) + 1:
                return "jsonl"
        return "json" if suffix == ".json" or begin[:1] == "[" or first == "{" else "jsonl"
    return "csv"


def _table(path: Path, data: bytes, reading: Reading) -> _Table:
    if reading.format == "parquet":
        return _from_parquet(path)
    text, _ = table_text.decode(data, path.name, reading.encoding)
    if reading.format == "csv":
        return _from_cells(path, text, reading)
    table_limits.check_json(text, path.name)
    return _from_objects(_json_lines(text) if reading.format == "jsonl" else _json(path, text), path)


def _from_cells(path: Path, text: str, reading: Reading) -> _Table:
    table_limits.check_cells(text, path.name, reading.delimiter)
    lines = table_text.split(text, reading.delimiter, reading.quoting)
    first = next(lines, None)
    if first is None:
        raise BenchmarkError(f"{path.name} has no rows, expected a table. Choose another file.")
    heads = first.cells if reading.header else tuple(f"column {n}" for n in range(1, len(first.cells) + 1))
    table_limits.check_columns(len(heads), path.name)
    table = _Table(tuple(unique_keys(head.strip() or f"column {n}" for n, head in enumerate(heads, 1))))
    for line in lines if reading.header else _chain(first, lines):
        where = f"line {line.number}"
        if line.reason:
            table.rows.append(LeftOut(where, line.reason))
        elif len(line.cells) != len(table.names):
            table.rows.append(LeftOut(where, f"{len(line.cells)} fields, expected {len(table.names)}"))
        else:
            table.rows.append(_Row(where, dict(zip(table.names, line.cells))))
    return table


def _chain(first: table_text.Line, rest: Iterator[table_text.Line]) -> Iterator[table_text.Line]:
    yield first
    yield from rest


def _json_lines(text: str) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield f"line {number}", json.loads(line)
            except (ValueError, RecursionError):
                yield f"line {number}", LeftOut(f"line {number}", "no JSON")


def _json(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BenchmarkError(f"{path.name} is not JSON ({str(error)[:100]}). Mend or convert the file.") from error
    if isinstance(whole, dict):
        lists = [value for value in whole.values() if isinstance(value, list)]
        if lists and all(len(value) == len(lists[0]) for value in lists) and len(lists) == len(whole) > 1:
            whole = [dict(zip(whole, row)) for row in zip(*whole.values())]  # a list a column
        else:
            whole = next((value for value in lists if value and isinstance(value[0], dict)), [whole])
    if not isinstance(whole, list):
        raise BenchmarkError(f"{path.name} holds a JSON {type(whole).__name__}, expected a list of objects.")
    for number, row in enumerate(whole, 1):
        yield f"row {number}", row


def _from_objects(rows: Iterator[tuple[str, Any]], path: Path) -> _Table:
    names: dict[str, None] = {}
    kept: list[_Row | LeftOut] = []
    for where, row in rows:
        if isinstance(row, LeftOut):
            kept.append(row)
        elif isinstance(row, dict):
            flat = _flatten(row)
            names |= dict.fromkeys(flat)
            kept.append(_Row(where, flat))
        else:
            kept.append(LeftOut(where, f"a JSON {type(row).__name__}, expected an object"))
    if not names:
        raise BenchmarkError(f"{path.name} has no JSON object with fields, expected one a row. Choose another file.")
    table_limits.check_columns(len(names), path.name)
    return _Table(tuple(names), kept)


def _flatten(row: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a nested object become "outer.inner", as in choices.text."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{inner}": deeper for inner, deeper in value.items()}
        else:
            flat[name] = value
    return flat


def _from_parquet(path: Path) -> _Table:
    import pyarrow
    import pyarrow.parquet

    try:
        table_limits.check_parquet(path)
        rows = pyarrow.parquet.read_table(path, page_checksum_verification=True).to_pylist()
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())[:120]
        raise BenchmarkError(f"{path.name} is not a readable Parquet file ({reason}). Download it again.") from error
    return _from_objects(((f"row {number}", row) for number, row in enumerate(rows, 1)), path)


# --- rows → instances


class _Unfit(Exception):
    """A row that becomes no instance; the text says why."""


def _instance(cells: Mapping[str, Any], reading: Reading, classes: tuple[str, ...]) -> Instance:
    group = _optional(cells, reading, "group")
    base = Instance("", "", "all", group or "all", reading.kind, reading.prompt)
    if reading.kind == "pair":
        options: tuple[str, ...] = (_text(cells, reading, "good"), _text(cells, reading, "bad"))
        return dataclasses.replace(base, options=options, gold=0)
    if reading.kind == "choice":
        options = _choices(cells, reading)
        value = cells.get(reading.columns["gold"])
        gold = table_roles.gold_index(value, options, reading.gold)
        if gold is None:
            raise _Unfit(
                f"{reading.columns['gold']} is {str(value)[:40]!r}, which names none of {len(options)} options"
            )
        context = _optional(cells, reading, "context")
        if reading.prompt == "winogrande" and context.count("_") != 1:
            raise _Unfit(f"{reading.columns['context']} has {context.count('_')} gaps, expected one _")
        return dataclasses.replace(base, context=context, options=options, gold=gold, label=str(value))
    if reading.kind == "cloze":
        text, target = _text(cells, reading, "text"), ""
        if "target" in reading.columns:
            target = _text(cells, reading, "target")
        else:
            text, _, target = text.rstrip().rpartition(" ")
        if not text or not target:
            raise _Unfit(f"{reading.columns['text']} is one word, expected a text and its last word")
        return dataclasses.replace(base, context=text, options=(target,), gold=0)
    label = _text(cells, reading, "label").strip()
    return dataclasses.replace(
        base,
        context=_text(cells, reading, "text"),
        second=_optional(cells, reading, "second"),
        options=classes,
        gold=classes.index(label),
        label=label,
        group=group or label,
    )


def _choices(cells: Mapping[str, Any], reading: Reading) -> tuple[str, ...]:
    if "options" in reading.columns:
        column = reading.columns["options"]
        value = cells.get(column)
        if isinstance(value, str):
            with contextlib.suppress(ValueError, RecursionError):
                value = json.loads(value)
        if not isinstance(value, list) or len(value) < 2:
            raise _Unfit(f"{column} is no list of at least two options")
        return tuple(_checked(item, column) for item in value)
    roles = sorted(
        (role for role in reading.columns if re.fullmatch(r"option\d+", role)), key=lambda role: int(role[6:])
    )
    return tuple(_text(cells, reading, role) for role in roles)


def _text(cells: Mapping[str, Any], reading: Reading, role: str) -> str:
    column = reading.columns[role]
    return _checked(cells.get(column), column)


def _optional(cells: Mapping[str, Any], reading: Reading, role: str) -> str:
    column = reading.columns.get(role, "")
    value = cells.get(column)
    return _checked(value, column) if column and not _is_empty(value) else ""


def _checked(value: Any, column: str) -> str:
    if isinstance(value, bytes):
        try:
            value = value.decode("utf-8")
        except UnicodeDecodeError:
            raise _Unfit(f"{column} holds bytes that are no UTF-8") from None
    if isinstance(value, list | dict):
        raise _Unfit(f"{column} holds a {type(value).__name__}, expected text")
    if _is_empty(value):
        raise _Unfit(f"{column} is empty")
    text = str(value)
    if "\0" in text:
        raise _Unfit(f"{column} holds a NUL character")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise _Unfit(f"{column} holds half a surrogate pair")
    return text


def _is_empty(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def _classes(path: Path, table: _Table, reading: Reading) -> tuple[str, ...]:
    column = reading.columns["label"]
    found: set[str] = set()
    for value in table.column(column):
        with contextlib.suppress(_Unfit):
            found.add(_checked(value, column).strip())
    if len(found) > MOST_CLASSES:
        raise UsageError(
            f"The column {column!r} of {path.name} has {len(found)} different values, expected at most {MOST_CLASSES} "
            "classes. Name another with --column label=COLUMN."
        )
    return tuple(
        sorted(found, key=lambda label: (not label.isdecimal(), int(label) if label.isdecimal() else 0, label))
    )


def _most_options(table: _Table, roles: Mapping[str, str]) -> int:
    if "options" not in roles:
        return sum(bool(re.fullmatch(r"option\d+", role)) for role in roles)
    return max((len(value) for value in table.column(roles["options"]) if isinstance(value, list)), default=0)


def _guess_prompt(kind: str, table: _Table, roles: Mapping[str, str]) -> str:
    """The prompt format; a choice whose sentences all have one gap is asked like WinoGrande."""
    if kind != "choice":
        return {"pair": "sentence", "cloze": "cloze", "labelled": "labelled"}[kind]
    contexts = [str(value) for value in table.column(roles.get("context", "")) if not _is_empty(value)]
    return "winogrande" if contexts and all(text.count("_") == 1 for text in contexts) else "choice"
