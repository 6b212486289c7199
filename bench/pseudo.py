"""Pseudo-log-likelihoods of masked models, ours beside minicons' within_word_l2r, sentence by sentence.

    pip install minicons            # in an environment of its own: nothing of the explorer needs it
    python bench/pseudo.py [--models FOLDER ...] [--sentences 100]

Without --models two are made on the spot with random weights, so that nothing is downloaded: a BERT, whose words fall
into ##pieces, and a RoBERTa, whose tokens carry their blanks. Random weights with a wide spread are the harder test: a
token that is told by its neighbors, as a trained model has it, would hide a mask that is missing.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

SPREAD = 0.4  # of the random weights; BERT's own is 0.02, at which all words come out nearly alike
MOST = 1e-4  # nats of a sentence


def main() -> None:
    """Prints one line per model, and ends with an error where a sentence differs by more than MOST."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=[], help="folders of masked models")
    parser.add_argument("--sentences", type=int, default=100)
    chosen = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    with tempfile.TemporaryDirectory() as made:
        texts = sentences(chosen.sentences, Path(made))
        folders = [Path(one) for one in chosen.models] or [make_bert(Path(made)), make_roberta(Path(made), texts)]
        apart = [compare(folder, texts, Path(made) / "cache") for folder in folders]
    if max(apart) > MOST:
        raise SystemExit(f"A sentence differs by {max(apart):.1e} nats, expected at most {MOST:.0e}.")


def sentences(count: int, folder: Path) -> list[str]:
    """The sentences of our own minimal pairs, every one another, from all over the benchmark."""
    from explorer.resources import Resources
    from explorer.settings import Settings

    loaded = Resources(Settings(cache=folder / "cache", offline=True)).instances("starter_pairs").instances
    distinct = list(dict.fromkeys(text for one in loaded for text in one.options))
    return distinct[:: max(1, len(distinct) // count)][:count]


def compare(folder: Path, texts: list[str], cache: Path) -> float:
    """The largest difference of a sentence in nats, after a line that tells it."""
    began = time.perf_counter()
    ours = score_ours(folder, texts, cache)
    between = time.perf_counter()
    theirs = score_minicons(folder, texts)
    ended = time.perf_counter()
    apart = max(abs(a - b) for (a, _), b in zip(ours, theirs, strict=True))
    tokens = sum(count for _, count in ours)
    print(
        f"{folder.name}: {len(texts)} sentences, {tokens} tokens, {sum(a for a, _ in ours) / tokens:.2f} nats a token; "
        f"largest difference {apart:.1e} nats a sentence; ours {between - began:.0f} s, "
        f"minicons {ended - between:.0f} s"
    )
    return apart


def score_ours(folder: Path, texts: list[str], cache: Path) -> list[tuple[float, int]]:
    """Each sentence's pseudo-log-likelihood in nats and its number of tokens, by the preset pll."""
    from explorer.records import Request
    from explorer.resources import Resources
    from explorer.scoring.policy import PLL, PRESETS
    from explorer.settings import Settings

    scorer = Resources(Settings(cache=cache, offline=True)).scorer(str(folder), "float32")
    scores = scorer.score([Request(str(n), 0, "", text) for n, text in enumerate(texts)], PRESETS[PLL])
    return [(score.sum, len(score.tokens)) for score in scores]


def score_minicons(folder: Path, texts: list[str]) -> list[float]:
    """The same by minicons."""
    import transformers
    from minicons import scorer

    # minicons 0.3.39 calls it by the name that transformers 5 took away; what it does is as before.
    base: Any = transformers.PreTrainedTokenizerBase
    if not hasattr(base, "batch_encode_plus"):
        base.batch_encode_plus = base.__call__
    model: Any = scorer.MaskedLMScorer(str(folder), "cpu")
    rule = {"PLL_metric": "within_word_l2r", "reduction": lambda logprobs: float(logprobs.sum())}
    return [float(model.sequence_score([text], **rule)[0]) for text in texts]


def make_bert(folder: Path) -> Path:
    """A BERT of two random layers whose vocabulary has common words whole and the others in pieces."""
    import torch
    import transformers

    where = folder / "bert"
    where.mkdir()
    letters = "abcdefghijklmnopqrstuvwxyz"
    common = ["the", "a", "of", "to", "in", "on", "was", "were", "is", "are", "has", "have", "it", "she", "that", "not"]
    ends = ["##s", "##ed", "##ing", "##er", "##ly", "##es", "##en", "##al"]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *common, *ends, *letters, *(f"##{one}" for one in letters)]
    words += list(".,'!?\"-;:")
    (where / "vocab.txt").write_text("\n".join(dict.fromkeys(words)), "utf-8")
    tokenizer = transformers.BertTokenizerFast(str(where / "vocab.txt"), model_max_length=256)
    torch.manual_seed(5)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
        max_position_embeddings=256, initializer_range=SPREAD,
    )  # fmt: skip
    transformers.BertForMaskedLM(config).save_pretrained(where)
    tokenizer.save_pretrained(where)
    return where


def make_roberta(folder: Path, texts: list[str]) -> Path:
    """A RoBERTa of two random layers, its byte pairs learned from the sentences so that some words stay whole."""
    import tokenizers
    import torch
    import transformers

    where = folder / "roberta"
    where.mkdir()
    learned = tokenizers.ByteLevelBPETokenizer()
    marks = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    learned.train_from_iterator(texts, vocab_size=600, special_tokens=marks)
    learned.save_model(str(where))
    tokenizer = transformers.RobertaTokenizerFast(
        str(where / "vocab.json"), str(where / "merges.txt"), model_max_length=256
    )
    torch.manual_seed(6)
    config = transformers.RobertaConfig(
        vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
        max_position_embeddings=260, initializer_range=SPREAD, pad_token_id=1, bos_token_id=0, eos_token_id=2,
        type_vocab_size=1,
    )  # fmt: skip
    transformers.RobertaForMaskedLM(config).save_pretrained(where)
    tokenizer.save_pretrained(where)
    return where


if __name__ == "__main__":
    main()
