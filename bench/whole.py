"""Whole commands against a peer, on one card: from the start of the process to its end, loading and all.

    python bench/whole.py --make FOLDER --tokenizer .../tokenizer.json    # --shape's, with random weights
    python bench/whole.py FOLDER --data DATA --repeats 3                  # BLiMP: ours and lm-evaluation-harness

Ours is `python -m explorer run accuracy --benchmark blimp` in a fresh cache; the peer loads the same folder through
lm-evaluation-harness's Hugging Face backend and scores the same sentences. Each answer is a line of JSON: `wall`
seconds of the process. With --steps ours is also run once with a clock around each step: seconds after the start of the
process at which it first began and last ended. The last line compares the verdicts pair by pair.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

STARTED = time.monotonic()
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
SHAPES = {
    "pythia-1.4b": {"hidden_size": 2048, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 8192},
    "pythia-6.9b": {
        "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 16384,
    },
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--make", type=Path)
    parser.add_argument("--shape", choices=SHAPES, default="pythia-1.4b")
    parser.add_argument("--tokenizer", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--study", default="accuracy")
    parser.add_argument("--steps", action="store_true")
    parser.add_argument("--only-ours", action="store_true")
    parser.add_argument("--inside", choices=["steps", "peer"], help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    args, rest = parser.parse_known_args()
    if args.make:
        make(args.make, args.tokenizer, SHAPES[args.shape])
    elif args.inside == "steps":
        ours(args, rest)
    elif args.inside == "peer":
        peer(args)
    else:
        compare(args, rest)


def make(folder: Path, tokenizer: Path, shape: dict[str, int]) -> None:
    """A model of this shape, with weights drawn at random, in bfloat16."""
    import torch
    from transformers import AutoModelForCausalLM, GPTNeoXConfig, PreTrainedTokenizerFast

    end = "<|endoftext|>"
    fast = PreTrainedTokenizerFast(tokenizer_file=str(tokenizer), bos_token=end, eos_token=end, pad_token=end)
    config = GPTNeoXConfig(vocab_size=50_304, max_position_embeddings=2048, bos_token_id=0, eos_token_id=0, **shape)
    torch.manual_seed(0)
    with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.save_pretrained(folder)
    fast.save_pretrained(folder)


def compare(args: argparse.Namespace, rest: list[str]) -> None:
    margins: dict[str, dict[str, float]] = {}
    peers = ("peer",) if args.study == "accuracy" and not args.only_ours else ()
    rounds: list[tuple[str, ...]] = [("ours", *peers)] * args.repeats
    for who in ("steps", *(each for turn in rounds for each in turn)) if args.steps else sum(rounds, ()):
        with tempfile.TemporaryDirectory() as scratch:
            out = Path(scratch)
            command = [sys.executable, __file__, str(args.folder), "--data", str(args.data), "--inside", who]
            command += ["--out", str(out), "--batch", str(args.batch), "--study", args.study, *rest]
            if who == "ours":
                command = [sys.executable, "-m", "explorer", *_given(args, out), *rest]
            began = time.monotonic()
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
            wall = time.monotonic() - began
            told = json.loads(done.stdout.splitlines()[-1]) if done.stdout.strip() and who != "ours" else {}
            print(json.dumps({"who": who, "code": done.returncode, "wall": round(wall, 2), **told}), flush=True)
            if args.study == "accuracy" and done.returncode == 0 and who != "steps":
                margins[who] = _margins(out) if who == "ours" else json.loads((out / "margins.json").read_text())
    if len(margins) == 2:
        both = margins["ours"].keys() & margins["peer"].keys()
        apart = [abs(margins["ours"][one] - margins["peer"][one]) for one in both]
        same = sum((margins["ours"][one] > 0) == (margins["peer"][one] > 0) for one in both)
        print(json.dumps({"pairs": len(both), "same_verdict": same, "mean_apart": sum(apart) / len(apart)}))


def _given(args: argparse.Namespace, out: Path) -> list[str]:
    given = ["run", args.study, "--model", str(args.folder), "--benchmark", "blimp", "--dtype", "bfloat16"]
    return [*given, "--cache", str(out / "cache"), "--data", str(args.data)]


def _margins(out: Path) -> dict[str, float]:
    from explorer.runs.folder import RunFolder

    (folder,) = [RunFolder(path) for path in (out / "cache" / "runs").iterdir() if (path / "spec.json").exists()]
    rows = folder.read("measures")
    rows = rows[rows["measure"] == "margin"]
    return dict(zip(rows["instance_id"], rows["value"], strict=True))


def ours(args: argparse.Namespace, rest: list[str]) -> None:
    """The command, with the moment at which each step ended."""
    from explorer import __main__ as command
    from explorer.resources import Resources
    from explorer.runs import pipeline, worker
    from explorer.runs.folder import RunFolder
    from explorer.scoring.model_process import ModelProcess
    from explorer.studies import study as find_study

    ended: dict[str, list[float]] = {}
    began_first: dict[str, float] = {}

    def clocked(name: str, owner: Any, attribute: str) -> None:
        plain = getattr(owner, attribute)

        def timed(*given: Any, **named: Any) -> Any:
            began_first.setdefault(name, round(time.monotonic() - STARTED, 2))
            began = time.monotonic()
            try:
                return plain(*given, **named)
            finally:
                seconds = ended.setdefault(name, [0.0, 0.0, 0.0])
                seconds[0] += time.monotonic() - began
                seconds[1] = time.monotonic() - STARTED
                seconds[2] += 1

        if isinstance(owner, type) or not hasattr(owner, "summarize"):
            setattr(owner, attribute, timed)
        else:  # a study is frozen
            object.__setattr__(owner, attribute, timed)

    clocked("instances", Resources, "instances")
    clocked("begin process", Resources, "begin_process")
    clocked("tokenizer", ModelProcess, "wait_for_tokenizer")
    clocked("wait for model", worker.environment, "collect")
    clocked("prepare", pipeline._Coming, "_prepare")
    clocked("give rows", ModelProcess, "begin")
    clocked("work", worker, "_do_here")
    clocked("end process", Resources, "end_process")
    clocked("summarize", find_study(args.study), "summarize")
    clocked("write", RunFolder, "write_tables")
    clocked("ingest", Resources, "ingest")
    imported = time.monotonic() - STARTED
    sys.stdout, stdout = sys.stderr, sys.stdout
    code = command.main([*_given(args, args.out), *rest])
    sys.stdout = stdout
    steps = {
        name: {"first": began_first[name], "last": round(seconds[1], 2), "sum": round(seconds[0], 2), "n": seconds[2]}
        for name, seconds in ended.items()
    }
    print(json.dumps({"imported": round(imported, 2), "command": round(time.monotonic() - STARTED, 2), "steps": steps}))
    sys.exit(code)


def peer(args: argparse.Namespace) -> None:
    """The same sentences by lm-evaluation-harness."""
    import logging

    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    logging.disable(logging.WARNING)
    lines = [
        (path.stem, number, json.loads(line))
        for path in sorted((args.data / "blimp").glob("**/*.jsonl"))
        for number, line in enumerate(path.read_text().splitlines())
    ]
    model = HFLM(pretrained=str(args.folder), dtype="bfloat16", batch_size=args.batch, max_length=2048)
    loaded = time.monotonic() - STARTED
    texts = [row[which] for _, _, row in lines for which in ("sentence_good", "sentence_bad")]
    asked = [
        Instance(request_type="loglikelihood", doc={}, arguments=("", text), idx=i) for i, text in enumerate(texts)
    ]
    sums = [float(value) for value, _ in model.loglikelihood(asked, disable_tqdm=True)]
    margins = {f"blimp/{name}/{row['pairID']}": sums[2 * i] - sums[2 * i + 1] for i, (name, _, row) in enumerate(lines)}
    (args.out / "margins.json").write_text(json.dumps(margins))
    print(json.dumps({"loaded": round(loaded, 2), "scored": round(time.monotonic() - STARTED, 2)}))


if __name__ == "__main__":
    main()
