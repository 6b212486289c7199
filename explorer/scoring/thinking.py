"""What a reasoning model thinks before it answers, told apart from the answer. The one place where that is done.

    <think>The ID of "cell" may be ...</think>  GO:0005623.
    └──────────── thought, counted ──────────┘  └─ answer ─┘  read, judged and stored

A thought stands between marks, some of which the model's template has already opened in the prompt; a server may send
it in a field of its own. An answer that was cut off while the model still thought is none: it has a reason, and is
neither right nor wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from explorer.records import Generation

# How models mark a thought: most of them; Magistral; Command A; Seed-OSS.
MARKS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("[THINK]", "[/THINK]"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<seed:think>", "</seed:think>"),
)
_MARK = re.compile("|".join(re.escape(mark) for pair in MARKS for mark in pair))
FIELDS = ("reasoning_content", "reasoning")  # of a server's message: vLLM, SGLang, DeepSeek; OpenRouter, Ollama, vLLM
CUT_OFF = (
    "the answer was cut off while the model still thought, after {written}; let an answer have more tokens, or take a "
    "model that does not think first"
)
NOT_ENDED = "the model ended in the middle of its thought and gave no answer"


def prompt_opens_thought(prompt: str) -> bool:
    """Whether a prompt ends with the beginning of a thought."""
    return prompt.rstrip().endswith(tuple(begin for begin, _ in MARKS))


def where_answer_begins(text: str, *, opened: bool = False) -> int:
    """The character at which the answer begins in what a model wrote: 0 without a thought, -1 while it still thinks."""
    if not opened and not _MARK.search(text):  # most answers, which are looked at after each token
        return 0
    start = len(text) - len(text.lstrip())
    # A mark counts at the very beginning only: a model may write "<think>" in the middle of an answer about such marks.
    for begin, end in MARKS:
        has_begun = text.startswith(begin, start)
        if (has_begun or opened or begin not in text) and (place := text.find(end)) >= 0:
            return place + len(end)
        if has_begun:
            return -1
    return -1 if opened else 0


def split_thought(generation: Generation, *, opened: bool = False, thought: str = "") -> Generation:
    """The generation with its answer alone as its text; `thought` is what a server sent apart.

    Where all of it is thought the generation has a reason, and no text.
    """
    answer_start = where_answer_begins(generation.text, opened=opened)
    if answer_start == 0 and not thought:
        return generation
    if answer_start == 0:
        thought_text, answer = "", generation.text
    else:
        thought_text, answer = (
            (generation.text, "")
            if answer_start < 0
            else (generation.text[:answer_start], generation.text[answer_start:])
        )
    divided = replace(generation, text=answer.lstrip(), thought=thought + thought_text)
    if divided.text:
        return divided
    if generation.finish != "stop":
        tokens = len(generation.token_ids)
        written = f"{tokens:,} tokens" if tokens else f"{len(divided.thought):,} characters"
        return replace(divided, reason=CUT_OFF.format(written=written))
    return replace(divided, reason=NOT_ENDED) if answer_start < 0 else divided


def thought_in_message(message: Mapping[str, Any]) -> str:
    """The thought that a server sent beside an answer, "" for none."""
    return next((value for name in FIELDS if isinstance(value := message.get(name), str) and value), "")
