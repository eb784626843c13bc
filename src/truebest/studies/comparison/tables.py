"""A comparison in words and tables, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...simulation.summary import exact_interval

if TYPE_CHECKING:
    from .results import Comparison, Standing

FACTORS = (1.01, 1.05, 1.1, 1.25, 1.5, 2.0)
FALSE_ALARM = 0.01  # that a note says a strategy errs too often, if none does

Table = tuple[list[str], list[list[str]]]


def standings(found: Comparison) -> Table:
    """Header and rows: the strategies from the least geometric mean to the largest."""
    many, moved = len(found.deltas) > 1, bool(found.movements)
    header = ["strategy", *(["delta"] if many else []), "geo mean", "worst", "95%"]
    header += ["100 log ± runs ± bandits", "below", "first", "wrong", "cut off"]
    header += ["targets move", "pulls move"] if moved else []
    rows = []
    for row in found.standings:
        bound = ">= " if row.cut_off else ""
        words = [f"{bound}{row.geometric_mean:.3f}", f"{bound}{row.worst:.2f}", f"{bound}{row.tail:.3f}"]
        words += [_difference(row), str(row.below), str(row.first)]
        cut_off = f"{row.cut_off} ({row.wrong_leaders} wrong)" if row.cut_off else "0"
        words += [str(row.wrong), cut_off, *(_moved(found, row.strategy) if moved else [])]
        rows.append([row.strategy, *([f"{row.delta:g}"] if many else []), *words])
    return header, rows


def _difference(row: Standing) -> str:
    numbers = (f"{100 * row.difference:+.1f}", f"{100 * row.run_error:.1f}", f"{100 * row.bandit_error:.1f}")
    return " ± ".join(numbers)


def _moved(found: Comparison, strategy: str) -> list[str]:
    return ["" if np.isnan(x) else f"{x:.2f}" for x in found.movement(strategy)]


def groups(found: Comparison, delta: float) -> Table:
    """Header and rows: geometric means, a column for each group of bandits."""
    means = found.by_group(delta)
    rows = [[name, *(f"{x:.2f}" for x in means[name].values())] for name in found.order(delta)]
    return ["strategy", *found.groups], rows


def profile(found: Comparison, delta: float) -> Table:
    """Header and rows: on what share of the bandits a strategy is within a factor of the fewest samples."""
    shares = found.profile(delta)
    rows = [[name, *(f"{x:.0%}" for x in shares[name])] for name in found.order(delta)]
    return ["strategy", *(f"{x:g}" for x in FACTORS)], rows


def bandits(found: Comparison, delta: float) -> Table:
    """Header and rows: for each bandit the least mean number of samples, and each strategy's ratio."""
    order, ratios, rows = found.order(delta), found.ratios(delta), []
    for b, bandit in enumerate(found.bandits):
        best = min((found.cell(b, name, delta) for name in order), key=lambda cell: cell.mean_samples)
        least = f"{best.mean_samples:.0f} ± {best.standard_error:.0f}"
        rows.append([bandit.name, least, *(f"{ratios[name][b]:.2f}" for name in order)])
    return ["bandit", "least", *order], rows


def losses(found: Comparison, delta: float) -> Table:
    """Header and rows: on which bandits the reference is beaten, by how much and by whom."""
    rows = [[one.bandit, f"{one.ratio:.3f} ± {one.error:.3f}", one.best] for one in found.losses(delta)]
    return ["bandit", "ratio ± se", "fewest samples"], rows


def movements(found: Comparison) -> Table:
    """Header and rows: per 1000 samples, on each of the bandits where it is measured."""
    names = list(dict.fromkeys(one.bandit for one in found.movements))
    by_place = {(one.strategy, one.bandit): one for one in found.movements}
    rows = []
    for strategy in found.order(found.deltas[0]):
        ones = [by_place.get((strategy, name)) for name in names]
        targets = ["" if one is None else _with_error(one.target, one.target_error) for one in ones]
        pulls = ["" if one is None else _with_error(one.pulls, one.pulls_error) for one in ones]
        rows.append([strategy, *targets, *pulls])
    return ["strategy", *(f"target, {n}" for n in names), *(f"pulls, {n}" for n in names)], rows


def _with_error(value: float, error: float) -> str:
    return "" if np.isnan(value) else f"{value:.2f} ± {error:.2f}"


def notes(found: Comparison) -> list[str]:
    """What a reader of the tables must know."""
    runs, rule, limit = (found.settings[key] for key in ("runs", "stopping", "max_samples"))
    first = (
        f"the first, {found.standings[0].strategy}" if len(found.deltas) == 1 else "the first of each delta"
    )
    lines = [
        f"{len(found.bandits)} bandits, {runs} runs of each strategy on the same rewards, stopped by {rule}. "
        f"Ratios are to the fewest samples on each bandit; 100 log is the difference of mean logarithms to "
        f"{found.reference or first}, times 100: near 0, percent."
    ]
    cut = sum(row.cut_off for row in found.standings)
    if cut:
        wrong = sum(row.wrong_leaders for row in found.standings)
        lines.append(
            f"{cut} runs were cut off at {limit} samples and count there: >= is a lower bound. A wrong arm "
            f"led {wrong} of them."
        )
    level = 1.0 - 2.0 * FALSE_ALARM / len(found.simulation)
    lines += [
        f"{cell.strategy} erred in {cell.errors} of {cell.runs} runs at delta {cell.delta:g} on "
        f"{found.bandits[cell.bandit or 0].name}, which is more than chance explains."
        for cell in found.simulation
        if exact_interval(cell.errors, cell.runs, level)[0] > cell.delta  # a promise is about all runs
    ]
    if not found.complete:
        lines.append(f"Interrupted: only the {len(found.bandits)} bandits that were finished are counted.")
    return lines
