"""What contexts are drawn from and how they are measured: pools of sentences, tokens, room in the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer import prompts
from explorer.benchmarks import wikitext
from explorer.errors import ExplorerError
from explorer.records import Instance
from explorer.scoring.policy import Bos
from explorer.variants import running_text
from explorer.variants.context_pools import Pools, make_pools
from explorer.variants.running_text import Encode, TokenCounter

if TYPE_CHECKING:
    from explorer.resources import Resources

# Where unrelated sentences come from → what the source is called.
SOURCES = {"wikitext": "WikiText-2, test set", "starter": "the starter sets' own texts"}
STARTER_TEXTS = ("starter_cloze", "starter_entailment")
LONGEST = 40  # words, as for WikiText


@dataclass(frozen=True, slots=True)
class ContextSource:
    """The pools of a whole benchmark and a tokenizer's view of them.

    `opening` stands before a target that nothing stands before, so that its tokens are those it has after a context.
    """

    pools: Pools
    tokens: TokenCounter
    encode: Encode
    window: int  # tokens
    bos: int  # tokens that the policy puts before a context
    opening: str
    unrelated: str  # what the source of unrelated sentences is called; "" where there is none
    why_not: str = ""  # why there is none

    def room(self, item: Instance) -> int:
        """How many tokens of context fit before the item's longest target."""
        return self._room([item])

    def suite_room(self, instances: Sequence[Instance]) -> Callable[[Instance], int]:
        """The room of the tightest item of a suite, the same for all of its items, for contexts that they share."""
        suites: dict[str, list[Instance]] = {}
        for instance in instances:
            suites.setdefault(instance.group, []).append(instance)
        rooms: dict[str, int] = {}

        def room(item: Instance) -> int:
            if item.group not in rooms:
                rooms[item.group] = self._room(suites[item.group])
            return rooms[item.group]

        return room

    def _room(self, items: Sequence[Instance]) -> int:
        targets = (running_text.as_target(text) for item in items for text in prompts.option_texts(item))
        return self.window - self.bos - max(len(self.encode(text)) for text in targets)


def build(
    resources: Resources, model: str, dtype: str, benchmark: str, splits: Sequence[str], unrelated: str, bos: Bos
) -> ContextSource:
    """What the contexts of a run or of a live demo are drawn from."""
    loaded = resources.reader(model, dtype)
    # The encoder alone is kept, not the model that it belongs to.
    encoder = loaded.encoder

    def encode(text: str) -> tuple[int, ...]:
        return encoder.encode("", text, "never", "offsets").ids

    def encode_all(texts: Sequence[str]) -> list[tuple[int, ...]]:
        return [made.ids for made in encoder.encode_all([("", text) for text in texts], "never", "offsets")]

    # Pools are of the whole benchmark, not of the run's selection: a context then depends on item and seed alone, and a
    # run over few items draws what a run over all of them draws.
    pools, why_not = pools_of(resources, benchmark, splits, unrelated)
    return ContextSource(
        pools=pools,
        tokens=resources.once(("token counter", encoder.hash), lambda: TokenCounter(encode, encode_all)),
        encode=encode,
        window=loaded.window,
        bos=len(encoder.prefix(running_text.CARRIER, bos)),
        opening=opening_of(encode),
        unrelated="" if why_not else called(resources, unrelated),
        why_not=why_not,
    )


def pools_of(resources: Resources, benchmark: str, splits: Sequence[str], unrelated: str) -> tuple[Pools, str]:
    """The sentences of a whole benchmark and unrelated ones, and why there are none of the latter ("" where there are).

    They are kept, so that only the first call makes them.
    """
    texts, why_not = unrelated_texts(resources, unrelated)
    pools: Pools = resources.once(
        ("pools", benchmark, tuple(splits), unrelated, len(texts)),
        lambda: make_pools(resources.instances(benchmark, splits).instances, texts),
    )
    return pools, why_not


def opening_of(encode: Encode) -> str:
    """A blank, or nothing for a tokenizer that itself puts a blank before every text."""
    # Most tokenizers write a word at the start of a text in other tokens than behind a blank, and a target that once
    # stands first and once behind a context would be two different texts to the model. A blank before the first one
    # makes them equal.
    sentence = running_text.CARRIER
    after = tuple(encode(f"{sentence} {sentence}"))[len(encode(sentence)) :]
    return "" if tuple(encode(sentence)) == after != tuple(encode(f" {sentence}")) else " "


def unrelated_texts(resources: Resources, source: str) -> tuple[Sequence[str], str]:
    """Sentences that have nothing to do with a benchmark, or the reason why there are none."""
    try:
        if source == "wikitext":
            return _wikitext(resources).texts, ""
        return resources.once(("starter texts",), lambda: _starter_texts(resources)), ""
    except ExplorerError as error:
        return (), f"no unrelated sentences: {' '.join(str(error).split())}"


def _wikitext(resources: Resources) -> wikitext.Sentences:
    sentences: wikitext.Sentences = resources.once(("wikitext",), lambda: wikitext.load(resources.settings))
    return sentences


def called(resources: Resources, source: str) -> str:
    """What a source is called, with what was left out of it."""
    unknown = _wikitext(resources).unknown if source == "wikitext" else 0
    return SOURCES[source] + (f" ({unknown:,} sentences with {wikitext.UNKNOWN} left out)" if unknown else "")


def _starter_texts(resources: Resources) -> list[str]:
    """The starter sets' passages and premises, each once."""
    texts = (
        text.strip()
        for name in STARTER_TEXTS
        for instance in resources.instances(name).instances
        for text in (prompts.option_texts(instance) if instance.kind == "cloze" else (instance.context,))
    )
    return [text for text in dict.fromkeys(texts) if len(text.split()) <= LONGEST]
