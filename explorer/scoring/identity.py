"""Which model exactly a name means, found out without loading it: part of every run's id."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

from explorer.errors import ModelError
from explorer.scoring import catalog
from explorer.settings import Settings

HUB_ID = re.compile(r"[\w.-]+/[\w.-]+(@[\w./-]+)?")
PATIENCE = 5.0  # seconds; a hub that does not answer is given up after them


@dataclass(frozen=True, slots=True)
class Identity:
    """A model's name as runs store it, its resolved revision, and what stands for its weights."""

    name: str
    revision: str = ""
    weights: str = ""


NOBODY = Identity("")


def identify(name: str, settings: Settings) -> Identity:
    """The identity of an embedded model, a local folder or a Hugging Face id (`id@revision`)."""
    known = catalog.find(name)
    if known is not None and known.embedded is not None:
        return Identity(known.id, weights=f"gguf-{known.embedded.sha256[:16]}")
    folder = Path(name).expanduser()
    if folder.is_dir():
        return Identity(str(folder.resolve()), weights=folder_hash(folder, settings))
    if not HUB_ID.fullmatch(name):
        known_names = ", ".join(model.id for model in catalog.EMBEDDED_MODELS)
        raise ModelError(
            f"{name!r} is neither an embedded model ({known_names}), nor a folder, nor a Hugging Face id like "
            "EleutherAI/pythia-160m. Check the spelling."
        )
    hub_id, _, revision = name.partition("@")
    commit = _cached_commit(hub_id, revision or "main") or _asked_commit(hub_id, revision or "main", settings)
    return Identity(name, revision=commit, weights=commit)


def folder_hash(folder: Path, settings: Settings) -> str:
    """The first 16 hex digits of the SHA-256 over a folder's weights, tokenizer and configuration files.

    Hashing gigabytes takes a while, so the digest is kept beside names, sizes and times of the files.
    """
    files = sorted(path for pattern in ("*.safetensors", "*.json", "*.model", "*.txt") for path in folder.glob(pattern))
    if not any(path.suffix == ".safetensors" for path in files):
        raise ModelError(
            f"{folder} holds no *.safetensors file, expected a model saved by save_pretrained. Convert it first."
        )
    stamps = [[str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns] for path in files]
    key = hashlib.sha256(json.dumps(stamps).encode()).hexdigest()
    kept = settings.models / "hashes" / key
    if kept.exists():
        return kept.read_text(encoding="utf-8")
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(digest.hexdigest()[:16], encoding="utf-8")
    return digest.hexdigest()[:16]


def _cached_commit(hub_id: str, revision: str) -> str:
    from huggingface_hub import constants, try_to_load_from_cache

    if re.fullmatch(r"[0-9a-f]{40}", revision):
        return revision
    found = try_to_load_from_cache(hub_id, "config.json", revision=revision)
    if not isinstance(found, str):
        return ""
    relative = Path(found).relative_to(Path(constants.HF_HUB_CACHE))
    return relative.parts[2]  # models--org--name/snapshots/<commit>/config.json


def _asked_commit(hub_id: str, revision: str, settings: Settings) -> str:
    if settings.offline:
        raise ModelError(
            f"{hub_id} is not on this machine and the explorer is set to stay offline. Choose a local folder."
        )
    from huggingface_hub import HfApi
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError, RevisionNotFoundError

    try:
        return str(HfApi().model_info(hub_id, revision=revision, timeout=PATIENCE).sha)
    except GatedRepoError as error:
        raise ModelError(f"{hub_id} is gated: accept its terms on its page and log in with `hf auth login`.") from error
    except RevisionNotFoundError as error:
        raise ModelError(f"{hub_id} has no revision {revision!r}; its page lists the branches.") from error
    except RepositoryNotFoundError as error:
        raise ModelError(f"The hub knows no model {hub_id}. Check the spelling.") from error
    except (HfHubHTTPError, OSError) as error:
        raise ModelError(
            f"The hub did not answer about {hub_id} ({type(error).__name__}). Connect and try again, "
            "or give a folder that holds the model."
        ) from error
    except Exception as error:
        raise ModelError(f"The hub could not be asked about {hub_id} ({type(error).__name__}: {error}).") from error
