"""Only causal models are scored: masked ones and those of an encoder and a decoder are called what they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import transformers as t

from explorer import settings as settings_module
from explorer.errors import ModelError
from explorer.scoring import hf, identity
from explorer.scoring.hf_kind import require_causal, require_causal_scores

SMALL = {
    "vocab_size": 400,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
}
SEQUENCES = {
    "vocab_size": 400,
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": 64,
}
T5 = {"vocab_size": 400, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 1, "num_heads": 2}
MASKED: dict[str, Callable[[], Any]] = {
    "bert": lambda: t.BertForMaskedLM(t.BertConfig(**SMALL)),
    "bert as published": lambda: t.BertForPreTraining(t.BertConfig(**SMALL)),
    "bert with a causal head": lambda: t.BertLMHeadModel(t.BertConfig(**SMALL)),
    "roberta": lambda: t.RobertaForMaskedLM(t.RobertaConfig(**SMALL)),
    "xlm-roberta": lambda: t.XLMRobertaForMaskedLM(t.XLMRobertaConfig(**SMALL)),
    "distilbert": lambda: t.DistilBertForMaskedLM(
        t.DistilBertConfig(vocab_size=400, dim=32, n_layers=2, n_heads=4, hidden_dim=48, max_position_embeddings=64)
    ),
    "albert": lambda: t.AlbertForMaskedLM(t.AlbertConfig(**SMALL, embedding_size=16)),
    "deberta-v2": lambda: t.DebertaV2ForMaskedLM(t.DebertaV2Config(**SMALL)),
    "electra": lambda: t.ElectraForMaskedLM(t.ElectraConfig(**SMALL, embedding_size=16)),
    "electra's discriminator": lambda: t.ElectraForPreTraining(t.ElectraConfig(**SMALL, embedding_size=16)),
    "camembert": lambda: t.CamembertForMaskedLM(t.CamembertConfig(**SMALL)),
}
PAIRED: dict[str, Callable[[], Any]] = {
    "t5": lambda: t.T5ForConditionalGeneration(t.T5Config(**T5)),
    "mt5": lambda: t.MT5ForConditionalGeneration(t.MT5Config(**T5)),
    "bart": lambda: t.BartForConditionalGeneration(t.BartConfig(**SEQUENCES)),
    "mbart": lambda: t.MBartForConditionalGeneration(t.MBartConfig(**SEQUENCES)),
    "pegasus": lambda: t.PegasusForConditionalGeneration(t.PegasusConfig(**SEQUENCES)),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory, tiny_gpt2: Path) -> Callable[[str, Callable[[], Any]], Path]:
    """The folder of a tiny random model with a tokenizer."""

    def save(name: str, make: Callable[[], Any]) -> Path:
        folder = tmp_path_factory.mktemp("kinds") / name.replace(" ", "-").replace("'", "")
        make().save_pretrained(folder)
        for file in tiny_gpt2.glob("tok*"):
            (folder / file.name).write_bytes(file.read_bytes())
        return folder

    return save


@pytest.fixture
def here(tmp_path: Path):
    return settings_module.read(cache=tmp_path)


@pytest.mark.parametrize("name", MASKED)
def test_a_masked_model_is_refused_by_its_name(saved, here, name):
    folder = saved(name, MASKED[name])
    family = json.loads((folder / "config.json").read_text("utf-8"))["model_type"]
    for refuse in (lambda: hf.load(str(folder), here), lambda: identity.identify(str(folder), here)):
        with pytest.raises(ModelError, match=rf"is a masked language model \({family}\).*Choose a causal model"):
            refuse()


@pytest.mark.parametrize("name", PAIRED)
def test_an_encoder_decoder_model_is_called_what_it_is(saved, here, name):
    folder = saved(name, PAIRED[name])
    for refuse in (lambda: hf.load(str(folder), here), lambda: identity.identify(str(folder), here)):
        with pytest.raises(ModelError, match=rf"is an encoder-decoder model \({name}\).*Choose a causal model"):
            refuse()


def test_masked_models_of_the_catalog_are_refused_before_anything_is_fetched(here):
    with pytest.raises(ModelError, match="FacebookAI/roberta-base is a masked language model"):
        identity.identify("FacebookAI/roberta-base", here)


def test_a_bert_turned_into_a_causal_model_is_scored(saved, here):
    folder = saved("bert-decoder", lambda: t.BertLMHeadModel(t.BertConfig(**SMALL, is_decoder=True)))
    assert hf.load(str(folder), here).name == str(folder)


def test_the_decoder_of_a_pair_alone_is_scored(saved, here):
    config = t.BartConfig(**SEQUENCES, is_decoder=True, is_encoder_decoder=False)
    folder = saved("bart-decoder", lambda: t.BartForCausalLM(config))
    assert hf.load(str(folder), here).name == str(folder)


def test_a_model_that_looks_ahead_is_found_by_what_it_does():
    ahead = t.BertLMHeadModel(t.BertConfig(**SMALL)).eval()
    with pytest.raises(ModelError, match=r"mine looks ahead: .* differ by [\d.e-]+ nats with what follows"):
        require_causal_scores("mine", ahead)
    require_causal_scores("mine", t.BertLMHeadModel(t.BertConfig(**SMALL, is_decoder=True)).eval())


def test_a_decoder_saved_without_saying_that_it_is_one_and_trained_on_gaps_is_refused():
    with pytest.raises(ModelError, match="masked"):
        require_causal("mine", {"model_type": "roberta", "is_decoder": True, "architectures": ["RobertaForMaskedLM"]})


def test_a_gemma_that_attends_both_ways_is_refused(saved, here):
    # The text models made for vectors keep the name of the causal architecture.
    config = t.Gemma3TextConfig(
        vocab_size=400,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=1,
        head_dim=8,
        intermediate_size=48,
        use_bidirectional_attention=True,
    )
    with pytest.raises(ModelError, match="looks ahead"):
        hf.load(str(saved("gemma-both-ways", lambda: t.Gemma3ForCausalLM(config))), here)
