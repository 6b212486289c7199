"""The library that draws figures, which the browser reads while the first page is looked at.

It is four megabytes; the first page with a figure would wait for it to be fetched, compiled and run.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit as st

# The files of Streamlit lie beside its first one. What the page draws comes before it.
_SCRIPT = """<script>
if (!window.lexiscopeFigures) {{
  window.lexiscopeFigures = true;
  const first = document.querySelector('script[type=module][src*="static/js/index."]');
  const read = () => import(new URL("{name}", first.src)).catch(() => {{}});
  if (first) (window.requestIdleCallback || setTimeout)(read);
}}
</script>"""


def draw_figures_ahead() -> None:
    """The script that reads the library once the browser is idle; nothing where Streamlit keeps it elsewhere."""
    if name := library():
        st.html(_SCRIPT.format(name=name), unsafe_allow_javascript=True)


@cache
def library() -> str:
    """The name of the file among Streamlit's; "" where there is none, or are several."""
    files = list((Path(st.__file__).parent / "static" / "static" / "js").glob("PlotlyChart.*.js"))
    return files[0].name if len(files) == 1 else ""
