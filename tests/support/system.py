"""Programs that tests need and Python does not bring: found, or the test is skipped with a reason.

TRUEBEST_REQUIRE=chromium,nginx,pgbouncer,postgresql (as `.ci/run` sets it) makes a missing package a
failure: where it was installed for the tests, a skip would hide that they no longer run.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

PROGRAMS = {
    "bash": ("bash",),
    "chromium": ("chromium",),
    "curl": ("curl",),
    "jq": ("jq",),
    "nginx": ("nginx",),
    "nodejs": ("node",),
    "openssl": ("openssl",),
    "pgbouncer": ("pgbouncer",),
    "postgresql": ("initdb", "postgres"),
}  # Debian package -> programs
OTHER_NAMES = {"chromium": ("chromium-browser", "google-chrome")}
FOLDERS = {"postgresql": "/usr/lib/postgresql/*/bin"}  # Debian keeps the server's programs off the PATH


def require(package: str) -> dict[str, str]:
    """The programs of a package, name -> path; skips the test where one is missing, or fails it.

    Raises  pytest's Skipped, or Failed if TRUEBEST_REQUIRE names the package
    """
    found = {name: _find(name, package) for name in PROGRAMS[package]}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        reason = f"{', '.join(missing)} not found; install the package {package} to run this test"
        if package in os.environ.get("TRUEBEST_REQUIRE", "").split(","):
            pytest.fail(f"{reason} (TRUEBEST_REQUIRE asks for it)", pytrace=False)
        pytest.skip(reason)
    return {name: path for name, path in found.items() if path is not None}


def _find(program: str, package: str) -> str | None:
    """On the PATH, or where Debian puts it; of several versions the newest."""
    for name in (program, *OTHER_NAMES.get(program, ())):
        if path := shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin"):
            return str(path)
    pattern = FOLDERS.get(package)
    folders = Path("/").glob(pattern.lstrip("/")) if pattern else ()
    there = [folder / program for folder in folders if os.access(folder / program, os.X_OK)]
    return str(max(there, key=lambda path: float(path.parts[-3]))) if there else None
