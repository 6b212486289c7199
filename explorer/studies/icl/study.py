"""In-context memorization: does a prompt with k demonstrations bring out what the model knows by heart?

Draw test items and demonstrations, let the model finish each item after k demonstrations, judge the completions, score
the labels after the same demonstrations, compare. Source: Golchin, Surdeanu, Bethard, Blanco and Riloff 2024,
"Memorization in In-Context Learning".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from explorer import prompts_icl
from explorer.records import Instance, RunSpec
from explorer.runs import files
from explorer.runs.folder import RunFolder
from explorer.runs.step_cache import KeptSteps, Rows
from explorer.similarity import replication
from explorer.studies import QUESTIONS, chat
from explorer.studies.icl import asking, findings, steps
from explorer.studies.icl import rows as icl_rows
from explorer.studies.icl.context import as_json, plan, sampled_items, select
from explorer.studies.study import Progress, Setting, Study
from explorer.variants.demonstrations import INSTANCES

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.parts import Tables

SHOTS = (0, 25, 50, 100, 200)

SETTINGS = {
    "k": Setting(SHOTS, "numbers of demonstrations, nested"),
    "settings": Setting(
        ("full", "pairs_labels", "pairs"),
        "what a prompt holds: guided instruction, pairs and labels (full); without the instruction; pairs alone; "
        "general: an instruction that names no data set",
        tuple(prompts_icl.SETTINGS),
    ),
    "instances": Setting(INSTANCES, "test items, as many of each label"),
    "split": Setting("", "the split that test items and demonstrations are drawn from; empty = train"),
    "max_new_tokens": Setting(prompts_icl.REPLICATION_TOKENS, "tokens a completion may have"),
    "form": Setting(
        "auto",
        "prompts as plain text or as a user's message; auto: chat for endpoints, and with chat=always",
        ("auto", "completion", "chat"),
    ),
    "performance": Setting(
        "auto",
        "accuracy of the labels: scored, or written greedily in 10 tokens in one order (published), or both; auto: "
        "scored, for endpoints published",
        ("auto", "scored", "published", "both", "none"),
    ),
    "orders": Setting(3, "seeded orders of the demonstrations in which labels are scored"),
    "normalization": Setting("sum", "what is compared between labels", ("sum", "mean_token", "per_char", "per_byte")),
    "rouge": Setting(replication.ROUGE, "ROUGE-L recall that a near-exact completion reaches"),
    "cosine": Setting(replication.COSINE, "cosine of sentence vectors that a near-exact completion reaches"),
    "judge": Setting("", "model or endpoint that judges completions by the paper's prompt; empty = none"),
    **chat.CHAT,
}


def run_part(spec: RunSpec, resources: Resources, instances: Sequence[Instance], progress: Progress) -> Tables:
    drawn_items = sampled_items(spec, resources)
    context_plan = plan(spec, resources, drawn_items)
    folder = RunFolder.create(resources.settings.runs, spec).path
    files.write_json(folder / findings.PLAN, as_json(drawn_items, context_plan))
    tables: Rows = {"variants": [icl_rows.piece_row(drawn_items.pieces[instance.id]) for instance in instances]}
    if instances[0].id == drawn_items.example.id:
        tables["variants"] += icl_rows.demonstration_rows(drawn_items.orders)
    kept = KeptSteps(folder, [instance.id for instance in instances])
    run = steps.IclRun(spec, resources, drawn_items, instances)
    for rows_of_step in steps.make_all(run, context_plan, kept, progress):
        for table, rows in rows_of_step.items():
            tables.setdefault(table, []).extend(rows)
    return tables


STUDY = Study(
    name="icl",
    title="In-context memorization",
    question=QUESTIONS["icl"],
    version=2,
    settings=SETTINGS,
    kinds=("labelled",),
    select=select,
    run_part=run_part,
    summarize=findings.summarize,
    plan=asking.planned,
    # All test items go in one part: what their prompts share is read once for all of them.
    first_part=4096,
)
