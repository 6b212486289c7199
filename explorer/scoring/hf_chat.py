"""A conversation in the form of a model's chat template, rendered where it can be stopped.

A template is a program that comes with a model. transformers runs it in a sandbox, from which it reaches no file; but a
loop may be of any length and a text of any size. So it is rendered in a process beside this one, which has a bound of
memory and is ended when it takes too long.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from explorer import stopping
from explorer.errors import ModelError
from explorer.records import Request
from explorer.settings import ROOT

SECONDS = 10.0  # for what is rendered in one go; a conversation takes a tenth of a millisecond
STARTING = 120.0  # for the first, which waits for the process
MAX_TEMPLATE = 1 << 20  # characters; long ones, with the prompts of tools, have some ten thousand
MAX_TEXT = 16 << 20  # characters of what is rendered
MAX_MEMORY = 1 << 30  # bytes that rendering may take
BATCH_CONVERSATIONS = 512  # conversations that are rendered in one go, which takes a fraction of a second ...
BATCH_CHARACTERS = 1 << 20  # ... and characters, so that long ones do not add up
DEFAULT_TEMPLATE = "default"  # the name of the template that is taken where a model has several
ANSWER = "\u220e"  # a sign that no template knows
# What each kind of turn says when a template is asked for the first time: a word of small and of capital letters, since
# a template may change them.
PROBE_WORDS = {"system": "Sayqovk", "user": "Usmevoq", "assistant": "Aswukiv"}
ADVICE_LEFT_OUT = {
    "system": "the system prompt, so that the model would not read it as it was given. Leave system out, use another",
    "user": "what the user says, so that the model would not read it as it was asked. Use another",
    "assistant": "what the assistant says, so that no answer can be scored by it. Use another",
}
NO_TEMPLATE = (
    "{name} has no chat template, which chat=always asks for. Choose a model that was tuned for chat, or leave chat "
    "out."
)

_lock = threading.Lock()
_checked_templates: set[tuple[str, tuple[str, ...]]] = set()  # templates that give back what these kinds of turns say
_child: subprocess.Popen[bytes] | None = None


Message = Mapping[str, str]
Turns = tuple[tuple[str, str], ...]  # role and text


def render(template: str, messages: Sequence[Message], tokens: Mapping[str, Any]) -> str:
    """What the template makes of the messages, up to where the answer begins; ModelError where it makes nothing."""
    require_complete(template, [message["role"] for message in messages], tokens)
    return _render(template, [messages], tokens, {"add_generation_prompt": True})[0]


# A template may leave out what it has no place for, and nothing in its text tells. So before one is used it is given a
# conversation of the same turns, in which each says a word that no template writes by itself.
def require_complete(template: str, roles: Sequence[str], tokens: Mapping[str, Any]) -> None:
    """ModelError where the template leaves out or changes what one of these turns says."""
    key = (template, tuple(roles))
    if not roles or key in _checked_templates:
        return
    probe_turns = [
        {"role": role, "content": f"{PROBE_WORDS.get(role, PROBE_WORDS['user'])}{place}x"}
        for place, role in enumerate(roles)
    ]
    text = _render(template, [probe_turns], tokens, {"add_generation_prompt": roles[-1] != "assistant"})[0]
    for message in probe_turns:
        if message["content"] not in text:
            changed = message["content"].casefold() in text.casefold()
            rest = ADVICE_LEFT_OUT.get(message["role"], ADVICE_LEFT_OUT["user"])
            raise ModelError(
                f"The model's chat template {'changes the letters of' if changed else 'leaves out'} {rest} model, or "
                "mend chat_template in its folder."
            )
    _checked_templates.add(key)


# The place where an answer begins is found by letting the assistant say a word and cutting it off again: some templates
# put more before an answer that is there (a blank, an empty thought) than before one that is still to be written, and a
# model was trained on the former.
#
#     <|user|>Write a sentence.<|assistant|> ∎        ∎ is cut off; what is left stands before every option
def render_before_answers(template: str, conversations: Sequence[Turns], tokens: Mapping[str, Any]) -> dict[Turns, str]:
    """Each conversation as the template writes it, up to where the assistant's answer begins.

    As transformers' `continue_final_message` has it; ModelError where the template makes nothing of one.
    """
    texts: dict[Turns, str] = {}
    waiting = list(dict.fromkeys(conversations))
    while waiting:
        batch: list[Turns] = []
        size = 0
        while waiting and len(batch) < BATCH_CONVERSATIONS and size < BATCH_CHARACTERS:
            batch.append(waiting.pop())
            size += sum(len(text) for _, text in batch[-1])
        for turns in batch:
            require_complete(template, [*(role for role, _ in turns), "assistant"], tokens)
        messages = [[*as_messages(turns), {"role": "assistant", "content": ANSWER}] for turns in batch]
        for turns, text in zip(
            batch, _render(template, messages, tokens, {"continue_final_message": True}), strict=True
        ):
            if not text.endswith(ANSWER):
                raise ModelError(
                    "The model's chat template changes what the assistant says, so that no answer can be scored by it. "
                    "Leave chat out, or use another model."
                )
            texts[turns] = text.removesuffix(ANSWER)
    return texts


def as_messages(turns: Turns) -> list[dict[str, str]]:
    """Turns as templates and servers take them."""
    return [{"role": role, "content": text} for role, text in turns]


def template_of(model: Any) -> str:
    """The chat template of a loaded model; ModelError where it has none."""
    text = default_template(model.tokenizer)
    if not text:
        raise ModelError(NO_TEMPLATE.format(name=model.name))
    return text


def default_template(tokenizer: Any) -> str:
    """The chat template of a tokenizer, of several the one that is called default; "" where there is none of these."""
    template = getattr(tokenizer, "chat_template", None)
    if isinstance(template, Mapping):
        template = template.get(DEFAULT_TEMPLATE)
    return template if isinstance(template, str) else ""


def render_requests(model: Any, requests: Sequence[Request]) -> list[Request]:
    """Requests of answers in a conversation as plain ones, whose context is what the model reads before the answer."""
    template, tokens = template_of(model), model.tokenizer.special_tokens_map
    turns = [request.conversation for request in requests]
    before = render_before_answers(template, [each for each in turns if each is not None], tokens)
    return [
        request if each is None else replace(request, context=before[each] + request.context, conversation=None)
        for request, each in zip(requests, turns, strict=True)
    ]


def _render(
    template: str, conversations: Sequence[Sequence[Message]], tokens: Mapping[str, Any], form: Mapping[str, bool]
) -> list[str]:
    if len(template) > MAX_TEMPLATE:
        raise ModelError(
            f"The model's chat template has {len(template):,} characters, expected at most {MAX_TEMPLATE:,}. Use "
            "another model, or mend chat_template in its folder."
        )
    plain_conversations = [[dict(message) for message in messages] for messages in conversations]
    payload = json.dumps([template, plain_conversations, dict(tokens), dict(form)]).encode() + b"\n"
    with stopping.turn(_lock):
        answer = _ask_child(payload)
    if "texts" not in answer:
        with_system = any(message["role"] == "system" for messages in plain_conversations for message in messages)
        way_out = "Leave system out, use another" if with_system else "Use another"
        raise ModelError(
            f"The model's chat template cannot be rendered ({answer.get('fault', 'it gave nothing')}). {way_out} "
            "model, or mend chat_template in its folder."
        )
    return [str(text) for text in answer["texts"]]


def _ask_child(payload: bytes) -> dict[str, Any]:
    global _child
    seconds = SECONDS
    if _child is None or _child.poll() is not None:
        _child, seconds = _start_child(), STARTING
    child = _child
    try:
        line = stopping.call(lambda: _exchange(child, payload), within=lambda: seconds)
        return dict(json.loads(line)) if line else {"fault": "it took too much memory"}
    except TimeoutError:
        _kill_child(child)
        return {"fault": f"it takes more than {seconds:.0f} seconds"}
    except BaseException:  # stopped: what the process answers now nobody would read
        _kill_child(child)
        raise


def _exchange(child: subprocess.Popen[bytes], payload: bytes) -> bytes:
    assert child.stdin and child.stdout
    try:
        child.stdin.write(payload)
        child.stdin.flush()
        return child.stdout.readline()
    except (OSError, ValueError):
        return b""


def _start_child() -> subprocess.Popen[bytes]:
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-m", "explorer.scoring.hf_chat_child", str(MAX_TEXT), str(MAX_MEMORY)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
    )


def _kill_child(child: subprocess.Popen[bytes]) -> None:
    global _child
    _child = None
    child.kill()
    child.wait()
