"""`compare`: strategies on a suite of bandits, all on the same rewards, in parts that a file can keep."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ... import __version__, _args
from ..._former_name import FORMER_NAME
from ...errors import InvalidInputError
from ...simulation.job import distinct_strategies, refuse_stalling
from ...simulation.problem import make_problem
from ...simulation.progress import Progress, Reporter
from ...simulation.results import Cell, Simulation
from ...simulation.runs import from_row, to_row
from ...simulation.simulate import simulate
from ...simulation.threads import num_threads
from ...strategies import CustomStrategy, Strategy, TrackAndStop, stopped_by
from ...strategies._admit import kernel_of
from ...strategies._digest import digest
from ...theory.stopping import StoppingRule, find_rule
from ..ledger import Ledger, Part
from . import stability
from .results import Comparison
from .stability import Movement
from .suites import Bandit, load_suite

COMPARED: tuple[str | Strategy, ...] = (  # without ttts, whose draws take longer than all others together
    *("ebs-open-need", "ebs-open-gaps", "ebs-open-equal", TrackAndStop("D", open_only=True)),
    *("tas-c", "tas-d", "ebs-c", "ebs-d", "racing", "bc", "t3c", "t3c-ids", "eb-tci", "ttucb", "eb-tc-eps"),
    *("fws", "lucb++", "uniform"),
)
SUITE = ("standard", "random")
RULE = "mixture"  # leaves it to the strategy which arms to sample; tilt rules arms out for all of them
LIMIT = 200_000
PAUSE = 2.0  # seconds of work that a crash may cost
KIND = "truebest comparison"
KINDS = (KIND, f"{FORMER_NAME} comparison")  # those that are taken up


class _Task(NamedTuple):
    """What all parts have in common.

    identities  what the strategies are, by their names, for a file
    """

    deltas: tuple[float, ...]
    runs: int
    seed: int
    stopping: str | StoppingRule
    tolerance: float
    max_samples: int
    workers: int
    identities: dict[str, str]

    def named(self, what: str, strategy: Strategy, *others: object) -> str:
        """The name of a part: for people, and by a hash of all that it depends on."""
        depends = (self.identities[strategy.name], *others, *self[:-2])
        return f"{what} [{hashlib.sha256(repr(depends).encode()).hexdigest()[:16]}]"


def compare(
    strategies: str | Strategy | Sequence[str | Strategy] | None = None,
    suite: str | os.PathLike[str] | Bandit | Sequence[Any] = SUITE,
    delta: float | Sequence[float] = 0.05,
    *,
    runs: int = 100,
    seed: int = 0,
    stopping: str | StoppingRule = RULE,
    tolerance: float = 0.0,
    max_samples: int = LIMIT,
    reference: str | None = None,
    stability_runs: int = 10,
    threads: int | None = None,
    resume: str | os.PathLike[str] | None = None,
    progress: bool | Progress | None = None,
) -> Comparison:
    """Compare strategies on many bandits: how many times the least number of samples each takes.

    Parameters
    ----------
    strategies
        names or strategies; by default eighteen, every one that is quick enough
    suite
        "standard" (46 bandits), "paper", "practice", "random:24:3" (held out), a JSON file, bandits, or
        several of these
    delta
        one risk or several
    runs, seed
        all strategies see the same rewards in run i of a bandit
    stopping, tolerance
        as in `simulate`
    max_samples
        where a run is cut off; it then counts at max_samples, and the ratio is a lower bound
    reference
        to which strategy differences are given; by default the one with the least geometric mean
    stability_runs
        from how many runs the movement of targets and pulls is measured; 0 leaves it out
    threads
        by default one per available core; the result does not depend on it
    resume
        a file that keeps finished parts: the same call goes on from there, and one with more strategies or
        bandits makes only what is missing
    progress
        True or False, or a function of (done, total) parts; by default a bar on a terminal

    Returns
    -------
    Comparison
        after Ctrl-C of the bandits that are complete, marked incomplete

    Raises
    ------
    InvalidInputError
    """
    chosen = distinct_strategies(list(COMPARED) if strategies is None else strategies)
    bandits = load_suite(suite)
    task = _checked(chosen, bandits, delta, runs, seed, stopping, tolerance, max_samples, threads)
    moves = _args.whole("stability_runs", stability_runs, 0, 10**6, "0 leaves it out, 10 are quick")
    names = [one.name for one in chosen]
    if reference is not None:
        _args.choice("reference", reference, names)
    parts = _parts(chosen, bandits, task, moves)
    found, complete = _made(parts, resume, progress)
    cells, done = _cells(found, chosen, bandits, task)
    if not done:
        raise KeyboardInterrupt
    movements = tuple(Movement(**found[name]) for name in _moving(chosen, task, moves) if name in found)
    settings = _settings(suite, chosen, task)
    return Comparison(tuple(done), Simulation(tuple(cells), settings), movements, reference, complete)


def _checked(
    strategies: Sequence[Strategy],
    bandits: Sequence[Bandit],
    delta: float | Sequence[float],
    runs: int,
    seed: int,
    stopping: str | StoppingRule,
    tolerance: float,
    max_samples: int,
    threads: int | None,
) -> _Task:
    """Refuse before the work, not in its middle; what is refused names the bandit."""
    limit = _args.whole("max_samples", max_samples, 2, 2**53, "it is where a run is cut off")
    rule = find_rule(stopping)
    for risk in np.ravel(_args.numbers("delta", delta)):
        _args.delta(risk)
    problem = None
    for bandit in bandits:
        given = bandit.arguments()
        order = ("means", "rewards", "noise", "sigma", "model")
        means, rewards, noise, sigma, model = (given[name] for name in order)
        try:
            problem = make_problem(means, delta, rewards, noise, sigma, model, stopping, limit, tolerance)
            for one in strategies:
                refuse_stalling(stopped_by(rule, one), problem)
        except InvalidInputError as error:
            raise InvalidInputError(f"bandit {bandit.name!r}: {error}") from None
    assert problem is not None
    count = _args.whole("runs", runs, 2, 10**6, "one run has no standard error")
    key = _args.seed(seed)
    identities = {one.name: _identity(one, rule) for one in strategies}
    workers, allowed = num_threads(threads), problem.tolerance
    return _Task(problem.deltas, count, key, stopping, allowed, limit, workers, identities)


# -- parts ---------------------------------------------------------------------------------------------


def _identity(strategy: Strategy, rule: StoppingRule) -> str:
    """What a strategy and a rule are, for a file: a user's by a hash of its code, or by nothing."""
    asked = stopped_by(rule, strategy)
    known = type(strategy).__module__.startswith("truebest.") and not isinstance(strategy, CustomStrategy)
    code = "" if known and asked is strategy else digest(kernel_of(asked)) or secrets.token_hex(16)
    return f"{strategy!r} {code}"


def _cell_part(strategy: Strategy, bandit: Bandit, task: _Task) -> str:
    return task.named(f"{strategy.name} on {bandit.name}", strategy, bandit)


def _moving(strategies: Sequence[Strategy], task: _Task, runs: int) -> dict[str, Callable[[], Part]]:
    """The parts that measure movement, at the largest risk."""
    if not runs:
        return {}
    return {
        task.named(f"movement of {one.name} on {bandit.name}", one, bandit, runs): partial(
            _measure_movement, one, bandit, task, runs
        )
        for one in strategies
        for bandit in stability.bandits()
    }


def _parts(
    strategies: Sequence[Strategy], bandits: Sequence[Bandit], task: _Task, moves: int
) -> dict[str, Callable[[], Part]]:
    """Bandit by bandit, so that those before an interruption are complete."""
    cells: dict[str, Callable[[], Part]] = {
        _cell_part(one, bandit, task): partial(_simulate, one, bandit, task)
        for bandit in bandits
        for one in strategies
    }
    return cells | _moving(strategies, task, moves)


def _simulate(strategy: Strategy, bandit: Bandit, task: _Task) -> Part:
    """The runs with the arms in an order that follows from the seed; of the arms as they are given."""
    order = bandit.order(task.seed)
    found = simulate(
        strategy,
        delta=task.deltas,
        runs=task.runs,
        seed=bandit.seed(task.seed),
        stopping=task.stopping,
        tolerance=task.tolerance,
        max_samples=task.max_samples,
        threads=task.workers,
        progress=False,
        **bandit.in_order(order).arguments(),
    )
    if not found.complete:
        raise KeyboardInterrupt
    return {"cells": [to_row(cell.renumbered(order)) for cell in found]}


def _measure_movement(strategy: Strategy, bandit: Bandit, task: _Task, runs: int) -> Part:
    largest = max(task.deltas)
    found = stability.measure(strategy, bandit, largest, task.stopping, runs, task.seed, task.workers)
    return asdict(found)


def _made(
    parts: Mapping[str, Callable[[], Part]],
    resume: str | os.PathLike[str] | None,
    progress: bool | Progress | None,
) -> tuple[dict[str, Part], bool]:
    """The parts that are there, and whether that is all."""
    found: dict[str, Part] = {}
    ledger = Ledger(None if resume is None else _own_file(Path(resume)), pause=PAUSE)
    with Reporter(progress, len(parts)) as reporter:
        try:
            for name, part in ledger.each({"file": KIND}, parts):
                found[name] = part
                reporter.add(1)
        except KeyboardInterrupt:
            return found, False
    return found, True


def _own_file(file: Path) -> Path:
    """Refuse a file that is something else: it would be overwritten."""
    if file.is_dir() or not file.parent.is_dir():
        raise InvalidInputError(
            f"resume must be a file in an existing folder, got {os.fspath(file)!r}; choose another."
        )
    if file.exists():
        try:
            kind = json.loads(file.read_text(encoding="utf-8"))["settings"]["file"]
        except (OSError, ValueError, KeyError, TypeError):
            kind = None
        if kind not in KINDS:
            raise InvalidInputError(
                f"resume must be a new file or one that a comparison wrote, got {os.fspath(file)!r}, which "
                f"is something else; choose another."
            )
    return file


def _cells(
    found: Mapping[str, Part], strategies: Sequence[Strategy], bandits: Sequence[Bandit], task: _Task
) -> tuple[list[Cell], list[Bandit]]:
    """The cells of all bandits that are complete."""
    cells: list[Cell] = []
    done: list[Bandit] = []
    for bandit in bandits:
        names = [_cell_part(one, bandit, task) for one in strategies]
        if all(name in found for name in names):
            rows = [row for name in names for row in found[name]["cells"]]
            cells += [replace(_cell(row), bandit=len(done)) for row in rows]
            done.append(bandit)
    return cells, done


def _cell(row: dict[str, Any]) -> Cell:
    """From the file; it may have been damaged."""
    try:
        return from_row(row)
    except (KeyError, TypeError, ValueError, zlib.error) as error:
        raise InvalidInputError(
            f"the file of resume must be as a comparison wrote it, got a damaged part ({error}); delete it."
        ) from None


def _settings(suite: Any, strategies: Sequence[Strategy], task: _Task) -> dict[str, Any]:
    items = list(suite) if isinstance(suite, list | tuple) else [suite]
    return {
        "truebest": __version__,
        "suite": [os.fspath(one) if isinstance(one, str | os.PathLike) else one.name for one in items],
        "strategies": [one.name for one in strategies],
        "deltas": list(task.deltas),
        "runs": task.runs,
        "seed": task.seed,
        "stopping": task.stopping if isinstance(task.stopping, str) else repr(task.stopping),
        "tolerance": task.tolerance,
        "max_samples": task.max_samples,
    }
