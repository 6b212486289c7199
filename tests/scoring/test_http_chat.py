"""Answers in a conversation scored by a server: its numbers are those of the model itself, by the same template."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer import prompts_chat
from explorer.errors import ScoringError
from explorer.records import Request
from explorer.resources import Resources
from explorer.runs.response_cache import CachedAnswers
from explorer.scoring import hf, http_report
from explorer.scoring.http import Endpoint
from explorer.scoring.policy import PRESETS
from explorer.scoring.score import ModelScorer
from explorer.studies.accuracy import study as accuracy_study
from tests.endpoint_servers import Call, Reply, Server, chat, completion, scoring

TEMPLATE = (
    "{% for m in messages %}[{{ m.role }}] {{ m.content }}{% if not loop.last %}<|endoftext|>{% endif %}{% endfor %}"
)
GLUED = "{% for m in messages %}{{ m.content }}{% if not loop.last %} cat{% endif %}{% endfor %}"
POLICY = PRESETS["natural"].as_chat("Be brief.")
ASKED = [
    Request("a", 0, "What did the cats do?", " They slept near the stove."),
    Request("a", 1, "What did the cats do?", " Nobody has ever seen it."),
    Request("b", 0, "", "She said that the lid was here."),
    Request("c", 0, "The cats that", " sleep", "region"),
    Request("d", 0, "Which ones?", " s that sleep near the stove."),
]


@pytest.fixture(scope="module")
def talkers(tiny_gpt2: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[Path, Server]]]:
    """Tiny models with a chat template, each by itself and behind a server that answers as vLLM does."""
    made = {}
    for name, template in (("plain", TEMPLATE), ("glued", GLUED)):
        folder = Path(shutil.copytree(tiny_gpt2, tmp_path_factory.mktemp("talkers") / name))
        (folder / "chat_template.jinja").write_text(template)
        made[name] = folder, Server(scoring(folder))
    yield made
    for _, server in made.values():
        server.close()


# "glued": the template ends in letters that a tokenizer may join with the answer's first ones.
@pytest.mark.parametrize("template", ["plain", "glued"])
def test_answers_scored_over_http_are_the_models_own(talkers, settings, template):
    folder, server = talkers[template]
    asked = prompts_chat.all_as_chat(ASKED, "Be brief.")
    local = ModelScorer(hf.load(str(folder), settings, dtype="float32")).score(asked, POLICY)
    remote = Endpoint(server.url, "m", settings).score(asked, POLICY)
    for mine, theirs in zip(local, remote, strict=True):
        assert not theirs.reason and theirs.logprobs == pytest.approx(mine.logprobs, abs=1e-4)
        assert (theirs.token_ids, theirs.straddles, theirs.greedy) == (mine.token_ids, mine.straddles, mine.greedy)
        # vLLM does not tell the very first token.
        assert mine.request.context.endswith(theirs.request.context) and len(theirs.request.context) > 5
        assert theirs.request.continuation == mine.request.continuation
    body = server.calls[-1].body
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert body["continue_final_message"] is True and body["add_generation_prompt"] is False
    if template == "glued":
        assert any(score.straddles for score in local)


def test_kept_scores_of_answers_are_not_asked_for_again_and_say_what_was_read(talkers, settings, tmp_path):
    _, server = talkers["plain"]
    asked = prompts_chat.all_as_chat(ASKED)
    first = CachedAnswers(Endpoint(server.url, "m", settings), tmp_path).score(asked, POLICY)
    calls = len(server.calls)
    again = CachedAnswers(Endpoint(server.url, "m", settings), tmp_path).score(asked, POLICY)
    assert again == first and len(server.calls) == calls
    assert all(
        "<|endoftext|>[assistant] " in score.request.context and score.request.conversation is None for score in again
    )


def test_a_plain_policys_key_is_that_of_before_there_were_chats():
    assert PRESETS["natural"].key == ("natural", "auto", "spaces", "offsets", "sum", "half")
    assert POLICY.key[-3:] == (True, "Be brief.", "plain")


def without_prompts(call: Call, number: int) -> Reply:
    return Reply(body=chat("fine") if "messages" in call.body else completion(" fine"))


def unlike(call: Call, number: int) -> Reply:
    told = [None, {"5": {"logprob": -1.0, "rank": 1, "decoded_token": "something else"}}]
    return Reply(body={**chat("fine"), "prompt_logprobs": told})


def test_a_server_without_log_probabilities_of_a_conversation_says_so_in_a_sentence(settings):
    server = Server(without_prompts)
    with pytest.raises(ScoringError) as refusal:
        Endpoint(server.url, "m", settings).score(prompts_chat.all_as_chat(ASKED), POLICY)
    assert str(refusal.value) == (
        f"{server.url} returned no log-probabilities of a conversation, expected them after prompt_logprobs. Leave "
        "chat out, score with a server that has them (vLLM), or with the model itself."
    )
    server.close()


def test_a_server_that_goes_on_behind_the_answer_gives_no_score(settings):
    server = Server(unlike)
    (score,) = Endpoint(server.url, "m", settings).score(prompts_chat.all_as_chat(ASKED[:1]), POLICY)
    assert score.reason == "the server's tokens do not end with the answer"
    server.close()


def test_the_connection_test_says_in_which_ways_a_server_scores(talkers, settings, tiny_gpt2):
    _, server = talkers["plain"]
    found = http_report.report(Endpoint(server.url, "m", settings))
    assert found.ways == ("by echo", "by prompt_logprobs") and found.why_no_chat == ""
    bare = Server(without_prompts)
    lacking = http_report.report(Endpoint(bare.url, "m", settings))
    assert lacking.ways == () and "no log-probabilities of a conversation" in lacking.why_no_chat
    bare.close()
    untalkative = Server(scoring(tiny_gpt2))
    no_template = http_report.report(Endpoint(untalkative.url, "m", settings))
    assert no_template.ways == found.ways and "no chat template" in no_template.why_no_chat
    untalkative.close()


def test_a_run_as_a_chat_behind_an_endpoint(talkers, settings):
    from explorer.runs.folder import RunFolder
    from explorer.runs.request import make_spec
    from explorer.runs.worker import work

    folder, server = talkers["plain"]
    resources = Resources(settings)
    made = []
    for model in (f"{server.url}#m", str(folder)):
        spec = make_spec(
            resources, study="accuracy", model=model, benchmark="starter_pairs", limit=4, settings={"chat": "always"}
        )
        assert accuracy_study.policy_of(spec).chat
        run = RunFolder.create(settings.runs, spec)
        assert work(run, resources, print, wait=False) == "complete", run.progress().message
        made.append(run.read("scores"))
    assert made[0]["logprob"].tolist() == pytest.approx(made[1]["logprob"].tolist(), abs=1e-3)
    assert all(mine.endswith(theirs) for theirs, mine in zip(made[0]["context"], made[1]["context"], strict=True))
