"""Kernels are compiled when they are needed, and no matter which Numba there is."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from support.processes import run_python
from truebest.kernels import best, families, weights
from truebest.kernels.layout import ROWS

# Another Numba than the one whose internals are known: a part of them is gone, takes or gives something else.
CHANGES = {
    "renamed": "del numba.core.codegen.JITCodeLibrary",
    "other arguments": "usual = numba.core.compiler.compile_extra\n"
    "numba.core.compiler.compile_extra = lambda *context, args, **more: usual(*context, args=args, **more)",
    "other results": "numba.core.compiler.CompileResult._rebuild = None",
}
CALLS = """
import numpy as np
import truebest
from truebest.kernels import _jit, api
from truebest.kernels.rules import ceilings

@numba.njit
def drawn(random):
    return api.uniform(random)

print(drawn(np.array([1, 2], dtype=np.uint64)), ceilings.relative_entropy(0.1, 0.2))
print(any("_plainly" in vars(one) for one in _jit.KERNELS))
"""


def test_nothing_is_compiled_that_is_not_needed() -> None:
    """A call makes the machine code of one kernel, and LLVM code of those that it calls."""
    code = """
from truebest.kernels import _compiler, _jit
import truebest
truebest.optimal_weights([[0.9, 0.5, 0.4]] * 2000)
machines = [one for group in _compiler._GROUPS.values() for one in group._machines.values()]
print(sorted(one.py_func.__name__ for one in machines if one.overloads))
print(len(machines) < 30 < len(_jit.KERNELS))
"""
    assert run_python(code) == "['optimal_weights_rows']\nTrue\n"


@pytest.fixture(scope="module")
def usual() -> str:
    """What the calls give with this Numba."""
    found, plainly = run_python("import numba\n" + CALLS).splitlines()
    assert plainly == "False"
    return found


@pytest.mark.parametrize("change", list(CHANGES))
def test_another_numba_gives_the_same(change: str, usual: str, tmp_path: object) -> None:
    """What fails in Numba's internals is compiled without them; no internals, no difference."""
    cache = {"XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": ""}
    for _ in range(1 + (change == "renamed")):  # the second time with what the first has kept
        said = run_python(f"import numba, numba.core.codegen\n{CHANGES[change]}\n{CALLS}", **cache)
        assert said.splitlines() == [usual, str(change != "other results")]


def test_types_are_enforced() -> None:
    """What a kernel does not declare it does not take."""
    with pytest.raises(TypeError, match="No matching definition"):
        families.pair_cost.compiled()("a", 1.0, 1.0)  # type: ignore[attr-defined]
    means = np.zeros((ROWS, 3), dtype=np.float32)
    with pytest.raises(TypeError, match="No matching definition"):
        best.statistic.compiled()(np.zeros(20), means)  # type: ignore[attr-defined]


def test_a_kernel_is_pickled_by_its_name() -> None:
    """For another process, such as one of a cluster."""
    assert pickle.loads(pickle.dumps(best.statistic)) is best.statistic


def test_small_calls_give_the_bits_of_plain_python() -> None:
    """No sum is reordered, so that nothing depends on whether a kernel was compiled."""
    rng = np.random.default_rng(0)
    for size in (5, 13, 50, 700):
        gaps = 1.0 + rng.exponential(size=size)
        for one in (weights.power_sums, weights._block_power_sums):
            made = one.compiled(reorder=False)  # type: ignore[attr-defined]
            assert made(gaps, 1.1) == one(gaps, 1.1) == one.py_func(gaps, 1.1)  # type: ignore[attr-defined]
