"""What a run's files may say, wherever they come from: a zip, a bucket, a cluster, a folder that others can write.

Nothing is taken at its word. Names are bounded and hold no control characters, numbers are finite, dates lie between
1970 and 2100, a study is one of ours, a part's tables are those of rows/schema.py. A file that says anything else is
refused in one sentence, or read as if it were not there where the run can go on without it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from explorer import parquet_bounds
from explorer.errors import RunError
from explorer.parquet_bounds import Bounds, TooLarge
from explorer.rows.schema import schema_of
from explorer.runs.bounded_json import MAX_NUMBER, bounded

if TYPE_CHECKING:
    import pyarrow as pa
    from pydantic import BaseModel, ValidationError

    from explorer.runs.run_file_fields import MarkFields, ProgressFields

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


M = TypeVar("M", bound="BaseModel")


def spec_fields(fields: Any) -> dict[str, Any]:
    """The fields of a spec; ValueError, with the field that is wrong, where one is not valid."""
    from pydantic import ValidationError

    from explorer.runs.run_file_fields import SpecFields

    try:
        return SpecFields.model_validate(fields).model_dump()
    except ValidationError as error:
        raise ValueError(_describe(error)) from None


def is_sweep(fields: Any) -> bool:
    """Whether an object is what a sweep's file holds."""
    from explorer.runs.run_file_fields import SweepFields

    return _is_valid(SweepFields, fields)


def is_slice(fields: Any) -> bool:
    """Whether an object is what a slice's file holds."""
    from explorer.runs.run_file_fields import SliceFields

    return _is_valid(SliceFields, fields)


def _is_valid(kind: type[BaseModel], fields: Any) -> bool:
    from pydantic import ValidationError

    try:
        kind.model_validate(fields)
    except ValidationError:
        return False
    return True


def progress(fields: Mapping[str, Any]) -> ProgressFields:
    """What progress.json says; what of it cannot be is left out."""
    from explorer.runs.run_file_fields import ProgressFields

    return _validate_leniently(ProgressFields, fields)


def mark(fields: Mapping[str, Any]) -> MarkFields | None:
    """What a part's mark says, or none where it is no mark."""
    from pydantic import ValidationError

    from explorer.runs.run_file_fields import MarkFields

    try:
        parsed = MarkFields.model_validate(fields)
    except ValidationError:
        return None
    return parsed if set(parsed.sha256) <= set(parsed.tables) else None


def plain(fields: dict[str, Any]) -> dict[str, Any]:
    """The object itself, {} where it is nested without end or holds what is no number."""
    try:
        return dict(bounded(fields))
    except ValueError:
        return {}


def check_progress(fields: Mapping[str, Any]) -> None:
    """ValueError where a progress file that comes from outside is not in order."""
    from pydantic import ValidationError

    from explorer.runs.run_file_fields import ProgressFields

    try:
        ProgressFields.model_validate(fields)
    except ValidationError as error:
        raise ValueError(_describe(error)) from None


def check_plain(fields: Any) -> None:
    """ValueError where an object that comes from outside is not in order."""
    if not isinstance(fields, dict):
        raise ValueError("is no JSON object")
    bounded(fields)


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
    from pydantic import ValidationError

    from explorer.runs.run_file_fields import InstanceFields

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
                    parsed = InstanceFields.model_validate(_json(text or "", "payload"))
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
    from pydantic import ValidationError

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
