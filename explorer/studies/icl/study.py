"""In-context memorization: does a prompt with k demonstrations bring out what the model knows by heart?

Draw test items and demonstrations, let the model finish each item after k demonstrations, judge the completions, score
the labels after the same demonstrations, compare. Source: Golchin, Surdeanu, Bethard, Blanco and Riloff 2024,
"Memorization in In-Context Learning".
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from explorer import prompts_icl
from explorer.records import Factor, Generation, Instance, Request, RunSpec
from explorer.rows.builders import Row, generation_row, measure_row, score_row, thought_rows
from explorer.runs import files, response_cache
from explorer.runs.folder import RunFolder
from explorer.runs.step_cache import KeptSteps, Remark, Rows
from explorer.scoring import http
from explorer.scoring.generate import ModelGenerator, Stats, Until
from explorer.scoring.policy import ScoringPolicy
from explorer.similarity import replication
from explorer.similarity.measured import WORDS
from explorer.studies import QUESTIONS, chat
from explorer.studies.icl import asking, findings, judging
from explorer.studies.icl import rows as icl_rows
from explorer.studies.icl.context import DrawnItems, Plan, as_json, performance, plan, sampled_items, select
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
    run = _Run(spec, resources, drawn_items, instances, KeptSteps(folder, [instance.id for instance in instances]))
    steps = run.steps(context_plan)
    total, done = sum(step.size for step in steps), 0
    for number, step in enumerate(steps):

        def report_step(part: int, of: int, before: int = done, size: int = step.size) -> None:
            progress(before + size * part // max(of, 1), total)

        for table, rows in run.step_rows(step, number, report_step, tables).items():
            tables.setdefault(table, []).extend(rows)
        done += step.size
        progress(done, total)
    return tables


@dataclass(frozen=True, slots=True)
class Step:
    """What is asked in one go: all test items under one setting, k and order."""

    kind: str  # replication, labels, written, judge
    setting: str
    k: int
    part: int
    size: int  # requests

    @property
    def name(self) -> str:
        return "-".join(map(str, filter(None, (self.kind, self.setting, f"k{self.k}", f"{self.part}"))))


@dataclass(slots=True)
class _Run:
    spec: RunSpec
    resources: Resources
    drawn: DrawnItems
    instances: Sequence[Instance]
    kept: KeptSteps

    def steps(self, context_plan: Plan) -> list[Step]:
        """All steps, each k after the smaller ones of its setting or order, so that it goes on from what they read."""
        count, labels = len(self.instances), len(self.drawn.example.options)
        scored, written = performance(self.spec)
        pairs = [(setting, k) for setting, ks in context_plan.replication.items() for k in ks]
        steps = [Step("replication", setting, k, 0, count) for setting, k in pairs]
        if scored:
            orders = range(len(self.drawn.orders))
            steps += [Step("labels", "", k, order, count * labels) for order in orders for k in context_plan.labels]
        if written:
            steps += [
                Step("written", "", k, repeat, count)
                for repeat in range(asking.repeats(self.spec))
                for k in context_plan.labels
            ]
        if self.spec.settings["judge"]:
            steps += [Step("judge", setting, k, 0, count) for setting, k in pairs]
        return steps

    def step_rows(self, step: Step, number: int, progress: Progress, before: Rows) -> Rows:
        """A step's rows: kept, or made now; `before` holds the rows of the steps before."""

        def rows_of_kind() -> tuple[Rows, Remark]:
            if step.kind == "replication":
                return self._replicate(step, number, progress)
            if step.kind == "labels":
                return self._score_labels(step, number, progress)
            if step.kind == "written":
                return self._write_labels(step, number, progress)
            return self._judge(step, number, progress, before)

        def make_described() -> tuple[Rows, Remark]:
            rows, remark = rows_of_kind()
            factors = {"k": step.k, **({"setting": step.setting} if step.setting else {"part": step.part})}
            return rows, {"group": step.kind, "factors": factors, **remark}

        return self.kept.rows(step.name, make_described)

    def _replicate(self, step: Step, number: int, progress: Progress) -> tuple[Rows, Remark]:
        pieces = [self.drawn.pieces[instance.id] for instance in self.instances]
        requests = asking.replications(self.spec, self.drawn, self.instances, step.setting, step.k)
        answers, remark = self._generate(
            requests, int(self.spec.settings["max_new_tokens"]), prompts_icl.is_complete, progress
        )
        matches = judging.judge_completions(self._rule(), pieces, answers)
        rows: Rows = {"generations": [], "measures": []}
        for item, answer, match in zip(pieces, answers, matches, strict=True):
            row = generation_row(answer, number, verdict="" if answer.reason else match.kind)
            row["prompt"] = prompts_icl.question(item, step.setting)
            rows["generations"].append(row)
            rows["measures"] += _match_rows(answer, match)
        rows["measures"] += thought_rows(answers, {"setting": step.setting, "k": step.k})
        return rows, remark

    def _score_labels(self, step: Step, number: int, progress: Progress) -> tuple[Rows, Remark]:
        from explorer.scoring.shared_prefix_scorer import SharedPrefixScorer

        by_instance = asking.labels(self.spec, self.drawn, self.instances, step.k, step.part)
        flat = [request for requests in by_instance for request in requests]
        policy, started = self._policy(), time.monotonic()
        generator = self.resources.generator(self.spec.model, self.spec.dtype)
        remark: Remark = {}
        if isinstance(generator, ModelGenerator):
            scorer = SharedPrefixScorer(generator)
            scores = iter(scorer.score(flat, policy, progress))
            remark = _prefill(scorer.stats, Stats(), started)
        else:
            scores = iter(response_cache.scorer(self.spec, self.resources).score(flat, policy, progress))
        dtype = str(self.resources.model_record(self.spec.model, self.spec.dtype).get("dtype", ""))
        rows: Rows = {"scores": [], "measures": []}
        for instance, requests in zip(self.instances, by_instance, strict=True):
            of_item = [next(scores) for _ in requests]
            factors = {"k": step.k, "part": step.part}
            rows["scores"] += [
                score_row(score, 1000 * number + i, tokens=False, context=False) for i, score in enumerate(of_item)
            ]
            rows["measures"] += judging.judge_labels(instance, of_item, policy, dtype, factors)
        return rows, remark

    def _write_labels(self, step: Step, number: int, progress: Progress) -> tuple[Rows, Remark]:
        requests = asking.written_labels(self.spec, self.drawn, self.instances, step.k, step.part)
        answers, remark = self._generate(
            requests, prompts_icl.LABEL_TOKENS, lambda text: "\n" in text.lstrip(), progress
        )
        rows: Rows = {"generations": [], "measures": []}
        for instance, answer in zip(self.instances, answers, strict=True):
            label_written = None if answer.reason else prompts_icl.parse_label(answer.text, instance)
            verdict = replication.UNPARSED if label_written is None else instance.options[label_written]
            row = generation_row(answer, number, verdict="" if answer.reason else verdict)
            row["prompt"] = prompts_icl.label_question(instance)
            rows["generations"].append(row)
            right = (
                float("nan") if answer.reason else float(label_written is not None and label_written == instance.gold)
            )
            factors = {"k": step.k, "part": step.part}
            rows["measures"].append(
                measure_row(instance.id, "correct_written", right, reason=answer.reason, factors=factors)
            )
        rows["measures"] += thought_rows(answers, {"k": step.k, "part": step.part})
        return rows, remark

    def _judge(self, step: Step, number: int, progress: Progress, before: Rows) -> tuple[Rows, Remark]:
        """What the judge model says of completions that are neither equal to the reference nor empty."""
        mine: dict[str, Factor] = {"setting": step.setting, "k": step.k}
        texts = {
            row["instance_id"]: prompts_icl.completion(row["text"])
            for row in before["generations"]
            if row["role"] == "replication" and row["verdict"] not in ("", "exact")
            and all(row[name] == value for name, value in mine.items())
        }  # fmt: skip
        requests = [
            replication.judge_request(
                Request(instance.id, 0, "", factors=mine), self.drawn.pieces[instance.id].second, text
            )
            for instance in self.instances
            if (text := texts.get(instance.id))
        ]
        answers, remark = self._generate(
            requests, replication.JUDGE_TOKENS, lambda text: "\n" in text.lstrip(), progress, judge=True
        )
        rows = [
            generation_row(answer, number, verdict="" if answer.reason else replication.parse_kind(answer.text))
            for answer in answers
        ]
        thought = thought_rows(answers, mine, "judge_thought_chars")
        return {"generations": rows, **({"measures": thought} if thought else {})}, remark

    def _generate(
        self, requests: Sequence[Request], new_tokens: int, until: Until, progress: Progress, *, judge: bool = False
    ) -> tuple[list[Generation], Remark]:
        """Greedy answers in the order asked, and for a local model what was read."""
        name = str(self.spec.settings["judge"]) if judge else self.spec.model
        # A second model has a place of its own, so that the first one stays.
        resources = self.resources.beside() if judge and name != self.spec.model else self.resources
        generator = resources.generator(name, self.spec.dtype if name == self.spec.model else "auto")
        if not isinstance(generator, ModelGenerator):
            caching = self._keeping(generator, judge) if isinstance(generator, http.Endpoint) else generator
            return caching.generate(requests, max_new_tokens=new_tokens, seed=self.spec.seed, progress=progress), {}
        stats, started = generator.stats, time.monotonic()
        before = Stats(stats.prompt_tokens, stats.read_tokens, stats.new_tokens, stats.passes)
        answers = generator.generate(
            requests, max_new_tokens=new_tokens, seed=self.spec.seed, until=until, progress=progress
        )
        return answers, _prefill(stats, before, started)

    def _keeping(self, endpoint: http.Endpoint, judge: bool) -> response_cache.CachedAnswers:
        """The endpoint behind the answers that the run's folder holds; a judge may be another than the model."""
        if not judge:
            return response_cache.cached_endpoint(self.spec, self.resources, endpoint)
        return response_cache.CachedAnswers(endpoint, RunFolder.create(self.resources.settings.runs, self.spec).path)

    def _rule(self) -> replication.Rule:
        settings = self.spec.settings
        return judging.rule_of(
            self.resources, float(settings["rouge"]), float(settings["cosine"]), names=not self.drawn.foreign
        )

    def _policy(self) -> ScoringPolicy:
        return chat.in_policy(judging.policy_of(self.spec.settings["normalization"]), self.spec.settings)


def _prefill(now: Stats, before: Stats, started: float) -> Remark:
    return {
        "prompt_tokens": now.prompt_tokens - before.prompt_tokens,
        "read_tokens": now.read_tokens - before.read_tokens,
        "new_tokens": now.new_tokens - before.new_tokens,
        "seconds": round(time.monotonic() - started, 3),
    }


def _match_rows(answer: Generation, match: replication.Match) -> list[Row]:
    """Rows of `measures` about a completion."""
    request, empty = answer.request, answer.reason or "there is nothing to compare"
    by = "" if match.unit == WORDS else f"by {match.unit}"
    unread = empty if match.names else "the sentence encoder knows English only"
    rows = [
        measure_row(
            request.instance_id, name, value, reason=reason_given if pd.notna(value) else lack, factors=request.factors
        )
        for name, value, reason_given, lack in (
            ("rouge_l_recall", match.rouge, by, empty),
            ("cosine", match.cosine, "", answer.reason or unread),
        )
    ]
    differing = ", ".join(match.differing)
    return [
        *rows,
        measure_row(request.instance_id, "same_names", float(not differing), reason=differing, factors=request.factors),
    ]


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
