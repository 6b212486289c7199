"""Under which beginning-of-sequence policy runs scored: margins under different ones are of different texts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from explorer.results import queries
from explorer.scoring.policy import PRESETS
from explorer.studies import chat
from explorer.ui import resources, show

WORDS = {
    "auto": "the tokenizer's own", "always": "always one", "never": "never one", "declared": "the one that is declared",
    "tokenizer": "as the tokenizer puts it",
}  # fmt: skip

CHAT = "as the model's chat template does"


def policy_of_run(run: Mapping[Any, Any]) -> str:
    """How a run (a row with its spec) begins a text, in words; "" where it scored none, or does not say."""
    settings = (json.loads(str(run["spec"])) if run.get("spec") else {}).get("settings") or {}
    if chat.is_chat(settings):
        return CHAT
    preset, bos = str(settings.get("preset") or ""), str(settings.get("bos") or "")
    if bos in ("", "preset"):
        bos = PRESETS[preset].bos if preset in PRESETS else ""
    return WORDS.get(bos, bos)


def draw_policy_note(run_ids: Sequence[str], names: Mapping[str, str]) -> None:
    """A line that names each run's policy where they differ; nothing where all are alike."""
    rows = {run_id: resources.ask_store(queries.run, run_id) for run_id in run_ids}
    policies = {names[run_id]: policy_of_run(row.iloc[0].to_dict()) for run_id, row in rows.items() if len(row)}
    if sentence := in_words(policies):
        show.note(sentence)


def in_words(policies: Mapping[str, str]) -> str:
    """Run → policy, as a sentence where they differ; "" where they do not."""
    if len(set(policies.values())) < 2:
        return ""
    listed = "; ".join(f"{name}: {policy or 'not stored'}" for name, policy in policies.items())
    return (
        f"These runs begin a text differently ({listed}), so that their margins are not of the same texts: compare "
        "verdicts, not nats. Gemma, for one, scores near chance without a beginning token."
    )
