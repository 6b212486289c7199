from __future__ import annotations

import dataclasses

import pytest

from explorer.scoring.policy import PRESETS, ScoringPolicy


@pytest.mark.parametrize(
    "blanks, context, moved",
    [
        ("spaces", "a \n  ", ("a \n", "  b")),
        ("spaces", "a\t", ("a\t", "b")),
        ("spaces", "a\u00a0", ("a\u00a0", "b")),
        ("spaces", "   ", ("", "   b")),
        ("whitespace", "a \n  ", ("a", " \n  b")),
        ("stay", "a  ", ("a  ", "b")),
    ],
)
def test_which_trailing_blanks_move(blanks, context, moved):
    assert ScoringPolicy(blanks=blanks).move(context, "b") == moved


def test_the_presets_fix_every_convention():
    conventions = {
        name: (policy.bos, policy.blanks, policy.split, policy.normalization, policy.ties)
        for name, policy in PRESETS.items()
    }
    assert conventions == {
        "natural": ("auto", "spaces", "offsets", "sum", "half"),
        "lm-eval": ("declared", "whitespace", "spliced", "sum", "first"),
        "minicons": ("tokenizer", "stay", "token_count", "mean_token", "first"),
        "pll": ("tokenizer", "spaces", "offsets", "sum", "half"),
        "seq2seq": ("tokenizer", "spaces", "offsets", "sum", "half"),
        "decoder": ("tokenizer", "spaces", "offsets", "sum", "half"),
    }
    assert all(policy.preset == name for name, policy in PRESETS.items())


def test_a_policy_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        PRESETS["natural"].bos = "never"  # type: ignore[misc]
