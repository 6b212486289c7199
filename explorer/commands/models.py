"""`models`: which language models the explorer knows, which are on this machine, and how to add one."""

from __future__ import annotations

import argparse
from typing import Any

from explorer.commands import common
from explorer.scoring import catalog, hf_source
from explorer.scoring.catalog import KnownModel
from explorer.settings import Settings

COLUMNS = ("id", "parameters", "window", "license", "here", "corpus")


def add(subparsers: Any) -> None:
    """`models`, `models list`, `models add ID`."""
    parser = common.command_parser(
        subparsers,
        "models",
        epilog="Any other Hugging Face id (ID@REVISION for a checkpoint), folder (of a LoRA adapter, too) or GGUF file "
        "can be named, too.",
    )
    parser.add_argument("action", nargs="?", choices=("list", "add"), default="list", help="list is the default")
    parser.add_argument("id", nargs="?", metavar="ID", help="the model to fetch, with `add`")
    parser.set_defaults(run=list_or_add, usage_error=parser.error)


def list_or_add(args: argparse.Namespace, settings: Settings) -> int:
    """Lists the models, or makes one ready for use."""
    if args.action == "add":
        if not args.id:
            args.usage_error("add needs the ID of a model")
        return _make_ready(args.id, args.json, settings)
    if args.id:
        args.usage_error("list takes no ID")
    rows = [_describe_model(model, settings) for model in catalog.MODELS.values()]
    if args.json:
        common.print_json(rows)
    else:
        common.print_rows(rows, COLUMNS)
    return 0


def _make_ready(name: str, as_json: bool, settings: Settings) -> int:
    line = common.ProgressLine(f"Preparing {name} (percent)")
    source = hf_source.locate(name, settings, progress=lambda text, share: line(round(100 * share), 100))
    line(100, 100)
    if source.known:
        common.report(f"{source.known.title}: {source.known.license}. {source.known.terms}")
    fetched = {"id": source.name, "path": str(source.path), "revision": source.revision, "weights": source.weights}
    if as_json:
        common.print_json(fetched)
    else:
        common.print_rows([fetched], tuple(fetched))
    return 0


def _describe_model(model: KnownModel, settings: Settings) -> dict[str, Any]:
    return {
        "id": model.id,
        "title": model.title,
        "kind": model.kind,
        "parameters": model.parameters,
        "window": model.window,
        "corpus": model.corpus,
        "indexes": list(model.indexes),
        "license": model.license,
        "terms": model.terms,
        "embedded": model.embedded is not None,
        "gated": model.gated,
        "instructed": model.instructed,
        "plain_text_bos": model.bos,
        "note": model.note,
        "here": _availability(model, settings),
    }


def _availability(model: KnownModel, settings: Settings) -> str:
    """Whether a model is ready on this machine, and what it takes if not."""
    if hf_source.is_here(model, settings):
        return "yes"
    if model.embedded:
        return "installed, made ready at first use" if model.embedded.installed else "fetched at first use"
    return "gated" if model.gated else "no"
