"""The CPU seconds that tests take: said by folder, and held against those that `tests/spent.json` keeps.

Unlike the time of the clock, they hardly depend on what else the machine does. A test is charged for its own
process and for the children that were waited for meanwhile, and for the kernels that it is the first to need.

`--spent say` prints them and fails where a folder takes far more than is kept for the same choice of tests;
`--spent keep` keeps them, with the longest tests of each folder.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

KEPT = Path(__file__).parents[1] / "spent.json"
TIMES, COMPILING = 2.0, 100.0  # a folder may take so many times what is kept, and compile all kernels
LONGEST = 12
PROPERTY, COLLECTING = "CPU seconds", "CPU seconds before the first test"


def cpu_seconds() -> float:
    """Of this process and of the children that it has waited for."""
    now = os.times()
    return now.user + now.system + now.children_user + now.children_system


def by_folder(tests: dict[str, float]) -> dict[str, dict[str, Any]]:
    """What is kept: by folder of `tests` all seconds together, and those of the longest tests."""
    folders: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for name, seconds in tests.items():
        folders[name.split("/")[1]][name] = seconds
    found = {}
    for folder, each in sorted(folders.items()):
        longest = sorted(each.items(), key=lambda test: -test[1])[:LONGEST]
        found[folder] = {
            "seconds": round(sum(each.values())),
            "longest": {name: round(seconds, 1) for name, seconds in longest},
        }
    return found


def too_much(found: dict[str, dict[str, Any]], kept: dict[str, dict[str, Any]]) -> list[str]:
    """A sentence for each folder that takes far more than is kept."""
    return [
        f"tests/{folder} took {now['seconds']} s of CPU time, where {kept[folder]['seconds']} s are kept; "
        "make its longest tests shorter or slow, or keep what `make spent` finds"
        for folder, now in found.items()
        if folder in kept and now["seconds"] > TIMES * kept[folder]["seconds"] + COMPILING
    ]


class Spent:
    """What each test of a session has taken, gathered where the workers report to."""

    def __init__(self, choice: str, keep: bool) -> None:
        self.choice, self.keep = choice, keep
        self.tests: defaultdict[str, float] = defaultdict(float)
        self.collecting = 0.0
        self.said: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Set-up, call and tear-down each have one."""
        for name, value in report.user_properties:
            if name == PROPERTY:
                self.tests[report.nodeid] += float(str(value))
            elif name == COLLECTING:
                self.collecting += float(str(value))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Keep them, or compare them."""
        kept, found = json.loads(KEPT.read_text()), by_folder(self.tests)
        if self.keep:
            kept[self.choice] = {**kept.get(self.choice, {}), **found}
            KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
        elif self.choice in kept:
            self.said = too_much(found, kept[self.choice])
        if self.said and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """A line for all folders, and one for each that takes too much."""
        found = by_folder(self.tests)
        parts = ", ".join(f"{folder} {each['seconds']}" for folder, each in found.items())
        terminalreporter.write_line(
            f"CPU seconds: {sum(each['seconds'] for each in found.values())} ({parts}), and "
            f"{round(self.collecting)} to start and to collect them"
        )
        for sentence in self.said:
            terminalreporter.write_line(sentence, red=True)


_before = _collecting = 0.0


def pytest_collection_finish() -> None:
    """No test is charged for having been imported."""
    global _before, _collecting
    _before = _collecting = cpu_seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Charge each report with what was spent since the last one; workers send it along."""
    global _before, _collecting
    report = yield
    now = cpu_seconds()
    # Of this report alone; nothing else uses them
    report.user_properties = [(PROPERTY, now - _before), (COLLECTING, _collecting)]
    _before, _collecting = now, 0.0
    return report


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--spent`."""
    parser.addoption("--spent", choices=("say", "keep"), help="CPU seconds by folder: check or keep them")


def pytest_configure(config: pytest.Config) -> None:
    """Where reports come together."""
    if config.getoption("spent") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Spent(config.option.markexpr, config.option.spent == "keep"))
