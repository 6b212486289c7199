"""Requests in, scores out, in the order asked: encode, merge shared prefixes, run the model, map back."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from explorer import __version__
from explorer.errors import ScoringError
from explorer.records import PackedRow, Request, Score
from explorer.scoring import hf_chat
from explorer.scoring.encode import why_unencodable
from explorer.scoring.engine import tree as engine_tree
from explorer.scoring.model import Encoding, LanguageModel, Progress, RowScores, Scorer
from explorer.scoring.policy import ENCODER_DECODER_PRESETS, PLL, PRESETS, ScoringPolicy

Truncate = Literal["error", "left"]
STRETCH_CHARACTERS = 1 << 21  # characters encoded and packed at once
NO_FIRST = "nothing stands before the only token (no BOS)"
Encoded = tuple[Encoding, int]  # and how many context tokens were cut


def score(
    model: LanguageModel,
    requests: Sequence[Request],
    policy: ScoringPolicy = PRESETS["natural"],
    progress: Progress | None = None,
    *,
    token_budget: int | None = None,
    truncate: Truncate = "error",
    moments: bool = False,
) -> list[Score]:
    """log P(continuation | context) of each request, token by token, in nats; nan with a reason where there is none.

    Progress counts requests. `token_budget` bounds the tokens of one forward pass; the numbers do not depend on it.
    A request longer than the model's window gets a reason, or with truncate="left" loses the first tokens of its
    context (never a BOS that the policy put there), and says how many. With `moments` a score also holds, for each
    token, the mean and the standard deviation of log P over the vocabulary at its place.
    """
    options: dict[str, Any] = {} if token_budget is None else {"token_budget": token_budget}
    options |= {"moments": True} if moments else {}
    finished: list[Future[list[Score]]] = []
    done = 0
    # While the model is busy with one stretch of requests, the next is encoded and the last is put together. One
    # thread does both in the order given, so that the model never waits for a stretch because an older one is finished.
    with ThreadPoolExecutor(1) as beside:
        stretches = list(_stretches(requests))
        prepared_next = [beside.submit(_prepare, model, stretch, policy, truncate) for stretch in stretches[:1]]
        for number, stretch in enumerate(stretches):
            prepared = prepared_next.pop().result()
            if number + 1 < len(stretches):
                prepared_next.append(beside.submit(_prepare, model, stretches[number + 1], policy, truncate))
            rows = model.logprobs(
                prepared.packing.rows, _progress_in_requests(progress, done, len(stretch), requests), **options
            )
            finished.append(beside.submit(assemble_scores, model, prepared, rows))
            done += len(stretch)
        scores = [score for part in finished for score in part.result()]
    if progress:
        progress(len(requests), len(requests))
    return scores


class TargetTokens(NamedTuple):
    """The continuation's tokens of an encoded request, and how many context tokens were cut."""

    ids: tuple[int, ...]
    straddles: bool
    cut: int


@dataclass(frozen=True, slots=True)
class PreparedRequests:
    """Requests encoded, fitted to the window and packed; a request without an entry in `targets` has a reason."""

    requests: Sequence[Request]
    reasons: Sequence[str]
    targets: dict[int, TargetTokens]
    packing: engine_tree.Packing


def _stretches(requests: Sequence[Request]) -> Iterator[Sequence[Request]]:
    """The requests in stretches of about STRETCH_CHARACTERS, an instance's requests together."""
    first = size = 0
    for i, request in enumerate(requests):
        if size > STRETCH_CHARACTERS and request.instance_id != requests[i - 1].instance_id:
            yield requests[first:i]
            first, size = i, 0
        size += len(request.context) + len(request.continuation)
    if requests:
        yield requests[first:]


def _prepare(
    model: LanguageModel, requests: Sequence[Request], policy: ScoringPolicy, truncate: Truncate
) -> PreparedRequests:
    if policy.preset == PLL:
        raise ScoringError(
            f"{model.name} is no masked language model, which the preset {PLL} (pseudo-log-likelihood) is for. Choose "
            "the preset natural for it."
        )
    if policy.preset in ENCODER_DECODER_PRESETS:
        raise ScoringError(
            f"{model.name} is no encoder-decoder model, which the preset {policy.preset} is for. Choose the preset "
            "natural for it."
        )
    requests = hf_chat.render_requests(model, requests) if policy.chat else requests
    reasons = [why_unscorable(request) for request in requests]
    pairs = [policy.move(request.context, request.continuation) for request in requests]
    scorable = [i for i, reason in enumerate(reasons) if not reason]
    encodings = _encode(model, [pairs[i] for i in scorable], policy)
    fitted: dict[int, Encoded] = {}
    for i, encoding in zip(scorable, encodings, strict=True):
        fitting = why_unknown_token(model, encoding.ids) or _fit_window(encoding, model.window, truncate)
        if isinstance(fitting, str):
            reasons[i] = fitting
        else:
            fitted[i] = fitting
    sequences = [encoding for encoding, _ in fitted.values()]
    row_tokens = getattr(model, "row_tokens", engine_tree.ROW_TOKENS)
    packing = engine_tree.pack([e.ids for e in sequences], [e.start for e in sequences], row_tokens)
    # Contexts are in the packed rows now; kept here once more, they would be most of the memory of a long part.
    targets = {i: TargetTokens(e.ids[e.start :], e.straddles, cut) for i, (e, cut) in fitted.items()}
    return PreparedRequests(requests, reasons, targets, packing)


def assemble_scores(model: LanguageModel, prepared: PreparedRequests, rows: Sequence[RowScores]) -> list[Score]:
    """The scores of prepared requests from the rows that the model scored, all looked up at once."""
    places, sizes = prepared.packing.places, [len(place.slots) for place in prepared.packing.places]
    # The scored tokens of all rows one after another, and behind them what a token has that nothing stands before.
    logprobs = np.concatenate([*(row.logprobs for row in rows), [math.nan]])
    greedy = np.concatenate([*(row.greedy for row in rows), [False]]).astype(bool)
    first = np.concatenate([[0], np.cumsum([len(row.logprobs) for row in rows])]).astype(np.int64)
    slots = np.concatenate([place.slots for place in places]) if places else np.empty(0, dtype=np.int64)
    is_scored = slots >= 0
    at = np.where(is_scored, slots + np.repeat(first[[place.row for place in places]], sizes), len(logprobs) - 1)
    values, likeliest = logprobs[at], greedy[at]
    spread = [
        np.concatenate([*(getattr(row, name) for row in rows), [math.nan]])[at].tolist()
        for name in ("means", "deviations")
        if rows and all(getattr(row, name) is not None for row in rows)
    ]
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    def within(flags: np.ndarray) -> list[int]:
        """How many of each request's tokens are flagged."""
        before = np.concatenate([[0], np.cumsum(flags)])
        return list((before[ends[1:]] - before[ends[:-1]]).tolist())

    scored, broken, likely = within(is_scored), within(is_scored & np.isnan(values)), within(likeliest)
    all_values, all_likeliest, bounds = values.tolist(), likeliest.tolist(), ends.tolist()
    scores: list[Score] = []
    number = 0
    no_answer = reason_for_nan(model.record().get("dtype")) if any(broken) else ""
    for i, (request, reason) in enumerate(zip(prepared.requests, prepared.reasons, strict=True)):
        if (target := prepared.targets.get(i)) is None:
            scores.append(score_with_reason(request, reason))
            continue
        start, end = bounds[number], bounds[number + 1]
        why = NO_FIRST if not scored[number] else no_answer if broken[number] else ""
        chars, size = _size(request)
        scores.append(
            Score(
                request=request,
                tokens=model.decode(target.ids),
                token_ids=target.ids,
                logprobs=tuple(all_values[start:end]),
                chars=chars,
                bytes=size,
                greedy=likely[number] == scored[number] and not why,
                straddles=target.straddles,
                truncated=target.cut,
                reason=why,
                likeliest=tuple(all_likeliest[start:end]),
                **{name: tuple(each[start:end]) for name, each in zip(("means", "deviations"), spread, strict=False)},
            )
        )
        number += 1
    return scores


class ModelScorer:
    """A language model as a Scorer."""

    def __init__(self, model: LanguageModel, *, token_budget: int | None = None, truncate: Truncate = "error") -> None:
        self.model = model
        self.name = model.name
        self.token_budget = token_budget
        self.truncate: Truncate = truncate

    def begin(
        self, rows: Sequence[PackedRow], *, moments: bool = False
    ) -> Callable[[Progress | None], Sequence[RowScores]]:
        """What gives the scores of packed rows; a model in a process of its own begins with them now."""
        options: dict[str, Any] = {} if self.token_budget is None else {"token_budget": self.token_budget}
        options |= {"moments": True} if moments else {}
        begin = getattr(self.model, "begin", None)
        return begin(rows, **options) if begin else lambda progress: self.model.logprobs(rows, progress, **options)

    def score(
        self,
        requests: Sequence[Request],
        policy: ScoringPolicy = PRESETS["natural"],
        progress: Progress | None = None,
    ) -> list[Score]:
        """Scores in the order asked."""
        return score(self.model, requests, policy, progress, token_budget=self.token_budget, truncate=self.truncate)

    def score_with_moments(
        self, requests: Sequence[Request], policy: ScoringPolicy, progress: Progress | None = None
    ) -> list[Score]:
        """The same with mean and standard deviation of log P over the vocabulary at each token's place."""
        return score(
            self.model, requests, policy, progress, token_budget=self.token_budget, truncate=self.truncate,
            moments=True,
        )  # fmt: skip


class Batch:
    """Requests on their way through a scorer in three steps, of which only the second needs the model's device.

    Where the scorer is no model on this machine, or `prepare` was left out, the second step is all of them. With
    `moments` scores hold those that `score` describes, where a model on this machine can tell them.
    """

    def __init__(
        self, scorer: Scorer, requests: Sequence[Request], policy: ScoringPolicy, *, moments: bool = False
    ) -> None:
        self.requests = requests
        self._moments = moments and isinstance(scorer, ModelScorer)
        self._scorer = scorer
        self._policy = policy
        self._prepared: list[PreparedRequests] | None = None
        self._row_scores: list[Sequence[RowScores]] = []
        self._waiting: list[Callable[[Progress | None], Sequence[RowScores]]] = []  # asked for already
        self._scores: list[Score] | None = None

    def prepare(self) -> None:
        """Encodes and packs; on the processor alone."""
        if isinstance(scorer := self._scorer, ModelScorer):
            self._prepared = []
            for stretch in _stretches(self.requests):
                prepared = _prepare(scorer.model, stretch, self._policy, scorer.truncate)
                self._prepared.append(prepared)
                self._waiting.append(scorer.begin(prepared.packing.rows, moments=self._moments))
                if hasattr(scorer.model, "begin"):
                    prepared.packing.rows.clear()  # they are with the other process now

    def run(self, progress: Progress | None = None) -> None:
        """Asks the model."""
        if self._prepared is None or not isinstance(self._scorer, ModelScorer):
            ask: Callable[..., list[Score]] = self._scorer.score
            if self._moments and isinstance(self._scorer, ModelScorer):
                ask = self._scorer.score_with_moments
            self._scores = ask(self.requests, self._policy, progress)
            return
        done = 0
        for prepared, take in zip(self._prepared, self._waiting, strict=True):
            stretch = len(prepared.requests)
            self._row_scores.append(take(_progress_in_requests(progress, done, stretch, self.requests)))
            done += stretch

    def scores(self) -> list[Score]:
        """The scores in the order asked; on the processor alone."""
        if self._scores is None:
            assert self._prepared is not None and isinstance(self._scorer, ModelScorer)
            parts = zip(self._prepared, self._row_scores, strict=True)
            self._scores = [
                score for prepared, rows in parts for score in assemble_scores(self._scorer.model, prepared, rows)
            ]
        return self._scores


def policy_record(model: LanguageModel, policy: ScoringPolicy) -> dict[str, str | int]:
    """Everything that can change a score: model, weights, tokenizer, dtype, device, policies, package version."""
    return {**model.record(), **dataclasses.asdict(policy), "lexiscope": __version__}


def reason_for_nan(dtype: object) -> str:
    """What is said where a model of this dtype gives no number; shorter formats than float32 may be the cause."""
    return "the model gave no number" if dtype == "float32" else "the model gave no number; try --dtype float32"


def why_unknown_token(model: object, ids: Sequence[int]) -> str:
    """Why a model that knows fewer tokens than its tokenizer cannot read these ids, or ""."""
    words = getattr(model, "words", 0)
    return "the text has a token that the model does not know" if words and max(ids, default=0) >= words else ""


def why_unscorable(request: Request) -> str:
    """Why a request cannot be scored whatever the model, or ""."""
    if request.conversation is not None:
        return "a conversation can be answered, not scored"
    if not request.continuation:
        return "the continuation is empty"
    return why_unencodable(request.context) or why_unencodable(request.continuation)


def _encode(model: LanguageModel, pairs: Sequence[tuple[str, str]], policy: ScoringPolicy) -> list[Encoding]:
    encode_all = getattr(model, "encode_all", None)  # fast tokenizers take many texts at once
    if encode_all:
        return encode_all(pairs, policy.bos, policy.split)
    return [model.encode(context, continuation, policy.bos, policy.split) for context, continuation in pairs]


def _fit_window(encoding: Encoding, window: int, truncate: Truncate) -> Encoded | str:
    """The encoding and how many tokens it lost, or why it cannot be scored."""
    if encoding.start >= len(encoding.ids):
        return "no token of the joint encoding belongs to the continuation"
    # The last token is predicted, never read: it needs no place in the window.
    extra = len(encoding.ids) - 1 - window
    if extra <= 0:
        return encoding, 0
    if truncate == "error":
        return f"{len(encoding.ids):,} tokens, more than the model's window of {window:,}"
    if extra > encoding.start - max(encoding.bos, 1):
        return f"the continuation alone is longer than the model's window of {window:,} tokens"
    ids = encoding.ids[: encoding.bos] + encoding.ids[encoding.bos + extra :]
    return dataclasses.replace(encoding, ids=ids, start=encoding.start - extra), extra


def score_with_reason(request: Request, reason: str) -> Score:
    """The score of a request that has none, with the reason."""
    chars, size = _size(request)
    return Score(request, (), (), (), chars=chars, bytes=size, greedy=False, straddles=False, reason=reason)


def _size(request: Request) -> tuple[int, int]:
    """Characters and UTF-8 bytes of the continuation as the caller gave it, without its delimiter blank."""
    text = request.continuation.removeprefix(" ")
    return len(text), len(text.encode("utf-8", "surrogatepass"))


def _progress_in_requests(
    progress: Progress | None, before: int, stretch: int, requests: Sequence[Request]
) -> Progress | None:
    if progress is None:
        return None
    return lambda done, rows: progress(before + stretch * done // max(rows, 1), len(requests))
