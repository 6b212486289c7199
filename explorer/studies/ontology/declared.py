"""What an ontology run or an import of predictions finds; `setting` tells the authors' counting from the corrected."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.finding import Finding, derived
from explorer.studies.accuracy import declared as accuracy

ACCURACY = derived(
    accuracy.ACCURACY,
    accuracy.ACCURACY.name,
    "Accuracy",
    "Share of the concepts whose ID the model gives; with a language, when asked in it.",
    of="concept",
)
DISTINCT_PREDICTIONS = Finding(
    "distinct_predictions",
    "Distinct predicted IDs",
    "count",
    "concept",
    "How many different IDs were given over all answers.",
)
JACCARD_WRONG = Finding(
    "jaccard_wrong",
    "Label overlap of wrong answers (Jaccard)",
    "ratio",
    "concept",
    "Mean Jaccard overlap of the words of the right label and of that of the wrong ID given.",
)
LEVENSHTEIN_WRONG = Finding(
    "levenshtein_wrong",
    "Edits between wrong and right ID (Levenshtein)",
    "edits",
    "concept",
    "Mean number of edits between a wrong ID and the right one.",
)
OUTCOME = Finding(
    "outcome",
    "Kind of answer",
    "share",
    "concept",
    "Share of the answers that are of this kind (the group): an ID, malformed, none.",
)
SPEARMAN_BUCKETS = Finding(
    "spearman_buckets",
    "Spearman, popularity and accuracy over buckets",
    "correlation",
    "bucket",
    "Spearman's rho, over popularity buckets, of the mean web count and accuracy.",
)
SPEARMAN_ITEMS = Finding(
    "spearman_items",
    "Spearman, popularity and accuracy over concepts",
    "correlation",
    "concept",
    "Spearman's rho, over concepts, of the web count and being right.",
)
SPEARMAN_JACCARD = Finding(
    "spearman_jaccard",
    "Spearman, popularity and label overlap over buckets",
    "correlation",
    "bucket",
    "Spearman's rho, over popularity buckets, of the mean web count and the label overlap of wrong answers.",
)
SPEARMAN_LEVENSHTEIN = Finding(
    "spearman_levenshtein",
    "Spearman, popularity and edits over buckets",
    "correlation",
    "bucket",
    "Spearman's rho, over popularity buckets, of the mean web count and the edits between wrong and right ID.",
)
SPEARMAN_REPEATED = Finding(
    "spearman_repeated",
    "Spearman, bucket and share among the 500 most repeated IDs",
    "correlation",
    "bucket",
    "Spearman's rho, over popularity buckets, of the bucket's number and how often its IDs are among the most repeated "
    "answers, against what is expected.",
)
BUCKET_ACCURACY = Finding(
    "bucket_accuracy",
    "Accuracy of the bucket",
    "share",
    "concept",
    "Share of the concepts of a popularity bucket whose ID the model gives.",
)
BUCKET_JACCARD = Finding(
    "bucket_jaccard",
    "Label overlap in the bucket",
    "ratio",
    "concept",
    "Mean label overlap of wrong answers in a popularity bucket.",
)
BUCKET_LEVENSHTEIN = Finding(
    "bucket_levenshtein",
    "Edits in the bucket",
    "edits",
    "concept",
    "Mean number of edits between wrong and right ID in a popularity bucket.",
)
BUCKET_REPEATED_RATIO = Finding(
    "bucket_repeated_ratio",
    "Repeated IDs of the bucket",
    "ratio",
    "concept",
    "How many of a bucket's IDs are among the most repeated answers, over how many are expected there.",
)
GOLD_LOGPROB = Finding(
    "gold_logprob",
    "log P of the right ID",
    "nats",
    "concept",
    "Mean log-probability of the right ID after the question.",
)
GOLD_GAIN = Finding(
    "gold_gain",
    "What the label adds to the right ID",
    "nats",
    "concept",
    "Mean log-probability of the right ID after the question, minus that after a label that says nothing.",
)
GOLD_RANK = Finding(
    "gold_rank",
    "Rank of the right ID",
    "rank",
    "concept",
    "Mean place of the right ID among other IDs of the ontology drawn at random, 1 for the likeliest.",
)
GOLD_PREFERRED = Finding(
    "gold_preferred",
    "Right ID likelier than others",
    "share",
    "concept",
    "Mean share of those other IDs that are less likely than the right one; some IDs are likelier after any label.",
)
GOLD_GAIN_PREFERRED = Finding(
    "gold_gain_preferred",
    "Label speaks for the right ID",
    "share",
    "concept",
    "Mean share of those other IDs to which the label adds less than to the right one; 0.5 by chance.",
)
GOLD_RANK_SAMPLED = Finding(
    "gold_rank_sampled",
    "Rank among sampled IDs",
    "rank",
    "concept",
    "Mean place of the right ID among the wrong IDs that the model itself sampled.",
)
SAMPLED_CORRECT = Finding(
    "sampled_correct",
    "Samples that are right",
    "share",
    "concept",
    "Mean share of the answers drawn at temperature 1 that give the right ID.",
)
# What an exact match hides.
KNOWLEDGE = (
    GOLD_LOGPROB, GOLD_GAIN, GOLD_RANK, GOLD_PREFERRED, GOLD_GAIN_PREFERRED, GOLD_RANK_SAMPLED, SAMPLED_CORRECT,
)  # fmt: skip
# Each of these → the same over a popularity bucket, and how it goes with popularity.
IN_BUCKET = {
    finding: derived(
        finding,
        f"bucket_{finding.name}",
        f"{finding.title}, in the bucket",
        f"In a popularity bucket: {finding.meaning}",
    )
    for finding in KNOWLEDGE
}
WITH_POPULARITY = {
    finding: derived(
        finding,
        f"spearman_{finding.name}",
        f"Spearman, popularity and {finding.title[:1].lower()}{finding.title[1:]}",
        f"Spearman's rho, over concepts, of the web count and this: {finding.meaning}",
        unit="correlation",
    )
    for finding in KNOWLEDGE
}
LANGUAGE_ACCURACY = Finding(
    "language_accuracy",
    "Accuracy in the language",
    "share",
    "concept",
    "Share of repeated questions in a language that are answered with the right ID.",
)
LANGUAGE_AGREEMENT = Finding(
    "language_agreement",
    "Same answer in two languages",
    "share",
    "concept",
    "Share of the concepts for which the question in two languages gets the same answer.",
)
INVARIANCE = Finding(
    "invariance",
    "Prediction invariance",
    "share",
    "concept",
    "Mean over concepts of how far a repeated question (`setting` says how) keeps its answer: 1 where it is always the "
    "same, 0 where no two are.",
)
INVARIANCE_ACCURACY = Finding(
    "invariance_accuracy",
    "Accuracy over repeats",
    "share",
    "concept",
    "Mean share of the repeats of a question that give the right ID.",
)
BUCKET_INVARIANCE = derived(
    INVARIANCE, "bucket_invariance", "Invariance in the bucket", f"In a popularity bucket: {INVARIANCE.meaning}"
)
BUCKET_INVARIANCE_ACCURACY = derived(
    INVARIANCE_ACCURACY,
    "bucket_invariance_accuracy",
    "Accuracy over repeats in the bucket",
    f"In a popularity bucket: {INVARIANCE_ACCURACY.meaning}",
)
SPEARMAN_INVARIANCE = Finding(
    "spearman_invariance",
    "Spearman, prediction invariance and accuracy over buckets",
    "correlation",
    "bucket",
    "Spearman's rho, over popularity buckets, of prediction invariance and accuracy.",
)
PROMPT = Finding(
    "prompt",
    "Prompt",
    "yes or no",
    "concept",
    "Names the prompt (the group) that the run asked with.",
)
PROMPT_ACCURACY = Finding(
    "prompt_accuracy",
    "Accuracy of the prompt",
    "share",
    "concept",
    "Share of right IDs that a prompt got on the sample on which prompts were compared.",
)
ANSWERS_IN_BUCKET = (BUCKET_ACCURACY, BUCKET_JACCARD, BUCKET_LEVENSHTEIN, BUCKET_REPEATED_RATIO)
REPEATS_IN_BUCKET = (BUCKET_INVARIANCE, BUCKET_INVARIANCE_ACCURACY)
BUCKETS = (*ANSWERS_IN_BUCKET, *IN_BUCKET.values(), *REPEATS_IN_BUCKET)
FINDINGS = (
    ACCURACY, DISTINCT_PREDICTIONS, JACCARD_WRONG, LEVENSHTEIN_WRONG, OUTCOME, SPEARMAN_BUCKETS, SPEARMAN_ITEMS,
    SPEARMAN_JACCARD, SPEARMAN_LEVENSHTEIN, SPEARMAN_REPEATED, *KNOWLEDGE, *WITH_POPULARITY.values(), *BUCKETS,
    LANGUAGE_ACCURACY, LANGUAGE_AGREEMENT, INVARIANCE, INVARIANCE_ACCURACY, SPEARMAN_INVARIANCE, PROMPT,
    PROMPT_ACCURACY,
)  # fmt: skip
# Name → the findings whose tests are looked at together, and whose p-values are adjusted together.
FAMILIES: Mapping[str, tuple[Finding, ...]] = {
    "popularity and answers": (
        SPEARMAN_BUCKETS,
        SPEARMAN_ITEMS,
        SPEARMAN_JACCARD,
        SPEARMAN_LEVENSHTEIN,
        SPEARMAN_REPEATED,
    ),
    "popularity and knowledge": tuple(WITH_POPULARITY.values()),
    "popularity and invariance": (SPEARMAN_INVARIANCE,),
}
# Each measure of a concept → what it is computed from.
COMPUTED_FROM: Mapping[str, tuple[str, ...]] = {
    "known": ("the answer given",),
    "label_jaccard": ("the answer given",),
    "id_levenshtein": ("the answer given",),
    "web_count": (),
    "gold_logprob": ("log-probability of the right ID",),
    "gold_gain": ("log-probability of the right ID",),
}
