"""Models that are not quite what they should be, asked as a chat or by a decoder: one sentence each, nothing lost."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from explorer.errors import ExplorerError
from explorer.resources import Resources
from explorer.runs.folder import RunFolder
from explorer.runs.request import make_spec
from explorer.runs.worker import work

TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}<|endoftext|>{% endfor %}"
NO_SYSTEM = "{% if messages[0].role == 'system' %}{{ raise_exception('no system prompts') }}{% endif %}" + TEMPLATE


def template(text: object) -> Callable[[Path], Path]:
    """Gives the folder this chat template, in the file of its own or, where it is no text, in the tokenizer's."""

    def put(folder: Path) -> Path:
        if isinstance(text, str):
            (folder / "chat_template.jinja").write_text(text)
        else:
            file = folder / "tokenizer_config.json"
            file.write_text(json.dumps(json.loads(file.read_text()) | {"chat_template": text}))
        return folder

    return put


def lacks(name: str) -> Callable[[Path], Path]:
    """Takes a file away."""

    def take(folder: Path) -> Path:
        (folder / name).unlink()
        return folder

    return take


def as_gguf(folder: Path) -> Path:
    """A file that calls itself GGUF and is none."""
    file = folder.parent / "model.gguf"
    file.write_bytes(b"GGUF" + b"\x03\x00\x00\x00" + b"\xff" * 64)
    return file


def as_pickle(folder: Path) -> Path:
    """Weights that only code could read."""
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"w": Path("elsewhere")}))
    return template(TEMPLATE)(folder)


def adapter(base: str) -> Callable[[Path], Path]:
    """An adapter on a base that is not here."""

    def made(folder: Path) -> Path:
        put = folder.parent / "adapter"
        put.mkdir()
        said = {"peft_type": "LORA", "base_model_name_or_path": base, "r": 2, "lora_alpha": 4}
        (put / "adapter_config.json").write_text(json.dumps(said))
        (put / "adapter_model.safetensors").write_bytes(b"\x02\x00\x00\x00\x00\x00\x00\x00{}")
        return put

    return made


CHAT = {"chat": "always"}
CASES: dict[str, tuple[Callable[[Path], Path], dict[str, str], str]] = {
    "a template that raises": (template("{{ raise_exception('not today') }}" + TEMPLATE), CHAT, "not today"),
    "a template that leaves out what is said": (template("<user>"), CHAT, "does not give back what the assistant says"),
    "a template that refuses a system prompt": (
        template(NO_SYSTEM), {**CHAT, "system": "Be brief."}, "no system prompts). Leave system out",
    ),
    "a template that divides by nothing": (template("{{ 1 / 0 }}" + TEMPLATE), CHAT, "cannot be rendered"),
    "a template that is no program": (template("{% for m in %}"), CHAT, "cannot be rendered"),
    "a template of two million characters": (template("{# " + "x" * 2_000_000 + " #}" + TEMPLATE), CHAT, "2,000,0"),
    "a template of nothing": (template(""), CHAT, "has no chat template"),
    "a template that is a number": (template(7), CHAT, "has no chat template"),
    "several templates, none of them the usual one": (
        template([{"name": "tool_use", "template": TEMPLATE}]), CHAT, "has no chat template",
    ),
    "a base model": (lambda folder: folder, CHAT, "has no chat template"),
    "a GGUF file that is none": (as_gguf, {}, "model.gguf"),
    "a GGUF file that is none, as a chat": (as_gguf, {"chat": "auto"}, "model.gguf"),
    "weights that only code could read": (as_pickle, CHAT, "would run code"),
    "an adapter whose base is a folder that is not here": (adapter("/nowhere/base"), {}, "/nowhere/base"),
    "an adapter whose base is on no hub that is asked": (adapter("nobody/base"), {"chat": "auto"}, "nobody/base"),
    "a folder without a tokenizer": (lacks("tokenizer.json"), {}, "okenizer"),
    "a folder without a tokenizer, as a chat": (
        lambda folder: lacks("tokenizer.json")(template(TEMPLATE)(folder)), CHAT, "okenizer",
    ),
    "a folder without a configuration": (lacks("config.json"), CHAT, "config.json"),
    "a folder without weights": (lacks("model.safetensors"), CHAT, "safetensors"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_each_is_one_sentence(tiny_gpt2, tmp_path, settings, case):
    spoil, given, said = CASES[case]
    model = spoil(Path(shutil.copytree(tiny_gpt2, tmp_path / "model")))
    message = refused(settings, model, given)
    assert said in message and "\n" not in message and message.endswith(".") and len(message) < 600, message
    assert "Traceback" not in message and "Error:" not in message.replace("TemplateError:", "").replace(
        "ZeroDivisionError:", ""
    ).replace("TemplateSyntaxError:", ""), message


@pytest.mark.parametrize("name", ["tokenizer.json", "config.json", "model.safetensors"])
@pytest.mark.parametrize("preset", ["seq2seq", "decoder"])
def test_an_encoder_decoder_folder_that_lacks_a_file_is_one_sentence(tmp_path, settings, name, preset):
    from tests.scoring.test_hf_paired import made

    (tmp_path / "t5").mkdir()
    folder = made(tmp_path / "t5", "t5")
    (folder / name).unlink()
    message = refused(settings, folder, {"preset": preset})
    assert str(folder) in message and "\n" not in message and message.endswith("."), message


def refused(settings, model: Path, given: dict[str, str]) -> str:
    """The sentence by which a run is refused, when it is asked for or when it begins."""
    resources = Resources(settings)
    try:
        spec = make_spec(
            resources, study="accuracy", model=str(model), benchmark="starter_pairs", limit=2, settings=given
        )
    except ExplorerError as error:
        return str(error)
    folder = RunFolder.create(settings.runs, spec)
    assert work(folder, resources, lambda text: None, wait=False) == "failed"
    return folder.progress().message


def test_a_template_that_breaks_in_the_middle_loses_nothing_of_what_was_done(tiny_gpt2, tmp_path, settings):
    resources = Resources(settings)
    late = resources.instances("starter_cloze").instances[30].context[:40]
    broken = f"{{% if {json.dumps(late)} in messages[0].content %}}{{{{ raise_exception('too much') }}}}{{% endif %}}"
    model = template(broken + TEMPLATE)(Path(shutil.copytree(tiny_gpt2, tmp_path / "model")))
    spec = make_spec(resources, study="accuracy", model=str(model), benchmark="starter_cloze", limit=40, settings=CHAT)
    folder = RunFolder.create(settings.runs, spec)
    assert work(folder, resources, lambda text: None, wait=False) == "failed"
    assert "too much" in folder.progress().message and folder.progress().done == 16
    kept = folder.read("scores")
    template(TEMPLATE)(model)  # mended, which makes another run
    assert work(folder, Resources(settings), lambda text: None, wait=False) == "failed"
    assert "chat template" in folder.progress().message and folder.read("scores").equals(kept)
    again = RunFolder.create(settings.runs, make_spec(
        Resources(settings), study="accuracy", model=str(model), benchmark="starter_cloze", limit=40, settings=CHAT
    ))  # fmt: skip
    assert work(again, Resources(settings), lambda text: None, wait=False) == "complete"
    assert again.run_id != folder.run_id and len(kept) == 16 and len(again.read("scores")) == 40
