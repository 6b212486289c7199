"""Do original and perturbed mean the same? A judge's answers, people's clicks, and how far the two agree."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from explorer import display
from explorer.errors import RunError
from explorer.figures.model_names import model_title
from explorer.rows.builders import instance_of
from explorer.scoring import catalog
from explorer.similarity import judge
from explorer.stats.kappa import Agreement, kappa
from explorer.stats.proportion import proportion
from explorer.studies import published
from explorer.studies.perturbation import queries as perturbation_queries
from explorer.studies.perturbation.judge import EMBEDDED, judged_setting
from explorer.studies.popularity.groups import kind_of, title_of
from explorer.ui import links, live, resources, show, texts, visitor
from explorer.ui.columns import share_column
from explorer.ui.instance import ngram_strip
from explorer.ui.layout import Chosen
from explorer.ui.perturbation import run as perturbation_run
from explorer.ui.perturbation.pairs import pair_html, right_text, swaps_of

KIND = "same meaning"  # of a review in a run's folder
PERSON = "a person"
OFFERED = 400  # pairs that people and live judges are asked about, at most
ANSWERS = ("same", "different")

Verdicts = dict[str, dict[str, str]]  # by whom → instance → same, different or unparsed


def draw_same_instances(chosen: Chosen) -> None:
    """What was judged in the chosen run, and the next pair to judge."""
    run_id = perturbation_run.pick(chosen)
    if not run_id:
        show.note("Judging needs a finished run: start one under “Full runs”.")
        return
    settings = perturbation_run.settings_of(run_id)
    pos = judged_setting(settings["pos"])
    pairs = resources.ask_store(perturbation_queries.changed_pairs, run_id, pos, OFFERED)
    if pairs.empty:
        _by_task(run_id, pos)
        draw_judge_prompt()
        show.note("This run keeps no pair of texts that were swapped, so there is nothing here for you to judge.")
        return
    pairs = texts.filled(pairs, chosen.benchmark).dropna(subset=["payload", "variant"])
    if pairs.empty:
        texts.offer(chosen.benchmark)
        return
    # A swap in the wrong option alone leaves two equal texts: the study does not ask about those either.
    changed = [
        right_text(instance_of(old)) != right_text(instance_of(new))
        for old, new in zip(pairs["payload"], pairs["variant"], strict=True)
    ]
    pairs = pairs[changed]
    if pairs.empty:
        show.note("No swap of this run changed a right text, so there is nothing here for you to judge.")
        return
    _draw_comparison(run_id, pos, pairs, str(settings.get("judge") or ""))


@st.fragment
def _draw_comparison(run_id: str, pos: str, pairs: pd.DataFrame, run_judge: str) -> None:
    st.html(f"<style>{ngram_strip.style()}</style>")
    with show.problems():
        verdicts = verdicts_of(run_id, pos, run_judge)
        left, right = st.columns([3, 2], gap="large")
        with left:
            _ask_person(run_id, pos, pairs, verdicts.get(PERSON, {}))
        with right:
            _ask_model(run_id, pos, pairs)
        _numbers(verdicts)
        draw_judge_prompt()
        _by_task(run_id, pos)
        _answers(pairs, verdicts)


def draw_judge_prompt() -> None:
    """The prompt that a judge model is given, to be opened where its verdicts stand."""
    with st.popover("The judge's prompt", icon=":material/gavel:"):
        for who, text in judge.judge_prompt("⟨the original⟩", "⟨the swapped text⟩"):
            st.write(f"{who.capitalize()}:")
            st.code(text, language=None, wrap_lines=True)
        show.note("Word for word the paper's (appendix A.3). An answer other than “same” or “different” is unparsed.")
    show.note(EMBEDDED)


def verdicts_of(run_id: str, pos: str, run_judge: str) -> Verdicts:
    """Everybody's last verdict on each instance: the run's own judge, and the reviews kept in its folder."""
    verdicts: Verdicts = {}
    answers = resources.ask_store(perturbation_queries.judge_answers, run_id)
    for row in answers[answers["setting"] == pos].to_dict("records"):
        verdicts.setdefault(f"{run_judge} (in the run)", {})[row["instance_id"]] = row["verdict"]
    for review in resources.run(run_id).read_reviews():
        if review.get("kind") == KIND and review.get("setting") == pos:
            verdicts.setdefault(str(review["by"]), {})[str(review["instance_id"])] = str(review["answer"])
    return verdicts


def agreement(first: Mapping[str, str], other: Mapping[str, str]) -> Agreement:
    """Cohen's kappa over the instances that both judged as same or different."""
    names = sorted({*first, *other})
    sides = [[side.get(name) if side.get(name) in ANSWERS else None for name in names] for side in (first, other)]
    return kappa(*sides)


def _numbers(verdicts: Verdicts) -> None:
    cells = []
    for name, answers in verdicts.items():
        parsed = [answer for answer in answers.values() if answer in ANSWERS]
        share = proportion([float(answer == "same") for answer in parsed])
        unparsed = len(answers) - len(parsed)
        meaning = f"“same” by {name}: {display.share(share.value, share.low, share.high)} of {len(parsed)} answers"
        meaning += f"; {unparsed} could not be parsed and are left out" if unparsed else ""
        cells.append((f"Same: {name}", display.share(share.value), meaning))
    for name, answers in verdicts.items():
        if name != PERSON and PERSON in verdicts:
            agreed = agreement(verdicts[PERSON], answers)
            meaning = f"Cohen's kappa of a person and {name}: {agreed.n} pairs that both judged, "
            meaning += f"{display.share(agreed.agreed)} alike. "
            cells.append((f"Agreement: {name}", display.number(agreed.value), meaning + agreed.reason))
    if cells:
        show.numbers(cells)
    else:
        show.note("Nobody has judged a pair of this run yet.")


def _by_task(run_id: str, pos: str) -> None:
    """The run's judge task by task, beside the paper's (Table B)."""
    changes = resources.ask_store(perturbation_queries.changes)
    of_run = changes[(changes["run_id"] == run_id) & (changes["setting"] == pos) & changes["same"].notna()]
    of_run = of_run[[kind_of(group) in ("task", "overall", "phenomenon") for group in of_run["grp"]]]
    if of_run.empty:
        return
    paper = {figure.subject: figure.value / 100 for figure in published.figures() if figure.number == "B"}

    def draw() -> None:
        judged = published.judged_pairs()
        show.note(f"In the paper {judged.model} judged {judged.value:.0f} pairs of {judged.subject}.")
        show.table(
            of_run.assign(
                task=[title_of(group) for group in of_run["grp"]],
                paper=[paper.get(group, math.nan) for group in of_run["grp"]],
            ),
            f"judged {run_id}",
            columns={
                "task": "Instances",
                "same": share_column("Same"),
                "same_low": share_column("from"),
                "same_high": share_column("to"),
                "same_n": "Judged",
                "same_unparsed": "Unparsed",
                "paper": share_column("Paper"),
            },
        )

    show.folded("Task by task, beside Table B", f"judged:{run_id}", draw)


def _ask_person(run_id: str, pos: str, pairs: pd.DataFrame, done: Mapping[str, str]) -> None:
    """The next pair without a person's verdict; a model's verdict on it is not shown, so that nobody is led."""
    st.subheader("You judge", anchor=False)
    skipped = st.session_state.get(f"judge:skipped:{run_id}", ())
    waiting = pairs[~pairs["instance_id"].isin([*done, *skipped])]
    show.note(f"{len(done):,} of {len(pairs):,} pairs judged. Do the two texts convey the same meaning?")
    if waiting.empty:
        show.note("No pair is left.")
        return
    row = waiting.iloc[0]
    old, new = instance_of(row["payload"]), instance_of(row["variant"])
    st.html(pair_html(right_text(old), right_text(new), swaps_of(row["edit"])))
    with st.container(horizontal=True):
        for answer, icon in (("same", ":material/check:"), ("different", ":material/close:")):
            st.button(
                answer.capitalize(), icon=icon, key=f"judge:{answer}", on_click=_store_verdicts,
                args=(run_id, pos, [(row["instance_id"], answer, "")], PERSON),
            )  # fmt: skip
        st.button(
            "Skip", icon=":material/skip_next:", key="judge:skip", type="tertiary", on_click=_skip,
            args=(run_id, row["instance_id"]),
        )  # fmt: skip
    if fault := st.session_state.pop("judge:fault", ""):
        st.error(show.plain(fault))


def _skip(run_id: str, instance_id: str) -> None:
    key = f"judge:skipped:{run_id}"
    st.session_state[key] = (*st.session_state.get(key, ()), instance_id)


def _ask_model(run_id: str, pos: str, pairs: pd.DataFrame) -> None:
    st.subheader("A model judges", anchor=False)
    chats = [model.id for model in catalog.MODELS.values() if model.instructed]
    wish = links.recall("judge", chats[0])
    titles = {model_name: model_title(model_name) for model_name in (*chats, wish)}  # one that is typed stays as typed
    name = links.pick(
        st.selectbox, "Judge", "judge", list(dict.fromkeys([*chats, wish])), default=chats[0], accept_new_options=True,
        format_func=lambda model_name: titles.get(model_name, model_name), on_pick=visitor.allow,
        help="A chat model, or an endpoint like http://localhost:8000/v1#model: type it and press Enter.",
    )  # fmt: skip
    visitor.ask_about(name, "judge")
    many = int(st.number_input("Pairs", min_value=1, max_value=len(pairs), value=min(20, len(pairs)), key="judge:many"))
    if st.button("Judge now", icon=":material/gavel:", key="judge:now"):
        with show.problems():
            with st.spinner(f"{show.plain(model_title(name))} judges {many} pairs", show_time=True):
                _judge(run_id, pos, pairs.head(many), name)
            st.rerun(scope="fragment")
    show.note("The prompt is the paper's; an answer other than “same” or “different” counts as unparsed.")


def _judge(run_id: str, pos: str, pairs: pd.DataFrame, name: str) -> None:
    texts = [
        (right_text(instance_of(old)), right_text(instance_of(new)))
        for old, new in zip(pairs["payload"], pairs["variant"], strict=True)
    ]
    with live.turn(name, beside=True):
        judged = judge.judge_pairs(texts, resources.resources().beside().generator(name))
    answers = [
        (instance_id, verdict.answer, verdict.raw)
        for instance_id, verdict in zip(pairs["instance_id"], judged, strict=True)
    ]
    _store_verdicts(run_id, pos, answers, name)


def _store_verdicts(run_id: str, pos: str, answers: Sequence[tuple[str, str, str]], by: str) -> None:
    """Appends verdicts to the run's reviews, which outlive the database and the precomputed file."""
    run = resources.run(run_id)
    try:
        for name, answer, raw in answers:
            about = {"instance_id": name, "setting": pos, "answer": answer, "raw": raw}
            run.add_review({"kind": KIND, "by": by, **about})
    except RunError as error:
        st.session_state["judge:fault"] = str(error)


def _answers(pairs: pd.DataFrame, verdicts: Verdicts) -> None:
    """Every pair that somebody judged, with everybody's verdict."""
    judged = pairs[pairs["instance_id"].isin({name for answers in verdicts.values() for name in answers})]
    if judged.empty:
        return
    drawer = st.expander("Every judged pair", key="judge:all", on_change="rerun")
    if drawer.open:
        with drawer:
            rows: dict[str, Any] = {
                "instance": judged["instance_id"],
                "original": [right_text(instance_of(text)) for text in judged["payload"]],
                "perturbed": [right_text(instance_of(text)) for text in judged["variant"]],
                **{by: [answers.get(name, "") for name in judged["instance_id"]] for by, answers in verdicts.items()},
            }
            show.table(pd.DataFrame(rows), f"verdicts {time.strftime('%Y-%m-%d')}")
