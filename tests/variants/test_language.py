"""Swaps know English only: texts in other languages are refused in a sentence, English ones are not."""

import dataclasses

import pytest

from explorer import benchmarks, settings
from explorer.errors import BenchmarkError
from explorer.records import Instance
from explorer.variants import by_hand
from explorer.variants.fields import running_texts
from explorer.variants.language import judge_language, why_refused
from explorer.variants.perturb import perturb_instance, perturb_texts

OTHERS = {
    "German": ["Er hat einen Hut.", "Der Mann hat einen Hund.", "Er hat Hunger.", "Die Frau arbeitet in der Stadt."],
    "French": ["Le chat dort sur la table.", "Elle a mangé une pomme.", "Il fait froid.", "Paul aime Marie."],
    "Spanish": ["El perro come pan.", "Ella no quiere ir a la escuela.", "Juan compra fruta."],
    "Italian": ["Il cane dorme.", "La ragazza legge un libro.", "Non so dove siano le chiavi."],
    "Portuguese": ["O menino comprou um livro.", "Ela não quer ir para a escola."],
    "Dutch": ["De man las een boek in bed.", "Het meisje heeft een hond.", "Jan koopt brood."],
    "Swedish": ["Hon har en bok.", "Barnen leker i parken.", "Jag vet inte var han är."],
    "Danish": ["Jeg har en hund.", "Børnene leger i parken."],
    "Polish": ["Ona ma psa.", "Dzieci bawią się w parku.", "Nie wiem, gdzie on jest."],
    "Czech": ["Děti si hrají v parku."],
    "Turkish": ["Kedi masanın üstünde uyuyor.", "Bu kitap çok güzel."],
    "Finnish": ["Koira nukkuu.", "Lapset leikkivät puistossa.", "Hän ei tiedä missä se on."],
    "Hungarian": ["A gyerekek a parkban játszanak."],
    "Romanian": ["Copiii se joacă în parc."],
    "Indonesian": ["Anak-anak bermain di taman."],
    "Russian": ["Дети играют в парке."],
    "Greek": ["Τα παιδιά παίζουν."],
    "Chinese": ["孩子们在公园里玩。"],
    "Japanese": ["子供たちは公園で遊んでいます。", "これはペンです。", "Kodomo tachi wa koen de asonde imasu."],
    "Korean": ["아이들이 공원에서 논다."],
    "Arabic": ["الأطفال يلعبون في الحديقة."],
    "Hebrew": ["הילדים משחקים בפארק."],
    "Hindi": ["बच्चे पार्क में खेल रहे हैं।"],
    "Thai": ["เด็กๆ เล่นในสวน"],
}
ENGLISH = [
    "Guy vanishes.",
    "The hat is old.",
    "Stop!",
    "No.",
    "12 34",
    "Monet hugged Galileo.",
    "Yuki and Ines danced.",
    "PRESS ENTER",
    "Mix flour, butter, salt.",
    "He said: “Das ist gut” and left the room.",
    "The Führer's château had a façade; c'est la vie, he said.",
    "She ordered a bouillabaisse and a crème brûlée.",
    "Die hard fans met in the van.",
    "Colorless green ideas sleep furiously.",
    "Mitochondria produce ATP.",
    "Ella met Dan.",
    "lol brb gonna grab coffee",
]


@pytest.mark.parametrize(
    ("language", "sentence"), [(name, one) for name, found in OTHERS.items() for one in found], ids=lambda one: one
)
def test_another_language_is_refused_in_a_sentence(language, sentence):
    refusal = judge_language([sentence]).refusal
    assert refusal.startswith(("This text is not English: ", "This text may not be English: "))
    assert refusal.endswith("Words are tagged and swapped in English only.")


@pytest.mark.parametrize("sentence", ENGLISH)
def test_english_is_not_refused(sentence):
    assert judge_language([sentence]).refusal == ""


def test_a_script_and_the_words_of_a_language_are_named():
    assert "Cyrillic" in judge_language(OTHERS["Russian"]).why
    assert judge_language(["Der Mann hat einen Hund."]).why == "“der”, “einen” as in German"


def test_what_cannot_be_told_is_said_so():
    verdict = judge_language(["Paul aime Marie."])
    assert verdict.english is None and "may not be English" in verdict.refusal


def test_a_german_sentence_stays_as_it_is(tools):
    (made,) = perturb_texts(["Der Doctor hat ein Kind."], tools)
    assert made.text == "Der Doctor hat ein Kind." and made.swaps == ()
    assert made.refused.startswith("This text is not English")


def test_an_english_text_beside_it_is_swapped(tools):
    made = perturb_texts(["Der Mann hat einen Hund.", "The doctor came.", ""], tools)
    assert [one.text for one in made] == ["Der Mann hat einen Hund.", "The physician came.", ""]
    assert [bool(one.refused) for one in made] == [True, False, False]


def test_a_pair_in_another_language_is_rejected_with_the_reason(tools):
    pair = Instance(
        "own/p/1", "own", "all", "p", "pair", "sentence", options=("Die Hunde bellen nicht.", "Die Hunde bellt nicht.")
    )
    made = perturb_instance(pair, tools)
    assert made.instance is None and made.reason.startswith("This text")


def test_the_lab_reads_another_language_without_words(tools):
    text = Instance("text/own/1", "", "", "", "text", "text", context="Der Mann hat einen Hund.")
    reading = by_hand.read_instance(text, tools)
    assert reading.refused and by_hand.words_of(reading, tools) == {}
    shown = by_hand.shown_words(reading, by_hand.swap_words(reading, {}))
    assert [(running.text, words) for running, words in shown] == [("Der Mann hat einen Hund.", [])]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("blimp", 0),
        ("lambada", 0),
        ("lambada_original", 0),
        ("piqa", 0),
        ("copa", 0),
        ("winogrande", 0),
        ("syntaxgym", 0),
        ("crows_pairs", 0),
        ("rte", 0),
        ("trec", 1),  # "What does N est-ce pas mean ?"
        ("starter_pairs", 0),
        ("starter_cloze", 0),
    ],
)
def test_published_english_is_not_refused(data_folder, name, most):
    try:
        found = benchmarks.load(name, settings.read(data=data_folder)).instances
    except BenchmarkError as error:
        pytest.skip(str(error))
    refused = [one.id for one in found if judge_language(text.text for text in running_texts(one)).refusal]
    assert len(refused) <= most, refused[:10]


def test_an_instance_in_a_declared_language_is_refused_whatever_it_looks_like():
    looks_english = Instance(
        "a", "own", "all", "g", "text", "text", context="The man saw a dog.", extra={"language": "nl"}
    )
    assert (
        why_refused(looks_english)
        == "The language of this text is Dutch. Words are tagged and swapped in English only."
    )
    looks_german = Instance("a", "own", "all", "g", "text", "text", context="Er hat Hunger.", extra={"language": "en"})
    assert why_refused(looks_german) == ""
    assert "may not be English" in why_refused(
        dataclasses.replace(looks_german, extra={})
    ) or "is not English" in why_refused(dataclasses.replace(looks_german, extra={}))
