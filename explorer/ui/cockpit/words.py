"""The words of an instance that can be swapped: what is asked of WordNet, the tagger, the encoders and the counters,
remembered for all visitors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from explorer.errors import ExplorerError, ModelError
from explorer.records import Instance
from explorer.rows.builders import instance_of, payload
from explorer.settings import Settings
from explorer.similarity import bertscore, rouge
from explorer.similarity.measured import Similarity
from explorer.ui import resources
from explorer.ui.instance import ngram_rating
from explorer.variants import by_hand, fields, language
from explorer.variants.perturb import PerturbedInstance, Tools
from explorer.variants.swappable import WordView
from explorer.variants.words import Reading

SLOW = "Loading WordNet, the tagger and the sentence encoder; the first time, WordNet is fetched and unpacked"
MOST_READ = 20_000  # characters; telling senses apart takes longer than a page may


@dataclass(frozen=True, slots=True)
class Span:
    """A word of a field of the shown instance: `start` to `end`, its key ("arrest.v"), what it was before a swap."""

    part: str
    start: int
    end: int
    key: str
    was: str


@dataclass(frozen=True, slots=True)
class Words:
    """An instance read, its words that can be swapped by key, and the method that told their senses apart."""

    reading: Reading
    offered: Mapping[str, WordView]
    method: str

    def swapped(self, swaps: Mapping[str, str]) -> PerturbedInstance:
        """The instance with these words swapped and no others; keys of words that it does not have are left out."""
        keys = {by_hand.key_of(word.lemma, word.pos) for word in self.reading.words}
        return by_hand.swap_words(self.reading, {key: value for key, value in swaps.items() if key in keys})

    def spans(self, perturbed: PerturbedInstance) -> list[Span]:
        """Where every word that can be swapped, or was, now stands."""
        word_spans = []
        for running, words in by_hand.shown_words(self.reading, perturbed):
            for word in words:
                place = fields.locate(running, word.start, word.end)
                if place and (word.key in self.offered or word.swap):
                    word_spans.append(Span(*place, word.key, word.swap.original if word.swap else ""))
        return word_spans


def tools() -> Tools:
    """WordNet, the tagger and the default way to tell senses apart."""
    return _tools(resources.settings())


def has_wordnet() -> bool:
    """Whether WordNet is on this machine already, where it need not be fetched."""
    from explorer.variants import wordnet

    return wordnet.find_wordnet(resources.settings()) is not None


def refused(instance: Instance) -> str:
    """Why no word of an instance can be swapped because of its language, "" where one could be.

    What was declared is known at once. A guess from the words themselves takes the dictionary, whose package brings
    spaCy and PyTorch: without WordNet nothing can be swapped anyway, so then nothing is guessed.
    """
    return language.why_refused(instance) if instance.language or has_wordnet() else ""


def why_unread(instance: Instance) -> str:
    """Why no page looks for the words of an instance that could be swapped, "" where one does."""
    size = sum(map(len, fields.field_texts(instance).values()))
    too_long = f"Words to swap are shown for texts of up to {MOST_READ:,} characters, and these have {size:,}."
    return refused(instance) or (too_long if size > MOST_READ else "")


def wordnet_is_known() -> bool:
    """Whether the WordNet here has the bytes that shipped runs were made with; other copies may offer other words."""
    return _wordnet_is_known(resources.settings())


@st.cache_data(max_entries=1, show_spinner=False)
def _wordnet_is_known(settings: Settings) -> bool:
    from explorer.variants import wordnet, wordnet_files

    folder = wordnet.find_wordnet(settings)
    return folder is None or wordnet_files.data_in(folder) is not None


@st.cache_resource(max_entries=1, show_spinner=SLOW)
def _tools(settings: Settings) -> Tools:
    from explorer.variants.tools import WITHOUT_ENCODER, build_tools

    try:
        return build_tools(resources.resources())
    except ModelError:
        return build_tools(resources.resources(), WITHOUT_ENCODER)


def read(instance: Instance, veto: Sequence[str]) -> tuple[Reading, dict[str, WordView]]:
    """The instance read, and its words that can be swapped."""
    return _read(payload(instance), tuple(veto), resources.settings())


@st.cache_resource(max_entries=64, show_spinner=False)
def _read(text: str, veto: tuple[str, ...], settings: Settings) -> tuple[Reading, dict[str, WordView]]:
    kit = _tools(settings)
    reading = by_hand.read_instance(instance_of(text), kit, veto)
    return reading, by_hand.words_of(reading, kit)


def counts(forms: Sequence[str], index: str) -> dict[str, float]:
    """How often each word occurs in running text of the index; empty where the index cannot be asked."""
    question = (tuple(forms), index, resources.settings())
    try:
        return ngram_rating.patiently(index, lambda: _counts(*question))
    except (ExplorerError, OSError):
        return {}


@st.cache_data(max_entries=256, show_spinner="Counting the synonyms")
def _counts(forms: tuple[str, ...], index: str, settings: Settings) -> dict[str, float]:
    from explorer.popularity.ngrams import require_answers

    counter = resources.resources().counter(index)
    ids = counter.encode(forms)
    counted = dict(zip(ids, counter.count(ids), strict=True))
    require_answers(counted)  # an outage is not remembered
    return {form: counted[gram_id].count for form, gram_id in zip(forms, ids, strict=True)}


def bertscore_of(before: str, after: str) -> tuple[Similarity, str]:
    """BERTScore F1 of two texts, and the name of the encoder with its layer."""
    return _bertscore(before, after, resources.settings())


@st.cache_data(max_entries=512, show_spinner="Measuring how alike the texts are")
def _bertscore(before: str, after: str, settings: Settings) -> tuple[Similarity, str]:
    scorer = resources.resources().bertscore(bertscore.MINILM)
    return scorer.f1([before], [after])[0], scorer.name


def rouge_of(before: str, after: str) -> Similarity:
    """ROUGE-L F1 of two texts."""
    return rouge.rouge_l([before], [after])[0]


def same_text(first: Instance, second: Instance) -> bool:
    """Whether two versions of an instance have the same texts."""
    return fields.field_texts(first) == fields.field_texts(second)


def read_words(instance: Instance, veto: Sequence[str]) -> Words:
    """The instance read, with the words that can be swapped and how their senses were told apart."""
    reading, offered = read(instance, veto)
    return Words(reading, offered, tools().senses.name)
