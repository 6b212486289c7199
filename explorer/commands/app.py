"""`app`: prepare what an offline visit needs, then start the browser app."""

from __future__ import annotations

import argparse
import errno
import os
import socket
import subprocess
import sys
from typing import Any

from explorer.commands import common
from explorer.errors import UsageError
from explorer.settings import ROOT, Settings

MAX_PORTS_TRIED = 100  # tried when the one that was asked for is taken
LARGEST_PORT = 65535


def add(subparsers: Any) -> None:
    app = common.command_parser(subparsers, "app")
    app.add_argument(
        "--port", type=int, default=8501, help="the port on this machine; the next free one where it is taken"
    )
    app.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="the address to listen at (0.0.0.0: every network); any but 127.0.0.1 asks for EXPLORER_PASSWORD, "
        "for a login where Streamlit's secrets have one, or else for the token in the address that is printed",
    )
    app.add_argument("--no-browser", action="store_true", help="do not open the browser")
    app.add_argument(
        "--trust-visitors",
        action="store_true",
        help="let visitors from elsewhere name files of this machine and addresses in its network, as its owner may",
    )
    app.add_argument("--prepare-only", action="store_true", help="prepare, but do not start the app")
    app.set_defaults(run=start_app)


def start_app(args: argparse.Namespace, settings: Settings) -> int:
    from explorer import prepare

    host = ip_address(args.host)
    if not 0 <= args.port <= LARGEST_PORT:
        raise UsageError(f"The port is {args.port}, expected a number from 1 to {LARGEST_PORT}.")
    not_ready = prepare.everything(settings, common.report, common.ProgressLine)
    for reason in not_ready:
        common.report(f"not ready: {reason}")
    if args.prepare_only:
        return 1 if not_ready else 0
    port = free_port(host, args.port)
    if port != args.port and args.port:
        common.report(f"port {args.port} is taken; the app is at port {port}")
    environment = {**os.environ, "EXPLORER_CACHE": str(settings.cache)}
    if settings.data:
        environment["EXPLORER_DATA"] = str(settings.data)
    if not args.no_browser:
        environment["EXPLORER_OPEN_BROWSER"] = "1"
    if args.trust_visitors:
        environment["EXPLORER_TRUST_VISITORS"] = "1"
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py")]
    command += ["--server.address", host, "--server.port", str(port)]
    if os.name == "posix":  # the server takes this process's place, so that ending the one ends the other
        os.chdir(ROOT)
        os.execve(command[0], command, environment)
    return subprocess.call(command, cwd=ROOT, env=environment)


def ip_address(host: str) -> str:
    """The IP address that a name or an address of this machine means."""
    name = host.strip().strip("[]")
    try:
        if name:
            return str(socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)[0][4][0])
    except (OSError, UnicodeError):
        pass
    raise UsageError(f"{host!r} is no address of this machine. Give one, such as 127.0.0.1 or 0.0.0.0.")


def free_port(host: str, port: int) -> int:
    """The port, or the first after it that nobody listens at; any free one for 0."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in range(port, min(port + MAX_PORTS_TRIED, LARGEST_PORT) + 1):
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            if os.name != "nt":
                # A port that was given up a moment ago counts as free, as it does for the server itself.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, candidate))
                probe.listen()
                return int(probe.getsockname()[1])
            except OSError as error:
                if error.errno == errno.EADDRNOTAVAIL:
                    raise UsageError(
                        f"{host} is no address of this machine. Give one of its own, or 0.0.0.0."
                    ) from error
                if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                    raise
    raise UsageError(f"No port from {port} to {candidate} is free for this account. Give another with --port.")
