"""What is asked about a concept, and the answers: the question itself, samples, repeats, and other languages."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.errors import UsageError
from explorer.ontologies import prompts
from explorer.ontologies.complete import completeness
from explorer.ontologies.invariance_requests import WAYS, build_repeated
from explorer.ontologies.parse import Outcome, parser
from explorer.ontologies.prompts import PROMPTS, Prompt, Trial
from explorer.records import Concept, Generation, Instance, Request, RunSpec
from explorer.runs import files, response_cache
from explorer.runs import spec as specs
from explorer.runs.folder import RunFolder
from explorer.scoring import hf_chat, http
from explorer.scoring.generate import ModelGenerator
from explorer.scoring.model import Progress
from explorer.studies.ontology.context import RunOntology, ontology_of_run

if TYPE_CHECKING:
    from explorer.resources import Resources

TRIALS = "trials.json"
SAMPLE_TEMPERATURE = 1.0
BYTES_A_TOKEN = 4  # of English text, where a server's tokenizer is not known


@dataclass(frozen=True, slots=True)
class Asking:
    """How a run puts its questions."""

    ontology: RunOntology
    prompt: Prompt
    languages: tuple[str, ...]  # the first is that of the main answers
    as_released: bool
    samples: int
    ways: tuple[str, ...]
    new_tokens: int

    @property
    def parse(self) -> Callable[[str], Outcome]:
        """From a raw answer to what it gives."""
        return parser(self.ontology.rule, self.prompt.ends_with_prefix)

    def is_right(self, instance: Instance, answer: Generation) -> bool:
        """Whether an answer gives the concept's own id."""
        return self.parse(answer.text).id == instance.options[0]

    def requests(self, instance: Instance) -> list[Request]:
        """All questions about a concept; the first is the one that counts."""
        main, *others = (self._build_request(instance, language=language) for language in self.languages)
        samples = [
            dataclasses.replace(self._build_request(instance, temperature=SAMPLE_TEMPERATURE, part=part), role="sample")
            for part in range(self.samples)
        ]
        return [main, *others, *samples, *self._repeated_requests(instance)]

    def content_free(self, label: str) -> Request:
        """The main question about a label that says nothing."""
        concept = Concept(id=f"{self.ontology.prefix}:0", label=label)
        (instance,) = prompts.instances([concept], "none", self.ontology.prefix)
        return self._build_request(instance)

    def _build_request(
        self, instance: Instance, *, language: str = "", temperature: float = 0.0, part: int = 0
    ) -> Request:
        return prompts.build_request(
            instance,
            self.prompt,
            self.ontology.prefix,
            self.ontology.title,
            language=language or self.languages[0],
            temperature=temperature,
            part=part,
            as_released=self.as_released,
        )

    def _repeated_requests(self, instance: Instance) -> list[Request]:
        if instance.id not in self.ontology.again:
            return []
        return [
            dataclasses.replace(request, role="repeat")
            for way in self.ways
            for request in build_repeated(
                instance, self.prompt, self.ontology.prefix, self.ontology.title, way, as_released=self.as_released
            )
        ]


def asking(spec: RunSpec, resources: Resources) -> Asking:
    """How this run puts its questions; with prompt=best the prompts are compared first, once."""
    ontology = ontology_of_run(spec, resources)
    return with_prompt(spec, ontology, _prompt(spec, resources, ontology))


def with_prompt(spec: RunSpec, ontology: RunOntology, prompt: Prompt) -> Asking:
    """How this run would put its questions with this prompt."""
    languages = tuple(str(language) for language in spec.settings["languages"])
    if not languages:
        raise UsageError(f"The setting languages is empty, expected some of {', '.join(prompts.LANGUAGES)}.")
    ways = tuple(str(way) for way in spec.settings["invariance"])
    needed_languages = _languages(spec)
    if missing := sorted(needed_languages - set(prompt.texts)):
        raise UsageError(
            f"The prompt {prompt.name} has no text in {', '.join(missing)}, only in {', '.join(prompt.texts)}. "
            "Choose prompt=chat, or leave these languages and PI-3 out."
        )
    return Asking(
        ontology=ontology,
        prompt=prompt,
        languages=languages,
        as_released=spec.settings["form"] == "released",
        samples=int(spec.settings["samples"]),
        ways=ways,
        new_tokens=_new_tokens(spec, prompt, ontology.prefix),
    )


def answer_requests(
    spec: RunSpec, resources: Resources, put: Asking, requests: Sequence[Request], progress: Progress | None = None
) -> list[Generation]:
    """The model's answers, in the order asked; a local model stops as soon as an answer's id stands."""
    generator = resources.generator(spec.model, spec.dtype)
    if isinstance(generator, http.Endpoint):
        caching = response_cache.cached_endpoint(spec, resources, generator)
        return caching.generate(requests, max_new_tokens=put.new_tokens, seed=spec.seed, progress=progress)
    assert isinstance(generator, ModelGenerator)
    until = completeness(put.ontology.rule, put.prompt.ends_with_prefix)
    return generator.generate(requests, max_new_tokens=put.new_tokens, seed=spec.seed, until=until, progress=progress)


def is_chat_model(spec: RunSpec, resources: Resources) -> bool:
    """Whether the model answers conversations: an endpoint, or a tokenizer with a chat template."""
    if http.is_endpoint(spec.model):
        return True
    return bool(hf_chat.default_template(resources.reader(spec.model, spec.dtype).tokenizer))


def auto(spec: RunSpec, resources: Resources) -> str:
    """The prompt of prompt=auto: in the form that the model answers to, and that has the languages asked for."""
    return "chat" if _languages(spec) != {"en"} or is_chat_model(spec, resources) else "completion"


def _languages(spec: RunSpec) -> set[str]:
    """Those of the questions and of their repeats."""
    repeated = (language for way in spec.settings["invariance"] for language, _ in WAYS[str(way)])
    return {*map(str, spec.settings["languages"]), *repeated}


def _new_tokens(spec: RunSpec, prompt: Prompt, prefix: str) -> int:
    token_limit = int(spec.settings["max_new_tokens"])
    if token_limit:
        return token_limit
    as_released = spec.settings["form"] == "released" and prompt.kind == "completion"
    return prompts.NEW_TOKENS_AS_RELEASED.get(prefix, prompts.NEW_TOKENS) if as_released else prompts.NEW_TOKENS


def _prompt(spec: RunSpec, resources: Resources, ontology: RunOntology) -> Prompt:
    name = str(spec.settings["prompt"])
    if name == "auto":
        return PROMPTS[auto(spec, resources)]
    if name == "best":
        return PROMPTS[prompts.best(trials(spec, resources, ontology)).prompt]
    return PROMPTS[name]


def trials(spec: RunSpec, resources: Resources, ontology: RunOntology) -> list[Trial]:
    """How each prompt did on a seeded sample of the whole ontology; kept in the run's folder."""
    if earlier := trials_made(spec, resources):
        return earlier
    chats = is_chat_model(spec, resources)
    sample = development_sample(spec, resources, ontology)
    trials_of_concepts = []
    for prompt in PROMPTS.values():
        if prompt.kind == "chat" and not chats:
            continue
        put = trial(spec, ontology, prompt)
        requests = [put.requests(instance)[0] for instance in sample]
        answers = answer_requests(spec, resources, put, requests)
        # A prompt that gets no answer within the limit is no better than one that gets a wrong one.
        right = [
            not reply.reason and put.is_right(instance, reply) for reply, instance in zip(answers, sample, strict=True)
        ]
        trials_of_concepts.append(Trial(prompt.name, sum(right) / len(right), _mean_tokens(spec, resources, requests)))
    path = RunFolder.create(resources.settings.runs, spec).path / TRIALS
    files.write_json(path, {"trials": [dataclasses.asdict(trial) for trial in trials_of_concepts]})
    return trials_of_concepts


def trials_made(spec: RunSpec, resources: Resources) -> list[Trial]:
    """What an earlier comparison of the run has left in its folder; [] where there was none."""
    path = resources.settings.runs / specs.run_id(spec) / TRIALS
    return [Trial(**fields) for fields in files.read_json(path).get("trials", [])]


def trial(spec: RunSpec, ontology: RunOntology, prompt: Prompt) -> Asking:
    """How a prompt that is compared with others puts its one question."""
    as_released = spec.settings["form"] == "released"
    return Asking(ontology, prompt, ("en",), as_released, 0, (), _new_tokens(spec, prompt, ontology.prefix))


def development_sample(spec: RunSpec, resources: Resources, ontology: RunOntology) -> list[Instance]:
    """The instances on which prompts are compared."""
    chosen = {concept.id for concept in prompts.development_sample(list(ontology.concepts.values()), seed=spec.seed)}
    return [instance for instance in resources.instances(spec.benchmark).instances if instance.options[0] in chosen]


def _mean_tokens(spec: RunSpec, resources: Resources, requests: Sequence[Request]) -> float:
    texts = [request.context for request in requests]
    if http.is_endpoint(spec.model):
        return sum(len(text.encode("utf-8", "replace")) / BYTES_A_TOKEN for text in texts) / len(texts)
    encodings = resources.model(spec.model, spec.dtype).encode_all([(text, "") for text in texts], "auto", "offsets")
    return sum(len(encoding.ids) for encoding in encodings) / len(texts)
