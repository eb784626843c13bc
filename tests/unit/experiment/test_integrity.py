"""What is stored may be damaged, but it cannot lie unnoticed."""

from __future__ import annotations

import json
import pickle
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

import truebest
from truebest import Experiment
from truebest.errors import DamagedLogError, TruebestError
from truebest.experiment import snapshots
from truebest.experiment.events import DECIDED, Entry
from truebest.experiment.findings import Findings
from truebest.experiment.snapshots import as_dict
from truebest.experiment.store import Store, _rows, _sql, open_store
from truebest.experiment.verification import verify

RATES = {"a": 0.4, "b": 0.8}


def work(experiment: Experiment, rounds: int = 1000) -> None:
    """Ask and tell, at most so many times."""
    for _ in range(rounds):
        if not (pulls := experiment.ask(2)):
            return
        experiment.tell([(p, float(Random(p.seed).random() < RATES[p.arm])) for p in pulls])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with an experiment `x` of two arms, 41 lines, undecided."""
    path = tmp_path / "runs.db"
    rule = "mixture"
    with Experiment.create(f"sqlite:///{path}", "x", ["a", "b"], bounds=(0, 1), stopping=rule, seed=1) as new:
        work(new, 10)
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A store with the same experiment."""
    url = f"sqlite:///{tmp_path}/runs.db"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres_url")
    store = open_store(url)
    work(Experiment.create(store, "x", ["a", "b"], bounds=(0, 1), strategy="tas-c", seed=1), 10)
    yield store
    store.close()


def change(store: Store, sql: str) -> None:
    """Change what is stored, behind the store's back."""
    assert isinstance(store, _sql.SqlStore)
    with store._block(write=True) as session:
        assert session.run(sql)


def sqlite_change(path: Path, sql: str, *values: Any) -> None:
    raw = sqlite3.connect(path)
    raw.execute(sql, values)
    raw.commit()
    raw.close()


def look(path: Path) -> list[Any] | None:
    """Everything that the file says of the experiment; None if it is refused."""
    try:
        with Experiment.open(f"sqlite:///{path}", "x") as experiment:
            status = experiment.status()
            return [experiment.history(), status.means, status.best, status.samples]
    except TruebestError:
        return None
    except (TypeError, LookupError):  # happens without the hashes only
        return None


def grown(path: Path) -> Path:
    """The same file with a longer log, which is decided."""
    with Experiment.open(f"sqlite:///{path}", "x") as experiment:
        work(experiment)
        assert experiment.decided
    return path


def unnoticed(path: Path, flips: int) -> int:
    """Of so many single bits changed in the file, one at a time: how many change what it says?"""
    truth, random, lies = look(path), Random(9), 0
    content = path.read_bytes()
    assert truth is not None
    for _ in range(flips):
        broken = bytearray(content)
        broken[random.randrange(len(content))] ^= 1 << random.randrange(8)
        for rest in path.parent.glob("runs.db-*"):
            rest.unlink()
        path.write_bytes(broken)
        found = look(path)
        lies += found is not None and found != truth
    path.write_bytes(content)
    return lies


FLIPS = 400


def test_no_flipped_bit_changes_history_unnoticed(path: Path) -> None:
    """400 files with one bit changed: each says what it said before, or is refused."""
    assert unnoticed(grown(path), FLIPS) == 0


def test_without_the_hashes_flipped_bits_lie(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: read without looking at the hashes, some of these files say something else."""
    grown(path)
    monkeypatch.setattr(_rows, "link", lambda previous, row: row[_rows.CHAIN])
    assert unnoticed(path, FLIPS) > 5  # 19 on average: the times in the log are those of now


CHANGES = {
    "a value": "UPDATE events SET value = 1 - value WHERE seq = 21",
    "an arm": "UPDATE events SET arm = 1 - arm WHERE seq = 21",
    "a time": "UPDATE events SET time = time + 0.001 WHERE seq = 21",
    "a pull": "UPDATE events SET pull = pull + 1 WHERE seq = 21",
    "a kind": "UPDATE events SET kind = 'failed' WHERE seq = 21",
    "data": """UPDATE events SET data = '{"deadline":1.0}' WHERE seq = 21""",
    "a hash": "UPDATE events SET chain = 'f0' WHERE seq = 21",
    "no hash": "UPDATE events SET chain = NULL WHERE seq = 21",
    "a line": "DELETE FROM events WHERE seq = 21",
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_line_is_refused_by_its_number(store: Store, what: str) -> None:
    """Whoever reads the line is told so; `verify` says that 20 lines are intact, and what is wrong."""
    change(store, CHANGES[what])
    with pytest.raises(DamagedLogError, match=r"line 21 of the log in .* is damaged") as caught:
        Experiment.open(store, "x").history()
    assert caught.value.line == 21
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    found = verify(store, "x")
    assert not found.sound
    assert (found.lines, found.intact) == (41, 20)
    assert "line 21 is not intact" in found.problem


def test_a_damaged_line_decides_nothing(store: Store) -> None:
    """A fresh process that would have to read it tells nothing and stores nothing."""
    pull = Experiment.open(store, "x").ask()[0]
    change(store, "DELETE FROM snapshots" if _has_snapshot(store) else "UPDATE experiments SET saved = 0")
    change(store, "UPDATE events SET value = 0.5 WHERE seq = 21 OR seq = 22")
    with pytest.raises(DamagedLogError):
        Experiment.open(store, "x").tell(pull, 1.0)


def _has_snapshot(store: Store) -> bool:
    with store.reading("x") as log:
        return log.snapshot() is not None


def test_a_log_that_was_cut_off_is_noticed(store: Store) -> None:
    """With its number of lines set back, the lines behind it would vanish; the hash of the last one tells."""
    change(store, "UPDATE experiments SET last = 30")
    with pytest.raises(DamagedLogError, match="not the line that was written last"):
        Experiment.open(store, "x").history()
    assert not verify(store, "x").sound


def test_the_settings_are_part_of_the_chain(store: Store) -> None:
    """Another delta in the first line is refused when the experiment is opened."""
    change(store, """UPDATE events SET data = replace(data, '"delta":0.05', '"delta":0.50') WHERE seq = 1""")
    with pytest.raises(DamagedLogError, match="line 1 of the log"):
        Experiment.open(store, "x")
    assert verify(store, "x").intact == 0


def test_a_line_of_0_1_is_one_before_the_first_with_a_hash(store: Store) -> None:
    """Behind a line that has a hash, one without is refused: its hash may have been removed."""
    change(store, "DELETE FROM snapshots" if _has_snapshot(store) else "UPDATE experiments SET saved = 0")
    change(store, "UPDATE events SET chain = NULL WHERE seq <= 10")
    assert verify(store, "x").intact == 10  # the 11th was made behind one with a hash
    change(store, "UPDATE events SET chain = NULL WHERE seq > 10")
    change(store, "UPDATE experiments SET head = NULL")
    assert (verify(store, "x").unhashed, verify(store, "x").sound) == (41, True)
    experiment = Experiment.open(store, "x")
    work(experiment, 1)
    assert (experiment.verify().unhashed, experiment.verify().sound) == (41, True)
    change(
        store,
        "INSERT INTO events (experiment, seq, time, kind, pull, arm, data)"
        """ SELECT id, 46, 9e9, 'asked', 23, 0, '{"deadline":null}' FROM experiments""",
    )
    change(store, "UPDATE experiments SET last = 46")
    with pytest.raises(DamagedLogError, match=r"line 46 .* has no hash, and the line before it has one"):
        work(Experiment.open(store, "x"))
    assert verify(store, "x").intact == 45


def decisive(path: Path) -> tuple[Experiment, Callable[[dict[str, Any]], None]]:
    """An experiment that is not decided, and a way to change the evidence in its snapshot."""
    store = open_store(f"sqlite:///{path}")
    experiment = Experiment.open(store, "x")
    with experiment._journal.reading() as state:
        data = as_dict(state)

    def save(changed: dict[str, Any]) -> None:
        text = json.dumps(changed)
        with store.writing("x") as log:
            log.save_snapshot(changed["seq"], f"{snapshots._digest(text)} {text}")

    save(data)
    return experiment, save


def test_a_snapshot_cannot_decide(path: Path) -> None:
    """Evidence that a snapshot makes up, even with a hash that fits, decides nothing: the log does."""
    experiment, save = decisive(path)
    with experiment._journal.reading() as state:
        data = as_dict(state)
    data["evidence"][0], data["evidence"][1] = [500.0, 500.0], [500.0, -250.0]  # pulls and sums
    save(data)
    found = experiment.verify()
    assert found.snapshot == "the snapshot is not what the log leads to"
    assert not found.sound
    again = Experiment.open(experiment._store, "x")
    assert again.status().means["a"] == 1.0  # what it says, before it is put to the proof
    assert again.tell(again.ask()[0], 1.0) == "told"
    assert again.status().best is None
    assert again.status().samples == 21
    assert Experiment.open(experiment._store, "x").status().samples == 21
    assert again.verify().sound  # the snapshot was replaced


def test_a_snapshot_may_differ_in_rounding(path: Path) -> None:
    """Of another version of Numba, whose sums end in other bits, it is sound; off by 1e-6 it is not."""
    experiment, save = decisive(path)
    with experiment._journal.reading() as state:
        data = as_dict(state)
    row = data["evidence"][1]
    for factor, sound in ((1.0 + 4e-16, True), (1.0 + 1e-6, False)):
        save({**data, "evidence": [*data["evidence"][:1], [x * factor for x in row], *data["evidence"][2:]]})
        assert experiment.verify().sound == sound


def test_a_changed_bit_in_a_snapshot_costs_a_replay(path: Path) -> None:
    """Its own hash does not fit: the log is replayed, the snapshot replaced."""
    experiment, save = decisive(path)
    with experiment._journal.reading() as state:
        right = as_dict(state)
    save(right)
    assert experiment.verify().sound
    sqlite_change(path, "UPDATE snapshots SET text = replace(text, '\"first\": 21', '\"first\": 11')")
    found = experiment.verify()
    assert found.snapshot == "the snapshot is damaged, and will not be used"
    with Experiment.open(experiment._store, "x")._journal.reading() as state:
        assert as_dict(state) == right


def test_a_damaged_snapshot_is_found_wherever_it_is(path: Path, tmp_path: Path) -> None:
    """Of a strategy that is not there, of a line that the log does not have, of another experiment."""
    experiment, save = decisive(path)
    with experiment._journal.reading() as state:
        right = as_dict(state)
    save({**right, "head": "0" * 32})
    assert experiment.verify().snapshot == "the snapshot is not what the log leads to"
    for change in ("seq = seq + 65536", "text = x'ff00'", "seq = 'x'"):
        save(right)
        sqlite_change(path, f"UPDATE snapshots SET {change}")
        assert experiment.verify().snapshot == "the snapshot is damaged, and will not be used"
        assert Experiment.open(experiment._store, "x").status().samples == experiment.status().samples
    url = f"sqlite:///{tmp_path}/own.db"
    made = truebest.strategy(lambda leader, t, pulls: int(t) % pulls.size, name="mine")
    with Experiment.create(url, "own", ["a", "b"], 1e-9, sigma=1.0, strategy=made, seed=1) as other:
        for _ in range(150):
            other.tell(other.ask()[0], 0.5)
    store = open_store(url)
    assert verify(store, "own").sound
    sqlite_change(
        tmp_path / "own.db", "UPDATE snapshots SET text = substr(text, 1, 50) || '~' || substr(text, 52)"
    )
    assert verify(store, "own").snapshot == "the snapshot is damaged, and will not be used"


def test_a_snapshot_of_the_decision_is_looked_at(tmp_path: Path) -> None:
    """Its last line is the decision itself."""
    with Experiment.create(
        f"sqlite:///{tmp_path}/x.db", "x", ["a", "b"], bounds=(0, 1), seed=1
    ) as experiment:
        while pulls := experiment.ask(62):
            experiment.tell([(pull, 0.73 if pull.arm == "b" else 0.27) for pull in pulls])
        with experiment._journal.reading() as state:
            data = as_dict(state)
        for changed, sound in ((data, True), ({**data, "first": 1}, False)):
            text = json.dumps(changed)
            with experiment._store.writing("x") as log:
                log.save_snapshot(changed["seq"], f"{snapshots._digest(text)} {text}")
            assert experiment.verify().sound is sound


def test_a_made_up_decision_does_not_follow(store: Store) -> None:
    """A line that declares a winner, well chained: `verify` says that it does not follow from the log."""
    with store.writing("x") as log:
        made_up = Findings(0, (10, 10), (0.4, 0.5), 4.0, 3.0, (0.0, 0.1), (0.0, 0.3), (0.1, 0.1))
        log.append([Entry(DECIDED, arm=0, data=made_up.to_record(("a", "b")))])
    found = verify(store, "x")
    assert (found.intact, found.follows, found.sound) == (42, False, False)
    assert "the decision for a does not follow" in str(found)


def test_a_decision_that_is_left_out_is_noticed(store: Store) -> None:
    """The lines of a decided experiment without the last one: the log should have declared somebody."""
    experiment = Experiment.open(store, "x")
    work(experiment)
    assert experiment.verify().follows
    lines = [line for line in experiment._journal.lines() if line.kind != DECIDED]
    other = open_store("memory:")
    other.create("x", lines[0])
    with other.writing("x") as log:
        log.append(lines[1:])
    found = verify(other, "x")
    assert (found.decision, found.follows) == (None, False)


def test_a_line_that_does_not_follow_is_damage_not_a_crash() -> None:
    """Well chained nonsense is one sentence with the number of the line."""
    half = Entry(DECIDED, arm=0, data={"arm": 0, "samples": 1, "pulls": [1, 0]})
    for nonsense in (Entry("told", 9, 0, 0.5), Entry("told", 1, 0, None), Entry("asked", 7, 0), half):
        store = open_store("memory:")
        Experiment.create(store, "x", ["a", "b"], bounds=(0, 1)).ask()
        with store.writing("x") as log:
            log.append([nonsense])
        with pytest.raises(DamagedLogError, match="line 3 of the log is damaged"):
            Experiment.open(store, "x").status()
        assert verify(store, "x").intact == 2
