"""The Python that the documentation shows runs, and the commands it shows print what it shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from support.commands import run
from support.paper import kept_stability
from truebest._catalogue import DEFAULT_STRATEGY
from truebest._former_name import FORMER_NAME
from truebest.experiment.store.postgres import SCHEMA
from truebest.studies.paper.table1 import joint_test, precise_table

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCKS = [
    (page.name, i, code)
    for page in PAGES
    for i, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
]
PAPER = (ROOT / "docs" / "guides" / "paper.md").read_text()
OF_THE_READER = ("truebest race", "truebest verify")  # the times of a machine, an experiment in a store
SHOWN = [
    (command, output)
    for page in PAGES
    for command, output in re.findall(
        r"^    \$ (truebest .*)\n((?:    .*\n|\n)*)", page.read_text(), re.MULTILINE
    )
    if not command.startswith(OF_THE_READER)
]


@pytest.mark.parametrize(("page", "number", "code"), BLOCKS, ids=[f"{p}-{i}" for p, i, _ in BLOCKS])
def test_python_blocks_run(
    page: str, number: int, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every block marked as Python, with nothing but its own names, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    exec(compile(code, f"{page}-{number}", "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[command for command, _ in SHOWN])
def test_commands_print_what_is_shown(command: str, output: str) -> None:
    """Word for word."""
    ran = run(*shlex.split(command)[1:])
    expected = [line.rstrip() for line in output.replace("\n    ", "\n").splitlines()]
    expected[0] = expected[0].strip()
    assert [line for line in ran.out.splitlines() if line] == [line for line in expected if line]


def test_the_guide_to_the_paper_shows_the_precise_table() -> None:
    """Every cell of the paper's table, row by row, ours beside the published one."""
    shown = [tuple(map(int, pair)) for pair in re.findall(r"\| (\d+) / (\d+)(?= \|)", PAPER)]
    cells = precise_table()
    assert shown == [(round(cell.mean_samples), cell.published) for cell in cells]
    assert max(abs(cell.z) for cell in cells) < 2.5
    assert f"p = {joint_test(cells).p_value:.2f}" in PAPER


def test_pictures_are_of_a_fair_size() -> None:
    """Those of the README and of the guides, and no other is kept."""
    pages = {page: re.findall(r"!\[.*\]\((.*)\)", page.read_text()) for page in PAGES}
    shown = {(page.parent / picture).resolve() for page, pictures in pages.items() for picture in pictures}
    assert len(pages[ROOT / "README.md"]) == 2
    assert shown == {file for file in (ROOT / "docs" / "images").iterdir() if file.suffix in (".png", ".svg")}
    assert all(picture.stat().st_size < 200_000 for picture in shown)


def test_the_guide_to_the_paper_gives_the_kept_stability() -> None:
    """How often the whole weight is moved, with its errors, for both strategies with C-tracking."""
    kept = {one.strategy: one for one in kept_stability()}
    ebs, tas = kept["ebs-c(gamma=0.2)"], kept["tas-c"]
    assert ebs.runs == tas.runs == 1000
    moved = f"moved about {ebs.total_variation:.1f} times against {tas.total_variation:.0f}"
    errors = f"standard errors {ebs.total_variation_error:.2f} and {tas.total_variation_error:.1f}"
    assert f"{moved} (means of 1000 runs, {errors})" in " ".join(PAPER.split())


def test_a_backup_has_the_schema_in_which_the_tables_are() -> None:
    """A dump of another one is empty. Tables that were made under the former name stay where they are."""
    guides = ROOT / "docs" / "guides"
    now, before = ((guides / name).read_text() for name in ("live.md", "from-0.1-to-0.2.md"))
    assert re.findall(r"--schema=(\w+)", now) == [SCHEMA, FORMER_NAME]
    assert re.findall(r"--schema=(\w+)", before) == [FORMER_NAME]


def test_the_default_strategy_is_what_the_rule_of_choice_takes() -> None:
    """By the guide's tables: within 3% of the fewest samples under `tilt`, and the fewest under `mixture`."""
    guide = (ROOT / "docs" / "guides" / "which-strategy.md").read_text()
    means = [
        {
            name: float(mean)
            for name, mean in re.findall(r"^\| `(\S+)` \| (?:≥ )?([\d.]+) \|.* ± ", part, re.M)
        }
        for part in guide.split("### Under `")[1:]
    ]
    mixture, tilt = means
    assert len(mixture) == len(tilt) >= 18
    near = [name for name, mean in tilt.items() if mean <= 1.03 * min(tilt.values())]
    assert min(near, key=lambda name: mixture[name]) == DEFAULT_STRATEGY
    decision = " ".join((ROOT / "docs" / "decisions" / "0008-default-strategy.md").read_text().split())
    for part, names in ((tilt, ("ttucb", "t3c-ids", DEFAULT_STRATEGY)), (mixture, (DEFAULT_STRATEGY,))):
        assert all(f"{part[name]:.3f}" in decision for name in names)


def test_there_is_something_to_test() -> None:
    """Blocks and commands were found."""
    assert len(BLOCKS) >= 2
    assert len(SHOWN) >= 4


def test_relative_links_lead_somewhere() -> None:
    """Every link within the repository."""
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_links_to_headings_lead_to_one() -> None:
    """Named as GitHub names headings: small letters, - for blanks, nothing else but letters, digits and _."""
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target, heading in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text()):
            text = ((page.parent / target).resolve() if target else page).read_text()
            headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
            names = [re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings]
            assert heading in names, f"{page.name}: {target}#{heading}"
