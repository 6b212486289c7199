"""Every path, key and limit, read once from the environment."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from explorer.errors import UsageError

ROOT = Path(__file__).resolve().parent.parent
PRECOMPUTED = ROOT / "cache" / "precomputed.duckdb"  # comes with the explorer
OPENAI = "https://api.openai.com/v1"
INFINIGRAM = "https://api.infini-gram.io/"
INFINIGRAM_MINI = "https://api.infini-gram-mini.io/"
REQUESTS_PER_SECOND = 5.0


@dataclass(frozen=True, slots=True)
class Settings:
    """Where things are kept and how far the explorer may go."""

    cache: Path
    data: Path | None = None  # a folder laid out as docs/DATA.md says, or none
    precomputed: Path | None = None  # the file with the precomputed runs, or none
    api_key: str = field(default="", repr=False)  # for the server in api_url alone; never written anywhere
    host_keys: tuple[tuple[str, str], ...] = field(default=(), repr=False)  # EXPLORER_API_KEY_<HOST> and its value
    openai_key: str = field(default="", repr=False)  # for api.openai.com alone
    api_url: str = OPENAI  # the server that openai:NAME means
    google_key: str = field(default="", repr=False)  # for web counts of one's own; never written anywhere
    google_engine: str = ""  # id of a Programmable Search Engine
    infinigram_url: str = INFINIGRAM
    infinigram_mini_url: str = INFINIGRAM_MINI
    requests_per_second: float = REQUESTS_PER_SECOND
    price_in: float = 0.0  # of an endpoint, per million tokens read and written; for estimates alone, 0 = not known
    price_out: float = 0.0
    offline: bool = False  # True: never try the network
    threads: int = 0  # CPU threads for torch, 0 = torch's own choice
    shard: bool = False  # spread a model over all GPUs of this machine
    parallel_runs: int = 1  # full runs done at the same time on this machine
    own_counts: Path | None = None  # another folder for counts, where the cache is no local disk

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key, for those who must see to it that none is written anywhere."""
        named = [value for _, value in self.host_keys]
        return tuple(key for key in (self.api_key, self.openai_key, self.google_key, *named) if key)

    @property
    def models(self) -> Path:
        return self.cache / "models"

    @property
    def datasets(self) -> Path:
        return self.cache / "data"

    @property
    def imports(self) -> Path:
        return self.cache / "imports"

    @property
    def runs(self) -> Path:
        return self.cache / "runs"

    @property
    def slices(self) -> Path:
        return self.cache / "slices"

    @property
    def sweeps(self) -> Path:
        return self.cache / "sweeps"

    @property
    def store(self) -> Path:
        return self.cache / "store"

    @property
    def counts(self) -> Path:
        return self.own_counts or self.cache / "counts"

    @property
    def indexes(self) -> Path:
        return self.cache / "indexes"

    @property
    def nltk_data(self) -> Path:
        return self.cache / "nltk_data"

    @property
    def downloads(self) -> Path:
        return self.cache / "downloads"


def path_of(text: str | Path) -> Path:
    """The path that a person typed; ~ is their home, and stays as it is where there is no such user."""
    return Path(os.path.expanduser(text))


def read(cache: str | Path | None = None, data: str | Path | None = None) -> Settings:
    """Settings from the environment; `cache` and `data` given by the caller win."""
    env = os.environ
    cache_folder = Path(cache or env.get("EXPLORER_CACHE") or ROOT / "cache")
    data_folder = data or env.get("EXPLORER_DATA")
    return Settings(
        cache=path_of(cache_folder).resolve(),
        data=path_of(data_folder).resolve() if data_folder else None,
        precomputed=_precomputed(env.get("EXPLORER_PRECOMPUTED") or ""),
        api_key=env.get("EXPLORER_API_KEY") or "",
        host_keys=tuple(sorted((name, env[name]) for name in env if name.startswith("EXPLORER_API_KEY_"))),
        openai_key=env.get("OPENAI_API_KEY") or "",
        api_url=env.get("EXPLORER_API_URL") or OPENAI,
        google_key=env.get("EXPLORER_GOOGLE_KEY") or "",
        google_engine=env.get("EXPLORER_GOOGLE_ENGINE") or "",
        infinigram_url=env.get("EXPLORER_INFINIGRAM_URL") or INFINIGRAM,
        infinigram_mini_url=env.get("EXPLORER_INFINIGRAM_MINI_URL") or INFINIGRAM_MINI,
        requests_per_second=_number(env, "EXPLORER_REQUESTS_PER_SECOND", REQUESTS_PER_SECOND),
        price_in=_number(env, "EXPLORER_PRICE_IN", 0.0),
        price_out=_number(env, "EXPLORER_PRICE_OUT", 0.0),
        offline=env.get("EXPLORER_OFFLINE", "") not in ("", "0"),
        threads=int(_number(env, "EXPLORER_THREADS", 0)),
        shard=env.get("EXPLORER_SHARD", "") in ("1", "auto"),
        parallel_runs=max(1, int(_number(env, "EXPLORER_PARALLEL_RUNS", 1))),
    )


def _precomputed(named: str) -> Path | None:
    """The file named, none for "none", and the one that git keeps where nothing is named."""
    if named.lower() == "none":
        return None
    return path_of(named).resolve() if named else PRECOMPUTED


def _number(env: Mapping[str, str], name: str, default: float) -> float:
    text = env.get(name) or str(default)
    try:
        if math.isfinite(number := float(text)):
            return number
    except ValueError:
        pass
    raise UsageError(f"{name} is {text!r}, expected a number. Set it again or unset it.")
