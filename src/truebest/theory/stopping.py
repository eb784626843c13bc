"""When to stop: stopping rules as values with one interface.

    Practical         the paper's experiments: fast, not proven
    GK16              Garivier & Kaufmann 2016: proven, very conservative
    KaufmannKoolen    Kaufmann & Koolen 2021: proven
    Mixture           pairwise normal mixtures: proven; in `mixture`
    Tilt              mixtures of tilts: proven, adapts to the values, and needs the fewest samples; in `tilt`
    StudentRule       normal values of unknown variances: proven; in `student`

Every rule compares the leader with each other arm and stops when the smallest of the statistics
exceeds its threshold. `rule.evaluate(pulls, means, delta)` does that for data; `find_rule(name)`
finds a rule by name. With a proven rule the leader at the stop is wrong with probability at most delta,
for independent samples as the model says, whatever chose the arms on the basis of the past.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from .. import _args
from .._args import Array
from .._catalogue import DEFAULT_RULE, STOPPING_RULES
from ..errors import InvalidInputError
from ..kernels import best, layout
from ..kernels.rules import likelihood
from ..questions import Question
from .constants import calibration, family_calibration, gk16_log_constant
from .models import Bounded, ExponentialFamily, Gaussian, Model
from .statistics import states


@dataclass(frozen=True)
class Stopping:
    """What a stopping rule says of the data; every field has the shape (...).

    Attributes
    ----------
    decided
        statistic > threshold, or what a rule of your own says: stop, and recommend the leader
    """

    statistic: Array
    threshold: Array
    leader: npt.NDArray[np.int64]
    decided: npt.NDArray[np.bool_]


class StoppingRule(ABC):
    """The interface of all rules.

    Attributes
    ----------
    models
        those with which the rule can compute, unless only another rule can judge them
    proofs
        those for which the error probability is proven to be at most delta
    question
        what is asked by claims about pairs; None for the best arm in the rule's own way
    unites
        whether `level` is that of a union over K - 1 pairs, so that it serves for other claims, too
    numbers
        whether it can compare an arm with a number
    pools
        whether the evidence of pairs, as a number and not as its logarithm, may be averaged: it is then below
        a supermartingale of all values
    watches
        whether the rule needs Σ (x - mean)² of every arm
    version
        stored with an experiment beside the name; raised with any change of what the rule decides
    former
        the rule in earlier versions, by which experiments that began with them are judged

    Attributes
    ----------
    settles
        whether arms are ruled out pair by pair, for a strategy that is `open_only`
    """

    models: ClassVar[tuple[type[Model], ...]] = (Model,)
    proofs: ClassVar[tuple[type[Model], ...]] = ()
    version: ClassVar[int] = 1
    former: ClassVar[tuple[type[StoppingRule], ...]] = ()
    watches: ClassVar[bool] = False
    unites: ClassVar[bool] = True
    numbers: ClassVar[bool] = False
    pools: ClassVar[bool] = False
    settles = False
    question: Question | None = None

    @property
    @abstractmethod
    def name(self) -> str:
        """The name by which `stopping_rule` finds the rule."""

    @property
    @abstractmethod
    def reference(self) -> str:
        """Where the rule and its proof stand."""

    @property
    @abstractmethod
    def code(self) -> int:
        """The rule's number in the kernels."""

    @property
    def tuning(self) -> float:
        """The parameter that the kernels take along."""
        return 0.0

    @abstractmethod
    def level(self, num_arms: int, delta: float) -> float:
        """The part of the threshold that does not depend on the time; at most the threshold."""

    def level_for(self, model: Model, num_arms: int, delta: float) -> float:  # noqa: ARG002
        """`level` for values of a model, where it depends on it."""
        return self.level(num_arms, delta)

    def knows(self, model: Model) -> bool:
        """Whether the rule can compute with a model, or with a wider one."""
        able = isinstance(model, self.models) or isinstance(model.relaxed, self.models)
        return able and model.rule in (None, self.name)

    def model_for(self, model: Model) -> Model:
        """The model as the rule computes with it: itself, or a wider one; others are refused."""
        if self.knows(model):
            return model if isinstance(model, self.models) else model.relaxed
        advice = f"{model.rule or DEFAULT_RULE!r}, which can"
        if isinstance(model, ExponentialFamily):
            advice = "'kaufmann-koolen', which is proven for it, or 'practical', which is not"
        raise InvalidInputError(
            f"the stopping rule {self.name!r} cannot compute with the model {model}; choose {advice}."
        )

    def proven_for(self, model: Model) -> bool:
        """Whether the error probability is proven to be at most delta if values are as the model says."""
        return isinstance(model, self.proofs) or isinstance(model.relaxed, self.proofs)

    @property
    def proven(self) -> bool:
        """Whether there is a proof for Gaussian values."""
        return self.proven_for(Gaussian())

    @property
    def eliminates(self) -> bool:
        """Whether arms are ruled out one by one, for good."""
        return self.settles or (self.question is not None and self.question.rules_out)

    @property
    def limits(self) -> bool:
        """Whether the evidence says which arms may be sampled, so that a run depends on its risk."""
        return self.eliminates or self.question is not None

    @property
    def replays(self) -> bool:
        """Whether a retraction builds the evidence again from the log.

        That is so where it depends on the order of the values, and where a value cannot be taken out of what
        the rule keeps without a trace, however large it was.
        """
        return self.limits

    def level_of(self, claims: int, model: Model, delta: float) -> float:
        """`level_for`, for a union over so many claims."""
        return self.level_for(model, claims + 1, delta)

    def level_of_numbers(self, claims: int, model: Model, delta: float) -> float:  # noqa: ARG002
        """The same of claims about one arm and a number each."""
        return float(np.log(claims) - np.log(delta))

    def asked_level(self, model: Model, num_arms: int, delta: float) -> float:
        """The level for what is asked."""
        if self.question is None:
            return self.level_for(model, num_arms, delta)
        level = self.level_of_numbers if self.question.of_number else self.level_of
        return level(self.question.false_claims(num_arms), model, delta)

    def asking(self, question: Question) -> StoppingRule:
        """The form in which the rule is asked for claims about pairs, if a question is answered by these."""
        if not question.by_claims:
            return self
        if question.pools and not self.pools:
            raise InvalidInputError(
                f"the evidence of the stopping rule {self.name!r} cannot be averaged over arms, which "
                f"{question} needs; leave only out, or choose another rule, such as {DEFAULT_RULE!r}."
            )
        if not self.unites or (question.of_number and not self.numbers):
            raise InvalidInputError(
                f"the stopping rule {self.name!r} cannot answer {question}; choose another rule, such as "
                f"{DEFAULT_RULE!r}."
            )
        form = copy(self.form_for(2))
        object.__setattr__(form, "question", question)
        return form

    def form_for(
        self,
        num_arms: int,  # noqa: ARG002
        tolerance: float = 0.0,  # noqa: ARG002
        stops_itself: bool = False,  # noqa: ARG002
        open_only: bool = False,
    ) -> StoppingRule:
        """The form in which the rule is asked; with a tolerance, or for a strategy that says so."""
        return self.settling() if open_only else self

    def prepared_for(self, max_samples: int | None) -> StoppingRule:  # noqa: ARG002
        """The rule where so many samples are the most that there can be, None for any number."""
        return self

    def settling(self) -> Self:
        """The form in which an arm is out for good once a pair shows it to be worse."""
        form = copy(self)
        object.__setattr__(form, "settles", True)
        return form

    def pairwise(self, params: Array) -> Array:
        """Parameters of the nearest form that does not ask for the order of the values, for a forecast."""
        return params.copy()

    def for_simulation(self) -> StoppingRule:
        """What the rule's name stands for in a simulation, where time counts."""
        return self

    def met_for_long(self, evidence: float, num_arms: int, delta: float) -> bool:  # noqa: ARG002
        """Whether so much evidence on a pair that is left alone meets the threshold up to 1e9 samples."""
        return False

    def blank(self, model: Model, num_arms: int) -> Array:
        """A state without pulls, with the rows that the rule needs, and behind these those of a question."""
        blank = self.own_blank(model, num_arms)
        if self.question is None:
            return blank
        return np.vstack([blank, np.zeros((layout.HEADS + num_arms + layout.ABOUT_ONE, num_arms))])

    def own_blank(self, model: Model, num_arms: int) -> Array:
        """A state without pulls, with the rows that the rule needs."""
        return model.blank(num_arms)

    def summarise(self, model: Model, states: Array) -> None:  # noqa: B027
        """Fill the rule's rows of states (n, rows, K) of which only pulls and means are known."""

    def parameters(
        self, model: Model, num_arms: int, delta: float, tolerance: float = 0.0, offset: float = 0.0
    ) -> Array:
        """What the kernels are told of model and rule: the head of `params`, see `kernels.layout`."""
        params = np.zeros(layout.OWN)
        params[layout.DELTA], params[layout.TOLERANCE] = delta, tolerance / model.unit
        params[layout.MODEL], params[layout.UNIT], params[layout.OFFSET] = model.code, model.unit, offset
        params[layout.LOW], params[layout.HIGH] = model.limits or (-np.inf, np.inf)
        params[layout.RULE], params[layout.LEVEL] = self.code, self.asked_level(model, num_arms, delta)
        params[layout.TUNING], params[layout.WATCHED] = self.tuning, self.watches
        params[layout.PAIR_LEVEL], params[layout.LIMITS] = params[layout.LEVEL], self.limits
        if self.question is not None:
            params[layout.QUESTION : layout.OWN] = self.question.placed(offset, model.unit).told()
        return params

    def threshold(
        self, time: npt.ArrayLike, num_arms: int, delta: float, *, model: Model | None = None
    ) -> Array:
        """The threshold after `time` samples in total (any shape, at least 1), by default Gaussian ones."""
        t = _args.pulls(time, "time")
        if (t < 1).any():
            raise InvalidInputError(f"time must be at least 1, got {t.min()}; it counts all samples so far.")
        paired = self.form_for(2)  # as in `evaluate`
        params = paired.parameters(
            self.model_for(model or Gaussian()), _args.num_arms(num_arms), _args.delta(delta)
        )
        value = np.empty(t.size)
        best.threshold_rows(params, t.ravel(), value)
        return value.reshape(t.shape)[()]

    def evaluate(
        self,
        pulls: npt.ArrayLike,
        means: npt.ArrayLike,
        delta: float,
        sigma: float = 1.0,
        *,
        model: Model | None = None,
        tolerance: float = 0.0,
    ) -> Stopping:
        """Decide whether to stop, from counts and empirical means.

        Parameters
        ----------
        pulls
            (..., K), counts
        means
            (..., K), the empirical means
        delta
            the accepted probability of a wrong answer
        sigma
            standard deviation (sub-Gaussian scale) of one sample, short for model=Gaussian(sigma)
        model
            what a sample is
        tolerance
            how far below the best a declared arm may be

        Returns
        -------
        Stopping(statistic, threshold, leader, decided), each (...)

        Raises
        ------
        InvalidInputError
        """
        allowed, paired = _args.tolerance(tolerance), self.form_for(2)  # the order of values is not known
        seen, _, _ = paired._evaluate(pulls, means, _args.delta(delta), model or Gaussian(sigma), allowed)
        return seen

    def _evaluate(
        self,
        pulls: npt.ArrayLike,
        means: npt.ArrayLike,
        delta: float,
        model: Model,
        tolerance: float = 0.0,
        squares: Array | None = None,
    ) -> tuple[Stopping, Array, Array]:
        """Also the parameters and the states, which are flat; squares are Σ (x - mean)² of every arm."""
        model = self.model_for(model)
        count, flat, origin = states(pulls, means, model, self.blank(model, np.shape(pulls)[-1]))
        if squares is not None:
            flat[:, layout.SQUARES] = squares.reshape(flat.shape[0], -1)
        shape, num_arms = count.shape[:-1], count.shape[-1]
        params = self.parameters(model, num_arms, delta, tolerance, origin)
        self.summarise(model, flat)
        statistic, leader = np.empty(flat.shape[0]), np.empty(flat.shape[0], dtype=np.int64)
        with np.errstate(all="ignore"):
            best.statistic_rows(params, flat, statistic, leader)
        threshold = self.threshold(count.sum(axis=-1), num_arms, delta, model=model)
        decided = self.decides(params, flat, statistic, leader, np.ravel(threshold)).reshape(shape)[()]
        z = statistic.reshape(shape)[()]
        return Stopping(z, threshold, leader.reshape(shape)[()], decided), params, flat

    def decides(
        self,
        params: Array,  # noqa: ARG002
        states: Array,  # noqa: ARG002
        statistic: Array,
        leader: npt.NDArray[np.int64],  # noqa: ARG002
        threshold: Array,
    ) -> npt.NDArray[np.bool_]:
        """(n,) whether the rule stops in each of the states (n, rows, K), of which all else is (n,)."""
        return statistic > threshold

    def intervals(
        self,
        pulls: npt.ArrayLike,
        means: npt.ArrayLike,
        delta: float,
        sigma: float = 1.0,
        *,
        model: Model | None = None,
        tolerance: float = 0.0,
    ) -> tuple[Array, Array]:
        """Intervals for μ_b - μ_i, the leader b against every arm i, which imply the decision.

        The rule decides exactly when every lower end, but the leader's own, is above 0, or above minus the
        tolerance, to which the evidence of `tilt` is adapted. For a proven rule
        each end holds by itself, at all times and whichever arm leads, with probability at least 1-δ; both
        ends of all intervals that contain the truly best arm with at least 1-2δ, but 1-δ for rules that
        compare squares (mixture, gk16, kaufmann-koolen).

        Parameters
        ----------
        pulls, means, delta, sigma, model, tolerance
            as in `evaluate`

        Returns
        -------
        lower (..., K), upper (..., K); 0 at the leader, infinite where an arm has no pulls

        Raises
        ------
        InvalidInputError
        """
        return self._intervals(pulls, means, delta, model or Gaussian(sigma), 0.0, _args.tolerance(tolerance))

    def _intervals(
        self,
        pulls: npt.ArrayLike,
        means: npt.ArrayLike,
        delta: float,
        model: Model,
        more: float,
        tolerance: float,
        squares: Array | None = None,
    ) -> tuple[Array, Array]:
        """Where the pair statistics reach the threshold and `more`."""
        paired = self.form_for(2)
        seen, params, flat = paired._evaluate(pulls, means, _args.delta(delta), model, tolerance, squares)
        bound = np.array(seen.threshold + more, dtype=np.float64).reshape(flat.shape[0])
        leaders, unit = np.array(seen.leader, dtype=np.int64).reshape(-1), params[layout.UNIT]
        lower, upper = np.empty((2, flat.shape[0], flat.shape[-1]))
        with np.errstate(all="ignore"):
            best.pair_interval_rows(params, flat, leaders, bound, lower, upper)
            return (unit * lower).reshape(np.shape(pulls)), (unit * upper).reshape(np.shape(pulls))


@dataclass(frozen=True)
class Practical(StoppingRule):
    """log((1 + log t)/δ), the threshold of the paper's experiments (Section 4).

    It lies under the law of the iterated logarithm, so no proof can exist for all times; on the paper's
    bandits its error stays below delta.
    """

    name = "practical"
    reference = "Barrier, Garivier, Kocák, Section 4: used in practice, no proof"
    code = likelihood.PRACTICAL

    def level(self, num_arms: int, delta: float) -> float:  # noqa: ARG002
        return -float(np.log(delta))

    def met_for_long(self, evidence: float, num_arms: int, delta: float) -> bool:
        return evidence >= float(self.threshold(1e9, num_arms, delta))


@dataclass(frozen=True)
class GK16(StoppingRule):
    """log(R t^α/δ), equation (4), with the smallest R that the proof allows.

    R is the smallest solution of R >= Σ_t (e^(K+1)/K^K) (log²(R t^α/δ) log t)^K/t^α.

    Differs from the paper: there, and with `printed=True`, the sum lacks δ and R depends on (K, α)
    only. The proof needs the sum with δ.
    """

    alpha: float = 1.2
    printed: bool = False

    models = proofs = (Gaussian, Bounded)
    unites = False
    code = likelihood.GK16

    def __post_init__(self) -> None:
        alpha = _args.scalar("alpha", self.alpha)
        if not 1.0 < alpha <= 10.0:
            raise InvalidInputError(
                f"alpha must be above 1 and at most 10, got {alpha}; 1.2 is common, and a smaller "
                f"one makes the constant larger."
            )
        object.__setattr__(self, "alpha", alpha)

    @property
    def name(self) -> str:
        return "gk16-printed" if self.printed else "gk16"

    def proven_for(self, model: Model) -> bool:
        return not self.printed and super().proven_for(model)

    @property
    def reference(self) -> str:
        if self.printed:
            return "Proposition 4 as printed: its constant R does not depend on delta, no proof"
        return "Garivier & Kaufmann 2016, Proposition 12, with R depending on delta"

    @property
    def tuning(self) -> float:
        return self.alpha

    def level(self, num_arms: int, delta: float) -> float:
        log_inverse = -float(np.log(delta))
        return log_inverse + self.log_constant(num_arms, log_inverse)

    def log_constant(self, num_arms: int, log_inverse_delta: float) -> float:
        """log R; `printed` ignores the second argument."""
        return gk16_log_constant(num_arms, self.alpha, 0.0 if self.printed else log_inverse_delta)


@dataclass(frozen=True)
class KaufmannKoolen(StoppingRule):
    """2 C_G(log((K-1)/δ)/2) + 4 log(4 + log(t/2)) for Gaussian values and values between bounds.

    For one-parameter exponential families 2 T(log((K-1)/δ)/2) + 6 log(1 + log(t/2)), with the larger T of
    `constants.family_calibration`: P(ever Σ_{a in S} N_a d(μ̂_a, μ_a) - 3 log(1 + log N_a) >= |S| T(x/|S|)) is
    at most e^-x. Here S are two arms, whose terms 3 log(1 + log N) are largest for N = t/2 each.
    """

    name = "kaufmann-koolen"
    numbers = True
    proofs = (Gaussian, Bounded, ExponentialFamily)
    reference = "Kaufmann & Koolen 2021, Mixture martingales revisited, JMLR 22(246)"
    code = likelihood.KAUFMANN_KOOLEN

    def level(self, num_arms: int, delta: float) -> float:
        return 2.0 * calibration(0.5 * float(np.log(num_arms - 1.0) - np.log(delta)))

    def level_for(self, model: Model, num_arms: int, delta: float) -> float:
        if not isinstance(model, ExponentialFamily):
            return self.level(num_arms, delta)
        return 2.0 * family_calibration(0.5 * float(np.log(num_arms - 1.0) - np.log(delta)))

    def level_of_numbers(self, claims: int, model: Model, delta: float) -> float:
        calibrated = family_calibration if isinstance(model, ExponentialFamily) else calibration
        return calibrated(super().level_of_numbers(claims, model, delta))


@cache
def rules() -> dict[str, StoppingRule]:
    """All rules by name; made when they are first looked up, as a rule's file may import this one."""
    return {name: entry.make() for name, entry in STOPPING_RULES.items()}


def find_rule(rule: str | StoppingRule) -> StoppingRule:
    """A rule by its name, a key of `STOPPING_RULES`; a rule itself is returned as it is."""
    if isinstance(rule, StoppingRule):
        return rule
    return rules()[_args.choice("stopping", rule, tuple(rules()))]
