"""Masked models by pseudo-log-likelihood: a naive loop, minicons' rule for words, and who may ask for it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers as t
from tokenizers import ByteLevelBPETokenizer

from explorer import settings as settings_module
from explorer.errors import ModelError, ScoringError, UsageError
from explorer.records import Request
from explorer.resources import Resources
from explorer.scoring.hf_masked import METHOD, MaskedScorer
from explorer.scoring.policy import PLL, PRESETS
from explorer.scoring.word_scores import sum_by_word
from tests.scoring.not_causal import STUDIES, ends_and_names_the_convention, made_bert, spec_of

POLICY = PRESETS[PLL]
TEXTS = [
    ("", "The keys to the cabinet are on the table."),
    ("", "Unbelievable souvenirs!"),
    ("The traveler lost", " the souvenir."),
    ("Nobody saw it. ", "Somebody did."),
    ("", "a"),
]


@pytest.fixture(scope="module")
def bert(tmp_path_factory) -> Path:
    return made_bert(tmp_path_factory.mktemp("masked"))


@pytest.fixture
def resources(tmp_path) -> Resources:
    return Resources(settings_module.read(cache=tmp_path / "cache"))


def naive(folder: Path, context: str, continuation: str) -> list[float]:
    """One masked token at a time, the later pieces of its word masked with it; nothing batched, nothing padded."""
    tokenizer, model = t.AutoTokenizer.from_pretrained(folder), t.AutoModelForMaskedLM.from_pretrained(folder).eval()
    stripped = context.rstrip(" ")
    text = stripped + context[len(stripped) :] + continuation
    encoded = tokenizer(text, return_offsets_mapping=True)
    ids, words = encoded["input_ids"], encoded.word_ids()
    found = []
    for place, (_, end) in enumerate(encoded["offset_mapping"]):
        if words[place] is None or end <= len(stripped):
            continue
        masked = [
            tokenizer.mask_token_id if words[j] == words[place] and j >= place else ids[j] for j in range(len(ids))
        ]
        with torch.no_grad():
            logits = model(torch.tensor([masked])).logits[0, place]
        found.append(float(logits.log_softmax(-1)[ids[place]]))
    return found


def test_each_token_is_scored_as_a_naive_loop_does(bert, resources):
    scorer = resources.scorer(str(bert))
    assert isinstance(scorer, MaskedScorer)
    requests = [Request("x", number, *pair) for number, pair in enumerate(TEXTS)]
    scores = scorer.score(requests, POLICY)
    for score, (context, continuation) in zip(scores, TEXTS, strict=True):
        assert score.logprobs == pytest.approx(naive(bert, context, continuation), abs=1e-5)
        assert not score.reason and score.request.continuation == continuation
    assert scores[2].tokens == (" the", " so", "uven", "ir", ".")
    assert scorer.model.record()["scores"] == METHOD


@pytest.fixture(scope="module")
def roberta(tmp_path_factory) -> Path:
    """A RoBERTa of two random layers whose few tokens leave blanks and bytes alone."""
    folder = tmp_path_factory.mktemp("masked") / "roberta"
    folder.mkdir()
    learned = ByteLevelBPETokenizer()
    marks = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    learned.train_from_iterator(["the keys the traveler"] * 3, vocab_size=275, special_tokens=marks)
    learned.save_model(str(folder))
    files = (str(folder / "vocab.json"), str(folder / "merges.txt"))
    tokenizer = t.RobertaTokenizerFast(*files, model_max_length=64)
    torch.manual_seed(6)
    config = t.RobertaConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
        max_position_embeddings=68, initializer_range=0.4, pad_token_id=1, bos_token_id=0, eos_token_id=2,
        type_vocab_size=1,
    )  # fmt: skip
    t.RobertaForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_a_token_that_is_nothing_but_a_blank_counts(roberta, resources):
    # "Ġ" before a letter that no token begins with: its span is empty, since RoBERTa's leave blanks out.
    texts = [("", "the Zoo"), ("the Zoo", " Kx"), ("", "Zoë 東 x")]
    scores = resources.scorer(str(roberta)).score([Request("x", n, *pair) for n, pair in enumerate(texts)], POLICY)
    tokenizer = t.AutoTokenizer.from_pretrained(roberta)
    assert scores[1].tokens == (" ", "K", "x")
    for score, (context, continuation) in zip(scores, texts, strict=True):
        assert "".join(score.tokens) == continuation
        if not context:
            assert list(score.token_ids) == tokenizer(continuation, add_special_tokens=False)["input_ids"]
    # A character of several bytes is given by its last token, so that words are not cut inside it.
    words = sum_by_word(scores[2].tokens, scores[2].logprobs)
    assert [word.text.strip() for word in words] == ["Zoë", "東", "x"]
    assert sum(word.logprob for word in words) == pytest.approx(scores[2].sum)


def test_the_pieces_of_a_word_do_not_see_one_another_to_the_right(bert, resources):
    # Masked alone, "so" would be told by ##uven and ##ir behind it; masked with them, it is not.
    scorer = resources.scorer(str(bert))
    (with_word,) = scorer.score([Request("x", 0, "", "the souvenir")], POLICY)
    tokenizer, model = t.AutoTokenizer.from_pretrained(bert), t.AutoModelForMaskedLM.from_pretrained(bert).eval()
    ids = tokenizer("the souvenir")["input_ids"]
    alone = [*ids[:2], tokenizer.mask_token_id, *ids[3:]]
    with torch.no_grad():
        seen = float(model(torch.tensor([alone])).logits[0, 2].log_softmax(-1)[ids[2]])
    assert with_word.logprobs[1] != pytest.approx(seen, abs=1e-3)


def test_what_cannot_be_scored_has_a_reason(bert, resources):
    scorer = resources.scorer(str(bert))
    empty, long, broken = scorer.score(
        [Request("x", 0, "a", ""), Request("x", 1, "", "the keys " * 40), Request("x", 2, "", "\ud83d")], POLICY
    )
    assert "empty" in empty.reason and "more than the model's window of 64" in long.reason
    assert "surrogate" in broken.reason


def test_a_masked_model_is_asked_under_its_own_preset_alone_and_a_causal_one_never(bert, resources, tiny_gpt2):
    with pytest.raises(ScoringError, match=r"is a masked language model: .* Choose the preset pll"):
        resources.scorer(str(bert)).score([Request("x", 0, "", "a")], PRESETS["natural"])
    with pytest.raises(ScoringError, match="is no masked language model, which the preset pll"):
        resources.scorer(str(tiny_gpt2)).score([Request("x", 0, "", "a")], POLICY)


@pytest.mark.parametrize(("study", "settings"), STUDIES)
def test_a_run_under_the_preset_ends_and_its_record_names_the_convention(bert, resources, study, settings):
    spec = spec_of(resources, study, bert, PLL, settings)
    ends_and_names_the_convention(resources, spec, PLL, METHOD)


def test_a_run_is_refused_before_it_starts_where_model_and_preset_do_not_fit(bert, resources, tiny_gpt2):
    with pytest.raises(ModelError, match=r"With the preset pll .* it can be asked in another way"):
        spec_of(resources, "accuracy", bert, "natural")
    with pytest.raises(ModelError, match="is no masked language model"):
        spec_of(resources, "accuracy", tiny_gpt2, PLL)
    with pytest.raises(ModelError, match="is no masked language model"):
        spec_of(resources, "accuracy", "http://127.0.0.1:9/v1#m", PLL)
    with pytest.raises(UsageError, match="memorization needs probabilities from left to right"):
        spec_of(resources, "memorization", bert, PLL)
