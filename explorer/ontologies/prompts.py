"""Every prompt that asks for a concept's id, in the words of Bombieri et al. 2024 and in a few of our own.

As released, chat prompts go out inside the white space of the authors' triple-quoted strings; corrected, they are
stripped. The completion prompts were plain strings.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from explorer.errors import OntologyError
from explorer.records import Concept, Instance, Request

LANGUAGES = ("en", "it", "fr", "de", "es")  # in the order of the released script
TEMPERATURES = tuple(step / 10 for step in range(11))  # of PI-2
REPEATS = 10  # of PI-1
SAMPLE = 100  # concepts on which the authors chose their prompts

NEW_TOKENS = 10
NEW_TOKENS_AS_RELEASED = {"GO": 5}  # completion prompts; the released Uberon script asks for 10

# The released scripts' own indentation, sent with the prompt (8 blanks in the invariance script; the scripts over whole
# ontologies are indented by 12).
RELEASED_MARGIN = "\n" + " " * 8


@dataclass(frozen=True, slots=True)
class Prompt:
    """A way to ask; {label}, {prefix} and {title} are filled in for each concept and ontology."""

    name: str
    kind: Literal["chat", "completion"]
    texts: Mapping[str, str]  # language → template
    source: str = "ours"

    @property
    def ends_with_prefix(self) -> bool:
        """Whether the answer goes on right after the ontology's prefix, so that bare digits are an id."""
        return self.texts["en"].endswith("{prefix}:")


PROMPTS: Mapping[str, Prompt] = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            "chat",
            "chat",
            {
                "en": "Provide the {prefix} ID for the label '''{label}'''. "
                "In the answer write only the corresponding {prefix} ID.",
                "it": "Fornire la {prefix} ID per l'etichetta '''{label}'''. "
                "Nella risposta scrivi solo la {prefix} ID corrispondente.",
                "fr": "Fournissez le {prefix} ID pour le libellé '''{label}'''. "
                "Dans la réponse, écrivez uniquement le {prefix} ID correspondant.",
                "de": "Geben Sie die {prefix}-ID für das Label '''{label}''' an. "
                "Schreiben Sie in die Antwort nur die entsprechende {prefix}-ID.",
                "es": "Proporcione el ID de {prefix} para la etiqueta '''{label}'''. "
                "En la respuesta escriba solo el {prefix} ID correspondiente.",
            },
            "Bombieri et al. 2024",
        ),
        Prompt(
            "completion",
            "completion",
            {"en": "In the {title}, the {prefix} ID of the label '{label}' is {prefix}:"},
            "Bombieri et al. 2024",
        ),
        Prompt("chat-question", "chat", {"en": "What is the {prefix} ID of '{label}'? Answer with the ID only."}),
        Prompt("completion-open", "completion", {"en": "In the {title}, the {prefix} ID of the label '{label}' is"}),
        Prompt("completion-short", "completion", {"en": "The {prefix} ID of '{label}' is {prefix}:"}),
        Prompt("completion-brackets", "completion", {"en": "{label} ({prefix}:"}),
        Prompt("completion-obo", "completion", {"en": "[Term]\nname: {label}\nid: {prefix}:"}),
    )
}


def text_of(
    prompt: Prompt, label: str, prefix: str, title: str, language: str = "en", as_released: bool = False
) -> str:
    """The prompt's text for one label, with all white space that is sent."""
    template = prompt.texts.get(language)
    if template is None:
        raise OntologyError(
            f"The prompt {prompt.name} has no text in {language!r}, expected one of {', '.join(prompt.texts)}."
        )
    # Not str.format: a label may hold braces.
    text = template.replace("{prefix}", prefix).replace("{title}", title).replace("{label}", label.strip())
    return f"{RELEASED_MARGIN}{text}{RELEASED_MARGIN}" if as_released and prompt.kind == "chat" else text


def build_request(
    instance: Instance,
    prompt: Prompt,
    prefix: str,
    title: str,
    *,
    language: str = "en",
    temperature: float = 0.0,
    part: int = 0,
    as_released: bool = False,
) -> Request:
    """The request that puts the prompt to a model; `part` numbers repeats from 0."""
    text = text_of(prompt, instance.context, prefix, title, language, as_released)
    return Request(
        instance_id=instance.id,
        option=0,
        context=text,
        role="prompt",
        factors={"setting": prompt.name, "language": language, "temperature": temperature, "part": part},
        conversation=(("user", text),) if prompt.kind == "chat" else None,
    )


def instances(concepts: Sequence[Concept], benchmark: str, prefix: str) -> list[Instance]:
    """One instance a concept, in the order given; a repeated id gets its number behind, so that ids stay unique."""
    made = []
    seen: dict[str, int] = {}
    for concept in concepts:
        seen[concept.id] = seen.get(concept.id, 0) + 1
        key = concept.id if seen[concept.id] == 1 else f"{concept.id}#{seen[concept.id]}"
        made.append(
            Instance(
                id=f"{benchmark}/{prefix}/{key}",
                benchmark=benchmark,
                split="all",
                group=prefix,
                kind="concept",
                format="concept",
                context=concept.label,
                options=(concept.id,),
                gold=0,
                label=concept.label,
                extra={
                    "annotations": concept.annotations,
                    "web_count": concept.web_count,
                    "obsolete": concept.obsolete,
                },
            )
        )
    return made


def development_sample(concepts: Sequence[Concept], n: int = SAMPLE, seed: int = 0) -> list[Concept]:
    """`n` concepts drawn without replacement, in file order: the sample on which prompts are compared."""
    chosen = random.Random(seed).sample(range(len(concepts)), min(n, len(concepts)))
    return [concepts[place] for place in sorted(chosen)]


@dataclass(frozen=True, slots=True)
class Trial:
    """How a prompt did on the development sample."""

    prompt: str
    accuracy: float
    tokens: float  # mean length of the prompt, in tokens or estimated


def best(trials: Sequence[Trial]) -> Trial:
    """The most accurate prompt; of equals the one with the fewest tokens, as the authors chose."""
    if not trials:
        raise OntologyError("No prompt was tried, expected at least one. Name one of " + ", ".join(PROMPTS) + ".")
    return min(trials, key=lambda trial: (-trial.accuracy, trial.tokens))
