"""What pages show: sentences, figures and tables to be downloaded, numbers, and what to do where there is nothing.

Nothing that is downloaded is made before somebody asks for it: a button holds the way to make its file.
"""

from __future__ import annotations

import contextlib
import html
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from explorer import display
from explorer.errors import ExplorerError
from explorer.figures.on_screen import on_screen
from explorer.ui import histograms, unasked_servers
from explorer.ui.columns import Write, as_shown, is_link, title_of, writers
from explorer.ui.plain_text import plain as plain  # "show.plain" on every page

Figure = Any  # a Plotly figure, made in explorer/figures

LONGEST = 2_000  # characters of a cell on the screen; a download has all of them
IN_A_ROW = 5
TABLE_FORMATS = ("csv", "parquet", "latex")
ABOUT = "lx:about"  # in the session's state: what the page speaks of
COMMAND_LINE = "Do this from the command line"  # commands stand under this heading and nowhere else


@dataclass(frozen=True, slots=True)
class About:
    """What a figure or table is about; its files are called so, and its caption says it. `n` counts instances."""

    study: str = ""
    model: str = ""
    benchmark: str = ""
    n: int | None = None

    def file_name(self, name: str, ending: str) -> str:
        """A file's name of study, model, benchmark and what it shows."""
        parts = [self.study, self.model.rstrip("/").rsplit("/", 1)[-1], self.benchmark, name]
        return "_".join(filter(None, map(_slug, parts)))[:150] + f".{ending}"

    def caption(self, text: str, n: int | None = None) -> str:
        """The text as a sentence, then model, benchmark and the number of instances."""
        facts = [f"Model: {self.model}"] if self.model else []
        facts += [f"benchmark: {self.benchmark}"] if self.benchmark else []
        count = self.n if n is None else n
        facts += [f"n = {display.count(count)} instances"] if count is not None else []
        sentence = text.rstrip(". ") + "."
        sentence_of_facts = "; ".join(facts)
        return f"{sentence} {sentence_of_facts[:1].upper()}{sentence_of_facts[1:]}." if sentence_of_facts else sentence


def lead(text: str) -> None:
    """One quiet sentence under a title."""
    st.html(f'<p class="lx-lead">{_written(text)}</p>')


def says(*sentences: str) -> None:
    """What the figure beneath shows, in sentences; nothing where none is given."""
    text = " ".join(filter(None, sentences))
    if text:
        st.html(f'<p class="lx-says">{_written(text)}</p>')


@contextlib.contextmanager
def options(key: str = "options", title: str = "Options") -> Iterator[None]:
    """A popover for controls that few readers need; what they choose stands in the address."""
    with st.popover(title, icon=":material/tune:", type="tertiary", key=key):
        yield


def model_key(colors: Mapping[str, str]) -> None:
    """The key of all figures beneath, once: a dot in its color for each model."""
    named = "".join(
        f'<span><span class="lx-dot" style="background:{color}"></span>{html.escape(name)}</span>'
        for name, color in colors.items()
    )
    st.html(f'<p class="lx-models">{named}</p>')


def note(text: str) -> None:
    """A small remark; the text is shown as it is."""
    st.html(f'<p class="lx-quiet lx-note">{_written(text)}</p>')


def _written(text: str) -> str:
    return html.escape(display.unbroken(text))


def meaning(text: str) -> str:
    """What a finding means, as a reader of a page is told: columns of its table without their marks."""
    return re.sub(r"\(`(\w+)`", r"(the \1", text).replace("`", "")


def section(text: str) -> None:
    """A small heading over a group of controls."""
    st.html(f'<p class="lx-section">{html.escape(text)}</p>')


def nothing_yet(title: str, advice: str, command: str = "", about: str = "") -> None:
    """An empty state that says what to do, with the command that does it folded below; `about` tells two apart."""
    st.html(f'<div class="lx-empty"><h3>{html.escape(title)}</h3><p>{html.escape(advice)}</p></div>')
    if command:
        # A key becomes a class of the element: no place for a model's name as somebody wrote it.
        command_line(command, f"{zlib.crc32(f'{title}:{command}:{about}'.encode()):08x}")


def command_line(command: str, about: str = "") -> None:
    """A command for a terminal, folded; `about` tells two on a page apart."""

    def draw() -> None:
        st.code(command, language=None, wrap_lines=True)

    # The first code on a page brings a library of a megabyte and a half that colors it, a fifth of a second's work.
    folded(COMMAND_LINE, f"command:{about}", draw, icon=":material/terminal:")


def folded(title: str, key: str, draw: Callable[[], None], *, icon: str | None = None) -> None:
    """What stands behind a line that opens: drawn when a reader opens it, and then without the rest of the page."""
    _fold(title, key, draw, icon, _subject())


@st.fragment
def _fold(title: str, key: str, draw: Callable[[], None], icon: str | None, named: About) -> None:
    fold = st.expander(title, key=key, icon=icon, on_change="rerun")
    if is_open(fold):
        st.session_state[ABOUT] = named  # by the time that it is opened, the page may speak of something else
        with fold:
            draw()


def is_open(fold: Any) -> bool:
    """Whether the reader has opened this line."""
    return bool(fold.open)


@st.fragment
def menu(title: str, key: str, draw: Callable[[], None]) -> None:
    """A menu of downloads: its buttons are drawn when a reader opens it, and then without the rest of the page."""
    opened = st.popover(title, icon=":material/download:", type="tertiary", key=key, on_change="rerun")
    if is_open(opened):
        with opened:
            draw()


def escaped(text: str) -> str:
    """The text for the inside of an element of HTML."""
    return html.escape(text)


def about(study: str = "", model: str = "", benchmark: str = "", n: int | None = None) -> None:
    """Says what this page's figures and tables are about from here on; the frame says it for the whole page."""
    st.session_state[ABOUT] = About(study, model, benchmark, n)


def chart(
    figure: Figure,
    *,
    alt: str,
    key: str | None = None,
    n: int | None = None,
    about: About | None = None,
    on_select: Any = "ignore",
    remark: str = "",
    beside: Callable[[], None] | None = None,
) -> Any:
    """A figure as wide as the page, to be downloaded as SVG, PDF, PNG, HTML and JSON, and what was picked in it.

    `alt` says in words what it shows and is its caption, `n` over how many instances; `remark` stands under it, and
    `beside` draws what stands in one line with the download.
    """
    key = key and re.sub(r"[^\w:.,+/-]+", "-", key)  # names of models may be anything, and keys become HTML ids
    name = key or _slug(alt)[:40]
    picked = st.plotly_chart(
        on_screen(figure, picks=on_select != "ignore"),
        theme=None,
        key=key,
        alt=alt,
        on_select=on_select,
        config={"displaylogo": False, "toImageButtonOptions": {"format": "svg", "filename": name}},
    )
    if remark:
        note(remark)
    if beside is None:
        _offer_figure(figure, name, about or _subject(), alt, n)
    else:
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            beside()
            _offer_figure(figure, name, about or _subject(), alt, n)
    return picked


def table(
    frame: pd.DataFrame,
    name: str,
    *,
    columns: Mapping[str, Any] | None = None,
    height: int | None = None,
    caption: str = "",
    n: int | None = None,
    about: About | None = None,
    picks: str = "",
    several: bool = False,
    whole: pd.DataFrame | None = None,
) -> list[int]:
    """A table that can be sorted, searched and downloaded as CSV, Parquet and LaTeX.

    `columns` names the shown ones, in order (explorer/ui/columns.py makes them); a CSV or Parquet file has all columns
    and plain numbers, LaTeX those shown and written as they are here.
    Above a long one stands a small histogram of each column of numbers, over the whole of what is downloaded.
    With `picks`, a key that changes with the rows, one row can be picked (with `several` any number); the answer is the
    numbers of the picked ones. `whole` is what is downloaded where the table shows less.
    """
    if histogram_row := histograms.row(frame if whole is None else whole, columns or {}):
        st.html(histogram_row)
    shown, config = as_shown(shortened(frame[list(columns)] if columns else frame), columns or {})
    answer: Any = st.dataframe(
        shown,
        hide_index=True,
        column_config=config or None,
        height=height or "auto",
        placeholder=display.MISSING,
        key=picks or f"table:{name}",
        alt=f"{name}, {len(frame)} rows",
        on_select="rerun" if picks else "ignore",
        selection_mode="multi-row" if several else "single-row",
    )
    save(frame if whole is None else whole, name, columns=columns, caption=caption, n=n, about=about)
    return list(answer["selection"]["rows"]) if picks else []


def folded_table(frame: pd.DataFrame, name: str, *, title: str = "The numbers", remark: str = "", **named: Any) -> None:
    """A table with its download behind a line that opens; `remark` says above it how to read it."""

    def draw() -> None:
        if remark:
            note(remark)
        table(frame, name, **named)

    folded(title, f"folded:{name}", draw)


def save(
    frame: pd.DataFrame,
    name: str,
    *,
    columns: Mapping[str, Any] | None = None,
    caption: str = "",
    n: int | None = None,
    about: About | None = None,
) -> None:
    """A menu that downloads the whole frame as CSV, Parquet or LaTeX."""
    named = about or _subject()
    text = named.caption(caption or name, n)
    titles = _titles(columns) if columns else None
    cells = writers(frame, columns) if columns else None

    def draw() -> None:
        for format in TABLE_FORMATS:
            _offer_table(frame, name, format, named, text, titles, cells)

    menu("Download table", f"save:{name}", draw)


def shortened(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with texts cut that no cell can show, so that a text of a megabyte does not hold up the page."""
    long = [name for name in frame if _longest(frame[name]) > LONGEST]
    return frame.assign(**{str(name): frame[name].map(_shorten) for name in long}) if long else frame


def _longest(column: pd.Series) -> int:
    """The characters of a column's longest text; 0 where it has none."""
    if column.dtype == object:
        return max((len(value) for value in column if isinstance(value, str)), default=0)
    if not pd.api.types.is_string_dtype(column):
        return 0
    longest = column.str.len().max()
    return int(longest) if longest == longest else 0


def _shorten(value: Any) -> Any:
    is_long = isinstance(value, str) and len(value) > LONGEST
    return f"{value[:LONGEST]}… ({len(value):,} characters)" if is_long else value


def _offer_figure(figure: Figure, name: str, named: About, alt: str, n: int | None) -> None:
    text = named.caption(alt, n)

    def draw() -> None:
        from explorer.figures import images  # with Chromium's driver, for those who download

        for format, title in images.available().items():
            st.download_button(
                title,
                _making(images.render, figure, format, text),
                file_name=named.file_name(name, format),
                mime=images.MIME[format],
                key=f"figure:{name}:{format}",
                on_click="ignore",
                type="tertiary",
            )
        if reason := images.lacking():
            note(reason)

    menu("Download figure", f"figure:{name}", draw)


def _offer_table(
    frame: pd.DataFrame,
    name: str,
    format: str,
    named: About,
    caption: str,
    titles: Mapping[str, str] | None,
    cells: Mapping[str, Write] | None,
) -> None:
    # Only the page that has a table brings in what writes it.
    from explorer.results import formats

    kind = formats.FORMATS[format]
    st.download_button(
        kind.title,
        _making(
            formats.as_bytes,
            frame,
            format,
            caption=caption,
            label=f"{named.study} {name}",
            titles=titles,
            cells=cells,
            spreadsheet_safe=True,
        ),
        file_name=named.file_name(name, kind.ending),
        mime=kind.mime,
        key=f"save:{name}:{format}",
        on_click="ignore",
        type="tertiary",
    )


def _making(make: Callable[..., bytes], *arguments: Any, **named: Any) -> Callable[[], bytes]:
    """What makes a file when it is asked for."""
    return lambda: make(*arguments, **named)


def _titles(columns: Mapping[str, Any]) -> dict[str, str]:
    """Column → heading, without columns of links, which lead nowhere on paper."""
    return {name: title_of(name, column) for name, column in columns.items() if not is_link(column)}


def _subject() -> About:
    about = st.session_state.get(ABOUT)
    return about if isinstance(about, About) else About()


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.").lower()


def numbers(cells: Sequence[tuple[str, str, str]]) -> None:
    """Rows of labeled numbers: label, value, what it means; more than five would cut their labels."""
    rows = -(-len(cells) // IN_A_ROW)
    wide = -(-len(cells) // rows) if cells else 0
    for start in range(0, len(cells), wide or 1):
        for column, (label, value, meaning) in zip(st.columns(wide), cells[start : start + wide], strict=False):
            column.metric(label, value, help=meaning or None)


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    if seconds != seconds or seconds < 0:
        return "unknown"
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def _without_commands(text: str) -> tuple[str, list[str]]:
    """A sentence that points to the commands it named between backticks, and these."""
    commands = re.findall(r"`((?:python -m|pip install) [^`]+)`", text)
    sentence = re.sub(r"`(?:python -m|pip install) [^`]+`", "the command below", text)
    sentence = re.sub(r"(^|[.!?] )the command below", r"\1The command below", sentence)
    return sentence.replace("`", ""), commands


def problem(error: ExplorerError) -> None:
    """An error of ours as one sentence."""
    sentence, commands = _without_commands(str(error))
    st.error(plain(sentence), icon=":material/error:")
    if commands:
        command_line("\n".join(commands), f"problem:{zlib.crc32(sentence.encode()):08x}")
    if isinstance(error, unasked_servers.Unasked):
        unasked_servers.offer(error)


@contextlib.contextmanager
def lens(label: str, again: Callable[[], None] | None = None) -> Iterator[None]:
    """One view beside others: where it cannot be had, a quiet line stands in its place and the others go on.

    `again` forgets why, behind a button. What the reader asked for in so many words belongs into `problems`.
    """
    try:
        yield
    except (ExplorerError, OSError, ImportError) as error:  # the latter two: a file or package that is not here
        with st.container(horizontal=True, vertical_alignment="center"):
            sentence, commands = _without_commands(str(error))
            note(f"{label} cannot be shown: {sentence}")
            if again:
                st.button("Try again", key=f"again:{label}", type="tertiary", on_click=again)
        if commands:
            command_line("\n".join(commands), f"lens:{zlib.crc32(f'{label}:{sentence}'.encode()):08x}")


@contextlib.contextmanager
def problems() -> Iterator[None]:
    """Shows an error of ours as one sentence and leaves out the rest of the block."""
    try:
        yield
    except ExplorerError as error:
        problem(error)
