"""One color per model."""

from __future__ import annotations

import pandas as pd
import pytest

from explorer.figures import theme
from explorer.figures.comparison import groups_of_two_runs
from explorer.figures.headline import headline
from explorer.figures.model_names import model_title
from explorer.figures.models import COLORS, model_color, model_colors
from explorer.scoring import catalog
from explorer.ui.popularity.figure_dumbbells import dumbbells

GEMMA, SMOLLM = (model.title for model in catalog.EMBEDDED_MODELS[:2])


def test_a_model_has_one_color_by_its_id_and_by_its_title():
    for model in catalog.EMBEDDED_MODELS:
        assert model_color(model.id) == model_color(model.title) == model_color(f"{model.title} (b079e9)")
        assert model_title(model.id) == model.title
    assert model_color(GEMMA) != model_color(SMOLLM)
    assert model_color("somebody/new") == model_color("somebody/new") and theme.GRAY not in COLORS


@pytest.mark.parametrize(
    ("model", "title"),
    [
        ("EleutherAI/pythia-12b-deduped", "Pythia 12B (deduped)"),
        ("openai:gpt-3.5-turbo", "GPT-3.5 Turbo"),
        ("openai:gpt-4", "GPT-4"),
        ("openai:gpt-4o-mini", "GPT-4o Mini"),
        ("google/gemma-3-270m-it", "Gemma 3 270M Instruct"),
        ("HuggingFaceTB/SmolLM2-135M-Instruct", "SmolLM2 135M Instruct (HuggingFaceTB)"),
        ("meta-llama/Llama-3.2-1B", "Llama 3.2 1B (meta-llama)"),
        ("somebody/pythia-12b-deduped", "Pythia 12B (deduped, somebody)"),
        ("somebody/pythia-12b@v2", "Pythia 12B (somebody), revision v2"),
        ("http://localhost:8000/v1#Qwen/qwen2.5-7b-instruct", "Qwen2.5 7B Instruct (localhost:8000)"),
        ("/home/me/models/my_model-3", "My Model 3 (models)"),
        ("mistralai/Mixtral-8x7B-v0.1", "Mixtral 8x7B v0.1 (mistralai)"),
        ("EleutherAI/pythia-70m@step512", "Pythia 70M, step 512"),
        ("EleutherAI/pythia-70m@step143000", "Pythia 70M, step 143,000"),
        ("toy", "toy"),
        ("GPT-3.5 Turbo", "GPT-3.5 Turbo"),
    ],
)
def test_a_model_goes_by_a_name_in_words_made_from_its_id(model, title):
    assert model_title(model) == title
    assert model_color(model) == model_color(title)


def test_no_two_models_of_the_catalog_have_one_name():
    titles = [model_title(name).casefold() for name in catalog.MODELS]
    assert len(set(titles)) == len(titles)
    assert not any("/" in title or "_" in title for title in titles)


def test_two_models_of_a_figure_never_share_a_color_while_there_are_enough():
    names = [f"somebody/model-{number}" for number in range(len(COLORS))]
    assert len(set(model_colors(names))) == len(COLORS)
    assert model_colors(["one", "one"])[0] == model_color("one")  # two runs of one model
    assert len(set(model_colors(["one", "one"]))) == 2
    assert len(model_colors([*names, "one more"])) == len(COLORS) + 1


def test_every_figure_of_models_draws_a_model_in_its_color_whatever_stands_before_it():
    rows = pd.DataFrame(
        {"benchmark": ["b", "b"], "model": [SMOLLM, GEMMA], "value": [0.5, 0.6], "low": [0.4, 0.5],
         "high": [0.6, 0.7], "n": [9, 9]}
    )  # fmt: skip
    assert {trace.name: trace.marker.color for trace in headline(rows).data} == {
        SMOLLM: model_color(SMOLLM),
        GEMMA: model_color(GEMMA),
    }
    groups = pd.DataFrame({"grp": ["a"], "n": [9], "value_a": [0.5], "low_a": [0.4], "high_a": [0.6],
                           "value_b": [0.6], "low_b": [0.5], "high_b": [0.7]})  # fmt: skip
    two = [trace for trace in groups_of_two_runs(groups, SMOLLM, GEMMA).data if trace.name]
    assert [trace.marker.color for trace in two] == [model_color(SMOLLM), model_color(GEMMA)]
    halves = pd.DataFrame(
        {f"{end}_{part}": [0.5, 0.6] for end in ("low", "high") for part in ("value", "low", "high", "n")}
    ).assign(task="t", field="f", model=[SMOLLM, GEMMA], p=0.5)
    ends = {"low": "low half", "high": "high half"}
    drawn = {trace.name: trace.marker.color for trace in dumbbells(halves, ends, "Accuracy").data if trace.name}
    assert drawn == {SMOLLM: model_color(SMOLLM), GEMMA: model_color(GEMMA)}


def test_a_remark_in_the_parentheses_of_a_name_leaves_it_its_color():
    assert model_color("Pythia 160M (deduped, imported)") == model_color("Pythia 160M (deduped)")
    assert model_color("Pythia 160M (imported)") == model_color("Pythia 160M") != model_color("Pythia 160M (deduped)")


def test_the_glass_boxes_have_other_colors_than_the_models_they_stand_beside():
    names = [*(f"glassbox-{size}" for size in ("xs", "s", "m", "l")), "gemma-3-270m", "smollm2-135m-instruct",
             "EleutherAI/pythia-12b-deduped", "openai:gpt-3.5-turbo"]  # fmt: skip
    assert len({model_color(name) for name in names}) == len(names)
    assert model_color("GPT-3.5 Turbo (imported)") == model_color("openai:gpt-3.5-turbo")
    for color in {model_color(name) for name in names}:
        assert (
            min(theme.contrast(color, ground.paper) for ground in theme.THEMES.values()) >= 3 or color in theme.PALETTE
        )


def test_the_line_of_a_dumbbell_ends_at_the_rim_of_its_ring():
    halves = pd.DataFrame({"low_value": [0.4, 0.8, 0.7], "high_value": [0.9, 0.3, 0.7]}).assign(
        **{f"{end}_{part}": 0.5 for end in ("low", "high") for part in ("low", "high", "n")},
        task=["up", "down", "same"], field="f", model=GEMMA, p=0.5,
    )  # fmt: skip
    figure = dumbbells(halves, {"low": "low half", "high": "high half"}, "Accuracy")
    thin = next(trace for trace in figure.data if trace.mode == "lines" and trace.x)
    assert len(thin.x) == 6, "two accuracies that are the same have no line"
    assert 0.4 < thin.x[0] < 0.42 and thin.x[1] == 0.9
    assert 0.78 < thin.x[3] < 0.8 and thin.x[4] == 0.3
