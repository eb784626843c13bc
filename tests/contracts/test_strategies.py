"""What every strategy must do, built-in or not: one set of tests over all of them."""

from __future__ import annotations

import numpy as np
import pytest

import bestarm
from bestarm.kernels.random import normal
from bestarm.simulation import engine
from bestarm.simulation.problem import make_problem
from bestarm.simulation.runner import Job
from bestarm.strategies import find_strategy, strategy_names


@bestarm.strategy(name="thompson", rows=("draws",))  # type: ignore[untyped-decorator,unused-ignore]
def thompson(t, last, leader, pulls, means, delta, params, memory, random):  # type: ignore[no-untyped-def]
    """A user's strategy that draws random numbers: the arm of largest posterior sample."""
    best = 0
    for a in range(pulls.size):
        memory[0, a] = means[a] + normal(random) / np.sqrt(pulls[a])
        if memory[0, a] > memory[0, best]:
            best = a
    return best


ALL = [
    *strategy_names(),
    bestarm.EBS("C", 0.2, "paper"),
    bestarm.EBS("D", 0.2, "mixture", (-5.0, 5.0)),
    thompson,
]
MEANS = (0.9, 0.4, 0.1, -0.3)
NAMES = [s if isinstance(s, str) else s.name for s in ALL]
every_strategy = pytest.mark.parametrize("strategy", ALL, ids=NAMES)
every_unclipped = pytest.mark.parametrize(
    "strategy", [s for s in ALL if "clip" not in (s if isinstance(s, str) else s.name)]
)
Any = str | bestarm.Strategy


@every_strategy
def test_every_arm_is_pulled_and_counts_add_up(strategy: Any) -> None:
    """Valid arms only; each arm once at the start; pulls grow by one a step and sum to the time."""
    for run in range(5):
        path = bestarm.trace(strategy, MEANS, 0.1, run=run, max_samples=3000)
        assert (path.pulls[0] == 1).all()
        assert (path.pulls.sum(axis=1) == path.time).all()
        assert ((path.arm[:-1] >= 0) & (path.arm[:-1] < len(MEANS))).all()
        step = np.diff(path.pulls, axis=0)
        assert (step[np.arange(len(step)), path.arm[:-1]] == 1).all()
        assert path.recommended is not None or path.samples == 3000


@every_strategy
def test_a_run_is_a_function_of_seed_and_number(strategy: Any) -> None:
    """The same whatever the number of threads and the order of work; a longer simulation starts with it."""
    settings = {"means": MEANS, "delta": 0.1, "seed": 3, "max_samples": 2000}
    one = bestarm.simulate(strategy, runs=40, threads=1, **settings).cells[0]  # type: ignore[arg-type]
    two = bestarm.simulate(strategy, runs=90, threads=3, **settings).cells[0]  # type: ignore[arg-type]
    np.testing.assert_array_equal(one.samples, two.samples[:40])
    np.testing.assert_array_equal(one.recommended, two.recommended[:40])
    other = bestarm.simulate(strategy, runs=40, threads=1, **{**settings, "seed": 4}).cells[0]  # type: ignore[arg-type]
    assert (one.samples != other.samples).any()
    path = bestarm.trace(strategy, run=7, **settings)  # type: ignore[arg-type]
    assert path.samples == one.samples[7]


@every_strategy
def test_state_never_leaks_from_run_to_run(strategy: Any) -> None:
    """Run 5 alone, in room that another run left dirty, equals run 5 after runs 0 to 4."""
    problem = make_problem(MEANS, [0.1], "gaussian", 1.0, None, None, "practical", 2000)
    job = Job(find_strategy(strategy), problem, (0.1,), 6, 0)
    room = job.room()
    job.simulate(0, room, job.samples, job.recommended)
    together = job.samples[5, 0]
    for dirt in (room.state, room.memory, room.ended):
        dirt[:] = np.nan
    status, done, _ = job.simulate(5, room, job.samples[:1], job.recommended[:1])
    assert (status, done) == (engine.DONE, 1)
    assert job.samples[0, 0] == together


@every_strategy
def test_ties_are_survived(strategy: Any) -> None:
    """Equal arms, constant rewards, Bernoulli rewards with a thousand exact ties: no bad arm, no hang."""
    for rewards, noise, means in (
        ("gaussian", 0.0, (0.5, 0.5, 0.5)),
        ("gaussian", 0.0, (0.5, 0.25)),
        ("bernoulli", 1.0, (0.5, 0.5, 0.5, 0.5)),
        ("bernoulli", 1.0, (1.0, 0.0, 0.0)),
    ):
        found = bestarm.simulate(
            strategy, means, 0.1, runs=5, rewards=rewards, noise=noise, sigma=0.5, max_samples=500
        ).cells[0]
        assert (found.samples <= 500).all()
        assert (found.samples >= len(means)).all()


@every_unclipped
@pytest.mark.parametrize("exponent", [-20, 3])
def test_scaling_rewards_and_sigma_by_a_power_of_two_changes_nothing(strategy: Any, exponent: int) -> None:
    """Exact invariance: only rewards in units of sigma count (nothing is clipped)."""
    scale = 2.0**exponent
    one = bestarm.simulate(strategy, MEANS, 0.1, runs=50, max_samples=5000).cells[0]
    means = [m * scale for m in MEANS]
    other = bestarm.simulate(strategy, means, 0.1, runs=50, noise=scale, max_samples=5000).cells[0]
    np.testing.assert_array_equal(one.samples, other.samples)
    np.testing.assert_array_equal(one.recommended, other.recommended)


@every_unclipped
@pytest.mark.parametrize("shift", [1.0, -256.0, 2.0**20])
def test_shifting_dyadic_rewards_changes_nothing(strategy: Any, shift: float) -> None:
    """Exact invariance for rewards that are small binary fractions: here ±½ around dyadic means."""

    def arms(offset: float) -> list[int]:
        problem = make_problem(
            [0.75 + offset, 0.25 + offset, 0.0 + offset], [0.1], "gaussian", 0.0, 0.5, None, "practical", 400
        )
        job = Job(find_strategy(strategy), problem, (0.1,), 1, 0)
        return _dyadic_run(job, offset)

    assert arms(0.0) == arms(shift)


def _dyadic_run(job: Job, offset: float) -> list[int]:
    """The arms of a run on rewards that repeat a fixed dyadic pattern, driven by the kernel itself."""
    from bestarm.kernels.decision import take
    from bestarm.kernels.layout import arm_of
    from bestarm.kernels.random import open_stream
    from bestarm.kernels.tracking import leading_arm

    state, memory, streams, _, _, _ = job.room()
    state[:], memory[:] = job.blank, 0.0
    rng = np.random.default_rng(5)
    rewards = rng.integers(-8, 9, (3, 400)) / 16 + np.array([[0.75], [0.25], [0.0]]) + offset
    open_stream(np.uint64(0), np.uint64(0), np.uint64(3), streams[3])
    arms, last = [], -1
    for t in range(200):
        if t < 3:
            arm = t
        else:
            action = job.select(float(t), last, leading_arm(state), state, job.params, memory, streams[3])
            if action >= 3:
                break
            arm = last = arm_of(action, 3)
        take(job.params, state, arm, 1.0, rewards[arm, int(state[0, arm])])
        arms.append(int(arm))
    return arms


@every_strategy
def test_several_risks_from_one_trajectory_equal_separate_runs(strategy: Any) -> None:
    """The same numbers, whether risks share trajectories or not, in whatever order they are given."""
    risks = [0.01, 0.2, 0.001]
    together = bestarm.simulate(strategy, MEANS, risks, runs=60, seed=9, max_samples=20_000)
    assert [cell.delta for cell in together] == risks
    for delta in risks:
        alone = bestarm.simulate(strategy, MEANS, delta, runs=60, seed=9, max_samples=20_000).cells[0]
        cell = together[alone.strategy, delta]
        np.testing.assert_array_equal(cell.samples, alone.samples)
        np.testing.assert_array_equal(cell.recommended, alone.recommended)
        np.testing.assert_array_equal(cell.mean_pulls, alone.mean_pulls)


@every_strategy
@pytest.mark.parametrize("stopping", ["gk16", "kaufmann-koolen", "mixture"])
def test_any_strategy_goes_with_any_rule(strategy: Any, stopping: str) -> None:
    """Easy arms are told apart under every rule, but by strategies that leave arms alone for good."""
    found = bestarm.simulate(
        strategy, (4.0, 0.0, -1.0), 0.1, runs=20, stopping=stopping, max_samples=5000
    ).cells[0]
    assert found.errors == 0
    assert found.censored == 0 or strategy in ("lucb++", thompson)


def test_all_strategies_see_the_same_rewards() -> None:
    """Common random numbers: the first rewards of each arm agree across strategies, run by run."""
    paths = [bestarm.trace(s, MEANS, 0.1, run=2, seed=8, max_samples=200) for s in ALL]
    for path in paths[1:]:
        np.testing.assert_array_equal(path.means[0], paths[0].means[0])
    for a in range(len(MEANS)):
        known: dict[int, float] = {}
        for path in paths:
            for n, mean in zip(path.pulls[:, a].astype(int), path.means[:, a], strict=True):
                assert known.setdefault(int(n), float(mean)) == mean
