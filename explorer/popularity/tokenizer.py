"""An index's own tokenizer: text → ids in running-text form, read from a local folder, never from a hub."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

from explorer.errors import CountError
from explorer.popularity.counter import TextNotEncoded

FILE = "tokenizer.json"
LARGEST_ID = 65_534  # 65,535 is the document separator of a 16-bit index
DEFAULT_VOCABULARY = 32_768
PIECE_BLANK = "▁"  # SentencePiece writes a word's leading blank so


class IndexTokenizer:
    """Ids of running text: one leading blank where the tokenizer puts none itself, no special tokens.

    A SentencePiece tokenizer (Llama-2) puts a blank before every text by itself and so has no bare form.
    """

    def __init__(self, data: str, name: str = "") -> None:
        from tokenizers import Tokenizer

        self.name = name
        self.data = data
        self.hash = hashlib.sha256(data.encode("utf-8")).hexdigest()
        try:
            self._tokenizer = Tokenizer.from_str(data)
        except Exception as error:  # the library raises bare Exception
            raise CountError(
                f"{name or FILE} is not a tokenizer that the tokenizers library can read ({error}). "
                "Give the tokenizer.json of a fast Hugging Face tokenizer."
            ) from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.size: int = self._tokenizer.get_vocab_size(with_added_tokens=True)

    @cached_property
    def highest_id(self) -> int:
        """The highest id in use; vocabularies may have gaps, so this can exceed `size` - 1."""
        return max(self._tokenizer.get_vocab(with_added_tokens=True).values(), default=-1)

    @cached_property
    def puts_blank(self) -> bool:
        """Whether the tokenizer itself puts a blank before a text."""
        return self._tokenizer.encode("a", add_special_tokens=False).tokens[0].startswith(PIECE_BLANK)

    def encode(self, texts: Sequence[str], *, bare: bool = False) -> list[tuple[int, ...]]:
        """The ids of each text as it stands in running text; `bare` leaves out the leading blank."""
        # Before any script: the service of an index puts a blank before whatever it is asked.
        blank = "" if bare or self.puts_blank else " "
        shaped = [blank + stripped if (stripped := text.lstrip()) else "" for text in texts]
        return [self._without_lone_blank(ids) for ids in self.encode_verbatim(shaped)]

    def encode_verbatim(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        """The ids of each text as it is, the way the documents of an index are encoded."""
        try:
            return [tuple(each.ids) for each in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]
        except (TypeError, UnicodeEncodeError) as error:  # lone surrogates cannot cross into the library
            raise TextNotEncoded(
                f"a text could not be encoded ({error}); it holds characters that are not valid Unicode. Remove them."
            ) from error

    def decode(self, ids: Sequence[int]) -> tuple[str, ...]:
        """The text of each token; U+FFFD stands for a byte that is only part of a character."""
        return tuple(self._text(token_id) for token_id in ids)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """The tokens as the vocabulary spells them, "" for an id that is in none."""
        return [self._tokenizer.id_to_token(int(token_id)) or "" for token_id in ids]

    def join(self, ids: Sequence[int]) -> str:
        """The text of ids that stand side by side; characters spread over several tokens come out whole."""
        tokens = self.pieces(ids)
        if not self._byte_level:
            return "".join(piece_text(token, byte_level=False) for token in tokens)
        data = bytearray()
        for token in tokens:
            spelled = all(character in _BYTES for character in token)
            data += bytes(_BYTES[character] for character in token) if spelled else token.encode()
        return data.decode("utf-8", "replace")

    def _text(self, token_id: int) -> str:
        token = self._tokenizer.id_to_token(int(token_id))
        return f"[{token_id}]" if token is None else piece_text(token, byte_level=self._byte_level)

    @cached_property
    def _byte_level(self) -> bool:
        return '"ByteLevel"' in self.data

    @cached_property
    def _lone_blank(self) -> int | None:
        return self._tokenizer.token_to_id(PIECE_BLANK) if self.puts_blank else None

    def _without_lone_blank(self, ids: tuple[int, ...]) -> tuple[int, ...]:
        # Before a character that has no piece with a blank, a lone blank is left over; the service drops it too.
        return ids[1:] if ids and ids[0] == self._lone_blank else ids


def piece_text(token: str, *, byte_level: bool) -> str:
    """A token as it is written in a vocabulary, turned back into text."""
    if byte_level and all(character in _BYTES for character in token):
        return bytes(_BYTES[character] for character in token).decode("utf-8", "replace")
    if len(token) == 6 and token.startswith("<0x") and token.endswith(">"):
        return bytes([int(token[3:5], 16)]).decode("utf-8", "replace")
    return token.replace(PIECE_BLANK, " ")


def load(path: Path) -> IndexTokenizer:
    """The tokenizer at `path`: a tokenizer.json, or a folder with one or with vocab.json and merges.txt."""
    file = path / FILE if path.is_dir() else path
    if file.is_file():
        try:
            return IndexTokenizer(file.read_text(encoding="utf-8"), name=str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise CountError(f"{file} could not be read ({error}). Give the folder of a tokenizer.") from error
    if path.is_dir() and (path / "vocab.json").is_file() and (path / "merges.txt").is_file():
        return _from_merges(path)
    raise CountError(
        f"{path} holds no tokenizer: expected {FILE}, or vocab.json with merges.txt. "
        "Save it with AutoTokenizer.from_pretrained(...).save_pretrained(folder)."
    )


def train(texts: Iterable[str], vocabulary: int = DEFAULT_VOCABULARY) -> IndexTokenizer:
    """A byte-level BPE of at most `vocabulary` entries, trained on the texts; any text can be encoded with it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # type: ignore[assignment]
    tokenizer.decoder = decoders.ByteLevel()  # type: ignore[assignment]
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(texts, trainer)
    return IndexTokenizer(tokenizer.to_str(), name=f"byte-level BPE, {tokenizer.get_vocab_size():,} entries")


def _from_merges(folder: Path) -> IndexTokenizer:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    try:
        model = models.BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt"))
    except Exception as error:  # the library raises bare Exception
        raise CountError(f"{folder} holds no byte-level BPE ({error}). Give a folder with {FILE}.") from error
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # type: ignore[assignment]
    tokenizer.decoder = decoders.ByteLevel()  # type: ignore[assignment]
    return IndexTokenizer(tokenizer.to_str(), name=str(folder))


def _byte_alphabet() -> dict[str, int]:
    """GPT-2's spelling of the 256 bytes: printable ones stand for themselves, the others follow from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(others)}


_BYTES = _byte_alphabet()
ALPHABET = tuple(sorted(_BYTES))  # the spelling of each byte
