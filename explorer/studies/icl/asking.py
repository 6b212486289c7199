"""What the in-context study asks: the requests of each step, and what they come to at an endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer import prompts_chat, prompts_icl
from explorer.records import Instance, Request, RunSpec
from explorer.scoring import http
from explorer.scoring.http_cost import Planned
from explorer.studies import chat
from explorer.studies.icl.context import DrawnItems, is_chat, performance, plan, sampled_items

if TYPE_CHECKING:
    from explorer.resources import Resources

REPEATS = 3  # of a written label, where a server may answer otherwise each time


def replications(
    spec: RunSpec, drawn_items: DrawnItems, instances: Sequence[Instance], setting: str, k: int
) -> list[Request]:
    """To finish each item after k demonstrations."""
    before = prompts_icl.shared(
        drawn_items.draw.demonstrations[:k], setting, drawn_items.example, drawn_items.draw.split
    )
    form = message_form(spec)
    return [
        prompts_icl.replication(drawn_items.pieces[instance.id], before, setting, k, chat=form.chat, system=form.system)
        for instance in instances
    ]


def labels(
    spec: RunSpec, drawn_items: DrawnItems, instances: Sequence[Instance], k: int, order: int
) -> list[list[Request]]:
    """For each item the words of all labels after k demonstrations in one order."""
    before = prompts_icl.label_shared(drawn_items.orders[order][:k], drawn_items.example)
    return [label_requests(spec, instance, before, k, order) for instance in instances]


def label_requests(spec: RunSpec, instance: Instance, before: str, k: int, order: int) -> list[Request]:
    """The words of all labels of an item; `before` is what `prompts_icl.label_shared` gave for its demonstrations."""
    label_items = prompts_icl.label_requests(instance, before, k, order)
    return (
        prompts_chat.all_as_chat(label_items, str(spec.settings.get("system", "")))
        if chat.is_chat(spec.settings)
        else label_items
    )


def written_labels(
    spec: RunSpec, drawn_items: DrawnItems, instances: Sequence[Instance], k: int, repeat: int
) -> list[Request]:
    """To write each item's label after k demonstrations in the first order."""
    before = prompts_icl.label_shared(drawn_items.orders[0][:k], drawn_items.example)
    form = message_form(spec)
    return [
        prompts_icl.label_answer(instance, before, k, repeat, chat=form.chat, system=form.system)
        for instance in instances
    ]


@dataclass(frozen=True, slots=True)
class MessageForm:
    """Whether a prompt is sent as a user's message, and after which system prompt ("" for none)."""

    chat: bool
    system: str


def message_form(spec: RunSpec) -> MessageForm:
    """The form in which a run sends its prompts."""
    return MessageForm(is_chat(spec), str(spec.settings.get("system", "")))


def repeats(spec: RunSpec) -> int:
    """How often a label is written: on this machine the second time would be as the first."""
    return REPEATS if http.is_endpoint(spec.model) else 1


def planned(spec: RunSpec, resources: Resources, instances: Sequence[Instance]) -> list[Planned]:
    """What these items will ask of an endpoint; a judge of another name is not counted."""
    drawn_items = sampled_items(spec, resources)
    icl_plan = plan(spec, resources, drawn_items)
    scored, written = performance(spec)
    new_tokens = int(spec.settings["max_new_tokens"])
    plans = [
        Planned(replications(spec, drawn_items, instances, setting, k), new_tokens)
        for setting, ks in icl_plan.replication.items()
        for k in ks
    ]
    for k in icl_plan.labels:
        if scored:
            flat = [request for requests in labels(spec, drawn_items, instances, k, 0) for request in requests]
            plans.append(Planned(flat, 1, len(drawn_items.orders)))
        if written:
            plans.append(
                Planned(written_labels(spec, drawn_items, instances, k, 0), prompts_icl.LABEL_TOKENS, repeats(spec))
            )
    return plans
