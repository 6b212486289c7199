"""What runs found in sentences: above figures, in an archive, on paper and after a run."""

from __future__ import annotations

import io
import zipfile

import pytest

from explorer import settings as settings_module
from explorer.records import RunSpec
from explorer.results import archive, conclusions, export, store
from explorer.rows.builders import finding_row
from explorer.runs.folder import RunFolder
from explorer.stats.estimate import Estimate
from explorer.studies.accuracy.declared import ACCURACY
from explorer.ui import conclusions as drawn
from explorer.ui import resources

SENTENCE = (
    "Gemma 3 270M prefers what the benchmark calls right in 84% of 1,000 instances of BLiMP (subject-verb agreement) "
    "(95% interval 82.0% to 86.0%), above chance, which is 50%."
)
SUITES = (
    "distractor_agreement_relational_noun", "distractor_agreement_relative_clause",
    "irregular_plural_subject_verb_agreement_1", "irregular_plural_subject_verb_agreement_2",
    "regular_plural_subject_verb_agreement_1", "regular_plural_subject_verb_agreement_2",
)  # fmt: skip


@pytest.fixture
def runs(tmp_path, monkeypatch) -> list[RunFolder]:
    """An accuracy run of each of two models on a task of BLiMP, stored."""
    monkeypatch.setenv("EXPLORER_CACHE", str(tmp_path / "cache"))
    settings = settings_module.read()
    folders = []
    for model, share in (("gemma-3-270m", 0.84), ("smollm2-135m-instruct", 0.7)):
        spec = RunSpec("accuracy", 1, model, "blimp", suites=SUITES, settings={"preset": "natural"})
        folder = RunFolder.create(settings.runs, spec)
        folder.write_part(0, 0, {"instances": [], "measures": []})
        folder.write_findings([finding_row(ACCURACY, "overall", Estimate(share, share - 0.02, share + 0.02, 1000))])
        folder.write_progress(status="complete", total=0)
        folders.append(folder)
    store.ingest_runs(settings, folders)
    return folders


def test_a_stored_run_is_told_with_the_names_that_people_use(runs):
    assert drawn.of_run(runs[0].run_id) == conclusions.of_run(runs[0]) == [SENTENCE]
    assert drawn.of_run("no such run") == []


def test_two_models_are_compared(runs):
    (line,) = drawn.of_models([folder.run_id for folder in runs])
    assert line.startswith("The accuracy on BLiMP (subject-verb agreement) is higher for Gemma 3 270M than for SmolLM2")
    assert drawn.of_models([runs[0].run_id]) == []


def test_an_archive_and_a_table_on_paper_carry_the_sentences(runs, tmp_path):
    file = io.BytesIO()
    archive.pack_archive(runs[0], file, resources.settings())
    readme = zipfile.ZipFile(file).read("README.md").decode()
    assert f"## What it found\n\n- {SENTENCE}\n" in readme
    export.write_tables(runs[0], "findings", "latex", tmp_path / "findings.tex")
    paper = (tmp_path / "findings.tex").read_text(encoding="utf-8")
    assert r"84\% of 1,000 instances of BLiMP" in paper and r"which is 50\%.}" in paper
