"""Perturbation: does the verdict survive when words give way to synonyms?

Load, swap nouns and verbs, score original and perturbed, count the n-grams of both, compare. Source: Ruzzetti,
Zanzotto and Caselli, Lexical Popularity, section 5 and appendix A.2 to A.4.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from explorer.popularity import ngrams
from explorer.records import Factor, Instance, RunSpec, Score
from explorer.rows.builders import measure_row, payload
from explorer.rows.columns import Table, as_arrow, joined, score_table
from explorer.scoring.score import Batch
from explorer.similarity import bertscore, judge, rouge
from explorer.studies import QUESTIONS, selection, verdicts
from explorer.studies.accuracy import study as accuracy_study
from explorer.studies.perturbation import declared, findings
from explorer.studies.perturbation import judge as perturbation_judge
from explorer.studies.perturbation.similarity import compared_texts
from explorer.studies.popularity import study as popularity_study
from explorer.studies.popularity.deciles import COUNTING, counts_here, edges_for_parts
from explorer.studies.study import Progress, Setting, Stages, Study
from explorer.variants import language, tools
from explorer.variants.as_published import perturb_as_published
from explorer.variants.perturb import SETTINGS as POS
from explorer.variants.perturb import PerturbedInstance, Tools, held_back, perturb_instances
from explorer.variants.senses import METHODS

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.parts import Tables

Row = Mapping[str, Any]
Gathered = dict[str, list[Table]]  # table name → its rows, block by block

PERTURBING = {
    "pos": Setting(("N", "V", "NV"), "which words are swapped: nouns, verbs, both", tuple(POS)),
    "senses": Setting(tools.DEFAULT, "how senses are told apart", tuple(METHODS)),
    "senses_model": Setting("", "the model that lm, lm-choice and chat ask"),
    "method": Setting(
        "careful",
        "careful: the label is kept and words that would break grammar stay; published: appendix A.2 of the paper as "
        "far as it says",
        ("careful", "published"),
        is_optional=True,
    ),
    "draws": Setting(
        1, "draw the synonyms that many times; changes then have intervals over items and draws", is_optional=True
    ),
    "veto": Setting("", "words that are never swapped, parted by commas"),
    "similarity": Setting(True, "measure BERTScore and ROUGE-L of original and perturbed"),
    "encoder": Setting(bertscore.MINILM, "encoder of BERTScore; the paper's is roberta-large"),
    "frequencies": Setting(True, "count the swapped words and their substitutes in the index"),
    "judge": Setting("", "chat model or endpoint that says whether both mean the same; empty = none"),
    "judge_sample": Setting(judge.SAMPLE, "instances of each group that are judged, drawn with the seed"),
}
APART = 10_000  # request numbers of one version of an instance and the next


@dataclass(frozen=True, slots=True)
class Version:
    """Instances as they stand under some factors, each with the id of the instance it came from."""

    number: int
    factors: Mapping[str, Factor]
    instances: tuple[Instance, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """Instances, how many requests each has, and all of them on their way to the model."""

    instances: tuple[Instance, ...]
    sizes: tuple[int, ...]
    batch: Batch

    def judged(self) -> list[tuple[Instance, list[Score]]]:
        """Each instance with the scores of its requests."""
        rest = iter(self.batch.scores())
        return [
            (instance, [next(rest) for _ in range(size)])
            for instance, size in zip(self.instances, self.sizes, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class PreparedPart:
    """A part's instances with what they became, what their n-grams are worth, and what is asked about all."""

    instances: Sequence[Instance]
    perturbed_by_pos: Mapping[str, Sequence[PerturbedInstance]]
    versions: Sequence[Version]
    popular: Sequence[Tables]
    asked: Asked  # all versions, one after another
    draws: Mapping[tuple[str, int], Asked]  # which words are swapped, number of the draw


def prepare(
    spec: RunSpec, resources: Resources, instances: Sequence[Instance], progress: Progress, ahead: bool
) -> PreparedPart:
    """Words swapped under each part-of-speech setting, all versions rated, and their requests."""
    kit = tools_of(spec, resources)
    perturbed_by_pos = {pos: perturb(spec, kit, instances, pos) for pos in spec.settings["pos"]}
    versions = [Version(0, {"condition": "original"}, tuple(instances))]
    for number, (pos, perturbed) in enumerate(perturbed_by_pos.items(), start=1):
        versions.append(Version(number, _perturbed(pos), _swapped(instances, perturbed)))
    popular = [
        popularity_study.rate(spec, resources, version.instances, progress, version.factors) for version in versions
    ]
    draws = {
        (pos, draw): _ask(spec, resources, _swapped(instances, perturb(spec, kit, instances, pos, draw)), ahead)
        for pos in spec.settings["pos"]
        for draw in range(1, int(spec.settings.get("draws", 1)))
    }
    asked = _ask(spec, resources, [instance for version in versions for instance in version.instances], ahead)
    return PreparedPart(instances, perturbed_by_pos, versions, popular, asked, draws)


def score(spec: RunSpec, resources: Resources, prepared: PreparedPart, progress: Progress) -> PreparedPart:
    """The same, scored."""
    for asked in (prepared.asked, *prepared.draws.values()):
        asked.batch.run(progress)
    return prepared


def tables(spec: RunSpec, resources: Resources, scored: PreparedPart) -> Tables:
    """Rows of all tables."""
    instances, perturbed_by_pos = scored.instances, scored.perturbed_by_pos
    tables: Gathered = {"variants": [], "scores": [], "measures": [], "counts": [], "generations": []}
    for popular in scored.popular:
        _add(tables, popular)
    _add(tables, _score_rows(spec, resources, scored))
    for (pos, draw), asked in scored.draws.items():
        tables["measures"].append(_drawn_again(spec, resources, asked, pos, draw))
    for pos, perturbed in perturbed_by_pos.items():
        _add(tables, _swap_rows(instances, perturbed, pos))
        if spec.settings["similarity"]:
            tables["measures"].append(_similarities(spec, resources, instances, perturbed, pos))
        if spec.settings["frequencies"]:
            tables["counts"].append(_frequencies(spec, resources, instances, perturbed, pos))
    if spec.settings["judge"]:
        pos = perturbation_judge.judged_setting(spec.settings["pos"])
        kit = tools_of(spec, resources)
        judged_sample = perturbation_judge.sample(spec, resources, lambda some: perturb(spec, kit, some, pos))
        generator = _resources_beside(str(spec.settings["judge"]), spec, resources).generator(
            str(spec.settings["judge"])
        )
        _add(
            tables, perturbation_judge.rows(instances, perturbed_by_pos[pos], judged_sample, generator, pos, spec.seed)
        )
    return {name: joined(name, parts) for name, parts in tables.items()}


def asks_only_for_scores(settings: Mapping[str, Any]) -> bool:
    """Whether no other language model judges or tells senses apart, and n-grams are counted on this machine."""
    return not settings["judge"] and settings["senses"] not in tools.NEEDS_MODEL and counts_here(settings)


def may_overlap(spec: RunSpec, resources: Resources) -> bool:
    """Whether nothing but the scored model is asked, and that one runs here."""
    return asks_only_for_scores(spec.settings) and accuracy_study.is_on_this_machine(spec, resources)


STAGES = Stages(prepare, score, tables, may_overlap)
run_part = STAGES.run


def tools_of(spec: RunSpec, resources: Resources) -> Tools:
    """WordNet, the tagger and the sense method of a run."""
    model = str(spec.settings["senses_model"])
    return tools.build_tools(_resources_beside(model, spec, resources), str(spec.settings["senses"]), model)


def perturb(
    spec: RunSpec, kit: Tools, instances: Sequence[Instance], pos: str, draw: int = 0
) -> list[PerturbedInstance]:
    """The instances perturbed by a run's method under its seed and vetoes; each `draw` has words of its own."""
    # Far apart, so that draw 1 of a run with seed 0 is not draw 0 of a run with seed 1.
    seed = spec.seed + APART * draw
    if spec.settings.get("method", "careful") == "published":
        return perturb_as_published(instances, kit, pos=pos, seed=seed)
    return perturb_instances(instances, kit, pos=pos, seed=seed, veto=vetoes(str(spec.settings["veto"])))


def _swapped(instances: Sequence[Instance], perturbed: Sequence[PerturbedInstance]) -> tuple[Instance, ...]:
    """What the instances became, without those in which no word could be swapped, each under the id of its original.

    A row of scores always names an instance of the run, and the factors say which version of it was read.
    """
    return tuple(
        dataclasses.replace(new.instance, id=old.id)
        for old, new in zip(instances, perturbed, strict=True)
        if new.instance
    )


def _ask(spec: RunSpec, resources: Resources, instances: Sequence[Instance], ahead: bool) -> Asked:
    """The requests of all instances in one go, since most of their beginnings are the same; encoded where `ahead`."""
    policy = accuracy_study.policy_of(spec)
    by_instance = [accuracy_study.build_requests(instance, policy) for instance in instances]
    flat = [request for requests in by_instance for request in requests]
    batch = Batch(resources.scorer(spec.model, spec.dtype), flat, policy)
    if ahead:
        batch.prepare()
    return Asked(tuple(instances), tuple(map(len, by_instance)), batch)


# What a further draw stores: whether an instance is right after it, with the number of the draw as its part. Its texts
# follow from the seed; the first draw alone is shown, counted and compared text by text.
def _drawn_again(spec: RunSpec, resources: Resources, asked: Asked, pos: str, draw: int) -> list[Row]:
    judged = verdicts.judge_all(asked.judged(), accuracy_study.policy_of(spec), _dtype(spec, resources))
    return [
        {**row, **_perturbed(pos), "part": draw}
        for row in as_arrow("measures", judged.table()).to_pylist()
        if row["measure"] == "correct" and row["part"] is None
    ]


def _dtype(spec: RunSpec, resources: Resources) -> str:
    return str(resources.model_record(spec.model, spec.dtype)["dtype"])


def vetoes(text: str) -> list[str]:
    """The words of the setting `veto`."""
    return [word.strip() for word in text.split(",") if word.strip()]


def _resources_beside(name: str, spec: RunSpec, resources: Resources) -> Resources:
    """Resources with a place of its own for this model, so that no part of a run loads one anew."""
    for other_name in dict.fromkeys((spec.model, str(spec.settings["senses_model"]), str(spec.settings["judge"]))):
        if other_name == name:
            break
        if other_name:
            resources = resources.beside()
    return resources


def _perturbed(pos: str) -> dict[str, Factor]:
    return {"condition": "perturbed", "setting": pos}


def _add(tables: Gathered, more: Tables) -> None:
    for name, rows in more.items():
        tables[name].append(rows)


def _score_rows(spec: RunSpec, resources: Resources, scored: PreparedPart) -> Tables:
    """Scores and verdicts of all versions."""
    by_instance = [version for version in scored.versions for _ in version.instances]
    by_request = [
        (version, number)
        for version, size in zip(by_instance, scored.asked.sizes, strict=True)
        for number in range(size)
    ]
    return {
        "scores": score_table(
            scored.asked.batch.scores(),
            [APART * version.number + number for version, number in by_request],
            tokens=bool(spec.settings["tokens"]),
            # A SyntaxGym request keeps its own condition; its version's `setting` tells the rest.
            factors=[version.factors for version, _ in by_request],
        ),
        "measures": verdicts.judge_all(
            scored.asked.judged(),
            accuracy_study.policy_of(spec),
            _dtype(spec, resources),
            [version.factors for version in by_instance],
        ).table(),
    }


def _swap_rows(instances: Sequence[Instance], perturbed: Sequence[PerturbedInstance], pos: str) -> Tables:
    tables: dict[str, list[Row]] = {"variants": [], "measures": []}
    for old, new in zip(instances, perturbed, strict=True):
        tables["variants"].append(
            {
                "instance_id": old.id,
                "variant_id": new.instance.id if new.instance else f"{old.id}#perturbed-{pos}",
                **_perturbed(pos),
                "edit": new.instance.edit if new.instance else None,
                "accepted": new.instance is not None,
                "reason": new.reason or "; ".join(new.flags),
                "payload": payload(new.instance) if new.instance else None,
            }
        )
        for name, value in (("swaps", len(new.swaps)), ("swappable_left", held_back(new.left))):
            tables["measures"].append(measure_row(old.id, name, float(value), factors=_perturbed(pos)))
    return tables


def _similarities(
    spec: RunSpec, resources: Resources, olds: Sequence[Instance], news: Sequence[PerturbedInstance], pos: str
) -> list[Row]:
    """BERTScore F1 and ROUGE-L F1 of the right option's text (or of every text) where it was changed."""
    changed = [
        (old.id, option, before, after)
        for old, new in zip(olds, news, strict=True)
        if new.instance is not None
        for option, before, after in compared_texts(old, new.instance)
        if before != after
    ]
    if not changed:
        return []
    befores, afters = [row[2] for row in changed], [row[3] for row in changed]
    measured = {
        declared.BERTSCORE.name: resources.bertscore(str(spec.settings["encoder"])).f1(befores, afters),
        declared.ROUGE_L.name: rouge.rouge_l(befores, afters),
    }
    return [
        measure_row(
            instance_id, name, similarity.value, option=option, reason=similarity.remark, factors=_perturbed(pos)
        )
        for name, values in measured.items()
        for (instance_id, option, _, _), similarity in zip(changed, values, strict=True)
    ]


def _frequencies(
    spec: RunSpec, resources: Resources, olds: Sequence[Instance], news: Sequence[PerturbedInstance], pos: str
) -> list[Row]:
    """Rows of `counts` for every swapped word (`part` 0) and its substitute (`part` 1), in running-text form."""
    counter = resources.counter(str(spec.settings["index"]))
    pairs = [
        (old.id, swap) for old, new in zip(olds, news, strict=True) if new.instance is not None for swap in new.swaps
    ]
    words = list(dict.fromkeys(word for _, swap in pairs for word in (swap.original, swap.substitute)))
    ids = dict(zip(words, counter.encode(words), strict=True))
    distinct_ids = list(dict.fromkeys(ids.values()))
    counts = dict(zip(distinct_ids, counter.count(distinct_ids), strict=True))
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
    question=QUESTIONS["perturbation"],
    version=3,
    settings={**PERTURBING, **COUNTING, **accuracy_study.SCORING, **selection.SELECTION},
    kinds=("pair", "choice", "cloze", "regions"),
    select=selection.select,
    run_part=run_part,
    stages=STAGES,
    may_be_apart=asks_only_for_scores,
    for_parts=edges_for_parts,
    summarize=findings.summarize,
    languages=(language.ENGLISH,),
)
