"""Errors by group that hold with few groups: variances without the bias of a fit that has seen each group.

Items of a group share material, so that their residuals are added up within the group before they are squared (Liang
and Zeger 1986). With few groups that falls short twice over: the variance comes out too small, and it is itself unsure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_ALONE = 1e-8  # a group alone decides a direction where no more than this of it is left to the others
_MOST_LEFT_OUT = 0.01  # of a coefficient, beyond which what its variance lacks is no rounding
NO_OTHERS = "no interval: one group alone decides it"
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(100)


@dataclass(frozen=True, slots=True)
class Spread:
    """How unsure a variance is: it is a sum of squares of normals times these parts, which add up to 1."""

    parts: np.ndarray

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the chi-squared with its mean and variance (Satterthwaite)."""
        return float(1 / (self.parts**2).sum())

    # Given the variance V the ratio is normal, and by Craig (1991) both its tails hold
    #
    #     2/pi x the integral over angles a of 0 to 90 degrees of  exp(-ratio^2 V / (2 sin^2 a))
    #
    # whose mean over V = the sum of parts times chi-squared is a product of one factor a part. Of k equal parts that is
    # Student's t with k degrees of freedom. Satterthwaite's t stands for unequal ones too, but of fewer than four
    # degrees of freedom it makes 95% intervals of 97 to 98%.
    def tails(self, ratio: float) -> float:
        """The two-sided p of a coefficient over its error."""
        angles = (1 + _NODES) * np.pi / 4
        factors = 1 + np.outer((ratio / np.sin(angles)) ** 2, self.parts)
        return float(_WEIGHTS @ np.exp(-np.log(factors).sum(axis=1) / 2) / 2)

    def reach(self, level: float = 0.95) -> float:
        """How many errors an interval reaches to either side."""
        from scipy.optimize import brentq

        far = 2.0
        while self.tails(far) > 1 - level:
            far *= 2
        return float(brentq(lambda ratio: self.tails(ratio) - (1 - level), 0.0, far))


@dataclass(frozen=True, slots=True)
class GroupErrors:
    """The covariance of a fit's coefficients, and of each variance how unsure it is.

    left_out  of each coefficient the share that groups decide alone and that its variance therefore lacks, 0 to 1
    """

    covariance: np.ndarray
    spreads: tuple[Spread, ...]
    left_out: tuple[float, ...]

    @property
    def errors(self) -> np.ndarray:
        """Standard errors."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def is_decided_alone(self) -> tuple[bool, ...]:
        """Of each coefficient whether a group alone decides it, so that its error says nothing of other groups."""
        return tuple(share > _MOST_LEFT_OUT for share in self.left_out)


# Each group draws the fit to itself, so that its residuals come out smaller than those of a group that was not fitted,
# and the more so the more of the fit it decides. In a basis in which the rows' products add up to the identity each
# group has a share P of them, and what it adds to the fit is divided by the root of what is left to the others:
#
#     8 like groups       P = 1/8 each            squares divided by 7/8
#     one has half        P = 1/2                 its square counts double
#     one has all         P = 1                   nothing is known of other groups, it is left out
#
# A coefficient that leans on what was left out (the difference of one treated group from seven others) has lost the
# main part of its variance: how much of it that is, is told beside. A group's own intercept is left out as well, and
# no measure leans on that once groups' means are held.
#
# That makes the variance right on average (CR2, Bell and McCaffrey 2002). How far it varies around that follows from
# the same shares: the groups' moves are as normals whose covariance has `parts` as eigenvalues. A measure that varies
# in four groups of twenty has three of them that matter.
def bias_reduced(
    design: np.ndarray, residuals: np.ndarray, codes: np.ndarray, coefficients: int | None = None
) -> GroupErrors:
    """Errors by group (CR2) of the least-squares coefficients of the first `coefficients` columns, all without it.

    After Pustejovsky and Tipton (2018), independent rows being the working model, with the distribution of the ratio
    itself in place of Satterthwaite's. Groups are numbered from 0; their intercepts may be among the columns.
    """
    basis, triangle = np.linalg.qr(design)
    members = [codes == code for code in range(int(codes.max()) + 1)]
    shares = np.array([basis[rows].T @ basis[rows] for rows in members])
    scores = np.array([basis[rows].T @ residuals[rows] for rows in members])
    part, axes = np.linalg.eigh(shares)
    is_alone = 1 - part <= _ALONE
    remaining_share = np.where(is_alone, np.inf, 1 - part)
    adjust = (axes / np.sqrt(remaining_share)[:, None, :]) @ axes.transpose(0, 2, 1)
    axes_of_coefficients = np.linalg.inv(triangle)[:coefficients]  # a row per coefficient, in the basis
    moves = np.einsum("gij,gj->gi", adjust, scores) @ axes_of_coefficients.T
    toward = np.einsum("gij,si->sgj", axes, axes_of_coefficients)  # each coefficient along each group's axes
    lost = (toward**2 * is_alone).sum(axis=(1, 2)) / (axes_of_coefficients**2).sum(axis=1)
    spreads = tuple(_spread_of(shares, adjust @ axis) for axis in axes_of_coefficients)
    return GroupErrors(moves.T @ moves, spreads, tuple(lost.tolist()))


def logistic_bias_reduced(
    design: np.ndarray, outcome: np.ndarray, chance: np.ndarray, codes: np.ndarray, coefficients: int | None = None
) -> GroupErrors:
    """The same of a logistic fit whose chances of being right are `chance`."""
    # The fit's last step is a least squares with weights p (1 - p); rows are here multiplied by the weights' roots.
    roots = np.sqrt(chance * (1 - chance))
    return bias_reduced(design * roots[:, None], (outcome - chance) / roots, codes, coefficients)


def _spread_of(shares: np.ndarray, leaning: np.ndarray) -> Spread:
    toward = np.einsum("gij,gj->gi", shares, leaning)
    # The covariance of the groups' moves: each has its own rows, and all have the fit in common.
    between = np.diag(np.einsum("gi,gi->g", leaning, toward)) - toward @ toward.T
    parts = np.maximum(np.linalg.eigvalsh(between), 0.0)
    total = parts.sum()
    return Spread(parts / total if total > 0 else np.full(parts.size, 1 / parts.size))
