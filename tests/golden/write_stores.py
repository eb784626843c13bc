"""Experiments of every kind, written by the version that runs this, and how that version goes on with them.

    PYTHONPATH=tests python tests/golden/write_stores.py FOLDER [URL]

FOLDER/experiments.db    experiments half run, decided, corrected, suspended, stopped
FOLDER/experiments.json  where each stands, and where it ends with values that depend on the pull's seed
FOLDER/exports/          logs of three of them, as JSON lines and as one document
FOLDER/simulation.json   a saved simulation; FOLDER/comparison.json and FOLDER/table1.json, ledgers
URL                      an empty PostgreSQL database; afterwards `pg_dump --inserts` writes its tables
"""

from __future__ import annotations

import contextlib
import json
import math
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import truebest as library
from support.told import flat
from truebest.experiment.exports import exported
from truebest.studies.ledger import Ledger
from truebest.studies.paper import table1

RATES = {"a": 0.35, "b": 0.55, "c": 0.75}
KEYS = (
    *("decision", "leader", "samples", "pulls", "means", "statistic", "threshold", "intervals", "pending"),
    *("waiting", "stopped", "tied", "rounds", "wins", "no_winner", "deviations", "ruled_out"),
)
Value = Callable[[Any], float]
OPENED: list[Any] = []


def coin(pull: Any) -> float:
    """0 or 1 at the rate of the arm."""
    return float(random.Random(pull.seed).random() < RATES[pull.arm])


def equal(pull: Any) -> float:
    """The same for all arms on an item."""
    return float(pull.item % 3 == 0)


def normal(pull: Any) -> float:
    """Gaussian around 1000."""
    return 1000.0 + 2.0 * ({"a": -0.4, "b": 0.1, "c": 0.9}[pull.arm] + random.Random(pull.seed).gauss(0, 1))


def count(pull: Any) -> float:
    """A Poisson count of the arm's rate times 4, by its waiting times."""
    rng, left, found = random.Random(pull.seed), 4.0 * RATES[pull.arm], 0
    while (left := left - rng.expovariate(1.0)) > 0.0:
        found += 1
    return float(found)


def wide(pull: Any) -> float:
    """Values that vary far more than the sigma that was given."""
    return 40.0 * random.Random(pull.seed).gauss(0, 1)


def circular(pull: Any) -> float:
    """Each arm beats the next one in two of three rounds."""
    return float(("abc".index(pull.arm) + pull.round) % 3)


def item_score(pull: Any) -> float:
    """A score in [0, 1] that the item makes easy or hard for all arms."""
    easy = random.Random(pull.item).random()
    return round(0.5 * easy + 0.5 * RATES[pull.arm] * random.Random(pull.seed).random(), 6)


VALUES: dict[str, Value] = {
    each.__name__: each for each in (coin, equal, normal, count, wide, circular, item_score)
}


def run(experiment: Any, value: Value, pulls: int, batch: int = 2) -> str:
    """So many pulls, or until there are no more; each batch is told backwards. The arms that were asked."""
    asked = ""
    while len(asked) < pulls and (issued := experiment.ask(batch)):
        asked += "".join(pull.arm for pull in issued)
        try:
            experiment.tell([(pull, value(pull)) for pull in reversed(issued)])
        except library.SuspendedError:
            break
    return asked


def begin(url: str, name: str, **settings: Any) -> Any:
    """A new experiment of three arms, the same every time."""
    OPENED.append(library.Experiment.create(url, name, list("abc"), seed=7, worker="w", **settings))
    return OPENED[-1]


def write_experiments(url: str) -> dict[str, str]:
    """Every kind, and the values with which each goes on."""
    values: dict[str, str] = {}

    def made(name: str, value: Value, pulls: int, **settings: Any) -> Any:
        values[name] = value.__name__
        experiment = begin(url, name, **settings)
        run(experiment, value, pulls)
        return experiment

    unit: dict[str, Any] = {"bounds": (0, 1)}
    everything = 10**6
    made("half run", coin, 60, **unit).ask(3)
    made("decided", coin, everything, **unit)
    made("corrected", coin, everything, **unit).retract(3, "typing error", 1.0)
    made("taken back", coin, 80, **unit).retract(5, "measured something else")
    made("gaussian", normal, 50, sigma=2.0, strategy="ebs-d", stopping="mixture")
    made("student", normal, 90, model=library.Student())
    made("poisson", count, 60, model=library.Poisson(), minimize=True)
    made(
        "tolerance",
        coin,
        80,
        tolerance=0.05,
        control="a",
        about={"a": "old", "b": "new", "c": "newer"},
        **unit,
    )
    made("racing", coin, 61, strategy="racing", **unit)
    made("practical", coin, 60, strategy="tas-d", stopping="practical", **unit)
    made("arrival", coin, 60, order="arrival", **unit)
    made("refuted", wide, everything, sigma=1.0)
    made("stopped", coin, 60, **unit).stop("good enough")
    suspended = made("suspended", coin, 41, **unit)
    with contextlib.suppress(library.SuspendedError):
        suspended.tell(suspended.ask(1)[0], 7.0)
    failed = made("failed", coin, 40, **unit)
    failed.fail(failed.ask(2)[0], "out of memory")
    observed = begin(url, "observed", **unit)
    values["observed"] = "coin"
    observed.observe({"a": [0, 1, 0, 0.5] * 5, "c": [1, 1, 0, 1] * 5, "b": 0.5})
    run(observed, coin, 40)
    won = begin(url, "observed until decided", **unit)
    values["observed until decided"] = "coin"
    won.observe({"a": [0, 0, 0.5, 0] * 40, "b": [0.5, 0, 0, 0] * 40, "c": [1, 1, 0.5, 1] * 40})

    closed: dict[str, Any] = {"items": 300, **unit}
    made("rounds", item_score, 100, **closed).ask(2)
    made("rounds decided", item_score, everything, **closed)
    made("rounds corrected", item_score, everything, **closed).retract(4, "typing error", 0.0)
    made("rounds tied", equal, everything, items=12, **unit)
    made("rounds without end", item_score, 90, items=math.inf, tolerance=0.02, **unit)
    made("rounds stopped", item_score, 60, **closed).stop("enough")
    lost = made("rounds with failures", item_score, 40, failures="worst", control="b", **closed)
    lost.fail(lost.ask(2)[0], "no answer")

    wins: dict[str, Any] = {"compare": "wins"}
    made("wins", normal, 45, **wins).ask(2)
    made("wins decided", normal, everything, minimize=True, **wins)
    made("wins within", normal, 60, tolerance=0.001, **wins)
    made("wins on items", coin, 90, items=200, **wins)
    made("wins circular", circular, everything, direct=True, **wins)
    made("wins corrected", normal, everything, **wins).retract(2, "wrong machine")
    return values


def write_some(url: str) -> None:
    """Two experiments for a store of another kind."""
    run(begin(url, "half run", bounds=(0, 1)), coin, 60)
    run(begin(url, "rounds", items=300, bounds=(0, 1)), item_score, 100)


def standing(experiment: Any) -> dict[str, Any]:
    """Where it stands, in numbers."""
    found = flat(experiment.status().to_dict())
    return {key: found[key] for key in KEYS} | {
        "suspended": bool(found["suspended"]),
        "lines": len(experiment.history()),
    }


def go_on(url: str, name: str, value: Value) -> dict[str, Any]:
    """How the experiment goes on, at most 4,000 pulls, from where it was left."""
    with library.Experiment.open(url, name, worker="w") as experiment:
        before = standing(experiment)
        if before["suspended"]:
            wrong = [event.pull for event in experiment.history() if event.kind == "violated" and event.pull]
            if wrong:
                experiment.retract(wrong[0], "typing error", 0.5)
        experiment.reclaim()
        try:
            asked = run(experiment, value, 4_000)
        except library.SuspendedError:
            asked = ""
        return {"values": value.__name__, "before": before, "asked": asked, "after": standing(experiment)}


def main(folder: Path) -> None:
    """Write all of it into an empty folder."""
    (folder / "exports").mkdir(parents=True)
    file = folder / "experiments.db"
    url = f"sqlite:///{file}"
    values = write_experiments(url)
    for each in OPENED:
        each.close()
    copy = folder / "copy.db"
    shutil.copy(file, copy)
    ends = {name: go_on(f"sqlite:///{copy}", name, VALUES[which]) for name, which in values.items()}
    for each in (*folder.glob("copy.db*"), *folder.glob("experiments.db-*")):
        each.unlink()
    (folder / "experiments.json").write_text(json.dumps(ends, indent=None, separators=(",", ":")) + "\n")

    for name, form in (("decided", "jsonl"), ("rounds corrected", "json"), ("wins", "jsonl")):
        with library.Experiment.open(url, name) as experiment:
            text = "\n".join(exported(experiment, form)) + "\n"
            (folder / "exports" / f"{name.split()[0]}.{form}").write_text(text)
    library.simulate(
        ["ebs-d", "uniform"], means=[0.9, 0.5, 0.45], delta=[0.1, 0.01], runs=20, seed=1, progress=False
    ).save(folder / "simulation.json")
    library.compare(
        ["uniform", "tas-d"],
        suite=[library.Bandit("two", (0.0, 0.5))],
        delta=[0.1],
        runs=5,
        seed=1,
        resume=folder / "comparison.json",
        progress=False,
    )
    table1.make_table(2, 1, Ledger(folder / "table1.json"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
    if len(sys.argv) > 2:
        write_some(sys.argv[2])
