from __future__ import annotations

import dataclasses

import pytest

from explorer.errors import ModelError
from explorer.scoring import catalog
from explorer.scoring.catalog import MODELS


def test_every_model_says_what_a_reader_must_know():
    for name, model in MODELS.items():
        assert model.id == name
        for field in ("title", "corpus", "license", "terms"):
            assert getattr(model, field), (name, field)
        assert model.parameters > 5e5 and model.window >= 512


def test_the_embedded_models_are_checked_before_use():
    for model in catalog.EMBEDDED_MODELS:
        assert model.embedded is not None
        assert len(model.embedded.sha256) == 64
        assert len(model.embedded.canaries) >= 3
        assert all(canary.logprob < 0 and canary.tokens > 5 for canary in model.embedded.canaries)


def test_the_papers_models_are_known_with_their_corpora():
    for size in ("70m", "160m", "410m", "1b", "1.4b", "2.8b", "6.9b", "12b"):
        for kind in ("", "-deduped"):
            assert "Pile" in MODELS[f"EleutherAI/pythia-{size}{kind}"].corpus
    assert "Dolma" in MODELS["allenai/OLMo-7B-hf"].corpus
    assert MODELS["FacebookAI/roberta-base"].kind == "masked"


def test_smollm2_has_its_plain_text_bos():
    for name in ("smollm2-135m-instruct", "HuggingFaceTB/SmolLM2-135M", "HuggingFaceTB/SmolLM2-135M-Instruct"):
        assert MODELS[name].bos == "<|endoftext|>"
    assert MODELS["gemma-3-270m"].bos == ""


def test_a_model_is_found_by_any_spelling_and_with_a_revision():
    assert catalog.find("eleutherai/Pythia-160M@step1000") is MODELS["EleutherAI/pythia-160m"]
    assert catalog.find("gpt-5") is None


def test_only_embedded_models_are_embedded():
    model, source = catalog.embedded("GEMMA-3-270M")
    assert model.id == "gemma-3-270m" and source is model.embedded
    with pytest.raises(ModelError, match="no embedded model; those are gemma-3-270m, smollm2-135m-instruct"):
        catalog.embedded("EleutherAI/pythia-70m")


def test_an_entry_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        MODELS["gemma-3-270m"].window = 1  # type: ignore[misc]
