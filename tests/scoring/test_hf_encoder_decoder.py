"""Models of an encoder and a decoder by their decoder: a naive loop, what the source is, and who may ask for it."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest
import torch
import transformers as t
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from explorer import settings as settings_module
from explorer.errors import ModelError, ScoringError, UsageError
from explorer.records import Request
from explorer.resources import Resources
from explorer.runs import request
from explorer.scoring import hf_kind
from explorer.scoring.hf_encoder_decoder import METHOD, EncoderDecoderScorer
from explorer.scoring.policy import DECODER, ENCODER_DECODER_PRESETS, PLL, PRESETS, SEQ2SEQ
from tests.scoring.not_causal import STUDIES, ends_and_names_the_convention, spec_of

TEXTS = [
    ("", "The keys to the cabinet are on the table."),
    ("The traveler lost", " the souvenir."),
    ("Nobody saw it. ", "Somebody did."),
    ("A longer source, word by word by word.", " Yes."),
    ("", "a"),
]
CORPUS = ["The keys to the cabinet are on the table.", "Nobody saw the traveler, and somebody lost a souvenir."] * 4


def unigram() -> Tokenizer:
    """A tokenizer as T5 has one: pieces behind a blank, </s> at the end."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Replace(" {2,}", " ")
    # The blank between words belongs to no token, as in T5's own tokenizer.
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=90, special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>",
                                      initial_alphabet=list("abcdefghijklmnopqrstuvwxyz.,!ABTNSY"))  # fmt: skip
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.post_processor = processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", 1)])
    return tokenizer


def byte_level() -> Tokenizer:
    """A tokenizer as BART has one: bytes, <s> before and </s> behind."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=330, special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())  # fmt: skip
    tokenizer.train_from_iterator(CORPUS, trainer)
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return tokenizer


def made(folder: Path, family: str) -> Path:
    tokenizer = unigram() if family == "t5" else byte_level()
    bos = {} if family == "t5" else {"bos_token": "<s>"}
    t.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", pad_token="<pad>", unk_token="<unk>",
                              model_max_length=64, **bos).save_pretrained(folder)  # fmt: skip
    words = tokenizer.get_vocab_size()
    torch.manual_seed(7)
    if family == "t5":
        config = t.T5Config(vocab_size=words, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4,
                            decoder_start_token_id=0, initializer_factor=1.0)  # fmt: skip
        t.T5ForConditionalGeneration(config).save_pretrained(folder)
    else:
        config = t.BartConfig(vocab_size=words, d_model=32, encoder_layers=2, decoder_layers=2, encoder_ffn_dim=48,
                              decoder_ffn_dim=48, encoder_attention_heads=4, decoder_attention_heads=4, init_std=0.4,
                              max_position_embeddings=64)  # fmt: skip
        t.BartForConditionalGeneration(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module", params=["t5", "bart"])
def paired(request, tmp_path_factory) -> Path:
    """A folder with a T5 or a BART of two random layers on either side."""
    return made(tmp_path_factory.mktemp("paired") / request.param, request.param)


@pytest.fixture
def resources(tmp_path) -> Resources:
    return Resources(settings_module.read(cache=tmp_path / "cache"))


@functools.cache
def loaded(folder: Path):
    return t.AutoTokenizer.from_pretrained(folder), t.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()


def naive(folder: Path, source: str, before: str, continuation: str) -> list[float]:
    """One forward pass a token, nothing batched, nothing padded."""
    tokenizer, model = loaded(folder)
    encoded = tokenizer(before + continuation, add_special_tokens=False, return_offsets_mapping=True)
    start = [model.config.decoder_start_token_id] + ([0] if "bart" in folder.name else [])
    ids, found = list(encoded["input_ids"]), []
    read = torch.tensor([tokenizer(source)["input_ids"]])
    for place, (_, end) in enumerate(encoded["offset_mapping"]):
        if end <= len(before):
            continue
        with torch.no_grad():
            logits = model(input_ids=read, decoder_input_ids=torch.tensor([[*start, *ids[:place]]])).logits[0, -1]
        found.append(float(logits.log_softmax(-1)[ids[place]]))
    return found


def requests_of(texts):
    return [Request("x", number, *pair) for number, pair in enumerate(texts)]


@pytest.mark.parametrize("preset", ENCODER_DECODER_PRESETS)
def test_each_token_is_scored_as_a_naive_loop_does(paired, resources, preset):
    scorer = resources.scorer(str(paired))
    assert isinstance(scorer, EncoderDecoderScorer)
    scores = scorer.score(requests_of(TEXTS), PRESETS[preset])
    for score, (context, continuation) in zip(scores, TEXTS, strict=True):
        if preset == SEQ2SEQ:
            expected = naive(paired, context, "", continuation.removeprefix(" "))
        else:
            moved = context.rstrip(" ")
            expected = naive(paired, "", moved, context[len(moved) :] + continuation)
        assert score.logprobs == pytest.approx(expected, abs=1e-4), (preset, continuation)
        assert len(score.tokens) == len(score.logprobs) and not score.reason
        assert "".join(score.tokens).strip() == continuation.strip()
    assert scorer.model.record()["scores"] == METHOD


def test_without_a_context_both_conventions_are_one_and_with_one_they_differ(paired, resources):
    scorer = resources.scorer(str(paired))
    source, given = (scorer.score(requests_of(TEXTS), PRESETS[preset]) for preset in ENCODER_DECODER_PRESETS)
    assert source[0].logprobs == pytest.approx(given[0].logprobs, abs=1e-5)
    assert source[1].sum != pytest.approx(given[1].sum, abs=1e-3)


def test_the_decoder_does_not_look_ahead_and_one_that_did_is_refused(paired, resources):
    scorer = resources.scorer(str(paired))
    one, other = scorer.score(
        requests_of([("", "The keys are lost"), ("", "The keys are on the table")]), PRESETS[DECODER]
    )
    shared = next(n for n, (a, b) in enumerate(zip(one.token_ids, other.token_ids, strict=False)) if a != b)
    assert shared > 1 and one.logprobs[:shared] == pytest.approx(other.logprobs[:shared], abs=1e-5)

    class LooksAhead:
        config, device, dtype = scorer.model.model.config, scorer.model.model.device, torch.float32

        def get_input_embeddings(self):
            return scorer.model.model.get_input_embeddings()

        def __call__(self, *, input_ids, decoder_input_ids, use_cache):
            return scorer.model.model(input_ids=input_ids, decoder_input_ids=decoder_input_ids.flip(1))

    hf_kind.require_causal_decoder("it", scorer.model.model)
    with pytest.raises(ModelError, match="it looks ahead"):
        hf_kind.require_causal_decoder("it", LooksAhead())


def test_what_cannot_be_scored_has_a_reason(paired, resources):
    scorer = resources.scorer(str(paired))
    asked = requests_of([("a", ""), ("", "the keys " * 40), ("the keys " * 40, "a"), ("", "\ud83d"), ("a", " ")])
    empty, long, source, broken, blank = scorer.score(asked, PRESETS[SEQ2SEQ])
    assert "empty" in empty.reason and "surrogate" in broken.reason and "empty" in blank.reason
    assert "more than the model's window of 64" in long.reason and "more than the model's window of 64" in source.reason


@pytest.mark.parametrize(("study", "settings"), STUDIES)
@pytest.mark.parametrize("preset", ENCODER_DECODER_PRESETS)
def test_a_run_under_the_preset_ends_and_its_record_names_the_convention(paired, resources, study, settings, preset):
    spec = spec_of(resources, study, paired, preset, settings)
    ends_and_names_the_convention(resources, spec, preset, METHOD)


def test_a_run_is_refused_before_it_starts_where_model_and_preset_do_not_fit(paired, resources, tiny_gpt2):
    with pytest.raises(ModelError, match=r"is an encoder-decoder model .* With the preset seq2seq or decoder"):
        spec_of(resources, "accuracy", paired, "natural")
    with pytest.raises(ModelError, match="is no masked language model"):
        spec_of(resources, "accuracy", paired, PLL)
    for model in (tiny_gpt2, "gemma-3-270m", "http://127.0.0.1:9/v1#m"):
        with pytest.raises(ModelError, match="is no encoder-decoder model, which the presets seq2seq and decoder"):
            spec_of(resources, "accuracy", model, SEQ2SEQ)
    with pytest.raises(UsageError, match="memorization needs probabilities from left to right"):
        spec_of(resources, "memorization", paired, DECODER)


def test_it_is_asked_under_its_own_presets_alone_and_a_causal_one_never(paired, resources, tiny_gpt2):
    with pytest.raises(ScoringError, match=r"is an encoder-decoder model: .* Choose the preset seq2seq or decoder"):
        resources.scorer(str(paired)).score([Request("x", 0, "", "a")], PRESETS["natural"])
    with pytest.raises(ScoringError, match="is no encoder-decoder model, which the preset decoder"):
        resources.scorer(str(tiny_gpt2)).score([Request("x", 0, "", "a")], PRESETS[DECODER])


@pytest.mark.parametrize("family", ["bart", "t5"])
def test_it_is_never_called_damaged(tmp_path, family, resources):
    folder = made(tmp_path / family, family)
    config = json.loads((folder / "config.json").read_text())
    for name in ("is_encoder_decoder", "architectures"):  # as older files leave them out
        config.pop(name, None)
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match="is an encoder-decoder model") as raised:
        request.make_spec(resources, study="accuracy", model=str(folder), benchmark="starter_pairs")
    assert "damaged" not in str(raised.value)
    with pytest.raises(ModelError, match="is an encoder-decoder model"):
        resources.model(str(folder))


def test_the_command_score_takes_the_presets(paired, tmp_path, capsys):
    from explorer.__main__ import main

    lines = [{"context": "The traveler lost", "continuation": " the souvenir."}]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, lines)))
    files = ["--in", str(tmp_path / "in.jsonl"), "--out", "-", "--cache", str(tmp_path / "c")]
    assert main(["score", "--model", str(paired), "--preset", SEQ2SEQ, "--words", "auto", *files]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["logprob"] == pytest.approx(sum(naive(paired, "The traveler lost", "", "the souvenir.")), abs=1e-3)
    assert found["word_texts"] == ["the", "souvenir."]
    assert main(["score", "--model", str(paired), *files]) == 1
    assert "its decoder can be asked, given a source" in capsys.readouterr().err
