"""Methods held against planted truth: what popularity, verdicts and attacks see of a corpus that is known whole."""

from explorer.ui import layout, show
from explorer.ui.calibration import planted

layout.open_page(
    "Calibration",
    "How far can each method be trusted? Small models, trained by us on a corpus with known doses planted in it, "
    "read by the methods of every study. What holds for such small models need not hold for large ones.",
)
with show.problems():
    planted.draw_pairs()
    planted.draw_membership()
