"""Texts with a common beginning are encoded by their ends, and come out as if each had been encoded as a whole."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from explorer.scoring import spliced_texts
from explorer.variants import running_text

WORDS = [
    "the", "a", "small", "old", "green", "house", "river", "bird", "teacher", "doctor", "sleeps", "sings", "walks",
    "under", "over", "behind", "near", "never", "often", "café", "naïve", "isn't", "they'll", "12,500", "3.14",
    "\"quoted\"", "(in-brackets)", "rock-and-roll", "Zürich", "東京", "привет",
]  # fmt: skip


def sentences(seed: int, count: int) -> list[str]:
    draw = random.Random(seed)
    ends = [".", "!", "?", '."', "...", ""]
    return [" ".join(draw.choices(WORDS, k=draw.randint(1, 12))).capitalize() + draw.choice(ends) for _ in range(count)]


CORPUS = [running_text.join_sentences(sentences(seed, 40)) for seed in range(8)]


def trained(model, trainer, *, pre_tokenizer=None, normalizer=None) -> Tokenizer:
    made = Tokenizer(model)
    if pre_tokenizer:
        made.pre_tokenizer = pre_tokenizer
    if normalizer:
        made.normalizer = normalizer
    made.train_from_iterator(CORPUS, trainer)
    return made


BYTES = pre_tokenizers.ByteLevel.alphabet()
TOKENIZERS = {
    "byte-level": lambda: trained(
        models.BPE(), trainers.BpeTrainer(vocab_size=600, initial_alphabet=BYTES, show_progress=False),
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
    ),
    "byte-level with a blank put first": lambda: trained(
        models.BPE(), trainers.BpeTrainer(vocab_size=600, initial_alphabet=BYTES, show_progress=False),
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=True),
    ),
    "merges across words": lambda: trained(
        models.BPE(), trainers.BpeTrainer(vocab_size=700, show_progress=False),
        normalizer=normalizers.Replace(" ", "▁"),
    ),
    "metaspace": lambda: trained(
        models.BPE(), trainers.BpeTrainer(vocab_size=600, show_progress=False),
        pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="first"),
    ),
    "unigram": lambda: trained(
        models.Unigram(),
        trainers.UnigramTrainer(vocab_size=400, unk_token="?", special_tokens=["?"], show_progress=False),
        pre_tokenizer=pre_tokenizers.Metaspace(), normalizer=normalizers.NFKC(),
    ),
    "wordpiece": lambda: trained(
        models.WordPiece(unk_token="[UNK]"),
        trainers.WordPieceTrainer(vocab_size=500, special_tokens=["[UNK]"], show_progress=False),
        pre_tokenizer=pre_tokenizers.BertPreTokenizer(), normalizer=normalizers.BertNormalizer(),
    ),
}  # fmt: skip


def growing_pairs(seed: int) -> list[tuple[str, str]]:
    """Contexts of three families at many lengths, before two targets each, in a random order, and some alone."""
    pairs = []
    for family in range(3):
        drawn = sentences(100 * seed + family, 60)
        targets = [running_text.as_target(text) for text in sentences(900 + family, 2)]
        pairs += [(running_text.join_sentences(drawn[:size]), each) for size in range(0, 61, 5) for each in targets]
    pairs += [("", "Alone."), ("Short", " one."), ("x" * 500, " end"), (" " * 500, "blank"), ("x" * 300, " end")]
    random.Random(seed).shuffle(pairs)
    return pairs


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("seed", range(4))
def test_ids_and_borders_are_those_of_the_whole_texts(name, seed):
    tokenizer = TOKENIZERS[name]()
    pairs = growing_pairs(seed)
    made = spliced_texts.encode(lambda texts: tokenizer.encode_batch(texts, add_special_tokens=False), pairs)
    for (context, continuation), tokens in zip(pairs, made, strict=True):
        whole = tokenizer.encode(context + continuation, add_special_tokens=False)
        assert list(tokens.ids) == whole.ids
        places = [(start + tokens.at, stop + tokens.at) for start, stop in tokens.end.offsets]
        behind = [place for place in whole.offsets if place[0] >= len(context)]
        assert places[len(places) - len(behind) :] == behind
        assert tokens.before + len(places) == len(whole.ids)
        assert tokens.text == (context + continuation)[tokens.at :]


@pytest.mark.parametrize("name", ["byte-level", "metaspace", "unigram", "merges across words"])
def test_long_contexts_are_read_once_and_not_once_a_length(name):
    tokenizer, characters = TOKENIZERS[name](), []

    def encode_batch(texts):
        characters.append(sum(map(len, texts)))
        return tokenizer.encode_batch(texts, add_special_tokens=False)

    pairs = growing_pairs(1)
    spliced_texts.encode(encode_batch, pairs)
    assert sum(characters) < sum(len(context) + len(text) for context, text in pairs) / 2


@dataclass
class Letters:
    """A text as its letters, each with a number of its own."""

    ids: list[int]
    offsets: list[tuple[int, int]]


def by_letters(texts: list[str], first: int) -> list[Letters]:
    """Encodings by letters; of a text as long as this all numbers are others, as of a tokenizer that sees all of it."""
    moved = [1000 if len(text) >= first else 0 for text in texts]
    return [
        Letters([ord(letter) + more for letter in text], [(i, i + 1) for i in range(len(text))])
        for text, more in zip(texts, moved, strict=True)
    ]


def test_a_tokenizer_that_works_from_far_away_is_given_whole_texts():
    pairs = growing_pairs(2)
    made = spliced_texts.encode(lambda texts: by_letters(texts, 700), pairs)
    texts = [context + continuation for context, continuation in pairs]
    assert [tokens.ids for tokens in made] == [each.ids for each in by_letters(texts, 700)]
    assert any(len(context) >= spliced_texts.PAYS_FROM and len(context) < 700 for context, _ in pairs)
