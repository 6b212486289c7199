"""The figures that Golchin et al. 2024 print for GPT-4 (gpt-4-0613-32k), as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SOURCE = "Golchin et al. (2024)"
MODEL = "gpt-4-0613-32k"


@dataclass(frozen=True, slots=True)
class Published:
    """A printed number beside the finding of ours that answers it; `k` -1 where it is about all of them."""

    place: str
    benchmark: str
    setting: str
    finding: str
    value: float
    k: int = -1
    note: str = ""


_DATASETS = ("wnli", "trec", "dbpedia14", "rte")
_TABLES = (
    ("Table 2", "pearson", "full", (0.98, 0.95, 0.91, -0.55)),
    ("Table 2", "pearson", "pairs_labels", (1.00, 0.91, 0.88, -0.30)),
    ("Table 2", "pearson", "pairs", (0.99, 0.92, 0.89, -0.30)),
    ("Table 3", "pearson_exact", "full", (0.97, 0.87, 0.88, -0.40)),
    ("Table 3", "pearson_exact", "pairs_labels", (0.99, 0.77, 0.93, -0.50)),
    ("Table 3", "pearson_exact", "pairs", (0.97, 0.82, 0.89, -0.47)),
)
_ROUGH = "read off the text of section 5.1, which says about or up to"

PUBLISHED: Sequence[Published] = (
    *(
        Published(place, benchmark, setting, finding, value)
        for place, finding, setting, values in _TABLES
        for benchmark, value in zip(_DATASETS, values)
    ),
    Published("section 5.1", "wnli", "pairs_labels", "replication", 0.75, 200, _ROUGH),
    Published("section 5.1", "rte", "pairs_labels", "replication", 0.24, 200, _ROUGH),
    Published("section 5.1", "trec", "pairs_labels", "replication", 0.40, 200, _ROUGH),
    Published("section 5.1", "dbpedia14", "pairs_labels", "replication", 0.53, 200, _ROUGH),
)


def figures_of(benchmark: str) -> list[Published]:
    """What the paper prints about a data set."""
    return [one for one in PUBLISHED if one.benchmark == benchmark]
