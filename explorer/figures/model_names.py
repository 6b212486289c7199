"""What people call a model: the catalog's title, else made from its id: "GPT-3.5 Turbo" for openai:gpt-3.5-turbo.

The words are those of the id's last part; whose it is (an owner on a hub, a server, a folder) follows in parentheses
where the id says it, since it tells two models of one name apart.
"""

from __future__ import annotations

import re

from explorer import display
from explorer.addresses import split_address
from explorer.scoring import catalog, suites

SPELLED = {
    "bart": "BART", "bert": "BERT", "bloom": "BLOOM", "chatgpt": "ChatGPT", "deepseek": "DeepSeek", "gpt": "GPT",
    "llm": "LLM", "mpt": "MPT", "neox": "NeoX", "olmo": "OLMo", "opt": "OPT", "roberta": "RoBERTa", "smollm": "SmolLM",
    "xl": "XL",
}  # fmt: skip
REMARKS = ("deduped",)  # of the training, not of the name
_SIZE = re.compile(r"\d[\dx.]*[kmbt]")
_PLAIN = re.compile(r"([a-z]+)([\d.]*)")


def model_title(model: str) -> str:
    """What people call a model; an edition that has the title of another says whose it is, a revision which."""
    name, _, revision = model.partition("@")
    if suites.is_checkpoint(model) and (called := model_title(name)) != name:
        return f"{called}, {re.sub('step([0-9]+)', _told_step, revision)}"
    known = catalog.find(model)
    if not known:
        called = name_of(name)
    elif "/" in known.id and [model.title for model in catalog.MODELS.values()].count(known.title) > 1:
        called = display.remarked(known.title, known.id.partition("/")[0])
    else:
        called = known.title
    return f"{called}, revision {revision}" if revision else called


def _told_step(step: re.Match[str]) -> str:
    return f"step {int(step[1]):,}"


def name_of(model: str) -> str:
    """The id in words; one word without an owner, and what is in words already, stay as they are."""
    called, whose = _parts(model)
    if " " in called or not (whose or re.search(r"[-_:]", model)):
        return model
    words = [_word(word) for word in re.split(r"[-_]+", called) if word and word not in REMARKS]
    remarks = [word for word in re.split(r"[-_]+", called) if word in REMARKS]
    # A version belongs to the name: GPT-4, not GPT 4.
    shown = re.sub(r"\bGPT (?=\d)", "GPT-", " ".join(words)) or called
    about = ", ".join(filter(None, (*remarks, whose)))
    return f"{shown} ({about})" if about else shown


def _parts(model: str) -> tuple[str, str]:
    """What the model is called and whose it is: of "b/a" "a" and "b", of "http://host/v1#b/a" "a" and "host"."""
    if model.startswith(("http://", "https://")):
        address, _, called = model.partition("#")
        return (called or address).rstrip("/").rsplit("/", 1)[-1], split_address(address).netloc
    place = model.removeprefix("openai:").replace("\\", "/").rstrip("/")
    before, _, called = place.rpartition("/")
    return called, before.rsplit("/", 1)[-1].strip("~.")


def _word(word: str) -> str:
    if _SIZE.fullmatch(word):
        return word[:-1] + word[-1].upper()
    plain = _PLAIN.fullmatch(word)
    return SPELLED.get(plain[1], plain[1].capitalize()) + plain[2] if plain and plain[1] != "v" else word
