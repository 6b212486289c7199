"""The run panel's advanced choice: on this machine, or on a Ray cluster."""

from __future__ import annotations

import streamlit as st

from explorer.runs.compute_target import ComputeTarget, checked_target


def draw_run_where() -> None:
    """The cluster, and what matters only on one."""
    cluster = st.text_input(
        "Ray cluster",
        key="run:cluster",
        placeholder="none: on this machine",
        persist_state="session",
        help="auto: the cluster that is running, else one on this machine. Or an address: 10.0.0.1:6379, "
        "ray://head:10001. The same run has the same id wherever it is done.",
    )
    if not cluster:
        return
    st.text_input(
        "Bucket for the parts",
        key="run:to",
        placeholder="none: a disk that all nodes share",
        persist_state="session",
        help="s3://bucket/prefix. Keys are read from the environment of this machine and of the nodes.",
    )
    st.number_input(
        "Workers at most", min_value=1, value=None, step=1, key="run:workers", placeholder="one a GPU",
        persist_state="session",
    )  # fmt: skip


def place_chosen() -> ComputeTarget:
    """The place that was chosen; UsageError where it cannot be meant."""
    state = st.session_state
    cluster = str(state.get("run:cluster") or "").strip()
    if not cluster:
        return ComputeTarget()
    return checked_target(
        ComputeTarget(cluster, str(state.get("run:to") or "").strip(), int(state.get("run:workers") or 0))
    )
