"""Tiny random models of the architectures that must be exact, with tiny tokenizers trained on a few lines."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

LINES = [
    "The keys to the old cabinet are on the kitchen table, and nobody has seen the lid.",
    "Some café in Zürich sold naïve visitors 1,250 cups a day — twice as many as before.",
    "What did the teachers say that the pupils had written on the board?\nThey said: nothing.",
    "日本語の文もあります。 Это тоже текст. 🙂 is a face.",
    "    if lines:  return  [line.strip() for line in lines]\n\n\treturn None",
]
WORDS = 420
ARCHITECTURES = ("gpt_neox", "gpt2", "opt", "llama", "olmo", "olmo2", "gemma3_text")
WINDOW = 4  # Gemma's sliding window: small, so that it bites


def _naive() -> ModuleType:
    spec = importlib.util.spec_from_file_location("naive_reference", Path(__file__).with_name("naive.py"))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def naive() -> ModuleType:
    """The reference loop, which shares no code with the explorer."""
    return _naive()


def byte_level(nfc: bool = False, trim: bool = False, bos_first: bool = False) -> Any:
    """A byte-level BPE tokenizer as GPT-2 (nothing first), Pythia (NFC, trimmed offsets) or OPT (BOS first) have it."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    if nfc:
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=WORDS,
        special_tokens=["<pad>", "<s>", "</s>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(LINES, trainer)
    last = processors.ByteLevel(trim_offsets=trim)
    front = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    tokenizer.post_processor = processors.Sequence([last, front]) if bos_first else last
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>")


def metaspace(scheme: str = "always") -> Any:
    """A tokenizer in the manner of SentencePiece: NFC, a dummy blank first, bytes for unknown characters, BOS first."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme)
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=WORDS,
        special_tokens=["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))],
        show_progress=False,
    )
    tokenizer.train_from_iterator(LINES[:2], trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


TOKENIZERS: dict[str, Callable[[], Any]] = {
    "gpt_neox": lambda: byte_level(nfc=True, trim=True),
    "gpt2": byte_level,
    "opt": lambda: byte_level(bos_first=True),
    "llama": metaspace,
    "olmo": lambda: byte_level(nfc=True),
    "olmo2": byte_level,
    "gemma3_text": lambda: metaspace("first"),
}


def tiny(architecture: str) -> Any:
    """A causal model of two or three small random layers, whose numbers differ by more than rounding."""
    import torch
    import transformers as t

    common = {"vocab_size": WORDS, "hidden_size": 32, "num_attention_heads": 4, "max_position_embeddings": 256}
    deep = {"num_hidden_layers": 2, "intermediate_size": 48}
    makers: dict[str, Callable[[], Any]] = {
        "gpt_neox": lambda: t.GPTNeoXForCausalLM(t.GPTNeoXConfig(**common, **deep)),
        "gpt2": lambda: t.GPT2LMHeadModel(
            t.GPT2Config(
                vocab_size=WORDS, n_embd=32, n_head=4, n_layer=2, n_positions=256, bos_token_id=1, eos_token_id=2
            )
        ),
        "opt": lambda: t.OPTForCausalLM(
            t.OPTConfig(**common, num_hidden_layers=2, ffn_dim=48, word_embed_proj_dim=16, do_layer_norm_before=False)
        ),
        "llama": lambda: t.LlamaForCausalLM(t.LlamaConfig(**common, **deep, num_key_value_heads=2)),
        "olmo": lambda: t.OlmoForCausalLM(t.OlmoConfig(**common, **deep)),
        "olmo2": lambda: t.Olmo2ForCausalLM(t.Olmo2Config(**common, **deep)),
        "gemma3_text": lambda: t.Gemma3ForCausalLM(
            t.Gemma3TextConfig(
                **common,
                num_hidden_layers=3,
                intermediate_size=48,
                num_key_value_heads=1,
                head_dim=8,
                sliding_window=WINDOW,
                layer_types=["sliding_attention", "full_attention", "sliding_attention"],
                final_logit_softcapping=5.0,
            )
        ),
    }
    torch.manual_seed(sum(map(ord, architecture)))
    model = makers[architecture]()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight), alpha=0.15)
    return model.eval()


@pytest.fixture(scope="session")
def tiny_folders(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Folders with a tiny model and its tokenizer, one an architecture, made when first asked for."""
    made: dict[str, Path] = {}

    def folder(architecture: str) -> Path:
        if architecture not in made:
            path = tmp_path_factory.mktemp("tiny") / architecture
            tiny(architecture).save_pretrained(path)
            TOKENIZERS[architecture]().save_pretrained(path)
            made[architecture] = path
        return made[architecture]

    return folder
