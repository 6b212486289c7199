"""The tokenizer of the glass box, of its models and of its index: a byte-level BPE whose merges are kept in merges.txt.

Trained once on the corpus without what is planted, so that a planted word has the same pieces at every dose, and then
kept, since another version of the tokenizers library may learn other merges. Digits
are tokens of their own, so that an ID is learned digit by digit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from explorer.popularity.tokenizer import ALPHABET, IndexTokenizer

MERGES = Path(__file__).with_name("merges.txt")
VOCABULARY = 4_096  # with the end-of-text mark
END = "<|endoftext|>"
SPLIT = {
    "type": "Sequence",
    "pretokenizers": [
        {"type": "Digits", "individual_digits": True},
        {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
    ],
}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


def load() -> IndexTokenizer:
    """The tokenizer as the index uses it."""
    return IndexTokenizer(as_json(read_merges()), name=f"byte-level BPE of {MERGES.name}")


def read_merges() -> list[str]:
    """The merges in order, each two pieces with a blank between."""
    return [line for line in MERGES.read_text(encoding="utf-8").split("\n") if line]


def as_json(merges: list[str]) -> str:
    """A tokenizer.json: the end-of-text mark, one id a byte, then one a merge."""
    vocabulary = {END: 0, **{character: place for place, character in enumerate(ALPHABET, 1)}}
    for merge in merges:
        vocabulary.setdefault(merge.replace(" ", ""), len(vocabulary))
    end: dict[str, Any] = {
        "id": 0, "content": END, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
        "special": True,
    }  # fmt: skip
    model = {
        "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
        "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
        "vocab": vocabulary,
        "merges": merges,  # as "a b", which every version reads; newer ones write pairs
    }  # fmt: skip
    content = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [end], "normalizer": None,
        "pre_tokenizer": SPLIT, "post_processor": None, "decoder": BYTES, "model": model,
    }  # fmt: skip
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def train(texts: Iterable[str]) -> list[str]:
    """The merges that the installed tokenizers library learns from the texts."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - 1,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        special_tokens=[],
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [merge if isinstance(merge, str) else " ".join(merge) for merge in merges]
