"""Which tokens of a vocabulary are words by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

BYTES, BLANK, PIECE = "Ġ", "▁", "##"  # what byte-level, SentencePiece and WordPiece tokenizers mark


def whole_words(tokenizer: Any) -> tuple[dict[int, str], np.ndarray]:
    """The tokens that are whole words of letters with the blank before them, as text, and their ids in order."""
    pieces = tokenizer.get_vocab()
    mark = next((sign for sign in (BYTES, BLANK) if any(piece.startswith(sign) for piece in pieces)), "")
    found = {}
    for piece, number in pieces.items():
        word = piece.removeprefix(mark) if piece.startswith(mark) and not piece.startswith(PIECE) else ""
        # A byte-level vocabulary spells what is no ASCII in letters that stand for bytes.
        if word.isalpha() and (word.isascii() or mark != BYTES):
            found[number] = word
    return found, np.array(sorted(found), dtype=np.int64)
