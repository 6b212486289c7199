"""Texts that break software which takes them for something else than text."""

from __future__ import annotations

HOSTILE = {
    "html": "The <b>cat</b> & <i>dog</i> sleep &amp; eat &lt;b&gt;.",
    "script": "The cat <script>window.hacked=1</script> sleeps.",
    "image": 'The cat <img src=x onerror="window.hacked=1"> sleeps.',
    "closing": "</p></div></style><svg onload=window.hacked=1> sleeps.",
    "attribute": '" onmouseover="window.hacked=1" x=\'',
    "markdown": "# The **cat** [sleeps](javascript:window.hacked=1) ![x](http://127.0.0.1:9/x.png) `code` "
    ":red[x] :material/home:",
    "table": "| a | b |\n|---|---|\n| 1 | 2 |",
    "latex": "The $\\frac{1}{0}$ and $$\\href{javascript:alert(1)}{x}$$ cat \\end{document}.",
    "formula": "=1+1 and @SUM(A1) in a sheet.",
    "template": "{{ 7*7 }} ${7*7} {0} %s %(x)s {x!r}",
    "sql": "'); DROP TABLE runs; -- sleeps.",
    "emoji": "The 👩‍👩‍👧‍👦 sleeps 🏳️‍🌈 near the 🇮🇹 stove.",
    "right to left": "The \u202ecat\u202c \u200fsleeps\u200e and שלום عليكم.",
    "zero width": "The c\u200ba\u200ct\u200d sl\ufeffeeps\u2060.",
    "combining": "Z" + "\u0310\u0335\u0321" * 40 + "algo sleeps.",
    "controls": "The \x07cat\x1b[31m sleeps\x7f\x85\u2028and\u2029eats.",
    "quotes": "He said \"it's\" 'so', \\ and `so`.",
    "path": "../../etc/passwd C:\\CON nul",
    "surface": "\ufffd\ufffe \U0010ffff sleeps.",
}
