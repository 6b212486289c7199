"""The dossier as a picture: a row per study, each a small figure under a sentence, the models side by side."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import streamlit as st

from explorer import display
from explorer.figures import theme
from explorer.figures.models import model_colors
from explorer.figures.on_screen import on_screen
from explorer.figures.small import Curve, Dot, small_curves, small_dots
from explorer.records import Instance
from explorer.results.store import Store
from explorer.scoring import catalog
from explorer.ui import layout, method_note, resources, show
from explorer.ui.dossier import dossier_memory, dossier_priming, dossier_swaps
from explorer.ui.dossier.dossier_popularity import popularity_in_words
from explorer.ui.dossier.dossier_rows import DossierRows, DossierRun, gather, run_columns
from explorer.ui.layout import Chosen
from explorer.ui.scored_options import verdict_of

LOW, TALL = 118, 210  # pixels of a row with dots, and of one with curves
SAME = 0.005  # nats: margins of several runs that differ by less are one
CONTEXTS = {
    "matched_acceptable": ("acceptable", "solid"),
    "unrelated": ("unrelated", "dot"),
    "matched_unacceptable": ("unacceptable", "dash"),
}
RIGHT = {"right": "is right", "wrong": "is wrong", "tie": "sees a tie"}
SIDES = "← wrong   right →"
TEXTS = ""  # popularity is of the texts, whatever the model


@dataclass(frozen=True, slots=True)
class Row:
    """A study's row: what it is called, what it says of the instance, its figure, and the page behind it."""

    title: str
    sentence: str
    figure: Any = None
    page: str = ""
    label: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Picture:
    """The models' colors, and the rows."""

    colors: Mapping[str, str]
    rows: tuple[Row, ...]


def draw_picture(instance_id: str, instance: Instance | None, chosen: Chosen) -> None:
    """The models' key once, then a row for each study that says something."""
    picture = resources.ask_shared(picture_of, instance_id, instance, chosen)
    show.model_key(picture.colors)
    with st.container(key="dossier"):
        for row in picture.rows:
            _draw_row(row)


def picture_of(_: Store, instance_id: str, instance: Instance | None, chosen: Chosen) -> Picture:
    """The picture of what is stored about an instance; for `resources.ask_shared`, which remembers it."""
    dossier = resources.ask_shared(gather, instance_id, instance)
    runs = sorted(dossier.run_list(), key=lambda run: _model_order(run.model, chosen))
    dossier = dataclasses.replace(dossier, runs=pd.DataFrame(runs, columns=dossier.runs.columns))
    models = list(dict.fromkeys(_model(run) for run in runs))
    colors = dict(zip(models, model_colors(models), strict=True))
    rows = (make(dossier, colors, chosen) for make in ROWS)
    return Picture(colors, tuple(row for row in rows if row))


def _model_order(model: str, chosen: Chosen) -> tuple[bool, int]:
    """The chosen model first, then the catalog's in their order, then all others."""
    order = list(catalog.MODELS)
    return model != chosen.model, order.index(model) if model in order else len(order)


def _draw_row(row: Row) -> None:
    words, picture = st.columns([2, 3], gap="medium", vertical_alignment="center")
    with words:
        st.html(
            f'<p class="lx-section">{html.escape(row.title)}</p><p class="lx-finding">{html.escape(row.sentence)}</p>'
        )
        if row.page:
            layout.link_to(row.page, row.label, **row.choices)
    with picture:
        if row.figure is not None:
            st.plotly_chart(
                on_screen(row.figure),
                theme=None,
                key=f"dossier {row.title}",
                alt=row.sentence,
                config={"displayModeBar": False},
            )


def draw_verdicts(dossier: DossierRows, colors: Mapping[str, str], chosen: Chosen) -> Row | None:
    """Each model's margin, once where several runs agree on it."""
    dots: list[Dot] = []
    verdict_of_model: dict[str, str] = {}
    for run in _first_accuracy(dossier):
        factors: dict[str, Any] = {"setting": None, "part": None, "k": None, "length": None, "option": -1}
        if run.study == "perturbation":
            factors["condition"] = "original"
        correct = dossier.value(run.run_id, "correct", **factors)
        margin = dossier.value(run.run_id, "margin", "logprob", **factors)
        if correct != correct:
            continue
        model = _model(run)
        unit = method_note.unit_of_run({"spec": run.spec})
        sure = f" by {display.number(abs(margin))} {unit}" if margin == margin and correct in (0.0, 1.0) else ""
        verdict_of_model.setdefault(model, f"{model} {RIGHT.get(verdict_of(correct), 'gives no verdict')}{sure}")
        known = [dot.value for dot in dots if dot.model == model]
        # Margins in another unit, as of means over tokens, have no place on an axis in nats.
        if unit == "nats" and margin == margin and not any(abs(margin - value) < SAME for value in known):
            dots.append(Dot(model, model, margin, run_id=run.run_id))
    if not verdict_of_model:
        return None
    in_order = [verdict_of_model[model] for model in colors if model in verdict_of_model]
    return Row("Unchanged", _sentence(in_order), _margins(dots, colors))


def _first_accuracy(dossier: DossierRows) -> list[DossierRun]:
    judged = dossier.of(("accuracy", "popularity", "perturbation", "memorization")).run_list()
    return sorted(judged, key=lambda run: run.study != "accuracy")


def _margins(dots: Sequence[Dot], colors: Mapping[str, str], rows: Sequence[str] = ()) -> Any:
    if not dots:
        return None
    return small_dots(
        dots, colors, tick=".2f", across="Margin of the right option, in nats", reference=0.0, zero=SIDES,
        rows=rows or list(colors), least=LOW,
    )  # fmt: skip


def draw_swaps(dossier: DossierRows, colors: Mapping[str, str], chosen: Chosen) -> Row | None:
    """From the margin before to that after, a row per kind of word that was swapped."""
    of_swaps = dossier.of(("perturbation",))
    runs = {run.run_id: run for run in of_swaps.run_list()}
    dots, hovers = [], []
    swapped: dict[str, str] = {}
    for row in of_swaps.swaps.to_dict("records"):
        words = dossier_swaps.describe(row["edit"])
        if not words or row["run_id"] not in runs:
            continue
        run, setting = runs[row["run_id"]], str(row["setting"])
        before, after = (
            of_swaps.value(run.run_id, "margin", "logprob", option=-1, **side)
            for side in (
                {"condition": "original", "setting": None, "part": None},
                {"condition": "perturbed", "setting": setting, "part": None},
            )
        )
        name = dossier_swaps.POS.get(setting, setting)
        if before != before or after != after or (words in swapped.values() and name not in swapped):
            continue  # nouns and verbs are the nouns alone where no verb was swapped
        swapped.setdefault(name, words)
        dots.append(Dot(name, _model(run), after, run_id=run.run_id, start=before))
    if not dots:
        if of_swaps.runs.empty:
            return None
        return Row("Swapped words", "No word of it was swapped.")
    far = max(dots, key=lambda dot: abs(dot.value - dot.start))
    turned = [dot for dot in dots if (dot.start > 0) != (dot.value > 0)]
    shown = turned[0] if turned else far
    effect = "the verdict turns" if turned else "the verdict stays"
    hovers = [
        f"With {swapped[shown.row]} {effect}: {shown.model} {display.number(shown.start, signed=True)} → "
        f"{display.nats(shown.value, signed=True)}"
    ]
    choices = {
        "facet": "Live lab",
        "model": chosen.model,
        "benchmark": chosen.benchmark,
        "instance": dossier.instance_id,
    }
    return Row(
        "Swapped words", _sentence(hovers), _margins(dots, colors, list(swapped)), "Perturbation",
        "Swap other words", choices,
    )  # fmt: skip


def draw_priming(dossier: DossierRows, colors: Mapping[str, str], chosen: Chosen) -> Row | None:
    """The margin as contexts grow, a line per model and kind of context."""
    curves = []
    ends: dict[str, tuple[float, float]] = {}  # model → margin before, and after unacceptable contexts
    stereotypes = chosen.benchmark == "crows_pairs"
    seen: set[str] = set()
    run_id = ""
    for run in dossier.of(("priming",)).run_list():
        model = _model(run)
        points = dossier_priming.curve(dossier, run.run_id)
        if model in seen or points.empty:
            continue
        seen.add(model)
        run_id = run_id or run.run_id
        for condition, (name, dash) in CONTEXTS.items():
            of_condition = points[points["condition"] == condition]
            if len(of_condition) < 2:
                continue
            called = name.replace("unacceptable", "stereotypical").replace("acceptable", "anti-stereotypical")
            name = called if stereotypes else name
            values = [float(value) for value in of_condition["value"]]
            dots = tuple(
                Dot(f"{length:,} tokens, {name}", model, value, run_id=run.run_id)
                for length, value in zip(of_condition["length"], values, strict=True)
            )
            curves.append(Curve(model, name, dash, tuple(map(float, of_condition["length"])), dots))
            if condition == "matched_unacceptable":
                ends[model] = values[0], values[-1]
    if not curves:
        return None
    bad = "stereotypical" if stereotypes else "unacceptable"
    hovers = [
        f"{model} {display.number(before, signed=True)} → {display.nats(after, signed=True)}"
        for model, (before, after) in ends.items()
    ]
    turned = sum((before > 0) != (after > 0) for before, after in ends.values())
    how = "turn the verdict" if turned else "do not turn the verdict"
    whose = f" of {turned} of {len(ends)} models" if turned and len(ends) > 1 else ""
    sentence = f"Matched {bad} contexts {how}{whose}: {', '.join(hovers)}" if hovers else "Contexts move the margin"
    figure = small_curves(
        curves, colors, tick=".2f", across="Tokens of context", reference=0.0, zero="verdict turns", least=TALL
    )
    choices = {"priming": "Live lab", "model": chosen.model, "benchmark": chosen.benchmark,
               "instance": dossier.instance_id}  # fmt: skip
    return Row("Priming", _sentence([sentence]), figure, "Priming", "Prime it live", choices)


def draw_memorization(dossier: DossierRows, colors: Mapping[str, str], chosen: Chosen) -> Row | None:
    """The loss of the right text (a dot) and of the others (rings), a row per model."""
    of_runs = dossier.of(("memorization",))
    gold = of_runs.runs["gold"].dropna()
    right = int(gold.iloc[0]) if len(gold) else 0
    dots: list[Dot] = []
    extracted, less = [], []
    run_id = ""
    for run in of_runs.run_list():
        model, name = _model(run), run.run_id
        losses = of_runs.rows(name, "mia_loss")
        losses = losses[losses["value"].notna() & (losses["option"] >= 0)]
        if losses.empty or any(dot.model == model for dot in dots):
            continue
        run_id = run_id or name
        by_option = {int(row["option"]): float(row["value"]) for row in losses.to_dict("records")}
        dots += [
            Dot(model, model, value, run_id=name, faint=option != right and len(by_option) > 1)
            for option, value in by_option.items()
        ]
        others = [value for option, value in by_option.items() if option != right]
        if others and right in by_option:
            gap = min(others) - by_option[right]
            less.append(f"{display.number(-gap, signed=True)} ({model})")
        if of_runs.value(name, "tde_accuracy", option=right) == 1:
            extracted.append(model)
    if not dots:
        return None
    by_heart = (
        f"{_and(extracted)} {'completes' if len(extracted) == 1 else 'complete'} the right text word for word"
        if extracted
        else "No model completes the right text word for word"
    )
    beside = f"; its loss minus the other's is {_and(less)} nats a token" if less else ""
    figure = small_dots(
        dots, colors, tick=".2f", across="Loss in nats a token: right option ●, others ○", rows=list(colors), least=LOW
    )
    return Row(
        "Memorization", _sentence([by_heart + beside]), figure, "Memorization", "All scores of the run",
        {"model": chosen.model, "benchmark": chosen.benchmark, "run": run_id},
    )  # fmt: skip


def draw_popularity(dossier: DossierRows, colors: Mapping[str, str], chosen: Chosen) -> Row | None:
    """The popularity score of each option; it is of the texts, so that one run says it."""
    runs = dossier.of(("popularity", "perturbation")).run_list()
    for run in sorted(runs, key=lambda run: run.study != "popularity"):
        scores = dossier.rows(run.run_id, "ips", setting=None)
        scores = scores[scores["value"].notna() & (scores["option"] >= 0)]
        if run.study == "perturbation":
            scores = scores[scores["condition"] == "original"]
        if scores.empty:
            continue
        names = {int(row["option"]): dossier.option_name(int(row["option"])) for row in scores.to_dict("records")}
        dots = [
            Dot(names[int(row["option"])], TEXTS, float(row["value"]), run_id=run.run_id)
            for row in scores.to_dict("records")
        ]
        gap = dossier.value(run.run_id, "relative_difference", setting=None)
        sentence = "IPS (the popularity score, 1 to 10) is the mean tenth of its n-grams by frequency"
        if gap == gap:
            sentence = popularity_in_words(gap, len(names) - 1)
        figure = small_dots(
            dots, {TEXTS: theme.GRAY}, tick=".2f", across="Popularity score (IPS): 1 rare, 10 frequent n-grams",
            rows=list(names.values()), least=LOW,
        )  # fmt: skip
        figure.update_xaxes(range=[0.8, 10.2])
        return Row(
            "Popularity", _sentence([sentence]), figure, "Popularity", "Popular and unpopular instances",
            {"model": run.model, "benchmark": chosen.benchmark}
            | ({"run": run.run_id} if run.study == "popularity" else {}),
        )  # fmt: skip
    return None


def draw_ontology(dossier: DossierRows, colors: Mapping[str, str], chosen: Chosen) -> Row | None:
    """Whether each model gives the right ID, and the rank that it gives it among others."""
    of_runs = dossier.of(("ontology",))
    knows_by_model: dict[str, bool] = {}
    dots = []
    for run in of_runs.run_list():
        model, run_id = _model(run), run.run_id
        correct = of_runs.value(run_id, "correct", language=None)
        if model in knows_by_model or correct != correct:
            continue
        knows_by_model[model] = correct == 1
        rank = of_runs.value(run_id, "gold_rank")
        if rank == rank:
            dots.append(Dot(model, model, rank, run_id=run_id))
    if not knows_by_model:
        return None
    right = [model for model, is_right in knows_by_model.items() if is_right]
    asked = list(knows_by_model)
    sentence = f"The right ID is given by {_and(right)}" if right else _none_right(asked)
    figure = None
    if dots:
        figure = small_dots(
            dots, colors, tick=".1f", across="Rank of the right ID among others drawn at random, 1 the likeliest",
            rows=list(colors), least=LOW,
        )  # fmt: skip
        last = max(dot.value for dot in dots)
        figure.update_xaxes(range=[0.5, max(last, 4) + 0.5], tickformat=",d", tick0=1, dtick=max(1, round(last / 5)))
    return Row(
        "Ontology", _sentence([sentence]), figure, "Ontologies", "Ask for it live",
        {"view": "Concept inspector", "model": chosen.model, "benchmark": chosen.benchmark,
         "instance": dossier.instance_id, "concept": dossier.instance_id.rsplit("/", 1)[-1]},
    )  # fmt: skip


def draw_replication(dossier: DossierRows, colors: Mapping[str, str], chosen: Chosen) -> Row | None:
    """How much of its second half a model writes back, over the number of demonstrations."""
    curves, hover_of_run, run_id = [], {}, ""
    for run in dossier.of(("icl",)).run_list():
        model, name = _model(run), run.run_id
        for setting in dossier_memory.SETTINGS:
            shares = dossier.rows(name, "rouge_l_recall", setting=setting)
            shares = shares[shares["value"].notna()].sort_values("k")
            if len(shares) < 2 or model in hover_of_run:
                continue
            run_id = run_id or name
            dots = tuple(
                Dot(f"{int(row['k']):,} demonstrations", model, float(row["value"]), run_id=name)
                for row in shares.to_dict("records")
            )
            curves.append(Curve(model, "", "solid", tuple(float(k) for k in shares["k"]), dots))
            last = dossier.answers[
                (dossier.answers["run_id"] == name)
                & (dossier.answers["role"] == "replication")
                & (dossier.answers["setting"] == setting)
            ].sort_values("k")
            verdict = str(last["verdict"].iloc[-1] or "") if len(last) else ""
            k = int(last["k"].iloc[-1]) if len(last) else int(shares["k"].iloc[-1])
            hover_of_run[model] = f"{model} after {k:,} demonstrations: {verdict or 'no verdict'}"
    if not curves:
        return None
    figure = small_curves(curves, colors, tick=".0%", across="Demonstrations", least=TALL)
    figure.update_yaxes(range=[-0.04, 1.04], title_text="Words that come back")
    return Row(
        "In-context", _sentence(hover_of_run.values()), figure, "In-context", "All completions of the run",
        {"model": chosen.model, "benchmark": chosen.benchmark, "run": run_id},
    )  # fmt: skip


ROWS: tuple[Callable[[DossierRows, Mapping[str, str], Chosen], Row | None], ...] = (
    draw_verdicts, draw_swaps, draw_priming, draw_memorization, draw_popularity, draw_ontology, draw_replication,
)  # fmt: skip


def _model(run: DossierRun) -> str:
    return str(run_columns(run)["model"])


def _sentence(parts: Any) -> str:
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _none_right(models: Sequence[str]) -> str:
    if len(models) == 1:
        return f"{models[0]} does not give the right ID"
    return f"Neither {' nor '.join(models)} gives the right ID" if len(models) == 2 else (
        f"None of {_and(models)} gives the right ID")  # fmt: skip


def _and(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
