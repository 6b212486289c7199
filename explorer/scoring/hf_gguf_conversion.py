"""Converts one GGUF file to float32 safetensors and checks the result; run as a process of its own by embedded.py.

    python -m explorer.scoring.hf_gguf_conversion ID GGUF OUT

Lines on standard output: "step", a share and a text, or "refused" and a sentence.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

from explorer.scoring import catalog
from explorer.scoring.catalog import Canary, KnownModel

TOLERANCE = 1e-2  # nats, on a sentence's sum
GGUF_STRING = 8  # the type of a value that is a text


def main(name: str, gguf: str, out: str) -> int:
    model, _ = catalog.embedded(name)
    _step(0.10, f"Reading the tokenizer of {model.title}")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    quicken_gguf()
    file = Path(gguf)
    tokenizer = AutoTokenizer.from_pretrained(str(file.parent), gguf_file=file.name)
    tokenizer.save_pretrained(out)
    _step(0.35, f"Converting {model.title} to float32")
    model_of_file = AutoModelForCausalLM.from_pretrained(str(file.parent), gguf_file=file.name, dtype=torch.float32)
    # The weights are plain float32 by now, but the marks of the quantizer would forbid to save them.
    for owner, mark in ((model_of_file, "hf_quantizer"), (model_of_file.config, "quantization_config")):
        if hasattr(owner, mark):
            delattr(owner, mark)
    _step(0.75, f"Writing {model.title}")
    model_of_file.save_pretrained(out)
    del model_of_file
    _step(0.85, f"Checking {model.title} against known sentences")
    # Read again from disk: the check is of the files that will be used, not of the model that was in memory.
    loaded = AutoModelForCausalLM.from_pretrained(out, dtype=torch.float32, local_files_only=True).eval()
    if refusal := check(loaded, AutoTokenizer.from_pretrained(out, local_files_only=True), model):
        print(f"refused\t{refusal}", flush=True)
        return 1
    return 0


def quicken_gguf() -> None:
    """Lets transformers read a file once, for its tokenizer, its settings and its weights, and a word in one step.

    It would read three times, and a vocabulary has 262,144 words with a score and a kind each. gguf's reader makes five
    arrays of each of these, which are cut here from one; slices of a plain array take a quarter of the time that those
    of a memory map do. The table of all names that a tensor may have is made once, not for each part of the model.
    These are parts that neither package promises: in a version that has others, files are read as it reads them.
    """
    import gguf
    from transformers import modeling_gguf_pytorch_utils

    parts: list[tuple[Any, str]] = [
        (gguf.GGUFReader, name) for name in ("_get", "_get_field_parts", "gguf_scalar_to_np")
    ]
    parts += [(gguf, "get_tensor_name_map"), (modeling_gguf_pytorch_utils, "_gguf_parse_value")]
    if not all(hasattr(owner, name) for owner, name in parts):
        return
    gguf.GGUFReader = functools.cache(_plain_reader())  # type: ignore[assignment,misc]
    gguf.get_tensor_name_map = functools.cache(gguf.get_tensor_name_map)  # type: ignore[assignment]
    modeling_gguf_pytorch_utils._gguf_parse_value = _value_of


def _plain_reader() -> type:
    import gguf
    import numpy as np

    class PlainReader(gguf.GGUFReader):
        @property
        def data(self) -> Any:
            return self._plain

        @data.setter
        def data(self, mapped: Any) -> None:
            self._plain = mapped.view(np.ndarray)

        def _get_field_parts(self, orig_offs: int, raw_type: int) -> tuple[int, list[Any], list[int], list[Any]]:
            """The size of a field in bytes, its arrays, the places of its values among them, and its types.

            An array of words is (type of its items, their number, then each word's length and its bytes).
            """
            if raw_type != gguf.GGUFValueType.ARRAY or self.byte_order != "I":  # "I": the file's order is ours
                return super()._get_field_parts(orig_offs, raw_type)
            head = [self._get(orig_offs, np.uint32), self._get(orig_offs + 4, np.uint64)]
            kind, count, at = gguf.GGUFValueType(head[0][0]), int(head[1][0]), orig_offs + 12
            types = [gguf.GGUFValueType.ARRAY, kind][: 1 + bool(count)]
            if kind == gguf.GGUFValueType.STRING:
                parts, whole = head, memoryview(self._plain)
                for _ in range(count):
                    end = at + 8 + int.from_bytes(whole[at : at + 8], sys.byteorder)
                    if not at + 8 <= end <= len(whole):
                        raise IndexError("a word ends behind the file")
                    parts += (self._plain[at : at + 8].view(np.uint64), self._plain[at + 8 : end])
                    at = end
                return at - orig_offs, parts, list(range(3, 3 + 2 * count, 2)), types
            if kind in self.gguf_scalar_to_np:
                values = self._get(at, self.gguf_scalar_to_np[kind], count)
                if values.size != count:
                    raise IndexError("numbers end behind the file")
                size = 12 + values.nbytes
                return size, [*head, *values.reshape(-1, 1)], list(range(2, 2 + count)), types
            return super()._get_field_parts(orig_offs, raw_type)

    return PlainReader


def _value_of(part: Any, types: Any) -> Any:
    """One value of a GGUF file, from its array and the types of its field, of which the last is its own."""
    return part.tobytes().decode() if types[-1] == GGUF_STRING else part.item()


def check(weights: Any, tokenizer: Any, model: KnownModel) -> str:
    """Why a converted model may not be used, or "" where every known sentence has its log-probability."""
    import transformers

    assert model.embedded is not None
    for canary in model.embedded.canaries:
        tokens, nats = measure(weights, tokenizer, model, canary.text)
        if tokens != canary.tokens or not abs(nats - canary.logprob) <= TOLERANCE:
            return (
                f"{model.title} did not come out right: {canary.text!r} scores {nats:.3f} nats over {tokens} tokens, "
                f"expected {canary.logprob:.3f} over {canary.tokens}. transformers {transformers.__version__} may read "
                "this file wrongly; install the versions of requirements.txt and try again."
            )
    return ""


def measure(weights: Any, tokenizer: Any, model: KnownModel, text: str) -> tuple[int, float]:
    """How many tokens a sentence has and its log-probability in nats after the plain-text BOS."""
    import torch

    bos = tokenizer.convert_tokens_to_ids(model.bos) if model.bos else tokenizer.bos_token_id
    ids = torch.tensor([bos, *tokenizer(text, add_special_tokens=False)["input_ids"]])
    with torch.inference_mode():
        logprobs = weights(ids[None]).logits[0, :-1].float().log_softmax(-1)
    return len(ids) - 1, float(logprobs.gather(1, ids[1:, None]).double().sum())


def canaries(weights: Any, tokenizer: Any, model: KnownModel, texts: list[str]) -> tuple[Canary, ...]:
    """Catalog entries for sentences, measured on a model that is known to be right."""
    return tuple(Canary(text, *measure(weights, tokenizer, model, text)) for text in texts)


def _step(share: float, text: str) -> None:
    print(f"step\t{share}\t{text}", flush=True)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
