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
from truebest.experiment import journal, proof, reading
from truebest.experiment.events import ASKED, DECIDED, TOLD, Entry
from truebest.experiment.journal import Turn
from truebest.experiment.store import Store, open_store


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
    thread.join(600)
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


def replays(store: Store, monkeypatch: pytest.MonkeyPatch, during: Callable[[], object]) -> list[int]:
    """From which lines on, each behind the one given, decisions are proven; `during` is called before."""
    begun: list[int] = []
    real = reading.stored_chunks

    def chunks(store: Store, name: str, after: int, until: int, what: str) -> object:
        begun.append(after)
        during()
        return real(store, name, after, until, what)

    monkeypatch.setattr(proof, "stored_chunks", chunks)
    return begun


def decide(experiment: Experiment) -> None:
    """Ask and tell until b is the best."""
    while pulls := experiment.ask():
        experiment.tell(pulls[0], {"a": 0.1, "b": 0.9}[pulls[0].arm])


def test_a_decision_is_proven_on_the_log(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the decision, and only then, all lines are read again from the first, while nobody waits."""
    experiment = Experiment.open(store, "x")
    went_on: list[bool] = []

    def others() -> None:
        assert not must_wait(store)
        elsewhere(lambda: went_on.append(experiment.status().decided))  # nor need a thread of this process
        elsewhere(lambda: experiment.ask(3))
        elsewhere(lambda: Experiment.open(store, "x").ask(2))

    begun = replays(store, monkeypatch, others)
    decide(experiment)
    events = experiment.history()
    assert events[-1].kind == DECIDED
    assert [event.kind for event in events[-7:-1]] == [*[ASKED] * 5, TOLD]
    assert (begun, went_on) == ([0], [False])
    assert experiment.verify().sound


def test_the_next_decision_is_proven_from_there_on(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The replay is kept: a decision that fell with a retraction is found again on the lines behind it."""
    begun = replays(store, monkeypatch, lambda: None)
    experiment = Experiment.open(store, "x")
    decide(experiment)
    monkeypatch.setattr(proof, "NEAR", 0)
    last = experiment.history()[-1]
    told = [event for event in experiment.history() if event.kind == TOLD]
    experiment.retract(told[-1].pull or 0, reason="a typing error", value=0.5)
    assert not experiment.decided
    decide(experiment)
    assert experiment.decided
    assert begun == [0, last.seq - 3]  # behind the line that was the last before the decision
    assert experiment.verify().sound


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
        if trial.due is not None:
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
