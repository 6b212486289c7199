"""What the sections of the calibration page share: models by name and size, a figure over doses, its folded numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import pandas as pd

from explorer import numbers
from explorer.studies.calibration.doses import Response
from explorer.ui import layout, resources, run_names, show
from explorer.ui.calibration.figure_doses import dose_curves
from explorer.ui.columns import count_column, name_column, number_column, share_column

PAIRS, SYNONYMS, CONCEPTS = "glassbox_pairs", "glassbox_synonyms", "glassbox-ontology"
SIZES = ("glassbox-xs", "glassbox-s", "glassbox-m", "glassbox-l")
FIRST = "glassbox-m"  # comes along, so that its runs are there on the first visit

Line = tuple[str, Sequence[Response]]


def with_doses(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with the dose that each row's phenomenon tells ("dose 16")."""
    return frame.assign(dose=frame["phenomenon"].str.removeprefix("dose ").astype(int))


def title_of(model: str) -> str:
    """A glass-box model as people call it: "Glass box M after 512 steps"."""
    name, _, step = model.partition("@step")
    title = layout.model_title(name)
    number = numbers.whole(step)
    return title if number is None else f"{title} after {number:,} steps"


def by_size(model: str) -> tuple[int, int]:
    """Where a model stands among others: by size, then by steps of training."""
    name = model.partition("@")[0]
    return (SIZES.index(name) if name in SIZES else len(SIZES), steps_of(model))


def steps_of(model: str) -> int:
    """After how many steps of its training a checkpoint was kept; of a whole model more than any."""
    step = model.partition("@step")[2]
    return numbers.whole_or(step, 10**9)


def draw_curves(
    key: str,
    lines: Sequence[Line],
    *,
    alt: str,
    response: str,
    chance: float | None = None,
    first: str = "Model",
    is_share: bool = True,
    colors: Sequence[str] = (),
    of_models: bool = True,
) -> None:
    """The responses over doses as a figure, and as a folded table beneath."""
    n = sum(response.n for _, responses in lines for response in responses)
    show.chart(
        resources.drawn(
            dose_curves, lines, response=response, chance=chance, is_share=is_share, colors=colors, of_models=of_models
        ),
        key=key,
        alt=alt,
        n=n,
    )
    value = share_column if is_share else number_column
    rows = [{**asdict(response), "name": name} for name, responses in lines for response in responses]
    show.folded_table(
        pd.DataFrame(rows),
        key,
        columns={
            "name": name_column(first),
            "dose": count_column("Times in the corpus"),
            "value": value(response),
            "low": value("Low"),
            "high": value("High"),
            "n": count_column("Items"),
        },
    )


def nothing(study: str, benchmark: str, model: str = FIRST, section: str = "") -> None:
    """How the run that a section lacks is made; `section` tells two that lack the same apart."""
    show.nothing_yet(
        f"No run of {run_names.study_title(study)} of {title_of(model)} here yet",
        "It takes a few minutes on two processors.",
        f"python -m explorer run {study} --model {model} --benchmark {benchmark}",
        section,
    )
