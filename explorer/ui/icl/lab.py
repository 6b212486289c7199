"""Build a prompt with k demonstrations, see it, run it, and compare what comes back with the data set."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from explorer import display, prompts, prompts_icl
from explorer.errors import ExplorerError
from explorer.records import Generation, RunSpec, Score
from explorer.scoring import http
from explorer.settings import Settings
from explorer.similarity import replication
from explorer.studies import chat
from explorer.studies.icl import asking, judging
from explorer.studies.icl import queries as icl_queries
from explorer.studies.icl.context import NO_NAMES, DrawnItems, sampled_items
from explorer.studies.icl.study import STUDY
from explorer.studies.judged import Judgment
from explorer.ui import layout, links, live, resources, show, texts
from explorer.ui.columns import check_column, nats_column
from explorer.ui.icl import run
from explorer.ui.icl.answer_progress import Telling
from explorer.ui.icl.review import diff_html
from explorer.ui.instance import ngram_strip
from explorer.ui.layout import Chosen
from explorer.variants.demonstrations import Pieces

MOST = 200
NEW_TOKENS = 60
START = "3"
LINES_IN_VIEW, CHARACTERS_OF_A_LINE = 19, 110  # of a prompt
LABELED = "starter_entailment"  # what is asked about where the chosen benchmark has no labels
MOST_KEPT = 64  # answers
Form = tuple[tuple[str, Any], ...]  # settings of a run that say how it asked
LONGEST_LINKED = 1_000  # characters of an answer in an address


@dataclass(frozen=True, slots=True)
class Answered:
    """What the model wrote, or the reason why nothing; what the rule says of it; each label's log-probability."""

    text: str
    reason: str
    match: replication.Match | str  # or why the rule could not judge
    labels: pd.DataFrame
    judgment: Judgment  # of the labels
    unscored: str  # why no label has a log-probability
    remark: str


def draw_icl_lab(chosen: Chosen) -> None:
    """Pickers of item, setting and demonstrations; the prompt; the answer."""
    if not texts.are_here(chosen.benchmark):
        texts.offer(chosen.benchmark)
        return
    if not any(instance.kind == "labelled" for instance in resources.instances(chosen.benchmark).instances):
        show.note(
            f"{layout.benchmark_title(chosen.benchmark)} has no labeled texts; shown is "
            f"{layout.benchmark_title(LABELED)}. Another labeled set is chosen in the bar at the top."
        )
        chosen = Chosen(chosen.model, LABELED)
    lab_draw = _draw_items(chosen)
    items = {instance.instance.id: instance for instance in lab_draw.draw.instances[:MOST]}
    most = len(lab_draw.draw.demonstrations)
    name = links.pick(
        st.selectbox, "Test item", "item", list(items),
        format_func=lambda key: f"{items[key].first} ({display.words(items[key].instance.label) or key})",
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom"):  # what has no room stands in a second row
        setting = links.pick(
            st.selectbox, "Setting", "setting", list(run.SETTINGS), default="full", format_func=run.SETTINGS.get,
            width=210,
        )  # fmt: skip
        k = int(_number("Demonstrations", "shots", START, most))
        order = int(_number("Order", "order", "0", len(lab_draw.orders) - 1))
    pieces = items[name]
    shots = lab_draw.orders[order][:k]
    before = prompts_icl.shared(shots, setting, lab_draw.example, lab_draw.draw.split)
    form = _form_in_view(chosen)
    if sentence := chat.in_words(form):
        show.note(f"Asked {sentence}, like the stored run.")
    request = prompts_icl.replication(pieces, before, setting, k)
    _draw_prompt(request.context, chosen.benchmark, k)
    if reason := live.why_unknown(chosen.model):
        show.note(reason)
        return
    title = layout.model_title(chosen.model)
    question_key = (chosen.model, chosen.benchmark, name, setting, k, order, tuple(sorted(form.items())))
    question = ("icl", *question_key)
    if st.button(f"Ask {show.plain(title)}", icon=":material/bolt:", type="primary", key="icl:ask", shortcut="Enter"):
        st.session_state["icl:asked"] = question
        live.forget_fault("icl")
    if st.session_state.get("icl:asked") != question:
        return
    answered = _answers_kept().get((*question_key, live.version_of(chosen.model), resources.settings()))
    if answered is None:
        telling = Telling(_stop, "icl:stop")
        telling.step(live.waiting(chosen.model, title))
        answered = live.attempt("icl", chosen.model, question, lambda: answer(*question_key, telling=telling))
        telling.close()
    if answered is None:
        return
    if answered.remark:
        show.note(answered.remark)
    if answered.reason:
        show.note(f"{title} gave no answer: {answered.reason}. Take fewer demonstrations, or another item.")
    else:
        _written(pieces.second, answered)
    _labels(answered)


def _draw_prompt(prompt: str, benchmark: str, k: int) -> None:
    with st.expander("The prompt", expanded=k <= 5, key=f"icl:prompt:{k <= 5}"):
        if sum(1 + len(line) // CHARACTERS_OF_A_LINE for line in prompt.split("\n")) > LINES_IN_VIEW:
            show.note("In view is its end, with the test item; scroll up for the rest.")
        # Upside down, so that the box begins where the prompt ends: with the test item.
        st.html(f'<div class="lx-prompt-end"><pre>{html.escape(prompt)}</pre></div>')
        st.download_button(
            "Download the prompt", prompt, file_name=f"prompt_{benchmark}_k{k}.txt", key="icl:download",
            type="tertiary", icon=":material/download:", on_click="ignore",
        )  # fmt: skip


def _number(label: str, name: str, default: str, most: int) -> float:
    start = links.whole_number(name, min(int(default), most), most)
    number = st.number_input(label, min_value=0, max_value=most, value=start, step=1, key=f"icl:{name}", width=130)
    links.remember(name, str(int(number)), default)
    return number


def _written(reference: str, answered: Answered) -> None:
    st.html(f"<style>{ngram_strip.style()}</style>")
    original, completion = diff_html(reference, prompts_icl.completion(answered.text))
    left, right = st.columns(2, gap="large")
    for column, title, text in ((left, "In the data set", original), (right, "The model", completion or "nothing")):
        with column:
            show.section(title)
            st.html(f'<div class="lx-pair"><p class="lx-sentence">{text}</p></div>')
    show.note(_verdict(answered.match))
    if written := prompts_icl.completion(answered.text).strip():
        layout.link_to("Corpus", "Does the model's answer occur in a corpus?", text=written[:LONGEST_LINKED])
    with st.expander("Everything it wrote"):
        st.html(f'<pre class="lx-prompt">{html.escape(answered.text)}</pre>')


def _verdict(match: replication.Match | str) -> str:
    if isinstance(match, str):
        return f"The rule cannot judge it: {match}"
    facts = [f"By rule {match.kind}"]
    facts += [f"{match.rouge_name} {match.rouge:.2f}"] if match.rouge == match.rouge else []
    facts += [f"cosine {match.cosine:.2f}"] if match.cosine == match.cosine else []
    facts += [f"names or numbers not found: {', '.join(match.differing)}"] if match.differing else []
    facts += [] if match.names else [NO_NAMES]
    return "; ".join(facts) + "."


def _judge_completion(pieces: Pieces, written: Generation, is_english: bool) -> replication.Match | str:
    """What the rule says; why not, where the encoder or the tagger it needs is not to be had."""
    try:
        rule = judging.rule_of(resources.resources(), names=is_english)
        return judging.judge_completions(rule, [pieces], [written])[0]
    except ExplorerError as error:
        return str(error)


def _labels(answered: Answered) -> None:
    st.subheader("The label after the same demonstrations", anchor=False)
    if answered.unscored:
        show.note(f"No label has a score: {answered.unscored}")
        return
    show.table(
        answered.labels,
        "labels now",
        columns={
            "label": "Label", "logprob": nats_column("log P (nats)"),
            "right": check_column("Right"), "chosen": check_column("Chosen"),
            "reason": "Why not",
        },
    )  # fmt: skip


def _stop() -> None:
    """Nothing is asked any more, until the button is pressed again."""
    st.session_state["icl:asked"] = None


def _form_in_view(chosen: Chosen) -> dict[str, Any]:
    """The settings by which the run that the page's other views show asked as a chat; {} where it did not."""
    runs = resources.ask_store(icl_queries.runs, chosen.benchmark)
    ids = [str(run_id) for run_id in runs[runs["model"] == chosen.model]["run_id"]]
    if not ids:
        return {}
    wanted = links.recall("run")
    settings = run.settings_of(wanted if wanted in ids else ids[0], chosen.benchmark)
    form_settings: dict[str, Any] = {name: settings[name] for name in ("chat", "system", "form") if name in settings}
    return form_settings if chat.is_chat(settings) or form_settings.get("form") == "chat" else {}


def answer(
    model: str, benchmark: str, item: str, setting: str, k: int, order: int, form: Form = (),
    telling: Telling | None = None,
) -> Answered:  # fmt: skip
    """What the model makes of an item now, asked as a run with the settings in `form`; ExplorerError where it cannot
    be asked."""
    answered = _answer(model, benchmark, item, setting, k, order, form, telling)
    # A server may think better of what it refused, so that is not kept.
    if not (http.is_endpoint(model) and (answered.reason or answered.unscored or any(answered.labels["reason"]))):
        answers_kept = _answers_kept()
        answers_kept[model, benchmark, item, setting, k, order, form, live.version_of(model), resources.settings()] = (
            answered
        )
        for oldest in list(answers_kept)[:-MOST_KEPT]:
            answers_kept.pop(oldest, None)
    return answered


# By hand, since what Streamlit remembers must not draw while it is made.
@st.cache_resource(show_spinner=False)
def _answers_kept() -> dict[tuple[str, str, str, str, int, int, Form, str, Settings], Answered]:
    return {}


def _answer(
    model: str, benchmark: str, item: str, setting: str, k: int, order: int, form: Form, telling: Telling | None
) -> Answered:
    """The answer by the code of runs; an endpoint that cannot score still writes."""
    step = telling.step if telling else lambda text: None

    def is_complete(text: str) -> bool:
        if telling:
            telling.wrote(text)
        return prompts_icl.is_complete(text)

    lab_draw = _draw_items(Chosen(model, benchmark))
    shots = lab_draw.orders[order][:k]
    pieces = lab_draw.pieces[item]
    before = prompts_icl.shared(shots, setting, lab_draw.example, lab_draw.draw.split)
    shared = resources.resources()
    is_remote = http.is_endpoint(model)
    options: dict[str, Any] = {} if is_remote else {"until": is_complete}
    scores: list[Score] = []
    unscored = ""
    spec = RunSpec("icl", STUDY.version, model, benchmark, settings=STUDY.resolve(dict(form)))
    policy = chat.in_policy(judging.policy_of(), spec.settings)
    with live.turn(model):
        sent_as = asking.message_form(spec)
        request = prompts_icl.replication(pieces, before, setting, k, chat=sent_as.chat, system=sent_as.system)
        step("Waiting for the server" if is_remote else f"Reading a prompt of {len(request.context):,} characters")
        (written,), remark = live.generate(model, [request], max_new_tokens=NEW_TOKENS, **options)
        opening = prompts_icl.label_shared(shots, lab_draw.example)
        label_requests = asking.label_requests(spec, pieces.instance, opening, k, order)
        step(f"Scoring {len(label_requests)} labels after the same demonstrations")
        try:
            scores = shared.scorer(model).score(label_requests, policy)
        except ExplorerError as error:
            if not is_remote:
                raise
            unscored = str(error)
    step("Comparing the answer with the original")
    match = _judge_completion(pieces, written, not lab_draw.foreign)
    words = prompts.label_words(pieces.instance)
    dtype = str(shared.model_record(model).get("dtype", "")) if scores else ""
    judgment = Judgment.of_rows(judging.judge_labels(pieces.instance, scores, policy, dtype))
    rows = [
        {
            "label": word,
            "logprob": score.sum,
            "right": i == pieces.instance.gold,
            "chosen": i == judgment.value("chosen"),
            "reason": score.reason,
        }
        for i, (word, score) in enumerate(zip(words, scores, strict=False))  # a server may have scored none
    ]
    labels = pd.DataFrame(rows, columns=["label", "logprob", "right", "chosen", "reason"])
    return Answered(written.text, written.reason, match, labels, judgment, unscored, remark)


def _draw_items(chosen: Chosen) -> DrawnItems:
    spec = RunSpec("icl", STUDY.version, "", chosen.benchmark, settings=STUDY.resolve({}))
    return sampled_items(spec, resources.resources())
