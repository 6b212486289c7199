"""The words of the lab as HTML: texts with underlined words, and the senses of one with their synonyms."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from explorer.records import Instance
from explorer.ui.instance.ngram_rating import shown_count
from explorer.ui.scored_options import option_name
from explorer.variants.by_hand import ShownWord
from explorer.variants.fields import Running
from explorer.variants.swappable import SenseView, WordView
from explorer.variants.synonyms import Candidate

CLASSES = {"n": "noun", "v": "verb"}
Counts = Mapping[str, float]  # form → how often it occurs in the corpus, nan where unknown


def texts_html(
    instance: Instance, texts: Sequence[tuple[Running, Sequence[ShownWord]]], offered: Mapping[str, WordView], word: str
) -> str:
    """Each running text, its swappable words as buttons: underlined, filled where swapped."""
    several = len(texts) > 1
    lines = []
    for number, (running, words) in enumerate(texts):
        name = _name(instance, number, running) if several else ""
        label = f'<span class="lx-quiet lx-lab-name">{html.escape(name)}</span>' if name else ""
        lines.append(f'<p class="lx-sentence lx-lab-text">{label}{_text(running.text, words, offered, word)}</p>')
    return f'<div class="lx-lab">{"".join(lines)}</div>'


def senses_html(view: WordView, substitute: str, counts: Counts) -> str:
    """A word's senses, the chosen one first, each with its definition and its synonyms as buttons with their counts."""
    shown = sorted((one for one in view.senses if one.chosen or one.offered), key=lambda one: not one.chosen)
    senses = "".join(_sense(one, view, substitute, counts) for one in shown)
    hidden = len(view.senses) - len(shown)
    noun = "sense has" if hidden == 1 else "senses have"
    rest = f'<p class="lx-quiet lx-excluded">{hidden} more {noun} no synonym that fits here.</p>' if hidden else ""
    return f'<div class="lx-senses">{senses}{rest}</div>'


def forms_of(view: WordView) -> list[str]:
    """Every synonym on offer, in the form it would be written."""
    return list(dict.fromkeys(candidate.form for sense in view.senses for candidate in sense.offered))


def _name(instance: Instance, number: int, running: Running) -> str:
    parts = [piece.part for piece in running.pieces]
    option = next((part for part in parts if part.startswith(("option ", "condition "))), "")
    if option.startswith("option "):
        return option_name(instance, int(option.split()[1]))
    if option:
        return instance.conditions[int(option.split()[1])].name
    return "Shared" if parts and parts[0] == "context" and len(instance.options) > 1 else ""


def _text(text: str, words: Sequence[ShownWord], offered: Mapping[str, WordView], opened: str) -> str:
    made, last = [], 0
    for word in words:
        if word.start < last or (word.key not in offered and word.swap is None):
            continue
        made += [html.escape(text[last : word.start]), _word(text[word.start : word.end], word, opened)]
        last = word.end
    return "".join([*made, html.escape(text[last:])])


def _word(text: str, word: ShownWord, opened: str) -> str:
    kinds = ["lx-swap"]
    kinds += ["lx-swapped"] if word.swap else []
    kinds += ["lx-open"] if word.key == opened else []
    hint = f"was “{word.swap.original}”" if word.swap else "show senses and synonyms"
    return (
        f'<button type="button" class="{" ".join(kinds)}" data-pick="{html.escape(word.key, quote=True)}"'
        f' aria-expanded="{str(word.key == opened).lower()}" title="{html.escape(hint, quote=True)}">'
        f"{html.escape(text)}</button>"
    )


def _sense(one: SenseView, view: WordView, substitute: str, counts: Counts) -> str:
    mark = '<span class="lx-chosen">chosen</span>' if one.chosen else ""
    why = f'<span class="lx-quiet lx-why">{html.escape(view.why)}</span>' if one.chosen else ""
    head = (
        f'<p class="lx-sense-head">{mark}<b>{html.escape(one.sense.definition)}</b> '
        f'<span class="lx-quiet">{html.escape(one.sense.synset)}, score {one.score:.3f}</span>{why}</p>'
    )
    buttons = [_synonym(candidate, candidate.lemma == substitute, counts) for candidate in one.offered]
    none = "" if buttons else '<span class="lx-quiet">no synonym that fits here</span>'
    excluded = "; ".join(f"{candidate.lemma} ({candidate.reason})" for candidate in one.excluded)
    left = f'<p class="lx-quiet lx-excluded">Not offered: {html.escape(excluded)}</p>' if excluded else ""
    return f'<div class="lx-sense">{head}<div class="lx-synonyms">{"".join(buttons)}{none}</div>{left}</div>'


def _synonym(candidate: Candidate, picked: bool, counts: Counts) -> str:
    return (
        f'<button type="button" class="lx-synonym{" lx-picked" if picked else ""}"'
        f' data-pick="{html.escape(candidate.lemma, quote=True)}" aria-pressed="{str(picked).lower()}">'
        f"{html.escape(candidate.form)}{_count(candidate.form, counts)}</button>"
    )


def _count(form: str, counts: Counts) -> str:
    return f'<span class="lx-number">{html.escape(shown_count(counts[form]))}</span>' if form in counts else ""
