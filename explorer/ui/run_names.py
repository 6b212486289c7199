"""What runs are called: in words, as short as tells them apart. No other file names a run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from explorer import benchmarks, display
from explorer.figures.model_names import model_title
from explorer.ontologies import as_benchmark
from explorer.runs import imported, named_models
from explorer.studies import STUDIES, chat, study

# What a setting is called in a name, where the word that it is stored under is not the one that people use.
CALLED: Mapping[str, str] = {
    "bos": "BOS", "neighbours": "neighbors", "neighbours_by": "neighbors by",
    "neighbours_cap": "most neighbors", "per_group": "a group", "pos": "swapping", "judge": "judged by",
    "unrelated": "unrelated contexts from",
}  # fmt: skip
# By the mark of an imported run; and what is stored of a run says nothing of what was asked.
UNSAID = (
    "imported", "log", "tokens", "rows", "after_prefix", chat.TEMPLATE, named_models.FOLDERS, "weights", "data_hash",
)  # fmt: skip
BESIDE = ("dtype", "revision", "weights", "data_hash")  # what a spec says of how a run was done beside its settings
INFILL = "infill:"  # before the name of a causal model that fills gaps
# Settings that hold hashes of files → what is said where an earlier run has other ones.
CHANGING: Mapping[str, str] = {
    chat.TEMPLATE: "chat template", named_models.FOLDERS: "files of a named model", "weights": "weights",
    "data_hash": "files of the benchmark",
}  # fmt: skip
TIME = "%d %b %Y, %H:%M"

About = Callable[[pd.Series], str]


def benchmark_title(name: str) -> str:
    """What people call a benchmark."""
    known = benchmarks.BENCHMARKS.get(name)
    return known.title if known else as_benchmark.TITLES.get(name, name)


def reference_title(reference: str) -> str:
    """A reference set of deciles as a run stored it, with what people call its benchmark and the end of a run's id."""
    named = re.sub(r"(?<=instances of )[\w-]+", lambda name: benchmark_title(name[0]), reference)
    return re.sub(r"(?<=edges of )\S+", lambda run_id: f"run {display.short_id(run_id[0])}", named)


def study_title(name: str) -> str:
    """What people call a study; of a later version its stored name."""
    return study(name).title if name in STUDIES else name


def names(runs: pd.DataFrame, about: About | None = None) -> dict[str, str]:
    """Run id → its name for a list: what differs between the runs, how many instances, and when it was started.

    Columns run_id, done, created, and of study, model, benchmark, status, seed, spec or settings (JSON) those that are
    known. `about` adds what a page has to say of a run.
    """
    pieces_of_runs = _pieces(runs)
    always = {"amount", "when"}
    named = {}
    for (_, row), pieces in zip(runs.iterrows(), pieces_of_runs, strict=True):
        shown = [
            text for piece, text in pieces.items() if text and (piece in always or _differs(pieces_of_runs, piece))
        ]
        if about:
            shown.insert(len(shown) - 1, about(row))
        named[str(row["run_id"])] = " · ".join(filter(None, shown))
    return _distinct(named)


def short_names(runs: pd.DataFrame) -> dict[str, str]:
    """Run id → its name for a figure: its model, and as much more as is needed to tell it from the others."""
    pieces_of_runs = _pieces(runs)
    keys = [str(run_id) for run_id in runs["run_id"]]
    shown = [[model_title(str(model))] for model in runs["model"]]
    for piece in ("mark", "benchmark", "settings", "seed", "study", "amount", "when"):
        if len({" ".join(name_pieces) for name_pieces in shown}) == len(keys):
            break
        if _differs(pieces_of_runs, piece):
            for name_pieces, pieces in zip(shown, pieces_of_runs, strict=True):
                name_pieces += [pieces[piece]] if pieces[piece] else []
    texts = [display.remarked(name_pieces[0], ", ".join(name_pieces[1:])) for name_pieces in shown]
    return _distinct(dict(zip(keys, texts, strict=True)))


def differing_settings(runs: pd.DataFrame) -> dict[str, str]:
    """Run id → the settings in which it differs from another of these runs, as words."""
    pieces = _pieces(runs)
    return {str(run_id): of_run["settings"] for run_id, of_run in zip(runs["run_id"], pieces, strict=True)}


def models(runs: pd.DataFrame) -> list[str]:
    """What people call the models of these runs (columns model, spec); of an import with its source."""
    return [
        imported.marked_name(model_title(str(model)), str(spec))
        for model, spec in zip(runs["model"], runs["spec"], strict=True)
    ]


def settings_in_words(settings: Mapping[str, Any], of: str = "") -> str:
    """Settings as words; of a known study those alone that are not its defaults."""
    defaults = study(of).settings if of in STUDIES else {}
    settings_said = []
    for name, value in settings.items():
        default = defaults[name].default if name in defaults else None
        if name not in UNSAID and (list(value) if isinstance(value, tuple) else value) != (
            list(default) if isinstance(default, tuple) else default
        ):
            settings_said.append(_setting(name, value))
    return ", ".join(settings_said)


def changes_in_words(runs: Sequence[tuple[str, Any, Mapping[str, Any]]]) -> list[str]:
    """Of runs as (model, when it was started, settings): that files of a folder had changed since an earlier one.

    A hash means nothing to people; that two runs of one folder read different templates does.
    """
    changes_of_runs: list[list[str]] = [[] for _ in runs]
    for name, label in CHANGING.items():
        known: dict[str, list[str]] = {}
        for place in sorted(range(len(runs)), key=lambda place: runs[place][1]):
            model, _, settings = runs[place]
            if not (version := settings.get(name)):
                continue
            if name == "data_hash" and settings.get("imported"):
                continue  # the hash of what was imported
            of = json.dumps(_owner_of_files(name, model, settings), default=str)
            seen = known.setdefault(of, [])
            if str(version) not in seen:
                seen.append(str(version))
            if often := seen.index(str(version)):
                changes_of_runs[place].append(f"{label} changed{' again' if often > 1 else ''}")
    return [", ".join(words) for words in changes_of_runs]


def _owner_of_files(name: str, model: str, settings: Mapping[str, Any]) -> list[Any]:
    """Whose files a hash is of: other hashes of the same mean that they have changed."""
    if name == "data_hash":
        return [settings.get("benchmark"), settings.get("split")]  # each split has files of its own
    return [model, *(settings.get(setting) for setting in named_models.NAMING if name == named_models.FOLDERS)]


def _setting(name: str, value: Any) -> str:
    if name in ("chat", "ask"):
        return chat.in_words({name: value})
    called = CALLED.get(name, display.words(name))
    if isinstance(value, bool):
        return called if value else f"without {called}"
    if isinstance(value, list | tuple):
        return f"{called} {', '.join(display.words(str(item)) for item in value) or 'none'}"
    if isinstance(value, str) and value.startswith(INFILL):
        return f"{called} infilling with {model_title(value.removeprefix(INFILL))}"
    if isinstance(value, str):
        shown = model_title(value) if name in named_models.NAMING else value
    else:
        shown = f"{value:g}" if isinstance(value, float) else str(value)
    value_in_words = display.name(display.words(shown)) or "none"
    return f"{value_in_words} {called}" if name in ("neighbours", "per_group") else f"{called} {value_in_words}"


def _pieces(runs: pd.DataFrame) -> list[dict[str, str]]:
    """What can be said of each run, piece by piece, in the order in which a name says it."""
    rows = runs.to_dict("records")
    settings = [_settings(row) for row in rows]
    varying = [
        name
        for name in dict.fromkeys(name for of_run in settings for name in of_run)
        if name not in UNSAID and _varies(name, settings)
    ]
    changes = changes_in_words(
        [
            (str(row.get("model", "")), row["created"], {**of_run, "benchmark": row.get("benchmark")})
            for row, of_run in zip(rows, settings, strict=True)
        ]
    )
    return [
        {
            "mark": imported.label(str(row["spec"])) if "spec" in row else "",
            "study": study_title(str(row["study"])) if "study" in row else "",
            "model": model_title(str(row["model"])) if "model" in row else "",
            "benchmark": benchmark_title(str(row["benchmark"])) if "benchmark" in row else "",
            "amount": f"{display.counted(row['done'], 'instance')}{_state(row)}",
            "settings": ", ".join(
                filter(None, [*(_setting(name, pieces[name]) for name in varying if name in pieces), changed])
            ),
            "seed": f"seed {row['seed']}" if "seed" in row else "",
            "when": when(row["created"]),
        }
        for row, pieces, changed in zip(rows, settings, changes, strict=True)
    ]


def _varies(name: str, settings: Sequence[Mapping[str, Any]]) -> bool:
    """Whether runs differ in a setting; an endpoint or an import has no dtype that could be another one."""
    known = {str(of_run[name]) for of_run in settings if name in of_run}
    return len(known) > 1 or (name not in BESIDE and bool(known) and any(name not in of_run for of_run in settings))


def when(created: Any) -> str:
    """The time at which a run was started, of this machine's clock; the database keeps that of Greenwich."""
    if isinstance(created, datetime):
        created = created.replace(tzinfo=created.tzinfo or UTC).timestamp()
    return f"{datetime.fromtimestamp(float(created)):{TIME}}"


def _settings(row: Mapping[Any, Any]) -> dict[str, Any]:
    """A run's settings, and what else its spec says of how it was done: numbers of another dtype or of other weights
    are not the same run done twice."""
    spec = dict(json.loads(str(row["spec"]))) if row.get("spec") else {}
    beside = {name: spec[name] for name in BESIDE if spec.get(name)}
    if "@" in str(spec.get("model", "")):  # the model's own name says it
        beside.pop("revision", None)
    return {**beside, **(json.loads(str(row["settings"])) if "settings" in row else spec.get("settings") or {})}


def _state(row: Mapping[Any, Any]) -> str:
    status = str(row.get("status") or "complete")
    return "" if status == "complete" else f", {status}"


def _differs(changes_of_runs: list[dict[str, str]], piece: str) -> bool:
    return piece == "mark" or len({pieces[piece] for pieces in changes_of_runs}) > 1


def _distinct(named: dict[str, str]) -> dict[str, str]:
    """Names of which no two are equal: the ends of the ids stand behind those that would be."""
    many = list(named.values())
    return {
        run_id: f"{name} · {display.short_id(run_id)}" if many.count(name) > 1 else name
        for run_id, name in named.items()
    }
