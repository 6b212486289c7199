"""A log of another harness → a stored accuracy run: matched with our instances, its numbers as they were logged."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer import __version__
from explorer.errors import BenchmarkError, LogError, UsageError
from explorer.logs import matching
from explorer.logs.log import Dropped, Log, Sample
from explorer.logs.matching import Match
from explorer.records import Instance, RunSpec
from explorer.rows.builders import Row, finding_row
from explorer.stats.estimate import Estimate
from explorer.studies.accuracy import findings as accuracy_findings
from explorer.studies.accuracy.declared import ACCURACY
from explorer.studies.imported import declared
from explorer.studies.imported.log_rows import POLICY, MatchedSample, rows

if TYPE_CHECKING:
    from explorer.resources import Resources
    from explorer.runs.folder import RunFolder

UNMATCHED = "unmatched"  # the group of what a log holds beyond the benchmark's own instances
LONGEST_MARK = 500  # characters
VERSION = 2  # of this import; a later one makes new runs


@dataclass(frozen=True, slots=True)
class StoredLog:
    """What became of a log: the run, how many samples are instances of the benchmark, and what was left out."""

    folder: RunFolder
    benchmark: str
    instances: int
    matched: int
    dropped: tuple[Dropped, ...]
    agreement: tuple[Agreement, ...]
    new: bool


@dataclass(frozen=True, slots=True)
class Agreement:
    """A metric as the harness gives it for the whole, and as it follows from what it gave the samples."""

    metric: str
    told: float
    ours: float

    @property
    def agrees(self) -> bool:
        return math.isclose(self.told, self.ours, rel_tol=1e-9, abs_tol=1e-12)


def import_log(log: Log, resources: Resources, *, benchmark: str = "", model: str = "") -> StoredLog:
    """The run that holds the log; the same log again finds it. UsageError where model or benchmark cannot be told."""
    from explorer import leftovers
    from explorer.results import broken_off
    from explorer.runs import files
    from explorer.runs.folder import RunFolder
    from explorer.runs.spec import run_id

    name = model or log.model
    if not name:
        raise UsageError(
            f"{log.file} does not say which model answered. Name the model (--model-name NAME on the command line)."
        )
    chosen, placed, data_hash, dropped = _match_samples(log, resources, benchmark)
    spec = RunSpec(
        study="accuracy",
        version=VERSION,
        model=name,
        revision=log.revision,
        benchmark=chosen,
        data_hash=data_hash,
        dtype="",
        settings={"imported": log.made_by, "log": log.sha256, "task": log.task, "preset": POLICY.preset},
    )
    settings = resources.settings
    folder = RunFolder(settings.runs / run_id(spec))
    new = folder.progress().status != "complete" or bool(folder.damaged())
    if new:
        with leftovers.scratch(settings.cache, settings.cache, "unpacking-") as work:
            new_folder = RunFolder.create(work, spec)
            mark = f"{log.made_by}, task {log.task}, file {log.file}, SHA-256 {log.sha256[:12]}"[:LONGEST_MARK]
            files.write_json(new_folder.path / "environment.json", _environment(log))
            _write_left_out(new_folder, dropped)
            new_folder.write_part(0, len(placed) - 1, rows(placed))
            new_folder.write_findings(_findings(spec, resources, new_folder, log, placed))
            progress = {"total": len(placed), "done": len(placed), "message": f"Imported: {mark}", "imported": mark}
            new_folder.write_progress(status="complete", **progress)
            if folder.reviews.exists():
                shutil.copyfile(folder.reviews, new_folder.reviews)
            broken_off.store_finished(resources, new_folder.path, folder.path)
    return StoredLog(
        folder,
        chosen,
        len(placed),
        sum(item.matched for item in placed),
        dropped,
        tuple(agreement(log)),
        new,
    )


# --- which instances


def _match_samples(
    log: Log, resources: Resources, benchmark: str
) -> tuple[str, list[MatchedSample], str, tuple[Dropped, ...]]:
    """The benchmark, its samples as instances, the benchmark's data hash, and what was left out."""
    name, matches = _benchmark(log, resources, benchmark)
    if not name:
        return _as_own(log, resources)
    loaded = resources.instances(name)
    placed = []
    for sample in log.samples:
        if match := matches.get(sample.key):
            placed.append(MatchedSample(sample, match.instance, match.order))
        else:
            placed.append(MatchedSample(sample, _instance(sample, name, UNMATCHED), _as_logged(sample), matched=False))
    return name, placed, loaded.data_hash, log.dropped


def _benchmark(log: Log, resources: Resources, wish: str) -> tuple[str, dict[str, Match]]:
    """The benchmark of which most samples are instances, with the matches; "" where none has half of them."""
    from explorer import benchmarks

    if wish:
        match = matching.match(log.samples, resources.instances(wish).instances)
        if not match:
            raise UsageError(
                f"No sample of {log.file} has the texts of an instance of {wish}. Leave out --benchmark to keep the "
                "log as a benchmark of its own."
            )
        return wish, match
    best: tuple[str, dict[str, Match]] = ("", {})
    for name in matching.order_by_task_name(log.task, benchmarks.available_names(resources.settings)):
        if benchmarks.find(name, resources.settings).kind not in ("pair", "choice", "cloze", "labelled"):
            continue
        try:
            match = matching.match(log.samples, resources.instances(name).instances)
        except BenchmarkError:  # a file of it is damaged: the log can still be another's
            continue
        if len(match) > len(best[1]):
            best = (name, match)
        if len(match) >= 0.9 * len(log.samples):
            break
    return best if len(best[1]) >= matching.MIN_MATCHED_SHARE * len(log.samples) else ("", {})


def _as_own(log: Log, resources: Resources) -> tuple[str, list[MatchedSample], str, tuple[Dropped, ...]]:
    """The log's documents as an imported benchmark; its name holds a hash of them, so that every model shares it."""
    import hashlib

    from explorer.benchmarks.core.reading import unique_keys
    from explorer.benchmarks.tables import table

    drafts = {sample.key: _instance(sample, "", "all") for sample in log.samples}
    kind = max((draft.kind for draft in drafts.values()), key=[draft.kind for draft in drafts.values()].count)
    fitting = [sample for sample in log.samples if drafts[sample.key].kind == kind]
    # A slash would part an instance's id.
    keys = dict(
        zip(
            (sample.key for sample in fitting),
            unique_keys(sample.key.replace("/", "_") for sample in fitting),
            strict=False,
        )
    )
    lines = [_table_row(keys[sample.key], drafts[sample.key]) for sample in fitting]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    name = f"{re.sub(r'[^a-z0-9]+', '-', log.task.lower()).strip('-')[:40] or 'log'}-{digest}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        path.write_text(text, "utf-8", newline="\n")
        columns = {role: role for role in ("good", "bad", "context", "options", "gold", "text", "target", "id")}
        columns_present = {role: column for role, column in columns.items() if lines and column in lines[0]}
        try:
            reading = table.guess_reading(
                path, kind=kind, columns=columns_present, gold="0" if kind == "choice" else ""
            )
            # A choice whose context holds one "_" by chance is still asked as it was.
            reading = dataclasses.replace(reading, prompt="choice") if kind == "choice" else reading
            table.store_import(path, name, resources.settings, reading, title=f"{log.task} ({log.source})")
        except BenchmarkError as error:
            # The table is a file of ours that the person has never seen.
            reason = str(error).replace(path.name, "its documents").removesuffix(" Check kind and columns.")
            raise LogError(
                f"{log.file} cannot become a benchmark of its own: {reason} Mend its texts, or say which benchmark's "
                "they are with --benchmark."
            ) from error
    loaded = resources.instances(table.PREFIX + name)
    by_key = {instance.id.rsplit("/", 1)[-1]: instance for instance in loaded.instances}
    placed = [
        MatchedSample(sample, by_key[keys[sample.key]], _as_logged(sample))
        for sample in fitting
        if keys[sample.key] in by_key
    ]
    placed_keys = {item.sample.key for item in placed}
    lost = [
        Dropped(sample.where, f"document {sample.key} has no texts or right option that a benchmark can hold")
        for sample in log.samples
        if sample.key not in placed_keys
    ]
    if not placed:
        raise LogError(f"{log.file} holds no document that can be an instance here. Say which it is with --benchmark.")
    return table.PREFIX + name, placed, loaded.data_hash, (*log.dropped, *lost)


def _table_row(key: str, instance: Instance) -> dict[str, Any]:
    row: dict[str, Any] = {"id": key}
    if instance.kind == "pair":
        return {**row, "good": instance.options[0], "bad": instance.options[1]}
    if instance.kind == "choice":
        return {**row, "context": instance.context, "options": list(instance.options), "gold": instance.gold}
    return {**row, "text": instance.context, "target": instance.options[0] if instance.options else ""}


def _as_logged(sample: Sample) -> tuple[int, ...]:
    return tuple(range(len(sample.scored_options) or len(sample.choices)))


def _instance(sample: Sample, benchmark: str, group: str) -> Instance:
    """The sample as an instance of its own: a pair, a choice, or a passage with what should follow."""
    base = Instance(
        f"{benchmark}/{group}/{sample.key}", benchmark, "all", group, "cloze", "cloze", extra={"log": sample.where}
    )
    scored = sample.scored_options
    if len(scored) == 2 and sample.gold == 0 and not any(option.context for option in scored):
        texts = tuple(option.continuation.strip() for option in scored)
        return dataclasses.replace(base, kind="pair", format="sentence", options=texts, gold=0)
    if len(scored) > 1:
        shared = len({option.context for option in scored}) == 1
        context = scored[0].context if shared else ""
        options = tuple(
            option.continuation.strip() if shared else option.context + option.continuation for option in scored
        )
        return dataclasses.replace(
            base, kind="choice", format="choice", context=context, options=options, gold=sample.gold
        )
    if scored:
        return dataclasses.replace(base, context=scored[0].context, options=(scored[0].continuation.strip(),), gold=0)
    prompt = sample.answers[0].prompt if sample.answers else ""
    if sample.choices:
        return dataclasses.replace(
            base, kind="choice", format="choice", context=prompt, options=sample.choices, gold=sample.gold
        )
    return dataclasses.replace(base, context=prompt, options=(sample.target,), gold=0)


# --- what the whole says


def agreement(log: Log) -> list[Agreement]:
    """Each metric that the harness gives for the whole and that follows from its samples, beside what follows."""
    agreements = []
    for key, value in log.results.items():
        name, _, filter = key.partition(",")
        # A metric of a single pass is part of the one that the passes are reduced to.
        metrics = [metric for sample in log.samples for metric in sample.metrics if metric.repeat is None]
        values = [metric.value for metric in metrics if _is_of(metric, name, filter)]
        if name in ("accuracy", "mean") and not values:  # Inspect calls a scorer's mean "accuracy"
            values = [metric.value for metric in metrics if metric.name == filter]
        known = [number for number in values if number == number]
        if known:
            mean = math.fsum(known) / len(known)
            # The samples of this one metric hold log-probabilities.
            agreements.append(Agreement(key, value, math.exp(-mean) if name == "perplexity" else mean))
    return agreements


def _is_of(metric: Any, name: str, filter: str) -> bool:
    return metric.name == name and (metric.filter or "none") == (filter or "none")


def _findings(
    spec: RunSpec, resources: Resources, folder: RunFolder, log: Log, placed: Sequence[MatchedSample]
) -> list[Row]:
    if any(item.sample.scored_options for item in placed):
        rows = accuracy_findings.summarize(spec, resources, folder)
        # Without token counts there is no mean per token.
        rows = [row for row in rows if not (row.get("setting") == "mean_token" and row["n"] == 0)]
    else:
        instances = folder.read("instances")
        measures = folder.read("measures", ["instance_id", "measure", "value", "part"])
        whole = measures[(measures["measure"] == "correct") & measures["part"].isna()]
        verdict = whole.set_index("instance_id")["value"].reindex(instances["instance_id"])
        rows = accuracy_findings.shares(instances, verdict.to_numpy(dtype=float))
    if log.passes > 1:
        # Half of the passes right is no tie.
        passes = json.dumps({"passes": log.passes, "reducer": log.reducer})
        rows = [{**row, "detail": passes} if row["finding"] == ACCURACY.name else row for row in rows]
    means: Mapping[str, float] = {figure.metric: figure.ours for figure in agreement(log)}
    for metric, value in log.results.items():
        detail = {"by": log.made_by, "from samples": means.get(metric)}
        rows.append(finding_row(declared.REPORTED, metric, Estimate.point(value, len(placed)), detail=detail))
    return rows


def _environment(log: Log) -> dict[str, Any]:
    return {
        "lexiscope": __version__,
        "imported": {
            "harness": log.source,
            "version": log.version,
            "task": log.task,
            "file": log.file,
            "sha256": log.sha256,
            "remarks": list(log.remarks),
            **log.record,
        },
    }


def _write_left_out(folder: RunFolder, dropped: Sequence[Dropped]) -> None:
    """Keeps every line that became no instance, with the reason, so that nothing of the log is lost."""
    from explorer.runs import files

    if dropped:
        # Half surrogates stand for bytes that were no UTF-8; escaped, they come back as they were.
        lines = "".join(json.dumps(dataclasses.asdict(item)) + "\n" for item in dropped)
        files.write_atomically(folder.path / "left_out.jsonl", lambda path: path.write_text(lines, encoding="utf-8"))
