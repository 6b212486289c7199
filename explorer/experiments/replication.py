"""Every printed figure that a stored run can answer, from the four papers and from reference evaluations.

A `Printed` figure names the findings of ours that mean the same; `beside` looks them up. Figures and table numbers
only: no text of a paper.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from explorer.experiments import icl_published, ontology_published, priming_published, published
from explorer.experiments.memorization_rows import ATTACKS
from explorer.popularity.tasks import TASKS
from explorer.scoring import catalog

POPULARITY, PRIMING, ONTOLOGIES, ICL = "popularity", "priming", "ontologies", "icl"
RELEASED, PYTHIA, BLIMP = "released", "pythia", "blimp"

# Source → what it is called.
SOURCES: Mapping[str, str] = {
    POPULARITY: "Lexical Popularity (Ruzzetti, Zanzotto, Caselli)",
    PRIMING: "Acceptability in context (Sinha et al. 2023)",
    ONTOLOGIES: "Do LLMs dream of ontologies? (Bombieri et al. 2024)",
    ICL: "Memorization in in-context learning (Golchin et al.)",
    RELEASED: "Released files of the ontology paper",
    PYTHIA: "Zero-shot evaluations of Pythia",
    BLIMP: "BLiMP's own models (Warstadt et al. 2020)",
}

HARNESS = ("lm-eval",)
MINICONS = ("minicons",)
NOT_LOADABLE = "no such model can be loaded"
NO_BENCHMARK = "Lexiscope has no such benchmark"
REVISED = "another edition: the evaluation has 1,677 revised pairs, the published set 1,508"
SIX_MODELS = "mean of six models, its sd over them"
# Remarks that tell of a slip of the paper; the others say why a figure is no target.
SLIPS = (
    published.PERPLEXITY,
    published.ANAPHOR,
    published.ANAPHOR_CHANGE,
    published.LABELS,
    ontology_published.SETTING_DIFFERS,
)
THREE_SETS = "mean of three data sets, while a run has one"


@dataclass(frozen=True, slots=True)
class Answer:
    """A finding of ours that means the same as a printed figure, once it is taken times `scale` plus `offset`.

    presets   scoring presets under which the setting is the printed one's; () = it does not matter
    detail    a key of the finding's detail to be read instead of its value
    """

    study: str
    benchmark: str
    finding: str
    group: str = "overall"
    setting: str = ""
    condition: str = ""
    scale: float = 1.0
    offset: float = 0.0
    presets: tuple[str, ...] = ()
    detail: str = ""
    k: int = -1  # demonstrations, -1 where they do not vary


@dataclass(frozen=True, slots=True)
class Printed:
    """A printed figure.

    digits      decimals as printed, so that ours can be compared at that precision
    shown       the figure to compare with; another than `value` only where the paper itself mends its slip
    remark      a slip of the paper (one of SLIPS), or why the figure is no target
    is_target   whether ours should meet it
    command     what would compute ours; "" where nothing can
    """

    source: str
    table: str
    model: str
    model_id: str
    what: str
    condition: str
    metric: str
    value: float
    digits: int
    answers: tuple[Answer, ...]
    command: str
    shown: float = math.nan
    sd: float = math.nan
    remark: str = ""
    is_target: bool = True

    @property
    def target(self) -> float:
        """The figure that ours is compared with."""
        return self.value if math.isnan(self.shown) else self.shown


@dataclass(frozen=True, slots=True)
class Ours:
    """What a stored run found for a printed figure, in the figure's unit; `same_setting` whether its preset is."""

    value: float
    low: float
    high: float
    n: int
    run_id: str
    study: str
    same_setting: bool
    setting: str


@cache
def figures() -> tuple[Printed, ...]:
    """Every figure of every source, in the order of their tables."""
    return (
        *_popularity(),
        *_priming(),
        *_ontologies(),
        *_icl(),
        *_released(),
        *_reference(),
    )


def of(source: str) -> list[Printed]:
    """The figures of one source."""
    return [one for one in figures() if one.source == source]


def canonical(model: str) -> str:
    """The catalog's id of a model, also for its last checkpoint by name; another revision stays another model."""
    name, sign, revision = model.partition("@")
    known = catalog.find(name)
    if known is None or (sign and revision not in ("main", "step143000")):
        return model
    return known.id


def is_same_model(printed: Printed, model: str) -> bool:
    """Whether a run's model is the printed one; names given to imported predictions count by letters and digits."""
    if not printed.model_id:
        return False
    if canonical(model) == printed.model_id:
        return True
    return _letters(model.partition("#")[2] or model.removeprefix("openai:")) in ALIASES.get(printed.model_id, ())


Key = tuple[str, str, str, str, str, str, int]  # study, benchmark, finding, group, setting, condition, k


def index(findings: Sequence[Mapping[str, Any]]) -> dict[Key, list[Mapping[str, Any]]]:
    """Findings by what they are about, the run that is wanted most first.

    Each has the columns run_id, model, study, benchmark, preset, finding, grp, setting, condition, k (-1 for none),
    value, low, high, n, detail, in the order in which runs are preferred; gaps in text columns are "".
    """
    found: dict[Key, list[Mapping[str, Any]]] = {}
    for row in findings:
        key = (
            str(row["study"]), str(row["benchmark"]), str(row["finding"]), str(row["grp"]), str(row["setting"]),
            str(row["condition"]), int(row["k"]),
        )  # fmt: skip
        found.setdefault(key, []).append(row)
    return found


def beside(printed: Printed, found: Mapping[Key, Sequence[Mapping[str, Any]]], model: str = "") -> Ours | None:
    """What a run of the same model found, or of `model` where one is named; none where no run did.

    A run in the printed setting goes before one in another.
    """
    candidates = [
        ours
        for answer in printed.answers
        for row in found.get(_key(answer), ())
        if (row["model"] == model if model else is_same_model(printed, str(row["model"])))
        and (ours := _ours(answer, row)) is not None
    ]
    return next((one for one in candidates if one.same_setting), candidates[0] if candidates else None)


def verdict(printed: Printed, ours: Ours | None) -> str:
    """How ours stands to the printed figure, in one or two words."""
    if ours is None:
        return "not computed"
    if not printed.is_target:
        return "no target"
    if not ours.same_setting:
        return "setting differs"
    if not math.isnan(ours.low):
        return "within" if ours.low <= printed.target <= ours.high else "outside"
    return "equal" if round(ours.value, printed.digits) == round(printed.target, printed.digits) else "differs"


def _key(answer: Answer) -> Key:
    return (
        answer.study, answer.benchmark, answer.finding, answer.group, answer.setting, answer.condition, answer.k
    )  # fmt: skip


def _ours(answer: Answer, row: Mapping[str, Any]) -> Ours | None:
    value, low, high = (float(row[name]) for name in ("value", "low", "high"))
    if answer.detail:
        detail = json.loads(row["detail"]) if row["detail"] else {}
        value, low, high = float(detail.get(answer.detail) or math.nan), math.nan, math.nan
    if math.isnan(value):
        return None
    value, low, high = (answer.offset + answer.scale * one for one in (value, low, high))
    if low > high:  # counted from the other side
        low, high = high, low
    preset = str(row["preset"] or "")
    same = not answer.presets or preset in answer.presets
    return Ours(value, low, high, int(row["n"] or 0), str(row["run_id"]), answer.study, same, preset)


# Names under which people import predictions or ask an endpoint for a paper's model.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "EleutherAI/pythia-12b-deduped": ("pythia12b", "pythia12bdeduped", "pythia12bdedupedstep143000"),
    "openai:gpt-3.5-turbo": ("gpt35", "gpt35turbo", "gpt35turbo0613", "gpt35turbo16k"),
    "openai:gpt-4-0613": ("gpt4", "gpt40613"),
    "openai:gpt-4-0613-32k": ("gpt40613", "gpt4061332k", "gpt432k0613", "gpt432k"),
}


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower().rpartition("/")[2])


# Lexical popularity


SIDES = {"original": "original", "NV": "N and V swapped", "N": "nouns swapped", "V": "verbs swapped"}
BENCHMARK_OF_TASK = {"copa": "copa_superglue"}  # the paper's COPA is SuperGLUE's 100 validation items
JUDGED = "the judge's answers of a run stand on the page Perturbation, view Same meaning?"
INDEX_OF = {"OLMo": "v4_dolma-v1_7_llama", "Pythia": "v4_piletrain_llama"}
METRICS = {
    "accuracy": "accuracy, %",
    "accuracy_change": "change, %",
    "perplexity": "perplexity",
    "perplexity_change": "change, %",
    "ips": "mean IPS of instances that flip",
    "judged_same": "judged to mean the same, %",
    "f1_macro": "macro-F1, %",
    "auc": "AUC, %",
}


def _popularity() -> Iterator[Printed]:
    ids = {name: model for model, name in published.MODELS.items()}
    for row in published.figures():
        answers, command = _popularity_answers(row, ids.get(row.model, ""))
        differs = row.note in (published.LABELS, published.ARGUMENTS) or (
            row.note == published.ANAPHOR_CHANGE and row.metric.endswith("_change")
        )
        yield Printed(
            source=POPULARITY,
            table=f"Table {row.table}",
            model=row.model,
            model_id=ids.get(row.model, ""),
            what=TASKS[row.task].title,
            condition=SIDES.get(row.condition) or _attack(row.condition),
            metric=METRICS[row.metric],
            value=row.printed,
            digits=2,
            answers=answers,
            command=command,
            shown=row.value if row.value != row.printed else math.nan,
            sd=row.sd,
            remark=row.note or (JUDGED if row.metric == "judged_same" else ""),
            is_target=not differs and row.metric != "judged_same",
        )


def _attack(condition: str) -> str:
    """The attack of a table on memorization and the half of instances, in words."""
    attack, _, half = condition.partition(" ")
    title = ATTACKS[attack].title if attack in ATTACKS else "majority dummy"
    return f"{title}, {half} half" if half else title


def _popularity_answers(row: published.PublishedFigure, model: str) -> tuple[tuple[Answer, ...], str]:
    benchmark = BENCHMARK_OF_TASK.get(row.task, TASKS[row.task].benchmark)
    index = INDEX_OF.get(row.model.partition(" ")[0], "demo")
    run = f"--model {model} --benchmark {benchmark} --set preset=lm-eval"
    perturb = f"python -m explorer run perturbation {run} --set index={index}"

    def swapped(finding: str, **more: Any) -> Answer:
        setting = "NV" if row.condition == "original" else row.condition
        return Answer("perturbation", benchmark, finding, row.task, setting, presets=HARNESS, **more)

    if row.metric == "accuracy" and row.condition == "original":
        whole = ("accuracy_by_phenomenon", TASKS[row.task].phenomena[0]) if TASKS[row.task].phenomena else (
            "accuracy", "overall"
        )  # fmt: skip
        scored = tuple(
            Answer(study, benchmark, *whole, scale=100, presets=HARNESS) for study in ("accuracy", "popularity")
        )
        answers = (*scored, *(Answer("perturbation", benchmark, "accuracy_original_all", row.task, pos, scale=100,
                                     presets=HARNESS) for pos in ("NV", "N", "V")))  # fmt: skip
        return answers, f"python -m explorer run accuracy {run}"
    if row.metric == "accuracy" and row.condition in SIDES:
        return (swapped("accuracy_perturbed", scale=100),), perturb
    if row.metric == "accuracy_change":
        return (swapped("change"),), perturb
    if row.metric == "perplexity":
        side = "original" if row.condition == "original" else "perturbed"
        alone = (Answer("accuracy", benchmark, "perplexity", presets=HARNESS),) if side == "original" else ()
        return (*alone, swapped(f"perplexity_{side}")), perturb
    if row.metric == "perplexity_change":
        return (swapped("perplexity_change"),), perturb
    if row.metric == "ips":
        detail = "before" if row.condition == "original" else "after"
        return (
            Answer("perturbation", benchmark, "ips_of_lost", row.task, "NV", detail=detail, presets=HARNESS),
        ), perturb
    if row.metric == "judged_same":
        return (), ""  # the model of Table B is the judge, which a run names in a setting
    return _memorization_answers(row, benchmark), f"python -m explorer run memorization {run}"


def _memorization_answers(row: published.PublishedFigure, benchmark: str) -> tuple[Answer, ...]:
    """Halves split as the paper did, passages by the score itself; classifiers of each attack."""
    shared: dict[str, Any] = {"scale": 100.0, "presets": HARNESS}
    if row.metric == "accuracy":
        attack, _, half = row.condition.rpartition(" ")
        finding = "memorization_half" if row.task == "lambada" else "memorization_published_half"
        return (Answer("memorization", benchmark, finding, row.task, attack, half, **shared),)
    kind = "svm" if row.table in ("I", "J") else "logistic"
    if row.condition == "baseline":
        if row.metric == "auc":
            return ()  # a constant guess: 50 by definition
        # The majority dummy does not look at the attack.
        return (Answer("memorization", benchmark, "classifier_f1", row.task, "tde_likelihood", "majority", **shared),)
    finding = {"f1_macro": "classifier_f1", "auc": "classifier_auc"}[row.metric]
    return (Answer("memorization", benchmark, finding, row.task, row.condition, kind, **shared),)


# Acceptability in context


def _priming() -> Iterator[Printed]:
    for suite, models in priming_published.UNACCEPTABLE_TABLE.items():
        for model, (value, sd) in models.items():
            mean = model == "mean"
            known = catalog.find(model)
            yield Printed(
                source=PRIMING,
                table="Table 2",
                model="mean of six models" if mean else known.title if known else model,
                model_id="" if mean else model,
                what=suite,
                condition="matched unacceptable contexts",
                metric="mean change of accuracy over lengths",
                value=value,
                digits=3,
                answers=()
                if mean
                else (
                    Answer(
                        "priming", "blimp", "suite_delta", suite, condition="matched_unacceptable", presets=MINICONS
                    ),
                ),
                command="" if mean else _priming_command(model),
                sd=sd,
                remark=SIX_MODELS if mean else "",
                is_target=not mean,
            )
    for table, model, what, finding, setting, condition, value, digits, slip in _CORRELATIONS:
        known = catalog.find(model)
        yield Printed(
            source=PRIMING,
            table=table,
            model=known.title if known else model,
            model_id=model,
            what=what,
            condition=condition.replace("_", ", ", 1),
            metric="correlation",
            value=value,
            digits=digits,
            answers=(Answer("priming", "blimp", finding, setting=setting, condition=condition, presets=MINICONS),),
            command=_priming_command(model, edits=finding == "edit_correlation", matrix=finding.startswith("matrix")),
            remark=slip,
            is_target=not slip,
        )


_SMALL, _MIDDLE, _LARGE = "openai-community/gpt2", "facebook/opt-2.7b", "facebook/opt-6.7b"
_CORRELATIONS: Sequence[tuple[str, str, str, str, str, str, float, int, str]] = (
    ("Section 5", _LARGE, "similarity of edited contexts and effect", "edit_correlation", "", "matched_acceptable",
     0.93, 2, ""),
    ("Section 5", _LARGE, "similarity of edited contexts and effect", "edit_correlation", "", "matched_unacceptable",
     -0.7, 1, ""),
    ("Appendix C", _SMALL, "accuracy before and after", "baseline_against_longest", "", "matched_acceptable",
     0.85, 2, THREE_SETS),
    ("Appendix C", _SMALL, "accuracy before and after", "baseline_against_longest", "", "matched_unacceptable",
     0.79, 2, THREE_SETS),
    ("Appendix C", _MIDDLE, "accuracy before and after", "baseline_against_longest", "", "matched_acceptable",
     0.59, 2, THREE_SETS),
    ("Appendix C", _MIDDLE, "accuracy before and after", "baseline_against_longest", "", "matched_unacceptable",
     0.52, 2, THREE_SETS),
    ("Appendix D", _SMALL, "shared tokens and accuracy, suite by suite", "matrix_correlation",
     "token_f1 and accuracy", "", 0.18, 2, ""),
    ("Appendix D", _SMALL, "shared dependency labels and accuracy, suite by suite", "matrix_correlation",
     "dependency_f1 and accuracy", "", 0.11, 2, ""),
)  # fmt: skip


def _priming_command(model: str, *, edits: bool = False, matrix: bool = False) -> str:
    command = f"python -m explorer run priming --model {model} --benchmark blimp --set preset=minicons"
    if edits:
        command += " --set edits=prefix_adverb,suffix_adverb,long_prefix_adverb,clause,quotation,all"
    return command + (" --set matrix=10" if matrix else "")


# Ontologies


_ONTOLOGY_MODELS = {
    "Pythia-12B": "EleutherAI/pythia-12b-deduped",
    "GPT-3.5": "openai:gpt-3.5-turbo",
    "GPT-4": "openai:gpt-4-0613",
}


def _ontologies() -> Iterator[Printed]:
    for one in ontology_published.PUBLISHED:
        digits = {"distinct_predictions": 0, "spearman_buckets": 2}.get(one.finding, 3)
        yield Printed(
            source=ONTOLOGIES,
            table=one.table,
            model=one.model,
            model_id=_ONTOLOGY_MODELS[one.model],
            what={"go": "Gene Ontology", "uberon": "Uberon"}[one.benchmark],
            condition="",
            metric=ontology_published.TITLES[one.finding],
            value=one.value,
            digits=digits,
            answers=tuple(
                Answer("ontology", one.benchmark, one.finding, setting=setting)
                for setting in ("as released", "corrected")
            ),
            command=_ontology_command(one.model, one.benchmark),
            remark=one.note,
            is_target=not one.note,
        )
    for way, value in ontology_published.INVARIANCE.items():
        yield Printed(
            source=ONTOLOGIES,
            table="Section 5.3",
            model="GPT-3.5",
            model_id=_ONTOLOGY_MODELS["GPT-3.5"],
            what="Gene Ontology",
            condition=way,
            metric="Spearman, prediction invariance and accuracy over buckets",
            value=value,
            digits=2,
            answers=(Answer("ontology", "go", "spearman_invariance", setting=way),),
            command=_ontology_command("GPT-3.5", "go") + f" --set invariance={way}",
        )


def _ontology_command(model: str, benchmark: str) -> str:
    prompt = "completion" if model == "Pythia-12B" else "chat"
    return (
        f"python -m explorer run ontology --model {_ONTOLOGY_MODELS[model]} --benchmark {benchmark}"
        f" --set prompt={prompt}"
    )


# Memorization in in-context learning


_ICL_MODEL = f"openai:{icl_published.MODEL}"
_ICL_SETS = {"wnli": "WNLI", "trec": "TREC", "dbpedia14": "DBpedia", "rte": "RTE"}
_ICL_SETTINGS = {"full": "full information", "pairs_labels": "pairs and labels", "pairs": "only pairs"}
_ICL_METRICS = {
    "pearson": "Pearson's r over k, performance and exact or near-exact matches",
    "pearson_exact": "Pearson's r over k, performance and exact matches",
    "replication": "exact and near-exact matches, %",
}
_WHOSE = ("final", "rule")  # verdicts: people's or the judge's where there are any, else the rule's


def _icl() -> Iterator[Printed]:
    for one in icl_published.PUBLISHED:
        share = one.finding == "replication"
        scale = 100.0 if share else 1.0
        yield Printed(
            source=ICL,
            table=one.place[:1].upper() + one.place[1:],
            model="GPT-4",
            model_id=_ICL_MODEL,
            what=_ICL_SETS[one.benchmark],
            condition=_ICL_SETTINGS[one.setting] + (f", {one.k} shots" if one.k >= 0 else ""),
            metric=_ICL_METRICS[one.finding],
            value=round(scale * one.value, 2),
            digits=0 if share else 2,
            answers=tuple(
                Answer("icl", one.benchmark, one.finding, setting=one.setting, condition=who, scale=scale, k=one.k)
                for who in _WHOSE
            ),
            command=f"python -m explorer run icl --model {_ICL_MODEL} --benchmark {one.benchmark}",
            remark=one.note,
            is_target=not one.note,
        )


def _released() -> Iterator[Printed]:
    """What follows from the files that the ontology paper's authors released, by their own rules."""

    def row(model: str, benchmark: str, finding: str, value: float, digits: int, group: str = "overall",
            setting: str = "as released", scale: float = 1.0, metric: str = "") -> Printed:  # fmt: skip
        file = {"go": "predictions_pythia12b.csv", "uberon": "predictions_gpt35.csv"}[benchmark]
        return Printed(
            source=RELEASED,
            table=file,
            model=model,
            model_id=_ONTOLOGY_MODELS[model],
            what={"go": "Gene Ontology", "uberon": "Uberon"}[benchmark],
            condition=setting if group == "overall" else f"bucket {group}, {setting}",
            metric=metric or ontology_published.TITLES[finding],
            value=value,
            digits=digits,
            answers=(Answer("ontology", benchmark, finding, group, setting, scale=scale),),
            command=f"python -m explorer import-predictions {file} --ontology {benchmark} --model-name {model}",
        )

    pythia = "Pythia-12B"
    yield row(pythia, "go", "accuracy", 0.672, 3, scale=100, metric="Accuracy, % (288 of 42,854)")
    yield row(pythia, "go", "distinct_predictions", 1353, 0)
    yield row(pythia, "go", "spearman_buckets", 0.8564, 4)
    yield row(pythia, "go", "spearman_buckets", 0.8506, 4, setting="corrected")
    yield row(pythia, "go", "spearman_items", 0.137, 3)
    for bucket, value in (("1", 0.01), ("10", 0.0), ("25", 0.0), ("50", 61.80)):
        yield row(pythia, "go", "bucket_accuracy", value, 2, bucket, scale=100, metric="Accuracy, %")
    yield row("GPT-3.5", "uberon", "accuracy", 0.347, 3, scale=100, metric="Accuracy, % (54 of 15,543)")


# Reference evaluations


REFERENCE = Path(__file__).with_name("published_data") / "reference.csv"
_PLACES = {
    "pythia_v1": (PYTHIA, "step 143000"),
    "pythia_v0": (PYTHIA, "first release, step 143000"),
    "blimp": (BLIMP, "summary of models"),
}


def _reference() -> Iterator[Printed]:
    with REFERENCE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield _reference_figure(row)


def _reference_figure(row: Mapping[str, str]) -> Printed:
    source, table = _PLACES[row["source"]]
    benchmark, group, metric = row["benchmark"], row["group"], row["metric"]
    perplexity = metric == "perplexity"
    missing = benchmark in ("arc_easy", "sciq")
    why = (
        NO_BENCHMARK if missing else REVISED if benchmark == "crows_pairs" else "" if row["model_id"] else NOT_LOADABLE
    )
    finding = "perplexity" if perplexity else "accuracy"
    if group.startswith("phenomenon: "):
        group, finding = group.removeprefix("phenomenon: "), "accuracy_by_phenomenon"
    # CrowS-Pairs: our accuracy is the share of less stereotypical choices.
    turned: dict[str, Any] = (
        {"scale": -100.0, "offset": 100.0} if metric == "stereotypical" else {"scale": 1.0 if perplexity else 100.0}
    )
    usable = bool(row["model_id"]) and not missing
    model = row["model_id"]
    return Printed(
        source=source,
        table=table,
        model=row["model"],
        model_id=model,
        what={"arc_easy": "ARC easy", "sciq": "SciQ"}.get(benchmark, benchmark),
        condition="" if row["group"] == "overall" else row["group"],
        metric={"stereotypical": "stereotypical choices, %", "accuracy": "accuracy, %"}.get(metric, metric),
        value=float(row["value"]) if perplexity else round(100 * float(row["value"]), 2),
        digits=2 if perplexity or source == PYTHIA else 1,
        answers=tuple(
            Answer(study, benchmark, finding, group, presets=HARNESS if source == PYTHIA else (), **turned)
            for study in ("accuracy", "popularity")
        )
        if usable
        else (),
        command=f"python -m explorer run accuracy --model {model} --benchmark {benchmark}"
        + (" --set preset=lm-eval" if source == PYTHIA else "")
        if usable
        else "",
        sd=float(row["stderr"] or "nan") * (1 if perplexity else 100),
        remark=why,
        is_target=not why,
    )
