"""Makes the templated part of the starter entailments: half of a frame's fillings follow, half do not."""

from __future__ import annotations

from pathlib import Path

from explorer.benchmarks.starter_grammar.frames import fill_varied, read_frames, sentence

FRAMES = Path(__file__).with_name("entailment.txt")
SEED = 2024
PER_FRAME = 4


def make_entailments() -> list[dict[str, str]]:
    """A row per pair, the frames and the labels taking turns; every premise is used once."""
    frames = read_frames(FRAMES)
    fillings = [fill_varied(frame, PER_FRAME, SEED) for frame in frames]
    return [
        _row(frame.key, n, filled[n - 1], follows=(n + position) % 2 == 0)
        for n in range(1, PER_FRAME + 1)
        for position, (frame, filled) in enumerate(zip(frames, fillings, strict=True), 1)
    ]


def _row(frame_key: str, n: int, filling: str, follows: bool) -> dict[str, str]:
    premise, entailed, unrelated = map(sentence, filling.split(" > "))
    return {
        "key": f"{frame_key}-{n}",
        "group": frame_key.rpartition("-")[0],
        "frame": frame_key,
        "premise": premise,
        "hypothesis": entailed if follows else unrelated,
        "label": "entailment" if follows else "not_entailment",
    }
