"""Machine code that is kept in files: damaged or cut, it is compiled again, and never run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from support.processes import run_python
from truebest.kernels import _cache

DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "a flipped bit": lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:],
    "a flipped bit of the checksum": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "a cut file": lambda data: data[: len(data) // 2],
    "an empty file": lambda _: b"",
    "zeros, as after a loss of power": lambda data: bytes(len(data)),
    "something appended": lambda data: data + b"\0",
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_file_is_as_none(what: str, tmp_path: Path) -> None:
    """What was written is read back; what was damaged is not there."""
    data = os.urandom(1_000)
    _cache.save(str(tmp_path), "x", data)
    assert _cache.load(str(tmp_path), "x") == data
    (file,) = tmp_path.iterdir()
    file.write_bytes(DAMAGE[what](file.read_bytes()))
    assert _cache.load(str(tmp_path), "x") is None


def test_damaged_machine_code_is_compiled_again(tmp_path: Path) -> None:
    """A process beside damaged files ends well, with the same result, and puts whole ones in their place."""
    code = (
        "from truebest.kernels.rules import ceilings; print(ceilings.relative_entropy.compiled()(0.2, 0.5))"
    )
    cache = {"XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": ""}
    first = run_python(code, **cache)
    (file,) = tmp_path.rglob(f"*{_cache.SUFFIX}")
    for what in ("a flipped bit", "a cut file", "zeros, as after a loss of power"):
        file.write_bytes(DAMAGE[what](file.read_bytes()))
        assert run_python(code, **cache) == first
        assert _cache.load(str(file.parent), file.name.removesuffix(_cache.SUFFIX)) is not None
