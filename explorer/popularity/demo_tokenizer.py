"""The tokenizer of the demonstration index: a byte-level BPE whose merges are kept in demo_tokenizer.txt.

Trained once on the demonstration corpus and then kept, since another version of the tokenizers library may learn other
merges. tokenizer.json is written here and not by the library, so that its bytes are the same with every version.

python -m explorer.popularity.demo_merges     trains it anew, which gives the index another name
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from explorer.popularity.tokenizer import ALPHABET, IndexTokenizer

MERGES = Path(__file__).with_name("demo_tokenizer.txt")
VOCABULARY = 16_384
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


def load() -> IndexTokenizer:
    """The tokenizer that every demonstration index has."""
    merges = MERGES.read_text(encoding="utf-8").split("\n")
    return IndexTokenizer(_as_json([merge for merge in merges if merge]), name=f"byte-level BPE of {MERGES.name}")


def _as_json(merges: list[str]) -> str:
    """A tokenizer.json with one id a byte and then one a merge."""
    vocabulary = {character: place for place, character in enumerate(ALPHABET)}
    for merge in merges:
        vocabulary.setdefault(merge.replace(" ", ""), len(vocabulary))
    model = {
        "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
        "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
        "vocab": vocabulary,
        "merges": merges,  # as "a b", which every version reads; newer ones write pairs
    }  # fmt: skip
    content: dict[str, Any] = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
        "pre_tokenizer": BYTE_LEVEL, "post_processor": None, "decoder": BYTE_LEVEL, "model": model,
    }  # fmt: skip
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))
