"""Looks at this installation and says what works, what is missing and what to do."""

from __future__ import annotations

import importlib.util
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

from explorer.errors import ExplorerError
from explorer.settings import ROOT, Settings

GIB = 2**30


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at; `status` is ok, note (works, but worth knowing) or fault."""

    what: str
    status: str
    message: str


def examine(settings: Settings, *, verify: bool = False) -> list[Finding]:
    """All findings; a check that itself fails is a fault with the reason. `verify` reads every byte that has a hash."""
    findings = []
    for what, check in {**CHECKS, **(VERIFICATIONS if verify else {})}.items():
        try:
            status, message = check(settings)
        except ExplorerError as error:
            status, message = "fault", str(error)
        except Exception as error:
            status, message = "fault", f"{type(error).__name__}: {error}"
        findings.append(Finding(what, status, " ".join(message.split())))
    return findings


def _python(settings: Settings) -> tuple[str, str]:
    version = platform.python_version()
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        return "fault", f"Python {version}; expected 3.11 to 3.13. Make the virtual environment with one of these."
    return "ok", f"Python {version}"


def _packages(settings: Settings) -> tuple[str, str]:
    mismatches = []
    for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines():
        match = re.match(r"([A-Za-z0-9_.-]+)==([^\s;#]+)(.*)", line)
        if not match or ("sys_platform" in match[3] and (sys.platform == "win32" or sys.version_info >= (3, 14))):
            continue
        try:
            installed = metadata.version(match[1]).split("+")[0]
        except metadata.PackageNotFoundError:
            installed = "absent"
        if installed != match[2]:
            mismatches.append(f"{match[1]} {installed} (expected {match[2]})")
    if mismatches:
        return "fault", f"{'; '.join(mismatches)}. Run `pip install -r requirements.txt` in this environment."
    return "ok", "all at the versions of requirements.txt"


def _cache(settings: Settings) -> tuple[str, str]:
    try:
        settings.cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=settings.cache) as file:
            file.write(bytes(4096))
    except OSError as error:
        return "fault", (
            f"{settings.cache} cannot be written ({error.strerror or error}). Free some space or allow it, or choose "
            "another folder with --cache or EXPLORER_CACHE."
        )
    free = shutil.disk_usage(settings.cache).free / GIB
    if free < 3:
        return (
            "fault",
            f"{settings.cache} has {free:.1f} GiB free; expected 3 GiB for the embedded model. Free some space.",
        )
    return "ok", f"{settings.cache}, {free:.0f} GiB free"


def _device(settings: Settings) -> tuple[str, str]:
    if importlib.util.find_spec("torch") is None:
        return "fault", "torch is not installed. Run `pip install -r requirements.txt`."
    from explorer.scoring.engine import device as hf_device
    from explorer.scoring.engine.memory import free_ram

    device = hf_device.choose_device()
    memory = free_ram()
    free = f", {memory / GIB:.0f} GiB of memory free" if memory else ""
    return "ok", f"{device.type}, models in {hf_device.choose_dtype('auto', device)}{free}"


def _embedded(settings: Settings) -> tuple[str, str]:
    from explorer.scoring import catalog, embedded

    ready = [model.id for model in catalog.EMBEDDED_MODELS if embedded.is_ready(model.id, settings)]
    damaged = [model.id for model in catalog.EMBEDDED_MODELS if embedded.is_damaged(model.id, settings)]
    if damaged:
        return "fault", (
            f"{', '.join(damaged)} lacks a file or holds one that was cut short. Run `python -m explorer models add "
            f"{damaged[0]}`: it is made again."
        )
    if "gemma-3-270m" not in ready:
        return "note", "Gemma-3-270M is not converted yet; the first command that needs it does so (a minute)."
    return "ok", ", ".join(ready)


def _wordnet(settings: Settings) -> tuple[str, str]:
    from explorer.variants import wordnet_files

    folder = settings.nltk_data / "corpora" / "wordnet"
    lacking = wordnet_files.missing_files(folder)
    if folder.is_dir() and lacking:
        return "fault", (
            f"{folder} lacks {', '.join(lacking[:3])}, or holds them cut short. Delete that folder: the next command "
            "that needs WordNet fetches it again."
        )
    if lacking:
        return "note", "WordNet is not in the cache yet; the first command that needs it fetches it."
    return "ok", str(settings.nltk_data)


def _benchmarks(settings: Settings) -> tuple[str, str]:
    from explorer import benchmarks
    from explorer.benchmarks.tables import table

    for name in table.imported_names(settings):
        benchmarks.find(name, settings)  # a damaged import says so itself
    available = benchmarks.available_names(settings)
    missing = [name for name in benchmarks.BENCHMARKS if name not in available]
    if missing:
        return "note", f"{len(available)} here; not on this machine: {', '.join(missing)} (downloaded when asked for)."
    return "ok", f"all {len(available)} here"


def _engine(settings: Settings) -> tuple[str, str]:
    if importlib.util.find_spec("infini_gram") is None:
        return "note", "The local n-gram engine is not installed here; counts come from the infini-gram service."
    return "ok", f"infini-gram {metadata.version('infini-gram')}"


def _indexes(settings: Settings) -> tuple[str, str]:
    from explorer.popularity import manifest

    names = _index_names(settings)
    for name in names:
        about = manifest.read(settings.indexes / name)
        manifest.check_sizes(settings.indexes / name, about)
        manifest.check_tokenizer(settings.indexes / name, about)
    return "ok", ", ".join(names) or "none here yet"


def _index_names(settings: Settings) -> list[str]:
    # A name with a dot before it is a folder that is still being built.
    return sorted(path.name for path in settings.indexes.glob("*") if path.is_dir() and not path.name.startswith("."))


def _counts(settings: Settings) -> tuple[str, str]:
    from explorer.popularity import count_cache

    if problem := count_cache.find_damage(settings.counts):
        return "fault", (
            f"{settings.counts / count_cache.FILE} is damaged ({problem}). Run `python -m explorer index check "
            "--counts --repair`: every count that can still be read is kept."
        )
    return "ok", "sound" if (settings.counts / count_cache.FILE).exists() else "none here yet"


def _runs(settings: Settings) -> tuple[str, str]:
    from explorer.runs import queue
    from explorer.runs.folder import all_folders

    folders = all_folders(settings.runs)
    no_spec = [folder.run_id for folder in folders if queue.info(folder).status == queue.DAMAGED]
    if no_spec:
        return "fault", (
            f"spec.json of {', '.join(no_spec)} is damaged. Start the same run again, which keeps what it finished, or "
            f"`python -m explorer delete {no_spec[0]}`."
        )
    damaged = {folder.run_id: names for folder in folders if (names := folder.damaged(thorough=False))}
    if damaged:
        run_id, names = next(iter(damaged.items()))
        return "fault", (
            f"{sum(map(len, damaged.values()))} files of {len(damaged)} runs are damaged (the first: {run_id}/parts/"
            f"{names[0]}). Run `python -m explorer resume {run_id}`: it makes these parts again and keeps the others."
        )
    inaccessible = {folder.run_id: why for folder in folders if (why := folder.kept_from_us())}
    open_ends = [
        folder.run_id
        for folder in folders
        if folder.run_id not in inaccessible and folder.progress().status in ("interrupted", "failed")
    ]
    if inaccessible:
        return "note", (
            f"{len(folders)} here, {len(inaccessible)} of them kept by another account "
            f"(the first: {next(iter(inaccessible))}): {next(iter(inaccessible.values()))}"
        )
    if open_ends:
        return "note", (
            f"{len(folders)} here, {len(open_ends)} not finished; `python -m explorer resume {open_ends[0]}` goes on."
        )
    return "ok", f"{len(folders)} here"


def _verified_runs(settings: Settings) -> tuple[str, str]:
    from explorer.runs import queue
    from explorer.runs.folder import all_folders

    folders = all_folders(settings.runs)
    no_spec = [folder.run_id for folder in folders if queue.info(folder).status == queue.DAMAGED]
    if no_spec:
        return "fault", (
            f"{no_spec[0]}/spec.json is not as it was written. Start the same run again, which keeps what it finished, "
            f"or `python -m explorer delete {no_spec[0]}`."
        )
    damaged = {folder.run_id: names for folder in folders if (names := folder.damaged())}
    if damaged:
        run_id, names = next(iter(damaged.items()))
        return "fault", (
            f"{sum(map(len, damaged.values()))} files of {len(damaged)} runs are not as they were written (the first: "
            f"{run_id}/parts/{names[0]}). Run `python -m explorer resume {run_id}`: it makes these parts again and "
            "keeps the others."
        )
    changed = [(folder.run_id, name) for folder in folders for name in folder.changed_notes()]
    if changed:
        run_id, name = changed[0]
        return "fault", (
            f"{len(changed)} files that describe a run are not as they were written (the first: {run_id}/{name}). "
            f"{_remedy_of_note(run_id, name)}"
        )
    hashed, without = (sum(folder.hashed()[place] for folder in folders) for place in (0, 1))
    unhashed = f"; {without:,} were made before hashes were kept and could only be opened" if without else ""
    return "ok", f"{hashed:,} files of {len(folders)} runs are as they were written{unhashed}"


def _remedy_of_note(run_id: str, name: str) -> str:
    if name == "progress.json":
        return f"Run `python -m explorer resume {run_id}`: it writes it again and keeps every part."
    if name == "where.json":
        return f"Delete it and run `python -m explorer resume {run_id}` with --cluster where the run is on one."
    return (
        "Bring it back from a copy, or delete it: the rows stay, and only what they were made with is no longer known."
    )


def _verified_indexes(settings: Settings) -> tuple[str, str]:
    from explorer.popularity import manifest

    names = _index_names(settings)
    for name in names:
        manifest.check_hashes(settings.indexes / name, manifest.read(settings.indexes / name))
    return "ok", f"{len(names)} are as they were built"


def _database(settings: Settings) -> tuple[str, str]:
    from explorer.results import store as stores
    from explorer.runs.folder import all_folders

    store = stores.open_store(settings)
    known = set(store.frame("SELECT run_id FROM runs")["run_id"])
    for table in stores.RUN_TABLES:
        store.frame(f"SELECT bit_xor(hash({table})) FROM {table}")  # a file cut short may open and fail only here
    store.close()
    absent = [
        folder.run_id for folder in all_folders(settings.runs) if folder.run_id not in known and folder.finished()
    ]
    if absent:
        return "note", (
            f"{len(known)} runs; {len(absent)} run folders are not in it (the first: {absent[0]}). "
            "`python -m explorer rebuild` puts them in."
        )
    return "ok", f"{len(known)} runs"


def _figures(settings: Settings) -> tuple[str, str]:
    from explorer.figures import images

    program = images.browser()
    return ("ok", f"drawn by {program}") if program else ("note", images.LACKING)


CHECKS: dict[str, Callable[[Settings], tuple[str, str]]] = {
    "Python": _python,
    "packages": _packages,
    "cache": _cache,
    "device": _device,
    "embedded models": _embedded,
    "WordNet": _wordnet,
    "benchmarks": _benchmarks,
    "n-gram engine": _engine,
    "n-gram indexes": _indexes,
    "stored counts": _counts,
    "runs": _runs,
    "database": _database,
    "figures as files": _figures,
}

# What takes as long as reading all of it.
VERIFICATIONS: dict[str, Callable[[Settings], tuple[str, str]]] = {
    "files of runs": _verified_runs,
    "files of indexes": _verified_indexes,
}
