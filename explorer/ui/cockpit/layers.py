"""What the strip shows of an instance: its tokens tinted by surprisal, popularity, or what parts two texts or models.

A token is tied to the field of the instance that it comes from and to the text that its n-grams are counted in, so that
a click on it can be an edit, and a popularity of other tokens can stand on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from explorer import display, prompts
from explorer.records import Instance
from explorer.scoring.word_scores import sum_by_word
from explorer.ui import scored_options as answers
from explorer.ui import token_view
from explorer.ui.cockpit.edits import Change, change_at
from explorer.ui.cockpit.words import Span
from explorer.ui.instance.ngram_rating import Rated, RatedNgram
from explorer.ui.scored_options import ScoredOption
from explorer.ui.strip.strip import Block, Cell, Column, Delta, Key, Line
from explorer.ui.token_view import Token, Unit, in_unit
from explorer.variants import fields
from explorer.writing import pieces

SURPRISAL, BY_WORD, POPULARITY = "Surprisal", "Surprisal by word", "Popularity"
DIFFERENCE, MODELS = "Difference of options", "Two models"
LAYERS = (SURPRISAL, BY_WORD, POPULARITY, DIFFERENCE, MODELS)
HIGHEST = 10  # of popularity
SHOWN_NGRAMS = 4
NAMES = {"context": "Context", "second": "Second text"}
GIVEN_ALONE = ("labelled", "concept")  # kinds whose options are names and no texts


@dataclass(frozen=True, slots=True)
class PlacedToken:
    """A token and where it stands: in a field of the instance, and in the running text of its option.

    `part` is "" and `at` -1 where that is not known; `number` is the token's place among those asked together.
    """

    token: Token
    part: str
    start: int
    end: int
    at: int
    option: int
    number: int
    many: int
    tokens: tuple[Token, ...] = ()  # of a word: what it is added up from
    reason: str = ""  # of a word without a number: why
    covers: int = 1  # words that it is, where a token reaches over several


@dataclass(frozen=True, slots=True)
class Row:
    """What was asked of one option or region, its tokens placed."""

    asked: ScoredOption
    tokens: tuple[PlacedToken, ...]


@dataclass(frozen=True, slots=True)
class Marks:
    """What can be clicked, what was changed, and what is open."""

    spans: Sequence[Span]
    word: str = ""
    changed: Mapping[str, Sequence[Change]] = field(default_factory=dict)  # by field, in their order

    def span(self, part: str, start: int, end: int) -> Span | None:
        """The word that can be swapped and covers these characters."""
        return next((s for s in self.spans if s.part == part and s.start < end and start < s.end), None)


def rows(instance: Instance, asked: Sequence[ScoredOption]) -> list[Row]:
    """All that was asked, each token placed."""
    parts = fields.field_texts(instance)
    texts = prompts.option_texts(instance)
    return [Row(option, tuple(_placed(instance, option, parts, texts))) for option in answers.options_of(asked)]


def _placed(
    instance: Instance, option: ScoredOption, parts: Mapping[str, str], texts: Sequence[str]
) -> list[PlacedToken]:
    whole = "".join(token.text for token in option.tokens)
    body = whole.strip()
    lead = len(whole) - len(whole.lstrip())
    names = [f"option {option.option}", "context", "second"]
    number = option.option
    if instance.kind == "regions":
        number = next((i for i, condition in enumerate(instance.conditions) if condition.name == option.condition), 0)
        names = [f"condition {number} region {option.part - 1}"]
    if instance.kind in GIVEN_ALONE:
        names = []
    part, offset = next(((name, at) for name in names if (at := _find(parts.get(name, ""), body)) >= 0), ("", -1))
    text = texts[number] if number < len(texts) else texts[0] if texts else ""
    # A region is looked for behind those before it.
    at = _find(text, body, max(0, _begun(option.context, text) - 1) if instance.kind == "regions" else 0)
    placed, done = [], 0
    for count, token in enumerate(option.tokens):
        blank = len(token.text) - len(token.text.lstrip())
        inside = done + blank - lead
        length = len(token.text.strip())
        start = offset + inside if part else 0
        placed.append(
            PlacedToken(
                token, part, start, start + length, at + inside if at >= 0 else -1, number, count, len(option.tokens)
            )
        )
        done += len(token.text)
    return placed


def _begun(context: str, text: str) -> int:
    """How much of a sentence stands in what was read before its region; in a chat much else stands there, too."""
    context = context.strip()
    if len(context) <= len(text):
        return len(context)
    return next(size for size in range(len(text), -1, -1) if context.endswith(text[:size].rstrip()))


def by_word(row: Row, given_words: Sequence[str] = ()) -> Row:
    """The row with its tokens added up to words: the given ones, as long as they make up its text."""
    tokens = [token.token for token in row.tokens]
    texts, logprobs = [token.text for token in tokens], [-token.nats for token in tokens]
    word_scores = sum_by_word(texts, logprobs, given=given_words)
    word_scores = sum_by_word(texts, logprobs) if isinstance(word_scores, str) else word_scores
    if isinstance(word_scores, str):
        return row
    text = "".join(token.text for token in tokens)
    word_tokens, done = [], 0
    for number, word in enumerate(word_scores):
        of_word = row.tokens[word.first : word.first + word.tokens]
        placed = [token for token in of_word if token.end > token.start] or list(of_word)
        before = " " if text[done : word.start] else ""
        done = word.end
        word_tokens.append(
            replace(
                placed[0],
                token=Token(before + word.text, -word.logprob),
                end=placed[-1].end,
                number=number,
                many=len(word_scores),
                tokens=tuple(token.token for token in of_word),
                reason=word.reason,
                covers=word.covers,
            )
        )
    return Row(row.asked, tuple(word_tokens))


def _find(text: str, body: str, after: int = 0) -> int:
    """Where a body stands in a text, in any case where it is not found as it is written."""
    if not body:
        return -1
    start = text.find(body, after)
    if start < 0 and len(text.casefold()) == len(text):
        start = text.casefold().find(body.casefold(), after)
    return start


# --- blocks


def blocks(
    instance: Instance,
    all_rows: Sequence[Row],
    paint: Callable[[PlacedToken], Cell],
    unit: Unit,
    notes: Mapping[int, str],
    *,
    total: str = "",
    marks: Marks,
) -> list[Block]:
    """The instance's texts: what its options share as words, then its options token by token."""
    shown = _shared(instance, all_rows, marks)
    if instance.kind == "regions":
        return [*shown, *_conditions(instance, all_rows, paint, unit)]
    if not any(row.tokens for row in all_rows):
        return shown
    if len(all_rows) == 2:
        first, second = all_rows
        lines = tuple(_line(instance, row, notes) for row in all_rows)
        columns = _aligned(first.tokens, second.tokens, paint, unit, total=total)
        say = f"{lines[0].name} over {lines[1].name}, token by token"
        return [*shown, Block(lines, columns, say, total="Difference" if total == "each" else total)]
    for row in all_rows:
        line = _line(instance, row, notes)
        columns = tuple(Column((paint(token),), starts=token.token.text[:1].isspace()) for token in row.tokens)
        shown.append(Block((line,), columns, f"{line.name}, token by token"))
    return shown


def two_models(
    instance: Instance, mine: Sequence[Row], others: Sequence[Row], names: tuple[str, str],
    paint: Callable[[PlacedToken], Cell], unit: Unit, marks: Marks,
) -> list[Block]:  # fmt: skip
    """Each option by two models: the rows over each other, and below by how much the first is less surprised."""
    shown = _shared(instance, mine, marks)
    for row, other in zip(mine, others, strict=False):
        title = answers.option_name(instance, row.asked.option)
        if instance.kind == "regions":
            title = f"{row.asked.condition}, region {row.asked.part}"
        lines = (Line(names[0], _sum(row.asked, unit)), Line(names[1], _sum(other.asked, unit)))
        columns = _aligned(row.tokens, other.tokens, paint, unit, total="each")
        shown.append(Block(lines, columns, f"{title} by {names[0]} and {names[1]}", title=title, total="Difference"))
    return shown


# Two options over each other. Equal tokens share a column, what only one has leaves a gap, and each column's number is
# by how much the upper text is less surprising there; they add up to the margin:
#
#     The   author   s        laugh         "laugh" stands in the first text alone: it counts whole
#     The   author   laughs     -
#     0.0    0.0     +5.4     -2.1          sum +3.3 nats
def _aligned(
    first: Sequence[PlacedToken],
    second: Sequence[PlacedToken],
    paint: Callable[[PlacedToken], Cell],
    unit: Unit,
    *,
    total: str,
) -> tuple[Column, ...]:
    columns = []
    sum_so_far = 0.0
    for a, b in token_view.align([token.token.text for token in first], [token.token.text for token in second]):
        top, bottom = (first[a] if a is not None else None), (second[b] if b is not None else None)
        differs = top is None or bottom is None or top.token.text != bottom.token.text
        cells = tuple(_marked_cell(paint(token), differs) if token else None for token in (top, bottom))
        nats = difference(top, bottom)
        sum_so_far += 0.0 if math.isnan(nats) else nats
        starts = any(token is not None and token.token.text[:1].isspace() for token in (top, bottom))
        delta = _delta(sum_so_far if total == "Margin so far" else nats, unit) if total else None
        columns.append(Column(cells, starts, delta))
    return tuple(columns)


def difference(top: PlacedToken | None, bottom: PlacedToken | None) -> float:
    """How many nats less surprising the first text is here; a token that only one text has counts whole."""
    known = [token.token.nats for token in (top, bottom) if token is not None]
    if any(math.isnan(nats) for nats in known):
        return math.nan
    return (bottom.token.nats if bottom else 0.0) - (top.token.nats if top else 0.0)


def _delta(nats: float, unit: Unit) -> Delta | None:
    if math.isnan(nats):
        return None
    tint = min(1.0, abs(nats) / token_view.DEEPEST_DIFFERENCE)
    return Delta(display.number(in_unit(nats, unit), 1, signed=True), tint, "for" if nats > 0 else "against")


def _conditions(
    instance: Instance, all_rows: Sequence[Row], paint: Callable[[PlacedToken], Cell], unit: Unit
) -> list[Block]:
    names = list(instance.extra.get("regions", ()))
    shown = []
    for number, condition in enumerate(instance.conditions):
        rows_here = [row for row in all_rows if row.asked.condition == condition.name]
        columns = []
        for row in rows_here:
            part = row.asked.part
            known = [token.token.nats for token in row.tokens if not math.isnan(token.token.nats)]
            about = f"{part} {names[part - 1]}" if 0 < part <= len(names) else str(part)
            surprisal = display.number(in_unit(math.fsum(known), unit), 1) if known else display.MISSING
            for place, token in enumerate(row.tokens):
                foot = f"{about} · {surprisal}" if place == 0 else ""
                columns.append(Column((paint(token),), starts=place == 0 or token.token.text[:1].isspace(), foot=foot))
        text = " | ".join(condition.regions)
        line = Line(condition.name, "", f"condition {number}", text)
        shown.append(Block((line,), tuple(columns), f"{condition.name}, token by token"))
    return shown


def _line(instance: Instance, row: Row, notes: Mapping[int, str]) -> Line:
    name = answers.option_name(instance, row.asked.option)
    option = f"option {row.asked.option}"
    part_name = row.tokens[0].part if row.tokens else ""
    if part_name == "context" and instance.format == "winogrande":
        name = instance.options[row.asked.option].strip() + (" (right)" if row.asked.option == instance.gold else "")
    texts = fields.field_texts(instance)
    part = (
        part_name
        if part_name == option
        else option
        if option in texts and instance.kind not in GIVEN_ALONE
        else part_name
    )
    return Line(name, notes.get(row.asked.option, ""), part, texts.get(part, ""))


def _shared(instance: Instance, all_rows: Sequence[Row], marks: Marks) -> list[Block]:
    """The fields that no token stands in, as words: what options share, and all of it where no score is known."""
    covered = {token.part for row in all_rows for token in row.tokens}
    shown = []
    if instance.kind == "regions":
        if all_rows and any(row.tokens for row in all_rows):
            return []
        for number, condition in enumerate(instance.conditions):
            cells = [
                column
                for i, text in enumerate(condition.regions)
                for column in _words(f"condition {number} region {i}", text, marks)
            ]
            line = Line(condition.name, "", f"condition {number}", " | ".join(condition.regions))
            shown.append(Block((line,), tuple(cells), condition.name, plain=True))
        return shown
    for part, text in fields.field_texts(instance).items():
        is_option = part.startswith("option ")
        if not text.strip() or part in covered or (is_option and instance.kind in GIVEN_ALONE):
            continue
        if is_option and instance.format == "winogrande" and covered:
            continue
        name = answers.option_name(instance, int(part.split()[1])) if is_option else NAMES.get(part, part)
        columns = tuple(_words(part, text, marks))
        shown.append(Block((Line(name, "", part, text),), columns, name, plain=True))
    return shown


def _words(part: str, text: str, marks: Marks) -> list[Column]:
    """A text word by word; a sign stands with the word before it."""
    columns, last = [], 0
    for piece in pieces(text, signs=True):
        starts = bool(text[last : piece.start].strip(" ") or text[last : piece.start])
        cell = touched(Cell(piece.text, hue="plain", say=(f"“{piece.text}”",)), part, piece.start, piece.end, marks)
        columns.append(Column((cell,), starts=starts))
        last = piece.end
    return columns


# --- cells


def touched(cell: Cell, part: str, start: int, end: int, marks: Marks) -> Cell:
    """The cell with what a click on it opens, and the marks of a word that can be swapped, was changed, or is open."""
    if not part:
        return cell
    span = marks.span(part, start, end)
    key = f"{span.key if span else ''}|{part}@{start}"
    kinds = [cell.kinds] if cell.kinds else []
    say = cell.say
    change = None if span and span.was else change_at(marks.changed, part, start, end)
    if change or (span and span.was):
        was = change.was if change else span.was if span else ""
        kinds.append("lx-swapped")
        say = (*say, f"was “{was}”" if was else "added by hand")
    elif span:
        kinds.append("lx-swap")
        say = (*say, "has synonyms")
    is_open = bool(marks.word) and (
        marks.word == span.key if span and "@" not in marks.word else marks.word == f"{part}@{start}"
    )
    if is_open:
        kinds.append("lx-open")
    return replace(cell, key=key, kinds=" ".join(kinds), say=say, open=is_open)


def _marked_cell(cell: Cell, differs: bool) -> Cell:
    return replace(cell, kinds=f"{cell.kinds} lx-differs".strip()) if differs else cell


def surprisal_cell(token: PlacedToken, unit: Unit, marks: Marks) -> Cell:
    """A token by how surprising it was."""
    nats = token.token.nats
    scored = not math.isnan(nats)
    tint = min(1.0, max(0.0, nats / token_view.DEEPEST)) if scored else 0.0
    cell = Cell(
        shown_token(token.token.text),
        display.number(in_unit(nats, unit), 1),
        tint,
        "surprise",
        tuple(token_view.lines_of(token.token, token.number + 1, token.many)),
        kinds="" if scored else "lx-unscored",
    )
    return touched(cell, token.part, token.start, token.end, marks)


def word_cell(word: PlacedToken, unit: Unit, marks: Marks) -> Cell:
    """A word by how surprising it was: its tokens added up."""
    cell = surprisal_cell(word, unit, marks)
    first, *_ = token_view.lines_of(word.token, word.number + 1, word.many)
    parts = " + ".join(token_view.visible(token.text) for token in word.tokens)
    known = not math.isnan(word.token.nats)
    nats = f"{word.token.nats:.3f} nats, {in_unit(word.token.nats, 'bits'):.3f} bits" if known else word.reason
    of = f"of {parts}" if len(word.tokens) > 1 else ""
    together = f"{word.covers} words, over which a token reaches" if word.covers > 1 else ""
    lines_told = (first, f"word {word.number + 1} of {word.many}", together, of, nats)
    lines_of_token = len(token_view.lines_of(word.token, word.number + 1, word.many))
    return replace(cell, say=(*filter(None, lines_told), *cell.say[lines_of_token:]))


def difference_cell(token: PlacedToken, nats: float, unit: Unit, marks: Marks) -> Cell:
    """A token by how much its text gains on the other here."""
    known = not math.isnan(nats)
    cell = Cell(
        shown_token(token.token.text),
        display.number(in_unit(nats, unit), 1, signed=True) if known else display.MISSING,
        min(1.0, abs(nats) / token_view.DEEPEST_DIFFERENCE) if known else 0.0,
        "for" if known and nats > 0 else "against" if known else "plain",
        (
            *token_view.lines_of(token.token, token.number + 1, token.many),
            f"{display.number(in_unit(nats, unit), 2, signed=True)} {unit} for this text" if known else "not compared",
        ),
        kinds="" if known else "lx-unscored",
    )
    return touched(cell, token.part, token.start, token.end, marks)


def popularity_cell(token: PlacedToken, rated: Rated | None, marks: Marks) -> Cell:
    """A token by the popularity of the n-grams that cover it: the mean over the index's tokens that it overlaps."""
    over = places_over(token, rated)
    values = [rated.popularity[place] for place in over] if rated else []
    known = [value for value in values if not math.isnan(value)]
    value = math.fsum(known) / len(known) if known else math.nan
    covering = sorted(grams_over(token, rated), key=lambda gram: (math.isnan(gram.count), -gram.count))
    meaning = f"popularity {value:.1f} of {HIGHEST}" if known else "no n-gram covers it"
    more = [f"{_count(gram.count)} × “{gram.text.strip()}”" for gram in covering[:SHOWN_NGRAMS]]
    more += [f"and {len(covering) - SHOWN_NGRAMS} more"] if len(covering) > SHOWN_NGRAMS else []
    cell = Cell(
        shown_token(token.token.text),
        display.number(value, 1) if known else display.MISSING,
        (value - 1) / (HIGHEST - 1) if known else 0.0,
        "popular",
        (f"“{token_view.visible(token.token.text)}”", meaning, *more),
        kinds="" if known else "lx-unscored",
    )
    return touched(cell, token.part, token.start, token.end, marks)


def places_over(token: PlacedToken, rated: Rated | None) -> list[int]:
    """The index's tokens that overlap a token of the model's, both cut from the same running text."""
    if rated is None or token.at < 0:
        return []
    whole = "".join(rated.tokens)
    lead = whole.find(rated.text.strip())
    if lead < 0:
        return []
    shift = len(rated.text) - len(rated.text.lstrip())
    start, end = token.at - shift + lead, token.at - shift + lead + max(1, token.end - token.start)
    places, done = [], 0
    for place, text in enumerate(rated.tokens):
        first = done + len(text) - len(text.lstrip())
        done += len(text)
        if first < end and start < done:
            places.append(place)
    return places


def grams_over(token: PlacedToken, rated: Rated | None) -> list[RatedNgram]:
    """The n-grams that cover a token, from left to right."""
    if rated is None:
        return []
    over = places_over(token, rated)
    by_start = {gram.start: gram for place in over for gram in rated.covering(place)}
    return [by_start[start] for start in sorted(by_start)]


def shown_token(text: str) -> str:
    """A token as it is written in a box: the leading blank is the space between boxes, any other blank a mark."""
    return token_view.visible(text.removeprefix(" ") or text)


def _count(value: float) -> str:
    return "unknown" if math.isnan(value) else f"{value:,.0f}"


def _sum(option: ScoredOption, unit: Unit) -> str:
    if math.isnan(option.logprob):
        return "no score"
    return f"{display.number(in_unit(option.logprob, unit), signed=True)} {unit}"


def key_of(layer: str, unit: Unit, grams: int = 0) -> Key:
    """The legend of a layer."""
    most = f"{in_unit(token_view.DEEPEST, unit):.0f} or more"
    hint = "Click a word to change it; those underlined with dots have synonyms."
    if layer == BY_WORD:
        return Key(f"surprisal of a word in {unit}", "0", most, "surprise", hint)
    if layer == POPULARITY:
        return Key(f"popularity of the {grams}-grams over a token", "1", str(HIGHEST), "popular", hint)
    if layer == DIFFERENCE:
        reach = f"{in_unit(token_view.DEEPEST_DIFFERENCE, unit):.0f}"
        return Key(f"for the other text, in {unit}", f"−{reach}", f"+{reach} for this one", "for", hint)
    return Key(f"surprisal in {unit}", "0", most, "surprise", hint)
