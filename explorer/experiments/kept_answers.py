"""Answers of an endpoint kept in a run's folder as they come, so that nothing is asked, or paid for, twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from explorer.records import Generation, Request
from explorer.scoring.http import Endpoint
from explorer.scoring.model import Progress

FILE = "answers.jsonl"


class KeptAnswers:
    """Asks an endpoint for what the folder does not hold yet."""

    def __init__(self, endpoint: Endpoint, folder: Path) -> None:
        self.endpoint = endpoint
        self.path = folder / FILE
        self._known = _read(self.path)

    def generate(
        self, requests: Sequence[Request], *, max_new_tokens: int, seed: int = 0, progress: Progress | None = None
    ) -> list[Generation]:
        """What the model answered to each request, in the order asked, now or before; a refusal is asked for again."""
        keys = [_key(request, max_new_tokens, seed) for request in requests]
        missing = [place for place, key in enumerate(keys) if key not in self._known]
        refused: dict[int, Generation] = {}
        with self.path.open("a", encoding="utf-8") as file:

            def keep(place: int, answer: Generation) -> None:
                if answer.reason:
                    refused[missing[place]] = answer
                    return
                key = keys[missing[place]]
                self._known[key] = kept = (answer.text, answer.finish, answer.token_ids)
                file.write(json.dumps([key, *kept], ensure_ascii=True) + "\n")
                file.flush()

            self.endpoint.generate(
                [requests[place] for place in missing],
                max_new_tokens=max_new_tokens,
                seed=seed,
                progress=lambda done, _: (
                    progress(len(requests) - len(missing) + done, len(requests)) if progress else None
                ),
                on_answer=keep,
            )
        return [
            refused[place] if place in refused else _generation(request, *self._known[key])
            for place, (request, key) in enumerate(zip(requests, keys))
        ]


def _generation(request: Request, text: str, finish: str, ids: Sequence[int]) -> Generation:
    return Generation(request, text, tuple(ids), finish)


def _key(request: Request, max_new_tokens: int, seed: int) -> str:
    asked = [
        request.instance_id, request.option, request.role, sorted(request.factors.items()), request.context,
        request.conversation, max_new_tokens, seed,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:24]


def _read(path: Path) -> dict[str, tuple[str, str, Sequence[int]]]:
    """The answers in the file; a half-written last line is left out."""
    known = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                key, text, finish, ids = json.loads(line)
            except ValueError:
                continue
            known[key] = (text, finish, ids)
    return known
