"""The prompts of a stored in-context run, put together again from its rows, with what the model wrote after them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache

import pandas as pd

from explorer import prompts_icl
from explorer.records import Instance
from explorer.rows.builders import instance_of
from explorer.studies.icl.rows import Read
from explorer.variants.demonstrations import Pieces

COLUMNS = ["instance_id", "role", "setting", "k", "part", "prompt", "text", "finish", "verdict", "reason"]


def demonstrations(read: Read, order: int = 0) -> list[Pieces]:
    """A run's demonstrations in one of its orders; `read` gives columns of a run's table, as for `verdict_table`."""
    rows = read("variants", ["condition", "edit", "payload"])
    rows = rows[rows["condition"] == "demonstration"]
    placed = []
    for edit, payload in zip(rows["edit"], rows["payload"], strict=True):
        fields = json.loads(edit)
        pieces = Pieces(instance_of(payload), fields["first"], fields["second"], fields["blank"], fields["blanks"])
        placed.append((int(fields["places"][order]), pieces))
    return [pieces for _, pieces in sorted(placed, key=lambda pair: pair[0])]


def before(shots: Sequence[Pieces], example: Instance, role: str, setting: str = "") -> str:
    """What stands before an item's own part of a prompt: `role` as in `generations` and `scores`."""
    if role == "replication":
        return prompts_icl.shared(shots, setting, example, example.split)
    return prompts_icl.label_shared(shots, example) if role in ("label", "label_answer") else ""


def full_prompts(read: Read) -> pd.DataFrame:
    """A row per answer: what was asked, the whole prompt, the raw answer, what it gives (`completion`), the verdict."""
    rows = read("generations", COLUMNS)
    shots = demonstrations(read)
    example = instance_of(read("instances", ["payload"])["payload"].iloc[0])

    @cache
    def opening(role: str, setting: str, k: int) -> str:
        return before(shots[:k], example, role, setting)

    turns = zip(rows["role"], rows["setting"].fillna(""), rows["k"].astype(int), rows["prompt"], strict=True)
    rows["prompt"] = [opening(role, setting, k) + question for role, setting, k, question in turns]
    texts = [text if isinstance(text, str) else "" for text in rows["text"]]
    rows["completion"] = [
        prompts_icl.completion(text) if role == "replication" else text.strip()
        for role, text in zip(rows["role"], texts, strict=True)
    ]
    return rows[[*COLUMNS[:7], "completion", *COLUMNS[7:]]]
