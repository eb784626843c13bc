"""What a plan says: calls and errors of both designs, beside the calls of scoring everything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .._records import csv_text, plain
from .results import Cell, Simulation, led


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
        interrupted before, and where only wins count
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

    @property
    def everything(self) -> int | None:
        """The calls of scoring every arm on every item of a closed set."""
        return None if self.items is None else self.items * len(self.arms)

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
        header = ["design", "calls", "± se", "median", "95%", "wrong", "error rate", "runs"]
        rows = []
        for name, cell in self.designs():
            middle, most = cell.quantiles((0.5, 0.95)).values()
            calls = [f"{_bound(cell)}{cell.mean_samples:.0f}", f"{cell.standard_error:.0f}"]
            calls += [f"{middle:.0f}", f"{most:.0f}"]
            rows.append([name, *calls, str(cell.errors), cell.error_words, str(cell.runs)])
        if self.everything is not None:
            rows.append(["everything", str(self.everything), *[""] * 6])
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
            far = f"within {self.tolerance:g} of the best" if self.tolerance else "not known to be worse"
            notes.append(f"{names} are {'tied for the best' if even else far}: each is a right answer.")
        if not self.complete:
            notes.append("Interrupted: only the runs before the first incomplete one are counted.")
        return notes

    def __str__(self) -> str:
        """One sentence, and what must be known besides."""
        parts = [
            f"{name} {_bound(cell)}{cell.mean_samples:.0f} ± {cell.standard_error:.0f} calls "
            f"({cell.errors} of {cell.runs} wrong)"
            for name, cell in self.designs()
        ]
        if self.everything is not None:
            parts.append(f"everything {self.everything}")
        return "\n".join([f"At delta {self.delta:g}: {', '.join(parts)}.", *self.notes()])

    __repr__ = __str__


def _bound(cell: Cell) -> str:
    return ">= " if cell.censored else ""
