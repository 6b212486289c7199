"""Priming: how does a growing context move a judgment of acceptability?

Load, draw a context for every item and condition, ask both members of the pair after every length of it, score all of
them at once, judge, save. Source: Sinha et al. (2023), Language model acceptability judgments are not always robust
to context.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.errors import UsageError
from explorer.records import Instance, RunSpec
from explorer.rows.builders import Row
from explorer.rows.columns import score_table
from explorer.scoring.policy import NOT_CAUSAL_PRESETS, ScoringPolicy
from explorer.scoring.score import Batch, ModelScorer
from explorer.studies import QUESTIONS, chat, selection
from explorer.studies.priming import context as priming_context
from explorer.studies.priming import edits, findings, matrices, requests
from explorer.studies.priming.context import ContextSource
from explorer.studies.priming.requests import BASELINE, Step
from explorer.studies.priming.run_settings import context_source_of, policy_of
from explorer.studies.selection import splits_of
from explorer.studies.study import Progress, Setting, Stages, Study
from explorer.variants.context_pools import CONDITIONS
from explorer.variants.contexts import LENGTHS, Context, make_contexts, plain_context, rebuild_text, suite_context
from explorer.variants.prefix_edits import PREFIX_EDITS

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.parts import Tables

Lines = list[tuple[Context, Sequence[Step]]]  # an item's contexts, each with the item after every length of it

PRIMING = {
    "conditions": Setting(CONDITIONS, "where contexts are drawn from", CONDITIONS),
    "lengths": Setting(LENGTHS, "tokens of context before the target; 0 is always asked"),
    "unrelated": Setting("wikitext", "source of unrelated sentences", tuple(priming_context.SOURCES)),
    "other_phenomenon": Setting(False, "mismatched sentences are of another phenomenon, not only of another suite"),
    "chains": Setting(0, "fast preview: items of a suite share that many contexts (2 or more); 0 = each has its own"),
    "edits": Setting((), "prefix perturbations of matched contexts", tuple(PREFIX_EDITS)),
    "edits_from": Setting("", "a run of this study whose most affected suites alone are looked at; empty = all"),
    "edit_halves": Setting(True, "choose the most affected suites on one half of the items and measure on the other"),
    "matrix": Setting(0, "items of each suite asked after 10 sentences of every suite; 0 = no matrix"),
    "overlap": Setting(200, "sentences of each suite compared for the overlap matrices; 0 = no matrices"),
    "item_intercept": Setting(True, "also fit the regression with a random intercept for each item"),
    "preset": Setting(
        "natural",
        "minicons: bare sentences at length 0, as in the paper; pll: for masked models; seq2seq, decoder: for "
        "encoder-decoder models",
        ("natural", "minicons", *NOT_CAUSAL_PRESETS),
    ),
    "bos": Setting(
        "preset",
        "token before the context: always (natural), or the tokenizer's own (minicons)",
        ("preset", "always", "auto", "never"),
    ),
    "tokens": Setting(False, "store each token's log-probability"),
    **chat.CHAT,
}
MATRIX_SENTENCES = 10


def select(spec: RunSpec, resources: Resources) -> list[Instance]:
    """The spec's instances; with `edits_from` those of the named run's most affected suites, of the measured half."""
    chosen = selection.select(spec, resources)
    named = str(spec.settings["edits_from"])
    if not named:
        return chosen
    suites = edits.suites_of_run(resources.settings.runs, named)
    return [item for item in chosen if item.group in suites and _is_edited(spec, item)]


@dataclass(frozen=True, slots=True)
class PreparedPart:
    """Items, the contexts of each, each item's steps (the first without a context), and the requests of all steps."""

    instances: Sequence[Instance]
    lines: Mapping[str, Lines]
    steps: Mapping[str, Sequence[Step]]
    why_not_unrelated: str
    batch: Batch


def prepare(
    spec: RunSpec, resources: Resources, instances: Sequence[Instance], progress: Progress, ahead: bool
) -> PreparedPart:
    """Contexts drawn, and each item after none and after every length of each of them; encoded already where `ahead`.

    All lengths, conditions and options are asked at once: what they share is computed once.
    """
    if not spec.settings["conditions"]:
        raise UsageError(f"The setting conditions is empty, expected some of {', '.join(CONDITIONS)}.")
    if spec.settings["chains"] == 1:
        raise UsageError(
            "The setting chains is 1, expected 0 or at least 2: a context that a whole suite shares may hold none "
            "of their sentences."
        )
    source = context_source_of(spec, resources)
    policy = policy_of(spec)
    baselines = {
        item.id: requests.step(item, "", source.opening, condition=BASELINE, length=0, policy=policy)
        for item in instances
    }
    lines = _lines(spec, resources, source, instances)
    steps = {
        name: [baseline, *(step for _, steps in lines[name] for step in steps)] for name, baseline in baselines.items()
    }
    flat = [request for item in instances for step in steps[item.id] for request in step.requests]
    batch = Batch(resources.scorer(spec.model, spec.dtype), flat, policy)
    if ahead:
        batch.prepare()
    why_not = source.why_not if "unrelated" in spec.settings["conditions"] else ""
    return PreparedPart(instances, lines, steps, why_not, batch)


def score(spec: RunSpec, resources: Resources, prepared: PreparedPart, progress: Progress) -> PreparedPart:
    """The same, scored."""
    prepared.batch.run(progress)
    return prepared


def tables(spec: RunSpec, resources: Resources, scored: PreparedPart) -> Tables:
    """Rows of one part: contexts, scores, and what they say of each item after each context."""
    dtype = str(resources.model_record(spec.model, spec.dtype)["dtype"])
    scores = scored.batch.scores()
    rest = iter(scores)
    variants: list[Row] = []
    judged: list[requests.Judged] = []
    numbers: list[int] = []
    for item in scored.instances:
        variants += [_variant_row(item, context) for context, _ in scored.lines[item.id]]
        if scored.why_not_unrelated:
            variants.append(_missing_row(item, scored.why_not_unrelated))
        of_item = requests.with_baselines(scored.steps[item.id], rest, same_tokens=spec.settings["preset"] == "natural")
        numbers += range(sum(len(step_scores) for _, step_scores, _ in of_item))
        judged += of_item
    return {
        "variants": variants,
        "scores": score_table(scores, numbers, tokens=bool(spec.settings["tokens"]), context=False),
        "measures": requests.judge_all(judged, policy_of(spec), dtype).table(),
    }


def may_overlap(spec: RunSpec, resources: Resources) -> bool:
    """Whether the scored model runs on this machine."""
    return isinstance(resources.scorer(spec.model, spec.dtype), ModelScorer)


STAGES = Stages(prepare, score, tables, may_overlap)
run_part = STAGES.run


def _lines(
    spec: RunSpec, resources: Resources, source: ContextSource, instances: Sequence[Instance]
) -> dict[str, Lines]:
    """Each item's contexts, in an order that does not depend on the other items."""
    by_id, policy = {item.id: item for item in instances}, policy_of(spec)
    lines: dict[str, Lines] = {name: [] for name in by_id}
    for context in _contexts(spec, resources, source, instances):
        texts = [rebuild_text(context, source.pools, point.sentences) for point in context.checkpoints]
        for name in context.items:
            of_item = dataclasses.replace(context, items=(name,))
            lines[name].append((of_item, _steps(by_id[name], of_item, texts, source.opening, policy)))
    return lines


def _contexts(
    spec: RunSpec, resources: Resources, source: ContextSource, instances: Sequence[Instance]
) -> Iterator[Context]:
    settings = spec.settings
    conditions = [name for name in settings["conditions"] if name != "unrelated" or not source.why_not]
    chains = int(settings["chains"])
    whole = resources.instances(spec.benchmark, splits_of(spec.settings)).instances
    room = source.suite_room(whole) if chains else source.room
    for edit in dict.fromkeys(["none", *settings["edits"]]):
        plain = edit == "none"
        yield from make_contexts(
            instances if plain else [item for item in instances if _is_edited(spec, item)],
            source.pools,
            source.tokens,
            room,
            conditions=conditions if plain else [name for name in conditions if name.startswith("matched_")],
            lengths=[length for length in settings["lengths"] if length > 0],
            seed=spec.seed,
            edit=edit,
            chains=chains,
            other_phenomenon=bool(settings["other_phenomenon"]),
        )
    if settings["matrix"]:
        suites, ranks = _suites_and_ranks(spec, resources)
        for item in instances:
            if ranks[item.id] < int(settings["matrix"]):
                for suite in suites:
                    yield suite_context(
                        item, source.pools, source.tokens, suite, sentences=MATRIX_SENTENCES, seed=spec.seed
                    )


def _steps(item: Instance, context: Context, texts: Sequence[str], opening: str, policy: ScoringPolicy) -> list[Step]:
    in_matrix = context.condition.startswith("suite:")
    if in_matrix and context.reason:
        return []
    return [
        requests.step(
            item,
            text,
            opening,
            condition=context.condition,
            length=None if in_matrix else point.length,
            edit=context.edit,
            sentences=point.sentences,
            tokens=point.tokens,
            policy=policy,
        )
        for point, text in zip(context.checkpoints, texts, strict=True)
        if point.sentences  # where the first sentence is longer than that, there is no such context
    ]


def _variant_row(item: Instance, context: Context) -> Row:
    too_short = [point.length for point in context.checkpoints if not point.sentences]
    reason = context.reason or (f"no sentence within {max(too_short)} tokens" if too_short else "")
    edited = {} if context.edit == "none" else {"setting": context.edit}
    name = context.condition if context.edit == "none" else f"{context.condition}+{context.edit}"
    return {
        "instance_id": item.id,
        "variant_id": f"{item.id}#{name}",
        "condition": context.condition,
        **edited,
        "edit": json.dumps(plain_context(context), ensure_ascii=False),
        "accepted": bool(context.ids),
        "reason": reason,
        "payload": None,
    }


def _missing_row(item: Instance, reason: str) -> Row:
    return {
        "instance_id": item.id,
        "variant_id": f"{item.id}#unrelated",
        "condition": "unrelated",
        "setting": None,
        "edit": None,
        "accepted": False,
        "reason": reason,
        "payload": None,
    }


def _is_edited(spec: RunSpec, item: Instance) -> bool:
    return not spec.settings["edit_halves"] or edits.is_measured(item.id)


def _suites_and_ranks(spec: RunSpec, resources: Resources) -> tuple[list[str], dict[str, int]]:
    """The suites of a run, and each item's place among its suite's items in the run."""

    def count_ranks() -> tuple[list[str], dict[str, int]]:
        counters: dict[str, Iterator[int]] = {}
        ranks = {}
        for item in select(spec, resources):
            ranks[item.id] = next(counters.setdefault(item.group, itertools.count()))
        return sorted(counters), ranks

    settings = json.dumps(dict(spec.settings), sort_keys=True)
    return resources.once(("ranks", spec.benchmark, spec.suites, spec.limit, spec.seed, settings), count_ranks)


STUDY = Study(
    name="priming",
    title="Priming",
    question=QUESTIONS["priming"],
    version=2,
    settings={
        **PRIMING,
        **selection.SELECTION,
        "per_group": Setting(50, "that many instances of each suite, drawn with the seed; 0 = all"),
    },
    kinds=("pair", "regions"),
    english_settings=("edits",),
    select=select,
    run_part=run_part,
    stages=STAGES,
    ahead=matrices.make_ahead,
    may_be_apart=lambda settings: True,
    summarize=findings.summarize,
    first_part=4,
)
