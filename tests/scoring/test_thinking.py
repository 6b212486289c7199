"""Thoughts of reasoning models: told apart from the answer, counted, and never judged."""

from __future__ import annotations

import dataclasses

import pytest

from explorer.records import Generation, Request
from explorer.runs.response_cache import CachedAnswers
from explorer.scoring import hf, http, thinking
from explorer.scoring.engine.contract import Answer, StopRules
from explorer.scoring.generate import ModelGenerator
from tests.endpoint_servers import Reply, Server, chat, completion

ASKED = Request("i", 0, "Which ID?", conversation=(("user", "Which ID?"),))


def written(text, finish="stop", **more):
    return Generation(ASKED, text, (1,) * 7, finish, **more)


@pytest.mark.parametrize("begin, end", thinking.MARKS)
def test_an_answer_stands_behind_its_thought(begin, end):
    made = thinking.split_thought(written(f"{begin}It may be\nGO:0000001.{end}\n\nGO:0005623"))
    assert (made.text, made.reason) == ("GO:0005623", "")
    assert made.thought == f"{begin}It may be\nGO:0000001.{end}"


@pytest.mark.parametrize("text", ["GO:0005623", "", "  plain\n", "a < b and b > c", "I said <think> in the middle"])
def test_an_answer_without_a_thought_stays_as_it_is(text):
    made = written(text)
    assert thinking.split_thought(made) is made


def test_a_thought_that_the_prompt_began_ends_at_its_mark():
    assert thinking.prompt_opens_thought("<|assistant|>\n<think>\n") and not thinking.prompt_opens_thought(
        "<think>\n</think>\n"
    )
    assert thinking.split_thought(written("hm</think>yes"), opened=True).text == "yes"
    assert (
        thinking.split_thought(written("hm</think>yes")).text == "yes"
    )  # also where the prompt is not known, as a server's
    assert thinking.split_thought(written("hm, yes", "length"), opened=True).reason


def test_an_answer_that_is_all_thought_has_a_reason_and_no_text():
    cut = thinking.split_thought(written("<think>It may be GO:0000001, or", "length"))
    assert (cut.text, cut.thought) == ("", "<think>It may be GO:0000001, or")
    assert cut.reason == (
        "the answer was cut off while the model still thought, after 7 tokens; let an answer have more tokens, or take "
        "a model that does not think first"
    )
    assert thinking.split_thought(written("<think>x</think>", "length")).reason == cut.reason
    ended = thinking.split_thought(written("<think>It may be"))
    assert ended.reason == "the model ended in the middle of its thought and gave no answer"
    nothing = thinking.split_thought(written("<think>x</think>"))
    assert (nothing.text, nothing.reason) == ("", "")  # it thought, and then said nothing


def test_no_rule_that_ends_answers_looks_into_a_thought():
    pieces = {
        5: "<think>STOP\n\n",
        6: "x\n</think>",
        7: "\nyes",
        8: "\n",
        9: "<think>STOP</think>yes STOP no",
    }
    rules = StopRules(
        frozenset(),
        ("STOP",),
        lambda said: "\n" in said.lstrip(),
        lambda ids: "".join(map(pieces.__getitem__, ids)),
        thinking.where_answer_begins,
    )
    answer = Answer((1,), 100, rules)
    assert [answer.add(token) for token in (5, 6, 7, 8)] == [False, False, False, True]
    assert (answer.finish, answer.text) == ("stop", "<think>STOP\n\nx\n</think>\nyes\n")
    again = Answer((1,), 100, rules)
    assert again.add(9) and again.text == "<think>STOP</think>yes "


def test_a_model_on_this_machine_whose_template_begins_a_thought(settings, tiny_gpt2):
    model = hf.load(str(tiny_gpt2), settings, device="cpu")
    model.tokenizer.chat_template = "{% for m in messages %}{{ m.content }}{% endfor %}{{ '<think>\n' }}"
    plain = dataclasses.replace(ASKED, context="Which ID?<think>\n", conversation=None)
    generator = ModelGenerator(model)
    thinking, same = generator.generate([ASKED, plain], max_new_tokens=6)
    assert thinking.token_ids == same.token_ids and len(thinking.token_ids) == 6
    assert (thinking.text, thinking.finish) == ("", "length") and "after 6 tokens" in thinking.reason
    assert thinking.thought == same.thought != ""


SERVED = {
    "in the text": chat("<think>Hm.</think>\n\nGO:0005623"),
    "as reasoning_content": chat("GO:0005623", message={"content": "GO:0005623", "reasoning_content": "Hm."}),
    "as reasoning": chat("GO:0005623", message={"content": "\nGO:0005623", "reasoning": "Hm."}),
}


@pytest.mark.parametrize("how", SERVED)
def test_a_servers_thoughts_are_left_out_and_kept_apart(settings, how):
    server = Server(lambda call, number: Reply(body=SERVED[how]))
    (answer,) = http.Endpoint(server.url, "m", settings).generate([ASKED], max_new_tokens=50)
    server.close()
    assert (answer.text, answer.reason) == ("GO:0005623", "") and "Hm." in answer.thought


def test_a_server_that_was_cut_off_thinking_is_paid_for_once(settings, tmp_path):
    body = chat(None, message={"content": None, "reasoning_content": "Let me see"}, finish_reason="length")
    server = Server(lambda call, number: Reply(body=body))
    (tmp_path / "answers.jsonl").write_text("")
    for _ in range(2):
        answers = CachedAnswers(http.Endpoint(server.url, "m", settings), tmp_path)
        (answer,) = answers.generate([ASKED], max_new_tokens=3)
        assert (answer.text, answer.thought) == ("", "Let me see") and "still thought, after 3 tokens" in answer.reason
    assert len(server.calls) == 1
    server.close()


def test_answers_kept_before_thoughts_were_told_apart_are_still_known(settings, tmp_path):
    server = Server(lambda call, number: Reply(body=chat("yes")))
    kept = CachedAnswers(http.Endpoint(server.url, "m", settings), tmp_path)
    kept.generate([ASKED], max_new_tokens=3)
    line = (tmp_path / "answers.jsonl").read_text()
    assert line.count(",") == 5 and '"yes", "stop", [-1, -1, -1]]' in line  # as ever: text, finish, tokens
    (again,) = CachedAnswers(http.Endpoint(server.url, "m", settings), tmp_path).generate([ASKED], max_new_tokens=3)
    assert (again.text, again.thought, again.reason) == ("yes", "", "") and len(server.calls) == 1
    server.close()


def test_a_plain_completion_that_goes_on_with_a_thought(settings):
    server = Server(lambda call, number: Reply(body=completion("so it is.</think> yes", finish_reason="stop")))
    asked = dataclasses.replace(ASKED, conversation=None, context="Say yes or no.<think>")
    (answer,) = http.Endpoint(server.url, "m", settings).generate([asked], max_new_tokens=9)
    server.close()
    assert (answer.text, answer.thought) == ("yes", "so it is.</think>")
