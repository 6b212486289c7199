"""The runs whose results come with the explorer: what is asked, of which models, in the order in which it is done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from explorer.scoring import catalog
from explorer.scoring.suites import GLASSBOX_STEPS

if TYPE_CHECKING:
    from explorer.records import RunSpec
    from explorer.resources import Resources

SEED = 0
DTYPE = "float32"  # the same numbers on a GPU and on the reader's own machine


@dataclass(frozen=True, slots=True)
class Planned:
    """A run to be done. `task` tells it from others of its study, model and benchmark."""

    study: str
    model: str
    benchmark: str
    task: str = ""
    suites: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The run in words."""
        return f"{self.study} of {self.model} on {self.benchmark}{f', {self.task}' if self.task else ''}"

    def spec(self, resources: Resources) -> RunSpec:
        """The run's spec; its benchmark's files have to be here."""
        from explorer.runs.request import make_spec

        return make_spec(
            resources, study=self.study, model=self.model, benchmark=self.benchmark, suites=self.suites, seed=SEED,
            dtype=DTYPE, settings=self.settings,
        )  # fmt: skip


# The formal tasks of the lexical-popularity paper: paradigms of BLiMP, and how many instances of each make a thousand.
FORMAL: Mapping[str, tuple[int, tuple[str, ...]]] = {
    "determiner-noun agreement": (
        125,
        (
            "determiner_noun_agreement_1",
            "determiner_noun_agreement_2",
            "determiner_noun_agreement_irregular_1",
            "determiner_noun_agreement_irregular_2",
            "determiner_noun_agreement_with_adj_2",
            "determiner_noun_agreement_with_adj_irregular_1",
            "determiner_noun_agreement_with_adj_irregular_2",
            "determiner_noun_agreement_with_adjective_1",
        ),
    ),
    "subject-verb agreement": (
        167,
        (
            "distractor_agreement_relational_noun",
            "distractor_agreement_relative_clause",
            "irregular_plural_subject_verb_agreement_1",
            "irregular_plural_subject_verb_agreement_2",
            "regular_plural_subject_verb_agreement_1",
            "regular_plural_subject_verb_agreement_2",
        ),
    ),
    "anaphor agreement": (500, ("anaphor_gender_agreement", "anaphor_number_agreement")),
    "argument structure": (
        143,
        ("causative", "drop_argument", "inchoative", "intransitive", "passive_1", "passive_2", "transitive"),
    ),
}
FUNCTIONAL = ("lambada", "piqa", "copa", "winogrande")
STARTER_CHOICES = ("starter_pairs", "starter_cloze", "starter_physics", "starter_causes", "starter_pronouns")
STARTER_LABELLED = ("starter_entailment", "starter_questions")
THOUSAND = {"per_group": 1000}  # of LAMBADA and PIQA, which are one group each; COPA and WinoGrande are taken whole

COUNTED = {"index": "glassbox"}  # what all models are counted in: the data of most is not at hand
NO_ROWS = {"rows": False, "tokens": False}
# Swaps as published beside careful ones, of one model: five draws of half as many instances each.
DRAWN = {"draws": 5, "pos": ("NV",), "similarity": False, "frequencies": False}
JUDGE, JUDGED = "smollm2-135m-instruct", 50  # the only chat model that comes along, and pairs of a task that it judges
DRAWN_OF = "gemma-3-270m"
HALF_OF = {"lambada": 500, "piqa": 500, "copa": 250, "winogrande": 500}  # per group; COPA has two
MORE = {"more": ("min_k_plus", "recall")}  # attacks beside the usual, of the starter sets

GLASSBOX = "glassbox-m"
DOSED = ("glassbox_pairs", "glassbox_synonyms")
NGRAM_LENGTHS = (2, 3, 5, 6, 7)  # of n-grams, in tokens, beside the default: what a popularity score sees of a dose
SIZES = ("xs", "s", "m", "l")
KNOWING = 64  # steps before which no size answers anything: completions and pairs of the others are left out until then
# The window of 1,024 tokens holds few demonstrations. One way to write a prompt is the one that was planted.
FEW = {"instances": 200, "k": (0, 4), "settings": ("pairs_labels",), "max_new_tokens": 40}
SHORT = {"lengths": (0, 100, 300), "unrelated": "starter", "overlap": 0}


def planned_runs() -> list[Planned]:
    """Every planned run, in the order in which they are done: study by study, and within a study model by model.

    Those of the glass box come last: they take minutes on two cores. Its other sizes and its checkpoints are trained
    first (`python -m explorer glassbox train SIZE`).
    """
    models = [model.id for model in catalog.EMBEDDED_MODELS]
    return [
        *(run for study in (_accuracy, _priming, _perturbation, _several_draws, _popularity, _ontology, _memorization,
                            _icl, _neighbours) for model in models for run in study(model)),
        *_glassbox(GLASSBOX),
        *(run for model in trained_here() for run in _checkpoint(model)),
    ]  # fmt: skip


def trained_here() -> list[str]:
    """The glass box's models whose weights do not come along: checkpoints of all sizes, and the other sizes' last."""
    steps = sorted(GLASSBOX_STEPS)
    names = [f"glassbox-{size}@step{step}" for size in SIZES for step in steps[:-1]]
    return [*names, *(f"glassbox-{size}" for size in SIZES if f"glassbox-{size}" != GLASSBOX)]


def _accuracy(model: str) -> Iterator[Planned]:
    for benchmark in (*STARTER_CHOICES, *STARTER_LABELLED):
        yield Planned("accuracy", model, benchmark)  # with tokens, which a first visit sees before a model is loaded
    for benchmark in ("blimp", *FUNCTIONAL, "crows_pairs", "syntaxgym"):
        yield Planned("accuracy", model, benchmark, settings={"tokens": False})


def _priming(model: str) -> Iterator[Planned]:
    yield Planned("priming", model, "starter_pairs", settings={"per_group": 10, "unrelated": "starter"})
    yield Planned("priming", model, "blimp", settings={"per_group": 50})


def _perturbation(model: str) -> Iterator[Planned]:
    for benchmark in STARTER_CHOICES:
        some = {"per_group": 10} if benchmark == "starter_pairs" else {}
        yield Planned("perturbation", model, benchmark, settings={"tokens": False, **COUNTED, **some})
    yield from _eight_tasks("perturbation", model, {**NO_ROWS, **COUNTED})


def _several_draws(model: str) -> Iterator[Planned]:
    """Each of the eight tasks swapped as published and carefully, in several draws."""
    if model != DRAWN_OF:
        return
    for method in ("published", "careful"):
        settings = {**NO_ROWS, **COUNTED, **DRAWN, "method": method, "judge": JUDGE}
        for task, (per_group, names) in FORMAL.items():
            half = {**settings, "per_group": per_group // 2, "judge_sample": -(-JUDGED // len(names))}
            yield Planned("perturbation", model, "blimp", f"{task}, {method} in draws", names, half)
        for benchmark, per_group in HALF_OF.items():
            half = {**settings, "per_group": per_group, "judge_sample": JUDGED}
            yield Planned("perturbation", model, benchmark, f"{method} in draws", settings=half)


def _popularity(model: str) -> Iterator[Planned]:
    for benchmark in STARTER_CHOICES:
        yield Planned("popularity", model, benchmark, settings={"tokens": False, **COUNTED})
    paradigms = tuple(sorted(name for _, names in FORMAL.values() for name in names))
    yield Planned("popularity", model, "blimp", suites=paradigms, settings={**NO_ROWS, **COUNTED})
    for benchmark in FUNCTIONAL:
        yield Planned("popularity", model, benchmark, settings={**NO_ROWS, **COUNTED})


def _eight_tasks(study: str, model: str, settings: Mapping[str, Any]) -> Iterator[Planned]:
    """A thousand instances of each formal and functional task, all where there are fewer."""
    for task, (per_group, names) in FORMAL.items():
        yield Planned(study, model, "blimp", task, names, {**settings, "per_group": per_group})
    for benchmark in FUNCTIONAL:
        some = THOUSAND if benchmark in ("lambada", "piqa") else {}
        yield Planned(study, model, benchmark, settings={**settings, **some})


def _ontology(model: str) -> Iterator[Planned]:
    # So many of each of the fifty buckets, and all of the smaller ones, come to 5,571 and 2,087 concepts.
    for benchmark, per_bucket in (("go", 130), ("uberon", 750)):
        yield Planned("ontology", model, benchmark, settings={"per_bucket": per_bucket, **COUNTED})


def _memorization(model: str) -> Iterator[Planned]:
    cheap = {"tokens": False, "neighbours": 0}
    for benchmark in STARTER_CHOICES:
        yield Planned("memorization", model, benchmark, settings={**cheap, **MORE})
    yield from _eight_tasks("memorization", model, cheap)


def _neighbours(model: str) -> Iterator[Planned]:
    """Memorization with neighbours, on about a hundred instances of each task."""
    near = {"tokens": False, "neighbours_by": "infill:gemma-3-270m", "neighbours_cap": 0}
    for task, (per_group, names) in FORMAL.items():
        hundred = -(-100 * per_group // 1000)
        yield Planned("memorization", model, "blimp", f"{task}, neighbours", names, {**near, "per_group": hundred})
    for benchmark in FUNCTIONAL:
        settings = near if benchmark == "copa" else {**near, "per_group": 100}
        yield Planned("memorization", model, benchmark, "neighbours", settings=settings)


def _icl(model: str) -> Iterator[Planned]:
    # Few enough that a person can look at every completion.
    for benchmark in STARTER_LABELLED:
        yield Planned("icl", model, benchmark, settings={"instances": 60})
    for benchmark in ("wnli", "rte", "trec", "dbpedia14"):
        yield Planned("icl", model, benchmark)


def _glassbox(model: str) -> Iterator[Planned]:
    """Every study on what was planted for the glass box's models, and on the starter sets, of which half is planted."""
    exact = {"tokens": False, "index": "glassbox"}
    for benchmark in (*DOSED, *STARTER_CHOICES, *STARTER_LABELLED):
        yield Planned("accuracy", model, benchmark)
    for benchmark in (*DOSED, *STARTER_CHOICES):
        yield Planned("popularity", model, benchmark, settings={**exact, **NO_ROWS})
    for n in NGRAM_LENGTHS:
        yield Planned("popularity", model, DOSED[0], f"n = {n}", settings={**exact, **NO_ROWS, "n": n})
    for benchmark in STARTER_CHOICES:
        some = {"per_group": 10} if benchmark == "starter_pairs" else {}
        yield Planned("memorization", model, benchmark, settings={"tokens": False, "neighbours": 0, **MORE, **some})
    yield Planned("ontology", model, "glassbox-ontology", settings={"others": 3})
    for benchmark in STARTER_LABELLED:
        yield Planned("icl", model, benchmark, settings=FEW)
    yield Planned("priming", model, DOSED[0], settings={"per_group": 12, **SHORT})
    yield Planned("priming", model, "starter_pairs", settings={"per_group": 1, **SHORT})
    for benchmark in (DOSED[1], *STARTER_CHOICES):
        some = {"per_group": 4} if benchmark == "starter_pairs" else {}
        yield Planned("perturbation", model, benchmark, settings={**exact, "similarity": False, **some})


def _checkpoint(model: str) -> Iterator[Planned]:
    """What is asked of a model on its way: every study of what was planted, without the rows of single options."""
    step = int(model.partition("@step")[2] or KNOWING)
    is_whole = model.startswith(GLASSBOX) or step == 0 or step >= KNOWING
    cheap = {"tokens": False, "neighbours": 0, **MORE}
    counted = {**NO_ROWS, "index": "glassbox"}
    yield Planned("accuracy", model, DOSED[0], settings={"tokens": False})
    yield Planned("popularity", model, DOSED[0], settings=counted)
    yield Planned("memorization", model, "starter_cloze", settings=cheap)
    yield Planned("ontology", model, "glassbox-ontology", settings={"others": 3})
    yield Planned("priming", model, DOSED[0], settings={"per_group": 12, **SHORT})
    yield Planned("perturbation", model, DOSED[1], settings={**counted, "similarity": False})
    if is_whole:
        yield Planned("memorization", model, "starter_pairs", settings={**cheap, "per_group": 10})
        yield Planned("icl", model, "starter_questions", settings=FEW)
