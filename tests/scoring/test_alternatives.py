"""The likeliest tokens at a place are those of the model's own forward pass, one request at a time."""

from __future__ import annotations

import pytest
import torch

from explorer import settings as settings_module
from explorer.errors import ScoringError
from explorer.records import Request
from explorer.scoring import hf
from explorer.scoring.alternatives import likeliest
from explorer.scoring.score import score

ARCHITECTURES = ("gpt_neox", "gpt2", "opt", "llama", "gemma3_text")
CONTEXT, TEXT = "The keys to the old", " cabinet are on the table."


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("context", ["", CONTEXT])
def test_alternatives_are_those_of_a_plain_forward_pass(tiny_folders, tmp_path, naive, architecture, context):
    model = hf.load(str(tiny_folders(architecture)), settings_module.read(cache=tmp_path), device="cpu")
    request = Request("i", 0, context, TEXT if context else (CONTEXT + TEXT))
    ids, start = naive.encode(model.tokenizer, request.context, request.continuation)
    for place in (0, 3):
        with torch.no_grad():
            expected = model.model(torch.tensor([ids[: start + place]])).logits[0, -1].float().log_softmax(-1).topk(10)
        found = likeliest(model, request, place)
        assert [one.logprob for one in found] == pytest.approx(expected.values.tolist(), abs=1e-4)
        assert [one.logprob for one in found] == sorted((one.logprob for one in found), reverse=True)
        assert [one.text for one in found] == list(model.decode(expected.indices.tolist())) or architecture != "gpt2"


def test_all_tokens_together_have_a_probability_of_one_and_the_token_that_stands_there_its_score(
    tiny_folders, tmp_path
):
    model = hf.load(str(tiny_folders("gpt2")), settings_module.read(cache=tmp_path), device="cpu")
    request = Request("i", 0, CONTEXT, TEXT)
    (scored,) = score(model, [request])
    for place, logprob in enumerate(scored.logprobs):
        everything = likeliest(model, request, place, count=10**6)
        assert sum(one.probability for one in everything) == pytest.approx(1.0, abs=1e-4)
        (standing,) = (one for one in everything if one.stands)
        assert (standing.text, standing.logprob) == (scored.tokens[place], pytest.approx(logprob, abs=1e-4))


def test_a_place_that_the_text_does_not_have_is_told(tiny_folders, tmp_path):
    model = hf.load(str(tiny_folders("gpt2")), settings_module.read(cache=tmp_path), device="cpu")
    with pytest.raises(ScoringError, match="there is no token number 100"):
        likeliest(model, Request("i", 0, CONTEXT, TEXT), 99)
