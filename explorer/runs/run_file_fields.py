"""The fields of a run's files and what each may hold, for `validation.py`.

A file of its own, since a command that reads no such file need not wait until these are made.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from explorer.records import Kind
from explorer.rows.schema import TABLES
from explorer.runs.bounded_json import LATEST_DATE, MAX_NUMBER, MAX_TEXT, bounded
from explorer.studies import STUDIES

MAX_INSTANCES = 10**12  # instances of a run
MAX_NAME = 1_000
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def _name(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("holds a control character")
    return text


def _study(text: str) -> str:
    if text not in STUDIES:
        raise ValueError(f"is none of {', '.join(STUDIES)}")
    return text


Name = Annotated[str, Field(max_length=MAX_NAME), AfterValidator(_name)]
Date = Annotated[float, Field(ge=0, le=LATEST_DATE, allow_inf_nan=False)]
Amount = Annotated[int, Field(ge=0, le=MAX_INSTANCES)]
Objects = Annotated[dict[str, Any], AfterValidator(bounded)]
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


class InstanceFields(_Strict):
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
