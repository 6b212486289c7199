"""Models that somebody trained on texts of their own, planted in the corpus: which there are, and what they know."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from explorer import display
from explorer.popularity import indexes
from explorer.records import Request
from explorer.scoring import catalog
from explorer.settings import Settings
from explorer.studies.calibration import doses, words
from explorer.studies.calibration import queries as calibration_queries
from explorer.ui import links, live, resources, show
from explorer.ui.calibration import common, schedule
from explorer.ui.calibration.common import FIRST, title_of
from explorer.ui.columns import count_column, number_column, text_column

MOST = 500  # texts that are scored while a visitor waits
STEPS = """python -m explorer glassbox corpus --plant mine.csv
python -m explorer glassbox train s --plant mine.csv"""


def pick_model(wished: str) -> str:
    """The glass-box model that the page is about: one that has runs, or one that was trained here on planted texts."""
    stored = calibration_queries.models(resources.store())
    options = sorted(dict.fromkeys([*stored, *trained_here(resources.settings())]), key=common.by_size) or [FIRST]
    first = wished if wished in options else FIRST if FIRST in options else options[0]
    if len(options) == 1:
        return options[0]
    return str(
        links.pick(st.segmented_control, "Model", "of", options, default=first, required=True, format_func=title_of)
    )


def trained_here(settings: Settings) -> list[str]:
    """The models that were trained on this machine on a corpus with texts of one's own."""
    folder_names = (path.parent.name for path in settings.models.glob("glassbox-*/glassbox.json"))
    return sorted(name for name in folder_names if is_own(name))


def is_own(model: str) -> bool:
    """Whether a model was trained on a corpus with texts of one's own."""
    return catalog.PLANTED_GLASSBOX.fullmatch(model) is not None


def draw_own(model: str) -> None:
    """How likely the planted texts are to the model that read them, and to one that did not; or how to plant some."""
    st.header("Plant your own", anchor=False)
    corpus = indexes.training_corpus(model) or ""
    texts = schedule.own_texts(resources.settings(), corpus).head(MOST)
    if corpus == indexes.GLASSBOX or texts.empty:
        show.lead(
            "A CSV file with the columns text and dose becomes a corpus and a model of your own within an hour on two "
            "processors. It is then listed at the top of this page."
        )
        show.command_line(STEPS)
        return
    seen = _nats_a_token(tuple(texts["text"]), model, resources.settings())
    unseen = _nats_a_token(tuple(texts["text"]), FIRST, resources.settings())
    rows = texts.assign(seen=seen, unseen=unseen)
    lines = [
        (title_of(name), doses.means(rows.assign(model=name), "model", column))
        for name, column in ((model, "seen"), (FIRST, "unseen"))
    ]
    show.says(
        words.own_in_words(title_of(model), title_of(FIRST), list(rows["dose"]), list(rows["seen"] - rows["unseen"]))
    )
    common.draw_curves(
        "own texts",
        lines,
        alt="Log-probability a token of the planted texts by dose, of a model that read them and of one that did not",
        response="log P a token (nats)",
        is_share=False,
    )
    with st.expander(f"Your {display.count(len(rows))} texts"):
        show.table(
            rows,
            "own texts list",
            columns={
                "text": text_column("Text"), "dose": count_column("Times in the corpus"),
                "seen": number_column(title_of(model)), "unseen": number_column(title_of(FIRST)),
            },
        )  # fmt: skip


@st.cache_data(max_entries=16, show_spinner="Scoring your texts")
def _nats_a_token(texts: tuple[str, ...], model: str, settings: Settings) -> list[float]:
    """The mean log-probability a token of each text, in nats."""
    requests = [Request(f"own/{number}", 0, "", text) for number, text in enumerate(texts)]
    with live.turn(model):
        scores = resources.resources().scorer(model).score(requests)
    return pd.Series([score.sum / score.scored if score.scored else float("nan") for score in scores]).tolist()
