"""The eight tasks of the popularity paper (section 3): four formal, four functional."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from explorer.records import Instance


@dataclass(frozen=True, slots=True)
class Task:
    """A task: its title, the kind of competence it asks for, and which instances belong to it."""

    title: str
    field: str  # formal or functional
    benchmark: str
    phenomena: tuple[str, ...] = ()  # BLiMP's linguistics terms; () = the whole benchmark


TASKS: Mapping[str, Task] = {
    "determiner_noun_agreement": Task("Determiner-noun agreement", "formal", "blimp", ("determiner_noun_agreement",)),
    "subject_verb_agreement": Task("Subject-verb agreement", "formal", "blimp", ("subject_verb_agreement",)),
    "anaphor_agreement": Task("Anaphor agreement", "formal", "blimp", ("anaphor_agreement",)),
    "argument_structure": Task("Argument structure", "formal", "blimp", ("argument_structure",)),
    "lambada": Task("LAMBADA", "functional", "lambada"),
    "piqa": Task("PIQA", "functional", "piqa"),
    "copa": Task("COPA", "functional", "copa"),
    "winogrande": Task("WinoGrande", "functional", "winogrande"),
}

# The paper's four argument-structure paradigms are not named; this wider reading can be chosen instead.
S_SELECTION = ("argument_structure", "s-selection")


def task_of(instance: Instance, argument_structure: tuple[str, ...] = ("argument_structure",)) -> str:
    """The task that an instance belongs to, or "" for none."""
    for name, task in TASKS.items():
        phenomena = argument_structure if name == "argument_structure" else task.phenomena
        same_set = instance.benchmark == task.benchmark or instance.benchmark.startswith(f"{task.benchmark}_")
        if same_set and (not phenomena or instance.phenomenon in phenomena):
            return name
    return ""
