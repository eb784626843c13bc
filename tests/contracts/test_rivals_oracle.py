"""Best Challenger, LUCB++, top-two and Frank-Wolfe sampling make the choices of their transcriptions.

Random short runs on Gaussian arms and on coins, with the same rewards and the same random numbers; `make
test` has the first FEW of each. Deliberately wrong transcriptions are found out within the first FEW.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import truebest
from support import rivals_oracle as oracle
from truebest.kernels.random import (
    BERNOULLI,
    BETA,
    GAUSSIAN,
    Words,
    next_word,
    normal,
    open_stream,
    other_reward,
    reward,
    uniform,
)
from truebest.strategies import find_strategy

FEW, RUNS = 15, 120
MOST = 250
Play = Callable[[oracle.Race, Words, str], oracle.Race]


def stream(seed: int, number: int) -> Words:
    words: Words = np.zeros(2, np.uint64)
    open_stream(np.uint64(seed), np.uint64(0), np.uint64(number), words)
    return words


def upper(kind: str, mean: float, level: float) -> float:
    """The largest mean whose divergence is at most the level, by halving."""
    if kind == "gaussian":
        return mean + math.sqrt(2.0 * level)
    low, high = mean, 1.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if oracle.bernoulli(mean, middle) <= level else (low, middle)
    return low


def posterior(kind: str, words: Words, mean: float, n: int) -> float:
    if kind == "gaussian":
        return float(mean + normal(words) / math.sqrt(n))
    mu = (n * mean + 1.0) / (n + 2.0)
    return float(other_reward(BETA, mu, math.sqrt(mu * (1.0 - mu) / (n + 3.0)), next_word(words)))


def parts(race: oracle.Race, words: Words, kind: str, **given: object) -> oracle.Race:
    """A top-two strategy with its own stream."""
    chance = {"posterior": partial(posterior, kind, words), "uniform": partial(uniform, words)}
    return oracle.top_two(race, oracle.Parts(**given, **chance, bound=partial(upper, kind)))  # type: ignore[arg-type]


RIVALS: dict[str, Play] = {
    "bc": lambda race, words, _: oracle.best_challenger(race, partial(uniform, words)),
    "bc(ties=first)": lambda race, _, __: oracle.best_challenger(race, None),
    "lucb++": lambda race, words, kind: oracle.lucb(race, partial(uniform, words), partial(upper, kind)),
    "lucb++(ties=first)": lambda race, _, kind: oracle.lucb(race, None, partial(upper, kind)),
    "t3c": partial(parts, leader="thompson"),
    "t3c-ids": partial(parts, leader="thompson", split=None),
    "ttts(draws=100)": partial(parts, leader="thompson", challenger="resampled"),
    "ttts(draws=7)": partial(parts, leader="thompson", challenger="resampled", draws=7),
    "eb-tci": partial(parts, leader="best", challenger="penalised"),
    "eb-tci(ties=first)": partial(parts, leader="best", challenger="penalised", lots=False),
    "ttucb": partial(parts, leader="ucb", tracked=True),
    "ttucb(ties=first)": partial(parts, leader="ucb", tracked=True, lots=False),
    "eb-tc-eps": partial(parts, leader="best", slack=0.1, tracked="pairs"),
    "eb-tc-eps(tracked=True)": partial(parts, leader="best", slack=0.1, tracked=True),
    "ttucb(tracked=pairs, split=ids)": partial(parts, leader="ucb", tracked="pairs", split=None),
    "fws": lambda race, _, __: oracle.frank_wolfe(race),
}


def compare(
    strategy: truebest.Strategy, play: Play, kind: str, runs: int, seed: int = 0
) -> tuple[int, list[str]]:
    """How many runs were decided, and the first differences of those that differ."""
    rng, decided, found = np.random.default_rng(seed), 0, []
    for _ in range(runs):
        K, key, delta = int(rng.integers(2, 7)), int(rng.integers(2**63)), float(10 ** rng.uniform(-3, -0.5))
        mu = rng.uniform(0.1, 0.9, K) * (1.0 if kind == "bernoulli" else 3.0)
        if rng.random() < 0.2:
            mu[rng.integers(K)] = mu.max()
        family, d = (BERNOULLI, oracle.bernoulli) if kind == "bernoulli" else (GAUSSIAN, oracle.gaussian)
        streams = [stream(key, a) for a in range(K)]

        def draw(a: int, streams: list[Words] = streams, mu: object = mu, family: int = family) -> float:
            return float(reward(family, mu[a], 1.0, streams[a]))  # type: ignore[index]

        race = play(oracle.Race(K, draw, d, delta, MOST), stream(key, K), kind)
        model = truebest.Bernoulli() if kind == "bernoulli" else truebest.Gaussian()
        options = {"seed": key, "rewards": kind, "model": model, "max_samples": MOST}
        trace = truebest.trace(strategy, mu, delta, **options)  # type: ignore[arg-type]
        decided += race.recommended is not None
        if trace.arm[:-1].tolist() != race.arms or trace.recommended != race.recommended:
            pairs = zip(trace.arm[:-1].tolist(), race.arms, strict=False)
            step = next((i for i, (a, b) in enumerate(pairs) if a != b), -1)
            found.append(f"{mu.tolist()}, delta {delta}, seed {key}: choice {step}")
    return decided, found


@pytest.mark.parametrize("few", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["few", "all"])
@pytest.mark.parametrize("kind", ["gaussian", "bernoulli"])
@pytest.mark.parametrize("name", list(RIVALS))
def test_a_strategy_is_its_transcription(name: str, kind: str, few: bool) -> None:
    """The same arms, the same end; for coins without the slack, which the oracle has for Gaussian arms."""
    strategy, play = find_strategy(name), RIVALS[name]
    if name.startswith("eb-tc-eps") and kind == "bernoulli":
        tracked = True if "True" in name else "pairs"
        strategy, play = truebest.TopTwo(tracked=tracked), partial(parts, leader="best", tracked=tracked)
    runs = FEW if few else 80 if name == "fws" else RUNS  # a linear program in most steps takes its time
    decided, found = compare(strategy, play, kind, runs)
    assert not found, f"{len(found)} of {runs} runs differ: {found[0]}"
    assert 0.1 * runs < decided < 0.98 * runs


def test_forced_exploration_is_as_in_track_and_stop() -> None:
    """For the top-two family it is a parameter."""
    strategy = truebest.TopTwo("thompson", forced=True)
    _, found = compare(strategy, partial(parts, leader="thompson", forced=True), "gaussian", 60)
    assert not found


WRONG: dict[str, tuple[str, Play]] = {
    "no penalty": ("eb-tci", partial(parts, leader="best")),
    "another split": ("t3c", partial(parts, leader="thompson", split=0.6)),
    "no chance": ("t3c", partial(parts, leader="thompson", tracked=True)),
    "the leader of another": ("ttucb", partial(parts, leader="best", tracked=True)),
    "no slack": ("eb-tc-eps", partial(parts, leader="best", tracked="pairs")),
    "a count per leader": ("eb-tc-eps", partial(parts, leader="best", slack=0.1, tracked=True)),
    "the lowest index": ("ttucb", partial(parts, leader="ucb", tracked=True, lots=False)),
    "half a split": ("t3c-ids", partial(parts, leader="thompson")),
    "a cheap challenger": ("ttts(draws=100)", partial(parts, leader="thompson")),
    "more draws": ("ttts(draws=7)", partial(parts, leader="thompson", challenger="resampled")),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_wrong_transcription_is_found_out(mistake: str) -> None:
    """In the first FEW runs."""
    name, play = WRONG[mistake]
    _, found = compare(find_strategy(name), play, "gaussian", FEW)
    assert len(found) >= 3
