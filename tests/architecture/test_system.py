"""What the tests need from the system: missing means skipped, and failed where it was asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import system


def test_a_missing_package_skips_the_test_or_fails_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """TRUEBEST_REQUIRE turns the skip into a failure, for the packages that it names and no others."""
    monkeypatch.setitem(system.PROGRAMS, "nothing", ("a-program-that-does-not-exist",))
    for value in ("", "chromium", "nothing-else"):
        monkeypatch.setenv("TRUEBEST_REQUIRE", value)
        with pytest.raises(pytest.skip.Exception, match="install the package nothing"):
            system.require("nothing")
    monkeypatch.setenv("TRUEBEST_REQUIRE", "chromium,nothing")
    with pytest.raises(pytest.fail.Exception, match="TRUEBEST_REQUIRE asks for it"):
        system.require("nothing")


def test_programs_are_found_off_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In the folder of the newest version."""
    for version in ("9.6", "15", "17"):
        program = tmp_path / version / "bin" / "serve-nothing"
        program.parent.mkdir(parents=True)
        program.touch(mode=0o755)
    monkeypatch.setitem(system.PROGRAMS, "nothing", ("serve-nothing",))
    monkeypatch.setitem(system.FOLDERS, "nothing", f"{tmp_path}/*/bin")
    assert system.require("nothing") == {"serve-nothing": str(tmp_path / "17" / "bin" / "serve-nothing")}
