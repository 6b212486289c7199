"""Made-up words: every one begins as no English word does, so that what is planted stands nowhere else."""

from __future__ import annotations

from explorer.glassbox import chance

ONSETS = (
    "bv", "dl", "dv", "fk", "gv", "kv", "lv", "mr", "nv", "pw", "sr", "tl", "tv", "vl", "vr", "vw", "zb", "zd", "zl",
    "zm", "zr", "zw",
)  # fmt: skip
VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "oo", "ou")
MIDDLES = ("b", "d", "f", "g", "l", "m", "n", "p", "r", "s", "t", "v", "nd", "lm", "rt", "st", "mp", "rb", "ld")
ENDS = ("ck", "ft", "l", "lk", "lt", "m", "n", "nd", "nt", "p", "rd", "rk", "rm", "t", "x", "b", "d", "g")


def make_words(kind: str, count: int, syllables: int = 2) -> list[str]:
    """`count` different words; the same kind always gives the same. Words of other lengths never meet."""
    words: dict[str, None] = {}
    place = 0
    while len(words) < count:
        words.setdefault(_word(f"{kind}/{place}", syllables))
        place += 1
    return list(words)


def _word(name: str, syllables: int) -> str:
    word = chance.pick(ONSETS, f"{name}/onset") + chance.pick(VOWELS, f"{name}/vowel")
    for syllable in range(1, syllables):
        word += chance.pick(MIDDLES, f"{name}/middle {syllable}") + chance.pick(VOWELS[:5], f"{name}/vowel {syllable}")
    return word + chance.pick(ENDS, f"{name}/end")
