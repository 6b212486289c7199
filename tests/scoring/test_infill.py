"""Infilling by a tiny causal model against a loop that shares no code with the explorer."""

from __future__ import annotations

import pytest

from explorer import settings as settings_module
from explorer.scoring import hf, hf_infill
from explorer.scoring.model import Gap
from explorer.scoring.vocabulary_words import whole_words

GAPS = [
    Gap("The keys to the ", "old", " cabinet are on the kitchen table."),
    Gap("", "What", " did the teachers say?"),
    Gap("Nobody has seen the", " lid"[1:], ""),
    Gap("twice as ", "xylophone", " as before."),
]


class Vocabulary:
    """Stands for a tokenizer with these pieces."""

    def __init__(self, *pieces):
        self.pieces = pieces

    def get_vocab(self):
        return {piece: number for number, piece in enumerate(self.pieces)}


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        (("Ġcat", "dog", "ĠcafÃ©", "Ġ1", "Ġ", "▁"), {0: "cat"}),
        (("▁cat", "▁café", "dog", "Ġ", "▁x2"), {0: "cat", 1: "café"}),
        (("cat", "##s", "[MASK]", "."), {0: "cat"}),
    ],
)
def test_whole_words_are_those_with_the_vocabularys_own_mark(pieces, words):
    found, ids = whole_words(Vocabulary(*pieces))
    assert found == words and ids.tolist() == sorted(words)


@pytest.mark.parametrize("architecture", ["gpt2", "gemma3_text"])
def test_candidates_and_their_order_equal_a_plain_loop(architecture, tiny_folders, naive, tmp_path):
    import torch
    import transformers

    folder = tiny_folders(architecture)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    infiller = hf_infill.Infiller(hf.load(str(folder), settings_module.read(cache=tmp_path), dtype="float32"))
    assert infiller.method == f"causal-LM infilling by {folder}"
    words = infiller._words
    bos = [tokenizer.bos_token_id]
    for gap, proposed in zip(GAPS, infiller.propose(GAPS, 50), strict=True):
        left = gap.left.rstrip(" ")
        front = bos if architecture == "gemma3_text" or not left else []
        ids = front + (tokenizer(left, add_special_tokens=False)["input_ids"] if left else [])
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0, -1]
        expected = sorted(words, key=lambda number: -float(logits[number]))[: hf_infill.FROM_CONTEXT]
        pool = {words[number] for number in expected}
        of_word = {word: number for number, word in sorted(words.items(), reverse=True)}
        own = of_word.get(gap.word, of_word.get(gap.word.lower()))
        if own is not None:
            weight = model.get_input_embeddings().weight.detach()
            cosines = torch.nn.functional.cosine_similarity(weight, weight[own][None])
            near = sorted((n for n in words if n != own), key=lambda number: -float(cosines[number]))
            pool |= {words[number] for number in near[: hf_infill.FROM_EMBEDDINGS]}
        capital = gap.word[:1].isupper()
        pool = {word[:1].upper() + word[1:] if capital else word for word in pool if word.lower() != gap.word.lower()}
        assert {word for word, _ in proposed} == {word for word in pool if word.isascii()}
        values = [value for _, value in proposed]
        assert values == sorted(values, reverse=True)
        for word, value in proposed:
            blank = " " if gap.left.endswith(" ") else ""
            right = hf_infill.following(gap.right)
            logprobs, _ = naive.score(model, tokenizer, left, f"{blank}{word}{right}")
            assert value == pytest.approx(sum(logprobs), abs=1e-3)


def test_what_follows_is_cut_at_a_words_end():
    right = " and then " + "word " * 40
    cut = hf_infill.following(right)
    assert right.startswith(cut) and len(cut) <= hf_infill.FOLLOWING_CHARACTERS and right[len(cut)] == " "
    assert hf_infill.following(" short.") == " short."
    assert len(hf_infill.following("x" * 500)) == hf_infill.FOLLOWING_CHARACTERS


def test_a_run_names_the_infilling_model_where_no_masked_one_can_be_had(settings, tiny_folders, monkeypatch):
    from explorer.resources import Resources

    monkeypatch.setattr(hf_infill, "EMBEDDED", str(tiny_folders("gpt2")))
    offline = Resources(settings_module.read(cache=settings.cache))
    assert offline.proposer("auto").method == f"causal-LM infilling by {tiny_folders('gpt2')}"
    named = offline.proposer(f"infill:{tiny_folders('gemma3_text')}")
    assert named.method == f"causal-LM infilling by {tiny_folders('gemma3_text')}"


def test_the_scored_model_fills_gaps_itself_in_float32_and_else_one_beside_it(settings, tiny_folders):
    from explorer.resources import Resources

    name = str(tiny_folders("gpt2"))
    same = Resources(settings)
    scored = same.model(name, "float32")
    assert same.proposer(f"infill:{name}").model is scored
    other = Resources(settings)
    half = other.model(name, "bfloat16")
    filling = other.proposer(f"infill:{name}").model
    assert (filling.dtype, half.dtype) == ("float32", "bfloat16")
    assert other.model(name, "bfloat16") is half  # kept: no part of a run loads it anew
