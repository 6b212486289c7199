"""What a memorization run finds of each attack (`setting`) beside accuracy."""

from __future__ import annotations

from collections.abc import Mapping

from explorer.finding import OPTION_LOGPROBS, Finding, halves_by, split_by

CONTINUATION = "the likeliest continuation"

SCORE = Finding(
    "memorization_score",
    "Mean score",
    "attack's",
    "item",
    "Mean score of the right, the wrong or the only text (`condition`); over several paradigms the interval is over "
    "paradigms.",
    over="item, or paradigm",
)
CLASSIFIER_F1 = Finding(
    "classifier_f1",
    "Macro-F1",
    "F1",
    "item",
    "Macro-F1, over held-out folds, of a classifier (`condition`) that tells right from wrong answers by the attack's "
    'scores; "majority" always gives the commoner answer.',
)
CLASSIFIER_AUC = Finding(
    "classifier_auc",
    "AUC of the classifier",
    "AUC",
    "item",
    "Area under the ROC curve of that classifier over held-out folds; 0.5 by chance.",
)
CLASSIFIER_COEFFICIENT = Finding(
    "classifier_coefficient",
    "Coefficient",
    "log odds",
    "item",
    "Change in the log odds of being right per unit of the score of one text (`condition`), unpenalized logistic "
    "regression; over minimal pairs of several paradigms with errors by paradigm.",
    over="item, or paradigm",
)
SPLIT = split_by("memorization", "score of memorization")
PUBLISHED = halves_by("memorization_published", "score of memorization, divided as published")
PLAIN = halves_by("memorization_plain", "undivided score of memorization")
NEIGHBORS_BY = Finding(
    "neighbours_by",
    "Items with neighbors",
    "count",
    "item",
    "How many items have neighbors, and who proposed them (`setting`).",
)
LABELED = (
    "`condition` says whose labels: an index's, those of what is planted in the corpus of the glass box, or, as a "
    "control, the same of a model that never read it"
)
MEMBERSHIP_AUC = Finding(
    "membership_auc",
    "AUC of membership",
    "AUC",
    "item",
    "The chance that an attack (`setting`) holds a text that was seen for more likely seen than one that was not, 0.5 "
    f"by chance; {LABELED}.",
)
FOUND_AT_1 = Finding(
    "members_found_at_1",
    "Members found at 1% false alarms",
    "share",
    "item",
    f"Share of the texts seen that an attack finds while it holds at most 1% of the others for seen; {LABELED}.",
)
FOUND_AT_5 = Finding(
    "members_found_at_5",
    "Members found at 5% false alarms",
    "share",
    "item",
    f"Share of the texts seen that an attack finds while it holds at most 5% of the others for seen; {LABELED}.",
)
MEMBERS_FOUND = (FOUND_AT_1, FOUND_AT_5)  # in the order of the rates
MEMBERSHIP = (MEMBERSHIP_AUC, *MEMBERS_FOUND)
CLASSIFIED = (CLASSIFIER_F1, CLASSIFIER_AUC, CLASSIFIER_COEFFICIENT)
OF_ATTACK = (SCORE, *CLASSIFIED, *SPLIT.every, *PUBLISHED.every, *PLAIN.every)
FINDINGS = (*OF_ATTACK, *MEMBERSHIP, NEIGHBORS_BY)
# Name → the findings whose tests are looked at together, and whose p-values are adjusted together.
FAMILIES: Mapping[str, tuple[Finding, ...]] = {
    "memorization and being right": (
        SPLIT.difference,
        SPLIT.difference_over_paradigms,
        SPLIT.slope,
        SPLIT.auc,
        PLAIN.difference,
    ),
    "halves as published": (PUBLISHED.difference,),
    "classifiers": (CLASSIFIER_COEFFICIENT,),
}
# Each attack → what its score is computed from. The verdict compares the same log-probabilities of the same texts.
COMPUTED_FROM: Mapping[str, tuple[str, ...]] = {
    "tde_accuracy": (CONTINUATION,),
    "tde_likelihood": (OPTION_LOGPROBS,),
    "mia_loss": (OPTION_LOGPROBS,),
    "mia_perplexity": (OPTION_LOGPROBS,),
    "mia_neighbours": (OPTION_LOGPROBS, "log-probabilities of its neighbors"),
    "min_k": (OPTION_LOGPROBS,),
    "zlib": (OPTION_LOGPROBS, "compressed length"),
    "min_k_plus": (OPTION_LOGPROBS, "spread of the next token"),
    "recall": (OPTION_LOGPROBS, "log-probabilities after other texts"),
}
