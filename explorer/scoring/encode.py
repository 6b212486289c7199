"""Texts to token ids, context and continuation together, split where the original string says.

A token belongs to the continuation if it ends beyond the split, and straddles if it also starts before it.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from explorer.errors import ScoringError
from explorer.scoring import spliced_texts
from explorer.scoring.model import Encoding
from explorer.scoring.policy import Bos, Split

Pair = tuple[str, str]
BATCH = 8192
REPLACEMENT_CHARACTER = "\ufffd"  # what decoders write for bytes that are no whole character


def _letters_of_bytes() -> dict[str, int]:
    """The letters by which byte-level tokenizers name bytes: themselves where printable, else from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + i): byte for i, byte in enumerate(others)}


BYTE_OF_LETTER = _letters_of_bytes()


def why_unencodable(text: str) -> str:
    """Why no tokenizer can encode a text, or ""."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"the text has an unpaired surrogate (U+{ord(text[error.start]):04X}) at character {error.start}"
    return ""


def fast_tokenizer(tokenizer: Any) -> Any:
    """The part of transformers' tokenizer that tells where each token starts and ends."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise ScoringError(
            f"The tokenizer {type(tokenizer).__name__} has no fast version (tokenizer.json), "
            "which is needed to know where each token starts and ends. Convert it with transformers first."
        )
    return backend


@dataclass(frozen=True, slots=True)
class TokenizerFacts:
    """All that is asked of a tokenizer, for a process that does not load transformers for it."""

    description: str  # its fast part as JSON
    letter: tuple[int, ...]  # "a" as ids, with what it puts before and behind
    bos: int | None
    eos: int | None
    chat_template: Any = None
    special_tokens_map: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, tokenizer: Any) -> TokenizerFacts:
        """What a tokenizer of transformers is."""
        description = fast_tokenizer(tokenizer).to_str()  # first: a call may set how it pads
        letter = tuple(tokenizer("a")["input_ids"])
        ids = tokenizer.bos_token_id, tokenizer.eos_token_id
        template = getattr(tokenizer, "chat_template", None)
        return cls(description, letter, *ids, template, _as_texts(tokenizer.special_tokens_map))


def _as_texts(tokens: Mapping[str, Any]) -> dict[str, Any]:
    """Special tokens by their names, each a text or a list of texts."""
    return {
        name: [str(each) for each in token] if isinstance(token, list | tuple) else str(token)
        for name, token in tokens.items()
    }


# Here and not beside what reads it: whoever is sent one must not need transformers to unpack it.
@dataclass(frozen=True, slots=True)
class TokenizerSetup:
    """How a model reads texts, known before it is loaded; `words` as `hf_load.known_tokens`."""

    tokenizer: TokenizerFacts
    window: int
    words: int
    ends: frozenset[int]  # tokens at which it ends an answer


class DescribedTokenizer:
    """A tokenizer made of these facts, as far as `TextEncoder` and chat templates ask it."""

    def __init__(self, facts: TokenizerFacts) -> None:
        from tokenizers import Tokenizer

        self.backend_tokenizer = Tokenizer.from_str(facts.description)
        self.bos_token_id, self.eos_token_id = facts.bos, facts.eos
        self.chat_template, self.special_tokens_map = facts.chat_template, facts.special_tokens_map
        self._answers = {"a": facts.letter}

    def __call__(self, text: str) -> dict[str, tuple[int, ...]]:
        return {"input_ids": self._answers[text]}


class TextEncoder:
    """Encodes for one model; thread-safe.

    added     what the tokenizer itself puts first
    plain     what stands before plain text: the catalog's token, else `added`, else the BOS, else the EOS
    declared  the declared BOS, else the EOS, whatever the catalog says
    """

    def __init__(self, tokenizer: Any, plain_bos: str = "") -> None:
        backend = fast_tokenizer(tokenizer)
        description = backend.to_str()
        self.hash = hashlib.sha256(description.encode()).hexdigest()[:16]
        self._backend = plain_copy(backend, description)
        self._texts: dict[int, str] = {}
        self._broken: set[int] = set()  # tokens whose bytes are no whole character
        self._anchor = self._ids("a")

        whole, bare = list(tokenizer("a")["input_ids"]), list(self._anchor)
        cut = next((i for i in range(len(whole)) if whole[i : i + len(bare)] == bare), 0)
        self.added: tuple[int, ...] = tuple(whole[:cut])
        bos, eos = tokenizer.bos_token_id, tokenizer.eos_token_id
        declared = bos if bos is not None else eos
        self.declared: tuple[int, ...] = () if declared is None else (declared,)
        self.plain: tuple[int, ...] = self.added or self.declared
        if plain_bos:
            override = self._backend.token_to_id(plain_bos)
            if override is None:
                raise ScoringError(
                    f"The tokenizer has no token {plain_bos!r}, which should stand before plain text. "
                    "The tokenizer's files may be damaged; fetch the model again."
                )
            self.plain = (override,)

    def _ids(self, text: str) -> tuple[int, ...]:
        return tuple(self._backend.encode(text, add_special_tokens=False).ids)

    # Which token stands first moves every score of a sentence's first words, and tools disagree about it. For GPT-2,
    # whose tokenizer adds nothing and whose catalog entry names no token, so that `plain` is its end-of-text token E:
    #
    #     policy      context ""        context "The cat"
    #     auto        E | Once upon     The cat | sleeps      E only where the first word would have no score without it
    #     always      E | Once upon     E The cat | sleeps
    #     tokenizer     | Once upon     The cat | sleeps      the first token of an empty context stays unscored
    #     never         | Once upon     The cat | sleeps
    #
    # A tokenizer that adds a BOS itself (Gemma's, Llama's) puts it there under every policy but "never".
    def prefix(self, context: str, bos: Bos) -> tuple[int, ...]:
        """The tokens that a policy puts before a context."""
        if bos == "never":
            return ()
        if bos == "always":
            return self.plain
        if context or bos == "tokenizer":
            return self.added
        return self.plain if bos == "auto" else self.declared

    def encode(self, context: str, continuation: str, bos: Bos, split: Split) -> Encoding:
        """One request as token ids."""
        return self.encode_all([(context, continuation)], bos, split)[0]

    # Context and continuation are encoded as one string and then told apart, never encoded apart and joined: a
    # tokenizer may merge across the border, and a model has never seen the two halves of such a token side by side.
    #
    #     context "I like New", continuation "ton's laws"     I | _like | _Newton | 's | _laws
    #     split "offsets"        the first token that ends beyond the context: _Newton, which straddles, is scored whole
    #     split "token_count"    alone the context has 3 tokens (I _like _New): what follows the first 3 is scored
    #     split "spliced"        the context's own 3 tokens, then what follows the first 3 of the joint encoding
    #
    # "Straddles" is stored beside the score, so that a reader can leave such options out.
    def encode_all(self, pairs: Sequence[Pair], bos: Bos, split: Split) -> list[Encoding]:
        """Requests as token ids, in the order asked; all cores work on them."""
        alone = {} if split == "offsets" else self._contexts_alone(pairs)
        encodings: list[Encoding] = []
        for first in range(0, len(pairs), BATCH):
            part = pairs[first : first + BATCH]
            for (context, _), tokens in zip(part, spliced_texts.encode(self._encode_batch, part), strict=True):
                ids = tokens.ids
                start, straddles = _find_split(tokens.end, tokens.text, len(context) - tokens.at)
                start += tokens.before
                if context in alone:
                    # The peers' rule: as many tokens as the context has alone are cut off, wherever they end.
                    start = min(len(alone[context]), len(ids))
                    straddles = start < len(ids) and _begins_before(tokens, start, len(context))
                    if split == "spliced":
                        start, ids = len(alone[context]), [*alone[context], *ids[start:]]
                front = self.prefix(context, bos)
                # Never doubled: a text may begin with the BOS written out.
                if front and tuple(ids[: len(front)]) == front:
                    front = ()
                encodings.append(Encoding((*front, *ids), len(front) + start, len(front), straddles))
        return encodings

    def _contexts_alone(self, pairs: Sequence[Pair]) -> dict[str, list[int]]:
        """The tokens of each context that is not empty, encoded without its continuation."""
        contexts = list(dict.fromkeys(context for context, _ in pairs if context))
        alone: dict[str, list[int]] = {}
        for first in range(0, len(contexts), BATCH):
            part = contexts[first : first + BATCH]
            alone.update((text, tokens.ids) for text, tokens in zip(part, self._encode_batch(part), strict=True))
        return alone

    def _encode_batch(self, texts: list[str]) -> list[Any]:
        for text in texts:
            if why := why_unencodable(text):
                raise ScoringError(f"A text cannot be encoded: {why}. Remove that character.")
        return self._backend.encode_batch(texts, add_special_tokens=False)

    def texts(self, ids: Sequence[int]) -> tuple[str, ...]:
        """The text of each token; a character spread over several tokens is given by the last of them."""
        known = self._texts
        try:
            texts = [known[token] for token in ids]
        except KeyError:
            for token in set(ids).difference(known):
                text = self._text_after_anchor(token)
                if REPLACEMENT_CHARACTER in text:
                    self._broken.add(token)  # before its text is known: another thread may come in between
                known[token] = text
            texts = [known[token] for token in ids]
        if not self._broken.isdisjoint(ids):
            self._join_bytes(ids, texts)
        return tuple(texts)

    def _text_after_anchor(self, token: int) -> str:
        # Some decoders drop a text's first blank; after an anchor it is never the first.
        whole = self._backend.decode([*self._anchor, token], skip_special_tokens=False)
        return whole[len(self._backend.decode(list(self._anchor), skip_special_tokens=False)) :]

    # Byte-level tokenizers cut inside characters. Decoded one by one, the two tokens of "é" would both print as
    # "\ufffd":
    #
    #     tokens    caf | C3 | A9 | _au      the middle two are bytes, no character by themselves
    #     texts     caf | "" | é  | _au      the reader holds C3 back and gives both with the token that ends them
    #
    # `final` makes the reader give up where no further piece follows, or it would put the half before another
    # character.
    def _join_bytes(self, ids: Sequence[int], texts: list[str]) -> None:
        """Gives each character that is spread over several tokens to the last of them."""
        reader = codecs.getincrementaldecoder("utf-8")("replace")
        for i, (token, text) in enumerate(zip(ids, texts, strict=True)):
            if REPLACEMENT_CHARACTER in text:
                follows = i + 1 < len(texts) and REPLACEMENT_CHARACTER in texts[i + 1]
                texts[i] = reader.decode(self._bytes(token, text), final=not follows)

    def _bytes(self, token: int, text: str) -> bytes:
        name = self._backend.id_to_token(token) or ""
        if fallback := re.fullmatch("<0x([0-9A-F]{2})>", name):
            return bytes.fromhex(fallback[1])
        if all(letter in BYTE_OF_LETTER for letter in name):
            return bytes(BYTE_OF_LETTER[letter] for letter in name)
        return text.encode()


def plain_copy(backend: Any, description: str) -> Any:
    """A tokenizer that gives the same tokens, but never pads, cuts or adds any.

    A copy, because transformers sets padding and truncation on the original from call to call. Without post-processor,
    because that may trim blanks off the offsets; the special tokens it adds are put there by policy here.
    """
    from tokenizers import Tokenizer

    # The vocabulary and its merges are shared, not copied: reading 262,144 words again takes a second.
    copy = Tokenizer(backend.model)
    copy.normalizer, copy.pre_tokenizer, copy.decoder = backend.normalizer, backend.pre_tokenizer, backend.decoder
    added = backend.get_added_tokens_decoder()
    # After the normalizer, through which they are looked for, and in the order of their ids, which are given anew.
    copy.add_tokens([added[number] for number in sorted(added)])
    if copy.get_added_tokens_decoder() == added and copy.get_vocab_size() == backend.get_vocab_size():
        return copy
    copy = Tokenizer.from_str(description)
    copy.no_padding()
    copy.no_truncation()
    copy.post_processor = None
    return copy


# `char_to_token` answers at once in most cases. It has no answer where the character itself belongs to no token, as a
# blank that the tokenizer drops between words; then the offsets are walked through with such holes filled.
def _find_split(tokens: Any, text: str, split: int) -> tuple[int, bool]:
    """The first token that ends beyond character `split` of the original, and whether it starts before it."""
    if not split:
        return 0, False
    # A blank that the tokenizer drops between words (T5's) goes with the word behind it, as where tokens carry it.
    while split < len(text) and text[split].isspace() and tokens.char_to_token(split) is None:
        split += 1
    if split >= len(text):  # nothing stands behind it: a prompt that is to be answered
        return len(tokens.ids), False
    token = tokens.char_to_token(split)
    if token is not None:
        return token, tokens.token_to_chars(token)[0] < split
    offsets = _fill_offset_gaps(tokens.offsets, len(text))
    start = next((i for i, (_, end) in enumerate(offsets) if end > split), len(offsets))
    return start, start < len(offsets) and offsets[start][0] < split


def _begins_before(tokens: spliced_texts.Tokens, number: int, place: int) -> bool:
    """Whether this token of a text begins before a character of it."""
    number_in_end = number - tokens.before
    return (
        number_in_end < 0
        or _fill_offset_gaps(tokens.end.offsets, len(tokens.text))[number_in_end][0] + tokens.at < place
    )


def _fill_offset_gaps(offsets: Sequence[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """Offsets without holes: what normalization dropped belongs to the token before it.

    A tokenizer that composes e and an accent reports the place of the e alone; the accent is that token's, too.
    """
    covered = [False] * length
    for start, end in offsets:
        covered[start:end] = [True] * (end - start)
    reach = list(range(length + 1))  # reach[i]: the first covered character at or after i
    for i in range(length - 1, -1, -1):
        if not covered[i]:
            reach[i] = reach[i + 1]
    return [(0 if start == reach[0] else start, reach[end]) for start, end in offsets]
