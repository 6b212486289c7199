"""Search over the pages, the chosen benchmark's instances and the runs, from any page."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from explorer import display
from explorer.errors import ExplorerError
from explorer.results import queries
from explorer.results.packed_run import as_infos
from explorer.runs import queue
from explorer.runs.queue import RunInfo
from explorer.ui import instance_list, page_list, progress, resources, run_names, show
from explorer.writing import fold_text

MOST = 8  # results of a kind
LONGEST = 200  # characters of what is searched for
# A dialog takes the focus for itself; who searches wants to type at once.
FOCUS = """<script>
{
  let looks = 0, held = 0;
  const timer = setInterval(() => {
    const line = document.querySelector(".st-key-palette-words input");
    held = line && document.activeElement === line ? held + 1 : 0;
    if (line && !held) line.focus();
    if (held > 4 || ++looks > 200) clearInterval(timer);
  }, 60);
}
</script>"""
MATERIAL = {"page": "article", "instance": "short_text", "run": "stacks"}


@st.dialog("Search", width="medium", icon=":material/search:")
def draw_palette(model: str, benchmark: str) -> None:
    """A line to type into, and what matches as links."""
    words = st.text_input(
        "Pages, instances and runs",
        key="palette-words",
        placeholder="a page, words of an instance or its id, a study, a model …",
        autocomplete="off",
        max_chars=LONGEST,
    )
    st.html(FOCUS, unsafe_allow_javascript=True)
    draw_results(words.strip(), model, benchmark)


def draw_results(words: str, model: str, benchmark: str) -> None:
    """Links to all that matches; to every page while nothing is typed."""
    words = words[:LONGEST]  # a browser may send more than the line takes
    about = {"model": model, "benchmark": benchmark}
    pages = [page for page in page_list.PAGES if words.casefold() in f"{page.title} {page.section}".casefold()]
    if pages:
        show.section("Pages")
        with st.container(horizontal=True, key="lx-palette-pages"):
            for page in pages:
                page_list.link(page, page.title, about)
    if not words:
        show.note("Type and press Enter; Tab goes through what was found.")
        return
    any_result = bool(pages)
    with show.lens("Instances"):
        listing = instance_list.listing(benchmark)
        wanted = list(dict.fromkeys(fold_text(words).split()))
        names = [name for name in listing.by_id if all(word in listing.texts[name] for word in wanted)]
        if names:
            title = run_names.benchmark_title(benchmark)
            show.section(f"{_count(len(names), 'instance')} of {title}")
            for name in names[:MOST]:
                text = instance_list.summary(listing.by_id[name], most=90)
                page_list.link(page_list.find("Instance"), text, {**about, "instance": name}, icon=_icon("instance"))
        any_result = any_result or bool(names)
    runs = matching_runs(everything(), words)
    if runs:
        show.section(_count(len(runs), "run"))
        for run in runs[:MOST]:
            label = f"{progress.name_of(run)}, {display.counted(run.done, 'instance')}"
            page_list.link(page_list.find("Runs"), label, {"shown": run.run_id}, icon=_icon("run"))
    if not any_result and not runs:
        show.note(f"Nothing here matches “{words}”.")


def everything() -> list[RunInfo]:
    """The runs of this machine, then those that came with the explorer."""
    local = queue.list_runs(resources.settings())
    try:
        stored = resources.ask_shared(queries.stored_runs)
    except ExplorerError:
        return local
    return local + as_infos(stored, {run.run_id for run in local})


def matching_runs(runs: Sequence[RunInfo], words: str) -> list[RunInfo]:
    """The runs whose study, model, benchmark or id hold every word."""
    wanted = list(dict.fromkeys(words.casefold().split()))
    matches = []
    for run in runs:
        text = f"{progress.name_of(run)} {run.model} {run.benchmark} {run.run_id}".casefold()
        if all(word in text for word in wanted):
            matches.append(run)
    return matches


def _count(number: int, noun: str) -> str:
    return display.counted(number, noun) + (f", the first {MOST}" if number > MOST else "")


def _icon(kind: str) -> str:
    return f":material/{MATERIAL[kind]}:"
