"""A raw answer → the id it gives, or why it gives none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from explorer.errors import OntologyError
from explorer.ontologies.contents import prefix_of

Kind = Literal["id", "refusal", "malformed", "foreign", "empty"]
KINDS: tuple[Kind, ...] = ("id", "refusal", "malformed", "foreign", "empty")

# Prefixes whose ids are of one length by decree, whatever a file holds.
FIXED_DIGITS = {"GO": (7,)}

# An id of some ontology: a prefix with at least two capitals (GO, FBbt, MmusDv), a colon or underscore, four digits.
_FOREIGN = re.compile(r"(?<![A-Za-z0-9_])((?=(?:[a-z]*[A-Z]){2})[A-Za-z]+)[:_][A-Z]?[0-9]{4,}")
_QUOTES = frozenset("\"'`")
_NO_PREFIX = frozenset({"ID", "IDS", "NO"})

# Turns of phrase by which an answer says that there is or knows no id, by language.
REFUSALS = {
    "en": (
        r"sorry|apologi[sz]e|unable|unknown|unfortunately|unclear|none|n/a|as an ai|cannot",
        r"(?:can|could|do|does|did|is|are|was|have|has) ?(?:not|n['’]t)|can['’]t",
        r"(?:there|it) (?:is|are|seems?|appears?)(?: to be)? no",
        r"no (?:such|known|specific|corresponding|exact|matching|information)",
        r"no \w+(?:[ -]\w+)? (?:id|identifier|term|label|match)",
        r"not (?:found|available|known|aware|sure|able|exist)",
    ),
    "it": (
        r"mi dispiace|spiacente|purtroppo|nessun[ao]?",
        r"non (?:è|esiste|ho|posso|sono|conosco|trovo|disponibile)",
    ),
    "fr": (
        r"désolée?|malheureusement|je ne|aucune?|pas (?:de|d['’]\w+)",
        r"n['’]existe pas|il n['’]y a",
    ),
    "de": (
        r"leider|tut mir leid|entschuldigung|ich kann|kein(?:e|en|er)?",
        r"nicht (?:gefunden|bekannt|verfügbar|möglich)",
    ),
    "es": (
        r"lo siento|lamentablemente|ning[uú]n[ao]?|desconocid[ao]",
        r"no (?:existe|hay|puedo|tengo|se encuentra|se encontró|dispongo|conozco)",
    ),
}
_REFUSAL = re.compile(
    r"(?<!\w)(?:" + "|".join(phrase for phrases in REFUSALS.values() for phrase in phrases) + r")(?!\w)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class IdRule:
    """What an id of the ontology looks like: its prefix, a colon and one of these numbers of ASCII digits."""

    prefix: str
    digits: tuple[int, ...]

    @property
    def pattern(self) -> re.Pattern[str]:
        lengths = "|".join(rf"[0-9]{{{length}}}" for length in self.digits)
        # \d after it is any script's digit: a full-width one makes the number longer, too.
        return re.compile(rf"(?<![A-Za-z0-9_]){re.escape(self.prefix)}:(?:{lengths})(?!\d)")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an answer is; `id` is empty unless it gives one."""

    kind: Kind
    id: str = ""


def id_rule(prefix: str, ids: Iterable[str]) -> IdRule:
    """The rule for an ontology: seven digits for GO, elsewhere the numbers of digits that occur among its ids."""
    if prefix in FIXED_DIGITS:
        return IdRule(prefix, FIXED_DIGITS[prefix])
    local = re.compile(re.escape(prefix) + r":([0-9]+)")
    ids = list(ids)
    lengths = {len(match[1]) for curie in ids if prefix_of(curie) == prefix and (match := local.fullmatch(curie))}
    if not lengths:
        first = f" (the first is {ids[0]})" if ids else ""
        raise OntologyError(
            f"No id of the ontology is {prefix}: and digits{first}, so an answer cannot be told from other text. "
            "Give an ontology with numeric ids."
        )
    return IdRule(prefix, tuple(sorted(lengths)))


def parser(rule: IdRule, after_prefix: bool = False) -> Callable[[str], Outcome]:
    """A function from a raw answer to its outcome.

    `after_prefix` says that the prompt ended with the ontology's prefix, so that bare digits go on with it.
    """
    whole = rule.pattern
    partial = re.compile(rf"(?<![A-Za-z0-9_]){re.escape(rule.prefix)}[:_ ]*\d", re.IGNORECASE)
    accepted = {rule.prefix.upper(), *_NO_PREFIX}

    def parse(answer: str) -> Outcome:
        text = bare(answer)
        if not text:
            return Outcome("empty")
        if after_prefix and text[0].isdecimal():
            text = f"{rule.prefix}:{text}"
        if match := whole.search(text):
            return Outcome("id", match[0])
        if partial.search(text):
            return Outcome("malformed")
        if any(prefix.upper() not in accepted for prefix in _FOREIGN.findall(text)):
            return Outcome("foreign")
        return Outcome("refusal" if _REFUSAL.search(text) else "malformed")

    return parse


def raw(answer: str) -> str:
    """The answer as the authors compared it: without its line end and the quotes around it."""
    text = answer.strip("\r\n")
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in _QUOTES else text


def bare(answer: str) -> str:
    """The answer without line ends, outer blanks and the quotes around it."""
    first, last = 0, len(answer)
    while True:
        while first < last and answer[first].isspace():
            first += 1
        while first < last and answer[last - 1].isspace():
            last -= 1
        if last - first < 2 or answer[first] != answer[last - 1] or answer[first] not in _QUOTES:
            break
        first, last = first + 1, last - 1
    text = answer[first:last]
    return "" if text in _QUOTES else text
