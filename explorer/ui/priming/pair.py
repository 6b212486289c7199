"""Which pair the lab looks at: one of the benchmark, or one that the reader types."""

from __future__ import annotations

import hashlib
import html

import streamlit as st

from explorer import benchmarks, prompts
from explorer.records import Instance
from explorer.ui import instance_list, links, resources
from explorer.ui import scored_options as answers
from explorer.ui.layout import Chosen

OF_BENCHMARK, OWN = "From the benchmark", "My own"
EXAMPLE = ("The keys to the cabinet are on the table.", "The keys to the cabinet is on the table.")


def pick_pair(chosen: Chosen) -> Instance | None:
    """The pair, or SyntaxGym item; None where the benchmark has neither."""
    kind = benchmarks.find(chosen.benchmark, resources.settings()).kind
    if kind not in ("pair", "regions"):
        return None
    listing = instance_list.listing(chosen.benchmark)
    linked = links.recall("instance")
    first = listing.by_id[linked].group if linked in listing.by_id else listing.groups[0]
    suite_box, mode_box = st.columns([1.6, 1], vertical_alignment="bottom")
    with suite_box:
        suite = links.pick(
            st.selectbox, "Suite", "suite", list(listing.groups), default=first,
            help="Matched context sentences are of this suite.",
        )  # fmt: skip
    mode = OF_BENCHMARK
    if kind == "pair":
        with mode_box:
            mode = links.pick(st.segmented_control, "Pair", "pair", [OF_BENCHMARK, OWN], required=True)
    if mode == OWN:
        return _typed(chosen.benchmark, suite)
    name = links.pick(
        st.selectbox, "Item", "instance", listing.matching(suite, ""),
        format_func=lambda one: f"{instance_list.summary(listing.by_id[one], 100)} · {one.rsplit('/', 1)[-1]}",
    )  # fmt: skip
    item = listing.by_id[name]
    for number, text in enumerate(prompts.option_texts(item)):
        title = item.conditions[number].name if item.kind == "regions" else answers.option_name(item, number)
        st.html(
            f'<p class="lx-sentence">{html.escape(text)} <span class="lx-quiet lx-note">{html.escape(title)}</span></p>'
        )
    return item


def _typed(benchmark: str, suite: str) -> Instance:
    left, right = st.columns(2)
    with left:
        good = links.type_in("Acceptable", "good", placeholder=EXAMPLE[0]).strip() or EXAMPLE[0]
    with right:
        bad = links.type_in("Unacceptable", "bad", placeholder=EXAMPLE[1]).strip() or EXAMPLE[1]
    key = hashlib.sha256(f"{good}\n{bad}".encode()).hexdigest()[:8]
    return Instance(
        f"{benchmark}/{suite}/typed-{key}", benchmark, "typed", suite, "pair", "sentence", options=(good, bad), gold=0
    )
