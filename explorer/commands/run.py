"""`run`: do a study here or in the background; `work`: the worker process that the app and --detach start."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from explorer.commands import common, where
from explorer.errors import RunError, UsageError
from explorer.settings import Settings, path_of
from explorer.studies import QUESTIONS, declared
from explorer.studies import study as find_study

if TYPE_CHECKING:
    from explorer.records import RunSpec
    from explorer.resources import Resources
    from explorer.runs.compute_target import ComputeTarget


def add(subparsers: Any) -> None:
    run = common.command_parser(subparsers, "run")
    studies = run.add_subparsers(dest="study", metavar="STUDY", required=True)
    for name, question in QUESTIONS.items():
        # A study's settings are listed by its own --help; a list of the studies imports none of them.
        common.make_parser(studies, name, question, fill=functools.partial(_add_study, name))
    work = common.command_parser(subparsers, "work")
    work.add_argument("run_id", metavar="RUN", help="a run or a sweep")
    work.set_defaults(run=work_on_run)


def _add_study(name: str, parser: argparse.ArgumentParser) -> None:
    lines = [
        f"  {key}={setting.default_text}\n      {setting.help}"
        + (f" ({', '.join(setting.choices)})" if setting.choices else "")
        for key, setting in find_study(name).settings.items()
    ]
    parser.epilog = "settings, with defaults:\n" + "\n".join(lines) + "\n\nfindings:\n" + declared.in_words(name)
    parser.add_argument(
        "--model", nargs="+", default=["gemma-3-270m"], metavar="MODEL",
        help="an embedded model, a Hugging Face id, a folder; several make a sweep: A B, A@step{1,2,4,...,512}",
    )  # fmt: skip
    parser.add_argument("--benchmark", nargs="+", required=True, metavar="NAME", help="names from `benchmarks`")
    parser.add_argument(
        "--suite", action="append", default=[], metavar="S", help="a group of the benchmark; repeatable"
    )
    parser.add_argument(
        "--slice", metavar="NAME", default="", help="a slice that was kept in the app: its instances alone"
    )
    parser.add_argument("--limit", type=int, help="the first N instances in benchmark order")
    parser.add_argument("--seed", type=int, default=0, help="the seed of every draw")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="a run for each of N seeds from --seed on")
    parser.add_argument("--sweep", default="", metavar="NAME", help="what a set of several runs is called")
    parser.add_argument(
        "--keep", default="all", choices=["all", "none"],
        help="none: weights that a sweep fetched from a hub are removed after their last run",
    )  # fmt: skip
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
    from explorer.commands import sweeps, work_here
    from explorer.resources import Resources
    from explorer.runs import head_start, name_lists, own_cards, queue, slices
    from explorer.runs.compute_target import THIS_MACHINE
    from explorer.studies.selection import splits_of

    models, names = name_lists.expand(args.model), name_lists.expand(args.benchmark)
    for name in names:
        _refuse_table(name, args.study, settings)
    if args.seeds < 1:
        raise UsageError(f"--seeds is {args.seeds}, expected how many seeds, 1 or more.")
    if args.slice and len(names) > 1:
        raise UsageError(f"A slice is of one benchmark, and {len(names)} are named. Name one with --slice.")
    request = {
        "suites": args.suite,
        "limit": args.limit,
        "dtype": args.dtype,
        "settings": _settings(args.set),
        "only": list(slices.needed(settings, args.slice, names[0]).ids) if args.slice else [],
    }
    # A single run whose weights are not to be kept is a sweep of one.
    if args.sweep or args.keep == "none" or len(models) * len(names) * args.seeds > 1:
        seeds = range(args.seed, args.seed + args.seeds)
        return sweeps.run_sweep(args, settings, models, names, seeds, request)
    place = where.place_from(args) or THIS_MACHINE
    settings = dataclasses.replace(settings, shard=settings.shard or place.shard)
    resources = Resources(settings, work_here.preparation_lines())
    study_settings = find_study(args.study).resolve(request["settings"])
    may_be_apart = find_study(args.study).may_be_apart(study_settings)
    resources.cards = own_cards.cards_of(place, models[0], may_be_apart=may_be_apart)
    is_here = resources.cards or not place.cluster
    if may_be_apart and is_here and not (args.dry_run or args.detach):
        # Its imports take longer than all that comes before the first score.
        if queue.is_free(settings):
            resources.load_ahead(models[0], args.dtype)
        else:  # a model that was loaded before its turn would take the memory of the run that is under way
            resources.start_process()
            head_start.end()
    elif (
        is_here and not (args.dry_run or args.detach) and find_study(args.study).needs_model and queue.is_free(settings)
    ):
        resources.load_here_ahead(models[0], args.dtype)
    try:
        splits = splits_of(study_settings)
        # Twice: what is on this machine is read by all processes at once, what is not is fetched by this one first.
        head_start.read_benchmark(settings, names[0], splits, is_fetched=False)
        resources.instances(names[0], splits)
        head_start.read_benchmark(settings, names[0], splits, is_fetched=True)
        return _run_one(args, settings, resources, place, models[0], names[0], request)
    finally:
        resources.end_process()


def _run_one(
    args: argparse.Namespace,
    settings: Settings,
    resources: Resources,
    place: ComputeTarget,
    model: str,
    benchmark: str,
    request: Mapping[str, Any],
) -> int:
    from explorer.commands import work_here
    from explorer.runs import cost, queue
    from explorer.runs.compute_target import save_target
    from explorer.runs.folder import RunFolder
    from explorer.runs.request import asked_in_english, make_spec, taken_for_english
    from explorer.runs.worker import work
    from explorer.studies.selection import splits_of

    spec = make_spec(resources, study=args.study, model=model, benchmark=benchmark, seed=args.seed, **request)
    if guess := taken_for_english(resources, args.study, benchmark, splits_of(spec.settings)):
        common.report(guess)
    if remark := asked_in_english(resources, spec.settings, benchmark, splits_of(spec.settings)):
        common.report(remark)
    if args.dry_run:
        return _dry_run(args, spec, resources)
    if requests := cost.describe(spec, cost.estimate_run(spec, resources)):
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
                save_target(folder, place)
            status = work(
                folder, resources, common.report, common.ProgressLine(args.study), on_cluster=work_here.on_cluster
            )
        if status == "complete":
            _report_conclusions(folder)
    if args.json:
        common.print_json({"run_id": run_id, "status": status})
    else:
        print(run_id)
    return 0 if status in ("complete", "started") else 1


def _report_conclusions(folder: Any) -> None:
    """A line per sentence of what the run found, beside what is printed for programs."""
    from explorer.results import conclusions

    for line in conclusions.of_run(folder):
        common.report(line)


def _dry_run(args: argparse.Namespace, spec: RunSpec, resources: Resources) -> int:
    """Describes a run without making its folder or loading its model."""
    from explorer.runs import cost
    from explorer.runs import spec as specs

    instances = len(find_study(spec.study).select(spec, resources))
    run_id, estimate = specs.run_id(spec), cost.estimate_run(spec, resources)
    if args.json:
        amounts = dataclasses.asdict(estimate) if estimate else {}
        common.print_json({"run_id": run_id, "instances": instances, **amounts})
        return 0
    print(f"{run_id}: {args.study} of {instances:,} instances of {spec.benchmark} with {spec.model}")
    if requests := cost.describe(spec, estimate):
        print(requests)
    return 0


def work_on_run(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.runs import compute_target, head_start, queue, sweep
    from explorer.runs.folder import RunFolder

    if planned := sweep.find(settings, args.run_id):
        from explorer.commands import sweeps

        return sweeps.work_on(planned, settings)
    folder = RunFolder.find(settings.runs, args.run_id)
    if queue.is_free(settings):
        with contextlib.suppress(RunError):  # a damaged spec is mended, or told, below
            head_start.begin_run(folder.spec, compute_target.read_target(folder), is_confined=folder.is_confined)

    from explorer.commands import work_here
    from explorer.resources import Resources
    from explorer.results import spec_mending
    from explorer.runs.worker import work

    spec_mending.restore_spec(settings, folder)
    resources = Resources(settings, work_here.preparation_lines())
    status = work(
        folder, resources, common.report, common.ProgressLine(folder.spec.study), on_cluster=work_here.on_cluster
    )
    return 0 if status == "complete" else 1


def _refuse_table(name: str, study: str, settings: Settings) -> None:
    """UsageError where a file is named that is no benchmark yet: of texts, or of terms in a form that is not read."""
    from explorer import benchmarks
    from explorer.ontologies import as_benchmark

    # A benchmark is meant by its name also where a file happens to be called so.
    if not os.path.isfile(path_of(name)) or name in benchmarks.names(settings):
        return
    if study == "ontology" and as_benchmark.is_ontology(name):
        return
    terms = ""
    if study == "ontology":
        terms = f" or a file of terms that ends in {', '.join(as_benchmark.ENDINGS)} (or such and .gz)"
    raise UsageError(
        f"{name} is a file, expected the name of a benchmark{terms}. A table of texts becomes a benchmark by "
        "`python -m explorer import FILE --name NAME`, and terms of an ontology are asked by the study ontology."
    )


def _settings(texts: Sequence[str]) -> dict[str, str]:
    """What --set says, each key once: the last of two values would hide the other."""
    chosen: dict[str, str] = {}
    for key, value in map(_split_setting, texts):
        if chosen.setdefault(key, value) != value:
            raise UsageError(f"--set gives {key} twice: {chosen[key]!r} and {value!r}. Leave one of them out.")
    return chosen


def _split_setting(text: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign:
        raise UsageError(f"--set got {text!r}, expected KEY=VALUE.")
    return key.strip(), value
