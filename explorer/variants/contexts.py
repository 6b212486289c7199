"""Contexts that grow sentence by sentence before an item (Sinha et al. 2023, section 3).

A context is drawn once per item and condition and only grows, so that a longer one begins with every shorter one. It
is recorded by the ids of its sentences; `rebuild_text` gives its text again.
"""

from __future__ import annotations

import hashlib
import itertools
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from explorer import prompts
from explorer.errors import BenchmarkError
from explorer.records import Instance
from explorer.variants import running_text
from explorer.variants.context_pools import CONDITIONS, Pools, Sentence, candidate_sentences
from explorer.variants.prefix_edits import edit_sentence
from explorer.variants.running_text import TokenCounter

LENGTHS = tuple(range(0, 1001, 100))  # tokens


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The longest context of whole sentences with at most `length` tokens: its sentences and its tokens."""

    length: int
    sentences: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Context:
    """A growing context by the ids of its sentences, the items it stands before and where it is looked at.

    With a reason, lengths asked for are missing from the end of `checkpoints`.
    """

    items: tuple[str, ...]
    condition: str
    seed: int
    edit: str
    ids: tuple[str, ...]
    checkpoints: tuple[Checkpoint, ...]
    reason: str = ""


def make_contexts(
    items: Sequence[Instance],
    pools: Pools,
    tokens: TokenCounter,
    room: Callable[[Instance], int],
    *,
    conditions: Sequence[str] = CONDITIONS,
    lengths: Sequence[int] = LENGTHS,
    seed: int = 0,
    edit: str = "none",
    chains: int = 0,
    other_phenomenon: bool = False,
) -> Iterator[Context]:
    """A context for every item and condition, drawn without replacement and without the item's own texts.

    `room(item)` is how many tokens of context fit before its targets. A draw depends on seed, condition and item id
    alone: not on the other items, the order of the pools or the edit. With `chains` (the fast preview) the items of a
    suite share that many contexts: which one an item takes follows from its id, and each context leaves out the texts
    of all items of the pools that take it.
    """
    text_of = partial(_edited_text, pools=pools, edit=edit, seed=seed)
    sorted_lengths = sorted(set(lengths))
    drawn: list[_Draw] = []
    for suite, suite_items in _by_suite(items).items():
        chained = _by_chain(suite_items, suite, chains)
        barred = {
            name: _own_texts(members) | _chain_texts(pools, suite, name, chains) for name, members in chained.items()
        }
        for condition in conditions:
            pool = candidate_sentences(pools, suite, condition, other_phenomenon=other_phenomenon)
            for name, members in chained.items():
                draw = partial(sample_sentences, pool, sampling_key(seed, condition, name), barred[name])
                names = tuple(item.id for item in members)
                drawn.append(_Draw(names, condition, draw, min(map(room, members))))
    # All at once, since their texts are then encoded on all cores.
    growths = tokens.grow_all(
        [(partial(_texts_of, draw_made, text_of), draw_made.top(sorted_lengths)) for draw_made in drawn]
    )
    for draw_made, growth in zip(drawn, growths, strict=True):
        ids, checkpoints, reason = _checkpoints(draw_made, growth, sorted_lengths)
        yield Context(draw_made.items, draw_made.condition, seed, edit, ids, checkpoints, reason)


def suite_context(
    item: Instance, pools: Pools, tokens: TokenCounter, suite: str, *, sentences: int = 10, seed: int = 0
) -> Context:
    """A fixed number of acceptable sentences of one named suite: a cell of the suite-by-suite matrix."""
    condition = f"suite:{suite}"
    pool = pools.acceptable.get(suite, ())
    drawn = list(
        itertools.islice(sample_sentences(pool, f"{seed}|{condition}|{item.id}", _own_texts([item])), sentences)
    )
    length = tokens.count([sentence.text for sentence in drawn])
    reason = "" if len(drawn) == sentences else f"the suite has only {len(drawn)} other acceptable sentences"
    checkpoint = Checkpoint(length, len(drawn), length)
    return Context((item.id,), condition, seed, "none", tuple(sentence.id for sentence in drawn), (checkpoint,), reason)


def sampling_key(seed: int, condition: str, name: str) -> str:
    """What the order of a draw follows from; a run and the lab draw the same sentences because both take it here."""
    return f"{seed}|{condition}|{name}"


def sample_sentences(pool: Sequence[Sentence], key: str, barred: frozenset[str] = frozenset()) -> Iterator[Sentence]:
    """The pool's sentences in the random order of `key`, each text once and none of the barred (folded) texts.

    A shuffle made as far as it is read; its numbers come from a hash, so they are the same on every machine.
    """
    moved: dict[int, int] = {}
    used_texts = set(barred)
    for i in range(len(pool)):
        digest = hashlib.blake2b(f"{key}|{i}".encode(), digest_size=8).digest()
        j = i + int.from_bytes(digest) % (len(pool) - i)
        chosen = pool[moved.get(j, j)]
        moved[j] = moved.pop(i, i)
        text = fold_text(chosen.text)
        if text not in used_texts:
            used_texts.add(text)
            yield chosen


def rebuild_text(context: Context, pools: Pools, sentences: int | None = None) -> str:
    """The text of a context, or of its first `sentences` sentences (a checkpoint's)."""
    missing = [name for name in context.ids if name not in pools.by_id]
    if missing:
        raise BenchmarkError(
            f"The sentence {missing[0]} of a stored context is not in the pools, expected the data it was drawn from. "
            "Load the whole benchmark in the version of the run."
        )
    chosen = [pools.by_id[name] for name in context.ids[:sentences]]
    return running_text.join_sentences(
        _edited_text(sentence, pools=pools, edit=context.edit, seed=context.seed) for sentence in chosen
    )


def plain_context(context: Context) -> dict[str, Any]:
    """A context as plain values, to be written as JSON; `read_context` takes them back."""
    # Not dataclasses.asdict, which copies every value first and takes ten times as long.
    checkpoints = [
        {"length": point.length, "sentences": point.sentences, "tokens": point.tokens} for point in context.checkpoints
    ]
    return {
        "items": context.items,
        "condition": context.condition,
        "seed": context.seed,
        "edit": context.edit,
        "ids": context.ids,
        "checkpoints": checkpoints,
        "reason": context.reason,
    }


def read_context(stored: Mapping[str, Any]) -> Context:
    """A context from what `plain_context` or its JSON gave."""
    return Context(
        items=tuple(stored["items"]),
        condition=stored["condition"],
        seed=stored["seed"],
        edit=stored["edit"],
        ids=tuple(stored["ids"]),
        checkpoints=tuple(Checkpoint(**checkpoint) for checkpoint in stored["checkpoints"]),
        reason=stored["reason"],
    )


@lru_cache(maxsize=1 << 16)  # every draw looks at the same sentences
def fold_text(text: str) -> str:
    """A text for comparison: NFC, with single blanks."""
    return " ".join(unicodedata.normalize("NFC", text).split())


@dataclass(frozen=True, slots=True)
class _Draw:
    """The sentences of one context, from the first on each time they are asked for, and how many tokens have room."""

    items: tuple[str, ...]
    condition: str
    sentences: Callable[[], Iterator[Sentence]]
    room: int

    def top(self, lengths: Sequence[int]) -> int:
        """The longest length, in tokens, that there is room for."""
        return max((length for length in lengths if length <= self.room), default=0)


def _texts_of(draw: _Draw, text_of: Callable[[Sentence], str]) -> Iterator[str]:
    return map(text_of, draw.sentences())


def _checkpoints(
    draw: _Draw, growth: running_text.Growth, lengths: Sequence[int]
) -> tuple[tuple[str, ...], tuple[Checkpoint, ...], str]:
    """The ids of the sentences, the checkpoints that they reach, and why there are not more."""
    reachable = [length for length in lengths if length <= draw.room]
    checkpoints = []
    for length in reachable:
        sentences = sum(total <= length for total in growth.tokens)
        total = growth.tokens[sentences - 1] if sentences else 0
        if growth.exhausted and sentences == len(growth.tokens) and total < length:
            break
        checkpoints.append(Checkpoint(length, sentences, total))
    longest = checkpoints[-1].sentences if checkpoints else 0
    ids = tuple(sentence.id for sentence in itertools.islice(draw.sentences(), longest))
    return ids, tuple(checkpoints), _why_shorter(len(checkpoints), len(reachable), len(lengths), growth, draw.room)


def _why_shorter(reached: int, reachable: int, requested: int, growth: running_text.Growth, room: int) -> str:
    if reached < reachable:
        total = growth.tokens[-1] if growth.tokens else 0
        return f"the pool is exhausted after {len(growth.tokens)} sentences, {total} tokens"
    return f"the window has room for {room} tokens of context" if reachable < requested else ""


def _edited_text(sentence: Sentence, *, pools: Pools, edit: str, seed: int) -> str:
    if edit == "none":
        return sentence.text
    return edit_sentence(edit, sentence.text, key=f"{seed}|{sentence.id}", common=pools.common)


def _own_texts(items: Iterable[Instance]) -> frozenset[str]:
    return frozenset(fold_text(text) for item in items for text in prompts.option_texts(item))


def _by_suite(items: Iterable[Instance]) -> dict[str, list[Instance]]:
    suites: dict[str, list[Instance]] = {}
    for item in items:
        suites.setdefault(item.group, []).append(item)
    return suites


def _by_chain(items: Sequence[Instance], suite: str, chains: int) -> dict[str, list[Instance]]:
    groups: dict[str, list[Instance]] = {}
    for item in items:
        groups.setdefault(_chain_of(item.id, suite, chains) if chains else item.id, []).append(item)
    return groups


def _chain_of(item_id: str, suite: str, chains: int) -> str:
    digest = hashlib.blake2b(item_id.encode(), digest_size=8).digest()
    return f"{suite}/chain {int.from_bytes(digest) % chains} of {chains}"


def _chain_texts(pools: Pools, suite: str, name: str, chains: int) -> frozenset[str]:
    """The texts of all items of the pools that share a chain, so that a context fits whichever of them are asked."""
    if not chains:
        return frozenset()
    every = (*pools.acceptable.get(suite, ()), *pools.unacceptable.get(suite, ()))
    return frozenset(
        fold_text(sentence.text) for sentence in every if _chain_of(sentence.instance_id, suite, chains) == name
    )
