"""All tasks of a model in one picture: macro-F1 of correctness from scores of memorization (Figure 5 of the paper)."""

from __future__ import annotations

import pandas as pd

from explorer import display
from explorer.popularity.tasks import TASKS
from explorer.studies.memorization import declared
from explorer.studies.memorization import queries as memorization_queries
from explorer.studies.memorization.rows import ATTACKS
from explorer.studies.popularity.groups import title_of
from explorer.ui import resources, show
from explorer.ui.columns import count_column, number_column
from explorer.ui.memorization.figure_tasks import bars_by_task

FIELDS = {"formal": "Formal tasks", "functional": "Functional tasks"}
CLEAR = 0.02  # of macro-F1 above the dummy, from which a score is named


def shares_the_number(attack: str) -> bool:
    """Whether an attack's score is made of the log-probabilities that the verdict compares."""
    return declared.OPTION_LOGPROBS in declared.COMPUTED_FROM.get(attack, ())


def draw_memorization_tasks(model: str) -> bool:
    """The picture of all tasks, the dummy's line in each, and its table; False where the model has no such run."""
    rows = resources.ask_store(memorization_queries.by_task, model)
    rows = rows[rows["grp"].isin(list(TASKS)) & rows["setting"].isin(list(ATTACKS))].reset_index(drop=True)
    if rows.empty:
        return False
    rows = rows.assign(
        task=[title_of(name) for name in rows["grp"]],
        field=[FIELDS[TASKS[name].field] for name in rows["grp"]],
        attack=[ATTACKS[name].title for name in rows["setting"]],
        decides=[shares_the_number(name) for name in rows["setting"]],
        place=[list(TASKS).index(name) * 100 + list(ATTACKS).index(name2)
               for name, name2 in zip(rows["grp"], rows["setting"], strict=True)],
    ).sort_values("place", kind="stable")  # fmt: skip
    show.says(in_words(rows))
    show.chart(
        resources.drawn(bars_by_task, rows, list(FIELDS.values())),
        key=f"memorization_tasks:{model}",
        alt="Macro-F1 of right answers from each score of memorization, task by task, with the line of the dummy",
    )
    show.note(
        "Macro-F1 of a logistic regression of being right on a score of both texts, out of fold; formal tasks above, "
        "functional below, as in the paper's figure 5. The gray line is the dummy that always gives the most frequent "
        "answer. Fainter bars are scores made of the same log-probabilities as the verdict: they tell right from wrong "
        "without any memorization. The paper's bars carry OLMo-7B's labels, and are none to compare with."
    )
    show.folded_table(
        rows,
        "macro-F1 by task",
        columns={
            "field": "Field", "task": "Task", "attack": "Score", "value": number_column("Macro-F1", 3),
            "dummy": number_column("Dummy", 3), "n": count_column("n", "instances"),
        },
    )  # fmt: skip
    return True


def in_words(rows: pd.DataFrame) -> str:
    """How often a score that shares no number with the verdict beats the dummy, and by how much at most."""
    apart = rows[~rows["decides"]].assign(gain=lambda frame: frame["value"] - frame["dummy"])
    if apart.empty:
        return "No score here is independent of the verdict, so that none can speak for memorization."
    clear = apart[apart["gain"] > CLEAR]
    if clear.empty:
        return (
            f"No score that is independent of the verdict beats the dummy by more than {display.number(CLEAR)} of "
            f"macro-F1 in any of {apart['task'].nunique()} tasks."
        )
    best = clear.sort_values("gain", ascending=False, kind="stable").iloc[0]
    return (
        f"Scores that are independent of the verdict beat the dummy by more than {display.number(CLEAR)} of macro-F1 "
        f"in {clear['task'].nunique()} of {apart['task'].nunique()} tasks, most on {best['task']} ({best['attack']}: "
        f"{display.number(best['value'])} against {display.number(best['dummy'])}, n = {best['n']:,.0f})."
    )
