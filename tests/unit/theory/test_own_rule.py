"""A user's own stopping rule: it decides as it says, can change nothing, and is unproven by default."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import truebest
from support.commands import run
from support.later import later
from truebest import InvalidInputError
from truebest.kernels.api import evidence
from truebest.kernels.layout import DELTA, PULLS
from truebest.simulation.job import make_jobs
from truebest.simulation.problem import make_problem
from truebest.strategies import CustomRule, stopped_by

MEANS = (0.9, 0.5, 0.3)
# mypy: disable-error-code="no-untyped-def,untyped-decorator,unused-ignore"


@later(truebest.stopping_rule)
def practical(params, state):
    """log((1 + log t)/delta), as the built-in one."""
    t = state[PULLS].sum()
    return evidence(params, state) > -math.log(params[DELTA]) + math.log(1.0 + math.log(t))


@later(truebest.stopping_rule)
def never(t):
    """Not even after the last sample."""
    return t < 0.0


@later(truebest.stopping_rule, name="at-once", proof="a sheet of paper", models=truebest.Gaussian)
def always(t):
    """Before the strategy is asked for the first time."""
    return t > 0.0


@numba.njit
def enough(pulls, most):
    """A helper that reads what it is given."""
    return pulls.sum() >= most


def after(most: float) -> CustomRule:
    """Rules that differ by a closure variable alone."""

    @truebest.stopping_rule(name="after")
    def rule(pulls):
        return enough(pulls, most)

    made: CustomRule = rule
    return made


@later(rows=("turn",))
def in_pairs(leader, pulls, memory):
    """Asks not to be checked after every other pull."""
    memory[0, 0] = 1.0 - memory[0, 0]
    return ~leader if memory[0, 0] == 1.0 else int(pulls.argmin())


@pytest.mark.slow
def test_one_that_equals_a_built_in_gives_the_same_runs() -> None:
    """To the bit, at every risk, cut off or not; also where a strategy is not checked after every pull."""
    strategies = ["ebs-c", "lucb++", in_pairs()]
    for limit in (60, 20_000):
        options: dict[str, Any] = {"runs": 60, "max_samples": limit}
        ours = truebest.simulate(strategies, MEANS, [0.2, 0.01], **options)
        theirs = truebest.simulate(strategies, MEANS, [0.2, 0.01], stopping=practical(), **options)
        for cell, twin in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(cell.samples, twin.samples)
            np.testing.assert_array_equal(cell.recommended, twin.recommended)
            np.testing.assert_array_equal(cell.mean_pulls, twin.mean_pulls)
            assert twin.stopping == "practical"
    path, twin_path = (
        truebest.trace("ebs-c", MEANS, 0.1, stopping=rule) for rule in ("practical", practical())
    )
    for name in ("arm", "statistic", "lower", "target"):
        np.testing.assert_array_equal(getattr(path, name), getattr(twin_path, name))
    assert np.isinf(twin_path.threshold).all()
    assert len(twin_path.plot().axes[0].lines) == 1  # the statistic, without a threshold


def test_never_and_always() -> None:
    """A run that is never stopped is cut off; one that always is takes one sample of each arm."""
    cut = truebest.simulate("uniform", MEANS, 0.1, runs=5, stopping=never(), max_samples=40).cells[0]
    assert (cut.samples == 40).all()
    assert cut.censored == 5
    first = truebest.simulate("uniform", MEANS, 0.1, runs=20, stopping=always())
    assert (first.cells[0].samples == 3).all()
    leaders = [truebest.trace("uniform", MEANS, run=i).means[0].argmax() for i in range(20)]
    assert first.cells[0].recommended.tolist() == leaders
    assert truebest.trace("uniform", MEANS, stopping=always()).samples == 3


def test_a_function_is_more_than_its_name() -> None:
    """Rules of one name that differ by a closure variable give different runs, and cannot be pooled."""
    ten, twenty = (truebest.simulate("uniform", MEANS, runs=3, stopping=after(n)) for n in (10.0, 20.0))
    assert ten.cells[0].samples.tolist() == [10] * 3
    assert twenty.cells[0].samples.tolist() == [20] * 3
    more = truebest.simulate("uniform", MEANS, runs=2, stopping=after(10.0), more=ten)
    assert more.cells[0].runs == 5
    with pytest.raises(InvalidInputError, match="same cells"):
        truebest.simulate("uniform", MEANS, runs=2, stopping=after(20.0), more=ten)


def test_it_can_be_asked_about_data() -> None:
    """`evaluate` decides as in a run, for any shape; there is a statistic, and no threshold."""
    pulls, means = [[10, 10], [100, 100]], [[1.0, 0.0], [1.0, 0.0]]
    found, ours = (rule.evaluate(pulls, means, 0.1) for rule in (practical(), truebest.Practical()))
    np.testing.assert_array_equal(found.decided, ours.decided)
    np.testing.assert_array_equal(found.statistic, ours.statistic)
    assert found.decided.tolist() == [False, True]
    assert np.isinf(found.threshold).all()
    assert always().evaluate([1, 1], [0.0, 0.0], 0.1).decided


def test_a_proof_is_what_the_author_says() -> None:
    """None by default; else for the models that are named, and shown as a claim."""
    assert not practical().proven
    assert not practical().proven_for(truebest.Poisson())
    assert practical().reference == "no proof"
    assert always().proven
    assert always().proven_for(truebest.Gaussian(2.0))
    assert not always().proven_for(truebest.Poisson())
    assert always().reference == "a sheet of paper (its author's claim)"
    assert "proof='a sheet of paper'" in repr(always())
    with pytest.raises(InvalidInputError, match="'at-once' cannot compute with the model Bounded"):
        truebest.simulate("uniform", (0.5, 0.2), rewards="bernoulli", stopping=always())
    for wrong in (True, "", " "):
        with pytest.raises(InvalidInputError, match="proof must say where the proof is"):
            truebest.stopping_rule(proof=wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="models must be classes"):
        truebest.stopping_rule(models=truebest.Gaussian())  # type: ignore[call-overload]


def test_a_rule_by_name_is_found_as_before() -> None:
    """A name, or a rule, which is returned as it is."""
    assert truebest.stopping_rule("mixture") == truebest.Mixture()
    assert truebest.stopping_rule(never()) is never()
    assert isinstance(truebest.stopping_rule(lambda t: t > 9.0), CustomRule)


def written(body: str) -> CustomRule:
    """A rule with some statements as its body."""
    names: dict[str, Any] = {"np": np}
    exec("def mine(params, state, means, t):\n" + "".join(f"    {x}\n" for x in body.split("; ")), names)
    made: CustomRule = truebest.stopping_rule(names["mine"])
    return made


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ("means[0] = 9.0; return t > 9.0", "writes to means, which it may only read; write to a copy"),
        ("state[0, 0] = 9.0; return t > 9.0", "writes to state"),
        ("params[0] = 0.5; return t > 9.0", "writes to params"),
        ("x = np.ascontiguousarray(means); return t > 9.0", "to np.ascontiguousarray"),
        ("return np.random.rand() > 0.5", "uses np.random.rand, so that no run could be repeated; decide by"),
        ("return t", "it returns float64; return True or False on every path"),
        ("return 1", "return True or False on every path"),
        ("return undefined", "does not compile"),
    ],
)
def test_what_a_rule_must_not_do_is_refused(body: str, part: str) -> None:
    """When it is made, in one sentence that begins with whose it is."""
    with pytest.raises(InvalidInputError) as refused:
        written(body)
    said = str(refused.value)
    assert said.startswith("the stopping rule 'mine' ")
    assert part in said


def test_what_it_cannot_be_used_for_is_refused() -> None:
    """Other arguments, strategies that need more of a rule, intervals, and live experiments."""
    with pytest.raises(InvalidInputError, match="a stopping rule may take params, state"):
        truebest.stopping_rule(lambda last: last > 3)
    with pytest.raises(InvalidInputError, match="must be a plain function"):
        truebest.stopping_rule()(7)  # type: ignore[arg-type]
    for name, part in {"racing": "stops by itself", "ebs-open-need": "settles none"}.items():
        with pytest.raises(InvalidInputError, match=part):
            truebest.simulate(name, MEANS, stopping=never())
    with pytest.raises(InvalidInputError, match="give max_samples"):
        truebest.simulate("lucb++", MEANS, stopping=never())
    with pytest.raises(InvalidInputError, match="intervals must come from one of truebest's own rules"):
        never().intervals([5, 5], [1.0, 0.0], 0.1)
    with pytest.raises(InvalidInputError, match="a live experiment must be able to find it again"):
        truebest.Experiment.create("memory:", "x", ["a", "b"], sigma=1.0, stopping=never())


def test_whose_fault_it_is_is_said() -> None:
    """An index out of range in either; and a strategy's own stop stays a refusal of the strategy."""

    @truebest.stopping_rule
    def outside(pulls, t):
        return pulls[int(t)] > 0.0

    with pytest.raises(InvalidInputError, match="'uniform' or the stopping rule 'outside' raised IndexError"):
        truebest.simulate("uniform", MEANS, runs=2, stopping=outside)

    @truebest.strategy
    def stops(pulls, leader):
        return pulls.size + leader

    with pytest.raises(
        InvalidInputError, match=r"the strategy 'stops' stopped in run [0-9]+, which is allowed only"
    ):
        truebest.simulate(stops, MEANS, runs=2, stopping=never())


def test_it_travels_to_another_process() -> None:
    """A job with a rule, pickled as Dask pickles it, does the same runs."""
    cloudpickle = pytest.importorskip("cloudpickle")
    rule = after(12.0)
    problem = make_problem(MEANS, 0.1, "gaussian", 1.0, None, None, rule, None)
    job = make_jobs(stopped_by(rule, truebest.Uniform()), problem, 3)[0]
    again = cloudpickle.loads(cloudpickle.dumps(job))
    assert again.part(0, 3, again.room()).samples.tolist() == job.part(0, 3, job.room()).samples.tolist()


FILE = """
import truebest
from truebest import Mixture

@truebest.stopping_rule
def early(t):
    return t >= 17.0

def plain(t):
    return True
print("read")
"""


def test_the_command_takes_a_rule_from_a_file(tmp_path: Path) -> None:
    """Also uncompiled, where a write is refused as it happens."""
    file = tmp_path / "rules.py"
    file.write_text(FILE)
    base = ("simulate", "--means", "0.9,0.5", "--runs", "2", "--strategy", "uniform", "--format", "json")
    ran = run(*base, "--stopping", f"{file}:early")
    rows = json.loads(ran.out)
    assert (rows[0]["stopping"], rows[0]["mean_samples"]) == ("early", 17.0)
    for word, part in {
        f"{file}:plain": "must be a stopping rule, got a function; put @truebest.stopping_rule above",
        f"{file}:late": "offers early, got the name 'late'",
        f"{file}:early(t=1)": "takes no parameters",
    }.items():
        refused = run(*base, "--stopping", word)
        assert (refused.code, refused.out) == (2, "")
        assert part in refused.err
    program = (
        "import truebest\n"
        "nine = truebest.stopping_rule(lambda t: t >= 9)\n"
        "seen = truebest.simulate('uniform', (0.9, 0.5), runs=2, stopping=nine)\n"
        "assert seen.cells[0].samples.tolist() == [9, 9]\n"
        "def mine(means):\n    means[0] = 1.0\n    return False\n"
        "truebest.simulate('uniform', (0.9, 0.5), runs=2, stopping=truebest.stopping_rule(mine))\n"
    )
    uncompiled = {**os.environ, "TRUEBEST_JIT": "0"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=uncompiled)
    assert "the stopping rule 'mine' writes to pulls, means or params" in done.stderr
