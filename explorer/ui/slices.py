"""Slices on pages: a filter by one, and a way to keep what was picked as one (explorer/runs/slices.py keeps them)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from explorer import display
from explorer.errors import ExplorerError
from explorer.runs import slices
from explorer.runs.slices import Slice
from explorer.ui import links, resources, show

EVERY = ""


def pick(benchmark: str) -> Slice | None:
    """The slice that the page is narrowed to; draws a select box where the benchmark has any, and names it."""
    by_name = {stored_slice.name: stored_slice for stored_slice in slices.of_benchmark(resources.settings(), benchmark)}
    wish = links.recall("slice")
    if wish and wish not in by_name:
        show.note(f"There is no slice “{wish}” of this benchmark here; all instances are shown.")
    if not by_name:
        return None
    name = links.pick(
        st.selectbox,
        "Slice",
        "slice",
        [EVERY, *by_name],
        default=EVERY,
        format_func=lambda slice_name: (
            f"{slice_name} ({len(by_name[slice_name].ids):,})" if slice_name else "all instances"
        ),
        help="Instances that were picked in a figure or table and kept under a name.",
    )
    return by_name.get(name)


def rows_of_slice(frame: pd.DataFrame, slice_picked: Slice | None) -> pd.DataFrame:
    """The rows (column instance_id) of the slice; all where there is none."""
    return frame if slice_picked is None else frame[frame["instance_id"].isin(slice_picked.ids)]


def offer(ids: Sequence[str], benchmark: str, suggestion: str, key: str) -> None:
    """A popover that keeps these instances under a name, and says what can be done with them then."""
    ids = list(dict.fromkeys(ids))
    if not ids:
        return
    with st.popover("Keep as a slice", icon=":material/bookmark_add:", type="tertiary", key=f"slice:{key}"):
        too_many = len(ids) > slices.MOST_IDS
        if too_many:
            show.note(f"A slice holds at most {slices.MOST_IDS:,} instances; these are {len(ids):,}.")
        stored_slices = slices.of_benchmark(resources.settings(), benchmark)
        name = st.text_input(
            "Name of the slice", value=slices.name_of(suggestion), key=f"slice:{key}:name", disabled=too_many,
            max_chars=slices.LONGEST_NAME,
        )  # fmt: skip
        same_name = next(
            (stored_slice for stored_slice in stored_slices if stored_slice.name == slices.name_of(name)), None
        )
        # Known is only what the note below has told of: a name typed and clicked at once may be another's.
        st.button(
            f"Keep {display.counted(len(ids), 'instance')}", key=f"slice:{key}:keep",
            disabled=too_many or not slices.name_of(name),
            on_click=_store_slice, args=(benchmark, ids, key, {same_name.name: same_name.made} if same_name else {}),
        )  # fmt: skip
        if same_name is not None and same_name.ids != tuple(ids):
            show.note(
                f"There is a slice “{same_name.name}” with {display.counted(len(same_name.ids), 'instance')}; "
                "these would take its place for everybody."
            )
        show.note("Other pages then take it as a filter under “Options”, and its name is kept in the address.")
        if slices.name_of(name):
            show.section("Do this from the command line")
            st.code(
                f"python -m explorer run accuracy --benchmark {benchmark} --slice {slices.name_of(name)}",
                language="bash", wrap_lines=True,
            )  # fmt: skip
    if message := st.session_state.pop(f"slice:{key}:said", ""):
        show.note(message)


def _store_slice(benchmark: str, ids: Sequence[str], key: str, known: Mapping[str, float]) -> None:
    name = str(st.session_state[f"slice:{key}:name"] or "")  # as it stands now: a click may come with what was typed
    try:
        new_slice = slices.store_slice(resources.settings(), name, benchmark, ids, known)
        st.session_state[f"slice:{key}:said"] = (
            f"Kept {display.counted(len(new_slice.ids), 'instance')} as the slice “{new_slice.name}”."
        )
    except (ExplorerError, OSError) as error:
        st.session_state[f"slice:{key}:said"] = str(error)
