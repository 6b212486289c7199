"""Processes of a run to come, started while the command itself still imports what it needs.

    0.1 s   the arguments are there     begin: the model's process, the tokenizer's and those that make parts import
    1.2 s   the study is imported       read_benchmark: those that make parts read the instances
    4 s     the weights are hashed      the run has its name; the processes are handed their work
    5 s     the model is loaded         rows lie ready

Without it one would wait for the other (bench/RESULTS.md). This module imports next to nothing.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.processors import usable_processors
from explorer.runs import own_cards
from explorer.scoring import child_process, own_process
from explorer.scoring.engine.memory import free_ram
from explorer.settings import Settings

if TYPE_CHECKING:
    from explorer.records import RunSpec
    from explorer.runs.compute_target import ComputeTarget

PART_MODULE = "explorer.cluster.part_process"
MAX_PROCESSES = 6
# Of the processors of a machine each card's process has one, which it must never wait for, this one another.
CORES_PER_PROCESS = 2
MEMORY_PER_PROCESS = 2 << 30  # bytes that one process may take: the benchmark, its parts under way, and the packages
MIN_INSTANCES = 200  # instances: fewer are made in this process before another one has begun
# Studies whose model may be in a process of its own (`Study.may_be_apart`), and the settings with which it may, as they
# stand on a command line.
STUDIES: Mapping[str, frozenset[str]] = {
    "accuracy": frozenset(),
    "priming": frozenset(),
    "memorization": frozenset({"neighbours=0"}),
    "ontology": frozenset(),
    "popularity": frozenset(),
    "perturbation": frozenset(),
}
# Studies that ask more of their model than another process answers: it is loaded here, and has its tokenizer from one;
# what it writes is judged in another.
MODEL_HERE = frozenset({"icl"})
# Who counts in any other index may have to ask a service, and a judge or such a sense method is a second model.
ASKED_HERE = {
    "index": ("glassbox",),
    "judge": ("",),
    "senses": ("blend", "gloss", "first", "lesk"),
}
# With these a run is made elsewhere or not at all, or it is several runs.
OTHERWISE = ("-h", "--help", "--dry-run", "--detach", "--to", "--workers", "--cpus", "--sweep", "--seeds", "--keep")


@dataclass(frozen=True, slots=True)
class BenchmarkToRead:
    """What a part process is told before there is a run: which instances will be asked for."""

    settings: Settings
    benchmark: str
    splits: tuple[str, ...]
    is_fetched: bool  # else it is read only where it need not be fetched


def count_for(instances: int, cards: int = 1) -> int:
    """How many processes make the parts of a run of so many instances for so many cards; 0: this one does it alone."""
    most = MAX_PROCESSES * max(1, cards)
    by_processors = (usable_processors() - 1 - max(1, cards)) // CORES_PER_PROCESS
    free = free_ram()
    by_memory = most if free is None else free // MEMORY_PER_PROCESS
    count = min(most, by_processors, by_memory)
    return count if count > 1 and instances >= MIN_INSTANCES else 0


def begin(arguments: Sequence[str]) -> None:
    """Starts the processes of `run STUDY ...` where they will be wanted; whoever called it calls `end`."""
    command, study = (*arguments, "", "")[:2]
    options = {word.partition("=")[0] for word in arguments}
    if command == "run" and options.isdisjoint(OTHERWISE) and not any(map(_is_address, arguments)):
        cluster = next(_values(arguments, "--cluster"), "here")
        cards = own_cards.cards_of_auto() if cluster == own_cards.AUTO else ()
        if cards or cluster == "here":
            _start(study, arguments, _limit(arguments), cards)


def begin_run(spec: RunSpec, where: ComputeTarget, *, is_confined: bool) -> None:
    """As `begin`, for a run that is there already and is to be done at this place."""
    cards = own_cards.cards_of(where, spec.model, may_be_apart=True)
    if not _is_address(spec.model) and (cards or not where.cluster):
        # The parts of a visitor's run are made by one process (`runs/worker.py`).
        given = [f"{name}={value}" for name, value in spec.settings.items()]
        _start(spec.study, given, 0 if is_confined else spec.limit or MIN_INSTANCES, cards)


def _start(study: str, settings: Sequence[str], instances: int, cards: Sequence[str]) -> None:
    if study in MODEL_HERE and own_process.is_worthwhile():
        with contextlib.suppress(OSError):
            child_process.start_ahead(own_process.TOKENIZER_MODULE)
            child_process.start_ahead(own_process.JUDGING_MODULE, card=own_process.NO_CARD)
    pairs = (word.partition("=") for word in settings)
    is_asked_here = all(value in ASKED_HERE[name] for name, _, value in pairs if name in ASKED_HERE)
    if study in STUDIES and STUDIES[study] <= set(settings) and is_asked_here and own_process.is_worthwhile():
        with contextlib.suppress(OSError):  # no more processes may be started: the run itself says what it lacks
            for card in cards or ("",):  # the first: their imports take longest
                child_process.start_ahead(own_process.MODEL_MODULE, card=card)
            child_process.start_ahead(own_process.TOKENIZER_MODULE)
            child_process.start_ahead(PART_MODULE, count_for(instances, len(cards)))


def _is_address(word: str) -> bool:
    return "://" in word


def read_benchmark(settings: Settings, benchmark: str, splits: Sequence[str], *, is_fetched: bool) -> None:
    """Tells the part processes that were begun which instances will be asked for, and whether they are here surely."""
    child_process.send_ahead(PART_MODULE, ("read", BenchmarkToRead(settings, benchmark, tuple(splits), is_fetched)))


def end(but: str = "") -> None:
    """Ends what was begun and not taken, all but the processes of one module."""
    child_process.end_ahead(but)


def _limit(arguments: Sequence[str]) -> int:
    """How many instances the run has at most, as far as the arguments say."""
    return next((int(text) for text in _values(arguments, "--limit") if text.isdecimal()), MIN_INSTANCES)


def _values(arguments: Sequence[str], flag: str) -> Iterator[str]:
    """What is given with a flag, as `--flag=value` or as `--flag value`."""
    yield from (word.partition("=")[2] for word in arguments if word.startswith(f"{flag}="))
    yield from (after for word, after in itertools.pairwise(arguments) if word == flag)
