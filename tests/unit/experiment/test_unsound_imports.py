"""Nothing unchecked comes in with a log: what cannot have come about is refused, and nothing of it stored."""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from support.commands import refused, run
from truebest import Experiment, InvalidInputError
from truebest.errors import StoreError, SuspendedError
from truebest.experiment.exports import Seal, exported
from truebest.experiment.store import _sql, open_store

Line = dict[str, Any]
ARMS = ["a", "b", "c"]
PLAIN: dict[str, Any] = {"stopping": "mixture", "strategy": "uniform"}  # quick to compute


def value_of(seed: int, arm: str) -> float:
    """A value: a function of the pull's seed and its arm."""
    return float(random.Random(seed).random() < {"a": 0.2, "b": 0.5, "c": 0.95}[arm])


def work(experiment: Experiment, rounds: int) -> None:
    """Ask and tell so many times."""
    for _ in range(rounds):
        pulls = experiment.ask(3)
        experiment.tell([(pull, value_of(pull.seed, pull.arm)) for pull in pulls])


def independent() -> Experiment:
    """Decided: with a failure, a lapse, a late answer, an observation and two corrections in its log."""
    made = Experiment.create(
        "memory:", "x", ARMS, 0.2, bounds=(0, 1), seed=5, about={"a": "./run a"}, control="a", **PLAIN
    )
    made.observe("b", [0.5])
    one, two, three = made.ask(3)
    made.fail(one, "broken")
    made.tell(two, 0.25)
    made.tell(two, 0.75)
    made.retract(two, "typing error", 0.5)
    with pytest.raises(SuspendedError):
        made.tell(three, 7.0)
    made.retract(three, "a 7 for a 0.7", 0.7)
    made.ask(1)
    made.reclaim()
    while made.status().best is None:
        work(made, 1)
    made.retract(two, "it was the other file", 0.4)
    return made


def stopped() -> Experiment:
    """Gaussian values, ended by hand."""
    made = Experiment.create("memory:", "x", ARMS, sigma=1.0, seed=6, tolerance=0.1, minimize=True, **PLAIN)
    work(made, 6)
    made.stop("enough")
    return made


def rounds() -> Experiment:
    """Rounds on 40 items, of which one value was taken back."""
    made = Experiment.create("memory:", "x", ARMS, bounds=(0, 1), items=40, seed=7)
    first = made.ask()[0]
    made.tell(first, 1.0)
    made.retract(first, "wrong file")
    work(made, 8)
    return made


def wins() -> Experiment:
    """Rounds that count by wins, with an infinite value that was put right."""
    made = Experiment.create("memory:", "x", ARMS, compare="wins", seed=8)
    first = made.ask()[0]
    made.tell(first, float("inf"))
    made.retract(first, "wrong file", 0.5)
    work(made, 8)
    return made


BASES: list[Callable[[], Experiment]] = [independent, stopped, rounds, wins]


@cache
def file_of(base: Callable[[], Experiment], format: str = "jsonl") -> str:
    """Its export."""
    return "\n".join(exported(base(), format)) + "\n"


def lines_of(base: Callable[[], Experiment]) -> list[Line]:
    """Its lines, without its end."""
    return [json.loads(line) for line in file_of(base).splitlines()][:-1]


def sealed(lines: list[Line]) -> str:
    """Such lines as a file whose end fits them, so that only the lines themselves can be refused."""
    seal = Seal()
    for line in lines:
        seal.take(line)
    return "".join(json.dumps(line) + "\n" for line in [*lines, {"experiment": "x", "end": seal.to_dict()}])


def bring_in(path: Path, text: str) -> Experiment | str:
    """What becomes of a file; if it is refused, the sentence, with nothing stored."""
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    store = open_store("memory:")
    try:
        return Experiment.import_log(store, path)
    except InvalidInputError as error:
        assert store.names() == []
        said = str(error)
        assert "\n" not in said
        return said


@pytest.mark.parametrize("base", BASES)
def test_what_was_not_changed_comes_in(base: Callable[[], Experiment], tmp_path: Path) -> None:
    """The control of all tests below: the same lines, whose end fits, are imported, and stand as before."""
    made = base()
    new = bring_in(tmp_path / "x.jsonl", sealed(lines_of(base)))
    assert isinstance(new, Experiment), new
    assert new.status() == made.status()
    assert len(new.history()) == len(made.history())


SETTINGS: dict[str, tuple[str, Any, str]] = {
    "delta of 1": ("delta", 1, "delta must"),
    "a negative delta": ("delta", -1, "delta must"),
    "a text for delta": ("delta", "0.05", "delta"),
    "a negative tolerance": ("tolerance", -1, "tolerance must"),
    "another order": ("order", "zzz", "order must be"),
    "another control": ("control", "zzz", "control must be one of the arms"),
    "a control that is a list": ("control", ["a"], "control"),
    "bounds that are empty": ("bounds", [1, 0], "lo < hi"),
    "bounds that are texts": ("bounds", ["0", "1"], "bounds"),
    "a strategy that there is not": ("strategy", {"class": "os", "parameters": {}}, "strategy"),
    "a strategy that is a list": ("strategy", [], "strategy"),
    "a rule that there is not": ("stopping", {"name": "none", "parameters": {}}, "rule"),
    "no rule": ("stopping", {"name": "rounds", "parameters": {}}, "rule"),
    "a seed that is not whole": ("seed", 0.5, "seed"),
    "a negative lease": ("lease", -1, "lease"),
    "a decision of another version": ("decisions", True, "whole number"),
    "a failure that counts": ("failures", "worst", "failures"),
    "minimize as a text": ("minimize", "no", "minimize must be True or False"),
    "about as numbers": ("about", [1, 2, 3], "about"),
    "about of two arms": ("about", ["x", "y"], "about|cannot be read"),
    "direct without wins": ("direct", True, "direct=True needs"),
    "items that are a text": ("items", {"size": "40", "digest": "", "version": 1}, "items"),
    "no seed": ("seed", ..., "lack seed"),
}


@pytest.mark.parametrize("what", SETTINGS)
def test_settings_pass_the_checks_of_new_ones(what: str, tmp_path: Path) -> None:
    """Each is refused with the sentence that `create` has for it."""
    key, value, words = SETTINGS[what]
    lines = lines_of(stopped if key == "tolerance" else independent)
    lines[0]["data"][key] = value
    if value is ...:
        del lines[0]["data"][key]
    said = bring_in(tmp_path / "x.jsonl", sealed(lines))
    assert isinstance(said, str), "it came in"
    assert "line 1 of the log" in said
    assert any(word in said for word in words.split("|")), said


def test_names_of_arms_and_workers_cannot_change_the_terminal(tmp_path: Path) -> None:
    """An escape code, also where the rest of the log agrees with it."""
    for old, new in (("a", "a\x1b[2J"), ("a", ""), ("a", "b")):
        lines = lines_of(stopped)
        for line in lines:
            line["arm"] = new if line["arm"] == old else line["arm"]
        lines[0]["data"]["arms"] = [new, "b", "c"]
        assert isinstance(bring_in(tmp_path / "x.jsonl", sealed(lines)), str)
    lines = lines_of(stopped)
    next(line for line in lines if line["kind"] == "asked")["data"]["worker"] = "w\x1b]0;x\x07"
    assert "control characters" in str(bring_in(tmp_path / "x.jsonl", sealed(lines)))


def first(lines: list[Line], kind: str) -> Line:
    """The first line of a kind."""
    return next(line for line in lines if line["kind"] == kind)


def repeat_told(lines: list[Line]) -> None:
    """A value counts twice."""
    told = first(lines, "told")
    lines.append({**told, "seq": len(lines) + 1})


def never_asked(lines: list[Line]) -> None:
    """A value of a pull that was never asked for."""
    first(lines, "told")["pull"] = 10_000


def of_another_arm(lines: list[Line]) -> None:
    """A value counts for another arm than was asked."""
    told = first(lines, "told")
    told["arm"] = next(arm for arm in ARMS if arm != told["arm"])


def retracts_another_value(lines: list[Line]) -> None:
    """What is taken back is not what was told."""
    first(lines, "retracted")["data"]["was"] = 0.1


def forged_mean(lines: list[Line]) -> None:
    """A decision that says other means than its values have."""
    first(lines, "decided")["data"]["means"] = [1.78, 0.5, 0.5]


def forged(key: str, value: Any) -> Callable[[list[Line]], object]:
    """A decision that says something else of the arms than follows from its values."""
    return lambda lines: first(lines, "decided")["data"].update({key: value})


def without_reopening(lines: list[Line]) -> None:
    """A value is taken back, and the decision stays."""
    at = next(i for i, line in enumerate(lines) if line["kind"] == "reopened")
    del lines[at:]


EVENTS: dict[str, tuple[Callable[[list[Line]], object], str]] = {
    "a value outside the bounds": (lambda x: first(x, "told").update(value=1.78), "is not within the bounds"),
    "a violation inside the bounds": (lambda x: first(x, "violated").update(value=0.5), "as assumed"),
    "an infinite value": (lambda x: first(x, "told").update(value="inf"), "finite number"),
    "a text for a value": (lambda x: first(x, "told").update(value="1"), "must hold a number"),
    "true for a value": (lambda x: first(x, "told").update(value=True), "must hold a number"),
    "no value": (lambda x: first(x, "told").update(value=None), "cannot be read"),
    "a time that is negative": (lambda x: first(x, "told").update(time=-5), "seconds since 1970"),
    "a time that is too long": (lambda x: first(x, "told").update(time=10**400), "cannot be read"),
    "a number that is left out": (lambda x: x.pop(4), "must be an object with the seq 5"),
    "a kind that there is not": (lambda x: first(x, "told").update(kind="_take"), "its kind is"),
    "a list for data": (lambda x: first(x, "failed").update(data=[1]), "must be an object"),
    "a failure without a reason": (lambda x: first(x, "failed").update(data={}), "cannot be read"),
    "a deadline that is a text": (lambda x: first(x, "asked")["data"].update(deadline="x"), "deadline"),
    "a second creation": (lambda x: x.append({**x[0], "seq": len(x) + 1}), "created once"),
    "a value twice": (repeat_told, "was not waited for"),
    "a value of no pull": (never_asked, "was not waited for"),
    "a value of another arm": (of_another_arm, "was not waited for"),
    "another value taken back": (retracts_another_value, "it takes back 0.1"),
    "a forged mean": (forged_mean, "does not follow"),
    "forged intervals": (forged("lower", [0.0, 0.99, 0.99]), "does not follow"),
    "forged evidence": (forged("statistic", 1e18), "does not follow"),
    "a forged deviation": (forged("deviations", [-1.0, 0.1, 0.1]), "does not follow"),
    "a forged end of an arm": (forged("ruled_out", [[3, 0.0], None, None]), "does not follow"),
    "a number for the means": (forged("means", 0.5), "nothing was stored"),
    "a number too long for a float": (forged("threshold", 10**400), "nothing was stored"),
    "too few means": (forged("means", [0.5]), "nothing was stored"),
    "a list for a mean": (forged("means", [[], 0.5, 0.5]), "nothing was stored"),
    "a decision that stays": (without_reopening, "nothing was stored"),
}


@pytest.mark.parametrize("what", EVENTS)
def test_events_follow_the_rules_of_the_state(what: str, tmp_path: Path) -> None:
    """One line of a sound log is changed, and the log refused."""
    change, words = EVENTS[what]
    lines = lines_of(independent)
    change(lines)
    said = bring_in(tmp_path / "x.jsonl", sealed(lines))
    assert isinstance(said, str), "it came in"
    assert words in said, said


@pytest.mark.parametrize("claim", [{"leader": "b"}, {"leader": None}, {"samples": -1}, {"samples": 17}])
def test_a_stop_says_what_was_found_until_then(claim: Line, tmp_path: Path) -> None:
    """Who led, and after how many samples, follows from the lines before it."""
    lines = lines_of(stopped)
    assert first(lines, "stopped")["data"].items() > {"leader": "a", "samples": 18}.items()
    first(lines, "stopped")["data"].update(claim)
    assert "it stops with another leader" in str(bring_in(tmp_path / "x.jsonl", sealed(lines)))


def test_rounds_are_of_their_items(tmp_path: Path) -> None:
    """A pull of another item, or of a round behind the last one, is refused."""
    for change in ({"item": 41}, {"round": 41}, {"round": "1"}, {"round": 0}, {"item": None}):
        lines = lines_of(rounds)
        first(lines, "asked")["data"].update(change)
        assert isinstance(bring_in(tmp_path / "x.jsonl", sealed(lines)), str), change
    for number in (1000, 2**53, 1e308):  # without items there is no last round, but they are begun in turn
        lines = lines_of(wins)
        first(lines, "asked")["data"]["round"] = number
        assert "does not exist" in str(bring_in(tmp_path / "x.jsonl", sealed(lines)))


def test_a_log_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    """Behind any line, in both forms; a changed line is noticed by the hash."""
    lines = file_of(independent).splitlines()
    path = tmp_path / "x.jsonl"
    for keep in (*range(1, 8), len(lines) // 2, len(lines) - 1):
        said = bring_in(path, "\n".join(lines[:keep]) + "\n")
        assert isinstance(said, str), f"{keep} of {len(lines)} lines came in"
        assert "the log was cut off" in said
    half = [*lines[:9], lines[9][:40]]
    assert "line 10 is not JSON" in str(bring_in(path, "\n".join(half)))
    assert "not what was exported" in str(bring_in(path, file_of(independent).replace("broken", "Broken")))
    document = file_of(independent, "json")
    assert isinstance(bring_in(path, document), Experiment)
    assert isinstance(bring_in(path, document[: len(document) // 2]), str)
    unended = json.loads(document)
    del unended["end"]
    assert "the log was cut off" in str(bring_in(path, json.dumps(unended)))


def test_older_exports_come_in_with_a_remark(tmp_path: Path) -> None:
    """They do not say how long they are, and the command says so; of ours it says nothing."""
    lines = lines_of(independent)
    del lines[0]["export"]
    (tmp_path / "old.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "new.jsonl").write_text(file_of(independent))
    for file, remarked in (("old", True), ("new", False)):
        ran = run("import", file, str(tmp_path / f"{file}.jsonl"), "--store", f"sqlite:///{tmp_path}/x.db")
        assert ran.code == 0, ran.err
        assert ("whether its last lines are missing cannot be checked" in ran.err) is remarked


ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    1,
    2,
    3.5,
    1e308,
    10**400,
    "",
    "a",
    "inf",
    "nan",
    "\ud800",
    "\x1b[2J",
    [],
    [1],
    {},
]
ODD += [{"a": 1}, [[]], "told", "decided", "asked", "late", float("nan"), float("inf"), -0.0]


def mutated(text: str, source: random.Random) -> str:
    """The text with one thing changed: a character, a line, or a value anywhere in it."""
    lines = text.splitlines()
    match source.randrange(6):
        case 0:
            at = source.randrange(len(text))
            return text[:at] + source.choice('{}[],:"0189-e\x00\n') + text[at + 1 :]
        case 1:
            return text[: source.randrange(len(text))]
        case 2:
            lines.insert(source.randrange(len(lines)), source.choice(lines))
            return "\n".join(lines)
    records = [json.loads(line) for line in lines][:-1]
    holder: Any = source.choice([records[0]["data"], *records, *(one["data"] or one for one in records)])
    for _ in range(3):
        inner = [one for one in (holder.values() if isinstance(holder, dict) else holder) if one]
        inner = [one for one in inner if isinstance(one, dict | list)]
        if inner and source.random() < 0.5:
            holder = source.choice(inner)
    where = source.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    if source.random() < 0.15:
        del holder[where]
    else:
        holder[where] = source.choice(ODD)
    try:
        return sealed(records)
    except KeyError:  # a column is missing
        return "".join(json.dumps(record) + "\n" for record in records)


@pytest.mark.parametrize("base", BASES)
def test_whatever_a_file_holds_it_is_refused_or_sound(base: Callable[[], Experiment], tmp_path: Path) -> None:
    """150 mutations of each export: refused in a sentence with nothing stored, or imported soundly.

    Most are refused, and some are not: those of what decides nothing, such as a reason.
    """
    source = random.Random(base.__name__)
    text = sealed(lines_of(base))
    outcomes: list[bool] = []
    for _ in range(150):
        changed = mutated(text, source)
        found = bring_in(tmp_path / "x.jsonl", changed)
        outcomes.append(isinstance(found, Experiment))
        if isinstance(found, Experiment):
            assert found.verify().sound
            found.status().to_dict()
            found.report()
            assert str(found.status())
    assert 0 < sum(outcomes) < 75


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_killed_import_leaves_all_or_nothing(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Killed before and after each of its statements: then the whole experiment is there, or none."""
    url = f"sqlite:///{tmp_path}/x.db"
    if kind == "postgresql":
        url = request.getfixturevalue("postgres_url")
    path = tmp_path / "x.jsonl"
    path.write_text(file_of(independent))
    events = len(lines_of(independent))
    open_store(url).close()
    found: list[int] = []
    for point in range(60):
        ended = killed_import(url, path, f"x{point}", point)
        store = open_store(url)
        names = store.names()
        assert len(names) <= 1
        if names:
            with Experiment.open(store, names[0]) as new:
                assert new.verify().sound
                assert len(new.history()) == events
            open_store(url).delete(names[0])
        store.close()
        found.append(len(names))
        if ended:
            break
    assert ended
    assert found == sorted(found), "it was there, and then it was not"
    assert found.count(0) > 5
    assert found.count(1) > 1


def killed_import(url: str, path: Path, name: str, point: int) -> bool:
    """Import in a child that kills itself at the statement of that number; whether it ended before."""
    child = os.fork()
    if child == 0:
        count = 0

        def counted(self: _sql.Session, call: Callable[[], Any]) -> Any:
            nonlocal count
            count += 1
            if count == point // 2 + 1 and point % 2 == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            answer = own(self, call)
            if count == point // 2 + 1:
                os.kill(os.getpid(), signal.SIGKILL)
            return answer

        try:
            own, _sql.Session._try = _sql.Session._try, counted  # type: ignore[method-assign]
            Experiment.import_log(url, path, name)
            os._exit(0)
        except BaseException as error:  # shown by the parent
            os.write(2, f"import: {error!r}\n".encode())
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return not os.WIFSIGNALED(status)


def test_an_import_is_one_transaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is deleted when it fails, and nobody sees a part of it: it is never opened for writing."""
    path = tmp_path / "x.jsonl"
    path.write_text(file_of(independent))
    store = open_store(f"sqlite:///{tmp_path}/x.db")
    for name in ("writing", "delete"):
        monkeypatch.setattr(type(store), name, lambda *_, **__: pytest.fail("it writes twice"))
    calls = []
    own = type(store).create

    def create(*given: Any) -> bool:
        calls.append(given)
        return own(*given)

    monkeypatch.setattr(type(store), "create", create)
    Experiment.import_log(store, path)
    assert len(calls) == 1
    with pytest.raises(InvalidInputError, match="already; give another name"):
        Experiment.import_log(store, path)
    assert len(calls) == 1


def test_one_damaged_experiment_hides_no_other(tmp_path: Path) -> None:
    """`list` shows the others, and says of this one that it cannot be read."""
    url = f"sqlite:///{tmp_path}/x.db"
    store = open_store(url)
    for name in ("good", "bad", "fine"):
        Experiment.create(store, name, ARMS, bounds=(0, 1), seed=1)
    with store.reading("bad") as log:
        created = log.first()
    store.delete("bad")
    for i, (key, value) in enumerate({"control": "zzz", "arms": 5, "order": "zzz", "bounds": "x"}.items()):
        store.create(f"bad {i}", created._replace(data={**(created.data or {}), key: value}))
    ran = run("list", "--store", url, "--format", "json")
    assert ran.code == 0, ran.err
    listed = {row["name"] for row in json.loads(ran.out)}
    assert {"good", "fine"} <= listed
    assert "'bad 1' cannot be read" in ran.err
    refused(run("status", "bad 1", "--store", url), "cannot be read", 1)
    with pytest.raises(StoreError, match="arms of the experiment cannot be read"):
        Experiment.open(store, "bad 1")
