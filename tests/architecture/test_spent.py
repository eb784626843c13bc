"""The CPU seconds of tests: counted with those of children, and a folder that takes far more than is kept."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from support import spent

PROJECT = """
import subprocess, sys, time

def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

def test_alone():
    burn(0.2)

def test_with_a_child():
    subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.4: pass"])

def test_asleep():
    time.sleep(0.2)
"""


def test_a_session_says_and_keeps_what_it_takes(tmp_path: Path) -> None:
    """A test is charged with its own time and its children's, not with the clock's; too much is a failure."""
    (tmp_path / "tests" / "unit").mkdir(parents=True)
    (tmp_path / "tests" / "unit" / "test_it.py").write_text(PROJECT)
    (tmp_path / "conftest.py").write_text(
        f"import sys\nsys.path.insert(0, {str(Path(spent.__file__).parents[1])!r})\n"
        "from pathlib import Path\nfrom support import spent\n"
        "spent.KEPT, spent.COMPILING = Path(__file__).with_name('spent.json'), 0.0\n"
        "pytest_plugins = ['support.spent']\n"
    )
    kept = tmp_path / "spent.json"
    kept.write_text("{}")

    def session(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest", "-n1", "-m", "not slow", "-p", "no:cacheprovider"]
        return subprocess.run([*command, *words], cwd=tmp_path, capture_output=True, text=True)

    done = session("--spent", "keep")
    assert done.returncode == 0, done.stdout
    assert re.search(r"CPU seconds: [1-9]\d* \(unit [1-9]\d*\), and \d+ to start", done.stdout)
    found = json.loads(kept.read_text())["not slow"]["unit"]
    alone, child, asleep = (
        found["longest"][f"tests/unit/test_it.py::test_{name}"]
        for name in ("alone", "with_a_child", "asleep")
    )
    assert alone >= 0.2
    assert child >= 0.4
    assert asleep < alone
    kept.write_text(json.dumps({"not slow": {"unit": {"seconds": 0}}}))
    done = session("--spent", "say")
    assert done.returncode == 1
    assert re.search(r"tests/unit took \d+ s of CPU time, where 0 s are kept", done.stdout)
    assert "3 passed" in done.stdout.splitlines()[-1]


def test_what_is_kept_names_tests_that_are_there() -> None:
    """By their files; with a fair share of each folder in its longest tests."""
    kept = json.loads(spent.KEPT.read_text())
    assert set(kept) <= {"not slow and not full", "slow and not full"}
    for folders in kept.values():
        for folder, each in folders.items():
            assert sum(each["longest"].values()) <= each["seconds"] + 1
            for name in each["longest"]:
                assert name.startswith(f"tests/{folder}/")
                assert (spent.KEPT.parents[1] / name.partition("::")[0]).exists(), "run `make spent`"
