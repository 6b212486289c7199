"""Sentences as running text, and how many tokens of it there are as it grows."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from explorer.writing import is_wide, without_blanks

Encode = Callable[[str], Sequence[int]]
EncodeAll = Callable[[Sequence[str]], Sequence[Sequence[int]]]
Growing = tuple[Callable[[], Iterable[str]], int]  # sentences, from the first on each time it is called; tokens to pass

_ENDED = re.compile(r"""[.!?。！？｡؟۔।။។]["'”’»」』]*$""")
CARRIER = "So it was."  # any text that ends a sentence


def close_sentence(sentence: str) -> str:
    """The sentence with a full stop, unless it ends in . ! ? or in one of those and a quote.

    The full stop is that of its script: 。 after Chinese and Japanese, none where a blank alone ends it, as in Thai.
    """
    bare = sentence.strip()
    if not bare or _ENDED.search(bare):
        return bare
    return bare + ("." if not without_blanks(bare[-1]) else "。" if is_wide(bare[-1]) else "")


def join_sentences(sentences: Iterable[str]) -> str:
    """The sentences as running text: each closed, parted by one blank, and none at the ends."""
    parts: list[str] = []
    for sentence in sentences:
        closed, following = _in_text(sentence)
        if part := following if parts else closed:
            parts.append(part)
    return "".join(parts)


@lru_cache(maxsize=1 << 16)  # a pool's sentences are joined in many orders, and for each length
def _in_text(sentence: str) -> tuple[str, str]:
    """The sentence closed, as it begins a text and as it follows one."""
    closed = close_sentence(sentence)
    return closed, as_target(closed)


def as_target(sentence: str, lead: str = " ") -> str:
    """A sentence as it follows running text: behind a blank, or behind `lead`; Chinese and Japanese behind neither.

    It does not depend on the text before, so that the sentence is the same tokens after each.
    """
    bare = sentence.strip()
    return bare if not bare or is_wide(bare[0]) else lead + bare


def _followed(text: str, sentence: str) -> str:
    return text + as_target(sentence) if text else sentence


@dataclass(frozen=True, slots=True)
class Growth:
    """Tokens of the running text after each sentence; `exhausted` if the sentences ended before passing the top."""

    tokens: tuple[int, ...]
    exhausted: bool


class TokenCounter:
    """Counts the tokens of growing running text, for a tokenizer `encode` that adds no special tokens.

    Guarantee: every count equals `len(encode(join_sentences(sentences[:k])))`. A sentence is encoded once, after a full
    stop and a blank, and its length is added up, so that a context of n tokens costs n and not n squared. The whole
    text is then encoded once, and where its ids are not the sentences' ids one after the other (a tokenizer that merges
    across the join, normalizes the start of a text or works from far context), every count is made again on the text
    itself. Since tokenizers work word by word or by local merges, ids that agree for the whole text agree for every
    beginning of it that ends where a sentence does.
    """

    def __init__(self, encode: Encode, encode_all: EncodeAll | None = None) -> None:
        """With `encode_all` the whole texts of many contexts are encoded at once, on all cores."""
        self._encode = encode
        self._encode_all = encode_all or (lambda texts: [encode(text) for text in texts])
        self._carrier = tuple(encode(CARRIER))
        self._after: dict[str, tuple[int, ...] | None] = {}

    def grow_all(self, growing: Sequence[Growing]) -> list[Growth]:
        """Counts each until the first sentence that brings its text beyond `top` tokens, that one included."""
        added = [self._added_up(sentences(), top) for sentences, top in growing]
        texts = [text for text, _, _ in added if text is not None]
        encoded = dict(zip(texts, map(list, self._encode_all(texts)), strict=True))
        return [
            _make_growth(totals, top)
            if text is None or encoded[text] == ids
            else self._made_on_the_text(sentences(), top)
            for (sentences, top), (text, ids, totals) in zip(growing, added, strict=True)
        ]

    def count(self, sentences: Sequence[str]) -> int:
        """The tokens of these sentences as running text."""
        return len(self._encode(join_sentences(sentences))) if sentences else 0

    def _added_up(self, sentences: Iterable[str], top: int) -> tuple[str | None, list[int], list[int]]:
        """The text, its ids by those of its sentences, and how many there are after each; no ids where that fails.

        No text where there are no sentences.
        """
        ids: list[int] = []
        sentences_taken: list[str] = []
        totals: list[int] = []
        for sentence in sentences:
            piece = self._following(sentence) if sentences_taken else tuple(self._encode(close_sentence(sentence)))
            sentences_taken.append(sentence)
            if piece is None:
                return join_sentences(sentences_taken), [], []
            ids += piece
            totals.append(len(ids))
            if len(ids) > top:
                break
        return join_sentences(sentences_taken) if sentences_taken else None, ids, totals

    def _made_on_the_text(self, sentences: Iterable[str], top: int) -> Growth:
        totals: list[int] = []
        for text in itertools.accumulate(map(close_sentence, sentences), _followed):
            totals.append(len(self._encode(text)))
            if totals[-1] > top:
                break
        return _make_growth(totals, top)

    def _following(self, sentence: str) -> tuple[int, ...] | None:
        """The ids of a sentence after another, or None where the tokens before it depend on it."""
        if sentence not in self._after:
            ids = tuple(self._encode(_followed(CARRIER, close_sentence(sentence))))
            split = len(self._carrier)
            self._after[sentence] = ids[split:] if ids[:split] == self._carrier else None
        return self._after[sentence]


def _make_growth(totals: Sequence[int], top: int) -> Growth:
    return Growth(tuple(totals), exhausted=not totals or totals[-1] <= top)
