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
from typing import Any

from explorer import stopping
from explorer.errors import ModelError
from explorer.settings import ROOT

SECONDS = 10.0  # for one conversation; templates take milliseconds
STARTING = 120.0  # for the first, which waits for the process
MOST_TEXT = 16 << 20  # characters of what is rendered
MOST_MEMORY = 1 << 30  # bytes that rendering may take

_lock = threading.Lock()
_child: subprocess.Popen[bytes] | None = None


def render(template: str, messages: Sequence[Mapping[str, str]], tokens: Mapping[str, Any]) -> str:
    """What the template makes of the messages, up to where the answer begins; ModelError where it makes nothing."""
    payload = json.dumps([template, list(messages), dict(tokens)]).encode() + b"\n"
    with stopping.turn(_lock):
        answer = _ask(payload)
    if "text" not in answer:
        raise ModelError(
            f"The model's chat template cannot be rendered ({answer.get('fault', 'it gave nothing')}). Use another "
            "model, or mend chat_template in its folder."
        )
    return str(answer["text"])


def _ask(payload: bytes) -> dict[str, Any]:
    global _child
    seconds = SECONDS
    if _child is None or _child.poll() is not None:
        _child, seconds = _start(), STARTING
    child = _child
    try:
        line = stopping.call(lambda: _exchange(child, payload), within=lambda: seconds)
        return dict(json.loads(line)) if line else {"fault": "it took too much memory"}
    except TimeoutError:
        _end(child)
        return {"fault": f"it takes more than {seconds:.0f} seconds"}
    except BaseException:  # stopped: what the process answers now nobody would read
        _end(child)
        raise


def _exchange(child: subprocess.Popen[bytes], payload: bytes) -> bytes:
    assert child.stdin and child.stdout
    try:
        child.stdin.write(payload)
        child.stdin.flush()
        return child.stdout.readline()
    except (OSError, ValueError):
        return b""


def _start() -> subprocess.Popen[bytes]:
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-m", "explorer.scoring.hf_chat_child", str(MOST_TEXT), str(MOST_MEMORY)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
    )


def _end(child: subprocess.Popen[bytes]) -> None:
    global _child
    _child = None
    child.kill()
    child.wait()
