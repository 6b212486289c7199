"""What a part of a run was made with: packages, platform, and the model as it was loaded."""

from __future__ import annotations

import functools
import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Any

from explorer import __version__
from explorer.errors import RunError
from explorer.records import RunSpec
from explorer.runs import named_models
from explorer.studies import chat

if TYPE_CHECKING:
    from explorer.resources import Resources

PACKAGES = (
    "torch",
    "transformers",
    "tokenizers",
    "numpy",
    "duckdb",
    "nltk",
    "spacy",
    "infini-gram",
    "scipy",
    "scikit-learn",
    "statsmodels",
    "glmm",
)


def collect(spec: RunSpec, resources: Resources, *, needs_model: bool) -> dict[str, Any]:
    """The environment of this process, its model loaded; RunError where that is not the model the run asks for."""
    model = resources.model_record(spec.model, spec.dtype) if needs_model else {}
    loaded = str(model.get("weights") or "")
    if spec.weights and loaded and loaded != spec.weights and not _matches_older_hash(spec, resources):
        raise RunError(
            f"The weights of {spec.model} are {loaded} here, the run was asked of {spec.weights}. "
            "Start it again as a new run, or bring back the weights it was asked of."
        )
    named_models.require_same(spec, resources.settings)
    template_text = spec.settings.get(chat.TEMPLATE)
    if (template_text or chat.is_chat(spec.settings)) and needs_model and not _is_endpoint(spec.model):
        from explorer.scoring import chat_files, hf_chat

        text = hf_chat.template_of(resources.reader(spec.model, spec.dtype))
        model["chat_template"] = chat_files.template_hash(text)
        if template_text and template_text != model["chat_template"]:
            raise RunError(
                f"The chat template of {spec.model} is not the one that the run was asked of. Start it again as a new "
                "run, or bring back the template."
            )
    return {
        "lexiscope": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {package: _version(package) for package in PACKAGES},
        "model": model,
    }


@functools.cache  # else a tenth of the time of a small run, for each of a sweep
def _version(package: str) -> str:
    """The version of a package as it was when this process first asked, which is the one that it runs.

    "absent" is stored, too: a result that was made without a package differs from one whose package nobody noted.
    """
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"


def _matches_older_hash(spec: RunSpec, resources: Resources) -> bool:
    """Whether a run was asked of the same weights when what stands for a folder's left its tokenizer out."""
    from explorer.scoring import hf_source

    if not hf_source.is_folder(spec.model):
        return False
    return spec.weights == hf_source.local_hashes(hf_source.local_folder(spec.model), resources.settings)[1]


def _is_endpoint(model: str) -> bool:
    from explorer.scoring import http  # with numpy, which a list of runs does without

    return http.is_endpoint(model)


def stamp(environment: Mapping[str, Any]) -> str:
    """Twelve hex digits that stand for an environment."""
    return hashlib.sha256(json.dumps(environment, sort_keys=True, default=str).encode()).hexdigest()[:12]


def differences(environments: Sequence[Mapping[str, Any]]) -> list[str]:
    """What differs between environments, a line each: `packages.torch: 2.13.0 or 2.12.0`."""
    flat = [_flat(environment) for environment in environments]
    lines = []
    for name in sorted({name for packages in flat for name in packages}):
        values = list(dict.fromkeys(packages.get(name, "absent") for packages in flat))
        if len(values) > 1:
            lines.append(f"{name}: {' or '.join(values)}")
    return lines


def _flat(value: Mapping[str, Any], before: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for name, item in value.items():
        if isinstance(item, Mapping):
            flat.update(_flat(item, f"{before}{name}."))
        else:
            flat[f"{before}{name}"] = str(item)
    return flat
