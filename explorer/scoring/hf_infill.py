"""Words for a gap by a causal language model, in place of the masked one that cannot be had offline.

Candidates are the words it expects after the left context and those whose input embeddings lie nearest the original's;
they are ranked by log P(word and what follows | what stands before). These are a causal model's neighbours, and every
result says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from explorer.records import Request
from explorer.scoring.engine.device import row_length
from explorer.scoring.hf import HFModel
from explorer.scoring.model import Gap
from explorer.scoring.policy import PRESETS
from explorer.scoring.score import score
from explorer.scoring.vocabulary_words import whole_words

MARK = "infill:"  # before a model's name: that it fills gaps
EMBEDDED = "gemma-3-270m"
# A gap costs as many passes over what follows as it has candidates: on two cores a third of a second.
FROM_CONTEXT = 6  # candidates from the left context
FROM_EMBEDDINGS = 6  # candidates from the embeddings
FOLLOWING_CHARACTERS = (
    40  # characters of what follows that candidates are ranked by: what lies further says little of a word
)
TILE = 32768  # vocabulary entries looked at together
BATCH = 32  # texts read together


class Infiller:
    """A causal language model that proposes words for gaps."""

    def __init__(self, model: HFModel) -> None:
        self.model = model
        self.name = model.name
        self.method = f"causal-LM infilling by {model.name}"
        self._words, self._ids = whole_words(model.tokenizer)
        self._is_word = np.zeros(model.runner.head.words, dtype=bool)
        self._is_word[self._ids[self._ids < len(self._is_word)]] = True
        self._of_word = {word: number for number, word in sorted(self._words.items(), reverse=True)}
        self._alike: dict[int, tuple[str, ...]] = {}
        self._norms: torch.Tensor | None = None

    def record(self) -> dict[str, Any]:
        """What identifies the model."""
        return self.model.record()

    def propose(self, gaps: Sequence[Gap], count: int) -> list[list[tuple[str, float]]]:
        """For each gap the best `count` words by log P(word and what follows | what stands before), in nats."""
        expected = self._expected([gap.left for gap in gaps])
        candidates = [
            _match_case(gap.word, [*words, *self._nearest(gap.word)]) for gap, words in zip(gaps, expected, strict=True)
        ]
        requests = [
            Request(str(place), number, gap.left.rstrip(" "), f"{_blank(gap.left)}{word}{following(gap.right)}")
            for place, (gap, words) in enumerate(zip(gaps, candidates, strict=True))
            for number, word in enumerate(words)
        ]
        # A word alone would be ranked by how common it is after the left context; with what follows, also by whether
        # the sentence can go on after it.
        scores = iter(score(self.model, requests, PRESETS["natural"]))
        proposals = []
        for words in candidates:
            ranked = [(word, next(scores).sum) for word in words]
            known = [pair for pair in ranked if pair[1] == pair[1]]
            proposals.append(sorted(known, key=lambda pair: -pair[1])[:count])
        return proposals

    def _expected(self, lefts: Sequence[str]) -> list[tuple[str, ...]]:
        """The likeliest whole words after each text."""
        encodings = self.model.encode_all([(left.rstrip(" "), "") for left in lefts], "auto", "offsets")
        likeliest: list[tuple[str, ...]] = [()] * len(lefts)
        # A tokenizer without any BOS leaves nothing to stand before a first word.
        order = sorted(
            (i for i, encoding in enumerate(encodings) if encoding.ids), key=lambda place: len(encodings[place].ids)
        )
        for first in range(0, len(order), BATCH):
            part = order[first : first + BATCH]
            hidden = self._last_states([encodings[place].ids[-self.model.window :] for place in part])
            for place, best in zip(part, self._best(hidden, FROM_CONTEXT), strict=True):
                likeliest[place] = tuple(self._words[number] for number in best)
        return likeliest

    def _last_states(self, rows: Sequence[tuple[int, ...]]) -> torch.Tensor:
        """The hidden state after the last token of each row."""
        model = self.model.model
        length = row_length(max(map(len, rows)), model.device)
        ids = torch.zeros((len(rows), length), dtype=torch.long)
        for row, tokens in enumerate(rows):
            ids[row, : len(tokens)] = torch.tensor(tokens)
        ends = torch.tensor([len(tokens) - 1 for tokens in rows])
        with self.model.lock, torch.inference_mode():
            # Right padding of plain sequences needs no mask: nothing looks at what comes later.
            states = model.base_model(input_ids=ids.to(model.device), use_cache=False).last_hidden_state
            return states[torch.arange(len(rows)), ends.to(states.device)]

    def _best(self, hidden: torch.Tensor, count: int) -> list[list[int]]:
        """The whole words with the highest logits for each state."""
        head = self.model.runner.head
        return self._top(lambda first, after: head.logits(hidden, first, after), head.words, count)

    def _nearest(self, word: str) -> tuple[str, ...]:
        """The whole words whose input embeddings have the highest cosine with the word's; none for a word of pieces."""
        number = self._of_word.get(word, self._of_word.get(word.lower()))
        if number is None:
            return ()
        if number not in self._alike:
            weight = self.model.model.get_input_embeddings().weight
            with self.model.lock, torch.inference_mode():
                if self._norms is None:
                    self._norms = weight.float().norm(dim=1).clamp(min=1e-6)
                vector, norms = weight[number].float()[None], self._norms

                def cosines(first: int, after: int) -> torch.Tensor:
                    return vector @ weight[first:after].float().T / norms[first:after]

                best = self._top(cosines, min(len(weight), len(self._is_word)), FROM_EMBEDDINGS + 1)[0]
            self._alike[number] = tuple(self._words[candidate] for candidate in best if candidate != number)[
                :FROM_EMBEDDINGS
            ]
        return self._alike[number]

    def _top(self, values: Any, size: int, count: int) -> list[list[int]]:
        """The ids of the `count` whole words with the highest values in each row, found tile by tile."""
        tops, places = [], []
        with torch.inference_mode():
            for first in range(0, size, TILE):
                after = min(first + TILE, size)
                tile_values = values(first, after).float()
                allowed = torch.from_numpy(self._is_word[first:after]).to(tile_values.device)
                tile_values = tile_values.masked_fill(~allowed, -torch.inf)
                top, place = tile_values.topk(min(count, after - first), dim=1)
                tops.append(top)
                places.append(place + first)
            top, place = torch.cat(tops, dim=1), torch.cat(places, dim=1)
            best = top.topk(min(count, top.shape[1]), dim=1)
            ids = place.gather(1, best.indices).cpu().numpy()
            finite = torch.isfinite(best.values).cpu().numpy()
        return [row[keep].tolist() for row, keep in zip(ids, finite, strict=True)]


def following(right: str) -> str:
    """The first characters of what follows a gap, up to a word's end."""
    if len(right) <= FOLLOWING_CHARACTERS:
        return right
    cut = right.rfind(" ", 0, FOLLOWING_CHARACTERS)
    return right[:cut] if cut > 0 else right[:FOLLOWING_CHARACTERS]


def _match_case(word: str, candidates: Sequence[str]) -> tuple[str, ...]:
    """The other words in the alphabet of the word, each once, with a capital where the word has one."""
    plain = [
        candidate
        for candidate in candidates
        if (candidate.isascii() or not word.isascii()) and candidate.lower() != word.lower()
    ]
    return tuple(
        dict.fromkeys(candidate[:1].upper() + candidate[1:] if word[:1].isupper() else candidate for candidate in plain)
    )


def _blank(left: str) -> str:
    return left[len(left.rstrip(" ")) :]
