"""Runs from elsewhere: a run's zip of another machine, or a log of another harness, becomes a run here."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from explorer import logs
from explorer.errors import ExplorerError
from explorer.results import archive, broken_off
from explorer.studies.imported import log as imported_log
from explorer.ui import layout, resources, show

ENDINGS = ["zip", "jsonl", "json", "eval", "gz"]
LEFT_OUT_SHOWN = 5


def draw_import_run() -> None:
    """The upload, the model's name where a log has none, and what became of each file."""
    show.lead(
        "Take in a run that was exported on another machine (a zip), or logs of lm-evaluation-harness or Inspect. Of "
        "the harness choose the file of samples together with the file of results beside it. Samples are matched with "
        "the benchmarks here by their texts."
    )
    uploads = st.file_uploader(
        "Files", type=ENDINGS, accept_multiple_files=True, key="bring:files", label_visibility="collapsed"
    )
    model = st.text_input("Model, where a log does not name it", key="bring:model")
    if uploads and st.button("Bring in", key="bring:now", type="primary", icon=":material/move_to_inbox:"):
        st.session_state["bring:told"] = _bring(uploads, model)
    for line in st.session_state.get("bring:told", ()):
        show.note(line)


def _bring(uploads: Sequence[Any], model: str) -> list[str]:
    """A sentence per file; one that cannot be read keeps no other from becoming a run."""
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        paths = [_store_upload(Path(folder), number, upload) for number, upload in enumerate(uploads)]
        for path, upload in zip(paths, uploads, strict=True):
            # The harness's results are read with the samples that they belong to.
            if path.name.startswith("results_") and len(paths) > 1:
                continue
            try:
                lines += _import_one(path, model)
            except ExplorerError as error:
                lines.append(f"{upload.name[:80]}: {error}")
    return lines


def _import_one(path: Path, model: str) -> list[str]:
    if archive.is_run(path) or path.suffix == ".zip":  # logs come as no .zip, so a broken one is a run's
        folder, new = broken_off.import_archive(path, resources.resources())
        return [f"{path.name}: {'the run' if new else 'here already:'} {folder.run_id}"]
    log = logs.read(path)
    stored_log = imported_log.import_log(log, resources.resources(), model=model.strip())
    title = layout.benchmark_title(stored_log.benchmark)
    lines = [
        f"{path.name}: {stored_log.instances:,} samples of {log.made_by}, "
        f"{stored_log.matched:,} of them instances of {title}"
    ]
    lines += list(log.remarks)
    lines += [
        f"{path.name} {dropped_row.where}: {dropped_row.reason}" for dropped_row in stored_log.dropped[:LEFT_OUT_SHOWN]
    ]
    more = len(stored_log.dropped) - LEFT_OUT_SHOWN
    return lines + ([f"{path.name}: {more:,} more were left out; the run's folder keeps them."] if more > 0 else [])


def _store_upload(folder: Path, number: int, upload: Any) -> Path:
    """The upload on disk under its own name where that is harmless, since a log's name tells its task and date."""
    name = upload.name if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,150}", upload.name) else ""
    path = folder / (name or f"upload{number}{Path(upload.name).suffix.lower()[:8]}")
    if path.exists():
        path = folder / f"{number}_{path.name}"
    path.write_bytes(upload.getvalue())
    return path
