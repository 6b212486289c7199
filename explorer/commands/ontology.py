"""`import-predictions`: analyze answers made elsewhere; `prediction-invariance`: how often repeated answers agree."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from explorer.commands import common
from explorer.settings import Settings


def add(subparsers: Any) -> None:
    ontology = "go, uberon, go-basic, uberon-basic, or an OBO, OBO-JSON, OWL or table file"
    imports = common.command_parser(subparsers, "import-predictions")
    imports.add_argument("file", type=Path, metavar="FILE", help="a table id;...;prediction")
    imports.add_argument("--ontology", required=True, help=ontology)
    imports.add_argument("--model-name", required=True, metavar="NAME", help="the model that made the predictions")
    imports.add_argument(
        "--as-released",
        action="store_true",
        help="count as the paper's authors did; the corrected figures stand beside",
    )
    imports.add_argument(
        "--after-prefix", action="store_true", help="the prompt ended with the prefix, so bare digits are an id"
    )
    imports.add_argument("--seed", type=int, default=0, help="the seed of the permutations")
    imports.set_defaults(run=import_predictions)
    invariance = common.command_parser(subparsers, "prediction-invariance")
    invariance.add_argument("file", type=Path, metavar="FILE", help="raw answers, M consecutive lines a concept")
    invariance.add_argument("--repeats", type=int, required=True, metavar="M", help="answers a concept")
    invariance.add_argument(
        "--labels", type=Path, metavar="FILE", help="a table id;label;..., one row per concept, in the same order"
    )
    invariance.add_argument("--ontology", help=f"whose popularity buckets to sum up by (wants --labels): {ontology}")
    invariance.set_defaults(run=prediction_invariance)


def import_predictions(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.errors import FetchError, UsageError
    from explorer.ontologies.load import ONTOLOGIES, load
    from explorer.ontologies.predictions import ontology_in, read_predictions
    from explorer.resources import Resources
    from explorer.studies.imported.predictions import released_and_corrected, store_predictions

    if not args.model_name.strip():
        raise UsageError("--model-name is empty, expected the name of the model that answered. Give its name.")
    try:
        ontology = load(args.ontology, settings, common.ProgressLine(args.ontology))
    except FetchError as error:
        common.report(f"{error} Going on with the labels and counts of {args.file.name}.")
        ontology = ontology_in(args.file, ONTOLOGIES[args.ontology])
    predictions = read_predictions(args.file, ontology)
    for problem in predictions.problems[:5]:
        common.report(f"{args.file.name} line {problem.line}: {problem.what}")
    if predictions.unknown:
        common.report(
            f"{len(predictions.unknown):,} ids are not in {ontology.report.source}: "
            f"{', '.join(predictions.unknown[:5])}"
        )
    if repeated := len(predictions.concepts) - len({concept.id for concept in predictions.concepts}):
        common.report(f"{repeated:,} of the rows of {args.file.name} repeat an id above them; every row counts.")
    released, corrected = released_and_corrected(predictions, args.after_prefix, args.seed)
    name = args.ontology if args.ontology in ONTOLOGIES else Path(args.ontology).stem
    folder = store_predictions(
        predictions,
        released,
        corrected,
        ontology=name,
        model_name=args.model_name,
        settings=settings,
        after_prefix=args.after_prefix,
        seed=args.seed,
    )
    Resources(settings).ingest(folder)
    if args.json:
        answer = {"ontology": name, "model": args.model_name, "run_id": folder.run_id}
        if args.as_released:
            common.print_json({**released.as_json(), "corrected": corrected.as_json(), **answer})
        else:
            common.print_json({**corrected.as_json(), **answer})
        return 0
    modes = [("as released", released)] if args.as_released else []
    _print_figures([*modes, ("corrected", corrected)])
    print(f"kept as run {folder.run_id}")
    return 0


def prediction_invariance(args: argparse.Namespace, settings: Settings) -> int:
    from explorer.errors import UsageError
    from explorer.ontologies import invariance
    from explorer.ontologies.parse import parser

    if args.ontology and not args.labels:
        raise UsageError(
            "--ontology was given without --labels; buckets need the label of each concept. Add --labels FILE."
        )
    answers = invariance.read_answers(args.file)
    raw = invariance.groups_of(answers, args.repeats)
    concepts = _read_labels(args.labels) if args.labels else []
    rule = invariance.rule_of(answers, [concept.id for concept in concepts])
    parsed = invariance.parsed(raw, parser(rule))
    answer: dict[str, Any] = {}
    for name, groups in (("raw", raw), ("parsed", parsed)):
        agreement = invariance.summarize(groups)
        answer[name] = {"mean_pi": agreement.mean_pi, "identical": agreement.identical, "n": agreement.n}
    if concepts:
        answer.update(_measure_by_labels(concepts, parsed, args.ontology, settings))
    if args.json:
        common.print_json(answer)
        return 0
    rows = [{"answers": name, **answer[name]} for name in ("raw", "parsed")]
    common.print_rows(rows, ["answers", "mean_pi", "identical", "n"])
    if "accuracy" in answer:
        print(f"accuracy of parsed ids over concepts and repeats: {answer['accuracy']:.4g}")
    if "buckets" in answer:
        common.print_rows(answer["buckets"], ["bucket", "n", "mean_pi", "accuracy"])
        rank = answer["spearman"]
        print(f"Spearman of mean PI and accuracy over buckets: {rank['rho']:.4g} (p {rank['p']:.4g})")
    return 0


def _read_labels(path: Path) -> list[Any]:
    from explorer.errors import OntologyError
    from explorer.ontologies import table
    from explorer.ontologies.contents import read_text

    if not path.is_file():
        raise OntologyError(
            f"There is no file {path}, expected a table id;label;... with one row per concept. Check the path."
        )
    return list(table.read(read_text(path), path.name).concepts)


def _measure_by_labels(
    concepts: list[Any], parsed: list[tuple[str, ...]], ontology: str | None, settings: Settings
) -> dict[str, Any]:
    """Accuracy and, where an ontology gives the buckets, invariance by popularity."""
    from explorer.errors import OntologyError
    from explorer.ontologies.buckets import bucketize
    from explorer.ontologies.invariance_buckets import accuracy, by_popularity
    from explorer.ontologies.load import load

    if not ontology:
        return {"accuracy": accuracy([concept.id for concept in concepts], parsed)}
    loaded = load(ontology, settings)
    known_ids = {concept.id for concept in loaded.concepts}
    if not any(concept.id in known_ids for concept in concepts):
        raise OntologyError(
            f"None of the {len(concepts):,} ids of the labels is in {loaded.report.source}, expected ids like "
            f"{loaded.concepts[0].id}. Name the ontology that the labels are of."
        )
    buckets = bucketize([concept.web_count for concept in loaded.concepts])
    popularity = by_popularity(concepts, parsed, buckets)
    return {
        "accuracy": popularity.accuracy,
        "buckets": [
            {"bucket": bucket.bucket, "n": bucket.n, "mean_pi": bucket.mean_pi, "accuracy": bucket.accuracy}
            for bucket in popularity.buckets
        ],
        "spearman": {"rho": popularity.spearman.value, "p": popularity.spearman.p, "n": popularity.spearman.n},
    }


def _print_figures(modes: list[tuple[str, Any]]) -> None:
    """The figures as two tables: overall, then by bucket."""
    overall = []
    for name, analysis in modes:
        figures = analysis.as_json()
        overall.append(
            {
                "": name,
                "right": f"{figures['correct']:,} of {figures['n']:,}",
                "accuracy": f"{figures['accuracy']:.5f}",
                "distinct": figures["distinct_predictions"],
                "malformed": figures["malformed"],
                "jaccard": figures["jaccard_wrong"],
                "levenshtein": figures["levenshtein_wrong"],
                "rho buckets": figures["spearman_buckets"]["rho"],
                "rho items": figures["spearman_items"]["rho"],
                "rho top 500": figures["spearman_repeated"]["rho"],
            }
        )
    common.print_rows(overall, list(overall[0]))
    rows = []
    for buckets in zip(*(analysis.buckets for _, analysis in modes), strict=True):
        row: dict[str, Any] = {"bucket": buckets[0].bucket}
        for (name, _), bucket in zip(modes, buckets, strict=True):
            row |= {f"n {name}": bucket.n, f"mean count {name}": bucket.mean_count, f"accuracy {name}": bucket.accuracy}
        rows.append(row)
    if rows:
        common.print_rows(rows, list(rows[0]))
