import pytest
import torch

from explorer import settings
from explorer.scoring import hf
from explorer.scoring.engine.norms import FusedNorms

IDS = torch.arange(3, 23)[None]


@pytest.fixture(params=["gemma3_text", "llama", "olmo2"])
def model(request, tiny_folders, tmp_path):
    loaded = hf.load(
        str(tiny_folders(request.param)), settings.read(cache=tmp_path), dtype="float32", device="cpu"
    ).model
    with torch.no_grad():
        for name, weight in loaded.named_parameters():
            if "norm" in name:  # as made, all of them are 0 or 1
                weight.add_(torch.linspace(-0.4, 0.6, weight.numel()))
    return loaded


def test_every_norm_of_a_model_is_fused_and_gives_what_the_model_gives(model):
    norms = FusedNorms(model)
    assert len(norms) == sum("RMSNorm" in type(module).__name__ for module in model.modules()) > 0
    with torch.inference_mode():
        plain = model(IDS).logits
        with norms.inside():
            fused = model(IDS).logits
    torch.testing.assert_close(fused, plain, rtol=1e-5, atol=1e-5)


def test_after_an_error_the_model_has_its_own_norms_again(model):
    norms = FusedNorms(model)
    with pytest.raises(KeyError), norms.inside():
        assert any("forward" in module.__dict__ for module in model.modules())
        raise KeyError
    assert not any("forward" in module.__dict__ for module in model.modules())


def test_a_norm_that_does_something_else_stays_as_it_is(model):
    odd = next(module for module in model.modules() if type(module).__name__.endswith("RMSNorm"))
    usual = type(odd).forward
    kind = type("OddRMSNorm", (type(odd),), {"forward": lambda self, x: usual(self, x) + 1})
    odd.__class__ = kind
    assert len(FusedNorms(odd)) == 0


def test_a_half_precision_model_keeps_its_norms(model):
    assert len(FusedNorms(model.to(torch.bfloat16))) == 0
