"""Families of models: how far each was trained."""

import pytest

from explorer.glassbox import sizes
from explorer.scoring import suites
from explorer.scoring.suites import SUITES, steps_of, training_of


def test_a_checkpoint_says_its_step_its_tokens_and_its_size():
    # 512 steps of 2,097,152 tokens
    training = training_of("EleutherAI/pythia-160m@step512")
    assert (training.step, training.tokens, training.parameters) == (512, 1_073_741_824, 162_322_944)


def test_a_model_without_a_revision_is_the_end_of_its_run():
    assert training_of("EleutherAI/pythia-70m").step == 143_000
    assert training_of("EleutherAI/pythia-70m@main").tokens == 143_000 * 2_097_152


def test_other_models_and_other_revisions_are_of_no_suite():
    assert training_of("gpt2") is None
    assert training_of("EleutherAI/pythia-70m@abc123") is None
    assert steps_of("gpt2") == ()


@pytest.mark.parametrize("model", ["glassbox-m@step0", "EleutherAI/pythia-70m@step143000", "glassbox-s@step1024"])
def test_a_step_of_a_suite_is_a_checkpoint(model):
    assert suites.is_checkpoint(model) and not suites.is_checkpoint(model.partition("@")[0])


@pytest.mark.parametrize("model", ["gpt2@step100", "EleutherAI/pythia-70m@abc123", "glassbox-m"])
def test_another_revision_or_model_is_none(model):
    assert not suites.is_checkpoint(model)


def test_sizes_rise_within_a_suite():
    for suite in SUITES.values():
        assert list(suite.sizes.values()) == sorted(suite.sizes.values())
        assert len(suite.sizes) > 1


def test_suites_of_sizes_alone_say_no_step():
    assert list(SUITES["gpt-2"].sizes) == [f"openai-community/gpt2{size}" for size in ("", "-medium", "-large", "-xl")]
    assert len(SUITES["opt"].sizes) > 3 and len(SUITES["olmo-2"].sizes) == 3 and len(SUITES["olmo"].sizes) == 2
    assert training_of("openai-community/gpt2-xl") is None and steps_of("facebook/opt-125m") == ()


def test_the_glass_boxes_steps_are_those_its_training_keeps():
    assert list(SUITES["glassbox"].steps) == sizes.checkpoint_steps(SUITES["glassbox"].steps[-1])
