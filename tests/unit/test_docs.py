"""The Python that the documentation shows runs, and the commands it shows print what it shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from support.commands import run
from truebest.paper.stability import kept_stability
from truebest.paper.table1 import joint_test, precise_table

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = [
    (page.name, i, code)
    for page in PAGES
    for i, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
]
README = (ROOT / "README.md").read_text()
SHOWN = re.findall(r"^    \$ (truebest .*)\n((?:    .*\n|\n)*)", README, re.MULTILINE)


@pytest.mark.parametrize(("page", "number", "code"), BLOCKS, ids=[f"{p}-{i}" for p, i, _ in BLOCKS])
def test_python_blocks_run(
    page: str, number: int, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every block marked as Python, with nothing but its own names, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    exec(compile(code, f"{page}-{number}", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[command for command, _ in SHOWN])
def test_commands_in_the_readme_print_what_it_shows(command: str, output: str) -> None:
    """Word for word."""
    ran = run(*shlex.split(command)[1:])
    expected = [line.rstrip() for line in output.replace("\n    ", "\n").splitlines()]
    expected[0] = expected[0].strip()
    assert [line for line in ran.out.splitlines() if line] == [line for line in expected if line]


def test_the_readme_shows_the_precise_table() -> None:
    """Every cell of the paper's table, row by row, ours beside the published one; pictures of a fair size."""
    shown = [tuple(map(int, pair)) for pair in re.findall(r"\| (\d+) / (\d+)(?= \|)", README)]
    cells = precise_table()
    assert shown == [(round(cell.mean_samples), cell.published) for cell in cells]
    assert max(abs(cell.z) for cell in cells) < 2.5
    assert f"p = {joint_test(cells).p_value:.2f}" in README
    pictures = re.findall(r"!\[.*\]\((.*)\)", README)
    assert len(pictures) == 3
    assert all((ROOT / picture).stat().st_size < 200_000 for picture in pictures)


def test_the_readme_gives_the_kept_stability() -> None:
    """How often the whole weight is moved, with its errors, for both strategies with C-tracking."""
    kept = {one.strategy: one for one in kept_stability()}
    ebs, tas = kept["ebs-c(gamma=0.2)"], kept["tas-c"]
    assert ebs.runs == tas.runs == 1000
    moved = f"moved about {ebs.total_variation:.1f} times against {tas.total_variation:.0f}"
    errors = f"standard errors {ebs.total_variation_error:.2f} and {tas.total_variation_error:.1f}"
    assert f"{moved} (means of 1000 runs, {errors})" in " ".join(README.split())


def test_there_is_something_to_test() -> None:
    """Blocks and commands were found."""
    assert len(BLOCKS) >= 2
    assert len(SHOWN) >= 2


def test_relative_links_lead_somewhere() -> None:
    """Every link within the repository."""
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
