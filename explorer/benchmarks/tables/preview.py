"""An import before it is kept: its first items as a model will read them, and what is not read at all."""

from __future__ import annotations

from collections import Counter
from typing import TypedDict

from explorer import prompts
from explorer.benchmarks.core.benchmark import Parsed
from explorer.benchmarks.tables.reading import Reading
from explorer.benchmarks.tables.roles import KIND_WORDS
from explorer.records import Instance

FIRST = 3  # items shown
MOST = 12  # texts shown of an item; a set of classes may have two hundred
REASONS = {
    "unlabeled": "unlabeled",
    "an empty row": "an empty row",
    "a line before the table": "a line before the table",
    "in the split": "of another split",
}


class PreviewText(TypedDict):
    """One text of an item: what stands before, what is scored after it, and whether it is the right one (None: no one
    says)."""

    name: str
    context: str
    continuation: str
    right: bool | None


class PreviewItem(TypedDict):
    """An instance as a model is asked about it; a person's rating of it where it has one."""

    id: str
    texts: list[PreviewText]
    rating: float | None


def preview_items(parsed: Parsed) -> list[PreviewItem]:
    """The first items: for each text its context, what is scored after it, and whether it is the right one."""
    return [_item(instance) for instance in parsed.instances[:FIRST]]


def _item(instance: Instance) -> PreviewItem:
    if instance.kind == "regions":
        texts: list[PreviewText] = [
            {"name": condition.name, "context": "", "continuation": " | ".join(condition.regions), "right": None}
            for condition in instance.conditions
        ]
        return {"id": instance.id, "texts": texts, "rating": None}
    requests = prompts.requests(instance)
    lone = len(instance.options) == 1
    texts = [
        {
            "name": f"option {request.option + 1}",
            "context": request.context,
            "continuation": request.continuation,
            "right": None if lone else request.option == instance.gold,
        }
        for request in requests
    ]
    return {"id": instance.id, "texts": texts, "rating": instance.extra.get("rating")}


def left_out(parsed: Parsed) -> dict[str, int]:
    """How many rows were left out for each kind of reason, the most frequent first."""
    return dict(Counter(_kind_of(row.reason) for row in parsed.left_out).most_common())


def _kind_of(reason: str) -> str:
    return next((words for start, words in REASONS.items() if reason.startswith(start)), reason)


def describe_reading(reading: Reading) -> dict[str, str]:
    """What the reading rests on, in words, part by part."""
    descriptions = {"kind": KIND_WORDS[reading.kind], **reading.why}
    if reading.why.get("kind"):
        descriptions["kind"] = f"{KIND_WORDS[reading.kind]} ({reading.why['kind']})"
    return descriptions


def preview_lines(reading: Reading, parsed: Parsed) -> list[str]:
    """The preview as lines of plain text; what a model scores stands after >>."""
    printed = [f"{name}: {text}" for name, text in describe_reading(reading).items()]
    printed.append("the first items as a model reads them, what is scored after >>:")
    for item in preview_items(parsed):
        rated = "" if item["rating"] is None else f", rated {item['rating']:g}"
        printed.append(f"  {item['id']}{rated}")
        for text in item["texts"][:MOST]:
            mark = {True: "right", False: "wrong", None: ""}[text["right"]]
            heading = text["name"] if reading.instance_kind == "regions" else mark
            printed.append(f"    {heading:<6} {_shown(text)}")
        if len(item["texts"]) > MOST:
            printed.append(f"    and {len(item['texts']) - MOST} more")
    unused = reading.unused
    printed.append(f"columns not used: {', '.join(unused)}" if unused else "every column is used")
    printed += [f"left out {count:,}: {reason}" for reason, count in list(left_out(parsed).items())[:10]]
    return printed


def _shown(text: PreviewText) -> str:
    context = text["context"]
    context = context if len(context) <= 300 else f"… {context[-300:]}"
    return f"{context}>>{text['continuation'][:300]}".replace("\n", "⏎")
