"""`check_strategy`: what is demanded of every strategy, ours or yours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .. import _args
from .._args import Array
from ..errors import InvalidInputError
from ..kernels.decision import take
from ..kernels.layout import Select
from ..kernels.random import GAUSSIAN, Words, open_stream, reward
from ..kernels.steps import begin
from ..simulation import engine
from ..simulation.job import Job
from ..simulation.problem import make_problem
from ..simulation.simulate import simulate
from ..simulation.trace import Trace, trace
from ..strategies import Strategy, find_strategy
from ..strategies._admit import interpreted, kernel_of
from .cases import Case, Live, Step, steps
from .demands import BrokenError, Demands, NotCheckedError, Report, require

MEANS = (0.9, 0.4, 0.1, -0.3)
TRACED = 5  # runs that are followed step by step
LIVE = 1500  # pulls of a live experiment at most
COMPARED = 300  # steps of a run that are compared, compiled and not
ALIKE, AHEAD = 9, 0.5  # equal arms, and how far the best one is above them; first, then last
ORDERED = 400  # runs in either order
CHANCE = 5.0  # standard errors: a strategy that minds no order is accused less than once in 100,000 times
KEEP_STATE = "keep all state in memory and take all chance from random"
ADVICE_LIVE = (
    "choose from t, leader, pulls, means, memory and random alone, and do not rely on last, which may be -1"
)


DEMANDS: Demands[Case] = Demands()


def check_strategy(
    strategy: str | Strategy,
    *,
    means: npt.ArrayLike = MEANS,
    delta: float = 0.1,
    runs: int = 50,
    seed: int = 0,
    max_samples: int = 2000,
    invariant: bool = True,
    symmetric: bool = True,
    only: str | Sequence[str] | None = None,
) -> Report:
    """Check that a strategy does what every strategy must do; in a second or two.

    strategy     a name, a Strategy, or what @truebest.strategy made of a function
    means, delta, runs, seed  what it is tried on; rewards have a standard deviation of 1
    max_samples  where a run is cut off
    invariant    False for a strategy with a place among the values (`EBS(clip=...)`), whose choices may
                 change with their offset and scale
    symmetric    False for a strategy that treats arms differently by their numbers
    only         the names of the demands to check, of STRATEGY_DEMANDS; by default all
    Returns      Report, which prints as a table
    Raises       ContractError at the first demand that is broken: which one, on what, and what to do;
                 InvalidInputError if there is no such strategy, or if it cannot be tried on that
    """
    problem = make_problem(means, [delta], "gaussian", 1.0, None, None, "practical", max_samples)
    if problem.offset:
        raise InvalidInputError(
            f"means must be near 0, where live and simulated values have the same bits, got "
            f"{problem.means.max() + problem.offset:g}; subtract {problem.offset:g} from all of them."
        )
    count = _args.whole("runs", runs, 2, 10**6, "a few dozen are enough")
    key = _args.whole("seed", seed, 0, 2**64 - 1, "any number will do")
    case = Case(
        find_strategy(strategy),
        tuple(problem.means.tolist()),
        problem.deltas[0],
        count,
        key,
        int(max_samples),
        invariant,
        symmetric,
    )
    return DEMANDS.check(f"the strategy {case.strategy.name!r}", case, only)


@DEMANDS.demand("form", "compiles, and can change nothing but its memory")
def _form(case: Case) -> str:
    one, K = case.strategy, len(case.means)
    require(isinstance(one.name, str) and bool(one.name), f"its name is {one.name!r}", "give it a text")
    names = all(isinstance(row, str) for row in one.rows) and not isinstance(one.rows, str)
    require(names, f"rows is {one.rows!r}", "give a tuple of names, such as ('target',)")
    first, again = (np.asarray(one.parameters(K, 1.0)) for _ in range(2))
    numbers = first.ndim == 1 and first.dtype.kind in "fiub"
    require(
        numbers,
        f"parameters() gave an array of {first.dtype} and shape {first.shape}",
        "return a row of numbers, such as np.array([0.5])",
    )
    same = np.array_equal(first, again, equal_nan=True)
    require(same, f"parameters() gave {first}, then {again}", "let it depend on its arguments alone")
    kernel_of(one)
    rows, numbers_ = len(one.rows), first.size
    return f"{rows} row{'s' * (rows != 1)} of memory, {numbers_} parameter{'s' * (numbers_ != 1)}"


@DEMANDS.demand("arms", "pulls each arm once, then one valid arm at a time")
def _arms(case: Case) -> str:
    K, samples = len(case.means), 0
    for run in range(min(TRACED, case.runs)):
        path = case.trace(run)
        advice = f"return an arm from 0 to {K - 1}, ~arm or K + arm"
        require(bool((path.pulls[0] == 1).all()), f"run {run} began with pulls {path.pulls[0]}", advice)
        chosen = path.arm[:-1]
        valid = bool(((chosen >= 0) & (chosen < K)).all())
        require(valid, f"run {run} chose arms {np.unique(chosen)}", advice)
        sums = bool((path.pulls.sum(axis=1) == path.time).all())
        require(sums, f"the pulls of run {run} do not add up to the time", advice)
        step = np.diff(path.pulls, axis=0)
        grown = bool((step[np.arange(len(step)), chosen] == 1).all())
        require(grown, f"a pull of run {run} was not of the chosen arm", advice)
        ended = path.recommended is not None or path.samples == case.max_samples
        require(ended, f"run {run} ended after {path.samples} samples without a recommendation", advice)
        samples += path.samples
    return f"{min(TRACED, case.runs)} runs, {samples} samples"


@DEMANDS.demand("runs", "a run is a function of seed and number")
def _runs(case: Case) -> str:
    one, again = case.simulate(case.runs), case.simulate(case.runs)
    more = case.simulate(2 * case.runs + 10, threads=3)
    for other, how in ((again, "when repeated"), (more, "among more runs in three threads")):
        for now, then in ((one.samples, other.samples), (one.recommended, other.recommended)):
            _same_runs(now, then[: case.runs], how)
    pulled = np.array_equal(one.mean_pulls, again.mean_pulls)
    require(pulled, f"mean pulls were {one.mean_pulls}, then {again.mean_pulls}", KEEP_STATE)
    return f"{case.runs} runs, {case.runs - one.censored} decided; 1 and 3 threads"


def _same_runs(now: npt.NDArray[np.int64], then: npt.NDArray[np.int64], how: str) -> None:
    for run in np.flatnonzero(now != then)[:1]:
        require(False, f"run {run} gave {now[run]}, and {how} {then[run]}", KEEP_STATE)


@DEMANDS.demand("trace", "a trace is the run that was simulated")
def _trace(case: Case) -> str:
    found = case.simulate(case.runs)
    followed = range(0, case.runs, max(1, case.runs // TRACED))
    for run in followed:
        path = case.trace(run)
        ends = [(path.samples, -1 if path.recommended is None else path.recommended)]
        ends.append((int(found.samples[run]), int(found.recommended[run])))
        said = " and ".join(f"{samples} samples and arm {arm}" for samples, arm in ends)
        require(ends[0] == ends[1], f"run {run} traced and simulated gave {said}", KEEP_STATE)
    return f"{len(followed)} runs"


@DEMANDS.demand("isolation", "nothing leaks from run to run")
def _isolation(case: Case) -> str:
    """Every run alone, last to first, in room that another left dirty, is what it was after the others."""
    runs = min(case.runs, 20)
    job = case.job(case.means, case.max_samples)
    room = job.room()
    samples, arms = job.table(runs)
    job.simulate(0, room, samples, arms)
    alone, (own_samples, own_arm) = job.room(), job.table(1)
    for run in reversed(range(runs)):
        for dirt in (alone.room.state, alone.room.memory, alone.room.ended):
            dirt[:] = np.nan
        status, done, _ = job.simulate(run, alone, own_samples, own_arm)
        require((status, done) == (engine.DONE, 1), f"run {run} did not end when run alone", KEEP_STATE)
        once, twice = (samples[run, 0], arms[run, 0]), (own_samples[0, 0], own_arm[0, 0])
        found = "run {} took {} samples and gave arm {} after the others, {} and {} alone"
        require(once == twice, found.format(run, *once, *twice), KEEP_STATE)
    found = f"{runs} runs had pulls {room.pulls[0]} one after the other and {alone.pulls[0]} alone"
    require(np.array_equal(room.pulls, alone.pulls), found, KEEP_STATE)
    return f"{runs} runs, in turn and alone"


@DEMANDS.demand("ties", "survives ties and constant rewards")
def _ties(case: Case) -> str:
    bandits = (
        ("gaussian", 0.0, (0.5, 0.5, 0.5)),
        ("gaussian", 0.0, (0.5, 0.25)),
        ("bernoulli", 1.0, (0.5, 0.5, 0.5, 0.5)),
        ("bernoulli", 1.0, (1.0, 0.0, 0.0)),
    )
    for rewards, noise, means in bandits:
        bandit = {"runs": 5, "rewards": rewards, "noise": noise, "sigma": 0.5, "max_samples": 500}
        try:
            found = simulate(case.strategy, means, case.delta, progress=False, **bandit).cells[0]  # type: ignore[arg-type]
        except InvalidInputError as error:
            raise BrokenError(f"on {rewards} rewards of means {means} and noise {noise:g} {error}") from error
        within = bool(((found.samples >= len(means)) & (found.samples <= 500)).all())
        advice = "choose among equal arms, for instance the first"
        require(within, f"{rewards} rewards of means {means} took {found.samples} samples", advice)
    return f"{len(bandits)} bandits with equal arms, also without noise"


@DEMANDS.demand("risks", "several risks in one call are those of separate calls")
def _risks(case: Case) -> str:
    risks = [case.delta / 10, case.delta, case.delta / 100]
    limit = 10 * case.max_samples
    options = {"runs": case.runs, "seed": case.seed, "max_samples": limit, "progress": False}
    together = simulate(case.strategy, case.means, risks, **options)  # type: ignore[arg-type]
    for cell, delta in zip(together, risks, strict=True):
        alone = simulate(case.strategy, case.means, delta, **options).cells[0]  # type: ignore[arg-type]
        same = all(
            np.array_equal(getattr(cell, what), getattr(alone, what))
            for what in ("samples", "recommended", "mean_pulls")
        )
        found = (
            f"delta {delta:g} took {cell.samples.mean():.1f} samples together with {risks} and"
            f" {alone.samples.mean():.1f} alone, and it says uses_delta = {case.strategy.uses_delta}"
        )
        require(same, found, "say uses_delta=True if its choices depend on delta")
    return f"delta {', '.join(f'{delta:g}' for delta in risks)}; {case.runs} runs each"


def _needs_invariance(case: Case) -> None:
    if not case.invariant:
        raise NotCheckedError("it has a place among the values (invariant=False)")


@DEMANDS.demand("scale", "rewards and sigma times a power of two change nothing")
def _scale(case: Case) -> str:
    _needs_invariance(case)
    one = case.simulate(case.runs)
    for exponent in (-20, 3):
        other = case.simulate(case.runs, scale=2.0**exponent)
        same = np.array_equal(one.samples, other.samples)
        same &= np.array_equal(one.recommended, other.recommended)
        means = f"{one.samples.mean():.1f} samples and, times 2**{exponent}, {other.samples.mean():.1f}"
        advice = "compute in units of sigma, as means are, or say invariant=False"
        require(bool(same), f"{case.runs} runs took {means}", advice)
    return f"2**-20 and 2**3; {case.runs} runs each"


@DEMANDS.demand("shift", "a number added to all rewards changes nothing")
def _shift(case: Case) -> str:
    """Exactly so for rewards that are small binary fractions."""
    _needs_invariance(case)
    pattern = np.random.default_rng(5).integers(-8, 9, (3, 400)) / 16 + [[0.75], [0.25], [0.0]]
    here = _arms_chosen(case, pattern)
    for shift in (1.0, -256.0, 2.0**20):
        there = _arms_chosen(case, pattern + shift)
        n = next((i for i, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), -1)
        n = min(len(here), len(there)) if n < 0 and len(here) != len(there) else n
        found = f"with {shift:g} added to every reward, choice {n} is another one"
        require(n < 0, found, "use differences of means only, or say invariant=False")
    return f"1, -256 and 2**20; {len(here)} choices each"


@DEMANDS.demand("order", "takes as many samples in whatever order the arms are")
def _order(case: Case) -> str:
    """But for a round, in which arms are pulled in turn, and for chance."""
    if not case.symmetric:
        raise NotCheckedError("it treats arms by their numbers (symmetric=False)")
    found = []
    for means, seed in (((AHEAD, *[0.0] * ALIKE), case.seed), ((*[0.0] * ALIKE, AHEAD), case.seed ^ 1)):
        options = {"runs": ORDERED, "seed": seed, "max_samples": 2 * case.max_samples, "progress": False}
        found.append(simulate(case.strategy, means, case.delta, **options).cells[0])  # type: ignore[arg-type]
    first, last = found
    doubt = CHANCE * float(np.hypot(first.standard_error, last.standard_error)) + 1 + ALIKE
    took = f"{first.mean_samples:.0f} samples with the best arm first, {last.mean_samples:.0f} with it last"
    advice = "draw lots among equals, or say symmetric=False"
    even = abs(first.mean_samples - last.mean_samples) <= doubt
    require(even, f"of {1 + ALIKE} arms it took {took}, and chance explains {doubt:.0f}", advice)
    rewards = np.random.default_rng(6).normal([[0.75], [0.25], [0.0]], 1.0, (3, 400))
    same = _arms_chosen(case, rewards) == [2 - a for a in _arms_chosen(case, rewards[::-1].copy())]
    return took + "; the same choices, where no two values are equal" * same


def _arms_chosen(case: Case, rewards: Array) -> list[int]:
    """The arms of a run on given rewards of three arms, until the strategy stops, or 200."""
    job = case.job((0.75, 0.25, 0.0), rewards.shape[1])
    room = job.room().room
    room.state[:], room.memory[:] = job.blank, 0.0
    open_stream(np.uint64(0), np.uint64(0), np.uint64(3), room.streams[3])

    def pull(arm: int) -> float:
        return float(rewards[arm, int(room.state[0, arm])])

    for arm in range(3):
        take(job.params, room.state, arm, 1.0, pull(arm))
    return [step.action for step in steps(job, room.state, room.memory, room.streams[3], pull, 200)]


@DEMANDS.demand("compiled", "chooses the same compiled and interpreted")
def _compiled(case: Case) -> str:
    """Its own function is interpreted, what it calls is compiled as ever; each step begins from the same."""
    plain = interpreted(case.strategy)
    if plain is None:
        raise NotCheckedError("nothing is compiled here")
    compared = 0
    for run in range(2):
        job = case.job(case.means, case.max_samples)
        mu, room = job.problem.means, job.room().room
        state, memory, streams = room.state, room.memory, room.streams
        begin(run, job.task, job.source, room)

        def pull(arm: int, mu: Array = mu, streams: Words = streams) -> float:
            return float(reward(GAUSSIAN, mu[arm], 1.0, streams[arm]))

        for step in steps(job, state, memory, streams[len(mu)], pull, COMPARED):
            _compare(plain, job, step, state, memory, streams[len(mu)])
            compared += 1
    return f"{compared} choices"


def _compare(plain: Select, job: Job, step: Step, state: Array, memory: Array, random: Words) -> None:
    with np.errstate(all="ignore"):
        action = plain(step.t, step.last, step.leader, state, job.params, step.memory, step.random)
    advice = "refer to no global that changes, and to nothing that Numba computes otherwise"
    found = f"after {step.t:g} samples it chose {step.action} compiled and {action} interpreted"
    require(int(action) == step.action, found, advice)
    same = np.allclose(memory, step.memory, rtol=1e-9, atol=1e-12, equal_nan=True)
    require(same, f"after {step.t:g} samples its memory is another one when interpreted", advice)
    drawn = np.array_equal(random, step.random)
    require(drawn, f"after {step.t:g} samples it has drawn another number of times interpreted", advice)


@DEMANDS.demand("live", "a live experiment pulls the arms of the simulated run")
def _live(case: Case) -> str:
    rules, samples = ("mixture", "practical", "kaufmann-koolen"), 0
    for seed in range(case.seed, case.seed + 3):
        for rule in rules:
            options = {"seed": seed, "stopping": rule, "max_samples": min(LIVE, case.max_samples)}
            want = trace(case.strategy, case.means, case.delta, **options)  # type: ignore[arg-type]
            _one_live(case, seed, rule, want)
            samples += want.samples
    return f"3 seeds under {', '.join(rules)}; {samples} samples"


def _one_live(case: Case, seed: int, rule: str, want: Trace) -> None:
    live = Live(case, seed, rule)
    live.go(min(LIVE, case.max_samples))
    status, where = live.experiment.status(), f"seed {seed}, rule {rule}"
    expected = [*range(len(case.means)), *want.arm[:-1].tolist()]
    at = next((i for i, (a, b) in enumerate(zip(live.asked, expected, strict=False)) if a != b), -1)
    if at >= 0:
        found = f"with {where} pull {at + 1} was of arm {live.asked[at]} live and {expected[at]} simulated"
        require(False, found, ADVICE_LIVE)
    lengths = len(live.asked), len(expected)
    require(
        lengths[0] == lengths[1], f"with {where} {lengths[0]} pulls live, {lengths[1]} simulated", ADVICE_LIVE
    )
    stand = status.samples, *status.progress[2:4], status.best
    decided = None if want.recommended is None else live.arms[want.recommended]
    simulated = want.samples, want.statistic[-1], want.threshold[-1], decided
    found = f"with {where} samples, statistic, threshold, decision were {stand} live, {simulated} simulated"
    require(stand == simulated, found, ADVICE_LIVE)
    require(list(status.pulls.values()) == want.pulls[-1].tolist(), f"with {where} pulls differ", ADVICE_LIVE)
    means = np.array([*status.means.values()], float)
    left = np.isfinite(want.means[-1])  # an arm that is ruled out has no mean in a trace
    same = np.allclose(means[left], want.means[-1][left], rtol=1e-14, atol=0)
    require(same, f"with {where} means differ", ADVICE_LIVE)


@DEMANDS.demand("restarts", "an experiment that is opened again goes on the same")
def _restarts(case: Case) -> str:
    courses = []
    for reopen in (0, 7):
        live = Live(case, case.seed, "mixture")
        live.go(min(LIVE, case.max_samples), batch=3, reopen=reopen)
        courses.append((live.asked, live.experiment.status()))
    (arms, _), (again, _) = courses
    at = next(
        (i for i, (a, b) in enumerate(zip(arms, again, strict=False)) if a != b), min(len(arms), len(again))
    )
    found = f"opened again every 7 turns, the experiment parts from the uninterrupted one at pull {at + 1}"
    require(courses[0] == courses[1], found, KEEP_STATE)
    return f"{len(arms)} pulls, 3 at a time, every 7 turns"


STRATEGY_DEMANDS = DEMANDS.names
