"""Tokens added up to words: worked examples, what always holds, and a hand computation on a model."""

from __future__ import annotations

import math
import random

import pytest
import torch
import transformers as t

from explorer import settings as settings_module
from explorer.records import Request
from explorer.resources import Resources
from explorer.scoring.policy import PRESETS
from explorer.scoring.score import ModelScorer
from explorer.scoring.word_scores import FIRST, UNSCORED, align, find_words, sum_by_word

NAN = math.nan


def words(tokens, logprobs=None, **how):
    found = sum_by_word(tokens, logprobs or [-1.0] * len(tokens), **how)
    assert not isinstance(found, str), found
    return found


def parted(tokens, **how):
    return [(word.text, word.tokens) for word in words(tokens, **how)]


def test_the_blank_belongs_to_the_word_behind_it_and_a_mark_to_the_word_it_stands_at():
    found = words(["The", " cat", "s", " ran", "."], [-2.1, -6.0, -1.5, -4.0, -0.3])
    assert [word.text for word in found] == ["The", "cats", "ran."]
    assert [word.logprob for word in found] == pytest.approx([-2.1, -7.5, -4.3])
    assert [(word.first, word.tokens, word.start, word.end) for word in found] == [
        (0, 1, 0, 3),
        (1, 2, 4, 8),
        (3, 2, 9, 13),
    ]


@pytest.mark.parametrize(
    ("tokens", "found"),
    [
        ([" Don", "'", "t", " go"], [("Don't", 3), ("go", 1)]),
        (["“", "Hi", ",", "”", " he", " said"], [("“Hi,”", 4), ("he", 1), ("said", 1)]),
        (["a", "\n", "\n", "b"], [("a", 1), ("b", 3)]),  # line breaks alone go to the word behind them
        (["a", " ", "b", " ", "\n"], [("a", 1), ("b", 4)]),  # and at the end to the last one
        (["\n"], [("\n", 1)]),
        (["well", "-", "known", " x"], [("well-known", 3), ("x", 1)]),
    ],
)
def test_words_between_blanks(tokens, found):
    assert parted(tokens) == found


def test_the_bytes_of_a_character_stay_together():
    # "猫" is three bytes, of which the last token prints the character; " 猫" may print its blank with the first byte.
    assert parted(["the", " ", "", "猫", " sat"]) == [("the", 1), ("猫", 3), ("sat", 1)]
    assert parted([" caf", "", "é", " au"]) == [("café", 3), ("au", 1)]
    assert parted(["x", " y", ""]) == [("x", 1), ("y", 2)]  # half a character at the end


def test_scripts_without_blanks_are_parted_by_characters_or_as_given():
    tokens = ["他", "是", "学生", "。"]
    assert parted(tokens) == [("他", 1), ("是", 1), ("学生。", 2)]  # one token over two characters, and a mark
    assert [word.covers for word in words(tokens)] == [1, 1, 2]
    assert parted(tokens, by="blanks") == [("他是学生。", 4)]
    assert parted(tokens, given=["他", "是", "学生", "。"]) == [("他", 1), ("是", 1), ("学生", 1), ("。", 1)]
    assert parted(["「", "猫", "」", "と", "GPT", "-2", "だ"]) == [("「猫」", 3), ("と", 1), ("GPT-2", 2), ("だ", 1)]


def test_by_characters_marks_stay_on_their_letters():
    assert [text for text, _ in parted(["e\u0301", "t", "e\u0301"], by="characters")] == ["e\u0301", "t", "e\u0301"]
    assert find_words("ที่นี่", "auto") == [(0, 3), (3, 6)]  # two Thai letters, each with vowel and tone


def test_a_token_over_two_given_words_gives_both_as_one():
    (one, both) = words(["in", " spite of"], [-1.0, -3.0], given=["in", "spite", "of"])
    assert (both.text, both.covers, both.logprob) == ("spite of", 2, -3.0) and one.covers == 1


def test_given_words_must_make_up_the_text():
    assert "'dog' is not what stands at character 4" in str(
        sum_by_word(["the", " cat"], [-1, -1], given=["the", "dog"])
    )
    assert "'cat' is left over" in str(sum_by_word(["the", " cat"], [-1, -1], given=["the"]))
    assert align("a  b c", ["a", "b c"]) == [(0, 1), (3, 6)]


def test_a_word_without_a_score_is_nan_with_the_reason():
    first, second = words(["The", " cat"], [NAN, -2.0])
    assert math.isnan(first.logprob) and first.reason == FIRST and second.logprob == -2.0 and not second.reason
    # Of a first word of two tokens the second has a score; half a word is none.
    first, _ = words(["Un", "real", " cat"], [NAN, -1.0, -2.0])
    assert math.isnan(first.logprob) and first.reason == FIRST
    assert words(["a", " b"], [-1.0, NAN])[1].reason == UNSCORED


@pytest.mark.parametrize("by", ["auto", "blanks", "characters"])
def test_the_words_add_up_to_the_text_whatever_the_tokens(by):
    chance = random.Random(f"words {by}")
    letters = [
        "a",
        "é",
        "e\u0301",
        " ",
        "  ",
        "\n",
        ".",
        ",",
        "“",
        "(",
        "猫",
        "の",
        "。",
        "ท",
        "ี่",
        "-",
        "'",
        "9",
        "👩\u200d🔬",
        "",
    ]
    for _ in range(800):
        tokens = ["".join(chance.choices(letters, k=chance.randint(0, 3))) for _ in range(chance.randint(1, 12))]
        logprobs = [-chance.random() for _ in tokens]
        found = words(tokens, logprobs, by=by)
        assert math.fsum(word.logprob for word in found) == pytest.approx(math.fsum(logprobs))
        assert sum(word.tokens for word in found) == len(tokens)
        assert [word.first for word in found] == [sum(one.tokens for one in found[:n]) for n in range(len(found))]
        text = "".join(tokens)
        if text.strip():
            assert sum(word.covers for word in found) == len(find_words(text, by))
            assert (
                "".join(word.text for word in found).replace(" ", "").split()
                == "".join(text[word.start : word.end] for word in found).replace(" ", "").split()
            )
            assert "".join("".join(word.text for word in found).split()) == "".join(text.split())


SENTENCES = [
    "The keys to the cabinet are on the table.",
    "Don't you dare; it's 3,000 dollars!",
    "Der Bäcker hat Brötchen und Kaffee verkauft.",
    "他是学生。",
    "Кошка спит на диване.",
]


def by_hand(model, tokenizer, bos, text):
    """The surprisal of each word: every token whose characters lie in it, one forward pass, nothing else."""
    encoded = tokenizer(text, return_offsets_mapping=True, add_special_tokens=False)
    ids = [bos, *encoded["input_ids"]]
    with torch.no_grad():
        logprobs = model(torch.tensor([ids])).logits[0].float().log_softmax(-1)
    spans = find_words(text)
    sums = [0.0] * len(spans)
    for place, (token, (start, end)) in enumerate(zip(ids[1:], encoded["offset_mapping"], strict=True)):
        last = max(start, end - 1)  # the last character of a token is never its blank
        number = next(n for n, (_, behind) in enumerate(spans) if last < behind)
        sums[number] += float(logprobs[place, token])
    return sums


def check(scorer, tokenizer, model, bos):
    scores = scorer.score([Request("x", n, "", text) for n, text in enumerate(SENTENCES)], PRESETS["natural"])
    for score, text in zip(scores, SENTENCES, strict=True):
        found = words(score.tokens, score.logprobs)
        assert math.fsum(word.logprob for word in found) == pytest.approx(score.sum, abs=1e-6)
        sums = by_hand(model, tokenizer, bos(tokenizer), text)
        place = 0
        for word in found:
            assert word.logprob == pytest.approx(sum(sums[place : place + word.covers]), abs=2e-3), (text, word.text)
            place += word.covers


def test_a_tiny_model_s_words_are_those_of_a_hand_computation(tiny_gpt2, tmp_path):
    scorer = Resources(settings_module.read(cache=tmp_path / "cache")).scorer(str(tiny_gpt2), "float32")
    tokenizer = t.AutoTokenizer.from_pretrained(tiny_gpt2)
    model = t.AutoModelForCausalLM.from_pretrained(tiny_gpt2).float().eval()
    check(scorer, tokenizer, model, lambda tokenizer: tokenizer.bos_token_id or tokenizer.eos_token_id)


@pytest.mark.slow
def test_the_embedded_gemma_s_words_are_those_of_a_hand_computation(embedded_model):
    model = embedded_model("gemma-3-270m")
    check(ModelScorer(model), model.tokenizer, model.model, lambda tokenizer: tokenizer.bos_token_id)


def test_without_a_bos_the_first_word_has_no_score(tiny_gpt2, tmp_path):
    import dataclasses

    scorer = Resources(settings_module.read(cache=tmp_path / "cache")).scorer(str(tiny_gpt2))
    policy = dataclasses.replace(PRESETS["natural"], bos="never")
    (score,) = scorer.score([Request("x", 0, "", "The cat sat.")], policy)
    first, *rest = words(score.tokens, score.logprobs)
    assert first.reason == FIRST and not any(word.reason for word in rest)
