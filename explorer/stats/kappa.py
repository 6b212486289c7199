"""Do two judges agree beyond chance?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.stats.estimate import Estimate
from explorer.stats.gaps import drop_gaps


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement(Estimate):
    """Cohen's kappa with its normal interval; `agreed` is the plain share of equal verdicts."""

    agreed: float


def kappa(first: Sequence[str | None], second: Sequence[str | None], *, level: float = 0.95) -> Agreement:
    """Cohen's kappa of two judges' verdicts; items that one of them has not judged (None) are left out."""
    from scipy.stats import norm
    from sklearn.metrics import confusion_matrix
    from statsmodels.stats.inter_rater import cohens_kappa

    (a, b), left_out = drop_gaps(np.asarray(first, dtype=object), np.asarray(second, dtype=object))
    if not a.size:
        reason = "no item that both have judged"
        return Agreement.point(math.nan, left_out=left_out, reason=reason, agreed=math.nan)
    agreed = float((a == b).mean())
    labels = sorted({*a.tolist(), *b.tolist()})
    # Chance alone would then agree always, too: 1 - 1 over 1 - 1.
    if len(labels) == 1:
        reason = "both gave one and the same verdict throughout"
        return Agreement.point(math.nan, a.size, left_out=left_out, reason=reason, agreed=agreed)
    with np.errstate(invalid="ignore"):
        agreement = cohens_kappa(confusion_matrix(a.tolist(), b.tolist(), labels=labels))
    reach = float(norm.ppf((1 + level) / 2)) * math.sqrt(max(agreement.var_kappa, 0.0))  # rounding may put it below 0
    value = float(agreement.kappa)
    low, high = max(-1.0, value - reach), min(1.0, value + reach)
    return Agreement(value, low, high, a.size, left_out=left_out, agreed=agreed)
