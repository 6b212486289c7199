"""Models that are not quite what they should be, asked as a chat or by a decoder: one sentence each, nothing lost."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from explorer.errors import ExplorerError
from explorer.records import Request
from explorer.resources import Resources
from explorer.results import conclusions
from explorer.runs.folder import RunFolder
from explorer.runs.request import PSEUDO, make_spec
from explorer.runs.worker import work
from explorer.scoring import hf_kind
from explorer.scoring.score import reason_for_nan, score
from explorer.studies import STUDIES

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


def bigger_tokenizer(folder: Path) -> Path:
    """A model that knows 16 tokens, beside a tokenizer that has some hundred."""
    from transformers import GPT2LMHeadModel

    model = GPT2LMHeadModel.from_pretrained(folder)
    model.resize_token_embeddings(16)
    model.save_pretrained(folder)
    return folder


def in_parts(form: str) -> Callable[[Path], Path]:
    """Weights in three files of this form, of which the second is missing."""

    def put(folder: Path) -> Path:
        names = [f"{form.partition('.')[0]}-0000{n}-of-00003.{form.partition('.')[2]}" for n in (1, 2, 3)]
        index = {"weight_map": {f"weight {n}": name for n, name in enumerate(names)}}
        (folder / f"{form}.index.json").write_text(json.dumps(index))
        weights = folder / "model.safetensors"
        for name in (names[0], names[2]):
            shutil.copy(weights, folder / name)
        weights.unlink()
        return folder

    return put


def emptied(name: str) -> Callable[[Path], Path]:
    """A file of which nothing was copied."""

    def put(folder: Path) -> Path:
        (folder / name).write_bytes(b"")
        return folder

    return put


def on_half_a_base(folder: Path) -> Path:
    """An adapter whose base was cut short."""
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[: weights.stat().st_size // 2])
    return adapter(str(folder))(folder)


def without_changes(folder: Path) -> Path:
    """An adapter of whose two files one was not copied."""
    put = adapter(str(folder))(folder)
    (put / "adapter_model.safetensors").unlink()
    return put


CHAT = {"chat": "always"}
CASES: dict[str, tuple[Callable[[Path], Path], dict[str, str], str]] = {
    "a template that raises": (template("{{ raise_exception('not today') }}" + TEMPLATE), CHAT, "not today"),
    "a template that leaves out what is said": (
        template("<user>"), CHAT,
        "The model's chat template leaves out what the user says, so that the model would not read it as it was asked. "
        "Use another model, or mend chat_template in its folder.",
    ),
    "a template that leaves out what the user says": (
        template(TEMPLATE.replace("{{ m.content }}", "{{ '' if m.role == 'user' else m.content }}")), CHAT,
        "The model's chat template leaves out what the user says, so that the model would not read it as it was asked. "
        "Use another model, or mend chat_template in its folder.",
    ),
    "a template that leaves out the system prompt": (
        template(TEMPLATE.replace("{{ m.content }}", "{{ '' if m.role == 'system' else m.content }}")),
        {**CHAT, "system": "Be brief."},
        "The model's chat template leaves out the system prompt, so that the model would not read it as it was given. "
        "Leave system out, use another model, or mend chat_template in its folder.",
    ),
    "a template that leaves out the answer": (
        template(TEMPLATE.replace("{{ m.content }}", "{{ '' if m.role == 'assistant' else m.content }}")), CHAT,
        "The model's chat template leaves out what the assistant says, so that no answer can be scored by it. Use "
        "another model, or mend chat_template in its folder.",
    ),
    "a template that writes answers in capital letters": (
        template(TEMPLATE.replace("m.content", "m.content | upper if m.role == 'assistant' else m.content")), CHAT,
        "The model's chat template changes the letters of what the assistant says, so that no answer can be scored by "
        "it. Use another model, or mend chat_template in its folder.",
    ),
    "a template that writes all in small letters": (
        template(TEMPLATE.replace("m.content", "m.content | lower")), CHAT,
        "The model's chat template changes the letters of what the user says, so that the model would not read it as "
        "it was asked. Use another model, or mend chat_template in its folder.",
    ),
    "a tokenizer of a bigger model": (
        bigger_tokenizer, {},
        "tokens, the model only 16: it belongs to another model. Put the model's own tokenizer files there.",
    ),
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
    "a GGUF file that is none": (
        as_gguf, {},
        "transformers cannot read model.gguf (it is damaged, or no GGUF file). Give the model in safetensors; or serve "
        "this file with llama.cpp and give the server's address.",
    ),
    "weights in three files, one of them missing": (
        in_parts("model.safetensors"), {},
        "part 2 of 3 (model-00002-of-00003.safetensors) is missing. Copy or download it again.",
    ),
    "pickled weights in three files, one of them missing": (
        in_parts("pytorch_model.bin"), {},
        "part 2 of 3 (pytorch_model-00002-of-00003.bin) is missing. Copy or download it again.",
    ),
    "weights of no bytes": (
        emptied("model.safetensors"), {},
        "model.safetensors is damaged (it is empty). Copy or download the model again.",
    ),
    "a tokenizer of no bytes": (
        emptied("tokenizer.json"), {}, "cannot be read (a file of JSON is empty). The folder needs tokenizer.json",
    ),
    "a list of parts of no bytes": (
        emptied("model.safetensors.index.json"), {},
        "model.safetensors.index.json is damaged (it is empty, expected JSON). Copy or download the model again.",
    ),
    "an adapter whose description has no bytes": (
        lambda folder: emptied("adapter_config.json")(adapter(str(folder))(folder)), {},
        "adapter_config.json is damaged (it is empty, expected JSON), or names no base model.",
    ),
    "an adapter whose base was cut short": (
        on_half_a_base, {}, "it was cut short. Copy or download the model again."
    ),
    "an adapter without its weights": (
        without_changes, {}, "adapter lacks adapter_model.safetensors, which holds what the adapter changes. Copy it "
        "there, or give a model that it was merged into.",
    ),
    "a GGUF file that is none, as a chat": (as_gguf, {"chat": "auto"}, "model.gguf"),
    "weights that only code could read": (as_pickle, CHAT, "would run code"),
    "an adapter whose base is a folder that is not here": (adapter("/nowhere/base"), {}, "/nowhere/base"),
    "an adapter whose base is on no hub that is asked": (adapter("nobody/base"), {"chat": "auto"}, "nobody/base"),
    "a folder without a tokenizer": (
        lacks("tokenizer.json"), {}, "cannot be read (Couldn't instantiate the backend tokenizer). The folder needs",
    ),
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
    from tests.scoring.test_hf_encoder_decoder import made

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


def test_a_tokenizer_with_a_few_marks_more_than_the_model_is_its_own(tiny_gpt2, tmp_path, settings):
    from transformers import AutoTokenizer

    folder = Path(shutil.copytree(tiny_gpt2, tmp_path / "model"))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<picture>"]})
    tokenizer.save_pretrained(folder)
    model = Resources(settings).model(str(folder))
    plain, marked = score(model, [Request("a", 0, "", "The cat sleeps."), Request("b", 0, "", "A <picture> here.")])
    assert not plain.reason and marked.reason == "the text has a token that the model does not know"
    assert plain.logprobs == score(Resources(settings).model(str(tiny_gpt2)), [plain.request])[0].logprobs


@pytest.mark.parametrize("kind", ["masked", "paired"])
def test_a_tokenizer_of_a_bigger_model_is_refused_for_every_kind(tmp_path, settings, kind):
    from transformers import AutoModelForMaskedLM, AutoModelForSeq2SeqLM

    from tests.scoring.not_causal import made_bert
    from tests.scoring.test_hf_encoder_decoder import made

    (tmp_path / "made").mkdir()
    folder = made_bert(tmp_path / "made") if kind == "masked" else made(tmp_path / "made", "t5")
    loader, preset = (AutoModelForMaskedLM, "pll") if kind == "masked" else (AutoModelForSeq2SeqLM, "seq2seq")
    model = loader.from_pretrained(folder)
    model.resize_token_embeddings(9)
    model.save_pretrained(folder)
    message = refused(settings, folder, {"preset": preset})
    assert message.endswith(
        "tokens, the model only 9: it belongs to another model. Put the model's own tokenizer files there."
    )


@pytest.mark.parametrize("study", ["accuracy", "priming"])
def test_a_model_that_gives_no_number_is_told_in_the_sentence_of_the_run(tiny_gpt2, tmp_path, settings, study):
    from safetensors.torch import load_file, save_file

    folder = Path(shutil.copytree(tiny_gpt2, tmp_path / "model"))
    weights = load_file(folder / "model.safetensors")
    weights["transformer.ln_f.weight"] = weights["transformer.ln_f.weight"] * float("nan")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    resources = Resources(settings)
    spec = make_spec(resources, study=study, model=str(folder), benchmark="starter_pairs", limit=4)
    run = RunFolder.create(settings.runs, spec)
    assert work(run, resources, lambda text: None, wait=False) == "complete"
    what = "verdict" if study == "accuracy" else "score"
    assert conclusions.of_run(run) == [f"0 of 4 instances have a {what}: the model gave no number."]
    assert set(run.read("scores")["reason"]) == {"the model gave no number"}


def test_a_format_shorter_than_float32_is_named_as_what_may_be_wrong():
    assert reason_for_nan("bfloat16") == "the model gave no number; try --dtype float32"
    assert reason_for_nan("float32") == "the model gave no number"


def test_presets_for_other_kinds_of_models_are_named_with_the_studies_that_take_them():
    for study in PSEUDO:
        assert study in hf_kind.ADVICE_MASKED and study in hf_kind.ADVICE_ENCODER_DECODER
    for study in set(STUDIES) - set(PSEUDO):
        assert study not in hf_kind.ADVICE_MASKED and study not in hf_kind.ADVICE_ENCODER_DECODER


@pytest.mark.parametrize("family", ["bert", "t5"])
def test_loading_draws_no_bars(tmp_path, settings, capfd, family):
    import transformers

    from tests.scoring.not_causal import made_bert
    from tests.scoring.test_hf_encoder_decoder import made

    (tmp_path / "made").mkdir()
    folder = made_bert(tmp_path / "made") if family == "bert" else made(tmp_path / "made", family)
    transformers.utils.logging.enable_progress_bar()
    Resources(settings).scorer(str(folder))
    assert "Loading weights" not in capfd.readouterr().err
