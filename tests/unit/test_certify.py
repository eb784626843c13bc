"""`python -m benchmarks.certify`: parts that are resumed, and what the table says."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.certify import Group, advance, groups, rows, verdict

import bestarm

EASY = Group("uniform", "practical", "easy", (0.9, 0.1), {"max_samples": 500})


def test_a_group_is_resumed(tmp_path: Path) -> None:
    """What is there is not done again, and what is added equals one call."""
    advance(EASY, tmp_path, 30, 1, "cpu")
    found = advance(EASY, tmp_path, 80, 1, "cpu")
    again = advance(EASY, tmp_path, 50, 1, "cpu")
    (tmp_path / "other").mkdir()
    whole = advance(EASY, tmp_path / "other", 80, 1, "cpu")
    for cell, kept, other in zip(found, again, whole, strict=True):
        assert cell.runs == kept.runs == other.runs == 80
        assert cell.to_dict() == kept.to_dict() == other.to_dict()
    table = rows(EASY, found, "cpu")
    assert [row["delta"] for row in table] == [0.1, 0.01, 0.001, 1e-5]
    assert sum(table[0]["answers"]) == 80


def test_every_group_has_a_file_of_its_own(tmp_path: Path) -> None:
    """Every strategy, rule and bandit, no two in the same file."""
    files = [group.file(tmp_path) for group in groups()]
    assert len(set(files)) == len(files) > 200


@pytest.mark.parametrize(("gap", "said"), [(0.9, "within delta"), (0.0, "not within delta")])
def test_the_verdict(gap: float, said: str) -> None:
    """Clear arms are within delta; a strategy that answers at once, and wrongly, is not."""

    @bestarm.strategy(stops_itself=True)
    def last(pulls):  # type: ignore[no-untyped-def]
        return 2 * pulls.size - 1

    strategy = "uniform" if gap else last
    cell = bestarm.simulate(strategy, (0.9, 0.9 - gap, 0.0), 0.1, runs=200, max_samples=5000, seed=3).cells[0]
    assert verdict(cell) == said
