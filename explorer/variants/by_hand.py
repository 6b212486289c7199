"""Swaps made one at a time, in an instance that is read once: what the lab of the app works with.

reading = read_instance(instance, tools)
offered = words_of(reading, tools)                        which words can be swapped, in which senses, for what
perturbed = swap_words(reading, {"arrest.v": "collar"})   the instance with these words swapped and no others
shown = shown_words(reading, perturbed)                   where every word now stands in each running text
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from explorer.records import Instance
from explorer.variants import fields
from explorer.variants.fields import Running
from explorer.variants.perturb import PerturbedInstance, Tools, perturb_reading
from explorer.variants.swap_edits import Swap
from explorer.variants.swappable import WordView, view_word
from explorer.variants.words import Reading, read_instances

# How far the neighbors' mending (a, an, 's) can move a word beside what the swaps themselves move.
REACH = (0, 1, -1, 2, -2)


@dataclass(frozen=True, slots=True)
class ShownWord:
    """A word in a running text as it now stands: `text[start:end]`, its key ("arrest.v"), its swap if it has one."""

    start: int
    end: int
    key: str
    swap: Swap | None


def key_of(lemma: str, pos: str) -> str:
    """The name by which a word is chosen."""
    return f"{lemma}.{pos}"


def read_instance(instance: Instance, tools: Tools, veto: Collection[str] = ()) -> Reading:
    """The instance tagged and disambiguated, which is what takes time; swaps after it take a millisecond."""
    (reading,) = read_instances([instance], tagger=tools.tagger, lexicon=tools.lexicon, senses=tools.senses, veto=veto)
    return reading


def words_of(reading: Reading, tools: Tools) -> dict[str, WordView]:
    """The words that have a synonym in some sense, by key, in reading order."""
    first = {
        key_of(word.lemma, word.pos): min((number, target.start) for number, target in word.targets)
        for word in reading.words
    }
    views = {key_of(word.lemma, word.pos): view_word(word, reading, tools.senses.name) for word in reading.words}
    keys = (key for key, view in views.items() if any(sense.offered for sense in view.senses))
    return {key: views[key] for key in sorted(keys, key=first.__getitem__)}


def swap_words(reading: Reading, choices: Mapping[str, str], seed: int = 0) -> PerturbedInstance:
    """The instance with the chosen substitutes in place of these words, every other word left as it is."""
    chosen = [word for word in reading.words if key_of(word.lemma, word.pos) in choices]
    return perturb_reading(dataclasses.replace(reading, words=chosen), "NV", seed, choices)


def sample_substitutes(reading: Reading, tools: Tools, pos: str, seed: int) -> dict[str, str]:
    """The substitutes that a full run with this seed would draw, by key; none where it would reject the instance."""
    classes = {"N": "n", "V": "v", "NV": "nv"}[pos]
    of_class = [word for word in reading.words if word.pos in classes]
    perturbed = perturb_reading(dataclasses.replace(reading, words=of_class), pos, seed, {})
    if perturbed.instance is None:
        return {}
    views = words_of(reading, tools)
    drawn: dict[str, str] = {}
    for swap in perturbed.swaps:
        key = key_of(swap.lemma, swap.pos)
        senses = (sense for sense in views[key].senses if sense.sense.synset == swap.synset)
        forms = {candidate.form: candidate.lemma for sense in senses for candidate in sense.offered}
        # Several forms of a word share one substitute; the first target's form names it.
        if swap.substitute.lower() in forms:
            drawn.setdefault(key, forms[swap.substitute.lower()])
    return drawn


def shown_words(reading: Reading, perturbed: PerturbedInstance) -> list[tuple[Running, list[ShownWord]]]:
    """Each running text of the changed instance with its words; of the original where the change was rejected."""
    instance = perturbed.instance or reading.instance
    swaps = {(swap.part, swap.start): swap for swap in perturbed.swaps} if perturbed.instance else {}
    new_places = _new_places(reading, instance, swaps)
    shown = []
    for number, running in enumerate(fields.running_texts(instance)):
        words = []
        for word in reading.words:
            for where, target in word.targets:
                place = fields.locate(reading.versions[where].running, target.start, target.end)
                if where == number and place in new_places:
                    part, start, end = new_places[place]
                    shift = _offset_in_running(running, part, start, end)
                    if shift is not None:
                        key = key_of(word.lemma, word.pos)
                        words.append(ShownWord(start + shift, end + shift, key, swaps.get((part, place[1]))))
        shown.append((running, sorted(words, key=lambda word: word.start)))
    return shown


Place = tuple[str, int, int]


def _new_places(reading: Reading, instance: Instance, swaps: Mapping[tuple[str, int], Swap]) -> dict[Place, Place]:
    """Old place → new place, in the characters of their field, of every word that can be found again."""
    targets: dict[Place, str] = {}
    for word in reading.words:
        for number, target in word.targets:
            place = fields.locate(reading.versions[number].running, target.start, target.end)
            if place:
                targets[place] = target.form
    # From left to right; `shifts` is by how far the words of a field have moved so far: after "an ape" → "a gorilla" by
    # 4 for the swap less 1 for the article. The next word is looked for there, and a little around.
    new_places: dict[Place, Place] = {}
    shifts: dict[str, int] = {}
    for place, form in sorted(targets.items()):
        part, start, end = place
        text = _text_of(instance, part)
        form_now = swaps[part, start].substitute if (part, start) in swaps else form
        expected = start + shifts.get(part, 0)
        found_at = next((expected + step for step in REACH if text.startswith(form_now, max(expected + step, 0))), None)
        if found_at is not None:
            new_places[place] = (part, found_at, found_at + len(form_now))
            shifts[part] = found_at + len(form_now) - end
    return new_places


def _text_of(instance: Instance, part: str) -> str:
    """The field of an instance that a part's name means."""
    if part in ("context", "second"):
        return str(getattr(instance, part))
    words = part.split()
    if words[0] == "option":
        return instance.options[int(words[1])]
    return instance.conditions[int(words[1])].regions[int(words[3])]


def _offset_in_running(running: Running, part: str, start: int, end: int) -> int | None:
    """From characters of a field to characters of a running text; None where the text does not hold them."""
    for piece in running.pieces:
        length = piece.end - piece.start
        if piece.part == part and piece.offset <= start and end <= piece.offset + length:
            return piece.start - piece.offset
    return None


def edited_instance(instance: Instance, perturbed: PerturbedInstance) -> Instance:
    """The changed instance under an id of its own; the original where nothing was changed or it was rejected."""
    if perturbed.instance is None or not perturbed.swaps:
        return instance
    return dataclasses.replace(perturbed.instance, id=f"{instance.id}#by-hand")
