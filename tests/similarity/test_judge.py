import math

import pytest

from explorer.records import Generation
from explorer.similarity import judge


class Parrot:
    """Answers in turn what it was given, and keeps what it was asked."""

    name = "parrot"

    def __init__(self, *answers):
        self.answers = answers
        self.asked = []

    def generate(self, requests, *, max_new_tokens, temperature=0.0, seed=0, stop=(), progress=None):
        self.asked += requests
        return [Generation(request, text) for request, text in zip(requests, self.answers, strict=True)]


def test_the_judge_is_asked_the_papers_question():
    parrot = Parrot("same")
    (verdict,) = judge.judge_pairs([("The woman was arrested.", "The woman was collared.")], parrot)
    assert verdict == judge.Verdict("same", "same")
    (system, instruction), (user, question) = parrot.asked[0].conversation
    assert (system, user) == ("system", "user")
    assert instruction.startswith("You are a strict semantic evaluator.")
    assert 'Sentence A: "The woman was arrested." Sentence B: "The woman was collared."' in question
    assert parrot.asked[0].context.startswith(instruction)


def test_braces_in_a_sentence_are_text():
    (request,) = judge.judge_requests([("a {first} b", "{}")])
    assert 'Sentence A: "a {first} b" Sentence B: "{}"' in request.conversation[1][1]


@pytest.mark.parametrize("raw", ["same", " Same.\n", "SAME"])
def test_one_word_is_parsed(raw):
    assert judge.parse_verdict(raw) == "same"


@pytest.mark.parametrize(
    "raw", ["", "same or different", "They are the same", "not different", "same!", "same..", "yes"]
)
def test_anything_else_is_unparsed(raw):
    assert judge.parse_verdict(raw) == "unparsed"


def test_unparsed_answers_are_never_counted_as_same():
    verdicts = judge.judge_pairs([("a", "b")] * 4, Parrot("same", "different", "same?", "same"))
    assert judge.share_same(verdicts) == (2 / 3, 3, 1)
    share, parsed, unparsed = judge.share_same([judge.Verdict("unparsed", "")])
    assert math.isnan(share) and (parsed, unparsed) == (0, 1)


def test_the_sample_is_seeded_and_knows_no_order():
    items = [(group, f"{group}{i}") for group in "ab" for i in range(80)]
    draw = dict(key=lambda item: item[1], group=lambda item: item[0])
    first = judge.sample_by_group(items, seed=1, **draw)
    assert len(first) == 100 and first == [item for item in items if item in first]
    assert set(judge.sample_by_group(items[::-1], seed=1, **draw)) == set(first)
    assert set(judge.sample_by_group(items, seed=2, **draw)) != set(first)
    assert len(judge.sample_by_group(items[:10], size=50, **draw)) == 10
