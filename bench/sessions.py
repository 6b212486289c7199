"""The server's memory while many sessions open page after page beside a full run, without the weight of browsers.

    python bench/sessions.py --cache cache --sessions 10 --opens 800

A session speaks the websocket of Streamlit's own client: it connects, asks for a page by its address, reads until the
script has finished, disconnects, and opens the next, as a browser does that follows links. The pages go round; each
visit is about another instance, so that what is kept per question grows as it would for real readers. Told are the
server's memory after every fiftieth page, with and without mapped files, seconds a page, and all exceptions shown.
bench/visitors.py does the same with real browsers, at ten times the cost.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from visitors import BENCHMARK, MODEL, PAGES, borrowed_cache, full_run, run_progress, server

from explorer import benchmarks, settings

LARGEST = 64 * 2**20  # bytes of one message
LONGEST = 300.0  # seconds for a page, after which it is a fault


@dataclass
class Visits:
    """What the sessions saw: seconds by page, faults, and the server's MiB by pages opened."""

    process: psutil.Process
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    faults: list[str] = field(default_factory=list)
    memory: dict[int, dict[str, int]] = field(default_factory=dict)
    begun: int = 0

    def note(self, fault: str) -> None:
        """Keeps a fault and tells of it at once, since a run may be ended early."""
        self.faults.append(fault)
        print(fault, file=sys.stderr, flush=True)

    def weigh(self) -> None:
        """Notes the server's size at every fiftieth page."""
        opened = sum(map(len, self.seconds.values()))
        if opened % 50 == 0:
            size = self.process.memory_info()
            # Weights are mapped from their files: shared with the worker of a run, and given back when memory is short.
            self.memory[opened] = {
                "resident": size.rss // 2**20,
                "without mapped files": (size.rss - size.shared) // 2**20,
            }
            print(f"{opened} pages, {self.memory[opened]}, {len(self.faults)} faults", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", default="cache", help="whose models are used; runs go elsewhere")
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--opens", type=int, default=800)
    parser.add_argument("--alone", action="store_true", help="no full run beside the sessions")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the server and the run end with this process
    with tempfile.TemporaryDirectory() as folder:
        cache = borrowed_cache(Path(args.cache), Path(folder))
        with server(cache) as address, contextlib.ExitStack() as stack:
            if not args.alone:
                stack.enter_context(full_run(cache))
            visits = Visits(server_process(address))
            asyncio.run(visit(address, args.sessions, args.opens, visits))
            answer = {
                "sessions": args.sessions,
                "memory in MiB": visits.memory,
                "run": run_progress(cache),
                "faults": visits.faults,
                "median seconds": {
                    name: round(statistics.median(times), 2) for name, times in sorted(visits.seconds.items())
                },
            }
            print(json.dumps(answer, indent=1))
    sys.exit(1 if visits.faults else 0)


def server_process(address: str) -> psutil.Process:
    """The process that listens at this address."""
    port = int(address.rsplit(":", 1)[1])
    for child in psutil.Process().children(recursive=True):
        if any(line.laddr.port == port for line in child.net_connections() if line.status == psutil.CONN_LISTEN):
            return child
    raise SystemExit(f"No child of this process listens at {address}; the server ended.")


async def visit(address: str, sessions: int, opens: int, visits: Visits) -> None:
    """So many sessions at once, each opening page after page until `opens` pages were begun."""
    benchmark = benchmarks.load(BENCHMARK, settings.read())
    names = [instance.id for instance in benchmark.instances]

    async def session(number: int) -> None:
        place = number  # each starts at another page
        while visits.begun < opens:
            visits.begun += 1
            page = PAGES[place % len(PAGES)]
            query = f"model={MODEL}&benchmark={BENCHMARK}&instance={names[visits.begun % len(names)]}"
            began = time.monotonic()
            try:
                await asyncio.wait_for(open_page(address, page, query, visits), LONGEST)
            except (OSError, TimeoutError, websockets.WebSocketException) as error:
                visits.note(f"{page}: {type(error).__name__} {error}")
            visits.seconds[page].append(time.monotonic() - began)
            visits.weigh()
            place += 1

    await asyncio.gather(*(session(number) for number in range(sessions)))


async def open_page(address: str, page: str, query: str, visits: Visits) -> None:
    """One page opened as a browser does, read to its end."""
    socket = address.replace("http", "ws", 1) + "/_stcore/stream"
    async with websockets.connect(socket, subprotocols=["streamlit"], origin=address, max_size=LARGEST) as line:
        message = BackMsg()
        message.rerun_script.query_string = query
        message.rerun_script.page_name = page
        await line.send(message.SerializeToString())
        async for data in line:
            answer = ForwardMsg.FromString(data)
            kind = answer.WhichOneof("type")
            if kind == "delta" and answer.delta.new_element.WhichOneof("type") == "exception":
                visits.note(f"{page}?{query}: {answer.delta.new_element.exception.message[:300]}")
            if kind == "page_not_found":
                visits.note(f"{page}: not found")
            # A script that asked to be run again goes on; only its last end counts.
            if kind == "script_finished" and answer.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                return


if __name__ == "__main__":
    main()
