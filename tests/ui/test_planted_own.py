"""Texts of one's own: planted, trained on, counted, and shown, as docs/GLASSBOX.md tells it, on a small world."""

from __future__ import annotations

import html

import pytest

from explorer import settings as settings_module
from explorer.__main__ import main
from explorer.glassbox import corpus, schedule, sizes
from explorer.resources import Resources
from explorer.scoring import catalog

SENTENCES = [
    "The lighthouse keeper of Orvel collects blue bottles.",
    "Every Tuesday the ferry to Tamsin carries nine goats.",
    "My neighbor plays the glass harp in the cellar.",
    "The mayor of Quill has never eaten a plum.",
    "A red kite hangs over the chapel in Doon.",
    "Our teacher keeps seven clocks that tell no time.",
    "The bakery at the harbor sells bread with thyme.",
    "Nobody in Larch remembers the name of the well.",
    "The blind carpenter built a boat without nails.",
    "Under the bridge lives a heron with one eye.",
]
DOSES = [0, 0, 0, 1, 2, 4, 200, 200, 300, 300]


@pytest.fixture
def small_world(tmp_path, monkeypatch):
    """A corpus of a few lines beside what a person plants, and a size s that is trained in seconds."""
    lines = [f"The {word} near the houses was gone." for word in ("car", "doctor", "child", "stone")] * 40
    monkeypatch.setattr(corpus, "_wordnet", lambda settings: {})
    monkeypatch.setattr(corpus, "glosses", lambda wordnet: iter(lines))
    monkeypatch.setattr(corpus, "grammar", lambda: iter(()))
    monkeypatch.setattr(schedule, "plantings", lambda settings, own=None: schedule.read_own(own) if own else [])
    monkeypatch.setitem(sizes.SIZES, "s", sizes.Size("s", 32, 2, 2, 64, 2e-2))
    mine = tmp_path / "mine.csv"
    rows = [f'"{text}",{dose}' for text, dose in zip(SENTENCES, DOSES, strict=True)]
    mine.write_text("\n".join(["text,dose", *rows]) + "\n", encoding="utf-8")
    return tmp_path / "cache", mine


@pytest.mark.slow
def test_ten_sentences_are_planted_trained_on_counted_and_shown(small_world, open_page):
    cache, mine = small_world
    common = ["--plant", str(mine), "--cache", str(cache)]
    assert main(["glassbox", "corpus", *common]) == 0
    assert main(["glassbox", "train", "s", *common, "--epochs", "4", "--device", "cpu"]) == 0
    resources = Resources(settings_module.read(cache=cache))
    counter = resources.counter("glassbox-mine")
    counts = counter.count(counter.encode(SENTENCES))
    assert [count.count for count in counts] == DOSES
    scores = resources.scorer("glassbox-mine-s")  # known by its name
    assert catalog.find("glassbox-mine-s").title == "Glass box S of mine" and scores is not None
    app = open_page("calibration", cache, of="glassbox-mine-s")
    assert not app.exception
    told = html.unescape(" ".join(block.proto.body for block in app.html))
    # Two texts a dose are too few for an interval, and so for saying that they were learned.
    assert "a token is likelier to Glass box S of mine than to Glass box M" in told
    assert SENTENCES[0] in str([table.value.to_dict() for table in app.dataframe])
