"""Lists of models as people write them."""

from __future__ import annotations

import pytest

from explorer.errors import UsageError
from explorer.runs.name_lists import expand


@pytest.mark.parametrize(
    ("written", "names"),
    [
        (["gpt2", "gpt2-medium", "gpt2"], ["gpt2", "gpt2-medium"]),
        (["a@step{0,1,2}"], ["a@step0", "a@step1", "a@step2"]),
        (["{a,b}@s{1,2}"], ["a@s1", "a@s2", "b@s1", "b@s2"]),
        (["a@s{1,2,4,...,20}", "c"], ["a@s1", "a@s2", "a@s4", "a@s8", "a@s16", "a@s20", "c"]),
        (["a@s{10,20,...,50}"], ["a@s10", "a@s20", "a@s30", "a@s40", "a@s50"]),
        (["glassbox-m@step{0,1,...,8}"], [f"glassbox-m@step{step}" for step in (0, 1, 2, 4, 8)]),
    ],
)
def test_braces_and_dots_stand_for_names(written, names):
    assert expand(written) == names


def test_all_checkpoints_of_pythia_are_known():
    names = expand(["EleutherAI/pythia-160m@step{0,1,2,4,...,143000}"])
    assert len(names) == 154
    assert names[10:13] == [f"EleutherAI/pythia-160m@step{step}" for step in (512, 1000, 2000)]


def test_what_a_shell_made_of_the_braces_is_read_alike():
    opened = [f"EleutherAI/pythia-160m@step{part}" for part in ("0", "1", "2", "4", "...", "143000")]
    assert expand(opened) == expand(["EleutherAI/pythia-160m@step{0,1,2,4,...,143000}"])


def test_a_folder_is_taken_by_its_name(tmp_path):
    folder = tmp_path / "a{b,c}..."
    folder.mkdir()
    assert expand([str(folder)]) == [str(folder)]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (["a..."], "numbers on both sides"),
        (["a@s{4,...,2}"], "the larger one last"),
        (["a@s{5,...,9}"], "Write the numbers out"),
        (["a@s{1,2,7,...,99}"], "How 1, 2, 7 goes on is not known"),
        (["a@s{1,2,...,5000}"], "1,000 at most"),
    ],
)
def test_dots_that_stand_for_nothing_known_are_refused(written, message):
    with pytest.raises(UsageError, match=message):
        expand(written)
