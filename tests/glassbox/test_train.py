"""Training: windows hold the corpus, a stopped training ends as an unbroken one, checkpoints are ordinary folders."""

from __future__ import annotations

import json

import numpy as np
import pytest

from explorer.errors import UsageError
from explorer.glassbox import sizes, tokenizer, train
from explorer.glassbox.sizes import Size
from explorer.popularity.documents import SourceDocument

TINY = Size("tiny", 16, 1, 2, 24, 1e-2)
PLAN = train.Plan(TINY, epochs=2, batch=2, window=16)
CORPUS = [SourceDocument(f" The heron slept near pond {number}.\n A boat came.", "x", number) for number in range(12)]


def test_windows_hold_every_token_once_and_the_first_of_the_next():
    windows = train.encode(CORPUS, 16)
    stream = [token for document in CORPUS for token in (0, *tokenizer.load().encode_verbatim([document.text])[0])]
    assert windows[:, :-1].flatten().tolist() == stream[: windows[:, :-1].size]
    assert (windows[1:, 0] == windows[:-1, -1]).all()


def test_an_epoch_sees_every_window_once():
    order = train.epoch_order(7, PLAN).reshape(2, 7)
    assert [sorted(epoch) for epoch in order.tolist()] == [list(range(7))] * 2
    assert order[0].tolist() != order[1].tolist()


def test_a_stopped_training_ends_as_an_unbroken_one(tmp_path, monkeypatch):
    windows = train.encode(CORPUS, PLAN.window)
    whole = train.train(windows, PLAN, tmp_path / "whole" / "tiny", corpus_hash="x", device="cpu")
    monkeypatch.setattr(train, "KEEP_EVERY", 0.0)

    def stop(step: int, steps: int, loss: float) -> None:
        if step == 5:
            raise KeyboardInterrupt

    folder = tmp_path / "stopped" / "tiny"
    with pytest.raises(KeyboardInterrupt):
        train.train(windows, PLAN, folder, corpus_hash="x", device="cpu", progress=stop)
    assert not folder.exists()
    train.train(windows, PLAN, folder, corpus_hash="x", device="cpu")
    first, second = (json.loads((path / train.RECORD).read_text()) for path in (whole, folder))
    assert first["losses"] == second["losses"] and len(first["losses"]) == first["steps"] > 5
    assert (whole / "model.safetensors").read_bytes() == (folder / "model.safetensors").read_bytes()
    assert not list(folder.parent.glob(".*"))
    kept = sorted(int(path.name.partition("@step")[2]) for path in folder.parent.glob("tiny@step*"))
    assert kept == sizes.checkpoint_steps(first["steps"])[:-1]
    with pytest.raises(FileExistsError):
        train.train(windows, PLAN, folder, corpus_hash="x", device="cpu")


def test_a_checkpoint_is_a_folder_that_the_explorer_scores_with(tmp_path, settings):
    from explorer.records import Request
    from explorer.resources import Resources

    folder = train.train(train.encode(CORPUS, PLAN.window), PLAN, tmp_path / "tiny", corpus_hash="x", device="cpu")
    (score,) = Resources(settings).scorer(str(folder)).score([Request("a", 0, "The heron", " slept near pond 3.")])
    assert score.sum < 0 and np.isfinite(score.sum) and score.reason == ""
    new = tmp_path / "new"
    new.touch()
    assert {file.stat().st_mode for file in folder.iterdir()} == {new.stat().st_mode}  # others may read the weights


def test_the_learning_rate_rises_and_falls():
    rates = [train.rate(step, 100, 1.0) for step in range(100)]
    assert rates[0] == pytest.approx(0.2) and max(rates) == 1.0 and rates[-1] == pytest.approx(0.1, abs=0.01)


def test_sizes_are_known_by_both_names_and_another_is_one_sentence():
    assert sizes.size_of("m") is sizes.size_of("glassbox-m")
    with pytest.raises(UsageError, match="expected one of xs, s, m, l"):
        sizes.size_of("xl")
    assert sizes.checkpoint_steps(10) == [0, 1, 2, 4, 8, 10]


def test_gradients_reckoned_in_parts_train_as_those_of_the_whole_batch(tmp_path, monkeypatch):
    windows, plan = train.encode(CORPUS, PLAN.window), train.Plan(TINY, epochs=2, batch=5, window=16)
    losses = []
    for part in (5, 2):  # the last part of five windows holds one
        monkeypatch.setitem(train.PART, "cpu", part)
        folder = train.train(windows, plan, tmp_path / str(part) / "tiny", corpus_hash="x", device="cpu")
        losses.append(json.loads((folder / train.RECORD).read_text())["losses"])
    assert len(losses[0]) > 2
    assert losses[0] == pytest.approx(losses[1], abs=2e-3)
