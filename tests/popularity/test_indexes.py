"""Which index holds which model's pre-training data."""

from __future__ import annotations

import pytest

from explorer.popularity.indexes import (
    CORPORA,
    INDEXES,
    KINSHIP,
    TRAINED_ON,
    describe_relation,
    is_pretraining_data,
    models_of,
    suggest_index,
)


@pytest.mark.parametrize(
    ("index", "model", "expected"),
    [
        ("v4_piletrain_llama", "EleutherAI/pythia-6.9b", True),
        ("v4_piletrain_llama", "EleutherAI/pythia-12b-deduped", True),
        ("mini:v2_piletrain", "EleutherAI/pythia-2.8b", True),
        ("v4_pileval_llama", "EleutherAI/pythia-6.9b", False),
        ("v4_dolma-v1_7_llama", "allenai/OLMo-7B-hf", True),
        ("v4_piletrain_llama", "allenai/OLMo-7B-hf", False),
        ("v4_olmo-mix-1124_llama", "allenai/OLMo-2-1124-7B", True),
        ("v4_piletrain_llama", "openai-community/gpt2", False),
        ("v4_piletrain_llama", "google/gemma-3-270m", None),
        ("v4_piletrain_llama", "gemma-3-270m", None),
        ("v4_piletrain_llama", "somebody/unheard-of", None),
        ("/some/folder", "EleutherAI/pythia-6.9b", None),
        ("demo", "EleutherAI/pythia-6.9b", False),
        ("demo-0123456789ab", "google/gemma-3-270m", False),
        ("glassbox", "glassbox-m", True),
        ("glassbox-0123456789ab", "glassbox-s@step512", True),
        ("glassbox", "glassbox-xs@step16", True),
        ("glassbox-mine", "glassbox-mine-xs", True),
        ("glassbox-mine", "glassbox-xs", False),
        ("glassbox", "gemma-3-270m", False),
        ("glassbox", "/cache/models/glassbox-mine-s", True),
        ("glassbox-mine-0123456789ab", "/cache/models/glassbox-mine-s@step4", True),
        ("glassbox-mine", "gpt2", False),
        ("glassbox-mine", "glassbox-m", False),
    ],
)
def test_an_index_is_or_is_not_a_models_data(index, model, expected):
    assert is_pretraining_data(index, model) is expected


def test_an_index_of_earlier_versions_is_plainly_said_to_be_nobodys_data():
    sentence = describe_relation("demo", "gemma-3-270m")
    assert "the demonstration index of earlier versions" in sentence
    assert "not the pre-training data of gemma-3-270m" in sentence


def test_the_index_of_the_glass_box_says_whose_data_it_is():
    assert describe_relation("glassbox", "glassbox-m").endswith("the pre-training data of glassbox-m.")
    assert "not the pre-training data of gemma-3-270m" in describe_relation("glassbox", "gemma-3-270m")
    assert "what was planted" in describe_relation("glassbox-mine", "/cache/models/glassbox-mine-s")
    assert "planted beside it" in describe_relation("glassbox", "/cache/models/glassbox-mine-s")


def test_another_version_of_the_corpus_is_named():
    sentence = describe_relation("v4_dolma-v1_7_llama", "allenai/OLMo-7B-hf")
    assert "trained on Dolma 1.5" in sentence and "a later version" in sentence


def test_unpublished_data_are_called_so():
    assert "never published" in describe_relation("v4_piletrain_llama", "google/gemma-3-270m")


def test_every_name_in_the_tables_is_known():
    assert {known.corpus for known in INDEXES.values()} <= set(CORPORA)
    assert {corpus for corpus in TRAINED_ON.values() if corpus} <= set(CORPORA)
    assert {corpus for pair in KINSHIP for corpus in pair} <= set(CORPORA)


def test_an_index_lists_the_models_trained_on_it():
    assert "pythia-*" in models_of("v4_piletrain_llama")
    assert models_of("v4_pileval_llama") == []


def test_a_model_is_offered_the_index_of_its_own_data():
    assert suggest_index("EleutherAI/pythia-2.8b") == "v4_piletrain_llama"
    assert suggest_index("allenai/OLMo-1B-hf") == "v4_dolma-v1_7_llama"
    assert suggest_index("google/gemma-3-270m") is None
