"""What a table holds, from the names and values of its columns; where no rule is sure, it is asked."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from explorer.benchmarks.tables import options
from explorer.benchmarks.tables.instances import NO_CLASS
from explorer.benchmarks.tables.names import (
    CONTEXT,
    Release,
    bare,
    find_column,
    numbered_columns,
    option_columns,
    release_of,
)
from explorer.benchmarks.tables.questions import Answer, Question
from explorer.benchmarks.tables.roles import ROLES, listed
from explorer.benchmarks.tables.rows import Table
from explorer.benchmarks.tables.text import look_alike
from explorer.benchmarks.tables.values import (
    ALIKE,
    acceptable_value,
    by_turns,
    is_empty,
    is_text,
    number,
    says_acceptability,
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
_SCALE = "(acceptability|naturalness|grammaticality)"
RATING_NAMES = re.compile(
    rf"(mean|avg|average|median)?{_SCALE}?(ratings?|score|zscore|judge?ment|likert|{_SCALE})(mean|avg)?"
)


@dataclass(frozen=True, slots=True)
class Found:
    """A kind with the columns that values (not names) told, why, and the published table it looks like."""

    kind: str
    columns: Mapping[str, str] = field(default_factory=dict)
    why: str = ""
    release: Release | None = None


def guess_kind(table: Table, file: str, given: Mapping[str, str]) -> Found:
    """What the table holds; a Question where no rule is sure."""
    _refuse_terms(table, file)
    rules = (
        _released, _pair, _contexts, _choice, _lettered, _bare_judgments, _judged, _rating, _labelled, _cloze,
    )  # fmt: skip
    for rule in rules:
        found = rule(table, file, given)
        if found:
            return found
    raise _ask(table, file)


TERMS = {"id", "curie", "iri", "term", "termid", "goid", "uberonid", "conceptid", "x"}
TERM_COLUMNS = TERMS | {"label", "name", "annotations", "annotationcount", "count", "counts", "webcount", "webcounts"}


def _refuse_terms(table: Table, file: str) -> None:
    """UsageError for a table of an ontology's terms, which no model is asked about as a table."""
    named = {bare(name) for name in table.names}
    if named & TERMS and named & {"label", "name"} and len(named) > 1 and named <= TERM_COLUMNS:
        raise UsageError(
            f"{file} has an id and a label a row, like the terms of an ontology. Those are read by "
            "`python -m explorer ontology`; if it is a table of texts, say the kind and name the columns."
        )


def check_context(kind: str, roles: Mapping[str, str], table: Table, file: str) -> None:
    """UsageError where options would be asked without the text beside them."""
    used = {part for column in roles.values() for part in (column, *column.split("+"))}
    texts = [name for name in _texts(table) if name not in used]
    if kind == "choice" and texts and "context" not in roles and "passage" not in roles:
        raise UsageError(
            f"{file} has options, and no column was recognized as what they continue; {texts[0]} holds texts. Name it "
            f"with --column context={texts[0]}, or say --kind choice to ask the options alone."
        )


def which_first(file: str, sentences: Sequence[str]) -> Question:
    """The question which of two sentences is the acceptable one."""
    one, other = (sentence[:80] for sentence in sentences[:2])
    return Question(
        "first",
        f"{file} has sentences in pairs, one after the other, and does not say which of the two is acceptable",
        (
            Answer("good", f"{one!r} as acceptable and {other!r} as not"),
            Answer("bad", f"{other!r} as acceptable and {one!r} as not"),
        ),
    )


def complete(kind: str, table: Table, file: str, given: Mapping[str, str]) -> Found:
    """The columns that values tell for a kind that was said."""
    rules = {
        "judged": (_judged,),
        "rating": (_rating, _judged),
        "choice": (_released, _choice),
        "contexts": (_contexts,),
    }
    for rule in rules.get(kind, ()):
        try:
            found = rule(table, file, given)
        except UsageError:
            continue
        if found and found.kind == kind:
            return found
    texts = _texts(table, list(given.values()))
    if kind == "rating" and "rating" not in given:
        sentence = given.get("sentence") or find_column("sentence", table.names)
        judged = _judgments(table, sentence)
        if sentence and judged:
            return Found(kind, {"sentence": sentence, "rating": judged})
    if kind == "turns" and "sentence" not in given and (len(texts) == 1 or len(table.names) == 1):
        return Found(kind, {"sentence": (texts or list(table.names))[0]})
    if kind in ("judged", "rating") and "sentence" not in given and len(texts) == 1:
        return Found(kind, {"sentence": texts[0]})
    return Found(kind)


def check_gaps(kind: str, roles: Mapping[str, str], table: Table, file: str) -> None:
    """UsageError where words would be scored after a text that still has its gap."""
    column = roles.get({"cloze": "text", "labelled": "text", "pair": "context"}.get(kind, ""), "")
    if column and _has_gaps(table, column):
        raise UsageError(
            f"{file} has texts with a gap in {column}, which a {kind} would leave open: words are scored behind their "
            "text. Give the words that may fill the gap as options (sentence,option1,option2,answer), or end the text "
            "where the gap begins."
        )


def _ask(table: Table, file: str) -> Question:
    shown = listed(table.names)
    return Question(
        "kind",
        f"The columns of {file} ({shown}) do not tell what it holds; a table can be read as "
        f"{', '.join(ROLES)}. Name the columns with --column ROLE=COLUMN (--help lists the roles of each kind)",
        (),
    )


def _released(table: Table, file: str, given: Mapping[str, str]) -> Found | None:
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
    roles = {role: column for role, column in roles.items() if column not in given.values()}
    return Found(release.kind, roles, f"the columns are those of {release.title}", release)


def _answers_yes_or_no(table: Table, column: str) -> bool:
    """Whether a question has no options but yes and no."""
    known = {"true", "false", "yes", "no", "1", "0", "1.0", "0.0", "", "-1"}
    has_options = len(option_columns(table.names)) > 1 or find_column("options", table.names)
    return not has_options and {written(one).lower() for one in table.column(column)} <= known


def _has_gaps(table: Table, column: str) -> bool:
    texts = [value for value in table.column(column) if isinstance(value, str) and value.strip()]
    return bool(texts) and sum(find_gap(text) is not None for text in texts) >= 0.5 * len(texts)


def _pair(table: Table, file: str, given: Mapping[str, str]) -> Found | None:
    good, bad = (given.get(role) or find_column(role, table.names) for role in ("good", "bad"))
    named = {bare(column): column for column in reversed(table.names)}
    for one, other in GOOD_AND_BAD:
        if not (good and bad) and one in named and other in named:
            good, bad = named[one], named[other]
    if not good or not bad:
        return None
    others = _texts(table, (good, bad))
    if not all(_holds_words(table, column) for column in (good, bad)) and others:
        return None  # two columns of marks beside a sentence
    frame = next((name for name in others if _has_gaps(table, name)), None)
    if frame:
        roles = {"context": frame, "option1": good, "option2": bad, "gold": good}
        return Found("choice", roles, f"{good} and {bad} fill the gap in {frame}")
    return Found("pair", {"good": good, "bad": bad}, f"the columns {good} and {bad}")


def _holds_words(table: Table, column: str) -> bool:
    """Whether cells are texts, if of one word only, and no numbers or judgments."""
    values = [value for value in table.column(column) if not is_empty(value)]
    numbers = sum(number(value) is not None for value in values)
    return not values or (numbers < len(values) and acceptable_value("", values) is None)


def _contexts(table: Table, file: str, given: Mapping[str, str]) -> Found | None:
    columns = numbered_columns(table.names, CONTEXT)
    whole = given.get("contexts") or find_column("contexts", table.names)
    if len(columns) < 2 and not (whole and _separates(table, whole) is not None):
        return None
    if len(option_columns(table.names)) > 1 or not find_column("continuation", table.names, columns):
        return None
    roles = {"contexts": whole} if whole else {f"context{n}": column for n, column in enumerate(columns, 1)}
    return Found("contexts", roles, "several contexts and one continuation")


def _separates(table: Table, column: str) -> str | None:
    """What parts the options in the cells of a column ("" for lists), none where they hold no lists."""
    values = [value for value in table.column(column) if not is_empty(value)]
    separator = options.guess_separator(values)
    lists = sum(options.from_list(value, separator) is not None for value in values)
    return separator if values and lists >= 0.5 * len(values) else None


def _holds_lists(table: Table, column: str) -> bool:
    """Whether cells are lists of options, or a list of texts written out as JSON or as Python does.

    Other signs in a cell, as "|" or ";", part options only in a column that is called so: they stand in texts, too.
    """
    separator = _separates(table, column)
    if separator is None or any(isinstance(value, list) for value in table.column(column)):
        return separator is not None
    values = [value for value in table.column(column) if not is_empty(value)]
    lists = [told.texts for value in values if (told := options.from_list(value, separator))]
    return separator in ("json", "python") and all(isinstance(text, str) for texts in lists for text in texts)


def _choice(table: Table, file: str, given: Mapping[str, str]) -> Found | None:
    many = option_columns(table.names)
    numbers = all(_is_column_of_numbers(table, column) for column in many)
    if len(many) > 1 and (not numbers or find_column("gold", table.names, many)):
        return Found("choice", {}, f"the options {', '.join(many)}")
    named = given.get("options") or find_column("options", table.names)
    if named and _separates(table, named) is not None:
        return Found("choice", {"options": named}, f"the list of options in {named}")
    lists = [
        name for name in table.names
        if _holds_lists(table, name) and not name.endswith((".label", ".labels"))
    ]  # fmt: skip
    if len(lists) == 1 and find_column("gold", table.names, lists):
        return Found("choice", {"options": lists[0]}, f"the list of options in {lists[0]}")
    return _headless_choice(table)


def _is_column_of_numbers(table: Table, column: str) -> bool:
    values = [value for value in table.column(column) if not is_empty(value)]
    return bool(values) and all(number(value) is not None for value in values)


def _headless_choice(table: Table) -> Found | None:
    """A question, its options and the right one's letter, without names, as MMLU has them."""
    names = table.names
    if len(names) < 4 or names != tuple(f"column {n}" for n in range(1, len(names) + 1)):
        return None
    letters = {written(value) for value in table.column(names[-1])}
    if (
        not letters
        or not letters <= set(string.ascii_uppercase[: len(names) - 2])
        or not is_text(table.column(names[0]))
    ):
        return None
    roles = {f"option{n}": name for n, name in enumerate(names[1:-1], 1)}
    return Found(
        "choice",
        {"context": names[0], **roles, "gold": names[-1]},
        "a text, options, and a letter in the last column, as MMLU",
    )


def _texts(table: Table, without: Sequence[str] = ()) -> list[str]:
    return [name for name in table.names if name not in without and is_text(table.column(name))]


_MARKS = re.compile(r"(?:^|(?<=\s))(?:\(([A-Ea-e1-5])\)|([A-Ea-e1-5])\)|([A-E])[.:](?=\s))")


def _lettered(table: Table, file: str, given: Mapping[str, str]) -> Found | None:
    """UsageError where the options stand inside the question: nothing tells surely where each begins and ends."""
    for name in _texts(table):
        texts = [value for value in table.column(name) if isinstance(value, str) and value.strip()]
        marks = [[(mark[1] or mark[2] or mark[3]).lower() for mark in _MARKS.finditer(text)] for text in texts]
        lists = sum(one[:2] in (["a", "b"], ["1", "2"]) for one in marks)
        others = [one for one in table.names if one != name]
        letters = [one for one in others if _is_column_of_letters(table, one)]
        if lists >= 0.5 * len(texts) and (letters or find_column("gold", others)):
            right = next(
                found
                for found in (
                    find_column("gold", letters), find_column("label", letters), find_column("gold", others), *letters
                )
                if found
            )  # fmt: skip
            raise UsageError(
                f"{file} has options inside the text of {name} ({texts[0].strip()[:80]!r}), and the right one "
                f"in {right}; expected options of their own. Give every option a column (question,A,B,C,D,answer)."
            )
    return None


def _is_column_of_letters(table: Table, column: str) -> bool:
    values = [written(value).strip("().:").upper() for value in table.column(column) if not is_empty(value)]
    return bool(values) and set(values) <= {*"ABCDEFGHIJ", *"0123456789", "-1", "?"}


def _bare_judgments(table: Table, file: str, given: Mapping[str, str]) -> Found | None:
    """CoLA and SST-2 have the same columns in GLUE: a sentence and a label of 0 or 1."""
    named = {bare(name): name for name in table.names}
    if not {"sentence", "label"} <= set(named) or set(named) - {"sentence", "label", "idx", "index", "id", "split"}:
        return None
    values = {written(value).removesuffix(".0") for value in table.column(named["label"])} - {"", "-1"}
    if not values or not values <= {"0", "1"} or "label" in given or "rating" in given:
        return None
    rating = Found("rating", {"sentence": named["sentence"], "rating": named["label"]}, f"{file} is called like CoLA")
    called = {word for word in ("cola", "sst", "sst2") if word in re.split(r"[\W_]+", file.lower())}
    if called:
        return rating if called == {"cola"} else None
    judged = _judged(table, file, given)
    if judged and judged.kind == "judged":
        return judged
    raise Question(
        "kind",
        f"{file} has a sentence and a label of 0 or 1, as have CoLA (acceptable or not) and SST-2 (two classes)",
        (Answer("rating", "each label as a judgment of its sentence"), Answer("labelled", "each label as a class")),
    )


def _judged(table: Table, file: str, given: Mapping[str, str]) -> Found | None:
    """Sentences with a judgment each: pairs where items or turns bring them together, else ratings."""
    texts = _texts(table)
    sentence = given.get("sentence") or (texts[0] if len(texts) == 1 else find_column("sentence", texts))
    sentence = sentence or next((name for name in table.names if bare(name) == "sentence"), None)
    judged = given.get("judged") or _judgments(table, sentence)
    if not sentence or not judged:
        return None
    values = table.column(judged)
    ways = acceptable_value(judged, values)
    if not ways and "judged" not in given and not _is_named_judgment(judged, values, table):
        return None
    item = given.get("item") or _items(table, sentence, judged, ways[0] if ways else written(values[0]))
    roles = {"sentence": sentence, "judged": judged, **({"item": item} if item else {})}
    if item:
        return Found("judged", roles, f"each {item} has sentences of both judgments in {judged}")
    if not ways:
        return None
    rows = [(written(one), written(other)) for one, other in zip(table.column(sentence), values, strict=True)]
    if ways and by_turns([one for one, _ in rows], [other == ways[0] for _, other in rows]):
        return Found("judged", roles, f"each two rows are one sentence with both judgments in {judged}")
    starred = any("*" in {written(value) for value in table.column(name)} for name in table.names)
    if len(texts) == 1 and (starred or says_acceptability(judged, values)):
        return Found("rating", {"sentence": sentence, "rating": judged}, f"{judged} judges sentences that are no pairs")
    return None


def _is_named_judgment(name: str, values: Sequence[object], table: Table) -> bool:
    """Whether a column of two values is called a judgment, beside one that is called an item."""
    item = find_column("item", [one for one in table.names if one != name])
    marks = {written(value) for value in values} - {""}
    if len(marks) != 2 or not item:
        return False
    if any(part in bare(name) for part in ("judg", "accept", "gramma")):
        return True
    sets: dict[str, list[str]] = {}
    for key, value in zip(table.column(item), values, strict=True):
        sets.setdefault(written(key), []).append(written(value))
    return bool(find_column("judged", [name])) and all(set(one) == marks for one in sets.values())


def _judgments(table: Table, sentence: str | None) -> str | None:
    """The column with two judgments; a 0/1 column is preferred to the star beside it."""
    found = [
        name
        for name in table.names
        if name != sentence
        and acceptable_value(name, table.column(name)) is not None
        # Two items may be numbered 0 and 1.
        and not (find_column("item", [name]) or find_column("id", [name]))
    ]
    named = find_column("judged", found)
    if not found:
        others = [name for name in table.names if name != sentence]
        return next((one for one in others if _is_named_judgment(one, table.column(one), table)), None)
    starred = [name for name in found if "" in {written(value) for value in table.column(name)}]
    plain = [name for name in found if name not in starred]
    return (
        named
        if named and named in plain
        else (plain[0] if len(plain) == 1 else named or (found[0] if len(found) == 1 else None))
    )


def _items(table: Table, sentence: str, judged: str, acceptable: str | None) -> str | None:
    """The column whose values bring together sentences of both judgments."""
    candidates = [name for name in table.names if name not in (sentence, judged)]
    named = [name for name in candidates if find_column("item", [name])]
    for name in (*named, *(name for name in candidates if name not in named)):
        groups: dict[str, list[bool]] = {}
        for key, value in zip(table.column(name), table.column(judged), strict=True):
            groups.setdefault(written(key), []).append(written(value) == acceptable)
        both = sum(True in group and False in group for group in groups.values())
        small = median(len(group) for group in groups.values()) <= 4 if groups else False
        if groups and both >= 0.6 * len(groups) and (small or name in named) and (len(groups) > 1 or name in named):
            return name
    return None


def _rating(table: Table, file: str, given: Mapping[str, str]) -> Found | None:
    texts = _texts(table)
    named = [name for name in table.names if RATING_NAMES.fullmatch(bare(name)) and _is_column_of_numbers(table, name)]
    rating = given.get("rating") or (named[0] if len(named) == 1 else find_column("rating", named))
    if not rating:
        return None
    if len(texts) != 1:
        if len(texts) == 2 and "sentence" not in given:
            raise UsageError(
                f"{file} rates two texts together ({', '.join(texts)}; {rating}), which is no rating of a sentence. "
                "Ratings are read of one sentence a row: name it with --kind rating --column sentence=COLUMN, or name "
                "a class with --kind labelled --column label=COLUMN."
            )
        return None
    return Found("rating", {"sentence": texts[0], "rating": rating}, f"the numbers in {rating}")


def _labelled(table: Table, file: str, given: Mapping[str, str]) -> Found | None:
    texts = _texts(table)
    label = given.get("label") or find_column("label", table.names, texts)
    label = label or next((name for name in table.names if bare(name) in CLASS_NAMES), None)
    text = given.get("text") or find_column("text", [name for name in table.names if name != label])
    if not label or not text:
        return None
    second = given.get("second") or find_column("second", table.names, (label, text))
    values = [value for value in map(written, table.column(label)) if value.lower() not in NO_CLASS]
    distinct = set(values)
    # Classes come again and again; a last word or an answer in its own words does not.
    plain = bare(label) in CLASS_NAMES
    known = {value.lower() for value in distinct} <= CLASSES
    few = (2 if len(values) > 2 else 1) + plain * (len(values) != 3)
    if not known and len(distinct) > max(few, 0.5 * len(values)):
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
        found = f"one class only, {values[0]!r}" if values else "no class"
        raise Question(
            "kind",
            f"{label} of {file} has {found}, so that nothing is asked. "
            "Name another column with --column label=COLUMN, or say the kind all the same",
            (),
        )
    if second and distinct == {"1", "2"}:
        pairs = [
            (written(one), written(other)) for one, other in zip(table.column(text), table.column(second), strict=True)
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
    return Found(
        "labelled", {"text": text, "label": label, **({"second": second} if second else {})}, f"the classes in {label}"
    )


def _cloze(table: Table, file: str, given: Mapping[str, str]) -> Found | None:
    texts = _texts(table)
    # An answer to a question is its last word to nobody.
    target = given.get("target") or find_column(
        "target", [name for name in table.names if bare(name) != "answer"], texts[:1]
    )
    text = given.get("text") or (texts[0] if len(texts) == 1 else None)
    if not text and not texts and len(table.names) == 1:
        text = table.names[0]
    if not text:
        return None
    if target and target != text and _are_last_words(table, target) and len(texts) == 1:
        return Found("cloze", {"text": text, "target": target}, f"the words in {target}")
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
        return Found("cloze", {"text": text}, "texts that stop at a word")
    return None


def _are_last_words(table: Table, column: str) -> bool:
    values = [written(value) for value in table.column(column)]
    return (
        bool(values)
        and median(len(value.split()) for value in values) <= 2
        and not _is_column_of_numbers(table, column)
    )
