"""Prompts a second: the explorer's generator beside a plain `model.generate` loop, same batch size, same stop rule.

    python bench/generation.py ids --model gemma-3-270m --prompts 64 --rounds 5 [--batch 32] [--data DIR]
    python bench/generation.py shots --model gemma-3-270m --shots 25 --prompts 16 --new 1 10 100
    python bench/generation.py ids --random llama-1b --device cuda --dtype bfloat16 --prompts 512 --batch 256

`ids` asks for the ids of ontology concepts and stops once an id is complete; `shots` lets prompts that begin with the
same demonstrations be completed. The two ways take turns, a round each on prompts of its own; shown are medians. With
`--random SHAPE` the model has random weights and a tokenizer made on the spot, and an "id" is complete after 40
characters. The loop imports only torch and transformers.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

Until = Callable[[str], bool]

SHAPES = {
    "gemma-3-270m": ("Gemma3TextConfig", {
        "vocab_size": 262_144, "hidden_size": 640, "intermediate_size": 2048, "num_hidden_layers": 18,
        "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256, "sliding_window": 512,
    }),
    "pythia-410m": ("GPTNeoXConfig", {
        "vocab_size": 50_304, "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24,
        "num_attention_heads": 16, "max_position_embeddings": 8192,
    }),
    "llama-1b": ("LlamaConfig", {
        "vocab_size": 128_256, "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16,
        "num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 32_768,
    }),
}  # fmt: skip


def plain_loop(
    model: Any, tokenizer: Any, prompts: Sequence[str], batch: int, new: int, until: Until | None
) -> list[str]:
    """Completions by `generate`, in the order asked: padded at the left, a batch ends when all its rows have."""
    from transformers import StoppingCriteria, StoppingCriteriaList

    class Complete(StoppingCriteria):
        def __init__(self, start: int) -> None:
            self.start = start

        def __call__(self, ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
            texts = tokenizer.batch_decode(ids[:, self.start :], skip_special_tokens=True)
            return torch.tensor([until is not None and until(text) for text in texts], device=ids.device)

    found: list[str] = []
    tokenizer.padding_side = "left"
    for first in range(0, len(prompts), batch):
        inputs = tokenizer(list(prompts[first : first + batch]), return_tensors="pt", padding=True).to(model.device)
        inputs.pop("token_type_ids", None)
        start = inputs["input_ids"].shape[1]
        stops = StoppingCriteriaList([Complete(start)] if until else [])
        with torch.inference_mode():
            ids = model.generate(
                **inputs, do_sample=False, max_new_tokens=new, pad_token_id=tokenizer.pad_token_id,
                stopping_criteria=stops,
            )  # fmt: skip
        found += tokenizer.batch_decode(ids[:, start:], skip_special_tokens=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=["ids", "shots"])
    parser.add_argument("--model", default="gemma-3-270m")
    parser.add_argument("--random", choices=SHAPES, help="random weights of this shape instead of a model")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--cache")
    parser.add_argument("--data", help="the folder that holds go/ (default: EXPLORER_DATA; else made-up labels)")
    parser.add_argument("--prompts", type=int, default=64, help="prompts a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--new", type=int, nargs="*", default=[], help="new tokens (default: 10; shots: 1 10 100)")
    parser.add_argument("--shots", type=int, default=25)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()

    from explorer import settings
    from explorer.scoring import hf

    found = settings.read(cache=args.cache, data=args.data)
    labels = _labels(found.data)
    if args.random:
        model = _random_model(args.random, labels, args.device, args.dtype)
    else:
        model = hf.load(args.model, found, device=args.device, dtype=args.dtype)
    record = model.record()
    print(*(f"{name} {record[name]}" for name in ("model", "dtype", "device", "torch", "transformers")), sep=", ")
    for new in args.new or ([10] if args.task == "ids" else [1, 10, 100]):
        row = compare(model, labels, args, new)
        print(json.dumps(row) if args.json else "  ".join(f"{name} {value}" for name, value in row.items()), flush=True)


def compare(model: Any, labels: Sequence[str], args: argparse.Namespace, new: int) -> dict[str, Any]:
    """Median prompts a second of the two ways, their ratio, and how many answers differ."""
    from explorer.records import Request
    from explorer.scoring.generate import ModelGenerator

    until = _until(args.random is not None) if args.task == "ids" else None
    generator = ModelGenerator(model, rows=args.batch)
    rates: dict[str, list[float]] = {"explorer": [], "generate": []}
    differ = 0
    for number in range(args.rounds + 1):
        size = args.prompts if number else min(args.prompts, args.batch)
        prompts = _prompts(args, labels, number, size)
        requests = [Request(f"{number}/{place}", 0, prompt) for place, prompt in enumerate(prompts)]
        if number == 1:
            generator.stats = type(generator.stats)()
        ours, mine = _timed(model, lambda: generator.generate(requests, max_new_tokens=new, until=until))  # noqa: B023
        theirs, other = _timed(
            model, lambda: plain_loop(model.model, model.tokenizer, prompts, args.batch, new, until)  # noqa: B023
        )  # fmt: skip
        if not number:  # the first round warms up
            continue
        rates["explorer"].append(size / mine)
        rates["generate"].append(size / other)
        differ += sum(_cut(one.text, until) != _cut(text, until) for one, text in zip(ours, theirs, strict=True))
    stats = generator.stats
    medians = {name: statistics.median(values) for name, values in rates.items()}
    return {
        "new tokens": new,
        "batch": args.batch,
        "prompts": args.prompts * args.rounds,
        "explorer prompts/s": round(medians["explorer"], 3),
        "generate prompts/s": round(medians["generate"], 3),
        "ratio": round(medians["explorer"] / medians["generate"], 2),
        "answers that differ": differ,
        "prompt tokens": stats.prompt_tokens,
        "tokens read": stats.read_tokens,
    }


def _timed(model: Any, work: Callable[[], Any]) -> tuple[Any, float]:
    def wait() -> None:
        if model.model.device.type == "cuda":
            torch.cuda.synchronize()

    wait()
    start = time.perf_counter()
    found = work()
    wait()
    return found, time.perf_counter() - start


def _cut(text: str, until: Until | None) -> str:
    """The answer up to where the stop rule first holds: the loop's rows may run on beside unfinished ones."""
    if until is None:
        return text
    return next((text[:end] for end in range(len(text) + 1) if until(text[:end])), text)


def _until(is_random: bool) -> Until:
    if is_random:
        return lambda text: len(text) >= 40
    from explorer.ontologies.complete import completeness
    from explorer.ontologies.parse import id_rule

    return completeness(id_rule("GO", []), after_prefix=True)


def _prompts(args: argparse.Namespace, labels: Sequence[str], number: int, size: int) -> list[str]:
    chance = random.Random(number)
    chosen = chance.sample(range(len(labels)), size)
    if args.task == "ids":
        return [f"In the Gene Ontology, the GO ID of the label '{labels[place]}' is GO:" for place in chosen]
    # A set of demonstrations a round; each round's are new to both ways.
    shown = [labels[place] for place in chance.sample(range(len(labels)), 3 * args.shots)]
    demonstrations = "".join(
        f"Label: {i % 2}\nFirst Piece: {shown[3 * i]} and {shown[3 * i + 1]}\nSecond Piece: {shown[3 * i + 2]}\n\n"
        for i in range(args.shots)
    )
    return [f"{demonstrations}Label: 1\nFirst Piece: {labels[place]}\nSecond Piece:" for place in chosen]


def _labels(data: Path | None) -> list[str]:
    if data and (path := data / "go" / "go_dataset.csv").is_file():
        return [line.split(";")[1] for line in path.read_text("utf-8").splitlines()]
    chance = random.Random(0)
    parts = [
        "regulation of",
        "negative",
        "cell",
        "mito",
        "chondrial",
        "protein",
        "binding",
        "trans",
        "membrane",
        "acid",
        "kinase",
        "activity",
    ]
    return [" ".join(chance.choices(parts, k=chance.randint(2, 8))) for _ in range(40_000)]


def _random_model(shape: str, labels: Sequence[str], device: str, dtype: str) -> Any:
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    from explorer.scoring.engine.device import DTYPES, choose_device, choose_dtype
    from explorer.scoring.hf import HFModel
    from explorer.scoring.hf_source import Source

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=8192,
        special_tokens=["<pad>", "<s>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(labels, trainer)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="<s>", pad_token="<pad>"
    )
    name, numbers = SHAPES[shape]
    config = getattr(transformers, name)(**numbers, bos_token_id=1, eos_token_id=1, pad_token_id=0)
    place = choose_device(device)
    kind = choose_dtype(dtype, place)
    torch.manual_seed(0)
    with torch.device(place):
        made = transformers.AutoModelForCausalLM.from_config(config, dtype=DTYPES[kind]).eval()
    with torch.no_grad():  # words beyond the tokenizer's are never the likeliest
        made.get_output_embeddings().weight[len(fast) :] = 0
    return HFModel(Source(f"random {shape}", Path(), "", "", None), made, fast, kind)


if __name__ == "__main__":
    main()
