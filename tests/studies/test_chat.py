"""Runs whose options are answers in a chat: what their spec holds, what they store, and what is refused."""

from __future__ import annotations

import dataclasses
import json
import math
import shutil

import pytest

from explorer import prompts_chat
from explorer.errors import ExplorerError
from explorer.resources import Resources
from explorer.runs import spec as specs
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work
from explorer.scoring import hf_source
from explorer.studies import chat

pytestmark = pytest.mark.usefixtures("few_resamples")

TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}<|endoftext|>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)

CHANGED = TEMPLATE.replace("<{{ m.role }}>", "[{{ m.role }}]")


@pytest.fixture
def talker(tiny_gpt2, tmp_path):
    """The tiny GPT-2 with a chat template that ends an answer as the model does."""
    folder = shutil.copytree(tiny_gpt2, tmp_path / "talker")
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    return folder


def asked(resources, model, study="accuracy", benchmark="starter_pairs", limit=6, **given):
    return make_spec(resources, study=study, model=str(model), benchmark=benchmark, limit=limit, settings=given)


def made(resources, spec):
    folder = RunFolder.create(resources.settings.runs, spec)
    assert work(folder, resources, print, wait=False) == "complete", folder.progress().message
    return folder


def test_a_run_that_never_chats_is_the_run_that_it_was_before(settings, talker, tiny_gpt2):
    resources = Resources(settings)
    plain = asked(resources, talker)
    assert not {"chat", "system", "ask"} & set(plain.settings)
    assert specs.run_id(asked(resources, talker, chat="never", ask="plain")) == specs.run_id(plain)
    assert asked(resources, tiny_gpt2, chat="auto").settings == plain.settings
    assert asked(resources, talker, chat="auto").settings["chat"] == "always"
    told = asked(resources, talker, chat="always", system="Be brief.")
    assert len({specs.run_id(one) for one in (plain, told, asked(resources, talker, chat="always"))}) == 3


def test_a_chat_run_stores_what_the_model_read_and_its_template(settings, talker):
    resources = Resources(settings)
    folder = made(resources, asked(resources, talker, chat="always", system="Be brief."))
    scores = folder.read("scores")
    assert set(scores["context"]) == {"<system>Be brief.<|endoftext|><user>Write a sentence.<|endoftext|><assistant>"}
    assert not scores["continuation"].str.startswith(" ").any() and scores["logprob"].notna().all()
    environment = json.loads((folder.path / "environment.json").read_text())
    assert "chat_template" in json.dumps(environment)
    plain = made(resources, asked(resources, talker)).read("scores")
    assert (plain["continuation"] == scores["continuation"]).all() and (plain["logprob"] != scores["logprob"]).all()


def as_bin(folder):
    import torch
    from safetensors.torch import load_file

    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


@pytest.mark.parametrize("form", ["safetensors", "bin"])
def test_a_template_that_was_changed_asks_for_another_run_and_is_read(settings, talker, form):
    if form == "bin":
        as_bin(talker)
    plain = asked(Resources(settings), talker)
    before = made(Resources(settings), asked(Resources(settings), talker, chat="always"))
    assert specs.run_id(asked(Resources(settings), talker, chat="always")) == before.run_id
    assert RunFolder.create(settings.runs, before.spec).progress().status == "complete"
    (talker / "chat_template.jinja").write_text(CHANGED)
    later = asked(Resources(settings), talker, chat="always")
    assert specs.run_id(later) != before.run_id and specs.run_id(asked(Resources(settings), talker)) == (
        specs.run_id(plain)
    )
    after = made(Resources(settings), later)
    assert set(before.read("scores")["context"]) != set(after.read("scores")["context"])
    assert after.read("scores")["context"].str.endswith("[assistant]").all()
    (talker / "chat_template.jinja").write_text(TEMPLATE)
    assert specs.run_id(asked(Resources(settings), talker, chat="always")) == before.run_id


def test_a_run_is_not_gone_on_with_by_another_template(settings, talker):
    folder = RunFolder.create(settings.runs, asked(Resources(settings), talker, chat="always"))
    (talker / "chat_template.jinja").write_text(CHANGED)
    assert work(folder, Resources(settings), print, wait=False) == "failed"
    assert folder.progress().message == (
        f"The chat template of {talker} is not the one that the run was asked of. Start it again as a new run, or "
        "bring back the template."
    )


def test_a_chat_run_of_before_there_was_a_mark_of_its_template_goes_on(settings, talker):
    spec = asked(Resources(settings), talker, chat="always")
    weights = hf_source.local_hashes(talker, settings)[1]
    kept = {name: value for name, value in spec.settings.items() if name != chat.TEMPLATE}
    made(Resources(settings), dataclasses.replace(spec, weights=weights, settings=kept))


def test_nobody_sets_the_mark_of_a_template(settings, talker):
    with pytest.raises(ExplorerError, match="has no setting template"):
        asked(Resources(settings), talker, chat="always", template="0123456789abcdef")


@pytest.mark.parametrize(
    ("study", "benchmark", "given"),
    [("ontology", "glassbox-ontology", {}), ("icl", "starter_entailment", {"form": "chat"})],
)
def test_studies_with_chat_prompts_of_their_own_are_marked_too(settings, talker, study, benchmark, given):
    def wanted(**more):
        return asked(Resources(settings), talker, study=study, benchmark=benchmark, limit=None, **{**given, **more})

    before = wanted()
    plain = {"prompt": "completion"} if study == "ontology" else {"form": "completion"}
    assert before.settings[chat.TEMPLATE] and chat.TEMPLATE not in wanted(**plain).settings
    (talker / "chat_template.jinja").write_text(TEMPLATE + " ")
    assert specs.run_id(wanted()) != specs.run_id(before)


def test_a_judge_of_which_the_files_changed_judges_another_run(settings, talker, tiny_gpt2, tmp_path):
    judge = shutil.copytree(tiny_gpt2, tmp_path / "judge")
    given = {"study": "icl", "benchmark": "starter_entailment", "limit": None, "judge": str(judge)}
    before = asked(Resources(settings), talker, **given)
    assert asked(Resources(settings), talker, **given) == before
    assert "folders" not in asked(Resources(settings), talker, **{**given, "judge": "smollm2-135m-instruct"}).settings
    (judge / "chat_template.jinja").write_text(TEMPLATE)
    assert specs.run_id(asked(Resources(settings), talker, **given)) != specs.run_id(before)
    folder = RunFolder.create(settings.runs, before)
    assert work(folder, Resources(settings), print, wait=False) == "failed"
    assert "(the setting judge) are not those that the run was asked of" in folder.progress().message


@pytest.mark.parametrize("as_chat", [False, True])
def test_judged_sentences_are_compared_by_yes_against_no(settings, talker, as_chat):
    resources = Resources(settings)
    given = {"ask": "judge", **({"chat": "always"} if as_chat else {})}
    folder = made(resources, asked(resources, talker, **given))
    scores, measures = folder.read("scores"), folder.read("measures")
    assert len(scores) == 24 and set(scores["role"]) == {"yes", "no"}
    assert set(scores["continuation"]) == ({"Yes", "No"} if as_chat else {" Yes", " No"})
    numbers = scores.pivot(index=["instance_id", "option"], columns="role", values="logprob")
    gains = (numbers["yes"] - numbers["no"]).unstack()
    margins = measures.query("measure == 'margin'").set_index("instance_id")["value"]
    assert margins[gains.index].tolist() == pytest.approx((gains[0] - gains[1]).tolist(), abs=1e-9)
    correct = measures.query("measure == 'correct'").set_index("instance_id")["value"]
    assert ((correct == 1) == (margins > 0))[margins.abs() > 1e-3].all()
    assert not math.isnan(folder.read("findings").query("finding == 'accuracy'")["value"].iloc[0])


def test_the_regions_of_a_suite_are_pieces_of_one_answer():
    from explorer.records import Request

    later = prompts_chat.as_chat(Request("i", 0, "The cat", " sleeps", "region"))
    assert (later.context, later.continuation, later.conversation) == (
        "The cat", " sleeps", (("user", "Write a sentence."),)
    )  # fmt: skip


def test_priming_says_its_context_to_the_model_and_keeps_the_target(settings, talker):
    resources = Resources(settings)
    given = {"chat": "always", "per_group": 1, "lengths": "0,150", "conditions": "matched_acceptable", "overlap": 0}
    folder = made(resources, asked(resources, talker, study="priming", limit=2, tokens=True, **given))
    scores = folder.read("scores")
    ids = scores.groupby(["instance_id", "option"])["token_texts"].agg(lambda texts: len({tuple(t) for t in texts}))
    assert set(scores["condition"]) == {"baseline", "matched_acceptable"} and set(ids) == {1}
    logprobs = scores.groupby(["instance_id", "option"])["logprob"].nunique()
    assert (logprobs == 2).all()


def test_memorization_chats_about_verdicts_alone(settings, talker):
    resources = Resources(settings)
    given = {"neighbours": 0}
    plain = made(resources, asked(resources, talker, study="memorization", **given)).read("scores")
    chatted = made(resources, asked(resources, talker, study="memorization", chat="always", **given)).read("scores")
    both = plain.merge(chatted, on=["instance_id", "request", "role", "option"])
    moved = both[both["logprob_x"] != both["logprob_y"]]
    assert len(both) == len(plain) == len(chatted) and set(moved["role"]) == {"option"}


REFUSED = {
    "a model without a template": (
        {"chat": "always", "model": "plain"},
        "{model} has no chat template, which chat=always asks for. Choose a model that was tuned for chat, or leave "
        "chat out.",
    ),
    "a system prompt without a chat": (
        {"system": "Be brief."},
        "The setting system is the first turn of a chat, and none was asked for. Give chat=always too, or leave system "
        "out.",
    ),
    "a system prompt for a server that does not tell": (
        {"chat": "auto", "system": "Be brief.", "model": "http://127.0.0.1:9/v1#m"},
        "A server does not tell whether its model was tuned for chat, so chat=auto would leave the system prompt out. "
        "Give chat=always, or leave system out.",
    ),
    "a system prompt for a model that auto leaves plain": (
        {"chat": "auto", "system": "Be brief.", "model": "plain"},
        "{model} was not tuned for chat, so chat=auto scores plain text and would leave the system prompt out. Choose "
        "a chat model, or leave system out.",
    ),
    "another preset": (
        {"chat": "always", "preset": "lm-eval"},
        "The preset lm-eval says itself what a model reads, and so does a chat. Leave preset or chat out.",
    ),
    "a BOS": (
        {"chat": "always", "bos": "always"},
        "The chat template says itself what stands first. Leave bos or chat out.",
    ),
    "pmi": (
        {"chat": "always", "normalization": "pmi"},
        "The normalization pmi compares with an option after nothing, and an answer in a chat stands after a question. "
        "Choose another one, or leave chat out.",
    ),
    "pmi of sentences that stand after nothing": (
        {"normalization": "pmi"},
        "The normalization pmi compares what a context adds to each option, and starter_pairs (pair) compares no "
        "options after a context. Choose another one, or leave normalization out.",
    ),
    "pmi of last words": (
        {"normalization": "pmi", "benchmark": "starter_cloze"},
        "The normalization pmi compares what a context adds to each option, and starter_cloze (cloze) compares no "
        "options after a context. Choose another one, or leave normalization out.",
    ),
    "judgment for its length": (
        {"ask": "judge", "normalization": "per_char"},
        "The setting ask=judge compares log P(yes) with log P(no), whatever the normalization. Leave normalization or "
        "ask out.",
    ),
    "judgment by another preset": (
        {"ask": "judge", "preset": "minicons"},
        "The setting ask=judge goes with the preset natural alone. Leave preset or ask out.",
    ),
    "judgment of what are no sentences": (
        {"ask": "judge", "benchmark": "starter_cloze"},
        "The setting ask=judge puts sentences of minimal pairs in a question, and this benchmark's items are of "
        "another kind (cloze). Leave ask out.",
    ),
    "a value that is none": (
        {"chat": "sometimes"},
        "The setting chat got 'sometimes', expected one of never, auto, always.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_means_nothing_is_refused_in_a_sentence(settings, talker, tiny_gpt2, case):
    given, sentence = REFUSED[case]
    given = dict(given)
    named = given.pop("model", "")
    model = tiny_gpt2 if named == "plain" else named or talker
    with pytest.raises(ExplorerError) as refusal:
        asked(Resources(settings), model, benchmark=given.pop("benchmark", "starter_pairs"), **given)
    assert str(refusal.value) == sentence.format(model=model)


def test_the_ontology_study_says_that_it_has_chat_prompts_of_its_own():
    with pytest.raises(ExplorerError) as refusal:
        chat.refuse_own_prompts("ontology", {"chat": "always"})
    assert str(refusal.value) == (
        "The study ontology asks in chat prompts of its own, and so takes no setting chat. Leave chat out, and choose "
        "the prompt (prompt=chat)."
    )


def test_raw_texts_have_no_chat(settings, talker):
    with pytest.raises(ExplorerError) as refusal:
        chat.settled({"chat": "always"}, str(talker), {"text"}, {"text"}, settings)
    assert str(refusal.value) == (
        "Membership and extraction are measured on raw texts, which no chat template stands before. Leave chat out."
    )


def test_labels_behind_demonstrations_are_answers_and_completions_are_asked_in_the_same_form(settings, talker):
    resources = Resources(settings)
    given = {"k": "0,1", "settings": "pairs", "instances": 4, "orders": 1, "max_new_tokens": 3, "performance": "both"}
    found = {}
    for form in ({}, {"chat": "always", "system": "Be brief."}):
        spec = asked(resources, talker, study="icl", benchmark="starter_entailment", limit=None, **given, **form)
        found[bool(form)] = made(resources, spec)
    plain, chatted = (found[form].read("scores").set_index(["instance_id", "k", "option"]) for form in (False, True))
    assert len(plain) == len(chatted) and (plain["logprob"] != chatted.loc[plain.index, "logprob"]).all()
    assert plain["continuation"].str.startswith(" ").all() and not chatted["continuation"].str.startswith(" ").any()
    assert chatted["logprob"].notna().all()
