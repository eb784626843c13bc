"""What is simulated: the arms and their rewards, the risks and the stopping rule, checked on entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import _args
from .._args import Array
from .._catalogue import DEFAULT_RULE, SIMULATED_RULE
from ..designs.independent import refuse_question, usual_rule
from ..errors import InvalidInputError
from ..kernels.exact import round_offset
from ..kernels.tracking import TIE
from ..questions import BEST, Question, find_question
from ..theory.models import ExponentialFamily, Gaussian, Model
from ..theory.stopping import StoppingRule, find_rule
from .rewards import Rewards, make_rewards


@dataclass(frozen=True)
class Problem:
    """A bandit, its rewards, the risks and the rule that stops.

    offset         a round number near the largest mean, 0 near 0, that is left out of means and rewards
    means          (K,), less the offset
    source         what the kernels draw rewards from: family, nature and pool of `kernels.random.pull`
    model          what is assumed of a reward
    deltas         in the order given
    best           the arms whose recommendation is right: within the tolerance of the largest mean
    max_samples    where a run is cut off, inf for never
    question       what is asked of the arms
    """

    offset: float
    means: Array
    source: tuple[int, Array, Array]
    model: Model
    deltas: tuple[float, ...]
    rule: StoppingRule
    tolerance: float
    max_samples: float
    best: frozenset[int]
    question: Question = BEST

    @property
    def num_arms(self) -> int:
        """K."""
        return int(self.means.size)


def make_problem(
    means: npt.ArrayLike | None,
    delta: float | Sequence[float],
    rewards: str | Sequence[npt.ArrayLike],
    noise: npt.ArrayLike,
    sigma: float | Sequence[float] | None,
    model: Model | None,
    stopping: str | StoppingRule | None,
    max_samples: int | None,
    tolerance: float = 0.0,
    question: Question | None = None,
) -> Problem:
    """Check everything that `simulate` and `trace` are given about the bandit."""
    asked = BEST if question is None else find_question(question)
    nature = make_rewards(rewards, means, noise, asked.fewest)
    mu, given = nature.means, _model(model, sigma, nature)
    rule = _rule(stopping, asked, given)
    if isinstance(given, ExponentialFamily):
        _refuse_outside(given, nature)
    assumed = rule.model_for(given)
    unit = assumed.unit
    assumed.variances(mu.size)  # refuses another number of arms
    nature.check(assumed)
    with np.errstate(over="ignore"):
        largest = np.float64(nature.largest) / unit
    if largest > 1e100:
        raise InvalidInputError(
            f"means and noise must be below 1e100 in units of sigma, got {largest:g}; rescale "
            f"them, or give the right sigma."
        )
    _args.scale(unit)
    limit, allowed = limit_of(max_samples, mu.size), _args.tolerance(tolerance)
    refuse_question(asked, rule, allowed)
    asked = asked.bound(mu.size)
    asked.check(mu.size, assumed.limits)
    best = frozenset(np.flatnonzero(mu >= mu.max() - allowed).tolist())
    near = int((mu >= mu.max() - TIE * unit).sum())
    if near > 1 and asked.unique and allowed == 0.0 and not np.isfinite(limit):
        raise InvalidInputError(
            f"the largest mean must be unique, got {mu.max()} for {near} arms (within 1e-9 sigma), with "
            f"which a run would never end; give max_samples."
        )
    deltas = make_deltas(delta)
    scale = unit if np.isfinite(assumed.smallest_scale) else max(float(nature.noise.max()), unit)
    offset = round_offset(float(mu.max()), scale) if nature.moves and not assumed.needs_origin else 0.0
    source = nature.family, *nature.source(offset)
    return Problem(offset, mu - offset, source, assumed, deltas, rule, allowed, limit, best, asked)


def _rule(stopping: str | StoppingRule | None, question: Question, model: Model) -> StoppingRule:
    """The rule; where none is given, that of the paper, or for a question that of a live experiment."""
    if stopping is not None:
        rule = find_rule(stopping)
    elif question.by_claims:
        rule = usual_rule(find_rule(DEFAULT_RULE), model)
    else:
        rule = find_rule(SIMULATED_RULE)
    return rule if isinstance(stopping, StoppingRule) else rule.for_simulation()


def make_deltas(delta: float | Sequence[float]) -> tuple[float, ...]:
    """One risk or several, checked."""
    deltas = tuple(_args.delta(x) for x in np.atleast_1d(_args.numbers("delta", delta)).ravel())
    if not deltas or len(set(deltas)) != len(deltas):
        raise InvalidInputError(
            f"delta must be one or more different risks, got {list(deltas)}; 0.05 is common."
        )
    return deltas


def _refuse_outside(model: ExponentialFamily, rewards: Rewards) -> None:
    """Refuse rewards that are not values of an exponential family."""
    model.check_means(rewards.means)
    kind, spread = rewards.kind, rewards.noise
    if rewards.values is not None:
        inside = all(model.allows(value) for part in rewards.values for value in part.tolist())
    else:
        inside = kind in model.rewards and (kind != "uniform" or bool((rewards.means > spread).all()))
    if not inside:
        known = " or ".join(repr(name) for name in model.rewards)
        raise InvalidInputError(
            f"rewards of the model {model} must be {known}, each {model.demand}, got "
            f"{repr(kind) if kind else 'others'}; simulate such rewards, or assume another model."
        )


def _model(model: Model | None, sigma: float | Sequence[float] | None, rewards: Rewards) -> Model:
    """What is assumed: given, or what the rewards suggest."""
    if model is None:
        return rewards.assumed() if sigma is None else Gaussian(sigma)  # type: ignore[arg-type]
    if sigma is not None:
        raise InvalidInputError(
            f"give either sigma or model, got sigma {_args.short(sigma)} and model {model}; sigma is "
            f"short for model=Gaussian(sigma)."
        )
    if not isinstance(model, Model):
        raise InvalidInputError(
            f"model must be a model of values, got {_args.short(model)}; give truebest.Gaussian(2.0), say."
        )
    return model


def limit_of(max_samples: int | None, num_arms: int) -> float:
    """Where a run is cut off; inf for never."""
    if max_samples is None:
        return np.inf
    limit = _args.scalar("max_samples", max_samples)
    if limit != np.floor(limit) or not num_arms <= limit <= 2.0**53:
        raise InvalidInputError(
            f"max_samples must be a whole number from {num_arms} (one per arm) to 2**53, got "
            f"{max_samples}; it is where a run is cut off."
        )
    return limit
