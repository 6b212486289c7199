"""What a run of the ontology study concludes: the very figures of imported predictions, and what they cannot tell."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from explorer.finding import Finding
from explorer.ontologies import invariance
from explorer.ontologies.analysis import PERMUTATIONS, analyze
from explorer.ontologies.as_benchmark import concept_of
from explorer.ontologies.buckets import Bucket, bucket_numbers, bucketize, fill
from explorer.ontologies.invariance_buckets import by_popularity
from explorer.ontologies.parse import Outcome
from explorer.records import Concept, RunSpec
from explorer.rows.builders import Row, finding_row, instance_of
from explorer.stats.bootstrap import bootstrap_mean
from explorer.stats.estimate import Estimate
from explorer.stats.proportion import proportion
from explorer.stats.spearman import spearman_with_all
from explorer.stats.weighted import Strata, weighted_mean, weighted_spearman
from explorer.studies.ontology import declared
from explorer.studies.ontology import languages as ontology_languages
from explorer.studies.ontology.asking import asking, trials
from explorer.studies.ontology.rows import REPEATS, finding_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from explorer.resources import Resources
    from explorer.runs.folder import RunFolder
    from explorer.studies.ontology.asking import Asking

KNOWLEDGE = tuple(finding.name for finding in declared.KNOWLEDGE)  # measures of an answer have the same names


def summarize(spec: RunSpec, resources: Resources, folder: RunFolder) -> list[Row]:
    """Rows of `findings`."""
    answer_rows = answered(folder)
    frame = answer_rows[answer_rows["unanswered"] == ""].reset_index(drop=True)
    if answer_rows.empty or frame.empty:
        return _none_answered(answer_rows)
    put = asking(spec, resources)
    concepts = list(frame["concept"])
    # Buckets of counts made elsewhere than in the file can only be those of the run's own concepts.
    # A sample keeps the buckets of the whole ontology: buckets of its own would hold other concepts in every run.
    ranges = list(put.ontology.ranges) if spec.settings["counts"] == "file" else []
    buckets = (
        fill(ranges, list(frame["count"])) if ranges else bucketize(list(frame["count"]), int(spec.settings["buckets"]))
    )
    strata = strata_of(spec, buckets, {bucket.number: len(bucket.rows) for bucket in ranges}, len(frame))
    rows: list[Row] = []
    for as_released in (True, False):
        answers = list(frame["text"])
        analysis = analyze(
            concepts,
            [_as_written(put, answer) for answer in answers] if as_released else answers,
            put.ontology.rule,
            labels=put.ontology.labels,
            after_prefix=put.prompt.ends_with_prefix,
            as_released=as_released,
            buckets=int(spec.settings["buckets"]),
            # The authors' bucket rule is about the whole ontology; a sample of it is put into whole buckets.
            ranges=ranges if len(concepts) < put.ontology.size else (),
            permutations=PERMUTATIONS,
            seed=spec.seed,
        )
        rows += finding_rows(analysis, strata, spec.seed)
    _note_unanswered(rows, len(answer_rows) - len(frame))
    rows += knowledge(frame, buckets, spec.seed, strata)
    rows += languages(folder)
    rows += repeated(folder, frame, buckets, put.parse, spec.seed)
    if strata is not None:
        note_sample(rows, int(spec.settings["per_bucket"]))
    if spec.settings["prompt"] == "best":
        rows += [
            finding_row(declared.PROMPT_ACCURACY, trial.prompt, trial.accuracy, detail={"tokens": trial.tokens})
            for trial in trials(spec, resources, put.ontology)
        ]
    rows.append(
        finding_row(
            declared.PROMPT, put.prompt.name, Estimate.point(1.0, len(frame)), detail={"new_tokens": put.new_tokens}
        )
    )
    return rows


def _none_answered(answer_rows: pd.DataFrame) -> list[Row]:
    """The accuracy of a run that got no answer at all, which is none; nothing where nothing was asked."""
    if answer_rows.empty:
        return []
    missing = Estimate.point(math.nan, 0, left_out=len(answer_rows), reason=str(answer_rows["unanswered"].iloc[0]))
    return [finding_row(declared.ACCURACY, "overall", missing)]


def _note_unanswered(rows: list[Row], unanswered: int) -> None:
    """Counts the concepts without an answer among those that the accuracy leaves out."""
    for row in rows:
        if row["finding"] == declared.ACCURACY.name and row["grp"] == "overall":
            row["left_out"] += unanswered


def answered(folder: RunFolder) -> pd.DataFrame:
    """A row per concept: the concept with its count, the raw main answer or why there is none, and its measures."""
    frame = folder.read("instances", ["instance_id", "payload"])
    if frame.empty:
        return frame
    generations = folder.read("generations", ["instance_id", "request", "text", "reason"])
    measures = folder.read("measures", ["instance_id", "measure", "value", "language"])
    in_main_language = measures[measures["language"].isna()]
    wide = in_main_language.pivot_table(
        index="instance_id", columns="measure", values="value", aggfunc="first", dropna=False
    )
    main = generations[generations["request"] == 0].set_index("instance_id")
    for name, of_answer in (("text", "text"), ("unanswered", "reason")):
        frame[name] = main[of_answer].reindex(frame["instance_id"]).fillna("").to_numpy()
    for name in ("correct", "web_count", *KNOWLEDGE):
        column = wide[name] if name in wide else pd.Series(dtype=float)
        frame[name] = column.reindex(frame["instance_id"]).to_numpy(dtype=float)
    frame["count"] = frame["web_count"]
    frame["concept"] = [
        dataclasses.replace(concept_of(instance_of(payload)), web_count=count)
        for payload, count in zip(frame["payload"], frame["count"], strict=True)
    ]
    return frame.drop(columns="payload")


def strata_of(spec: RunSpec, buckets: Sequence[Bucket], sizes: Mapping[int, int], n: int) -> Strata | None:
    """From which bucket each concept was drawn and how many it stands for; none where all concepts were taken.

    So many concepts of each bucket are no sample of the ontology, whose rarest buckets are its largest; the IDs that
    the right one is compared with, however, are drawn from all of it. Weighed by the size of their buckets both are of
    the same ontology: right IDs that looked likelier than others in 64 % of cases are so in 49.5 %.
    """
    if not int(spec.settings.get("per_bucket", 0)) or not sizes:
        return None
    return Strata.of(bucket_numbers(buckets, n), sizes)


REWEIGHTED = ("overall", "wrong answers")  # groups of findings that are as of the whole ontology
WHOLE = {finding.name for finding in (declared.ACCURACY, declared.SPEARMAN_ITEMS, *declared.KNOWLEDGE)} | {
    finding.name for finding in declared.WITH_POPULARITY.values()
}
IN_BUCKETS = {
    finding.name
    for finding in (*declared.BUCKETS, *(finding for finding in declared.FINDINGS if finding.of == "bucket"))
}


def note_sample(rows: Sequence[Row], per_bucket: int) -> None:
    """Says of every finding over buckets that is not reweighted that it is of this sample."""
    why = f"of this sample: at most {per_bucket:,} concepts of each popularity bucket"
    for row in rows:
        reweighted = row["finding"] in WHOLE and row["grp"] in REWEIGHTED and not row.get("language")
        if not reweighted and row["finding"] not in IN_BUCKETS:
            row["reason"] = "; ".join(filter(None, (row["reason"], why)))


def knowledge(frame: pd.DataFrame, buckets: Sequence[Bucket], seed: int, strata: Strata | None = None) -> list[Row]:
    """How likely the right ids are, over all concepts, over those answered wrongly, and by bucket.

    Over all of a sample by bucket they are reweighted to the ontology; the sample's own mean stands in the detail.
    """
    rows = []
    wrong = (frame["correct"] == 0).to_numpy()
    counts = frame["count"].to_numpy()
    measured = {
        finding: values
        for finding in declared.KNOWLEDGE
        if not np.isnan(values := frame[finding.name].to_numpy()).all()
    }
    with_counts = spearman_with_all(counts, list(measured.values()), permutations=PERMUTATIONS, seed=seed)
    for (finding, values), of_sample in zip(measured.items(), with_counts, strict=True):
        rows += [
            _mean(finding, "overall", values, strata),
            _mean(finding, "wrong answers", values[wrong], strata and strata.where(wrong)),
        ]
        for bucket in buckets:
            rows.append(_mean(declared.IN_BUCKET[finding], str(bucket.number), values[list(bucket.rows)]))
        with_count: Estimate = of_sample
        detail = None
        if strata is not None:
            detail = {"sample": None if math.isnan(with_count.value) else with_count.value}
            with_count = weighted_spearman(counts, values, strata, permutations=REPEATS, resamples=500, seed=seed)
        rows.append(finding_row(declared.WITH_POPULARITY[finding], "overall", with_count, detail=detail))
    return rows


def languages(folder: RunFolder) -> list[Row]:
    """Accuracy of the question in each further language."""
    measures = folder.read("measures", ["measure", "value", "language"])
    correct = measures[(measures["measure"] == "correct") & measures["language"].notna()]
    rows = []
    for language, values in correct.groupby("language", sort=False)["value"]:
        share = proportion(values.to_numpy())
        rows.append(finding_row(declared.ACCURACY, "overall", share, factors={"language": str(language)}))
    return rows


def repeated(
    folder: RunFolder,
    frame: pd.DataFrame,
    buckets: Sequence[Bucket],
    parse: Callable[[str], Outcome],
    seed: int,
) -> list[Row]:
    """Prediction invariance of each way to repeat the question, on raw answers and on parsed ids, by bucket."""
    generations = folder.read("generations", ["instance_id", "role", "setting", "part", "language", "text", "reason"])
    generations = generations[(generations["role"] == "repeat") & generations["instance_id"].isin(frame["instance_id"])]
    # Repeats of a question are compared where all of them were answered.
    unanswered = generations["reason"].fillna("") != ""
    lacking = set(zip(generations[unanswered]["instance_id"], generations[unanswered]["setting"], strict=True))
    is_scored = [key not in lacking for key in zip(generations["instance_id"], generations["setting"], strict=True)]
    generations = generations[is_scored] if lacking else generations
    concepts: dict[str, Concept] = dict(zip(frame["instance_id"], frame["concept"], strict=True))
    rows = []
    for way, answers in generations.groupby("setting", sort=False):
        groups = answers.sort_values("part", kind="stable").groupby("instance_id", sort=False)["text"].apply(tuple)
        chosen = [concepts[name] for name in groups.index]
        raw = list(groups)
        for form, texts in (("raw", raw), ("parsed", invariance.parsed(raw, parse))):
            rows += _invariance_rows(str(way), form, chosen, texts, buckets, seed)
        if way == ontology_languages.WAY:
            rows += ontology_languages.compare(answers, concepts, parse)
    return rows


def _invariance_rows(
    way: str,
    form: str,
    concepts: Sequence[Concept],
    groups: Sequence[tuple[str, ...]],
    buckets: Sequence[Bucket],
    seed: int,
) -> list[Row]:
    factors = {"setting": way, "condition": form}
    whole = invariance.summarize(groups)
    mean, identical = Estimate.point(whole.mean_pi, whole.n), {"identical": whole.identical}
    rows = [finding_row(declared.INVARIANCE, "overall", mean, factors=factors, detail=identical)]
    if form != "parsed":
        return rows
    by_bucket = by_popularity(concepts, groups, buckets, seed=seed)
    accuracy = Estimate.point(by_bucket.accuracy, len(concepts))
    rows.append(finding_row(declared.INVARIANCE_ACCURACY, "overall", accuracy, factors=factors))
    for bucket in by_bucket.buckets:
        name = str(bucket.bucket)
        mean, accuracy = Estimate.point(bucket.mean_pi, bucket.n), Estimate.point(bucket.accuracy, bucket.n)
        rows.append(finding_row(declared.BUCKET_INVARIANCE, name, mean, factors=factors))
        rows.append(finding_row(declared.BUCKET_INVARIANCE_ACCURACY, name, accuracy, factors=factors))
    rows.append({**finding_row(declared.SPEARMAN_INVARIANCE, "overall", by_bucket.spearman), **factors})
    return rows


def _as_written(put: Asking, answer: str) -> str:
    """The answer as the authors wrote it down: with the prefix where the prompt ended with it."""
    if not put.prompt.ends_with_prefix:
        return answer
    return put.parse(answer).id or f"{put.ontology.prefix}:{answer.strip()}"


def _mean(finding: Finding, group: str, values: np.ndarray, strata: Strata | None = None) -> Row:
    plain = bootstrap_mean(values)
    if strata is None:
        return finding_row(finding, group, plain)
    return finding_row(
        finding,
        group,
        weighted_mean(values, strata),
        detail={"sample": None if math.isnan(plain.value) else plain.value},
    )
