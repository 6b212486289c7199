"""k-shot label scoring by several contenders on the same model, prompts and dtype: equal numbers first, then speed.

    python bench/icl.py prompts --benchmark rte --shots 50 --instances 200 --out prompts.jsonl.gz [--data DIR]
    python bench/icl.py score --prompts prompts.jsonl.gz --folder MODEL --instances 20 --contenders ours padded lm-eval
    python bench/icl.py score --prompts prompts.jsonl.gz --shape pythia-1.4b --tokenizer FOLDER --device cuda

A line of the file is one test item: its prompt with all demonstrations, and its label words. `ours` reads what the
prompts share once (scoring/shared_prefix_scorer.py, as the study icl does) and forgets it after each round; `packed`
is our scorer without a kept prefix; `padded` is our own plain batch of whole prompts, sorted by length, logits at the
labels alone; `lm-eval` is lm-evaluation-harness' Hugging Face backend, asked for the same log-likelihoods. The
contenders take turns; shown are medians. Generation after shared demonstrations is measured by
`bench/generation.py shots`.
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

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import priming

from explorer.scoring.generate import ModelGenerator
from explorer.scoring.hf import HFModel
from explorer.scoring.hf_source import Source
from explorer.scoring.policy import PRESETS
from explorer.scoring.shared_prefix_scorer import SharedPrefixScorer

Pair = tuple[str, str]
POLICY = dataclasses.replace(PRESETS["natural"], bos="always")
WINDOW = 16_384  # tokens, of models with random weights: 200 demonstrations fit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tasks = parser.add_subparsers(dest="task", required=True)
    prompts = tasks.add_parser("prompts", help="write the prompts to a file")
    prompts.add_argument("--benchmark", default="rte")
    prompts.add_argument("--shots", type=int, default=50)
    prompts.add_argument("--instances", type=int, default=200)
    prompts.add_argument("--data", help="the folder with benchmark files (default: EXPLORER_DATA)")
    prompts.add_argument("--out", type=Path, required=True)
    score = tasks.add_parser("score", help="score the labels of the prompts in a file")
    score.add_argument("--prompts", type=Path, required=True)
    score.add_argument("--folder", help="a folder with a model; or --shape")
    score.add_argument("--shape", choices=priming.SHAPES, help="random weights, with the tokenizer of --tokenizer")
    score.add_argument("--tokenizer", help="a folder with tokenizer.json, for --shape")
    score.add_argument("--device", default="cpu")
    score.add_argument("--dtype", default="", help="default: bfloat16 on cuda, float32 on cpu")
    score.add_argument("--contenders", nargs="+", default=["ours", "padded"], choices=CONTENDERS)
    score.add_argument("--instances", type=int, help="the first N of the file; default: all")
    score.add_argument("--batch", type=int, default=8, help="prompts in a batch of lm-eval")
    score.add_argument("--repeats", type=int, default=3)
    score.add_argument("--out", type=Path, help="append the results as JSON lines")
    args = parser.parse_args()
    (write_prompts if args.task == "prompts" else compare)(args)


def write_prompts(args: argparse.Namespace) -> None:
    """Prompts as the study makes them."""
    from explorer import benchmarks, prompts_icl, settings
    from explorer.variants.demonstrations import sample_items

    instances = benchmarks.load(args.benchmark, settings.read(data=args.data)).instances
    found = sample_items(instances, instances=args.instances, demonstrations=max(200, args.shots))
    before = prompts_icl.label_shared(found.demonstrations[: args.shots], found.instances[0].instance)
    with gzip.open(args.out, "wt", encoding="utf-8") as file:
        for pieces in found.instances:
            requests = prompts_icl.label_requests(pieces.instance, before, args.shots, 0)
            line = {"context": requests[0].context, "labels": [one.continuation for one in requests]}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def compare(args: argparse.Namespace) -> None:
    """Rounds of all contenders, and how far their numbers are from ours."""
    cuda = args.device == "cuda"
    dtype = getattr(torch, args.dtype or ("bfloat16" if cuda else "float32"))
    model, tokenizer = load(args, dtype)
    name = args.shape or Path(args.folder).name
    hf = HFModel(Source(name, Path(), "", "", None), model, tokenizer, priming.short(dtype))
    with gzip.open(args.prompts, "rt", encoding="utf-8") as file:
        items = [json.loads(line) for line in file][: args.instances]
    pairs = [(item["context"], label) for item in items for label in item["labels"]]
    longest = max(len(encoding.ids) for encoding in hf.encode_all(pairs, "always", "offsets"))
    if longest - 1 > hf.window:
        raise SystemExit(
            f"The longest prompt has {longest:,} tokens, the model's window {hf.window:,}: take fewer shots."
        )
    card = torch.cuda.get_device_name() if cuda else f"cpu, {torch.get_num_threads()} threads"
    show({"model": name, "dtype": priming.short(dtype), "device": card, "torch": torch.__version__,
          "instances": len(items), "requests": len(pairs), "longest prompt, tokens": longest}, args)  # fmt: skip
    times: dict[str, list[float]] = {name: [] for name in args.contenders}
    sums: dict[str, list[float]] = {}
    told: dict[str, dict[str, Any]] = {}
    few = pairs[: 2 * len(items[0]["labels"])]
    for number in range(args.repeats + 1):
        for contender in args.contenders:
            priming.sync(cuda)
            began = time.perf_counter()
            sums[contender], told[contender] = CONTENDERS[contender](hf, few if not number else pairs, args)
            priming.sync(cuda)
            if number:  # round 0 warms up on two items
                times[contender].append(time.perf_counter() - began)
    ours = statistics.median(times[args.contenders[0]])
    for contender in args.contenders:
        seconds = statistics.median(times[contender])
        gaps = [abs(one - other) for one, other in zip(sums[args.contenders[0]], sums[contender], strict=True)]
        show(
            {
                "contender": contender, "seconds": round(seconds, 3),
                "runs": [round(one, 3) for one in times[contender]],
                "instances/s": round(len(items) / seconds, 3), "times the first's": round(seconds / ours, 2),
                "largest difference, nats": round(max(gaps), 5), "median difference": round(statistics.median(gaps), 6),
                **told[contender],
            },
            args,
        )  # fmt: skip


def load(args: argparse.Namespace, dtype: torch.dtype) -> tuple[Any, Any]:
    if args.folder:
        return priming.load(args, dtype)
    from transformers import AutoModelForCausalLM, GPTNeoXConfig, PreTrainedTokenizerFast

    end = "<|endoftext|>"
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(Path(args.tokenizer) / "tokenizer.json"), bos_token=end, eos_token=end, pad_token=end
    )
    shape = priming.SHAPES[args.shape]
    config = GPTNeoXConfig(
        vocab_size=priming.VOCABULARY, intermediate_size=4 * shape["hidden_size"], rotary_pct=0.25,
        max_position_embeddings=WINDOW, use_parallel_residual=True, bos_token_id=0, eos_token_id=0, **shape,
    )  # fmt: skip
    torch.manual_seed(0)
    with torch.device(args.device):
        model = AutoModelForCausalLM.from_config(config, dtype=dtype)
    return model.eval(), tokenizer


# Contenders: each gives log P of every label after its prompt, BOS first, in the order asked, and what it has to tell.

Found = tuple[list[float], dict[str, Any]]


def ours(hf: HFModel, pairs: Sequence[Pair], args: argparse.Namespace) -> Found:
    generator = _once(hf, ModelGenerator)
    scorer = SharedPrefixScorer(generator)
    found = [one.sum for one in scorer.score(priming.requests_of(pairs), POLICY)]
    generator.decoder.prefixes.clear()
    return found, {"tokens read": scorer.stats.read_tokens, "tokens of whole prompts": scorer.stats.prompt_tokens}


def packed(hf: HFModel, pairs: Sequence[Pair], args: argparse.Namespace) -> Found:
    return priming.ours(hf, hf.model, hf.tokenizer, pairs, 0), {}


def padded(hf: HFModel, pairs: Sequence[Pair], args: argparse.Namespace) -> Found:
    return priming.padded(hf, hf.model, hf.tokenizer, pairs, 0), {}


def lm_eval(hf: HFModel, pairs: Sequence[Pair], args: argparse.Namespace) -> Found:
    import importlib.metadata

    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    def build(hf: HFModel) -> Any:
        return HFLM(
            pretrained=hf.model, tokenizer=hf.tokenizer, batch_size=args.batch, max_length=hf.window,
            add_bos_token=True,
        )  # fmt: skip

    bos = hf.tokenizer.bos_token or ""
    asked = [
        Instance(request_type="loglikelihood", doc={}, arguments=(bos + context, label), idx=i)
        for i, (context, label) in enumerate(pairs)
    ]
    found = [float(value) for value, _ in _once(hf, build).loglikelihood(asked, disable_tqdm=True)]
    return found, {"lm-eval": importlib.metadata.version("lm_eval"), "batch": args.batch}


def _once(hf: HFModel, build: Callable[[HFModel], Any]) -> Any:
    """What a contender sets up around a loaded model, outside the clock after its first round."""
    key = (id(hf), build.__qualname__)
    if key not in _built:
        _built[key] = build(hf)
    return _built[key]


_built: dict[tuple[int, str], Any] = {}
CONTENDERS: dict[str, Callable[[HFModel, Sequence[Pair], argparse.Namespace], Found]] = {
    "ours": ours, "packed": packed, "padded": padded, "lm-eval": lm_eval,
}  # fmt: skip


def show(result: dict[str, Any], args: argparse.Namespace) -> None:
    line = json.dumps(result)
    print(line, flush=True)
    if args.out:
        with args.out.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


if __name__ == "__main__":
    main()
