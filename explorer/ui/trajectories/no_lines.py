"""What stands on the page where no runs lie on a line yet: what a sweep is, and how to get one."""

from __future__ import annotations

import time

from explorer.studies.trajectories import table
from explorer.studies.trajectories.lines import Along, LeftOut, Line
from explorer.ui import resources, show
from explorer.ui.layout import Chosen

TITLE = "No trajectory yet"
ANEW = 600  # seconds after which lines are looked up anew, a second of work; a new run has them looked up at once
COMMANDS = """python -m explorer glassbox train s
python -m explorer run accuracy --model "glassbox-s@step{0,1,2,4,...,1024}" glassbox-s --benchmark glassbox_pairs
python -m explorer run accuracy --model "EleutherAI/pythia-70m@step{0,1,2,4,...,512,1000,10000,143000}" \\
    --benchmark starter_pairs --keep none"""


def is_empty() -> bool:
    """Whether no two runs lie on one line, along any axis."""
    return not any(lines_now().values())


def lines_now() -> dict[Along, list[tuple[str, str, list[Line]]]]:
    """Axis → what has lines along it; looked up anew now and then, since it depends on the folders of weights, too."""
    return resources.ask_shared(table.lines_by_axis, resources.settings(), int(time.time() // ANEW))


def lines_of(study: str, benchmark: str, along: Along) -> tuple[list[Line], list[LeftOut]]:
    """The lines of a study on a benchmark along an axis, and the runs that are on none; looked up anew, too."""
    return resources.ask_shared(
        table.lines_along, resources.settings(), study, benchmark, along, int(time.time() // ANEW)
    )


def draw_empty(chosen: Chosen) -> None:
    """What a trajectory needs, and the commands that make one."""
    show.nothing_yet(
        TITLE,
        "A trajectory needs the same study on the same benchmark with several checkpoints of a model, several sizes or "
        "several seeds. Such a set of runs is called a sweep: press Run and open Several models or seeds; or "
        "train the smallest model of the glass box here, which keeps a dozen checkpoints.",
        COMMANDS,
    )
