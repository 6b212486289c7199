"""What is in an archive of a run: its files, a page that tells of them, and the meanings of its findings."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from explorer import __version__, citations
from explorer.results import conclusions, formats
from explorer.results.packed_run import SOURCE, PackedRun, Run
from explorer.rows.schema import TABLES
from explorer.runs import files, imported
from explorer.runs import spec as specs
from explorer.runs.folder import RunFolder
from explorer.studies import declared

# What a progress file says of the machine stays on the machine.
PROGRESS = ("status", "total", "done", "created", "updated", "message", "imported")


Write = Callable[[BinaryIO], Any]


def _text(words: str) -> Write:
    return lambda file: file.write(words.encode("utf-8", "replace"))


def _json(value: Any) -> Write:
    return _text(json.dumps(value, ensure_ascii=False, indent=1, default=str))


def _copy_of(path: Path) -> Write:
    return lambda file: file.write(path.read_bytes())


def _frame(read: Callable[[], pd.DataFrame], format: str = "csv") -> Write:
    return lambda file: file.write(formats.as_bytes(read(), format, spreadsheet_safe=True))


def files_of_packed(run: PackedRun) -> dict[str, Write]:
    """Name → what writes that file, of a run that came with the explorer."""
    from explorer.results.export import by_instance, counted_in, read_table

    writers = {
        "README.md": _text(_readme(run)),
        "CITATION.bib": _text(citations.bibtex(run.spec)),
        "left_out.txt": _text(f"{run.left_out}\n"),
        "spec.json": _text(specs.to_json(run.spec)),
        "environment.json": _json(run.environment),
        "progress.json": _json(
            {"status": "complete", "total": run.total, "done": run.total, "created": run.created, "source": SOURCE}
        ),
        "findings.csv": _frame(lambda: read_table(run, "findings")),
    }
    if counted := counted_in(run.spec):
        writers["counted_in.json"] = _json(counted)
    if run.reviews.exists():
        writers["reviews.jsonl"] = _copy_of(run.reviews)
    for table in TABLES:
        frame = read_table(run, table)
        if len(frame):
            writers[f"tables/{table}.parquet"] = _frame(lambda frame=frame: frame, "parquet")  # type: ignore[misc]
            if table != "findings":
                writers[f"tables/{table}.csv"] = _frame(lambda frame=frame: frame)  # type: ignore[misc]
    writers["tables/by_instance.csv"] = _frame(lambda: by_instance(run))
    return writers


def files_of_folder(folder: RunFolder) -> dict[str, Write]:
    """Name → what writes that file."""
    from explorer.results.export import by_instance, counted_in, read_table

    spec = folder.spec
    stored = files.read_json(folder.path / "progress.json")
    progress = {**{name: stored[name] for name in PROGRESS if name in stored}, "status": folder.progress().status}
    writers: dict[str, Write] = {
        "README.md": _text(_readme(folder)),
        "CITATION.bib": _text(citations.bibtex(spec)),
        "spec.json": _copy_of(folder.path / "spec.json"),
        "environment.json": _json(folder.environment),
        "progress.json": _json(progress),
        "findings.csv": _frame(lambda: read_table(folder, "findings")),
    }
    if counted := counted_in(spec):
        writers["counted_in.json"] = _json(counted)
    for name in ("reviews.jsonl", "left_out.jsonl"):
        if (folder.path / name).exists():
            writers[name] = _copy_of(folder.path / name)
    for path in sorted(folder.path.glob("environments/*.json")):
        writers[f"environments/{path.name}"] = _copy_of(path)
    for first, last in folder.finished():
        name = f"parts/{first:09d}-{last:09d}.done"
        writers[name] = _copy_of(folder.path / name)
    if (folder.parts / "findings.done").exists():
        writers["parts/findings.done"] = _copy_of(folder.parts / "findings.done")
    for table in TABLES:
        paths = folder.part_files(table)
        writers |= {f"parts/{table}/{path.name}": _copy_of(path) for path in paths}
        if paths and table != "findings":
            writers[f"tables/{table}.csv"] = _frame(lambda table=table: read_table(folder, table))  # type: ignore[misc]
    if folder.finished():
        writers["tables/by_instance.csv"] = _frame(lambda: by_instance(folder))
    return writers


_FILES = """- `parts/<table>/`: the same rows as Parquet; `pandas.read_parquet("parts/scores")` reads a table whole.
- `python -m explorer import-run FILE.zip` makes this a run of another machine."""
_PACKED_FILES = """- `tables/*.parquet`: the same rows as Parquet.
- `left_out.txt`: what the file with the precomputed runs lacks, so that this is no run to be imported."""


def _describe_findings(folder: Run) -> str:
    """A row per kind of finding that the run has: its name, title, unit, what its n counts, and its meaning."""
    stored = dict.fromkeys(_frame_of_findings(folder))
    declared_findings = [finding for name in stored if (finding := declared.find(folder.spec.study, name)) is not None]
    if not declared_findings:
        return "The run has none."
    rows = [
        f"| `{finding.name}` | {finding.title} | {finding.unit} | {finding.of} | {finding.meaning} |"
        for finding in declared_findings
    ]
    return "\n".join(["| finding | what | unit | n counts | meaning |", "| --- | --- | --- | --- | --- |", *rows])


def _describe_conclusions(folder: Run) -> str:
    """A line per sentence that the run's findings allow."""
    return "\n".join(f"- {line}" for line in conclusions.of_run(folder)) or "Nothing that a sentence could hold."


def _frame_of_findings(folder: Run) -> list[str]:
    return [str(name) for name in folder.read("findings", ["finding"])["finding"]]


def _readme(folder: Run) -> str:
    from explorer.results.export import counted_in

    spec, progress, counted = folder.spec, folder.progress(), counted_in(folder.spec)
    packed = isinstance(folder, PackedRun)
    settings = "\n".join(
        f"- {name}: `{json.dumps(value, ensure_ascii=False)}`" for name, value in spec.settings.items()
    )
    cited = "\n".join(f"- {work.sentence}" for work in citations.works(spec))
    facts = {
        "Study": f"{spec.study}, version {spec.version}",
        "Model": " ".join(filter(None, [spec.model, spec.revision and f"revision {spec.revision}"])) or "none",
        "Weights": spec.weights,
        "Benchmark": f"{spec.benchmark}, data {spec.data_hash}",
        "Groups": ", ".join(spec.suites),
        "Limit": "" if spec.limit is None else f"the first {spec.limit:,}",
        "Counted in": f"{counted['index']} {counted['mark']}. {counted['meaning']}" if counted else "",
        "Seed": str(spec.seed),
        "Instances": f"{progress.done:,} of {progress.total:,} ({progress.status})",
        "Imported from": "" if isinstance(folder, PackedRun) else imported.source(folder),
        "Precomputed": "it came with Lexiscope, and left_out.txt says what of it did not" if packed else "",
    }
    listing = "\n".join(f"- {name}: {value}" for name, value in facts.items() if value)
    return f"""# Run {folder.run_id}

Made with Lexiscope {folder.environment.get("lexiscope", __version__)}, exported with {__version__}.

{listing}

Settings:

{settings or "- none"}

## Files

- `spec.json`: what was asked; the run's id is its hash. `environment.json`: where it was done.
- `findings.csv`: what the study concluded. `tables/*.csv`: every row, a file per table; `by_instance.csv` has a row an
  instance. In them a text that a spreadsheet would take for a formula has a ' in front.
- `counted_in.json`, and `counted_in` in the tables, where n-grams were counted: the index, with ‡ where that is not, or
  not known to be, the model's pre-training data.
{_PACKED_FILES if packed else _FILES}
- `reviews.jsonl`, where it is there: people's verdicts.

Log-probabilities are natural logarithms. An empty value has its reason in the column `reason`.

## What it found

{_describe_conclusions(folder)}

## What the findings mean

{_describe_findings(folder)}

## Citation

{cited}

`CITATION.bib` has the entries.
"""
