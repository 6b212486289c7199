"""Answers of an endpoint kept in a run's folder as they come, so that nothing is asked, or paid for, twice."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from explorer.records import Generation, Request, RunSpec, Score
from explorer.runs.folder import RunFolder
from explorer.scoring import thinking
from explorer.scoring.http import Endpoint
from explorer.scoring.model import Progress, Scorer
from explorer.scoring.policy import PRESETS, ScoringPolicy

if TYPE_CHECKING:
    from explorer.resources import Resources

FILE = "answers.jsonl"
NOT_OF_ENDPOINT = ("request", "reason", "means", "deviations")  # not of an endpoint's answer
# Kept of a written answer; lines of before thoughts were told apart have the first three alone.
GENERATION_FIELDS = ("text", "finish", "token_ids", "thought", "reason")
PLAIN_FIELDS = 3
CONTEXT_READ = "context"  # kept of a scored conversation, too: what the server read, as it wrote it
SCORE_FIELDS = tuple(field.name for field in dataclasses.fields(Score) if field.name not in NOT_OF_ENDPOINT)

T = TypeVar("T", Generation, Score)
OnAnswer = Callable[[int, Any], None]
Ask = Callable[[list[Request], Progress, OnAnswer], object]


class CachedAnswers:
    """Asks an endpoint for what the folder does not hold yet; both a Generator and a Scorer."""

    def __init__(self, endpoint: Endpoint, folder: Path) -> None:
        self.endpoint = endpoint
        self.name = endpoint.name
        self.path = folder / FILE
        self._known = _read_answers(self.path)

    def generate(
        self, requests: Sequence[Request], *, max_new_tokens: int, seed: int = 0, progress: Progress | None = None
    ) -> list[Generation]:
        """What the model answered to each request, in the order asked, now or before; a refusal is asked for again."""

        def request_missing(missing: list[Request], tell: Progress, keep: OnAnswer) -> None:
            self.endpoint.generate(missing, max_new_tokens=max_new_tokens, seed=seed, progress=tell, on_answer=keep)

        # Draws at one temperature are told apart by what they are asked for.
        keys = [
            _key(request, request.instance_id, request.option, request.role, sorted(request.factors.items()),
                 max_new_tokens, seed)
            for request in requests
        ]  # fmt: skip
        return self._ask_missing(_kept_generation, GENERATION_FIELDS, requests, keys, request_missing, progress)

    def score(
        self,
        requests: Sequence[Request],
        policy: ScoringPolicy = PRESETS["natural"],
        progress: Progress | None = None,
    ) -> list[Score]:
        """The log-probabilities of each request's continuation, in the order asked, now or before."""

        def request_missing(missing: list[Request], tell: Progress, keep: OnAnswer) -> None:
            self.endpoint.score(missing, policy, tell, keep)

        keys = [_key(request, "score", request.continuation, policy.key) for request in requests]
        if policy.chat:
            return self._ask_missing(
                _kept_score, (*SCORE_FIELDS, CONTEXT_READ), requests, keys, request_missing, progress
            )
        return self._ask_missing(Score, SCORE_FIELDS, requests, keys, request_missing, progress)

    # An endpoint's answers are written the moment they come, one line each, since every one may have cost money. A kill
    # can cut the last line short. The next process then begins a new line first, so that the torn one spoils itself
    # alone:
    #
    #     ["a1b2", "GO:0008150", "stop", []]
    #     ["c3d4", "GO:00                        torn by a kill: read as damaged, left out, asked for again
    #     ["e5f6", "GO:0003674", "stop", []]
    #
    # Requests with the same key are asked once. A refusal is not written: it may be gone at the next try.
    def _ask_missing(
        self,
        build: Callable[..., T],
        fields: Sequence[str],
        requests: Sequence[Request],
        keys: Sequence[str],
        ask: Ask,
        progress: Progress | None,
    ) -> list[T]:
        missing = {key: request for key, request in zip(keys, requests, strict=False) if key not in self._known}
        names = list(missing)
        done_before = len(requests) - len(missing)
        refused: dict[str, T] = {}
        with self.path.open("a", encoding="utf-8") as file:
            if file.tell() and not _ends_a_line(self.path):
                file.write("\n")  # what a killed process left half written spoils no answer but its own

            def keep_answer(place: int, answer: T) -> None:
                key = names[place]
                # An answer that is all thought was given, and paid for; what was refused may be had another time.
                if answer.reason and not getattr(answer, "thought", ""):
                    refused[key] = answer
                    return
                values: list[Any] = [
                    answer.request.context if name == CONTEXT_READ else getattr(answer, name) for name in fields
                ]
                if isinstance(answer, Generation) and not answer.thought:
                    values = values[:PLAIN_FIELDS]
                self._known[key] = values
                file.write(json.dumps([key, *values], ensure_ascii=True) + "\n")
                file.flush()

            def report(done: int, _: int) -> None:
                if progress:
                    progress(done_before + done, len(requests))

            ask(list(missing.values()), report, keep_answer)
        return [
            dataclasses.replace(refused[key], request=request)
            if key in refused
            else build(request, **dict(zip(fields, _lists_as_tuples(self._known[key]), strict=False)))
            for request, key in zip(requests, keys, strict=False)
        ]


def cached_endpoint(spec: RunSpec, resources: Resources, endpoint: Endpoint) -> CachedAnswers:
    """What this run was answered, and the endpoint for the rest."""
    folder = RunFolder.create(resources.settings.runs, spec)
    return resources.once(("kept answers", folder.run_id), lambda: CachedAnswers(endpoint, folder.path))


def scorer(spec: RunSpec, resources: Resources) -> Scorer:
    """The run's model as a scorer; what an endpoint answers is kept in the run's folder."""
    model = resources.scorer(spec.model, spec.dtype)
    return cached_endpoint(spec, resources, model) if isinstance(model, Endpoint) else model


def _kept_generation(request: Request, **values: Any) -> Generation:
    """A kept answer; one of before thoughts were told apart, without its thought."""
    generation = Generation(request, **values)
    if generation.thought or generation.reason:
        return generation
    return thinking.split_thought(
        generation, opened=request.conversation is None and thinking.prompt_opens_thought(request.context)
    )


def _kept_score(request: Request, *, context: str, **values: Any) -> Score:
    """A kept score of an answer in a conversation, with what the server read before it."""
    return Score(dataclasses.replace(request, context=context, conversation=None), **values)


def _lists_as_tuples(values: Sequence[Any]) -> list[Any]:
    return [tuple(value) if isinstance(value, list) else value for value in values]


def _key(request: Request, *about: Any) -> str:
    # What the server reads is always part of the key, and `about` what tells one answer to it from another: the scored
    # continuation, or the item, option and seed of a drawn one.
    return hashlib.sha256(json.dumps([request.context, request.conversation, *about]).encode()).hexdigest()[:24]


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"\n"


def _read_answers(path: Path) -> dict[str, list[Any]]:
    """The answers in the file; a half-written last line is left out, and a damaged one."""
    known = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError, TypeError, RecursionError):
                key, *values = json.loads(line)
                if isinstance(key, str) and len(values) in (
                    PLAIN_FIELDS,
                    len(GENERATION_FIELDS),
                    len(SCORE_FIELDS),
                    len(SCORE_FIELDS) + 1,
                ):
                    known[key] = values
    return known
