"""Whole commands against a peer, on one card: from the start of the process to its end, loading and all.

    python bench/whole.py --make FOLDER --tokenizer .../tokenizer.json    # --shape's, with random weights
    python bench/whole.py FOLDER --data DATA --repeats 3                  # BLiMP: ours and lm-evaluation-harness
    python bench/whole.py FOLDER --data DATA --dtype float32 --batch 16 --benchmark piqa --limit 1000
    python bench/whole.py FOLDER --data DATA --study priming --set per_group=20 --engine   # what the engine alone needs

Ours is `python -m explorer run accuracy` in a fresh cache, with what else is given (`--set per_group=15`). The peer
loads the same folder through lm-evaluation-harness's Hugging Face backend and scores the same texts. Each answer is a
line of JSON: `wall` seconds of the process. With --steps ours is also run once with a clock around each step: seconds
after the start of the process at which it first began and last ended. With --engine the rows that ours scored are then
given to the engine alone, all at once, twice: `tokens` of rows and the `seconds` of each time (compiling is in the
first). With --busy nvidia-smi looks at the card ten times a second: `busy` is the mean share of time in which a kernel
ran, from the first look at which one did for half of the time to the last, `busy_span` how long that was, and
`busy_by_5_s` the share in each five seconds of it. The last line compares log-probabilities (nats), and which option of
each instance has the higher one.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import gc
import json
import pickle
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
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
    "30b": {"hidden_size": 7168, "num_hidden_layers": 48, "num_attention_heads": 56, "intermediate_size": 28672},
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
    parser.add_argument("--benchmark", default="blimp")
    parser.add_argument("--dtype", default="bfloat16")
    parser.add_argument("--peer", default=sys.executable, help="the Python that has lm-evaluation-harness")
    parser.add_argument("--steps", action="store_true")
    parser.add_argument("--only-ours", action="store_true")
    parser.add_argument("--engine", action="store_true")
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--rows", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--inside", choices=["steps", "peer", "texts", "engine"], help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--texts", type=Path, help=argparse.SUPPRESS)
    args, rest = parser.parse_known_args()
    if args.make:
        make(args.make, args.tokenizer, SHAPES[args.shape])
    elif args.inside == "steps":
        ours(args, rest)
    elif args.inside == "peer":
        peer(args)
    elif args.inside == "engine":
        engine(args)
    elif args.inside == "texts":
        write_texts(args, rest)
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
    sums: dict[str, dict[str, float]] = {}
    peers = ("peer",) if args.study == "accuracy" and not args.only_ours else ()
    rounds: list[tuple[str, ...]] = [("ours", *peers)] * args.repeats
    with tempfile.TemporaryDirectory() as shared:
        args.texts = Path(shared) / "texts.json"
        if peers:
            subprocess.run(
                [sys.executable, __file__, *_within(args, "texts", Path(shared)), *rest], check=True, cwd=ROOT
            )
        args.rows = Path(shared) / "rows.pickle" if args.engine else None
        first = ("steps", "engine") if args.engine else ("steps",) if args.steps else ()
        for who in (*first, *sum(rounds, ())):
            with tempfile.TemporaryDirectory() as scratch:
                out = Path(scratch)
                command = [args.peer if who == "peer" else sys.executable, __file__, *_within(args, who, out), *rest]
                if who == "ours":
                    command = [sys.executable, "-m", "explorer", *_given(args, out), *rest]
                began = time.monotonic()
                with watched() if args.busy else contextlib.nullcontext({}) as seen:
                    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
                    wall = time.monotonic() - began
                told = json.loads(done.stdout.splitlines()[-1]) if done.stdout.strip() and who != "ours" else {}
                line = {"who": who, "code": done.returncode, "wall": round(wall, 2), **told, **seen}
                print(json.dumps(line), flush=True)
                if peers and done.returncode == 0 and who in ("ours", "peer"):
                    sums[who] = _sums(out) if who == "ours" else json.loads((out / "sums.json").read_text())
    if len(sums) == 2:
        ours, theirs = sums["ours"], sums["peer"]
        apart = [abs(ours[key] - theirs[key]) for key in ours.keys() & theirs.keys()]
        instances: dict[str, list[str]] = {}
        for key in sorted(ours.keys() & theirs.keys()):
            instances.setdefault(key.rpartition(" ")[0], []).append(key)
        same = sum(max(keys, key=ours.__getitem__) == max(keys, key=theirs.__getitem__) for keys in instances.values())
        told = {"texts": len(apart), "mean_apart": sum(apart) / len(apart), "most_apart": max(apart)}
        print(json.dumps({**told, "instances": len(instances), "same_choice": same}))


def _within(args: argparse.Namespace, who: str, out: Path) -> list[str]:
    """What a process of this file is told."""
    given = [str(args.folder), "--data", str(args.data), "--inside", who, "--out", str(out), "--batch", str(args.batch)]
    given += ["--study", args.study, "--benchmark", args.benchmark, "--dtype", args.dtype]
    given += ["--rows", str(args.rows)] if args.rows else []
    return [*given, "--texts", str(args.texts)]


@contextlib.contextmanager
def watched() -> Iterator[dict[str, Any]]:
    """What nvidia-smi saw of the first card meanwhile, there when it ends."""
    command = ["nvidia-smi", "--id=0", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "-lms", "100"]
    looking = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    seen: dict[str, Any] = {}
    try:
        yield seen
    finally:
        looking.terminate()
        looks = [int(line) for line in looking.communicate()[0].split() if line.isdigit()]
        at_work = [place for place, share in enumerate(looks) if share >= 50]
        if at_work:
            span = looks[at_work[0] : at_work[-1] + 1]
            fives = [span[first : first + 50] for first in range(0, len(span), 50)]
            seen |= {"busy": round(sum(span) / len(span) / 100, 3), "busy_span": round(len(span) / 10, 1)}
            seen |= {"busy_by_5_s": [round(sum(part) / len(part) / 100, 2) for part in fives]}


def _given(args: argparse.Namespace, out: Path) -> list[str]:
    given = ["run", args.study, "--model", str(args.folder), "--benchmark", args.benchmark, "--dtype", args.dtype]
    return [*given, "--cache", str(out / "cache"), "--data", str(args.data)]


def _sums(out: Path) -> dict[str, float]:
    """log P of each option, by the instance's id and its number."""
    from explorer.runs.folder import RunFolder

    (folder,) = [RunFolder(path) for path in (out / "cache" / "runs").iterdir() if (path / "spec.json").exists()]
    rows = folder.read("scores")
    keys = rows["instance_id"].astype(str) + " " + rows["option"].astype(str)
    return dict(zip(keys, rows["logprob"], strict=True))


def write_texts(args: argparse.Namespace, rest: list[str]) -> None:
    """The contexts and continuations that ours scores, for the peer."""
    from explorer import settings
    from explorer.__main__ import parser_for
    from explorer.resources import Resources
    from explorer.runs import part
    from explorer.runs.request import make_spec
    from explorer.studies.accuracy.study import build_requests, policy_of

    given = [*_given(args, args.out), *rest]
    asked = parser_for(given).parse_args(given)
    resources = Resources(settings.read(cache=args.out / "cache", data=args.data))
    spec = make_spec(
        resources, study="accuracy", model=str(args.folder), benchmark=args.benchmark, suites=asked.suite,
        limit=asked.limit, dtype=args.dtype, settings=dict(text.split("=", 1) for text in asked.set),
    )  # fmt: skip
    policy = policy_of(spec)
    texts = [
        [f"{request.instance_id} {request.option}", *policy.move(request.context, request.continuation)]
        for instance in part.prepare(spec, resources).instances
        for request in build_requests(instance, policy)
    ]
    args.texts.write_text(json.dumps(texts))


def ours(args: argparse.Namespace, rest: list[str]) -> None:
    """The command, with the moment at which each step ended."""
    from explorer import __main__ as command
    from explorer.resources import Resources
    from explorer.runs import pipeline, worker
    from explorer.runs.folder import RunFolder
    from explorer.scoring.model_process import ModelProcess, rows_from_bytes
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

    if args.rows:
        ask = ModelProcess._ask  # all rows go through it, also those of processes that make parts

        def kept(self: ModelProcess, rows: bytes, options: Any) -> Any:
            with guard, args.rows.open("ab") as out:
                pickle.dump((rows_from_bytes(rows), dataclasses.asdict(options)), out)
            return ask(self, rows, options)

        guard = threading.Lock()
        ModelProcess._ask = kept  # type: ignore[method-assign]
    clocked("instances", Resources, "instances")
    clocked("begin process", Resources, "begin_process")
    clocked("tokenizer", ModelProcess, "wait_for_tokenizer")
    clocked("wait for model", worker.environment, "collect")
    clocked("prepare", pipeline._PreparedParts, "_prepare")
    clocked("give rows", ModelProcess, "begin")
    clocked("work", worker, "_make_on_this_machine")
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


def engine(args: argparse.Namespace) -> None:
    """The rows that ours scored, by the engine alone: all are there when it begins."""
    import torch

    from explorer import settings
    from explorer.scoring import hf, hf_direct, hf_source
    from explorer.scoring.model_process_child import MAX_ROWS

    setting, source = settings.read(cache=args.out, data=args.data), hf_source.find_unhashed_folder(str(args.folder))
    model: Any = hf_direct.load(source, setting, dtype=args.dtype)
    model = model or hf.load(str(args.folder), setting, dtype=args.dtype, source=source)
    given = []
    with args.rows.open("rb") as file, contextlib.suppress(EOFError):
        while True:
            given.append(pickle.load(file))
    rows, named = [row for part, _ in given for row in part], given[0][1]
    parts = [rows[first : first + MAX_ROWS] for first in range(0, len(rows), MAX_ROWS)]
    gc.freeze()
    seconds = []
    for _ in range(2):
        began, before = time.monotonic(), None
        for part in parts:
            finish = model.runner.begin(part, **named)
            if before:
                before()
            before = finish
        if before:
            before()
        torch.cuda.synchronize()
        seconds.append(round(time.monotonic() - began, 2))
    print(json.dumps({"rows": len(rows), "tokens": sum(len(row.ids) for row in rows), "seconds": seconds}))


def peer(args: argparse.Namespace) -> None:
    """The same texts by lm-evaluation-harness."""
    import logging

    import torch
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    logging.disable(logging.WARNING)
    texts = json.loads(args.texts.read_text())
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = HFLM(pretrained=str(args.folder), dtype=args.dtype, batch_size=args.batch, max_length=2048, device=device)
    loaded = time.monotonic() - STARTED
    asked = [
        Instance(request_type="loglikelihood", doc={}, arguments=(context, continuation), idx=i)
        for i, (_, context, continuation) in enumerate(texts)
    ]
    sums = [float(value) for value, _ in model.loglikelihood(asked, disable_tqdm=True)]
    (args.out / "sums.json").write_text(json.dumps({text[0]: value for text, value in zip(texts, sums, strict=True)}))
    print(json.dumps({"loaded": round(loaded, 2), "scored": round(time.monotonic() - STARTED, 2)}))


if __name__ == "__main__":
    main()
