"""The account of an experiment, from its state: where it stands, and what was found."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .._text import exactly
from ..kernels import paired
from ..questions import PerArm
from ..telling.account import Account
from ..telling.answers import (
    Answer,
    Best,
    NoWinner,
    Open,
    Stopped,
    Suspended,
    Tied,
    Undecided,
    UsedUp,
    Verdicts,
    Within,
)
from ..telling.standings import Hold, Interval, Lead, Progress, Promise, Role, Standing, per_arm, sides_of
from ..theory.models import Bounded, Gaussian
from ..theory.statistics import confidence_width
from .findings import Findings
from .promise import assumption, caveats, certain, promise, refutation
from .rounds import RoundsState
from .settings import Settings
from .state import State


def account_of(name: str, state: State, waits_for: Hold | None = None) -> Account:
    """Where the experiment of that name stands; what it waits for is not in the state."""
    settings, seen = state.settings, state.decision or state.findings()
    told = Promise(promise(state), assumption(state), caveats(state), certain(state))
    within, race = (None, None) if told.bound is None else _race(state, seen)
    far = Progress(seen.samples, seen.rounds, seen.statistic, seen.threshold, state.waiting, waits_for)
    answer = answer_of(state, seen.arm, within)
    rows = _standings(state, seen, answer, race, told.bound)
    beyond = None if told.bound is None else state.population(seen.arm)
    return Account(name, settings, answer, rows, told, far, beyond)


def answer_of(state: State, arm: int, within: float | None = None) -> Answer:
    """What a state answers.

    arm     the index of the leader, -1 without one
    within  how far below the best it can be
    """
    settings, arms, found = state.settings, state.settings.arms, state.decision
    leader, asked = arms[arm] if arm >= 0 else None, per_arm(state.settings)
    if found is None:
        so_far = None if asked is None or not state.standing()[1] else _verdicts(state.labels, asked, arms)
        if state.stopped is not None:
            return Stopped(leader, within, state.stopped, so_far=so_far)
        if state.suspended:
            return Suspended(leader, within, suspension(state), so_far=so_far)
        ended = state.used_up and not state.waits
        return (UsedUp if ended else Undecided)(leader, within, so_far=so_far)
    if asked is not None:
        return _verdicts(found.labels, asked, arms)
    if leader is None:
        return NoWinner(tuple((arms[a], arms[b]) for a, b in enumerate(found.beaten) if b is not None))
    if found.tied:
        return Tied(leader, tuple(arms[a] for a in found.tied))
    return Within(leader, settings.tolerance) if settings.tolerance else Best(leader)


def _verdicts(labels: Sequence[float], asked: PerArm, arms: tuple[str, ...]) -> Verdicts:
    """Which arms have passed and which have failed; none before every arm has a value."""
    return Verdicts(*asked.judged(labels, arms)) if labels else Verdicts()


def _race(state: State, seen: Findings) -> tuple[float | None, list[bool]]:
    """How far below the best the leader can be, and which arms may be the best, as far as is proven."""
    K = len(state.settings.arms)
    if seen.arm < 0:
        return None, [True] * K
    out = [one is not None for one in seen.ruled_out] or [False] * K
    behind = [0.0 if a == seen.arm or out[a] else -low for a, low in enumerate(seen.lower)]
    most = max(0.0, *behind)
    if state.eliminates:
        lost = seen.beaten or [None] * K
        race = [not out[a] and lost[a] is None for a in range(K)]
    else:
        race = [a == seen.arm or behind[a] >= 0.0 for a in range(K)]
    return (most if math.isfinite(most) else None), race


def _standings(
    state: State, seen: Findings, answer: Answer, race: list[bool] | None, bound: float | None
) -> tuple[Standing, ...]:
    """A row per arm."""
    settings, arms = state.settings, state.settings.arms
    pending = [0] * len(arms)
    for item in state.open.values():
        pending[item.arm] += 1
    shown = bound is not None and settings.design.steered  # in rounds none is proven
    between = _mean_intervals(settings, seen) if shown else [None] * len(arms)
    asked, control = per_arm(settings), _over_control(state, seen)
    roles = [_role(a, arm, answer, seen, race) for a, arm in enumerate(arms)]
    if asked is not None:
        roles = _judged_roles(asked, answer, arms)
    leads = _leads(settings, seen) if asked is None else _judged(state, seen, asked, roles)
    if asked is not None and asked.of_number:
        between = [None if lead is None else lead.ends for lead in leads]
    beaten = [None if by is None else arms[by] for by in seen.beaten] or [None] * len(arms)
    known = settings.known_summary
    return tuple(
        Standing(
            arm=arm,
            role=roles[a],
            samples=seen.pulls[a],
            pending=pending[a],
            failures=state.counts["failed"][a],
            mean=known[arm][0] if arm in known else seen.means[a],
            sd=known[arm][1] if arm in known else seen.deviations[a],
            between=between[a],
            lead=leads[a],
            over_control=control[a],
            out=seen.ruled_out[a] if seen.ruled_out else None,
            beaten_by=beaten[a],
        )
        for a, arm in enumerate(arms)
    )


def _role(a: int, arm: str, answer: Answer, seen: Findings, race: list[bool] | None) -> Role:
    if isinstance(answer, Open):
        if a == seen.arm:
            return Role.LEADS
    elif isinstance(answer, Best) and arm in (answer.arms if isinstance(answer, Tied) else (answer.arm,)):
        return Role.BEST
    elif not isinstance(answer, Within):
        return Role.OUT
    may_be = seen.lower[a] <= 0.0 and not (seen.ruled_out and seen.ruled_out[a]) if race is None else race[a]
    if may_be:
        return Role.LEFT if isinstance(answer, Within) else Role.RACING
    return Role.OUT


def _leads(settings: Settings, seen: Findings) -> list[Lead | None]:
    """By how much the leader is better than each arm."""
    found: list[Lead | None] = []
    for a, mean in enumerate(seen.means):
        lead = Lead(_ahead(settings, seen.means[seen.arm], mean), seen.lower[a], seen.upper[a])
        if seen.wins:
            won, lost = seen.wins[a]
            estimate = (won - lost) / seen.pulls[a] if seen.pulls[a] else None
            lead = lead._replace(estimate=estimate, won=won, lost=lost)
        found.append(None if a == seen.arm or seen.arm < 0 else lead)
    return found


def _judged_roles(asked: PerArm, answer: Answer, arms: tuple[str, ...]) -> list[Role]:
    """What is known of each arm, where it is asked whether it passes."""
    found = answer.so_far if isinstance(answer, Open) else answer
    assert found is None or isinstance(found, Verdicts)
    known: dict[str, Role] = dict.fromkeys(found.passed, Role.PASSED) if found else {}
    known |= dict.fromkeys(found.failed, Role.FAILED) if found else {}
    other = asked.reference(arms)
    return [Role.BASELINE if a == other else known.get(arm, Role.OPEN) for a, arm in enumerate(arms)]


def _judged(state: State, seen: Findings, asked: PerArm, roles: list[Role]) -> list[Lead | None]:
    """By how much each arm is better than what it is compared with; as far as its verdict says, at least.

    The interval is of all items, where scores may be known, and what was observed of those drawn so far: it
    may lie outside, and is then shown at the nearer end.
    """
    found: list[Lead | None] = []
    ahead, (above, below) = _seen_ahead(state, seen, asked), sides_of(asked)
    for seen_so_far, low, high, role in zip(ahead, seen.lower, seen.upper, roles, strict=True):
        least = max(low, asked.mark) if role is above else low
        most = min(high, asked.mark) if role is below else high
        most = max(least, most)
        estimate = None if seen_so_far is None else float(min(max(seen_so_far, least), most))
        found.append(None if role is Role.BASELINE else Lead(estimate, float(least), float(most)))
    return found


def _seen_ahead(state: State, seen: Findings, asked: PerArm) -> list[float | None]:
    """By how much each arm was better than what it is compared with: on the items that both have had."""
    arms = state.settings.arms
    base = asked.reference(arms)
    if base < 0 or not isinstance(state, RoundsState):
        return [_ahead(state.settings, mean, asked.base(seen.means, arms)) for mean in seen.means]
    found: list[float | None] = []
    for a in range(len(arms)):
        rounds = float(min(state.arms[paired.ROUNDS, [a, base]]))
        both = [paired.lead(state.pairs, state.arms, *pair) for pair in ((a, base), (base, a))]
        found.append(0.5 * state.scale * (both[0] - both[1]) / rounds if rounds else None)
    return found


def _over_control(state: State, seen: Findings) -> Sequence[Lead | None]:
    """By how much each other arm is better than the control.

    The control is chosen before any value is seen, so K - 1 pairs contain it, as many as contain the best
    arm. The intervals are therefore those of the stopping rule's pairs, at the level for so many: with
    probability at least 1 - delta all lower ends hold at once, at all times, and so does "better than the
    control" of every arm that it is said of. All upper ends do so, too. Deciding does not depend on the
    control, and has a delta of its own.
    """
    arms, control = state.settings.arms, state.settings.control
    if control is None:
        return [None] * len(arms)
    c = arms.index(control)
    found = zip(seen.means, *state.leads(c), strict=True)
    leads = [Lead(_ahead(state.settings, mean, seen.means[c]), -high, -low) for mean, low, high in found]
    return [None if a == c else lead for a, lead in enumerate(leads)]


def _ahead(settings: Settings, mean: float | None, other: float | None) -> float | None:
    if mean is None or other is None:
        return None
    return other - mean if settings.minimize else mean - other


def _mean_intervals(settings: Settings, seen: Findings) -> list[Interval | None]:
    """Between which numbers the mean of each arm lies, at all times at once; None where no scale is known.

    The intervals are those of the normal mixture for values of a known sub-Gaussian scale; values between
    bounds have half their distance. They say nothing of differences, for which the rule's own intervals are
    far narrower, and no decision depends on them.
    """
    model, pulls = settings.model.relaxed, np.array(seen.pulls, np.float64)
    if not isinstance(model, Gaussian | Bounded):
        return [None] * pulls.size
    scales = model.unit * np.sqrt(model.variances(pulls.size))
    widths = (scales * confidence_width(pulls, settings.delta, pulls.size, "mixture")).tolist()
    low, high = model.limits or (-np.inf, np.inf)
    return [
        None if mean is None else (max(low, mean - width), min(high, mean + width))
        for mean, width in zip(seen.means, widths, strict=True)
    ]


def suspension(state: State) -> str:
    """Why an experiment is suspended, and what to do."""
    what, right = misfit(state)
    if state.refuted is not None:
        return (
            f"{what}; no retraction can change that, so begin a new experiment, under another name, with "
            f"{right}"
        )
    return (
        f"{what}; if that was a clerical error, retract the pull with the right value, otherwise begin a new "
        f"experiment, under another name, with {right}"
    )


def misfit(state: State) -> tuple[str, str]:
    """Why an experiment is suspended, and with what another one should begin."""
    if state.refuted is not None:
        right = "a larger sigma, with bounds, or with model=truebest.Student(), which needs no sigma"
        return refutation(state), right
    values = state.settings.values
    assert state.violated
    assert values.limits is not None
    pull, value = next(iter(state.violated.items()))
    arm = state.settings.arms[state.open[pull].arm]
    wrong, right = f"and must be {values.demand}", "another model"
    if not values.needs_origin:
        between = ", ".join(map(exactly, values.limits))
        wrong, right = f"outside the bounds [{between}]", "the right bounds"
    return f"pull {pull} of arm {arm!r} gave {exactly(value)}, {wrong}", right
