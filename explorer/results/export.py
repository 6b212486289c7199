"""A run's rows as files that other tools read."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd

from explorer.errors import RunError
from explorer.results.schema import FACTORS, TABLES
from explorer.runs.files import write_atomically
from explorer.runs.folder import RunFolder


def write(folder: RunFolder, table: str | None, format: str, out: Path) -> list[tuple[Path, int]]:
    """Writes one table, all tables into the folder `out`, or (table None) a row an instance; files and their rows."""
    if table == "all":
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(
                f"The folder {out} cannot be made ({error.strerror}). Name another with --out; all tables go into a "
                "folder."
            ) from error
        frames = {out / f"{name}.{format}": folder.read(name) for name in TABLES}
        frames[out / f"by_instance.{format}"] = by_instance(folder)
    else:
        if not out.parent.is_dir():
            raise RunError(f"The folder {out.parent} does not exist; make it first.")
        frames = {out: by_instance(folder) if table is None else folder.read(table)}
    written = []
    for path, frame in frames.items():
        write_atomically(path, lambda temporary, frame=frame: _write(frame, format, temporary))  # type: ignore[misc]
        written.append((path, len(frame)))
    return written


def by_instance(folder: RunFolder) -> pd.DataFrame:
    """A row an instance: who it is, its texts, and each measure in a column named with its factors and option."""
    instances = folder.read("instances")
    texts = pd.DataFrame([_texts(payload) for payload in instances["payload"]], index=instances.index)
    frame = pd.concat([instances.drop(columns=["payload"]), texts], axis=1).rename(columns={"grp": "group"})
    measures = folder.read("measures")
    if measures.empty:
        return frame
    measures = measures.assign(column=_column_names(measures))
    wide = measures.pivot_table(
        index="instance_id", columns="column", values="value", aggfunc="first", dropna=False, sort=False
    )
    reasons = measures[measures["reason"].fillna("") != ""].groupby("instance_id", sort=False)["reason"].agg(_joined)
    return frame.merge(wide, left_on="instance_id", right_index=True, how="left").merge(
        reasons.rename("reason"), left_on="instance_id", right_index=True, how="left"
    )


def _column_names(measures: pd.DataFrame) -> pd.Series:
    names = measures["measure"].astype(str)
    for factor in FACTORS:
        known = measures[factor].notna()
        values = measures[factor].map(lambda value: f"{value:g}" if isinstance(value, float) else str(value))
        names = names.where(~known, names + "/" + factor + "=" + values)
    has_option = measures["option"] >= 0
    return names.where(~has_option, names + "/option=" + measures["option"].astype(str))


def _joined(reasons: pd.Series) -> str:
    return "; ".join(dict.fromkeys(reasons))


def _texts(payload: str | None) -> dict[str, Any]:
    if not payload:
        return {"context": None, "second": None, "options": None}
    fields = json.loads(payload)
    return {name: fields[name] for name in ("context", "second", "options")}


def _write(frame: pd.DataFrame, format: str, path: Path) -> None:
    if format == "parquet":
        frame.to_parquet(path, index=False)
    elif format == "csv":
        lists = {str(name): frame[name].map(_as_json) for name in frame if _holds_lists(frame[name])}
        frame.assign(**lists).to_csv(path, index=False)
    else:
        with path.open("w", encoding="utf-8") as file:
            for row in frame.to_dict(orient="records"):
                file.write(
                    json.dumps({str(key): _plain(value) for key, value in row.items()}, ensure_ascii=False) + "\n"
                )


def _holds_lists(column: pd.Series) -> bool:
    return column.dtype == object and any(hasattr(value, "tolist") or isinstance(value, list) for value in column)


def _as_json(value: Any) -> str | None:
    plain = _plain(value)
    return None if plain is None else json.dumps(plain, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is pd.NA or value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value
