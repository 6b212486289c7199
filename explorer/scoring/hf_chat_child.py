"""The process in which chat templates are rendered: conversations a line in, texts a line out, until nobody asks."""

from __future__ import annotations

import json
import sys
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

from transformers.utils import chat_template_utils
from transformers.utils.chat_template_utils import render_jinja_template

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]


class _FixedDate(datetime):
    """The day that templates are told, always the same: what a model reads must not depend on when it is asked."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> _FixedDate:
        return cls(2024, 7, 26, tzinfo=tz)  # what Llama's templates write where nobody tells them a day


chat_template_utils.datetime = _FixedDate  # type: ignore[misc]


def main(most_text: int, most_memory: int) -> None:
    """Answers until nobody asks any more."""
    _limit_memory(most_memory)
    # What a template prints would stand between the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        template, conversations, tokens, form = json.loads(line)
        answers.write(json.dumps(_render_or_fault(template, conversations, tokens, form, most_text)) + "\n")
        answers.flush()


def _render_or_fault(
    template: str, conversations: Any, tokens: dict[str, Any], form: dict[str, Any], most_text: int
) -> dict[str, Any]:
    """The text of each conversation, up to where an answer begins or goes on; or what is wrong with the template."""
    try:
        rendered: Any = render_jinja_template(conversations, chat_template=template, **form, **tokens)
        texts = rendered[0]
        if (size := sum(map(len, texts))) > most_text:
            return {"fault": f"it makes {size:,} characters, expected at most {most_text:,}"}
        return {"texts": texts}
    except MemoryError:
        return {"fault": "it takes too much memory"}
    except Exception as error:  # whatever Jinja and the template itself raise
        if "continue_final_message" in str(error):
            return {"fault": "it does not give back what the assistant says"}
        return {"fault": " ".join(f"{type(error).__name__}: {error}".split())[:200]}


def _limit_memory(most_memory: int) -> None:
    """Lets this process take so much memory beyond what it has now, where the system can say no."""
    if resource is None:
        return
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return  # a system without /proc; the time is bounded all the same
    most = pages * resource.getpagesize() + most_memory
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
