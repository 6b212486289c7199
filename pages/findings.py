"""What goes together across studies: measures of the same instances, groups of them, and two models on them."""

import streamlit as st

from explorer.ui import layout, links, show
from explorer.ui.findings import (
    correlations as findings_correlations,
)
from explorer.ui.findings import (
    explain as findings_explain,
)
from explorer.ui.findings import (
    groups as findings_groups,
)
from explorer.ui.findings import (
    measure_table as findings_data,
)
from explorer.ui.findings import (
    models as findings_models,
)
from explorer.ui.findings import (
    scatter as findings_scatter,
)

CORRELATIONS, SCATTER, GROUPS, MODELS = "Correlations", "Two measures", "Groups", "Two models"
EXPLAIN = "What survives"

chosen = layout.open_page(
    "Findings", "The same instances under every study: which measures go together, where, and for which model."
)
view = links.pick(
    st.segmented_control,
    "View",
    "finding",
    [CORRELATIONS, EXPLAIN, SCATTER, GROUPS, MODELS],
    default=CORRELATIONS,
    required=True,
    label_visibility="collapsed",
)
with show.problems():
    if view == MODELS:
        findings_models.draw_findings_models(chosen)
    elif view == EXPLAIN:
        findings_explain.draw_findings_explain(chosen)
    else:
        gathered = findings_data.gather(chosen)
        findings_data.warn_of_other_texts(gathered)
        if view == SCATTER:
            findings_scatter.draw_findings_scatter(chosen, gathered)
        elif view == GROUPS:
            findings_groups.draw_findings_groups(chosen, gathered)
        else:
            findings_correlations.draw_findings_correlations(chosen, gathered)
