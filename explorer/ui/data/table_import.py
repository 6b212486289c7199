"""A reader's own table becomes a benchmark: upload it, look at the guess, mend it, keep it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from explorer import display, languages
from explorer.benchmarks.core.benchmark import Parsed
from explorer.benchmarks.tables import preview as table_preview
from explorer.benchmarks.tables import roles as table_roles
from explorer.benchmarks.tables import table
from explorer.benchmarks.tables.roles import ROLES
from explorer.benchmarks.tables.table import Question, Reading
from explorer.errors import ExplorerError
from explorer.ui import instance_list, inventory, layout, resources, show
from explorer.variants import language

NONE = "–"
AUTOMATIC = "guess"
NOT_SAID = ""  # of a language
KINDS = {
    "pair": "Minimal pairs, one row per pair",
    "judged": "Judged sentences, one row per sentence",
    "turns": "Sentences by turns",
    "choice": "Choices",
    "contexts": "Choices between contexts",
    "cloze": "Last words",
    "labelled": "Labeled texts",
    "rating": "Rated sentences",
    "suite": "SyntaxGym suite, one row per region",
}
MEANINGS: Mapping[str, str] = {
    "good": "Acceptable sentence",
    "bad": "Unacceptable sentence",
    "sentence": "Sentence",
    "judged": "Judgment",
    "item": "Item",
    "passage": "Passage before the question",
    "context": "Context or question",
    "options": "List of options",
    "names": "Names of the options",
    "relation": "Cause or effect",
    "pronoun": "Pronoun to be replaced",
    "place": "Where the pronoun is",
    "gold": "Right option",
    "contexts": "List of contexts",
    "continuation": "Continuation",
    "text": "Text",
    "second": "Second text",
    "label": "Label",
    "target": "Last word",
    "rating": "Rating",
    "condition": "Condition",
    "region": "Number of the region",
    "content": "Text of the region",
    "id": "Id",
    "group": "Group",
    "language": "Language",
    "good_words": "Words of the acceptable sentence",
    "bad_words": "Words of the unacceptable sentence",
    "words": "Words of the sentence",
}
DELIMITERS = {AUTOMATIC: None, "comma": ",", "tab": "\t", "semicolon": ";", "pipe": "|", "none": ""}
ENCODINGS = [
    AUTOMATIC, "utf-8", "utf-16", "cp1252", "cp1250", "cp1251", "koi8-r", "cp1253", "cp1254", "cp1255", "cp1256",
    "cp1257", "cp1258", "cp874", "iso8859-2", "shift_jis", "euc_jp", "gb18030", "big5", "cp949", "mac-roman", "cp850",
]  # fmt: skip
QUESTIONS = {"gold": "gold", "first": "first", "acceptable": "acceptable", "encoding": "encoding"}


def draw_table_import() -> None:
    """The upload, the guess, the preview and the button that keeps it."""
    show.lead(
        "CSV, TSV, JSON, JSON Lines or Parquet: minimal pairs, judged or rated sentences, choices, passages whose last "
        "word is asked, labeled texts, or a SyntaxGym suite."
    )
    upload = st.file_uploader(
        "Table", type=["csv", "tsv", "txt", "json", "jsonl", "ndjson", "parquet"], key="import:file",
        label_visibility="collapsed",
    )  # fmt: skip
    if upload is None:
        _draw_outcome()
        show.section("What the columns should hold")
        show.table(_expected_columns(), "columns", caption="What the columns of an imported table should hold")
        return
    with tempfile.TemporaryDirectory() as folder:
        # Only the file's ending is taken over: its name is the visitor's.
        path = Path(folder) / f"upload{Path(upload.name).suffix.lower()}"
        path.write_bytes(upload.getvalue())
        labels = _labels(Path(folder), upload.file_id)
        with show.problems():
            reading = _reading(path, upload.file_id, labels)
            if reading:
                _preview(path, reading, upload.name, labels)


def _labels(folder: Path, key: str) -> Path | None:
    """A second file with the right option of each row, where the reader has one."""
    with st.expander("The right options are in a file of their own"):
        upload = st.file_uploader(
            "A line per row", type=["lst", "txt", "csv", "tsv", "labels"], key=f"import:labels:{key}"
        )
    if upload is None:
        return None
    path = folder / f"upload-own-labels{Path(upload.name).suffix.lower()}"
    path.write_bytes(upload.getvalue())
    return path


def _expected_columns() -> pd.DataFrame:
    def names_of_roles(roles: Sequence[str]) -> str:
        return ", ".join(MEANINGS[role].lower() for role in roles if role not in ("options", "contexts"))

    several = {"choice": ", two or more options", "contexts": ", two or more contexts"}
    return pd.DataFrame(
        {
            "Kind": list(KINDS.values()),
            "Needed": [names_of_roles(ROLES[kind][0]) + several.get(kind, "") for kind in KINDS],
            "May be there": [names_of_roles(ROLES[kind][1]) for kind in KINDS],
        }
    )


def _reading(path: Path, key: str, labels: Path | None) -> Reading | None:
    kind_box, delimiter_box, encoding_box, header_box, language_box = st.columns(5)
    kind = kind_box.selectbox(
        "What it holds",
        [AUTOMATIC, *KINDS],
        format_func=lambda name: KINDS.get(name, AUTOMATIC),
        key=f"import:kind:{key}",
    )
    delimiter = delimiter_box.selectbox("Delimiter", list(DELIMITERS), key=f"import:delimiter:{key}")
    encoding = encoding_box.selectbox("Encoding", ENCODINGS, key=f"import:encoding:{key}")
    header = header_box.selectbox("First row", [AUTOMATIC, "names", "data"], key=f"import:header:{key}")
    encoding_said = language_box.selectbox(
        "Language",
        [NOT_SAID, *sorted(set(languages.NAMES) - {languages.SEVERAL}, key=languages.in_words)],
        format_func=lambda code: languages.in_words(code) if code else "not said",
        key=f"import:language:{key}",
    )
    reading_options: dict[str, Any] = {
        "language": encoding_said,
        "kind": None if kind == AUTOMATIC else kind,
        "delimiter": DELIMITERS[delimiter],
        "encoding": "" if encoding == AUTOMATIC else encoding,
        "header": None if header == AUTOMATIC else header == "names",
        "labels": labels,
        **_pick_roles(str(kind), key),
    }
    try:
        guess = _guess_once_answered(path, reading_options, key)
        if guess is None:
            return None
        kind, guessed = guess.kind, dict(guess.columns)
    except ExplorerError as error:
        # The columns do not tell what they hold: once the kind is said, the reader names them.
        if kind == AUTOMATIC:
            show.problem(error)
            return None
        guess, guessed = None, {}
    if guess and guess.format == "suite":
        return guess
    about = ("encoding", "delimiter", "header", "labels")
    names = table.column_names(path, **{name: reading_options[name] for name in about})
    chosen = _roles(kind, names, guessed, key)
    if any(role not in chosen for role in ROLES[kind][0]):
        show.note("Choose the column of each role that is needed.")
        return None
    return _guess_once_answered(path, {**reading_options, "columns": chosen, "kind": kind}, key)


def _pick_roles(kind: str, key: str) -> dict[str, Any]:
    """What no column can tell: the predictions of a suite, the words before causes and effects."""
    roles: dict[str, Any] = {}
    if kind == "suite":
        text = st.text_area(
            "Predictions, a line each", placeholder="((4;%bad%) > (4;%good%))", key=f"import:formulas:{key}"
        )
        roles["formulas"] = tuple(line.strip() for line in (text or "").splitlines() if line.strip())
    if kind == "choice":
        words = st.text_input(
            "Words for because and therefore, parted by a comma (for causes and effects in another language)",
            key=f"import:connectors:{key}",
        )
        roles["connectors"] = tuple(word.strip() for word in words.split(",")) if words else ()
    return roles


def _guess_once_answered(path: Path, reading_options: dict[str, Any], key: str) -> Reading | None:
    """The guess once all that it asks is answered; None while an answer is open. No answer is chosen before."""
    while True:
        try:
            return table.guess_reading(path, **reading_options)
        except Question as question:
            if not question.answers or question.asks not in QUESTIONS or reading_options.get(QUESTIONS[question.asks]):
                raise
            picked = _radio(question, f"import:ask:{question.asks}:{key}")
            if picked is None:
                return None
            reading_options[QUESTIONS[question.asks]] = picked


def _radio(question: Question, key: str) -> str | None:
    shown = {answer.value: answer.shown for answer in question.answers}
    return st.radio(
        show.plain(f"{question.found}. Which is it?"),
        list(shown),
        index=None,
        format_func=lambda value: show.plain(f"{value}: {shown[value]}"),
        key=key,
    )


def _roles(kind: str, names: tuple[str, ...], guessed: Mapping[str, str], key: str) -> dict[str, str]:
    needed, extra = ROLES[kind]
    stem = table_roles.NUMBERED.get(kind, "")
    numbered = table_roles.numbered_roles(kind, guessed)
    if stem and f"{stem}s" not in guessed and not numbered:
        numbered = [f"{stem}1", f"{stem}2"]
    roles = [*needed, *numbered, *extra]
    show.section("Columns")
    chosen = {}
    for column, role in zip(st.columns(4) * (len(roles) // 4 + 1), roles, strict=False):
        guess = guessed.get(role, NONE)
        options = [NONE, *names, *([guess] if guess not in (NONE, *names) else [])]
        label = MEANINGS.get(role) or f"{stem.capitalize()} {role[len(stem) :]}"
        picked = column.selectbox(
            label if role in needed or role in numbered else f"{label} (optional)",
            options,
            index=options.index(guess) if guess in options else 0,
            key=f"import:role:{key}:{kind}:{role}",
        )
        if picked != NONE:
            chosen[role] = picked
    return chosen


def _preview(path: Path, reading: Reading, title: str, labels: Path | None) -> None:
    parsed = table.read_file(path, reading, "preview", labels)
    show.section("What would be imported")
    show.note(describe(reading, parsed))
    show.note(_describe_language(reading, parsed))
    for name, text in table_preview.describe_reading(reading).items():
        show.note(f"{name.capitalize()}: {text}.")
    if reading.unused:
        show.note(f"Columns that are not used: {', '.join(reading.unused)}.")
    show.section("The first items as a model reads them")
    show.table(_rows(parsed), "preview", columns=SHOWN, caption="The first items as a model reads them", n=3)
    if parsed.left_out:
        reasons = "; ".join(f"{many:,} {reason}" for reason, many in list(table_preview.left_out(parsed).items())[:4])
        with st.expander(show.plain(f"{display.counted(len(parsed.left_out), 'row')} left out: {reasons}")):
            out = pd.DataFrame([{"where": row.where, "reason": row.reason} for row in parsed.left_out])
            show.table(out, "rows left out", columns={"where": "Where", "reason": "Why"})
    with st.form("import:keep", border=False):
        name = st.text_input("Name", _suggest(title), help="Small letters, digits, - and _.", key="import:name") or ""
        if st.form_submit_button("Import", type="primary", icon=":material/save:", key="import:store"):
            _store(path, name, reading, parsed, title, labels)
    _draw_outcome()


def describe(reading: Reading, parsed: Parsed) -> str:
    """How the file is read, in one sentence."""
    groups = len({instance.group for instance in parsed.instances})
    kind = inventory.KINDS[reading.instance_kind]
    parts = [f"{display.counted(len(parsed.instances), 'instance')} ({kind}) in {display.counted(groups, 'group')}"]
    parts += [f"{display.counted(len(parsed.left_out), 'row')} left out"] if parsed.left_out else []
    parts += [f"read as {reading.format}"]
    parts += [f"encoding {reading.encoding}"] if reading.encoding else []
    return ", ".join(parts) + "."


def _describe_language(reading: Reading, parsed: Parsed) -> str:
    """The language of the texts; what they look like is told as a guess and not taken."""
    if reading.language:
        return f"Language: {languages.in_words(reading.language)}."
    guess = language.look_at_language(parsed.instances)
    return (
        f"Language: unknown. Only a guess: {guess.why}. Choose it above, so that words are not swapped or tagged as "
        "English where they are not."
    )


SHOWN = {"item": "Item", "context": "Read before", "continuation": "Scored", "right": "Right"}


def _rows(parsed: Parsed) -> pd.DataFrame:
    rows = []
    for item in table_preview.preview_items(parsed):
        for text in item["texts"][: table_preview.MOST]:
            describe = {True: "right", False: "", None: ""}[text["right"]]
            rated = "" if item["rating"] is None else f"rated {item['rating']:g}"
            rows.append(
                {
                    "item": item["id"].partition("/")[2],
                    "context": text["context"],
                    "continuation": text["continuation"],
                    "right": describe
                    or rated
                    or (text["name"] if text["right"] is None and len(item["texts"]) > 1 else ""),
                }
            )
    return pd.DataFrame(rows)


def _store(path: Path, name: str, reading: Reading, parsed: Parsed, title: str, labels: Path | None) -> None:
    try:
        stored = table.store_import(path, name, resources.settings(), reading, title=title, labels=labels)
    except ExplorerError as error:
        show.problem(error)
        return
    instance_list.forget()
    st.session_state["import:answer"] = (stored.name, len(parsed.instances))


def _draw_outcome() -> None:
    name, many = st.session_state.get("import:answer", ("", 0))
    if name:
        st.success(show.plain(f"Imported as the benchmark {name}: {display.counted(many, 'instance')}."))
        layout.link_to("Instance", "Look at its instances", benchmark=name)


def _suggest(title: str) -> str:
    return re.sub(r"[^a-z0-9_-]+", "_", Path(title).stem.lower()).strip("_-")[:40] or "mine"
