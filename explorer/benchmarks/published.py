"""Where benchmark files are published: public repositories at a fixed commit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from explorer.benchmarks.core.benchmark import SourceFile

# Repository and commit, by the folder of a data folder that holds its files.
REPOSITORIES = {
    "blimp": "alexwarstadt/blimp/d07303a7662f1942d70c5e2bbac7aa021c6cdbd0/data",
    "syntaxgym": "cpllab/syntactic-generalization/43f1f86b746254406dafc89bd17b9d4976607ef6/test_suites/json",
    "crows_pairs": "nyu-mll/crows-pairs/8aaac11/data",
    "lambada": "cybertronai/bflm/620fff7",
    "lambada_original": "Victorwz/VaLM/4b872cd0ee25de388cd7a6929bcfbf504364d891/data/lambada",
    "piqa": "ybisk/ybisk.github.io/21edab4/piqa/data",
    "copa": "drwiner/COPA/0d59e0e",
    "copa_superglue": "kanishkamisra/minicons-experiments/56a7273/data/COPA",
    "winogrande": "zhang-edward/WinoGrande/ea61ada/data",
    "glue": "amrnag/Specialized-Transformers/fa673a9/data",
    "trec": "tonyzhaozh/few-shot-learning/e04d864/data/trec",
    "dbpedia14": "KEAML-JLU/DeepTextClustering/b84d28cbe9db02e51b3f5fa9c6e31e540b3ad219/data/dbpedia",
    "ontologies": "marcobombieri/do-LLM-dream-of-ontologies/dc8fa32/Dataset",
    "wikitext": "Tylogi/TyloQuant/7989d03/data/wikitext-2-raw",
    "wikitext_tokens": "pytorch/examples/cada773327ba94a5970e0d57c17c847d69dbbb8f/word_language_model/data/wikitext-2",
}


def _read_checksums() -> dict[str, tuple[str, int]]:
    """SHA-256 and size in bytes of every benchmark file as its publisher has it, by its path in a data folder."""
    lines = Path(__file__).with_name("checksums.txt").read_text("utf-8").splitlines()
    return {path: (sha256, int(size)) for sha256, size, path in (line.split() for line in lines)}


CHECKSUMS = _read_checksums()


def raw_address(repository: str, path: str) -> str:
    """The raw address of a file in one of the repositories."""
    return f"https://raw.githubusercontent.com/{REPOSITORIES[repository]}/{path}"


def published_file(
    path: str,
    *urls: str,
    splits: tuple[str, ...] = (),
    join: Callable[[Sequence[Path]], bytes] | None = None,
) -> SourceFile:
    """A published file with its known checksum."""
    sha256, size = CHECKSUMS[path]
    return SourceFile(path, splits=splits, urls=urls, sha256=sha256, size=size, join=join)
