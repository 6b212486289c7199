"""Requests in, generations out, in the order asked: what prompts have in common at their start is read once.

Greedy answers equal those of transformers' plain `generate`, one at a time. A sampled answer depends on the seed and on
its own request alone, not on what stands beside it in a batch.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from explorer.records import Generation, Request
from explorer.scoring import hf_chat, thinking
from explorer.scoring.encode import why_unencodable
from explorer.scoring.engine.contract import Answer, Decoder, Ids, Progress, Stats, StopRules, Until
from explorer.scoring.engine.prefixes import Group, group
from explorer.scoring.score import reason_for_nan, why_unknown_token


class ModelGenerator:
    """A loaded model as a Generator; keeps what it has read, so that the next call's prompts can go on from there."""

    def __init__(self, model: Any, *, rows: int | None = None, decoder: Decoder | None = None) -> None:
        self.model = model
        self.name = model.name
        self.stats = Stats()
        self._decoder = decoder or _open_decoder(model, rows)
        self._eos: frozenset[int] = model.ends

    @property
    def decoder(self) -> Decoder:
        """What writes the answers and keeps the prefixes that were read."""
        return self._decoder

    def generate(
        self,
        requests: Sequence[Request],
        *,
        max_new_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
        until: Until | None = None,
        progress: Progress | None = None,
    ) -> list[Generation]:
        """What the model writes after each request, in the order asked; "" with a reason where it cannot.

        A request's own temperature, among its factors, goes before `temperature`; 0 is greedy. An answer ends before a
        text in `stop`, with the token that makes `until` true of the answer so far, at the model's end mark, or after
        `max_new_tokens`. What a reasoning model thinks before it answers is no part of the answer, and ends none.
        """
        prompts, reasons, opened = self._encode(requests)
        rules = {
            thinks: StopRules(
                self._eos,
                tuple(filter(None, stop)),
                until,
                lambda ids: "".join(self.model.decode(ids)),
                partial(thinking.where_answer_begins, opened=thinks),
            )
            for thinks in set(opened)
        }
        answers: dict[int, Answer] = {}
        for place, request in enumerate(requests):
            if reasons[place]:
                continue
            if why := why_unknown_token(self.model, prompts[place]):
                reasons[place] = why
                continue
            room = self.model.window - len(prompts[place])
            if room < 1:
                reasons[place] = (
                    f"{len(prompts[place]):,} tokens leave no room for an answer in the model's window of "
                    f"{self.model.window:,}"
                )
                continue
            request_temperature = float(request.factors.get("temperature", temperature))
            room_for_answer = min(max_new_tokens, room)
            draws = _random_numbers(request, seed, room_for_answer) if request_temperature > 0 else np.empty(0)
            answers[place] = Answer(prompts[place], room_for_answer, rules[opened[place]], request_temperature, draws)
        self._write(answers, progress, len(requests))
        dtype = self.model.record().get("dtype")
        return [
            thinking.split_thought(_generation(request, answers[place], dtype), opened=opened[place])
            if place in answers
            else Generation(request, "", reason=reasons[place])
            for place, request in enumerate(requests)
        ]

    def _write(self, answers: dict[int, Answer], progress: Progress | None, requests: int) -> None:
        places = list(answers)
        sequences = [answers[place].prompt for place in places]
        finished = requests - len(places)

        def done(count: int) -> None:
            nonlocal finished
            finished += count
            if progress:
                progress(finished, requests)

        if not places:
            return
        most = max(answer.max_new_tokens for answer in answers.values())
        for together in group(sequences, self._decoder.pass_tokens * most):
            members = [answers[places[member]] for member in together.members]
            self.stats.prompt_tokens += sum(len(answer.prompt) for answer in members)
            self._decoder.write(_prefix(sequences, together), members, self.stats, done)
            self.stats.new_tokens += sum(len(answer.ids) for answer in members)

    def _encode(self, requests: Sequence[Request]) -> tuple[list[Ids], list[str], list[bool]]:
        """The prompts as token ids, for each why it cannot be asked, or "", and whether it begins a thought."""
        texts, reasons = [], []
        for request in requests:
            text = self.prompt(request)
            reasons.append(why_unencodable(text))
            texts.append("" if reasons[-1] else text)
        encodings = self.model.encode_all([(text, "") for text in texts], "auto", "offsets")
        return (
            [encoding.ids for encoding in encodings],
            reasons,
            [thinking.prompt_opens_thought(text) for text in texts],
        )

    def prompt(self, request: Request) -> str:
        """The text that the model reads: a conversation in the form of the tokenizer's chat template, if it has one."""
        if request.conversation is None:
            return request.context
        return chat_text(self.model.tokenizer, request.conversation)


def chat_text(tokenizer: Any, turns: Sequence[tuple[str, str]]) -> str:
    """The turns as the model was taught to read them, up to where its answer begins; plain where it was taught none."""
    template = hf_chat.default_template(tokenizer)
    if not template:
        return "\n\n".join(text for _, text in turns)
    messages = [{"role": role, "content": text} for role, text in turns]
    return hf_chat.render(template, messages, tokenizer.special_tokens_map)


def _prefix(sequences: Sequence[Ids], together: Group) -> Ids:
    return sequences[together.members[0]][: together.depth]


def _random_numbers(request: Request, seed: int, count: int) -> np.ndarray:
    """Numbers in [0, 1) that depend on the seed and on the request alone."""
    # All random numbers are drawn before anything is written, from a generator of the request's own. So an answer does
    # not change with the batch it is in, with the order of requests, or when a run is resumed.
    key = f"{seed}/{request.instance_id}/{request.option}/{sorted(request.factors.items())}"
    chance = random.Random(key)
    return np.array([chance.random() for _ in range(count)])


def _generation(request: Request, answer: Answer, dtype: object) -> Generation:
    if answer.finish == "failed":
        return Generation(request, "", reason=reason_for_nan(dtype))
    return Generation(request, answer.text, tuple(answer.ids), answer.finish)


def _open_decoder(model: Any, rows: int | None) -> Decoder:
    from explorer.scoring.engine.decoder import open_decoder

    return open_decoder(model, rows)
