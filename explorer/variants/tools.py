"""The tools of perturbation put together from what `resources` hands out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from explorer.errors import UsageError
from explorer.scoring.model import Encoder, Generator, Scorer
from explorer.settings import Settings
from explorer.variants.gloss_store import VectorStore
from explorer.variants.lexicon import Lexicon
from explorer.variants.perturb import Tools
from explorer.variants.senses import METHODS, SenseScorer
from explorer.variants.senses_blend import BlendSense
from explorer.variants.senses_chat import ChatSense
from explorer.variants.senses_first import FirstSense
from explorer.variants.senses_gloss import GlossSense
from explorer.variants.senses_lesk import Lesk
from explorer.variants.senses_lm import ChoiceSense, PmiSense
from explorer.variants.tagging import Tagger

DEFAULT = "blend"
WITHOUT_ENCODER = "lesk"  # for a live view where the sentence encoder is not to be had
NEEDS_MODEL = ("lm", "lm-choice", "chat")


class Resources(Protocol):
    """The part of `explorer.resources.Resources` that is asked here."""

    settings: Settings

    def lexicon(self) -> Lexicon: ...
    def tagger(self) -> Tagger: ...
    def encoder(self, name: str = ...) -> Encoder: ...
    def scorer(self, name: str) -> Scorer: ...
    def generator(self, name: str) -> Generator: ...


def build_tools(resources: Resources, senses: str = DEFAULT, model: str = "") -> Tools:
    """WordNet, the tagger and the sense method of this name; `model` names the language model that some of them ask."""
    if senses not in METHODS:
        raise UsageError(f"There is no sense method {senses!r}; there are {', '.join(METHODS)}.")
    if senses in NEEDS_MODEL and not model:
        raise UsageError(f"The sense method {senses!r} asks a language model: name one with --model.")
    return Tools(resources.lexicon(), resources.tagger(), _make_scorer(resources, senses, model))


def _make_scorer(resources: Resources, senses: str, model: str) -> SenseScorer:
    def gloss() -> SenseScorer:
        encoder = resources.encoder()
        return GlossSense(encoder, VectorStore(encoder, resources.settings.cache / "glosses"))

    makers: dict[str, Callable[[], Any]] = {
        "blend": lambda: BlendSense(gloss(), Lesk(resources.lexicon())),
        "gloss": gloss,
        "first": FirstSense,
        "lesk": lambda: Lesk(resources.lexicon()),
        "lm": lambda: PmiSense(resources.scorer(model)),
        "lm-choice": lambda: ChoiceSense(resources.scorer(model)),
        "chat": lambda: ChatSense(resources.generator(model)),
    }
    return makers[senses]()
