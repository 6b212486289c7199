"""Where a model stands: after how many training steps and tokens, with how many parameters, of which family.

A family is what stands before the "@" of a model's name; a suite holds families that were trained alike. Steps and
tokens follow from the suite (`explorer/scoring/suites.py`), from the record that a training of ours leaves beside the
weights, or from a revision that tells both (OLMo's `step1000-tokens4B`). What is known of none of them is nan.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path

from explorer.errors import ModelError
from explorer.scoring import catalog, hf_source
from explorer.scoring.suites import SUITES, training_of
from explorer.settings import Settings, path_of

RECORD = "glassbox.json"  # beside the weights of a training of ours (explorer/glassbox/train.py)
MOST_RECORD = 10_000_000  # bytes; another file of that name is not read
_NAME = re.compile(r"(.+)@([^@/\\]+)")  # a folder's path may hold an "@", too
_STEP = re.compile(r"step(\d{1,12})")
# A later stage counts its steps and tokens from its own beginning, so that it has no place beside the first.
_STEP_AND_TOKENS = re.compile(r"(?:stage1-)?step(\d{1,12})-tokens(\d{1,9})B")
_BILLION = 1e9


@dataclass(frozen=True, slots=True)
class Place:
    """A model's place on each axis, nan where that is not known.

    family  what stands before "@": models of one training
    suite   families that were trained alike and differ in size; the family itself where none is known
    untold  why its tokens are not known, where more can be said than that
    """

    family: str
    suite: str
    step: float = math.nan
    tokens: float = math.nan
    parameters: float = math.nan
    untold: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """What a training of ours wrote down of the weights that it kept."""

    step: int
    tokens: int


def place_of(model: str, record: Record | None = None, parameters: float = math.nan) -> Place:
    """The place of a model by its name; a record of its training and its counted parameters say more than a name."""
    named = _NAME.fullmatch(model)
    family, revision = (named[1], named[2]) if named else (model, "")
    known = catalog.find(model)
    training = training_of(model)
    suite = next((key for key, known_suite in SUITES.items() if family in known_suite.sizes), family)
    if known and math.isnan(parameters):
        parameters = float(known.parameters)
    step = tokens = math.nan
    if record:
        step, tokens = float(record.step), float(record.tokens)
    elif training:
        step, tokens = float(training.step), float(training.tokens)
    elif match := _STEP_AND_TOKENS.fullmatch(revision):
        step, tokens = float(match[1]), float(match[2]) * _BILLION
    elif match := _STEP.fullmatch(revision):
        step = float(match[1])
        tokens = 0.0 if step == 0 else math.nan
    untold = SUITES[suite].untold if suite in SUITES and math.isnan(tokens) else ""
    return Place(family, suite, step, tokens, parameters, untold)


def place_here(model: str, weights: str, settings: Settings) -> Place:
    """The place of a model that a run was done with, from the record beside its weights where these are here."""
    known = catalog.find(model)
    if hf_source.is_folder(model):
        folder = path_of(model)
    elif known and known.trained_by:
        folder = settings.models / model
    else:
        return place_of(model)
    try:
        # A model of the same name may have been trained anew since: then the record is of other weights.
        if not folder.is_dir() or weights not in hf_source.local_hashes(folder, settings):
            return place_of(model)
    except (ModelError, OSError):
        return place_of(model)
    return place_of(model, read_record(folder), _parameters(folder))


def read_record(folder: Path) -> Record | None:
    """What the folder's training record says; none where there is none, or it is something else."""
    path = folder / RECORD
    try:
        if path.stat().st_size > MOST_RECORD:
            return None
        stored_record = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(stored_record, dict):
        return None
    step, tokens = stored_record.get("step"), stored_record.get("tokens")
    if type(step) is not int or type(tokens) is not int or step < 0 or tokens < 0:
        return None
    return Record(step, tokens)


def _parameters(folder: Path) -> float:
    try:
        return float(hf_source.count_parameters(folder)) or math.nan
    except (ModelError, OSError, ValueError):
        return math.nan
