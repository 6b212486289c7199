"""A counter by the name of its index.

glassbox                  the whole training text of the glass-box models, built on first use (resources.py)
v4_piletrain_llama ...    an index of the public service (see indexes.py)
mini:v2_piletrain ...     a character index of the infini-gram-mini service
wiki                      an index in the cache's folder indexes/
a folder                  an index anywhere on this machine
http://host:port#name     an index of another infini-gram server (#name may be left out if it has only one)
"""

from __future__ import annotations

import os
from pathlib import Path

from explorer import fetch
from explorer.addresses import split_address
from explorer.errors import CountError, FetchError
from explorer.popularity import manifest as manifests
from explorer.popularity import tokenizer as tokenizers
from explorer.popularity.count_cache import CountCache
from explorer.popularity.counter import DocumentCounter
from explorer.popularity.indexes import FORMER, GLASSBOX, GLASSBOX_INDEX, INDEXES, MINI, corpus_of
from explorer.popularity.infinigram_api import InfinigramAPI, served_names
from explorer.popularity.infinigram_mini import InfinigramMini
from explorer.popularity.service import PATIENCE, Service
from explorer.settings import INFINIGRAM, REQUESTS_PER_SECOND, Settings, path_of

_BY_ITSELF = {GLASSBOX: GLASSBOX_INDEX}  # the index that is built on first use → its key
PUBLIC_HOSTS = (".infini-gram.io", ".infini-gram-mini.io")

_limits: dict[tuple[str, float], fetch.RateLimit] = {}  # one for all counters of a server


def open_counter(
    index: str,
    settings: Settings,
    *,
    tokenizer: Path | None = None,
    patience: fetch.Patience = PATIENCE,
) -> DocumentCounter:
    """The counter over the index of this name.

    For an index of a service, ids come from `tokenizer`, a local folder with its tokenizer; else from the folder
    tokenizers/NAME of the cache (llama-2, gpt2, olmo) if it is there; else from the service.
    """
    index = index.strip()
    cache = CountCache(settings.counts)
    if index.startswith(MINI):
        return InfinigramMini(
            _service(settings.infinigram_mini_url, index.removeprefix(MINI), settings, patience), cache
        )
    if "://" in index:
        return _remote(index, settings, cache, tokenizer, patience)
    if index in INDEXES:
        return InfinigramAPI(
            _service(settings.infinigram_url, index, settings, patience),
            cache,
            index=_public_key(index, settings),
            tokenizer=_local_tokenizer(tokenizer, settings, INDEXES[index].tokenizer),
        )
    from explorer.popularity.infinigram_local import LocalCounter

    return LocalCounter(_folder_of(index, settings), cache)


def known_key(index: str, settings: Settings) -> str:
    """The key that counts of this index have, "" where only its server could tell; CountError where it is not here.

    Nothing is built, opened or asked.
    """
    index = index.strip()
    if index in _BY_ITSELF:
        return _BY_ITSELF[index]
    if index in INDEXES:
        return _public_key(index, settings)
    if index.startswith(MINI) or "://" in index:
        return ""
    return manifests.read(_folder_of(index, settings)).key


def _public_key(index: str, settings: Settings) -> str:
    return index if settings.infinigram_url == INFINIGRAM else f"{settings.infinigram_url}#{index}"


def _folder_of(index: str, settings: Settings) -> Path:
    """The folder of a local index, by its name in the cache or by its path, with a manifest or without."""
    if (former := FORMER.get(corpus_of(index))) is not None:
        # Also where an earlier version left its folder: who has none could not make such a run again.
        title = former.title[0].upper() + former.title[1:]
        raise CountError(f"{title} is no longer counted in. Choose the index {GLASSBOX}, which is built by itself.")
    for folder in (settings.indexes / index, path_of(index)):
        if index and os.path.isfile(folder / manifests.FILE):
            return folder
    if index and os.path.isdir(path_of(index)):
        return path_of(index)
    built = sorted(path.parent.name for path in settings.indexes.glob(f"*/{manifests.FILE}"))
    raise CountError(
        f"There is no index {index!r}. Expected {', '.join(dict.fromkeys([GLASSBOX, *built]))}, a public index such as "
        f"{next(iter(INDEXES))}, {MINI}NAME, a folder, or http://host:port#name."
    )


def _remote(
    address: str, settings: Settings, cache: CountCache, tokenizer: Path | None, patience: fetch.Patience
) -> InfinigramAPI:
    url, _, name = address.partition("#")
    if not name:
        try:
            names = served_names(url, patience, settings.offline)
        except FetchError as error:
            raise CountError(f"{url} cannot be asked for its indexes: {error}") from error
        if len(names) != 1:
            raise CountError(f"{url} has the indexes {', '.join(names) or '(none)'}. Name one: {url}#NAME.")
        [name] = names
    return InfinigramAPI(
        _service(url, name, settings, patience),
        cache,
        index=f"{url}#{name}",
        tokenizer=_local_tokenizer(tokenizer, settings, ""),
    )


def _service(url: str, name: str, settings: Settings, patience: fetch.Patience) -> Service:
    rate = settings.requests_per_second
    if not (split_address(url).hostname or "").endswith(PUBLIC_HOSTS) and rate == REQUESTS_PER_SECOND:
        rate = 0.0  # a lab's own server is asked as fast as it answers, unless a rate was set
    limit = _limits.setdefault((url, rate), fetch.RateLimit(rate))
    return Service(url, name, limit=limit, patience=patience, offline=settings.offline)


def _local_tokenizer(path: Path | None, settings: Settings, name: str) -> tokenizers.IndexTokenizer | None:
    if path is not None:
        return tokenizers.load(path)
    folder = settings.cache / "tokenizers" / name
    return tokenizers.load(folder) if name and folder.is_dir() else None
