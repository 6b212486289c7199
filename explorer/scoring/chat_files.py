"""What a model's files say of chats: its template, and whether it was tuned to answer in it. No weights are read.

Many a base model comes with the template of its family. One counts as tuned for chat where its files say that it ends
what it writes with the mark by which the template ends an answer: its end-of-text token, or one of those that
generation_config.json lists, stands in the template.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from explorer.errors import ModelError
from explorer.scoring import catalog, embedded, hf_source, http
from explorer.scoring.hf_chat import DEFAULT_TEMPLATE, NO_TEMPLATE
from explorer.scoring.weight_files import ADAPTER, gguf_file
from explorer.settings import Settings


def template(folder: Path) -> str:
    """The chat template in a model's folder, "" for none."""
    file = folder / "chat_template.jinja"
    if file.is_file():
        return file.read_text("utf-8", errors="replace")
    listed = _json(folder / "tokenizer_config.json").get("chat_template")
    if isinstance(listed, list):
        named = {str(entry.get("name")): entry.get("template") for entry in listed if isinstance(entry, Mapping)}
        listed = named.get(DEFAULT_TEMPLATE)
    return listed if isinstance(listed, str) else ""


def template_hash(text: str) -> str:
    """What stands for a chat template in a run's settings and in its environment: 16 hex digits."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def is_tuned(folder: Path) -> bool:
    """Whether the files in a model's folder say that it was tuned for chat."""
    text = template(folder)
    if not text:
        return False
    # A template that writes the tokenizer's own end mark names it as a variable.
    return "eos_token" in text or any(mark in text for mark in _end_marks(folder))


def folder_of(name: str, settings: Settings) -> Path | None:
    """Where a model's text files are, fetched from the hub where they are new; none where they are made later."""
    base, revision = hf_source.split_revision(name)
    known = catalog.find(base)
    if known and known.embedded:
        return embedded.folder(known.id, settings) if embedded.is_ready(known.id, settings) else None
    if known and known.trained_by:
        return hf_source.locate(name, settings).path
    if hf_source.is_folder(name):
        return _of_local(name, settings)
    return hf_source.text_files(known.id if known else base, revision, settings)


def _of_local(name: str, settings: Settings) -> Path | None:
    path = hf_source.local_folder(name)
    if gguf_file(path):
        return hf_source.locate(name, settings).path  # what its one file holds is read where it is converted
    return folder_of(hf_source.base_of(path), settings) if (path / ADAPTER).is_file() else path


def template_of_folder(name: str, settings: Settings) -> str:
    """The hash of the chat template that decides beside the weights of a local folder; "" of every other model.

    A hub's commit, a server's name and the hash of a GGUF file stand for their templates, too.
    """
    if (
        catalog.find(hf_source.split_revision(name)[0])
        or not hf_source.is_folder(name)
        or gguf_file(hf_source.local_folder(name))
    ):
        return ""
    folder = folder_of(name, settings)
    text = template(folder) if folder else ""
    return template_hash(text) if text else ""


def version_of(name: str, settings: Settings) -> str:
    """What stands for the files of a local model as they are now, its chat template included; "" of any other."""
    if http.is_endpoint(name) or catalog.find(name) or not hf_source.is_folder(name):
        return ""
    weights = hf_source.local_hashes(hf_source.local_folder(name), settings)[0]
    return " ".join(filter(None, (weights, template_of_folder(name, settings))))


def is_chat_model(name: str, settings: Settings) -> bool:
    """Whether chat=auto asks this model as a chat: the catalog says so of those it knows, their files of the others."""
    known = catalog.find(hf_source.split_revision(name)[0])
    if known:
        return known.instructed
    folder = folder_of(name, settings)
    return folder is not None and is_tuned(folder)


def require_template(name: str, settings: Settings) -> None:
    """ModelError for a model that is known to have no template before anything is loaded."""
    folder = folder_of(name, settings)
    if folder is not None and not template(folder):
        raise ModelError(NO_TEMPLATE.format(name=name))


def _end_marks(folder: Path) -> Iterator[str]:
    marks = _json(folder / "tokenizer_config.json")
    usual = marks.get("eos_token")
    usual = usual.get("content") if isinstance(usual, Mapping) else usual
    if isinstance(usual, str) and usual:
        yield usual
    end_ids = _json(folder / "generation_config.json").get("eos_token_id")
    end_ids = _json(folder / "config.json").get("eos_token_id") if end_ids is None else end_ids
    end_numbers = {
        int(number) for number in (end_ids if isinstance(end_ids, list) else [end_ids]) if isinstance(number, int)
    }
    added = marks.get("added_tokens_decoder")
    if isinstance(added, Mapping):
        yield from (str(entry.get("content")) for number, entry in added.items() if int(number) in end_numbers)
    else:
        tokens = _json(folder / "tokenizer.json").get("added_tokens") or []
        yield from (str(entry.get("content")) for entry in tokens if entry.get("id") in end_numbers)


def _json(path: Path) -> dict[str, Any]:
    """The object in a file of JSON, an empty one where there is none."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
