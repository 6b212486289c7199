"""How an instance is asked in a conversation, and how a sentence is put up for judgment: the wording of both.

    as_chat(request, system)      what stood before an option as the user's turn, the option as the assistant's answer
    judgments(instance, ...)      each sentence of a pair in a question, with yes and with no as the answers

A request of an answer has the turns before it in `conversation`, what the assistant has already said in `context`, and
in `continuation` what is scored of the answer. No blank stands before the first word of an answer: where a template
wants one, it puts one itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from explorer import prompts
from explorer.errors import UsageError
from explorer.records import Instance, Request
from explorer.writing import joined

# What the user says where nothing stands before the options, as with minimal pairs: most templates take no answer to
# nobody, and an empty message is none that a model was trained on.
WRITE = "Write a sentence."

JUDGE = "Is this sentence well-formed and natural?\n\n{sentence}\n\nAnswer with yes or no."
YES, NO = "yes", "no"  # the roles of the two answers
ANSWERS = {YES: "Yes", NO: "No"}
JUDGED = ("sentence", "pair_in_context")  # formats whose options are sentences, of which one is acceptable


def as_chat(request: Request, system: str = "") -> Request:
    """The request as an answer: its context is what the user said, and its continuation what the assistant says.

    The regions of a suite are pieces of one sentence, so the earlier ones are the beginning of the answer.
    """
    if request.role == "region":
        said, begun = "", request.context
    else:
        said, begun = request.context.strip(), ""
    answer = request.continuation if begun else request.continuation.strip()
    return replace(request, context=begun, continuation=answer, conversation=_turns(said or WRITE, system))


def all_as_chat(requests: Sequence[Request], system: str = "") -> list[Request]:
    """Several of them."""
    return [as_chat(request, system) for request in requests]


def after_text(request: Request, text: str, system: str = "") -> Request:
    """A request of nothing but an answer (and how it begins) after a text and the wish for a sentence."""
    return replace(request, conversation=_turns(f"{text}\n\n{WRITE}" if text else WRITE, system))


def judgments(instance: Instance, *, chat: bool, system: str = "") -> list[Request]:
    """For each sentence of a pair two requests: yes and no after the question about it."""
    if instance.format not in JUDGED:
        raise UsageError(
            f"{instance.id} has the format {instance.format}, and only the sentences of minimal pairs can be judged. "
            "Leave ask out."
        )
    requests = []
    for option, sentence in enumerate(prompts.option_texts(instance)):
        question = JUDGE.format(sentence=sentence)
        for role, answer in ANSWERS.items():
            if chat:
                turns = _turns(question, system)
                requests.append(Request(instance.id, option, "", answer, role, conversation=turns))
            else:
                pair = joined(f"{question}\nAnswer:", answer)
                requests.append(Request(instance.id, option, *pair, role))
    return requests


def _turns(said: str, system: str) -> tuple[tuple[str, str], ...]:
    return (*((("system", system),) if system else ()), ("user", said))
