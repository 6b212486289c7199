"""Every completion beside its original: accept or overrule the verdict, with the mouse or the keyboard."""

from __future__ import annotations

import difflib
import html
import json
from collections.abc import Collection, Sequence

import pandas as pd
import streamlit as st

from explorer import display
from explorer.results.packed_run import PackedRun, Run
from explorer.results.store import ingest_runs
from explorer.runs.folder import RunFolder
from explorer.similarity.replication import judge_prompt
from explorer.studies.icl import findings as icl_findings
from explorer.studies.icl import queries as icl_queries
from explorer.studies.icl import rows as icl_rows
from explorer.ui import links, resources, show
from explorer.ui.columns import number_column
from explorer.ui.icl import run as icl_run
from explorer.ui.instance import ngram_strip
from explorer.ui.layout import Chosen
from explorer.writing import pieces

Judged = tuple[str, str, int]  # instance, setting, number of demonstrations

KEYS = {"exact": "1", "near-exact": "2", "inexact": "3"}
SAID = {"rule": "The rule says", "judge": "the judge model says", "people": "a person says"}


def keeps_completions(run_id: str) -> bool:
    """Whether the run still has its completions: those that came with the explorer have them of its own sets alone."""
    run = resources.run(run_id)
    return not isinstance(run, PackedRun) or run.keeps_texts


def completions(run_id: str) -> pd.DataFrame:
    """A row per completion of the run, with everybody's verdicts."""
    return _table(resources.run(run_id))


def draw_icl_review(run_id: str, chosen: Chosen) -> None:
    """The filters, the completion under review, and the table of all."""
    if not keeps_completions(run_id):
        draw_judge_prompt()
        show.note(
            "This run came with Lexiscope: of a benchmark that is not its own it keeps verdicts and numbers, no "
            "completions. Those of the starter sets are there to be looked at; or do a run of your own."
        )
        return
    _draw_review(run_id)


@st.fragment
def _draw_review(run_id: str) -> None:
    with show.problems():
        run = resources.run(run_id)
        table = _table(run)
        if table.empty:
            show.note("This run has no completion yet.")
            return
        st.html(f"<style>{ngram_strip.style()}</style>")
        completion = st.container()  # first on the page, though which it is is chosen below
        chosen = _filtered(table)
        with completion:
            _draw_next(run_id, chosen)
        _agreement(table)
        if isinstance(run, RunFolder):
            _count(run)
        draw_judge_prompt()
        if len(chosen):
            _draw_all_completions(run_id, chosen)


def _draw_next(run_id: str, chosen: pd.DataFrame) -> None:
    """The completion that is judged next, or why there is none."""
    waiting = chosen[chosen["people"].isna()]
    if chosen.empty:
        show.note("The rule gave this verdict to none of these completions.")
    elif waiting.empty and st.session_state.get(_place_key(run_id)) is None:
        show.note("No completion is left here: every verdict was accepted or overruled.")
        st.button(
            "Look at the last one", key="icl:last", shortcut="B", type="tertiary",
            on_click=_go_to_instance, args=(run_id, chosen["instance_id"].iloc[-1]),
        )  # fmt: skip
    else:
        _draw_completion(run_id, chosen, waiting)


def diff_html(original: str, completion: str) -> tuple[str, str]:
    """Both texts with the words marked that the other has not; all text escaped."""
    ours, theirs = (
        [(piece.start, piece.end, piece.text) for piece in pieces(text, signs=True)] for text in (original, completion)
    )
    matcher = difflib.SequenceMatcher(None, [word for *_, word in ours], [word for *_, word in theirs], autojunk=False)
    gone: list[tuple[int, int]] = []
    new: list[tuple[int, int]] = []
    for operation, a, b, c, d in matcher.get_opcodes():
        if operation != "equal":
            gone += [(ours[a][0], ours[b - 1][1])] if a < b else []
            new += [(theirs[c][0], theirs[d - 1][1])] if c < d else []
    return _marked_html(original, gone), _marked_html(completion, new)


def _marked_html(text: str, spans: Sequence[tuple[int, int]]) -> str:
    html_pieces, last = [], 0
    for start, end in spans:
        html_pieces += [html.escape(text[last:start]), f"<mark>{html.escape(text[start:end])}</mark>"]
        last = end
    return "".join([*html_pieces, html.escape(text[last:])])


def _table(run: Run) -> pd.DataFrame:
    parts = () if isinstance(run, PackedRun) else tuple(len(run.part_files(table)) for table in icl_rows.READ)
    return _verdict_table(run.run_id, parts, json.dumps(run.read_reviews()), run)


@st.cache_data(max_entries=16, show_spinner=False)
def _verdict_table(run_id: str, parts: tuple[int, ...], reviews: str, _run: Run) -> pd.DataFrame:
    """All verdicts of a run; `parts` makes the memory forget when a part is added."""
    return icl_rows.verdict_table(_reader(_run), json.loads(reviews))


def _reader(run: Run) -> icl_rows.Read:
    def read(table: str, columns: Sequence[str]) -> pd.DataFrame:
        if isinstance(run, PackedRun):
            return resources.ask_store(icl_queries.rows, run.run_id, table, tuple(columns))
        return _rows(str(run.path), table, tuple(columns), len(run.part_files(table)))

    return read


@st.cache_data(max_entries=32, show_spinner=False)
def _rows(path: str, table: str, columns: tuple[str, ...], parts: int) -> pd.DataFrame:
    """A run's columns; `parts` makes the memory forget when a part is added."""
    folder = RunFolder.find(resources.settings().runs, path.rsplit("/", 1)[-1])
    frame: pd.DataFrame = folder.read(table, columns)
    return frame


def _agreement(table: pd.DataFrame) -> None:
    judged = int(table["people"].notna().sum())
    overruled = int((table["people"].notna() & (table["people"] != table["rule"])).sum())
    cells = [
        ("Judged by people", f"{judged:,} of {len(table):,}", "Completions with a person's verdict."),
        ("Rule overruled", f"{overruled:,}", "Where a person's verdict is another than the rule's."),
    ]
    for row in icl_findings.agreements(table):
        value = display.MISSING if row["value"] is None else display.number(row["value"])
        pair = str(row["grp"]).replace(", ", " and ")
        cells.append((f"Kappa: {pair}", value, f"Cohen's kappa over {row['n']:,} completions. {row['reason'] or ''}"))
    show.numbers(cells)


def _count(folder: RunFolder) -> None:
    """Offers to work the run's findings out again where verdicts are newer than they."""
    concluded = folder.part_files("findings")
    if not concluded or not folder.reviews.exists() or folder.progress().status != "complete":
        return
    if folder.reviews.stat().st_mtime <= concluded[0].stat().st_mtime:
        return
    if st.button(
        "Count these verdicts over k", key="icl:count", icon=":material/sync:", type="tertiary",
        help="Works the curves, correlations and kappa of this run out again, with the verdicts that people gave.",
    ):  # fmt: skip
        with st.spinner("Working out the findings"):
            folder.write_findings(icl_findings.summarize(folder.spec, resources.resources(), folder))
            ingest_runs(resources.settings(), [folder])
        st.rerun()


def _filtered(table: pd.DataFrame) -> pd.DataFrame:
    columns = st.columns(3)
    with columns[0]:
        settings = list(dict.fromkeys(table["setting"]))
        setting = links.pick(
            st.selectbox, "Setting", "setting", settings, default=settings[0],
            format_func=lambda name: icl_run.SETTINGS.get(name, name),
        )  # fmt: skip
    of_setting = table[table["setting"] == setting]
    with columns[1]:
        ks = [str(k) for k in sorted(set(of_setting["k"]))]
        k = links.pick(st.selectbox, "Demonstrations", "k", ks, default=ks[-1])
    of_setting = of_setting[of_setting["k"] == int(k)]
    with columns[2]:
        kinds = ["every verdict", *KEYS]
        kind = links.pick(st.selectbox, "Rule's verdict", "kind", kinds, default=kinds[0])
    return of_setting if kind == kinds[0] else of_setting[of_setting["rule"] == kind]


def _place_key(run_id: str) -> str:
    return f"icl:review:{run_id}"


def _draw_completion(run_id: str, chosen: pd.DataFrame, waiting: pd.DataFrame) -> None:
    """The completion under review, with its buttons."""
    wanted = st.session_state.get(_place_key(run_id))
    rows = chosen[chosen["instance_id"] == wanted] if wanted else waiting.head(1)
    row = (rows if len(rows) else (waiting if len(waiting) else chosen).head(1)).iloc[0]
    names = list(chosen["instance_id"])
    at = names.index(row["instance_id"])
    st.html(
        f'<p class="lx-where">{at + 1:,} of {len(names):,} · label: '
        f"{html.escape(display.words(str(row['label'] or '')))}</p>"
    )
    show.section("Given")
    st.html(f'<div class="lx-pair"><p class="lx-sentence">{html.escape(str(row["first"]))}</p></div>')
    original, completion = diff_html(str(row["reference"]), str(row["completion"]))
    left, right = st.columns(2, gap="large")
    for column, title, text in ((left, "Original", original), (right, "Completion", completion or "<i>nothing</i>")):
        with column:
            show.section(title)
            st.html(f'<div class="lx-pair"><p class="lx-sentence">{text}</p></div>')
    _describe(row)
    counted = row["rule"] if isinstance(row["rule"], str) else ""
    about = row["instance_id"], row["setting"], int(row["k"])
    # Buttons of this completion alone: a key pressed twice must not judge the next one, which nobody has read.
    choice = ":".join(map(str, about))
    following = next_waiting(names, set(waiting["instance_id"]), at)
    st.session_state[_shown_key(run_id)] = about
    with st.container(horizontal=True):
        for kind, key in KEYS.items():
            st.button(
                kind.capitalize(), key=f"icl:{kind}:{choice}", shortcut=key,
                icon=":material/rule:" if kind == counted else None, on_click=_store_verdict,
                args=(run_id, *about, kind, following),
                help="The rule says so." if kind == counted else None,
            )  # fmt: skip
        st.button(
            "Accept the rule", key=f"icl:accept:{choice}", shortcut="A", icon=":material/check:", disabled=not counted,
            on_click=_store_verdict, args=(run_id, *about, counted, following),
        )  # fmt: skip
        st.button(
            "Back", key=f"icl:back:{choice}", shortcut="B", type="tertiary", disabled=at == 0,
            on_click=_go_to_instance, args=(run_id, names[max(0, at - 1)]),
        )  # fmt: skip
        st.button(
            "Next", key=f"icl:next:{choice}", shortcut="N", type="tertiary", disabled=at == len(names) - 1,
            on_click=_go_to_instance, args=(run_id, names[min(len(names) - 1, at + 1)]),
        )  # fmt: skip
        last = last_given(st.session_state.get(_given(run_id), ()), about if pd.notna(row["people"]) else None)
        st.button(
            "Take back", key=f"icl:undo:{choice}", icon=":material/undo:", type="tertiary", shortcut="U",
            disabled=last is None, on_click=_take_back, args=(run_id, last),
            help="Takes back the last verdict that was given here, and goes to its completion.",
        )  # fmt: skip


def _describe(row: pd.Series) -> None:
    judgments = [f"{words} {row[name]}" for name, words in SAID.items() if isinstance(row[name], str)]
    if isinstance(row["rouge"], float) and row["rouge"] == row["rouge"]:
        by = f" ({row['rouge_by']})" if row["rouge_by"] else ""
        judgments.append(f"ROUGE-L recall{by} {row['rouge']:.2f}")
    if isinstance(row["cosine"], float) and row["cosine"] == row["cosine"]:
        judgments.append(f"cosine {row['cosine']:.2f}")
    if row["differing"]:
        judgments.append(f"names or numbers not found: {row['differing']}")
    show.note("; ".join(judgments) + ".")


def draw_judge_prompt() -> None:
    """The prompt that a judge model is given, to be opened where its verdicts stand."""
    with st.popover("The judge's prompt", icon=":material/gavel:"):
        st.write(
            "A judge model (setting judge) is asked this, with the original and the completion at the places marked."
        )
        st.code(judge_prompt("⟨the original⟩", "⟨the completion⟩"), language=None, wrap_lines=True)
        show.note(
            "Word for word the paper's (figure 5). “Yes (exact match)”, “Yes (near-exact match)” and “No” are answers; "
            "anything else is unparsed and never counts as a match."
        )


def _go_to_instance(run_id: str, instance_id: str) -> None:
    st.session_state[_place_key(run_id)] = instance_id


def _shown_key(run_id: str) -> str:
    return f"icl:shown:{run_id}"


def next_waiting(names: Sequence[str], waiting: Collection[str], at: int) -> str:
    """The completion to be judged after the one at this place: the next without a person's verdict, else the first
    that was stepped over; "" where none is left."""
    onwards = [*names[at + 1 :], *names[:at]]
    return next((name for name in onwards if name in waiting), "")


def last_given(verdicts_given: Sequence[Judged], current: Judged | None) -> Judged | None:
    """Whose verdict “Take back” takes back: the last one given here, else that of the completion in view."""
    return verdicts_given[-1] if verdicts_given else current


def _given(run_id: str) -> str:
    return f"icl:given:{run_id}"


def _take_back(run_id: str, judged: Judged) -> None:
    """Takes a verdict back and shows its completion; a key that comes twice takes back one verdict, not two."""
    key = _given(run_id)
    verdicts_given = st.session_state.get(key, ())
    if verdicts_given and verdicts_given[-1] != judged:
        return
    st.session_state[key] = verdicts_given[:-1]
    instance_id, setting, k = judged
    resources.run(run_id).add_review(icl_rows.review(instance_id, setting, k, "", "a person"))
    links.choose("setting", setting)
    links.choose("k", str(k))
    _go_to_instance(run_id, instance_id)


def _store_verdict(run_id: str, instance_id: str, setting: str, k: int, kind: str, following: str) -> None:
    """Appends the verdict to the run's reviews, which outlive the database and the precomputed file.

    A key that comes while the next completion is being drawn still means the one before, and is dropped.
    """
    if st.session_state.get(_shown_key(run_id)) != (instance_id, setting, k):
        return
    resources.run(run_id).add_review(icl_rows.review(instance_id, setting, k, kind, "a person"))
    verdicts_given = st.session_state.get(_given(run_id), ())
    st.session_state[_given(run_id)] = (*verdicts_given, (instance_id, setting, k))
    if following:
        st.session_state[_place_key(run_id)] = following
    else:
        st.session_state.pop(_place_key(run_id), None)


def _draw_all_completions(run_id: str, chosen: pd.DataFrame) -> None:
    drawer = st.expander(
        f"All of this choice: {display.counted(len(chosen), 'completion')}", key="icl:all", on_change="rerun"
    )
    if not drawer.open:
        return
    with drawer:
        show.table(
            chosen,
            f"completions {run_id}",
            columns={
                "instance_id": "Instance", "label": "Label", "reference": "Original", "completion": "Completion",
                "rule": "Rule", "judge": "Judge", "people": "People", "final": "Counts",
                "rouge": number_column("ROUGE-L recall", 2), "rouge_by": "Counted",
                "cosine": number_column("Cosine", 2), "differing": "Not found",
            },
        )  # fmt: skip
