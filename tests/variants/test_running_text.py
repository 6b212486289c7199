import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from explorer.variants.running_text import TokenCounter, as_target, join_sentences

SENTENCES = [
    "The gardeners who know Mara water the roses.",
    "Who was it that painted the fence?",
    'Tobias said, "Nobody saw the ferry leave."',
    "A heron stood in the shallow water",
    "It's late!",
    "Über die Brücke fährt kein Zug mehr.",
    "...and then the lights went out.",
    "42 geese landed on the lake",
    "Ines wrote, “We are nearly there.”",
]


def byte_level():
    """A byte-level BPE as GPT-2 has: blanks belong to the word after them."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def metaspace(prepend):
    """A SentencePiece-like BPE: a blank is a letter, and with `prepend` every text begins with one."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always" if prepend else "never")
    return tokenizer


def trained(tokenizer):
    trainer = trainers.BpeTrainer(vocab_size=400, show_progress=False)
    tokenizer.train_from_iterator([*SENTENCES * 3, " ".join(SENTENCES)], trainer)
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def merging_across_words():
    """A BPE that was trained on whole texts, so that some of its tokens reach over a join."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=False)
    return tokenizer


def by_threes(text):
    """Pieces of three characters, counted from the start of the text: no join is exact."""
    return [hash(text[at : at + 3]) for at in range(0, len(text), 3)]


def backwards(text):
    """Pieces of four characters, counted from the end of the text: even the ids of the start change as it grows."""
    return [hash(text[max(0, at - 4) : at]) for at in range(len(text), 0, -4)][::-1]


def with_begin_mark(text):
    return [-1, *map(ord, text)]


ENCODERS = {
    "byte-level": trained(byte_level()),
    "metaspace": trained(metaspace(prepend=False)),
    "metaspace with a dummy prefix": trained(metaspace(prepend=True)),
    "merging across words": trained(merging_across_words()),
    "by threes": by_threes,
    "backwards": backwards,
    "with a begin mark": with_begin_mark,
    "words": lambda text: [hash(word) for word in text.split()],
}


def test_a_sentence_gets_a_full_stop_unless_it_ends_in_a_mark_or_a_mark_and_a_quote():
    assert join_sentences(["One", "Two.", " Three? ", 'He said "four."', "”Five”", "Six!’"]) == (
        'One. Two. Three? He said "four." ”Five”. Six!’'
    )
    assert join_sentences([]) == ""
    assert as_target("Seven. ") == " Seven."


@pytest.mark.parametrize("name", ENCODERS)
@settings(deadline=None)
@given(st.lists(st.sampled_from(SENTENCES), max_size=12), st.integers(0, 120))
def test_counts_equal_those_of_the_joined_text_whatever_the_tokenizer(name, sentences, top):
    encode = ENCODERS[name]
    growth = TokenCounter(encode).grow_all([(lambda: iter(sentences), top)])[0]
    brute = [len(encode(join_sentences(sentences[: k + 1]))) for k in range(len(sentences))]
    over = next((k for k, total in enumerate(brute) if total > top), None)
    assert list(growth.tokens) == (brute if over is None else brute[: over + 1])
    assert growth.exhausted == (over is None)


@pytest.mark.parametrize("name", ["byte-level", "metaspace", "metaspace with a dummy prefix"])
def test_the_growing_text_is_not_encoded_again_for_every_sentence(name):
    asked = []

    def encode(text):
        asked.append(len(text))
        return ENCODERS[name](text)

    sentences = [SENTENCES[n % len(SENTENCES)] for n in range(60)]
    TokenCounter(encode).grow_all([(lambda: iter(sentences), 10_000)])
    assert sum(asked) < 3 * len(join_sentences(sentences))


def test_the_count_of_chosen_sentences():
    counter = TokenCounter(with_begin_mark)
    assert counter.count(["Ab", "c."]) == 1 + len("Ab. c.")
    assert counter.count([]) == 0
