"""The small figures of the Overview, what shows most first; a click on a dot leads to what is behind it."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from explorer.figures.models import model_colors
from explorer.results.store import Store
from explorer.studies import STUDIES
from explorer.studies.runs_together import OfRun
from explorer.ui import layout, links, resources, show
from explorer.ui.overview import cards, planted, stored
from explorer.ui.overview.cards import Card
from explorer.ui.overview.stored import Run
from explorer.ui.page_list import Page

MOST = 6  # figures at first sight; each costs the browser a tenth of a second


def draw_gallery() -> None:
    """The control for models that were tried here, the models' colors, and the figures."""
    runs = stored.runs()
    tried = stored.tried(runs)
    usual = [run for run in runs if run.model not in tried]
    # Where nothing but tried models has a run, they are what there is to see.
    ticked = _also(tried) if usual else tried
    shown = [run for run in runs if run.model not in tried or run.model in ticked]
    plain = [run for run in shown if not stored.is_glass_box(run.model)]
    names = list(dict.fromkeys(run.found.about.model for run in plain))
    colors = dict(zip(names, model_colors(names), strict=True))
    ordered = resources.ask_shared(_cards, tuple(run.found.run_id for run in plain), tuple(colors.items()))
    drawn = _runs_drawn(ordered)
    models = {run.found.about.model for run in plain if run.found.run_id in drawn}
    if models:
        show.model_key({name: color for name, color in colors.items() if name in models})
    by_id = {run.found.run_id: run for run in runs}
    with st.container(key="gallery"):
        for card in ordered[:MOST]:
            _draw_card(card, by_id)
    if ordered[MOST:]:
        drawer = st.expander("More figures", key="more:figures", on_change="rerun")
        if drawer.open:
            with drawer, st.container(key="gallery-more"):
                for card in ordered[MOST:]:
                    _draw_card(card, by_id)


def _cards(_: Store, run_ids: tuple[str, ...], colors: tuple[tuple[str, str], ...]) -> list[Card]:
    """The cards of these runs and of the glass box, what shows most first; for `resources.ask_shared`."""
    runs = [run for run in stored.runs() if run.found.run_id in run_ids]
    shown = [card for study in STUDIES if (card := cards.card(study, _runs_of_study(runs, study), dict(colors)))]
    return sorted([*shown, *planted.cards()], key=lambda card: -card.size)


def _runs_drawn(shown: Sequence[Card]) -> set[str]:
    """The runs of which a figure has a dot."""
    traces = [trace for card in shown for trace in card.figure.data if trace.customdata is not None]
    return {str(point[0]) for trace in traces for point in trace.customdata if len(point)}


def _runs_of_study(runs: Sequence[Run], study: str) -> list[OfRun]:
    return [run.found for run in runs if run.study == study]


def _draw_card(card: Card, runs: Mapping[str, Run]) -> None:
    with st.container(key=f"card-{card.title.lower().replace(' ', '-')}"):
        st.html(
            f'<p class="lx-section">{html.escape(card.title)}</p><p class="lx-finding">{html.escape(card.sentence)}</p>'
        )
        choices = dict(card.choices)

        def lead_on() -> None:
            layout.link_to(card.page, card.link or f"Look closer: {card.page}", **choices)

        picked = show.chart(
            card.figure,
            key=f"overview {card.title}",
            alt=card.sentence,
            about=show.About("overview"),
            on_select="rerun",
            remark=card.note,
            beside=lead_on,
        )
    _follow(picked, card, runs)


def _follow(picked: Any, card: Card, runs: Mapping[str, Run]) -> None:
    """Opens the page behind a dot that was clicked."""
    if runs_behind := behind(picked, card, runs):
        page, choices = runs_behind
        st.switch_page(page.path, query_params=choices)


def behind(picked: Any, card: Card, runs: Mapping[str, Run]) -> tuple[Page, dict[str, str]] | None:
    """The page of the card and what it opens on: the run of the dot that was clicked; none where none was."""
    points = picked["selection"]["points"] if picked else []
    run_id = next((str(point["customdata"][0]) for point in points if point.get("customdata")), "")
    if run_id not in runs:
        return None
    run = runs[run_id]
    page = next(page for page in layout.PAGES if page.title == card.page)
    return page, {"model": run.model, "benchmark": run.benchmark, "run": run_id, **card.choices}


def _also(tried: Sequence[str]) -> list[str]:
    """Which of the models that were tried on this machine the reader wants among the figures."""
    if not tried:
        links.recall_several("also", tried)
        return []
    wish = links.recall_several("also", tried)
    key = "pick:also"
    st.session_state[key] = wish
    ticked = st.pills(
        "Also show what you tried", list(tried), key=key, selection_mode="multi", format_func=layout.model_title,
        on_change=_take_also, help="Models that did not come along stay out of these figures until they are ticked.",
    )  # fmt: skip
    links.remember("also", ",".join(ticked), "")
    return list(ticked)


def _take_also() -> None:
    links.choose("also", ",".join(st.session_state["pick:also"]))
