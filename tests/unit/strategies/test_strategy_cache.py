"""Where the machine code of a user's strategy is kept, and that it is never an old one."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest

import truebest
from support.processes import run_python
from truebest.strategies._digest import digest

MEANS = (0.9, 0.5, 0.4)
ARGUMENTS = "t, last, leader, pulls, means, delta, params, memory, random"
MODULE = f"""
import numba
import numpy as np
import truebest

SCALE = 1

@numba.njit
def offset(a):
    return a + 0

def made(shift):
    @truebest.strategy(name="mine", params=(0.0,))
    def chosen({ARGUMENTS}):
        return min(SCALE * offset(shift + 0 * last) + int(params[0]), 2)
    return chosen
"""


OTHER = f"def other({ARGUMENTS}):\n    return offset(0)\n"


def cached(text: str, shift: int = 0, module: str = "builtins") -> tuple[int, list[int]]:
    """Whether the strategy of a module comes from the cache, and the arms that it pulls."""
    space: dict[str, Any] = {"__name__": module}
    exec(compile(text, "<string>", "exec", dont_inherit=True), space)
    one = space["made"](shift)
    path = truebest.trace(one, MEANS, 0.1, max_samples=8)
    return sum(one.select.stats.cache_hits.values()), sorted(set(path.arm[:-1].tolist()))


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, with our kernels in it; without what other processes are just making."""
    from truebest.kernels import _cache, _jit

    home, passing = tmp_path / "truebest", shutil.ignore_patterns(f"*{_cache.LOCK}", f"*{_cache.PARTIAL}")
    shutil.copytree(_jit.folder(), home / Path(_jit.folder()).name, ignore=passing)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    return home


def test_a_strategy_is_compiled_once(own_cache: Path) -> None:
    """Then it comes from the cache, until something that it is made of changes; its parameters may."""
    assert cached(MODULE) == (0, [0])
    assert cached(MODULE) == (1, [0])
    assert cached(MODULE.replace("0.0", "1.0")) == (1, [1])
    assert cached(MODULE, shift=1) == (0, [1])
    assert cached(MODULE.replace("SCALE = 1", "SCALE = 2"), shift=1) == (0, [2])
    assert cached(MODULE.replace("a + 0", "a + 1")) == (0, [1])
    assert cached(MODULE) == (1, [0])


def test_a_helper_compiled_from_old_values_is_not_kept(own_cache: Path) -> None:
    """Numba goes on using it in this process; under the hash of the new values it must not be found."""
    changed = MODULE.replace("a + 0", "a + SCALE")
    used = changed.replace("def made", "offset(0)\nSCALE = 2\ndef made")
    assert cached(used, shift=-1) == (0, [0])  # 2 (-1 + 1): the helper has the old value
    assert cached(changed.replace("SCALE = 1", "SCALE = 2"), shift=-1) == (0, [2])
    shared = changed.replace("def made", "@truebest.strategy\n" + OTHER + "def made")
    assert cached(shared) == (0, [1])
    assert cached(shared) == (1, [1])


def test_another_process_finds_it(own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the name of its module, wherever that is; what belongs to one that is gone is compiled again."""
    for module in ("strategies", "gone"):
        monkeypatch.setitem(sys.modules, module, ModuleType(module))
        assert cached(MODULE, module=module) == (0, [0])
    (tmp_path / "strategies.py").write_text("# In a file.\n" + MODULE)
    code = f"""
import strategies
print(sum(strategies.made(0).select.stats.cache_hits.values()))
space = {{"__name__": "gone"}}
exec({MODULE!r}, space)
print(sum(space["made"](0).select.stats.cache_hits.values()))
"""
    assert run_python(code, PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path])) == "1\n0\n"


def test_a_folder_without_machine_code_is_no_obstacle(own_cache: Path) -> None:
    """Its files may be gone: then the strategy is compiled as if it were new."""
    allocates = MODULE.replace("return min", "np.ascontiguousarray(memory)\n        return min")
    before = set(own_cache.iterdir())
    assert cached(allocates) == (0, [0])
    for folder in set(own_cache.iterdir()) - before:
        for file in folder.rglob("*.code"):
            file.unlink()
    assert cached(allocates) == (0, [0])
    assert cached(allocates) == (1, [0])


def test_a_refused_strategy_is_refused_again(own_cache: Path) -> None:
    """What was refused is not in the cache, where it would not be looked at."""
    before = list(own_cache.iterdir())
    for _ in range(2):
        with pytest.raises(truebest.InvalidInputError, match=r"uses np\.random\.rand"):
            cached(MODULE.replace("return a + 0", "return int(a + np.random.rand())"))
    assert list(own_cache.iterdir()) == before


def test_a_broken_cache_is_no_error(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Broken files, and a place that cannot be written, cost time, nothing else."""
    assert cached(MODULE) == (0, [0])
    files = list(own_cache.rglob("select_*.code"))
    assert files
    for file in files:
        file.write_bytes(b"nonsense")
    assert cached(MODULE) == (0, [0])
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    assert cached(MODULE) == (0, [0])


FULL = """
import resource, truebest.simulation.trace
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
print(truebest.trace(made(0), [0.9, 0.5, 0.4], 0.1, max_samples=8).samples)
"""


@pytest.mark.slow
def test_a_full_disk_is_no_error(own_cache: Path) -> None:
    """Where no byte can be written, a strategy is compiled and not kept."""
    assert run_python(MODULE + FULL) == "8\n"


def variants() -> dict[str, Callable[[], Any]]:
    """Functions that differ from `base` in one thing each that ends up in machine code."""

    def make(code: str, **names: Any) -> Any:
        space: dict[str, Any] = {"np": np, "numba": numba, **names}
        exec(code, space)
        return space["f"]

    plain = "@numba.njit\ndef f(x):\n    return x * A + h(x) + m.c"
    one, two = ModuleType("one"), ModuleType("two")
    one.c, two.c = 1.0, 2.0  # type: ignore[attr-defined]

    def helper(c: float, **options: Any) -> Any:
        return numba.njit(**options)(eval(f"lambda x: x + {c}"))

    def twice(c: float) -> Any:
        inner = helper(c)
        return numba.njit(eval("lambda x: inner(x)", {"inner": inner}))

    def closed(c: float) -> Any:
        return numba.njit(lambda x: x + c)

    return {
        "base": lambda: make(plain, A=1.0, h=helper(1.0), m=one),
        "a global": lambda: make(plain, A=2.0, h=helper(1.0), m=one),
        "a global's type": lambda: make(plain, A=1, h=helper(1.0), m=one),
        "a negative zero": lambda: make(plain, A=-0.0, h=helper(1.0), m=one),
        "a zero": lambda: make(plain, A=0.0, h=helper(1.0), m=one),
        "an array": lambda: make(plain, A=np.array([1.0, 2.0]), h=helper(1.0), m=one),
        "its content": lambda: make(plain, A=np.array([1.0, 3.0]), h=helper(1.0), m=one),
        "its shape": lambda: make(plain, A=np.array([[1.0, 3.0]]), h=helper(1.0), m=one),
        "a tuple": lambda: make(plain, A=(1.0, 3.0), h=helper(1.0), m=one),
        "a helper": lambda: make(plain, A=1.0, h=helper(2.0), m=one),
        "a helper's options": lambda: make(plain, A=1.0, h=helper(1.0, fastmath=True), m=one),
        "a helper's helper": lambda: make(plain, A=1.0, h=twice(1.0), m=one),
        "its constant": lambda: make(plain, A=1.0, h=twice(2.0), m=one),
        "a closure": lambda: make(plain, A=1.0, h=closed(1.0), m=one),
        "its value": lambda: make(plain, A=1.0, h=closed(2.0), m=one),
        "a module": lambda: make(plain, A=1.0, h=helper(1.0), m=two),
        "a default": lambda: make(plain.replace("(x):", "(x, y=1):"), A=1.0, h=helper(1.0), m=one),
        "another default": lambda: make(plain.replace("(x):", "(x, y=2):"), A=1.0, h=helper(1.0), m=one),
        "an operator": lambda: make(plain.replace("x * A", "x - A"), A=1.0, h=helper(1.0), m=one),
    }


def test_the_hash_is_that_of_everything_a_function_is_made_of() -> None:
    """The same twice; another for every single change; none where a value cannot be followed."""
    found = {name: digest(make()) for name, make in variants().items()}
    assert found == {name: digest(make()) for name, make in variants().items()}
    assert None not in found.values()
    assert len(set(found.values())) == len(found)
    space = {"numba": numba, "thing": object()}
    exec("@numba.njit\ndef f(x):\n    return thing", space)
    assert digest(space["f"]) is None
    assert digest(numba.njit(lambda x: variants())) is None
