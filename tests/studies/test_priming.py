"""The priming study on a tiny real model: what is asked, what is stored, and what always holds."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable

import pandas as pd
import pytest

from explorer import settings as settings_module
from explorer.errors import RunError, UsageError
from explorer.records import Request, RunSpec
from explorer.resources import Resources
from explorer.rows.columns import as_arrow
from explorer.runs import worker
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.scoring.policy import ScoringPolicy
from explorer.studies.priming import edits as priming_edits
from explorer.studies.priming import findings as priming_findings
from explorer.studies.priming import run_settings
from explorer.studies.priming import study as priming_study
from explorer.variants import running_text
from explorer.variants.contexts import fold_text, read_context, rebuild_text

SETTINGS = {
    "per_group": 3, "lengths": (0, 90, 180), "unrelated": "starter", "overlap": 0, "item_intercept": False,
}  # fmt: skip
ALWAYS = ScoringPolicy(bos="always")
MakeSpec = Callable[..., RunSpec]


@pytest.fixture(scope="module")
def resources(tmp_path_factory) -> Resources:
    """Resources with a cache of their own and no network; the tiny model is loaded once."""
    where = settings_module.read(cache=tmp_path_factory.mktemp("priming") / "cache")
    return Resources(dataclasses.replace(where, data=None, offline=True))


@pytest.fixture(scope="module")
def make(resources: Resources, tiny_gpt2) -> MakeSpec:
    """Makes specs of the study over four suites of the starter pairs."""

    def made(suites=("anaphor_gender", "binding", "islands", "passive"), **changes) -> RunSpec:
        return make_spec(
            resources, study="priming", model=str(tiny_gpt2), benchmark="starter_pairs", suites=suites,
            settings={**SETTINGS, **changes},
        )  # fmt: skip

    return made


def quiet(done: int, total: int) -> None:
    pass


def done(spec: RunSpec, resources: Resources, *parts: slice) -> dict[str, pd.DataFrame]:
    """The rows of a run's parts."""
    instances = priming_study.select(spec, resources)
    tables: dict[str, list] = {"variants": [], "scores": [], "measures": []}
    for part in parts or (slice(None),):
        for name, rows in priming_study.run_part(spec, resources, instances[part], quiet).items():
            tables[name] += as_arrow(name, rows).to_pylist()
    return {name: pd.DataFrame(rows) for name, rows in tables.items()}


@pytest.fixture(scope="module")
def rows(resources: Resources, make: MakeSpec) -> dict[str, pd.DataFrame]:
    """All rows of a run with two edits."""
    return done(make(edits=("none", "all", "clause"), edit_halves=False, chains=0), resources)


@pytest.fixture(scope="module")
def source(resources: Resources, make: MakeSpec):
    return run_settings.context_source_of(make(), resources)


def contexts_of(rows: dict[str, pd.DataFrame]):
    """(item, context) of each context that has a sentence."""
    drawn = rows["variants"][rows["variants"]["accepted"]]
    return [
        (name, read_context(json.loads(text))) for name, text in zip(drawn["instance_id"], drawn["edit"], strict=True)
    ]


def test_every_score_is_that_of_the_joined_sentences_scored_alone(rows, source, resources, make):
    spec = make()
    scorer = resources.scorer(spec.model, spec.dtype)
    contexts = {(name, context.condition, context.edit): context for name, context in contexts_of(rows)}
    scores = rows["scores"].assign(setting=rows["scores"]["setting"].fillna("none"))
    for row in scores.sample(60, random_state=1).to_dict("records"):
        text = ""
        if row["condition"] != "baseline":
            context = contexts[row["instance_id"], row["condition"], row["setting"]]
            (point,) = [one for one in context.checkpoints if one.length == row["length"]]
            text = rebuild_text(context, source.pools, point.sentences)
            assert 0 < len(source.encode(text)) == point.tokens <= row["length"]
        (alone,) = scorer.score([Request("x", 0, text, row["continuation"])], ALWAYS)
        assert row["logprob"] == pytest.approx(alone.sum, abs=1e-3)
        assert row["tokens"] == row["scored"] == len(alone.tokens)


def test_at_length_0_a_verdict_is_that_of_the_sentences_with_a_bos(rows, resources, make):
    spec = make()
    starts = rows["measures"].query("condition == 'baseline' and measure == 'correct'")
    assert len(starts) == 12 and (starts["length"] == 0).all()
    for item in priming_study.select(spec, resources):
        good, bad = resources.scorer(spec.model, spec.dtype).score(
            [Request(item.id, i, "", running_text.as_target(text)) for i, text in enumerate(item.options)], ALWAYS
        )
        value = starts.loc[starts["instance_id"] == item.id, "value"].item()
        assert value == float(good.sum > bad.sum)
        assert good.scored == len(good.tokens)


def test_a_target_is_the_same_tokens_along_its_curves(rows, resources, make):
    assert not rows["measures"]["reason"].eq(priming_study.requests.OTHER_TOKENS).any()
    counts = rows["scores"].groupby(["instance_id", "option"])["tokens"].nunique()
    assert (counts == 1).all()


def test_no_context_holds_a_text_of_its_item_and_matched_ones_are_of_its_suite(rows, source, resources, make):
    items = {item.id: item for item in priming_study.select(make(), resources)}
    for name, context in contexts_of(rows):
        sentences = [source.pools.by_id[one] for one in context.ids]
        assert not {fold_text(one.text) for one in sentences} & {fold_text(text) for text in items[name].options}
        suites = {one.instance_id.split("/")[1] for one in sentences if one.instance_id}
        if context.condition.startswith("matched_"):
            assert suites == {items[name].group}
        elif context.condition.startswith("mismatched_"):
            assert suites and items[name].group not in suites
        else:
            assert not suites


def test_edits_keep_the_sentences_and_belong_to_matched_contexts(rows):
    contexts = contexts_of(rows)
    edited = [(name, context) for name, context in contexts if context.edit != "none"]
    assert {context.edit for _, context in edited} == {"all", "clause"}
    assert {context.condition for _, context in edited} == {"matched_acceptable", "matched_unacceptable"}
    plain = {(name, context.condition): context.ids for name, context in contexts if context.edit == "none"}
    for name, context in edited:
        assert context.ids == plain[name, context.condition][: len(context.ids)]


def test_no_context_is_stored_as_text_and_every_one_can_be_rebuilt(rows, source):
    assert rows["scores"]["context"].isna().all()
    for _, context in contexts_of(rows)[:20]:
        assert rebuild_text(context, source.pools).count(" ") > 3


@pytest.mark.parametrize("changes", [{}, {"chains": 2}, {"matrix": 2}, {"edits": ("quotation",)}], ids=str)
def test_a_run_in_parts_equals_an_unbroken_one(resources, make, changes):
    spec = make(**changes)
    whole = done(spec, resources)
    parts = done(spec, resources, slice(0, 1), slice(1, 5), slice(5, None))
    for name, frame in whole.items():
        pd.testing.assert_frame_equal(frame, parts[name], check_exact=False, rtol=0, atol=1e-3)


def test_unrelated_sentences_that_cannot_be_had_are_left_out_with_the_reason(resources, make):
    found = done(make(unrelated="wikitext", suites=("islands",)), resources)
    missing = found["variants"].query("condition == 'unrelated'")
    assert len(missing) == 3 and not missing["accepted"].any()
    assert missing["reason"].str.startswith("no unrelated sentences: ").all()
    assert "unrelated" not in set(found["scores"]["condition"])


def test_items_that_share_contexts_take_few_of_them(resources, make):
    found = done(make(suites=("islands",), per_group=12, chains=2), resources)
    drawn = {context.ids for _, context in contexts_of(found) if context.condition == "matched_acceptable"}
    assert len(drawn) == 2
    told = priming_findings._remarks(make(chains=2), resources)
    assert [row["value"] for row in told if row["finding"] == "shared_contexts"] == [2]
    texts = {item.id: set(map(fold_text, item.options)) for item in resources.instances("starter_pairs").instances}
    pools = run_settings.context_source_of(make(), resources).pools
    for name, context in contexts_of(found):
        assert not texts[name] & {fold_text(pools.by_id[one].text) for one in context.ids}


def test_a_pool_that_ends_early_ends_the_curve_with_the_reason(resources, make):
    # The window of 512 tokens ends it as well: no context goes beyond it.
    found = done(make(suites=("islands",), per_group=1, lengths=(0, 100, 900)), resources)
    assert set(found["measures"]["length"]) == {0, 100}
    assert found["variants"]["reason"].str.contains("the window has room for").all()


def test_as_the_paper_did_a_bare_sentence_keeps_its_first_token_unscored(resources, make):
    found = done(make(suites=("islands",), preset="minicons"), resources)["scores"]
    start, later = found[found["length"] == 0], found[found["length"] > 0]
    assert (start["scored"] == start["tokens"] - 1).all()
    assert not start["continuation"].str.startswith(" ").any()
    assert (later["scored"] == later["tokens"]).all()


def test_a_length_too_short_for_any_sentence_is_missing_with_the_reason(resources, make):
    found = done(make(suites=("islands",), lengths=(5, 90)), resources)
    assert set(found["scores"]["length"]) == {0, 90}
    assert set(found["variants"]["reason"]) == {"no sentence within 5 tokens"}


def test_one_context_for_a_whole_suite_is_refused(resources, make):
    with pytest.raises(UsageError, match="expected 0 or at least 2"):
        done(make(chains=1), resources)


def test_no_condition_at_all_is_told(resources, make):
    with pytest.raises(UsageError, match="conditions is empty"):
        done(make(conditions=()), resources)


def test_one_run_chooses_the_suites_on_which_another_measures_edits(resources, make):
    first = run(resources, make(per_group=6))
    suites = priming_edits.suites_of_run(resources.settings.runs, first.run_id)
    assert set(suites) == {"anaphor_gender", "binding", "islands", "passive"}
    second = make(per_group=6, edits=("clause", "all"), edits_from=first.run_id)
    chosen = priming_study.select(second, resources)
    assert chosen and all(priming_edits.is_measured(item.id) for item in chosen)
    folder = run(resources, second)
    findings = folder.read("findings")
    effects = findings[findings["finding"] == "edit_effect"]
    assert effects["setting"].tolist() == ["none", "clause", "all"] * 2
    curves = findings[findings["finding"] == "edit_curve"]
    assert set(curves["setting"]) == {"none", "clause", "all"} and (curves["length"] > 0).all()
    assert (findings["finding"] == "edit_correlation").sum() == 2
    similarity = [json.loads(text)["similarity"] for text in effects["detail"][:3]]
    assert similarity[0] == 1.0 > similarity[1] > similarity[2] > 0
    with pytest.raises(RunError, match="no run"):
        priming_edits.suites_of_run(resources.settings.runs, "nothing")


def test_a_run_broken_off_goes_on_to_the_same_findings(resources, make):
    spec = make(matrix=1, overlap=20)
    folder = run(resources, spec)
    before = folder.read("findings")
    first, last = folder.finished()[-1]
    (folder.parts / f"{first:09d}-{last:09d}.done").unlink()
    assert worker.work(folder, resources, lambda text: None, wait=False) == "complete"
    pd.testing.assert_frame_equal(before, folder.read("findings"), check_exact=False, rtol=0, atol=1e-3)
    kinds = set(before["finding"])
    assert kinds >= {
        "priming_accuracy", "priming_delta", "priming_margin", "priming_perplexity_margin", "priming_reach",
        "suite_delta", "baseline_against_longest", "regression", "regression_fit", "most_affected", "token_f1",
        "dependency_f1", "matrix_accuracy", "matrix_delta", "matrix_correlation", "overlap_and_judgement",
        "unrelated_source",
    }  # fmt: skip


def test_in_another_language_tokens_are_compared_and_grammatical_relations_are_not(resources, tiny_gpt2, tmp_path):
    from explorer.benchmarks.tables import table

    nouns = ("Hund", "Mann", "Vogel", "Freund")
    rows = [f"Der {noun} schläft.,Der {noun} schlafen.,number" for noun in nouns]
    rows += [f"Ich sehe den {noun}.,Ich sehe dem {noun}.,case" for noun in nouns]
    path = tmp_path / "pairs.csv"
    path.write_text("\n".join(["good,bad,group", *rows]), "utf-8")
    table.store_import(path, "german", resources.settings, table.guess_reading(path, language="de"))
    spec = make_spec(
        resources, study="priming", model=str(tiny_gpt2), benchmark="imported_german",
        settings={**SETTINGS, "overlap": 4},
    )  # fmt: skip
    found = run(resources, spec).read("findings")
    relations, tokens = (found[found["finding"] == name] for name in ("dependency_f1", "token_f1"))
    assert len(relations) == len(tokens) == 4 and tokens["value"].notna().all() and relations["value"].isna().all()
    assert set(relations["reason"]) == {"the tagger knows English only: its language is German"}
    kinds = found.loc[found["finding"] == "overlap_and_judgement", "setting"]
    assert "dependency_f1" not in set(kinds)


def run(resources: Resources, spec: RunSpec) -> RunFolder:
    folder = RunFolder.create(resources.settings.runs, spec)
    assert worker.work(folder, resources, lambda text: None, wait=False) == "complete", folder.progress().message
    return folder
