"""The n-gram index of a glass-box corpus: built once, known by the hash of its corpus and tokenizer."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from explorer import sharing
from explorer.errors import CountError
from explorer.glassbox import corpus, tokenizer
from explorer.popularity import index as builder
from explorer.popularity import infinigram_local
from explorer.popularity import manifest as manifests
from explorer.popularity.documents import SourceDocument
from explorer.popularity.indexes import GLASSBOX
from explorer.settings import Settings

NOTE = "The whole training text of the glass-box models: for them its counts and documents are exact."
SOURCES = ("glosses and examples of WordNet 3.0", "sentences of the starter grammar", "what the schedule plants")
WAIT = 900.0  # seconds for another process that builds it

Progress = Callable[[int, int], None]


def ensure(
    settings: Settings,
    name: str,
    documents: Sequence[SourceDocument],
    progress: Progress | None = None,
    wait: float = WAIT,
) -> Path:
    """The folder of the index of these documents, built where there is none or one of another corpus.

    A second process waits for the first, at most so many seconds, and then finds the index.
    """
    infinigram_local.require_engine()
    folder = settings.indexes / name
    key = index_id(name, corpus.corpus_hash(documents))
    telling = (lambda what, done, total: progress(done, total)) if progress else None
    try:
        settings.indexes.mkdir(parents=True, exist_ok=True)
        with sharing.hold(settings.indexes / f".{name}.lock", longest=wait):
            if _key_of(folder) != key:
                shutil.rmtree(folder, ignore_errors=True)
                builder.build(
                    lambda: documents, folder, name=name, identity=key, tokenizer=tokenizer.load(), sources=SOURCES,
                    note=NOTE, progress=telling,
                )  # fmt: skip
    except TimeoutError as error:
        raise CountError(f"The index {name} is being built by another process. Try again in a minute.") from error
    except OSError as error:
        raise CountError(
            f"{settings.indexes} cannot be written ({error.strerror or error}), so the index {name} cannot be built. "
            "Free some space or allow it."
        ) from error
    return folder


def ensure_own(settings: Settings, progress: Progress | None = None, wait: float = WAIT) -> Path:
    """The folder of the index of the glass box's own corpus, built on first use."""
    folder = settings.indexes / GLASSBOX
    if _key_of(folder) == index_id(GLASSBOX, corpus.CORPUS):
        return folder
    documents = corpus.build(settings)
    if (found := corpus.corpus_hash(documents)) != corpus.CORPUS:
        raise CountError(
            f"The corpus of the glass box has the SHA-256 {found[:12]} here, expected {corpus.CORPUS[:12]}: a file of "
            "explorer/ was changed. Get it back with git, or give the corpus a name of its own with --name."
        )
    return ensure(settings, GLASSBOX, documents, progress, wait)


def index_id(name: str, corpus_hash: str) -> str:
    """The index's name, from the hashes of corpus and tokenizer and the layout of its files, and from nothing else."""
    layout = f"infini-gram {manifests.ENGINE_VERSION} {builder.DTYPE}"
    return f"{name}-{manifests.short_hash(' '.join((corpus_hash, tokenizer.load().hash, layout)))}"


def _key_of(folder: Path) -> str:
    try:
        made = manifests.read(folder)
        manifests.check_sizes(folder, made)
        manifests.check_tokenizer(folder, made)
    except CountError:
        return ""
    return made.key
