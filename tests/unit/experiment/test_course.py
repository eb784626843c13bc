"""The course of an experiment, for charts; and asking on behalf of several workers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from truebest import Experiment, InvalidInputError, StoreError
from truebest.experiment import course


def work(experiment: Experiment, pulls: int, rng: np.random.Generator, waiting: int = 1) -> None:
    """Answer so many pulls at most, arm "b" being the best."""
    for _ in range(pulls // waiting):
        asked = experiment.ask(waiting)
        experiment.tell([(pull, float(rng.random() < {"a": 0.4, "b": 0.7}[pull.arm])) for pull in asked])


def test_the_course_is_what_status_said(tmp_path: Path) -> None:
    """Every point is the status that there was after as many results, while others append."""
    experiment = Experiment.create(f"sqlite:///{tmp_path}/a.db", "e", ["a", "b"], bounds=(0, 1), seed=1)
    rng, said, followed = np.random.default_rng(1), {}, experiment.course()
    lines = 0
    for _ in range(60):
        work(experiment, 1, rng)
        now = experiment.status()
        said[now.samples] = now
        lines += len(followed.advance())
    assert followed.advance() == []
    assert followed.last == followed.seq
    assert lines == followed.seq == experiment.history()[-1].seq
    assert [point.samples for point in followed.points.all] == list(range(1, 61))
    assert all(point == said[point.samples] for point in followed.points.all)


def test_there_are_never_too_many_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every second one goes, and those that are left are evenly spread; one who follows is told."""
    monkeypatch.setattr(course, "MOST_POINTS", 10)
    experiment = Experiment.create("memory:", "e", ["a", "b"], bounds=(0, 1), delta=1e-6, seed=1)
    followed, rng = experiment.course(), np.random.default_rng(2)
    for _ in range(50):
        work(experiment, 1, rng)
        followed.advance()
    assert [point.samples for point in followed.points.all] == [8, 16, 24, 32, 40, 48]
    assert followed.points.edition == 3
    late = experiment.course()
    late.advance()
    assert [point.samples for point in late.points.all] == [8, 16, 24, 32, 40, 48]
    assert late.points.all == followed.points.all


def test_few_points_are_taken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes milliseconds: whoever is far behind catches up with a few of them."""
    monkeypatch.setattr(course, "AT_ONCE", 10)
    experiment = Experiment.create("memory:", "e", ["a", "b"], bounds=(0, 1), delta=1e-6, seed=1)
    work(experiment, 52, np.random.default_rng(2))
    followed = experiment.course()
    assert len(followed.advance()) == 105
    assert [point.samples for point in followed.points.all] == [10, 20, 30, 40, 50, 52]


def test_results_that_wait_are_no_points_and_a_retraction_takes_some_away() -> None:
    """Samples grow from point to point, whatever happens."""
    experiment = Experiment.create("memory:", "e", ["a", "b"], bounds=(0, 1), delta=1e-6, seed=1)
    followed = experiment.course()
    first, *others = experiment.ask(6)
    experiment.tell([(pull, 1.0) for pull in others])
    followed.advance()
    assert followed.points.all == []
    experiment.tell(first, 0.0)
    followed.advance()
    assert [point.samples for point in followed.points.all] == [6]
    for pull in others[:3]:
        experiment.retract(pull, "a slip of the pen")
    work(experiment, 1, np.random.default_rng(3))
    followed.advance()
    assert [point.samples for point in followed.points.all] == [4]
    assert followed.points.edition == 1


def test_another_log_of_the_same_name_is_refused(tmp_path: Path) -> None:
    """Deleted and created again: what was taken in is not its beginning."""
    url = f"sqlite:///{tmp_path}/a.db"
    experiment = Experiment.create(url, "e", ["a", "b"], bounds=(0, 1), seed=1)
    followed = experiment.course()
    followed.advance()
    experiment.delete()
    Experiment.create(url, "e", ["a", "b"], bounds=(0, 1), seed=1)
    with pytest.raises(StoreError, match="was replaced by another one of that name; open it again"):
        followed.advance()


def test_several_workers_are_asked_for_at_once() -> None:
    """Each gets as many pulls as it wants under its own name; the same arms as if they came one by one."""
    one, other = (Experiment.create("memory:", "e", ["a", "b"], bounds=(0, 1), seed=4) for _ in range(2))
    found = one.ask_for([("x", 3), ("y", 2), ("x", 1)])
    assert [len(pulls) for pulls in found] == [3, 2, 1]
    assert [p.arm for pulls in found for p in pulls] == [p.arm for n in (3, 2, 1) for p in other.ask(n)]
    workers = [(event.data or {})["worker"] for event in one.history(1)]
    assert workers == ["x"] * 3 + ["y"] * 2 + ["x"]
    one.stop("enough")
    assert [pulls.reason for pulls in one.ask_for([("x", 1), ("y", 1)])] == ["stopped", "stopped"]
    assert one.ask_for([]) == []
    with pytest.raises(InvalidInputError, match="the name of a worker"):
        one.ask_for([("", 1)])
    with pytest.raises(InvalidInputError, match="it is how many pulls"):
        one.ask_for([("x", 0)])


def test_many_pulls_for_several_workers_take_several_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the time for one is up, the rest follows in the next."""
    monkeypatch.setattr("truebest.experiment.experiment.AT_ONCE", 0.0)
    experiment = Experiment.create("memory:", "e", ["a", "b"], bounds=(0, 1), seed=4)
    found = experiment.ask_for([("x", 5), ("y", 4)])
    assert [len(pulls) for pulls in found] == [5, 4]
    assert sorted(pull.id for pulls in found for pull in pulls) == list(range(1, 10))
