"""`device="cuda"`: in Numba's simulator, which runs the GPU's program on the processor, on tiny sizes.

With a GPU, `test_gpu.py` compares many runs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import truebest
from support.refusals import refused_in_one_sentence
from truebest.kernels import best
from truebest.kernels._specialise import Known, made_for
from truebest.kernels.rules import likelihood
from truebest.simulation import cuda

TESTS = str(Path(__file__).parents[2])
SAME = """
import sys
import numba, truebest
from support.same_runs import assert_same, differences
from truebest.kernels import api
from truebest.kernels.api import normal, uniform

@numba.njit
def helper(random):
    return uniform(random) < 0.5

def above(limit):
    @truebest.strategy(rows=("noise",), params=(0.5,))
    def mine(t, last, leader, pulls, params, memory, random):
        memory[0, 0] += api.normal(random) + normal(random)
        if helper(random) and memory[0, 0] > limit - params[0]:
            return leader
        return int(t) % pulls.size
    return mine

def same(strategy, means, deltas, runs, **options):
    one = truebest.simulate(strategy, means, deltas, runs=runs, seed=5, **options)
    other = truebest.simulate(strategy, means, deltas, runs=runs, seed=5, device="cuda", **options)
    for cell, twin in zip(one, other, strict=True):
        found = differences(strategy, means, cell, twin, **options)
        assert_same(found, cell.runs)
        assert cell.mean_pulls.tolist() == twin.mean_pulls.tolist()
        assert twin.complete
    return other
"""


def simulated(program: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A program with a simulated GPU."""
    environment = {**os.environ, "PYTHONPATH": TESTS, "NUMBA_ENABLE_CUDASIM": "1", **more}
    command = [sys.executable, "-c", SAME + program]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)


PROGRAMS = {
    "strategies": """
for name in ("uniform", "tas-c", "tas-d", "ebs-c", "ebs-d", "racing", "lucb++"):
    found = same(name, (1.9, 0.5, 0.4), [0.3, 0.1], runs=6, max_samples=500)
    assert found.cells[0].samples.min() > 3
""",
    "a user's": """
same(above(0.2), (1.9, 0.5, 0.4), [0.3, 0.1], runs=20)
""",
    "a user's rule": """
@truebest.stopping_rule
def mine(params, state, t):
    return api.evidence(params, state) > 3.0 or t > 90.0
for strategy in ("ebs-d", "lucb++", above(0.2)):
    found = same(strategy, (1.9, 0.5, 0.4), [0.3, 0.1], runs=6, stopping=mine, max_samples=500)
    assert found.cells[0].samples.max() > 3
""",
    "models and rules": """
PAIRS = truebest.BestArm(pairs=True)
same("tas-d", (0.9, 0.2), 0.2, runs=3, rewards="bernoulli", stopping="tilt", max_samples=60)
same("tas-d", (0.9, 0.2, 0.1), 0.2, runs=3, rewards="bernoulli", stopping="tilt", max_samples=60)
same("ebs-d", (3.0, 1.0), 0.2, runs=3, rewards="poisson")
same("tas-c", (3.0, 1.0), 0.2, runs=3, rewards="exponential", stopping="kaufmann-koolen", max_samples=60)
same("uniform", (2.0, 0.0), 0.2, runs=3, noise=[1.0, 0.5], sigma=[1.0, 0.5], stopping="gk16")
same("uniform", (2.0, 0.0), 0.2, runs=3, model=truebest.Student(), stopping="student", max_samples=60)
same("uniform", (0.9, 0.2), 0.2, runs=3, rewards="beta", noise=0.1, stopping="mixture", max_samples=60)
same("uniform", (0.9, 0.2, 0.1), 0.2, runs=3, rewards="bernoulli", stopping="tilt", question=PAIRS)
same("uniform", (3.0, 1.0, 0.5), [0.2, 0.1], runs=3, stopping="mixture", question=PAIRS)
same("uniform", None, 0.2, runs=3, rewards=[[1.0, 2.0, 3.0], [0.0, 0.5]], tolerance=0.1)
""",
    "verdicts": """
beside = {"rewards": "bernoulli", "stopping": "tilt", "max_samples": 200}
LIST = truebest.Against(0, only="better")
same("uniform", (0.2, 0.9, 0.8), 0.2, runs=3, question=LIST, **beside)
same("uniform", (0.9,), 0.2, runs=3, question=truebest.AtLeast(0.5), **beside)
""",
    "cut off, far from 0": """
found = same("tas-d", (1e6, 1e6, 1e6 - 3.0), [0.3, 0.1], runs=20, max_samples=25)
assert 0 < found.cells[0].censored <= 20
""",
    "a summary": """
one = truebest.simulate("uniform", (1.9, 0.5, 0.4), [0.3, 0.1], runs=40)
other = truebest.simulate("uniform", (1.9, 0.5, 0.4), [0.3, 0.1], runs=40, device="cuda", keep="summary")
for cell, twin in zip(one, other, strict=True):
    assert (cell.runs, cell.mean_samples, cell.errors) == (twin.runs, twin.mean_samples, twin.errors)
    assert twin.samples.size == 0
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", list(PROGRAMS))
def test_a_simulated_gpu_does_the_same_runs(what: str) -> None:
    """Sample for sample, answer for answer, pull for pull."""
    done = simulated(PROGRAMS[what])
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_comparison_would_see_another_run() -> None:
    """The negative control: with another seed runs differ, and not by the last bits of a threshold."""
    done = simulated(
        """
given = truebest.simulate
truebest.simulate = lambda *args, seed, device="cpu", **options: given(
    *args, seed=seed + (device == "cuda"), device=device, **options
)
same("uniform", (1.9, 0.5), 0.1, runs=5)
"""
    )
    assert "not near the threshold: [Difference(run=0" in done.stderr


@pytest.mark.parametrize(
    ("busy", "taken", "wanted"), [(0.5, 0.5, 2000), (2.0, 2.0, 500), (0.2, 1.0, 5000), (0.2, 3.2, 15000)]
)
def test_a_launch_is_busy_as_long_as_it_waits_for_the_longest_runs(
    busy: float, taken: float, wanted: int
) -> None:
    """About a second, or longer where the longest of 1000 runs go on alone for longer."""
    assert cuda.runs_for(1000, busy, taken) == pytest.approx(wanted, abs=1)


INTERRUPTED = """
import os, signal
calls = []
def progress(done, total):
    calls.append(done)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGINT)
found = truebest.simulate("uniform", (1.9, 0.5), 0.1, runs=3000, device="cuda", progress=progress).cells[0]
short = truebest.simulate("uniform", (1.9, 0.5), 0.1, runs=found.runs).cells[0]
assert (short.samples == found.samples).all() and (short.mean_pulls == found.mean_pulls).all()
print(found.runs, found.complete)
"""


@pytest.mark.slow
def test_an_interruption_keeps_whole_runs() -> None:
    """Ctrl-C after the second launch: a prefix, marked incomplete."""
    done = simulated(INTERRUPTED)
    assert done.returncode == 0, done.stderr
    runs, complete = done.stdout.split()
    assert 0 < int(runs) < 3000
    assert complete == "False"


BAD = {
    "no arm": """
@truebest.strategy
def bad(t, pulls):
    return 0 if t < 4 else 7
truebest.simulate(bad, (1.0, 0.0), 0.1, runs=3, device="cuda")
""",
    "an index": """
@truebest.strategy
def outside(pulls, memory):
    memory[3, 0] += 1.0
    return 0
truebest.simulate(outside, (1.0, 0.0), 0.1, runs=3, device="cuda")
""",
    "too many arms": """
truebest.simulate("ebs-d", list(range(9000)), 0.1, runs=1, device="cuda")
""",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "said"),
    [("no arm", "returned 7 in run 0"), ("an index", "raised IndexError"), ("too many arms", "room for")],
)
def test_what_a_gpu_cannot_do_is_a_sentence(what: str, said: str) -> None:
    """A bad action, an index that is none, and more arms than a lane has memory for."""
    last = simulated(BAD[what]).stderr.strip().splitlines()[-1]
    assert last.startswith("truebest.errors.InvalidInputError")
    assert said in last
    assert ";" in last


def test_without_a_gpu_or_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence each."""

    def call() -> object:
        return truebest.simulate("uniform", (1.0, 0.0), 0.1, runs=1, device="cuda")

    monkeypatch.setattr(cuda, "find_spec", lambda _: None)
    refused_in_one_sentence("pip install 'truebest[cuda]'", call)
    refused_in_one_sentence(
        "device must be one of", lambda: truebest.simulate("uniform", (1.0, 0.0), device="gpu")
    )
    refused_in_one_sentence(
        "keep must be one of", lambda: truebest.simulate("uniform", (1.0, 0.0), keep="all")
    )


def test_what_is_known_beforehand_is_put_in() -> None:
    """Known places and arguments become numbers; the result is the same."""
    plain = likelihood.growth.py_func  # type: ignore[attr-defined]
    made = made_for(plain, Known((("RULE", float(likelihood.GK16)),), (("t", 7),)))
    other = [0.0] * 20  # of another rule
    other[9] = 2.0
    assert made(other, 3.0) == pytest.approx(2.0 * 1.9459101490553132)
    assert plain(other, 3.0) != made(other, 3.0)
    assert "RULE" not in made.__code__.co_names
    rule, known = best.statistic.py_func, Known((("LIMITS", 0.0),))  # type: ignore[attr-defined]
    told = made_for(rule, known._replace(positive=("SHARE",)))
    assert "SHARE" not in told.__code__.co_names  # known to be above 0
    assert "SHARE" in made_for(rule, known).__code__.co_names
