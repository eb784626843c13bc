"""The strategies that sample open arms only, written down literally, for Gaussian arms of one variance.

As in `oracle`: plain Python, nothing shared with the kernels, all is computed afresh whenever it is computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from .oracle import (
    TIE,
    Run,
    Values,
    experiments_width,
    exploration_biased_weights,
    first_largest,
    optimal_weights,
)

PRIOR = 20.0  # c of the mixture
HOLD = {"equal": 1.0, "gaps": 0.7, "need": 1.0}
GROWTH = 1.02


@dataclass
class OpenRun:
    """A run in which an arm is out for good once a pair of arms shows it to be worse.

    mixed  whether the rule is the mixture, whose pulls count N²/(N+c)
    """

    run: Run
    mixed: bool
    out: set[int] = field(default_factory=set)

    @property
    def race(self) -> list[int]:
        """The arms that are open."""
        return [a for a in range(self.run.num_arms) if a not in self.out]

    @property
    def leader(self) -> int:
        """The open arm of largest mean."""
        means = self.run.means
        return first_largest([means[a] if a in self.race else -math.inf for a in range(len(means))])

    def test(self, c: int, others: list[int]) -> None:
        """Every pair of c, as long as it is in the race: the worse one is out if the statistic says so."""
        pulls, means = self.run.pulls, self.run.means
        for a in others:
            if a == c or a in self.out or c in self.out:
                continue
            high, low = (c, a) if means[c] >= means[a] else (a, c)
            z = self.run.rule.pair(pulls[high], pulls[low], means[high] - means[low])
            if z > self.run.rule.threshold(self.run.time):
                self.out.add(low)

    def ends(self) -> bool:
        """After a value of x: its pair with the leader; all pairs of x, if it leads or has more pulls.

        At first all pairs of the leader and of the arm with the most pulls.
        """
        pulls, b = self.run.pulls, self.leader
        last = self.run.arms[-1] if self.run.arms else None
        if last is None:
            self.test(b, self.race)  # all arms have one pull, and none has more
        elif last == b or pulls[last] > pulls[b]:
            self.test(last, self.race)
        else:
            self.test(b, [last])
        if len(self.race) == 1:
            self.run.recommended = self.race[0]
            return True
        return self.run.cut_off

    def counted(self, n: float) -> float:
        """How much n pulls count."""
        return n * n / (n + PRIOR) if self.mixed else n

    def pulls_for(self, x: float) -> float:
        """How many pulls count as x."""
        return (x + math.sqrt(x * x + 4.0 * PRIOR * x)) / 2.0 if self.mixed else x

    def charge(self, n: float) -> float:
        """What is taken off for n pulls; without a prior, half of 2.7 nats."""
        return 0.5 * math.log(1.0 + n / PRIOR) if self.mixed else 1.35


def equal_weights(state: OpenRun, boosted: int) -> Values:
    """1/(k + √k) for each of the k challengers, √k times that for the boosted arm."""
    k, K = len(state.race) - 1, state.run.num_arms
    share = 1.0 / (k + math.sqrt(k))
    return [0.0 if a in state.out else share * (math.sqrt(k) if a == boosted else 1.0) for a in range(K)]


def gap_weights(state: OpenRun, boosted: int) -> Values:
    """In proportion to 1/√((m_l - m_a)² + 2/N_l + 2/N_a), and √Σ w² for the boosted arm."""
    pulls, means = state.run.pulls, state.run.means
    w = [0.0] * len(means)
    for a in state.race:
        if a != boosted:
            doubt = 2.0 * (1.0 / pulls[boosted] + 1.0 / pulls[a])
            w[a] = 1.0 / math.sqrt((means[boosted] - means[a]) ** 2 + doubt)
    w[boosted] = math.sqrt(sum(x * x for x in w))
    return [x / sum(w) for x in w]


def need_weights(state: OpenRun, boosted: int) -> Values:
    """0.8 of the pulls that are still needed, if the means stay, and 0.2 of the equal weights."""
    pulls, means, b = state.run.pulls, state.run.means, state.leader
    level = state.run.rule.threshold(state.run.time)
    others = [a for a in state.race if a != b]
    q = {
        a: ((means[b] - means[a]) ** 2 + 1.0 / pulls[b] + 1.0 / pulls[a])
        / (2.0 * (level + state.charge(pulls[b]) + state.charge(pulls[a])))
        for a in others
    }

    def too_much(u: float) -> bool:
        if u >= min(q.values()):
            return True
        needy = [a for a in others if 1.0 / (q[a] - u) > state.counted(pulls[a])]
        return sum((u / (q[a] - u)) ** 2 for a in needy) > 1.0

    low, high = 0.0, 1.0 / state.counted(pulls[b])
    if too_much(high):
        for _ in range(100):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if too_much(middle) else (middle, high)
    u = low if too_much(high) else high
    x = {b: 1.0 / u, **{a: 1.0 / (q[a] - u) for a in others}}
    more = [state.pulls_for(x[a]) - pulls[a] if a in x else 0.0 for a in range(len(means))]
    r = [one if one > TIE else 0.0 for one in more]
    equal = equal_weights(state, boosted)
    return [0.8 * one / sum(r) + 0.2 * e if sum(r) > 0.0 else e for one, e in zip(r, equal, strict=True)]


WEIGHTS = {"equal": equal_weights, "gaps": gap_weights, "need": need_weights}


def open_ebs(state: OpenRun, kind: str) -> Run:
    """`OpenEBS`: the boosted arm is held, and weights are computed anew at times."""
    run = state.run
    boosted, w, due, known = -1, [0.0], 0.0, (-1, -1, -1)
    sums = [0.0] * run.num_arms
    while not state.ends():
        pulls, means, b = run.pulls, run.means, state.leader
        if boosted < 0 or boosted in state.out:
            boosted = b
        if boosted != b:
            deviation = math.sqrt(1.0 / pulls[b] + 1.0 / pulls[boosted])
            if means[b] - means[boosted] >= HOLD[kind] * deviation:
                boosted = b
        now = (boosted, len(state.race), b if kind == "need" else -1)
        if now != known or run.time >= due:
            w, due, known = WEIGHTS[kind](state, boosted), GROWTH * run.time, now
        sums = [s + x for s, x in zip(sums, w, strict=True)]
        if kind == "need":
            behind = {a: pulls[a] - sums[a] for a in state.race}
            arm = next(a for a in state.race if behind[a] <= min(behind.values()) + TIE)
        else:
            served = {a: pulls[a] / w[a] for a in state.race}
            equals = [a for a in state.race if served[a] <= min(served.values()) * (1.0 + TIE)]
            arm = boosted if boosted in equals else equals[0]
        run.observe(arm, w)
    return run


def tracked(state: OpenRun, tracking: str, found: Values, sums: Values) -> None:
    """Pull the open arm furthest behind the weights `found` of the open arms, or the sums of all of them."""
    run, race = state.run, state.race
    w = [found[race.index(a)] if a in race else 0.0 for a in range(run.num_arms)]
    for a, x in enumerate(w):
        sums[a] += x
    goal = sums if tracking == "C" else [run.time * x for x in w]
    behind = {a: run.pulls[a] - goal[a] for a in race}
    run.observe(next(a for a in race if behind[a] <= min(behind.values()) + TIE), w)


def open_track_and_stop(state: OpenRun, tracking: str) -> Run:
    """Algorithm 3 on the open arms."""
    run = state.run
    sums = [0.0] * run.num_arms
    while not state.ends():
        pulls, race = run.pulls, state.race
        rarest = min(race, key=lambda a: pulls[a])
        if pulls[rarest] < math.sqrt(run.time) - run.num_arms / 2:
            run.observe(rarest, [float(a == rarest) for a in range(run.num_arms)])
        else:
            tracked(state, tracking, optimal_weights([run.means[a] for a in race], TIE), sums)
    return run


def open_sampling(state: OpenRun, tracking: str) -> Run:
    """Algorithm 2 on the open arms, with the box of all arms."""
    run = state.run
    sums = [0.0] * run.num_arms
    while not state.ends():
        race, K = state.race, run.num_arms
        half = [experiments_width(K, n, 0.05) for n in run.pulls]
        lower = [run.means[a] - half[a] for a in race]
        tracked(
            state, tracking, exploration_biased_weights(lower, [run.means[a] + half[a] for a in race]), sums
        )
    return run
