"""Every strategy makes the choices of its literal transcription: same rewards in, same arms, same stop.

Thousands of random short runs against `support.oracle`, over all strategies, families of rewards and
stopping rules, with near-ties and exact ties; `make test` has the first FEW of each strategy. Deliberately
wrong transcriptions are found out by the same comparison, within the first FEW.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import truebest
from support import open_oracle, oracle
from truebest.kernels.random import BERNOULLI, GAUSSIAN, UNIFORM, Words, open_stream, reward

TAS = truebest.TrackAndStop
FEW = 40
FAMILIES = {"gaussian": GAUSSIAN, "bernoulli": BERNOULLI, "uniform": UNIFORM}


@dataclass(frozen=True)
class Problem:
    """A bandit, a risk, a stopping rule, and the run of it that is played."""

    means: tuple[float, ...]
    delta: float
    run: int
    seed: int
    rewards: str
    noise: tuple[float, ...]
    sigma: float | None
    stopping: str
    max_samples: int

    @property
    def assumed_sigma(self) -> float:
        """The given sigma, or by default 1/2 for Bernoulli rewards and the largest noise for others."""
        if self.sigma is not None:
            return self.sigma
        return 0.5 if self.rewards == "bernoulli" else max(self.noise)

    def rule(self) -> oracle.Rule:
        """The stopping rule in the oracle's words; only Kaufmann-Koolen's threshold is the package's."""
        if self.stopping == "practical":
            return oracle.practical(self.delta)
        if self.stopping == "mixture":
            return oracle.mixture(len(self.means), self.delta)
        times = np.arange(1, self.max_samples + 1)
        values = truebest.stopping_rule(self.stopping).threshold(times, len(self.means), self.delta)
        return oracle.tabulated([math.nan, *values.tolist()])

    def draw(self) -> Callable[[int], float]:
        """A function that gives the next reward of an arm, from the streams that the package reads."""
        streams: list[Words] = [np.zeros(2, np.uint64) for _ in self.means]
        for a, stream in enumerate(streams):
            open_stream(np.uint64(self.seed), np.uint64(self.run), np.uint64(a), stream)
        family = FAMILIES[self.rewards]
        return lambda a: reward(family, self.means[a], self.noise[a], streams[a])

    def start(self) -> oracle.Run:
        """A run in which every arm has been pulled once."""
        return oracle.Run(len(self.means), self.draw(), self.assumed_sigma, self.rule(), self.max_samples)

    def trace(self, strategy: truebest.Strategy) -> truebest.Trace:
        """The package's run."""
        return truebest.trace(
            strategy,
            self.means,
            self.delta,
            run=self.run,
            seed=self.seed,
            rewards=self.rewards,
            noise=self.noise,
            sigma=self.sigma,
            stopping=self.stopping,
            max_samples=self.max_samples,
        )


def random_means(rng: np.random.Generator, K: int, bernoulli: bool, unit: float) -> tuple[float, ...]:
    """Means all apart, nearly tied, with ties at the top, with ties anywhere, or on a coarse grid."""
    mu = rng.uniform(0.05, 0.95, K)
    kind = rng.choice(5, p=[0.45, 0.15, 0.15, 0.1, 0.15])
    if kind == 1:
        mu = 0.5 + (mu - 0.5) * 10.0 ** rng.uniform(-6.0, -1.0)
    elif kind == 2:
        mu[rng.random(K) < 0.6] = mu.max()
    elif kind == 3:
        mu = mu[rng.integers(0, K, K)]
    elif kind == 4:
        mu = np.round(4.0 * mu) / 4.0
    if not bernoulli:
        mu = mu * unit * 10.0 ** rng.uniform(0.0, 1.2) + rng.choice([0.0, -3.0, 100.0])
    return tuple(mu.tolist())


def random_problem(rng: np.random.Generator) -> Problem:
    """Two to six arms, any rewards, noise equal or not, sigma right, wrong or left out."""
    K = int(rng.integers(2, 7))
    rewards = str(rng.choice(["gaussian", "bernoulli", "uniform"], p=[0.45, 0.35, 0.2]))
    unit = float(rng.choice([1.0, 0.3, 7.0]))
    noise = np.full(K, unit) if rng.random() < 0.7 else unit * rng.choice([0.0, 0.25, 1.0], K)
    sigma = unit * float(rng.choice([0.5, 1.0, 1.7]))
    return Problem(
        random_means(rng, K, rewards == "bernoulli", unit),
        float(10.0 ** rng.uniform(-3.0, -0.5)),
        int(rng.integers(0, 2**20)),
        int(rng.integers(0, 2**64 - 1, dtype=np.uint64)),
        rewards,
        tuple(noise.tolist()),
        None if noise.max() > 0.0 and rng.random() < 0.5 else sigma,
        str(rng.choice(["practical", "mixture", "kaufmann-koolen"], p=[0.7, 0.15, 0.15])),
        int(rng.integers(100, 350)),
    )


def difference(run: oracle.Run, trace: truebest.Trace) -> str | None:
    """The first way in which the package's run differs from the oracle's, None if in none."""
    ours, theirs = trace.arm[:-1].tolist(), run.arms
    for step, (mine, right) in enumerate(zip(ours, theirs, strict=False)):
        if mine != right:
            return f"arm {mine} instead of {right} at t = {run.num_arms + step}"
    if trace.samples != run.time:
        return f"{trace.samples} samples instead of {run.time}"
    if trace.recommended != run.recommended:
        return f"recommends {trace.recommended} instead of {run.recommended}"
    if run.targets and trace.target is not None:
        worst = float(np.abs(trace.target[:-1] - np.array(run.targets)).max())
        if not worst < 1e-11:
            return f"target weights {worst} apart"
    return None


def clip_around(problem: Problem, room: float) -> tuple[float, float]:
    """An interval that contains all means and reaches `room` sigmas, a third or a tenth of it, beyond."""
    beyond = room * problem.assumed_sigma / (1.0, 3.0, 10.0)[problem.run % 3]
    return min(problem.means) - beyond, max(problem.means) + beyond


@dataclass(frozen=True)
class Pair:
    """A strategy of the package, its transcription, and on how many problems they are compared."""

    strategy: Callable[[Problem], truebest.Strategy]
    play: Callable[[oracle.Run, Problem], oracle.Run]
    runs: int


def ebs(tracking: str, width: str, runs: int, gamma: float = 0.05, room: float | None = None) -> Pair:
    """Exploration-Biased Sampling and Algorithm 2."""

    def clip(problem: Problem) -> tuple[float, float] | None:
        return None if room is None else clip_around(problem, room)

    def play(run: oracle.Run, problem: Problem) -> oracle.Run:
        half = getattr(oracle, f"{width}_width")
        return oracle.exploration_biased_sampling(run, tracking, gamma, half, clip(problem))

    return Pair(lambda problem: truebest.EBS(tracking, gamma, width, clip(problem)), play, runs)


def tas(tracking: str, runs: int, *, count_forced: bool = False) -> Pair:
    """Track-and-Stop and Algorithm 3."""

    def play(run: oracle.Run, _: Problem) -> oracle.Run:
        return oracle.track_and_stop(run, tracking, count_forced=count_forced)

    return Pair(lambda _: truebest.TrackAndStop(tracking), play, runs)


def open_only(strategy: truebest.Strategy, play: Callable[..., oracle.Run], how: str, runs: int) -> Pair:
    """One that samples open arms only."""

    def played(run: oracle.Run, problem: Problem) -> oracle.Run:
        return play(open_oracle.OpenRun(run, problem.stopping == "mixture"), how)

    return Pair(lambda _: strategy, played, runs)


def racing_by_rounds(run: oracle.Run, _: Problem) -> oracle.Run:
    """A wrong Racing, with the threshold at the number of rounds instead of the number of samples."""
    right = run.rule
    run.rule = oracle.Rule(right.pair, lambda _: right.threshold(max(run.pulls)))
    return oracle.chernoff_racing(run)


PAIRS = {
    "ebs-c": ebs("C", "experiments", 500),
    "ebs-d": ebs("D", "experiments", 500),
    "ebs-c-gamma": ebs("C", "experiments", 200, gamma=0.4),
    "ebs-c-paper": ebs("C", "paper", 200),
    "ebs-d-paper": ebs("D", "paper", 200, gamma=0.3),
    "ebs-c-mixture": ebs("C", "mixture", 200),
    "ebs-d-mixture": ebs("D", "mixture", 200, gamma=0.3),
    "ebs-c-clip": ebs("C", "experiments", 250, room=10.0),
    "ebs-d-clip": ebs("D", "experiments", 250, room=10.0),
    "ebs-c-tight-clip": ebs("C", "experiments", 300, room=0.1),
    "ebs-d-tight-clip": ebs("D", "experiments", 300, room=0.1),
    "tas-c": tas("C", 600),
    "tas-d": tas("D", 600),
    "racing": Pair(lambda _: truebest.Racing(), lambda run, _: oracle.chernoff_racing(run), 800),
    "lucb++": Pair(
        lambda _: truebest.LUCB("first"), lambda run, problem: oracle.lucb(run, problem.delta), 600
    ),
    "uniform": Pair(lambda _: truebest.Uniform(), lambda run, _: oracle.uniform(run), 400),
    "ebs-open-equal": open_only(truebest.OpenEBS("equal"), open_oracle.open_ebs, "equal", 400),
    "ebs-open-gaps": open_only(truebest.OpenEBS("gaps"), open_oracle.open_ebs, "gaps", 400),
    "ebs-open-need": open_only(truebest.OpenEBS("need"), open_oracle.open_ebs, "need", 400),
    "tas-c-open": open_only(TAS("C", open_only=True), open_oracle.open_track_and_stop, "C", 300),
    "ebs-c-open": open_only(truebest.EBS("C", open_only=True), open_oracle.open_sampling, "C", 200),
    "ebs-d-open": open_only(truebest.EBS("D", open_only=True), open_oracle.open_sampling, "D", 200),
    "tas-d-open": open_only(TAS("D", open_only=True), open_oracle.open_track_and_stop, "D", 300),
}


def compare(pair: Pair, runs: int, seed: int) -> tuple[list[str], list[oracle.Run]]:
    """What differs in so many random problems, and the oracle's runs."""
    rng = np.random.default_rng(seed)
    found, played = [], []
    for _ in range(runs):
        problem = random_problem(rng)
        run = pair.play(problem.start(), problem)
        played.append(run)
        fault = difference(run, problem.trace(pair.strategy(problem)))
        if fault is not None:
            found.append(f"{fault} in {problem}")
    return found, played


@pytest.mark.parametrize("few", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["few", "all"])
@pytest.mark.parametrize("name", list(PAIRS))
def test_a_strategy_is_its_transcription(name: str, few: bool) -> None:
    """The same arms, targets, stop and recommendation in every run; both kinds of end are common."""
    pair = PAIRS[name]
    runs = FEW if few else pair.runs
    found, played = compare(pair, runs, seed=list(PAIRS).index(name))
    assert not found, f"{len(found)} of {runs} runs differ: {found[0]}"
    decided = sum(run.recommended is not None for run in played)
    biased = sum(any(max(w) > min(w) for w in run.targets) for run in played)
    assert 0.1 * runs < decided < 0.9 * runs
    assert biased > 0.1 * runs or not any(run.targets for run in played)


def last_largest(values: list[float]) -> int:
    """The highest index among ties, which is wrong."""
    return max(a for a, value in enumerate(values) if value >= max(values) - oracle.TIE)


def last_smallest(values: list[float]) -> int:
    """The highest index among ties, which is wrong."""
    return max(a for a, value in enumerate(values) if value <= min(values) + oracle.TIE)


def narrow_width(_: int, n: int, gamma: float) -> float:
    """The experiments' width with γ in place of γ/K, which is wrong."""
    return math.sqrt(math.log(n / gamma) / n)


def early_threshold(_: int, delta: float) -> float:
    """log(1/δ), which is wrong."""
    return math.log(1.0 / delta)


WRONG: dict[str, tuple[str, Pair, dict[str, object]]] = {
    "forced steps add to the sums": ("tas-c", tas("C", FEW, count_forced=True), {}),
    "no K in the width": ("ebs-d", PAIRS["ebs-d"], {"experiments_width": narrow_width}),
    "the last of tied leaders": ("lucb++", PAIRS["lucb++"], {"first_largest": last_largest}),
    "the last of the arms furthest behind": ("ebs-c", PAIRS["ebs-c"], {"first_smallest": last_smallest}),
    "inexact weights": ("tas-d", PAIRS["tas-d"], {"NEWTON_TOLERANCE": 1e-4}),
    "no time in the threshold": ("uniform", PAIRS["uniform"], {"practical_threshold": early_threshold}),
    "rounds for samples": ("racing", Pair(lambda _: truebest.Racing(), racing_by_rounds, FEW), {}),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_wrong_transcription_is_found_out(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each mistake shows in the first FEW of the problems on which the right one agrees."""
    name, pair, replaced = WRONG[mistake]
    for attribute, wrong in replaced.items():
        monkeypatch.setattr(oracle, attribute, wrong)
    found, _ = compare(pair, FEW, seed=list(PAIRS).index(name))
    assert len(found) >= 3


@pytest.mark.parametrize("name", ["ebs-c", "tas-d", "racing", "lucb++", "uniform"])
def test_the_last_sample_may_decide(name: str) -> None:
    """A run that is allowed exactly the samples it takes ends as if it were allowed more."""
    for run in range(20):
        free = truebest.trace(name, (0.9, 0.2, 0.1), 0.1, run=run)
        bounded = truebest.trace(name, (0.9, 0.2, 0.1), 0.1, run=run, max_samples=free.samples)
        assert bounded.recommended == free.recommended


def test_targets_are_weights_when_two_intervals_become_one_point() -> None:
    """Two arms cut to the upper end in this run share the weight, and the step after has a target again."""
    means, strategy = (0.9, 0.8, 0.6, 0.4, 0.4), truebest.EBS("C", clip=(0.0, 1.0))
    target = truebest.trace(strategy, means, 0.1, run=19733, max_samples=40).target
    assert target is not None
    assert (target[0] == 0.0).any()
    assert np.abs(target[:-1].sum(axis=1) - 1.0).max() < 1e-12
