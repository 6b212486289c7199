"""A folder, a hub id and an endpoint are tested by a form each, and what is added is offered everywhere."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from explorer.figures.model_names import model_title
from explorer.scoring import http_report, owner_models
from explorer.scoring.http import from_name
from explorer.settings import read as read_settings
from explorer.ui import inventory, visitor
from tests.endpoint_servers import Call, Reply, Server, chat, completion, scoring

LISTED = {"data": [{"id": "m", "owned_by": "us", "max_model_len": 4096}]}


def words_of(app) -> str:
    html = [element.proto.body for element in app.html if "<style>" not in element.proto.body]
    shown = [element.value for kind in (app.error, app.success, app.markdown) for element in kind]
    return "\n".join([*html, *map(str, shown)]).replace("\\", "")


@pytest.fixture(scope="module")
def scored(tiny_gpt2: Path) -> Iterator[Server]:
    server = Server(scoring(tiny_gpt2), LISTED)
    yield server
    server.close()


@pytest.fixture
def writes() -> Iterator[Server]:
    def answer(call: Call, number: int) -> Reply:
        return Reply(body=chat("cold") if "messages" in call.body else completion(" cold"))

    server = Server(answer, {"data": [{"id": "m"}]})
    yield server
    server.close()


def try_form(open_page, cache: Path, way: str, **typed: str):
    app = open_page("data", cache, bring=way)
    for key, value in typed.items():
        app.text_input(key=f"bring:{key}").set_value(value)
    button = next(one for one in app.button if one.key.startswith("bring:test"))
    return button.click().run(timeout=120)


def test_a_folder_is_told_in_facts_with_a_first_score_and_added(open_page, tmp_path, tiny_gpt2):
    app = try_form(open_page, tmp_path / "cache", "A folder", path=str(tiny_gpt2))
    said = words_of(app)
    assert not app.exception and not app.error
    for fact in ("GPT2LMHeadModel", "Parameters", "Tokenizer", "Context window", "yes, as its configuration says"):
        assert fact in said
    assert "First score" in said and "nats" in said
    app.button(key="bring:add").click().run()
    assert not app.exception
    assert owner_models.read(read_settings()) == [str(tiny_gpt2)]
    picker = next(box for box in open_page("overview", tmp_path / "cache").selectbox if box.label == "Model")
    assert any(model_title(str(tiny_gpt2)) in option for option in picker.options)
    app = open_page("data", tmp_path / "cache")
    app.button(key="added:0").click().run()
    assert owner_models.read(read_settings()) == []


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"model_type": "xlnet", "architectures": ["XLNetLMHeadModel"]}, "a permutation language model"),
        ({"model_type": "bart", "is_encoder_decoder": True}, "it has an encoder and a decoder"),
    ],
)
def test_a_folder_of_another_kind_says_what_it_is_and_is_not_added(open_page, tmp_path, tiny_gpt2, config, why):
    folder = Path(shutil.copytree(tiny_gpt2, tmp_path / "other"))
    (folder / "config.json").write_text(json.dumps(config))
    app = try_form(open_page, tmp_path / "cache", "A folder", path=str(folder))
    assert not app.exception
    assert why in words_of(app)
    assert "bring:add" not in {button.key for button in app.button}


def test_a_folder_that_is_none_is_told_in_one_sentence(open_page, tmp_path):
    app = try_form(open_page, tmp_path / "cache", "A folder", path=str(tmp_path / "nowhere"))
    assert not app.exception and len(app.error) == 1
    assert "There is no folder" in app.error[0].value


def test_a_hub_id_without_a_network_says_so_plainly(open_page, tmp_path):
    app = try_form(open_page, tmp_path / "cache", "From the Hugging Face hub", id="somebody/some-model")
    assert not app.exception and len(app.error) == 1
    assert "set to stay offline" in app.error[0].value


@pytest.mark.parametrize("name", ["not an id!", "../up", "http://x/v1#m"])
def test_what_is_no_hub_id_is_refused(open_page, tmp_path, name):
    app = try_form(open_page, tmp_path / "cache", "From the Hugging Face hub", id=name)
    assert not app.exception and len(app.error) == 1


def test_an_endpoint_with_log_probabilities_is_tested_and_added(open_page, tmp_path, scored):
    app = try_form(open_page, tmp_path / "cache", "An endpoint", address=scored.url, model_name="m")
    said = words_of(app)
    assert not app.exception and not app.error
    assert "“fine”" in said and "yes, by echo" in said and "4,096 tokens" in said
    assert "At most" in said and "No prices are set" in said and "none goes with it" in said
    app.button(key="bring:add").click().run()
    assert inventory.added_models() == [f"{scored.url}#m"]


def test_an_endpoint_that_only_writes_says_what_cannot_be_measured_with_it(open_page, tmp_path, writes, monkeypatch):
    monkeypatch.setenv("EXPLORER_PRICE_IN", "1000")
    app = try_form(open_page, tmp_path / "cache", "An endpoint", address=f"{writes.url}/", model_name="m")
    said = words_of(app)
    assert not app.exception and not app.error
    assert "“cold”" in said and "returned no log-probabilities" in said and "cannot be measured with it" in said
    assert "not told by the server" in said and "at the prices given" in said
    assert app.button(key="bring:add")


def test_a_server_that_is_gone_or_wants_a_key_is_one_sentence_and_is_not_added(open_page, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        gone = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    app = try_form(open_page, tmp_path / "cache", "An endpoint", address=gone, model_name="m")
    assert not app.exception and len(app.error) == 1
    server = Server(lambda call, number: Reply(401, {"error": {"message": "no"}}), LISTED)
    app = try_form(open_page, tmp_path / "cache", "An endpoint", address=server.url, model_name="m")
    assert not app.exception and len(app.error) == 1 and "wants a key" in app.error[0].value
    assert "bring:add" not in {button.key for button in app.button}
    server.close()


def test_a_report_says_for_itself_what_a_server_gives(tmp_path, scored, tiny_gpt2):
    found = http_report.report(from_name(f"{scored.url}#m", read_settings(cache=tmp_path)))
    assert found.offered == ("m",) and found.as_chat and found.window == 4096
    assert found.logprob < 0 and not found.why_no_scores and not found.why_no_answer


def test_a_visitor_names_no_folder_and_adds_for_his_own_session_alone(open_page, tmp_path, monkeypatch, tiny_gpt2):
    cache = tmp_path / "cache"
    monkeypatch.setenv("EXPLORER_CACHE", str(cache))
    owner_models.add(str(tiny_gpt2), read_settings())
    owner_models.add("http://10.0.0.5:8000/v1#secret", read_settings())
    owner_models.add("somebody/some-model", read_settings())
    monkeypatch.setattr(visitor, "role", lambda: "visitor")
    app = open_page("data", cache, bring="A folder")
    said = words_of(app)
    assert not app.exception
    assert "bring:path" not in {box.key for box in app.text_input}
    assert "Only the owner" in said and "somebody/some-model" in said
    assert str(tiny_gpt2) not in said and "10.0.0.5" not in said
    picker = next(box for box in app.selectbox if box.label == "Model")
    assert not any("10.0.0.5" in option or model_title(str(tiny_gpt2)) in option for option in picker.options)


def test_a_visitor_reaches_no_server_inside_the_network(open_page, tmp_path, monkeypatch, scored):
    monkeypatch.setattr(visitor, "role", lambda: "visitor")
    before = len(scored.calls)
    app = try_form(open_page, tmp_path / "cache", "An endpoint", address=scored.url, model_name="m")
    assert not app.exception and len(app.error) == 1
    assert len(scored.calls) == before


def test_what_is_absent_stands_after_what_is_here_and_is_marked(open_page, tmp_path):
    app = open_page("data", tmp_path / "cache")
    picker = next(box for box in app.selectbox if box.label == "Model")
    marked = ["(not here)" in option for option in picker.options]
    assert any(marked) and not all(marked)
    assert marked == sorted(marked)
    states = next(
        frame.value["state"]
        for frame in open_page("data", tmp_path / "cache", shelf="Benchmarks").dataframe
        if "state" in frame.value
    )
    here = [state == "on this machine" for state in states]
    assert here == sorted(here, reverse=True) and any(here)


def test_a_damaged_list_of_added_models_is_an_empty_one(tmp_path):
    settings = read_settings(cache=tmp_path)
    owner_models.add("a/b", settings)
    (settings.cache / owner_models.FILE).write_text("[1, {")
    assert owner_models.read(settings) == []
    owner_models.add("c/d", settings)
    assert owner_models.read(settings) == ["c/d"]


def test_a_masked_model_is_told_as_one_with_a_first_score_under_its_own_preset(open_page, tmp_path):
    import torch
    from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

    folder = tmp_path / "bert"
    folder.mkdir()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "keys", "to", "cabinet", "are", "on", "table", "."]
    (folder / "vocab.txt").write_text("\n".join(words))
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    BertForMaskedLM(config).save_pretrained(folder)
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    app = try_form(open_page, tmp_path / "cache", "A folder", path=str(folder))
    said = words_of(app)
    assert not app.exception and not app.error
    assert "trained to fill gaps" in said and "preset pll" in said and "First score" in said
    assert app.button(key="bring:add")
