"""Every property test is deterministic, and no test inherits the signals of whatever starts the tests."""

import os
import signal
import sys
from importlib import import_module
from typing import Any

import pytest
from hypothesis import settings

from support.amounts import ALL
from support.postgres import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]
pytest_plugins = ["support.spent"]

settings.register_profile("all", deadline=None, derandomize=True, max_examples=200)
settings.register_profile("few", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("all" if ALL else "few")

# Tests simulate many models and rules briefly; some make the loops that are made for one of them.
os.environ.setdefault("TRUEBEST_JIT", "all")

# Workers and hundreds of commands import the same modules: the first one compiles them for all.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Commands buffer what they print, as they do for users.
os.environ.pop("PYTHONUNBUFFERED", None)

# Under `nohup make test &` both are ignored, and a process inherits that: no Ctrl-C would reach a command
# that a test starts. A handler is not inherited; that of SIGHUP lets the tests outlive the terminal.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: some tests wait, for a process, a lock or a clock."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + 1


def is_property(test: object) -> bool:
    """Whether Hypothesis makes its examples, as many as the profile says."""
    if not getattr(test, "is_hypothesis_test", False):
        return False
    own: settings = getattr(test, "_hypothesis_internal_use_settings", None) or settings()
    return own.max_examples == settings().max_examples


def pytest_runtest_setup(item: pytest.Item) -> None:
    """What tests call in this process is compiled when it is first called, by one worker for all.

    Uncompiled it would take longer, and would give way at a moment that depends on the load. Commands begin
    uncompiled, as they do for users.
    """
    compiling: Any = import_module("truebest.kernels._jit")  # which reads the variables above
    compiling.AT_ONCE = "e2e" not in item.path.parts


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What asks for a PostgreSQL server is slow, and so is what is tried on all examples or runs."""
    for item in items:
        if isinstance(item, pytest.Function):
            if ALL and (is_property(item.obj) or item.get_closest_marker("once_more")):
                item.add_marker(pytest.mark.slow)
            given = item.callspec.params.values() if hasattr(item, "callspec") else ()
            kinds = {value for value in given if isinstance(value, str)}
            if "postgresql" in kinds or "postgres_server" in item.fixturenames:
                item.add_marker(pytest.mark.slow)
