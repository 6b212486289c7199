"""Models of an encoder and a decoder (T5, BART) scored by their decoder, under two conventions with names of their own.

Such a model writes one text for another that it has read whole. Its decoder has a probability for each token it writes,
given those before it and the source; so what is scored depends on what the source is, and that is said by the preset:

    preset     the encoder reads              the decoder is given                 scored
    seq2seq    the context                    start                                the continuation
    decoder    an empty text                  start, the context                   the continuation

`seq2seq` is what the models were made for, and what lm-evaluation-harness does with them; a sentence without a context
has an empty source under both. `start` is the token that the configuration names, and behind it what the tokenizer puts
first (BART's <s>). The end of the text is not scored, as in causal models. A source is written as the tokenizer writes
one, with the </s> behind it that a T5 expects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from explorer.errors import ScoringError
from explorer.records import Request, Score
from explorer.scoring import hf_kind, hf_load
from explorer.scoring.encode import TextEncoder
from explorer.scoring.hf_batches import pad_rows, progress_in_requests, run_in_batches
from explorer.scoring.hf_load import Kind, describe
from explorer.scoring.hf_source import Source
from explorer.scoring.model import Progress
from explorer.scoring.policy import ENCODER_DECODER_PRESETS, PRESETS, SEQ2SEQ, ScoringPolicy
from explorer.scoring.score import reason_for_nan, score_with_reason, why_unknown_token, why_unscorable

METHOD = "decoder of an encoder-decoder model; its source is the context (seq2seq) or empty (decoder)"


class EncoderDecoderModel:
    """A loaded model of an encoder and a decoder; safe to call from several threads."""

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
        self.start = (*first_token(model), *self.encoder.added)
        max_positions = int(getattr(model.config, "max_position_embeddings", 0) or 1 << 20)  # T5 counts no places
        self.window = min(max_positions, int(min(tokenizer.model_max_length, 1 << 20)))

    def record(self) -> dict[str, str | int]:
        """What identifies the model, and how it scores."""
        return describe(self, {"scores": METHOD})

    def encode_source(self, text: str) -> tuple[int, ...]:
        """The tokens of a source as the tokenizer writes one; of an empty text what stands around it."""
        ids = tuple(self.tokenizer(text, truncation=False)["input_ids"])
        return ids or (int(self.tokenizer.eos_token_id or 0),)  # an encoder cannot read nothing

    def logprobs(self, rows: Sequence[Row], progress: Progress | None = None) -> list[list[tuple[float, bool]]]:
        """Of each row's scored tokens the log-probability (nats), and whether the token was the likeliest."""
        return run_in_batches(rows, lambda row: row.size, self._batch, self.model.device, self.lock, progress)

    @torch.inference_mode()
    def _batch(self, rows: Sequence[Row]) -> list[list[tuple[float, bool]]]:
        device = self.model.device
        # The encoder looks in both directions, so padding must be masked there. The decoder looks back only: what is
        # padded at the right is never seen by a token that is scored.
        sources, mask = pad_rows([row.source for row in rows], self.tokenizer.pad_token_id or 0, device)
        # The last token is predicted, never read.
        decoder_inputs, _ = pad_rows([row.target[:-1] for row in rows], self.tokenizer.pad_token_id or 0, device)
        logits = self.model(
            input_ids=sources, attention_mask=mask, decoder_input_ids=decoder_inputs, use_cache=False
        ).logits
        answers = []
        for number, row in enumerate(rows):
            # The logits at place i say what stands at place i + 1: the first scored token is read off one place
            # earlier.
            scored = logits[number, row.first - 1 : len(row.target) - 1].float()
            target_ids = torch.tensor(row.target[row.first :], device=device)
            logprobs = scored.log_softmax(-1).gather(1, target_ids[:, None])[:, 0]
            likeliest = scored.argmax(-1) == target_ids
            answers.append(list(zip(logprobs.tolist(), likeliest.tolist(), strict=True)))
        return answers


def first_token(model: Any) -> tuple[int, ...]:
    """The token that the decoder starts with, as the configuration or that of writing says; none where neither does."""
    ids = (getattr(config, "decoder_start_token_id", None) for config in (model.config, model.generation_config))
    return tuple(token for token in ids if isinstance(token, int))[:1]


@dataclass(frozen=True, slots=True)
class Row:
    """A source, and what the decoder is given and asked for: the tokens from the place `first` on are scored."""

    source: tuple[int, ...]
    target: tuple[int, ...]
    first: int
    straddles: bool = False

    @property
    def size(self) -> int:
        return len(self.source) + len(self.target)


class EncoderDecoderScorer:
    """A model of an encoder and a decoder as a Scorer, under its own presets alone."""

    def __init__(self, model: EncoderDecoderModel) -> None:
        self.model = model
        self.name = model.name

    def score(
        self,
        requests: Sequence[Request],
        policy: ScoringPolicy = PRESETS["natural"],
        progress: Progress | None = None,
    ) -> list[Score]:
        """Log-probabilities of the continuations by the decoder, token by token in nats, in the order asked."""
        if policy.preset not in ENCODER_DECODER_PRESETS:
            raise ScoringError(
                f"{self.name} is an encoder-decoder model: it has no probability of a text by itself, which the preset "
                f"{policy.preset} asks for. Choose the preset {' or '.join(ENCODER_DECODER_PRESETS)}, or a causal "
                "model."
            )
        rows = [self._encode_row(request, policy) for request in requests]
        scorable = [row for row in rows if isinstance(row, Row)]
        answers = iter(self.model.logprobs(scorable, progress_in_requests(progress, len(requests))))
        return [
            score_with_reason(request, row) if isinstance(row, str) else self._as_score(request, row, next(answers))
            for request, row in zip(requests, rows, strict=True)
        ]

    def _encode_row(self, request: Request, policy: ScoringPolicy) -> Row | str:
        """The request's tokens, or why it cannot be scored."""
        if why := why_unscorable(request):
            return why
        if policy.preset == SEQ2SEQ:
            # Behind the start nothing stands that a blank would part the continuation from.
            source, before, continuation = request.context, "", request.continuation.removeprefix(" ")
        else:
            source, (before, continuation) = "", policy.move(request.context, request.continuation)
        if not continuation.strip():
            return "the continuation is empty"
        encoding = self.model.encoder.encode(before, continuation, "never", "offsets")
        if encoding.start >= len(encoding.ids):
            return "no token of the joint encoding belongs to the continuation"
        start = self.model.start
        row = Row(
            self.model.encode_source(source), (*start, *encoding.ids), len(start) + encoding.start, encoding.straddles
        )
        if why := why_unknown_token(self.model, (*row.source, *row.target)):
            return why
        longest = max(len(row.source), len(row.target) - 1)
        if longest > self.model.window:
            return f"{longest:,} tokens, more than the model's window of {self.model.window:,}"
        return row

    def _as_score(self, request: Request, row: Row, answers: Sequence[tuple[float, bool]]) -> Score:
        ids = row.target[row.first :]
        counted = request.continuation.removeprefix(" ")
        logprobs = tuple(logprob for logprob, _ in answers)
        likeliest = tuple(top for _, top in answers)
        broken = reason_for_nan(self.model.dtype) if any(value != value for value in logprobs) else ""
        return Score(
            request=request,
            tokens=self.model.encoder.texts(ids),
            token_ids=ids,
            logprobs=logprobs,
            chars=len(counted),
            bytes=len(counted.encode("utf-8")),
            greedy=all(likeliest) and not broken,
            straddles=row.straddles,
            reason=broken,
            likeliest=likeliest,
        )


KIND = Kind(
    loader="AutoModelForSeq2SeqLM",
    called="an encoder-decoder model",
    weights="some of its weights",
    needs="a decoder's start token or a fast tokenizer",
    has_needs=lambda model, tokenizer: bool(first_token(model)),
    otherwise="no text can be scored by its decoder. Choose another one, for example google-t5/t5-small or "
    "facebook/bart-base.",
)


def load(source: Source, device: str = "auto", dtype: str = "auto") -> EncoderDecoderModel:
    """The model whose files these are; ModelError where they hold none of an encoder and a decoder for texts."""
    model, tokenizer, kind = hf_load.load(source, KIND, device, dtype)
    hf_kind.require_causal_decoder(source.name, model)
    return EncoderDecoderModel(source, model, tokenizer, kind)
