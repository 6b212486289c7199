"""What columns are called: the names that tell a role, and the columns of well-known releases."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

# Column names, in small letters and digits only, that tell a role; the first that occurs is taken.
NAMES: Mapping[str, str] = {
    # CrowS-Pairs names its sentences by how stereotypical they are.
    "good": "sentencegood good goodsentence sentgood acceptable acceptablesentence grammatical grammaticalsentence "
    "correctsentence plausible sentless",
    "bad": "sentencebad bad badsentence sentbad unacceptable unacceptablesentence ungrammatical ungrammaticalsentence "
    "incorrectsentence wrongsentence implausible sentmore",
    "context": "context premise goal stem question prompt query q ctx sentence passage text",
    "passage": "passage article story paragraph support background document context",
    "options": "options choices choicestext endings candidates alternatives answers",
    "contexts": "contexts contextoptions contextoption prefixes premises",
    "names": "choiceslabel optionslabel choiceslabels",
    "gold": "gold label answer answerkey correct goldlabel target labelindex answeridx answerindex correctanswer "
    "correctoption correctindex goldindex labelidx mostplausiblealternative answerrightending labels",
    "relation": "question asksfor asks relation",
    "text": "text passage sentence sentence1 sentencea premise question input content document review tweet title "
    "context",
    "second": "sentence2 sentenceb hypothesis second text2 question2 secondtext question",
    "label": "label class category goldlabel labeltext coarselabel gold target type answer entailmentlabel "
    "entailmentjudgment",
    "target": "target lastword word completion continuation answer",
    "continuation": "continuation ending completion target rest text sentence",
    "sentence": "sentence text string utterance item sent",
    "judged": "acceptable acceptability grammatical grammaticality judgment judgement correct correctness "
    "ungrammatical unacceptable wrong label gold class condition type status iscorrect isgrammatical isacceptable star",
    "item": "item itemid itemnumber pair pairid pairnumber set setid minimalpair sentenceid id",
    "rating": "rating meanrating ratingmean acceptability acceptabilityrating score meanscore zscore judgment "
    "judgement mean meanacceptability naturalness ratings",
    "condition": "conditionname condition",
    "region": "regionnumber region",
    "content": "content text words string",
    "id": "id idx index pairid qid itemid key guid sid uid",
    "group": "group uid paradigm suite phenomenon linguisticsterm biastype subject domain task",
    "language": "language lang languagecode langcode languageid langid iso639",
    "good_words": "goodwords sentencegoodwords goodsegmented",
    "bad_words": "badwords sentencebadwords badsegmented",
    "words": "words sentencewords segmented segmentation",
    "split": "split semevalset fold partition",
}
OPTION = re.compile(
    r"(option|choice|sol|solution|alternative|alt|a|answer|ending|candidate|sentencequiz)([0-9]{1,2}|[a-z])"
)
QUIZ = re.compile(r"(randomfifthsentencequiz)([0-9])")
CONTEXT = re.compile(r"(context|ctx|prefix|premise)([0-9]{1,2}|[a-e])")
LETTER = re.compile(r"()([a-z])")
NUMBER = re.compile(r"()([0-9]{1,2})")
ALPHABET = string.ascii_lowercase
# Columns whose 1 or True says that the sentence is bad.
NEGATIVE = re.compile(r"un\w+|in(correct|valid)\w*|bad|wrong|error|star|violation|illformed|starred|isbad")
_ALL = {name for names in NAMES.values() for name in names.split()} | {
    "source", "hypothesis", "correct", "incorrect", "notes", "comment", "field", "changed", "idx", "n", "form",
    "pattern", "language", "year", "condition", "regionname",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Release:
    """A published table: the columns that show it, what it holds, which column holds what, how its gold is written."""

    title: str
    columns: str  # in small letters and digits only
    kind: str
    roles: Mapping[str, str] = field(default_factory=dict)  # role → column, small letters and digits only
    gold: str = ""
    refused: str = ""  # why such a table cannot be read
    gap: bool = False  # whether its sentences have a gap


RELEASES = (
    Release(
        "StoryCloze", "inputsentence1 inputsentence4 randomfifthsentencequiz1 answerrightending", "choice",
        {
            "context": "inputsentence1+inputsentence2+inputsentence3+inputsentence4",
            "option1": "randomfifthsentencequiz1", "option2": "randomfifthsentencequiz2", "gold": "answerrightending",
        }, "1",
    ),
    Release(
        "StoryCloze", "inputsentence1 inputsentence4 sentencequiz1 answerrightending", "choice",
        {
            "context": "inputsentence1+inputsentence2+inputsentence3+inputsentence4",
            "option1": "sentencequiz1", "option2": "sentencequiz2", "gold": "answerrightending",
        }, "1",
    ),
    Release(
        "WinoGrande", "sentence option1 option2 answer", "choice", {"context": "sentence", "gold": "answer"}, "1",
        gap=True,
    ),
    Release("PIQA", "goal sol1 sol2", "choice", {"context": "goal"}, "0"),
    Release(
        "HellaSwag", "ctxa ctxb ctx endings", "choice",
        {"context": "ctx", "options": "endings", "gold": "label", "id": "ind"}, "0",
    ),
    Release(
        "SocialIQa", "context question answera answerb answerc", "choice",
        {
            "passage": "context", "context": "question", "option1": "answera", "option2": "answerb",
            "option3": "answerc",
        }, "1",
    ),
    Release(
        "TruthfulQA", "question mc1targetschoices mc1targetslabels", "choice",
        {"context": "question", "options": "mc1targetschoices", "gold": "mc1targetslabels"}, "flags",
    ),
    Release(
        "MMLU", "question subject choices answer", "choice",
        {"context": "question", "options": "choices", "gold": "answer", "group": "subject"}, "0",
    ),
    Release(
        "WSC273", "text pronoun pronounloc options", "choice",
        {"context": "text", "options": "options", "pronoun": "pronoun", "place": "pronounloc"}, "0",
    ),
    Release(
        "the Winograd schemas of SuperGLUE", "text span1text span2text", "labelled",
        refused="each row asks whether two spans of its text mean the same, with one label for both. Give every "
        "schema a row with its sentence, the pronoun as _, two options and the right one",
    ),
    Release(
        "BoolQ", "question passage answer", "labelled", {"text": "passage", "second": "question", "label": "answer"},
    ),
    Release(
        "SICK", "sentencea sentenceb entailmentlabel", "labelled",
        {"text": "sentencea", "second": "sentenceb", "label": "entailmentlabel"},
    ),
    Release(
        "SICK", "sentencea sentenceb entailmentjudgment", "labelled",
        {"text": "sentencea", "second": "sentenceb", "label": "entailmentjudgment"},
    ),
    Release(
        "SciQ", "question distractor1 distractor2 distractor3 correctanswer", "choice",
        {
            "passage": "support", "context": "question", "option1": "correctanswer", "option2": "distractor1",
            "option3": "distractor2", "option4": "distractor3", "gold": "correctanswer",
        }, "text",
    ),
    Release(
        "SyntaxGym", "itemnumber conditionname regionnumber content", "suite",
        {"item": "itemnumber", "condition": "conditionname", "region": "regionnumber", "content": "content"},
    ),
)  # fmt: skip


def bare_name(column: str) -> str:
    """A column's name in small letters and digits only."""
    return re.sub(r"[\W_]", "", column.lower())


def is_known_name(cell: str) -> bool:
    """Whether a cell is called like a column."""
    name = bare_name(cell)
    option = OPTION.fullmatch(name)
    return (
        name in _ALL
        or bool((option and option[2] <= "j") or QUIZ.fullmatch(name) or CONTEXT.fullmatch(name))
        or any(part in _ALL for part in re.split(r"[._ (]", cell.lower())[:1] if len(part) > 3)
    )


def find_column(role: str, columns: Sequence[str], taken_columns: Iterable[str | None] = ()) -> str | None:
    """The column whose name tells this role, if it is not taken; in question.stem the last part counts too."""
    used = {part for column in taken_columns if column for part in (column, *column.split("+"))}
    free = [column for column in columns if column not in used]
    by_whole_name = {bare_name(column): column for column in reversed(free)}
    by_last_part = {bare_name(column.rpartition(".")[2]): column for column in reversed(free) if "." in column}
    return next(
        (by_name[name] for name in NAMES[role].split() for by_name in (by_whole_name, by_last_part) if name in by_name),
        None,
    )


def numbered_columns(columns: Sequence[str], pattern: re.Pattern[str]) -> list[str]:
    """Columns named like option1, option2 or choice_a, choice_b, in that order; the family with the most members."""
    families: dict[str, list[tuple[str, str]]] = {}
    for column in columns:
        match = pattern.fullmatch(bare_name(column))
        if match:
            families.setdefault(match[1], []).append((match[2], column))
    members = max(map(_in_a_row, families.values()), key=len, default=[])
    return [column for _, column in members]


def _in_a_row(members: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The members of a family by number or letter; a letter past j (alt_x) is one only where all before it are."""
    sorted_ = sorted(members, key=lambda member: (int(member[0]) if member[0].isdecimal() else -1, member[0]))
    letters = "".join(mark for mark, _ in sorted_ if not mark.isdecimal())
    return [
        (mark, name)
        for mark, name in sorted_
        if mark <= "j" or letters.startswith(ALPHABET[: ALPHABET.index(mark) + 1])
    ]


def _nested_options(columns: Sequence[str]) -> list[str]:
    """The options of an object with a field each: options.A, options.B ... in that order, however a row has them."""
    stems = dict.fromkeys(column.rpartition(".")[0] for column in columns if "." in column)
    fields: list[str] = []
    for stem in stems:
        inner = {column.rpartition(".")[2]: column for column in columns if column.rpartition(".")[0] == stem}
        for pattern in (LETTER, NUMBER, OPTION):
            marks = numbered_columns(list(inner), pattern)
            family = [pattern.fullmatch(bare_name(mark))[2] for mark in marks]  # type: ignore[index]
            is_complete = family in (
                list(ALPHABET[: len(family)]),
                *(_count_up(first, len(family)) for first in (0, 1)),
            )
            if len(family) > max(1, len(fields)) and is_complete:
                fields = [inner[mark] for mark in marks]
    return fields


def _count_up(first: int, count: int) -> list[str]:
    return [str(number) for number in range(first, first + count)]


def breaks_off(columns: Sequence[str]) -> bool:
    """Whether of columns like option_b, option_c or option1, option3 some before or between them are not there."""
    for pattern in (OPTION, QUIZ, CONTEXT):
        marks = [match[2] for column in columns if (match := pattern.fullmatch(bare_name(column)))]
        rows = (list(ALPHABET[: len(marks)]), _count_up(0, len(marks)), _count_up(1, len(marks)))
        if marks and len(marks) == len(columns):
            return marks not in rows
    return False


def option_columns(columns: Sequence[str]) -> list[str]:
    """The columns with one option each: option1, option2 ..., or A, B, C ... where these stand in a row."""
    numbered = max(
        (*(numbered_columns(columns, pattern) for pattern in (OPTION, QUIZ)), _nested_options(columns)), key=len
    )
    letters = [column for column in numbered_columns(columns, LETTER) if len(column.strip()) == 1]
    if len(letters) > 1 and [bare_name(column) for column in letters] == list(ALPHABET[: len(letters)]):
        return letters if len(letters) >= len(numbered) else numbered
    return numbered


def release_of(columns: Sequence[str]) -> tuple[Release, dict[str, str]] | None:
    """The published table that has these columns, with the roles under the names they have here."""
    by_bare_name = {bare_name(column): column for column in reversed(columns)}
    for release in RELEASES:
        # What is refused is so, too, inside an object: target.span1_text.
        shown = release.columns.split()
        inside = release.refused and all(any(column.endswith(name) for column in by_bare_name) for name in shown)
        if inside or all(name in by_bare_name for name in shown):
            roles = {}
            for role, name in release.roles.items():
                parts = [by_bare_name[part] for part in name.split("+") if part in by_bare_name]
                if parts:
                    roles[role] = "+".join(parts)
            return release, roles
    return None
