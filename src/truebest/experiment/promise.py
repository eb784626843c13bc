"""What is proven of an experiment: a number, and everything that voids it, weakens it or should be known.

`TABLE` is the only place that says what counts for what; every text about the promise is made here. The
proofs are in docs/errata.md, "A proven stopping rule" and "Several readings of the data".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from .._text import percent
from ..telling.standings import INFORMS, VOIDS, WEAKENS, Caveat
from .settings import Settings
from .state import State

MOST_SHOWN = 8  # arms in a sentence


class Kind(NamedTuple):
    """What a caveat does to the promise, and its sentence for a state, "" where there is none."""

    effect: str
    sentence: Callable[[State], str]


def _per_arm(words: str, state: State, counts: Sequence[int]) -> str:
    shares = ", ".join(f"{state.settings.arms[a]} {n}" for a, n in enumerate(counts) if n)
    return f"{words}: {sum(counts)} ({shares})" if shares else ""


def _counted(name: str, words: str) -> Callable[[State], str]:
    return lambda state: _per_arm(words, state, state.counts[name])


def _unproven(state: State) -> str:
    rule = state.settings.stopping
    if rule is None:  # in rounds
        return ""
    return "" if rule.proven_for(state.settings.model) else f"the rule {rule.name!r} is not proven"


def _stops_itself(state: State) -> str:
    # Racing, our own, drops an arm by the same pairwise rule: to lose the best, a pair with it must cross.
    settings = state.settings
    stops = settings.strategy_record.get("stops_itself")
    return f"the strategy {settings.strategy_name!r} stops by itself" if stops else ""


def _failed(state: State) -> str:
    words = "pulls that gave no value" + state.settings.design.failure_words
    return _per_arm(words, state, state.counts["failed"])


def _suspended(state: State) -> str:
    arms = [state.open[pull].arm for pull in state.violated]
    return _per_arm("values outside the bounds, not corrected", state, _tally(state, arms))


def refutation(state: State) -> str:
    """What refuted sigma, those arms first that exceed it the most; "" if nothing has."""
    if state.refuted is None:
        return ""
    model, arms = state.settings.model, state.settings.arms
    scales = (model.unit * np.sqrt(model.variances(len(arms)))).tolist()
    several = len(set(scales)) > 1
    seen = [
        (d / s, a, d, s) for a, (d, s) in enumerate(zip(state.refuted, scales, strict=True)) if d is not None
    ]
    seen.sort(key=lambda one: (-one[0], one[1]))
    shown = [f"{arms[a]} {d:.3g}" + f" (sigma {s:g})" * several for _, a, d, s in seen[:MOST_SHOWN]]
    more = f" and {len(seen) - MOST_SHOWN} more" if len(seen) > MOST_SHOWN else ""
    allowed = "the sigmas allow" if several else f"sigma {scales[0]:g} allows"
    return f"the values vary more than {allowed}: observed standard deviations {', '.join(shown)}{more}"


def _outside(state: State) -> str:
    words = "values outside the bounds that came too late to count"
    return _per_arm(words, state, _tally(state, state.outside.values()))


def _tally(state: State, arms: Iterable[int]) -> list[int]:
    counts = [0] * len(state.settings.arms)
    for arm in arms:
        counts[arm] += 1
    return counts


def _exhausted(state: State) -> str:
    if _bound(state) < 1:
        return ""
    return f"{state.readings} readings of the data at {state.settings.delta:g} each leave nothing to promise"


TABLE = {
    "unproven-rule": Kind(VOIDS, _unproven),
    "stops-itself": Kind(VOIDS, _stops_itself),
    "suspended": Kind(VOIDS, _suspended),
    "sigma-refuted": Kind(VOIDS, refutation),
    "outside-bounds": Kind(VOIDS, _outside),
    "too-many-readings": Kind(VOIDS, _exhausted),
    "readings": Kind(
        WEAKENS, _counted("reread", "values taken back or corrected that the decision could use")
    ),
    "failed": Kind(INFORMS, _failed),
    "lapsed": Kind(INFORMS, _counted("lapsed", "pulls that were not answered in time")),
    "reclaimed": Kind(INFORMS, _counted("reclaimed", "pulls that were interrupted")),
    "retracted": Kind(INFORMS, _counted("retracted", "retractions that left the evidence unchanged")),
    "late": Kind(INFORMS, _counted("late", "late answers, ignored")),
    "corrected": Kind(
        INFORMS, _counted("corrected", "values outside the bounds, taken back or corrected by hand")
    ),
    "observed": Kind(
        INFORMS,
        _counted("observed", "values from before the experiment, which must not have been chosen by value"),
    ),
}


def caveats(state: State) -> tuple[Caveat, ...]:
    """What applies to an experiment, in the order of the table."""
    found = (Caveat(code, kind.effect, kind.sentence(state)) for code, kind in TABLE.items())
    return tuple(caveat for caveat in found if caveat.sentence)


def promise(state: State) -> float | None:
    """The proven bound on the probability of a wrong decision, None if there is none."""
    if any(caveat.effect == VOIDS for caveat in caveats(state)):
        return None
    return float(_bound(state))


def _bound(state: State) -> Decimal:
    """delta for each reading; of the decimals that people wrote, so that 3 times 0.05 is 0.15."""
    return state.readings * Decimal(repr(state.settings.delta))


def wrong(settings: Settings, bound: float) -> str:
    """How often what is found is wrong; of two lists, how often each of them is."""
    lists = "each list is " if settings.question.pools else ""
    return f"{lists}wrong with probability at most {percent(bound)}"


def certain(state: State) -> bool:
    """Whether the answer follows from the values alone: every arm has one on each item of a closed set."""
    found, design = state.decision, state.settings.design
    if found is None or design.items is None or not design.averages or promise(state) is None:
        return False
    return bool(found.lower) and found.lower == found.upper


def assumption(state: State) -> str:
    """What is promised, and for which values; or why nothing is."""
    bound = promise(state)
    if bound is None:
        reasons = "; ".join(caveat.sentence for caveat in caveats(state) if caveat.effect == VOIDS)
        return f"no guarantee ({reasons})"
    settings, design = state.settings, state.settings.design
    if certain(state):
        return f"certain, since all {design.units.unit}s were used, {design.subject_words(settings)}"
    text, assumed = wrong(settings, bound), design.assumes(settings)
    if state.readings == 1:
        return f"{text}, {assumed}"
    return (
        f"{text}: {percent(settings.delta)} for each of {state.readings} readings, {assumed}, and "
        f"retractions and durations without regard to values or arms"
    )
