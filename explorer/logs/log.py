"""What a log of another harness says, in one form for all of them."""

from __future__ import annotations

import dataclasses
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from explorer.scoring.reduce import word_of

LM_EVAL, INSPECT = "lm-evaluation-harness", "Inspect"
# What Python raises where a log holds, say, a list in the place of an object: a log is not checked field by field.
MISSHAPEN = (AttributeError, TypeError, ValueError, KeyError, IndexError, OverflowError, RecursionError)


@dataclass(frozen=True, slots=True)
class ScoredOption:
    """An option as the harness scored it: its log-probability in nats, and whether greedy decoding gives it."""

    context: str
    continuation: str
    logprob: float
    greedy: bool | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """A number that the harness gives a sample; `filter` names the way in which it read the answer."""

    name: str
    value: float
    filter: str = ""
    repeat: int | None = None


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """What the model wrote to a sample's prompt."""

    prompt: str
    text: str
    finish: str = ""
    verdict: str = ""
    repeat: int | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """One document of a log with all that the harness says of it.

    texts           every text of the document, by which it is matched with our instances
    scored_options  its options in the harness's order, where options were scored
    gold            the index of the right option in that order, or none where it is not known
    correct         the harness's own verdict: 1, 0, 0.5, a share of several passes, or nan with the reason
    repeats         each pass (epoch, repeat) over a document that was answered several times; the other fields then
                    hold what the passes are reduced to
    """

    where: str
    key: str
    texts: tuple[str, ...]
    scored_options: tuple[ScoredOption, ...] = ()
    unconditional: tuple[float, ...] = ()
    answers: tuple[WrittenAnswer, ...] = ()
    choices: tuple[str, ...] = ()
    target: str = ""
    gold: int | None = None
    chosen: int | None = None
    correct: float = math.nan
    reason: str = ""
    metrics: tuple[Metric, ...] = ()
    repeats: tuple[Sample, ...] = ()


@dataclass(frozen=True, slots=True)
class Dropped:
    """A line or entry that became no sample: where it stands, why, and its text."""

    where: str
    reason: str
    raw: str = ""


class NotASample(Exception):
    """Raised while a line or entry is read that becomes no sample; the text says why."""


# What reading one line or entry may raise.
UNREADABLE = (NotASample, *MISSHAPEN)


def drop(where: str, error: Exception, raw: str, harness: str) -> Dropped:
    """The record of a line or entry whose reading raised one of UNREADABLE."""
    reason = str(error) if isinstance(error, NotASample) else f"not put together as {harness} does it ({error})"
    return Dropped(where, reason, raw)


def first_reason(dropped: Sequence[Dropped]) -> str:
    """Why the first of the dropped was, as the end of a sentence about a log without samples; "" for none."""
    return f"; the first: {dropped[0].where}: {dropped[0].reason}" if dropped else ""


def verdict_word(correct: float) -> str:
    """The verdict as it is stored beside an answer; "" where there is none."""
    return "" if (word := word_of(correct)) == "none" else word


@dataclass(frozen=True, slots=True)
class Log:
    """A log: who made it, with what, and its samples.

    results  metric → what the harness itself says of the whole (from its results), with the filter after a comma
    reducer  how several passes over a document become one verdict; "" where no document has several
    remarks  sentences that a reader should know, for example that the version is another than those known here
    record   what the log says of the conditions (its configuration without keys), for environment.json
    """

    source: str
    version: str
    task: str
    model: str
    revision: str
    file: str
    sha256: str
    samples: tuple[Sample, ...]
    dropped: tuple[Dropped, ...] = ()
    results: Mapping[str, float] = dataclasses.field(default_factory=dict)
    reducer: str = ""
    remarks: tuple[str, ...] = ()
    record: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def passes(self) -> int:
        """The most times that a document was answered."""
        return max((len(sample.repeats) for sample in self.samples), default=0) or 1

    @property
    def made_by(self) -> str:
        """The harness with its version."""
        return f"{self.source} {self.version}".strip()


def normalize(text: str) -> str:
    """The text as it is compared: NFC, runs of blanks as one, none at the edges."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def all_texts(value: Any, depth: int = 8) -> Iterable[str]:
    """Every text in a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and depth:
        for item in value.values():
            yield from all_texts(item, depth - 1)
    elif isinstance(value, list | tuple) and depth:
        for item in value:
            yield from all_texts(item, depth - 1)


def as_number(value: Any) -> float:
    """A number that may be written as text or as a truth value; nan for anything else."""
    try:
        return float(value) if isinstance(value, bool | int | float) else float(str(value))
    except OverflowError:
        return math.nan
    except ValueError:
        return {"true": 1.0, "false": 0.0}.get(str(value).strip().lower(), math.nan)


def without_secrets(value: Any, depth: int = 8) -> Any:
    """A configuration without what may be a key or a password."""
    if isinstance(value, Mapping):
        safe = {str(name): item for name, item in value.items() if not _SECRET.search(str(name))}
        return {name: without_secrets(item, depth - 1) for name, item in safe.items()} if depth else {}
    if isinstance(value, list | tuple):
        return [without_secrets(item, depth - 1) for item in value] if depth else []
    # lm-evaluation-harness writes the arguments of a model as name=value,name=value.
    return _VALUE.sub(_without_secret, value) if isinstance(value, str) else value


def _without_secret(match: re.Match[str]) -> str:
    name = match[1].lower()
    secret = "passw" in name or name.endswith(("api_key", "apikey", "token", "secret"))
    return f"{match[1]}=(left out)" if secret else match[0]


_SECRET = re.compile(r"(api_?key|token$|secret|passw|authorization|credential)", re.IGNORECASE)
_VALUE = re.compile(r"(?<!\w)(\w++)=[^,\s]+")
