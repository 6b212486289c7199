"""Which tokens of a vocabulary are words by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

BYTES, BLANK, PIECE = "Ġ", "▁", "##"  # what byte-level, SentencePiece and WordPiece tokenizers mark


def whole_words(tokenizer: Any) -> tuple[dict[int, str], np.ndarray]:
    """The tokens that are whole words of letters with the blank before them, as text, and their ids in order."""
    pieces = tokenizer.get_vocab()
    # A large vocabulary has the other kind's mark among its letters, too.
    marked = {sign: sum(piece.startswith(sign) for piece in pieces) for sign in (BYTES, BLANK)}
    mark = max(marked, key=marked.__getitem__) if any(marked.values()) else ""
    words = {}
    for piece, number in pieces.items():
        word = piece.removeprefix(mark) if piece.startswith(mark) and not piece.startswith(PIECE) else ""
        # A byte-level vocabulary spells what is no ASCII in letters that stand for bytes.
        if word.isalpha() and (word.isascii() or mark != BYTES):
            words[number] = word
    return words, np.array(sorted(words), dtype=np.int64)
