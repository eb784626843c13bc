"""One call: `identify` and `aidentify`, their budgets, failures, workers and resumption."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import truebest
from support.told import intervals
from truebest import (
    ArmError,
    Experiment,
    InvalidInputError,
    Pull,
    SuspendedError,
    aidentify,
    identify,
)
from truebest.experiment.checks import LONGEST
from truebest.experiment.store.memory import MemoryStore

MOST = 5000


def bernoulli(p: float) -> Callable[[np.random.Generator], float]:
    """An arm that succeeds with probability p."""

    def arm(rng: np.random.Generator) -> float:
        return float(rng.random() < p)

    return arm


def arms() -> dict[str, Callable[[np.random.Generator], float]]:
    return {"short": bernoulli(0.3), "long": bernoulli(0.4), "cot": bernoulli(0.8)}


def picklable(rng: np.random.Generator) -> float:
    """For a pool of processes."""
    return float(rng.normal())


def picklable_better(rng: np.random.Generator) -> float:
    """The better one."""
    return float(rng.normal(2.0))


def test_the_best_arm_is_found_and_the_result_says_what_it_means() -> None:
    """A sentence with the answer, the promise and the cost; the rest in fields."""
    result = identify(arms(), 0.05, bounds=(0, 1), rng=1, max_samples=MOST)
    assert result.best == result.leader == "cot"
    assert result.ended == "decided"
    text = str(result)
    assert text.startswith(
        "cot is best; wrong with probability at most 5%, assuming independent values in [0, 1]; "
    )
    assert f"{result.samples} samples (uniform: about" in text
    assert sum(result.pulls.values()) == result.samples
    assert result.promise.caveats == ()
    assert json.loads(json.dumps(result.to_dict()))["best"] == "cot"
    page = result._repr_html_()
    assert page.count("<tr>") == 4
    assert "&lt;b&gt;" in identify({"<b>": picklable, "x": picklable}, sigma=1.0, max_samples=2)._repr_html_()
    assert "cot is best" in page


def test_the_same_seed_gives_the_same_run() -> None:
    """Also from a generator in the same state; another seed gives another run."""
    one, two = (identify(arms(), bounds=(0, 1), rng=1, max_samples=MOST) for _ in range(2))
    assert (one.pulls, one.means) == (two.pulls, two.means)
    three, four = (
        identify(arms(), bounds=(0, 1), rng=np.random.default_rng(5), max_samples=MOST) for _ in range(2)
    )
    assert (three.pulls, three.means) == (four.pulls, four.means)
    assert three.means != one.means


def test_every_pull_has_a_generator_of_its_own() -> None:
    """Independent children: no two pulls begin with the same number, a repeated pull with its own again."""
    seen: list[float] = []

    def arm(rng: np.random.Generator) -> float:
        seen.append(float(rng.random()))
        if len(seen) == 7:
            raise OSError("once")
        return seen[-1]

    identify({"a": arm, "b": arm}, bounds=(0, 1), rng=3, max_samples=100, on_error="retry")
    assert len(seen) == 101
    assert len(set(seen)) == 100
    assert seen[6] == seen[7]


def test_undecided_is_none_and_never_a_guess() -> None:
    """Budget gone: best is None, leader is there, the sentence says so."""
    result = identify({"a": bernoulli(0.5), "b": bernoulli(0.5)}, bounds=(0, 1), rng=1, max_samples=40)
    assert result.best is None
    assert result.leader in ("a", "b")
    assert (result.ended, result.samples) == ("max_samples", 40)
    assert str(result).startswith("undecided after 40 samples")
    assert json.loads(json.dumps(result.to_dict()))["best"] is None


def test_without_a_scale_there_is_no_promise() -> None:
    """Neither sigma nor bounds: refused with the reason."""
    with pytest.raises(InvalidInputError, match="without a scale nothing can be promised"):
        identify(arms(), max_samples=MOST)


def test_without_a_budget_it_says_that_ties_never_stop() -> None:
    """Once, as a warning."""
    with pytest.warns(UserWarning, match="with tied best arms a run never ends"):
        identify(arms(), bounds=(0, 1), rng=1)


def test_minimize_looks_for_the_smallest() -> None:
    """Raw values are stored and shown."""
    result = identify(arms(), bounds=(0, 1), rng=1, minimize=True, max_samples=20_000)
    assert result.best == "short"
    assert result.means["cot"] == pytest.approx(0.8, abs=0.25)
    assert intervals(result)["cot"][0] >= 0


def test_an_offset_of_a_billion_is_no_trouble() -> None:
    """Gaussian arms shifted by 1e9 take as many samples as without, up to the rounding of the data."""
    shifted = {name: (lambda rng, m=m: 1e9 + rng.normal(m)) for name, m in (("a", 0.0), ("b", 1.0))}
    plain = {name: (lambda rng, m=m: rng.normal(m)) for name, m in (("a", 0.0), ("b", 1.0))}
    one = identify(shifted, sigma=1.0, rng=4, max_samples=MOST)
    two = identify(plain, sigma=1.0, rng=4, max_samples=MOST)
    assert (one.best, one.pulls) == (two.best, two.pulls)
    assert one.progress.statistic == pytest.approx(two.progress.statistic, rel=1e-6)


@pytest.mark.parametrize("workers", [4, "threads", "processes"])
def test_workers_run_side_by_side(workers: Any) -> None:
    """Threads of its own, or any executor of concurrent.futures."""
    pool = {"threads": ThreadPoolExecutor, "processes": ProcessPoolExecutor}.get(workers)
    given: Any = pool(2) if pool else workers
    result = identify(
        {"a": picklable, "b": picklable_better}, sigma=1.0, rng=1, workers=given, max_samples=MOST
    )
    assert result.best == "b"
    if pool:
        given.shutdown()


def test_workers_are_busy_at_the_same_time() -> None:
    """With four workers four arms are under way at once."""
    gate = threading.Barrier(4, timeout=20)
    calls = [0]

    def arm() -> float:
        calls[0] += 1
        if calls[0] <= 4:
            gate.wait()
        return 0.5

    result = identify({"a": arm, "b": arm}, bounds=(0, 1), workers=4, max_samples=12)
    assert result.samples == 12


def test_an_error_stops_the_run_unless_it_is_to_be_repeated() -> None:
    """raise: an ArmError that names arm and cause. retry: the same pull again, and a caveat."""
    count = [0]

    def flaky() -> float:
        count[0] += 1
        if count[0] % 3 == 0:
            raise OSError("the network was down")
        return 1.0

    both = {"flaky": flaky, "fine": lambda: 0.0}
    with pytest.raises(ArmError, match=r"'flaky' failed in pull .* the network was down"):
        identify(both, bounds=(0, 1), max_samples=MOST)
    result = identify(both, bounds=(0, 1), max_samples=MOST, on_error="retry")
    assert result.best == "flaky"
    assert any(code == "failed" and "flaky" in sentence for code, _, sentence in result.promise.caveats)


class AtOnce(Executor):
    """An executor that has every result as soon as it is asked for; four at a time."""

    _max_workers = 4

    def submit(self, function: Any, /, *words: Any, **arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*words, **arguments))
        except Exception as error:
            future.set_exception(error)
        return future


def test_an_error_loses_no_other_value() -> None:
    """Four pulls at once, the second fails: what the others gave is in the log."""
    store = MemoryStore()

    def broken() -> float:
        raise OSError("gone")

    arms = {"a": lambda: 0.5, "b": broken, "c": lambda: 0.5, "d": lambda: 0.5}
    with pytest.raises(ArmError, match="'b'"):
        identify(arms, bounds=(0, 1), workers=AtOnce(), max_samples=9, store=store)
    events = truebest.Experiment.open(store, "identify").history()
    assert [e.arm for e in events if e.kind == "told"] == ["a", "c", "d"]
    assert [e.arm for e in events if e.kind == "failed"] == ["b"]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_arm_that_exits_ends_the_run(workers: int) -> None:
    """sys.exit() in an arm, in a thread or not, is not a failure to be repeated."""

    def leave() -> float:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        identify({"a": leave, "b": leave}, bounds=(0, 1), workers=workers, max_samples=9, on_error="retry")


def test_the_warning_points_to_the_caller() -> None:
    """Not into the package."""
    with pytest.warns(UserWarning, match="tied") as caught:
        identify(arms(), bounds=(0, 1), rng=1)
    assert caught[0].filename == __file__


def test_signatures_name_every_option_and_its_default() -> None:
    """As `help` and a notebook show them; type checkers read the same table."""
    import inspect

    from truebest.experiment.settings import Given, Shared
    from truebest.running.identify import Options

    shown = inspect.signature(identify).parameters
    assert set(shown) == {"arms", "delta", "workers"} | set(Options.__annotations__)
    assert set(Shared.__annotations__) < set(Options.__annotations__)
    assert (shown["on_error"].default, shown["store"].default, shown["sigma"].default) == (
        "raise",
        "memory:",
        None,
    )
    assert list(inspect.signature(truebest.aidentify).parameters) == list(shown)
    create = inspect.signature(Experiment.create).parameters
    assert set(create) == {"store", "name", "arms", "delta", "worker"} | set(Given.__annotations__)
    assert create["lease"].default == 3600.0


def test_an_unknown_option_is_refused_with_the_nearest() -> None:
    """A TypeError, as for any function of Python; nothing is run."""
    wrong: dict[str, Any] = {"max_sample": 9}
    with pytest.raises(TypeError, match=r"^identify got an unexpected argument 'max_sample'; it takes .*"):
        identify(arms(), bounds=(0, 1), **wrong)
    with pytest.raises(TypeError, match=r"did you mean 'max_samples'\?$"):
        asyncio.run(truebest.aidentify(arms(), bounds=(0, 1), **wrong))
    with pytest.raises(TypeError, match="create got an unexpected argument 'max_sample'"):
        Experiment.create("memory:", "x", ["a", "b"], bounds=(0, 1), **wrong)


def test_the_result_draws_itself() -> None:
    """A Matplotlib figure with two panels."""
    assert len(identify(arms(), bounds=(0, 1), rng=1, max_samples=MOST).plot().axes) == 2


def test_a_pull_that_always_fails_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under retry too: dropping it would bias the arm."""
    monkeypatch.setattr("truebest.running.run.LONGEST_WAIT", 0.01)

    def broken() -> float:
        raise OSError("gone")

    with pytest.raises(ArmError, match="failed 10 times in pull 2"):
        identify({"a": lambda: 0.5, "b": broken}, bounds=(0, 1), max_samples=100, on_error="retry")


def test_a_function_may_supply_a_value() -> None:
    """on_error gets the pull and the error; what it returns counts, None repeats the pull."""
    seen: list[tuple[str, str]] = []

    def rescue(pull: Pull, error: BaseException) -> float:
        seen.append((pull.arm, str(error)))
        return 0.0

    def broken() -> float:
        raise OSError("gone")

    result = identify({"good": lambda: 1.0, "bad": broken}, bounds=(0, 1), max_samples=MOST, on_error=rescue)
    assert result.best == "good"
    assert result.means["bad"] == 0.0
    assert seen[0] == ("bad", "gone")


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), "0.5", [0.5]])
def test_what_is_no_number_is_a_failure(value: Any) -> None:
    """It is never dropped in silence."""
    with pytest.raises(ArmError, match="a value must be a finite number"):
        identify({"a": lambda: 0.5, "b": lambda: value}, bounds=(0, 1), max_samples=100)


def test_a_value_outside_the_bounds_suspends() -> None:
    """And the message names the pull and the bounds."""
    with pytest.raises(SuspendedError, match=r"outside the bounds \[0, 1\]"):
        identify({"a": lambda: 0.5, "b": lambda: 2.0}, bounds=(0, 1), max_samples=100)


def test_a_pull_that_hangs_counts_as_failed() -> None:
    """pull_timeout; the thread is left behind and the run goes on."""
    hung = threading.Event()
    count = [0]

    def slow() -> float:
        count[0] += 1
        if count[0] == 2:
            hung.wait(30)
        return 1.0

    both = {"slow": slow, "fast": lambda: 0.0}
    result = identify(both, bounds=(0, 1), max_samples=MOST, pull_timeout=0.5, on_error="retry")
    assert result.best == "slow"
    assert any(code == "failed" for code, _, _ in result.promise.caveats)
    with pytest.raises(ArmError, match="no answer within"):
        identify({"a": lambda: hung.wait(30), "b": lambda: 0.0}, sigma=1.0, pull_timeout=0.2, max_samples=9)
    hung.set()


def test_the_time_runs_out() -> None:
    """timeout: the run ends though an arm hangs, and says why."""
    hung = threading.Event()
    begun = time.monotonic()
    result = identify({"a": lambda: hung.wait(60), "b": lambda: 0.0}, sigma=1.0, timeout=0.5)
    assert result.ended == "timeout"
    assert result.best is None
    assert time.monotonic() - begun < 30
    hung.set()


def test_a_run_is_taken_up_where_it_was_left(tmp_path: Path) -> None:
    """A crash in the middle, the same call again: the same end as without the crash."""
    want = identify(arms(), bounds=(0, 1), rng=1, max_samples=MOST)
    count = [0]

    def crash(status: truebest.Account) -> None:
        count[0] += 1
        if count[0] in (6, 12):
            raise KeyboardInterrupt

    store = f"sqlite:///{tmp_path / 'run.db'}"
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            identify(arms(), bounds=(0, 1), rng=1, max_samples=MOST, store=store, callbacks=[crash])
    result = identify(arms(), bounds=(0, 1), rng=1, max_samples=MOST, store=store)
    assert (result.best, result.pulls, result.means) == (want.best, want.pulls, want.means)
    again = identify(arms(), bounds=(0, 1), max_samples=MOST, store=store)
    assert again.pulls == want.pulls


def test_a_resume_with_other_settings_is_refused_but_a_larger_budget_is_fine() -> None:
    """delta, scale, arms are what the promise is about; a budget is not."""
    store = MemoryStore()
    first = identify(arms(), bounds=(0, 1), rng=1, max_samples=10, store=store)
    assert first.best is None
    with pytest.raises(InvalidInputError, match="delta"):
        identify(arms(), 0.1, bounds=(0, 1), max_samples=100, store=store)
    with pytest.raises(InvalidInputError, match="arms"):
        identify({**arms(), "new": bernoulli(0.5)}, bounds=(0, 1), max_samples=100, store=store)
    more = identify(arms(), bounds=(0, 1), max_samples=MOST, store=store)
    assert more.best == "cot"


def test_callbacks_see_every_result() -> None:
    """With the status after it."""
    seen: list[int] = []
    result = identify(
        arms(), bounds=(0, 1), rng=1, max_samples=MOST, callbacks=[lambda status: seen.append(status.samples)]
    )
    assert seen == list(range(1, result.samples + 1))


def test_functions_in_a_list_go_by_their_names() -> None:
    """Lambdas are numbered."""
    result = identify([picklable, picklable_better], sigma=1.0, rng=1, max_samples=MOST)
    assert result.best == "picklable_better"
    assert identify([lambda: 0.0, lambda: 9.0], sigma=1.0, max_samples=MOST).best == "arm 2"


@pytest.mark.parametrize("limit", ["timeout", "pull_timeout"])
def test_the_longest_time_can_be_waited_for(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the platform's locks wait for seven weeks at most."""
    longest: dict[str, Any] = {limit: LONGEST}
    waited: list[float] = []

    def slow() -> float:
        time.sleep(0.01)
        return 1.0

    def wait(futures: Any, timeout: float, when: str) -> Any:
        waited.append(timeout)
        return concurrent.futures._base.wait(futures, timeout, when)

    monkeypatch.setattr(concurrent.futures, "wait", wait)
    for most in (threading.TIMEOUT_MAX, 4_294_967.0):
        monkeypatch.setattr(threading, "TIMEOUT_MAX", most)
        assert (
            identify({"a": slow, "b": slow}, bounds=(0, 1), max_samples=4, workers=2, **longest).samples == 4
        )
        assert max(waited) <= most
        waited.clear()


@pytest.mark.parametrize(
    "bad",
    [
        {"arms": {}},
        {"arms": {"a": 1, "b": 2}},
        {"arms": 5},
        {"arms": {"a": lambda x: x, "b": lambda: 0}},
        {"arms": {"a": lambda: 0}},
        {"workers": 0},
        {"workers": "4"},
        {"timeout": -1},
        {"timeout": 1e308},
        {"pull_timeout": 0},
        {"pull_timeout": 1e10},
        {"max_samples": 1},
        {"max_samples": 2.5},
        {"on_error": "ignore"},
        {"rng": "seed"},
        {"store": "nowhere"},
    ],
    ids=lambda bad: next(iter(bad)),
)
def test_bad_arguments_are_refused(bad: dict[str, Any]) -> None:
    """One sentence, before any arm is pulled."""
    pulled: list[int] = []

    def pull() -> float:
        pulled.append(1)
        return 0.5

    given: dict[str, Any] = {
        "arms": {"a": pull, "b": pull},
        "bounds": (0, 1),
        "max_samples": 10,
    } | bad
    with pytest.raises(InvalidInputError) as caught:
        identify(**given)
    assert not pulled
    assert "\n" not in str(caught.value)


def test_arms_may_be_asynchronous() -> None:
    """aidentify awaits several at a time, and cancels what is left when it has decided."""
    cancelled: list[int] = []

    async def arm(mean: float, rng: np.random.Generator) -> float:
        try:
            await asyncio.sleep(0.001 * rng.random())
        except asyncio.CancelledError:
            cancelled.append(1)
            raise
        return float(rng.normal(mean))

    async def low(rng: np.random.Generator) -> float:
        return await arm(0.0, rng)

    async def high(rng: np.random.Generator) -> float:
        return await arm(2.0, rng)

    result = asyncio.run(aidentify({"low": low, "high": high}, sigma=1.0, workers=8, rng=1, max_samples=MOST))
    assert result.best == "high"
    short = asyncio.run(aidentify({"low": low, "high": high}, sigma=1.0, rng=1, max_samples=4))
    assert short.ended == "max_samples"


def test_asynchronous_arms_fail_and_time_out_like_others() -> None:
    """The same policies; a pull that takes too long is cancelled."""
    count = [0]

    async def slow() -> float:
        count[0] += 1
        if count[0] == 1:
            await asyncio.sleep(60)
        return 1.0

    async def fine() -> float:
        return 0.0

    result = asyncio.run(
        aidentify(
            {"slow": slow, "fine": fine}, bounds=(0, 1), pull_timeout=0.2, on_error="retry", max_samples=MOST
        )
    )
    assert result.best == "slow"
    with pytest.raises(TypeError):
        asyncio.run(aidentify({"slow": slow, "fine": fine}, bounds=(0, 1), nonsense=1))  # type: ignore[call-arg]


def test_racing_runs_one_pull_at_a_time() -> None:
    """Whatever the number of workers: it decides by itself from complete results."""
    result = identify(arms(), bounds=(0, 1), rng=1, strategy="racing", workers=4, max_samples=MOST)
    assert result.best == "cot"


def test_two_runs_may_share_an_experiment(tmp_path: Path) -> None:
    """Two callers on one store work on the same experiment and agree."""
    store = f"sqlite:///{tmp_path / 'shared.db'}"
    results = []

    def work() -> None:
        results.append(identify(arms(), bounds=(0, 1), rng=1, max_samples=MOST, store=store))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results[0].best == results[1].best == "cot"
    assert results[0].pulls == results[1].pulls


def test_the_default_strategy_is_the_measured_one() -> None:
    """The record in docs/decisions names the default."""
    from truebest._catalogue import DEFAULT_STRATEGY

    page = Path(__file__).parents[3] / "docs" / "decisions" / "0008-default-strategy.md"
    assert f"`{DEFAULT_STRATEGY}`" in page.read_text()
    assert (
        truebest.Experiment.create("memory:", "x", ["a", "b"], sigma=1.0).settings.strategy_name
        == DEFAULT_STRATEGY
    )
