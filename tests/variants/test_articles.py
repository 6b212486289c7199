import pytest

from explorer.variants import articles

RIGHT = """an hour;a university;an FBI agent;a European;an honest man;an MRI;a one-way street;an X-ray;an heir;a
historic day;a U-turn;an NBA game;a ewe;a ukulele;an apple;an 8;an 11;an 18;a 1;an 80;a 100;an 11000;a
110;an unusual day;an uninvited guest;a unicorn;a user;an umbrella;an uncle;a unit;a utensil;an usher;an
urn;a eulogy;a onesie;an onion;an undertaking;a union;an unintended effect;a used car;an L-shaped room;a
TV;an NGO;a NATO base;a UFO;an employee;a yes;an umpire;a utopia;an utterance;an heirloom;a heist;an
unidentified man;a uniform"""


@pytest.mark.parametrize("phrase", [" ".join(phrase.split()) for phrase in RIGHT.split(";")])
def test_article_follows_the_sound(phrase):
    article, word = phrase.split(" ", 1)
    assert articles.indefinite_article(word) == article


def test_article_keeps_its_case():
    assert articles.mend_article("A", "apple") == "An"
    assert articles.mend_article("an", "pear") == "a"
    assert articles.mend_article("AN", "PEAR") == "A"
