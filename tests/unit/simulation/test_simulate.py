"""`simulate`, its results, and what it refuses."""

from __future__ import annotations

import csv
import io
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import truebest
from support.later import later
from support.refusals import refused_in_one_sentence
from truebest.simulation import runs as of_runs
from truebest.simulation.summary import exact_interval

MEANS = (0.9, 0.5, 0.45, 0.4)


def test_estimates_of_a_cell() -> None:
    """Mean, standard error, quantiles, errors and their exact interval, from the runs themselves."""
    found = truebest.simulate(["uniform", "tas-d"], MEANS, [0.3, 0.01], runs=400, seed=2)
    assert len(found) == 4
    cell = found["uniform", 0.3]
    assert cell.runs == 400
    assert cell.mean_samples == pytest.approx(cell.samples.mean())
    assert cell.standard_error == pytest.approx(cell.samples.std(ddof=1) / 20)
    assert cell.quantiles()[0.5] == np.median(cell.samples)
    assert cell.errors == (cell.recommended != 0).sum() > 0
    assert cell.mean_pulls.sum() == pytest.approx(cell.mean_samples)
    low, high = cell.error_interval()
    assert low < cell.error_rate < high
    # Clopper-Pearson by its definition: at each end the binomial tail is 2.5%.
    for p, k, upper in ((low, cell.errors, True), (high, cell.errors, False)):
        terms = [math.comb(400, i) * p**i * (1 - p) ** (400 - i) for i in range(401)]
        tail = sum(terms[k:]) if upper else sum(terms[: k + 1])
        assert tail == pytest.approx(0.025, rel=1e-6)


def test_exports() -> None:
    """to_dict has plain numbers, to_csv one line per cell, repr a table."""
    found = truebest.simulate("tas-d", MEANS, [0.1, 0.01], runs=30)
    rows = found.to_dict()
    assert [row["delta"] for row in rows] == [0.1, 0.01]
    needed = {
        "strategy",
        "delta",
        "runs",
        "mean_samples",
        "standard_error",
        "errors",
        "error_rate",
        "censored",
        "seed",
    }
    assert needed <= set(rows[0])
    lines = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert float(lines[1]["mean_samples"]) == rows[1]["mean_samples"]
    assert float(lines[0]["mean_pulls_1"]) == rows[0]["mean_pulls"][0]
    assert "tas-d" in str(found)
    assert "±" in repr(found["tas-d", 0.1])


def test_to_frame_needs_pandas() -> None:
    """A frame where pandas is installed, else a sentence."""
    found = truebest.simulate("tas-d", MEANS, 0.1, runs=5)
    try:
        import pandas as pd  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        with pytest.raises(truebest.InvalidInputError, match="needs pandas"):
            found.to_frame()
        return
    assert isinstance(found.to_frame(), pd.DataFrame)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    """A failed write leaves the old file and nothing else."""
    found = truebest.simulate("tas-d", MEANS, 0.1, runs=5)
    target = tmp_path / "out.csv"
    found.to_csv(target)
    assert target.read_text() == found.to_csv()
    with pytest.raises(OSError, match="No such file"):
        found.to_csv(tmp_path / "missing" / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_censored_runs_are_counted_and_named() -> None:
    """A run cut off counts at max_samples and recommends nothing; the mean is marked."""
    found = truebest.simulate("tas-d", (0.5, 0.5), 0.1, runs=50, max_samples=100)
    cell = found["tas-d"]
    cut = cell.recommended < 0
    assert cell.censored == cut.sum() > 0
    assert (cell.samples[cut] == 100).all()
    assert cell.to_dict()["mean_is_lower_bound"]
    assert ">= " in str(found)
    assert "censored" in str(found)
    assert cell.errors == 0  # with equal arms no recommendation is wrong


def test_what_runs_that_were_cut_off_would_recommend_is_kept(tmp_path: Path) -> None:
    """The arm of largest mean when they ended, as their traces have it; in files, in halves, in a summary."""
    options = {"seed": 2, "max_samples": 60, "progress": False}
    means = (0.5, 0.45, 0.3)
    found = truebest.simulate("tas-d", means, 0.2, runs=60, **options)  # type: ignore[arg-type]
    cell = found.cells[0]
    for run in range(60):
        path = truebest.trace("tas-d", means, 0.2, run=run, seed=2, max_samples=60)
        leader = -1 if path.recommended is not None else int(path.means[-1].argmax())
        assert cell.leaders[run] == leader
    wrong = int((cell.leaders > 0).sum())
    assert cell.wrong_leaders == wrong
    assert 0 < wrong < cell.censored < 60
    found.save(tmp_path / "found.json")
    again = truebest.load_simulation(tmp_path / "found.json").cells[0]
    halves = [
        truebest.simulate("tas-d", means, 0.2, runs=30, first=first, **options)  # type: ignore[arg-type]
        for first in (0, 30)
    ]
    for other in (again, (halves[0] + halves[1]).cells[0]):
        assert other.leaders.tolist() == cell.leaders.tolist()
    short = truebest.simulate("tas-d", means, 0.2, runs=60, keep="summary", **options).cells[0]  # type: ignore[arg-type]
    assert (short.wrong_leaders, short.decided) == (cell.wrong_leaders, cell.decided)
    row = cell.to_dict()
    assert (row["decided"], row["censored"], row["wrong_leaders"]) == (
        cell.decided, cell.censored, cell.wrong_leaders
    )  # fmt: skip


def test_the_error_rate_is_that_of_decided_runs() -> None:
    """With its exact interval; where none is decided none is shown, in numbers, table and notes."""
    some = truebest.simulate("uniform", (0.5, 0.4, 0.3), 0.3, runs=300, max_samples=60).cells[0]
    assert 0 < some.errors < some.decided < 300
    assert some.error_rate == some.errors / some.decided
    assert some.error_interval() == exact_interval(some.errors, some.decided)
    found = truebest.simulate("uniform", (0.31, 0.3), 0.05, runs=200, max_samples=20, stopping="mixture")
    cell = found.cells[0]
    assert (cell.decided, cell.errors, cell.censored) == (0, 0, 200)
    assert np.isnan(cell.error_rate)
    assert cell.error_interval() == (0.0, 1.0)
    assert cell.wrong_leaders == (cell.leaders == 1).sum()
    assert 60 < (cell.leaders == 1).sum() < 140
    header, (row,) = found.table()
    shown = dict(zip(header, row, strict=True))
    assert (shown["errors"], shown["error rate"], shown["cut off"]) == ("0", "-", "200")
    assert shown["wrong leader"] == str(cell.wrong_leaders)
    (note,) = found.notes()
    assert f"The answer so far was wrong in {cell.wrong_leaders} of them; there is no error rate." in note
    assert "no run is decided" in found.plot().axes[1].texts[0].get_text()


def test_several_best_arms_and_errors() -> None:
    """A recommendation is wrong only if the arm is not among the best."""
    cell = truebest.simulate("uniform", (0.5, 0.5, 0.4), 0.3, runs=300, max_samples=200).cells[0]
    assert cell.errors == (cell.recommended == 2).sum()


@pytest.mark.parametrize(
    ("rewards", "noise", "sigma"),
    [("bernoulli", 1.0, 0.5), ("uniform", 0.25, 0.25), ("gaussian", [1.0, 2.0, 0.5], 2.0)],
)
def test_default_sigma(rewards: str, noise: float | list[float], sigma: float) -> None:
    """The largest noise, 1/2 for Bernoulli, the half-width for uniform."""
    means = (0.9, 0.5, 0.2)
    one = truebest.simulate("tas-d", means, 0.1, runs=20, rewards=rewards, noise=noise)
    two = truebest.simulate("tas-d", means, 0.1, runs=20, rewards=rewards, noise=noise, sigma=sigma)
    np.testing.assert_array_equal(one.cells[0].samples, two.cells[0].samples)


def test_progress_is_reported_in_full() -> None:
    """A function gets (done, total); the last call says all."""
    calls: list[tuple[int, int]] = []
    truebest.simulate(
        ["tas-d", "racing"], MEANS, [0.1, 0.2], runs=50, progress=lambda a, b: calls.append((a, b))
    )
    assert calls[-1] == (150, 150)  # tas-d serves both risks at once, racing runs for each
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)


def test_memory_stays_small() -> None:
    """A few tens of bytes per run: the arrays of a cell, and nothing kept per step."""
    cell = truebest.simulate("racing", (9.0, 0.0), 0.1, runs=100_000).cells[0]
    assert (cell.samples.nbytes + cell.recommended.nbytes) / cell.runs <= 32


TRACE_INTERRUPTED = """
import os, signal, threading, truebest
truebest.trace("tas-d", (9.0, 0.0), 0.1)
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    truebest.trace("tas-d", (0.5, 0.4999), 1e-9)
except KeyboardInterrupt:
    print("stopped")
"""


def test_a_trace_can_be_interrupted() -> None:
    """Ctrl-C during a run that would take for ever."""
    command = [sys.executable, "-c", TRACE_INTERRUPTED]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert run.stdout == "stopped\n", run.stderr


INTERRUPTED = """
import os, signal, threading, truebest
truebest.simulate("tas-d", (9.0, 0.0), 0.1, runs=2)  # loads or compiles the kernels
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
found = truebest.simulate("tas-d", (0.5, 0.49), [0.1, 0.9], runs=2000, seed=6, max_samples=10**6)
for cell in reversed(found.cells):
    assert abs(cell.mean_pulls.sum() - cell.mean_samples) < 1e-9 * cell.mean_samples
few = min(cell.runs, 20)
short = truebest.simulate("tas-d", (0.5, 0.49), 0.1, runs=few, seed=6, max_samples=10**6).cells[0]
assert (short.samples == cell.samples[:20]).all()
assert (cell.samples > 0).all()
print(cell.runs, cell.complete, "Interrupted" in str(found))
"""


def test_an_interruption_returns_the_longest_prefix() -> None:
    """After Ctrl-C: the first so many runs, without a gap, marked incomplete."""
    run = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    runs, complete, marked = run.stdout.split()
    assert 0 < int(runs) < 2000
    assert (complete, marked) == ("False", "True")


COMMAND_INTERRUPTED = """
import os, signal, sys
from truebest.__main__ import main
from truebest.simulation.progress import Reporter
add = Reporter.add

def add_and_interrupt(self, runs):
    add(self, runs)
    Reporter.add = add
    os.kill(os.getpid(), signal.SIGINT)

Reporter.add = add_and_interrupt
sys.exit(main())
"""


def test_the_command_interrupted_prints_what_it_has() -> None:
    """Ctrl-C when the first runs are complete: exit code 130, the table of these, no traceback."""
    words = "simulate --means 0.5,0.499 --strategy tas-d --runs 100000 --max-samples 1000000 --threads 1"
    command = [sys.executable, "-c", COMMAND_INTERRUPTED, *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 130
    assert "tas-d" in done.stdout
    assert "Traceback" not in done.stderr
    assert "Interrupted" in done.stderr


def bad_arm(t, last, leader, pulls, means, delta, params, memory, random):  # type: ignore[no-untyped-def]
    """A strategy that goes wrong after a while."""
    return 77 if t > 20 else leader


def no_number(t, last, leader, pulls, means, delta, params, memory, random):  # type: ignore[no-untyped-def]
    """A strategy that cannot be compiled to a whole number."""
    return "first"


def half(t, last, leader, pulls, means, delta, params, memory, random):  # type: ignore[no-untyped-def]
    """A strategy that returns a float."""
    return t / 2


def too_far(t, last, leader, pulls, means, delta, params, memory, random):  # type: ignore[no-untyped-def]
    """A strategy that uses a row it did not ask for."""
    memory[0, leader] += 1.0
    return leader


def complaint(t, last, leader, pulls, means, delta, params, memory, random):  # type: ignore[no-untyped-def]
    """A strategy that raises."""
    if t > 9:
        raise ValueError("no more")
    return leader


def broken_report(done: int, total: int) -> None:
    """A progress function that fails."""
    raise RuntimeError("report failed")


BAD: list[tuple[str, Callable[[], object]]] = [
    ("raised IndexError", lambda: truebest.simulate(truebest.strategy(too_far), MEANS, 0.1)),
    ("raised ValueError", lambda: truebest.simulate(truebest.strategy(complaint), MEANS, 1e-9)),
    ("returns float64", lambda: truebest.strategy(half)),
    ("rows must be", lambda: truebest.strategy(rows="target")),
    ("rows must be", lambda: truebest.strategy(params=("a",))),  # type: ignore[arg-type]
    ("plain function", lambda: truebest.strategy(int)),
    ("a name or a Strategy", lambda: truebest.simulate(5, MEANS, 0.1)),  # type: ignore[arg-type]
    ("a name or a Strategy", lambda: truebest.simulate(truebest.EBS, MEANS, 0.1)),  # type: ignore[arg-type]
    ("clip must be", lambda: truebest.EBS(clip=(0.0,))),  # type: ignore[arg-type]
    ("units of sigma", lambda: truebest.simulate("tas-d", (1e300, 0.0), 0.1, sigma=1e-10)),
    ("units of sigma", lambda: truebest.simulate("tas-d", (1.0, 0.0), 0.1, noise=1e-320)),
    ("must be unique", lambda: truebest.simulate("tas-d", (0.5, 0.5 + 1e-12), 0.1)),
    ("may never end", lambda: truebest.simulate("lucb++", (0.5, 0.49, -1.0), 0.5)),
    ("progress must be", lambda: truebest.simulate("tas-d", MEANS, 0.1, progress="yes")),  # type: ignore[arg-type]
    ("runs must be", lambda: truebest.simulate("tas-d", MEANS, 0.1, runs=10**12)),
    ("the key must name", lambda: truebest.simulate("tas-d", MEANS, 0.1, runs=5)[0]),  # type: ignore[index]
    (
        "confidence must lie",
        lambda: truebest.simulate("tas-d", MEANS, 0.1, runs=5).cells[0].error_interval(95),
    ),
    ("must be unique", lambda: truebest.simulate("tas-d", (1.0, 1.0, 0.0), 0.1)),
    ("runs must be", lambda: truebest.simulate("tas-d", MEANS, 0.1, runs=0)),
    ("runs must be", lambda: truebest.simulate("tas-d", MEANS, 0.1, runs=2.5)),  # type: ignore[arg-type]
    ("seed must be", lambda: truebest.simulate("tas-d", MEANS, 0.1, seed=-1)),
    ("threads must be", lambda: truebest.simulate("tas-d", MEANS, 0.1, threads=0)),
    ("did you mean 'ebs-d'", lambda: truebest.simulate("ebs", MEANS, 0.1)),
    ("different ones", lambda: truebest.simulate(["tas-d", "tas-d"], MEANS, 0.1)),
    ("different ones", lambda: truebest.simulate([], MEANS, 0.1)),
    ("sigma must be positive", lambda: truebest.simulate("tas-d", MEANS, 0.1, sigma=0.0)),
    ("noise must be", lambda: truebest.simulate("tas-d", MEANS, 0.1, noise=-1.0)),
    ("noise must be", lambda: truebest.simulate("tas-d", MEANS, 0.1, noise=[1.0, 1.0])),
    ("noise must be positive", lambda: truebest.simulate("tas-d", MEANS, 0.1, noise=0.0)),
    ("strictly between 0 and 1", lambda: truebest.simulate("tas-d", MEANS, [0.1, 1.0])),
    ("different risks", lambda: truebest.simulate("tas-d", MEANS, [0.1, 0.1])),
    ("shape (K,)", lambda: truebest.trace("tas-d", [MEANS, MEANS], 0.1)),
    ("at least two arms", lambda: truebest.simulate("tas-d", [1.0], 0.1)),
    ("between 0 and 1", lambda: truebest.simulate("tas-d", (2.0, 0.0), 0.1, rewards="bernoulli")),
    ("rewards must be one of", lambda: truebest.simulate("tas-d", MEANS, 0.1, rewards="cauchy")),
    ("max_samples must be", lambda: truebest.simulate("tas-d", MEANS, 0.1, max_samples=3)),
    ("may never end", lambda: truebest.simulate("lucb++", MEANS, 0.1, stopping="mixture")),
    ("may never end", lambda: truebest.trace("lucb++", MEANS, 0.1, stopping="gk16")),
    ("tracking must be one of", lambda: truebest.EBS(tracking="E")),
    ("gamma must lie", lambda: truebest.EBS(gamma=0.0)),
    ("width must be one of", lambda: truebest.EBS(width="wide")),
    ("clip must be", lambda: truebest.EBS(clip=(1.0, 0.0))),
    ("returned 77 in run 0", lambda: truebest.simulate(truebest.strategy(bad_arm), MEANS, 0.01)),
    ("returned 77 in run 3", lambda: truebest.trace(truebest.strategy(bad_arm), MEANS, 1e-9, run=3)),
    ("does not compile", lambda: truebest.strategy(no_number)),
    ("must be a plain function of", lambda: truebest.strategy(7)),  # type: ignore[arg-type]
    ("model, got (leader, mu); take only these", lambda: truebest.strategy(lambda leader, mu: 0)),
    ("model, got (*args); take only these", lambda: truebest.strategy(lambda *args: 0)),
    ("model, got (*, t); take only these, as ordinary", lambda: truebest.strategy(lambda *, t: 0)),
    ("the key must name one cell", lambda: truebest.simulate("tas-d", MEANS, [0.1, 0.2], runs=5)["tas-d"]),
]


@pytest.mark.parametrize(("part", "call"), BAD, ids=[f"{i}-{part}" for i, (part, _) in enumerate(BAD)])
def test_bad_input_gets_one_sentence(part: str, call: Callable[[], object]) -> None:
    """What was given, what is allowed, what to do, in one line."""
    refused_in_one_sentence(part, call)


def test_a_failing_progress_function_stops_the_work() -> None:
    """The error comes out, and the other threads end."""
    with pytest.raises(RuntimeError, match="report failed"):
        truebest.simulate("tas-d", (0.5, 0.49), 0.1, runs=10_000, progress=broken_report)


@later()
def soon_or_late(t, means):  # type: ignore[no-untyped-def]
    """No arm in the end: soon where arm 0 began well, else after many samples."""
    return 77 if t > (20 if means[0] > 0.0 else 200_000) else 1


@pytest.mark.parametrize("seed", range(8))
def test_the_first_run_that_fails_is_named(seed: int) -> None:
    """Of 64 runs that all fail, run 0, also where threads with other runs see it long before."""
    with pytest.raises(truebest.InvalidInputError, match="returned 77 in run 0;"):
        truebest.simulate(soon_or_late(), (0.0, 1e-3), 1e-9, runs=64, seed=seed, threads=4)


@later(params=(3.0, 2.0))
def arm_by_params(t, last, leader, pulls, means, delta, params, memory, random):  # type: ignore[no-untyped-def]
    """Arm 2 for a small delta and arm 3 for a large one, from the parameters."""
    return int(params[1]) if delta < 0.05 else int(params[0])


@later(stops_itself=True)
def stop_at_fifty(t, last, leader, pulls, means, delta, params, memory, random):  # type: ignore[no-untyped-def]
    """Stop after fifty samples, and recommend arm 1 whatever was seen."""
    return pulls.size + 1 if t == 50 else int(t) % pulls.size


def test_user_strategies_get_params_and_delta_and_may_stop() -> None:
    """Parameters, the risk of each run, and a decision of their own."""
    for delta, arm in ((0.01, 2), (0.1, 3)):
        path = truebest.trace(arm_by_params(), MEANS, delta, max_samples=30)
        assert set(path.arm[:-1].tolist()) == {arm}
    both = truebest.simulate(arm_by_params(), MEANS, [0.01, 0.1], runs=3, max_samples=30)
    assert both["arm_by_params", 0.01].mean_pulls.argmax() == 2
    assert both["arm_by_params", 0.1].mean_pulls.argmax() == 3
    stopped = truebest.simulate(stop_at_fifty(), MEANS, [0.2, 0.1], runs=4)
    for cell in stopped:
        assert cell.samples.tolist() == [50] * 4
        assert cell.recommended.tolist() == [1] * 4
        assert cell.errors == 4


def test_a_trace_is_in_the_units_of_the_rewards() -> None:
    """Means and intervals scale with the rewards; statistic and threshold are the rule's own."""
    one = truebest.trace("ebs-d", MEANS, 0.1, seed=1)
    two = truebest.trace("ebs-d", [4 * m for m in MEANS], 0.1, seed=1, noise=4.0)
    np.testing.assert_array_equal(4 * one.means, two.means)
    assert one.lower is not None
    assert two.lower is not None
    np.testing.assert_array_equal(4 * one.lower, two.lower)
    width = truebest.confidence_width(one.pulls[-2], 0.05, 4, "experiments")
    np.testing.assert_allclose(one.lower[-2], one.means[-2] - width, rtol=1e-12)
    rule = truebest.Practical()
    for row in (0, 50, -1):
        found = rule.evaluate(two.pulls[row], two.means[row], 0.1, sigma=4.0)
        np.testing.assert_allclose(two.statistic[row], found.statistic, rtol=1e-12)
        np.testing.assert_allclose(two.threshold[row], found.threshold, rtol=1e-12)


def test_confidence_of_the_error_interval() -> None:
    """A higher confidence gives a wider interval."""
    cell = truebest.simulate("uniform", MEANS, 0.3, runs=200, seed=2).cells[0]
    low, high = cell.error_interval(0.99)
    assert low < cell.error_interval(0.9)[0]
    assert high > cell.error_interval(0.9)[1]


def test_more_runs_than_fit_into_the_memory_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the work: by what the machine or the container has, or by what the system refuses."""
    assert 2**28 < of_runs.total_memory() < 2**60
    monkeypatch.setattr(of_runs, "CONTAINER", tmp_path / "memory.max")
    for limit, fits in (("max\n", True), (f"{2**20}\n", False)):
        of_runs.CONTAINER.write_text(limit)
        assert (of_runs.total_memory() == 2**20) != fits
    with pytest.raises(truebest.InvalidInputError, match=r"got 10{9}, which for 6 .* take 178\.8 GiB"):
        truebest.simulate(["uniform", "tas-d"], MEANS, [0.1, 0.05, 0.01], runs=10**9)
    truebest.simulate("uniform", MEANS, 0.1, runs=10)
    with pytest.raises(truebest.InvalidInputError, match=r"a run of 49999 steps, .* GiB; cut it off"):
        truebest.trace("uniform", (0.5, 0.499), 1e-9, max_samples=50_000)

    def none_left(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(np, "full", none_left)
    with pytest.raises(truebest.InvalidInputError, match="runs must fit into memory, got 10, "):
        truebest.simulate("uniform", MEANS, 0.1, runs=10)


def test_names_show_what_is_not_default() -> None:
    """So that two variants of a strategy can stand in one table."""
    assert truebest.EBS().name == "ebs-d"
    assert truebest.EBS("C", gamma=0.2).name == "ebs-c(gamma=0.2)"
    found = truebest.simulate([truebest.EBS("C"), truebest.EBS("C", gamma=0.2)], MEANS, 0.1, runs=5)
    assert [cell.strategy for cell in found] == ["ebs-c", "ebs-c(gamma=0.2)"]


def test_third_party_strategies_by_entry_point(tmp_path: Path) -> None:
    """An installed package that registers a strategy is found by its name."""
    package = tmp_path / "greedy_arm"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import truebest\n"
        "@truebest.strategy(name='greedy')\n"
        "def greedy(t, last, leader, pulls, means, delta, params, memory, random):\n"
        "    return leader\n"
    )
    info = tmp_path / "greedy_arm-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: greedy-arm\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[truebest.strategies]\ngreedy = greedy_arm:greedy\n")
    code = "import truebest; print(truebest.simulate('greedy', [9.0, 0.0], 0.1, runs=5).cells[0].strategy)"
    path = os.pathsep.join([str(tmp_path), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "TRUEBEST_JIT": "0"}  # nothing here needs a compiler
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert run.stdout.strip() == "greedy", run.stderr
