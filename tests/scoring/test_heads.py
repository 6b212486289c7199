"""The output layer a tile at a time: the numbers of one softmax over all words, on a processor and as on a card."""

from __future__ import annotations

import types

import numpy as np
import pytest
import torch

from explorer.scoring.engine import heads
from explorer.scoring.engine.heads import Head

pytestmark = pytest.mark.usefixtures("without_gradients")
WORDS, WIDTH, HEADS = 5_000, 16, 600  # more than two tiles, and two blocks of rows


@pytest.fixture
def without_gradients():
    with torch.inference_mode():
        yield


def head(*, bias: bool = False, softcap: float | None = None, dtype: torch.dtype = torch.float32) -> Head:
    generator = torch.Generator().manual_seed(1)
    output = torch.nn.Linear(WIDTH, WORDS, bias=bias, dtype=dtype)
    with torch.no_grad():
        output.weight.copy_(torch.randn(WORDS, WIDTH, generator=generator))
        if bias:
            output.bias.copy_(torch.randn(WORDS, generator=generator))
    model = types.SimpleNamespace(get_output_embeddings=lambda: output)
    return Head(model, types.SimpleNamespace(final_logit_softcapping=softcap))


def asked(dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, np.ndarray, np.ndarray]:
    """Hidden states, and two targets at each: one drawn, and one that is the likeliest word of many."""
    generator = torch.Generator().manual_seed(2)
    hidden = torch.randn(HEADS, WIDTH, generator=generator, dtype=torch.float32).to(dtype)
    at = np.repeat(np.arange(HEADS), 2)
    targets = np.random.default_rng(3).integers(0, WORDS, 2 * HEADS)
    return hidden, at, targets


@pytest.mark.parametrize("named", [{}, {"bias": True}, {"softcap": 3.0}, {"dtype": torch.bfloat16}])
def test_a_tile_at_a_time_gives_the_softmax_over_all_words(named):
    scored, (hidden, at, targets) = head(**named), asked(named.get("dtype", torch.float32))
    every = scored.logits(hidden, 0, WORDS)
    targets[::2] = every.argmax(1)[at[::2]]
    logprobs, greedy = scored.score(hidden, at, targets)
    expected = every.double().log_softmax(-1)[at, targets]
    assert torch.allclose(logprobs.double(), expected, rtol=0, atol=1e-5 if "dtype" not in named else 0.1)
    right = (every.argmax(1)[at] == torch.from_numpy(targets)).numpy()
    assert (greedy.numpy() == right).mean() > (0.999 if "dtype" not in named else 0.97)
    assert greedy.numpy()[::2].mean() > 0.9


def test_both_ways_to_go_through_the_tiles_agree():
    scored, (hidden, at, targets) = head(bias=True), asked()
    targets[::2] = scored.logits(hidden, 0, WORDS).argmax(1)[at[::2]]
    given = hidden, torch.from_numpy(at), torch.from_numpy(targets)
    ours, theirs = scored._score_on_cpu(*given), scored._score(*given)
    assert torch.allclose(ours[0], theirs[0], rtol=0, atol=1e-5)
    assert torch.equal(ours[1], theirs[1])


def test_of_equal_logits_the_first_word_is_the_likeliest():
    scored, tile = head(), heads.TILE["cpu"]
    equal = [7, 9, tile + 5, 2 * tile + 1]  # twice in one tile, once in each of the others
    with torch.no_grad():
        scored.weight.fill_(0.0)
        scored.weight[equal] = 1.0
    hidden, at = torch.ones(1, WIDTH), np.zeros(len(equal), dtype=np.int64)
    for way in (scored._score_on_cpu, scored._score):
        _, greedy = way(hidden, torch.from_numpy(at), torch.tensor(equal))
        assert greedy.tolist() == [True, False, False, False]


def test_words_that_can_never_come_leave_the_others_their_probability():
    scored, (hidden, at, targets) = head(bias=True), asked()
    with torch.no_grad():
        scored.bias[: heads.TILE["cpu"]] = -torch.inf  # a whole tile
    targets %= heads.TILE["cpu"]
    targets += heads.TILE["cpu"]
    logprobs, _ = scored.score(hidden, at, targets)
    expected = scored.logits(hidden, 0, WORDS).double().log_softmax(-1)[at, targets]
    assert torch.allclose(logprobs.double(), expected, rtol=0, atol=1e-5)


def test_a_hidden_state_that_is_no_number_gives_none():
    scored, (hidden, at, targets) = head(), asked()
    hidden[3] = torch.nan
    logprobs, greedy = scored.score(hidden, at, targets)
    assert torch.isnan(logprobs).nonzero()[:, 0].tolist() == [6, 7]
    assert not greedy[6:8].any()
