"""Swaps as the lexical-popularity paper describes them (appendix A.2), without our care for label and grammar.

Said there: tag the words; of each noun and verb but auxiliaries, modals and proper nouns choose the synset that matches
the context; draw one of its lexical items uniformly; restore the inflection. Where it is silent we choose:

    each text of an instance is perturbed by itself, so that two options may get different words for the same one
    a word that recurs in a text gets one substitute there
    *be*, *have* and *do* are auxiliaries in every use
    one *other* item is drawn; items of several words or with capitals are passed over, as their forms are not told
    a or an before the word is mended; a word that crosses from one field into another stays
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace

from explorer.records import Instance
from explorer.variants import fields, inflect, synonyms
from explorer.variants.fields import Edit, Running
from explorer.variants.perturb import SETTINGS, PerturbedInstance, Tools
from explorer.variants.senses import best_sense
from explorer.variants.swap_edits import Choice, Swap, find_flags, swaps_and_edits
from explorer.variants.tagging import Token
from explorer.variants.targets import GRAMMAR_VERBS, Target
from explorer.variants.words import Reading, Version, Word, occurrence

CHANGED_LABEL = "label perhaps changed"  # a flag: the options no longer differ just where they did


def perturb_as_published(
    instances: Sequence[Instance], tools: Tools, *, pos: str = "NV", seed: int = 0
) -> list[PerturbedInstance]:
    """The instances with every noun and verb swapped that has another word in its sense, in the order given."""
    families = [fields.running_texts(instance) for instance in instances]
    tagged = iter(tools.tagger.tag([text.text for family in families for text in family]))
    readings = [
        [_read_text(instance, text, next(tagged), tools, SETTINGS[pos]) for text in family]
        for instance, family in zip(instances, families, strict=True)
    ]
    _score_senses([word for family in readings for reading in family for word in reading.words], readings, tools)
    return [_swap_words(instance, family, pos, seed) for instance, family in zip(instances, readings, strict=True)]


def _read_text(instance: Instance, running: Running, tokens: tuple[Token, ...], tools: Tools, pos: str) -> Reading:
    """One text by itself with its words, each with all senses that WordNet has."""
    words: dict[tuple[str, str], Word] = {}
    for token in tokens:
        target = _find_target(token, running, tools, pos)
        if target:
            words.setdefault(
                (target.lemma, target.pos), Word(target.lemma, target.pos, [], target.senses)
            ).targets.append((0, target))
    return Reading(instance, [Version(running, tokens)], list(words.values()))


def _find_target(token: Token, running: Running, tools: Tools, pos: str) -> Target | None:
    kind = "n" if token.tag in ("NN", "NNS") else "v" if token.tag.startswith("VB") else ""
    if not kind or kind not in pos or token.pos in ("PROPN", "AUX") or not token.text.isalpha():
        return None
    lemma = token.lemma.lower()
    senses = tools.lexicon.senses(lemma, kind)  # type: ignore[arg-type]
    if lemma in GRAMMAR_VERBS or not senses or fields.locate(running, token.start, token.end) is None:
        return None
    return Target(token.index, token.start, token.end, token.text, token.tag, lemma, kind, senses)  # type: ignore[arg-type]


def _score_senses(words: Sequence[Word], readings: Sequence[Sequence[Reading]], tools: Tools) -> None:
    """Scores the senses of each word in the sentence in which it first stands."""
    versions = {id(word): reading.versions[0] for family in readings for reading in family for word in reading.words}
    occurrences = []
    for word in words:
        version, (_, target) = versions[id(word)], word.targets[0]
        occurrences.append(occurrence(version.tokens, version.running.text, target, word.senses))
    ambiguous = list(
        dict.fromkeys(word_occurrence for word_occurrence in occurrences if len(word_occurrence.senses) > 1)
    )
    scores = dict(zip(ambiguous, tools.senses.score(ambiguous), strict=True))
    for word, word_occurrence in zip(words, occurrences, strict=True):
        word.scores = scores.get(word_occurrence, (0.0,))


def _swap_words(instance: Instance, family: Sequence[Reading], pos: str, seed: int) -> PerturbedInstance:
    swaps: dict[tuple[str, int], Swap] = {}
    edits: dict[tuple[str, int], Edit] = {}
    for number, reading in enumerate(family):
        key = f"{instance.id}\x1f{number}" if reading.versions[0].running.family else instance.id
        choices: dict[tuple[str, str], Choice] = {}
        for word in reading.words:
            sense = word.senses[best_sense(word.scores)]
            pool = [
                synonyms.Candidate(lemma.name, lemma.name)
                for lemma in sense.others
                if lemma.name.isalpha() and lemma.name.islower() and inflect.inflect(lemma.name, word.targets[0][1].tag)
            ]
            drawn = synonyms.sample_synonyms(pool, seed=seed, key=key, lemma=word.lemma, pos=word.pos)
            if drawn:
                choices[word.lemma, word.pos] = Choice(sense, drawn[0].lemma)
        reading_swaps, reading_edits = swaps_and_edits(reading, choices)
        # A field that two texts share (the sentence around WinoGrande's gap) keeps what was drawn for the first.
        for swap in reading_swaps:
            swaps.setdefault((swap.part, swap.start), swap)
        for edit in reading_edits:
            edits.setdefault((edit.part, edit.start), edit)
    all_swaps = tuple(swaps[key] for key in sorted(swaps))
    new = fields.rebuild_instance(instance, list(edits.values()))
    record = {
        "study": "perturbation",
        "method": "published",
        "pos": pos,
        "seed": seed,
        "swaps": list(map(asdict, all_swaps)),
    }
    new = replace(
        new, id=f"{instance.id}#perturbed-{pos}-{seed}", parent=instance.id, edit=json.dumps(record, ensure_ascii=False)
    )
    flags = find_flags(instance, all_swaps)
    if len(set(new.options)) < len(set(instance.options)):
        flags = (*flags, f"{CHANGED_LABEL}: two options became the same")
    return PerturbedInstance(new, all_swaps, flags)
