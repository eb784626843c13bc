"""The first moments of the command: Ctrl-C is one line and code 130 while the rest is still being loaded."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INTERRUPTED = """
import os, signal, sys
wanted, how, sys.argv[1:] = sys.argv[1], sys.argv[2], sys.argv[3:]

class Destroyed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)

class Interrupting:
    def find_spec(self, name, *_):
        if name == wanted:
            sys.meta_path.remove(self)
            if how == "in a destructor":
                Destroyed()
            elif how == "plainly":
                os.kill(os.getpid(), signal.SIGINT)
            else:
                exec("os.kill(os.getpid(), signal.SIGINT)")

sys.meta_path.insert(0, Interrupting())
from truebest.__main__ import main
sys.exit(main())
"""


def truebest(*words: str) -> subprocess.CompletedProcess[str]:
    """Interrupt the command when it loads a module."""
    return subprocess.run([sys.executable, "-c", INTERRUPTED, *words], capture_output=True, text=True)


@pytest.mark.parametrize("module", ["truebest.cli", "typer", "truebest.cli.solve", "numpy", "truebest._text"])
@pytest.mark.parametrize("how", ["plainly", "in a destructor", "in a text that is run"])
def test_an_interrupt_while_loading_is_one_line(module: str, how: str) -> None:
    """Whatever is being loaded, also where Python would drop the exception, or note it for its exit code."""
    words = ["solve", "0.9", "0.8", "--delta", "2"]  # an error: its message needs truebest._text
    done = truebest(module, how, *words)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "truebest: interrupted\n")


def test_the_test_interrupts_only_what_is_loaded() -> None:
    """Without the module the command ends by itself."""
    done = truebest("no_such_module", "plainly", "--version")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_entry_loads_nothing() -> None:
    """What runs before Ctrl-C can be handled is this package's first file and the entry itself."""
    code = "import sys; old = {*sys.modules}; import truebest.__main__; print(*sorted({*sys.modules} - old))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["truebest", "truebest.__main__"]


def test_the_installed_command_and_the_module_begin_there() -> None:
    """`truebest` and `python -m truebest`."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"truebest": "truebest.__main__:main"}
    done = subprocess.run([sys.executable, "-m", "truebest", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("truebest ")
