"""A model on two cards: the same scores, and whoever is left goes on when a process ends. Here both are processors."""

from __future__ import annotations

import os
import signal

import pytest

from explorer.errors import ModelError
from explorer.records import PackedRow
from explorer.scoring import child_process, hf, hf_source, model_cards, own_process
from explorer.scoring.model_process import ModelProcess
from tests.forked import FORKED

CARDS = ("0", "1")
ROWS = [PackedRow((5, number, 7, 8), (-1, 0, 1, 2), (0, 1, 2, 3), (False, True, True, True)) for number in range(9, 49)]


@pytest.fixture
def given(monkeypatch):
    """The rows that each card was given, by its name, and how many messages."""
    monkeypatch.setattr(child_process, "subprocess", FORKED)
    given = {card: 0 for card in CARDS}
    plain = model_cards.ModelOnCards._send_to

    def send(self, card, message):
        given[card.name] += message[0] == "score"
        return plain(self, card, message)

    monkeypatch.setattr(model_cards.ModelOnCards, "_send_to", send)
    return given


@pytest.fixture
def model(given, settings, tiny_gpt2):
    process = ModelProcess(cards=CARDS)
    process.load(hf_source.find(str(tiny_gpt2), settings), settings, "float32", "cpu")
    yield process
    process.close()


def ask_all(model) -> list:
    """A waiting function for each row, asked one by one."""
    return [model.begin([row]) for row in ROWS]


def check(model, waiting, tiny_gpt2, settings) -> None:
    alone = hf.load(str(tiny_gpt2), settings, device="cpu", dtype="float32").logprobs(ROWS)
    for wait, expected in zip(waiting, alone, strict=True):
        (scored,) = wait(None)
        assert scored.logprobs == pytest.approx(expected.logprobs, abs=1e-4)


@pytest.mark.slow
def test_rows_are_shared_and_their_scores_those_of_one(model, given, tiny_gpt2, settings):
    check(model, ask_all(model), tiny_gpt2, settings)
    assert min(given.values()) > len(ROWS) / 4 and sum(given.values()) == len(ROWS)


@pytest.mark.slow
@pytest.mark.parametrize("lost", CARDS)
def test_what_a_killed_process_owed_the_other_scores(model, given, tiny_gpt2, settings, capfd, lost):
    model.wait_for_tokenizer()
    model.record()  # loaded
    os.kill(model._model_process.pids[lost], signal.SIGSTOP)  # so that it owes something
    waiting = ask_all(model)
    os.kill(model._model_process.pids[lost], signal.SIGKILL)
    check(model, waiting, tiny_gpt2, settings)
    assert list(model._model_process.pids) == [card for card in CARDS if card != lost]
    assert f"card {lost} ended; its rows go to the other cards" in capfd.readouterr().err


@pytest.mark.slow
def test_with_the_last_of_them_the_model_is_gone(model):
    model.wait_for_tokenizer()
    model.record()
    for pid in model._model_process.pids.values():
        os.kill(pid, signal.SIGSTOP)
    waiting = ask_all(model)
    for pid in list(model._model_process.pids.values()):
        os.kill(pid, signal.SIGKILL)
    for wait in waiting:
        with pytest.raises(ModelError, match="ended by itself"):
            wait(None)
    with pytest.raises(ModelError, match="ended by itself"):
        model.begin(ROWS)


@pytest.mark.slow
def test_a_model_that_can_be_loaded_on_no_card_says_why_once(given, settings, tmp_path, tiny_gpt2):
    source = hf_source.find(str(tiny_gpt2), settings)
    process = ModelProcess(cards=CARDS)
    process.load(source, settings, "no_such_dtype", "cpu")
    with pytest.raises(Exception, match="no_such_dtype"):
        process.record()
    process.close()


@pytest.mark.parametrize(
    ("visible", "there", "cards"),
    [
        (None, ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"), ("0", "1")),
        (None, ("nvidia3", "nvidia10"), ("0", "1")),
        ("1, 0", ("nvidia0", "nvidia1"), ("1", "0")),
        ("GPU-aa,GPU-bb", (), ("GPU-aa", "GPU-bb")),
        ("0,-1,1", (), ("0",)),
        ("", ("nvidia0",), ()),
    ],
)
def test_the_cards_are_those_that_the_process_may_use(monkeypatch, tmp_path, visible, there, cards):
    for name in (*there, "nvidiactl"):
        (tmp_path / name).touch()
    monkeypatch.setattr(own_process, "DRIVER", tmp_path / "nvidiactl")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert own_process.cards() == cards
