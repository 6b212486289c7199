"""Whether a run was made as a printed figure was: which settings matter to it, and what differs, in words.

A printed figure and a run are compared only where all that matters to the figure agrees. What does not matter (the
n-gram length to an accuracy) is not looked at. A setting that a run does not have, because predictions or another
harness's log were imported, cannot be told apart from the printed one and counts as the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.popularity import indexes
from explorer.popularity.ngrams import DEFAULT_N
from explorer.studies import chat
from explorer.studies.design import design_of
from explorer.studies.selection import ONLY

# Benchmark → how many items its published edition has; a paradigm of BLiMP has 1,000.
ITEMS: Mapping[str, int] = {
    "blimp": 67_000, "piqa": 1_838, "lambada": 5_153, "winogrande": 1_267, "copa_superglue": 100, "copa": 1_000,
    "crows_pairs": 1_508,
}  # fmt: skip
# What runs that were made before a choice was given did.
UNSAID: Mapping[str, Any] = {"method": "careful"}
CORPUS = {
    "v4_dolma-v1_7_llama": "Dolma", "v4_piletrain_llama": "the Pile", indexes.GLASSBOX: "the glass box's index",
    **{name: former.title for name, former in indexes.FORMER.items()},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunMethod:
    """How a run was made, as far as it is stored."""

    settings: Mapping[str, Any]
    limit: int | None = None
    suites: tuple[str, ...] = ()
    status: str = "complete"
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Requirement:
    """A setting that matters to a printed figure: what a run has to have, and how either is said.

    setting   key of the run's settings
    wanted    the values under which the figure is the printed one's
    ours      from the run's value to words: "2-grams"
    theirs    the same of the paper: "7-grams"
    """

    setting: str
    wanted: tuple[Any, ...]
    ours: Callable[[Any], str]
    theirs: str

    def difference(self, settings: Mapping[str, Any]) -> tuple[str, str] | None:
        """(ours, theirs) where the run has another value; none where it agrees or does not say."""
        if self.setting not in settings:
            return None
        value = _tuple_for_list(settings[self.setting])
        return None if value in self.wanted else (self.ours(value), self.theirs)


def differences(
    required: Iterable[Requirement],
    presets: Sequence[str],
    preset: str,
    run_made: RunMethod,
    *,
    benchmark: str,
    items: int = 0,
) -> str:
    """What differs, as "2-grams, the glass box's index; the paper: 7-grams, Dolma"; "" where all that matters agrees.

    `items` is over how many items the run's figure is, where it is over all of its benchmark's.
    """
    pairs = [_preset(presets, preset), _as_chat(run_made.settings), *_how_many(run_made, benchmark, items)]
    settings = {**UNSAID, **run_made.settings}
    settings |= {"n": _ngrams(run_made.settings)} if "n" in run_made.settings else {}
    pairs += [requirement.difference(settings) for requirement in required]
    pairs_differing = list(dict.fromkeys(pair for pair in pairs if pair is not None))
    if not pairs_differing:
        return ""
    ours, theirs = (", ".join(dict.fromkeys(filter(None, side))) for side in zip(*pairs_differing, strict=True))
    return f"{ours}; the paper: {theirs}"


def _preset(presets: Sequence[str], preset: str) -> tuple[str, str] | None:
    if not presets or preset in presets:
        return None
    return f"scored as {preset}" if preset else "scoring not stored", f"as {' or '.join(presets)}"


def _as_chat(settings: Mapping[str, Any]) -> tuple[str, str] | None:
    """No paper scored options as answers in a chat, or put sentences up for judgment."""
    chat_words = chat.in_words(settings)
    return (f"asked {chat_words}", "plain text") if chat_words else None


def _how_many(run_made: RunMethod, benchmark: str, items: int) -> list[tuple[str, str]]:
    """Of fewer items, or of items that were chosen: the run's and the paper's number in words."""
    whole = ITEMS.get(benchmark, 0)
    every = f"all {whole:,} items" if whole else "all items"
    if run_made.settings.get(ONLY):
        return [("a slice of the items", every)]
    if run_made.status != "complete" and run_made.done < run_made.total:
        return [(f"{run_made.done:,} of {run_made.total:,} items so far", every)]
    design = design_of({**run_made.settings, "instances": 0}, run_made.limit, run_made.suites)
    if design.kind == "first":
        return [(f"the first {run_made.limit:,} items", every)]
    if design.kind == "per group" and not _takes_whole_groups(run_made, benchmark):
        return [(f"at most {int(run_made.settings['per_group']):,} items a group", every)]
    if design.kind == "per bucket":
        return [(f"{int(run_made.settings['per_bucket']):,} concepts a bucket", "all concepts")]
    if items and whole and not run_made.suites and items != whole:
        return [(f"{items:,} items", every)]
    return []


def _takes_whole_groups(run_made: RunMethod, benchmark: str) -> bool:
    """Whether as many items of each group were asked for as the groups have."""
    largest = 1_000 if benchmark == "blimp" else ITEMS.get(benchmark, 0)
    return bool(largest) and int(run_made.settings["per_group"]) >= largest


def _ngrams(settings: Mapping[str, Any]) -> int:
    """The n-gram length that a run used: 0 stands for the usual one of its index."""
    return int(settings["n"]) or indexes.default_length(str(settings.get("index", "")), DEFAULT_N)


def _tuple_for_list(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


# What matters to which figures


def as_preset(*names: str) -> tuple[Requirement, ...]:
    """No departure from the scoring preset in the beginning token or the reduction."""
    words = {
        "bos": ("preset", lambda value: f"beginning token: {value}", "beginning token of the preset"),
        "normalization": ("preset", lambda value: f"compared by {value}", "compared by the sum"),
    }
    return tuple(Requirement(name, (words[name][0],), words[name][1], words[name][2]) for name in names)


SCORED = (
    *as_preset("bos", "normalization"),
    Requirement("split", ("",), lambda value: f"split {value}", "the usual split"),
)


def counted(index: str) -> tuple[Requirement, ...]:
    """N-gram length, index, and how a text's beginning is counted."""
    return (
        Requirement("n", (DEFAULT_N,), lambda value: f"{value}-grams", f"{DEFAULT_N}-grams"),
        Requirement("index", (index,), lambda value: CORPUS.get(value, f"index {value}"), CORPUS.get(index, index)),
        Requirement("initial", ("running",), lambda value: f"beginnings counted {value}", "as running text"),
        Requirement("edges_from", ("",), lambda value: f"deciles of {value}", "deciles of the same texts"),
    )


# The paper disambiguates each word in its context, and swaps without a list of exceptions.
SWAPPED = (
    Requirement("method", ("published",), lambda value: f"{value} swaps, labels kept", "swaps as in its appendix A.2"),
    Requirement("senses", ("blend", "gloss", "lesk", "lm", "lm-choice", "chat"), lambda value: f"{value} sense",
                "senses told apart in context"),
    Requirement("veto", ("",), lambda value: "some words never swapped", "no word excepted"),
)  # fmt: skip
MASKED = ("roberta-base",)
NEIGHBORS = (
    Requirement("neighbours_by", MASKED, lambda value: f"neighbors by {_proposer(value)}", "neighbors by roberta-base"),
    Requirement("neighbours", (10,), lambda value: f"{value} neighbors a text", "10 neighbors a text"),
    Requirement("neighbours_cap", (0,), lambda value: f"neighbors of {value} items a task", "neighbors of all items"),
)
MIN_K = (Requirement("min_k", (20,), lambda value: f"min-k of {value:g}%", "min-k of 20%"),)
PRIMED = (
    Requirement("chains", (0,), lambda value: f"items share {value} contexts", "a context of its own for each item"),
    Requirement("unrelated", ("wikitext",), lambda value: f"unrelated sentences of {value}", "WikiText"),
    Requirement("other_phenomenon", (False,), lambda _: "mismatched of another phenomenon", "of another suite"),
)


def _proposer(value: str) -> str:
    return "whatever was at hand" if value == "auto" else str(value).removeprefix("infill:") + (
        " (infilling)" if str(value).startswith("infill:") else ""
    )  # fmt: skip


def how_asked(prompt: str) -> tuple[Requirement, ...]:
    """How an ontology's concepts were asked for: the prompt's form, its wording, its language."""
    kinds = {"chat": "a chat prompt", "completion": "a completion prompt"}
    return (
        # Of the paper's models "auto" takes the form that each of them was asked in.
        Requirement("prompt", (prompt, "auto"), lambda value: kinds.get(value, f"prompt {value}"), kinds[prompt]),
        Requirement("form", ("released",), lambda value: f"prompt {value}", "prompt as released"),
        Requirement("languages", (("en",),), lambda value: f"asked in {', '.join(value)}", "asked in English"),
        Requirement("max_new_tokens", (0,), lambda value: f"{value} new tokens", "as many new tokens as released"),
        Requirement("buckets", (50,), lambda value: f"{value} buckets", "50 buckets"),
        Requirement("counts", ("file",), lambda value: f"popularity by {value}", "web counts of the file"),
    )


GPT_4 = ("openai:gpt-4", "openai:gpt-4-0613", "openai:gpt-4-0613-32k")


def demonstrated(k: int) -> tuple[Requirement, ...]:
    """How replication was asked for and judged; `k` demonstrations, -1 where the figure is about all of them."""
    shots = (0, 25, 50, 100, 200)
    return (
        Requirement("instances", (200,), lambda value: f"{value:,} items", "200 items"),
        Requirement("split", ("", "train"), lambda value: f"split {value}", "the train split"),
        Requirement("max_new_tokens", (100,), lambda value: f"{value} new tokens", "100 new tokens"),
        Requirement("judge", GPT_4, lambda value: f"near-exact by {value or 'a rule'}", "near-exact by GPT-4"),
        *(() if k >= 0 else (
            Requirement("k", (shots,), lambda value: f"{', '.join(map(str, value))} shots",
                        f"{', '.join(map(str, shots))} shots"),
        )),
    )  # fmt: skip


def but_for(required: Sequence[Requirement], *settings: str) -> tuple[Requirement, ...]:
    """The requirements but for these settings."""
    return tuple(requirement for requirement in required if requirement.setting not in settings)
