"""Every number that the papers and the reference evaluations print, read from `published_data/*.csv`.

The files alone hold the numbers; modules named `*_published` say which finding of ours answers which of them.

`role` of a row is one of

    (empty)         a target: ours should meet the printed number
    mended          a slip that the paper itself says how to mend; `mended` is the target
    slip            a slip that nothing mends: no target
    other setting   nothing of ours means the same: no target
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_name("published_data")

TARGET, MENDED, SLIP, OTHER_SETTING = "", "mended", "slip", "other setting"
ROLES = (TARGET, MENDED, SLIP, OTHER_SETTING)


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed number, in the unit that is named; nan where the paper prints a range or a p-value alone.

    table       table, section or file, as the paper calls it
    subject     task, data set or suite
    digits      decimals that are printed
    p           as printed, with its sign: "< 0.001"
    mended      the number to compare with where the printed one is a slip that can be mended, else nan
    """

    paper: str
    table: str
    model: str
    model_id: str
    subject: str
    setting: str
    condition: str
    metric: str
    printed: float
    digits: int
    unit: str
    low: float
    high: float
    sd: float
    p: str
    mended: float
    role: str
    remark: str

    @property
    def value(self) -> float:
        """The number to be shown: the mended one where there is one."""
        return self.printed if math.isnan(self.mended) else self.mended

    @property
    def number(self) -> str:
        """The number or letter of its table: "2" of "Table 2"."""
        return self.table.removeprefix("Table ")

    @property
    def is_target(self) -> bool:
        """Whether ours should meet it."""
        return self.role in (TARGET, MENDED)

    @property
    def is_slip(self) -> bool:
        """Whether the paper prints something else than it means."""
        return self.role in (MENDED, SLIP)

    @property
    def key(self) -> tuple[str, ...]:
        """What it is about; no other printed number has the same."""
        return (self.paper, self.table, self.model, self.subject, self.setting, self.condition, self.metric)


@cache
def figures_of_paper(paper: str) -> tuple[Printed, ...]:
    """The printed numbers of a paper, in the order of its file."""
    return tuple(printed for printed in all_figures() if printed.paper == paper)


@cache
def all_figures() -> tuple[Printed, ...]:
    """The printed numbers of all files."""
    return tuple(printed for path in sorted(FOLDER.glob("*.csv")) for printed in read(path))


def figure(paper: str, **wanted: str) -> Printed:
    """The one printed number of a paper whose fields are as wanted."""
    matches = select(paper, **wanted)
    if len(matches) != 1:
        raise LookupError(f"{len(matches)} printed numbers of {paper} with {wanted}, expected one. See {FOLDER.name}/.")
    return matches[0]


def select(paper: str, **wanted: str) -> Sequence[Printed]:
    """The printed numbers of a paper whose fields are as wanted."""
    return [
        printed
        for printed in figures_of_paper(paper)
        if all(getattr(printed, name) == wish for name, wish in wanted.items())
    ]


def read(path: Path) -> list[Printed]:
    """The printed numbers of one file."""
    with path.open(encoding="utf-8", newline="") as file:
        return [_printed(row) for row in csv.DictReader(file)]


def _printed(row: dict[str, str]) -> Printed:
    words = ("paper", "table", "model", "model_id", "subject", "setting", "condition", "metric")
    return Printed(
        **{name: row[name] for name in words},
        printed=_number(row["value"]),
        digits=len(row["value"].partition(".")[2]),
        unit=row["unit"],
        low=_number(row["low"]),
        high=_number(row["high"]),
        sd=_number(row["sd"]),
        p=row["p"],
        mended=_number(row["mended"]),
        role=row["role"],
        remark=row["remark"],
    )


def _number(text: str) -> float:
    return float(text) if text else math.nan
