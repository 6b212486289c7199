"""A run's rows as files that other tools read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypedDict

import pandas as pd

from explorer.errors import RunError
from explorer.popularity import indexes
from explorer.records import RunSpec
from explorer.results import conclusions, formats
from explorer.results.measures import COUNTED
from explorer.results.packed_run import Run
from explorer.rows.schema import FACTORS, TABLES
from explorer.runs.files import write_atomically
from explorer.studies import many_tests


def write_tables(
    folder: Run, table: str | None, format: str, out: Path, *, spreadsheet_safe: bool = False
) -> list[tuple[Path, int]]:
    """Writes one table, all tables into the folder `out`, or (table None) a row per instance; files and their rows."""
    if table == "all":
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(
                f"The folder {out} cannot be made ({error.strerror}). Name another with --out; all tables go into a "
                "folder."
            ) from error
        ending = formats.FORMATS[format].ending
        frames = {out / f"{name}.{ending}": read_table(folder, name) for name in TABLES}
        frames[out / f"by_instance.{ending}"] = by_instance(folder)
    else:
        frames = {out: by_instance(folder) if table is None else read_table(folder, table)}
    spec = folder.spec
    caption = f"{spec.study.capitalize()} of {spec.model or 'no model'} on {spec.benchmark}."
    if table == "findings" and format == "latex":
        caption = " ".join([caption, *conclusions.of_run(folder)])
    about: dict[str, Any] = {"caption": caption, "label": folder.run_id, "spreadsheet_safe": spreadsheet_safe}
    return [(path, write_frame(frame, format, path, **about)) for path, frame in frames.items()]


def read_table(folder: Run, table: str) -> pd.DataFrame:
    """The table's rows; findings with their family of tests and the p adjusted within it."""
    frame = folder.read(table)
    if table == "findings":
        frame = many_tests.with_families(frame, folder.spec.study)
    return _with_index_mark(frame, folder.spec) if table in ("findings", "counts", "measures") else frame


def _with_index_mark(frame: pd.DataFrame, spec: RunSpec) -> pd.DataFrame:
    """The rows with where a run's n-grams were counted; ‡ where that is not, or not known to be, the model's data."""
    counted = counted_in(spec)
    return frame.assign(counted_in=f"{counted['index']} {counted['mark']}".strip()) if counted else frame


class IndexMark(TypedDict):
    """The index that a run counted in, as its exports say it."""

    index: str
    is_pretraining_data: bool | None  # None: not known
    mark: str  # ‡ where it is not, or not known to be, the model's own data
    meaning: str


def counted_in(spec: RunSpec) -> IndexMark | None:
    """The index that a run counted in, whether it holds the model's pre-training data (None: not known), and the mark
    of one that does not; nothing where the run's numbers are of no index."""
    index = str(spec.settings.get("index") or "")
    labeled = spec.settings.get("labels") == "index"  # of a memorization run, which says who was seen
    if not index or not (spec.study in COUNTED or labeled):
        return None
    is_own_data = indexes.is_pretraining_data(index, spec.model)
    relation = indexes.describe_relation(index, spec.model)
    return {"index": index, "is_pretraining_data": is_own_data, "mark": "" if is_own_data else "‡", "meaning": relation}


def write_frame(frame: pd.DataFrame, format: str, out: Path, **options: Any) -> int:
    """Writes a frame into a file that is whole or not there; its rows. `options` are those of `formats.write_frame`."""
    if not out.parent.is_dir():
        raise RunError(f"The folder {out.parent} does not exist; make it first.")
    # On paper only the columns that say something, and no record as JSON.
    printed = frame.drop(columns=["payload"], errors="ignore").dropna(axis=1, how="all") if format == "latex" else frame

    def write_it(path: Path) -> None:
        with path.open("wb") as file:
            formats.write_frame(printed, format, file, **options)

    write_atomically(out, write_it)
    return len(frame)


def by_instance(folder: Run) -> pd.DataFrame:
    """A row per instance: who it is, its texts, and each measure in a column named with its factors and option."""
    instances = folder.read("instances")
    texts = pd.DataFrame([_payload_texts(payload) for payload in instances["payload"]], index=instances.index)
    frame = pd.concat([instances.drop(columns=["payload"]), texts], axis=1).rename(columns={"grp": "group"})
    frame = _with_index_mark(frame, folder.spec)
    measures = folder.read("measures")
    if measures.empty:
        return frame
    measures = measures.assign(column=_column_names(measures))
    wide = measures.pivot_table(
        index="instance_id", columns="column", values="value", aggfunc="first", dropna=False, sort=False
    )
    reasons = (
        measures[measures["reason"].fillna("") != ""].groupby("instance_id", sort=False)["reason"].agg(_join_reasons)
    )
    return frame.merge(wide, left_on="instance_id", right_index=True, how="left").merge(
        reasons.rename("reason"), left_on="instance_id", right_index=True, how="left"
    )


def _column_names(measures: pd.DataFrame) -> pd.Series:
    names = measures["measure"].astype(str)
    for factor in FACTORS:
        has_factor = measures[factor].notna()
        values = measures[factor].map(lambda value: f"{value:g}" if isinstance(value, float) else str(value))
        names = names.where(~has_factor, names + "/" + factor + "=" + values)
    has_option = measures["option"] >= 0
    return names.where(~has_option, names + "/option=" + measures["option"].astype(str))


def _join_reasons(reasons: pd.Series) -> str:
    return "; ".join(dict.fromkeys(reasons))


def _payload_texts(payload: str | None) -> dict[str, Any]:
    if not payload:
        return {"context": None, "second": None, "options": None}
    fields = json.loads(payload)
    return {name: fields[name] for name in ("context", "second", "options")}
