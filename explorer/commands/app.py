"""`app`: prepare what an offline visit needs, then start the browser app."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from typing import Any

from explorer.commands import common
from explorer.settings import ROOT, Settings


def add(subparsers: Any) -> None:
    app = common.parser(subparsers, "app", "prepare the embedded model and WordNet, then start the app in the browser")
    app.add_argument("--port", type=int, default=8501, help="the port on this machine")
    app.add_argument("--prepare-only", action="store_true", help="prepare, but do not start the app")
    app.set_defaults(run=start)


def start(args: argparse.Namespace, settings: Settings) -> int:
    from explorer import prepare

    faults = prepare.everything(settings, common.say, common.ProgressLine)
    for fault in faults:
        common.say(f"not ready: {fault}")
    if args.prepare_only:
        return 1 if faults else 0
    environment = {**os.environ, "EXPLORER_CACHE": str(settings.cache)}
    if settings.data:
        environment["EXPLORER_DATA"] = str(settings.data)
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.port", str(args.port)]
    if os.name == "posix":  # the server takes this process's place, so that ending the one ends the other
        os.chdir(ROOT)
        os.execve(command[0], command, environment)
    return subprocess.call(command, cwd=ROOT, env=environment)
