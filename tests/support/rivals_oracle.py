"""Best Challenger, the top-two family and Frank-Wolfe sampling, written down literally.

For Gaussian arms of variance 1 and for successes and failures. Plain Python; only the streams of random
numbers are the package's, as for rewards. Runs stop by the practical rule of `oracle`, on likelihood ratios.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linprog

from .oracle import TIE, Values, first_largest, practical_threshold

Draw = Callable[[int], float]
SLACK = 1e-8  # by how much a linear program may miss the value of a game
EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def gaussian(x: float, y: float) -> float:
    """d of two means."""
    return 0.5 * (x - y) ** 2


def bernoulli(x: float, y: float) -> float:
    """kl of two probabilities."""
    total = 0.0
    for p, q in ((x, y), (1.0 - x, 1.0 - y)):
        total += p * math.log(p / q) if p > 0.0 else 0.0
    return total


@dataclass
class Race:
    """A run: what the arms gave, and what was chosen after the first K."""

    num_arms: int
    draw: Draw
    d: Callable[[float, float], float]
    delta: float
    max_samples: int
    rewards: list[Values] = field(default_factory=list)
    means: Values = field(default_factory=list)
    arms: list[int] = field(default_factory=list)
    recommended: int | None = None

    def __post_init__(self) -> None:
        self.rewards = [[self.draw(a)] for a in range(self.num_arms)]
        self.means = [own[0] for own in self.rewards]

    @property
    def time(self) -> int:
        return self.num_arms + len(self.arms)

    @property
    def pulls(self) -> list[int]:
        return [len(own) for own in self.rewards]

    def sides(self, b: int, a: int, v_b: float, v_a: float) -> tuple[float, float]:
        """The divergences of both arms from their common weighted mean."""
        mean = (v_b * self.means[b] + v_a * self.means[a]) / (v_b + v_a)
        return self.d(self.means[b], mean), self.d(self.means[a], mean)

    def cost(self, b: int, a: int, slack: float = 0.0) -> float:
        """W(b, a); slack, for Gaussian arms alone, is added to the gap."""
        n_b, n_a, gap = self.pulls[b], self.pulls[a], self.means[b] - self.means[a] + slack
        if gap <= 0.0:
            return 0.0
        if slack > 0.0:
            return 0.5 * n_b * n_a / (n_b + n_a) * gap**2
        d_b, d_a = self.sides(b, a, n_b, n_a)
        return n_b * d_b + n_a * d_a

    def steps(self) -> Iterator[int]:
        """The leader, as long as the run goes on."""
        while True:
            b = first_largest(self.means)
            z = min(self.cost(b, a) for a in range(self.num_arms) if a != b)
            if z > practical_threshold(self.time, self.delta):
                self.recommended = b
                return
            if self.time >= self.max_samples:
                return
            yield b

    def starved(self) -> int | None:
        """An arm with fewer than √t - K/2 pulls."""
        arm = min(range(self.num_arms), key=lambda a: self.pulls[a])
        return arm if self.pulls[arm] < math.sqrt(self.time) - self.num_arms / 2 else None

    def pull(self, arm: int) -> None:
        self.arms.append(arm)
        self.rewards[arm].append(self.draw(arm))
        self.means[arm] = math.fsum(self.rewards[arm]) / len(self.rewards[arm])


def lowest(values: dict[int, float]) -> int:
    """The key of the least value, the lowest among ties."""
    return min(a for a, value in values.items() if value <= min(values.values()) + TIE)


def by_lot(values: dict[int, float], uniform: Callable[[], float] | None) -> int:
    """The key of the least value; the k-th of equals takes the place of those before with probability 1/k."""
    if uniform is None:
        return lowest(values)
    found, equals, least = -1, 0, math.inf
    for a, value in values.items():
        if found < 0 or value < least - TIE:
            found, equals, least = a, 1, value
        elif value <= least + TIE:
            equals += 1
            found = a if uniform() * equals < 1.0 else found
    return found


def drawn_leader(race: Race, b: int, uniform: Callable[[], float] | None) -> int:
    """One of the arms with the leader's mean, by lot."""
    means = race.means
    return by_lot({a: 0.0 for a, m in enumerate(means) if abs(m - means[b]) <= TIE}, uniform)


def lucb(race: Race, lots: Callable[[], float] | None, bound: Callable[[float, float], float]) -> Race:
    """LUCB++, the leader and then the challenger; arms with one value are challengers in their order."""
    K = race.num_arms
    for empirical in race.steps():
        b, index = drawn_leader(race, empirical, lots), {}
        for a, (mean, n) in enumerate(zip(race.means, race.pulls, strict=True)):
            level = 1.5 * math.log(2 * K * math.log(n) / race.delta) / n if n > 1 else math.inf
            index[a] = bound(mean, level) if n > 1 else math.inf
        del index[b]
        new = [a for a, value in index.items() if value == math.inf]
        c = new[0] if new else drawn_challenger(index, lots)
        race.pull(b)
        if race.time < race.max_samples:
            race.pull(c)
    return race


def drawn_challenger(index: dict[int, float], lots: Callable[[], float] | None) -> int:
    """One of the arms of largest index, by lot."""
    top = max(index.values())
    return by_lot({a: 0.0 for a, value in index.items() if value >= top - TIE}, lots)


def best_challenger(race: Race, lots: Callable[[], float] | None) -> Race:
    """Garivier & Kaufmann 2016; no challenger is looked for on a forced step.

    lots  uniform numbers by which equals draw lots; None: the lowest index wins
    """
    for b in race.steps():
        starved = race.starved()
        if starved is not None:
            race.pull(starved)
            continue
        c = by_lot({a: race.cost(b, a) for a in range(race.num_arms) if a != b}, lots)
        d_b, d_c = race.sides(b, c, race.pulls[b], race.pulls[c])
        race.pull(b if d_b > d_c * (1.0 + TIE) else c)
    return race


@dataclass
class Parts:
    """The parts of a top-two strategy, and its own randomness."""

    leader: str
    challenger: str = "cost"
    split: float | None = 0.5
    slack: float = 0.0
    tracked: bool | str = False
    forced: bool = False
    draws: int = 100
    lots: bool = True
    posterior: Callable[[float, int], float] = lambda mean, n: mean
    uniform: Callable[[], float] = lambda: 0.0
    bound: Callable[[float, float], float] = lambda mean, level: mean


def top_two(race: Race, parts: Parts) -> Race:
    """The leader and the challenger that the parts say, by a coin or by counting."""
    led, own = [0] * race.num_arms, [0] * race.num_arms
    turns = {(b, c): 0.0 for b in range(race.num_arms) for c in range(race.num_arms)}  # Σ 1-β of a pair
    challenged = dict.fromkeys(turns, 0)  # how often its challenger was pulled
    lots = parts.uniform if parts.lots else None
    everyone = range(race.num_arms)

    def sampled() -> int:
        theta = [parts.posterior(m, n) for m, n in zip(race.means, race.pulls, strict=True)]
        return by_lot({a: -value for a, value in enumerate(theta)}, lots)

    for empirical in race.steps():
        if parts.forced and race.starved() is not None:
            race.pull(race.starved() or 0)
            continue
        if parts.leader == "best":
            b = drawn_leader(race, empirical, lots)
        if parts.leader == "thompson":
            b = sampled()
        elif parts.leader == "ucb":
            level = 1.2 * 2.2 * math.log(race.time)
            bounds = [parts.bound(m, level / n) for m, n in zip(race.means, race.pulls, strict=True)]
            b = by_lot({a: -value for a, value in enumerate(bounds)}, lots)
        penalty = [math.log(n) if parts.challenger == "penalised" else 0.0 for n in race.pulls]
        c = None
        if parts.challenger == "resampled":
            c = next((other for _ in range(parts.draws) if (other := sampled()) != b), None)
        if c is None:
            c = by_lot({a: race.cost(b, a, parts.slack) + penalty[a] for a in everyone if a != b}, lots)
        n_b, n_c = race.pulls[b], race.pulls[c]
        beta = parts.split
        if beta is None:
            d_b, d_c = race.sides(b, c, n_b, n_c) if race.means[b] > race.means[c] else (0.0, 0.0)
            total = n_b * d_b + n_c * d_c
            beta = n_b * d_b / total if total > 0.0 else n_c / (n_b + n_c)
        if parts.tracked == "pairs":
            turns[b, c] += 1.0 - beta
            first = challenged[b, c] > turns[b, c] + TIE
            challenged[b, c] += not first
        elif parts.tracked:
            led[b] += 1
            first = own[b] <= beta * led[b]
            own[b] += first
        else:
            first = parts.uniform() < beta
        race.pull(b if first else c)
    return race


def answer(about: float, b: int, near: dict[int, tuple[float, float, float]], K: int) -> Values:
    """The weights that reach the largest level s of the game, with the least at the leader if several do.

    about  that level as the linear program found it; what it lacks of double precision is made up for
    """

    def weights(s: float, z_b: float) -> Values:
        z = [0.0] * K
        z[b] = z_b
        for a, (f, d_b, d_a) in near.items():
            z[a] = max(0.0, (s + f - z_b * d_b) / d_a)
        return z

    def kinks(s: float) -> Values:
        return [0.0, *sorted((s + f) / d_b for f, d_b, _ in near.values() if (s + f) / d_b <= 1.0)]

    def least(s: float) -> float:
        return min(sum(weights(s, z_b)) for z_b in kinks(s))

    low, high = about - SLACK, about + SLACK
    assert least(low) <= 1.0 <= least(high)  # the level lies in between
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if least(middle) <= 1.0 else (low, middle)
    z = weights(low, next(z_b for z_b in kinks(low) if sum(weights(low, z_b)) <= least(low) + TIE))
    return [one / sum(z) for one in z]


def frank_wolfe(race: Race) -> Race:
    """Wang, Tzeng & Proutière 2021; the game is solved as a linear program."""
    K = race.num_arms
    x = [1.0 / K] * K
    for b in race.steps():
        t, means = race.time, race.means
        z = [1.0 / K] * K
        alone = sum(m >= means[b] - TIE for m in means) == 1
        if math.isqrt(t // K) ** 2 != t // K and alone:
            sides = {a: race.sides(b, a, x[b], x[a]) for a in range(K) if a != b}
            f = {a: x[b] * d_b + x[a] * d_a for a, (d_b, d_a) in sides.items()}
            near = [a for a in f if f[a] < min(f.values()) + t**-0.9 / K]
            if len(near) == 1:
                (a,) = near
                z = [0.0] * K
                z[b if sides[a][0] >= sides[a][1] * (1.0 - TIE) else a] = 1.0
            else:
                rows = np.zeros((len(near), K + 1))
                for i, a in enumerate(near):
                    rows[i, b], rows[i, a], rows[i, K] = -sides[a][0], -sides[a][1], 1.0
                limits, whole = [-f[a] for a in near], ([[*[1.0] * K, 0.0]], [1.0])
                free = [*[(0.0, None)] * K, (None, None)]
                best = linprog([*[0.0] * K, -1.0], rows, limits, *whole, free, options=EXACT)
                z = answer(best.x[K], b, {a: (f[a], *sides[a]) for a in near}, K)
        x = [one * (t - 1) / t + step / t for one, step in zip(x, z, strict=True)]
        rate = [one / n for one, n in zip(x, race.pulls, strict=True)]
        race.pull(next(a for a in range(K) if rate[a] >= max(rate) * (1.0 - TIE)))
    return race
