"""Masked language models (BERT, RoBERTa) scored by pseudo-log-likelihood, a convention with a name of its own.

A masked model has no probability of a text from left to right. What it has is the probability of one token given all
others, on both sides. Summed over the tokens this is the pseudo-log-likelihood (Salazar et al. 2020). A word of several
tokens then comes out far too likely: with "souvenir" as so ##uven ##ir, each piece is all but told by the other two. So
the later pieces of the same word are masked, too (Kauf and Ivanova 2023, "within-word left-to-right"; minicons calls it
within_word_l2r):

    the so ##uven ##ir     what the model reads when it is asked for
    the [M] [M]   [M]      so
    the so  [M]   [M]      ##uven
    the so  ##uven [M]     ##ir

After a context only the continuation's tokens are masked and counted; the context is read as it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from explorer.errors import ScoringError
from explorer.records import Request, Score
from explorer.scoring import hf_load
from explorer.scoring.encode import TextEncoder
from explorer.scoring.hf_batches import pad_rows, progress_in_requests, run_in_batches
from explorer.scoring.hf_load import Kind, describe
from explorer.scoring.hf_source import Source
from explorer.scoring.model import Progress
from explorer.scoring.policy import PLL, PRESETS, ScoringPolicy
from explorer.scoring.score import reason_for_nan, score_with_reason, why_unknown_token, why_unscorable

METHOD = "pseudo-log-likelihood, within-word left-to-right (Kauf and Ivanova 2023)"


class MaskedLM:
    """A loaded masked language model; safe to call from several threads."""

    def __init__(self, source: Source, model: Any, tokenizer: Any, dtype: str) -> None:
        import threading

        self.source = source
        self.name = source.name
        self.model = model
        self.tokenizer = tokenizer
        self.encoder = TextEncoder(tokenizer)
        self.dtype = dtype
        self.lock = threading.Lock()
        self.words = hf_load.known_tokens(model, tokenizer)
        # RoBERTa counts positions from the number of its padding token on.
        max_positions = int(getattr(model.config, "max_position_embeddings", 0) or 1 << 20)
        first = (model.config.pad_token_id or 0) + 1 if "roberta" in str(model.config.model_type) else 0
        self.window = min(max_positions - first, int(min(tokenizer.model_max_length, 1 << 20)))

    def record(self) -> dict[str, str | int]:
        """What identifies the model, and how it scores."""
        return describe(self, {"scores": METHOD})

    def logprobs(self, rows: Sequence[Row], progress: Progress | None = None) -> list[tuple[float, bool]]:
        """Of each row the log-probability (nats) of the wanted token in its place, and whether it was the likeliest."""
        return run_in_batches(rows, lambda row: len(row.ids), self._batch, self.model.device, self.lock, progress)

    @torch.inference_mode()
    def _batch(self, rows: Sequence[Row]) -> list[tuple[float, bool]]:
        device = self.model.device
        ids, mask = pad_rows([row.ids for row in rows], self.tokenizer.pad_token_id or 0, device)
        logits = self.model(input_ids=ids, attention_mask=mask).logits
        places = torch.tensor([row.place for row in rows], device=device)
        at_place = logits[torch.arange(len(rows), device=device), places].float()
        target_ids = torch.tensor([row.token for row in rows], device=device)
        logprobs = at_place.log_softmax(-1).gather(1, target_ids[:, None])[:, 0]
        likeliest = at_place.argmax(-1) == target_ids
        return list(zip(logprobs.tolist(), likeliest.tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class Row:
    """A text's tokens, some of them masked, and the token that is asked for at a place."""

    ids: tuple[int, ...]
    place: int
    token: int


@dataclass(frozen=True, slots=True)
class _Text:
    """A request's tokens: `first` is the continuation's first one, `words` the word of each (None for marks)."""

    ids: tuple[int, ...]
    words: tuple[int | None, ...]
    spans: tuple[tuple[int, int], ...]
    continuation_places: tuple[int, ...]  # places of the continuation's tokens


class MaskedScorer:
    """A masked language model as a Scorer, under the preset `pll` alone."""

    def __init__(self, model: MaskedLM) -> None:
        self.model = model
        self.name = model.name

    def score(
        self,
        requests: Sequence[Request],
        policy: ScoringPolicy = PRESETS["natural"],
        progress: Progress | None = None,
    ) -> list[Score]:
        """Pseudo-log-likelihoods of the continuations, token by token in nats, in the order asked."""
        if policy.preset != PLL:
            raise ScoringError(
                f"{self.name} is a masked language model: it has no probability of a text from left to right, which "
                f"the preset {policy.preset} asks for. Choose the preset {PLL} (pseudo-log-likelihood), or a causal "
                "model."
            )
        texts = [self._encode_text(request, policy) for request in requests]
        rows = [row for text in texts if isinstance(text, _Text) for row in self._masked_rows(text)]
        answers = iter(self.model.logprobs(rows, progress_in_requests(progress, len(requests))))
        return [
            score_with_reason(request, text)
            if isinstance(text, str)
            else self._as_score(request, policy, text, [next(answers) for _ in text.continuation_places])
            for request, text in zip(requests, texts, strict=True)
        ]

    def _encode_text(self, request: Request, policy: ScoringPolicy) -> _Text | str:
        """The request's tokens, or why it cannot be scored."""
        if why := why_unscorable(request):
            return why
        context, continuation = policy.move(request.context, request.continuation)
        encoded = self.model.tokenizer(context + continuation, return_offsets_mapping=True, truncation=False)
        ids, words = tuple(encoded["input_ids"]), tuple(encoded.word_ids())
        spans = tuple((int(start), int(end)) for start, end in encoded["offset_mapping"])
        # RoBERTa's spans leave blanks out, so that a token which is nothing but a blank has an empty one.
        continuation_places = tuple(
            place
            for place, (_, end) in enumerate(spans)
            if words[place] is not None and (end > len(context) or not context)
        )
        if why := why_unknown_token(self.model, ids):
            return why
        if len(ids) > self.model.window:
            return f"{len(ids):,} tokens, more than the model's window of {self.model.window:,}"
        return (
            _Text(ids, words, spans, continuation_places)
            if continuation_places
            else "no token of the joint encoding belongs to the continuation"
        )

    def _masked_rows(self, text: _Text) -> list[Row]:
        # One row per token: the model reads the whole text each time, with this token masked and the later tokens of
        # the same word. Earlier tokens of the word stay visible, which is what "left-to-right within a word" means.
        rows = []
        for place in text.continuation_places:
            ids = list(text.ids)
            for later in range(place, len(ids)):
                if text.words[later] == text.words[place]:
                    ids[later] = self.model.tokenizer.mask_token_id
            rows.append(Row(tuple(ids), place, text.ids[place]))
        return rows

    def _as_score(
        self, request: Request, policy: ScoringPolicy, text: _Text, answers: Sequence[tuple[float, bool]]
    ) -> Score:
        context, continuation = policy.move(request.context, request.continuation)
        whole = context + continuation
        counted = request.continuation.removeprefix(" ")
        logprobs = tuple(logprob for logprob, _ in answers)
        likeliest = tuple(top for _, top in answers)
        broken = reason_for_nan(self.model.dtype) if np.isnan(logprobs).any() else ""
        return Score(
            request=request,
            tokens=_texts(whole, len(context), [text.spans[place] for place in text.continuation_places]),
            token_ids=tuple(text.ids[place] for place in text.continuation_places),
            logprobs=logprobs,
            chars=len(counted),
            bytes=len(counted.encode("utf-8")),
            greedy=all(likeliest) and not broken,
            straddles=text.spans[text.continuation_places[0]][0] < len(context),
            reason=broken,
            likeliest=likeliest,
        )


KIND = Kind(
    loader="AutoModelForMaskedLM",
    called="a masked language model",
    weights="a trained head",
    needs="a mask token and a fast tokenizer",
    has_needs=lambda model, tokenizer: tokenizer.mask_token_id is not None,
    otherwise="no token can be asked for. Choose a model that was trained to fill gaps, for example "
    "FacebookAI/roberta-base.",
)


def _texts(whole: str, first: int, spans: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """Each token's part of the text with the blanks before it, which no span holds, so that they add up to the text.

    A character that is spread over several tokens is given by the last of them.
    """
    begin = min(first, spans[0][0])
    texts = []
    for place, (_, end) in enumerate(spans):
        goes_on = place + 1 < len(spans) and spans[place + 1] == spans[place]
        texts.append("" if goes_on else whole[begin:end])
        begin = begin if goes_on else max(begin, end)
    return tuple(texts)


def load(source: Source, device: str = "auto", dtype: str = "auto") -> MaskedLM:
    """The masked model whose files these are; ModelError where they hold none that can be asked."""
    return MaskedLM(source, *hf_load.load(source, KIND, device, dtype))
