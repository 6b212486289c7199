import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.errors import OntologyError
from explorer.ontologies.parse import FIXED_DIGITS, IdRule, Outcome, id_rule, parser, raw

GO = parser(id_rule("GO", []))
GO_AFTER_PREFIX = parser(id_rule("GO", []), after_prefix=True)
UBERON = parser(id_rule("UBERON", ["UBERON:0000002", "UBERON:60005380", "CL:123"]))


@pytest.mark.parametrize(
    "answer",
    [
        "GO:0006600",
        "GO:0006600\r\n",
        '"GO:0006600"',
        "'GO:0006600'",
        " \n GO:0006600 \n",
        "The GO ID for the label 'blue cup' is GO:0006600.",
        "I am not sure, but it could be GO:0006600, or else GO:0006601.",
        "**GO:0006600**",
        "GO:123 is wrong, GO:0006600 is right",
        "答えはGO:0006600です",
        "[GO:0006600](http://example.org/GO_0000001)",
    ],
)
def test_a_well_formed_id_is_found_wherever_it_stands(answer: str):
    assert GO(answer) == Outcome("id", "GO:0006600")


@pytest.mark.parametrize(
    "answer",
    [
        "GO:000660",
        "GO:00066001",
        "GO:000660012",  # nine digits
        "GO:0006600７",  # a full-width digit makes it longer
        "GO:０００６６００",  # full-width digits are no ASCII digits
        "GO:0006６00",
        "go:0006600",
        "GO 0006600",
        "GO: 0006600",
        "GO_0006600",
        "0006600",  # bare digits, and the prompt did not end with the prefix
        "000660012",
        "creatine metabolic process",
        "ID:0006600",
        "GO:XXXXXXX",
        "GO:",
    ],
)
def test_what_is_nearly_an_id_is_malformed(answer: str):
    assert GO(answer).kind == "malformed"
    assert GO(answer).id == ""


@pytest.mark.parametrize(
    "answer",
    [
        'There is no UBERON ID for the label "blue cup".',
        "I'm sorry, but I couldn't find a GO ID for that label.",
        "I cannot provide a GO ID.",
        "I can’t help with that.",
        "As an AI language model I do not have access to the Gene Ontology.",
        "No GO ID found",
        "unknown",
        "None",
        "N/A",
        "The label does not exist.",
        "It isn't in the ontology",
        "Mi dispiace, non esiste una GO ID per questa etichetta.",
        "Nessuna",
        "Désolé, il n'y a pas de GO ID pour ce libellé.",
        "Aucun GO ID",
        "Es tut mir leid, es gibt keine GO-ID für dieses Label.",
        "Leider ist mir keine bekannt",
        "Lo siento, no existe un ID de GO para esta etiqueta.",
        "No se encuentra",
    ],
)
def test_refusals_are_told_in_five_languages(answer: str):
    assert GO(answer).kind == "refusal"


@pytest.mark.parametrize(
    "answer", ["UBERON:0002107", "It is CL:0000540.", "MmusDv:0000036", "FBbt:00003624", "CL_0000540"]
)
def test_an_id_of_another_ontology_is_foreign(answer: str):
    assert GO(answer).kind == "foreign"


def test_a_refusal_that_names_an_id_gives_the_id_and_one_that_names_a_foreign_id_is_foreign():
    assert GO("There is no exact match; the closest is GO:0006600.").id == "GO:0006600"
    assert GO("I don't know a GO ID, in UBERON it is UBERON:0002107.").kind == "foreign"


@pytest.mark.parametrize("answer", ["", " ", "\n", "\r\n", '""', "''", '"'])
def test_an_answer_of_nothing_is_empty(answer: str):
    assert GO(answer).kind == "empty"


def test_bare_digits_are_an_id_right_after_the_prompts_own_prefix():
    assert GO_AFTER_PREFIX("0006600").id == "GO:0006600"
    assert GO_AFTER_PREFIX(" 0006600. In the Gene Ontology").id == "GO:0006600"
    assert GO_AFTER_PREFIX("GO:0006600").id == "GO:0006600"
    for answer in ("000660012", "00066", "０００６６００", "is 0006600"):
        assert GO_AFTER_PREFIX(answer).kind == "malformed"


def test_elsewhere_the_numbers_of_digits_are_those_of_the_ontology():
    assert UBERON("UBERON:0000002").id == "UBERON:0000002"
    assert UBERON("UBERON:60005380").id == "UBERON:60005380"
    assert UBERON("UBERON:600053801").kind == "malformed"
    assert UBERON("UBERON:123").kind == "malformed"
    assert UBERON("GO:0006600").kind == "foreign"


def test_the_gene_ontology_has_seven_digits_whatever_a_file_holds():
    assert id_rule("GO", ["GO:12345678"]) == IdRule("GO", FIXED_DIGITS["GO"]) == IdRule("GO", (7,))


def test_an_ontology_without_numbers_cannot_be_asked():
    with pytest.raises(OntologyError, match="Give an ontology with numeric ids"):
        id_rule("MESH", ["MESH:D012345"])


def test_raw_answers_lose_their_line_end_and_quotes_only():
    assert raw('"GO:0006600"\r\n') == "GO:0006600"
    assert raw("GO:0006600 \n") == "GO:0006600 "
    assert raw("'") == "'"


@given(st.text())
def test_every_answer_has_one_outcome_and_an_id_only_where_one_stands(answer: str):
    for parse in (GO, UBERON):
        outcome = parse(answer)
        assert (outcome.kind == "id") == bool(outcome.id)
        assert outcome.id in answer


@given(st.integers(0, 9_999_999), st.text(st.characters(categories=["L", "P", "Z"], exclude_characters=":_")))
def test_an_id_survives_any_text_around_it(number: int, around: str):
    curie = f"GO:{number:07d}"
    assert GO(f"{around} {curie} {around}").id == curie
