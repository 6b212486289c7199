"""Text from outside as Markdown that shows it letter by letter."""

from __future__ import annotations

import re


def plain(text: str) -> str:
    """Text that Markdown shows as it is, on its lines: no link, style, list, symbol or code is made of it."""
    # Streamlit makes arrows and signs of these after the escapes are gone; something without width stands between.
    text = re.sub(r"(?<!\S)([<>~-])([->=]+)(?!\S)", "\\1\N{WORD JOINER}\\2", text)
    # So it does with its icons, escaped or not; it writes ":material_home:" for ":material/home:" before it looks.
    text = re.sub(r":(?=material[/_]|streamlit:)", ":\N{WORD JOINER}", text)
    # A line that begins with four blanks would be code.
    text = re.sub(r"^[ \t]+", lambda blanks: "\N{NO-BREAK SPACE}" * len(blanks[0]), text, flags=re.MULTILINE)
    marked = re.sub(r"([\\`*_{}\[\]<>#|~$:&@])", r"\\\1", text)
    marked = re.sub(r"^([^\S\n]*\d*)([-+.)=])", r"\1\\\2", marked, flags=re.MULTILINE)
    return re.sub(r"(?i)(www)\.", r"\1\\.", marked)
