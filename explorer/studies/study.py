"""What every study is: a recipe with settings, done part by part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from explorer.errors import UsageError
from explorer.records import Instance, RunSpec
from explorer.studies.unscored import with_reason

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.rows.builders import Row
    from explorer.runs.folder import RunFolder
    from explorer.runs.parts import Tables
    from explorer.scoring.http_cost import Planned

Progress = Callable[[int, int], None]


KINDS = {bool: "true or false", int: "a whole number", float: "a number", tuple: "values parted by commas"}


@dataclass(frozen=True, slots=True)
class Setting:
    """One choice of a study: its default (whose type the value takes), what it means, and the values allowed.

    An `is_optional` one stands in a run's settings only where it is given, so that runs made before it keep their ids.
    """

    default: bool | int | float | str | tuple[int, ...] | tuple[str, ...]
    help: str
    choices: tuple[str, ...] = ()
    is_optional: bool = False

    @property
    def default_text(self) -> str:
        """The default as it is typed on a command line."""
        return ",".join(map(str, self.default)) if isinstance(self.default, tuple) else str(self.default)

    def parse(self, name: str, text: str) -> Any:
        """The value that `name=text` gives on a command line."""
        try:
            value = _parse_like(self.default, text)
        except ValueError as error:
            kind = KINDS.get(type(self.default), "a text")
            raise UsageError(f"The setting {name} got {text!r}, expected {kind}, like {self.default_text}.") from error
        return self.check(name, value)

    def check(self, name: str, value: Any) -> Any:
        """The value itself; UsageError where it is not among the choices, or a number below 0."""
        for item in value if isinstance(value, tuple | list) else (value,):
            if self.choices and item not in self.choices:
                raise UsageError(f"The setting {name} got {item!r}, expected one of {', '.join(self.choices)}.")
            if isinstance(item, int | float) and item < 0:
                raise UsageError(f"The setting {name} got {item}, expected no number below 0.")
        return value


@dataclass(frozen=True, slots=True)
class Stages:
    """One part of a run in three steps, so that the parts before and after it can be under way at the same time.

    prepare   on the processor: requests made, encoded and packed; may run in a thread beside the other two
    score     on the model's device, always in the main thread
    tables    on the processor again: rows; may run in a thread beside the other two

    Each step is handed what the one before gave. `may_overlap` says whether a run's steps really keep to these places:
    an endpoint, or a second model that helps to prepare, is asked one part after another.
    """

    prepare: Callable[[RunSpec, Resources, Sequence[Instance], Progress, bool], Any]  # the last: encode already now
    score: Callable[[RunSpec, Resources, Any, Progress], Any]
    tables: Callable[[RunSpec, Resources, Any], Tables]
    may_overlap: Callable[[RunSpec, Resources], bool]

    def run(self, spec: RunSpec, resources: Resources, instances: Sequence[Instance], progress: Progress) -> Tables:
        """The three steps of one part, one after another."""
        prepared = self.prepare(spec, resources, instances, progress, False)
        return self.tables(spec, resources, self.score(spec, resources, prepared, progress))


@dataclass(frozen=True, slots=True)
class Study:
    """A recipe.

    select    the instances of a run, in benchmark order
    run_part  rows of one part: given the spec, the resources, the part's instances and a progress callback
    summarize rows of `findings` from the finished run folder
    stages    what `run_part` does, step by step, for studies whose parts may overlap
    for_parts what all parts need and each process would make anew, under the keys by which the resources keep it; given
              the spec, the resources and a progress callback
    ahead     makes what `summarize` needs and no score changes, kept by the resources, while parts are still made
    languages which languages its texts may be in (ISO 639 codes); () = any
    english_settings  settings that, where they are not empty, take English texts only
    plan      what these instances will ask of an endpoint at most, told without asking it; None where it is not known
    """

    name: str
    title: str
    question: str  # one sentence, in plain words, saying what the study asks
    version: int
    settings: Mapping[str, Setting]
    kinds: tuple[str, ...]  # kinds of instances it can take
    run_part: Callable[[RunSpec, Resources, Sequence[Instance], Progress], Tables]
    summarize: Callable[[RunSpec, Resources, RunFolder], list[Row]]
    select: Callable[[RunSpec, Resources], Sequence[Instance]]
    plan: Callable[[RunSpec, Resources, Sequence[Instance]], Sequence[Planned]] | None = None
    stages: Stages | None = None
    for_parts: Callable[[RunSpec, Resources, Progress], Mapping[tuple[Any, ...], Any]] | None = None
    ahead: Callable[[RunSpec, Resources], object] | None = None
    needs_model: bool = True
    # Whether a run with these settings asks its model for scores and short greedy answers alone (engine/contract.py,
    # MAX_SHORT_ANSWER): then this may be in a process of its own.
    may_be_apart: Callable[[Mapping[str, Any]], bool] = lambda settings: False
    languages: tuple[str, ...] = ()
    english_settings: tuple[str, ...] = ()
    first_part: int = 16  # instances in the first part; later parts grow until one takes about ten seconds

    def summarize_run(self, spec: RunSpec, resources: Resources, folder: RunFolder) -> list[Row]:
        """Rows of `findings` from the finished run folder; where its model gave no number at all, with the reason."""
        return with_reason(self.summarize(spec, resources, folder), folder)

    def resolve(self, settings_given: Mapping[str, Any]) -> dict[str, Any]:
        """All settings, the given ones over the defaults; UsageError for an unknown name."""
        unknown = set(settings_given) - set(self.settings)
        if unknown:
            raise UsageError(
                f"The study {self.name} has no setting {', '.join(sorted(unknown))}; "
                f"it has {', '.join(sorted(self.settings))}."
            )
        resolved = {}
        for name, setting in self.settings.items():
            if setting.is_optional and not settings_given.get(name):
                continue
            value = settings_given.get(name, setting.default)
            if isinstance(value, str) and not isinstance(setting.default, str):
                value = setting.parse(name, value)
            value = setting.check(name, value)
            resolved[name] = list(value) if isinstance(value, tuple) else value
        return resolved


def _parse_like(default: Any, text: str) -> Any:
    if isinstance(default, bool):
        if text.lower() not in ("true", "false", "1", "0", "yes", "no"):
            raise ValueError(text)
        return text.lower() in ("true", "1", "yes")
    if isinstance(default, tuple):
        kind = type(default[0]) if default else str
        return tuple(kind(piece.strip()) for piece in text.split(",") if piece.strip())
    return type(default)(text)
