"""Requests in, generations out, in the order asked: what prompts have in common at their start is read once.

Greedy answers equal those of transformers' plain `generate`, one at a time. A sampled answer depends on the seed and on
its own request alone, not on what stands beside it in a batch.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from explorer.records import Generation, Request
from explorer.scoring import hf_chat, thinking
from explorer.scoring.encode import why_unencodable
from explorer.scoring.engine.contract import Answer, Decoder, Ids, Progress, Stats, StopRules, Until
from explorer.scoring.engine.prefixes import Group, group
from explorer.scoring.score import reason_for_nan, why_unknown_token


@dataclass(frozen=True, slots=True)
class PreparedAnswers:
    """Requests on their way through a generator; one without an answer in the making has a reason."""

    requests: Sequence[Request]
    reasons: Sequence[str]
    opened: Sequence[bool]  # whether the prompt begins a thought
    answers: Mapping[int, Answer]  # by the request's place
    groups: Sequence[tuple[Ids, list[Answer]]]  # what is written together, with the tokens that its prompts begin with


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
        prepared = self.prepare(
            requests, max_new_tokens=max_new_tokens, temperature=temperature, seed=seed, stop=stop, until=until
        )
        self.run(prepared, progress)
        return self.finish(prepared)

    # The same in three steps, of which only the second needs the model's device: while it writes some answers, another
    # thread may prepare the next requests and a third finish those before.
    def prepare(
        self,
        requests: Sequence[Request],
        *,
        max_new_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
        until: Until | None = None,
    ) -> PreparedAnswers:
        """Requests encoded, and grouped by what their prompts share; on the processor alone."""
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
        return PreparedAnswers(requests, reasons, opened, answers, self._groups(list(answers.values())))

    def run(self, prepared: PreparedAnswers, progress: Progress | None = None) -> None:
        """Has the model write the answers."""
        requests = len(prepared.requests)
        finished = requests - len(prepared.answers)

        def done(count: int) -> None:
            nonlocal finished
            finished += count
            if progress:
                progress(finished, requests)

        for prefix, members in prepared.groups:
            self.stats.prompt_tokens += sum(len(answer.prompt) for answer in members)
            self._decoder.write(prefix, members, self.stats, done)
            self.stats.new_tokens += sum(len(answer.ids) for answer in members)

    def finish(self, prepared: PreparedAnswers) -> list[Generation]:
        """What was written, in the order asked; on the processor alone."""
        dtype = self.model.record().get("dtype")
        return [
            thinking.split_thought(_generation(request, prepared.answers[place], dtype), opened=prepared.opened[place])
            if place in prepared.answers
            else Generation(request, "", reason=prepared.reasons[place])
            for place, request in enumerate(prepared.requests)
        ]

    def _groups(self, answers: Sequence[Answer]) -> list[tuple[Ids, list[Answer]]]:
        """The answers that are written together, each time with what their prompts begin with."""
        if not answers:
            return []
        most = max(answer.max_new_tokens for answer in answers)
        prompts = [answer.prompt for answer in answers]
        return [
            (_prefix(prompts, together), [answers[member] for member in together.members])
            for together in group(prompts, self._decoder.pass_tokens * most)
        ]

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
