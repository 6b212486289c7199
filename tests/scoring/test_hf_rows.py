from __future__ import annotations

import math

import numpy as np
import pytest
import torch
import transformers
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from explorer.errors import ModelError
from explorer.records import PackedRow
from explorer.scoring.engine import heads, masks
from explorer.scoring.engine import rows as engine_rows
from explorer.scoring.engine import tree as engine_tree
from explorer.scoring.engine.device import row_length
from explorer.scoring.engine.packing import paths, prepare
from explorer.scoring.engine.rows import RowRunner

ARCHITECTURES = ("gpt_neox", "gpt2", "opt", "llama", "olmo", "olmo2", "gemma3_text")
SEQUENCES = st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=14), min_size=1, max_size=8)


@pytest.fixture(scope="module")
def runners(tiny_folders):
    made: dict[str, RowRunner] = {}

    def runner(architecture: str) -> RowRunner:
        if architecture not in made:
            model = transformers.AutoModelForCausalLM.from_pretrained(tiny_folders(architecture))
            made[architecture] = RowRunner(model.eval())
        return made[architecture]

    return runner


def sums(runner: RowRunner, sequences, row_tokens=32, token_budget=None):
    """Log-probabilities of each sequence after its first token, in the order asked."""
    packing = engine_tree.pack(sequences, [1] * len(sequences), row_tokens)
    found = runner.run(packing.rows, token_budget=token_budget)
    return [found[place.row].logprobs[place.slots] for place in packing.places]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_these_architectures_are_packed(runners, architecture):
    assert runners(architecture).mode == "packed"
    assert runners(architecture).config.model_type == architecture


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@given(
    sequences=SEQUENCES,
    row_tokens=st.sampled_from([1, 8, 40, 500]),
    token_budget=st.sampled_from([1, 30, 10_000]),
)
@hypothesis_settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_tries_score_as_their_sequences_do_alone(
    runners, naive, architecture, sequences, row_tokens, token_budget
):
    runner = runners(architecture)
    sequences = [[5 + 11 * word for word in sequence] for sequence in sequences]
    for sequence, found in zip(sequences, sums(runner, sequences, row_tokens, token_budget), strict=True):
        expected, _ = naive.score_ids(runner.model, sequence, 1)
        assert found == pytest.approx(expected, abs=1e-4)


SMALL = {
    "vocab_size": 300,
    "hidden_size": 32,
    "num_attention_heads": 4,
    "num_hidden_layers": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 128,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
SLIDING = {"sliding_window": 5, "num_key_value_heads": 2}
TURNS = {**SLIDING, "layer_types": ["sliding_attention", "full_attention"] * 2}
SPECIAL = {
    "cohere": {"logit_scale": 0.3},
    "gemma": {"head_dim": 8, "num_key_value_heads": 1},
    "gemma2": {**TURNS, "head_dim": 8},
    "gemma3_text": {**TURNS, "head_dim": 8},
    "gpt2": {"n_embd": 32, "n_head": 4, "n_layer": 2, "n_positions": 128},
    "granite": {"logits_scaling": 3.0},
    "mistral": SLIDING,
    "mixtral": {**SLIDING, "num_local_experts": 4},
    "olmo3": TURNS,
    "olmoe": {"num_experts": 4, "num_experts_per_tok": 2},
    "opt": {"ffn_dim": 48, "word_embed_proj_dim": 32},
    "phi3": SLIDING,
    "qwen2": {**TURNS, "use_sliding_window": True},
    "qwen3": {**TURNS, "use_sliding_window": True, "head_dim": 8},
    "smollm3": {**TURNS, "use_sliding_window": True},
    "stablelm": {"num_key_value_heads": 4},
    "starcoder2": SLIDING,
}


@pytest.mark.parametrize("kind", sorted(masks.MASKS))
def test_every_architecture_on_the_list_is_exact(naive, kind):
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(kind, **{**SMALL, **SPECIAL.get(kind, {})})
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight), alpha=0.15)
    runner = RowRunner(model)
    assert runner.mode == "packed"
    draw = np.random.default_rng(0)
    sequences = [[1, *[5] * (i % 12), *draw.integers(3, 9, 8).tolist()] for i in range(3, 13)]
    for sequence, found in zip(sequences, sums(runner, sequences, row_tokens=60), strict=True):
        expected, _ = naive.score_ids(model, sequence, 1)
        assert found == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("architecture", ["gemma3_text", "opt"])
def test_rows_of_full_length_and_padded_rows_agree(runners, naive, architecture):
    runner = runners(architecture)
    draw = np.random.default_rng(0)
    trunk = draw.integers(3, 400, 200).tolist()
    sequences = [trunk[:cut] + draw.integers(3, 400, 5).tolist() for cut in (0, 1, 60, 61, 150, 200, 200)]
    for sequence, found in zip(sequences, sums(runner, sequences, row_tokens=1000), strict=True):
        expected, _ = naive.score_ids(runner.model, sequence, 1)
        assert found == pytest.approx(expected, abs=1e-4)


def test_greedy_marks_the_argmax(runners, naive):
    runner = runners("gpt2")
    ids = [7]
    for _ in range(6):
        with torch.no_grad():
            ids.append(int(runner.model(torch.tensor([ids])).logits[0, -1].argmax()))
    (row,) = engine_tree.pack([[*ids, 9, 10]], [1]).rows
    (found,) = runner.run([row])
    assert found.greedy.tolist() == naive.score_ids(runner.model, [*ids, 9, 10], 1)[1]
    assert found.greedy[:6].all()


def test_a_token_that_nothing_stands_before_has_no_score(runners):
    (found,) = runners("llama").run([PackedRow((5, 6, 5), (-1, 0, -1), (0, 1, 0), (True, True, True))])
    assert np.isnan(found.logprobs).tolist() == [True, False, True]
    assert not found.greedy[0]


def test_a_row_with_nothing_to_score_is_answered(runners):
    first, second = runners("llama").run([PackedRow((5,), (-1,), (0,), (False,)), PackedRow((), (), (), ())])
    assert len(first.logprobs) == len(second.logprobs) == 0


def test_progress_ends_with_all_rows(runners):
    seen = []
    rows = engine_tree.pack([[word, 5, 6] for word in range(3, 33)], [1] * 30, row_tokens=6).rows
    runners("gpt2").run(rows, progress=lambda done, total: seen.append((done, total)), token_budget=12)
    assert seen[-1] == (len(rows), len(rows))
    assert seen == sorted(seen)
    assert len(seen) > 2


def test_rows_of_unlike_length_share_a_pass_where_their_padding_is_spare(runners, monkeypatch):
    runner = runners("gpt2")
    sequences = [[*range(3 + length, 3, -1)] for length in range(2, 26)]
    passes = []
    plain = runner._score
    monkeypatch.setattr(runner, "_score", lambda batch, moments: passes.append(len(batch)) or plain(batch, moments))
    alike = sums(runner, sequences, row_tokens=1)
    apart = len(passes)
    passes.clear()
    monkeypatch.setattr(runner, "spare_tokens", 60)
    together = sums(runner, sequences, row_tokens=1)
    assert len(passes) < apart and sum(passes) == len(engine_tree.pack(sequences, [1] * len(sequences), 1).rows)
    for one, other in zip(alike, together, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_rows_can_be_queued_before_those_ahead_of_them_are_taken(runners):
    runner = runners("gpt2")
    rows = [engine_tree.pack([[word, 5, 6, 7]], [1], 8).rows for word in (3, 4)]
    alone = [runner.run(each)[0].logprobs for each in rows]
    takes = [runner.begin(each) for each in rows]
    for take, expected in zip(takes, alone, strict=True):
        np.testing.assert_array_equal(take()[0].logprobs, expected)


class Cramped(transformers.GPT2LMHeadModel):
    """A GPT-2 on a device that holds a few rows at a time, and says so as torch does."""

    most, refused = 3, 0

    def __init__(self, config):
        super().__init__(config)
        self.transformer.register_forward_pre_hook(self._refuse, with_kwargs=True)

    def _refuse(self, module, args, kwargs):
        ids = args[0] if args else kwargs["input_ids"]
        if len(ids) > self.most:
            type(self).refused += 1
            raise RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory: 99 bytes")


def test_when_memory_runs_out_the_batch_is_halved_and_all_is_scored(tiny_folders, runners):
    sequences = [[3 + i, 5 + i, 9, 11] for i in range(40)]
    cramped = RowRunner(Cramped.from_pretrained(tiny_folders("gpt2")).eval())
    found = sums(cramped, sequences, row_tokens=3, token_budget=10_000)
    for one, other in zip(found, sums(runners("gpt2"), sequences, row_tokens=3), strict=True):
        assert one == pytest.approx(other, abs=1e-5)
    # 40 rows to 20, 10, 5, 2: what has run out once is not tried again.
    assert Cramped.refused == 4


def test_a_single_row_that_does_not_fit_is_a_plain_message(tiny_folders, monkeypatch):
    cramped = RowRunner(Cramped.from_pretrained(tiny_folders("gpt2")).eval())
    monkeypatch.setattr(Cramped, "most", 0)
    with pytest.raises(ModelError, match="Memory ran out on a single row of 2 tokens"):
        sums(cramped, [[5, 6, 7]])


def test_other_faults_of_a_model_are_not_taken_for_a_lack_of_memory(runners):
    with pytest.raises(IndexError):
        runners("gpt2").run([PackedRow((5, 10_000, 6), (-1, 0, 1), (0, 1, 2), (False, True, True))])


def plain_models():
    small = {"vocab_size": 300, "hidden_size": 32}
    yield transformers.BloomForCausalLM(transformers.BloomConfig(**small, n_head=4, n_layer=2)), "padded"
    yield transformers.MambaForCausalLM(transformers.MambaConfig(**small, num_hidden_layers=2, state_size=4)), "padded"
    scaled = {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 10_000.0}
    llama = transformers.LlamaConfig(
        **small,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=8,
        rope_parameters=scaled,
    )
    yield transformers.LlamaForCausalLM(llama), "one at a time"


def test_models_that_cannot_be_packed_are_scored_in_plain_batches(naive):
    # Biases by distance, state spaces, and rotary embeddings that change with the longest row.
    draw = np.random.default_rng(1)
    sequences = [[7, 8, *draw.integers(3, 300, draw.integers(1, 14)).tolist()] for _ in range(12)]
    torch.manual_seed(0)
    for model, mode in plain_models():
        runner = RowRunner(model.eval())
        assert runner.mode == mode
        for sequence, found in zip(sequences, sums(runner, sequences), strict=True):
            expected, _ = naive.score_ids(model, sequence, 1)
            assert found == pytest.approx(expected, abs=1e-4), type(model)


def test_a_model_whose_packed_numbers_are_wrong_is_found_out(tiny_folders):
    class Forgetful(transformers.LlamaForCausalLM):
        """Looks at its own mask only."""

        def __init__(self, config):
            super().__init__(config)
            self.model.register_forward_pre_hook(
                lambda module, args, kwargs: (args, {**kwargs, "attention_mask": None}), with_kwargs=True
            )

    assert RowRunner(Forgetful.from_pretrained(tiny_folders("llama")).eval()).mode == "padded"


@given(sequences=SEQUENCES)
@hypothesis_settings(deadline=None)
def test_a_row_taken_apart_scores_each_token_once(sequences):
    (row,) = engine_tree.pack(sequences, [1] * len(sequences), row_tokens=10_000).rows
    work = prepare(row)
    parts = paths(work)
    assert sorted(slot for part in parts for slot in part.slots) == sorted(work.slots)
    for part in parts:
        for head, target, slot in zip(part.heads[part.target_heads], part.targets, part.slots, strict=True):
            node = np.flatnonzero(row.scored)[slot]
            assert row.ids[node] == target
            assert len(part.ids[: head + 1]) == row.positions[node]


def test_on_a_gpu_rows_have_lengths_that_kernels_like_within_the_window():
    cuda, cpu = torch.device("cuda"), torch.device("cpu")
    lengths = (1, 32, 33, 34, 65, 505, 512, 513, 1011)
    assert [row_length(length, cuda) for length in lengths] == [2, 32, 34, 34, 72, 512, 512, 576, 1024]
    assert [row_length(length, cuda, 1000) for length in (505, 990, 999)] == [512, 990, 999]
    assert [row_length(length, cpu) for length in lengths] == list(lengths)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_longer_padding_changes_no_number(runners, architecture, monkeypatch):
    runner = runners(architecture)
    sequences = [[5, 16, 27, 38], [5, 16, 49], [60, 71, 82, 93, 104]]
    usual = sums(runner, sequences)
    monkeypatch.setattr(engine_rows, "row_length", lambda length, device, window=None: length + 3)
    for one, other in zip(usual, sums(runner, sequences), strict=True):
        np.testing.assert_allclose(other, one, atol=1e-5)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_model_whose_heads_share_their_keys_scores_rows_of_all_lengths_as_eager_attention_does(embedded_cache, dtype):
    from explorer import settings
    from explorer.scoring import hf

    model = hf.load("gemma-3-270m", settings.read(cache=embedded_cache), device="cuda", dtype=str(dtype)[6:]).runner
    near = 0.01 if dtype == torch.float32 else 1.5
    for length in (*range(60, 70), *range(252, 262)):
        sequences = [[2, *(9 + 37 * place * row % 30_000 for place in range(1, length))] for row in range(1, 9)]
        model.model.set_attn_implementation("sdpa")
        found = sums(model, sequences, 1)
        model.model.set_attn_implementation("eager")
        for one, other in zip(found, sums(model, sequences, 1), strict=True):
            np.testing.assert_allclose(one, other, atol=near)


@pytest.mark.parametrize("architecture", ("gpt_neox", "llama", "gemma3_text"))
def test_mean_and_deviation_over_the_vocabulary_are_those_of_a_whole_forward_pass(runners, architecture, monkeypatch):
    """Tile by tile they are what one softmax over all words gives, however far the logits are apart."""
    monkeypatch.setitem(heads.TILE, "cpu", 97)  # several tiles, the last one short
    runner = runners(architecture)
    ids = (3, 40, 7, 99, 12, 5, 61)
    (row,) = runner.run([PackedRow(ids, (-1, *range(6)), tuple(range(7)), (False, *[True] * 6))], moments=True)
    with torch.inference_mode():
        logits = runner.model(torch.tensor([ids])).logits[0, :-1].double()
    logprobs = logits.log_softmax(-1)
    mean = (logprobs.exp() * logprobs).sum(-1)
    deviation = ((logprobs.exp() * (logprobs - mean[:, None]) ** 2).sum(-1)).sqrt()
    np.testing.assert_allclose(row.means, mean.numpy(), atol=2e-4)
    np.testing.assert_allclose(row.deviations, deviation.numpy(), atol=2e-4)
    plain = runner.run([PackedRow(ids, (-1, *range(6)), tuple(range(7)), (False, *[True] * 6))])[0]
    np.testing.assert_array_equal(plain.logprobs, row.logprobs)
    assert plain.means is None


def test_moments_hold_for_logits_that_are_hundreds_apart():
    logits = torch.tensor([[-400.0, 0.0, 350.0, 349.0, 10.0]])
    mean, deviation = heads.moments_of(logits.log_softmax(-1))
    chance = math.exp(-1) / (1 + math.exp(-1))  # of the second of two words that alone have any
    first, second = math.log(1 - chance), math.log(chance)
    expected = (1 - chance) * first + chance * second
    assert mean.item() == pytest.approx(expected, abs=1e-5)
    assert deviation.item() == pytest.approx(math.sqrt((1 - chance) * chance) * (first - second), abs=1e-4)
