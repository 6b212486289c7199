"""`doctor`: what works here, what is missing, what to do."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from typing import Any

from explorer.commands import common
from explorer.settings import Settings


def add(subparsers: Any) -> None:
    parser = common.command_parser(subparsers, "doctor")
    parser.add_argument(
        "--verify", action="store_true", help="read every file of runs and indexes, compare its SHA-256"
    )
    parser.set_defaults(run=examine_installation)


def examine_installation(args: argparse.Namespace, settings: Settings) -> int:
    from explorer import doctor

    findings = [dataclasses.asdict(finding) for finding in doctor.examine(settings, verify=args.verify)]
    if args.json:
        common.print_json(findings)
    else:
        # Whole: what to do is said at the end of a message.
        common.print_rows(findings, ["what", "status", "message"], most=sys.maxsize)
    return 1 if any(finding["status"] == "fault" for finding in findings) else 0
