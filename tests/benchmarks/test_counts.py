"""Every benchmark's number of instances and groups, from the real files."""

from collections import Counter

import pytest

from explorer import benchmarks
from explorer.benchmarks import BENCHMARKS
from explorer.prompts import FORMATS, option_texts, requests

COUNTS = {
    "blimp": (67_000, 67),
    "syntaxgym": (842, 34),
    "crows_pairs": (1_508, 9),
    "lambada": (5_153, 1),
    "lambada_original": (5_153, 1),
    "piqa": (1_838, 1),
    "copa": (1_000, 2),
    "copa_superglue": (100, 2),
    "winogrande": (1_267, 1),
    "winogrande_train_xs": (160, 1),
    "wnli": (635 + 71, 2),
    "rte": (2_490 + 277, 2),
    "trec": (5_452 + 500, 6),
    "dbpedia14": (14_000, 14),
    "go": (42_854, 1),
    "uberon": (15_543, 1),
}


def test_every_published_benchmark_is_counted_here():
    assert set(COUNTS) == {name for name in BENCHMARKS if not name.startswith(("starter_", "glassbox_"))}


@pytest.mark.parametrize("name", COUNTS)
def test_count_and_groups(real, name):
    loaded = real(name)
    assert (len(loaded.instances), len({instance.group for instance in loaded.instances})) == COUNTS[name]
    assert loaded.left_out == ()


@pytest.mark.parametrize("name", COUNTS)
def test_every_id_is_its_own_and_has_three_parts(real, name):
    ids = [instance.id for instance in real(name).instances]
    assert len(set(ids)) == len(ids)
    for instance in real(name).instances:
        benchmark, group, key = instance.id.split("/", 2)
        assert (benchmark, group) == (name, instance.group) and key
        assert instance.benchmark == name


@pytest.mark.parametrize("name", COUNTS)
def test_every_instance_is_of_the_benchmarks_kind_and_splits_and_can_be_asked(real, name):
    benchmark = BENCHMARKS[name]
    for instance in real(name).instances[::97]:
        assert instance.kind == benchmark.kind
        assert instance.split in benchmark.default_splits
        assert instance.format in FORMATS
        assert instance.gold is None or 0 <= instance.gold < len(instance.options)
        assert requests(instance) and all(request.continuation for request in requests(instance))
        assert option_texts(instance) and all(option_texts(instance))


def test_the_files_are_as_published(real):
    for name in COUNTS:
        assert "not as published" not in real(name).source


def test_splits_can_be_chosen(real_settings):
    def count(name, *splits):
        return Counter(instance.split for instance in benchmarks.load(name, real_settings, splits=splits).instances)

    assert count("wnli", "dev") == {"dev": 71}
    assert count("rte", "train") == {"train": 2_490}
    assert count("trec", "test") == {"test": 500}
    assert count("copa", "test") == {"test": 500}
    assert count("copa", "test", "dev") == {"dev": 500, "test": 500}


def test_all_of_blimp_is_read_in_order(real):
    instances = real("blimp").instances
    assert [i.group for i in instances[::1000]] == sorted({i.group for i in instances})
    assert all(instances[at].id.endswith(f"/{at % 1000}") for at in range(0, 67_000, 501))


def test_loading_again_gives_the_same_hash_and_ids(real, real_settings):
    assert benchmarks.load("blimp", real_settings) == real("blimp")
