"""Same setting means same method: what matters to a printed figure, flipped one by one, and what does not matter."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from explorer.studies import study
from explorer.studies.published_figures import TARGET
from explorer.studies.replication import board, figures, method
from explorer.studies.replication.board import BoardFigure, Stored

FIGURES = board.figures()
WITHIN = ("within", "outside", "equal", "differs")


def figure(**wanted) -> BoardFigure:
    """The first target of the board with these fields that a run could answer."""
    return next(
        one
        for one in FIGURES
        if one.answers and one.is_target and all(getattr(one, name) == value for name, value in wanted.items())
    )


def judged(printed: BoardFigure, *, limit=None, items=None, status="complete", done=0, total=0, suites=(), preset=None,
           answer=0, **settings) -> tuple[str, str]:  # fmt: skip
    """The verdict on a run whose number is the printed one, made with the study's defaults but for these settings."""
    asked = printed.answers[answer]
    chosen = study(asked.study).resolve(settings)
    preset = preset or (asked.presets[0] if asked.presets else chosen.get("preset", ""))
    value = (printed.target - asked.offset) / asked.scale
    detail = json.dumps({asked.detail: value}) if asked.detail else ""
    items = items if items is not None else method.ITEMS.get(asked.benchmark, 1000)
    row = {
        "run_id": "run", "model": printed.model_id, "study": asked.study, "benchmark": asked.benchmark,
        "preset": preset, "finding": asked.finding.name, "grp": asked.group, "setting": asked.setting,
        "condition": asked.condition, "k": asked.k, "value": value, "low": value - 0.1, "high": value + 0.1, "n": items,
        "detail": detail, "status": status, "done": done, "total": total,
        "spec": json.dumps({"settings": {**chosen, "preset": preset}, "limit": limit, "suites": list(suites)}),
    }  # fmt: skip
    ours = board.matching_run(printed, board.index([row]))
    assert ours is not None
    return board.verdict(printed, ours), ours.differs


PIQA = figure(source="pythia", what="piqa", metric="accuracy, %")
IPS = figure(source="popularity", metric="mean IPS of instances that flip", model="OLMo 7B")
SWAPPED = figure(source="popularity", condition="nouns swapped", metric="accuracy, %")
NEIGHBORS = next(one for one in FIGURES if one.is_target and one.answers and "neighbours" in one.answers[0].setting)
MIN_K = [one for one in FIGURES if one.answers and one.answers[0].setting == "min_k"]
PRIMED = next(one for one in FIGURES if one.source == figures.PRIMING and one.is_target and one.answers)
ONTOLOGY = next(one for one in FIGURES if one.source == figures.ONTOLOGIES and one.is_target and one.answers)
REPLICATED = next(one for one in FIGURES if one.source == figures.ICL and one.is_target and one.answers)
EXACT = next(
    one for one in FIGURES if one.source == figures.ICL and one.metric.endswith("performance and exact matches")
)

AS_PRINTED = {
    "accuracy": (PIQA, {}),
    "ips of flips": (IPS, {"n": 7, "index": "v4_dolma-v1_7_llama", "method": "published"}),
    "swapped": (SWAPPED, {"method": "published"}),
    "neighbors": (NEIGHBORS, {"neighbours_by": "roberta-base", "neighbours_cap": 0}),
    "primed": (PRIMED, {"per_group": 0}),
    "ontology": (ONTOLOGY, {"prompt": "auto", "form": "released"}),
    "in-context": (REPLICATED, {"judge": "openai:gpt-4-0613-32k"}),
    "in-context, exact": (EXACT, {}),
}


@pytest.mark.parametrize("case", AS_PRINTED)
def test_a_run_made_as_printed_is_compared(case):
    printed, settings = AS_PRINTED[case]
    verdict, differs = judged(printed, **settings)
    assert differs == "" and verdict in WITHIN


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"chat": "always"}, "asked as a chat; the paper: plain text"),
        ({"chat": "always", "system": "Be brief."}, "asked as a chat with a system prompt; the paper: plain text"),
    ],
)
@pytest.mark.parametrize("case", ["accuracy", "neighbors", "primed", "in-context"])
def test_a_run_as_a_chat_is_never_of_the_printed_setting(case, settings, said):
    printed, as_printed = AS_PRINTED[case]
    assert judged(printed, **as_printed, **settings) == ("not comparable", said)


def test_judged_pairs_are_never_of_the_printed_setting():
    said = "asked with each sentence put up for judgment; the paper: plain text"
    assert judged(PIQA, ask="judge") == ("not comparable", said)


def test_a_run_of_fifty_items_is_not_compared_with_all_of_them():
    verdict, differs = judged(PIQA, limit=50, items=50)
    assert verdict == "not comparable"
    assert differs == "the first 50 items; the paper: all 1,838 items"
    assert judged(PIQA, per_group=50, items=50) == (
        "not comparable", "at most 50 items a group; the paper: all 1,838 items",
    )  # fmt: skip


def test_two_grams_of_an_index_of_earlier_versions_are_not_compared_with_seven_of_dolma():
    verdict, differs = judged(IPS, index="demo", method="published")  # n = 0: the usual length of the index
    assert verdict == "not comparable"
    assert differs == "2-grams, the demonstration index of earlier versions; the paper: 7-grams, Dolma"


FLIPPED = {
    "limit": ("accuracy", {"limit": 1000}, "the first 1,000 items"),
    "sample": ("accuracy", {"per_group": 500}, "at most 500 items a group"),
    "items": ("accuracy", {"items": 1200}, "1,200 items"),
    "slice": ("accuracy", {}, "a slice of the items"),
    "unfinished": ("accuracy", {"status": "running", "done": 900, "total": 1838}, "900 of 1,838 items so far"),
    "preset": ("accuracy", {"preset": "natural"}, "scored as natural"),
    "bos": ("accuracy", {"bos": "always"}, "beginning token: always"),
    "normalization": ("accuracy", {"normalization": "per_char"}, "compared by per_char"),
    "split": ("accuracy", {"split": "test"}, "split test"),
    "n-gram length": ("ips of flips", {"n": 3}, "3-grams"),
    "index": ("ips of flips", {"index": "v4_piletrain_llama"}, "the Pile"),
    "beginnings": ("ips of flips", {"initial": "both"}, "beginnings counted both"),
    "swaps": ("swapped", {"method": "careful"}, "careful swaps, labels kept"),
    "sense choice": ("swapped", {"senses": "first"}, "first sense"),
    "words excepted": ("swapped", {"veto": "cat"}, "some words never swapped"),
    "neighbor proposer": ("neighbors", {"neighbours_by": "infill:gemma"}, "neighbors by gemma (infilling)"),
    "unknown proposer": ("neighbors", {"neighbours_by": "auto"}, "neighbors by whatever was at hand"),
    "neighbors": ("neighbors", {"neighbours": 5}, "5 neighbors a text"),
    "neighbors' cap": ("neighbors", {"neighbours_cap": 100}, "neighbors of 100 items a task"),
    "contexts": ("primed", {"chains": 3}, "items share 3 contexts"),
    "items of a suite": ("primed", {"per_group": 50}, "at most 50 items a group"),
    "unrelated sentences": ("primed", {"unrelated": "starter"}, "unrelated sentences of starter"),
    "prompt": ("ontology", {"prompt": "other"}, "prompt"),
    "wording": ("ontology", {"form": "corrected"}, "prompt corrected"),
    "language": ("ontology", {"languages": ("it",)}, "asked in it"),
    "concepts": ("ontology", {"per_bucket": 130}, "130 concepts a bucket"),
    "popularity": ("ontology", {"counts": "index"}, "popularity by index"),
    "judge": ("in-context", {"judge": ""}, "near-exact by a rule"),
    "in-context items": ("in-context", {"instances": 60}, "60 items"),
    "in-context split": ("in-context", {"split": "test"}, "split test"),
    "completion": ("in-context", {"max_new_tokens": 50}, "50 new tokens"),
    "shots": ("in-context, exact", {"k": (0, 10, 20, 30)}, "0, 10, 20, 30 shots"),
}  # fmt: skip


@pytest.mark.parametrize("case", FLIPPED)
def test_each_setting_that_matters_makes_a_figure_not_comparable(case):
    name, change, words = FLIPPED[case]
    printed, settings = AS_PRINTED[name]
    if case == "prompt":
        prompts = {"chat", "completion"} & set(study("ontology").settings["prompt"].choices)
        other = next(one for one in sorted(prompts) if f"prompt={one}" not in printed.command)
        change = {"prompt": other}
    if case == "slice":
        made = method.RunMethod({"only": ["piqa/a", "piqa/b"]})
        assert method.differences((), (), "", made, benchmark="piqa").startswith(words)
        return
    verdict, differs = judged(printed, **{**settings, **change})
    assert verdict == "not comparable"
    ours, sign, theirs = differs.partition("; the paper: ")
    assert sign and theirs and words in ours


def test_min_k_of_another_share_differs():
    assert MIN_K == [] or judged(MIN_K[0], min_k=10.0)[1].startswith("min-k of 10")
    made = method.RunMethod({"min_k": 10.0})
    assert method.differences(method.MIN_K, (), "", made, benchmark="piqa").startswith("min-k of 10%; ")


def test_another_benchmark_or_model_answers_nothing():
    asked = PIQA.answers[0]
    row = {
        "run_id": "run", "model": PIQA.model_id, "study": asked.study, "benchmark": "copa", "preset": "lm-eval",
        "finding": "accuracy", "grp": "overall", "setting": "", "condition": "", "k": -1, "value": 0.7, "low": 0.6,
        "high": 0.8, "n": 1000, "detail": "",
    }  # fmt: skip
    assert board.matching_run(PIQA, board.index([row])) is None
    assert board.matching_run(PIQA, board.index([{**row, "benchmark": "piqa", "model": "gemma-3-270m"}])) is None


def test_what_does_not_matter_to_a_figure_is_not_looked_at():
    assert judged(SWAPPED, index="demo", n=0, method="published")[1] == "", (
        "an accuracy after swaps is not of any index"
    )
    assert judged(EXACT, judge="")[1] == "", "exact matches need no judge"
    assert judged(PIQA, tokens=False)[1] == ""


def test_imported_figures_whose_settings_are_not_stored_are_compared():
    row = Stored("run", "m", "accuracy", "piqa", "lm-eval", "accuracy", "overall", "", "", -1, 0.7, 0.6, 0.8, 1838, "")
    assert row.run_method.settings == {}
    assert method.differences(PIQA.method, ("lm-eval",), "lm-eval", row.run_method, benchmark="piqa", items=1838) == ""


def test_a_run_made_by_the_boards_own_command_is_comparable():
    """What the board tells a reader to type gives a figure that is compared, for every figure with a command."""
    seen = set()
    for printed in FIGURES:
        if not printed.answers or not printed.command.startswith("python -m explorer run"):
            continue
        words = printed.command.split()
        recipe = study(words[4])
        given = dict(word.split("=", 1) for before, word in pairwise(words) if before == "--set")
        settings = recipe.resolve(given)
        key = (printed.source, printed.method, tuple(sorted(given.items())), printed.answers[0].study)
        if str(key) in seen:
            continue
        seen.add(str(key))
        own = [answer for answer in printed.answers if answer.study == words[4]]
        assert own, printed
        made = method.RunMethod(settings)
        preset = str(settings.get("preset", ""))
        assert method.differences(printed.method, own[0].presets, preset, made, benchmark=own[0].benchmark) == ""
    assert len(seen) > 10
    assert TARGET == ""


@pytest.mark.parametrize(("index", "foreign"), [("demo", "demo"), ("v4_piletrain_llama", ""), ("", "")])
def test_a_figure_of_counts_from_a_foreign_index_is_marked(index, foreign):
    counted = [one for one in FIGURES if "pythia" in one.model_id and any(r.setting == "index" for r in one.method)]
    printed = next(one for one in counted if one.answers)
    answer = printed.answers[0]
    entry = Stored(
        "r", printed.model_id, answer.study, answer.benchmark, "", answer.finding.name, answer.group, answer.setting,
        answer.condition, answer.k, 0.5, 0.4, 0.6, 100, json.dumps({answer.detail: 2.0}),
        json.dumps({"settings": {"index": index}}),
    )  # fmt: skip
    assert board.matching_run(printed, {entry.key: [entry]}).foreign == foreign
