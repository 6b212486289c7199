"""What a table holds, from the names and values of its columns; where no rule is sure, it is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from explorer.benchmarks.tables.choices import find_choice, find_contexts, refuse_options_inside
from explorer.benchmarks.tables.instances import NO_CLASS
from explorer.benchmarks.tables.judgments import find_bare_judgments, find_judged, find_rating, judgment_column
from explorer.benchmarks.tables.kind_guess import Guess, is_column_of_numbers, texts_of
from explorer.benchmarks.tables.names import (
    bare_name,
    find_column,
    option_columns,
    release_of,
)
from explorer.benchmarks.tables.questions import Answer, Question
from explorer.benchmarks.tables.roles import ROLES, list_columns
from explorer.benchmarks.tables.rows import Table
from explorer.benchmarks.tables.text import look_alike, no_texts
from explorer.benchmarks.tables.values import (
    ALIKE,
    acceptable_value,
    by_turns,
    is_empty,
    number,
    written,
)
from explorer.errors import UsageError
from explorer.gaps import find_gap

GOOD_AND_BAD = (
    ("correct", "incorrect"),
    ("correct", "wrong"),
    ("right", "wrong"),
    ("original", "corrupted"),
    ("original", "violation"),
)
CLASS_NAMES = ("label", "class", "category", "goldlabel", "labeltext", "coarselabel", "entailmentlabel")
# Classes that are known as such, though each may come once in a small table.
CLASSES = {
    "0", "1", "2", "true", "false", "yes", "no", "positive", "negative", "neutral", "pos", "neg", "entailment",
    "contradiction", "not_entailment",
}  # fmt: skip


def guess_kind(table: Table, file: str, given_columns: Mapping[str, str]) -> Guess:
    """What the table holds; a Question where no rule is sure."""
    _refuse_terms(table, file)
    # From the rule that needs most to hold to the one that needs least: columns of a published table, named pairs,
    # options, judgments, numbers, classes; a text alone comes last, since every table has one. A rule that is not sure
    # passes.
    rules = (
        _guess_released, _guess_pair, find_contexts, find_choice, refuse_options_inside, find_bare_judgments,
        find_judged, find_rating, _guess_labelled, _guess_cloze,
    )  # fmt: skip
    for rule in rules:
        guessed = rule(table, file, given_columns)
        if guessed:
            return guessed
    raise _kind_question(table, file)


TERMS = {"id", "curie", "iri", "term", "termid", "goid", "uberonid", "conceptid", "x"}
TERM = re.compile(r"[A-Z][A-Za-z]+:[0-9]{4,}")  # an id as ontologies write it
SAMPLE = 200  # rows whose ids are looked at
TEXT_ROLES = ("good", "bad", "context", "options", "contexts", "text", "second", "sentence", "region", "content")
TERM_COLUMNS = TERMS | {"label", "name", "annotations", "annotationcount", "count", "counts", "webcount", "webcounts"}


def _refuse_terms(table: Table, file: str) -> None:
    """UsageError for a table of an ontology's terms, which no model is asked about as a table."""
    bare_names = {bare_name(name) for name in table.names}
    if bare_names & TERMS and bare_names & {"label", "name"} and len(bare_names) > 1 and bare_names <= TERM_COLUMNS:
        raise _no_table(file, "an id and a label a row")
    if any(_holds_nodes(table.column(name)) for name in table.names if name.rpartition(".")[2] == "nodes"):
        raise no_texts(file, "is an ontology in OBO-JSON, which holds terms and no table")
    if len(table.names) == 1 or any(find_column(role, table.names) for role in TEXT_ROLES):
        return  # texts may have ids that are written so, too
    for name in table.names[:2]:
        cells = [written(cell) for cell in table.column(name)[:SAMPLE]]
        if cells and all(TERM.fullmatch(cell) for cell in cells):
            raise _no_table(file, f"ids like {cells[0]} in {name}")


def _holds_nodes(cells: Sequence[Any]) -> bool:
    """Whether the first cell is a list of terms, as an ontology's graph has it."""
    first = cells[0] if cells else None
    return isinstance(first, list) and bool(first) and isinstance(first[0], dict) and "id" in first[0]


def _no_table(file: str, what: str) -> UsageError:
    return UsageError(
        f"{file} has {what}, like the terms of an ontology. Those are asked by "
        "`python -m explorer run ontology --benchmark FILE`; if it is a table of texts, say the kind and name the "
        "columns."
    )


def check_context(kind: str, roles: Mapping[str, str], table: Table, file: str) -> None:
    """UsageError where options would be asked without the text beside them."""
    used = {part for column in roles.values() for part in (column, *column.split("+"))}
    texts = [name for name in texts_of(table) if name not in used]
    if kind == "choice" and texts and "context" not in roles and "passage" not in roles:
        raise UsageError(
            f"{file} has options, and no column was recognized as what they continue; {texts[0]} holds texts. Name it "
            f"with --column context={texts[0]}, or say --kind choice to ask the options alone."
        )


def which_first(file: str, sentences: Sequence[str]) -> Question:
    """The question which of two sentences is the acceptable one."""
    first, second = (sentence[:80] for sentence in sentences[:2])
    return Question(
        "first",
        f"{file} has sentences in pairs, one after the other, and does not say which of the two is acceptable",
        (
            Answer("good", f"{first!r} as acceptable and {second!r} as not"),
            Answer("bad", f"{second!r} as acceptable and {first!r} as not"),
        ),
    )


def complete_kind(kind: str, table: Table, file: str, given_columns: Mapping[str, str]) -> Guess:
    """The columns that values tell for a kind that was said."""
    rules = {
        "judged": (find_judged,),
        "rating": (find_rating, find_judged),
        "choice": (_guess_released, find_choice),
        "contexts": (find_contexts,),
    }
    for rule in rules.get(kind, ()):
        try:
            guessed = rule(table, file, given_columns)
        except UsageError:
            continue
        if guessed and guessed.kind == kind:
            return guessed
    texts = texts_of(table, list(given_columns.values()))
    if kind == "rating" and "rating" not in given_columns:
        sentence = given_columns.get("sentence") or find_column("sentence", table.names)
        judged = judgment_column(table, sentence)
        if sentence and judged:
            return Guess(kind, {"sentence": sentence, "rating": judged})
    if kind == "turns" and "sentence" not in given_columns and (len(texts) == 1 or len(table.names) == 1):
        return Guess(kind, {"sentence": (texts or list(table.names))[0]})
    if kind in ("judged", "rating") and "sentence" not in given_columns and len(texts) == 1:
        return Guess(kind, {"sentence": texts[0]})
    return Guess(kind)


def check_gaps(kind: str, roles: Mapping[str, str], table: Table, file: str) -> None:
    """UsageError where words would be scored after a text that still has its gap."""
    column = roles.get({"cloze": "text", "labelled": "text", "pair": "context"}.get(kind, ""), "")
    if column and _has_gaps(table, column):
        raise UsageError(
            f"{file} has texts with a gap in {column}, which a {kind} would leave open: words are scored behind their "
            "text. Give the words that may fill the gap as options (sentence,option1,option2,answer), or end the text "
            "where the gap begins."
        )


def _kind_question(table: Table, file: str) -> Question:
    shown = list_columns(table.names)
    return Question(
        "kind",
        f"The columns of {file} ({shown}) do not tell what it holds; a table can be read as "
        f"{', '.join(ROLES)}. Name the columns with --column ROLE=COLUMN (--help lists the roles of each kind)",
        (),
    )


def _guess_released(table: Table, file: str, given_columns: Mapping[str, str]) -> Guess | None:
    match = release_of(table.names)
    if not match:
        return None
    release, roles = match
    if release.refused:
        raise UsageError(
            f"{file} has the columns of {release.title}, which cannot be read as they are: {release.refused}."
        )
    if release.gap and not _has_gaps(table, roles["context"]):
        return None
    if release.title == "BoolQ" and not _answers_yes_or_no(table, roles["label"]):
        return None
    roles = {role: column for role, column in roles.items() if column not in given_columns.values()}
    return Guess(release.kind, roles, f"the columns are those of {release.title}", release)


def _answers_yes_or_no(table: Table, column: str) -> bool:
    """Whether a question has no options but yes and no."""
    yes_or_no = {"true", "false", "yes", "no", "1", "0", "1.0", "0.0", "", "-1"}
    has_options = len(option_columns(table.names)) > 1 or find_column("options", table.names)
    return not has_options and {written(cell).lower() for cell in table.column(column)} <= yes_or_no


def _has_gaps(table: Table, column: str) -> bool:
    texts = [value for value in table.column(column) if isinstance(value, str) and value.strip()]
    return bool(texts) and sum(find_gap(text) is not None for text in texts) >= 0.5 * len(texts)


def _guess_pair(table: Table, file: str, given_columns: Mapping[str, str]) -> Guess | None:
    good, bad = (given_columns.get(role) or find_column(role, table.names) for role in ("good", "bad"))
    by_bare_name = {bare_name(column): column for column in reversed(table.names)}
    for good_name, bad_name in GOOD_AND_BAD:
        if not (good and bad) and good_name in by_bare_name and bad_name in by_bare_name:
            good, bad = by_bare_name[good_name], by_bare_name[bad_name]
    if not good or not bad:
        return None
    others = texts_of(table, (good, bad))
    if not all(_holds_words(table, column) for column in (good, bad)) and others:
        return None  # two columns of marks beside a sentence
    text_with_gaps = next((name for name in others if _has_gaps(table, name)), None)
    if text_with_gaps:
        roles = {"context": text_with_gaps, "option1": good, "option2": bad, "gold": good}
        return Guess("choice", roles, f"{good} and {bad} fill the gap in {text_with_gaps}")
    return Guess("pair", {"good": good, "bad": bad}, f"the columns {good} and {bad}")


def _holds_words(table: Table, column: str) -> bool:
    """Whether cells are texts, if of one word only, and no numbers or judgments."""
    values = [value for value in table.column(column) if not is_empty(value)]
    numbers = sum(number(value) is not None for value in values)
    return not values or (numbers < len(values) and acceptable_value("", values) is None)


def _guess_labelled(table: Table, file: str, given_columns: Mapping[str, str]) -> Guess | None:
    texts = texts_of(table)
    label = given_columns.get("label") or find_column("label", table.names, texts)
    label = label or next((name for name in table.names if bare_name(name) in CLASS_NAMES), None)
    text = given_columns.get("text") or find_column("text", [name for name in table.names if name != label])
    if not label or not text:
        return None
    second = given_columns.get("second") or find_column("second", table.names, (label, text))
    values = [value for value in map(written, table.column(label)) if value.lower() not in NO_CLASS]
    distinct = set(values)
    # Classes come again and again; a last word or an answer in its own words does not.
    plain = bare_name(label) in CLASS_NAMES
    are_known_classes = {value.lower() for value in distinct} <= CLASSES
    few_enough = (2 if len(values) > 2 else 1) + plain * (len(values) != 3)
    if not are_known_classes and len(distinct) > max(few_enough, 0.5 * len(values)):
        return None
    if any(
        number(value) is not None and float(value) % 1
        for value in distinct
        if number(value) is not None and "," not in value
    ):
        return None
    if [name for name in texts if name not in (text, second, label)]:
        return None
    check_gaps("labelled", {"text": text}, table, file)
    if len(distinct) < 2:
        actual = f"one class only, {values[0]!r}" if values else "no class"
        raise Question(
            "kind",
            f"{label} of {file} has {actual}, so that nothing is asked. "
            "Name another column with --column label=COLUMN, or say the kind all the same",
            (),
        )
    if second and distinct == {"1", "2"}:
        pairs = [
            (written(first_text), written(second_text))
            for first_text, second_text in zip(table.column(text), table.column(second), strict=True)
        ][:500]
        if sum(look_alike(*pair) for pair in pairs) >= ALIKE * len(pairs):
            raise Question(
                "kind",
                f"{label} of {file} may be a class of two texts, or say which of the two sentences is the right one "
                f"(--kind choice --column option1={text} --column option2={second} --gold 1)",
                (
                    Answer("labelled", f"{label} as a class"),
                    Answer("choice", f"{label} as the right one of {text} and {second}"),
                ),
            )
    return Guess(
        "labelled", {"text": text, "label": label, **({"second": second} if second else {})}, f"the classes in {label}"
    )


def _guess_cloze(table: Table, file: str, given_columns: Mapping[str, str]) -> Guess | None:
    texts = texts_of(table)
    # An answer to a question is its last word to nobody.
    target = given_columns.get("target") or find_column(
        "target", [name for name in table.names if bare_name(name) != "answer"], texts[:1]
    )
    text = given_columns.get("text") or (texts[0] if len(texts) == 1 else None)
    if not text and not texts and len(table.names) == 1:
        text = table.names[0]
    if not text:
        return None
    if target and target != text and _are_last_words(table, target) and len(texts) == 1:
        return Guess("cloze", {"text": text, "target": target}, f"the words in {target}")
    others = [
        name
        for name in table.names
        if name != text and not find_column("id", [name]) and not find_column("group", [name])
    ]
    sentences = [written(value) for value in table.column(text)]
    if others:
        return None
    if by_turns(sentences):
        raise which_first(file, sentences)
    # A passage whose last word is asked stops before its full stop, as LAMBADA's do.
    several = [sentence for sentence in sentences if len(sentence.split()) > 1]
    if (
        several
        and sum(sentence[-1].isalnum() for sentence in several) >= 0.95 * len(several)
        and median(len(sentence.split()) for sentence in several) >= 3
    ):
        return Guess("cloze", {"text": text}, "texts that stop at a word")
    return None


def _are_last_words(table: Table, column: str) -> bool:
    values = [written(value) for value in table.column(column)]
    return (
        bool(values) and median(len(value.split()) for value in values) <= 2 and not is_column_of_numbers(table, column)
    )
