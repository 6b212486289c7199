"""What a perturbation run finds for each setting (N, V, NV: which words were swapped)."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.finding import OPTION_LOGPROBS, Finding

ACCURACY_ORIGINAL_ALL = Finding(
    "accuracy_original_all",
    "Accuracy before, all items",
    "share",
    "item",
    "Share of right answers on the unchanged items, whether or not they could be perturbed.",
    over="item, or paradigm",
)
ACCURACY_ORIGINAL = Finding(
    "accuracy_original",
    "Accuracy before",
    "share",
    "item",
    "Share of right answers on the unchanged items that have a verdict before and after.",
    over="item, or paradigm",
)
ACCURACY_PERTURBED = Finding(
    "accuracy_perturbed",
    "Accuracy after",
    "share",
    "item",
    "Share of right answers on the perturbed items that have a verdict before and after.",
    over="item, or paradigm",
)
CHANGE = Finding(
    "change",
    "Change of accuracy",
    "percent",
    "item",
    "Change of accuracy in percent of the original accuracy, with McNemar's test over items, or over minimal pairs of "
    "several paradigms with interval and p over paradigms (McNemar's p then stands in the detail, as published).",
    over="item, or paradigm",
)
CHANGE_OVER_DRAWS = Finding(
    "change_over_draws",
    "Change of accuracy, over draws",
    "percent",
    "item",
    "Mean over draws of synonyms of the change of accuracy in percent of the original; the interval is over items (of "
    "minimal pairs over paradigms) and draws, both drawn anew, and the detail has sd and range over draws.",
    over="item, or paradigm",
)
PERPLEXITY_ORIGINAL = Finding(
    "perplexity_original",
    "Perplexity before",
    "perplexity",
    "item",
    "exp of the mean surprisal (nats) of the last word before words were swapped.",
)
PERPLEXITY_PERTURBED = Finding(
    "perplexity_perturbed",
    "Perplexity after",
    "perplexity",
    "item",
    "exp of the mean surprisal (nats) of the last word after words were swapped.",
)
PERPLEXITY_CHANGE = Finding(
    "perplexity_change",
    "Change of perplexity",
    "percent",
    "item",
    "Change of perplexity in percent of the original one.",
)
IPS_OF_LOST = Finding(
    "ips_of_lost",
    "IPS of lost items, after less before",
    "IPS",
    "item",
    "Median change of the popularity score (IPS) of the right option over the items that were right before and wrong "
    "after, with Wilcoxon's signed-rank test.",
)
IPS_OF_KEPT = Finding(
    "ips_of_kept",
    "IPS of kept items, after less before",
    "IPS",
    "item",
    "The same over the items that were right before and stayed right after: what swapping does to the IPS whether or "
    "not the answer flips.",
)
IPS_LOST_LESS_KEPT = Finding(
    "ips_lost_less_kept",
    "IPS change of lost minus that of kept items",
    "IPS",
    "item",
    "Mean change of the IPS of the right option over the items that were lost less that over those that stayed right; "
    "below 0 where the lost ones became rarer than the others.",
    over="item, or paradigm",
)
ACCEPTED = Finding(
    "accepted",
    "Perturbations accepted",
    "share",
    "item",
    "Share of items of which a perturbed version was made; the others have a reason.",
)
BERTSCORE = Finding(
    "bertscore",
    "BERTScore",
    "ratio",
    "item",
    "Mean BERTScore F1 of the changed texts with their originals; over several paradigms the interval is over "
    "paradigms.",
)
ROUGE_L = Finding(
    "rouge_l",
    "ROUGE-L",
    "ratio",
    "item",
    "Mean ROUGE-L F1 of the changed texts with their originals; over several paradigms the interval is over paradigms.",
)
JUDGED_SAME = Finding(
    "judged_same",
    "Judged to mean the same",
    "share",
    "item",
    "Share of a sample of changed items that the judge model says mean the same as before.",
)
FREQUENCY_ORIGINAL = Finding(
    "frequency_original",
    "Count of swapped words",
    "count",
    "word",
    "Median count in the index of the words that were swapped.",
)
FREQUENCY_SYNONYM = Finding(
    "frequency_synonym",
    "Count of substitutes",
    "count",
    "word",
    "Median count in the index of the words that took their place.",
)
SIMILARITIES = (BERTSCORE, ROUGE_L)
FINDINGS = (
    ACCURACY_ORIGINAL_ALL, ACCURACY_ORIGINAL, ACCURACY_PERTURBED, CHANGE, CHANGE_OVER_DRAWS,
    PERPLEXITY_ORIGINAL, PERPLEXITY_PERTURBED,
    PERPLEXITY_CHANGE, IPS_OF_LOST, IPS_OF_KEPT, IPS_LOST_LESS_KEPT,
    ACCEPTED, *SIMILARITIES, JUDGED_SAME, FREQUENCY_ORIGINAL, FREQUENCY_SYNONYM,
)  # fmt: skip
# Name → the findings whose tests are looked at together, and whose p-values are adjusted together.
FAMILIES: Mapping[str, tuple[Finding, ...]] = {
    "changes after swaps": (CHANGE,),
    "popularity of what flips": (IPS_OF_LOST, IPS_OF_KEPT, IPS_LOST_LESS_KEPT),
}
# Each measure of an instance → what it is computed from.
COMPUTED_FROM: Mapping[str, tuple[str, ...]] = {
    "swaps": ("the words swapped",),
    "bertscore": ("the words swapped",),
    # Where nothing was swapped, or in one option alone, these are the log-probabilities of the options themselves.
    "perturbed_correct": ("log-probabilities of the swapped options", OPTION_LOGPROBS),
    "perturbed_change": ("log-probabilities of the swapped options", OPTION_LOGPROBS),
}
