"""What a run of the in-context study stands on: its draw, the orders of its demonstrations, and which k fit."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from explorer import prompts, prompts_icl
from explorer.errors import UsageError
from explorer.records import Instance, RunSpec
from explorer.runs import spec as specs
from explorer.scoring import http
from explorer.studies import chat
from explorer.studies.selection import of_suites
from explorer.variants import demonstrations, language
from explorer.variants.demonstrations import Draw, Pieces

if TYPE_CHECKING:
    from explorer.resources import Resources

LONGEST = 3  # prompts that are encoded to see whether a k fits
REPLICATION, LABELS = "replication", "labels"
NO_NAMES = "names and sentence vectors are not compared in near-exact matches, since the texts are not English"


@dataclass(frozen=True, slots=True)
class DrawnItems:
    """Test items and demonstrations of a run."""

    draw: Draw
    orders: tuple[tuple[Pieces, ...], ...]  # of the demonstrations; the first serves replication, too
    pieces: dict[str, Pieces]  # of the test items, by id
    foreign: str = ""  # why the texts are not English, so that no names are told in them

    @property
    def example(self) -> Instance:
        """An instance that has what all of them have: labels, one text or two."""
        return self.draw.instances[0].instance


@dataclass(frozen=True, slots=True)
class Skipped:
    """A k that is not asked: why, and the largest one that could be (nan-like -1 for none)."""

    part: str  # replication or labels
    setting: str  # "" for labels
    k: int
    largest: int
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """Which numbers of demonstrations are asked, for each setting and for labels, and which are not."""

    replication: dict[str, list[int]]
    labels: list[int]
    skipped: tuple[Skipped, ...]


def sampled_items(spec: RunSpec, resources: Resources) -> DrawnItems:
    """The run's test items and demonstrations, drawn once."""
    return resources.once(("icl items", specs.run_id(spec)), lambda: _sample_items(spec, resources))


def select(spec: RunSpec, resources: Resources) -> list[Instance]:
    """The run's test items in the order drawn, the first `limit`."""
    chosen = [pieces.instance for pieces in sampled_items(spec, resources).draw.instances]
    return chosen[: spec.limit] if spec.limit is not None else chosen


def numbers_of_shots(spec: RunSpec) -> list[int]:
    """The numbers of demonstrations, each once, ascending."""
    shots = sorted(set(map(int, spec.settings["k"])))
    if not shots or shots[0] < 0:
        raise UsageError(f"The setting k got {spec.settings['k']}, expected numbers of demonstrations like 0,25,50.")
    return shots


def refuse_nonsense(spec: RunSpec) -> None:
    """UsageError where a setting would leave nothing to ask or to compare."""
    if not spec.settings["settings"]:
        raise UsageError(f"The setting settings is empty, expected one or more of {', '.join(prompts_icl.SETTINGS)}.")
    for name in ("instances", "max_new_tokens", "orders"):
        if int(spec.settings[name]) < 1:
            raise UsageError(f"The setting {name} got {spec.settings[name]}, expected a whole number from 1 on.")
    for name in ("rouge", "cosine"):
        if not 0 <= float(spec.settings[name]) <= 1:
            raise UsageError(f"The setting {name} got {spec.settings[name]}, expected a number from 0 to 1.")


def is_chat(spec: RunSpec) -> bool:
    """Whether prompts are sent as a user's message."""
    form = str(spec.settings["form"])
    return form == "chat" or (form == "auto" and (http.is_endpoint(spec.model) or chat.is_chat(spec.settings)))


def performance(spec: RunSpec) -> tuple[bool, bool]:
    """Whether labels are scored, and whether they are written."""
    method = str(spec.settings["performance"])
    if method == "auto":
        method = "published" if http.is_endpoint(spec.model) else "scored"
    return method in ("scored", "both"), method in ("published", "both")


# With k of 0, 25, 50, 100 and a window of 2,048 tokens, 25 and 50 may fit and 100 not: what fits is seen by encoding
# the longest prompts of each k. A k that does not fit is not shortened, since fewer demonstrations are another k: it is
# left out with the reason, and the largest that would fit is told.
def plan(spec: RunSpec, resources: Resources, drawn_items: DrawnItems) -> Plan:
    """Each k that fits the model's window with every test item, for an endpoint each for which there are enough."""
    instances = select(spec, resources)
    ks = numbers_of_shots(spec)
    demonstrations_drawn = len(drawn_items.draw.demonstrations)
    local = not http.is_endpoint(spec.model)
    model: Any = resources.model(spec.model, spec.dtype) if local else None
    skipped: list[Skipped] = []

    def fitting_counts(part: str, setting: str, tokens: Callable[[int], int]) -> list[int]:
        fitting = []
        for k in ks:
            if k > demonstrations_drawn:
                reason = f"only {demonstrations_drawn} demonstrations could be drawn"
            elif local and (needed := tokens(k)) > model.window:
                reason = f"{needed:,} tokens with {k} demonstrations, more than the model's window of {model.window:,}"
            else:
                fitting.append(k)
                continue
            most = _largest(min(k - 1, demonstrations_drawn), lambda k: not local or tokens(k) <= model.window)
            offer = f"; {most} would fit" if most >= 0 else "; nothing fits"
            skipped.append(Skipped(part, setting, k, most, reason + offer))
        return fitting

    replication = {}
    for setting in map(str, spec.settings["settings"]):
        needs = partial(_replication_tokens, spec, model, drawn_items, instances, setting)
        replication[setting] = fitting_counts(REPLICATION, setting, needs)
    labels = []
    if any(performance(spec)):
        labels = fitting_counts(LABELS, "", partial(_label_tokens, spec, model, drawn_items, instances))
    return Plan(replication, labels, tuple(skipped))


def _largest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `most` that fits, -1 for none; more never fits where less does not."""
    low, high = -1, most
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _replication_tokens(
    spec: RunSpec, model: Any, drawn_items: DrawnItems, instances: Sequence[Instance], setting: str, k: int
) -> int:
    before = prompts_icl.shared(
        drawn_items.draw.demonstrations[:k], setting, drawn_items.example, drawn_items.draw.split
    )
    questions = [prompts_icl.question(drawn_items.pieces[instance.id], setting) for instance in instances]
    return _longest(model, before, questions) + int(spec.settings["max_new_tokens"])


def _label_tokens(spec: RunSpec, model: Any, drawn_items: DrawnItems, instances: Sequence[Instance], k: int) -> int:
    word = max(prompts.label_words(drawn_items.example), key=len)
    scored, written = performance(spec)
    questions = [f"{prompts_icl.label_question(instance)} {word if scored else ''}" for instance in instances]
    orders = drawn_items.orders if scored else drawn_items.orders[:1]
    longest = max(
        _longest(model, prompts_icl.label_shared(order[:k], drawn_items.example), questions) for order in orders
    )
    return longest + (prompts_icl.LABEL_TOKENS if written else 0)


def _longest(model: Any, before: str, questions: Sequence[str]) -> int:
    """Tokens of the longest prompt."""
    texts = [(before + text, "") for text in sorted(questions, key=len)[-LONGEST:]]
    return max(len(encoding.ids) for encoding in model.encode_all(texts, "auto", "offsets"))


def _sample_items(spec: RunSpec, resources: Resources) -> DrawnItems:
    refuse_nonsense(spec)
    split = str(spec.settings["split"])
    loaded = resources.instances(spec.benchmark, (split,) if split else ())
    candidates = of_suites(loaded.instances, spec.suites)
    drawn_items = demonstrations.sample_items(
        [instance for instance in candidates if instance.kind == "labelled"],
        split=split,
        instances=int(spec.settings["instances"]),
        demonstrations=max(demonstrations.DEMONSTRATIONS, *numbers_of_shots(spec)),
        seed=spec.seed,
    )
    orders = demonstrations.sample_orders(drawn_items.demonstrations, int(spec.settings["orders"]), spec.seed)
    return DrawnItems(
        drawn_items,
        tuple(orders),
        {pieces.instance.id: pieces for pieces in drawn_items.instances},
        language.other_language([pieces.instance for pieces in drawn_items.instances], loaded.language),
    )


def as_json(drawn_items: DrawnItems, context_plan: Plan) -> dict[str, Any]:
    """The draw's remarks and the skipped k, for the run's folder."""
    return {
        "split": drawn_items.draw.split,
        "remarks": [
            *drawn_items.draw.remarks,
            *([f"{NO_NAMES}: {drawn_items.foreign}"] if drawn_items.foreign else []),
        ],
        "demonstrations": len(drawn_items.draw.demonstrations),
        "skipped": [dataclasses.asdict(skipped_k) for skipped_k in context_plan.skipped],
    }
