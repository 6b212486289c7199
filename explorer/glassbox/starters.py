"""Texts of the starter sets: half of them planted 1, 4, 16 or 64 times, the other half held out.

A text's half and dose follow from its instance's id, group by group. Texts of the groups in ABSENT are all held out.
Labeled items are planted as in-context prompts write them, with their label.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from explorer import prompts, prompts_icl
from explorer.benchmarks import BENCHMARKS, load
from explorer.glassbox import chance
from explorer.glassbox.planting import Kind, Planting
from explorer.records import Instance
from explorer.settings import Settings
from explorer.variants.demonstrations import Pieces

SETS = tuple(name for name in BENCHMARKS if name.startswith("starter_"))
LABELED = ("starter_questions", "starter_entailment")
DOSES = (1, 4, 16, 64)
ABSENT = ("islands", "ellipsis")  # constructions that the grammar of the corpus does not have either


def doses(instances: Sequence[Instance]) -> dict[str, int]:
    """Instance id → how often its text stands in the corpus; 0 = held out."""
    groups: dict[str, list[Instance]] = defaultdict(list)
    for instance in instances:
        groups[instance.group].append(instance)
    dealt: dict[str, int] = {}
    for group, members in groups.items():
        mixed = chance.shuffled(members, f"starter/{members[0].benchmark}/{group}")
        for place, instance in enumerate(mixed):
            planted = place % 2 == 0 and group not in ABSENT
            dealt[instance.id] = DOSES[place // 2 % len(DOSES)] if planted else 0
    return dealt


def plantings(settings: Settings) -> Iterator[Planting]:
    """Every text of every starter set with its dose."""
    for name in SETS:
        instances = load(name, settings).instances
        dealt = doses(instances)
        for instance in instances:
            text = text_of(instance)
            kind: Kind = "labeled" if name in LABELED else "starter"
            yield Planting(kind, instance.id, name, text, dealt[instance.id], (text,))


def text_of(instance: Instance) -> str:
    """The text as the corpus has it: running text with the right option, or a labeled item of a prompt."""
    if instance.benchmark in LABELED:
        first, second = (instance.context, instance.second) if instance.second else _halves(instance.context)
        pieces = Pieces(instance, first, second)
        return f"{prompts_icl.question(pieces, 'pairs_labels')} {second}"
    texts = prompts.option_texts(instance)
    return " ".join(texts[instance.gold or 0 if len(texts) > 1 else 0].split())


def _halves(text: str) -> tuple[str, str]:
    words = text.split(" ")
    cut = max(1, round(0.7 * len(words)))
    return " ".join(words[:cut]), " ".join(words[cut:])
