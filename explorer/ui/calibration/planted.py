"""What a method says against what was planted: verdicts of pairs, membership of texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import pandas as pd
import streamlit as st

from explorer import benchmarks
from explorer.figures.models import model_colors
from explorer.glassbox import starters
from explorer.studies.calibration import doses
from explorer.studies.calibration import queries as calibration_queries
from explorer.studies.calibration.doses import Response
from explorer.studies.memorization.rows import ATTACKS
from explorer.ui import layout, links, resources, show
from explorer.ui.calibration.figure_doses import dose_curves
from explorer.ui.columns import count_column, name_column, number_column, share_column

PAIRS = "glassbox_pairs"
SIZES = ("glassbox-s", "glassbox-m", "glassbox-l")


def draw_pairs() -> None:
    """Accuracy on planted pairs by the dose of what decides, a line a model or a line a checkpoint."""
    st.header("Does the verdict follow the data?", anchor=False)
    verdicts = resources.ask(calibration_queries.verdicts, PAIRS)
    if verdicts.empty:
        _nothing("accuracy", PAIRS)
        return
    verdicts = verdicts.assign(dose=verdicts["phenomenon"].str.removeprefix("dose ").astype(int))
    responses = doses.accuracy(verdicts)
    models = list(dict.fromkeys(one.name for one in responses))
    final = [name for name in models if "@" not in name] or models
    main = SIZES[1] if SIZES[1] in final else final[0]
    steps = [name for name in models if name.partition("@")[0] == main and "@" in name]
    view = "Sizes"
    if steps:
        view = links.pick(
            st.segmented_control, "Compare", "compare", ["Sizes", "Checkpoints"], default="Sizes", required=True
        )
    shown = sorted(final, key=_by_size) if view == "Sizes" else [*sorted(steps, key=_step), main]
    lines = [(title_of(name), [one for one in responses if one.name == name]) for name in shown]
    alt = "Accuracy on planted pairs by how often the deciding n-gram stands in the corpus"
    show.lead(doses.accuracy_in_words(title_of(main), [one for one in responses if one.name == main]))
    show.chart(
        dose_curves(lines, response="Accuracy", chance=0.5, colors=model_colors([name for name, _ in lines])),
        key=f"planted pairs {view}",
        alt=alt,
    )
    show.note(
        "The dotted line is chance. A made-up word of dose 0 stands in the corpus, too, but not with what decides."
    )
    _table("planted pairs", [one for _, responses in lines for one in responses], "Model", "Accuracy")


def draw_membership() -> None:
    """How well each attack tells texts that the corpus has from texts it lacks, by repetitions."""
    st.header("Can membership be told?", anchor=False)
    scores = resources.ask(calibration_queries.attacks)
    scores = scores[scores["attack"].isin(list(ATTACKS))] if len(scores) else scores
    if scores.empty:
        _nothing("memorization", "starter_causes")
        return
    settings = resources.settings()
    dealt: dict[str, int] = {}
    for name in sorted(scores["benchmark"].unique()):
        dealt |= starters.doses(benchmarks.load(str(name), settings).instances)
    scores = scores.assign(dose=scores["instance_id"].map(dealt))
    models = sorted(scores["model"].unique(), key=_by_size)
    model = links.pick(
        st.segmented_control, "Model", "of", models, default=models[-1], required=True, format_func=title_of
    )
    high = {name: attack.seen == "high" for name, attack in ATTACKS.items()}
    responses = doses.detection(scores[scores["model"] == model].dropna(subset=["dose"]), high)
    lines = [(attack.title, [one for one in responses if one.name == name]) for name, attack in ATTACKS.items()]
    lines = [(title, responses_of_attack) for title, responses_of_attack in lines if responses_of_attack]
    for title, responses_of_attack in lines:
        show.note(doses.detection_in_words(title, responses_of_attack))
    alt = "Area under the ROC curve of each attack by how often a text stands in the corpus"
    show.chart(dose_curves(lines, response="AUC", chance=0.5), key="planted membership", alt=alt)
    show.note("Against all texts of the same sets that the corpus lacks; the dotted line is chance.")
    _table("planted membership", responses, "Attack", "AUC")


def title_of(model: str) -> str:
    """A glass-box model as people call it: "Glass box M after 512 steps"."""
    name, _, step = model.partition("@step")
    title = layout.model_title(name)
    return f"{title} after {int(step):,} steps" if step.isdecimal() else title


def _table(name: str, responses: Sequence[Response], first: str, response: str) -> None:
    frame = pd.DataFrame([asdict(one) for one in responses])
    if first == "Model":
        frame["name"] = [title_of(name) for name in frame["name"]]
    value = share_column if response == "Accuracy" else number_column
    with st.expander("The numbers"):
        show.table(
            frame,
            name,
            columns={
                "name": name_column(first),
                "dose": count_column("Times in the corpus"),
                "value": value(response),
                "low": value("Low"),
                "high": value("High"),
                "n": count_column("Items"),
            },
        )


def _nothing(study: str, benchmark: str) -> None:
    show.nothing_yet(
        "No run of a glass-box model yet",
        "It takes some seconds: choose the model Glass box M and this benchmark and press Run, or on the command line",
        f"python -m explorer run {study} --model glassbox-m --benchmark {benchmark}",
    )


def _by_size(model: str) -> tuple[int, int]:
    name = model.partition("@")[0]
    return (SIZES.index(name) if name in SIZES else len(SIZES), _step(model))


def _step(model: str) -> int:
    step = model.partition("@step")[2]
    return int(step) if step.isdecimal() else 10**9
