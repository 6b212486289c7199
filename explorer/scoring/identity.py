"""Which model exactly a name means, found out without loading it: part of every run's id."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from explorer.errors import ModelError
from explorer.scoring import catalog, hf_kind, hf_source, http
from explorer.settings import Settings, path_of

HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?(@[\w./-]+)?")  # the oldest models have no owner: gpt2


@dataclass(frozen=True, slots=True)
class Identity:
    """A model's name as runs store it, its resolved revision, and what stands for its weights."""

    name: str
    revision: str = ""
    weights: str = ""


NOBODY = Identity("")
Kind = Literal["causal", "masked", "encoder_decoder"]


def identify(name: str, settings: Settings, kind: Kind = "causal") -> Identity:
    """The identity of an embedded model, a local folder, a Hugging Face id (`id@revision`) or an endpoint.

    ModelError where the model is known to be of another kind than `kind`. What stands behind an endpoint's name can
    change unseen; the run's environment stores what the server answered about it.
    """
    if http.is_endpoint(name):
        if kind == "masked":
            raise hf_kind.not_masked_error(name)
        if kind == "encoder_decoder":
            raise hf_kind.not_encoder_decoder_error(name)
        return Identity(http.from_name(name, settings).name)
    embedded = ", ".join(model.id for model in catalog.EMBEDDED_MODELS)
    if catalog.find(name) is None and not hf_source.is_folder(name) and not HUB_ID.fullmatch(name):
        raise ModelError(
            f"{name!r} is neither an embedded model ({embedded}), nor a folder, nor a Hugging Face id like "
            "EleutherAI/pythia-160m, nor an endpoint like http://localhost:8000/v1#model. Check the spelling."
        )
    _REQUIRE[kind](name)
    try:
        known = hf_source.identity(name, settings)
    except ModelError as error:
        # So may a misspelled embedded model look.
        hint = "" if "/" in name else f" The embedded models are {embedded}."
        raise ModelError(f"{error}{hint}") from error
    _, revision = hf_source.split_revision(name)
    full_name = f"{known['model']}@{revision}" if revision else known["model"]
    return Identity(full_name, known["revision"], known["weights"])


def _require_masked(name: str) -> None:
    """ModelError for a model that is known to be no masked one before anything is loaded."""
    known = catalog.find(name)
    of_folder = hf_source.is_folder(name) and (path_of(name) / "config.json").is_file()
    if (known and known.kind != "masked") or (of_folder and not hf_kind.is_masked_folder(path_of(name))):
        raise hf_kind.not_masked_error(name)


def _require_encoder_decoder(name: str) -> None:
    """ModelError for a model that is known to have no encoder beside a decoder before anything is loaded."""
    of_folder = hf_source.is_folder(name) and (path_of(name) / "config.json").is_file()
    if catalog.find(name) or (of_folder and not hf_kind.is_encoder_decoder_folder(path_of(name))):
        raise hf_kind.not_encoder_decoder_error(name)


def _require_causal(name: str) -> None:
    """ModelError for a model that is known not to be causal before anything is loaded."""
    known = catalog.find(name)
    if known and known.kind == "masked":
        hf_kind.require_causal(known.id, {"model_type": "roberta"})
    if hf_source.is_folder(name):
        hf_kind.require_causal_folder(name, path_of(name))


_REQUIRE: Mapping[Kind, Callable[[str], None]] = {
    "causal": _require_causal,
    "masked": _require_masked,
    "encoder_decoder": _require_encoder_decoder,
}
