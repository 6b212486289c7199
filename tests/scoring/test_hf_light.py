"""A model with the engine's own layers in this process: scores, answers and texts as with transformers'."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys

import pytest

from explorer import settings as settings_module
from explorer.errors import ModelError
from explorer.records import Request
from explorer.resources import Resources
from explorer.scoring import child_process, hf, hf_direct, hf_light, hf_source, own_process, tokenizer_reading
from explorer.scoring.engine import decoder
from explorer.scoring.generate import ModelGenerator
from explorer.scoring.hf_light import LightModel
from explorer.scoring.hf_source import Source
from explorer.scoring.score import score
from explorer.scoring.shared_prefix_scorer import SharedPrefixScorer
from explorer.settings import ROOT
from tests.forked import FORKED

ARCHITECTURES = ("gpt_neox", "llama", "gemma3_text")
SHARED = "What did the teachers say that the pupils had written on the board? They said: \n\n"
TEXTS = [SHARED + end for end in ("nothing", "the keys to the old", "the keys", "Zürich, twice 🙂")] + [
    "Some café",
    "The",
]
ASKED = [Request(f"{n}", 0, text) for n, text in enumerate(TEXTS)]
SCORED = [Request(text, n, text, word) for text in TEXTS[:4] for n, word in enumerate((" keys", " the lid", " and"))]


@pytest.fixture(autouse=True)
def as_on_a_gpu(monkeypatch):
    monkeypatch.setattr(hf_light, "DEVICES", ("cpu",))


@pytest.fixture
def settings(tmp_path):
    return settings_module.read(cache=tmp_path)


@pytest.fixture(params=ARCHITECTURES)
def both(request, tiny_folders, settings, tmp_path):
    """The same model: light, and as transformers has it; and how near scores must be."""
    place = str(shutil.copytree(tiny_folders(request.param), tmp_path / "model"))
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    config.pop("final_logit_softcapping", None)  # which the engine's Gemma 3 has not
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    light = Resources(settings).model(place, "float32", "cpu")
    assert isinstance(light, LightModel)
    # The norms of Gemma 3 are one kernel, which rounds the last bit differently.
    near = 1e-4 if request.param == "gemma3_text" else 0
    return light, hf.load(place, settings, dtype="float32", device="cpu"), near


def test_scores_are_equal_alone_and_behind_what_requests_share(both):
    light, whole, near = both
    for one, other in zip(score(light, SCORED), score(whole, SCORED), strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, rel=0, abs=near) and one.tokens == other.tokens
    behind = [SharedPrefixScorer(ModelGenerator(model)).score(SCORED) for model in (light, whole)]
    for one, other in zip(*behind, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, rel=0, abs=near) and one.greedy == other.greedy


def test_answers_are_equal_greedy_and_drawn(both):
    light, whole, _ = both
    for asked in ({"max_new_tokens": 30}, {"max_new_tokens": 9, "temperature": 0.8, "seed": 3}):
        written = [ModelGenerator(model).generate(ASKED, **asked) for model in (light, whole)]
        assert written[0] == written[1] and any(one.text for one in written[0])


def test_texts_are_read_and_the_model_is_described_as_by_transformers(both):
    light, whole, near = both
    pairs = [(request.context, request.continuation) for request in SCORED]
    assert light.encode_all(pairs, "auto", "offsets") == whole.encode_all(pairs, "auto", "offsets")
    assert (light.window, light.words, light.ends, light.row_tokens) == (
        whole.window, whole.words, whole.ends, whole.row_tokens,
    )  # fmt: skip
    assert light.record() == whole.record() | {"weights": light.source.weights, "layers": "lexiscope"}
    likeliest = [dict(model.likeliest([5, 16, 7], 4)) for model in (light, whole)]
    assert list(likeliest[0]) == list(likeliest[1])
    assert list(likeliest[0].values()) == pytest.approx(list(likeliest[1].values()), rel=0, abs=near)


def test_who_asks_for_more_than_scores_gets_transformers_model_and_it_stays(tiny_folders, settings):
    resources, place = Resources(settings), str(tiny_folders("llama"))
    light = resources.model(place, "float32", "cpu")
    whole = resources.whole_model(place, "float32", "cpu")
    assert isinstance(light, LightModel) and isinstance(whole, hf.HFModel)
    assert resources.model(place, "float32", "cpu") is whole is resources.whole_model(place, "float32", "cpu")


@pytest.mark.parametrize("why", ["another family", "over several cards", "a processor"])
def test_all_else_is_loaded_by_transformers(tiny_folders, settings, monkeypatch, why):
    if why == "a processor":
        monkeypatch.undo()
    here = dataclasses.replace(settings, shard=why == "over several cards")
    place = tiny_folders("gpt2" if why == "another family" else "llama")
    assert isinstance(Resources(here).model(str(place), "float32", "cpu"), hf.HFModel)


def test_where_the_decoder_does_not_take_it_transformers_writes(tiny_folders, settings, monkeypatch):
    place = str(tiny_folders("llama"))
    wanted = Resources(settings).generator(place, "float32", "cpu").generate(ASKED, max_new_tokens=5)
    monkeypatch.setattr(decoder.CachedDecoder, "agrees", lambda self: False)
    resources = Resources(settings)
    generator = resources.generator(place, "float32", "cpu")
    assert isinstance(generator.model, hf.HFModel) and resources.generator(place, "float32", "cpu") is generator
    assert [one.token_ids for one in generator.generate(ASKED, max_new_tokens=5)] == [one.token_ids for one in wanted]


def test_the_tokenizer_of_a_bigger_model_is_refused(tiny_folders, settings, tmp_path, monkeypatch):
    shutil.copytree(tiny_folders("gpt_neox"), tmp_path / "m")
    config = json.loads((tmp_path / "m" / "config.json").read_text())
    (tmp_path / "m" / "config.json").write_text(json.dumps(config | {"vocab_size": 50}))
    with pytest.raises(ModelError):
        Resources(settings).model(str(tmp_path / "m"), "float32", "cpu")


def test_what_ends_the_tokenizers_process_is_told(tiny_folders, settings, monkeypatch):
    monkeypatch.setattr(child_process, "subprocess", FORKED)
    monkeypatch.delitem(sys.modules, "transformers")
    source = Source(str(tiny_folders("llama")), tiny_folders("llama"), "", "", None)
    reading = tokenizer_reading.TokenizerReading(source)
    assert reading._child is not None
    reading.close()
    with pytest.raises(ModelError, match=r"tokenizer of .* ended by itself"):
        reading.result()


@pytest.fixture
def loads(monkeypatch):
    """The sources of which weights were read for the engine's layers."""
    seen, plain = [], hf_direct.load
    monkeypatch.setattr(hf_direct, "load", lambda source, *rest: (seen.append(source), plain(source, *rest))[1])
    monkeypatch.setattr(own_process, "is_worthwhile", lambda: True)
    return seen


def test_a_model_that_is_loaded_ahead_is_loaded_once_and_known_by_its_weights(tiny_folders, settings, loads):
    resources, place = Resources(settings), str(tiny_folders("llama"))
    resources.load_here_ahead(place, "float32")
    resources.load_here_ahead(place, "float32")
    model = resources.model(place, "float32")
    assert isinstance(model, LightModel) and len(loads) == 1 and not loads[0].weights
    assert model.record()["weights"] == model.source.weights == hf_source.find(place, settings).weights != ""
    resources.load_here_ahead(place, "float32")  # it is there
    assert resources.model(place, "float32") is model and len(loads) == 1


def test_what_was_loaded_ahead_in_vain_is_left(tiny_folders, settings, loads):
    resources = Resources(settings)
    resources.load_here_ahead(str(tiny_folders("gpt_neox")), "float32")
    assert resources.model(str(tiny_folders("llama")), "float32").name == str(tiny_folders("llama"))
    others = Resources(settings)
    others.load_here_ahead(str(tiny_folders("gpt2")), "float32")  # which the engine does not have
    assert isinstance(others.model(str(tiny_folders("gpt2")), "float32"), hf.HFModel)
    others = Resources(settings)
    others.load_here_ahead("someone/a-model", "float32")  # which may have to be fetched
    others.load_here_ahead(str(settings.cache / "none"), "float32")
    assert others._ahead is None


def test_what_is_wrong_with_a_model_that_was_loaded_ahead_is_told_when_it_is_wanted(
    tiny_folders, settings, loads, monkeypatch
):
    def too_large(name, *rest):
        raise ModelError(f"{name} is too large")

    monkeypatch.setattr(hf_direct, "check_memory", too_large)
    resources, place = Resources(settings), str(tiny_folders("llama"))
    resources.load_here_ahead(place, "float32")
    with pytest.raises(ModelError, match="is too large"):
        resources.model(place, "float32")


@pytest.mark.gpu
@pytest.mark.parametrize("architecture", ["gpt_neox", "llama"])
def test_on_a_gpu_scores_and_answers_are_those_of_a_processor(architecture, tiny_folders, settings, monkeypatch):
    monkeypatch.undo()
    place = str(tiny_folders(architecture))
    generator = Resources(settings).generator(place, "float32")
    cpu = hf.load(place, settings, dtype="float32", device="cpu")
    assert isinstance(generator.model, LightModel)
    for new in (9, 30):
        written = [one.generate(ASKED, max_new_tokens=new) for one in (generator, ModelGenerator(cpu))]
        assert [one.token_ids for one in written[0]] == [one.token_ids for one in written[1]]
    assert generator.decoder.steps.works and generator.decoder.steps.captured
    scorer = SharedPrefixScorer(generator)
    prepared = [scorer.prepare(SCORED), scorer.prepare(SCORED[3:])]
    for wait in [scorer.begin(each) for each in prepared]:
        wait()
    plain = SharedPrefixScorer(ModelGenerator(cpu))
    for each, requests in zip(prepared, (SCORED, SCORED[3:]), strict=True):
        for one, other in zip(scorer.finish(each), plain.score(requests), strict=True):
            assert one.logprobs == pytest.approx(other.logprobs, abs=1e-3)


@pytest.mark.slow
def test_a_process_that_scores_and_writes_does_not_import_transformers(tiny_folders, tmp_path):
    program = f"""
import sys
from explorer import settings
from explorer.records import Request
from explorer.resources import Resources
from explorer.scoring import hf_light
from explorer.scoring.shared_prefix_scorer import SharedPrefixScorer
hf_light.DEVICES = ("cpu",)
resources = Resources(settings.read(cache={str(tmp_path)!r}))
generator = resources.generator({str(tiny_folders("gpt_neox"))!r}, "float32", "cpu")
asked = [Request(str(n), 0, {SHARED!r} + text, " keys") for n, text in enumerate(("The", "A"))]
assert all(one.text for one in generator.generate(asked, max_new_tokens=5))
assert all(one.sum < 0 for one in SharedPrefixScorer(generator).score(asked))
assert generator.model.record()["tokenizer"]
print([name for name in ("transformers", "torch._dynamo") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == "[]", done.stderr
