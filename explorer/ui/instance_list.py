"""A benchmark's instances as a list to look through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from explorer import prompts
from explorer.records import Instance
from explorer.settings import Settings
from explorer.ui import resources
from explorer.writing import fold_text, running


@dataclass(frozen=True, slots=True)
class Listing:
    """Instances by id in benchmark order, their groups, and their texts in small letters to search in."""

    by_id: Mapping[str, Instance]
    groups: tuple[str, ...]
    texts: Mapping[str, str]

    def matching(self, group: str, words: str) -> list[str]:
        """The ids of a group ("" = all) whose id or text holds these words as they stand, in any case."""
        needle = fold_text(words)
        return [
            name
            for name, instance in self.by_id.items()
            if (not group or instance.group == group) and (not needle or needle in self.texts[name])
        ]


def listing(benchmark: str) -> Listing:
    """The benchmark's instances; the first call reads its files."""
    return _listing(benchmark, resources.settings())


@st.cache_resource(max_entries=4, show_spinner="Reading the benchmark")
def _listing(benchmark: str, settings: Settings) -> Listing:
    instances = resources.instances(benchmark).instances
    return Listing(
        by_id={instance.id: instance for instance in instances},
        groups=tuple(dict.fromkeys(instance.group for instance in instances)),
        texts={instance.id: _searchable(instance) for instance in instances},
    )


def forget() -> None:
    """Reads benchmarks anew the next time; for after an import."""
    _listing.clear()
    resources.forget()


def summary(instance: Instance, most: int = 120) -> str:
    """The instance's text in one line."""
    if instance.kind in ("pair", "rating"):
        text = running(instance.context, instance.options[0])
    elif instance.format == "context_options":
        text = instance.second
    elif instance.kind == "regions":
        text = prompts.sentence(instance.conditions[0])
    else:
        text = running(instance.context, instance.second)
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _searchable(instance: Instance) -> str:
    pieces = [instance.id, instance.context, instance.second, *instance.options]
    pieces += [part for condition in instance.conditions for part in condition.regions]
    return fold_text(" ".join(pieces))
