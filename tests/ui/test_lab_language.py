"""The swap lab and a text in another language: a sentence, no words to click, and the numbers go on."""

import os
from pathlib import Path

import pytest

from explorer.errors import CountError
from explorer.settings import Settings

GERMAN = "Der Mann hat einen Hund."


@pytest.fixture
def cache(shared_settings: Settings, tmp_path: Path) -> Path:
    """A cache of the test's own with WordNet in it."""
    from explorer.variants.wordnet import find_wordnet

    folder = find_wordnet(shared_settings)
    assert folder is not None
    place = tmp_path / "nltk_data" / "corpora"
    place.mkdir(parents=True)
    os.symlink(folder, place / "wordnet")
    return tmp_path


def no_index(*words, **named):
    raise CountError("No index here.")


def test_the_lab_refuses_to_swap_german_in_a_sentence(open_page, cache, tiny_gpt2, monkeypatch):
    monkeypatch.setattr("explorer.glassbox.index.ensure_own", no_index)  # WordNet is here, so it would be built
    app = open_page("perturbation", cache, model=str(tiny_gpt2), what="A text of my own", text=GERMAN, facet="Lab")
    assert not app.exception
    assert any("This text is not English" in warning.value for warning in app.warning)
    assert not any("has a synonym that fits" in note.value for note in app.caption)
