"""Perturbation: does the verdict survive when words give way to synonyms?

Load, swap nouns and verbs, score original and perturbed, count the n-grams of both, compare. Source: Ruzzetti,
Zanzotto and Caselli, Lexical Popularity, section 5 and appendix A.2 to A.4.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from explorer import prompts
from explorer.experiments import accuracy, perturbation_findings, popularity, selection, verdicts
from explorer.experiments.study import Progress, Setting, Study
from explorer.popularity import measure, ngrams
from explorer.records import Instance, RunSpec
from explorer.results.rows import measure_row, payload, score_row
from explorer.similarity import bertscore, rouge
from explorer.variants import tools
from explorer.variants.perturb import SETTINGS as POS
from explorer.variants.perturb import PerturbedInstance, Swap, perturb_instances
from explorer.variants.senses import METHODS

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.folder import Tables

Row = dict[str, Any]

PERTURBING = {
    "pos": Setting(("N", "V", "NV"), "which words are swapped: nouns, verbs, both", tuple(POS)),
    "senses": Setting(tools.DEFAULT, "how senses are told apart", tuple(METHODS)),
    "senses_model": Setting("", "the model that lm, lm-choice and chat ask"),
    "veto": Setting("", "words that are never swapped, parted by commas"),
    "similarity": Setting(True, "measure BERTScore and ROUGE-L of original and perturbed"),
    "encoder": Setting(bertscore.MINILM, "encoder of BERTScore; the paper's is roberta-large"),
    "frequencies": Setting(True, "count the swapped words and their substitutes in the index"),
}
ORIGINAL = {"condition": "original"}


def do(spec: RunSpec, resources: Resources, instances: Sequence[Instance], progress: Progress) -> Tables:
    """Rows of one part: originals scored once, then each part-of-speech setting."""
    rows: dict[str, list[Row]] = {"variants": [], "scores": [], "measures": [], "counts": []}
    stages = 1 + len(spec.settings["pos"])

    def stage(number: int) -> Progress:
        return lambda done, total: progress(int(1000 * (number + done / max(total, 1))), 1000 * stages)

    _score(spec, resources, instances, instances, ORIGINAL, rows, stage(0))
    kit = tools.build(resources, str(spec.settings["senses"]), str(spec.settings["senses_model"]))
    veto = [word.strip() for word in str(spec.settings["veto"]).split(",") if word.strip()]
    for number, pos in enumerate(spec.settings["pos"], start=1):
        factors = {"condition": "perturbed", "setting": pos}
        made = perturb_instances(instances, kit, pos=pos, seed=spec.seed, veto=veto)
        rows["variants"] += [_variant_row(old, new, pos) for old, new in zip(instances, made)]
        rows["measures"] += [row for old, new in zip(instances, made) for row in _swap_measures(old, new, pos)]
        kept = [(old, new.instance) for old, new in zip(instances, made) if new.instance is not None]
        if kept:
            olds, news = (list(side) for side in zip(*kept))
            _score(spec, resources, olds, news, factors, rows, stage(number))
            if spec.settings["similarity"]:
                rows["measures"] += _similarities(spec, resources, olds, news, pos)
        if spec.settings["frequencies"]:
            rows["counts"] += _frequencies(spec, resources, instances, made, pos)
    return rows


def _score(
    spec: RunSpec,
    resources: Resources,
    olds: Sequence[Instance],
    news: Sequence[Instance],
    factors: dict[str, Any],
    rows: dict[str, list[Row]],
    progress: Progress,
) -> None:
    """Adds scores, verdicts and popularity of `news`, stored under the ids of `olds` with the factors."""
    policy = accuracy.policy_of(spec)
    dtype = str(resources.model_record(spec.model, spec.dtype)["dtype"])
    own = [dataclasses.replace(new, id=old.id) for old, new in zip(olds, news)]
    asked = [accuracy.ask(instance, policy) for instance in own]
    tagged = [
        dataclasses.replace(request, factors={**request.factors, **_unless_taken(request.factors, factors)})
        for requests in asked
        for request in requests
    ]
    scores = iter(resources.scorer(spec.model, spec.dtype).score(tagged, policy, progress))
    offset = 10_000 * (1 + list(POS).index(factors["setting"])) if "setting" in factors else 0
    for instance, requests in zip(own, asked):
        found = [next(scores) for _ in requests]
        # The verdict reads SyntaxGym's own factors, so it is given the requests as they were asked.
        plain = [dataclasses.replace(score, request=request) for score, request in zip(found, requests)]
        rows["measures"] += verdicts.judge(instance, plain, policy, dtype, factors)
        rows["scores"] += [
            score_row(score, offset + i, tokens=bool(spec.settings["tokens"])) for i, score in enumerate(found)
        ]
    counter = resources.counter(str(spec.settings["index"]))
    rated, counts = measure.measure(counter, own, popularity.edges_of(spec, resources))
    popular = measure.rows(rated, counts, factors)
    rows["measures"] += popular["measures"]
    if spec.settings["rows"]:
        rows["counts"] += popular["counts"]


def _unless_taken(own: Any, factors: dict[str, Any]) -> dict[str, Any]:
    """A SyntaxGym request's condition is the item's; the perturbation is then told by `setting` alone."""
    return {name: value for name, value in factors.items() if name not in own}


def _variant_row(old: Instance, new: PerturbedInstance, pos: str) -> Row:
    return {
        "instance_id": old.id,
        "variant_id": new.instance.id if new.instance else f"{old.id}#perturbed-{pos}",
        "condition": "perturbed",
        "setting": pos,
        "edit": new.instance.edit if new.instance else None,
        "accepted": new.instance is not None,
        "reason": new.reason or "; ".join(new.flags),
        "payload": payload(new.instance) if new.instance else None,
    }


def _swap_measures(old: Instance, new: PerturbedInstance, pos: str) -> list[Row]:
    factors = {"condition": "perturbed", "setting": pos}
    made = [("accepted", float(new.instance is not None), new.reason), ("swaps", float(len(new.swaps)), "")]
    made.append(("swappable_left", float(len(new.left)), ""))
    return [measure_row(old.id, name, value, reason=reason, factors=factors) for name, value, reason in made]


def _similarities(
    spec: RunSpec, resources: Resources, olds: Sequence[Instance], news: Sequence[Instance], pos: str
) -> list[Row]:
    """BERTScore F1 and ROUGE-L F1 of each option's text that was changed."""
    changed = [
        (old.id, option, before, after)
        for old, new in zip(olds, news)
        for option, (before, after) in enumerate(zip(prompts.option_texts(old), prompts.option_texts(new)))
        if before != after
    ]
    if not changed:
        return []
    befores, afters = [row[2] for row in changed], [row[3] for row in changed]
    measured = {
        "bertscore": resources.bertscore(str(spec.settings["encoder"])).f1(befores, afters),
        "rouge_l": rouge.rouge_l(befores, afters),
    }
    factors = {"condition": "perturbed", "setting": pos}
    return [
        measure_row(instance_id, name, one.value, option=option, reason=one.reason, factors=factors)
        for name, values in measured.items()
        for (instance_id, option, _, _), one in zip(changed, values)
    ]


def _frequencies(
    spec: RunSpec, resources: Resources, olds: Sequence[Instance], news: Sequence[PerturbedInstance], pos: str
) -> list[Row]:
    """Rows of `counts` for every swapped word (`part` 0) and its substitute (`part` 1), in running-text form."""
    counter = resources.counter(str(spec.settings["index"]))
    pairs: list[tuple[str, Swap]] = [(old.id, swap) for old, new in zip(olds, news) for swap in new.swaps]
    words = list(dict.fromkeys(word for _, swap in pairs for word in (swap.original, swap.substitute)))
    ids = dict(zip(words, counter.encode(words)))
    wanted = list(dict.fromkeys(ids.values()))
    counts = dict(zip(wanted, counter.count(wanted)))
    ngrams.require_answers(counts)
    return [
        {
            "instance_id": instance_id,
            "option": -1,
            "condition": "swap",
            "setting": pos,
            "part": side,
            "index_name": counter.index,
            "n": len(ids[word]),
            "start": swap.start,
            "ids": list(ids[word]),
            "count": counts[ids[word]].count,
            "approx": counts[ids[word]].approx,
            "reason": counts[ids[word]].reason,
        }
        for instance_id, swap in pairs
        for side, word in enumerate((swap.original, swap.substitute))
    ]


STUDY = Study(
    name="perturbation",
    title="Lexical perturbation",
    question="Does the verdict survive when words give way to synonyms?",
    version=1,
    settings={**PERTURBING, **popularity.COUNTING, **accuracy.SCORING, **selection.SELECTION},
    kinds=("pair", "choice", "cloze", "regions"),
    select=selection.select,
    do=do,
    conclude=perturbation_findings.conclude,
)
