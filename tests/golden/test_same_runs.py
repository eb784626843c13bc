"""Every strategy under every rule and model takes the samples that it took when these runs were written.

A change of the kernels that is meant to change no result leaves all of it as it is: the samples of each
run, the arm that it recommends, and the pulls. One hash for each rule and model, and one for each strategy,
tell where a difference lies. `python tests/golden/test_same_runs.py OTHER_CHECKOUT/src` prints the jobs that
differ from those of another checkout; without an argument it writes the file anew, which only a change that
is meant to change runs may do.

Only whole numbers are hashed. The last bits of a logarithm, in which libraries differ, would have to decide
a comparison to change one.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

if __name__ == "__main__":  # as in the tests, see `conftest`
    os.environ.setdefault("TRUEBEST_JIT", "all")

import truebest
from truebest._catalogue import STOPPING_RULES, STRATEGIES
from truebest.theory.tilt import FormerTilt

FILE = Path(__file__).with_name("same_runs.json")
FOUR, THREE, PAIR = (1.6, 0.9, 0.2, 0.6), (0.8, 0.4, 0.5), (0.9, 0.3)
FAR, COUNTS = (4.0, 1.5, 0.2, 1.0), (6.0, 4.0, 3.0)
ONE, COINS = truebest.Bounded(0.0, 1.0), {"rewards": "bernoulli"}
BETA = {"rewards": "beta", "noise": 0.2, "model": ONE}

# What is simulated: rule, means, and the other arguments
CASES: dict[str, tuple[Any, tuple[float, ...], dict[str, Any]]] = {
    **{rule: (rule, FAR if "gk16" in rule else FOUR, {}) for rule in STOPPING_RULES if rule != "student"},
    "practical, successes": ("practical", THREE, {**COINS, "model": truebest.Bernoulli()}),
    "practical, a tolerance": ("practical", FOUR, {"tolerance": 0.2}),
    "practical, far from 0": ("practical", tuple(1e7 + x for x in FOUR), {}),
    "kaufmann-koolen, counts": ("kaufmann-koolen", COUNTS, {"rewards": "poisson"}),
    "kaufmann-koolen, times": ("kaufmann-koolen", (9.0, 1.0, 2.0), {"rewards": "exponential"}),
    "mixture, scales": ("mixture", FOUR, {"noise": 0.8, "sigma": [0.8, 0.8, 1.0, 0.9]}),
    "mixture, bounded": ("mixture", THREE, {**COINS, "model": ONE}),
    "mixture, a tolerance": ("mixture", FOUR, {"tolerance": 0.1}),
    "tilt, version 2": (FormerTilt(spacing=1 / 400), THREE, {**COINS, "model": ONE}),
    "tilt, a pair": ("tilt", PAIR, {}),
    "tilt, successes": ("tilt", THREE, {**COINS, "model": ONE}),
    "tilt, numbers": ("tilt", THREE, BETA),
    "tilt, numbers, after every sample": (truebest.Tilt(), THREE, BETA),
    "tilt, pairs": (truebest.Tilt(share=0.0), THREE, {**COINS, "model": ONE}),
    "tilt, a tolerance": ("tilt", THREE, {**BETA, "tolerance": 0.1}),
    "student": ("student", (2.0, 1.0, 0.5), {"noise": 0.7, "model": truebest.Student()}),
}
ADAPTED = [strategy for strategy in STRATEGIES if strategy.startswith("ebs-open")]  # to `tilt`, in version 2
BY_TILT = [case for case in CASES if case.startswith("tilt")]
DELTAS, RUNS, LIMIT = (0.2, 0.01), 3, 1000


@cache
def job(case: str, strategy: str) -> tuple[tuple[int, ...], ...]:
    """For each risk: samples, answers and pulls of all runs."""
    rule, means, options = CASES[case]
    given = {"runs": RUNS, "seed": 11, "max_samples": LIMIT, "threads": 1, "progress": False, **options}
    found = truebest.simulate(strategy, means, DELTAS, stopping=rule, **given)
    return tuple(
        tuple(map(int, (*one.samples, *one.recommended, *np.rint(one.mean_pulls * one.runs))))
        for one in found
    )


def digest(jobs: list[tuple[str, str]]) -> str:
    """Of what so many jobs found."""
    return hashlib.sha256(repr([job(*one) for one in jobs]).encode()).hexdigest()[:16]


def parts() -> dict[str, list[tuple[str, str]]]:
    """The jobs of each case and of each strategy."""
    by_case = {case: [(case, strategy) for strategy in STRATEGIES] for case in CASES}
    before = [(case, f"{strategy}(version=1)") for case in BY_TILT for strategy in ADAPTED]
    by_case["tilt, version 1 of ebs-open"] = before
    return by_case | {strategy: [(case, strategy) for case in CASES] for strategy in STRATEGIES}


@pytest.mark.parametrize("part", list(parts()))
def test_the_runs_are_the_same(part: str) -> None:
    """The hash of the runs of one case, or of one strategy, is the one that was written."""
    assert digest(parts()[part]) == json.loads(FILE.read_text())[part]


def test_most_runs_end() -> None:
    """A run that is cut off says nothing of the rule; few are."""
    ended = [np.array(job(*one)[0][:RUNS]) < LIMIT for one in parts()["ebs-d"]]
    assert np.mean(ended) > 0.8


def _others(source: str) -> dict[tuple[str, str], Any]:
    """What another checkout finds, by its `src`."""
    code = f"import pickle, sys; sys.path.insert(0, {str(FILE.parent)!r}); import test_same_runs as t; " + (
        "sys.stdout.buffer.write(pickle.dumps({(c, s): t.job(c, s) for c in t.CASES for s in t.STRATEGIES}))"
    )
    environment = {**os.environ, "PYTHONPATH": source}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
    return dict(pickle.loads(done.stdout))


def main() -> None:
    """Write the hashes, or compare with another checkout job by job."""
    if len(sys.argv) == 1:
        FILE.write_text(json.dumps({part: digest(jobs) for part, jobs in parts().items()}, indent=1) + "\n")
        return
    for one, cells in _others(sys.argv[1]).items():
        if cells != job(*one):
            print(*one, cells, job(*one), sep="\n  ")


if __name__ == "__main__":
    main()
