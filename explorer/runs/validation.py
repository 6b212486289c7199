"""What a run's files may say, wherever they come from: a zip, a bucket, a cluster, a folder that others can write.

Nothing is taken at its word. Names are bounded and hold no control characters, numbers are finite, dates lie between
1970 and 2100, a study is one of ours, a part's tables are those of rows/schema.py. A file that says anything else is
refused in one sentence, or read as if it were not there where the run can go on without it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from explorer import parquet_bounds
from explorer.errors import RunError
from explorer.parquet_bounds import Bounds, TooLarge
from explorer.records import Kind
from explorer.rows.schema import TABLES, schema_of
from explorer.studies import STUDIES

if TYPE_CHECKING:
    import pyarrow as pa

LATEST_DATE = 4_102_444_800.0  # seconds since 1970: the year 2100
MAX_NUMBER = 1e18  # of any number in a table
MAX_INSTANCES = 10**12  # instances of a run
MAX_NAME = 1_000
MAX_TEXT = 100_000  # in a JSON file; tables may hold longer ones
MAX_DEPTH = 8
PARQUET = Bounds(rows=20_000_000, values=200_000_000, bytes=1 << 30)  # of one file of a part
BATCH = 4_096
MAX_ID = 10_000  # characters of an id, or of a name in a table
MAX_CELL = 10_000_000  # of any other text in a table
ROUNDING = 1e-6  # nats by which a log-probability may be above 0
# Numbers of a table that count something, and logarithms of probabilities.
_COUNTS = ("request", "position", "tokens", "scored", "chars", "bytes", "truncated", "start", "n", "count", "left_out")
_LOGPROBS = ("logprob", "token_logprobs")
_TEXTS = ("payload", "edit", "context", "continuation", "prompt", "text", "detail", "reason", "label", "token_texts")
# Columns of a table that hold JSON, which pages open.
_OBJECTS = {"variants": ("edit",), "findings": ("detail",)}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def _name(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("holds a control character")
    return text


def _study(text: str) -> str:
    if text not in STUDIES:
        raise ValueError(f"is none of {', '.join(STUDIES)}")
    return text


def _plain_json(value: Any, deep: int = MAX_DEPTH) -> Any:
    """The value itself where it is JSON of bounded depth, length and size of numbers."""
    if isinstance(value, Mapping):
        if not deep or len(value) > 10_000:
            raise ValueError("is nested too deeply or too large")
        for name, item in value.items():
            _plain_json(str(name), deep)
            _plain_json(item, deep - 1)
    elif isinstance(value, list | tuple):
        if not deep or len(value) > 100_000:
            raise ValueError("is nested too deeply or too large")
        for item in value:
            _plain_json(item, deep - 1)
    elif isinstance(value, str):
        if len(value) > MAX_TEXT:
            raise ValueError(f"holds a text of {len(value):,} characters")
    elif isinstance(value, int | float) and not (math.isfinite(value) and abs(value) <= MAX_NUMBER):
        raise ValueError("holds a number that is none")
    return value


Name = Annotated[str, Field(max_length=MAX_NAME), AfterValidator(_name)]
Date = Annotated[float, Field(ge=0, le=LATEST_DATE, allow_inf_nan=False)]
Amount = Annotated[int, Field(ge=0, le=MAX_INSTANCES)]
Objects = Annotated[dict[str, Any], AfterValidator(_plain_json)]
Table = Annotated[str, Field(pattern=rf"^(?:{'|'.join(TABLES)})$")]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class _Open(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class SpecFields(_Strict):
    """spec.json: what was asked."""

    study: Annotated[str, AfterValidator(_study)]
    version: Annotated[int, Field(ge=0, le=1_000_000)]
    model: Name
    benchmark: Name
    revision: Name = ""
    weights: Name = ""
    data_hash: Name = ""
    suites: Annotated[list[Name], Field(max_length=100_000)]
    limit: Annotated[int, Field(ge=1, le=MAX_INSTANCES)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    dtype: Annotated[str, Field(max_length=20)] = "auto"
    settings: Objects = {}
    uses: Annotated[list[Name], Field(max_length=1_000)]


class _SweepRequest(_Strict):
    suites: Annotated[list[Name], Field(max_length=100_000)] | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_INSTANCES)] | None = None
    dtype: Annotated[str, Field(max_length=20)] = "auto"
    settings: Objects = {}
    only: Annotated[list[Name], Field(max_length=100_000)] = []


class _SweepMember(_Strict):
    model: Name
    benchmark: Name
    seed: Annotated[int, Field(ge=0, lt=2**31)]
    run_id: Annotated[str, Field(pattern=r"^(?:[a-z]+-[0-9a-f]{12})?$")]
    was_here: bool = False


class SweepFields(_Strict):
    """A file of a sweep: what was asked, and the runs that it became."""

    name: str
    study: Annotated[str, AfterValidator(_study)]
    members: Annotated[list[_SweepMember], Field(min_length=1, max_length=2_000)]
    request: _SweepRequest
    keep: Literal["all", "none"]
    made: Date
    had: Annotated[list[Annotated[str, Field(pattern=r"^[0-9a-f]{1,64}$")]], Field(max_length=100_000)] = []


class SliceFields(_Strict):
    """A file of a slice: instances of a benchmark under a name."""

    format: Literal[1]
    name: str
    benchmark: Name
    ids: Annotated[list[Annotated[str, Field(min_length=1, max_length=500)]], Field(min_length=1, max_length=5_000)]
    made: Date


class ProgressFields(_Open):
    """progress.json: how far the run is. What it says beside is not looked at."""

    status: Literal["queued", "running", "interrupted", "complete", "failed", "cancelled"] = "interrupted"
    done: Amount = 0
    total: Amount = 0
    rate: Annotated[float, Field(ge=0, le=MAX_NUMBER)] = math.nan
    eta: Annotated[float, Field(ge=0, le=MAX_NUMBER)] = math.nan
    message: Annotated[str, Field(max_length=MAX_TEXT)] = ""
    created: Date = 0.0
    updated: Date = 0.0
    imported: Annotated[str, Field(max_length=MAX_NAME)] = ""


class MarkFields(_Open):
    """A part's .done: its tables, the SHA-256 of each one's file, and under which environment they were made.

    Marks of earlier versions have no hashes and count all the same.
    """

    tables: Annotated[list[Table], Field(max_length=len(TABLES))]
    environment: Annotated[str, Field(pattern=r"^[0-9A-Za-z_-]{0,64}$")] = ""
    written: Date = 0.0
    sha256: dict[Table, Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]] = {}


class _Condition(_Strict):
    name: str
    regions: list[str]


class _InstanceFields(_Strict):
    """`payload` of a row of instances or variants."""

    id: str
    benchmark: str
    split: str
    group: str
    kind: Kind
    format: str
    context: str = ""
    second: str = ""
    options: list[str] = []
    gold: int | None = None
    label: str = ""
    phenomenon: str = ""
    field: str = ""
    conditions: list[_Condition] = []
    parent: str = ""
    edit: str = ""
    extra: Objects = {}


M = TypeVar("M", bound=BaseModel)


def spec_fields(fields: Any) -> dict[str, Any]:
    """The fields of a spec; ValueError, with the field that is wrong, where one is not valid."""
    try:
        return SpecFields.model_validate(fields).model_dump()
    except ValidationError as error:
        raise ValueError(_describe(error)) from None


def is_sweep(fields: Any) -> bool:
    """Whether an object is what a sweep's file holds."""
    return _is_valid(SweepFields, fields)


def is_slice(fields: Any) -> bool:
    """Whether an object is what a slice's file holds."""
    return _is_valid(SliceFields, fields)


def _is_valid(kind: type[BaseModel], fields: Any) -> bool:
    try:
        kind.model_validate(fields)
    except ValidationError:
        return False
    return True


def progress(fields: Mapping[str, Any]) -> ProgressFields:
    """What progress.json says; what of it cannot be is left out."""
    return _validate_leniently(ProgressFields, fields)


def mark(fields: Mapping[str, Any]) -> MarkFields | None:
    """What a part's mark says, or none where it is no mark."""
    try:
        parsed = MarkFields.model_validate(fields)
    except ValidationError:
        return None
    return parsed if set(parsed.sha256) <= set(parsed.tables) else None


def plain(fields: dict[str, Any]) -> dict[str, Any]:
    """The object itself, {} where it is nested without end or holds what is no number."""
    try:
        return dict(_plain_json(fields))
    except ValueError:
        return {}


def check_progress(fields: Mapping[str, Any]) -> None:
    """ValueError where a progress file that comes from outside is not in order."""
    try:
        ProgressFields.model_validate(fields)
    except ValidationError as error:
        raise ValueError(_describe(error)) from None


def check_plain(fields: Any) -> None:
    """ValueError where an object that comes from outside is not in order."""
    if not isinstance(fields, dict):
        raise ValueError("is no JSON object")
    _plain_json(fields)


def check_table(path: Path, table: str, first: int | None = None, last: int | None = None) -> None:
    """RunError unless the file holds rows of the table and nothing else, of the instances first..last where given.

    The numbers are finite, what should be JSON is JSON, and no more memory is taken than a part may have.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    name = f"{table}/{path.name}"
    try:
        parquet_bounds.check(path, PARQUET)
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            _check_columns(file.schema_arrow, table)
            places: list[int] = []
            for batch in file.iter_batches(BATCH):
                _check_rows(batch, table)
                if table == "instances" and first is not None:
                    places += batch.column("position").to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise RunError(
            f"{name} is no readable Parquet file ({str(error).splitlines()[0][:200]}). Get it again."
        ) from error
    except (TooLarge, ValueError) as error:
        raise RunError(f"{name} is not in order: {error}. Do not use it, or get it again.") from error
    if table != "instances" or first is None or last is None:
        return
    if sorted(place if place is not None else -1 for place in places) != list(range(first, last + 1)):
        raise RunError(
            f"{name} is not in order: it holds {len(places):,} instances, expected those from {first} to {last}. "
            "Do not use it, or get it again."
        )


def _check_columns(schema: pa.Schema, table: str) -> None:
    expected = schema_of(table)
    lacking = set(expected.names) - set(schema.names)
    if lacking:
        raise ValueError(f"it lacks the column {min(lacking)}, so it was made by another version")
    if len(schema.names) != len(set(schema.names)) or set(schema.names) - set(expected.names):
        raise ValueError("it has columns that no run has")
    wrong = [field.name for field in expected if schema.field(field.name).type != field.type]
    if wrong:
        raise ValueError(f"the column {wrong[0]} holds {str(schema.field(wrong[0]).type)[:40]}")


def _check_rows(batch: pa.RecordBatch, table: str) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        values = column.flatten() if pa.types.is_list(column.type) else column
        if pa.types.is_floating(values.type):
            sound = pc.all(pc.less_equal(pc.abs(pc.cast(values, pa.float64())), MAX_NUMBER), skip_nulls=True).as_py()
            if sound is False:
                raise ValueError(f"the column {name} holds a number that is none")
        _check_range(name, values)
    for name in _OBJECTS.get(table, ()):
        for text in batch.column(name).to_pylist():
            if text is not None and not isinstance(_json(text, name), dict):
                raise ValueError(f"the column {name} holds JSON that is no object")
    if "payload" in batch.schema.names:
        for instance_id, text in zip(
            batch.column("instance_id").to_pylist(), batch.column("payload").to_pylist(), strict=True
        ):
            if text is not None or table == "instances":
                try:
                    parsed = _InstanceFields.model_validate(_json(text or "", "payload"))
                except ValidationError as error:
                    raise ValueError(f"the column payload holds no instance ({_describe(error)})") from None
                if table == "instances" and parsed.id != instance_id:
                    raise ValueError("the column payload holds another instance than the column instance_id says")


def _check_range(name: str, values: pa.Array) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if name in _COUNTS and (least := pc.min(values).as_py()) is not None and least < 0:
        raise ValueError(f"the column {name} counts {least}, expected 0 or more")
    if name in _LOGPROBS and (most := pc.max(values).as_py()) is not None and most > ROUNDING:
        raise ValueError(f"the column {name} holds {most:g}, expected the logarithm of a probability, at most 0")
    if pa.types.is_string(values.type):
        longest = MAX_CELL if name in _TEXTS else MAX_ID
        if (length := pc.max(pc.utf8_length(values)).as_py() or 0) > longest:
            raise ValueError(f"the column {name} holds a text of {length:,} characters, expected at most {longest:,}")


def _json(text: str, column: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"the column {column} holds a text that is no JSON") from None


def _validate_leniently(kind: type[M], fields: Mapping[str, Any]) -> M:
    # A damaged field should not hide the others: those that fail are left out one after another until the rest is
    # valid.
    known = {name: value for name, value in fields.items() if name in kind.model_fields}
    while True:
        try:
            return kind.model_validate(known)
        except ValidationError as error:
            for name in _wrong_fields(error):
                known.pop(name, None)


def _wrong_fields(error: ValidationError) -> Iterator[str]:
    return (
        str(fault["loc"][0]) for fault in error.errors(include_url=False, include_context=False, include_input=False)
    )


def _describe(error: ValidationError) -> str:
    """The first thing that is wrong: `seed: Input should be less than 2147483648`."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place: Sequence[Any] = first["loc"]
    return f"{'.'.join(str(part)[:40] for part in place)}: {first['msg'].removeprefix('Value error, ')[:200]}"
