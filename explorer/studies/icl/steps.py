"""The steps of an in-context run: what is asked in one go, prepared, put to the model and judged.

Each is three stages, so that one can be prepared and another judged while the model is at work (runs/step_pipeline.py).
Steps of the judge model, a second one, come after all others are done: they ask about the completions judged there.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from explorer import prompts_icl
from explorer.records import Factor, Generation, Instance, Request, RunSpec, Score
from explorer.rows.builders import Row, generation_row, measure_row, score_row, thought_rows
from explorer.runs import response_cache
from explorer.runs.folder import RunFolder
from explorer.runs.step_cache import KeptSteps, Remark, Rows
from explorer.runs.step_pipeline import Queued, StagedStep, make_steps
from explorer.scoring import http, own_process
from explorer.scoring.generate import ModelGenerator, Stats, Until
from explorer.scoring.policy import ScoringPolicy
from explorer.similarity import replication
from explorer.similarity.measured import WORDS
from explorer.stopping import Begun
from explorer.studies import chat
from explorer.studies.icl import asking, judging
from explorer.studies.icl.context import DrawnItems, Plan, performance
from explorer.studies.icl.judging_process import JudgingProcess
from explorer.studies.study import Progress

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.scoring.model import Generator


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

    @property
    def factors(self) -> dict[str, Factor]:
        return {"k": self.k, **({"setting": self.setting} if self.setting else {"part": self.part})}


@dataclass(slots=True)
class DeviceTime:
    """Whose turn the model's device took how long, where steps are queued before others are done."""

    done: float = 0.0  # when the last one was

    def seconds_since(self, started: float) -> float:
        """What a step took that is done now, from when it was begun, or from when the one before it was done."""
        begun, self.done = max(started, self.done), time.monotonic()
        return self.done - begun


@dataclass(frozen=True, slots=True)
class IclRun:
    """What all steps of a run stand on."""

    spec: RunSpec
    resources: Resources
    drawn: DrawnItems
    instances: Sequence[Instance]
    device: DeviceTime = field(default_factory=DeviceTime)
    apart: JudgingProcess | None = None  # which judges completions

    @property
    def judge(self) -> str:
        """The name of the judge model, "" for none."""
        return str(self.spec.settings["judge"])

    def generator(self, *, judge: bool = False) -> Generator:
        """The model that is asked, or its judge."""
        name = self.judge if judge else self.spec.model
        # A second model has a place of its own, so that the first one stays.
        resources = self.resources.beside() if name != self.spec.model else self.resources
        return resources.generator(name, self.spec.dtype if name == self.spec.model else "auto")

    @property
    def thresholds(self) -> tuple[float, float]:
        """The ROUGE-L recall and the cosine that a near-exact completion reaches."""
        return float(self.spec.settings["rouge"]), float(self.spec.settings["cosine"])

    def rule(self) -> judging.Judge:
        """The rule that judges completions."""
        return self.apart or self.own_rule()

    def own_rule(self) -> replication.Rule:
        """The rule that judges them in this process."""
        return judging.rule_of(self.resources, *self.thresholds, names=not self.drawn.foreign)

    def with_judges(self) -> IclRun:
        """The same with completions judged in a process of their own, where the model is on a card of this machine."""
        if http.is_endpoint(self.spec.model) or not own_process.is_worthwhile():
            return self
        apart = JudgingProcess(self.resources.settings, *self.thresholds, names=not self.drawn.foreign)
        return dataclasses.replace(self, apart=apart)

    def policy(self) -> ScoringPolicy:
        """The policy that labels are scored under."""
        return chat.in_policy(judging.policy_of(self.spec.settings["normalization"]), self.spec.settings)


def make_all(run: IclRun, context_plan: Plan, kept: KeptSteps, progress: Progress) -> list[Rows]:
    """The rows of each step, in their order: those that are kept, else made now."""
    asked, judged = steps_of(run, context_plan)
    first = sum(step.size for _, step in asked)
    total = first + sum(step.size for _, step in judged)

    def make(
        numbered: Sequence[tuple[int, Step]], before: Sequence[Rows], done: int, *, judge: bool = False
    ) -> list[Rows]:
        generator = None if all(kept.has(step.name) for _, step in numbered) else run.generator(judge=judge)
        kinds = [*(step.kind for _, step in numbered[1:]), ""]
        staged = [
            _staged(run, generator, step, number, before, followed_by=kind)
            for (number, step), kind in zip(numbered, kinds, strict=False)
        ]
        overlap = isinstance(generator, ModelGenerator)
        return make_steps(kept, staged, lambda part, of: progress(done + part, total), overlap=overlap)

    # What completions are judged by is loaded while the model writes the first of them.
    lacking = any(step.kind == "replication" and not kept.has(step.name) for _, step in asked)
    run = run.with_judges() if lacking else run
    loading = Begun(lambda: judging.load(run.own_rule()), "load judges") if lacking and not run.apart else None
    try:
        rows = make(asked, (), 0)
    finally:
        if loading is not None:
            loading.leave()
        if run.apart:
            run.apart.close()
    return rows + make(judged, rows, first, judge=True)


def steps_of(run: IclRun, context_plan: Plan) -> tuple[list[tuple[int, Step]], list[tuple[int, Step]]]:
    """All steps with their numbers, those of the judge model apart.

    Each k comes after the smaller ones of its setting or order, so that it goes on from what they read.
    """
    count, labels = len(run.instances), len(run.drawn.example.options)
    scored, written = performance(run.spec)
    pairs = [(setting, k) for setting, ks in context_plan.replication.items() for k in ks]
    steps = [Step("replication", setting, k, 0, count) for setting, k in pairs]
    if scored:
        orders = range(len(run.drawn.orders))
        steps += [Step("labels", "", k, order, count * labels) for order in orders for k in context_plan.labels]
    if written:
        steps += [
            Step("written", "", k, repeat, count)
            for repeat in range(asking.repeats(run.spec))
            for k in context_plan.labels
        ]
    judged = [Step("judge", setting, k, 0, count) for setting, k in pairs] if run.judge else []
    return list(enumerate(steps)), list(enumerate(judged, len(steps)))


def _staged(
    run: IclRun, generator: Generator | None, step: Step, number: int, before: Sequence[Rows], *, followed_by: str
) -> StagedStep:
    """A step in three stages; `before` holds the rows of those that the judge model asks about.

    No generator is needed for a step that is kept.
    """
    if step.kind == "replication":
        return _replication(run, generator, step, number)
    if step.kind == "labels":
        return _labels(run, generator, step, number, may_wait=followed_by == step.kind)
    if step.kind == "written":
        return _written_labels(run, generator, step, number)
    return _judgments(run, generator, step, number, before)


def _replication(run: IclRun, generator: Generator | None, step: Step, number: int) -> StagedStep:
    def requests() -> list[Request]:
        return asking.replications(run.spec, run.drawn, run.instances, step.setting, step.k)

    def rows_of(answers: Sequence[Generation]) -> Rows:
        pieces = [run.drawn.pieces[instance.id] for instance in run.instances]
        matches = judging.judge_completions(run.rule(), pieces, answers)
        rows: Rows = {"generations": [], "measures": []}
        for item, answer, match in zip(pieces, answers, matches, strict=True):
            row = generation_row(answer, number, verdict="" if answer.reason else match.kind)
            row["prompt"] = prompts_icl.question(item, step.setting)
            rows["generations"].append(row)
            rows["measures"] += _match_rows(answer, match)
        rows["measures"] += thought_rows(answers, {"setting": step.setting, "k": step.k})
        return rows

    new_tokens = int(run.spec.settings["max_new_tokens"])
    return _answered(run, generator, step, requests, rows_of, new_tokens, prompts_icl.is_complete)


def _written_labels(run: IclRun, generator: Generator | None, step: Step, number: int) -> StagedStep:
    def requests() -> list[Request]:
        return asking.written_labels(run.spec, run.drawn, run.instances, step.k, step.part)

    def rows_of(answers: Sequence[Generation]) -> Rows:
        rows: Rows = {"generations": [], "measures": []}
        for instance, answer in zip(run.instances, answers, strict=True):
            label_written = None if answer.reason else prompts_icl.parse_label(answer.text, instance)
            verdict = replication.UNPARSED if label_written is None else instance.options[label_written]
            row = generation_row(answer, number, verdict="" if answer.reason else verdict)
            row["prompt"] = prompts_icl.label_question(instance)
            rows["generations"].append(row)
            right = (
                float("nan") if answer.reason else float(label_written is not None and label_written == instance.gold)
            )
            rows["measures"].append(
                measure_row(instance.id, "correct_written", right, reason=answer.reason, factors=step.factors)
            )
        rows["measures"] += thought_rows(answers, step.factors)
        return rows

    return _answered(run, generator, step, requests, rows_of, prompts_icl.LABEL_TOKENS, _has_line)


def _judgments(run: IclRun, generator: Generator | None, step: Step, number: int, before: Sequence[Rows]) -> StagedStep:
    """What the judge model says of completions that are neither equal to the reference nor empty."""
    mine: dict[str, Factor] = {"setting": step.setting, "k": step.k}

    def requests() -> list[Request]:
        texts = {
            row["instance_id"]: prompts_icl.completion(row["text"])
            for rows in before
            for row in rows.get("generations", ())
            if row["role"] == "replication" and row["verdict"] not in ("", "exact")
            and all(row[name] == value for name, value in mine.items())
        }  # fmt: skip
        return [
            replication.judge_request(
                Request(instance.id, 0, "", factors=mine), run.drawn.pieces[instance.id].second, text
            )
            for instance in run.instances
            if (text := texts.get(instance.id))
        ]

    def rows_of(answers: Sequence[Generation]) -> Rows:
        rows = [
            generation_row(answer, number, verdict="" if answer.reason else replication.parse_kind(answer.text))
            for answer in answers
        ]
        thought = thought_rows(answers, mine, "judge_thought_chars")
        return {"generations": rows, **({"measures": thought} if thought else {})}

    return _answered(run, generator, step, requests, rows_of, replication.JUDGE_TOKENS, _has_line, judge=True)


def _has_line(text: str) -> bool:
    return "\n" in text.lstrip()


@dataclass(slots=True)
class _Asked:
    """A step's requests on their way through a model: what it prepared, or scores or answers that are there at once."""

    requests: Sequence[Request]
    prepared: Any = None
    answers: Any = None
    remark: Remark = field(default_factory=dict)
    seconds: float = 0.0


def _answered(
    run: IclRun, generator: Generator | None, step: Step, requests: Callable[[], list[Request]],
    rows_of: Callable[[Sequence[Generation]], Rows], new_tokens: int, until: Until, *, judge: bool = False,
) -> StagedStep:  # fmt: skip
    """A step whose requests are answered greedily; `rows_of` makes rows of the answers, in the order asked."""

    def prepare() -> _Asked:
        started = time.monotonic()
        asked = _Asked(requests())
        if isinstance(generator, ModelGenerator):
            asked.prepared = generator.prepare(
                asked.requests, max_new_tokens=new_tokens, seed=run.spec.seed, until=until
            )
        asked.seconds = time.monotonic() - started
        return asked

    def write(asked: _Asked, progress: Progress) -> _Asked:
        if isinstance(generator, ModelGenerator):
            before, started = _copy(generator.stats), time.monotonic()
            generator.run(asked.prepared, progress)
            asked.remark = _prefill(generator.stats, before, asked.seconds + run.device.seconds_since(started))
        else:
            assert generator is not None
            caching = _keeping(run, generator, judge) if isinstance(generator, http.Endpoint) else generator
            asked.answers = caching.generate(
                asked.requests, max_new_tokens=new_tokens, seed=run.spec.seed, progress=progress
            )
        return asked

    def finish(asked: _Asked) -> tuple[Rows, Remark]:
        if isinstance(generator, ModelGenerator):
            asked.answers = generator.finish(asked.prepared)
        return rows_of(asked.answers), _described(step, asked)

    return StagedStep(step.name, step.size, prepare, write, finish)


def _labels(run: IclRun, generator: Generator | None, step: Step, number: int, *, may_wait: bool) -> StagedStep:
    """A step that scores the words of all labels of each item; its scores `may_wait` until the next one is queued."""
    from explorer.scoring.shared_prefix_scorer import SharedPrefixScorer

    policy = run.policy()
    scorer = SharedPrefixScorer(generator) if isinstance(generator, ModelGenerator) else None

    def prepare() -> _Asked:
        started = time.monotonic()
        by_instance = asking.labels(run.spec, run.drawn, run.instances, step.k, step.part)
        asked = _Asked([request for requests in by_instance for request in requests])
        if scorer:
            asked.prepared = scorer.prepare(asked.requests, policy)
        asked.seconds = time.monotonic() - started
        return asked

    def score(asked: _Asked, progress: Progress) -> _Asked | Queued:
        if scorer is None:
            asked.answers = response_cache.scorer(run.spec, run.resources).score(asked.requests, policy, progress)
            return asked
        before, started = _copy(scorer.stats), time.monotonic()
        wait = scorer.begin(asked.prepared, progress)
        after = _copy(scorer.stats)

        def wait_for_scores() -> _Asked:
            wait()
            asked.remark = _prefill(after, before, asked.seconds + run.device.seconds_since(started))
            return asked

        return Queued(wait_for_scores) if may_wait else wait_for_scores()

    def finish(asked: _Asked) -> tuple[Rows, Remark]:
        scores: Sequence[Score] = scorer.finish(asked.prepared) if scorer else asked.answers
        return _label_rows(run, step, number, scores), _described(step, asked)

    return StagedStep(step.name, step.size, prepare, score, finish)


def _label_rows(run: IclRun, step: Step, number: int, scores: Sequence[Score]) -> Rows:
    policy, dtype = run.policy(), str(run.resources.model_record(run.spec.model, run.spec.dtype).get("dtype", ""))
    rows: Rows = {"scores": [], "measures": []}
    remaining = iter(scores)
    for instance in run.instances:
        of_item = [next(remaining) for _ in instance.options]
        rows["scores"] += [
            score_row(score, 1000 * number + i, tokens=False, context=False) for i, score in enumerate(of_item)
        ]
        rows["measures"] += judging.judge_labels(instance, of_item, policy, dtype, step.factors)
    return rows


def _described(step: Step, asked: _Asked) -> Remark:
    return {"group": step.kind, "factors": step.factors, **asked.remark}


def _keeping(run: IclRun, endpoint: http.Endpoint, judge: bool) -> response_cache.CachedAnswers:
    """The endpoint behind the answers that the run's folder holds; a judge may be another than the model."""
    if not judge:
        return response_cache.cached_endpoint(run.spec, run.resources, endpoint)
    return response_cache.CachedAnswers(endpoint, RunFolder.create(run.resources.settings.runs, run.spec).path)


def _copy(stats: Stats) -> Stats:
    return Stats(stats.prompt_tokens, stats.read_tokens, stats.new_tokens, stats.passes)


def _prefill(now: Stats, before: Stats, seconds: float) -> Remark:
    """What was read; the seconds are those of encoding and of the model, without the judges'."""
    return {
        "prompt_tokens": now.prompt_tokens - before.prompt_tokens,
        "read_tokens": now.read_tokens - before.read_tokens,
        "new_tokens": now.new_tokens - before.new_tokens,
        "seconds": round(seconds, 3),
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
