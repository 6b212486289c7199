"""Whole runs without a card: where the seconds go that are not the engine's.

    python bench/runs.py accuracy --benchmark blimp --limit 20000
    python bench/runs.py priming --benchmark blimp --suite anaphor_number_agreement --set per_group=20
    python bench/runs.py accuracy --benchmark blimp --limit 20000 --rate 250000   # as if a card scored that fast
    python bench/runs.py accuracy --benchmark blimp --limit 20000 --profile out.txt

The real command runs in a fresh process with a cache of its own. Only the model is exchanged for one that answers at
once (bench/fake_model.py). The answer is one line of JSON. `wall` and `command` are seconds on the wall, `cpu` seconds
of the processor. By part, in processor seconds, so that a busy machine changes little: reading the `instances`,
the `work` on parts (within it encoding, assembling, writing), concluding, storing; `hashing` of the model's files. With
--rate, `model` is how long the card would have been busy, and `model_span` from its first work to its last.
`resident_tenths` is the memory in MB when each tenth of the instances was stored, `resident_mb` the most ever.
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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

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
    from explorer.runs import worker
    from explorer.runs.folder import RunFolder
    from explorer.scoring import hf_source, score
    from explorer.studies import study as find_study
    from explorer.studies.study import Study

    seconds: dict[str, float] = {}

    def clocked(name: str, owner: Any, attribute: str, clock: Callable[[], float]) -> None:
        """Adds up the time of each call; with the clock of a thread also of calls that overlap with others."""
        plain = getattr(owner, attribute)

        def timed(*given: Any, **named: Any) -> Any:
            began = clock()
            try:
                return plain(*given, **named)
            finally:
                seconds[name] = seconds.get(name, 0.0) + clock() - began

        object.__setattr__(owner, attribute, timed) if isinstance(owner, Study) else setattr(owner, attribute, timed)

    FakeResources.rate = args.rate
    explorer.resources.Resources = FakeResources  # type: ignore[misc]
    model = make_folder(args.keep / "fake-model", args.tokenizer)
    # Steps of the whole process one after another, threads and all ...
    clocked("instances", FakeResources, "instances", time.process_time)
    clocked("work", worker, "_make_on_this_machine", time.process_time)
    clocked("concluding", find_study(args.study), "summarize", time.process_time)
    clocked("storing", FakeResources, "ingest", time.process_time)
    # ... and within the work those of each thread.
    clocked("encoding", score, "_prepare", time.thread_time)
    clocked("assembling", score, "_assemble_all", time.thread_time)
    clocked("writing", RunFolder, "write_tables", time.thread_time)
    clocked("hashing", hf_source, "weights_hash", time.thread_time)
    sizes: list[tuple[int, float]] = []  # instances stored, and the memory then
    write_part = RunFolder.write_part

    def weighed(folder: RunFolder, first: int, last: int, *given: Any, **named: Any) -> None:
        write_part(folder, first, last, *given, **named)
        sizes.append((last + 1, psutil.Process().memory_info().rss / 1e6))

    RunFolder.write_part = weighed  # type: ignore[method-assign]
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
    calls = made.calls if made else []
    seconds["model"] = sum(after - before for before, after in calls)
    if args.rate and calls:
        seconds["model_span"] = calls[-1][1] - calls[0][0]
    seconds["work"] = seconds.get("work", 0.0) - seconds.get("concluding", 0.0)
    used = resource.getrusage(resource.RUSAGE_SELF)
    told = {
        "study": args.study,
        "code": code,
        "command": time.monotonic() - began,
        "cpu": used.ru_utime + used.ru_stime,
    }
    tenths = [sizes[-1][0] * part / 10 for part in range(1, 11)] if sizes else []
    at_tenths = [round(next(size for done, size in sizes if done >= tenth)) for tenth in tenths]
    told |= {"resident_tenths": at_tenths, "resident_mb": used.ru_maxrss / 1024, **seconds}
    print(json.dumps({name: round(value, 2) if isinstance(value, float) else value for name, value in told.items()}))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
