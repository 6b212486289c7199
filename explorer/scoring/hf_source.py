"""Where a model's files are: an embedded model, a local folder, or a Hugging Face id with its revision.

Only weights and plain text files are taken, and no code of a repository is ever run; weights that are no safetensors
are made into such once (hf_weights.py).
"""

from __future__ import annotations

import contextlib
import fnmatch
import hashlib
import json
import math
import os
import shutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from explorer import fetch, sharing, stopping
from explorer.addresses import is_loopback, split_address
from explorer.errors import ModelError
from explorer.scoring import catalog, embedded, hf_weights
from explorer.scoring.catalog import KnownModel
from explorer.scoring.embedded import Steps
from explorer.scoring.weight_files import (
    ADAPTER,
    ADAPTER_WEIGHTS,
    bin_files,
    copied_files_hash,
    gguf_file,
    model_files,
    require_parts,
    require_regular_files,
    tokenizer_files_hash,
    weight_files,
    weights_hash,
)
from explorer.settings import ROOT, Settings, path_of

T = TypeVar("T")
MAX_HEADER = 100_000_000  # bytes; the format itself allows no more
HUB_SECONDS = 5.0  # seconds after which a hub that does not answer is given up
PICKLED = "pytorch_model*.bin"
DOWNLOADED = ("*.json", "*.safetensors", "*.txt", "*.model", "*.jinja")
TEXTS = ("*.json", "*.jinja")
NOT_DOWNLOADED = ("*/*", "consolidated*.safetensors", ADAPTER_WEIGHTS, ADAPTER)
UNREADABLE = "The files of {path} cannot be read ({error}). Check the folder and its permissions."
OFFLINE_ADVICE = "Connect and try again, or give the path of a folder that holds the model."


@dataclass(frozen=True, slots=True)
class Source:
    """A model's files on this machine, and what identifies them."""

    name: str
    path: Path
    revision: str  # the resolved commit, "" where there is none
    weights: str  # the commit again, or a hash of the weight files
    known: KnownModel | None
    form: str = ""  # of the weights it was made from, where they are no safetensors


@dataclass(frozen=True, slots=True)
class Offer:
    """What the hub says of a model before anything is downloaded."""

    commit: str
    files: tuple[str, ...]
    bytes: int
    parameters: int | None
    config: Mapping[str, Any] = field(default_factory=dict)
    license: str = ""

    @property
    def download_patterns(self) -> tuple[str, ...]:
        """The patterns of the files that are fetched: pickled weights where there are no safetensors; () for none."""
        top = [file for file in self.files if "/" not in file]
        if any(file.endswith(".safetensors") and file != ADAPTER_WEIGHTS for file in top):
            return DOWNLOADED
        return (*DOWNLOADED, PICKLED) if any(fnmatch.fnmatch(file, PICKLED) for file in top) else ()


def locate(
    name: str,
    settings: Settings,
    revision: str = "",
    progress: Steps | None = None,
    check: Callable[[int], None] | None = None,
) -> Source:
    """A model's files, fetched first where need be; `check` is told the number of parameters before a download."""
    name, revision = split_revision(name, revision)
    known = catalog.find(name)
    if known and known.embedded:
        path = embedded.ensure(known.id, settings, progress)
        _require_shared(path)
        recorded_hash = embedded.origin(known.id, settings).get("hash")  # none in folders of an earlier version
        if recorded_hash and folder_hash(path, settings) != recorded_hash:
            raise ModelError(
                f"The files in {path} are not those that were made and checked (another SHA-256). Delete the folder: "
                "the model is made again when it is next needed."
            )
        return Source(known.id, path, "", _embedded_hash(known), known)
    if known and known.trained_by:
        path = _glassbox_folder(known, revision, settings)
        return Source(known.id, path, revision, folder_hash(path, settings), known)
    if is_folder(name):
        path = local_folder(name)
        digest = local_hashes(path, settings)[0]
        return Source(
            str(path), _as_safetensors(path, digest, settings, progress), "", digest, known, weights_format(path)
        )
    return _from_hub(known.id if known else name, revision, settings, progress, check, known)


def find(
    name: str,
    settings: Settings,
    *,
    device: str = "auto",
    dtype: str = "auto",
    revision: str = "",
    progress: Steps | None = None,
) -> Source:
    """A model's files, fetched where they are new, once it is known that the model would fit."""

    def check(parameters: int) -> None:
        from explorer.scoring.engine.device import check_memory, choose_device, choose_dtype

        place = choose_device(device)
        check_memory(name, parameters, choose_dtype(dtype, place), place)

    return locate(name, settings, revision, progress, check)


def find_unhashed_folder(name: str) -> Source | None:
    """A folder whose weights are loaded as they are, before they are hashed; none for any other model.

    Its `weights` are "". What is wrong with a folder is left to `find`.
    """
    known = catalog.find(name)
    if (known and (known.embedded or known.trained_by)) or not is_folder(name):
        return None
    try:
        path = local_folder(name)
        is_plain = gguf_file(path) is None and not (path / ADAPTER).is_file() and bool(weight_files(path))
    except ModelError:
        return None
    return Source(str(path), path, "", "", known) if is_plain else None


def identity(name: str, settings: Settings, revision: str = "") -> dict[str, str]:
    """Model, revision and weights as a run records them, without downloading any weights."""
    name, revision = split_revision(name, revision)
    known = catalog.find(name)
    if known and known.embedded:
        return {"model": known.id, "revision": "", "weights": _embedded_hash(known)}
    if known and known.trained_by:
        path = _glassbox_folder(known, revision, settings)
        return {"model": known.id, "revision": revision, "weights": folder_hash(path, settings)}
    if is_folder(name):
        path = local_folder(name)
        return {"model": str(path), "revision": "", "weights": local_hashes(path, settings)[0]}
    name = known.id if known else name
    commit = _cached(name, revision, settings).name if settings.offline else _commit(name, revision, settings)
    return {"model": name, "revision": commit, "weights": commit}


def split_revision(name: str, revision: str = "") -> tuple[str, str]:
    """A model's name and revision; `id@revision` names both."""
    if os.path.isdir(path_of(name)):  # unlike Path.is_dir also where a name is too long for the system
        return name, ""
    base, at, named = name.partition("@")
    return (base, named or revision) if at else (name, revision)


def is_folder(name: str) -> bool:
    """Whether a name means a local folder."""
    return name.startswith((".", "/", "~", "\\")) or os.path.isdir(path_of(name))


def is_cached(name: str) -> bool:
    """Whether some snapshot of a hub model is on this machine; asks no network."""
    from huggingface_hub import constants

    folder = Path(constants.HF_HUB_CACHE) / f"models--{name.replace('/', '--')}" / "snapshots"
    return any(weight_files(path) or bin_files(path) for path in folder.glob("*"))


def is_here(model: KnownModel, settings: Settings) -> bool:
    """Whether a known model can be asked at once: converted, come along, trained or cached; asks no network."""
    if model.embedded:
        return embedded.is_ready(model.id, settings)
    if model.trained_by:
        return bool(model.folder) or (settings.models / model.id / "config.json").is_file()
    return is_cached(model.id)


def _require_shared(path: Path) -> None:
    """ModelError where another account keeps the model to itself: it is not damaged, and is not made again."""
    if why := sharing.kept_from_us(path):
        raise ModelError(why)
    for file in model_files(path):
        if why := sharing.kept_from_us(file):
            raise ModelError(why)


def count_parameters(path: Path) -> int:
    """How many numbers the weight files hold, read from their headers; ModelError where a file is cut short."""
    total = 0
    for file in weight_files(path):
        try:
            numbers, end = _read_header(file)
            size = file.stat().st_size
        except FileNotFoundError as error:
            raise ModelError(f"{file} is missing. Copy or download it again.") from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ModelError(f"{file} is damaged ({error}). Copy or download the model again.") from error
        if size < end:
            raise ModelError(
                f"{file} has {size:,} bytes, expected {end:,}: it was cut short. Copy or download the model again."
            )
        total += numbers
    return total


def _read_header(file: Path) -> tuple[int, int]:
    """How many numbers a weight file holds, and how many bytes it has where it is whole."""
    with file.open("rb") as opened:
        whole = file.stat().st_size
        if whole < 8:
            raise ValueError(f"it has {whole} bytes and no header" if whole else "it is empty")
        size = int.from_bytes(opened.read(8), "little")
        if size > MAX_HEADER:
            raise ValueError(f"its header would have {size:,} bytes, expected at most {MAX_HEADER:,}")
        if size > whole:
            raise ValueError("it does not begin as a safetensors file does")
        try:
            entries = json.loads(opened.read(size))
        except ValueError as error:
            raise ValueError("it does not begin as a safetensors file does") from error
    tensors = [entry for name, entry in entries.items() if name != "__metadata__"]
    ends = [int(entry["data_offsets"][1]) for entry in tensors]
    return sum(math.prod(entry["shape"]) for entry in tensors), 8 + size + max(ends, default=0)


def text_files(name: str, revision: str, settings: Settings) -> Path:
    """The folder with a hub model's files of text (configuration, tokenizer, chat template), without its weights."""
    from huggingface_hub import snapshot_download

    if settings.offline:
        return _cached(name, revision, settings)

    def fetch_them() -> str:
        return snapshot_download(
            name,
            revision=revision or None,
            allow_patterns=list(TEXTS),
            ignore_patterns=["*/*"],
            etag_timeout=HUB_SECONDS,
            token=_token(),
        )

    try:
        return Path(_ask_in_time(name, revision, fetch_them, fetch.PATIENCE.whole))
    except _HubUnreachable as silence:
        return _cached(name, revision, settings, why=silence)


# Local folders


def local_folder(name: str) -> Path:
    """The path of a local model, whose files are there to be read; ModelError where they are not."""
    try:
        path = path_of(name).resolve()
    except (OSError, ValueError) as error:  # no name that the system takes
        raise ModelError(f"{name!r} is no name of a folder ({error}). Give the path of a folder.") from error
    _require_shared(path)
    require_regular_files(path)
    if (path / ADAPTER).is_file() and not (path / ADAPTER_WEIGHTS).exists():
        raise ModelError(
            f"{path} lacks {ADAPTER_WEIGHTS}, which holds what the adapter changes. Copy it there, or give a model "
            "that it was merged into."
        )
    if gguf_file(path) or (path / ADAPTER).is_file():
        return path
    if not os.path.isdir(path):
        raise ModelError(
            f"There is no folder {path}. Give the path of a folder with config.json and safetensors files."
        )
    if not (path / "config.json").is_file():
        raise ModelError(f"{path} has no config.json, so it is no model folder in the Hugging Face layout.")
    require_weights(path)
    return path


def _as_safetensors(path: Path, digest: str, settings: Settings, progress: Steps | None) -> Path:
    """The folder with the model in safetensors, made where it comes in another form."""

    def base(name: str) -> Path:
        folder = locate(name, settings, progress=progress).path
        count_parameters(folder)  # refuses files that were cut short
        return folder

    if gguf_file(path) is None and (texts := tokenizer_folder(path)) is not None and (texts != path or bin_files(path)):
        # A copy of a folder with another template has the same weights, and is another model to chat with.
        digest = hashlib.sha256(f"{digest} beside {_hash_remembered(texts, copied_files_hash)}".encode()).hexdigest()[
            :32
        ]
    return hf_weights.as_safetensors(path, digest, settings, progress, base)


def tokenizer_folder(path: Path) -> Path | None:
    """The local folder whose tokenizer and template are read: of an adapter its base, none where that is no folder."""
    if not (path / ADAPTER).is_file():
        return path
    base = base_of(path)
    return path_of(base).resolve() if is_folder(base) and catalog.find(base) is None else None


def base_of(path: Path) -> str:
    """The model that an adapter names as its base; ModelError where that is an adapter, too."""
    base = hf_weights.adapter_config(path).base
    if is_folder(base) and os.path.isfile(path_of(base) / ADAPTER):
        raise ModelError(f"{path} is an adapter on {base}, which is an adapter, too. {hf_weights.ADVICE_MERGE}")
    return base


def local_hashes(path: Path, settings: Settings) -> tuple[str, str]:
    """What stands for a local model in a run's id, and what stood for it when that left its tokenizer out."""
    digest = folder_hash(path, settings)
    if (path / ADAPTER).is_file():
        base = base_of(path)
        now, before = (
            local_hashes(local_folder(base), settings)
            if is_folder(base) and catalog.find(base) is None
            else (identity(base, settings)["weights"],) * 2
        )
        return _joined_hash(digest, "on", now), _joined_hash(digest, "on", before)
    if gguf_file(path):  # holds its tokenizer
        return digest, digest
    return _joined_hash(digest, "read by", _hash_remembered(path, tokenizer_files_hash)), digest


def _joined_hash(first: str, how: str, second: str) -> str:
    return f"sha256:{hashlib.sha256(f'{first} {how} {second}'.encode()).hexdigest()[:32]}"


def _hash_remembered(path: Path, hash_files: Callable[[Path], str]) -> str:
    """A hash of files beside the weights, in memory for as long as no file of the folder changes."""
    try:
        entries = [(entry.name, entry.stat()) for entry in os.scandir(path)] if path.is_dir() else []
        stamp = sorted((name, stat.st_size, stat.st_mtime_ns, stat.st_ino) for name, stat in entries)
        key = (str(path), f"{hash_files.__name__} {stamp}")
        if key not in _HASHES:
            _HASHES[key] = hash_files(path)
        return _HASHES[key]
    except OSError as error:
        raise ModelError(UNREADABLE.format(path=path, error=error)) from error


def weights_format(path: Path) -> str:
    """In which form a model's weights come that are no safetensors by themselves; "" where they are."""
    if (path / ADAPTER).is_file():
        return f"LoRA adapter on {hf_weights.adapter_config(path).base}"
    return "GGUF" if gguf_file(path) else "PyTorch .bin" if bin_files(path) else ""


_HASHES: dict[tuple[str, str], str] = {}  # of folders that were hashed in this process, as their files stood then
_HASHING = threading.Lock()  # who asks for what another thread hashes waits for it


def folder_hash(path: Path, settings: Settings) -> str:
    """SHA-256 over configuration and weights; made anew when a file's size, time of change or inode differs.

    It is kept in the cache for other processes, and in memory, since a run asks for it when it is named and again when
    its model is loaded, perhaps with a cache that cannot be written.
    """
    # Hashing 14 GB takes seconds, so a hash is kept with a stamp of the files it was made from. A file that was
    # replaced by one of the same size and time still has another inode, and is hashed again.
    files = model_files(path)
    try:
        found_files = [(file.name, file.stat()) for file in files]
        stamp = [[name, stat.st_size, stat.st_mtime_ns, stat.st_ino] for name, stat in found_files]
        key = (str(path), json.dumps(stamp))
        if key in _HASHES:
            return _HASHES[key]
        record = settings.models / ".hashes" / f"{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}.json"
        if (known := _stored_hash(record, stamp)) is not None:
            _HASHES[key] = known
            return known
        with _HASHING:
            digest = _HASHES[key] = _HASHES.get(key) or weights_hash(path)
        with contextlib.suppress(OSError):  # in a cache that cannot be written it is made anew each time
            record.parent.mkdir(parents=True, exist_ok=True)
            part = sharing.beside(record)
            part.write_text(json.dumps({"path": str(path), "stamp": stamp, "hash": digest}), "utf-8")
            os.replace(part, record)
    except OSError as error:
        raise ModelError(UNREADABLE.format(path=path, error=error)) from error
    return digest


def _stored_hash(record: Path, stamp: list[list[Any]]) -> str | None:
    """The hash kept for files of these sizes and times, or none, also where the memory is damaged."""
    try:
        memory = json.loads(record.read_text("utf-8"))
        return str(memory["hash"]) if memory["stamp"] == stamp else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _embedded_hash(known: KnownModel) -> str:
    # The file the weights were converted from: the same on every machine, and the conversion is checked.
    assert known.embedded is not None
    return f"sha256:{known.embedded.sha256[:32]}"


def _glassbox_folder(known: KnownModel, revision: str, settings: Settings) -> Path:
    """The folder of a model of our own: trained here, or, for the last step of one that comes along, the explorer's."""
    trained = settings.models / (f"{known.id}@{revision}" if revision else known.id)
    if (trained / "config.json").is_file():
        return trained
    if known.folder and not revision:
        path = ROOT / "explorer" / known.folder
        if folder_hash(path, settings) != known.weights:
            raise ModelError(f"The files in {path} are not those that came along (another SHA-256). Get them with git.")
        return path
    step = f" after {revision}" if revision else ""
    raise ModelError(f"{known.title}{step} is not on this machine. Train it: `{known.trained_by}`.")


# The hub


def _from_hub(
    name: str,
    revision: str,
    settings: Settings,
    progress: Steps | None,
    check: Callable[[int], None] | None,
    known: KnownModel | None,
) -> Source:

    def source(path: Path) -> Source:
        # What a repository says of an adapter does not count here: the base that it names could be any folder of ours.
        require_regular_files(path)
        require_weights(path)
        ready = hf_weights.as_safetensors(path, path.name, settings, progress)
        form = "" if weight_files(path) else "PyTorch .bin"
        return Source(name, ready, path.name, path.name, known, form)

    if settings.offline:
        return source(_cached(name, revision, settings))
    try:
        offer = _offer(name, revision)
    except _HubUnreachable as silence:
        return source(_cached(name, revision, settings, why=silence))
    if ADAPTER in offer.files and not offer.download_patterns:
        raise ModelError(
            f"{name} is an adapter, which changes another model. Download it into a folder (`hf download {name} "
            "--local-dir FOLDER`), and give the folder as the model."
        )
    if not offer.download_patterns:
        raise ModelError(_no_safetensors(name, list(offer.files)))
    if check and (parameters := offer.parameters or (known.parameters if known else None)):
        check(parameters)
    return source(_download(name, revision, offer, progress))


class _HubUnreachable(Exception):
    """The hub could not be reached, with the reason, and what to do where the model is not on this machine either."""

    def __init__(self, why: str, advice: str = OFFLINE_ADVICE) -> None:
        super().__init__(why)
        self.advice = advice


def _offer(name: str, revision: str) -> Offer:
    from huggingface_hub import HfApi

    info = _ask_in_time(
        name,
        revision,
        lambda: HfApi().model_info(
            name, revision=revision or None, timeout=HUB_SECONDS, files_metadata=True, token=_token()
        ),
    )
    files = {entry.rfilename: entry.size or 0 for entry in info.siblings or []}
    safe = any(file.endswith(".safetensors") and "/" not in file for file in files)
    weight_suffixes = (".safetensors" if safe else ".bin", ".json")
    sizes = {file: size for file, size in files.items() if "/" not in file and file.endswith(weight_suffixes)}
    total = getattr(info.safetensors, "total", None) if info.safetensors else None
    card = getattr(info, "card_data", None)
    licensed = str(getattr(card, "license", "") or "") if card else ""
    return Offer(str(info.sha), tuple(files), sum(sizes.values()), total, dict(info.config or {}), licensed)


def ask_hub(name: str, settings: Settings) -> Offer:
    """What the hub says of a model (`id@revision` too); ModelError where it says nothing or the network is off."""
    name, revision = split_revision(name)
    if settings.offline:
        raise ModelError(
            f"Nothing was asked of the Hugging Face hub: the explorer is set to stay offline. {OFFLINE_ADVICE}"
        )
    try:
        return _offer(name, revision)
    except _HubUnreachable as silence:
        raise ModelError(f"{name} could not be looked up: {silence}. {silence.advice}") from silence


def _commit(name: str, revision: str, settings: Settings) -> str:
    try:
        return _offer(name, revision).commit
    except _HubUnreachable as silence:
        return _cached(name, revision, settings, why=silence).name


def _ask_in_time(name: str, revision: str, question: Callable[[], T], within: float | None = None) -> T:
    """The hub's answer, with its refusals as messages; `_HubUnreachable` where none comes `within` so many seconds."""
    from huggingface_hub import errors

    # A client's own time-outs count each stage apart and leave out the name service.
    try:
        return stopping.call(question, lambda: HUB_SECONDS if within is None else within)
    except errors.GatedRepoError as error:
        raise ModelError(_gated_message(name)) from error
    except errors.RevisionNotFoundError as error:
        raise ModelError(f"{name} has no revision {revision!r}. Look at its branches and tags on the hub.") from error
    except (errors.RepositoryNotFoundError, errors.HFValidationError) as error:
        raise ModelError(
            f"There is no model {name!r} on the Hugging Face hub that you may see, and no folder of that name. "
            f"Check the spelling; for a private model {_LOG_IN}."
        ) from error
    except errors.HfHubHTTPError as error:
        status = getattr(error.response, "status_code", "no status")
        if status in (401, 403):
            raise _token_refused(int(status)) from error
        raise _HubUnreachable(f"the hub answered with {status}") from error
    except (TimeoutError, OSError) as error:
        raise _HubUnreachable(
            f"the Hugging Face hub did not answer ({type(error.__cause__ or error).__name__})"
        ) from error
    except Exception as error:
        # The hub's HTTP client has errors of its own, which are no OSErrors.
        if type(error).__module__.partition(".")[0].startswith("httpx"):
            raise _HubUnreachable(f"the Hugging Face hub did not answer ({type(error).__name__})") from error
        raise


# What the hub says of a token is not passed on: it may spell out parts of it.
_LOG_IN = "set HF_TOKEN to a token of an account that may read it, or log in with `hf auth login`"
_TOKENS = "https://huggingface.co/settings/tokens"


def _token() -> Literal[False] | None:
    """False where no token may go, to a hub on another machine over plain http; else the hub's client sends its own."""
    from huggingface_hub import constants

    hub = split_address(constants.ENDPOINT)
    return None if hub.scheme == "https" or is_loopback(hub.hostname or "") else False


def _token_origin() -> str:
    """Where the token comes from that goes to the hub, "" where none does."""
    from huggingface_hub import get_token

    if _token() is False or not get_token():
        return ""
    return "HF_TOKEN" if os.environ.get("HF_TOKEN", "").strip() else "`hf auth login`"


def _gated_message(name: str) -> str:
    page = f"https://huggingface.co/{name}"
    if whose := _token_origin():
        return (
            f"{name} is gated, and the account of the token from {whose} has not been let in. Accept its license at "
            f"{page} with that account (some owners answer by hand), see that the token may read gated models, and try "
            "again."
        )
    return f"{name} is gated: its owner wants you to accept a license. Do so at {page}, then {_LOG_IN}, and try again."


def _token_refused(status: int) -> _HubUnreachable:
    """A hub that will not have the token, or wants one."""
    whose = _token_origin()
    if not whose:
        return _HubUnreachable(f"the hub wants a token (status {status})", f"To be let in, {_LOG_IN}.")
    if status == 401:
        advice = f"Make a new one at {_TOKENS}, or take it away: public models need none."
        return _HubUnreachable(f"the hub refused the token from {whose} (status 401)", advice)
    advice = f"Give it the right to read this model, or gated ones, at {_TOKENS}, and try again."
    return _HubUnreachable(f"the token from {whose} may not read it (status 403)", advice)


def _cached(
    name: str,
    revision: str,
    settings: Settings,
    why: str | _HubUnreachable = "the explorer is set to stay offline",
) -> Path:
    """The snapshot of a hub model that is already on this machine."""
    from huggingface_hub import errors, snapshot_download

    advice = why.advice if isinstance(why, _HubUnreachable) else OFFLINE_ADVICE
    missing = ModelError(f"{name} is not on this machine and cannot be fetched: {why}. {advice}")
    # Asked twice, since the hub's cache does not say which files were wanted when the snapshot was made.
    # A snapshot is complete where it has all that was asked for: pickled weights are, where there are no safetensors.
    for patterns in (DOWNLOADED, (*DOWNLOADED, PICKLED)):
        try:
            path = Path(
                snapshot_download(
                    name,
                    revision=revision or None,
                    allow_patterns=list(patterns),
                    ignore_patterns=list(NOT_DOWNLOADED),
                    local_files_only=True,
                )
            )
        except errors.HFValidationError as error:
            raise ModelError(f"{name!r} is neither a folder nor a Hugging Face id (owner/name).") from error
        except (errors.LocalEntryNotFoundError, OSError) as error:
            raise missing from error
        files = weight_files(path) or bin_files(path)
        if (path / "config.json").is_file() and files and all(file.exists() for file in files):
            return path
    raise missing


def _download(name: str, revision: str, offer: Offer, progress: Steps | None) -> Path:
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.utils import tqdm

    cache = Path(constants.HF_HUB_CACHE)
    cache.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(cache).free
    present = cache / f"models--{name.replace('/', '--')}" / "snapshots" / offer.commit
    if free < offer.bytes and not present.is_dir():
        raise ModelError(
            f"{name} takes {offer.bytes / 1e9:.1f} GB and {cache} has {free / 1e9:.1f} GB free. "
            "Free some space, or set HF_HOME to another disk."
        )

    # A list of one number, since the progress bars run in threads of the hub's client. A download that gets bytes may
    # take as long as it needs; one that gets none for a while is given up.
    received = [0]
    abandoned = threading.Event()

    class Bar(tqdm):  # type: ignore[type-arg, misc]
        """Passes the hub's byte counts on, and ends its threads when nobody waits for the download any more."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **{**kwargs, "disable": True})
            self.in_bytes = kwargs.get("unit") == "B"
            self.seen = 0

        def update(self, n: float | None = 1) -> None:
            if abandoned.is_set():
                raise stopping.Stopped
            self.seen += int(n or 0)
            received[0] += int(n or 0) if self.in_bytes else 0
            if progress and self.in_bytes and offer.bytes:
                share = min(1.0, self.seen / offer.bytes)
                progress(f"Downloading {name} ({offer.bytes / 1e9:.1f} GB)", 0.9 * share)

    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        path = stopping.call(
            lambda: snapshot_download(
                name,
                # As it was asked for, not by its commit: the hub's cache then knows it by that name without a network.
                revision=revision or None,
                allow_patterns=list(offer.download_patterns),
                ignore_patterns=list(NOT_DOWNLOADED),
                etag_timeout=HUB_SECONDS,
                tqdm_class=Bar,
                token=_token(),
            ),
            lambda: fetch.PATIENCE.whole + received[0] / fetch.SLOWEST,
        )
    except Exception as error:
        return _interrupted(name, revision, error)
    finally:
        abandoned.set()
    return Path(path)


def _interrupted(name: str, revision: str, error: Exception) -> Path:
    def again() -> Path:
        raise error

    try:
        return _ask_in_time(name, revision, again)
    except _HubUnreachable as silence:
        raise ModelError(
            f"The download of {name} broke off: {silence}. "
            + ("Start it again; it goes on where it was." if silence.advice == OFFLINE_ADVICE else silence.advice)
        ) from error


def require_weights(path: Path) -> None:
    """ModelError where a folder has no weights that can be read, or not all files of them."""
    if not weight_files(path) and not bin_files(path):
        raise ModelError(_no_safetensors(str(path), [file.name for file in path.iterdir()]))
    require_parts(path)


def _no_safetensors(name: str, files: list[str]) -> str:
    pickled = [file for file in files if file.endswith((".bin", ".pt", ".pth", ".ckpt"))]
    gguf = [file for file in files if file.endswith(".gguf")]
    instead = (
        f"only {pickled[0]}, a format that can run code" if pickled else f"only {gguf[0]}" if gguf else "no weights"
    )
    return f"{name} has {instead}; safetensors files are needed. Look for a revision or a copy that has them."
