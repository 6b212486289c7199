"""Makes the starter pairs: each phenomenon's frames, filled evenly."""

from __future__ import annotations

from pathlib import Path

from explorer.benchmarks.starter_grammar.frames import fill_varied, read_frames, split_contrast

FRAMES = Path(__file__).with_name("frames")
SEED = 2024
PER_PHENOMENON = 200


def make_pairs() -> list[dict[str, str]]:
    """A row per pair, the phenomena taking turns, so that the first rows show all of them."""
    phenomena = [_make_phenomenon(path) for path in sorted(FRAMES.glob("*.txt"))]
    return [row for rows in zip(*phenomena, strict=True) for row in rows]


def _make_phenomenon(path: Path) -> list[dict[str, str]]:
    frames = read_frames(path)
    rows = []
    for number, frame in enumerate(frames):
        # Spreads the remainder evenly over the frames.
        count = PER_PHENOMENON * (number + 1) // len(frames) - PER_PHENOMENON * number // len(frames)
        for n, filling in enumerate(fill_varied(frame, count, SEED), 1):
            good, bad = split_contrast(filling)
            rows.append({"key": f"{frame.key}-{n}", "group": path.stem, "frame": frame.key, "good": good, "bad": bad})
    return rows
