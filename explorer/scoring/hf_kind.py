"""What kind of language model a configuration describes, and whether a loaded one is causal in what it does."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from explorer.errors import ModelError

# Families trained to fill gaps. Some can be turned into causal ones: their configuration then has `is_decoder`.
_MASKED = """
    albert big_bird bert camembert canine convbert data2vec-text deberta deberta-v2 distilbert electra ernie ernie_m
    esm eurobert flaubert fnet funnel ibert layoutlm layoutlmv2 layoutlmv3 lilt longformer luke mega megatron-bert
    mobilebert modernbert mpnet mra nezha nomic_bert nystromformer perceiver qdqbert rembert roberta
    roberta-prelayernorm roc_bert roformer splinter squeezebert tapas xlm xlm-roberta xlm-roberta-xl xmod yoso
"""
MASKED_FAMILIES = frozenset(_MASKED.split())
MASKED_HEADS = ("ForMaskedLM", "ForPreTraining")
TWO_SIDED = {"xlnet": "a permutation language model"}
# Families of an encoder and a decoder, where the configuration does not say so.
_ENCODER_DECODERS = """
    bart bigbird_pegasus blenderbot blenderbot-small encoder-decoder fsmt led longt5 m2m_100 marian mbart mt5 mvp
    nllb-moe pegasus pegasus_x plbart prophetnet seamless_m4t speech-encoder-decoder switch_transformers t5 t5gemma
    t5gemma2 trocr udop umt5 vision-encoder-decoder whisper xlm-prophetnet
"""
ENCODER_DECODERS = frozenset(_ENCODER_DECODERS.split())
# Not every study has these presets, and who loads a model does not know for which one; so it is said which have.
STUDIES_WITH_PRESETS = "which accuracy, popularity, perturbation and priming take,"
ADVICE_MASKED = f"With the preset pll (pseudo-log-likelihood), {STUDIES_WITH_PRESETS} it can be asked in another way."
ADVICE_ENCODER_DECODER = (
    f"With the preset seq2seq or decoder, {STUDIES_WITH_PRESETS} its decoder can be asked, given a source."
)
ADVICE_CAUSAL = "Choose a causal model, for example gemma-3-270m, gpt2 or EleutherAI/pythia-160m."
MOST_LAYERS = 2_000
PACKED = 16  # weights that one number of a quantized file may stand for
SPARE = 50_000_000  # numbers that a model makes for itself, such as tables of places
SHARED_TOKENS, TEST_TOKENS = 6, 10  # tokens of the two test sequences: what they share, and all
# Nats that the scores of the shared tokens may differ by, in float32 and in shorter formats. Random weights look ahead
# by a few thousandths, trained ones by about one.
MAX_SHIFT_FLOAT32, MAX_SHIFT_HALF = 1e-4, 0.01


# How weights were made smaller → the package that reads them: as pip calls it, and as it is imported.
QUANTIZERS: Mapping[str, tuple[str, str]] = {
    "bitsandbytes": ("bitsandbytes", "bitsandbytes"), "gptq": ("gptqmodel", "gptqmodel"),
    "awq": ("gptqmodel", "gptqmodel"), "fp8": ("kernels", "kernels"), "fbgemm_fp8": ("fbgemm-gpu", "fbgemm_gpu"),
    "compressed-tensors": ("compressed-tensors", "compressed_tensors"), "hqq": ("hqq", "hqq"),
    "quanto": ("optimum-quanto", "optimum.quanto"), "aqlm": ("aqlm", "aqlm"), "torchao": ("torchao", "torchao"),
    "eetq": ("kernels", "kernels"), "higgs": ("flute-kernel", "flute"), "vptq": ("vptq", "vptq"),
    "auto-round": ("auto-round", "auto_round"),
}  # fmt: skip


def quantized_by(config: Any) -> str:
    """How a model's weights were made smaller, as its configuration says; "" where they were not."""
    settings = getattr(config, "quantization_config", None)
    method = settings.get("quant_method") if isinstance(settings, Mapping) else getattr(settings, "quant_method", None)
    if (
        method is None
        and isinstance(settings, Mapping)
        and (settings.get("load_in_8bit") or settings.get("load_in_4bit"))
    ):
        method = "bitsandbytes"
    return str(getattr(method, "value", method) or "")


def require_package(name: str, method: str) -> None:
    """ModelError where the package that reads weights of this kind is not installed."""
    package, module = QUANTIZERS.get(method, ("", ""))
    if not package:
        return
    try:
        is_here = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package that it is a part of
        is_here = False
    if not is_here:
        raise ModelError(
            f"The weights of {name} are quantized by {method}, which the package {package} reads, and it is not "
            f"installed. Install it (`pip install {package}`), or choose the model in full numbers."
        )


def require_causal(name: str, config: Mapping[str, Any]) -> None:
    """ModelError where a config.json says that the model fills gaps or turns one text into another."""
    family = str(config.get("model_type", ""))
    if is_encoder_decoder(config):
        raise ModelError(
            f"{name} is an encoder-decoder model ({family}): it writes one text for another that it has read whole, "
            f"and has no probability for a text by itself. {ADVICE_ENCODER_DECODER} {ADVICE_CAUSAL}"
        )
    if is_masked(config):
        raise ModelError(
            f"{name} is a masked language model ({family}): it reads the words on both sides of a gap, so what it "
            f"gives a word is no probability of that word after the words before it. {ADVICE_MASKED} {ADVICE_CAUSAL}"
        )
    if family in TWO_SIDED:
        raise ModelError(f"{name} is {TWO_SIDED[family]} ({family}): it reads words on both sides. {ADVICE_CAUSAL}")


def architecture(config: Mapping[str, Any]) -> str:
    """The first architecture that a config.json names, else its family, else "not told"."""
    return next(iter(_heads(config)), "") or str(config.get("model_type") or "not told")


def _heads(config: Mapping[str, Any]) -> tuple[str, ...]:
    heads = config.get("architectures")
    return tuple(head for head in heads if isinstance(head, str)) if isinstance(heads, list) else ()


def is_masked(config: Mapping[str, Any]) -> bool:
    """Whether a config.json is that of a model trained to fill gaps, and not turned into a causal one since."""
    heads = _heads(config)
    turned = config.get("is_decoder") is True and not any(head.endswith(MASKED_HEADS) for head in heads)
    return str(config.get("model_type", "")) in MASKED_FAMILIES and not turned


def is_encoder_decoder(config: Mapping[str, Any]) -> bool:
    """Whether a config.json is that of an encoder and a decoder, and not of the decoder alone."""
    decoder = config.get("is_decoder") is True
    return config.get("is_encoder_decoder") is True or (
        str(config.get("model_type", "")) in ENCODER_DECODERS and not decoder
    )


def is_encoder_decoder_folder(folder: Path) -> bool:
    """The same for a folder; False for one whose config.json cannot be read."""
    return is_encoder_decoder(_config(folder))


def not_encoder_decoder_error(name: str) -> ModelError:
    """What is said of a causal or masked model that is asked as one of an encoder and a decoder."""
    return ModelError(
        f"{name} is no encoder-decoder model, which the presets seq2seq and decoder are for. Choose another preset for "
        "it, or such a model, for example google-t5/t5-small."
    )


def is_masked_folder(folder: Path) -> bool:
    """The same for a folder; False for one whose config.json cannot be read."""
    return is_masked(_config(folder))


def not_masked_error(name: str) -> ModelError:
    """What is said of a causal model that is asked as a masked one."""
    return ModelError(
        f"{name} is no masked language model, which the preset pll (pseudo-log-likelihood) is for. Choose the preset "
        "natural for it, or a masked model, for example FacebookAI/roberta-base."
    )


def require_causal_folder(name: str, folder: Path) -> None:
    """The same for a folder; one whose config.json cannot be read is left to whoever loads it."""
    require_causal(name, _config(folder))


# transformers makes room for all that a configuration asks for before it tells what the files lack, so that a
# config.json of a few hundred bytes could take all memory. On the device "meta" a model has shapes and no numbers.
def require_size_as_files(name: str, config: Any, held: int, remedy: str, kind: str = "AutoModelForCausalLM") -> None:
    """ModelError where a configuration asks for far more numbers than the `held` ones of the model's files."""
    import torch
    import transformers

    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    try:
        layers = getattr(text, "num_hidden_layers", 0) or 0
        if not 0 <= layers <= MOST_LAYERS:
            raise ValueError(f"it asks for {layers} layers")
        with torch.device("meta"):
            model = getattr(transformers, kind).from_config(config, trust_remote_code=False)
        numbers_asked = sum(tensor.numel() for tensor in (*model.parameters(), *model.buffers()))
    except Exception as error:  # whatever transformers raises of a configuration from elsewhere
        message = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        raise ModelError(f"{name} cannot be loaded as its config.json says ({message[:200]}). {remedy}") from error
    packed = PACKED if quantized_by(config) else 1
    if numbers_asked > packed * held + SPARE:
        raise ModelError(
            f"The configuration of {name} asks for {numbers_asked:,} numbers, and its files hold {held:,}. They may be "
            f"damaged or belong to another architecture. {remedy}"
        )


def _config(folder: Path) -> dict[str, Any]:
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return config if isinstance(config, dict) else {}


def require_causal_scores(name: str, model: Any) -> None:
    """ModelError where the scores of a beginning move with what stands behind it: the model looks ahead."""
    import torch

    _require_no_look_ahead(
        name, model, lambda ids: model(input_ids=torch.tensor([ids], device=model.device), use_cache=False).logits
    )


def require_causal_decoder(name: str, model: Any) -> None:
    """The same for the decoder of a model that has an encoder, given a source of one token."""
    import torch

    source = torch.tensor([[1]], device=model.device)

    def logits(ids: list[int]) -> Any:
        decoder_ids = torch.tensor([ids], device=model.device)
        return model(input_ids=source, decoder_input_ids=decoder_ids, use_cache=False).logits

    _require_no_look_ahead(name, model, logits)


def _require_no_look_ahead(name: str, model: Any, logits: Callable[[list[int]], Any]) -> None:
    import torch

    # Two sequences with the same beginning and different ends. A model that reads from left to right gives the
    # beginning the same scores in both; one that looks ahead does not. The token numbers are arbitrary, spread over the
    # vocabulary.
    words = int(model.get_input_embeddings().num_embeddings)
    shared = [(7 * i + 3) % words for i in range(SHARED_TOKENS)]
    endings = (
        [(11 * i + 5) % words for i in range(TEST_TOKENS - SHARED_TOKENS)],
        [(13 * i + 8) % words for i in range(TEST_TOKENS - SHARED_TOKENS)],
    )
    with torch.inference_mode():
        logprobs = [logits(shared + ending)[0, :SHARED_TOKENS].float().log_softmax(-1) for ending in endings]
    # The scores of the shared tokens, and of all others in their places.
    moved = (logprobs[0] - logprobs[1]).abs().max().item()
    if moved > (MAX_SHIFT_FLOAT32 if model.dtype == torch.float32 else MAX_SHIFT_HALF):
        raise ModelError(
            f"{name} looks ahead: the log-probabilities of the same beginning differ by {moved:.2g} nats with what "
            f"follows it. Its scores are no probabilities of a text from left to right. {ADVICE_CAUSAL}"
        )
