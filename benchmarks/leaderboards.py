"""What rounds save on results of real models: `python -m benchmarks.leaderboards FOLDER`.

FOLDER has a clone of tatsu-lab/alpaca_eval, of yuchenlin/ZeroEval, or of both:

    git clone https://github.com/tatsu-lab/alpaca_eval FOLDER/alpaca_eval
    git clone https://github.com/yuchenlin/ZeroEval FOLDER/ZeroEval

In each run some models are chosen, at random or next to each other in the ranking, and the best of them is
found in rounds on the items that all of them have, a closed set. An answer is wrong if its mean over these
items lies below the best by more than the tolerance. A fixed sample spreads as many calls as the run took
evenly over random items, and declares the largest mean.

Where one of two models is an old version, whose scores are stored, its calls are not made: they are *looked
up* if the rule is that for two new ones, and *known* if it is told beforehand, alone or with the scores of
all other models as proxies. A gate asks whether the other one is not worse by more than the margin.

Run i of a line chooses the same models and takes the items in the same order under every version of a
rule. To judge a change, keep what was found before it, and compare run by run:

    python -m benchmarks.leaderboards FOLDER --format json > before.json
    python -m benchmarks.leaderboards FOLDER --against before.json

For a version of the rule for rounds that is stored with experiments, `--version 1` in the former is enough.

Calls and errors, not speed. Not part of `make bench`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import truebest
from truebest import InvalidInputError, _args
from truebest.cli._output import print_json
from truebest.designs.rounds import KNOWN_VERSION, VERSION, Rounds, shuffled
from truebest.designs.strata import Strata
from truebest.questions import BEST, Gate
from truebest.simulation.engine import SIGNALS
from truebest.simulation.rounds import ItemScores, RoundsJob
from truebest.simulation.summary import exact_interval

from .measure import show
from .model_results import DATASETS, Table, read_tables

DELTA, RUNS = 0.05, 40
SAMPLES = 200  # fixed samples that are drawn in each run


NEW, LOOKED_UP, KNOWN, PROXIES = "", ", one looked up", ", one known", ", one known, with proxies"


@dataclass(frozen=True)
class Choice:
    """Which models are decided between, and what is asked of them.

    tolerance  how far below the best an answer may be
    apart      of two neighbours, how many places they are apart at most
    margin     of a gate; None where the best is looked for
    old        what is made of the stored scores of the second model
    """

    arms: int
    neighbours: bool
    tolerance: float = 0.0
    apart: int = 1
    margin: float | None = None
    old: str = NEW

    def __str__(self) -> str:
        return f"{self.name}{self.old}"

    @property
    def name(self) -> str:
        """Without what is stored: lines of one name have the same runs."""
        within = f", tolerance {self.tolerance:g}" if self.tolerance else ""
        gate = "" if self.margin is None else f", gate at {self.margin:g}"
        close = "neighbours" if self.apart == 1 else f"within {self.apart} places"
        return f"{self.arms} {close if self.neighbours else 'at random'}{within}{gate}"

    def among(self, models: int, *key: int | str) -> npt.NDArray[np.int64]:
        """Places in the ranking, in random order, so that an arm's number says nothing of its rank."""
        if not self.neighbours:
            return shuffled(models, *key, "models")[: self.arms]
        apart = min(self.apart, models - self.arms + 1)
        first = int(shuffled(models - self.arms - apart + 2, *key, "models")[0])
        farthest = int(shuffled(apart, *key, "apart")[0])
        places = shuffled(self.arms, *key, "order")
        return np.where(places == self.arms - 1, places + farthest, places) + first


CHOICES = (
    *(Choice(arms, neighbours) for neighbours in (False, True) for arms in (2, 8)),
    *(Choice(arms, True, 0.02) for arms in (2, 8)),
    *(Choice(2, True, apart=10, old=old) for old in (NEW, LOOKED_UP, KNOWN, PROXIES)),
    *(Choice(2, True, margin=0.02, old=old) for old in (NEW, LOOKED_UP, KNOWN, PROXIES)),
)


@dataclass(frozen=True)
class Run:
    """One decision.

    models       that were decided between; declared is one of them, "" for none
    items        how many there are
    wrong        whether a worse model than allowed was declared
    fixed_wrong  the share of fixed samples of as many calls that declare one
    """

    models: list[str]
    items: int
    calls: int
    declared: str
    wrong: bool
    fixed_wrong: float

    @property
    def share(self) -> float:
        """Of the calls of a full evaluation."""
        return self.calls / (len(self.models) * self.items)


@dataclass(frozen=True)
class Cell:
    """The runs of one line."""

    dataset: str
    choice: str
    runs: list[Run]

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """Of the calls of a full evaluation, run by run."""
        return np.array([run.share for run in self.runs])

    @property
    def wrong(self) -> int:
        """How many answers."""
        return sum(run.wrong for run in self.runs)

    @property
    def fixed_wrong(self) -> float:
        """The share of fixed samples."""
        return float(np.mean([run.fixed_wrong for run in self.runs]))

    def ratio(self, before: Cell) -> tuple[float, float]:
        """Calls as a part of those before, over the runs that both have, and its standard error, paired.

        Raises  InvalidInputError unless both decided between the same models on as many items
        """
        pairs = list(zip(self.runs, before.runs, strict=False))
        if any((now.models, now.items) != (then.models, then.items) for now, then in pairs):
            raise InvalidInputError(
                f"runs are compared on the same models and items, got others before on {self.dataset}, "
                f"{self.choice}; use the same seed and the same clones."
            )
        now, then = self.shares[: len(pairs)], before.shares[: len(pairs)]
        ratio = float(now.mean() / then.mean())
        return ratio, error_of(now - ratio * then) / float(then.mean())

    def to_dict(self) -> dict[str, Any]:
        """Plain values, with what follows from the runs."""
        low, high = exact_interval(self.wrong, len(self.runs))
        return {
            "dataset": self.dataset,
            "choice": self.choice,
            "share": float(self.shares.mean()),
            "standard_error": error_of(self.shares),
            "wrong": self.wrong,
            "error_rate_low": low,
            "error_rate_high": high,
            "fixed_wrong": self.fixed_wrong,
            "runs": [asdict(run) for run in self.runs],
        }


def error_of(values: npt.NDArray[np.float64]) -> float:
    """The standard error of a mean; NaN for fewer than two values."""
    return float(values.std(ddof=1) / math.sqrt(values.size)) if values.size > 1 else math.nan


def measured(
    table: Table, choice: Choice, runs: int, seed: int, delta: float, version: int = VERSION
) -> Cell:
    """The runs of one line, which are a function of the seed and of what they are called."""
    digest = hashlib.sha256(f"{seed}:{table.name}:{choice.name}".encode()).digest()
    own = int.from_bytes(digest[:8], "big")
    found = [decided(table, choice, run, own, delta, version) for run in range(runs)]
    return Cell(table.name, str(choice), found)


def decided(table: Table, choice: Choice, run: int, seed: int, delta: float, version: int = VERSION) -> Run:
    """One run: choose models, decide, and see what a fixed sample would have said."""
    arms = choice.among(len(table.models), seed, run)
    scores = table.of(arms)
    items = ItemScores(scores, scores, len(scores), False)
    job = RoundsJob(design_of(choice, table, arms, version), items, delta, choice.tolerance, seed)
    part = job.part(run, 1, job.room(np.zeros(SIGNALS, np.int64)))
    answer, rows = int(part.arms[0, 0]), int(part.pulls[0, 0])
    names = [table.models[arm] for arm in arms]
    rng = np.random.default_rng([seed, run])
    if choice.margin is None:
        right = np.isin(np.arange(arms.size), list(job.best))
        items_each = rows if choice.old else int(part.samples[0, 0]) // arms.size
        fixed = fixed_sample(scores, items_each, right, rng)
    else:
        fixed = fixed_gate(scores, rows, choice.margin, rng)
    return Run(
        names,
        len(scores),
        rows if choice.old else int(part.samples[0, 0]),
        names[answer] if answer >= 0 and choice.margin is None else "",
        answer >= 0 and answer not in job.best,
        fixed,
    )


def design_of(choice: Choice, table: Table, arms: npt.NDArray[np.int64], version: int) -> Rounds:
    """The rounds in which these models are decided between."""
    scores = table.of(arms)
    question = BEST if choice.margin is None else Gate(1, choice.margin)
    if choice.old not in (KNOWN, PROXIES):
        return Rounds(len(scores), version=version, question=question)
    others = np.delete(table.scores, arms, axis=1)[~np.isnan(table.scores[:, arms]).any(axis=1)]
    some = choice.old == PROXIES and others.size
    told = (np.nanmean(others, axis=1), others.shape[1]) if some else (None, 0)
    strata = Strata.of({1: np.ascontiguousarray(scores[:, 1])}, *told)
    return Rounds(len(scores), version=KNOWN_VERSION, question=question, strata=strata)


def fixed_sample(
    scores: npt.NDArray[np.float64], items: int, right: npt.NDArray[np.bool_], rng: np.random.Generator
) -> float:
    """How often the largest mean over so many random items is a wrong answer; of tied ones each counts."""
    drawn = rng.random((SAMPLES, len(scores)))
    taken = drawn <= np.partition(drawn, items - 1, axis=1)[:, [items - 1]]
    sums = taken.astype(np.float64) @ scores
    largest = sums >= sums.max(axis=1, keepdims=True) - 1e-9
    return float(((largest & ~right).sum(axis=1) / largest.sum(axis=1)).mean())


def fixed_gate(scores: npt.NDArray[np.float64], items: int, margin: float, rng: np.random.Generator) -> float:
    """How often the difference over so many random items says wrongly whether a model passes."""
    ahead = scores[:, 0] - scores[:, 1]
    drawn = np.argsort(rng.random((SAMPLES, len(scores))), axis=1)[:, :items]
    passes = ahead[drawn].mean(axis=1) >= -margin - 1e-12
    return float((passes != (ahead.mean() >= -margin - 1e-12)).mean())


def show_table(table: Table, cells: list[Cell], before: dict[tuple[str, str], Cell]) -> None:
    """A dataset's lines, and its wrong answers."""
    header = ["models", "share of calls", "wrong", "fixed sample wrong"]
    rows = []
    for cell in cells:
        wrong = f"{cell.wrong} of {len(cell.runs)}"
        row = [cell.choice, with_error(cell.shares.mean(), error_of(cell.shares)), wrong]
        row.append(f"{cell.fixed_wrong:.1%}")
        if before:
            old = before.get((cell.dataset, cell.choice))
            row.append(with_error(*cell.ratio(old)) if old else "")
        rows.append(row)
    header += ["calls, of those before"] if before else []
    items, models = table.scores.shape
    show(header, rows, f"{table.name}: {models} models, {items} items")


def with_error(value: float, error: float) -> str:
    """Rounded alike."""
    return f"{value:.3f} ± {error:.3f}"


def wrong_answers(cells: list[Cell]) -> str:
    """Of all runs but those beside stored scores, which are no new ones; with the exact interval."""
    own = {str(choice) for choice in CHOICES if not choice.old}
    cells = [cell for cell in cells if cell.choice in own]
    wrong, runs = sum(cell.wrong for cell in cells), sum(len(cell.runs) for cell in cells)
    low, high = exact_interval(wrong, runs)
    return f"{wrong} of {runs} answers wrong (95%: {low:.2%} to {high:.2%})"


def read_before(file: Path) -> dict[tuple[str, str], Cell]:
    """What `--format json` printed.

    Raises  InvalidInputError if the file is anything else
    """
    try:
        cells = [
            Cell(one["dataset"], one["choice"], [Run(**run) for run in one["runs"]])
            for one in json.loads(file.read_bytes())["cells"]
        ]
    except (OSError, ValueError, KeyError, TypeError):
        raise InvalidInputError(
            f"--against takes a file that --format json has printed, got {str(file)!r}; make one first."
        ) from None
    return {(cell.dataset, cell.choice): cell for cell in cells}


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """What the command is given, checked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of each line, {RUNS} by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--delta", type=float, default=DELTA, help="the accepted probability of a wrong answer"
    )
    parser.add_argument(
        "--version", type=int, default=VERSION, help=f"of the rule for rounds, {VERSION} by default"
    )
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.add_argument("--against", type=Path, metavar="FILE", help="what --format json printed before")
    given = parser.parse_args(words)
    if given.against and given.format == "json":
        parser.error(
            "--against adds a column to the table, and --format json has none; leave out one of them"
        )
    _args.whole("--runs", given.runs, 1, 10**6, "more runs give a smaller standard error")
    _args.whole("--seed", given.seed, 0, 2**64 - 1, "the same one gives the same runs")
    _args.delta(given.delta)
    _args.whole("--version", given.version, 1, VERSION, "these are known")
    return given


def nothing_in(folder: Path) -> InvalidInputError:
    """What to do about a folder without results."""
    repositories = dict.fromkeys(dataset.repository for dataset in DATASETS)
    clones = [f"git clone https://github.com/{one} {folder / one.split('/')[1]}" for one in repositories]
    return InvalidInputError(
        f"FOLDER must have a clone of {' or '.join(repositories)} with results of two or more models, got "
        f"{str(folder)!r}, which has none; run {' or '.join(clones)}."
    )


def main(words: list[str] | None = None) -> None:
    """Print a table for each dataset, or all runs as JSON."""
    given = arguments(words)
    before = read_before(given.against) if given.against else {}
    tables, remarks = read_tables(given.folder)
    for table in tables:
        few = sorted({one.arms for one in CHOICES if one.arms > len(table.models)})
        remarks += [f"{table.name}: {len(table.models)} models are too few to choose {arms}." for arms in few]
    for remark in remarks:
        print(remark, file=sys.stderr)
    if not tables:
        raise nothing_in(given.folder)
    cells = []
    for table in tables:
        some = [one for one in CHOICES if one.arms <= len(table.models)]
        found = [measured(table, one, given.runs, given.seed, given.delta, given.version) for one in some]
        cells += found
        if given.format == "table":
            show_table(table, found, before)
    if given.format == "table":
        print(f"{wrong_answers(cells)}, at delta {given.delta:g}")
        return
    settings = {
        "version": truebest.__version__,
        "rule": given.version,
        "delta": given.delta,
        "seed": given.seed,
    }
    print_json({**settings, "remarks": remarks, "cells": [cell.to_dict() for cell in cells]})


if __name__ == "__main__":
    try:
        main()
    except truebest.TruebestError as error:
        sys.exit(str(error))
