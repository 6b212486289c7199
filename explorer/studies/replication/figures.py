"""Every printed figure of the board, each with what of our runs it is to be compared with."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from explorer.finding import Finding
from explorer.popularity import indexes
from explorer.popularity.tasks import TASKS
from explorer.scoring import catalog
from explorer.studies import declared, published, published_figures
from explorer.studies.accuracy.declared import ACCURACY, ACCURACY_BY_PHENOMENON, PERPLEXITY
from explorer.studies.icl import declared as icl_declared
from explorer.studies.icl import published as icl_published
from explorer.studies.memorization import declared as memorization_declared
from explorer.studies.memorization import published as memorization_published
from explorer.studies.memorization.rows import ATTACKS
from explorer.studies.ontology import published as ontology_published
from explorer.studies.perturbation import declared as perturbation_declared
from explorer.studies.priming import declared as priming_declared
from explorer.studies.priming import published as priming_published
from explorer.studies.published_figures import Printed
from explorer.studies.replication import method
from explorer.studies.replication.method import Requirement

POPULARITY, PRIMING, ONTOLOGIES = published.PAPER, priming_published.PAPER, ontology_published.PAPER
ICL, RELEASED, PYTHIA, BLIMP = icl_published.PAPER, ontology_published.RELEASED, "pythia", "blimp"

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


@dataclass(frozen=True, slots=True)
class ComparableFinding:
    """A finding of ours that means the same as a printed figure, once it is taken times `scale` plus `offset`.

    presets   scoring presets under which the setting is the printed one's; () = it does not matter
    detail    a key of the finding's detail to be read instead of its value
    """

    study: str
    benchmark: str
    finding: Finding
    group: str = "overall"
    setting: str = ""
    condition: str = ""
    scale: float = 1.0
    offset: float = 0.0
    presets: tuple[str, ...] = ()
    detail: str = ""
    k: int = -1  # demonstrations, -1 where they do not vary


@dataclass(frozen=True, slots=True)
class BoardFigure:
    """A printed figure in the unit that the board shows it in, and what of ours answers it.

    method      the settings that matter to it, beside the scoring preset and which items were taken

    digits      decimals as printed, so that ours can be compared at that precision
    shown       the figure to compare with; another than `value` only where the paper itself mends its slip
    remark      a slip of the paper (`is_slip`), or why the figure is no target
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
    answers: tuple[ComparableFinding, ...]
    command: str
    shown: float = math.nan
    sd: float = math.nan
    remark: str = ""
    is_target: bool = True
    is_slip: bool = False
    method: tuple[Requirement, ...] = ()

    @property
    def target(self) -> float:
        """The figure that ours is compared with."""
        return self.value if math.isnan(self.shown) else self.shown


def _figure(
    printed: Printed,
    *,
    what: str,
    condition: str,
    metric: str,
    answers: tuple[ComparableFinding, ...],
    command: str,
    **more: Any,
) -> BoardFigure:
    """A printed number as a figure of the board; `more` where the board shows it another way than it is printed."""
    shared: dict[str, Any] = {
        "source": printed.paper, "table": printed.table, "model": printed.model, "model_id": printed.model_id,
        "value": printed.printed, "digits": printed.digits, "shown": printed.mended, "sd": printed.sd,
        "remark": printed.remark, "is_target": printed.is_target, "is_slip": printed.is_slip,
    }  # fmt: skip
    return BoardFigure(
        what=what, condition=condition, metric=metric, answers=answers, command=command, **{**shared, **more}
    )


@cache
def figures() -> tuple[BoardFigure, ...]:
    """Every figure of every source, in the order of their tables."""
    return (
        *_popularity(),
        *_priming(),
        *_ontologies(),
        *_icl(),
        *_released(),
        *_reference(),
    )


def figures_of_source(source: str) -> list[BoardFigure]:
    """The figures of one source."""
    return [figure for figure in figures() if figure.source == source]


# Lexical popularity


SIDES = {"original": "original", "NV": "nouns and verbs swapped", "N": "nouns swapped", "V": "verbs swapped"}
BENCHMARK_OF_TASK = {"copa": "copa_superglue"}  # the paper's COPA is SuperGLUE's 100 validation items
INDEX_OF = {"OLMo": "v4_dolma-v1_7_llama", "Pythia": "v4_piletrain_llama"}
METRICS = {
    "accuracy": "accuracy, %",
    "accuracy_change": "change of accuracy, %",
    "perplexity": "perplexity",
    perturbation_declared.PERPLEXITY_CHANGE.name: "change of perplexity, %",
    "ips": "mean IPS of instances that flip",
    perturbation_declared.JUDGED_SAME.name: "judged to mean the same, %",
    "f1_macro": "macro-F1, %",
    "auc": "AUC, %",
}


def _popularity() -> Iterator[BoardFigure]:
    for row in published.figures():
        answers, command = _popularity_answers(row)
        yield _figure(
            row,
            what=TASKS[row.subject].title,
            condition=SIDES.get(row.condition) or _attack(row.condition),
            metric=METRICS[row.metric],
            answers=answers,
            command=command,
            method=_popularity_method(row),
        )


def _popularity_method(printed: Printed) -> tuple[Requirement, ...]:
    """What matters to a figure of this paper: counts to popularity, senses to swaps, neighbors to their attack."""
    index = INDEX_OF.get(printed.model.partition(" ")[0], indexes.GLASSBOX)
    if printed.metric == "ips":
        return (*method.SCORED, *method.SWAPPED, *method.counted(index))
    if printed.condition in SIDES and printed.condition != "original":
        return (*method.SCORED, *method.SWAPPED)
    if "neighbours" in printed.condition:
        return (*method.SCORED, *method.NEIGHBORS)
    if "min_k" in printed.condition:
        return (*method.SCORED, *method.MIN_K)
    return method.SCORED


def _attack(condition: str) -> str:
    """The attack of a table on memorization and the half of instances, in words."""
    attack, _, half = condition.partition(" ")
    title = ATTACKS[attack].title if attack in ATTACKS else "majority dummy"
    return f"{title}, {half} half" if half else title


def _popularity_answers(row: Printed) -> tuple[tuple[ComparableFinding, ...], str]:
    benchmark = BENCHMARK_OF_TASK.get(row.subject, TASKS[row.subject].benchmark)
    index = INDEX_OF.get(row.model.partition(" ")[0], indexes.GLASSBOX)
    run = f"--model {row.model_id} --benchmark {benchmark} --set preset=lm-eval"
    perturb = f"python -m explorer run perturbation {run} --set index={index} --set method=published"

    def swapped(finding: Finding, **more: Any) -> ComparableFinding:
        setting = "NV" if row.condition == "original" else row.condition
        return ComparableFinding("perturbation", benchmark, finding, row.subject, setting, presets=HARNESS, **more)

    if row.metric == "accuracy" and row.condition == "original":
        whole = (
            (ACCURACY_BY_PHENOMENON, TASKS[row.subject].phenomena[0])
            if TASKS[row.subject].phenomena
            else (ACCURACY, "overall")
        )
        scored = tuple(
            ComparableFinding(study, benchmark, *whole, scale=100, presets=HARNESS)
            for study in ("accuracy", "popularity")
        )
        original = perturbation_declared.ACCURACY_ORIGINAL_ALL
        unchanged = tuple(
            ComparableFinding("perturbation", benchmark, original, row.subject, pos, scale=100, presets=HARNESS)
            for pos in ("NV", "N", "V")
        )
        answers = (*scored, *unchanged)
        return answers, f"python -m explorer run accuracy {run}"
    if row.metric == "accuracy" and row.condition in SIDES:
        return (swapped(perturbation_declared.ACCURACY_PERTURBED, scale=100),), perturb
    if row.metric == "accuracy_change":
        return (swapped(perturbation_declared.CHANGE),), perturb
    if row.metric == "perplexity":
        if row.condition != "original":
            return (swapped(perturbation_declared.PERPLEXITY_PERTURBED),), perturb
        alone = ComparableFinding("accuracy", benchmark, PERPLEXITY, presets=HARNESS)
        return (alone, swapped(perturbation_declared.PERPLEXITY_ORIGINAL)), perturb
    if row.metric == perturbation_declared.PERPLEXITY_CHANGE.name:
        return (swapped(perturbation_declared.PERPLEXITY_CHANGE),), perturb
    if row.metric == "ips":
        detail = "before" if row.condition == "original" else "after"
        return (
            ComparableFinding(
                "perturbation", benchmark, perturbation_declared.IPS_OF_LOST, row.subject, "NV", detail=detail,
                presets=HARNESS,
            ),
        ), perturb  # fmt: skip
    if row.metric == perturbation_declared.JUDGED_SAME.name:
        return (), ""  # the model of Table B is the judge, which a run names in a setting
    neighbors = " --set neighbours_by=roberta-base --set neighbours_cap=0" if "neighbours" in row.condition else ""
    return _memorization_answers(row, benchmark), f"python -m explorer run memorization {run}{neighbors}"


def _memorization_answers(row: Printed, benchmark: str) -> tuple[ComparableFinding, ...]:
    """Our findings that can stand beside a printed figure of memorization: halves of a score, or a classifier."""
    shared: dict[str, Any] = {"scale": 100.0, "presets": HARNESS}
    if row.metric == "accuracy":
        attack, _, half = row.condition.rpartition(" ")
        split = memorization_declared.SPLIT if row.subject == "lambada" else memorization_declared.PUBLISHED
        return (ComparableFinding("memorization", benchmark, split.half, row.subject, attack, half, **shared),)
    kind = "svm" if row.number in memorization_published.SVM else "logistic"
    if row.condition == "baseline":
        if row.metric == "auc":
            return ()  # a constant guess: 50 by definition
        # The majority dummy does not look at the attack.
        return (
            ComparableFinding(
                "memorization",
                benchmark,
                memorization_declared.CLASSIFIER_F1,
                row.subject,
                "tde_likelihood",
                "majority",
                **shared,
            ),
        )
    finding = memorization_declared.CLASSIFIER_F1 if row.metric == "f1_macro" else memorization_declared.CLASSIFIER_AUC
    return (ComparableFinding("memorization", benchmark, finding, row.subject, row.condition, kind, **shared),)


# Acceptability in context


def _priming() -> Iterator[BoardFigure]:
    for suite, models in priming_published.unacceptable_table().items():
        for printed in models.values():
            answer = ComparableFinding(
                "priming", "blimp", priming_declared.SUITE_DELTA, suite, condition=printed.condition, presets=MINICONS,
                scale=100.0,
            )  # fmt: skip
            yield _figure(
                printed,
                value=round(100 * printed.printed, 6),
                shown=100 * printed.mended,
                sd=100 * printed.sd,
                digits=max(0, printed.digits - 2),
                model=_title(printed),
                what=suite,
                condition=f"{printed.condition.replace('_', ' ')} contexts",
                metric="mean change of accuracy over lengths, points",
                method=method.PRIMED,
                answers=(answer,) if printed.model_id else (),
                command=_priming_command(printed.model_id) if printed.model_id else "",
            )
    for printed in published_figures.figures_of_paper(PRIMING):
        finding = declared.find("priming", printed.metric)
        if finding not in _CORRELATIONS:
            continue
        description = _CORRELATIONS[finding] or _SHARED[printed.setting]
        answer = ComparableFinding(
            "priming", "blimp", finding, setting=printed.setting, condition=printed.condition, presets=MINICONS
        )
        edits, matrix = finding == priming_declared.EDIT_CORRELATION, finding == priming_declared.MATRIX_CORRELATION
        yield _figure(
            printed,
            model=_title(printed),
            what=description,
            condition=printed.condition.replace("_", ", ", 1),
            metric="correlation",
            method=method.PRIMED,
            answers=(answer,),
            command=_priming_command(printed.model_id, edits=edits, matrix=matrix),
        )


# Our finding → what is correlated; "" where it is the setting that tells.
_CORRELATIONS = {
    priming_declared.EDIT_CORRELATION: "similarity of edited contexts and effect",
    priming_declared.BASELINE_AGAINST_LONGEST: "accuracy before and after",
    priming_declared.MATRIX_CORRELATION: "",
}
_SHARED = {
    f"{priming_declared.TOKEN_F1} and accuracy": "shared tokens and accuracy, suite by suite",
    f"{priming_declared.DEPENDENCY_F1} and accuracy": "shared dependency labels and accuracy, suite by suite",
}


def _title(printed: Printed) -> str:
    known = catalog.find(printed.model_id) if printed.model_id else None
    return known.title if known else printed.model


def _priming_command(model: str, *, edits: bool = False, matrix: bool = False) -> str:
    command = f"python -m explorer run priming --model {model} --benchmark blimp --set preset=minicons"
    command += " --set per_group=0"
    if edits:
        command += " --set edits=prefix_adverb,suffix_adverb,long_prefix_adverb,clause,quotation,all"
    return command + (" --set matrix=10" if matrix else "")


# Ontologies


_ONTOLOGIES = {"go": "Gene Ontology", "uberon": "Uberon"}


def _ontologies() -> Iterator[BoardFigure]:
    for printed in published_figures.figures_of_paper(ONTOLOGIES):
        finding = declared.finding("ontology", printed.metric)
        invariance = finding == ontology_published.INVARIANCE
        settings = (printed.setting,) if invariance else ("as released", "corrected")
        prompt = "completion" if printed.model == "Pythia-12B" else "chat"
        # Shares are printed as such; beside percentages elsewhere on the board 0.003 would be read as one.
        share = finding.unit == "share"
        percent = 100.0 if share else 1.0
        in_percent: dict[str, Any] = {
            "value": round(percent * printed.printed, 6), "shown": percent * printed.mended,
            "digits": max(0, printed.digits - 2) if share else printed.digits,
        }  # fmt: skip
        yield _figure(
            printed,
            what=_ONTOLOGIES[printed.subject],
            condition=printed.setting,
            metric=f"{finding.title}, %" if share else finding.title,
            method=method.how_asked(prompt),
            answers=tuple(
                ComparableFinding("ontology", printed.subject, finding, setting=setting, scale=percent)
                for setting in settings
            ),
            command=f"python -m explorer run ontology --model {printed.model_id} --benchmark {printed.subject}"
            f" --set prompt={prompt} --set form=released"
            + (f" --set invariance={printed.setting}" if invariance else ""),
            **in_percent,
        )


# Memorization in in-context learning


_ICL_SETS = {"wnli": "WNLI", "trec": "TREC", "dbpedia14": "DBpedia", "rte": "RTE"}
_ICL_SETTINGS = {"full": "full information", "pairs_labels": "pairs and labels", "pairs": "only pairs"}
_ICL_METRICS = {
    icl_declared.PEARSON: "Pearson's r over k, performance and exact or near-exact matches",
    icl_declared.PEARSON_EXACT: "Pearson's r over k, performance and exact matches",
    icl_declared.REPLICATION: "exact and near-exact matches, %",
}
_WHOSE = ("final", "rule")  # verdicts: people's or the judge's where there are any, else the rule's


def _icl() -> Iterator[BoardFigure]:
    for printed in published_figures.figures_of_paper(ICL):
        scale = 100.0 if printed.unit == "percent" else 1.0
        k, finding = icl_published.shots(printed), declared.finding("icl", printed.metric)
        yield _figure(
            printed,
            what=_ICL_SETS[printed.subject],
            condition=_ICL_SETTINGS[printed.setting] + (f", {printed.condition}" if printed.condition else ""),
            metric=_ICL_METRICS[finding],
            method=method.but_for(
                method.demonstrated(k), *(("judge",) if finding == icl_declared.PEARSON_EXACT else ())
            ),
            answers=tuple(
                ComparableFinding(
                    "icl", printed.subject, finding, setting=printed.setting, condition=who, scale=scale, k=k
                )
                for who in _WHOSE
            ),
            command=f"python -m explorer run icl --model {printed.model_id} --benchmark {printed.subject}"
            f" --set judge={method.GPT_4[-1]}",
        )


def _released() -> Iterator[BoardFigure]:
    """What follows from the files that the ontology paper's authors released, by their own rules."""
    for printed in published_figures.figures_of_paper(RELEASED):
        if printed.metric in ("right", "concepts"):  # told with the accuracy
            continue
        percent = printed.unit == "percent"
        yield _figure(
            printed,
            what=_ONTOLOGIES[printed.subject],
            condition=f"bucket {printed.condition}, {printed.setting}" if printed.condition else printed.setting,
            metric=_released_metric(printed),
            answers=(
                ComparableFinding(
                    "ontology",
                    printed.subject,
                    declared.finding("ontology", printed.metric),
                    printed.condition or "overall",
                    printed.setting,
                    scale=100.0 if percent else 1.0,
                ),
            ),
            command=f"python -m explorer import-predictions {printed.table} --ontology {printed.subject}"
            f" --model-name {printed.model}",
        )


def _released_metric(printed: Printed) -> str:
    if printed.unit != "percent":
        return declared.finding("ontology", printed.metric).title
    if printed.condition:
        return "Accuracy, %"
    right = published_figures.figure(RELEASED, subject=printed.subject, metric="right").value
    return f"Accuracy, % ({right:,.0f} of {ontology_published.size(printed.subject):,})"


# Reference evaluations


# What is evaluated there and is no benchmark of ours.
_NOT_OURS = {"arc_easy": "ARC easy", "sciq": "SciQ"}


def _reference() -> Iterator[BoardFigure]:
    for paper in (PYTHIA, BLIMP):
        yield from map(_reference_figure, published_figures.figures_of_paper(paper))


def _reference_figure(printed: Printed) -> BoardFigure:
    perplexity = printed.metric == "perplexity"
    finding, group = PERPLEXITY if perplexity else ACCURACY, printed.condition or "overall"
    if group.startswith("phenomenon: "):
        group, finding = group.removeprefix("phenomenon: "), ACCURACY_BY_PHENOMENON
    # CrowS-Pairs: our accuracy is the share of less stereotypical choices.
    turned: dict[str, Any] = (
        {"scale": -100.0, "offset": 100.0}
        if printed.metric == "stereotypical"
        else {"scale": 1.0 if perplexity else 100.0}
    )
    usable = bool(printed.model_id) and printed.subject not in _NOT_OURS
    scored = printed.paper == PYTHIA
    return _figure(
        printed,
        what=_NOT_OURS.get(printed.subject, printed.subject),
        condition=printed.condition,
        metric={"stereotypical": "stereotypical choices, %", "accuracy": "accuracy, %"}.get(
            printed.metric, printed.metric
        ),
        value=printed.printed if perplexity else round(100 * printed.printed, 2),
        digits=2 if perplexity or scored else 1,
        answers=tuple(
            ComparableFinding(study, printed.subject, finding, group, presets=HARNESS if scored else (), **turned)
            for study in ("accuracy", "popularity")
        )
        if usable
        else (),
        command=f"python -m explorer run accuracy --model {printed.model_id} --benchmark {printed.subject}"
        + (" --set preset=lm-eval" if scored else "")
        if usable
        else "",
        method=method.SCORED if scored else method.but_for(method.SCORED, "bos"),
        sd=printed.sd * (1 if perplexity else 100),
    )
