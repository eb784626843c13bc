"""Estimates with their errors: what a simulation found, for each strategy and each risk."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .. import _args, _html
from .._files import write_whole
from .._records import csv_text, frame
from .._text import aligned
from ..errors import InvalidInputError
from .pictures import picture, picture_in_html
from .summary import Summary, answer_counts, exact_interval

if TYPE_CHECKING:
    from .difference import Difference

Indices = npt.NDArray[np.int64]

Key = str | tuple[str, float] | tuple[str, float, int]  # of a cell: its strategy, risk and bandit

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, repr=False, eq=False)
class Cell:
    """One strategy at one risk.

    Attributes
    ----------
    samples
        (runs,) how many samples each run took; max_samples where it was cut off
    recommended
        (runs,) the arm that each run recommended, -1 where it was cut off
    mean_pulls
        (K,) how often each arm was pulled, on average
    best
        the arms whose recommendation is right
    complete
        False if the simulation was interrupted: the runs are then the first so many
    bandit
        the number of the bandit from 0, None where there was only one
    spans
        which runs these are: (seed, the number of the first, how many)
    summary
        None if every run is kept; else `samples` and `recommended` are empty, and estimates come from counts,
        sums and a histogram
    leaders
        (runs,) the arm of largest mean where a run was cut off, which it would recommend; -1 where it was
        not, and where that is not known
    """

    strategy: str
    delta: float
    stopping: str
    samples: npt.NDArray[np.int64]
    recommended: npt.NDArray[np.int64]
    mean_pulls: npt.NDArray[np.float64]
    best: frozenset[int]
    seed: int
    complete: bool
    bandit: int | None = None
    spans: tuple[tuple[int, int, int], ...] = ()
    summary: Summary | None = None
    leaders: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def label(self) -> str:
        """The key by which a simulation finds this cell."""
        return f"{self.strategy!r}, {self.delta:g}" + ("" if self.bandit is None else f", {self.bandit}")

    @property
    def title(self) -> str:
        """Strategy, risk and bandit in words."""
        where = "" if self.bandit is None else f" on bandit {self.bandit}"
        return f"{self.strategy} at delta {self.delta:g}{where}"

    @property
    def runs(self) -> int:
        """How many runs."""
        return int(self.samples.size) if self.summary is None else self.summary.runs

    @property
    def mean_samples(self) -> float:
        """Mean number of samples; a lower bound if runs were censored. NaN without runs."""
        if self.summary is not None:
            return self.summary.mean
        return float(self.samples.mean()) if self.runs else float("nan")

    @property
    def standard_error(self) -> float:
        """Of the mean number of samples; NaN for fewer than two runs."""
        if self.summary is not None:
            return self.summary.standard_error
        return float(self.samples.std(ddof=1) / np.sqrt(self.runs)) if self.runs > 1 else float("nan")

    @property
    def censored(self) -> int:
        """How many runs were cut off at max_samples without a recommendation."""
        return int(self.answers[-1])

    @property
    def decided(self) -> int:
        """How many runs recommended an arm."""
        return self.runs - self.censored

    @property
    def errors(self) -> int:
        """How many runs recommended a wrong arm."""
        return self._wrong(self.answers[:-1])

    @property
    def wrong_leaders(self) -> int | None:
        """How many runs were cut off with a wrong arm in the lead; None where it is not known which led."""
        counts = answer_counts(self.leaders, self.mean_pulls.size)[:-1]
        if self.summary is not None:
            counts = self.summary.leaders
        return self._wrong(counts) if int(counts.sum()) == self.censored else None

    def _wrong(self, counts: npt.NDArray[np.int64]) -> int:
        return sum(int(n) for a, n in enumerate(counts) if a not in self.best)

    @property
    def answers(self) -> npt.NDArray[np.int64]:
        """(K + 1,) how many runs recommended each arm, and last how many were cut off."""
        if self.summary is not None:
            return self.summary.answers
        return answer_counts(self.recommended, self.mean_pulls.size)

    @property
    def error_rate(self) -> float:
        """Wrong recommendations per decided run; NaN without one."""
        return self.errors / self.decided if self.decided else float("nan")

    def error_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The exact (Clopper-Pearson) interval for the error rate of decided runs; 0 to 1 without one."""
        _args.probability(
            "confidence", confidence, "how often such intervals contain the true rate, 0.95 is common"
        )
        return exact_interval(self.errors, self.decided, confidence)

    @property
    def error_words(self) -> str:
        """That interval as tables print it; a dash without a decided run."""
        low, high = self.error_interval()
        return f"{low:.4f}-{high:.4f}" if self.decided else "-"

    def quantiles(self, levels: tuple[float, ...] = QUANTILES) -> dict[float, float]:
        """Quantiles of the number of samples."""
        if not self.runs:
            return dict.fromkeys(levels, float("nan"))
        if self.summary is not None:
            return {level: self.summary.quantile(level) for level in levels}
        return dict(zip(levels, np.quantile(self.samples, levels).tolist(), strict=True))

    def renumbered(self, order: Sequence[int]) -> Cell:
        """With arm i called order[i]; of runs that are all kept."""
        back = np.array([*order, -1])  # the last for no arm
        pulls = np.empty_like(self.mean_pulls)
        pulls[back[:-1]] = self.mean_pulls
        return replace(
            self,
            recommended=back[self.recommended],
            mean_pulls=pulls,
            best=frozenset(order[a] for a in self.best),
            leaders=back[self.leaders],
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, as `--format json` prints them."""
        low, high = self.error_interval()
        which = {} if self.bandit is None else {"bandit": self.bandit}
        return which | {
            "strategy": self.strategy,
            "delta": self.delta,
            "stopping": self.stopping,
            "runs": self.runs,
            "mean_samples": self.mean_samples,
            "standard_error": self.standard_error,
            "mean_is_lower_bound": self.censored > 0,
            "quantiles": {str(level): value for level, value in self.quantiles().items()},
            "errors": self.errors,
            "error_rate": self.error_rate,
            "error_rate_low": low,
            "error_rate_high": high,
            "mean_pulls": self.mean_pulls.tolist(),
            "decided": self.decided,
            "censored": self.censored,
            "wrong_leaders": self.wrong_leaders,
            "seed": self.seed,
            "complete": self.complete,
        }

    def __repr__(self) -> str:
        bound = ">= " if self.censored else ""
        text = (
            f"{self.title}: {bound}{self.mean_samples:.1f} ± "
            f"{self.standard_error:.1f} samples, {self.errors} errors ({self.runs} runs"
        )
        if self.censored:
            text += f", {self.censored} censored"
            text += (
                "" if self.wrong_leaders is None else f", of them {self.wrong_leaders} with a wrong leader"
            )
        return text + (")" if self.complete else ", interrupted)")


@dataclass(frozen=True, repr=False, eq=False)
class Simulation:
    """What `simulate` returns: one cell per bandit, strategy and risk, in the order given.

    Attributes
    ----------
    settings
        what was simulated and by which version, in plain values; runs and seeds are in the cells
    """

    cells: tuple[Cell, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def __add__(self, other: Simulation) -> Simulation:
        """The runs of both, which must be different runs of the same cells.

        Raises  InvalidInputError
        """
        from .runs import pooled

        return pooled(self, other) if isinstance(other, Simulation) else NotImplemented

    def save(self, path: str | os.PathLike[str]) -> None:
        """Into one file, whole or not at all, for `truebest.load_simulation`."""
        from .runs import save_simulation

        save_simulation(self, path)

    def __getitem__(self, key: Key) -> Cell:
        """The cell of a strategy's name, of (name, delta), or of (name, delta, number of the bandit)."""
        name, delta, bandit = (*key, None, None)[:3] if isinstance(key, tuple) else (key, None, None)
        found = [
            c
            for c in self.cells
            if c.strategy == name and delta in (None, c.delta) and bandit in (None, c.bandit)
        ]
        if len(found) != 1:
            have = ", ".join(f"({c.label})" for c in self.cells)
            raise InvalidInputError(f"the key must name one cell, got {key!r}; choose from {have}.")
        return found[0]

    def difference(self, a: Key, b: Key) -> Difference:
        """How many samples a takes more than b on average, run by run on the same rewards, with its error.

        Parameters
        ----------
        a, b
            each a key of one cell: a strategy's name, (name, delta) or (name, delta, bandit)

        Raises
        ------
        InvalidInputError
        """
        from .difference import paired_difference

        return paired_difference(self[a], self[b])

    @property
    def complete(self) -> bool:
        """False if the simulation was interrupted."""
        return all(cell.complete for cell in self.cells)

    def to_dict(self) -> list[dict[str, Any]]:
        """One plain object per cell."""
        return [cell.to_dict() for cell in self.cells]

    def records(self) -> list[dict[str, Any]]:
        """One flat record per cell."""
        return [_flat(row) for row in self.to_dict()]

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Comma-separated values, one line per cell; optionally into a file, whole or not at all."""
        text = csv_text(self.records())
        if path is not None:
            write_whole(path, text)
        return text

    def to_frame(self) -> Any:
        """A pandas DataFrame, one row per cell; needs pandas."""
        return frame(self.records())

    def plot(self) -> Any:
        """The distribution of the samples, and the error rate against delta: a Matplotlib figure."""
        return picture(self)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows for a person."""
        header = ["strategy", "delta", "samples", "± se", "median", "95%", "errors", "error rate", "runs"]
        rows = []
        many = any(cell.bandit is not None for cell in self.cells)
        cut = any(cell.censored for cell in self.cells)
        for cell in self.cells:
            quantiles = cell.quantiles((0.5, 0.95))
            rows.append(
                [
                    *([str(cell.bandit)] if many else []),
                    cell.strategy,
                    f"{cell.delta:g}",
                    (">= " if cell.censored else "") + f"{cell.mean_samples:.1f}",
                    f"{cell.standard_error:.1f}",
                    f"{quantiles[0.5]:.0f}",
                    f"{quantiles[0.95]:.0f}",
                    str(cell.errors),
                    cell.error_words,
                    str(cell.runs),
                    *(
                        [str(cell.censored), "-" if cell.wrong_leaders is None else str(cell.wrong_leaders)]
                        if cut
                        else []
                    ),
                ]
            )
        return ["bandit"] * many + header + ["cut off", "wrong leader"] * cut, rows

    def __str__(self) -> str:
        return "\n".join([*aligned(*self.table()), *self.notes()])

    def __repr__(self) -> str:
        names = list(dict.fromkeys(cell.strategy for cell in self.cells))
        deltas = dict.fromkeys(f"{cell.delta:g}" for cell in self.cells)
        runs = sorted({cell.runs for cell in self.cells}) or [0]
        many = f"{runs[0]} runs" if len(runs) == 1 else f"{runs[0]} to {runs[-1]} runs"
        what = names[0] if len(names) == 1 else f"{len(names)} strategies"
        bandits = len({cell.bandit for cell in self.cells})
        where = f" on {bandits} bandits" if bandits > 1 else ""
        ended = "" if self.complete else ", interrupted"
        return f"<Simulation of {what} at delta {', '.join(deltas)}{where}, {many}{ended}>"

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes())
        return _html.table(*self.table()) + notes + picture_in_html(self)

    def notes(self) -> list[str]:
        """What a reader of the table must know."""
        notes = [
            f"{cell.strategy} at delta {cell.delta:g}: {cell.censored} of {cell.runs} runs were censored "
            f"at max_samples, so the mean is a lower bound. {led(cell)}"
            for cell in self.cells
            if cell.censored
        ]
        if not self.complete:
            notes.append("Interrupted: only the runs before the first incomplete one are counted.")
        return notes


def led(cell: Cell) -> str:
    """What the runs that were cut off would have recommended, and what the error rate is then of."""
    wrong = f"The answer so far was wrong in {cell.wrong_leaders} of them"
    if cell.wrong_leaders is None:
        wrong = "The answer so far was not kept"
    rate = f"the error rate is that of the other {cell.decided}" if cell.decided else "there is no error rate"
    return f"{wrong}; {rate}."


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if key == "quantiles":
            flat |= {f"quantile_{level}": number for level, number in value.items()}
        elif key == "mean_pulls":
            flat |= {f"mean_pulls_{a + 1}": number for a, number in enumerate(value)}
        else:
            flat[key] = value
    return flat
