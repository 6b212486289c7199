import math

import pytest

from explorer.errors import UsageError
from explorer.records import Generation, Score
from explorer.variants import tools
from explorer.variants.senses import METHODS, Occurrence, best_sense
from explorer.variants.senses_chat import ChatSense
from explorer.variants.senses_lm import ChoiceSense, PmiSense, choice_prompt


class WordScorer:
    """log P of a continuation: the number of its words that the context has, less its length in words."""

    name = "words"

    def __init__(self):
        self.calls = 0

    def score(self, requests, policy=None, progress=None):
        self.calls += 1
        return [self._score(request) for request in requests]

    def _score(self, request):
        words = request.continuation.split()
        value = float(sum(word in request.context for word in words) - len(words))
        return Score(request, ("x",), (0,), (value,), 1, 1, False, False)


class Answers:
    name = "answers"

    def __init__(self, *texts):
        self.texts = texts
        self.asked = []

    def generate(self, requests, *, max_new_tokens, temperature=0.0, seed=0, stop=(), progress=None):
        self.asked = list(requests)
        return [Generation(request, text) for request, text in zip(requests, self.texts, strict=True)]


@pytest.fixture
def occurrence(lexicon):
    text = "They take him into custody: arrested."
    return Occurrence(text, 28, 36, "arrest", "v", lexicon.senses("arrest", "v"))


def test_pmi_subtracts_what_a_definition_gets_anywhere(occurrence):
    scorer = WordScorer()
    (scores,) = PmiSense(scorer).score([occurrence])
    # "take into custody": 3 words of the sentence against none without it; "cause to stop": "to" is in "custody"
    assert scores == (3.0, 1.0)
    assert scorer.calls == 2  # all definitions of all words at once, with the sentence and without
    assert best_sense(scores) == 0


def test_the_multiple_choice_prompt_numbers_the_definitions(occurrence):
    prompt = choice_prompt(occurrence)
    assert 'Given the word "arrested" in the input sentence' in prompt
    assert "\n1) take into custody\n2) cause to stop\n" in prompt
    assert prompt.endswith(f'Input: "{occurrence.sentence}"')
    (scores,) = ChoiceSense(WordScorer()).score([occurrence])
    assert len(scores) == 2


@pytest.mark.parametrize(("text", "scores"), [("2", (0.0, 1.0)), (" 1) ", (1.0, 0.0)), ("2.\n", (0.0, 1.0))])
def test_a_number_is_an_answer(occurrence, text, scores):
    chat = Answers(text)
    assert ChatSense(chat).score([occurrence]) == [scores]
    assert chat.asked[0].conversation == (("user", choice_prompt(occurrence)),)


@pytest.mark.parametrize("text", ["", "3", "0", "1 or 2", "the first", "option 1"])
def test_anything_else_is_no_answer(occurrence, text):
    (scores,) = ChatSense(Answers(text)).score([occurrence])
    assert all(math.isnan(score) for score in scores) and best_sense(scores) == 0


def test_every_method_can_be_built(lexicon, tagger, settings):
    class Resources:
        def lexicon(self):
            return lexicon

        def tagger(self):
            return tagger

        def encoder(self, name="stand-in"):
            return type("Encoder", (), {"name": "stand-in", "encode": None})()

        def scorer(self, name):
            return WordScorer()

        def generator(self, name):
            return Answers()

    Resources.settings = settings
    for method in METHODS:
        assert tools.build_tools(Resources(), method, model="some").senses.name == method
    assert tools.build_tools(Resources()).senses.name == tools.DEFAULT
    with pytest.raises(UsageError, match="--model"):
        tools.build_tools(Resources(), "lm")
    with pytest.raises(UsageError, match="no sense method 'best'"):
        tools.build_tools(Resources(), "best")
