"""`trajectories`: what the page of that name shows, as rows: findings along an axis, or when instances were learned."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from explorer.commands import common
from explorer.errors import UsageError
from explorer.settings import Settings

if TYPE_CHECKING:
    import pandas as pd

    from explorer.results.store import Store
    from explorer.studies.trajectories.judged import Held
    from explorer.studies.trajectories.lines import Along

EPILOG = """Without --study: which studies and benchmarks have runs that lie on a line.
With --study and --benchmark: the numbers of a reading at every stop; --read NAME says which, --list which there are.
With --learned: when the instances of --benchmark were learned, and whether popular ones were earlier;
with --instance ID: the margin of one of them at every checkpoint."""
COLUMNS = ("line", "series", "model", "step", "tokens", "parameters", "seed", "value", "low", "high", "n", "run_id")


def add(subparsers: Any) -> None:
    """`trajectories`."""
    parser = common.command_parser(subparsers, "trajectories", epilog=EPILOG)
    parser.add_argument("--along", default="tokens", help="tokens, steps, parameters or seed (tokens)")
    parser.add_argument("--study", default="", help="whose findings")
    parser.add_argument("--benchmark", default="", help="of runs on this benchmark")
    parser.add_argument("--read", default="", metavar="NAME", help="what is read off each run (the study's first)")
    parser.add_argument("--list", action="store_true", help="what can be read off these runs")
    parser.add_argument("--learned", action="store_true", help="when instances were learned, a row per model")
    parser.add_argument("--instance", default="", metavar="ID", help="one instance at every checkpoint")
    parser.add_argument("--popularity", default="", metavar="SOURCE", help="dose, or 'RUN ips' of a popularity run")
    parser.set_defaults(run=show_trajectories)


def show_trajectories(args: argparse.Namespace, settings: Settings) -> int:
    """Prints rows, or JSON."""
    from explorer.results.store import open_store
    from explorer.studies.trajectories.lines import AXES

    along = next((axis for axis in AXES if axis == args.along), None)
    if along is None:
        raise UsageError(f"There is no axis {args.along!r}, expected one of {', '.join(AXES)}.")
    _refuse_unused(args)
    store = open_store(settings)
    try:
        if args.learned or args.instance:
            rows, columns = _learned_rows(store, args, settings)
        elif args.study or args.benchmark:
            rows, columns = _finding_rows(store, args, settings, along)
        else:
            rows, columns = _overview_rows(store, settings, along)
    finally:
        store.close()
    if args.json:
        common.print_json(rows)
    elif rows:
        common.print_rows(rows, columns)
    else:
        common.report(
            "No runs lie on a line yet. Make a sweep: python -m explorer run accuracy --model "
            '"glassbox-s@step{0,1,2,4,...,1024}" glassbox-s --benchmark glassbox_pairs'
        )
    return 0


def _refuse_unused(args: argparse.Namespace) -> None:
    """UsageError for what was said of another question than the one that is answered."""
    of_instances, of_findings = bool(args.learned or args.instance), bool(args.study or args.benchmark)
    fits = {
        "--read": (args.read, of_findings and not of_instances, "findings: give --study and --benchmark"),
        "--list": (args.list, of_findings and not of_instances, "findings: give --study and --benchmark"),
        "--popularity": (args.popularity, bool(args.learned), "when instances were learned: give --learned"),
        "--study": (args.study, not of_instances, "findings: leave --learned and --instance out"),
    }
    for option, (said, fitting, of) in fits.items():
        if said and not fitting:
            raise UsageError(f"{option} is of {of}, or leave it out.")


Rows = tuple[list[dict[str, Any]], tuple[str, ...]]


def _overview_rows(store: Store, settings: Settings, along: Along) -> Rows:
    from explorer.studies.trajectories import table

    rows = [
        {
            "study": study,
            "benchmark": benchmark,
            "lines": len(lines),
            "runs": sum(len(line.stops) for line in lines),
            "models": ", ".join(dict.fromkeys(line.name for line in lines)),
        }
        for study, benchmark, lines in table.lines_by_axis(store, settings)[along]
    ]
    return rows, ("study", "benchmark", "lines", "runs", "models")


def _finding_rows(store: Store, args: argparse.Namespace, settings: Settings, along: Along) -> Rows:
    from explorer.studies.trajectories import queries, table
    from explorer.studies.trajectories.lines import lines_of

    if not args.study or not args.benchmark:
        raise UsageError("Of --study and --benchmark one is missing, expected both. Without both, all are listed.")
    runs = table.runs_of(queries.runs(store), args.study, args.benchmark)
    lines, left_out = lines_of(runs, table.places_of(runs, settings), along)
    ask = table.of_store(store)
    readings = {reading.key: reading for reading in table.readings_of(ask, args.study, args.benchmark, lines)}
    if args.list:
        return [{"read": key, "title": reading.title, "unit": reading.unit} for key, reading in readings.items()], (
            "read",
            "title",
        )

    def planted(run_ids: tuple[str, ...], measure: str, dose: int) -> dict[str, Any]:
        from explorer import benchmarks
        from explorer.glassbox import starters
        from explorer.studies.memorization.rows import ATTACKS
        from explorer.studies.trajectories.planted import points

        dealt = starters.doses(benchmarks.load(args.benchmark, settings).instances)
        return points(ask, run_ids, measure, dose, dealt, seen_is_high=ATTACKS[measure].seen == "high")

    if not readings:
        raise UsageError(
            f"No run of the study {args.study!r} on {args.benchmark!r} lies on a line. Leave out --study and "
            "--benchmark to see which do."
        )
    name = args.read or next(iter(readings))
    if name not in readings:
        raise UsageError(f"There is no {name!r} to be read off these runs; --list says what there is.")
    rows = table.as_table(table.trace(ask, lines, readings[name], planted)).to_dict("records")
    if left_out:
        common.report(table.in_short(left_out))
    return [{str(key): value for key, value in row.items()} for row in rows], COLUMNS


def _learned_rows(store: Store, args: argparse.Namespace, settings: Settings) -> Rows:
    from explorer.studies.trajectories import judged, queries

    lines_by_benchmark = judged.lines(queries.runs(store), settings)
    if not args.benchmark and len(lines_by_benchmark) == 1:
        (args.benchmark,) = lines_by_benchmark
    if args.benchmark not in lines_by_benchmark:
        raise UsageError(
            f"{args.benchmark or 'No benchmark'} has no runs of several checkpoints, expected --benchmark of "
            f"{', '.join(lines_by_benchmark) or 'a sweep'}."
        )
    benchmark_lines = lines_by_benchmark[args.benchmark]
    if args.instance:
        return _instance_rows(store, benchmark_lines, args.instance)
    return [_of_line(store, line_held, args, settings) for line_held in benchmark_lines], (
        "model", "seed", "study", "rho", "low", "high", "n", "popularity", "never_learned", "reason",
    )  # fmt: skip


def _of_line(store: Store, line_held: Held, args: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    """When the instances of a line were learned, and whether popular ones were earlier."""
    from explorer import benchmarks
    from explorer.studies.trajectories import judged, learned, queries, table

    study, line = line_held
    ask = table.of_store(store)
    run_ids = [stop.run_id for stop in line.stops]
    learned_instances = learned.learned(queries.learned(store, run_ids), len(run_ids))
    dosed = judged.doses(
        args.benchmark, line, learned_instances.items, lambda: benchmarks.load(args.benchmark, settings).instances
    )
    kind = str(learned_instances.items["kind"].iloc[0]) if len(learned_instances.items) else ""
    options = judged.sources(ask, args.benchmark, dosed, kind)
    source = args.popularity or next(iter(options), "")
    if source and source not in options:
        raise UsageError(f"There is no popularity {source!r} here, expected one of {', '.join(options) or 'none'}.")
    popularity = judged.popularity(ask, source, learned_instances, dosed) if source else None
    row: dict[str, Any] = {
        "model": line.name,
        "seed": line.seed,
        "study": study,
        "steps": [stop.place.step for stop in line.stops],
        "learned_at": _counts_by_step(learned_instances.items, [stop.place.step for stop in line.stops]),
        "never_learned": int(learned_instances.items["place"].isna().sum()),
        "left_out": dict(learned_instances.left_out),
        "runs": run_ids,
        "rho": math.nan,
        "low": math.nan,
        "high": math.nan,
        "n": 0,
        "popularity": "",
        "reason": "nothing tells how popular these instances are",
    }
    if popularity:
        earlier = learned.earlier(learned_instances, popularity.values)
        row |= {
            "rho": earlier.rho.value, "low": earlier.rho.low, "high": earlier.rho.high, "n": earlier.rho.n,
            "popularity": popularity.title, "over": earlier.over, "left_out": dict(earlier.left_out),
            "never_learned": earlier.never, "reason": earlier.rho.reason,
        }  # fmt: skip
    return row


def _counts_by_step(items: pd.DataFrame, steps: list[float]) -> dict[str, int]:
    """Step → how many instances were learned there."""
    return {f"{step:.0f}": int((items["place"] == position).sum()) for position, step in enumerate(steps)}


def _instance_rows(store: Store, benchmark_lines: list[Held], instance_id: str) -> Rows:
    from explorer.studies.trajectories import learned, queries

    rows: list[dict[str, Any]] = []
    for study, line in benchmark_lines:
        run_ids = [stop.run_id for stop in line.stops]
        trace = queries.instance(store, run_ids, instance_id).drop_duplicates("run_id").set_index("run_id")
        if trace.empty:
            continue
        trace = trace.reindex(run_ids)
        outcomes = trace["correct"].astype(float).tolist()
        learned_position = learned.learned_at(outcomes)
        rows += [
            {
                "model": line.name, "study": study, "step": stop.place.step, "tokens": stop.place.tokens,
                "margin": margin, "correct": correct,
                "learned": learned_position is not None and position >= learned_position,
                "run_id": stop.run_id,
            }
            for position, (stop, margin, correct) in enumerate(
                zip(line.stops, trace["margin"].astype(float), outcomes, strict=True)
            )
        ]  # fmt: skip
    if not rows:
        raise UsageError(f"No run of these checkpoints has an instance {instance_id!r}. Give an id as runs store it.")
    return rows, ("model", "study", "step", "tokens", "margin", "correct", "learned", "run_id")
