"""What importing costs, and that the cache cannot go stale."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import truebest

SOURCE = Path(truebest.__file__).parent


def modules_after(code: str) -> set[str]:
    """The modules that are loaded in a new process after some code."""
    script = f"{code}\nimport json, sys\nprint('\\n' + json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(run.stdout.splitlines()[-1]))


def test_importing_the_package_is_cheap() -> None:
    """`import truebest` loads at most NumPy."""
    loaded = modules_after("import truebest")
    assert "truebest" in loaded
    assert not loaded & {"numba", "scipy", "typer", "rich", "platformdirs"}


def test_help_needs_no_numerics() -> None:
    """`truebest --help` loads neither NumPy nor Numba."""
    for words in (["--help"], ["solve", "--help"]):
        loaded = modules_after(f"from truebest.cli import main; assert main({words}) == 0")
        assert "typer" in loaded
        assert not loaded & {"numpy", "numba", "scipy"}


def test_a_change_in_any_kernel_source_changes_the_cache_folder(tmp_path: Path) -> None:
    """Numba alone would keep stale machine code when a callee in another file changes."""
    copy = tmp_path / "truebest"
    for path in SOURCE.rglob("*.py"):
        target = copy / path.relative_to(SOURCE)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    code = "from truebest.kernels import _jit; print(_jit.folder())"

    def folder() -> str:
        run = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        )
        return run.stdout.strip()

    before = folder()
    assert before == folder()
    with (copy / "kernels" / "glr.py").open("a") as file:
        file.write("\n# changed\n")
    assert folder() != before


@pytest.mark.parametrize("variable", ["XDG_CACHE_HOME", "NUMBA_CACHE_DIR"])
def test_only_folders_of_our_own_are_removed(tmp_path: Path, variable: str) -> None:
    """Of old folders, one with our marker; not a checkout of the user's, nor one that is named like ours."""
    from truebest.kernels import _cache

    home = tmp_path / "truebest"
    for name in ("src", ".git", "0123456789abcdef", "00000000000000aa", "00000000000000bb", "not-16-digits"):
        (home / name).mkdir(parents=True)
        (home / name / "work").write_text("of the user")
    (home / "00000000000000aa" / _cache.MARKER).write_text(_cache.TAG)
    (home / "00000000000000bb" / _cache.MARKER).write_text("another program's")
    (home / "not-16-digits" / _cache.MARKER).write_text(_cache.TAG)
    (home / "00000000000000cc").symlink_to(home / "not-16-digits")
    (home / "notes").write_text("of the user")
    for path in home.iterdir():
        os.utime(path, (0, 0))
    before = {path.name for path in home.iterdir()}
    environment = {**os.environ, "NUMBA_CACHE_DIR": "", "XDG_CACHE_HOME": "", variable: str(tmp_path)}
    code = "from truebest.kernels import _jit; print(_jit.folder())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    ours = Path(run.stdout.strip())
    assert ours.parent == home, run.stderr
    assert {path.name for path in home.iterdir()} == before - {"00000000000000aa"} | {ours.name}
    assert _cache.is_ours(ours)


def test_the_cache_is_in_the_usual_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system keeps caches, if nothing else is said; a relative path says nothing."""
    import platformdirs

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    environment = {**os.environ, "HOME": str(tmp_path), "NUMBA_CACHE_DIR": "here", "XDG_CACHE_HOME": "there"}
    code = "from truebest.kernels import _jit; print(_jit.folder())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    usual = platformdirs.user_cache_path("truebest", appauthor=False).relative_to(Path.home())
    assert Path(run.stdout.strip()).parent == tmp_path / usual, run.stderr


def printed(code: str, jit: str | None) -> str:
    """What a program prints under TRUEBEST_JIT; None: in this process, where kernels are compiled at once."""
    if jit is None:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, {})
        return out.getvalue()
    command = [sys.executable, "-W", "error", "-c", code]
    environment = {**os.environ, "TRUEBEST_JIT": jit}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


def test_compiled_and_uncompiled_agree() -> None:
    """The same source gives the same bits, uncompiled and compiled at the first call."""
    code = """
import json, numpy as np, truebest
rng = np.random.default_rng(5)
means = rng.normal(size=(20, 50))
pulls = rng.integers(1, 99, size=means.shape)
w = truebest.optimal_weights(means)
e = truebest.exploration_biased_weights(means - .3, means + .3)
z = [truebest.stopping_rule(n).evaluate(pulls, means, .1).statistic for n in ("practical", "mixture")]
c = [truebest.confidence_width(pulls, .1, 50, k) for k in ("paper", "experiments", "mixture")]
print(json.dumps([x.tolist() for x in (w.weights, w.time, e.weights, e.bandit, *z, *c)]))
"""
    assert printed(code, "0") == printed(code, None)


def test_every_damaged_byte_is_noticed(tmp_path: Path) -> None:
    """A file of machine code is used only as it was written."""
    from truebest.kernels import _cache

    _cache.save(str(tmp_path), "name", b"machine code")
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    assert _cache.load(str(tmp_path), "name") == b"machine code"
    assert _cache.load(str(tmp_path), "other") is None
    for i in range(len(whole)):
        for damaged in (whole[:i], whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :]):
            file.write_bytes(damaged)
            assert _cache.load(str(tmp_path), "name") is None


def test_a_damaged_cache_is_not_the_end(tmp_path: Path) -> None:
    """Machine code that is damaged or cut is compiled and kept again, where it would end the process."""
    from truebest.kernels import _cache

    code = "from truebest.kernels import families; print(families.pair_cost(2.0, 2.0, 1.0))"
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "TRUEBEST_JIT": "1"}
    environment.pop("NUMBA_CACHE_DIR", None)

    def run() -> str:
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
        )
        return done.stdout.strip()

    assert run() == "0.5"
    (file,) = tmp_path.rglob("*.code")
    whole = file.read_bytes()
    middle = len(whole) // 2
    zeros = whole[: middle - 500] + bytes(1000) + whole[middle + 500 :]
    for damaged in (zeros, whole[:middle]):
        file.write_bytes(damaged)
        assert run() == "0.5"
        assert _cache.load(str(file.parent), file.stem), "written anew"
        assert {path.name for path in file.parent.iterdir()} == {file.name, _cache.MARKER}


@pytest.mark.parametrize("compiled", [None, pytest.param("1", marks=pytest.mark.slow)])
def test_a_simulation_is_the_same_uncompiled(compiled: str | None) -> None:
    """Every strategy takes the same number of samples and recommends the same arm, without a warning.

    Compiled for all models and rules at once, or each for its own.
    """
    code = """
import json, truebest
from truebest.strategies import strategy_names
found = truebest.simulate(strategy_names(), [1.5, 0.5, 0.2], [0.1, 0.01], runs=4, seed=3)
print(json.dumps([[c.samples.tolist(), c.recommended.tolist()] for c in found]))
"""
    assert printed(code, "0") == printed(code, compiled)
