"""What an in-context run finds: memorization by verdict (`condition`) and k, performance, and how they go together."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.finding import Finding

REPLICATION = Finding(
    "replication",
    "Exact or near-exact",
    "share",
    "item",
    "Share of the completions after k demonstrations that equal the original or differ from it in few words and in no "
    "name or number.",
)
REPLICATION_EXACT = Finding(
    "replication_exact",
    "Exact",
    "share",
    "item",
    "Share of the completions after k demonstrations that equal the original.",
)
LABEL_ACCURACY = Finding(
    "label_accuracy",
    "Accuracy of labels",
    "share",
    "item",
    "Share of labels that score highest after k demonstrations in one order (`part`); without a part it is the mean "
    "over orders, n counts the orders, and low and high are the least and the greatest of them, no interval.",
    range_of="orders, in the mean over them",
)
LABEL_ACCURACY_WRITTEN = Finding(
    "label_accuracy_written",
    "Accuracy of written labels",
    "share",
    "item",
    "Share of labels that the model writes rightly after k demonstrations; without a part it is the mean over repeats, "
    "and low and high are the least and the greatest of them, no interval.",
    range_of="repeats, in the mean over them",
)
PEARSON = Finding(
    "pearson",
    "r of memorization and accuracy",
    "correlation",
    "number of demonstrations",
    "Pearson's r, over k, of the share of exact and near-exact completions and the accuracy of labels.",
)
PEARSON_EXACT = Finding(
    "pearson_exact",
    "r of exact memorization and accuracy",
    "correlation",
    "number of demonstrations",
    "Pearson's r, over k, of the share of exact completions and the accuracy of labels.",
)
TRANSITION = Finding(
    "transition",
    "Near-exact that became exact",
    "share",
    "item",
    "Of the completions that were near-exact with one k, the share that is exact with the next.",
)
ACCURACY_MEMORIZED = Finding(
    "accuracy_memorized",
    "Accuracy, memorized items",
    "share",
    "item",
    "Share of right labels among the items whose completion is exact or near-exact.",
)
ACCURACY_OTHER = Finding(
    "accuracy_other",
    "Accuracy, other items",
    "share",
    "item",
    "Share of right labels among the other items.",
)
ACCURACY_GAP = Finding(
    "accuracy_gap",
    "Memorized less other",
    "points",
    "item",
    "Accuracy of the memorized items minus that of the others, with Fisher's exact test.",
)
KAPPA = Finding(
    "kappa",
    "Agreement of two judges",
    "kappa",
    "completion",
    "Cohen's kappa of two of rule, judge and people over completions that both judged and that are not equal to the "
    "original.",
)
SKIPPED_K = Finding(
    "skipped_k",
    "Largest k that fits",
    "count",
    "item",
    "A number of demonstrations that was not asked, with the largest that could be and the reason.",
)
DRAWN = Finding(
    "drawn",
    "Drawn",
    "count",
    "item",
    "How many test items and demonstrations could be drawn; left out are those that were missing.",
)
PREFILL = Finding(
    "prefill",
    "Tokens read",
    "tokens",
    "token",
    "How many tokens the model read for a step; what prompts share is read once.",
)
FINDINGS = (
    REPLICATION, REPLICATION_EXACT, LABEL_ACCURACY, LABEL_ACCURACY_WRITTEN, PEARSON, PEARSON_EXACT, TRANSITION,
    ACCURACY_MEMORIZED, ACCURACY_OTHER, ACCURACY_GAP, KAPPA, SKIPPED_K, DRAWN, PREFILL,
)  # fmt: skip
# Name → the findings whose tests are looked at together, and whose p-values are adjusted together.
FAMILIES: Mapping[str, tuple[Finding, ...]] = {
    "performance and replication": (PEARSON, PEARSON_EXACT),
    "replicated items against others": (ACCURACY_GAP,),
}
# Each measure of an instance → what it is computed from.
COMPUTED_FROM: Mapping[str, tuple[str, ...]] = {
    "replicated_zero": ("the completion without demonstrations",),
    "replicated_many": ("the completion after the most demonstrations",),
    "label_correct": ("log-probabilities of the labels",),
}
