"""`truebest identify --items` on real commands, and `identify(items=...)` in all its forms."""

from __future__ import annotations

import asyncio
import json
import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import truebest
from e2e.test_identify_command import script, start, told, wait_for
from support.commands import Ran, refused, run
from support.told import flat, tied
from truebest import ArmError, Experiment, InvalidInputError

STORE = "sqlite:///runs.db"
TESTS = [{"id": i, "hard": i * 37 % 100} for i in range(80)]
SKILL = {"short": 60, "long": 70, "cot": 90}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of test cases, and a command that is right on those below its skill."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRUEBEST_STORE", raising=False)
    (tmp_path / "tests.jsonl").write_text("".join(json.dumps(test) + "\n" for test in TESTS))
    script(tmp_path / "score", 'sed "s/.*: //; s/}//" | { read hard; echo $(( hard < $1 )); }')
    return tmp_path


def words(*more: str, items: str = "tests.jsonl", command: str = "./score {}") -> list[str]:
    arms = [word for arm, skill in SKILL.items() for word in ("--arm", f"{arm}={command.format(skill)}")]
    return ["identify", "--items", items, "--bounds", "0,1", "--seed", "3", *arms, *more]


def identify(*more: str, **how: str) -> Ran:
    return run(*words(*more, **how))


def table(arm: str, item: dict[str, int]) -> float:
    return float(item["hard"] < SKILL[arm])


def functions() -> dict[str, Any]:
    return {arm: lambda item, arm=arm: table(arm, item) for arm in SKILL}


def test_a_file_of_test_cases_ends_decided() -> None:
    """With fewer calls than scoring everything, and a promise about these items."""
    ran = identify("--format", "json")
    found = flat(json.loads(ran.out))
    assert (ran.code, found["best"]) == (0, "cot")
    assert found["samples"] < 3 * 80
    assert found["rounds"] <= found["items"]["size"] == 80
    assert "wrong with probability at most 5%, for these answers to these 80 items" in found["sentence"]


def test_commands_and_functions_decide_alike() -> None:
    """The same seed, the same scores: the same calls, with one worker or many, threads or coroutines."""
    shown = flat(json.loads(identify("--format", "json", "--workers", "3").out))

    async def awaited(item: dict[str, int], arm: str) -> float:
        await asyncio.sleep(0)
        return table(arm, item)

    waiting = {arm: lambda item, arm=arm: awaited(item, arm) for arm in SKILL}
    options: dict[str, Any] = {"items": TESTS, "bounds": (0, 1), "rng": 3}
    with ThreadPoolExecutor(4) as pool:
        results = [
            truebest.identify(functions(), **options),
            truebest.identify(functions(), **options, workers=5),
            truebest.identify(functions(), **options, workers=pool),
            truebest.identify(functions(), **{**options, "items": "tests.jsonl"}),
            asyncio.run(truebest.aidentify(waiting, workers=4, **options)),
        ]
    for result in results:
        assert (result.best, result.pulls, result.progress.rounds) == ("cot", shown["pulls"], shown["rounds"])


def test_the_item_arrives_in_three_ways() -> None:
    """On standard input, in TRUEBEST_ITEM, and in place of {item}; with the round."""
    Path("cases.txt").write_text("alpha\nbeta gamma\n")
    script(Path("note"), 'read -r text; echo "$TRUEBEST_ROUND $TRUEBEST_ITEM $2 $text" >> seen; echo $1')
    ran = identify(items="cases.txt", command="./note 0 {{item}}")
    assert ran.code == 0
    lines = [line.split(" ", 3) for line in Path("seen").read_text().splitlines()]
    assert len(lines) == 6
    for number, index, replaced, text in lines:
        assert index == replaced
        assert text == ("alpha", "beta gamma")[int(index)]
        assert number in ("1", "2")
    assert Counter(number for number, *_ in lines) == {"1": 3, "2": 3}
    assert "is best, tied with" in ran.out


def test_a_number_of_items_gives_their_indices() -> None:
    """And an unlimited source gives seeds, the same for all arms of a round."""
    script(Path("note"), 'echo "$TRUEBEST_ROUND $TRUEBEST_ITEM" >> seen; echo $(( $1 > 80 ))')
    assert identify("--max-samples", "300", items="inf", command="./note {}").code == 0
    seen = [line.split() for line in Path("seen").read_text().splitlines()]
    assert len({tuple(pair) for pair in seen}) == len({number for number, _ in seen})
    assert len({item for _, item in seen}) == len({number for number, _ in seen})
    Path("seen").unlink()
    assert identify(items="9", command="./note {}").code == 0
    assert {int(line.split()[1]) for line in Path("seen").read_text().splitlines()} <= set(range(9))


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_ended_is_resumed_to_the_same_end(signal_number: signal.Signals) -> None:
    """In the middle: no call is lost or made twice but those under way, and the answer is the same."""
    whole = flat(json.loads(identify("--format", "json").out))
    kept = ["--store", STORE, "--name", "x"]
    process = start(*words(*kept))
    wait_for(lambda: told("x") > 9)
    process.send_signal(signal_number)
    process.communicate(timeout=600)
    ran = identify(*kept, "--format", "json")
    found = flat(json.loads(ran.out))
    assert ran.code == 0
    assert found["resumed"] > 0
    for name in ("best", "pulls", "rounds", "means", "intervals"):
        assert found[name] == whole[name]
    with Experiment.open(STORE, "x") as experiment:
        assert experiment.verify().sound
        events = experiment.history()
    asked = [event for event in events if event.kind == "asked" and "item" in (event.data or {})]
    items = {event.pull: (event.data or {})["item"] for event in asked}
    cells = Counter((event.arm, items[event.pull]) for event in events if event.kind == "told")
    assert set(cells.values()) == {1}


def test_a_changed_set_is_refused() -> None:
    """By its hash, in one sentence; nothing is run."""
    kept = ["--store", STORE, "--name", "x"]
    assert identify(*kept).code == 0
    changed = [*TESTS[:-1], {"id": 79, "hard": 1}]
    Path("tests.jsonl").write_text("".join(json.dumps(test) + "\n" for test in changed))
    refused(identify(*kept), "what was found on some items says nothing of others")
    arms = [word for arm, skill in SKILL.items() for word in ("--arm", f"{arm}=./score {skill}")]
    ran = run("identify", "--store", STORE, "--name", "x", *arms)
    refused(ran, "give them again (--items)")


def test_an_arm_that_fails_on_an_item_for_ever() -> None:
    """It is repeated, then the run ends with a sentence; or its failures count as said beforehand."""
    script(Path("broken"), 'test "$TRUEBEST_ITEM" -lt 70 && echo 1')
    broken = ["--arm", "broken=./broken"]
    refused(identify(*broken), "arm 'broken' failed in pull", code=1)
    kept = identify(*broken, "--failures", "0", "--format", "json")
    assert kept.code == 0
    assert "counted as 0: " in kept.out
    calls: Counter[int] = Counter()

    def fails(item: dict[str, int]) -> float:
        if item["id"] < 70:
            return 1.0
        calls[item["id"]] += 1
        raise TimeoutError

    with pytest.raises(ArmError, match=r"failed 10 times in pull \d+ .*would bias the arm"):
        truebest.identify({**functions(), "fails": fails}, items=TESTS, bounds=(0, 1), on_error="retry")
    assert max(calls.values()) == 10
    result = truebest.identify({**functions(), "fails": fails}, items=TESTS, bounds=(0, 1), failures="worst")
    assert result.best is None or result.best == "cot"


def test_an_unlimited_source() -> None:
    """draw(rng) is called once a round, and its item given to all arms; one that ends is refused."""
    drawn = []

    def draw(rng: np.random.Generator) -> float:
        drawn.append(float(rng.random()))
        return drawn[-1]

    seen: dict[str, list[float]] = {"easy": [], "hard": []}

    def arm(name: str, bar: float) -> Any:
        def score(item: float, pull: truebest.Pull) -> float:
            assert pull.round is not None
            seen[name].append(item)
            return float(item < bar)

        return score

    arms = {"easy": arm("easy", 0.8), "hard": arm("hard", 0.5)}
    result = truebest.identify(arms, items=draw, bounds=(0, 1), max_samples=2000, rng=1)
    assert result.best == "easy"
    assert seen["easy"] == seen["hard"] == drawn
    assert "on items drawn at random, the same for all arms of a round" in result.promise.words
    ends = iter([0.1, 0.2])
    with pytest.raises(InvalidInputError, match="the source of items ran out in round 3"):
        truebest.identify(arms, items=lambda rng: next(ends), bounds=(0, 1), max_samples=100)


def test_create_ask_and_tell_from_a_shell() -> None:
    """The round and the item are columns."""
    made = run(
        "create", "x", "--items", "20", "--arm", "a", "--arm", "b", "--bounds", "0,1", "--store", STORE
    )
    assert made.code == 0
    asked = json.loads(run("ask", "x", "-n", "3", "--store", STORE, "--format", "json").out)["pulls"]
    assert [pull["round"] for pull in asked] == [1, 1, 2]
    assert asked[0]["item"] == asked[1]["item"] != asked[2]["item"]
    assert run("tell", "x", "1", "0.5", "--store", STORE).code == 0
    assert (
        json.loads(run("status", "x", "--store", STORE, "--format", "json").out)["progress"]["waiting"] == 1
    )
    assert json.loads(run("forecast", "x", "--store", STORE, "--format", "json").out)["samples"] is None


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.jsonl", '{"a": 1}\nnonsense\n', "line 2 of 'x.jsonl' is not valid JSON"),
        ("x.json", '{"a": 1}', "must hold a JSON list"),
        ("x.txt", "same\nother\nsame\n", "numbers 1 and 3 are equal"),
        ("x.txt", "\n", "give at least one"),
        ("x.bin", "", "give at least one"),
    ],
)
def test_bad_files_of_items(name: str, text: str, message: str) -> None:
    """One sentence each."""
    Path(name).write_text(text)
    refused(identify(items=name), message)


def test_files_of_items() -> None:
    """JSON lines, a JSON list, CSV, TSV and text, with a byte order mark or without."""
    Path("a.csv").write_text("\ufeffq,answer\n1+1,2\n1+2,3\n")
    Path("a.tsv").write_text("q\tanswer\n1+1\t2\n1+2\t3\n")
    Path("a.json").write_text('[{"q": "1+1", "answer": "2"}, {"q": "1+2", "answer": "3"}]')
    for name in ("a.csv", "a.tsv", "a.json"):
        seen: list[dict[str, str]] = []
        arms = {arm: lambda item: seen.append(item) or 0.5 for arm in "ab"}  # type: ignore[func-returns-value]  # noqa: B023
        assert tied(truebest.identify(arms, items=name, bounds=(0, 1))) == ("a", "b")
        assert {item["answer"] for item in seen} == {"2", "3"}
    with pytest.raises(InvalidInputError, match="must be a function of an item"):
        truebest.identify({"a": lambda: 1.0, "b": lambda: 0.0}, items=4, bounds=(0, 1))


def test_what_holds_for_clusters_like_these_is_a_line_of_its_own(folder: Path) -> None:
    """With several answers to each item, in `identify` and in `status`; every answer knows which it is."""
    (folder / "talks.jsonl").write_text(
        "".join(json.dumps({"talk": i // 4, **test}) + "\n" for i, test in enumerate(TESTS))
    )
    script(folder / "rate", 'cat > /dev/null; echo "$TRUEBEST_ITEM $TRUEBEST_EPOCH" >> asked; echo $1')
    more = ("--cluster", "talk", "--epochs", "2", "--sampled", "--weigh", "clusters", "--store", STORE)
    ran = identify(*more, items="talks.jsonl", command="./rate 0.{}")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert "clusters, 2 epochs each" in lines[0]
    said = "lusters like these, drawn at random (unit: cluster, each cluster counting alike, 2 epochs each; "
    assert lines[1].startswith(f"For c{said}")
    looked = run("status", "identify", "--store", STORE)
    assert any(line.startswith(f"population for c{said}") for line in looked.out.splitlines())
    asked = Counter(Path("asked").read_text().split("\n")[:-1])
    assert {line.split()[1] for line in asked} == {"1", "2"}
    refused(identify("--cluster", "nothing"), "a key that every item has")
    refused(identify("--weigh", "clusters"), "--cluster")
