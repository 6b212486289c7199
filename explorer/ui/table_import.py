"""A reader's own table becomes a benchmark: upload it, look at the guess, mend it, keep it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from explorer.benchmarks import table
from explorer.benchmarks.benchmark import Parsed
from explorer.benchmarks.table import Reading
from explorer.benchmarks.table_roles import ROLES
from explorer.errors import ExplorerError
from explorer.ui import frame, here, instances, resources, show

NONE = "–"
AUTOMATIC = "guess"
KINDS = {kind: here.KINDS[kind].capitalize() for kind in ROLES}
MEANINGS: Mapping[str, str] = {
    "good": "Acceptable sentence",
    "bad": "Unacceptable sentence",
    "context": "Context or question",
    "options": "List of options",
    "gold": "Right option",
    "text": "Text",
    "second": "Second text",
    "label": "Label",
    "target": "Last word",
    "id": "Id",
    "group": "Group",
}
DELIMITERS = {AUTOMATIC: None, "comma": ",", "tab": "\t", "semicolon": ";", "pipe": "|"}
SHOWN = 6  # instances of the preview


def draw() -> None:
    """The upload, the guess, the preview and the button that keeps it."""
    show.lead(
        "CSV, TSV, JSON, JSON Lines or Parquet, a row an instance: minimal pairs, choices, passages whose last word is "
        "asked, or labeled texts."
    )
    upload = st.file_uploader(
        "Table", type=["csv", "tsv", "txt", "json", "jsonl", "ndjson", "parquet"], key="import:file",
        label_visibility="collapsed",
    )  # fmt: skip
    if upload is None:
        _answer()
        show.section("What the columns should hold")
        show.table(_expected(), "columns", caption="What the columns of an imported table should hold")
        return
    with tempfile.TemporaryDirectory() as folder:
        # Only the file's ending is taken over: its name is the visitor's.
        path = Path(folder) / f"upload{Path(upload.name).suffix.lower()}"
        path.write_bytes(upload.getvalue())
        with show.problems():
            reading = _reading(path, upload.file_id)
            if reading:
                _preview(path, reading, upload.name)


def _expected() -> pd.DataFrame:
    def named(roles: Sequence[str]) -> str:
        return ", ".join(MEANINGS[role].lower() for role in roles if role != "options")

    return pd.DataFrame(
        {
            "Kind": list(KINDS.values()),
            "Needed": [named(ROLES[kind][0]) + (", two or more options" if kind == "choice" else "") for kind in KINDS],
            "May be there": [named(ROLES[kind][1]) for kind in KINDS],
        }
    )


def _reading(path: Path, key: str) -> Reading | None:
    kind_box, delimiter_box, encoding_box, header_box = st.columns(4)
    kind = kind_box.selectbox(
        "What it holds",
        [AUTOMATIC, *KINDS],
        format_func=lambda name: KINDS.get(name, "Guess"),
        key=f"import:kind:{key}",
    )
    delimiter = delimiter_box.selectbox("Delimiter", list(DELIMITERS), key=f"import:delimiter:{key}")
    encoding = encoding_box.selectbox(
        "Encoding", [AUTOMATIC, "utf-8", "utf-16", "cp1252", "latin-1"], key=f"import:encoding:{key}"
    )
    header = header_box.selectbox("First row", [AUTOMATIC, "names", "data"], key=f"import:header:{key}")
    given: dict[str, Any] = {
        "kind": None if kind == AUTOMATIC else kind,
        "delimiter": DELIMITERS[delimiter],
        "encoding": "" if encoding == AUTOMATIC else encoding,
        "header": None if header == AUTOMATIC else header == "names",
    }
    try:
        guess = table.guess(path, **given)
        kind, guessed = guess.kind, dict(guess.columns)
    except ExplorerError as error:
        # The columns do not tell what they hold: once the kind is said, the reader names them.
        if kind == AUTOMATIC:
            show.problem(error)
            return None
        guessed = {}
    names = table.column_names(path, **{name: value for name, value in given.items() if name != "kind"})
    chosen = _roles(kind, names, guessed, key)
    if any(role not in chosen for role in ROLES[kind][0]):
        show.note("Choose the column of each role that is needed.")
        return None
    return table.guess(path, **{**given, "columns": chosen, "kind": kind})


def _roles(kind: str, names: tuple[str, ...], guessed: Mapping[str, str], key: str) -> dict[str, str]:
    needed, extra = ROLES[kind]
    numbered = [role for role in guessed if role.startswith("option") and role != "options"]
    if kind == "choice" and "options" not in guessed and not numbered:
        numbered = ["option1", "option2"]
    roles = [*needed, *numbered, *extra]
    show.section("Columns")
    chosen = {}
    for column, role in zip(st.columns(4) * (len(roles) // 4 + 1), roles):
        options = [NONE, *names]
        guess = guessed.get(role, NONE)
        label = MEANINGS.get(role, role.replace("option", "Option "))
        picked = column.selectbox(
            label if role in needed or role in numbered else f"{label} (optional)",
            options,
            index=options.index(guess) if guess in options else 0,
            key=f"import:role:{key}:{kind}:{role}",
        )
        if picked != NONE:
            chosen[role] = picked
    return chosen


def _preview(path: Path, reading: Reading, title: str) -> None:
    parsed = table.read(path, reading, "preview")
    show.section("What would be imported")
    show.note(told(reading, parsed))
    rows = _rows(parsed)
    show.table(rows, "preview", caption="The first rows of the table as they were read", n=len(rows))
    if parsed.left_out:
        with st.expander(f"{len(parsed.left_out):,} rows left out"):
            out = pd.DataFrame([{"where": row.where, "reason": row.reason} for row in parsed.left_out])
            show.table(out, "rows left out", columns={"where": "Where", "reason": "Why"})
    with st.form("import:keep", border=False):
        name = st.text_input("Name", _suggest(title), help="Small letters, digits, - and _.", key="import:name") or ""
        if st.form_submit_button("Import", type="primary", icon=":material/save:", key="import:store"):
            _store(path, name, reading, parsed)
    _answer()


def told(reading: Reading, parsed: Parsed) -> str:
    """How the file is read, in one sentence."""
    groups = len({instance.group for instance in parsed.instances})
    parts = [f"{len(parsed.instances):,} instances ({here.KINDS[reading.kind]}) in {groups:,} groups"]
    parts += [f"{len(parsed.left_out):,} rows left out"] if parsed.left_out else []
    parts += [f"read as {reading.format}"]
    parts += [f"encoding {reading.encoding}"] if reading.encoding else []
    return ", ".join(parts) + "."


def _rows(parsed: Parsed) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "Instance": instance.id.partition("/")[2],
                "Text": instances.summary(instance),
                "Options": " / ".join(instance.options[:4]),
                "Right": instance.label or ("" if instance.gold is None else instance.options[instance.gold]),
            }
            for instance in parsed.instances[:SHOWN]
        ]
    )


def _store(path: Path, name: str, reading: Reading, parsed: Parsed) -> None:
    try:
        kept = table.store(path, name, resources.settings(), reading)
    except ExplorerError as error:
        show.problem(error)
        return
    instances.forget()
    st.session_state["import:answer"] = (kept.name, len(parsed.instances))


def _answer() -> None:
    name, many = st.session_state.get("import:answer", ("", 0))
    if name:
        st.success(show.plain(f"{many:,} instances are now the benchmark {name}."))
        frame.link_to("Instance", "Look at its instances", benchmark=name)


def _suggest(title: str) -> str:
    return re.sub(r"[^a-z0-9_-]+", "_", Path(title).stem.lower()).strip("_-")[:40] or "mine"
