"""The words of an instance that are swapped together: all occurrences of a lemma in all its texts, in one sense."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from explorer.records import Instance
from explorer.variants import alignment, deciding, fields, inflect, language
from explorer.variants.fields import Running
from explorer.variants.lexicon import Lexicon, Pos, Sense
from explorer.variants.senses import Occurrence, SenseScorer, why_doubted
from explorer.variants.tagging import Tagger, Token
from explorer.variants.targets import Left, Target, find_targets


@dataclass(slots=True)
class Version:
    """A running text of an instance, its tokens, and what each noun and verb was taken for, by token."""

    running: Running
    tokens: tuple[Token, ...]
    analysis: dict[int, Target | Left] = field(default_factory=dict)

    @property
    def forms(self) -> list[str]:
        return [token.text.lower() for token in self.tokens]

    @property
    def targets(self) -> list[Target]:
        return [word for _, word in sorted(self.analysis.items()) if isinstance(word, Target)]

    @property
    def left(self) -> list[Left]:
        return [word for _, word in sorted(self.analysis.items()) if isinstance(word, Left)]


@dataclass(slots=True)
class Word:
    """A lemma of an instance: its targets with the number of their version, the senses it may have, scored."""

    lemma: str
    pos: Pos
    targets: list[tuple[int, Target]]
    senses: tuple[Sense, ...]
    scores: tuple[float, ...] = ()
    doubt: str = ""  # why the best-scored sense is not trusted


@dataclass(slots=True)
class Reading:
    """An instance read: its texts and its words."""

    instance: Instance
    versions: list[Version]
    words: list[Word]
    refused: str = ""  # why nothing can be swapped: the texts are not English


def read_instances(
    instances: Sequence[Instance],
    *,
    tagger: Tagger,
    lexicon: Lexicon,
    senses: SenseScorer,
    pos: str = "nv",
    veto: Collection[str] = (),
) -> list[Reading]:
    """Each instance with its swappable words, every sense of theirs scored in the first text that has the word.

    An instance in another language is neither tagged nor disambiguated: its reading says so and has no words.
    """
    running = [fields.running_texts(instance) for instance in instances]
    refusals = [language.why_refused(instance) for instance in instances]
    tagged = iter(
        tagger.tag([text.text for family, no in zip(running, refusals, strict=True) if not no for text in family])
    )
    readings = []
    for instance, family, refused in zip(instances, running, refusals, strict=True):
        if refused:
            readings.append(Reading(instance, [Version(text, ()) for text in family], [], refused))
            continue
        versions: list[Version] = []
        for text in family:
            versions.append(_read_version(text, next(tagged), versions, lexicon, pos, veto))
        if instance.format == "winogrande":
            _keep_options_in_their_sentence(versions)
        deciding.mark_deciding_words(instance, versions, lexicon)
        readings.append(Reading(instance, versions, _collect_words(versions)))
    _score_senses(readings, senses)
    return readings


def _read_version(
    running: Running,
    tokens: tuple[Token, ...],
    before: Sequence[Version],
    lexicon: Lexicon,
    pos: str,
    veto: Collection[str],
) -> Version:
    version = Version(running, tokens)
    targets, left = find_targets(tokens, running.text, lexicon, veto)
    for target in targets:
        reason = ""
        if target.pos not in pos:
            reason = "not asked for"
        elif fields.locate(running, target.start, target.end) is None:
            reason = "crosses a border"
        version.analysis[target.index] = _leave_word(target, reason) if reason else target
    version.analysis |= {word.index: word for word in left}
    _agree_with_earlier(version, before)
    return version


def _leave_word(target: Target, reason: str) -> Left:
    return Left(target.index, target.start, target.end, target.form, reason)


def _agree_with_earlier(version: Version, before: Sequence[Version]) -> None:
    """Makes a text's analysis that of the texts before it, wherever they have the same words.

    The tagger may read "stores" as a noun in one option and as a verb in the other. So a word that a text shares with
    the first of its family is what it is there; any other is what the n-th occurrence of its form was where it first
    occurred; and a word that stands where the first of the family has another form of its lemma is that lemma.
    """
    shared: dict[int, int] = {}
    opposite: dict[int, int] = {}
    family = [
        sibling for sibling in before if sibling.running.family and sibling.running.family == version.running.family
    ]
    if family:
        shared = {
            in_version: in_family
            for in_family, in_version in alignment.shared_positions(family[0].forms, version.forms)
        }
        opposite = {
            in_version: in_family
            for in_family, in_version in alignment.replaced_positions(family[0].forms, version.forms)
        }
    earlier_readings: dict[str, list[Target | Left | None]] = {}
    for sibling in before:
        for nth, token in _number_forms(sibling.tokens):
            if nth == len(earlier_readings.setdefault(token.text.lower(), [])):
                earlier_readings[token.text.lower()].append(sibling.analysis.get(token.index))
    for nth, token in _number_forms(version.tokens):
        earlier = earlier_readings.get(token.text.lower(), [])
        if token.index in shared:
            _put_word(version, token, family[0].analysis.get(shared[token.index]))
        elif earlier:
            _put_word(version, token, earlier[min(nth, len(earlier) - 1)])
        elif token.index in opposite:
            _follow_lemma(version, token, family[0].tokens[opposite[token.index]], family[0])


def _number_forms(tokens: Iterable[Token]) -> Iterable[tuple[int, Token]]:
    """Each token with how many of the same form stood before it in its text."""
    uses: dict[str, int] = {}
    for token in tokens:
        form = token.text.lower()
        yield uses.get(form, 0), token
        uses[form] = uses.get(form, 0) + 1


def _put_word(version: Version, token: Token, word: Target | Left | None) -> None:
    version.analysis.pop(token.index, None)
    if word is not None:
        version.analysis[token.index] = dataclasses.replace(
            word, index=token.index, start=token.start, end=token.end, form=token.text
        )


def _follow_lemma(version: Version, token: Token, family_token: Token, family: Version) -> None:
    theirs, mine = family.analysis.get(family_token.index), version.analysis.get(token.index)
    if isinstance(theirs, Target):
        tag = inflect.tag_of(token.text, theirs.lemma, theirs.pos, token.tag)
        if tag is not None:
            _put_word(version, token, dataclasses.replace(theirs, tag=tag))
    elif isinstance(mine, Target) and mine.lemma in inflect.lemmas_of(family_token.text, mine.pos):
        version.analysis[token.index] = _leave_word(mine, "its other form stays")


def _keep_options_in_their_sentence(versions: Sequence[Version]) -> None:
    """Leaves a word of an option that its sentence has as another word ("black" the noun and the adjective)."""
    keys_of_form: dict[str, set[tuple[str, str] | None]] = {}
    forms_of_options: set[str] = set()
    for version in versions:
        for token in version.tokens:
            word, place = version.analysis.get(token.index), fields.locate(version.running, token.start, token.end)
            key = (word.lemma, word.pos) if isinstance(word, Target) else None
            keys_of_form.setdefault(token.text.lower(), set()).add(key)
            if place and place[0].startswith("option"):
                forms_of_options.add(token.text.lower())
    for version in versions:
        for target in version.targets:
            form = target.form.lower()
            if form in forms_of_options and len(keys_of_form[form]) > 1:
                version.analysis[target.index] = _leave_word(target, "not the same word everywhere")


def _collect_words(versions: Sequence[Version]) -> list[Word]:
    words: dict[tuple[str, Pos], Word] = {}
    for number, version in enumerate(versions):
        for target in version.targets:
            key = (target.lemma, target.pos)
            words.setdefault(key, Word(*key, [], target.senses)).targets.append((number, target))
    for word in words.values():
        shared = [sense for sense in word.senses if all(sense in target.senses for _, target in word.targets)]
        word.senses = tuple(shared) or word.senses
    return [words[key] for key in sorted(words)]


def _score_senses(readings: Sequence[Reading], senses: SenseScorer) -> None:
    index_of: dict[Occurrence, int] = {}
    words_and_numbers: list[tuple[Word, list[int]]] = []
    for reading in readings:
        for word in reading.words:
            first = word.targets[0][0]
            occurrences = [
                occurrence(reading.versions[first].tokens, reading.versions[first].running.text, target, word.senses)
                for number, target in word.targets
                if number == first
            ]
            words_and_numbers.append(
                (word, [index_of.setdefault(occurrence, len(index_of)) for occurrence in occurrences])
            )
    ambiguous = [occurrence for occurrence in index_of if len(occurrence.senses) > 1]
    scores = dict(zip(ambiguous, senses.score(ambiguous), strict=True))
    order = list(index_of)
    for word, occurrence_numbers in words_and_numbers:
        rows = [scores.get(order[place], (0.0,)) for place in occurrence_numbers]
        word.scores = tuple(sum(column) / len(column) for column in zip(*rows, strict=True))
        word.doubt = why_doubted(word.senses, word.scores, senses.name)


def occurrence(tokens: Sequence[Token], text: str, target: Target, senses: tuple[Sense, ...]) -> Occurrence:
    """The target in its sentence."""
    sentence = tokens[target.index].sentence
    inside = [token for token in tokens if token.sentence == sentence]
    start, end = inside[0].start, inside[-1].end
    return Occurrence(text[start:end], target.start - start, target.end - start, target.lemma, target.pos, senses)
