"""Work begins uncompiled, and goes over to compiled kernels without waiting for a compiler."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.processes import alive, run_python
from truebest.cli import warm_up
from truebest.kernels import _cache, _numba

README = Path(__file__).parents[3] / "README.md"
SHORT = """
import sys, truebest
experiment = truebest.Experiment.create("memory:", "x", list("abcde"), bounds=(0, 1), seed=1)
for _ in range(20):
    for pull in experiment.ask(1):
        experiment.tell(pull, 0.5)
experiment.status()
truebest.identify({"a": lambda: 0.9, "b": lambda: 0.1}, bounds=(0, 1), max_samples=100)
truebest.optimal_weights([0.9, 0.5, 0.4])
print(sorted({"numba", "scipy"} & set(sys.modules)))
"""
# A kernel that is called over and over, with a child that begins to compile at once.
BUSY = """
import sys, time
from truebest.kernels import _background, _jit
from truebest.kernels.KERNEL import NAME as one
_background.SOON = _background.AGAIN = _background.LONG = 0.0
value = one(*ARGUMENTS)
while not _background.WATCH.child:
    time.sleep(0.01)
    one(*ARGUMENTS)
print(repr(value), _background.WATCH.child.pid, flush=True)
"""
UNTIL_COMPILED = """
end = time.monotonic() + 100
while not _jit.Kernel.given_way and time.monotonic() < end:
    time.sleep(0.01)
    one(*ARGUMENTS)
print(repr(one(*ARGUMENTS)), _jit.Kernel.given_way)
"""
QUICK = {"KERNEL": "rules.ceilings", "NAME": "relative_entropy", "ARGUMENTS": "(0.1, 0.2)"}
LONG = {"KERNEL": "weights", "NAME": "optimal_weights_rows"}
ARRAYS = """
import numpy as np
ARRAYS = np.array([[0.0, 0.5]]), False, np.empty((1, 2)), np.empty((1, 20))
"""


def busy(names: dict[str, str], more: str = "") -> str:
    """The code with these names in it."""
    return re.sub("KERNEL|NAME|ARGUMENTS", lambda found: names[found[0]], BUSY + more)


def test_short_work_loads_no_compiler() -> None:
    """A first ask needs no Numba: importing it would take longer than the work."""
    assert run_python(SHORT) == "[]\n"


def test_a_child_compiles_and_the_process_goes_over(tmp_path: Path) -> None:
    """The result is the same before and after; the next process finds the machine code."""
    cache = {"XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": ""}
    before, after = run_python(busy(QUICK, UNTIL_COMPILED), **cache).splitlines()
    value, _, child = before.partition(" ")
    assert after == f"{value} True"
    assert not alive(int(child))
    code = """
from truebest.kernels.rules.ceilings import relative_entropy as one
print(one.give_way(), sum(one._run.stats.cache_hits.values()), one(0.1, 0.2))
"""
    found = run_python(code, **cache)
    assert found == f"True 1 {value}\n"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
@pytest.mark.parametrize("how", ["ends", "is killed"])
def test_a_process_that_ends_early_leaves_nothing_behind(how: str, tmp_path: Path) -> None:
    """No child, and nothing in the cache that is not whole."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": ""}
    code = ARRAYS + busy({**LONG, "ARGUMENTS": "ARRAYS"}) + ("" if how == "ends" else "time.sleep(60)\n")
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    child = int(process.stdout.readline().split()[-1])
    if how == "is killed":
        assert alive(child)
        os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=600)
    end = time.monotonic() + 60
    while alive(child) and time.monotonic() < end:
        time.sleep(0.02)
    assert not alive(child)
    for file in tmp_path.rglob(f"*{_cache.SUFFIX}"):
        assert _cache.load(str(file.parent), file.name.removesuffix(_cache.SUFFIX))


HIDDEN = "import sys; sys.modules['numba'] = None\n"


def test_everything_runs_without_numba() -> None:
    """The README's first example, a simulation, weights and a strategy of one's own; one line says so."""
    (example, *_) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    more = """
@truebest.strategy
def mine(t, means):
    return int(t) % len(means)

found = truebest.simulate(["ebs-d", mine], [1.0, 0.0], 0.1, runs=2, max_samples=200)
print(len(found), truebest.optimal_weights([[1.0, 0.0]] * 3000).time[0])
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", HIDDEN + example + more], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    first, *_, last = done.stdout.splitlines()
    assert first.startswith("step by step is best; wrong with probability at most 5%")
    assert last == "2 8.0"
    (line,) = done.stderr.splitlines()
    assert line.startswith("truebest: everything runs uncompiled, which is slower: Numba cannot be loaded (")


def test_waiting_for_a_compiler_is_said_once() -> None:
    """After two seconds, on standard error, terminal or not."""
    code = """
import time
from truebest.kernels import _numba
_numba.PATIENCE = 0.05
for seconds in (0.0, 0.3, 0.3):
    with _numba.waiting():
        time.sleep(seconds)
time.sleep(0.2)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"truebest: compiling .*, once; see truebest warm-up\n", done.stderr)
    assert _numba.PATIENCE == 2.0


def test_warm_up_compiles_what_python_calls(tmp_path: Path) -> None:
    """The list has what live work calls; the command compiles what is on it, and says where that is."""
    names = {one.__name__ for one in warm_up.called_by_python()}
    assert {"advance", "take", "stops", "play_round", "select", "optimal_weights_rows", "refutes"} <= names
    cache = {"XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": ""}
    code = """
from truebest.cli import main
from truebest.cli import warm_up
from truebest.kernels.rules import ceilings
warm_up.called_by_python = lambda: [ceilings.relative_entropy]
assert main(["warm-up", "--live"]) == 0
"""
    run_python(code, **cache)
    assert [path.name.partition("-")[0] for path in tmp_path.rglob("*.code")] == ["relative_entropy"]
    code = "from truebest.cli import main; import sys; sys.exit(main(['warm-up']))"
    for environment in ({"TRUEBEST_JIT": "0"}, {"XDG_CACHE_HOME": "/dev/null", "NUMBA_CACHE_DIR": ""}):
        refused = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}
        )
        assert refused.returncode == 1
        assert len(refused.stderr.splitlines()) == 1
