"""A run that was asked as a chat, as the pages show it: said in words, and scored now as it was then."""

from __future__ import annotations

import shutil

import pytest

from explorer import settings as settings_module
from explorer.resources import Resources
from explorer.runs import request, worker
from explorer.runs.folder import RunFolder
from explorer.ui import layout, live

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
