"""A run that was asked as a chat, as the pages show it: said in words, and scored now as it was then."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from explorer import settings as settings_module
from explorer.resources import Resources
from explorer.rows.builders import instance_of
from explorer.runs import request, worker
from explorer.runs.folder import RunFolder
from explorer.studies.icl import context as icl_context
from explorer.studies.judged import Judgment
from explorer.studies.priming import run_settings
from explorer.ui import layout, live
from explorer.ui import resources as ui_resources
from explorer.ui.icl import lab as icl_lab
from explorer.ui.priming import live as priming_live
from explorer.ui.priming.context import Line, pack
from explorer.variants.contexts import read_context, rebuild_text

TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"


def words_of(app) -> str:
    """All that a page says outside its tables."""
    return " ".join(str(element.value) for kind in ("markdown", "caption", "html") for element in app.get(kind))


@pytest.fixture(scope="module")
def chatted(tiny_gpt2, tmp_path_factory):
    """A cache with a run as a chat on some starter pairs, and the same put up for judgment."""
    place = tmp_path_factory.mktemp("chatted")
    model = shutil.copytree(tiny_gpt2, place / "talker")
    (model / "chat_template.jinja").write_text(TEMPLATE)
    settings = settings_module.read(cache=place / "cache")
    resources, folders = Resources(settings), []
    for given in ({"chat": "always"}, {"chat": "always", "ask": "judge"}):
        spec = request.make_spec(
            resources, study="accuracy", model=str(model), benchmark="starter_pairs", limit=3, settings=given
        )
        folder = RunFolder.create(settings.runs, spec)
        assert worker.work(folder, resources, lambda text: None, wait=False) == "complete"
        folders.append(folder)
    return settings.cache, str(model), folders


@pytest.fixture
def done_here(chatted, monkeypatch):
    """A run as a chat with the talking model, after which the pages live where it was done."""
    cache, model, _ = chatted
    monkeypatch.setenv("EXPLORER_CACHE", str(cache))
    monkeypatch.setenv("EXPLORER_OFFLINE", "1")
    resources = Resources(settings_module.read())
    monkeypatch.setattr(ui_resources, "resources", lambda: resources)

    def run(study: str, benchmark: str, **given: object) -> RunFolder:
        asked = {"chat": "always", "system": "Be brief.", **given}
        spec = request.make_spec(resources, study=study, model=model, benchmark=benchmark, limit=None, settings=asked)
        folder = RunFolder.create(resources.settings.runs, spec)
        assert worker.work(folder, resources, lambda text: None, wait=False) == "complete", folder.progress().message
        return folder

    return run


def test_a_context_typed_before_a_pair_is_said_in_the_chat_as_in_a_run(done_here, chatted):
    given = {"per_group": 1, "lengths": "0,60", "unrelated": "starter", "conditions": "unrelated", "overlap": 0,
             "item_intercept": False}  # fmt: skip
    folder = done_here("priming", "starter_pairs", **given)
    pools = run_settings.context_source_of(folder.spec, ui_resources.resources()).pools
    measures, variants = folder.read("measures"), folder.read("variants")
    items = {row["instance_id"]: instance_of(row["payload"]) for row in folder.read("instances").to_dict("records")}
    asked = {name: folder.spec.settings[name] for name in ("chat", "system")}
    compared = 0
    for row in variants[variants["accepted"]].head(3).to_dict("records"):
        context = read_context(json.loads(row["edit"]))
        for point in context.checkpoints:
            item, text = items[row["instance_id"]], rebuild_text(context, pools, point.sentences)
            now = priming_live.growth(item, [text] if text else [], chatted[1], "natural", asked)[-1].judgment
            plain = priming_live.growth(item, [text] if text else [], chatted[1], "natural")[-1].judgment
            own = measures[(measures["instance_id"] == item.id) & (measures["length"] == point.length)]
            stored = Judgment.of_rows(own[own["condition"] == context.condition].to_dict("records"))
            if point.sentences:
                assert now.value("margin") == pytest.approx(stored.value("margin"), abs=1e-4)
                assert now.value("correct") == stored.value("correct")
                assert abs(plain.value("margin") - now.value("margin")) > 1e-4
                compared += 1
    assert compared > 2


def test_a_template_that_is_changed_while_the_app_runs_is_read_anew(done_here, chatted):
    model = chatted[1]
    item = ui_resources.resources().instances("starter_pairs").instances[0]
    file = Path(model) / "chat_template.jinja"
    margins = []
    for template in (TEMPLATE, TEMPLATE.replace("<", "["), TEMPLATE):
        file.write_text(template)
        margins.append(live.judge(item, model, {"chat": "always"}).judgment.value("margin"))
    assert margins[0] == pytest.approx(margins[2], abs=1e-6) and abs(margins[1] - margins[0]) > 1e-4


def test_the_lab_asks_in_the_chat_as_the_run_does(done_here, chatted, monkeypatch):
    given = {"k": "0,1", "settings": "pairs", "instances": 2, "orders": 1, "max_new_tokens": 3, "performance": "scored"}
    folder = done_here("icl", "starter_entailment", **given)
    drawn = icl_context.sampled_items(folder.spec, ui_resources.resources())
    monkeypatch.setattr(icl_lab, "_draw_items", lambda chosen: drawn)
    monkeypatch.setattr(icl_lab, "_judge_completion", lambda pieces, written, is_english: "not judged here")
    monkeypatch.setattr(icl_lab, "NEW_TOKENS", 3)
    measures, given = folder.read("measures"), folder.read("generations")
    form = tuple(sorted((name, folder.spec.settings[name]) for name in ("chat", "system", "form")))
    written = given[(given["role"] == "replication") & (given["k"] == 1)].set_index("instance_id")
    for name, row in written.iterrows():
        now = icl_lab.answer(chatted[1], "starter_entailment", str(name), "pairs", 1, 0, form)
        plain = icl_lab.answer(chatted[1], "starter_entailment", str(name), "pairs", 1, 0)
        own = measures[(measures["instance_id"] == name) & (measures["k"] == 1) & (measures["measure"] == "margin")]
        assert now.text == row["text"]
        assert now.judgment.value("margin") == pytest.approx(float(own["value"].iloc[0]), abs=1e-4)
        assert abs(plain.judgment.value("margin") - now.judgment.value("margin")) > 1e-4
    assert len(written) == 2


def test_the_instance_says_that_a_typed_context_is_said_in_the_chat(open_page, chatted):
    cache, model, (plain, _) = chatted
    about = {"model": model, "benchmark": "starter_pairs", "run": plain.run_id}
    app = open_page("instance", cache, **about, context=pack([Line("It rained.")]))
    assert not app.exception and "So do these scores: the user says the context" in words_of(app)


def test_the_instance_says_how_its_run_asked_and_scores_it_in_the_same_way(open_page, chatted):
    cache, model, (plain, _) = chatted
    app = open_page("instance", cache, model=model, benchmark="starter_pairs", run=plain.run_id)
    assert not app.exception and "This run asked as a chat." in words_of(app)
    stored = plain.read("scores").set_index(["instance_id", "option"])["logprob"]
    item = Resources(settings_module.read(cache=cache)).instances("starter_pairs").instances[0]
    now = live.judge(item, model, layout.scoring_of(plain.run_id))
    assert [score.sum for score in now.scores] == pytest.approx(stored[item.id].tolist(), abs=1e-4)


def test_a_judged_pair_shows_its_sentences_and_says_that_the_run_asked_otherwise(open_page, chatted):
    cache, model, (_, judged) = chatted
    app = open_page("instance", cache, model=model, benchmark="starter_pairs", run=judged.run_id)
    said = words_of(app)
    assert not app.exception and "as a chat, with each sentence put up for judgment." in said
    assert "Verdict and strip here are of the sentences themselves." in said


def test_the_run_is_named_by_how_it_asked(open_page, chatted):
    cache, model, (plain, judged) = chatted
    for folder, said in ((plain, "asked as a chat."), (judged, "asked as a chat, with each sentence put up")):
        app = open_page("runs", cache, model=model, benchmark="starter_pairs", shown=folder.run_id)
        assert not app.exception and said in words_of(app)
