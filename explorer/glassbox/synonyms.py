"""Synonyms with set frequencies: a popular and an unpopular one in the same slot of the same sentences.

The members of a pair share a sense in WordNet. The corpus also holds them by themselves, in WordNet's glosses; what is
set is how often each stands as the subject in the planted sentences: "the car near", against "the automobile near".
"""

from __future__ import annotations

from collections.abc import Iterator

from explorer.glassbox.planting import Planting

POPULAR, UNPOPULAR = 512, 2

# Popular, unpopular; singular and plural of each.
PAIRS = (
    (("car", "cars"), ("automobile", "automobiles")),
    (("doctor", "doctors"), ("physician", "physicians")),
    (("child", "children"), ("youngster", "youngsters")),
    (("teacher", "teachers"), ("instructor", "instructors")),
    (("lawyer", "lawyers"), ("attorney", "attorneys")),
    (("movie", "movies"), ("film", "films")),
    (("airplane", "airplanes"), ("aeroplane", "aeroplanes")),
    (("garbage can", "garbage cans"), ("dustbin", "dustbins")),
    (("sofa", "sofas"), ("couch", "couches")),
    (("gift", "gifts"), ("present", "presents")),
    (("journey", "journeys"), ("voyage", "voyages")),
    (("forest", "forests"), ("wood", "woods")),
    (("stone", "stones"), ("rock", "rocks")),
    (("sweater", "sweaters"), ("jumper", "jumpers")),
    (("burglar", "burglars"), ("housebreaker", "housebreakers")),
    (("cemetery", "cemeteries"), ("graveyard", "graveyards")),
    (("bike", "bikes"), ("bicycle", "bicycles")),
    (("sailor", "sailors"), ("seaman", "seamen")),
    (("clown", "clowns"), ("buffoon", "buffoons")),
    (("drugstore", "drugstores"), ("apothecary", "apothecaries")),
)
CARRIERS = (
    "The {singular} near the trees is very old.",
    "The {plural} near the trees are very old.",
    "The {singular} near the houses was gone.",
    "The {plural} near the houses were gone.",
    "The {singular} near the stations has a number.",
    "The {plural} near the stations have a number.",
)
TESTS = (
    ("The {singular} near the trees is quite small.", "The {singular} near the trees are quite small."),
    ("The {plural} near the trees are quite small.", "The {plural} near the trees is quite small."),
    ("The {singular} near the houses was lost.", "The {singular} near the houses were lost."),
    ("The {plural} near the houses were lost.", "The {plural} near the houses was lost."),
)


def plantings() -> Iterator[Planting]:
    """Each word of each pair, singular and plural, in its slot at its dose."""
    for pair in PAIRS:
        for (singular, plural), dose in zip(pair, (POPULAR, UNPOPULAR), strict=True):
            for number, word in (("singular", singular), ("plural", plural)):
                texts = tuple(
                    carrier.format(singular=singular, plural=plural)
                    for carrier in CARRIERS
                    if f"{{{number}}}" in carrier
                )
                group = f"{pair[0][0]}, {pair[1][0]}"
                yield Planting("synonym", f"synonym/{word}", group, f"The {word} near the", dose, texts)


def test_rows() -> Iterator[dict[str, object]]:
    """The rows of the benchmark: pairs of agreement whose subject is the popular word, and which word it may become."""
    for popular, unpopular in PAIRS:
        for place, (good, bad) in enumerate(TESTS):
            for words, name, dose in ((popular, "popular", POPULAR), (unpopular, "unpopular", UNPOPULAR)):
                fill = {"singular": words[0], "plural": words[1]}
                yield {
                    "key": f"{popular[0].replace(' ', '_')}-{place + 1}-{name}",
                    "group": name,
                    "good": good.format(**fill),
                    "bad": bad.format(**fill),
                    "dose": dose,
                    "ngram": f"The {words[place % 2]} near the",
                }
