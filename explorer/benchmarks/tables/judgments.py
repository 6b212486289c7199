"""Tables of judged sentences: pairs by item or by turns, and ratings of sentences that are no pairs.

A column of two values is a judgment where its values say so ("acceptable", "*"), or where it is called one beside a
column of items that has both values in each item. Such an item makes pairs; without items sentences that alternate
between the two judgments and look alike do. What remains is rated, not paired.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from statistics import median

from explorer.benchmarks.tables.kind_guess import Guess, is_column_of_numbers, texts_of
from explorer.benchmarks.tables.names import bare_name, find_column
from explorer.benchmarks.tables.questions import Answer, Question
from explorer.benchmarks.tables.rows import Table
from explorer.benchmarks.tables.values import acceptable_value, by_turns, says_acceptability, written
from explorer.errors import UsageError

_SCALE = "(acceptability|naturalness|grammaticality)"
RATING_NAMES = re.compile(
    rf"(mean|avg|average|median)?{_SCALE}?(ratings?|score|zscore|judge?ment|likert|{_SCALE})(mean|avg)?"
)


def find_bare_judgments(table: Table, file: str, given_columns: Mapping[str, str]) -> Guess | None:
    """CoLA and SST-2 have the same columns in GLUE: a sentence and a label of 0 or 1."""
    by_bare_name = {bare_name(name): name for name in table.names}
    if not {"sentence", "label"} <= set(by_bare_name) or set(by_bare_name) - {
        "sentence",
        "label",
        "idx",
        "index",
        "id",
        "split",
    }:
        return None
    values = {written(value).removesuffix(".0") for value in table.column(by_bare_name["label"])} - {"", "-1"}
    if not values or not values <= {"0", "1"} or "label" in given_columns or "rating" in given_columns:
        return None
    rating = Guess(
        "rating", {"sentence": by_bare_name["sentence"], "rating": by_bare_name["label"]}, f"{file} is called like CoLA"
    )
    called = {word for word in ("cola", "sst", "sst2") if word in re.split(r"[\W_]+", file.lower())}
    if called:
        return rating if called == {"cola"} else None
    judged = find_judged(table, file, given_columns)
    if judged and judged.kind == "judged":
        return judged
    raise Question(
        "kind",
        f"{file} has a sentence and a label of 0 or 1, as have CoLA (acceptable or not) and SST-2 (two classes)",
        (Answer("rating", "each label as a judgment of its sentence"), Answer("labelled", "each label as a class")),
    )


def find_judged(table: Table, file: str, given_columns: Mapping[str, str]) -> Guess | None:
    """Sentences with a judgment each: pairs where items or turns bring them together, else ratings."""
    texts = texts_of(table)
    sentence = given_columns.get("sentence") or (texts[0] if len(texts) == 1 else find_column("sentence", texts))
    sentence = sentence or next((name for name in table.names if bare_name(name) == "sentence"), None)
    judged = given_columns.get("judged") or judgment_column(table, sentence)
    if not sentence or not judged:
        return None
    values = table.column(judged)
    meanings = acceptable_value(judged, values)
    if not meanings and "judged" not in given_columns and not _is_named_judgment(judged, values, table):
        return None
    item = given_columns.get("item") or _item_column(
        table, sentence, judged, meanings[0] if meanings else written(values[0])
    )
    roles = {"sentence": sentence, "judged": judged, **({"item": item} if item else {})}
    if item:
        return Guess("judged", roles, f"each {item} has sentences of both judgments in {judged}")
    if not meanings:
        return None
    sentences = [written(value) for value in table.column(sentence)]
    if by_turns(sentences, [written(value) == meanings[0] for value in values]):
        return Guess("judged", roles, f"each two rows are one sentence with both judgments in {judged}")
    starred = any("*" in {written(value) for value in table.column(name)} for name in table.names)
    if len(texts) == 1 and (starred or says_acceptability(judged, values)):
        return Guess("rating", {"sentence": sentence, "rating": judged}, f"{judged} judges sentences that are no pairs")
    return None


def _is_named_judgment(name: str, values: Sequence[object], table: Table) -> bool:
    """Whether a column of two values is called a judgment, beside one that is called an item."""
    item = find_column("item", [column for column in table.names if column != name])
    marks = {written(value) for value in values} - {""}
    if len(marks) != 2 or not item:
        return False
    if any(part in bare_name(name) for part in ("judg", "accept", "gramma")):
        return True
    sets: dict[str, list[str]] = {}
    for key, value in zip(table.column(item), values, strict=True):
        sets.setdefault(written(key), []).append(written(value))
    return bool(find_column("judged", [name])) and all(set(judgments) == marks for judgments in sets.values())


def judgment_column(table: Table, sentence: str | None) -> str | None:
    """The column with two judgments; a 0/1 column is preferred to the star beside it."""
    candidates = [
        name
        for name in table.names
        if name != sentence
        and acceptable_value(name, table.column(name)) is not None
        # Two items may be numbered 0 and 1.
        and not (find_column("item", [name]) or find_column("id", [name]))
    ]
    called_so = find_column("judged", candidates)
    if not candidates:
        others = [name for name in table.names if name != sentence]
        return next((name for name in others if _is_named_judgment(name, table.column(name), table)), None)
    starred = [name for name in candidates if "" in {written(value) for value in table.column(name)}]
    plain = [name for name in candidates if name not in starred]
    return (
        called_so
        if called_so and called_so in plain
        else (plain[0] if len(plain) == 1 else called_so or (candidates[0] if len(candidates) == 1 else None))
    )


def _item_column(table: Table, sentence: str, judged: str, acceptable: str | None) -> str | None:
    """The column whose values bring together sentences of both judgments."""
    candidates = [name for name in table.names if name not in (sentence, judged)]
    called_so = [name for name in candidates if find_column("item", [name])]
    # A name alone is enough for one large set; any other column needs several small sets, most with both judgments.
    for name in (*called_so, *(name for name in candidates if name not in called_so)):
        groups: dict[str, list[bool]] = {}
        for key, value in zip(table.column(name), table.column(judged), strict=True):
            groups.setdefault(written(key), []).append(written(value) == acceptable)
        mixed_groups = sum(True in group and False in group for group in groups.values())
        small = median(len(group) for group in groups.values()) <= 4 if groups else False
        if (
            groups
            and mixed_groups >= 0.6 * len(groups)
            and (small or name in called_so)
            and (len(groups) > 1 or name in called_so)
        ):
            return name
    return None


def find_rating(table: Table, file: str, given_columns: Mapping[str, str]) -> Guess | None:
    texts = texts_of(table)
    called_so = [
        name for name in table.names if RATING_NAMES.fullmatch(bare_name(name)) and is_column_of_numbers(table, name)
    ]
    rating = given_columns.get("rating") or (called_so[0] if len(called_so) == 1 else find_column("rating", called_so))
    if not rating:
        return None
    if len(texts) != 1:
        if len(texts) == 2 and "sentence" not in given_columns:
            raise UsageError(
                f"{file} rates two texts together ({', '.join(texts)}; {rating}), which is no rating of a sentence. "
                "Ratings are read of one sentence per row: name it with --kind rating --column sentence=COLUMN, or "
                "name a class with --kind labelled --column label=COLUMN."
            )
        return None
    return Guess("rating", {"sentence": texts[0], "rating": rating}, f"the numbers in {rating}")
