"""Looks at this installation and says what works, what is missing and what to do."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import sys
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


def examine(settings: Settings) -> list[Finding]:
    """All findings; a check that itself fails is a fault with the reason."""
    findings = []
    for what, check in CHECKS.items():
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
    wrong = []
    for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines():
        match = re.match(r"([A-Za-z0-9_.-]+)==([^\s;#]+)(.*)", line)
        if not match or ("sys_platform" in match[3] and (sys.platform == "win32" or sys.version_info >= (3, 14))):
            continue
        try:
            found = metadata.version(match[1]).split("+")[0]
        except metadata.PackageNotFoundError:
            found = "absent"
        if found != match[2]:
            wrong.append(f"{match[1]} {found} (expected {match[2]})")
    if wrong:
        return "fault", f"{'; '.join(wrong)}. Run `pip install -r requirements.txt` in this environment."
    return "ok", "all at the versions of requirements.txt"


def _cache(settings: Settings) -> tuple[str, str]:
    settings.cache.mkdir(parents=True, exist_ok=True)
    if not os.access(settings.cache, os.W_OK):
        return "fault", f"{settings.cache} cannot be written. Choose another with --cache or EXPLORER_CACHE."
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
    from explorer.scoring import hf_device
    from explorer.scoring.memory import free_ram

    device = hf_device.choose_device()
    memory = free_ram()
    free = f", {memory / GIB:.0f} GiB of memory free" if memory else ""
    return "ok", f"{device.type}, models in {hf_device.choose_dtype('auto', device)}{free}"


def _embedded(settings: Settings) -> tuple[str, str]:
    from explorer.scoring import catalog, embedded

    ready = [model.id for model in catalog.EMBEDDED_MODELS if embedded.is_ready(model.id, settings)]
    if "gemma-3-270m" not in ready:
        return "note", "Gemma-3-270M is not converted yet; the first command that needs it does so (a minute)."
    return "ok", ", ".join(ready)


def _wordnet(settings: Settings) -> tuple[str, str]:
    if (settings.nltk_data / "corpora" / "wordnet" / "data.noun").exists():
        return "ok", str(settings.nltk_data)
    return "note", "WordNet is not in the cache yet; the first command that needs it fetches it."


def _benchmarks(settings: Settings) -> tuple[str, str]:
    from explorer import benchmarks

    here = benchmarks.available(settings)
    missing = [name for name in benchmarks.BENCHMARKS if name not in here]
    if missing:
        return "note", f"{len(here)} here; not on this machine: {', '.join(missing)} (downloaded when asked for)."
    return "ok", f"all {len(here)} here"


def _engine(settings: Settings) -> tuple[str, str]:
    if importlib.util.find_spec("infini_gram") is None:
        return "note", "The local n-gram engine is not installed here; counts come from the infini-gram service."
    return "ok", f"infini-gram {metadata.version('infini-gram')}"


def _database(settings: Settings) -> tuple[str, str]:
    from explorer.results.store import open_store

    store = open_store(settings)
    count = int(store.frame("SELECT count(*) AS n FROM runs")["n"][0])
    store.close()
    return "ok", f"{count} runs"


CHECKS: dict[str, Callable[[Settings], tuple[str, str]]] = {
    "Python": _python,
    "packages": _packages,
    "cache": _cache,
    "device": _device,
    "embedded models": _embedded,
    "WordNet": _wordnet,
    "benchmarks": _benchmarks,
    "n-gram engine": _engine,
    "database": _database,
}
