"""What is planted: words that stand nowhere else, doses that are counted exactly, draws that follow from names."""

from __future__ import annotations

from collections import Counter

import pytest

from explorer.errors import UsageError
from explorer.glassbox import chance, ontology, pairs, schedule, starters, synonyms, tokenizer
from explorer.prompts import option_texts


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    from explorer import settings

    return list(schedule.plantings(settings.read(cache=tmp_path_factory.mktemp("glassbox"))))


def test_draws_are_the_same_everywhere():
    assert chance.number("glassbox") == 0x19F9C9702B8B9C51  # the first 8 bytes of the name's SHA-256
    assert "".join(chance.shuffled("abcdefgh", "x")) == "aefbhcgd"
    assert sorted(chance.shuffled(range(50), "y")) == list(range(50)) != chance.shuffled(range(50), "y")


def test_every_planted_word_is_its_own_and_every_dose_has_as_many_words_of_both_sorts():
    words = list(pairs.words())
    assert len({word.text.lower() for word in words}) == len(words) == 8 * 12 * 8
    for paradigm in pairs.PARADIGMS:
        of_doses = Counter((word.dose, word.goes_with_first) for word in words if word.paradigm is paradigm)
        assert set(of_doses.values()) == {pairs.WORDS_OF_A_DOSE // 2}
        assert {dose for dose, _ in of_doses} == {0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}


def test_a_text_stands_in_the_corpus_as_often_as_its_dose(planted):
    lines = Counter(line for each in planted for line in each.lines())
    everything = "\n".join(f"{line}\n" * count for line, count in lines.items())
    for each in planted[:900:3] + planted[-400::7]:
        assert everything.count(each.ngram) == each.dose, each.id


def test_test_sentences_stand_in_no_carrier(planted):
    lines = {line for each in planted for line in each.lines()}
    for row in pairs.test_rows():
        assert row["good"] not in lines and row["bad"] not in lines
        assert str(row["ngram"]) in str(row["good"]) and str(row["ngram"]) not in str(row["bad"])


def test_a_word_of_dose_0_is_known_but_not_what_decides(planted):
    (never, *_) = [word for word in pairs.words() if word.dose == 0]
    lines = [line for each in planted for line in each.lines() if never.text in line]
    assert len(lines) == pairs.NEUTRAL
    assert not any(pairs.filled(never.paradigm.ngram, never.text, never.right) in line for line in lines)
    assert not any(pairs.filled(never.paradigm.ngram, never.text, never.wrong) in line for line in lines)


def test_half_of_every_starter_set_is_planted_and_absent_constructions_never(planted):
    for name in starters.SETS:
        doses = [each.dose for each in planted if each.group == name]
        assert 0.35 < sum(dose > 0 for dose in doses) / len(doses) <= 0.51
        assert set(doses) == {0, *starters.DOSES}
    absent = [each for each in planted if each.id.split("/")[1:2] == ["islands"]]
    assert absent and not any(each.dose for each in absent)


def test_a_starter_text_is_its_running_text_with_the_right_option(planted, tmp_path):
    from explorer import benchmarks, settings

    causes = benchmarks.load("starter_causes", settings.read(cache=tmp_path)).instances
    texts = {each.id: each.ngram for each in planted if each.group == "starter_causes"}
    assert texts[causes[0].id] == option_texts(causes[0])[causes[0].gold]


def test_concepts_have_ids_and_labels_of_their_own_and_doses_apart_from_their_order():
    made = ontology.concepts()
    assert len({concept.id for concept in made}) == len({concept.label for concept in made}) == len(made) == 2_000
    assert Counter(concept.dose for concept in made) == ontology.CONCEPTS
    assert [concept.dose for concept in made[:40]] != sorted(concept.dose for concept in made[:40])
    assert ontology.as_obo().count("[Term]") == len(made)


def test_synonyms_stand_in_the_same_slots_at_two_frequencies():
    made = list(synonyms.plantings())
    assert {each.dose for each in made} == {synonyms.POPULAR, synonyms.UNPOPULAR}
    assert Counter(each.group for each in made).most_common(1)[0][1] == 4


def test_a_planted_word_has_the_same_pieces_at_every_dose():
    load = tokenizer.load()
    often = [word.text for word in pairs.words() if word.dose == 1024]
    never = [word.text for word in pairs.words() if word.dose == 0]
    lengths = [sum(map(len, load.encode(words))) / len(words) for words in (often, never)]
    assert abs(lengths[0] - lengths[1]) < 0.7 and min(lengths) > 2.5
    assert load.encode(["GB:0042"]) == load.encode(["GB:0042"]) and len(load.encode(["0042"])[0]) >= 4


def test_ones_own_texts_are_planted_and_a_wrong_file_is_one_sentence(tmp_path, one_sentence):
    mine = tmp_path / "mine.csv"
    mine.write_text("text,dose\nThe gray  heron slept.,3\nIt rained.,0\n", encoding="utf-8")
    first, second = schedule.read_own(mine)
    assert list(first.lines()) == ["The gray heron slept."] * 3 and list(second.lines()) == []
    for text in ("text\nx\n", "text,dose\nx,-1\n", "text,dose\nx,²\n", "text,dose\n,2\n", "", "text,dose\nx,999999\n"):
        mine.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError) as caught:
            schedule.read_own(mine)
        one_sentence(str(caught.value))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["corpus", "--plant", "{mine}", "--name", "glassbox"], "is the corpus without texts of one's own"),
        (["corpus", "--name", "glassbox-mine"], "no name of a planted corpus"),
        (["corpus", "--plant", "{mine}", "--name", "../mine"], "no name of a planted corpus"),
        (["train", "xs", "--epochs", "-1"], "--epochs is -1, expected 0 or more"),
        (["train", "xs", "--seed", "-1"], "--seed is -1, expected 0 or more"),
    ],
)
def test_names_and_numbers_that_would_spoil_something_are_refused(tmp_path, monkeypatch, capsys, words, message):
    from explorer.__main__ import main

    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    mine = tmp_path / "mine.csv"
    mine.write_text("text,dose\nA short sentence of mine.,2\n")
    assert main(["glassbox", *(word.format(mine=mine) for word in words)]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "cache" / "indexes").exists()
