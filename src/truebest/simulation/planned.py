"""What a plan says: calls and errors of both designs, beside the calls of scoring everything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from .._records import csv_text, plain
from .._text import duration, exactly
from ..designs.units import SINGLE
from .results import Cell, Simulation, led


class Price(NamedTuple):
    """What one call takes; None where that is not said."""

    seconds: float | None = None
    cost: float | None = None

    @property
    def titles(self) -> list[str]:
        """Of the columns that say what calls take."""
        return ["time"] * (self.seconds is not None) + ["cost"] * (self.cost is not None)

    def of(self, calls: float) -> list[str]:
        """What so many take, one after the other."""
        times = [] if self.seconds is None else [duration(calls * self.seconds)]
        return times + ([] if self.cost is None else [f"{calls * self.cost:,.2f}"])


UNSAID = Price()


@dataclass(frozen=True, repr=False, eq=False)
class Plan:
    """What `plan` returns.

    Attributes
    ----------
    arms
        names, or "1", "2", ...
    means
        of the scores that were simulated, one for each arm
    delta, tolerance, minimize
        as given
    items
        how many there are in a closed set; None for an unlimited source, and without common items
    correlation
        of the scores of the two best arms; NaN if one is constant, None without common items
    paired
        calls and errors of rounds on common items; None if nothing was known of these
    independent
        those of independent samples, by the default strategy and rule of a live experiment; None if it was
        interrupted before, where only wins count, and where scores are known
    known
        the arms whose scores are known, which take no calls
    epochs
        how often each arm answers an item
    one_round
        what every arm answers in a round, such as "item, 4 epochs each"
    price
        what one call takes
    """

    arms: tuple[str, ...]
    means: tuple[float, ...]
    delta: float
    tolerance: float
    minimize: bool
    items: int | None
    correlation: float | None
    paired: Cell | None
    independent: Cell | None
    known: tuple[str, ...] = ()
    epochs: int = 1
    one_round: str = SINGLE.words
    price: Price = UNSAID

    @property
    def everything(self) -> int | None:
        """The calls of scoring every arm that is asked on every item of a closed set."""
        if self.items is None:
            return None
        return self.items * self.epochs * (len(self.arms) - len(self.known))

    @property
    def complete(self) -> bool:
        """False if it was interrupted."""
        return all(cell.complete for _, cell in self.designs())

    def designs(self) -> Iterator[tuple[str, Cell]]:
        """The designs that were simulated, by name."""
        if self.paired is not None:
            yield self.paired.strategy, self.paired
        if self.independent is not None:
            yield "independent", self.independent

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, as `--format json` prints them."""
        return {
            "arms": list(self.arms),
            "means": list(self.means),
            "delta": self.delta,
            "tolerance": self.tolerance,
            "minimize": self.minimize,
            "items": self.items,
            "correlation": plain(self.correlation),
            "everything": self.everything,
            "known": list(self.known),
            "one_round": self.one_round,
            "seconds_per_call": self.price.seconds,
            "cost_per_call": self.price.cost,
            "complete": self.complete,
            "paired": None if self.paired is None else self.paired.to_dict(),
            "independent": None if self.independent is None else self.independent.to_dict(),
        }

    def records(self) -> list[dict[str, Any]]:
        """A flat record for each design."""
        return Simulation(tuple(cell for _, cell in self.designs())).records()

    def to_csv(self) -> str:
        """Comma-separated values, a line for each design."""
        return csv_text(self.records())

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows for a person."""
        titles = self.price.titles
        header = ["design", "calls", *titles, "± se", "median", "95%", "wrong", "error rate", "runs"]
        rows = []
        for name, cell in self.designs():
            middle, most = cell.quantiles((0.5, 0.95)).values()
            calls = [f"{_bound(cell)}{cell.mean_samples:.0f}", *self.price.of(cell.mean_samples)]
            calls += [f"{cell.standard_error:.0f}"]
            calls += [f"{middle:.0f}", f"{most:.0f}"]
            rows.append([name, *calls, str(cell.errors), cell.error_words, str(cell.runs)])
        if self.everything is not None:
            took = [str(self.everything), *self.price.of(self.everything)]
            rows.append(["everything", *took, *[""] * 6])
        return header, rows

    def notes(self) -> list[str]:
        """What a reader of the table must know."""
        notes = [
            f"{name}: {cell.censored} of {cell.runs} runs ended without an answer, so the mean is a lower "
            f"bound of the calls that one takes. {led(cell)}"
            for name, cell in self.designs()
            if cell.censored
        ]
        right = sorted(next(iter(self.designs()))[1].best)
        if len(right) > 1:
            names, even = ", ".join(self.arms[a] for a in right), len({self.means[a] for a in right}) == 1
            far = (
                f"within {exactly(self.tolerance)} of the best" if self.tolerance else "not known to be worse"
            )
            notes.append(f"{names} are {'tied for the best' if even else far}: each is a right answer.")
        if not self.complete:
            notes.append("Interrupted: only the runs before the first incomplete one are counted.")
        return notes

    def __str__(self) -> str:
        """One sentence, and what must be known besides."""
        parts = [
            f"{name} {_bound(cell)}{cell.mean_samples:.0f} ± {cell.standard_error:.0f} calls "
            f"({', '.join([*self.price.of(cell.mean_samples), f'{cell.errors} of {cell.runs} wrong'])})"
            for name, cell in self.designs()
        ]
        if self.everything is not None:
            took = ", ".join(self.price.of(self.everything))
            parts.append(f"everything {self.everything}" + (f" ({took})" if took else ""))
        return "\n".join([f"At delta {self.delta:g}: {', '.join(parts)}.", *self.notes()])

    __repr__ = __str__


def _bound(cell: Cell) -> str:
    return ">= " if cell.censored else ""
