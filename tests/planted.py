"""A tiny model that has memorized half of a set of texts, trained on the spot in seconds: memorization planted by hand.

    planted                                           # a fixture: a Planted with 24 seen and 24 unseen sentences
    planting.train(texts, folder, vocabulary=more)    # a fixture with this module: a model of one's own texts, trained
                                                      # in the form in which they will be asked

Sentences are random words, so nothing but having seen one tells how it goes on. The model (Llama, two layers, rotary
positions) is trained on the seen texts in random order, one a line, so that it knows each wherever it stands: alone
after the BOS or late in a prompt with demonstrations. Texts in `vocabulary` only shape the tokenizer.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ONSETS = ("b", "br", "d", "f", "g", "gr", "k", "l", "m", "n", "p", "pl", "r", "s", "st", "t", "tr", "v", "w", "z")
VOWELS = ("a", "e", "i", "o", "u", "ea", "oo")
CODAS = ("", "d", "l", "m", "n", "nd", "p", "r", "rk", "s", "st", "t")
SEED = 0
WINDOW = 1024  # tokens that the model can read
LENGTH, ROWS = 192, 6  # tokens and sequences of a training step
STEPS = 240  # at most
ENOUGH = 0.12  # nats a token: the texts are known by heart where the median token has half of it and, since which of
# them comes next is chance and cannot be known, the mean token four times as much
PATIENCE = 5  # steps in a row


@dataclass(frozen=True, slots=True)
class Planted:
    """A model's folder, the texts that it has memorized, and as many like them that it has never seen."""

    folder: Path
    seen: tuple[str, ...]
    unseen: tuple[str, ...]


def sentences(count: int, *, seed: int = SEED, words: int = 12) -> list[str]:
    """Different sentences of random made-up words."""
    chance = random.Random(seed)
    lexicon = [
        chance.choice(ONSETS) + chance.choice(VOWELS) + chance.choice(CODAS) + chance.choice(("", "", "er", "ing", "y"))
        for _ in range(160)
    ]
    made: dict[str, None] = {}
    while len(made) < count:
        text = " ".join(chance.choice(lexicon) for _ in range(words))
        made[f"{text.capitalize()}."] = None
    return list(made)


def plant(folder: Path, *, count: int = 48, seed: int = SEED) -> Planted:
    """A model that has memorized every other one of `count` sentences."""
    texts = sentences(count, seed=seed)
    seen, unseen = tuple(texts[::2]), tuple(texts[1::2])
    train(seen, folder, vocabulary=texts, seed=seed)
    return Planted(folder, seen, unseen)


def train(texts: Sequence[str], folder: Path, *, vocabulary: Sequence[str] = (), seed: int = SEED) -> Path:
    """The folder with a model that knows the texts by heart."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = _tokenizer([*texts, *vocabulary])
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=96, intermediate_size=192, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=WINDOW, bos_token_id=0, eos_token_id=0, tie_word_embeddings=True,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.0)
    rows = [tokenizer(f"{text}\n", add_special_tokens=False)["input_ids"] for text in texts]
    chance = random.Random(seed)
    good = 0
    for _ in range(STEPS):
        batch = torch.tensor([_sequence(rows, chance) for _ in range(ROWS)])
        logits = model(input_ids=batch).logits[:, :-1]
        losses = torch.nn.functional.cross_entropy(logits.transpose(1, 2), batch[:, 1:], reduction="none")
        optimizer.zero_grad()
        losses.mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        good = good + 1 if losses.median() < ENOUGH / 2 and losses.mean() < 4 * ENOUGH else 0
        if good >= PATIENCE:
            break
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _sequence(rows: Sequence[Sequence[int]], chance: random.Random) -> list[int]:
    """A BOS and texts in random order, cut to LENGTH tokens."""
    ids = [0]
    while len(ids) < LENGTH:
        for place in chance.sample(range(len(rows)), len(rows)):
            ids += rows[place]
    return ids[:LENGTH]


def _tokenizer(texts: Sequence[str]) -> Any:
    """A byte-level BPE tokenizer that puts its BOS first."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=700,
        special_tokens=["<s>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="<s>", pad_token="<s>")
