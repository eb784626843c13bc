"""Every property test is deterministic, and no test inherits the signals of whatever starts the tests."""

import os
import signal
import sys

import pytest
from hypothesis import settings

from support.postgres import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]
pytest_plugins = ["support.spent"]

settings.register_profile("truebest", deadline=None, derandomize=True, max_examples=200)
settings.load_profile("truebest")

# Tests simulate many models and rules briefly; some make the loops that are made for one of them.
os.environ.setdefault("TRUEBEST_JIT", "all")

# Workers and hundreds of commands import the same modules: the first one compiles them for all.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Under `nohup make test &` both are ignored, and a process inherits that: no Ctrl-C would reach a command
# that a test starts. A handler is not inherited; that of SIGHUP lets the tests outlive the terminal.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What asks for a PostgreSQL server is slow."""
    for item in items:
        if isinstance(item, pytest.Function):
            given = item.callspec.params.values() if hasattr(item, "callspec") else ()
            kinds = {value for value in given if isinstance(value, str)}
            if "postgresql" in kinds or "postgres_server" in item.fixturenames:
                item.add_marker(pytest.mark.slow)
