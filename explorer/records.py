"""The nouns of the explorer, all frozen.

benchmarks → Instance → Request → Score or Generation → run folder → DuckDB → statistics → figures → pages
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import operator
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

T = TypeVar("T")

Kind = Literal["pair", "choice", "cloze", "labelled", "rating", "regions", "concept", "text"]
Factor = str | int | float


# A run makes records by the hundred thousand. The __init__ that dataclasses writes for a frozen class looks each field
# up by its name, which takes longer than all else it does; this one knows where the fields are. For two fields it reads
#
#     def __init__(self, id, group=default_group):
#         put_id(self, id)
#         put_group(self, group)
def made_fast(record: type[T]) -> type[T]:
    """The same frozen dataclass with slots, whose instances take half as long to make."""
    parameters, lines, names = ["self"], [], dict[str, Any]()
    for field in dataclasses.fields(record):  # type: ignore[arg-type]
        name = field.name
        names[f"put_{name}"] = record.__dict__[name].__set__
        if field.default_factory is not dataclasses.MISSING:
            names |= {f"default_{name}": object(), f"make_{name}": field.default_factory}
            lines.append(f"    if {name} is default_{name}: {name} = make_{name}()")
        elif field.default is not dataclasses.MISSING:
            names[f"default_{name}"] = field.default
        parameters.append(f"{name}=default_{name}" if f"default_{name}" in names else name)
        lines.append(f"    put_{name}(self, {name})")
    exec("\n".join([f"def __init__({', '.join(parameters)}):", *lines]), names)
    made, before = names["__init__"], record.__init__
    made.__qualname__, made.__annotations__ = before.__qualname__, before.__annotations__
    record.__init__ = made  # type: ignore[method-assign]
    return record


@dataclass(frozen=True, slots=True)
class Condition:
    """One version of a SyntaxGym item: its name and its regions exactly as in the file."""

    name: str
    regions: tuple[str, ...]


@made_fast
@dataclass(frozen=True, slots=True)
class Instance:
    """One benchmark item in raw source form; `prompts.py` alone decides spaces and delimiters.

    pair      options = (acceptable, unacceptable), gold = 0, context = what stands before both or "";
              CrowS-Pairs: (sent_more, sent_less), gold = 1
    choice    context = goal, premise or sentence with a gap (gaps.py); options = the candidates;
              of context_options: options = the contexts, second = the continuation of all
    rating    options = (sentence,); extra["rating"] = how acceptable people found it
    cloze     context = passage without its last word; options = (last word,); gold = 0
    labelled  context = first text, second = second text or ""; options = all label names of the set
    regions   conditions = the item's versions; extra["formulas"] = the suite's formulas
    concept   context = the label; options = (gold id,); gold = 0
    text      context = the text
    """

    id: str  # benchmark/group/source key, the same from every edition
    benchmark: str
    split: str
    group: str  # paradigm, suite, bias type, question class
    kind: Kind
    format: str  # a key of prompts.FORMATS
    context: str = ""
    second: str = ""
    options: tuple[str, ...] = ()
    gold: int | None = None
    label: str = ""  # the gold label as the source writes it
    phenomenon: str = ""
    field: str = ""  # "formal", "functional" or ""
    conditions: tuple[Condition, ...] = ()
    parent: str = ""  # a variant carries its parent's id ...
    edit: str = ""  # ... and what was done to it
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def language(self) -> str:
        """Of its texts as an ISO 639 code, where its source says so; "" where it does not."""
        return str(self.extra.get("language", ""))

    @property
    def text_hash(self) -> str:
        """The first 16 hex digits of the SHA-256 of all texts (NFC, outer blanks stripped)."""
        pieces = [self.context, self.second, *self.options]
        pieces += [part for condition in self.conditions for part in (condition.name, *condition.regions)]
        text = "\x1f".join(unicodedata.normalize("NFC", piece).strip() for piece in pieces)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@made_fast
@dataclass(frozen=True, slots=True)
class Request:
    """A continuation to be scored (or generated) after a context."""

    instance_id: str
    option: int
    context: str
    continuation: str = ""
    role: str = "option"  # option, region, label, target, unconditional, prompt
    factors: Mapping[str, Factor] = dataclasses.field(default_factory=dict)  # keys from rows.schema.FACTORS
    conversation: tuple[tuple[str, str], ...] | None = None  # (role, text) turns for chat models


@made_fast
@dataclass(frozen=True, slots=True)
class PackedRow:
    """Token ids of a forest in depth-first order.

    `parents[i]` is the row index of token i's predecessor, or -1 for a root; `positions[i]` its position id;
    `scored[i]` whether its log-probability given its ancestors is wanted. A plain sequence is the row in which each
    token's parent is the one before. Where a row came from another process its fields are arrays.
    """

    ids: tuple[int, ...]
    parents: tuple[int, ...]
    positions: tuple[int, ...]
    scored: tuple[bool, ...]


@made_fast
@dataclass(frozen=True, slots=True)
class Score:
    """The log-probabilities of a request's continuation, token by token, in nats (nan for a token left unscored)."""

    request: Request
    tokens: tuple[str, ...]
    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    chars: int
    bytes: int
    greedy: bool
    straddles: bool
    truncated: int = 0  # context tokens cut at the left
    reason: str = ""  # why there is no score
    likeliest: tuple[bool, ...] = ()  # for each token whether no other was likelier at its place
    # Where they were asked for, for each token mean and standard deviation of log P over the vocabulary at its place.
    means: tuple[float, ...] = ()
    deviations: tuple[float, ...] = ()

    @property
    def scored(self) -> int:
        """How many tokens carry a log-probability."""
        return sum(map(operator.eq, self.logprobs, self.logprobs))  # nan is not equal to itself

    @property
    def sum(self) -> float:
        """log P(continuation | context) in nats; nan where nothing could be scored."""
        if self.reason or not (scored := self.scored):
            return math.nan
        if scored == len(self.logprobs):
            return math.fsum(self.logprobs)
        return math.fsum(value for value in self.logprobs if not math.isnan(value))


@dataclass(frozen=True, slots=True)
class Generation:
    """What a model wrote after a request's context."""

    request: Request
    text: str
    token_ids: tuple[int, ...] = ()
    finish: str = ""  # "stop", "length", or "" where unknown
    reason: str = ""  # why there is no text
    thought: str = ""  # what a reasoning model wrote before it (scoring/thinking.py)


@dataclass(frozen=True, slots=True)
class Count:
    """How often an n-gram occurs in an index; nan with a reason where that could not be had."""

    index: str
    ids: tuple[int, ...]
    count: float
    approx: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Concept:
    """A term of an ontology."""

    id: str
    label: str
    synonyms: tuple[str, ...] = ()
    alt_ids: tuple[str, ...] = ()
    obsolete: bool = False
    annotations: float = math.nan
    web_count: float = math.nan
    source: str = ""
    xrefs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunSpec:
    """Everything that can change a run's answer; its hash is the run's id (`runs/spec.py`)."""

    study: str
    version: int
    model: str
    benchmark: str
    revision: str = ""
    weights: str = ""  # hash of the weights, or the resolved revision
    data_hash: str = ""
    suites: tuple[str, ...] = ()
    limit: int | None = None
    seed: int = 0
    dtype: str = "auto"
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    uses: tuple[str, ...] = ()
