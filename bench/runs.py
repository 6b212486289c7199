"""Whole runs without a card: where the seconds go that are not the engine's.

    python bench/runs.py accuracy --benchmark blimp --limit 20000
    python bench/runs.py priming --benchmark blimp --suite anaphor_number_agreement --set per_group=20
    python bench/runs.py accuracy --benchmark blimp --limit 20000 --rate 250000   # as if a card scored that fast
    python bench/runs.py accuracy --benchmark blimp --limit 20000 --profile out.txt

The real command runs in a fresh process with a cache of its own. Only the model is exchanged for one that answers at
once (bench/fake_model.py). The answer is one line of JSON: wall and processor seconds of the process, seconds from the
start of its work, and those by part: selecting, loading, scoring (the model's own), summarizing, storing.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

STARTED = time.monotonic()
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study")
    parser.add_argument("--tokenizer", type=Path, help="a tokenizer.json; default: tokens are bytes")
    parser.add_argument("--rate", type=float, default=0.0, help="tokens a second that the card scores; 0 = at once")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--profile", type=Path, help="write what cProfile saw of the main thread")
    parser.add_argument("--keep", type=Path, help="the cache, kept; default: a temporary one")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    args, rest = parser.parse_known_args()
    if args.inside:
        inside(args, rest)
        return
    for _ in range(args.repeats):
        with tempfile.TemporaryDirectory() as folder:
            cache = args.keep or Path(folder)
            command = [sys.executable, __file__, args.study, "--inside", "--keep", str(cache), "--rate", str(args.rate)]
            command += ["--tokenizer", str(args.tokenizer)] if args.tokenizer else []
            command += ["--profile", str(args.profile)] if args.profile else []
            began = time.monotonic()
            done = subprocess.run([*command, *rest], stdout=subprocess.PIPE, text=True, cwd=ROOT)
            told = json.loads(done.stdout.splitlines()[-1]) if done.stdout else {}
            print(json.dumps({"wall": round(time.monotonic() - began, 2), **told}), flush=True)


def inside(args: argparse.Namespace, rest: list[str]) -> None:
    """The command in this process, with a clock around each part."""
    import explorer.resources
    from bench.fake_model import FakeResources, make_folder
    from explorer import __main__ as command
    from explorer.runs import environment, part, worker
    from explorer.runs.folder import RunFolder
    from explorer.scoring import hf_source

    seconds: dict[str, float] = {}  # of the wall clock; under NAME_cpu those of the processor, in the thread itself

    def clocked(name: str, owner: Any, attribute: str) -> None:
        plain = getattr(owner, attribute)

        def timed(*given: Any, **named: Any) -> Any:
            began, thread_began = time.monotonic(), time.thread_time()
            try:
                return plain(*given, **named)
            finally:
                seconds[name] = seconds.get(name, 0.0) + time.monotonic() - began
                of_thread = f"{name}_cpu"
                seconds[of_thread] = seconds.get(of_thread, 0.0) + time.thread_time() - thread_began

        setattr(owner, attribute, timed)

    FakeResources.rate = args.rate
    explorer.resources.Resources = FakeResources  # type: ignore[misc]
    model = make_folder(args.keep / "fake-model", args.tokenizer)
    clocked("selecting", part, "prepare")
    clocked("loading", environment, "take")
    clocked("hashing", hf_source, "hash_of")
    clocked("parts", worker, "_do_here")
    clocked("writing", RunFolder, "write_tables")
    clocked("storing", FakeResources, "ingest")
    clocked("work", worker, "_run")
    began = time.monotonic()
    given = ["run", args.study, "--model", str(model), "--cache", str(args.keep / "cache"), *rest]
    sys.stdout, stdout = sys.stderr, sys.stdout
    if args.profile:
        import cProfile
        import pstats

        profile = cProfile.Profile()
        code = profile.runcall(command.main, given)
        with args.profile.open("w") as file:
            for order in ("tottime", "cumulative"):
                pstats.Stats(profile, stream=file).sort_stats(order).print_stats(45)
    else:
        code = command.main(given)
    sys.stdout = stdout
    made = FakeResources.made
    seconds["scoring"] = sum(after - before for before, after in made.calls) if made else 0.0
    used = resource.getrusage(resource.RUSAGE_SELF)
    told = {
        "study": args.study,
        "code": code,
        "command": time.monotonic() - began,
        "cpu": used.ru_utime + used.ru_stime,
    }
    told |= {"resident_mb": used.ru_maxrss / 1024, **seconds}
    print(json.dumps({name: round(value, 2) if isinstance(value, float) else value for name, value in told.items()}))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
