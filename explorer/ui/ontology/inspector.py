"""One concept: its popularity, its neighbors among the ids, what a run answered, and what the model answers now."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from explorer import benchmarks, display
from explorer.errors import ExplorerError
from explorer.ontologies import as_benchmark
from explorer.ontologies.as_benchmark import concept_of
from explorer.ontologies.buckets import fill
from explorer.ontologies.complete import completeness
from explorer.ontologies.errors import nearest
from explorer.ontologies.invariance_requests import build_repeated
from explorer.ontologies.prompts import PROMPTS
from explorer.records import Instance, RunSpec
from explorer.rows.builders import instance_of, payload
from explorer.scoring import http
from explorer.settings import Settings
from explorer.studies.judged import Judgment
from explorer.studies.ontology import gold as ontology_gold
from explorer.studies.ontology import queries as ontology_queries
from explorer.studies.ontology.asking import Asking, asking
from explorer.studies.ontology.context import RunOntology, ontology_of_run
from explorer.studies.ontology.declared import GOLD_GAIN, GOLD_LOGPROB, GOLD_RANK
from explorer.studies.ontology.study import STUDY
from explorer.ui import layout, links, live, resources, show, texts, token_view
from explorer.ui.columns import count_column, id_column, mixed_column, nats_column, share_column
from explorer.ui.layout import Chosen
from explorer.writing import fold_text

MOST = 200  # concepts in a list of matches
OTHERS = 9  # ids among which the right one is ranked
ROW = 35  # pixels of a table's row


@dataclass(frozen=True, slots=True)
class AskedConcept:
    """A model's answers now, the right id's tokens, what was measured of it, and remarks."""

    answers: pd.DataFrame
    digits: pd.DataFrame
    judgment: Judgment
    remarks: tuple[str, ...]


def is_ontology(benchmark: str) -> bool:
    """Whether the benchmark's instances are concepts."""
    known = benchmarks.names(resources.settings())
    of_table = benchmark in known and benchmarks.find(benchmark, resources.settings()).kind == "concept"
    return of_table or as_benchmark.is_ontology(benchmark)


def draw_ontology_inspector(run_id: str, chosen: Chosen) -> None:
    """Everything about the concept that is looked for."""
    if not texts.are_here(chosen.benchmark):
        texts.offer(chosen.benchmark)
        return
    instances = [instance for instance in resources.instances(chosen.benchmark).instances if instance.kind == "concept"]
    if not instances:
        show.nothing_yet("No concepts here", "Choose an ontology, such as Gene Ontology, in the bar at the top.")
        return
    wanted = links.type_in("Label or ID", "concept", placeholder="kidney development")
    matches = _matching(instances, wanted)
    if not matches:
        show.note("No label or ID holds this text.")
        return
    by_id = {match.id: match for match in matches}
    name = links.pick(
        st.selectbox, "Concept", "instance", list(by_id),
        format_func=lambda key: f"{by_id[key].context} ({by_id[key].options[0]})",
    )  # fmt: skip
    _draw_concept(by_id[name], chosen.benchmark, _ontology(chosen), run_id)
    _live(by_id[name], chosen)


def _matching(instances: Sequence[Instance], wanted: str) -> list[Instance]:
    """Those whose label or id holds the text: the very label first, then labels that begin with it, then the rest."""
    wanted = fold_text(wanted)
    labels = {instance.id: fold_text(instance.context) for instance in instances}
    matches = [
        instance for instance in instances if wanted in labels[instance.id] or wanted in fold_text(instance.options[0])
    ]
    matches.sort(key=lambda match: (labels[match.id] != wanted, not labels[match.id].startswith(wanted)))
    return matches[:MOST]


def _draw_concept(instance: Instance, benchmark: str, ontology_read: RunOntology, run_id: str) -> None:
    concept = concept_of(instance)
    buckets = [bucket.number for bucket in fill(ontology_read.ranges, [concept.web_count]) if bucket.rows]
    show.numbers(
        [
            ("ID", concept.id, ""),
            (
                "Web count",
                "unknown" if math.isnan(concept.web_count) else display.count(concept.web_count),
                "From its file.",
            ),
            (
                "Popularity bucket",
                f"{buckets[0]} of {len(ontology_read.ranges)}" if buckets else display.MISSING,
                "1 is the least popular.",
            ),
        ]
    )
    if run_id:
        stored = resources.ask_store(ontology_queries.answers, run_id, instance.id)
        if len(stored):
            st.subheader("What the stored run answered", anchor=False)
            shown = {"text": "Answer", "verdict": "Kind", "setting": "Prompt or way", "language": "Language",
                     "temperature": "Temperature"}  # fmt: skip
            show.table(stored, "stored answers", columns=shown)
    st.subheader("Nearest IDs", anchor=False)
    show.lead("Other IDs that are fewest edits away; of equally near ones those whose labels share more words.")
    near = _nearest(payload(instance), benchmark, resources.settings())
    columns = {
        "Label": "Label",
        "Edits": count_column("Edits"),
        "Label overlap": share_column("Label overlap", "Shared over all distinct words."),
        "ID": id_column("ID"),
    }
    show.table(near, "nearest ids", columns=columns)


def _live(instance: Instance, chosen: Chosen) -> None:
    title = show.plain(layout.model_title(chosen.model))
    st.subheader("Ask now", anchor=False)
    show.lead("The question in five languages, and at eleven temperatures; then how likely the right ID is.")
    if reason := live.why_unknown(chosen.model):
        show.note(reason)
        return
    if not st.button(f"Ask {title}", icon=":material/bolt:", key="ontology:ask"):
        return
    with show.problems():
        with st.spinner(f"Asking {title}", show_time=True):
            answered = ask_concept(instance, chosen)
        for remark in answered.remarks:
            show.note(remark)
        show.table(answered.answers, "live answers", height=ROW * (len(answered.answers) + 1) + 3)
        _right_id(answered.digits, answered.judgment)


def _right_id(digits: pd.DataFrame, judgment: Judgment) -> None:
    """How likely the right id is, token by token, and among others."""
    st.subheader("How likely the right ID is", anchor=False)
    logprob = judgment.get(GOLD_LOGPROB.name)
    if math.isnan(logprob.value):
        show.note(f"Not known: {logprob.reason.rstrip('.')}.")
        return
    cells = [("log P (nats)", display.number(logprob.value), "Summed over the ID, after the question.")]
    rank = judgment.value(GOLD_RANK.name)
    if not math.isnan(rank):
        of = f"Among it and {OTHERS} IDs of other concepts, drawn at random; 1 is the likeliest."
        cells.append(("Rank", f"{rank:g} of {OTHERS + 1}", of))
    added = judgment.value(GOLD_GAIN.name)
    if not math.isnan(added):
        against = "Against the question with a label that says nothing."
        cells.append(("The label adds (nats)", display.number(added, signed=True), against))
    show.numbers(cells)
    st.html(
        token_view.strip(
            token_view.tokens_of(list(digits["Token"]), list(digits["log P (nats)"])), label="The right ID"
        )
    )
    st.html(token_view.key("nats"))
    columns = {
        "Token": "Token", "log P (nats)": nats_column("log P (nats)"), "Probability": mixed_column("Probability")
    }  # fmt: skip
    show.table(digits, "digits of the right id", columns=columns)


def ask_concept(instance: Instance, chosen: Chosen) -> AskedConcept:
    """What the model says of a concept now; ExplorerError where it cannot be asked."""
    about = (payload(instance), chosen.model, chosen.benchmark, resources.settings())
    answered = _ask_concept(*about)
    if http.is_endpoint(chosen.model) and any(measured.reason for measured in answered.judgment.measured):
        _ask_concept.clear(*about)  # a server may think better of what it refused
    return answered


@st.cache_data(max_entries=64, show_spinner=False)
def _ask_concept(text: str, model: str, benchmark: str, settings: Settings) -> AskedConcept:
    """The answers by the code of full runs; an endpoint that cannot score still answers."""
    instance = instance_of(text)
    spec = _spec(model, benchmark)
    shared = resources.resources()
    is_remote = http.is_endpoint(model)
    with live.turn(model):
        put = asking(spec, shared)
        chat = dataclasses.replace(put, prompt=PROMPTS["chat"])
        by_way = [_answers(spec, put, instance, "PI-2"), _answers(spec, chat, instance, "PI-3")]
        # A server gives log-probabilities of plain text alone.
        put = dataclasses.replace(put, prompt=PROMPTS["completion"]) if is_remote else put
        candidates = ontology_gold.candidates(put, put.requests(instance)[0], instance, OTHERS, (), seed=0)
        try:
            ids = ontology_gold.to_score(spec, shared, shared.scorer(model), put, [candidates])
            ids.run()
            tables = ids.rows()
        except ExplorerError as error:
            if not is_remote:
                raise
            tables = ontology_gold.unknown([candidates], str(error))
    gold = tables.get("scores", [])[:1]
    digits = pd.DataFrame(
        [
            {"Token": token, "log P (nats)": value, "Probability": math.exp(value)}
            for row in gold
            for token, value in zip(row["token_texts"], row["token_logprobs"], strict=True)
        ]
    )
    known = Judgment.of_rows(tables["measures"])
    rows = [row for answered, _ in by_way for row in answered]
    return AskedConcept(
        pd.DataFrame(rows), digits, known, tuple(dict.fromkeys(remark for _, remark in by_way if remark))
    )


def _answers(spec: RunSpec, put: Asking, instance: Instance, way: str) -> tuple[list[dict[str, Any]], str]:
    ontology_read = put.ontology
    requests = build_repeated(instance, put.prompt, ontology_read.prefix, ontology_read.title, way)
    until = completeness(ontology_read.rule, put.prompt.ends_with_prefix)
    options: dict[str, Any] = {} if http.is_endpoint(spec.model) else {"until": until}
    generations, remark = live.generate(spec.model, requests, max_new_tokens=put.new_tokens, **options)
    rows = []
    for generation in generations:
        outcome = put.parse(generation.text)
        rows.append(
            {
                "Prompt": put.prompt.name,
                "Language": generation.request.factors["language"],
                "Temperature": generation.request.factors["temperature"],
                "Answer": generation.text or generation.reason,
                "Gives": "" if generation.reason else outcome.id or outcome.kind,
                "Its label": ontology_read.labels.get(outcome.id, ""),
                "Verdict": "" if generation.reason else "right" if put.is_right(instance, generation) else "wrong",
            }
        )
    return rows, remark


def _ontology(chosen: Chosen) -> RunOntology:
    return ontology_of_run(_spec("", chosen.benchmark), resources.resources())


# Tens of thousands of ids are compared: a second, once a concept.
@st.cache_data(max_entries=256, show_spinner="Comparing IDs")
def _nearest(text: str, benchmark: str, settings: Settings) -> pd.DataFrame:
    ontology_read = ontology_of_run(_spec("", benchmark), resources.resources())
    neighbors = nearest(concept_of(instance_of(text)), list(ontology_read.concepts.values()))
    return pd.DataFrame(
        [
            {"ID": other.id, "Label": other.label, "Edits": near.levenshtein, "Label overlap": near.jaccard}
            for other, near in neighbors
        ]
    )


def _spec(model: str, benchmark: str) -> RunSpec:
    return RunSpec("ontology", STUDY.version, model, benchmark, settings=STUDY.resolve({}))
