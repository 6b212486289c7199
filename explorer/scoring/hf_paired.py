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
import transformers

from explorer.errors import ModelError, ScoringError
from explorer.records import Request, Score
from explorer.scoring import hf_kind, hf_source
from explorer.scoring.encode import TextEncoder
from explorer.scoring.engine.device import DTYPES, check_memory, choose_device, choose_dtype
from explorer.scoring.hf_source import Source
from explorer.scoring.model import Progress
from explorer.scoring.policy import PAIRED, PRESETS, SEQ2SEQ, ScoringPolicy
from explorer.scoring.score import NO_NUMBER, failed, unscorable
from explorer.stopping import turn

METHOD = "decoder of an encoder-decoder model; its source is the context (seq2seq) or empty (decoder)"
# Tokens of a batch: each has a log-probability for the whole vocabulary.
BATCH_TOKENS = {"cuda": 16384, "cpu": 1024}


class PairedLM:
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
        self.start = (*first_token(model), *self.encoder.added)
        places = int(getattr(model.config, "max_position_embeddings", 0) or 1 << 20)  # T5 counts no places
        self.window = min(places, int(min(tokenizer.model_max_length, 1 << 20)))

    def record(self) -> dict[str, str | int]:
        """Model id, revision or weights hash, tokenizer hash, dtype, device, versions, and how texts are scored."""
        return {
            "model": self.name,
            "revision": self.source.revision,
            "weights": self.source.weights,
            "tokenizer": self.encoder.hash,
            "dtype": self.dtype,
            "device": self.model.device.type,
            "scores": METHOD,
            "window": self.window,
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        }

    def read(self, text: str) -> tuple[int, ...]:
        """The tokens of a source as the tokenizer writes one; of an empty text what stands around it."""
        ids = tuple(self.tokenizer(text, truncation=False)["input_ids"])
        return ids or (int(self.tokenizer.eos_token_id or 0),)  # an encoder cannot read nothing

    def logprobs(self, rows: Sequence[Row], progress: Progress | None = None) -> list[list[tuple[float, bool]]]:
        """Of each row's scored tokens the log-probability (nats), and whether the token was the likeliest."""
        given: list[list[tuple[float, bool]]] = [[] for _ in rows]
        order = sorted(range(len(rows)), key=lambda number: rows[number].size)
        while order:
            size = max(1, BATCH_TOKENS.get(self.model.device.type, 1024) // rows[order[-1]].size)
            batch, order = order[-size:], order[:-size]
            with turn(self.lock):
                answers = self._batch([rows[number] for number in batch])
            for number, answer in zip(batch, answers, strict=True):
                given[number] = answer
            if progress:
                progress(len(rows) - len(order), len(rows))
        return given

    @torch.inference_mode()
    def _batch(self, rows: Sequence[Row]) -> list[list[tuple[float, bool]]]:
        device = self.model.device
        sources, mask = _padded([row.source for row in rows], self.tokenizer.pad_token_id or 0, device)
        # The last token is predicted, never read.
        given, _ = _padded([row.target[:-1] for row in rows], self.tokenizer.pad_token_id or 0, device)
        logits = self.model(input_ids=sources, attention_mask=mask, decoder_input_ids=given, use_cache=False).logits
        answers = []
        for number, row in enumerate(rows):
            scored = logits[number, row.first - 1 : len(row.target) - 1].float()
            wanted = torch.tensor(row.target[row.first :], device=device)
            logprobs = scored.log_softmax(-1).gather(1, wanted[:, None])[:, 0]
            likeliest = scored.argmax(-1) == wanted
            answers.append(list(zip(logprobs.tolist(), likeliest.tolist(), strict=True)))
        return answers


def first_token(model: Any) -> tuple[int, ...]:
    """The token that the decoder starts with, as the configuration or that of writing says; none where neither does."""
    said = (getattr(config, "decoder_start_token_id", None) for config in (model.config, model.generation_config))
    return tuple(token for token in said if isinstance(token, int))[:1]


def _padded(rows: Sequence[Sequence[int]], filler: int, device: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """The rows as one tensor, padded at the right, where a decoder does not look; and what is no padding."""
    longest = max(map(len, rows))
    ids = torch.full((len(rows), longest), filler, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = torch.tensor(row, dtype=torch.long)
        mask[number, : len(row)] = 1
    return ids.to(device), mask.to(device)


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


class PairedScorer:
    """A model of an encoder and a decoder as a Scorer, under its own presets alone."""

    def __init__(self, model: PairedLM) -> None:
        self.model = model
        self.name = model.name

    def score(
        self,
        requests: Sequence[Request],
        policy: ScoringPolicy = PRESETS["natural"],
        progress: Progress | None = None,
    ) -> list[Score]:
        """Log-probabilities of the continuations by the decoder, token by token in nats, in the order asked."""
        if policy.preset not in PAIRED:
            raise ScoringError(
                f"{self.name} is an encoder-decoder model: it has no probability of a text by itself, which the preset "
                f"{policy.preset} asks for. Choose the preset {' or '.join(PAIRED)}, or a causal model."
            )
        rows = [self._row(request, policy) for request in requests]
        asked = [row for row in rows if isinstance(row, Row)]
        answers = iter(self.model.logprobs(asked, _in_requests(progress, len(requests))))
        return [
            failed(request, row) if isinstance(row, str) else self._scored(request, row, next(answers))
            for request, row in zip(requests, rows, strict=True)
        ]

    def _row(self, request: Request, policy: ScoringPolicy) -> Row | str:
        """The request's tokens, or why it cannot be scored."""
        if why := unscorable(request):
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
        row = Row(self.model.read(source), (*start, *encoding.ids), len(start) + encoding.start, encoding.straddles)
        longest = max(len(row.source), len(row.target) - 1)
        if longest > self.model.window:
            return f"{longest:,} tokens, more than the model's window of {self.model.window:,}"
        return row

    def _scored(self, request: Request, row: Row, answers: Sequence[tuple[float, bool]]) -> Score:
        ids = row.target[row.first :]
        counted = request.continuation.removeprefix(" ")
        logprobs = tuple(logprob for logprob, _ in answers)
        likeliest = tuple(top for _, top in answers)
        broken = NO_NUMBER if any(value != value for value in logprobs) else ""
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


def load(source: Source, device: str = "auto", dtype: str = "auto") -> PairedLM:
    """The model whose files these are; ModelError where they hold none of an encoder and a decoder for texts."""
    place = choose_device(device)
    kind = choose_dtype(dtype, place)
    held = hf_source.count_parameters(source.path)
    check_memory(source.name, held, kind, place)
    try:
        config = transformers.AutoConfig.from_pretrained(source.path, local_files_only=True, trust_remote_code=False)
        hf_kind.require_package(source.name, hf_kind.quantized_by(config))
        hf_kind.require_fit(source.name, config, held, "Choose another one.", "AutoModelForSeq2SeqLM")
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            source.path, local_files_only=True, trust_remote_code=False
        )
        model, report = transformers.AutoModelForSeq2SeqLM.from_pretrained(
            source.path,
            dtype=DTYPES[kind],
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
        )
    except ModelError:
        raise
    except Exception as error:  # whatever transformers raises of files from elsewhere
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise ModelError(
            f"{source.name} cannot be loaded as an encoder-decoder model ({said[0][:200]}). Choose another one."
        ) from error
    if report["missing_keys"] or not first_token(model) or not tokenizer.is_fast:
        lack = "some of its weights" if report["missing_keys"] else "a decoder's start token or a fast tokenizer"
        raise ModelError(
            f"{source.name} lacks {lack}, without which no text can be scored by its decoder. Choose another one, for "
            "example google-t5/t5-small or facebook/bart-base."
        )
    model = model.to(place).eval()
    hf_kind.require_causal_decoder(source.name, model)
    return PairedLM(source, model, tokenizer, kind)


def _in_requests(progress: Progress | None, requests: int) -> Progress | None:
    if progress is None:
        return None
    return lambda done, rows: progress(requests * done // max(rows, 1), requests)
