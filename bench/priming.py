"""Priming curves by several contenders on the same model, items and dtype: equal numbers first, then items a second.

    python bench/curves.py --tokenizer FOLDER --items 320 --out curves.jsonl.gz --data DIR
    python bench/priming.py --curves curves.jsonl.gz --tokenizer FOLDER --shape pythia-6.9b --device cuda
    python bench/priming.py --curves curves.jsonl.gz --folder MODEL --contenders ours padded minicons

An item is 11 contexts (0 to about 1,000 tokens) x 2 sentences. `ours` packs prefix trees; `padded` is our own plain
batch of whole sequences, sorted by length, logits at the targets alone; `minicons` and `lm-eval` are the real packages.
The share of peak counts 2 x parameters x real tokens and attention over real ancestors, against the best bf16 matrix
product of the same card in the same call.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GPTNeoXConfig, PreTrainedTokenizerFast

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from explorer.records import Request
from explorer.scoring.engine import tree as engine_tree
from explorer.scoring.engine.packing import prepare
from explorer.scoring.hf import HFModel
from explorer.scoring.hf_source import Source
from explorer.scoring.policy import PRESETS
from explorer.scoring.score import score

SHAPES = {
    "pythia-1.4b": {"hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 16},
    "pythia-2.8b": {"hidden_size": 2560, "num_hidden_layers": 32, "num_attention_heads": 32},
    "pythia-6.9b": {"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32},
}
VOCABULARY = 50_432
Pair = tuple[str, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--curves", type=Path, required=True)
    parser.add_argument("--folder", help="a folder with a model; or --shape")
    parser.add_argument("--shape", choices=SHAPES, help="random weights, with the tokenizer of --tokenizer")
    parser.add_argument("--tokenizer", help="a folder with tokenizer.json, for --shape")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="", help="default: bfloat16 on cuda, float32 on cpu")
    parser.add_argument("--contenders", nargs="+", default=["ours", "padded"], choices=CONTENDERS)
    parser.add_argument("--items", type=int, default=320, help="items that `ours` scores")
    parser.add_argument("--peer-items", type=int, default=32, help="items that the others score")
    parser.add_argument("--batch", type=int, nargs="+", default=[32], help="sizes that peers try; the best counts")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, help="append the results as JSON lines")
    args = parser.parse_args()
    dtype = getattr(torch, args.dtype or ("bfloat16" if args.device == "cuda" else "float32"))
    model, tokenizer = load(args, dtype)
    with gzip.open(args.curves, "rt", encoding="utf-8") as file:
        items = [json.loads(line) for line in file][: args.items]
    items = items if len(items) < args.items else items[: args.items]
    few = items[:: max(1, len(items) // args.peer_items)][: args.peer_items]
    peak = matrix_peak(dtype) if args.device == "cuda" else float("nan")
    show({"card": torch.cuda.get_device_name() if args.device == "cuda" else "cpu", "torch": torch.__version__,
          "peak_tflops": round(peak, 1), "model": args.shape or args.folder, "dtype": str(dtype)}, args)  # fmt: skip

    source = Source(args.shape or str(args.folder), Path(), "", "", None)
    hf = HFModel(source, model, tokenizer, short(dtype))
    reference: dict[str, list[float]] = {}
    for name in args.contenders:
        own = items if name == "ours" else few
        sizes = [0] if name in ("ours", "padded") else args.batch
        best: dict[str, Any] = {}
        for size in sizes:
            result = measure(name, hf, model, tokenizer, own, size, args)
            if result["items_per_s"] > best.get("items_per_s", 0):
                best = result
        sums = best.pop("sums")
        reference[name] = sums
        if name == "ours":
            best |= share_of_peak(hf, model, own, best["items_per_s"], peak)
            few_sums = CONTENDERS["ours"](hf, model, tokenizer, pairs_of(few), 0)
            reference["ours"] = few_sums
        else:
            gap = np.abs(np.array(reference["ours"]) - np.array(sums)) if "ours" in reference else np.array([np.nan])
            best["largest_difference_nats"] = float(np.nanmax(gap))
            best["median_difference_nats"] = float(np.nanmedian(gap))
        show({"contender": name, **best}, args)


def measure(
    name: str, hf: HFModel, model: Any, tokenizer: Any, items: Sequence[dict], size: int, args: argparse.Namespace
) -> dict[str, Any]:
    pairs = pairs_of(items)
    run = CONTENDERS[name]
    warm = pairs_of(items[: max(2, len(items) // 8)])
    run(hf, model, tokenizer, warm, size)
    if name == "ours":
        run(hf, model, tokenizer, pairs, size)  # every row shape once: compiled layers are made outside the clock
    cuda = args.device == "cuda"
    spent = stopwatch(hf, cuda) if name == "ours" else {}
    times = []
    if cuda:
        torch.cuda.reset_peak_memory_stats()
    for _ in range(args.repeats if name in ("ours", "padded") else max(1, args.repeats - 1)):
        sync(cuda)
        began = time.perf_counter()
        sums = run(hf, model, tokenizer, pairs, size)
        sync(cuda)
        times.append(time.perf_counter() - began)
    seconds = statistics.median(times)
    spent = {f"{step}_s": round(total / len(times), 3) for step, total in spent.items()}
    return {
        "items": len(items), "batch": size, "seconds": round(seconds, 3), "runs": [round(t, 3) for t in times],
        "items_per_s": len(items) / seconds, "requests_per_s": len(pairs) / seconds,
        "peak_memory_gib": round(torch.cuda.max_memory_allocated() / 2**30, 2) if cuda else None, "sums": sums, **spent,
    }  # fmt: skip


def stopwatch(hf: HFModel, cuda: bool) -> dict[str, float]:
    """Seconds spent in encoding and in the model from now on, added up in the dictionary that is returned."""
    spent = {"encode": 0.0, "model": 0.0}

    def timed(step: str, function: Any) -> Any:
        def run(*given: Any, **named: Any) -> Any:
            began = time.perf_counter()
            found = function(*given, **named)
            sync(cuda)
            spent[step] += time.perf_counter() - began
            return found

        return run

    hf.encode_all = timed("encode", hf.encode_all)  # type: ignore[method-assign]
    hf.logprobs = timed("model", hf.logprobs)  # type: ignore[method-assign]
    return spent


def pairs_of(items: Sequence[dict]) -> list[Pair]:
    return [(context, target) for item in items for context in item["contexts"] for target in item["targets"]]


def requests_of(pairs: Sequence[Pair]) -> list[Request]:
    return [Request(str(i), 0, context, target) for i, (context, target) in enumerate(pairs)]


# Contenders: each gives log P of every target after its context, BOS first, in the order asked.


def ours(hf: HFModel, model: Any, tokenizer: Any, pairs: Sequence[Pair], size: int) -> list[float]:
    return [one.sum for one in score(hf, requests_of(pairs), dataclasses.replace(PRESETS["natural"], bos="always"))]


def padded(hf: HFModel, model: Any, tokenizer: Any, pairs: Sequence[Pair], size: int) -> list[float]:
    budget = 65_536 if hf.runner.device.type == "cuda" else 4_096
    encoded = hf.encode_all(list(pairs), "always", "offsets")
    order = sorted(range(len(encoded)), key=lambda i: -len(encoded[i].ids))
    sums = [0.0] * len(pairs)
    base, head = model.base_model, model.get_output_embeddings()
    while order:
        longest = len(encoded[order[0]].ids) - 1
        batch, order = order[: max(1, budget // longest)], order[max(1, budget // longest) :]
        ids = torch.zeros((len(batch), longest), dtype=torch.long)
        for row, i in enumerate(batch):
            ids[row, : len(encoded[i].ids) - 1] = torch.tensor(encoded[i].ids[:-1])
        with torch.inference_mode():
            hidden = base(input_ids=ids.to(model.device), use_cache=False).last_hidden_state
            spans = [range(encoded[i].start - 1, len(encoded[i].ids) - 1) for i in batch]
            places = [(row, place) for row, span in enumerate(spans) for place in span]
            wanted = [encoded[i].ids[place + 1] for i, span in zip(batch, spans, strict=True) for place in span]
            rows, at = (torch.tensor(side, device=model.device) for side in zip(*places, strict=True))
            owner = np.repeat(np.arange(len(batch)), [len(encoded[i].ids) - encoded[i].start for i in batch])
            values = []
            for part in range(0, len(wanted), 2048):
                logits = head(hidden[rows[part : part + 2048], at[part : part + 2048]]).float().log_softmax(-1)
                target = torch.tensor(wanted[part : part + 2048], device=model.device)
                values.append(logits.gather(1, target[:, None])[:, 0])
            found = torch.cat(values).double().cpu().numpy()
        for row, total in enumerate(np.bincount(owner, found, minlength=len(batch))):
            sums[batch[row]] = float(total)
    return sums


def minicons(hf: HFModel, model: Any, tokenizer: Any, pairs: Sequence[Pair], size: int) -> list[float]:
    from minicons import scorer

    device = str(hf.runner.device)
    peer = scorer.IncrementalLMScorer(model, device, tokenizer=tokenizer)
    order = sorted(range(len(pairs)), key=lambda i: -len(pairs[i][0]))
    sums = [0.0] * len(pairs)
    # A tokenizer that puts its BOS first by itself (Gemma, OPT) would get a second one.
    own_bos = tokenizer("a")["input_ids"][:1] == [tokenizer.bos_token_id]
    for first in range(0, len(order), size):
        batch = order[first : first + size]
        found = peer.conditional_score(
            [pairs[i][0] for i in batch], [pairs[i][1] for i in batch], separator="",
            reduction=lambda tokens: tokens.sum(0).item(), bos_token=not own_bos,
        )  # fmt: skip
        for i, value in zip(batch, found, strict=True):
            sums[i] = float(value)
    return sums


def lm_eval(hf: HFModel, model: Any, tokenizer: Any, pairs: Sequence[Pair], size: int) -> list[float]:
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    peer = HFLM(pretrained=model, tokenizer=tokenizer, batch_size=size, max_length=2048, add_bos_token=True)
    bos = tokenizer.bos_token or ""
    asked = [
        Instance(request_type="loglikelihood", doc={}, arguments=(bos + context, target), idx=i)
        for i, (context, target) in enumerate(pairs)
    ]
    return [float(value) for value, _ in peer.loglikelihood(asked, disable_tqdm=True)]


CONTENDERS: dict[str, Callable[..., list[float]]] = {
    "ours": ours, "padded": padded, "minicons": minicons, "lm-eval": lm_eval,
}  # fmt: skip


def share_of_peak(hf: HFModel, model: Any, items: Sequence[dict], rate: float, peak: float) -> dict[str, Any]:
    """Real tokens fed, and operations a second as a share of the best matrix product."""
    encoded = hf.encode_all(pairs_of(items), "always", "offsets")
    packing = engine_tree.pack([e.ids for e in encoded], [e.start for e in encoded], hf.row_tokens)
    works = [prepare(row) for row in packing.rows]
    tokens = sum(len(work) for work in works)
    heads = sum(len(work.heads) for work in works)
    seen = float(sum((work.positions + 1).sum() for work in works))
    config = model.config.get_text_config()
    attention = 4 * config.hidden_size * config.num_hidden_layers * seen
    embeddings = model.get_input_embeddings().weight.numel()
    everything = sum(p.numel() for p in model.parameters())
    head = model.get_output_embeddings().weight.numel()
    tied = model.get_input_embeddings().weight is model.get_output_embeddings().weight
    layers = everything - embeddings - (0 if tied else head)
    stated = 2 * everything * tokens + attention
    strict = 2 * layers * tokens + 2 * head * heads + attention
    seconds = len(items) / rate
    plain = sum(len(e.ids) - 1 for e in encoded)
    return {
        "tokens_fed": tokens, "tokens_of_plain_sequences": plain, "tokens_per_s": tokens / seconds,
        "share_of_peak": stated / seconds / 1e12 / peak, "share_of_peak_strict": strict / seconds / 1e12 / peak,
        "rows": len(works),
    }  # fmt: skip


def matrix_peak(dtype: torch.dtype) -> float:
    """TFLOP/s of the best of three sizes of square matrix products on random data."""
    best = 0.0
    for size in (4096, 8192, 16384):
        a, b = (torch.randn(size, size, device="cuda", dtype=dtype) for _ in range(2))
        for _ in range(3):
            a @ b
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        times = []
        for _ in range(10):
            start.record()
            a @ b
            end.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(end))
        best = max(best, 2 * size**3 / statistics.median(times) / 1e9)
    return best


def load(args: argparse.Namespace, dtype: torch.dtype) -> tuple[Any, Any]:
    if args.folder:
        model = AutoModelForCausalLM.from_pretrained(args.folder, dtype=dtype, local_files_only=True)
        return model.to(args.device).eval(), AutoTokenizer.from_pretrained(args.folder, local_files_only=True)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(Path(args.tokenizer) / "tokenizer.json"),
        bos_token="<|endoftext|>",
        eos_token="<|endoftext|>",
        pad_token="<|endoftext|>",
    )
    shape = SHAPES[args.shape]
    config = GPTNeoXConfig(
        vocab_size=VOCABULARY,
        intermediate_size=4 * shape["hidden_size"],
        rotary_pct=0.25,
        max_position_embeddings=2048,
        use_parallel_residual=True,
        bos_token_id=0,
        eos_token_id=0,
        **shape,
    )
    torch.manual_seed(0)
    with torch.device(args.device):
        model = AutoModelForCausalLM.from_config(config, dtype=dtype)
    return model.eval(), tokenizer


def short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def sync(cuda: bool) -> None:
    if cuda:
        torch.cuda.synchronize()


def show(result: dict[str, Any], args: argparse.Namespace) -> None:
    line = json.dumps({k: round(v, 4) if isinstance(v, float) else v for k, v in result.items()})
    print(line, flush=True)
    if args.out:
        with args.out.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


if __name__ == "__main__":
    main()
