"""One model over several cards: every number is where it is needed, and scores are those of one card.

There is one processor and no second device to compute on: what goes where is tested with tensors that only remember
their card (made_up_cards.py), and accelerate's part with a model whose layers it brings from the disk.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from explorer.errors import ModelError, UsageError
from explorer.runs.compute_target import ComputeTarget, checked_target, read_target, save_target
from explorer.scoring import hf, hf_source
from explorer.scoring.engine import decoder as decoders
from explorer.scoring.engine import device, families, tree
from explorer.scoring.engine.rows import RowRunner
from explorer.scoring.generate import ModelGenerator
from tests.scoring.made_up_cards import MadeUpCards
from tests.scoring.test_hf_direct import CONFIGS, SMALL

CARDS = [torch.device("cuda", number) for number in range(3)]
MADE_UP = [torch.device("mps", number) for number in range(3)]  # nothing is queued or pinned for these
TREE = [[5, 16, 27, 38, 49], [5, 16, 27, 60], [5, 16, 71, 82, 93], [8, 9]]


@pytest.mark.parametrize("name", CONFIGS)
def test_each_layer_computes_on_its_own_card_what_it_does_on_one(name):
    make, more = CONFIGS[name]
    config = make(**{**SMALL, "num_hidden_layers": 7, **{key: more[key] for key in more if key != "layer_types"}})
    config.architectures = [families.HEADS[config.model_type]]
    shape = families.read_shape(json.loads(config.to_json_string()))
    chance = torch.Generator().manual_seed(0)
    sizes = families.CausalModel(shape).shapes_of_weights()
    weights = {place: 0.1 * torch.randn(size, generator=chance) for place, size in sizes.items()}
    packing = tree.pack(TREE, [1] * len(TREE), 32)

    def score(devices) -> tuple[RowRunner, list[np.ndarray]]:
        model = families.CausalModel(shape)
        places = {place: families.device_of(place, shape.num_hidden_layers, devices) for place in weights}
        model.put({place: weights[place].to(places[place]) for place in weights})
        runner = RowRunner(model.eval())
        return runner, [row.logprobs for row in runner.run(packing.rows, moments=True)]

    _, alone = score([torch.device("cpu")])
    with MadeUpCards() as cards:
        runner, spread = score(MADE_UP)
        assert runner.likeliest([5, 16, 27], 2)
    assert runner.cards == 3 and runner.device == MADE_UP[0] and runner.mode == "packed" and cards.moves
    assert [each.index for each in runner.model.base_model.devices] == [0, 0, 0, 1, 1, 2, 2]
    for mine, expected in zip(spread, alone, strict=True):
        np.testing.assert_allclose(mine, expected, atol=1e-5)


@pytest.fixture
def spread(tiny_gpt2, settings, monkeypatch, tmp_path):
    """A model of which accelerate keeps half on the disk, as it would on a second card."""
    source = hf_source.find(str(tiny_gpt2), settings)
    alone = hf.load(str(tiny_gpt2), settings, device="cpu", dtype="float32", source=source)
    blocks = len(alone.model.transformer.h)
    layout = {
        "transformer.wte": "cpu", "transformer.wpe": "cpu", "transformer.ln_f": "cpu", "lm_head": "cpu",
        **{f"transformer.h.{n}": "cpu" if n < blocks / 2 else "disk" for n in range(blocks)},
    }  # fmt: skip
    plain = hf.transformers.AutoModelForCausalLM.from_pretrained
    monkeypatch.setattr(
        hf.transformers.AutoModelForCausalLM,
        "from_pretrained",
        lambda *given, **named: plain(*given, **{**named, "offload_folder": str(tmp_path / "disk")}),
    )
    monkeypatch.setattr(hf, "spread_over", lambda device, *, shard: [device, device])
    monkeypatch.setattr(hf, "_device_map", lambda devices: layout)
    return alone, hf.load(str(tiny_gpt2), settings, device="cpu", dtype="float32", source=source)


def test_a_spread_model_packs_rows_and_scores_as_on_one_card(spread):
    from tests.scoring.test_model_cards import ROWS

    alone, model = spread
    assert model.record()["cards"] == 2 and "cards" not in alone.record()
    assert model.record()["batches"] == alone.record()["batches"] == "packed"
    for mine, expected in zip(model.logprobs(ROWS), alone.logprobs(ROWS), strict=True):
        np.testing.assert_allclose(mine.logprobs, expected.logprobs, atol=1e-5)
    for (token, logprob), (expected_token, expected) in zip(
        model.likeliest([5, 6, 7], 3), alone.likeliest([5, 6, 7], 3), strict=True
    ):
        assert token == expected_token and logprob == pytest.approx(expected, abs=1e-5)


def test_a_spread_model_writes_by_its_own_generate(spread):
    alone, model = spread
    assert isinstance(decoders.open_decoder(alone), decoders.CachedDecoder)
    assert not isinstance(ModelGenerator(model).decoder, decoders.CachedDecoder)


def test_memory_is_that_of_all_cards_together(monkeypatch):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (30_000_000_000, 0))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    assert device.spread_over(torch.device("cuda"), shard=True) == CARDS
    for one in (torch.device("cuda", 1), torch.device("cpu")):
        assert device.spread_over(one, shard=True) == [one]
    assert device.spread_over(torch.device("cuda"), shard=False) == [torch.device("cuda")]
    device.check_memory("a model", 30_000_000_000, "bfloat16", *CARDS)
    with pytest.raises(ModelError, match=r"The GPU has 30\.0 GB free.*or --shard auto"):
        device.check_memory("a model", 30_000_000_000, "bfloat16", torch.device("cuda"))
    with pytest.raises(ModelError, match=r"3 GPUs together have 90\.0 GB free"):
        device.check_memory("a model", 60_000_000_000, "bfloat16", *CARDS)


def test_where_a_run_is_spread_stands_in_its_folder_and_not_with_a_cluster(tmp_path):
    class Folder:
        path = tmp_path

    assert checked_target(ComputeTarget(shard=True)).in_words == "this machine, one model over its GPUs"
    save_target(Folder, ComputeTarget(shard=True))
    assert read_target(Folder) == ComputeTarget(shard=True)
    with pytest.raises(UsageError, match="--shard spreads one model"):
        checked_target(ComputeTarget("auto", shard=True))
