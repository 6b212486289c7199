"""Makes the templated part of the starter entailments: half of a frame's fillings follow, half do not."""

from __future__ import annotations

from pathlib import Path

from explorer.benchmarks.starter_grammar.frames import fill, read_frames, sentence

FRAMES = Path(__file__).with_name("entailment.txt")
SEED = 2024
PER_FRAME = 4


def make_entailments() -> list[dict[str, str]]:
    """A row a pair, the frames and the labels taking turns; every premise is used once."""
    frames = read_frames(FRAMES)
    fillings = [fill(frame, PER_FRAME, SEED) for frame in frames]
    return [
        _row(frame.key, n, filled[n - 1], follows=(n + place) % 2 == 0)
        for n in range(1, PER_FRAME + 1)
        for place, (frame, filled) in enumerate(zip(frames, fillings, strict=True), 1)
    ]


def _row(frame: str, n: int, filling: str, follows: bool) -> dict[str, str]:
    premise, entailed, other = map(sentence, filling.split(" > "))
    return {
        "key": f"{frame}-{n}",
        "group": frame.rpartition("-")[0],
        "frame": frame,
        "premise": premise,
        "hypothesis": entailed if follows else other,
        "label": "entailment" if follows else "not_entailment",
    }
