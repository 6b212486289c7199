"""The page Trajectories, with runs of made-up checkpoints and without any."""

from __future__ import annotations

import html

import pytest

from tests import made_up_sweep


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A cache with runs of five checkpoints of two sizes."""
    cache = tmp_path_factory.mktemp("swept") / "cache"
    made_up_sweep.make(cache)
    return made_up_sweep.make(cache, "glassbox-s")


def words_of(app) -> str:
    return html.unescape(" ".join(block.proto.body for block in app.html if "<style>" not in block.proto.body))


def test_without_a_sweep_the_page_says_how_to_make_one(open_page, tmp_path):
    app = open_page("trajectories", tmp_path / "cache")
    assert not app.exception and "No trajectory yet" in words_of(app)
    assert any("@step{0,1,2,4" in code.value for code in app.code)


def test_one_run_is_no_trajectory(open_page, cache):
    app = open_page("trajectories", cache)
    assert not app.exception and "No trajectory yet" in words_of(app)


@pytest.mark.shares_answers("swept")
def test_the_page_opens_on_a_figure_under_its_sentence(open_page, swept):
    app = open_page("trajectories", swept)
    assert not app.exception and len(app.get("plotly_chart")) == 1
    told = words_of(app)
    assert "Glass box M: the share of right answers rises from" in told and "without training" in told
    assert app.get("plotly_chart")[0].proto.spec.count("Glass box") >= 2


@pytest.mark.shares_answers("swept")
@pytest.mark.parametrize(
    "view", [{}, {"trajectory": "When learned"}, {"trajectory": "One instance"}], ids=["findings", "learned", "one"]
)
def test_the_end_that_comes_along_is_told_from_the_checkpoints_of_another_training(open_page, swept, view):
    told = words_of(open_page("trajectories", swept, **view))
    assert "The last dot of Glass box M is the released model" in told
    trained = swept / "models" / "glassbox-m"  # by whoever has the cache: then all of it is one training
    trained.mkdir(parents=True)
    assert "comes along" not in words_of(open_page("trajectories", swept, **view))
    trained.rmdir()


@pytest.mark.shares_answers("swept")
@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"along": "parameters"}, "Glass box after"),
        ({"along": "steps"}, "rises from"),
        ({"of_study": "popularity"}, "popular half"),
        ({"of_study": "popularity", "read": "gap"}, "None of these runs has this number"),
        (
            {"of_study": "popularity", "read": '["popularity_half", "overall", {"setting": "low"}]'},
            "accuracy of the half",
        ),
    ],
)
def test_choices_stand_in_the_address(open_page, swept, choices, said):
    app = open_page("trajectories", swept, **choices)
    assert not app.exception and said in words_of(app)
    for name, value in choices.items():
        assert app.query_params[name] == value


@pytest.mark.shares_answers("swept")
def test_popular_instances_are_learned_earlier_where_that_was_planted(open_page, swept):
    app = open_page("trajectories", swept, trajectory="When learned")
    assert not app.exception and len(app.get("plotly_chart")) == 1
    told = words_of(app)
    assert "Glass box M learns popular instances earlier" in told and "of 8 paradigms" in told
    assert "were not learned by the end" in told


@pytest.mark.shares_answers("swept")
def test_an_instance_is_shown_with_the_step_at_which_it_was_learned(open_page, swept):
    one = next(item for item in made_up_sweep.instances(swept) if made_up_sweep.right_from(item) == 3)
    app = open_page("trajectories", swept, trajectory="One instance", instance=one.id)
    assert not app.exception and len(app.get("plotly_chart")) == 1
    told = words_of(app)
    assert "has learned it after 4 steps (65.5K tokens): from there on it stays right" in told
    assert f"The corpus holds what decides it {made_up_sweep.dose_of(one):,} times" in told
    app = open_page("trajectories", swept, trajectory="One instance", words="no such words anywhere")
    assert not app.exception and "No instance matches" in words_of(app)
