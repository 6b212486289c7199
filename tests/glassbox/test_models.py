"""The model that comes along: its corpus is rebuilt byte for byte, its counts are exact, dose shows in its verdicts."""

from __future__ import annotations

import pytest

from explorer import benchmarks
from explorer import settings as settings_module
from explorer.errors import ModelError
from explorer.glassbox import corpus, index, ontology, pairs, schedule, starters
from explorer.popularity import indexes
from explorer.resources import Resources


@pytest.fixture(scope="module")
def world(embedded_cache):
    return Resources(settings_module.read(cache=embedded_cache))


@pytest.mark.slow
def test_the_corpus_is_the_same_bytes_everywhere_and_the_index_counts_the_schedule_exactly(world):
    documents = corpus.build(world.settings)
    assert corpus.corpus_hash(documents) == corpus.CORPUS
    counter = world.counter("glassbox")
    planted = [each for each in schedule.plantings(world.settings) if each.kind in ("pair", "concept", "synonym")]
    # An ID stands after a blank and after a bracket, its digits after the colon alone.
    ids = [each for each in planted if each.kind == "concept"]
    words = [each for each in planted if each.kind != "concept"]
    asked = [*counter.encode([each.ngram for each in words])]
    asked += counter.encode([each.ngram.removeprefix(ontology.PREFIX) for each in ids], bare=True)
    counts = counter.count(asked)
    wrong = [
        (each.id, count.count, each.dose)
        for each, count in zip([*words, *ids], counts, strict=True)
        if count.count != each.dose
    ]
    assert len(planted) > 2_800 and wrong == []


def test_the_index_is_known_by_the_hashes_of_its_corpus_and_tokenizer():
    assert index.index_id(indexes.GLASSBOX, corpus.CORPUS) == indexes.GLASSBOX_INDEX


def test_an_index_of_the_glass_box_is_its_models_pre_training_data_and_no_others():
    assert indexes.is_pretraining_data("glassbox", "glassbox-m") is True
    assert indexes.is_pretraining_data("glassbox-0123456789ab", "glassbox-s") is True
    assert not indexes.is_pretraining_data("glassbox", "gemma-3-270m")
    assert not indexes.is_pretraining_data("demo", "glassbox-m")


@pytest.mark.slow
def test_verdicts_follow_the_dose(world):
    scorer = world.scorer("glassbox-m")
    from explorer import prompts

    right: dict[int, list[bool]] = {}
    instances = benchmarks.load("glassbox_pairs", world.settings).instances[::2]
    scores = scorer.score([request for instance in instances for request in prompts.requests(instance)])
    for instance, first, second in zip(instances, scores[::2], scores[1::2], strict=True):
        right.setdefault(instance.extra["dose"], []).append(first.sum > second.sum)
    shares = {dose: sum(values) / len(values) for dose, values in right.items()}
    assert 0.35 < shares[0] < 0.7
    assert sum(shares[dose] for dose in (256, 512, 1024)) / 3 > 0.85


def test_a_model_that_was_not_trained_here_says_how_it_is_made(tmp_path, one_sentence):
    resources = Resources(settings_module.read(cache=tmp_path))
    for name, words in (("glassbox-l", "glassbox train l"), ("glassbox-m@step8", "after step8")):
        with pytest.raises(ModelError, match=words) as caught:
            resources.model(name)
        one_sentence(str(caught.value))


def test_a_benchmark_says_its_dose_as_its_phenomenon(tmp_path):
    instances = benchmarks.load("glassbox_pairs", settings_module.read(cache=tmp_path)).instances
    assert len(instances) == len(list(pairs.test_rows())) == 1_536
    assert {instance.phenomenon for instance in instances} == {f"dose {dose}" for dose in pairs.DOSES}


def test_doses_of_starter_texts_follow_from_their_ids_alone(tmp_path):
    instances = benchmarks.load("starter_causes", settings_module.read(cache=tmp_path)).instances
    assert starters.doses(instances) == starters.doses(tuple(instances))
    assert set(starters.doses(instances).values()) == {0, 1, 4, 16, 64}
