"""Causal language models by transformers: embedded ones, any Hugging Face id with its revision, any local folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import transformers

from explorer.errors import ModelError
from explorer.scoring import hf_kind, hf_load, hf_source, hf_tokenizer
from explorer.scoring.embedded import Steps
from explorer.scoring.encode import TextEncoder
from explorer.scoring.engine.device import DTYPES, check_memory, choose_device, choose_dtype, spread_over
from explorer.scoring.engine.rows import RowRunner
from explorer.scoring.hf_load import describe
from explorer.scoring.hf_source import Source
from explorer.scoring.hf_text_model import TextModel
from explorer.scoring.hf_tokenizer import first_line, repair_advice
from explorer.settings import Settings


class HFModel(TextModel):
    """A loaded causal language model as transformers has it; safe to call from several threads."""

    def __init__(self, source: Source, model: Any, tokenizer: Any, dtype: str) -> None:
        self.model = model
        self.tokenizer = tokenizer
        super().__init__(
            source,
            RowRunner(model),
            TextEncoder(tokenizer, source.known.bos if source.known else ""),
            hf_tokenizer.window_of(model.config, tokenizer),
            hf_load.known_tokens(model, tokenizer),
            dtype,
        )

    @property
    def ends(self) -> frozenset[int]:
        """The tokens at which it ends an answer."""
        configured = getattr(getattr(self.model, "generation_config", None), "eos_token_id", None)
        return hf_tokenizer.end_tokens(configured, self.tokenizer)

    def record(self) -> dict[str, str | int]:
        """Model id, revision or weights hash, tokenizer hash, dtype, device, versions, and how rows are batched."""
        cards = {"cards": self.runner.cards} if self.runner.cards > 1 else {}
        return describe(self, {"attention": self.runner.attention, "batches": self.runner.mode, **cards})


def load(
    name: str,
    settings: Settings,
    *,
    device: str = "auto",
    dtype: str = "auto",
    revision: str = "",
    progress: Steps | None = None,
    source: Source | None = None,
) -> HFModel:
    """A model ready to score: an embedded id, a Hugging Face id (`id@revision` too) or a folder.

    `auto` is float32 on a CPU and bfloat16 on CUDA. What it takes in memory is compared with what is free before
    anything large is downloaded or loaded. `source` is what `hf_source.find` gave.
    """
    target_device = choose_device(device)
    dtype_name = choose_dtype(dtype, target_device)
    source = source or hf_source.find(name, settings, device=device, dtype=dtype, revision=revision, progress=progress)
    if progress:
        progress(f"Loading {source.name}", 0.9)
    devices = spread_over(target_device, shard=settings.shard)
    check_memory(name, hf_source.count_parameters(source.path), dtype_name, *devices)
    if settings.threads:
        torch.set_num_threads(settings.threads)
    if dtype_name == "float32":
        torch.set_float32_matmul_precision("highest")  # no TF32
    config = hf_tokenizer.read_config(source)
    _require_causal(source, config)
    tokenizer = hf_tokenizer.read_tokenizer(source, repair_advice(source))
    hf_kind.require_size_as_files(source.name, config, hf_source.count_parameters(source.path), repair_advice(source))
    model = _weights(source, config, dtype_name, devices)
    hf_load.require_own_tokenizer(source.name, tokenizer, model)
    hf_kind.require_causal_scores(source.name, model)
    model_to_score = HFModel(source, model, tokenizer, dtype_name)
    if progress:
        progress(f"{source.name} is loaded", 1.0)
    return model_to_score


def _require_causal(source: Source, config: Any) -> None:
    if type(config) not in transformers.AutoModelForCausalLM._model_mapping:
        raise ModelError(
            f"{source.name} is of the kind {config.model_type!r}, which is no causal language model. "
            "Choose one that is."
        )


def _weights(source: Source, config: Any, dtype: str, devices: Sequence[torch.device]) -> Any:
    transformers.utils.logging.disable_progress_bar()
    try:
        loaded: Any = transformers.AutoModelForCausalLM.from_pretrained(
            source.path,
            config=config,
            dtype=DTYPES[dtype],
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
            device_map=_device_map(devices),
        )
        model, report = loaded
        missing = sorted(report["missing_keys"])
        if missing:
            raise ModelError(
                f"The files of {source.name} lack {len(missing)} of the model's weights ({missing[0]}, ...). "
                f"They may be damaged or belong to another architecture. {repair_advice(source)}"
            )
        return model.eval() if len(devices) > 1 else model.to(devices[0]).eval()
    except torch.OutOfMemoryError as error:
        raise ModelError(
            f"The GPU's memory is too small for {source.name}. Choose a smaller model or dtype."
        ) from error
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"{source.name} cannot be loaded ({first_line(error)}). {repair_advice(source)}") from error


def _device_map(devices: Sequence[torch.device]) -> Any:
    """Straight to the card, not through memory; over several, accelerate lays the layers out."""
    if len(devices) > 1:
        return "balanced"
    return devices[0] if devices[0].type == "cuda" else None
