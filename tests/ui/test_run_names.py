"""What runs are called: what differs between them, in words."""

from __future__ import annotations

import json
from datetime import datetime

import pandas as pd

from explorer.studies import study
from explorer.ui import run_names


def runs(*changes: dict) -> pd.DataFrame:
    """A run a dictionary of what differs from an accuracy run of one model on one benchmark."""
    rows = []
    for number, change in enumerate(changes):
        settings = study("accuracy").resolve({}) | change.get("settings", {})
        row = {"run_id": f"accuracy-00000{number}", "study": "accuracy", "model": "gemma-3-270m",
               "benchmark": "starter_pairs", "done": 2800, "status": "complete", "seed": 0,
               "created": datetime(2026, 11, 28, 14, 5)} | change  # fmt: skip
        rows.append({name: value for name, value in row.items() if name != "settings"}
                    | {"spec": json.dumps({"settings": settings})})  # fmt: skip
    return pd.DataFrame(rows)


def test_a_name_says_what_differs_and_leaves_out_what_all_share():
    named = run_names.names(runs({"model": "gemma-3-270m"}, {"model": "smollm2-135m-instruct"}))
    first, second = named.values()
    assert first.startswith("Gemma 3 270M · 2,800 instances") and second.startswith("SmolLM2 135M Instruct · ")
    assert "Starter pairs" not in first and "seed" not in first


def test_settings_and_seeds_tell_runs_of_one_model_apart_in_words():
    named = run_names.names(runs({"settings": {"per_group": 5}}, {"settings": {"per_group": 9}, "seed": 3}))
    assert "5 a group" in named["accuracy-000000"]
    assert "9 a group" in named["accuracy-000001"] and "seed 3" in named["accuracy-000001"]
    assert "_" not in "".join(named.values())


def test_runs_that_read_different_chat_templates_are_told_apart_without_a_hash():
    asked = [{"chat": "always", "template": mark * 16} for mark in "abac"]
    folder = [{"model": "/models/talker", "settings": one, "created": datetime(2026, 11, 28, 14, minute)}
              for minute, one in enumerate(asked)]  # fmt: skip
    named = list(run_names.names(runs(*folder)).values())
    assert ["template changed" in name for name in named] == [False, True, False, True]
    assert "chat template changed again" in named[3]
    assert not any("aaaa" in name or "bbbb" in name or "cccc" in name for name in named)
    others = runs(folder[0], folder[1] | {"model": "/models/other"})
    assert not any("template" in name for name in run_names.names(others).values())


def specs_of(*changes: dict) -> pd.DataFrame:
    """Runs alike but for what their specs say beside settings, each a minute after the one before."""
    frame = runs(*({"created": datetime(2026, 11, 28, 14, minute)} for minute in range(len(changes))))
    frame["spec"] = [json.dumps(json.loads(spec) | change) for spec, change in zip(frame["spec"], changes, strict=True)]
    return frame


def test_runs_of_another_dtype_or_revision_are_told_apart_by_it():
    numbers = specs_of({"dtype": "auto"}, {"dtype": "bfloat16"})
    assert list(run_names.short_names(numbers).values()) == [
        "Gemma 3 270M (dtype auto)",
        "Gemma 3 270M (dtype bfloat16)",
    ]
    assert "dtype bfloat16" in run_names.names(numbers)["accuracy-000001"]
    revisions = list(run_names.short_names(specs_of({"revision": "main"}, {"revision": "step1000"})).values())
    assert "main" in revisions[0] and "step1000" in revisions[1]


def test_runs_of_other_weights_or_other_files_of_a_benchmark_say_so_without_a_hash():
    for name, label in (("weights", "weights changed"), ("data_hash", "files of the benchmark changed")):
        frame = specs_of({name: "a" * 16}, {name: "b" * 16})
        first, second = run_names.short_names(frame).values()
        assert label not in first and label in second and "bbbb" not in second
        assert label in run_names.differing_settings(frame)["accuracy-000001"]
    others = specs_of({"data_hash": "a" * 16}, {"data_hash": "b" * 16}).assign(benchmark=["blimp", "piqa"])
    assert "files" not in "".join(run_names.short_names(others).values())


def test_checkpoints_whose_names_say_their_revision_were_asked_alike():
    steps = [{"model": f"glassbox-m@{step}", "revision": step} for step in ("step1", "step2")]
    frame = specs_of(*steps).assign(model=[step["model"] for step in steps])
    assert set(run_names.differing_settings(frame).values()) == {""}


def test_what_has_no_dtype_differs_in_none():
    assert set(run_names.differing_settings(specs_of({"dtype": "float32"}, {"dtype": ""})).values()) == {""}


def test_other_files_are_those_of_a_split_and_never_of_an_import():
    hashes = ({"data_hash": "a" * 16}, {"data_hash": "b" * 16})
    for settings in ({"split": "dev"}, {"imported": "predictions"}):
        frame = specs_of(hashes[0], {**hashes[1], "settings": settings})
        assert "files of the benchmark" not in "".join(run_names.differing_settings(frame).values())


def test_names_that_would_be_equal_end_in_what_tells_the_runs_apart():
    named = run_names.names(runs({}, {}))
    assert len(set(named.values())) == 2 and named["accuracy-000000"].endswith("000000")


def test_a_short_name_is_the_model_alone_where_that_is_enough():
    assert list(run_names.short_names(runs({}, {"model": "smollm2-135m-instruct"})).values()) == [
        "Gemma 3 270M",
        "SmolLM2 135M Instruct",
    ]
    same = run_names.short_names(runs({"settings": {"bos": "never"}}, {"settings": {"bos": "always"}}))
    assert list(same.values()) == ["Gemma 3 270M (BOS never)", "Gemma 3 270M (BOS always)"]


def test_a_run_that_is_not_complete_says_so():
    assert "3 instances, cancelled" in next(iter(run_names.names(runs({"status": "cancelled", "done": 3})).values()))


def test_settings_in_words_are_those_that_are_not_the_studys_own():
    settings = study("memorization").resolve({"neighbours": 5, "neighbours_by": "infill:gemma-3-270m"})
    said = run_names.settings_in_words(settings, "memorization")
    assert said == "5 neighbors, neighbors by infilling with Gemma 3 270M"
    assert run_names.settings_in_words(study("accuracy").resolve({}), "accuracy") == ""


def test_a_reference_set_of_deciles_is_told_in_words():
    stored = "all options of 1,536 instances of glassbox_pairs, edges of popularity-20261128-140500-ab12cd"
    assert run_names.reference_title(stored) == (
        "all options of 1,536 instances of Glass box: planted pairs, edges of run ab12cd"
    )
    assert run_names.reference_title("all options of 2,800 instances of Starter pairs").endswith("of Starter pairs")
