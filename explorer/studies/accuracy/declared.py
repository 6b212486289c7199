"""What an accuracy run finds."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.finding import OPTION_LOGPROBS, Finding

ACCURACY = Finding(
    "accuracy",
    "Accuracy",
    "share",
    "item",
    "Share of items on which the model prefers what the benchmark calls right, a tie counting half; `setting` names "
    'another reduction of the same scores, the group "mean over groups" weighs groups alike, and so does the whole '
    'of suites, beside which all their items stand as "all items alike".',
    over="item, or paradigm",
)
ACCURACY_BY_PHENOMENON = Finding(
    "accuracy_by_phenomenon",
    "Accuracy of the phenomenon",
    "share",
    "item",
    "Share of right answers over the items of a phenomenon, whatever their group.",
    over="item, or paradigm",
)
FORMULA = Finding(
    "formula",
    "Formula holds",
    "share",
    "item",
    "Share of a suite's items on which the inequality number `part` holds.",
)
FORMULA_EQUAL = Finding(
    "formula_equal",
    "Equality holds",
    "share",
    "item",
    "Share of a suite's items on which the equality number `part` holds.",
)
PERPLEXITY = Finding(
    "perplexity",
    "Perplexity of the last word",
    "perplexity",
    "item",
    "exp of the mean surprisal (nats) of the last word of a passage.",
)
RATING_PEARSON = Finding(
    "rating_pearson",
    "Pearson with ratings",
    "correlation",
    "item",
    "Pearson's r of a sentence's log-probability, for its length as `setting` says, with how acceptable people found "
    "it.",
)
RATING_SPEARMAN = Finding(
    "rating_spearman",
    "Spearman with ratings",
    "correlation",
    "item",
    "Spearman's rho of a sentence's log-probability, for its length as `setting` says, with how acceptable people "
    "found it.",
)
FINDINGS = (ACCURACY, ACCURACY_BY_PHENOMENON, FORMULA, FORMULA_EQUAL, PERPLEXITY, RATING_PEARSON, RATING_SPEARMAN)
# Name → the findings whose tests are looked at together, and whose p-values are adjusted together.
FAMILIES: Mapping[str, tuple[Finding, ...]] = {
    "scores and ratings": (RATING_PEARSON, RATING_SPEARMAN),
}
# Each measure of an instance → what it is computed from.
COMPUTED_FROM: Mapping[str, tuple[str, ...]] = {"correct": (OPTION_LOGPROBS,), "margin": (OPTION_LOGPROBS,)}
