"""What tests of masked and encoder-decoder models ask alike: a run under a preset, and whether one is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import transformers as t

from explorer.records import RunSpec
from explorer.resources import Resources
from explorer.runs import request, worker
from explorer.runs.folder import RunFolder

# Small runs of the two studies that read most from a score.
STUDIES = [("accuracy", {"per_group": 1}), ("priming", {"per_group": 1, "lengths": (0, 20), "unrelated": "starter"})]


def spec_of(
    resources: Resources, study: str, model: Path | str, preset: str, settings: Mapping[str, Any] | None = None
) -> RunSpec:
    """The spec of a run over two groups of the starter pairs."""
    return request.make_spec(
        resources, study=study, model=str(model), benchmark="starter_pairs",
        settings={"preset": preset, **(settings or {})},
        suites=tuple(sorted({one.group for one in resources.instances("starter_pairs").instances})[:2]),
    )  # fmt: skip


def ends_and_names_the_convention(resources: Resources, spec: RunSpec, preset: str, convention: str) -> None:
    """Asserts that the run ends with a verdict on some instance and that its record says how texts were scored."""
    folder = RunFolder.create(resources.settings.runs, spec)
    assert worker.work(folder, resources, lambda text: None, wait=False) == "complete"
    assert spec.settings["preset"] == preset
    assert convention in str(folder.environment)
    measures = folder.read("measures")
    assert len(measures[measures["measure"] == "correct"].dropna(subset=["value"]))


WORDS = ["the", "keys", "to", "cabinet", "are", "on", "table", "un", "##believ", "##able", "so", "##uven", "##ir",
         "##irs", "##s", "travel", "##er", "lost", "nobody", "somebody", "saw", "it", "did", "a", ".", "!"]  # fmt: skip


def made_bert(where: Path) -> Path:
    """A folder with a BERT of two random layers and a vocabulary of pieces."""
    folder = where / "bert"
    folder.mkdir()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *"abcdefghijklmnopqrstuvwxyz",
             *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")]  # fmt: skip
    words = list(dict.fromkeys(words))
    (folder / "vocab.txt").write_text("\n".join(words))
    torch.manual_seed(5)
    config = t.BertConfig(
        vocab_size=len(words), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
        max_position_embeddings=64, initializer_range=0.4,
    )  # fmt: skip
    t.BertForMaskedLM(config).save_pretrained(folder)
    t.BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
    return folder
