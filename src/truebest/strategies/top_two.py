"""Top-two strategies: a leader, a challenger, and how pulls are split between them.

    leader      "best"       B = argmax m
                "ucb"        B = argmax m_a + √(g/N_a), g = 2 α (1+s) log t, α = s = 1.2; for exponential
                             families the largest mean with N_a d(m_a, ·) <= g/2
                "thompson"   B = argmax θ, where θ_a is drawn from N(m_a, v_a/N_a); for successes from
                             Beta(1 + successes, 1 + failures)
    challenger  "cost"       C = argmin_a W(B, a), W the transport cost; 0 where m_a >= m_B
                "penalised"  C = argmin_a W(B, a) + log N_a
                "resampled"  θ is drawn again until another arm than B is best: from that law, in a few draws
                             and at most 10,000; then as "cost"
                slack        ε is added to the gaps in W
    split       β            pull B with probability β, else C;
                "ids"        β = N_B d_B/(N_B d_B + N_C d_C), d their divergences in W: N_C/(N_B + N_C) for
                             Gaussian arms of one variance
                tracked      without chance: pull B while (its pulls as a leader) <= β (times it led)
                "pairs"      pull C while (its pulls as B's challenger) <= Σ (1-β) over the times of this pair
    ties        equal means, indices and costs draw lots: every arm above an unlucky leader costs 0

The published ones have names: T3C (Shang et al. 2020) is thompson, cost, ½; T3C-IDS (You et al. 2023) with
ids; TTTS (Russo 2016) thompson, resampled, ½; EB-TCI (Jourdan et al. 2022) best, penalised, ½; TTUCB (Jourdan
& Degenne 2023) ucb, cost, ½ tracked; EB-TC-ε (Jourdan, Degenne & Kaufmann 2023) best, cost with ε = 0.1, ½
in pairs, with a counter for each of the K(K-1) pairs of a leader and a challenger.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from .. import _args
from .._catalogue import STRATEGIES
from ..errors import InvalidInputError
from ..kernels._jit import kernel
from ..kernels._types import Array
from ..kernels.divergences import BERNOULLI_MODEL, family_reach
from ..kernels.families import cheapest, slopes
from ..kernels.layout import MEANS, MODEL, OUT, OWN, PULLS, SELECT, TOLERANCE, VARIANCES, Select
from ..kernels.posterior import best_of_others, draw
from ..kernels.random import Words, uniform
from ..kernels.tracking import TIE, drawn_leader, rarest
from ._base import TIES, Strategy

LEADERS = {"best": 0, "ucb": 1, "thompson": 2}
CHALLENGERS = {"cost": 0, "penalised": 1, "resampled": 2}
UCB, THOMPSON, PENALISED, RESAMPLED, PAIRS = 1, 2, 1, 2, 2.0
ALPHA = S = 1.2  # of the UCB leader
TRACKED = {False: 0.0, True: 1.0, "pairs": 2.0}
IDS = -1.0  # in place of β

_INDEX, _LED, _OWN_PULLS, _OWED = range(4)  # from the last on a row per leader: what it owes each challenger
_LEADER, _CHALLENGER, _SPLIT, _SLACK, _TRACKED, _FORCED, _TIES, _DRAWS = range(OWN, OWN + 8)

VARIED = {"tracked", "forced", "ties", "draws"}  # what may differ from a published strategy under its name
PUBLISHED = {name: entry.arguments for name, entry in STRATEGIES.items() if entry.kind == "TopTwo"}


@kernel("i8(const(f8[::1]), const(f8[:, ::1]), f8, f8[::1], u8[::1])", apart=True)
def best_index(params: Array, state: Array, t: float, index: Array, random: Words) -> int:
    """The arm in the race of largest index, drawn or bounded; equals draw lots."""
    top, arm, equals, level = -math.inf, -1, 1.0, ALPHA * (1.0 + S) * math.log(t)
    for a in range(index.size):
        index[a] = -math.inf
        if state[OUT, a] == 0.0:
            if params[_LEADER] == THOMPSON:
                index[a] = draw(params, state, a, random)
            elif params[MODEL] >= BERNOULLI_MODEL:
                index[a] = state[MEANS, a] + family_reach(
                    params, state[MEANS, a], level / state[PULLS, a], 1.0
                )
            else:
                bonus = math.sqrt(2.0 * level * state[VARIANCES, a] / state[PULLS, a])
                index[a] = state[MEANS, a] + bonus
            if arm < 0 or index[a] > top + TIE:
                arm, top, equals = a, index[a], 1.0
            elif params[_TIES] != 0.0 and index[a] >= top - TIE:
                equals += 1.0
                arm = a if uniform(random) * equals < 1.0 else arm
    return arm


@kernel("i8(const(f8[::1]), const(f8[:, ::1]), f8, i8, f8[::1], u8[::1])")
def challenger_of(params: Array, state: Array, t: float, leader: int, index: Array, random: Words) -> int:
    """The challenger of a leader; -1 if no other arm is in the race."""
    slack = params[TOLERANCE] + params[_SLACK]
    if params[_CHALLENGER] == RESAMPLED:
        found = best_of_others(params, state, leader, index, random) if params[_DRAWS] == 0.0 else leader
        for _ in range(int(params[_DRAWS])):
            if found != leader:
                break
            found = best_index(params, state, t, index, random)
        if found >= 0 and found != leader:
            return found
    penalised = params[_CHALLENGER] == PENALISED
    return cheapest(params, state, leader, slack, penalised, params[_TIES] != 0.0, random)


@kernel("f8(const(f8[::1]), const(f8[:, ::1]), i8, i8)")
def leaders_share(params: Array, state: Array, b: int, c: int) -> float:
    """β, as it is given or by what pulls of either add to the evidence."""
    if params[_SPLIT] != IDS:
        return float(params[_SPLIT])
    n_b, n_c = state[PULLS, b], state[PULLS, c]
    d_b, d_c = slopes(params, state, b, c, n_b, n_c)
    total = n_b * d_b + n_c * d_c
    return float(n_b * d_b / total if 0.0 < total < math.inf else n_c / (n_b + n_c))


@kernel(SELECT)
def select(
    t: float, last: int, leader: int, state: Array, params: Array, memory: Array, random: Words
) -> int:
    """As the module says."""
    led, own, starved = memory[_LED], memory[_OWN_PULLS], rarest(state)
    reach = state[PULLS, starved] + 0.5 * led.size
    if params[_FORCED] != 0.0 and reach * reach < t:
        return starved
    first = leader
    if params[_LEADER] == 0.0 and params[_TIES] != 0.0:
        first = drawn_leader(state, leader, random)
    elif params[_LEADER] != 0.0:
        first = best_index(params, state, t, memory[_INDEX], random)
    second = challenger_of(params, state, t, first, memory[_INDEX], random)
    if second < 0:
        return first
    share = leaders_share(params, state, first, second)
    if params[_TRACKED] == 0.0:
        return first if uniform(random) < share else second
    if params[_TRACKED] == PAIRS:
        owed = memory[_OWED + first]
        owed[second] += 1.0 - share
        if owed[second] < -TIE:
            return first
        owed[second] -= 1.0
        return second
    led[first] += 1.0
    if own[first] <= share * led[first]:
        own[first] += 1.0
        return first
    return second


@dataclass(frozen=True)
class TopTwo(Strategy):
    """A top-two strategy from parts; "t3c", "t3c-ids", "ttts", "eb-tci", "ttucb", "eb-tc-eps" are published.

    Guarantees, for Gaussian arms and delta to 0: with β the samples are at most those of the best allocation
    that gives β to the best arm, for ½ at most twice the lower bound; with "ids" they are optimal. TTUCB and
    EB-TC-ε have bounds for every delta. What the proofs do not see: "best" with "cost" and no slack starves
    an unlucky best arm, and T3C pulls easy arms so seldom that, with many arms of linear gaps, it takes a
    third more samples. `forced` repairs both.

    Attributes
    ----------
    leader
        "best", "ucb" or "thompson"
    challenger
        "cost", "penalised" or "resampled", which needs the leader "thompson"
    split
        β, strictly between 0 and 1, or "ids"
    slack
        ε of the challenger's cost, in standard deviations (of `model.unit`)
    tracked
        True follows β without chance, for every leader by itself; "pairs" for each of its challengers
    forced
        True pulls an arm that has fewer than √t - K/2 pulls; none of the published ones does
    ties
        "random" draws among equals; with "first" the lowest index wins, as it once did
    draws
        None draws a resampled challenger from its law, of at most 10,000 proposals, which are enough for
        evidence of 100,000 nats; a number, by drawing again and again. After so many in vain it takes the one
        of least cost: as "ttts" once did, after 100 draws
    """

    leader: str = "best"
    challenger: str = "cost"
    split: float | str = 0.5
    slack: float = 0.0
    tracked: bool | str = False
    forced: bool = False
    ties: str = "random"
    draws: int | None = None

    rows: ClassVar[tuple[str, ...]] = ("index", "led", "own")
    older: ClassVar[Mapping[str, object]] = {"ties": "first", "draws": 100}

    def __post_init__(self) -> None:
        _args.choice("leader", self.leader, tuple(LEADERS))
        _args.choice("challenger", self.challenger, tuple(CHALLENGERS))
        if isinstance(self.tracked, str):
            _args.choice("tracked", self.tracked, ("pairs",))
        else:
            _args.flag("tracked", self.tracked)
        _args.flag("forced", self.forced)
        _args.choice("ties", self.ties, TIES)
        if self.draws is not None and self.challenger == "resampled":
            _args.whole("draws", self.draws, 1, 10**9, "None draws from the law itself")
        elif self.draws is not None:
            object.__setattr__(self, "draws", None)  # no other challenger is drawn again
        if isinstance(self.split, str):
            _args.choice("split", self.split, ("ids",))
        else:
            meaning = "it is the leader's share, 0.5 is common"
            object.__setattr__(self, "split", _args.probability("split", self.split, meaning))
        slack = _args.scalar("slack", self.slack)
        if not 0.0 <= slack < math.inf:
            raise InvalidInputError(
                f"slack must be at least 0 and finite, got {slack:g}; 0.1 is common, 0 for none."
            )
        object.__setattr__(self, "slack", slack)
        if self.challenger == "resampled" and self.leader != "thompson":
            raise InvalidInputError(
                f"the challenger 'resampled' needs the leader 'thompson', got {self.leader!r}; choose that "
                f"leader, or the challenger 'cost'."
            )

    @property
    def name(self) -> str:
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        usual = {f.name: f.default for f in fields(self)}
        found, changed = "top-two", {key: value for key, value in parts.items() if value != usual[key]}
        for name, given in PUBLISHED.items():
            whole = {**usual, **given}
            others = {key: value for key, value in parts.items() if value != whole[key]}
            if others.keys() <= VARIED and bool(self.tracked) == bool(whole["tracked"]):
                found, changed = name, others
        shown = ", ".join(f"{key}={value}" for key, value in changed.items())
        return f"{found}({shown})" if shown else found

    @property
    def select(self) -> Select:
        return select

    def once(self) -> TopTwo:
        return replace(self, ties="first", draws=100, tracked=bool(self.tracked))

    def memory_rows(self, num_arms: int) -> int:
        return len(self.rows) + (num_arms if self.tracked == "pairs" else 0)

    def parameters(self, num_arms: int, sigma: float) -> npt.NDArray[np.float64]:
        split = IDS if isinstance(self.split, str) else self.split
        parts = (LEADERS[self.leader], CHALLENGERS[self.challenger])
        rest = (TRACKED[self.tracked], self.forced, self.ties == "random", self.draws or 0)
        return np.array([*parts, split, self.slack, *rest])
