"""The marks of small p-values, the same in stored runs and on every page."""

from __future__ import annotations

LEVELS = (0.1, 0.05, 0.01)
LEGEND = ", ".join(f"{'*' * number} p < {level:g}" for number, level in enumerate(LEVELS, 1))


def stars(p: float) -> str:
    """*** below .01, ** below .05, * below .1 (as in Lexical Popularity, appendix A.5); none without a p."""
    return "*" * sum(p < level for level in LEVELS)
