"""`run`: do a study here or in the background; `work`: the worker process that the app and --detach start."""

from __future__ import annotations

import argparse
import dataclasses
import functools
from typing import TYPE_CHECKING, Any

from explorer.commands import common, where
from explorer.errors import UsageError
from explorer.settings import Settings
from explorer.studies import QUESTIONS, declared
from explorer.studies import study as find_study

if TYPE_CHECKING:
    from explorer.records import RunSpec
    from explorer.resources import Resources


def add(subparsers: Any) -> None:
    run = common.command(subparsers, "run")
    studies = run.add_subparsers(dest="study", metavar="STUDY", required=True)
    for name, question in QUESTIONS.items():
        # A study's settings are listed by its own --help; a list of the studies imports none of them.
        common.parser(studies, name, question, fill=functools.partial(_add_study, name))
    work = common.command(subparsers, "work")
    work.add_argument("run_id", metavar="RUN")
    work.set_defaults(run=work_on_run)


def _add_study(name: str, parser: argparse.ArgumentParser) -> None:
    lines = [
        f"  {key}={setting.default_text}\n      {setting.help}"
        + (f" ({', '.join(setting.choices)})" if setting.choices else "")
        for key, setting in find_study(name).settings.items()
    ]
    parser.epilog = "settings, with defaults:\n" + "\n".join(lines) + "\n\nfindings:\n" + declared.in_words(name)
    parser.add_argument("--model", default="gemma-3-270m", help="an embedded model, a Hugging Face id, or a folder")
    parser.add_argument("--benchmark", required=True, help="a name from `benchmarks`")
    parser.add_argument(
        "--suite", action="append", default=[], metavar="S", help="a group of the benchmark; repeatable"
    )
    parser.add_argument(
        "--slice", metavar="NAME", default="", help="a slice that was kept in the app: its instances alone"
    )
    parser.add_argument("--limit", type=int, help="the first N instances in benchmark order")
    parser.add_argument("--seed", type=int, default=0, help="the seed of every draw")
    parser.add_argument("--dtype", default="auto", choices=["auto", "float32", "bfloat16", "float16"])
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the study; repeatable"
    )
    parser.add_argument("--detach", action="store_true", help="start a worker process and return at once")
    where.add(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="only say what would be done, and asked of an endpoint at most"
    )
    parser.set_defaults(run=run_study)


def run_study(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.resources import Resources
    from explorer.runs import cost, queue, slices
    from explorer.runs.folder import RunFolder
    from explorer.runs.request import make_spec
    from explorer.runs.where import HERE, keep
    from explorer.runs.worker import work

    place = where.place_from(args) or HERE
    resources = Resources(settings, _preparation_lines())
    spec = make_spec(
        resources,
        study=args.study,
        model=args.model,
        benchmark=args.benchmark,
        suites=args.suite,
        limit=args.limit,
        seed=args.seed,
        dtype=args.dtype,
        settings=dict(_split_setting(text) for text in args.set),
        only=slices.needed(settings, args.slice, args.benchmark).ids if args.slice else (),
    )
    if args.dry_run:
        return _dry_run(args, spec, resources)
    if requests := cost.in_words(spec, cost.of_run(spec, resources)):
        common.report(requests)
    if args.detach:
        run_id = queue.submit(settings, spec, place)
        status = "started"
    else:
        folder = RunFolder.create(settings.runs, spec)
        run_id, status = folder.run_id, folder.progress().status
        common.report(f"{run_id} in {folder.path}")
        if status != "complete":
            if not folder.is_being_worked():
                folder.clear_cancel()
                keep(folder, place)
            status = work(folder, resources, common.report, common.ProgressLine(args.study), on_cluster=_on_cluster)
        if status == "complete":
            _report_conclusions(folder)
    if args.json:
        common.print_json({"run_id": run_id, "status": status})
    else:
        print(run_id)
    return 0 if status in ("complete", "started") else 1


def _report_conclusions(folder: Any) -> None:
    """A line a sentence of what the run found, beside what is printed for programs."""
    from explorer.results import conclusions

    for line in conclusions.of_run(folder):
        common.report(line)


def _dry_run(args: argparse.Namespace, spec: RunSpec, resources: Resources) -> int:
    """Describes a run without making its folder or loading its model."""
    from explorer.runs import cost
    from explorer.runs import spec as specs

    instances = len(find_study(spec.study).select(spec, resources))
    run_id, estimate = specs.run_id(spec), cost.of_run(spec, resources)
    if args.json:
        amounts = dataclasses.asdict(estimate) if estimate else {}
        common.print_json({"run_id": run_id, "instances": instances, **amounts})
        return 0
    print(f"{run_id}: {args.study} of {instances:,} instances of {spec.benchmark} with {spec.model}")
    if requests := cost.in_words(spec, estimate):
        print(requests)
    return 0


def work_on_run(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.resources import Resources
    from explorer.results import mending
    from explorer.runs.folder import RunFolder
    from explorer.runs.worker import work

    folder = RunFolder.find(settings.runs, args.run_id)
    mending.restore_spec(settings, folder)
    resources = Resources(settings, _preparation_lines())
    status = work(folder, resources, common.report, common.ProgressLine(folder.spec.study), on_cluster=_on_cluster)
    return 0 if status == "complete" else 1


def _on_cluster(*work: Any) -> None:
    from explorer.runs.where import set_up_ray

    set_up_ray()
    from explorer.cluster import ray_parts

    ray_parts.make_parts(*work)


def _preparation_lines() -> Any:
    """A progress line for each part that has to be fetched, converted or loaded first."""
    lines: dict[str, common.ProgressLine] = {}

    def show_progress(part: str, done: int, total: int) -> None:
        lines.setdefault(part, common.ProgressLine(f"preparing {part}"))(done, total)

    return show_progress


def _split_setting(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign:
        raise UsageError(f"--set got {text!r}, expected KEY=VALUE.")
    return key.strip(), value
