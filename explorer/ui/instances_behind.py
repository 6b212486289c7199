"""The instances behind a dot, a bar or a cell that was clicked: their texts, their numbers, and a link to each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from explorer.ui import layout, show, slices, texts
from explorer.ui.columns import group_column, id_column, link_column, text_column
from explorer.ui.layout import Chosen

TEXT, NARROW = 390, 320  # pixels of the texts beside few and many numbers
LISTED = 200  # rows on the screen; a download and a slice have all
ROW, HEAD, TALLEST = 35, 38, 420  # pixels of a table


def picked(answer: Any, entry: int = 0) -> list[str]:
    """What the picked dots of a figure carry as this entry of their customdata, each once."""
    points = answer["selection"]["points"] if answer else []
    carried = [point.get("customdata") for point in points]
    columns = [column if isinstance(column, list | tuple) else [column] for column in carried if column is not None]
    return list(dict.fromkeys(str(column[entry]) for column in columns if len(column) > entry))


def draw_instances(
    frame: pd.DataFrame,
    chosen: Chosen,
    name: str,
    columns: Mapping[str, Any],
    *,
    key: str,
    title: str = "",
    suggestion: str = "",
    page: str = "Instance",
    also: Mapping[str, str] | None = None,
) -> None:
    """The instances of `frame` (columns instance_id, grp and those that `columns` name), their texts first.

    `suggestion` is what a slice of them might be called, `page` where a link leads, with the choices `also`.
    """
    if title:
        st.subheader(show.plain(title), anchor=False)
    shown = frame.head(LISTED)
    known = texts.sentences(chosen.benchmark, list(shown["instance_id"]))
    about = {"model": chosen.model, "benchmark": chosen.benchmark, **(also or {})}
    shown = shown.assign(
        text=[known.get(str(instance_id), "") for instance_id in shown["instance_id"]],
        look=[layout.address_of(page, **about, instance=str(instance_id)) for instance_id in shown["instance_id"]],
    )
    text_columns: dict[str, Any] = (
        {"text": text_column("Text", width=TEXT if len(columns) < 4 else NARROW)} if known else {}
    )
    text_columns |= columns
    if "grp" in shown and shown["grp"].nunique() > 1:
        text_columns["grp"] = group_column("Group")
    text_columns |= {"look": link_column("Instance", "open"), "instance_id": id_column("ID")}
    show.table(shown, name, columns=text_columns, whole=frame, height=min(HEAD + ROW * max(1, len(shown)), TALLEST))
    with st.container(horizontal=True, vertical_alignment="center"):
        slices.offer(
            [str(instance_id) for instance_id in frame["instance_id"]], chosen.benchmark, suggestion or name, key
        )
        if len(frame) > len(shown):
            show.note(f"The first {len(shown):,} of {len(frame):,} are listed; the download has all.")
    if not known and not texts.are_here(chosen.benchmark):
        texts.offer(chosen.benchmark)
