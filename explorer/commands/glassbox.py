"""`glassbox`: build the corpus of the glass box with its index, plant texts of one's own, train a model on it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.commands import common
from explorer.errors import UsageError
from explorer.settings import Settings

if TYPE_CHECKING:
    from explorer.popularity.documents import SourceDocument

STANDARD = "glassbox"
EPILOG = """corpus    build the corpus and its n-gram index, and write the schedule of what is planted
train     train a model on it; stopped, it goes on where it stood

A file of one's own (--plant) is CSV with the columns text and dose: how often each text shall stand in the corpus."""


def add(subparsers: Any) -> None:
    """`glassbox corpus`, `glassbox train`."""
    parser = common.command_parser(subparsers, "glassbox", epilog=EPILOG)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    corpus = common.make_parser(actions, "corpus", "build the corpus, its index and the table of what is planted")
    _add_planting(corpus)
    corpus.set_defaults(run=build_corpus)

    train = common.make_parser(actions, "train", "train a model on the corpus")
    train.add_argument("size", metavar="SIZE", help="xs, s, m or l: about 1, 2, 8 and 26 million parameters")
    _add_planting(train)
    train.add_argument("--epochs", type=int, default=0, metavar="N", help="passes over the corpus (3)")
    train.add_argument("--seed", type=int, default=0, help="of the first weights and of the order of the text (0)")
    train.add_argument("--device", default="", choices=["", "cpu", "cuda"], help="empty = the GPU where there is one")
    train.set_defaults(run=train_model)


def _add_planting(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plant", type=Path, metavar="FILE", help="texts of one's own: CSV with text and dose")
    parser.add_argument(
        "--name", default="", help="what corpus and model are called (glassbox; with --plant, the file's)"
    )


def build_corpus(args: argparse.Namespace, settings: Settings) -> int:
    """Builds the corpus and its index; the table of what is planted lies beside them."""
    from explorer.glassbox import corpus, index, schedule

    name = _corpus_name(args)
    documents = corpus.build(settings, args.plant)
    corpus_hash = corpus.corpus_hash(documents)
    folder = index.ensure(settings, name, documents, common.ProgressLine(f"index {name}"))
    table = folder.with_name(f"{name}.schedule.csv")
    table.write_text(schedule.as_table(schedule.plantings(settings, args.plant)), encoding="utf-8")
    if args.json:
        common.print_json(
            {
                "name": name,
                "corpus": corpus_hash,
                "documents": len(documents),
                "index": str(folder),
                "schedule": str(table),
            }
        )
    else:
        print(f"{name}: {len(documents):,} documents, SHA-256 {corpus_hash}")
        print(f"index: {folder}")
        print(f"what is planted: {table}")
    return 0


def train_model(args: argparse.Namespace, settings: Settings) -> int:
    """Trains a model of a size; its checkpoints lie beside it as NAME@stepN."""
    from explorer.glassbox import corpus, sizes

    size = sizes.size_of(args.size)
    for name, least in (("epochs", 0), ("seed", 0)):
        if getattr(args, name) < least:
            raise UsageError(f"--{name} is {getattr(args, name)}, expected {least} or more.")
    folder = settings.models / f"{_corpus_name(args)}-{size.name}"
    documents: list[SourceDocument] = corpus.build(settings, args.plant)
    from explorer.glassbox import train

    plan = train.Plan(size, epochs=args.epochs or sizes.EPOCHS, seed=args.seed)
    windows = train.encode(documents, plan.window)
    line = common.ProgressLine(f"training {folder.name}")
    model = train.train(
        windows,
        plan,
        folder,
        corpus_hash=corpus.corpus_hash(documents),
        device=args.device,
        progress=lambda step, steps, loss: line(step, steps),
    )
    if args.json:
        common.print_json({"model": str(model), "steps": plan.steps(len(windows))})
    else:
        print(model)
    return 0


def _corpus_name(args: argparse.Namespace) -> str:
    """What corpus and model are called; UsageError where that is taken or would be known nowhere."""
    from explorer.scoring import catalog

    name = args.name or (f"{STANDARD}-{args.plant.stem}" if args.plant else STANDARD)
    if args.plant and name == STANDARD:
        raise UsageError(
            f"{STANDARD} is the corpus without texts of one's own, expected another name for one with them. Leave "
            "--name out, or choose another."
        )
    if name != STANDARD and (not args.plant or not catalog.PLANTED_GLASSBOX.fullmatch(f"{name}-xs")):
        raise UsageError(
            f"{name!r} is no name of a planted corpus, expected {STANDARD}- and letters, digits, ., _ or -, with "
            "--plant. Rename the file, or give another --name."
        )
    return name
