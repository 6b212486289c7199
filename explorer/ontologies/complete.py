"""When an answer needs no further word: the id it gives stands, whatever may follow."""

from __future__ import annotations

import re
from collections.abc import Callable

from explorer.ontologies.parse import IdRule


def completeness(rule: IdRule, after_prefix: bool = False) -> Callable[[str], bool]:
    """A function from an answer so far to whether what it gives can change no more.

    An id stands once a character follows that is no digit: with one digit more it would be no id.
    """
    lengths = "|".join(rf"[0-9]{{{length}}}" for length in rule.digits)
    stands = re.compile(rf"(?<![A-Za-z0-9_]){re.escape(rule.prefix)}:(?:{lengths})(?=\D)")

    def is_complete(answer: str) -> bool:
        text = answer.lstrip()
        if after_prefix and text[:1].isdecimal():
            text = f"{rule.prefix}:{text}"
        return stands.search(text) is not None

    return is_complete
