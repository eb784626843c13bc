"""What each rule of a live experiment prevents: the wrong way and the right way, on two identical coins.

Who breaks a rule is simulated with the stopping rule alone, or, where `Experiment` lets him, through it. Who
keeps it goes through `Experiment`. On identical arms every winner is an error, and the mixture rule declares
one with probability at most δ = 0.05, whichever it is. ALLOWED is exceeded with probability below 1e-6 if
the error were δ itself; seeds are fixed. The wrong ways are the negative controls of the right ones.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from benchmarks.error_rates import peeking
from scipy import stats

import truebest
from support.amounts import amount, once_more
from support.clock import Clocked
from support.told import column
from truebest.errors import InvalidInputError, SuspendedError
from truebest.experiment.experiment import Experiment
from truebest.experiment.pulls import Pull

pytestmark = once_more
DELTA = 0.05
ARMS = ("strange", "plain")
RUNS, MOST, BATCH = amount(30, 60), 400, 40  # of experiments; pulls of both arms together
SIMULATED, PAIRS = 400, 1000  # of the rule alone; pulls of each arm

Array = npt.NDArray[np.float64]
Worker = Callable[[Experiment, list[Pull], random.Random], None]
End = tuple[str | None, int, dict[str, float | None], float | None]


def allowed(runs: int, error: float = DELTA) -> int:
    """A Binomial(runs, error) exceeds it with probability below 1e-6."""
    return int(stats.binom.isf(1e-6, runs, error))


def looked_at(first: Array, second: Array, delta: float = DELTA, extra: int = 0) -> truebest.Stopping:
    """The rule after every pair of values, (runs, pairs) each; `extra` pulls too many are counted per arm."""
    n = np.arange(1, first.shape[1] + 1)
    means = np.stack([first.cumsum(axis=1) / n, second.cumsum(axis=1) / n], axis=-1)
    pulls = np.broadcast_to((n + extra)[:, None], means.shape)
    return truebest.Mixture().evaluate(pulls, means, delta, 0.5)


def winners(first: Array, second: Array, delta: float = DELTA, extra: int = 0) -> int:
    """In how many runs the rule ever declares one of them the best."""
    return int(looked_at(first, second, delta, extra).decided.any(axis=1).sum())


def tosses(rng: np.random.Generator, p: float = 0.5, size: tuple[int, ...] = (SIMULATED, PAIRS)) -> Array:
    return (rng.random(size) < p).astype(float)


def coin(pull: Pull) -> float:
    """A fair coin that takes its randomness from the pull's seed."""
    return float(random.Random(pull.seed).random() < 0.5)


def tell_plainly(experiment: Experiment, pulls: Iterable[Pull], rng: random.Random) -> None:
    experiment.tell([(pull, coin(pull)) for pull in pulls])


def experiments(worker: Worker) -> list[truebest.Account]:
    """RUNS experiments of MOST pulls in batches of BATCH, of which `worker` is to settle every one."""
    found = []
    for run in range(RUNS):
        experiment = Experiment.create(
            Clocked(),
            "x",
            ARMS,
            DELTA,
            bounds=(0, 1),
            strategy="uniform",
            stopping="mixture",
            seed=run,
            lease=60.0,
        )
        rng = random.Random(run)
        for _ in range(MOST // BATCH):
            worker(experiment, experiment.ask(BATCH), rng)
        found.append(experiment.status())
    return found


def ends(statuses: Iterable[truebest.Account]) -> list[End]:
    return [(s.best, s.samples, s.means, s.progress.statistic) for s in statuses]


def declared(statuses: Iterable[truebest.Account]) -> int:
    return sum(status.best is not None for status in statuses)


def listed(statuses: Iterable[truebest.Account]) -> bool:
    """Whether every result has a caveat that names the strange arm."""
    return all(any(ARMS[0] in sentence for _, _, sentence in status.promise.caveats) for status in statuses)


@cache
def undisturbed() -> list[truebest.Account]:
    return experiments(tell_plainly)


def test_undisturbed_experiments_seldom_declare_a_winner() -> None:
    """Nothing happens, and nothing is declared above the allowance; seen 0 of 60. There is no caveat."""
    assert declared(undisturbed()) <= allowed(RUNS)
    assert all(status.promise.caveats == () for status in undisturbed())
    assert all(status.samples == MOST for status in undisturbed() if status.best is None)


# -- a failed pull is repeated, not dropped ------------------------------------------------------------


def test_dropping_failed_zeros_declares_a_winner() -> None:
    """Half of one arm's zeros fail and are left out: its mean looks like 2/3. Seen 400 of 400."""
    rng = np.random.default_rng(1)
    drawn = tosses(rng, size=(SIMULATED, 2 * PAIRS))
    kept = (drawn == 1.0) | (rng.random(drawn.shape) < 0.5)
    first = np.stack([row[keep][:PAIRS] for row, keep in zip(drawn, kept, strict=True)])
    assert winners(first, tosses(rng)) > 0.95 * SIMULATED


def failing(again: Callable[[Pull, random.Random], float]) -> Worker:
    """Half of the strange arm's zeros fail at first; `again` is what the repeated pull gives."""

    def worker(experiment: Experiment, pulls: list[Pull], rng: random.Random) -> None:
        bad = [p for p in pulls if p.arm == ARMS[0] and coin(p) == 0.0 and rng.random() < 0.5]
        tell_plainly(experiment, [p for p in pulls if p not in bad], rng)
        for pull in bad:
            experiment.fail(pull, "no answer")
        if bad:
            experiment.tell([(pull, again(pull, rng)) for pull in experiment.ask(len(bad))])

    return worker


def test_repeating_a_failed_pull_with_its_seed_changes_nothing() -> None:
    """Decision, samples, means and statistic of all runs are those without failures; the caveats say so."""
    found = experiments(failing(lambda pull, rng: coin(pull)))
    assert ends(found) == ends(undisturbed())
    assert listed(found)


def test_repeating_a_failed_pull_with_fresh_luck_biases_and_is_listed() -> None:
    """All zeros fail and are tossed again: means of 3/4 and 1/2, and a winner. Seen 60 of 60.

    The experiment cannot know where a value comes from: it lists the failures as a caveat.
    """

    def worker(experiment: Experiment, pulls: list[Pull], rng: random.Random) -> None:
        zeros = [p for p in pulls if p.arm == ARMS[0] and coin(p) == 0.0]
        tell_plainly(experiment, [p for p in pulls if p not in zeros], rng)
        for pull in zeros:
            experiment.fail(pull, "no answer")
        if zeros:
            experiment.tell([(p, float(rng.random() < 0.5)) for p in experiment.ask(len(zeros))])

    found = experiments(worker)
    assert declared(found) > 0.9 * RUNS
    assert listed(found)


def test_a_supplied_value_for_failures_changes_nothing() -> None:
    """A time-out is worth 0 by agreement: `on_error` says so, and the run is that of arms that answer 0."""

    def answers(rng: np.random.Generator) -> float:
        return float(rng.random() < 0.5)

    def times_out(rng: np.random.Generator) -> float:
        value = answers(rng)
        if value == 0.0:
            raise TimeoutError
        return value

    for run in range(10):
        plain = truebest.identify(
            {"strange": answers, "plain": answers}, bounds=(0, 1), max_samples=200, rng=run
        )
        strange = truebest.identify(
            {"strange": times_out, "plain": answers},
            bounds=(0, 1),
            max_samples=200,
            rng=run,
            on_error=lambda pull, error: 0.0,
        )
        assert ends([plain]) == ends([strange])
        assert listed([strange])


# -- the first value of a pull counts --------------------------------------------------------------------


def test_counting_the_last_value_of_a_pull_declares_a_winner() -> None:
    """Half of one arm's zeros are told again with another toss: its mean becomes 5/8. Seen 395 of 400."""
    rng = np.random.default_rng(2)
    once, again = tosses(rng), tosses(rng)
    told_again = (once == 0.0) & (rng.random(once.shape) < 0.5)
    assert winners(np.where(told_again, again, once), tosses(rng)) > 0.9 * SIMULATED


def test_with_the_first_value_telling_again_changes_nothing() -> None:
    """Every zero of one arm is told again with another toss: the runs are those without; it is listed."""

    def worker(experiment: Experiment, pulls: list[Pull], rng: random.Random) -> None:
        tell_plainly(experiment, pulls, rng)
        zeros = [p for p in pulls if p.arm == ARMS[0] and coin(p) == 0.0]
        experiment.tell([(pull, float(rng.random() < 0.5)) for pull in zeros])

    found = experiments(worker)
    assert ends(found) == ends(undisturbed())
    assert listed(found)


# -- a pull has a lease ----------------------------------------------------------------------------------


def lapsing(again: Callable[[Pull, random.Random], float]) -> Worker:
    """The strange arm's zeros take longer than the lease; `again` is what the second worker gets."""

    def worker(experiment: Experiment, pulls: list[Pull], rng: random.Random) -> None:
        slow = [p for p in pulls if p.arm == ARMS[0] and coin(p) == 0.0]
        tell_plainly(experiment, [p for p in pulls if p not in slow], rng)
        store = experiment._store
        assert isinstance(store, Clocked)
        store.time += 61.0
        if slow:
            experiment.tell([(pull, again(pull, rng)) for pull in experiment.ask(len(slow))])
            experiment.tell([(pull, 0.0) for pull in slow])  # the first worker, too late

    return worker


def test_redrawing_a_lapsed_pull_biases_and_is_listed() -> None:
    """The first value is that of the second worker's toss: 3/4 against 1/2, and a winner. Seen 60 of 60."""
    found = experiments(lapsing(lambda pull, rng: float(rng.random() < 0.5)))
    assert declared(found) > 0.9 * RUNS
    assert listed(found)


def test_a_lapsed_pull_with_its_seed_changes_nothing() -> None:
    """The second worker gets the same value from the same seed: the runs are those without a lapse."""
    found = experiments(lapsing(lambda pull, rng: coin(pull)))
    assert ends(found) == ends(undisturbed())
    assert listed(found)


@pytest.mark.parametrize(("lease", "goes_on"), [(None, False), (60.0, True)])
def test_only_with_a_lease_a_lost_worker_does_not_block_the_decision(
    lease: float | None, goes_on: bool
) -> None:
    """One pull is lost, and overwhelming evidence waits behind it: for good, or until its lease is over."""
    store = Clocked()
    experiment = Experiment.create(store, "x", ARMS, DELTA, bounds=(0, 1), seed=1, lease=lease)
    lost, *others = experiment.ask(400)
    experiment.tell([(pull, float(pull.arm == "plain")) for pull in others])
    store.time += 1e6
    issued = experiment.ask()
    assert experiment.status().best is None
    assert (lost.id in [pull.id for pull in issued]) == goes_on
    experiment.tell([(pull, 0.0) for pull in issued])
    assert experiment.status().best == ("plain" if goes_on else None)


# -- retractions -------------------------------------------------------------------------------------------


def test_retracting_by_value_declares_a_winner_and_is_listed() -> None:
    """One arm's zeros are taken back. Seen 60 of 60. What is promised then rules such retractions out."""

    def worker(experiment: Experiment, pulls: list[Pull], rng: random.Random) -> None:
        tell_plainly(experiment, pulls, rng)
        for pull in pulls:
            if pull.arm == ARMS[0] and coin(pull) == 0.0:
                experiment.retract(pull, "it looked wrong")

    found = experiments(worker)
    assert declared(found) > 0.9 * RUNS
    assert listed(found)
    said = "and retractions and durations without regard to values or arms"
    assert all(said in status.promise.words or status.promise.bound is None for status in found)


def test_retracting_by_number_costs_delta_each_time_and_is_printed() -> None:
    """Pulls 40 and 80 are taken back, whatever their value and arm: no more winners than is promised then.

    Seen 0 of 60. How much blind retractions can do is in `test_readings.py`.
    """

    def worker(experiment: Experiment, pulls: list[Pull], rng: random.Random) -> None:
        tell_plainly(experiment, pulls, rng)
        for pull in (p for p in pulls if p.id in (40, 80)):
            experiment.retract(pull, "the file was lost")

    found = experiments(worker)
    assert {status.promise.bound for status in found} == {0.15}
    assert declared(found) <= allowed(RUNS, 0.15)


# -- a value outside the bounds suspends ---------------------------------------------------------------


def test_hiding_values_outside_the_bounds_declares_the_worse_arm() -> None:
    """A coin of 0 and 2 with mean 0.6 against one of 0 and 1 with mean 0.5, under bounds (0, 1).

    Clipped (a mean of 0.3) or left out (0), the worse one is declared the best. Seen 400 of 400 each.
    """
    rng = np.random.default_rng(3)
    better, worse = 2.0 * tosses(rng, 0.3), tosses(rng)
    for hidden in (np.minimum(better, 1.0), np.where(better > 1.0, 0.0, better)):
        seen = looked_at(hidden, worse)
        assert (seen.decided & (seen.leader == 1)).any(axis=1).sum() > 0.95 * SIMULATED


def test_counting_values_outside_the_bounds_at_the_old_scale_errs_too_often() -> None:
    """Two equal coins of -1 and 2, judged as if they lay in [0, 1]: evidence nine times too strong.

    Seen 383 of 400, where 44 are allowed.
    """
    rng = np.random.default_rng(4)
    assert winners(3.0 * tosses(rng) - 1.0, 3.0 * tosses(rng) - 1.0) > 0.5 * SIMULATED
    assert winners(tosses(rng), tosses(rng)) <= allowed(SIMULATED)


def test_a_value_outside_the_bounds_ends_the_run_without_a_decision() -> None:
    """The coin of 0 and 2 again: in every run the first 2 suspends, and nobody is declared the best."""

    def sample_on(experiment: Experiment) -> None:
        for pull in (p for _ in range(MOST) for p in experiment.ask()):
            luck = random.Random(pull.seed).random()
            experiment.tell(pull, 2.0 * (luck < 0.3) if pull.arm == ARMS[0] else float(luck < 0.5))

    for run in range(RUNS):
        options = {"bounds": (0, 1), "stopping": "mixture", "seed": run}
        experiment = Experiment.create("memory:", "x", ARMS, DELTA, **options)  # type: ignore[arg-type]
        with pytest.raises(SuspendedError, match="outside the bounds"):
            sample_on(experiment)
        assert experiment.status().best is None
        with pytest.raises(SuspendedError, match="begin a new experiment"):
            experiment.ask()


# -- a decision is final -----------------------------------------------------------------------------------


def test_a_decision_that_could_be_taken_back_would_waver() -> None:
    """Coins of 0.6 and 0.4, sampled on after the stop: the statistic often falls below its threshold again.

    Within 100 pairs in 277 of 400 runs. The promise itself would survive: it holds for all times at once,
    and the worse arm is never declared, neither first nor later (seen 0; at most 44 allowed).
    """
    rng = np.random.default_rng(5)
    seen = looked_at(tosses(rng, 0.6), tosses(rng, 0.4))
    stops = seen.decided.argmax(axis=1)
    assert seen.decided.any(axis=1).all()
    taken_back = sum(
        not decided[stop : stop + 100].all() for decided, stop in zip(seen.decided, stops, strict=True)
    )
    assert taken_back > 0.5 * SIMULATED
    assert (seen.decided & (seen.leader == 1)).any(axis=1).sum() <= allowed(SIMULATED)


def test_a_decision_stays_whatever_comes_after_it() -> None:
    """Results that were on their way, and that would have turned the statistic round, change nothing."""
    experiment = Experiment.create("memory:", "x", ARMS, DELTA, bounds=(0, 1), seed=1, strategy="uniform")
    pulls = experiment.ask(400)
    experiment.tell([(pull, float(pull.arm == "plain")) for pull in pulls[:200]])
    before = experiment.status()
    assert before.best == "plain"
    against = [(pull, float(pull.arm == "strange")) for pull in pulls[200:]]
    assert set(experiment.tell(against)) == {"told"}
    assert ends([experiment.status()]) == ends([before])
    half = truebest.Mixture().evaluate([200, 200], [0.5, 0.5], DELTA, 0.5)
    assert not half.decided


# -- pending pulls -----------------------------------------------------------------------------------------


def test_counting_pending_pulls_as_results_decides_too_early() -> None:
    """With 32 pulls per arm out, counted at the mean so far: a winner in 319 of 400 runs."""
    rng = np.random.default_rng(6)
    assert winners(tosses(rng), tosses(rng), extra=32) > 0.7 * SIMULATED


def test_pending_pulls_never_count_in_the_decision() -> None:
    """After one toss of each, 1 and 0, with 64 out: undecided, where counting them would decide."""
    experiment = Experiment.create("memory:", "x", ARMS, DELTA, bounds=(0, 1), seed=1, strategy="uniform")
    experiment.tell([(pull, float(pull.arm == "plain")) for pull in experiment.ask(2)])
    alone = experiment.status()
    assert len(experiment.ask(64)) == 64
    status = experiment.status()
    assert ends([status]) == ends([alone])
    assert (status.samples, column(status, "pending")) == (2, {"strange": 32, "plain": 32})
    assert truebest.Mixture().evaluate([33, 33], [0.0, 1.0], DELTA, 0.5).decided


@pytest.mark.parametrize("strategy", ["ebs-c", "ebs-d", "tas-c", "tas-d", "lucb++", "uniform"])
def test_who_ignores_pending_pulls_sends_a_whole_batch_to_one_arm(strategy: str) -> None:
    """32 workers that do not know of each other pull the same arm; in one experiment they share the work."""

    def begun() -> Experiment:
        experiment = Experiment.create("memory:", "x", list("abc"), bounds=(0, 1), seed=1, strategy=strategy)
        experiment.tell([(p, {"a": 0.5, "b": 0.45, "c": 0.4}[p.arm]) for p in experiment.ask(30)])
        return experiment

    blind = [begun().ask()[0].arm for _ in range(32)]
    assert len(set(blind)) == 1
    batch = [pull.arm for pull in begun().ask(32)]
    assert max(batch.count(arm) for arm in "abc") <= 20


# -- settings cannot change on the way ---------------------------------------------------------------------


def test_raising_delta_after_looking_declares_a_winner_too_often() -> None:
    """Undecided at δ = 0.05, one settles for 0.5: 164 of 1000 runs in place of 8, where 86 are allowed."""
    rng = np.random.default_rng(7)
    first, second = tosses(rng, size=(1000, PAIRS)), tosses(rng, size=(1000, PAIRS))
    assert winners(first, second) <= allowed(1000)
    assert winners(first, second, delta=0.5) > allowed(1000)


def test_dropping_arms_after_looking_declares_a_winner_too_often() -> None:
    """Of 100 identical arms the best and the worst are kept with their 200 values each: 215 of 400 runs.

    All 100 judged together never give one.
    """
    means = np.random.default_rng(8).binomial(200, 0.5, (SIMULATED, 100)) / 200
    rule = truebest.Mixture()
    kept = np.stack([means.max(axis=1), means.min(axis=1)], axis=-1)
    assert rule.evaluate(np.full(kept.shape, 200), kept, DELTA, 0.5).decided.sum() > 0.3 * SIMULATED
    assert rule.evaluate(np.full(means.shape, 200), means, DELTA, 0.5).decided.sum() <= allowed(SIMULATED)


def test_a_changed_setting_is_refused() -> None:
    """Another delta, other arms, other bounds: the experiment stays as it was created."""
    store = Clocked()
    Experiment.create(store, "x", ARMS, DELTA, bounds=(0, 1), seed=1)
    for arms, delta, bounds in (
        (ARMS, 0.5, (0, 1)),
        (ARMS[::-1], DELTA, (0, 1)),
        ((*ARMS, "new"), DELTA, (0, 1)),
        (ARMS, DELTA, (0, 0.5)),
    ):
        with pytest.raises(InvalidInputError, match=r"exists with|compares"):
            Experiment.create(store, "x", arms, delta, bounds=bounds, seed=1)
    assert len(Experiment.open(store, "x").history()) == 1


# -- seeds are never shared --------------------------------------------------------------------------------


def test_shared_seeds_that_arms_use_in_opposite_ways_declare_a_winner_too_often() -> None:
    """One arm wins where the other loses, on the same seeds: 162 of 1000 runs, where 86 are allowed.

    The variance of the difference is twice that of independent arms. Arms that use a shared seed in the
    same way do no harm when pulled in turn: equal coins then never differ, and none is declared the best.
    """
    luck = np.random.default_rng(9).random((1000, PAIRS))
    wins, loses = (luck < 0.5).astype(float), (luck >= 0.5).astype(float)
    assert winners(wins, loses) > allowed(1000)
    assert winners(wins, wins.copy()) == 0


def test_arms_that_would_use_a_shared_seed_in_opposite_ways_get_seeds_of_their_own() -> None:
    """The same two arms in experiments: no more winners than allowed. Seen 0 of 60."""

    def worker(experiment: Experiment, pulls: list[Pull], rng: random.Random) -> None:
        experiment.tell([(p, coin(p) if p.arm == ARMS[0] else 1.0 - coin(p)) for p in pulls])

    assert declared(experiments(worker)) <= allowed(RUNS)


# -- how often it is wrong ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_looking_until_an_interval_excludes_zero_declares_a_winner() -> None:
    """By n = 1000: a third to two thirds of the runs with a 95% interval, at most 7% with the mixture rule.

    The guide says 52% and 0.9%, from 1000 runs; of 300 here seen 52% and 0.7%. False alarm below 1e-6 if
    the rates are 0.52 and 0.01.
    """
    naive, ours = peeking(300)
    assert 1 / 3 <= naive <= 2 / 3
    assert ours <= 0.07
