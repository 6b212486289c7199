"""Memorization: does the model know the texts of a benchmark by heart, and does that say what it gets right?

Load, make neighbors, ask for every option's whole text, score all together, measure, save. Source: Ruzzetti, Zanzotto
and Caselli, Lexical Popularity, section 6 and appendix A.5.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from explorer import prompts
from explorer.errors import UsageError
from explorer.popularity import verbatim
from explorer.popularity.counter import Counter
from explorer.popularity.indexes import GLASSBOX
from explorer.popularity.tasks import task_of
from explorer.records import Instance, Request, RunSpec, Score
from explorer.rows.builders import measure_row
from explorer.rows.columns import Table, score_table
from explorer.runs import response_cache
from explorer.runs import spec as specs
from explorer.scoring import attacks
from explorer.scoring.http_cost import Planned
from explorer.scoring.model import Proposer
from explorer.scoring.score import Batch
from explorer.studies import QUESTIONS, chat, selection, verdicts
from explorer.studies.accuracy import study as accuracy_study
from explorer.studies.memorization import findings
from explorer.studies.memorization.membership import INDEX, MIN_K_PLUS, MORE, RECALL, UNSEEN
from explorer.studies.memorization.rows import EXTRACTION, NEIGHBOR, NUMBERS, PER_OPTION, TEXT, text_measures
from explorer.studies.study import Progress, Setting, Stages, Study
from explorer.variants import neighbors
from explorer.variants.neighbors import Neighbor, Source
from explorer.writing import joined

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.parts import Tables

Row = Mapping[str, Any]

SETTINGS = {
    "neighbours": Setting(neighbors.PER_TEXT, "neighbors of each text, one word replaced in each; 0 = none"),
    "neighbours_by": Setting(
        "auto",
        "who proposes the words: a masked LM (a Hugging Face id or a folder) or infill:MODEL, a causal LM; "
        "auto: roberta-base where it can be had, else infilling by the embedded model",
    ),
    "neighbours_cap": Setting(100, "instances of each task that get neighbors, drawn with the seed; 0 = all"),
    "min_k": Setting(100 * attacks.MIN_K, "percent of a text's tokens that min-k % looks at"),
    "more": Setting(
        (),
        "further attacks: min_k_plus (Min-K%++, of models on this machine), recall (ReCaLL, reads every text twice)",
        MORE,
        is_optional=True,
    ),
    "labels": Setting(
        "none",
        "where it is told which texts were seen: index = what of a text stands in it word for word",
        ("none", INDEX),
        is_optional=True,
    ),
    "index": Setting(GLASSBOX, "n-gram index, for labels=index", is_optional=True),
}
STEP_SECONDS = 2.0  # of making neighbors, after which progress is told
JUDGED = ("pair", "choice", "cloze", "regions", "labelled")  # kinds with a verdict


@dataclass(slots=True)
class TextsToScore:
    """An instance, its texts, and the neighbors of each text or the reason why there are none."""

    instance: Instance
    texts: tuple[str, ...]
    verdict: list[Request]
    neighbors: list[tuple[Neighbor, ...]] | str
    scores: dict[str, list[Score]] = field(default_factory=dict)

    def requests(self) -> list[Request]:
        """The requests behind the verdict, each whole text, each neighbor."""
        return [*self.verdict, *self.raw_requests()]

    def raw_requests(self) -> list[Request]:
        """Each whole text and each neighbor."""
        return [*self._text_requests(TEXT), *self.neighbor_requests()]

    def prompted(self) -> list[Request]:
        """Each whole text, for its second half to be read as the answer to its first."""
        return self._text_requests(EXTRACTION)

    def neighbor_requests(self) -> list[Request]:
        """Each neighbor."""
        return [
            Request(self.instance.id, option, "", neighbor.text, NEIGHBOR, {"part": part})
            for option, text_neighbors in enumerate(() if isinstance(self.neighbors, str) else self.neighbors)
            for part, neighbor in enumerate(text_neighbors)
        ]

    def _text_requests(self, role: str) -> list[Request]:
        return [Request(self.instance.id, option, "", text, role) for option, text in enumerate(self.texts)]


@dataclass(frozen=True, slots=True)
class PreparedPart:
    """Instances with what is asked about them, on its way to the model; a batch is None where its question is not."""

    cases: list[TextsToScore]
    proposer: Proposer | None
    texts: Batch  # whole texts and neighbors, and the requests behind verdicts where they are read the same way
    verdicts: Batch | None  # those requests, where a chat template stands around them
    prompted: Batch | None  # whole texts as they stand after a prompt, where another token stands before these
    unseen: Batch | None  # whole texts after sentences that no corpus holds

    @property
    def batches(self) -> list[Batch]:
        """Those that there are."""
        return [batch for batch in (self.verdicts, self.texts, self.prompted, self.unseen) if batch]


def prepare(
    spec: RunSpec, resources: Resources, instances: Sequence[Instance], progress: Progress, ahead: bool
) -> PreparedPart:
    """Instances with their neighbors, and what is asked about them, encoded and packed already where `ahead`."""
    judged_by = accuracy_study.policy_of(spec)
    policy = chat.plain_text_policy(judged_by)  # texts and their neighbors are read as they stand
    scorer = response_cache.scorer(spec, resources)
    proposer = proposer_of(spec, resources)
    cases = build_cases(spec, resources, instances, proposer, progress)
    more = tuple(spec.settings.get("more", ()))
    # All in one batch: a text, its options' shared beginning and its neighbors are read once where they are the same.
    texts = [request for case in cases for request in (case.requests() if policy == judged_by else case.raw_requests())]
    verdict = [request for case in cases for request in case.verdict]
    apart = attacks.extraction_policy(scorer, policy)
    prepared = PreparedPart(
        cases=cases,
        proposer=proposer,
        texts=Batch(scorer, texts, policy, moments=MIN_K_PLUS in more),
        verdicts=None if policy == judged_by else Batch(scorer, verdict, judged_by),
        prompted=None if apart is None else Batch(scorer, [text for case in cases for text in case.prompted()], apart),
        unseen=Batch(scorer, after_unseen(cases), policy) if RECALL in more else None,
    )
    if ahead:
        for batch in prepared.batches:
            batch.prepare()
    return prepared


def score(spec: RunSpec, resources: Resources, prepared: PreparedPart, progress: Progress) -> PreparedPart:
    """The same, scored."""
    for batch in prepared.batches:
        of_part = progress if prepared.proposer is None else second_half(progress)
        batch.run(of_part if batch is prepared.texts else None)
    return prepared


def tables(spec: RunSpec, resources: Resources, scored: PreparedPart) -> Tables:
    """Rows of `variants`, `measures` and `scores`."""
    cases, proposer, judged_by = scored.cases, scored.proposer, accuracy_study.policy_of(spec)
    dtype = str(resources.model_record(spec.model, spec.dtype).get("dtype", ""))  # a server does not tell its own
    texts = iter(scored.texts.scores())
    verdict = iter(scored.verdicts.scores()) if scored.verdicts else texts
    prompted = iter(scored.prompted.scores()) if scored.prompted else None
    after = iter(scored.unseen.scores() if scored.unseen else ())
    for case in cases:
        case.scores = {"verdict": [next(verdict) for _ in case.verdict], TEXT: [next(texts) for _ in case.texts]}
        case.scores[NEIGHBOR] = [next(texts) for _ in case.neighbor_requests()]
        if prompted:
            case.scores[EXTRACTION] = [next(prompted) for _ in case.texts]
    more, min_k = tuple(spec.settings.get("more", ())), float(spec.settings["min_k"]) / 100
    labels_by = str(spec.settings.get("labels", "none"))
    counter = resources.counter(str(spec.settings.get("index", GLASSBOX))) if labels_by == INDEX else None
    rows: dict[str, list[Row]] = {"variants": [], "measures": []}
    for case in cases:
        rows["measures"] += further_measures(case, more, min_k, after)
        rows["measures"] += label_measures(case, counter) if counter else []
        if case.verdict:
            rows["measures"] += verdicts.judge(case.instance, case.scores["verdict"], judged_by, dtype)
        rows["measures"] += measures(case, min_k)
        if proposer is not None:
            rows["variants"] += variant_rows(case, proposer)
    return {**rows, "scores": score_rows(cases, tokens=bool(spec.settings["tokens"]))}


def may_overlap(spec: RunSpec, resources: Resources) -> bool:
    """Whether no second model makes neighbors while the first one scores, and that one runs here."""
    return int(spec.settings["neighbours"]) <= 0 and accuracy_study.is_on_this_machine(spec, resources)


def asks_only_for_scores(settings: Mapping[str, Any]) -> bool:
    """Whether nobody proposes words for neighbors, and no index is looked into."""
    return int(settings["neighbours"]) <= 0 and settings.get("labels", "none") != INDEX


STAGES = Stages(prepare, score, tables, may_overlap)
run_part = STAGES.run


def build_cases(
    spec: RunSpec, resources: Resources, instances: Sequence[Instance], proposer: Proposer | None, progress: Progress
) -> list[TextsToScore]:
    """What is asked of the model about each instance."""
    policy = accuracy_study.policy_of(spec)
    reason = "no neighbors were asked for"
    cases = [
        TextsToScore(
            instance,
            prompts.option_texts(instance),
            accuracy_study.build_requests(instance, policy) if instance.kind in JUDGED else [],
            reason,
        )
        for instance in instances
    ]
    if proposer is None:
        return cases
    with_neighbor_ids = with_neighbors(spec, resources)
    for case in cases:
        if case.instance.id not in with_neighbor_ids:
            case.neighbors = f"beyond the cap of {int(spec.settings['neighbours_cap']):,} instances a task"
    make_neighbors(spec, [case for case in cases if case.instance.id in with_neighbor_ids], proposer, progress)
    return cases


def make_neighbors(spec: RunSpec, chosen: Sequence[TextsToScore], proposer: Proposer, progress: Progress) -> None:
    """Gives each of these instances its neighbors, a few instances at a time, so that progress is told."""
    first, size = 0, 2
    while first < len(chosen):
        started = time.monotonic()
        part = chosen[first : first + size]
        sources = [Source(text, case.instance.id) for case in part for text in case.texts]
        neighbor_lists = iter(
            neighbors.make_neighbors(sources, proposer, count=int(spec.settings["neighbours"]), seed=spec.seed)
        )
        for case in part:
            case.neighbors = [next(neighbor_lists) for _ in case.texts]
        first += len(part)
        progress(first, 2 * len(chosen))
        if time.monotonic() - started < STEP_SECONDS:
            size *= 2


def plan(spec: RunSpec, resources: Resources, instances: Sequence[Instance]) -> list[Planned]:
    """What an endpoint will be asked: verdicts, whole texts, and neighbors, each about as long as its text."""
    policy, count = accuracy_study.policy_of(spec), int(spec.settings["neighbours"])
    with_neighbor_ids = with_neighbors(spec, resources) if count else frozenset()
    requests, changed = [], []
    for instance in instances:
        texts = [
            Request(instance.id, option, "", text, TEXT) for option, text in enumerate(prompts.option_texts(instance))
        ]
        requests += [*(accuracy_study.build_requests(instance, policy) if instance.kind in JUDGED else []), *texts]
        changed += texts if instance.id in with_neighbor_ids else []
    return [Planned(requests, 1), Planned(changed, 1, count)]


def second_half(progress: Progress) -> Progress:
    """Progress of the second of two equal pieces of work."""
    return lambda done, total: progress(total + done, 2 * total)


def proposer_of(spec: RunSpec, resources: Resources) -> Proposer | None:
    """Who proposes the words of a run's neighbors; none where it wants no neighbors."""
    if int(spec.settings["neighbours"]) <= 0:
        return None
    return resources.proposer(str(spec.settings["neighbours_by"]))


def with_neighbors(spec: RunSpec, resources: Resources) -> frozenset[str]:
    """Ids of the instances that get neighbors: at most `neighbours_cap` of each task, drawn by seed and id."""
    return resources.once(
        ("neighbors of", specs.run_id(spec)),
        lambda: sample_ids(selection.select(spec, resources), int(spec.settings["neighbours_cap"]), spec.seed),
    )


def sample_ids(instances: Sequence[Instance], cap: int, seed: int) -> frozenset[str]:
    """At most `cap` ids of each task (of each phenomenon or benchmark where the paper has no such task); 0 = all."""

    # By a hash of seed and id, not by position: the draw is the same in every order of the benchmark, on every machine
    # and in every part of a run, and a larger cap keeps those that a smaller one drew.
    def rank(instance: Instance) -> bytes:
        return hashlib.sha256(f"{seed}\x1f{instance.id}".encode("utf-8", "surrogatepass")).digest()

    tasks: dict[str, list[Instance]] = {}
    for instance in instances:
        tasks.setdefault(task_of(instance) or instance.phenomenon or instance.benchmark, []).append(instance)
    return frozenset(
        instance.id
        for members in tasks.values()
        for instance in (sorted(members, key=rank)[:cap] if cap > 0 else members)
    )


def measures(case: TextsToScore, min_k: float) -> list[Row]:
    """Rows of `measures` about each text of an instance."""
    whole = case.scores[TEXT]
    prompted = case.scores.get(EXTRACTION, whole)
    rows: list[Row] = []
    for option, text in enumerate(case.texts):
        near: list[Score] | str = (
            case.neighbors
            if isinstance(case.neighbors, str)
            else [score for score in case.scores[NEIGHBOR] if score.request.option == option]
        )
        rows += text_measures(case.instance.id, option, text, whole[option], prompted[option], near, min_k)
    return rows


def after_unseen(cases: Sequence[TextsToScore]) -> list[Request]:
    """Each text after sentences that no corpus holds, as ReCaLL asks for it."""
    return [
        Request(case.instance.id, option, UNSEEN, joined(UNSEEN, text)[1], "recall")
        for case in cases
        for option, text in enumerate(case.texts)
    ]


def further_measures(case: TextsToScore, more: Sequence[str], min_k: float, after: Iterator[Score]) -> list[Row]:
    """Rows of `measures` of the attacks that a run asks for beside the usual ones; `after` gives ReCaLL's scores."""
    rows: list[Row] = []
    for option, whole in enumerate(case.scores[TEXT]):
        signals = {MIN_K_PLUS: attacks.min_k_plus(whole, min_k)} if MIN_K_PLUS in more else {}
        if RECALL in more:
            signals[RECALL] = attacks.recall(attacks.loss(whole), attacks.loss(next(after)))
        rows += [
            measure_row(case.instance.id, name, signal.value, option=option, reason=signal.reason)
            for name, signal in signals.items()
        ]
    return rows


def label_measures(case: TextsToScore, counter: Counter) -> list[Row]:
    """Rows of `measures`: whether an index holds each text (`member`), and the share of its longest span there."""
    rows: list[Row] = []
    for option, trace in enumerate(verbatim.trace_texts(counter, case.texts)):
        reason = trace.reason or f"{trace.label}: one span holds {trace.longest:.0%} of it"
        for name, value in (("member", trace.member), ("verbatim_share", trace.longest)):
            gap_reason = reason if math.isnan(value) else ""
            rows.append(measure_row(case.instance.id, name, value, option=option, reason=gap_reason))
    return rows


def score_rows(cases: Sequence[TextsToScore], *, tokens: bool) -> Table:
    """Rows of `scores` of everything that was asked about these instances; neighbors without their tokens."""
    numbered = [pair for case in cases for pair in _numbered(case)]
    return score_table(
        [score for _, score in numbered],
        [number for number, _ in numbered],
        tokens=lambda score: tokens and score.request.role != NEIGHBOR,
    )


def _numbered(case: TextsToScore) -> Iterator[tuple[int, Score]]:
    """Every score of an instance with its number."""
    yield from enumerate(case.scores["verdict"])
    for role in (TEXT, EXTRACTION):
        yield from ((NUMBERS[role] + score.request.option, score) for score in case.scores.get(role, ()))
    for score in case.scores[NEIGHBOR]:
        yield NUMBERS[NEIGHBOR] + PER_OPTION * score.request.option + int(score.request.factors["part"]), score


def variant_rows(case: TextsToScore, proposer: Proposer) -> list[Row]:
    """Rows of `variants`: a row per neighbor, or one that says why a text has none."""
    rows: list[Row] = []
    if isinstance(case.neighbors, str):
        return rows
    for option, text_neighbors in enumerate(case.neighbors):
        for part, near in enumerate(text_neighbors):
            edit = {
                "option": option,
                "start": near.start,
                "original": near.original,
                "substitute": near.substitute,
                "logprob": near.logprob,
                "weights": proposer.record()["weights"],
            }
            rows.append(_variant(case, option, part, proposer, json.dumps(edit, ensure_ascii=False), ""))
        if not text_neighbors:
            rows.append(_variant(case, option, None, proposer, None, "no word of the text could be replaced"))
    return rows


def _variant(
    case: TextsToScore, option: int, part: int | None, proposer: Proposer, edit: str | None, reason: str
) -> Row:
    number = "none" if part is None else str(part)
    return {
        "instance_id": case.instance.id,
        "variant_id": f"{case.instance.id}#neighbour-{option}-{number}",
        "condition": NEIGHBOR,
        "setting": proposer.method,
        "part": part,
        "edit": edit,
        "accepted": not reason,
        "reason": reason,
        "payload": None,
    }


def select(spec: RunSpec, resources: Resources) -> list[Instance]:
    """The run's instances in benchmark order; UsageError where a setting cannot be meant."""
    if not 0 < float(spec.settings["min_k"]) <= 100:
        raise UsageError(f"The setting min_k got {spec.settings['min_k']}, expected a percentage above 0, up to 100.")
    return selection.select(spec, resources)


STUDY = Study(
    name="memorization",
    title="Memorization",
    question=QUESTIONS["memorization"],
    version=2,
    settings={**SETTINGS, **accuracy_study.SCORING, **selection.SELECTION},
    kinds=(*JUDGED, "text"),
    select=select,
    run_part=run_part,
    stages=STAGES,
    may_be_apart=asks_only_for_scores,
    summarize=findings.summarize,
    plan=plan,
    first_part=8,
)
