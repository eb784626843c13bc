"""The paper's strategies written down literally: slow, plain Python, nothing shared with the kernels.

Algorithms 1 to 4, Chernoff Racing and LUCB++ of Section 4, and uniform sampling. Each function plays one
run to its end and leaves in it the arms that were chosen, the target weights and the recommendation.
Nothing is pruned, warm-started or updated: all is computed afresh in every step, with the printed Newton
iteration run to 1e-14. Means are in units of sigma; among values within TIE of the extreme the lowest
index wins.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

TIE = 1e-9
NEWTON_TOLERANCE = 1e-14
MIXTURE_C = 20.0

Values = list[float]
Width = Callable[[int, int, float], float]


def first_largest(values: Values) -> int:
    """The lowest index among the values within TIE of the largest."""
    top = max(values)
    return next(a for a, value in enumerate(values) if value >= top - TIE)


def first_smallest(values: Values) -> int:
    """The lowest index among the values within TIE of the smallest."""
    bottom = min(values)
    return next(a for a, value in enumerate(values) if value <= bottom + TIE)


@dataclass(frozen=True)
class Rule:
    """A stopping rule: the statistic of two arms from (N_b, N_a, gap), and the threshold at a time."""

    pair: Callable[[int, int, float], float]
    threshold: Callable[[int], float]


def likelihood_ratio(n_b: int, n_a: int, gap: float) -> float:
    """Z_{b,a} = ½ N_b N_a/(N_b+N_a) gap²; for N_b = N_a = r that is r/4 gap², as Racing has it."""
    return 0.5 * n_b * n_a / (n_b + n_a) * gap * gap


def practical_threshold(t: int, delta: float) -> float:
    """log((log(t) + 1)/δ), Section 4."""
    return math.log((math.log(t) + 1.0) / delta)


def practical(delta: float) -> Rule:
    """The rule of the paper's experiments."""
    return Rule(likelihood_ratio, lambda t: practical_threshold(t, delta))


def mixture(num_arms: int, delta: float, c: float = MIXTURE_C) -> Rule:
    """The rule of pairwise normal mixtures: N' = N²/(N+c), a penalty, the threshold log((K-1)/δ)."""

    def pair(n_b: int, n_a: int, gap: float) -> float:
        m_b, m_a = n_b**2 / (n_b + c), n_a**2 / (n_a + c)
        penalty = 0.5 * math.log((1.0 + n_b / c) * (1.0 + n_a / c))
        return 0.5 * m_b * m_a / (m_b + m_a) * gap * gap - penalty

    return Rule(pair, lambda t: math.log((num_arms - 1) / delta))


def tabulated(thresholds: Values) -> Rule:
    """Likelihood ratios against given thresholds; entry t belongs to time t."""
    return Rule(likelihood_ratio, lambda t: thresholds[t])


@dataclass
class Run:
    """One run: the rewards of every arm so far, in units of sigma, and what was chosen after the first K.

    means  from correctly rounded sums
    """

    num_arms: int
    draw: Callable[[int], float]
    sigma: float
    rule: Rule
    max_samples: int
    rewards: list[Values] = field(default_factory=list)
    means: Values = field(default_factory=list)
    arms: list[int] = field(default_factory=list)
    targets: list[Values] = field(default_factory=list)
    recommended: int | None = None

    def __post_init__(self) -> None:
        """Observe each arm once."""
        self.rewards = [[self.draw(a) / self.sigma] for a in range(self.num_arms)]
        self.means = [own[0] for own in self.rewards]

    @property
    def time(self) -> int:
        """t, the number of samples."""
        return self.num_arms + len(self.arms)

    @property
    def pulls(self) -> list[int]:
        """N_a(t)."""
        return [len(own) for own in self.rewards]

    @property
    def cut_off(self) -> bool:
        """No further sample is allowed."""
        return self.time >= self.max_samples

    def observe(self, arm: int, target: Values | None = None) -> None:
        """Pull an arm."""
        self.arms.append(arm)
        self.rewards[arm].append(self.draw(arm) / self.sigma)
        self.means[arm] = math.fsum(self.rewards[arm]) / len(self.rewards[arm])
        if target is not None:
            self.targets.append(target)

    def ends(self) -> bool:
        """Z(t) > β(t, δ), in which case the leader is recommended; or the samples are used up."""
        pulls, means = self.pulls, self.means
        b = first_largest(means)
        others = [a for a in range(self.num_arms) if a != b]
        z = min(self.rule.pair(pulls[b], pulls[a], means[b] - means[a]) for a in others)
        if z > self.rule.threshold(self.time):
            self.recommended = b
            return True
        return self.cut_off


def optimal_weights(mu: Values, tie: float) -> Values:
    """Algorithm 4; arms within `tie` of the best share the weight if there are several."""
    top = max(mu)
    best = next(a for a, value in enumerate(mu) if value >= top - tie)
    gaps = [mu[best] - value for value in mu]
    ties = sum(gap <= tie for gap in gaps)
    if ties > 1:
        return [1.0 / ties if gap <= tie else 0.0 for gap in gaps]
    squares = [gap * gap for a, gap in enumerate(gaps) if a != best]
    r = newton_root(squares)
    w_best = 1.0 / (1.0 + sum(1.0 / (r * d - 1.0) for d in squares))
    return [w_best if a == best else w_best / (r * gap * gap - 1.0) for a, gap in enumerate(gaps)]


def newton_root(squares: Values) -> float:
    """The root of φ by Newton from the printed start; ends, too, when a step no longer increases r."""
    number = len(squares)
    r = max(2.0 / min(squares), (1.0 + math.sqrt(number)) / (sum(squares) / number))
    while True:
        phi, slope = -1.0, 0.0
        for d in squares:
            q = 1.0 / (r * d - 1.0)
            phi += q * q
            slope -= 2.0 * d * q * q * q
        larger = r - phi / slope
        if abs(phi) < NEWTON_TOLERANCE or not larger > r:
            return r
        r = larger


def exploration_biased_weights(lower: Values, upper: Values) -> Values:
    """Algorithm 1 with every candidate tried; upper >= maxLB suffices, and log w_min has ties within TIE."""
    num_arms, max_lower, min_upper = len(lower), max(lower), min(upper)
    if min_upper >= max_lower:
        return [1.0 / num_arms] * num_arms
    potential_best = [a for a in range(num_arms) if upper[a] >= max_lower]
    tests, smallest = [], []
    for a in potential_best:
        mu = [max(low, min_upper) for low in lower]
        mu[a] = upper[a]
        w = optimal_weights(mu, 0.0)
        tests.append(w)
        smallest.append(math.log(min(w)) if min(w) > 0.0 else -math.inf)
    return tests[first_largest(smallest)]


def experiments_width(num_arms: int, n: int, gamma: float) -> float:
    """C of Section 4 with γ/K."""
    return math.sqrt(math.log(num_arms * n / gamma) / n)


def paper_width(num_arms: int, n: int, gamma: float) -> float:
    """C of equation (3) with γ/K."""
    return 2.0 * math.sqrt(math.log(4.0 * num_arms * n / gamma) / n)


def mixture_width(num_arms: int, n: int, gamma: float) -> float:
    """sqrt(2 (log(K/γ) + ½ log(1+N/c))/N') with N' = N²/(N+c)."""
    level = math.log(num_arms / gamma) + 0.5 * math.log(1.0 + n / MIXTURE_C)
    return math.sqrt(2.0 * level / (n**2 / (n + MIXTURE_C)))


def tracked_arm(run: Run, tracking: str, w: Values, sums: Values) -> int:
    """argmin N_a - Σ w_a(s) with C-tracking, argmin N_a - t w_a(t) with D-tracking."""
    goal = sums if tracking == "C" else [run.time * x for x in w]
    return first_smallest([n - x for n, x in zip(run.pulls, goal, strict=True)])


def exploration_biased_sampling(
    run: Run, tracking: str, gamma: float, width: Width, clip: tuple[float, float] | None
) -> Run:
    """Algorithm 2; `clip` is in the unit of the rewards."""
    K = run.num_arms
    low, high = (clip[0] / run.sigma, clip[1] / run.sigma) if clip else (-math.inf, math.inf)
    sums = [1.0] * K  # w(s) = (1/K, ..., 1/K) for s = 0, ..., K-1
    while not run.ends():
        half = [width(K, n, gamma) for n in run.pulls]
        lower = [min(max(m - c, low), high) for m, c in zip(run.means, half, strict=True)]
        upper = [min(max(m + c, low), high) for m, c in zip(run.means, half, strict=True)]
        w = exploration_biased_weights(lower, upper)
        sums = [s + x for s, x in zip(sums, w, strict=True)]
        run.observe(tracked_arm(run, tracking, w, sums), w)
    return run


def track_and_stop(run: Run, tracking: str, *, count_forced: bool = False) -> Run:
    """Algorithm 3; `count_forced` is the wrong version, in which forced steps add to the sums."""
    K = run.num_arms
    sums = [1.0] * K  # w(s) = (1/K, ..., 1/K) for s = 0, ..., K-1
    while not run.ends():
        pulls = run.pulls
        starved = [a for a in range(K) if pulls[a] < math.sqrt(run.time) - K / 2]
        w = optimal_weights(run.means, TIE)
        if not starved or count_forced:
            sums = [s + x for s, x in zip(sums, w, strict=True)]
        if starved:
            arm = min(starved, key=lambda a: pulls[a])
            run.observe(arm, [float(a == arm) for a in range(K)])
        else:
            run.observe(tracked_arm(run, tracking, w, sums), w)
    return run


def chernoff_racing(run: Run) -> Run:
    """Racing of Section 4: after a round the worst active arm alone is tested, against β at the time t."""
    active = list(range(run.num_arms))
    while True:
        pulls, means = run.pulls, [run.means[a] for a in active]
        best, worst = active[first_largest(means)], active[first_smallest(means)]
        z = run.rule.pair(pulls[best], pulls[worst], max(means) - min(means))
        if z > run.rule.threshold(run.time):
            active.remove(worst)
        if len(active) == 1:
            run.recommended = active[0]
            return run
        for arm in active:
            if run.cut_off:
                return run
            run.observe(arm)


def lucb(run: Run, delta: float) -> Run:
    """LUCB++ of Section 4; the index at N = 1 is infinite, and stopping is checked after each pair."""
    K = run.num_arms
    while not run.ends():
        means = run.means
        leader = first_largest(means)
        index = [-math.inf] * K
        for a, n in enumerate(run.pulls):
            if a != leader:
                bonus = math.sqrt(3.0 / n * math.log(math.log(n) * 2 * K / delta)) if n > 1 else math.inf
                index[a] = means[a] + bonus
        run.observe(leader)
        if run.cut_off:
            break
        run.observe(first_largest(index))
    return run


def uniform(run: Run) -> Run:
    """The arms in turn."""
    while not run.ends():
        run.observe(run.time % run.num_arms)
    return run
