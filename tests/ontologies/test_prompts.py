import pytest

from explorer.errors import OntologyError
from explorer.ontologies import prompts
from explorer.ontologies.prompts import PROMPTS, Trial, text_of
from explorer.records import Concept

MARGIN = "\n        "

# The paper's prompts in the five languages of its invariance experiment.
CHAT = {
    "en": "Provide the GO ID for the label '''blue cup'''. In the answer write only the corresponding GO ID.",
    "it": "Fornire la GO ID per l'etichetta '''blue cup'''. Nella risposta scrivi solo la GO ID corrispondente.",
    "fr": "Fournissez le GO ID pour le libellé '''blue cup'''. "
    "Dans la réponse, écrivez uniquement le GO ID correspondant.",
    "de": "Geben Sie die GO-ID für das Label '''blue cup''' an. "
    "Schreiben Sie in die Antwort nur die entsprechende GO-ID.",
    "es": "Proporcione el ID de GO para la etiqueta '''blue cup'''. "
    "En la respuesta escriba solo el GO ID correspondiente.",
}


@pytest.mark.parametrize("language", prompts.LANGUAGES)
def test_the_chat_prompt_is_the_papers_word_for_word(language: str):
    corrected = text_of(PROMPTS["chat"], "blue cup", "GO", "Gene Ontology", language)
    released = text_of(PROMPTS["chat"], "blue cup", "GO", "Gene Ontology", language, as_released=True)
    assert corrected == CHAT[language]
    assert released == MARGIN + CHAT[language] + MARGIN


@pytest.mark.parametrize("as_released", [False, True])
def test_the_completion_prompt_is_the_papers_and_ends_with_the_prefix(as_released: bool):
    completion = PROMPTS["completion"]
    assert completion.ends_with_prefix
    assert (
        text_of(completion, "blue cup", "GO", "Gene Ontology", as_released=as_released)
        == "In the Gene Ontology, the GO ID of the label 'blue cup' is GO:"
    )
    assert (
        text_of(completion, "blue cup", "UBERON", "Uberon Ontology", as_released=as_released)
        == "In the Uberon Ontology, the UBERON ID of the label 'blue cup' is UBERON:"
    )


def test_the_uberon_chat_prompt_names_uberon():
    assert text_of(PROMPTS["chat"], "cup", "UBERON", "Uberon Ontology") == (
        "Provide the UBERON ID for the label '''cup'''. In the answer write only the corresponding UBERON ID."
    )


@pytest.mark.parametrize("name", PROMPTS)
def test_labels_with_braces_go_through_unchanged(name: str):
    prompt = PROMPTS[name]
    label = "beta-{1,3} {prefix} {label} cup"
    for language in prompt.texts:
        text = text_of(prompt, label, "TOY", "Toy ontology", language)
        assert label in text
        assert text == text.strip()


def test_a_language_that_a_prompt_lacks_is_an_error():
    with pytest.raises(OntologyError, match="no text in 'it', expected one of en"):
        text_of(PROMPTS["completion"], "cup", "GO", "Gene Ontology", "it")


CONCEPTS = [Concept(f"TOY:{i:07d}", f"cup {i}", web_count=float(i)) for i in range(300)]


def test_a_concept_becomes_an_instance_and_a_request_that_says_how_it_was_asked():
    instance = prompts.instances([*CONCEPTS[:2], CONCEPTS[1]], "toy", "TOY")[1]
    assert instance.id == "toy/TOY/TOY:0000001"
    assert (instance.context, instance.options, instance.gold, instance.kind) == (
        "cup 1",
        ("TOY:0000001",),
        0,
        "concept",
    )
    request = prompts.build_request(
        instance, PROMPTS["chat"], "TOY", "Toy ontology", language="de", temperature=0.3, part=2
    )
    assert request.factors == {"setting": "chat", "language": "de", "temperature": 0.3, "part": 2}
    assert request.conversation == (("user", request.context),)
    assert prompts.build_request(instance, PROMPTS["completion"], "TOY", "Toy ontology").conversation is None


def test_instances_of_a_repeated_id_have_ids_of_their_own():
    made = prompts.instances([CONCEPTS[0], CONCEPTS[0]], "toy", "TOY")
    assert [instance.id for instance in made] == ["toy/TOY/TOY:0000000", "toy/TOY/TOY:0000000#2"]


def test_the_development_sample_is_seeded_without_repeats_and_in_file_order():
    sample = prompts.development_sample(CONCEPTS, seed=3)
    assert len(sample) == 100 == len({concept.id for concept in sample})
    assert sample == sorted(sample, key=lambda concept: concept.id)
    assert sample == prompts.development_sample(CONCEPTS, seed=3) != prompts.development_sample(CONCEPTS, seed=4)
    assert prompts.development_sample(CONCEPTS[:5]) == CONCEPTS[:5]


def test_the_best_prompt_is_the_most_accurate_then_the_shortest():
    trials = [Trial("a", 0.2, 9), Trial("b", 0.5, 12), Trial("c", 0.5, 10), Trial("d", 0.4, 1)]
    assert prompts.best(trials).prompt == "c"
    with pytest.raises(OntologyError):
        prompts.best([])


def test_the_levels_of_the_invariance_experiments():
    assert prompts.TEMPERATURES == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    assert prompts.LANGUAGES == ("en", "it", "fr", "de", "es")
