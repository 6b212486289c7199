"""What a priming run finds: means along curves, suites, regressions, perturbations of prefixes, matrices."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.finding import OPTION_LOGPROBS, Finding, derived

PRIMING_ACCURACY = Finding(
    "priming_accuracy",
    "Accuracy after a context",
    "share",
    "item",
    "Share of right judgments after a context of this `condition` and `length` (tokens); the means over suites weigh "
    "suites alike, and every interval over more than one suite is over suites.",
    over="item, or suite",
)
PRIMING_DELTA = Finding(
    "priming_delta",
    "Change of accuracy",
    "points",
    "item",
    "Accuracy after a context minus that of the same items without one.",
    over="item, or suite",
)
PRIMING_MARGIN = Finding(
    "priming_margin",
    "Margin",
    "nats",
    "item",
    "Mean of log P of the acceptable sentence minus that of the unacceptable one after a context; for SyntaxGym by how "
    "much the least certain inequality holds.",
    over="item, or suite",
)
PRIMING_PERPLEXITY_MARGIN = Finding(
    "priming_perplexity_margin",
    "Perplexity margin",
    "perplexity",
    "item",
    "Mean perplexity of the acceptable sentence minus that of the unacceptable one after a context; negative when "
    "right.",
    over="item, or suite",
)
CURVES = (PRIMING_ACCURACY, PRIMING_DELTA, PRIMING_MARGIN, PRIMING_PERPLEXITY_MARGIN)
# Finding of a curve → the same over the items of a phenomenon.
BY_PHENOMENON = {
    finding: derived(
        finding,
        f"{finding.name}_by_phenomenon",
        f"{finding.title}, by phenomenon",
        f"Of a phenomenon: {finding.meaning}",
    )
    for finding in CURVES
}
PRIMING_REACH = Finding(
    "priming_reach",
    "Longest context of all items",
    "tokens",
    "item",
    "The longest length that all items of a suite have in a condition; left out are those whose context ended early.",
)
COMPLETE_SUITES = Finding(
    "priming_complete_suites",
    "Suites that reach every length",
    "count",
    "suite",
    "How many suites have every length of the run in every condition.",
)
SUITE_DELTA = Finding(
    "suite_delta",
    "Mean change of the suite",
    "points",
    "context length",
    "A suite's change of accuracy in a condition, the mean over lengths.",
)
BASELINE_AGAINST_LONGEST = Finding(
    "baseline_against_longest",
    "Accuracy before and after",
    "correlation",
    "suite",
    "Pearson's r over suites of the accuracy without a context and after each suite's longest one.",
)
UNRELATED_SOURCE = Finding(
    "unrelated_source",
    "Unrelated sentences",
    "count",
    "sentence",
    "How many unrelated sentences could be drawn, and from where (`setting`).",
)
SHARED_CONTEXTS = Finding(
    "shared_contexts",
    "Contexts that a suite shares",
    "count",
    "context",
    "In a fast preview the items of a suite share that many contexts, so that intervals over items are too narrow.",
)
REGRESSION = Finding(
    "regression",
    "Coefficient",
    "log odds",
    "judgment",
    "Effect of a term in the logistic regression of correctness that `setting` names: with errors by suite, or as in "
    "the paper with a random intercept, whose errors take a suite's judgments as independent but for its mean.",
    over="suite",
)
REGRESSION_FIT = Finding(
    "regression_fit",
    "Log-likelihood of the fit",
    "nats",
    "judgment",
    "Log-likelihood of that regression; its formula, AIC and warnings stand in the detail.",
)
MOST_AFFECTED = Finding(
    "most_affected",
    "Suite among the most affected",
    "points",
    "suite",
    "How far, up or down, the longest matched contexts move a suite that is among the most affected (`part`: rank).",
)
EDIT_CURVE = Finding(
    "edit_curve",
    "Change of accuracy, edited contexts",
    "points",
    "item",
    "Change of accuracy after matched contexts whose sentences were edited (`setting`), suites weighing alike, with "
    "intervals over suites.",
    over="suite",
)
EDIT_EFFECT = Finding(
    "edit_effect",
    "Effect of edited contexts",
    "points",
    "suite",
    "The same as the mean over lengths, with its interval over suites.",
)
EDIT_CORRELATION = Finding(
    "edit_correlation",
    "Likeness and effect",
    "correlation",
    "kind of context",
    "Spearman's rho, over the kinds of edit, of how like the plain sentences the edited ones are and of their effect.",
)
TOKEN_F1 = Finding(
    "token_f1",
    "Shared tokens",
    "ratio",
    "sentence pair",
    "Mean F1 of the tokens of two sentences, one of each of two suites.",
)
DEPENDENCY_F1 = Finding(
    "dependency_f1",
    "Shared dependency labels",
    "ratio",
    "sentence pair",
    "Mean F1 of the grammatical relations of two sentences, one of each of two suites.",
)
MATRIX_ACCURACY = Finding(
    "matrix_accuracy",
    "Accuracy after another suite",
    "share",
    "item",
    "Share of right judgments on a suite after ten sentences of another one (`setting`).",
)
MATRIX_DELTA = Finding(
    "matrix_delta",
    "Change after another suite",
    "points",
    "item",
    "Change of accuracy on a suite after ten sentences of another one (`setting`).",
)
MATRIX_CORRELATION = Finding(
    "matrix_correlation",
    "Agreement of two matrices",
    "correlation",
    "suite",
    "Spearman's rho of two suite-by-suite matrices without their diagonals, with Mantel's permutation test over "
    "suites.",
)
OVERLAP_AND_JUDGMENT = Finding(
    "overlap_and_judgement",
    "Likeness and judgment",
    "correlation",
    "item",
    "Point-biserial correlation of a right judgment with how much the target shares with the sentences before it.",
)
EDITS = (EDIT_CURVE, EDIT_EFFECT, EDIT_CORRELATION)
CORRELATIONS = (BASELINE_AGAINST_LONGEST, EDIT_CORRELATION, MATRIX_CORRELATION, OVERLAP_AND_JUDGMENT)
REMARKS = (UNRELATED_SOURCE, SHARED_CONTEXTS, COMPLETE_SUITES)
FINDINGS = (
    *CURVES, *BY_PHENOMENON.values(), PRIMING_REACH, COMPLETE_SUITES, SUITE_DELTA, BASELINE_AGAINST_LONGEST,
    UNRELATED_SOURCE, SHARED_CONTEXTS, REGRESSION, REGRESSION_FIT, MOST_AFFECTED, EDIT_CURVE, EDIT_EFFECT,
    EDIT_CORRELATION, TOKEN_F1, DEPENDENCY_F1, MATRIX_ACCURACY, MATRIX_DELTA, MATRIX_CORRELATION, OVERLAP_AND_JUDGMENT,
)  # fmt: skip
# Name → the findings whose tests are looked at together, and whose p-values are adjusted together.
FAMILIES: Mapping[str, tuple[Finding, ...]] = {
    "regression on contexts": (REGRESSION,),
    "likeness and change": (BASELINE_AGAINST_LONGEST, EDIT_CORRELATION, MATRIX_CORRELATION, OVERLAP_AND_JUDGMENT),
}
# Each measure of an instance → what it is computed from: a change is from the margin without a context.
COMPUTED_FROM: Mapping[str, tuple[str, ...]] = {
    f"primed_{condition}": (OPTION_LOGPROBS, f"log-probabilities after {condition.replace('_', ' ')} contexts")
    for condition in (
        "matched_acceptable", "matched_unacceptable", "mismatched_acceptable", "mismatched_unacceptable", "unrelated",
    )
}  # fmt: skip
