"""A text or a pair that the reader typed, as an instance; and what an address needs to bring it back."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from explorer.records import Instance

OF_BENCHMARK, OWN_TEXT, OWN_PAIR = "An instance", "A text of my own", "A pair of my own"
TYPED = "typed"  # the split of a pair of one's own
FIELDS = ("text", "good", "bad")  # what an address says of one of these


def own_text(text: str) -> Instance:
    """A running text."""
    key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Instance(id=f"text/own/{key}", benchmark="", split="", group="", kind="text", format="text", context=text)


def own_pair(benchmark: str, suite: str, good: str, bad: str) -> Instance:
    """A pair of sentences beside a benchmark, whose sentences of this suite are its matched context."""
    key = hashlib.sha256(f"{good}\n{bad}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    name = f"{benchmark}/{suite}/{TYPED}-{key}"
    return Instance(name, benchmark, TYPED, suite, "pair", "sentence", options=(good, bad), gold=0)


def fields_of(instance: Instance) -> dict[str, str]:
    """What is to be remembered of a text or pair of one's own; nothing for an instance of a benchmark."""
    if instance.format == "text" and not instance.benchmark:
        return {"text": instance.context}
    # A benchmark may call a split of its own so.
    if instance.split == TYPED and instance.id.rpartition("/")[2].startswith(f"{TYPED}-") and instance.kind == "pair":
        return {"good": instance.options[0], "bad": instance.options[1]}
    return {}


def from_fields(instance_id: str, fields: Mapping[str, str]) -> Instance | None:
    """The text or pair of which `fields_of` remembered this; none where it is of a benchmark."""
    if fields.get("text"):
        return own_text(fields["text"])
    if fields.get("good") and fields.get("bad"):
        benchmark, _, rest = instance_id.partition("/")
        return own_pair(benchmark, rest.rpartition("/")[0], fields["good"], fields["bad"])
    return None
