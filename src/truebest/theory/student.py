"""The Student rule: for Gaussian values whose variances are not known, and need not be equal."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .. import _args
from .._args import Array
from ..errors import InvalidInputError
from ..kernels.layout import MEANS, PULLS, SQUARES, SUMS
from ..kernels.rules.student import STUDENT_RULE
from .models import Model, Student
from .stopping import Stopping, StoppingRule


@dataclass(frozen=True)
class StudentRule(StoppingRule):
    """Stop with leader b when, for every other arm i, Λ_{b,i} > log(K-1) + y, where e^-y (1 + y) = δ.

    Λ is the logarithm of a product of two likelihood ratios, at the common mean that makes it least: that the
    mean of b is larger against that it is not, and that the mean of i is smaller, each without knowing the
    variance. With the true mean each of them is a martingale along the values of its own arm, and rarely
    exceeds 1/u: with probability at most u. Arms are independent, so given the ratio of the best arm, that of
    some other arm b together with it exceeds (K-1) e^y with probability at most e^-y over the former; on
    average over the best arm's that is at most e^-y (1 + y), whatever chooses the arms.

    An arm whose values are all equal, or differ by rounding alone, shows no variance: no pair with it passes.

    Attributes
    ----------
    spacing
        0 asks the rule after every sample. Else, so that a simulation takes less time, it is asked again when
        the evidence may have come to the threshold: after s t samples at least, or 1, and 3% of t at most
    """

    spacing: float = 0.0

    name = "student"
    version = 2
    models = proofs = (Student,)
    watches = numbers = True
    reference = "scale-invariant likelihood ratios, one per arm, for each pair of arms; docs/proofs.md"
    code = STUDENT_RULE

    def __post_init__(self) -> None:
        spacing = _args.scalar("spacing", self.spacing)
        if not 0.0 <= spacing <= 0.1:
            raise InvalidInputError(
                f"spacing must lie between 0 and 0.1, got {spacing:g}; 0 asks the rule after every sample."
            )
        object.__setattr__(self, "spacing", spacing)

    @property
    def replays(self) -> bool:
        return True

    @property
    def tuning(self) -> float:
        return self.spacing

    def level(self, num_arms: int, delta: float) -> float:
        return float(np.log(num_arms - 1.0)) + _log_of_product(-float(np.log(delta)))

    def level_of(self, claims: int, model: Model, delta: float) -> float:  # noqa: ARG002
        return _log_of_product(float(np.log(claims) - np.log(delta)))  # of pairs that need not share an arm

    def for_simulation(self) -> StudentRule:
        return replace(self, spacing=1 / 400)

    def threshold(
        self, time: npt.ArrayLike, num_arms: int, delta: float, *, model: Model | None = None
    ) -> Array:
        return super().threshold(time, num_arms, delta, model=model or Student())

    def evaluate(
        self,
        pulls: npt.ArrayLike,
        means: npt.ArrayLike,
        delta: float,
        sigma: float = 1.0,  # noqa: ARG002
        *,
        model: Model | None = None,
        tolerance: float = 0.0,
        deviations: npt.ArrayLike | None = None,
    ) -> Stopping:
        """Decide whether to stop, from counts, empirical means and empirical standard deviations.

        Parameters
        ----------
        pulls, means, delta, tolerance
            as for every rule
        sigma, model
            not used: the model is Student()
        deviations
            (..., K), the empirical standard deviations, with N-1 in the denominator

        Returns
        -------
        Stopping(statistic, threshold, leader, decided), each (...)

        Raises
        ------
        InvalidInputError
        """
        squares = self._squares(pulls, deviations, model)
        seen, _, _ = self._evaluate(
            pulls, means, _args.delta(delta), Student(), _args.tolerance(tolerance), squares
        )
        return seen

    def intervals(
        self,
        pulls: npt.ArrayLike,
        means: npt.ArrayLike,
        delta: float,
        sigma: float = 1.0,  # noqa: ARG002
        *,
        model: Model | None = None,
        tolerance: float = 0.0,
        deviations: npt.ArrayLike | None = None,
    ) -> tuple[Array, Array]:
        """As for every rule: each end holds by itself with probability 1-δ. `deviations` as in `evaluate`."""
        squares = self._squares(pulls, deviations, model)
        return self._intervals(pulls, means, delta, Student(), 0.0, _args.tolerance(tolerance), squares)

    def _squares(self, pulls: npt.ArrayLike, deviations: npt.ArrayLike | None, model: Model | None) -> Array:
        """Σ (x - mean)² of every arm."""
        self.model_for(model or Student())
        if deviations is None:
            raise InvalidInputError(
                "the rule 'student' needs deviations=, the empirical standard deviation of each arm, got "
                "none; give them beside the means, as numpy.std(values, ddof=1)."
            )
        count, deviation = _args.pulls(pulls), _args.per_arm("deviations", deviations)
        _args.same_shape("pulls", count, "deviations", deviation)
        if (deviation < 0.0).any():
            raise InvalidInputError(
                f"deviations must be at least 0, got {deviation.min():g}; they are empirical standard "
                f"deviations."
            )
        squares: Array = np.maximum(count - 1.0, 0.0) * np.square(deviation)
        return squares

    def summarise(self, model: Model, states: Array) -> None:
        pulls = states[:, PULLS]
        states[:, SUMS] = np.where(pulls > 0.0, states[:, MEANS], 0.0) * pulls * model.unit
        states[:, SQUARES] /= model.unit**2


@dataclass(frozen=True)
class FormerStudentRule(StudentRule):
    """Version 1, by which experiments that began with it are judged: Λ_{b,i} > x, e^-x (1 + x) = δ/(K-1).

    It takes a union over pairs; version 2 has that over the other arms alone, given the best one.
    """

    version = 1

    def level(self, num_arms: int, delta: float) -> float:
        return _log_of_product(float(np.log(num_arms - 1.0) - np.log(delta)))


StudentRule.former = (FormerStudentRule,)


def _log_of_product(least: float) -> float:
    """x with e^-x (1 + x) = e^-least: 1/(UV) exceeds e^x with that probability, if U and V are uniform."""
    x = least
    for _ in range(100):  # rises towards the root, and ends within an ulp or two of it
        x = least + float(np.log1p(x))
    return x
