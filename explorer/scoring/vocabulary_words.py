"""Which tokens of a vocabulary are words by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

# The first two stand before a token that begins a word, the last before one that goes on with a word.
BYTE_LEVEL_MARK, SENTENCEPIECE_MARK, WORDPIECE_MARK = "Ġ", "▁", "##"


def whole_words(tokenizer: Any) -> tuple[dict[int, str], np.ndarray]:
    """The tokens that are whole words of letters with the blank before them, as text, and their ids in order."""
    pieces = tokenizer.get_vocab()
    # Tokenizers do not say of which sort they are, so the sort is read off the vocabulary: the mark that is the more
    # common.
    # A large vocabulary has the other kind's mark among its letters, too.
    marked = {sign: sum(piece.startswith(sign) for piece in pieces) for sign in (BYTE_LEVEL_MARK, SENTENCEPIECE_MARK)}
    mark = max(marked, key=marked.__getitem__) if any(marked.values()) else ""
    words = {}
    for piece, number in pieces.items():
        word = piece.removeprefix(mark) if piece.startswith(mark) and not piece.startswith(WORDPIECE_MARK) else ""
        # A byte-level vocabulary spells what is no ASCII in letters that stand for bytes.
        if word.isalpha() and (word.isascii() or mark != BYTE_LEVEL_MARK):
            words[number] = word
    return words, np.array(sorted(words), dtype=np.int64)
