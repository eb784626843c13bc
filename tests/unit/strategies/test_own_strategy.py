"""A user's own strategy: what it cannot do, and what is said then."""

from __future__ import annotations

import random as python_random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import pytest
from numpy.random import rand as drawn_elsewhere

import truebest
from support.processes import run_python
from truebest.experiment.independent import IndependentState
from truebest.kernels.tracking import furthest_behind
from truebest.simulation import threads

MEANS = (0.9, 0.5, 0.4)
ARGUMENTS = "t, last, leader, pulls, means, delta, params, memory, random"


def not_compiled(x):  # type: ignore[no-untyped-def]
    """A helper without @numba.njit."""
    return x[0]


@numba.njit  # type: ignore[untyped-decorator,unused-ignore]
def calls_it(x):  # type: ignore[no-untyped-def]
    """A helper that calls one without @numba.njit."""
    return not_compiled(x)  # type: ignore[no-untyped-call]


@numba.njit  # type: ignore[untyped-decorator,unused-ignore]
def as_writable(x):  # type: ignore[no-untyped-def]
    """A helper that makes a read-only array writable."""
    return np.ascontiguousarray(x)


@numba.njit  # type: ignore[untyped-decorator,unused-ignore]
def overwrite(x):  # type: ignore[no-untyped-def]
    """A helper that writes to what it gets."""
    x[0] = 9.0


@numba.njit  # type: ignore[untyped-decorator,unused-ignore]
def draw():  # type: ignore[no-untyped-def]
    """A helper that draws from the hidden generator, under another name."""
    return drawn_elsewhere()


@numba.njit(cache=True)  # type: ignore[untyped-decorator,unused-ignore]
def cached_draw():  # type: ignore[no-untyped-def]
    """The same from Numba's own cache, where the typed code is lost."""
    return np.random.normal(0.0, 1.0)


@numba.njit("f8(f8[::1])")  # type: ignore[untyped-decorator,unused-ignore]
def for_writable(x):  # type: ignore[no-untyped-def]
    """A helper that only reads, but says otherwise."""
    return x[0]


NAMES: dict[str, Any] = {
    **{"np": np, "numba": numba, "python_random": python_random, "drawn_elsewhere": drawn_elsewhere},
    **{"not_compiled": not_compiled, "calls_it": calls_it, "for_writable": for_writable},
    **{"as_writable": as_writable, "overwrite": overwrite, "draw": draw, "cached_draw": cached_draw},
    "furthest_behind": furthest_behind,
}


def own(body: str, **options: Any) -> truebest.Strategy:
    """A strategy with some statements as its body."""
    names = dict(NAMES)
    exec(f"def mine({ARGUMENTS}):\n" + "".join(f"    {line}\n" for line in body.split("; ")), names)
    made: truebest.Strategy = truebest.strategy(rows=("own",), **options)(names["mine"])
    return made


WRITES = {
    "means -= means[leader]; return leader": "writes to means",
    "pulls[0] = 3.0; return leader": "writes to pulls",
    "params[0] = 3.0; return leader": "writes to params",
    "overwrite(means); return leader": "writes to means",
    "pulls[0] = means[0] = 3.0; return leader": "writes to pulls or means or params",
    "for_writable(means); return leader": "passes means, which it may only read, to a function",
    "y = np.ascontiguousarray(means); return leader": "to np.ascontiguousarray",
    "y = np.asfortranarray(pulls); return leader": "to np.asfortranarray",
    "y = as_writable(means); return leader": "calls as_writable, which passes what it may only read to",
    "means.flat[0] = 1.0; return leader": "to .flat",
    "y = np.nditer(means); return leader": "to np.nditer",
    "np.dot(np.ones((3, 3)), means, means); return leader": "to np.dot",
    "np.nan_to_num(means, False); return leader": "to np.nan_to_num",
    "y = {0: np.ones(3)}; y[1] = means; return leader": "to a container",
    "with numba.objmode():;   means[0] = 1.0; return leader": "numba.objmode",
}
HELPERS = {
    "return int(not_compiled(means))": "calls not_compiled, which is not compiled; put @numba.njit above",
    "return int(calls_it(means))": "calls not_compiled, which is not compiled; put @numba.njit above",
}
DRAWS = {
    "return int(3 * np.random.rand())": "uses np.random.rand",
    "r = drawn_elsewhere; return int(3 * r())": "uses np.random.rand",
    "return int(3 * python_random.random())": "uses random.random",
    "np.random.seed(1); return leader": "uses np.random.seed",
    "return int(3 * draw())": "calls draw, which uses np.random.rand",
    "return int(cached_draw())": "calls cached_draw, which uses np.random.normal",
}


@pytest.mark.parametrize(("body", "part"), [*WRITES.items(), *HELPERS.items(), *DRAWS.items()])
def test_what_a_strategy_must_not_do_is_refused(body: str, part: str) -> None:
    """In one sentence that names it and says what to do, without Numba's pages; also inside of helpers."""
    with pytest.raises(truebest.InvalidInputError) as caught:
        own(body)
    message = str(caught.value)
    assert part in message
    assert "the strategy 'mine'" in message
    assert "; " in message
    assert "\n" not in message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_what_a_strategy_may_do_is_let_through() -> None:
    """Copies, its own memory, allocation, our kernels and helpers that only read."""
    body = (
        "m = means.copy(); m -= m[leader]; c = np.ascontiguousarray(memory); c[0, 0] = m.min(); "
        "shares = np.full(pulls.size, 1.0 / 3.0); return furthest_behind(pulls, shares, t)"
    )
    counts = [truebest.simulate(one, MEANS, 0.1, runs=20).cells[0].samples for one in ("uniform", own(body))]
    assert (counts[0] == counts[1]).all()


@dataclass(frozen=True)
class WithKernel(truebest.Strategy):
    """A strategy with a kernel of its own, as in a package of a user's."""

    kernel: Any

    @property
    def name(self) -> str:
        return "with-kernel"

    @property
    def select(self) -> Any:
        return self.kernel


@numba.njit  # type: ignore[untyped-decorator,unused-ignore]
def lowers_the_level(t, last, leader, state, params, memory, random):  # type: ignore[no-untyped-def]
    """Decides everything at once: the rule's level is in the parameters."""
    params[2] = -1e9
    return leader


@numba.njit("i8(f8, i8, i8, f8[:, ::1], f8[::1], f8[:, ::1], u8[::1])")  # type: ignore[untyped-decorator,unused-ignore]
def lowers_it_by_signature(t, last, leader, state, params, memory, random):  # type: ignore[no-untyped-def]
    """The same, compiled for writable arrays."""
    params[2] = -1e9
    return leader


@numba.njit  # type: ignore[untyped-decorator,unused-ignore]
def in_turn(t, last, leader, state, params, memory, random):  # type: ignore[no-untyped-def]
    """An honest kernel: uniform sampling."""
    return state[0].argmin()


@numba.njit  # type: ignore[untyped-decorator,unused-ignore]
def of_version_1(t, last, leader, state, params, random):  # type: ignore[no-untyped-def]
    """A kernel with the arguments of version 0.1."""
    return leader


def live(strategy: truebest.Strategy) -> truebest.Experiment:
    """An experiment with three equal arms whose values are all the same."""
    experiment = truebest.Experiment.create("memory:", "x", ["a", "b", "c"], sigma=1.0, strategy=strategy)
    for _ in range(20):
        experiment.tell([(pull, 0.0) for pull in experiment.ask()])
    return experiment


@pytest.mark.parametrize("kernel", [lowers_the_level, lowers_it_by_signature])
def test_a_kernel_cannot_write_the_level(kernel: Any) -> None:
    """Neither live, where it would decide between equal arms, nor in a simulation."""
    strategy = WithKernel(kernel)
    for call in (
        lambda: live(strategy),
        lambda: truebest.simulate(strategy, MEANS, 0.1, runs=2),
        lambda: truebest.trace(strategy, MEANS, 0.1),
    ):
        with pytest.raises(truebest.InvalidInputError, match="'with-kernel' writes to params, which"):
            call()


def test_the_level_of_a_live_experiment_is_not_that_of_the_strategy() -> None:
    """Even if it overwrites what it is given, the rule decides as before: equal arms stay undecided."""
    experiment = live(truebest.Uniform())
    called = []

    def cheat(t, last, leader, state, params, memory, random):  # type: ignore[no-untyped-def]
        state[:], params[:] = 1e9, -1e9
        called.append(leader)
        return 0

    assert isinstance(experiment._journal.known, IndependentState)
    experiment._journal.known.chooser.select = cheat
    for _ in range(2):
        experiment.tell([(pull, 0.0) for pull in experiment.ask()])
    assert called
    assert experiment.status().best is None


def test_a_kernel_of_a_user() -> None:
    """It runs as it is; with other arguments, or uncompiled, a sentence says what is needed."""
    samples = truebest.simulate(WithKernel(in_turn), MEANS, 0.1, runs=20).cells[0].samples
    assert (samples == truebest.simulate("uniform", MEANS, 0.1, runs=20).cells[0].samples).all()
    assert live(WithKernel(in_turn)).status().samples == 20
    with pytest.raises(truebest.InvalidInputError, match=r"must take \(t, last, leader, state, params, mem"):
        truebest.simulate(WithKernel(of_version_1), MEANS, 0.1, runs=2)
    with pytest.raises(truebest.InvalidInputError, match="must be compiled, got <function in_turn"):
        truebest.simulate(WithKernel(in_turn.py_func), MEANS, 0.1, runs=2)


def test_a_stop_must_be_announced() -> None:
    """As live: a simulation and a trace refuse a stop by a strategy that did not say that it stops."""
    early = own("return 3 if t > 5 else leader")
    for call in (
        lambda: truebest.simulate(early, MEANS, 0.1, runs=2),
        lambda: truebest.trace(early, MEANS, 0.1),
    ):
        with pytest.raises(
            truebest.InvalidInputError, match=r"'mine' stopped in run [0-9]+, .* stops_itself=True"
        ):
            call()
    announced = own("return 3 if t > 5 else leader", stops_itself=True)
    assert truebest.simulate(announced, MEANS, 0.1, runs=2).cells[0].samples.tolist() == [6, 6]


UNCOMPILED = f"""
import random as python_random
import truebest, numba
import numpy as np

@numba.njit
def draw():
    return np.random.rand()

def refusals(line):
    exec(f"def mine({ARGUMENTS}):\\n    {{line}}\\n    return leader", globals())
    strategy = truebest.strategy(params=(1.0,))(mine)
    yield lambda: truebest.simulate(strategy, [0.5, 0.4], 0.1, runs=1)
    experiment = truebest.Experiment.create("memory:", "x", ["a", "b"], sigma=1.0, strategy=strategy)
    experiment.tell([(pull, 0.0) for pull in experiment.ask(2)])
    yield experiment.ask

for line in ("means -= means[leader]", "pulls[0] = 3.0", "params[0] = 3.0", "pulls.sort()"):
    for call in refusals(line):
        try:
            call()
        except truebest.InvalidInputError as error:
            print(error)
for line in ("np.random.rand()", "r = np.random; r.rand()", "python_random.random()", "draw()"):
    try:
        next(refusals(line))
    except truebest.InvalidInputError as error:
        print(error)
next(refusals("np.sqrt(truebest.kernels.random.uniform(random))"))

generator, own = np.random.default_rng(), python_random.Random()
def enclosed(hidden):
    return lambda leader: int(hidden.random() * 0) + leader
def importing(leader):
    import random
    return int(random.random() * 0) + leader
for hidden in (enclosed(generator), enclosed(own), importing):
    try:
        truebest.strategy(hidden)
    except truebest.InvalidInputError as error:
        print(error)
"""


def test_uncompiled_strategies_are_refused_too() -> None:
    """TRUEBEST_JIT=0: a write, simulated or live, and a draw from elsewhere give the same sentences."""
    said = run_python(UNCOMPILED, TRUEBEST_JIT="0").splitlines()
    want = "the strategy 'mine' writes to pulls, means or params, which it may only read; write to a copy"
    assert [line.startswith(want) for line in said[:8]] == [True] * 8
    uses = [line.split("uses ")[1].split(", ")[0] for line in said[8:]]
    hidden = ["a Generator", "a Random", "random"]
    assert uses == ["np.random", "np.random", "random", "np.random", *hidden]


# -- runs that do not end ------------------------------------------------------------------------------


def test_a_run_that_does_not_end_is_spoken_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """After some time without the end of a run: how far it is, and what to do. Not if runs are cut off."""
    monkeypatch.setattr(threads, "PATIENCE", 0.3)
    never = own("return 0")
    for call in (
        lambda: truebest.simulate(never, (1.0, 0.0), 0.1, runs=3, threads=2),
        lambda: truebest.trace(never, (1.0, 0.0), 0.1),
    ):
        with pytest.raises(UserWarning, match=r"no run of mine has ended .* [1-9]\d* samples .* max_samples"):
            call()
    monkeypatch.setattr(threads, "PATIENCE", 0.0)
    truebest.simulate(never, (1.0, 0.0), 0.1, runs=3, max_samples=10**7)


ENDLESS = """
from truebest.cli import main
from truebest.simulation import threads
threads.PATIENCE = 0.2
main(["simulate", "--means", "0.5,0.499999", "--strategy", "uniform", "--delta", "1e-9", "--runs", "1"])
"""


def test_the_command_says_it_too() -> None:
    """One line on stderr, once, in the words of the command line."""
    words = ["env", "--default-signal=INT", sys.executable, "-c", ENDLESS]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        time.sleep(0.5)  # more than once its patience
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=600)
    assert line.startswith("truebest: no run of uniform has ended")
    assert line.endswith("give --max-samples to cut runs off.\n")
    assert "has ended" not in rest
