"""Nouns and verbs swapped for synonyms, in a text or in all options of an instance at once, its label preserved.

After "Perturbation Strategy" and appendix A.2 of the lexical-popularity paper: tag, disambiguate in context, draw one
other word of the synset uniformly, restore inflection, case and article. docs/PERTURBATION.md tells what we add.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from explorer.errors import UsageError
from explorer.records import Instance
from explorer.variants import articles, deciding, fields, synonyms
from explorer.variants.lexicon import Lexicon, Sense
from explorer.variants.senses import SenseScorer, best_sense
from explorer.variants.swap_edits import (
    Choice,
    Swap,
    article_before,
    find_flags,
    find_parted,
    inflect_for,
    swaps_and_edits,
    why_broken,
)
from explorer.variants.tagging import Tagger
from explorer.variants.words import Reading, Version, Word, read_instances

SETTINGS = {"N": "n", "V": "v", "NV": "nv"}  # which words are swapped: nouns, verbs or both
CHUNK = 256  # instances tagged and disambiguated together; no answer depends on it

# How the reason begins of a word that stayed although it could be swapped: its sense has another word, or our rules
# held back. Names, auxiliaries, fixed expressions and words without a synonym cannot be swapped at all.
GUESSED = "the word to be guessed"
UNSURE = "not sure of the sense: "
HELD_BACK = (
    "no fitting synonym",
    "perhaps a ",
    "past or present",
    "no sense that is used",
    UNSURE,
    deciding.STAYS,
    deciding.GENDER_STAYS,
    GUESSED,
)

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Tools:
    """What perturbing asks of the world."""

    lexicon: Lexicon
    tagger: Tagger
    senses: SenseScorer


@dataclass(frozen=True, slots=True)
class PerturbedInstance:
    """An instance with its words swapped, or None and the reason why it was rejected.

    An instance in which nothing could be swapped comes back as it was, flagged "unchanged". `left` names the nouns and
    verbs that stayed, each with its reason.
    """

    instance: Instance | None
    swaps: tuple[Swap, ...] = ()
    flags: tuple[str, ...] = ()
    reason: str = ""
    left: tuple[tuple[str, str], ...] = ()

    def swaps_of(self, option: int) -> tuple[Swap, ...]:
        """The swaps in one option (SyntaxGym: one condition) and in what it shares with the others."""
        parts = {"context", "second", f"option {option}"}
        condition = f"condition {option} "
        return tuple(swap for swap in self.swaps if swap.part in parts or swap.part.startswith(condition))


@dataclass(frozen=True, slots=True)
class Perturbed:
    """A text with its words swapped; `left` names the nouns and verbs that stayed, each with its reason.

    A text that is not English comes back as it was, and `refused` says why.
    """

    text: str
    swaps: tuple[Swap, ...] = ()
    left: tuple[tuple[str, str], ...] = ()
    refused: str = ""


def held_back(left: Sequence[tuple[str, str]]) -> int:
    """How many of the words that stayed could be swapped."""
    return sum(reason.startswith(HELD_BACK) for _, reason in left)


def perturb_instance(
    instance: Instance,
    tools: Tools,
    *,
    pos: str = "NV",
    seed: int = 0,
    veto: Collection[str] = (),
    choices: Mapping[str, str] | None = None,
) -> PerturbedInstance:
    """The instance with the same swaps made in every option, so that its options differ exactly where they did."""
    return perturb_instances([instance], tools, pos=pos, seed=seed, veto=veto, choices=choices)[0]


def perturb_instances(
    instances: Sequence[Instance],
    tools: Tools,
    *,
    pos: str = "NV",
    seed: int = 0,
    veto: Collection[str] = (),
    choices: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> list[PerturbedInstance]:
    """`perturb_instance` for many, in the order given.

    veto     words that are never swapped, in any form
    choices  substitutes chosen by hand, by lemma ("arrest") or by lemma and part of speech ("arrest.v")
    """
    if pos not in SETTINGS:
        raise UsageError(f"There is no setting {pos!r}; there are N (nouns), V (verbs) and NV (both).")
    done: list[PerturbedInstance] = []
    for first in range(0, len(instances), CHUNK):
        readings = read_instances(
            instances[first : first + CHUNK],
            tagger=tools.tagger,
            lexicon=tools.lexicon,
            senses=tools.senses,
            pos=SETTINGS[pos],
            veto=veto,
        )
        done += [perturb_reading(reading, pos, seed, choices or {}) for reading in readings]
        if progress:
            progress(len(done), len(instances))
    return done


def perturb_texts(
    originals: Sequence[str],
    tools: Tools,
    *,
    pos: str = "NV",
    seed: int = 0,
    veto: Collection[str] = (),
    choices: Mapping[str, str] | None = None,
    keys: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> list[Perturbed]:
    """Each text with its words swapped; `keys` are what the draws are keyed by, by default a hash of each text.

    `languages` are the codes of the texts' languages, "" where a text is looked at to tell.
    """
    names = keys or [text_key(text) for text in originals]
    instances = [
        Instance(
            id=name,
            benchmark="",
            split="",
            group="",
            kind="text",
            format="text",
            context=text,
            extra={"language": code} if code else {},
        )
        for name, text, code in zip(names, originals, languages or [""] * len(names), strict=True)
    ]
    perturbed = perturb_instances(instances, tools, pos=pos, seed=seed, veto=veto, choices=choices, progress=progress)
    return [
        Perturbed(
            result.instance.context if result.instance else text,
            result.swaps,
            result.left,
            "" if result.instance or not text else result.reason,
        )
        for result, text in zip(perturbed, originals, strict=True)
    ]


def text_key(text: str) -> str:
    """What the draws of a text without an id are keyed by."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def perturb_reading(reading: Reading, pos: str, seed: int, by_hand: Mapping[str, str]) -> PerturbedInstance:
    """An instance that was read with its words swapped; `by_hand` names substitutes by lemma or lemma and class."""
    if not reading.versions:
        return PerturbedInstance(None, reason=f"a {reading.instance.kind} has no sentence")
    if reading.refused:
        return PerturbedInstance(None, reason=reading.refused)
    words_left = tuple(dict.fromkeys((word.form, word.reason) for version in reading.versions for word in version.left))
    # A synonym may change the a or an before it, and in one option only. Where that breaks the pair, words are drawn
    # once more, from those that take the article which stands there.
    for keep_articles in (False, True):
        choices, stayed = _choose_substitutes(reading, seed, by_hand, keep_articles)
        swaps, edits = swaps_and_edits(reading, choices)
        if parted := find_parted(reading.instance, swaps, by_hand):
            stayed += tuple(
                (word.targets[0][1].form, GUESSED) for word in reading.words if (word.lemma, word.pos) in parted
            )
            choices = {key: choice for key, choice in choices.items() if key not in parted}
            swaps, edits = swaps_and_edits(reading, choices)
        new_instance = fields.rebuild_instance(reading.instance, edits)
        reason = why_broken(reading, choices, new_instance)
        if not reason:
            break
    else:
        return PerturbedInstance(None, swaps, reason=reason, left=(*words_left, *stayed))
    edit = {"study": "perturbation", "pos": pos, "seed": seed, "swaps": [asdict(swap) for swap in swaps]}
    new_instance = replace(
        new_instance,
        id=f"{reading.instance.id}#perturbed-{pos}-{seed}",
        parent=reading.instance.id,
        edit=json.dumps(edit, ensure_ascii=False),
    )
    return PerturbedInstance(new_instance, swaps, find_flags(reading.instance, swaps), left=(*words_left, *stayed))


def _choose_substitutes(
    reading: Reading, seed: int, by_hand: Mapping[str, str], keep_articles: bool
) -> tuple[dict[tuple[str, str], Choice], tuple[tuple[str, str], ...]]:
    """A sense and a substitute for each word that can have one; the others with the reason."""
    present = {word for version in reading.versions for token in version.tokens for word in (token.text, token.lemma)}
    used_words = {word.lower() for word in present}
    choices: dict[tuple[str, str], Choice] = {}
    stayed = []
    for word in reading.words:
        sense = word.senses[best_sense(word.scores)]
        chosen = by_hand.get(f"{word.lemma}.{word.pos}") or by_hand.get(word.lemma)
        if chosen:
            choices[word.lemma, word.pos] = Choice(_sense_with(word, chosen) or sense, chosen, True)
            continue
        if word.doubt and sense.others:
            stayed.append((word.targets[0][1].form, f"{UNSURE}{word.doubt}"))
            continue
        pool = [
            candidate
            for candidate in shared_candidates(word, sense, reading.versions, keep_articles)
            if not used_words & {candidate.lemma, *(inflect_for(candidate.lemma, target) for _, target in word.targets)}
        ]
        drawn = synonyms.sample_synonyms(pool, seed=seed, key=reading.instance.id, lemma=word.lemma, pos=word.pos)
        if drawn:
            choices[word.lemma, word.pos] = Choice(sense, drawn[0].lemma)
            used_words.add(drawn[0].lemma)  # two words of an instance never become one
        else:
            reason = "no fitting synonym" if sense.others else "no other word"
            stayed.append((word.targets[0][1].form, f"{reason} in the sense {sense.synset}"))
    return choices, tuple(stayed)


def _sense_with(word: Word, substitute: str) -> Sense | None:
    """The best-scored sense that has the substitute among its words."""
    order = sorted(range(len(word.senses)), key=lambda i: (i != best_sense(word.scores), -word.scores[i], i))
    name = substitute.replace(" ", "_").lower()
    return next((word.senses[i] for i in order if any(o.name.lower() == name for o in word.senses[i].others)), None)


def shared_candidates(
    word: Word, sense: Sense, versions: Sequence[Version], keep_articles: bool = False
) -> list[synonyms.Candidate]:
    """The synonyms that fit every occurrence of a word and keep its forms as different as they are."""
    targets = [target for _, target in word.targets]
    pools = [{candidate.lemma for candidate in synonyms.offered_candidates(target, sense)} for target in targets]
    fitting = set.intersection(*pools)
    usable = []
    for candidate in synonyms.offered_candidates(targets[0], sense):
        # A pair may be about the forms: of "took" and "taken" no synonym may make "cost" and "cost".
        forms = {target.form.lower(): inflect_for(candidate.lemma, target) for target in targets}
        if candidate.lemma not in fitting or len(set(forms.values())) < len(forms):
            continue
        if keep_articles and any(
            article_before(versions[number], target)
            and articles.indefinite_article(inflect_for(candidate.lemma, target))
            != articles.indefinite_article(target.form)
            for number, target in word.targets
        ):
            continue
        usable.append(candidate)
    return usable
