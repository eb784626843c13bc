"""How a change gets into the log: worked out while nobody waits, committed if nothing came in between."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from support.told import column
from truebest import Experiment
from truebest.errors import StoreError
from truebest.experiment import experiment as calls
from truebest.experiment import journal
from truebest.experiment.events import DECIDED, TOLD, Entry
from truebest.experiment.store import Store, open_store
from truebest.experiment.turn import Turn


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A file with an experiment `x`."""
    store = open_store(f"sqlite:///{tmp_path}/runs.db")
    Experiment.create(store, "x", ["a", "b"], bounds=(0, 1), seed=1, lease=None)
    return store


def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every piece of work count as slow."""
    monkeypatch.setattr(journal, "QUICK", -1.0)


def must_wait(store: Store) -> bool:
    """Whether another thread cannot write now."""
    waited: list[bool] = []

    def probe() -> None:
        try:
            with store.writing("x", patience=0.05):
                waited.append(False)
        except StoreError:
            waited.append(True)

    elsewhere(probe)
    return waited[0]


def record_calls(experiment: Experiment, before: Callable[[int], object]) -> list[bool]:
    """Call `before` with their number when work begins; per call, whether others had to wait for it."""
    waiting: list[bool] = []
    real = experiment._journal._attempt

    def attempt(work: Callable[[Turn], object], size: int) -> tuple[Turn, object]:
        waiting.append(must_wait(experiment._store))
        before(len(waiting))
        return real(work, size)

    experiment._journal._attempt = attempt  # type: ignore[assignment]
    return waiting


def elsewhere(work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()


def test_nobody_waits_while_a_change_is_worked_out(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another client asks and tells while the first one is still choosing; both changes are in the log."""
    slow(monkeypatch)
    first, second = Experiment.open(store, "x"), Experiment.open(store, "x")

    def in_between(number: int) -> None:
        if number == 1:
            elsewhere(lambda: second.tell(second.ask()[0], 0.5))

    waiting = record_calls(first, in_between)
    assert first.ask()[0].id == 2
    assert waiting == [False, False]
    assert [event.kind for event in first.history()] == ["created", "asked", "told", "asked"]


def test_a_change_that_loses_three_times_is_worked_out_once_more_where_others_wait(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy rival appends every time: the fourth commit works on the new lines inside the block."""
    slow(monkeypatch)
    first, second = Experiment.open(store, "x"), Experiment.open(store, "x")
    waiting = record_calls(first, lambda number: elsewhere(second.ask) if number <= 4 else None)
    assert first.ask()[0].id == 5
    assert waiting == [False, False, False, False, True]
    assert first.verify().sound


def test_quick_work_loses_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes some milliseconds is done again at once, inside the block that was waited for."""
    monkeypatch.setattr(journal, "QUICK", 60.0)
    first, second = Experiment.open(store, "x"), Experiment.open(store, "x")
    waiting = record_calls(first, lambda number: elsewhere(second.ask) if number == 1 else None)
    assert first.ask()[0].id == 2
    assert waiting == [False, True]


def test_a_large_ask_is_committed_in_parts(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that others get their turn; the pulls are the same as those of one commit."""
    monkeypatch.setattr(calls, "AT_ONCE", 0.0)
    experiment = Experiment.open(store, "x")
    commits = record_calls(experiment, lambda number: None)
    pulls = experiment.ask(20)
    assert len(commits) > 10
    monkeypatch.undo()
    twin = Experiment.create("memory:", "x", ["a", "b"], bounds=(0, 1), seed=1, lease=None)
    assert pulls == twin.ask(20)


def test_a_refusal_leaves_the_state_as_it_was(store: Store) -> None:
    """Work that raises half-way changes neither the log nor what is remembered."""
    experiment = Experiment.open(store, "x")
    experiment.tell([(pull, 0.5) for pull in experiment.ask(4)])
    before, lines = experiment.status(), len(experiment.history())

    def half(turn: Turn) -> None:
        experiment._ask(turn, 3, 100)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        experiment._journal.transact(half)
    assert experiment.status() == before
    assert len(experiment.history()) == lines


def test_a_decision_is_proven_on_the_log(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the decision, and only then, all lines are read again from the first, while nobody waits."""
    replayed: list[tuple[int, int | None]] = []
    real = journal.stored_chunks

    def chunks(store: Store, name: str, after: int, until: int | None = None) -> object:
        if until is not None:
            replayed.append((after, until))
            assert not must_wait(store)
        return real(store, name, after, until)

    monkeypatch.setattr(journal, "stored_chunks", chunks)
    experiment = Experiment.open(store, "x")
    while pulls := experiment.ask():
        experiment.tell(pulls[0], {"a": 0.1, "b": 0.9}[pulls[0].arm])
    lines = list(real(store, "x", 0))[-1]
    assert lines[-1].kind == DECIDED
    assert replayed == [(0, lines[-1].seq - 2)]


def test_two_clients_decide_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both find the decision, one is first; the other's result is recorded behind it."""
    slow(monkeypatch)
    first, second = Experiment.open(store, "x"), Experiment.open(store, "x")
    value = {"a": 0.1, "b": 0.9}
    while len(pulls := first.ask(2)) == 2 and not first.decided:
        if first.status().progress.statistic and _would_decide(first, [value[pull.arm] for pull in pulls]):
            break
        first.tell([(pull, value[pull.arm]) for pull in pulls])

    def in_between(number: int) -> None:
        if number == 1:
            elsewhere(lambda: second.tell(pulls[0], value[pulls[0].arm]))

    record_calls(first, in_between)
    first.tell([(pull, value[pull.arm]) for pull in pulls])
    kinds = [event.kind for event in first.history()]
    assert kinds.count(DECIDED) == 1
    assert first.verify().sound


def _would_decide(experiment: Experiment, values: list[float]) -> bool:
    with experiment._journal.reading() as state:
        trial = state.copy()
    for pull, value in zip(sorted(trial.open), values, strict=True):
        trial.apply(Entry(TOLD, pull, trial.open[pull].arm, value))
        if trial.crossed is not None:
            return True
    return False


def test_snapshots_are_spaced_by_their_size(store: Store) -> None:
    """With 20,000 pulls out a snapshot has 800 kB: 1000 more lines do not write ten of them."""
    experiment = Experiment.open(store, "x")
    experiment.ask(20_000)
    saved = []
    for _ in range(10):
        experiment.ask(100)
        with store.reading("x") as log:
            saved.append(log.saved)
    assert len(set(saved)) <= 2
    assert saved[-1] > 15_000


def test_a_reader_saves_what_it_had_to_replay(store: Store) -> None:
    """Who opens a long log without a snapshot, only to look, leaves one for the next."""
    experiment = Experiment.open(store, "x")
    experiment.ask(500)
    with store.writing("x") as log:
        log.save_snapshot(0, "gone")
    assert column(Experiment.open(store, "x").status(), "pending") == {"a": 250, "b": 250}
    with store.reading("x") as log:
        assert log.saved == 501


def test_workers_know_each_others_snapshots(store: Store) -> None:
    """Ten clients in turn save about as many snapshots as one would."""
    clients = [Experiment.open(store, "x") for _ in range(10)]
    saved = set()
    for i in range(400):
        clients[i % 10].ask(2)
        with store.reading("x") as log:
            saved.add(log.saved)
    assert 2 <= len(saved) <= 9
