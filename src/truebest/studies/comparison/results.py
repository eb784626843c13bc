"""What a comparison found: a table, ratios per group and per bandit, a performance profile, movement."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..._files import write_whole
from ..._html import table as html_table
from ..._records import csv_text, frame, plain
from ..._text import aligned
from ...errors import InvalidInputError
from ...simulation.results import Cell, Simulation
from . import profile, tables
from .stability import Movement
from .statistics import Ratios
from .suites import Bandit
from .tables import FACTORS, Table

TAIL = 0.95


@dataclass(frozen=True)
class Standing:
    """A strategy at one risk over the whole suite; a ratio is to the fewest samples on each bandit.

    Attributes
    ----------
    geometric_mean
        of the ratios of mean samples, with its error over runs
    worst
        the largest ratio, with its error, and on which bandit
    tail
        geometric mean of the ratios of the 95% quantiles of the samples, with its error
    difference
        mean logarithm of the samples less that of the reference; run_error is what other runs would change,
        bandit_error what other bandits would, if these were drawn at random
    below
        on how many bandits it takes fewer samples than the reference
    first
        on how many bandits no strategy takes fewer
    wrong
        runs with a wrong answer; most_wrong: on one bandit
    cut_off
        runs that ended at max_samples: then ratios are lower bounds
    wrong_leaders
        of these, runs with a wrong arm in the lead
    """

    delta: float
    strategy: str
    geometric_mean: float
    geometric_mean_error: float
    worst: float
    worst_error: float
    worst_bandit: str
    tail: float
    tail_error: float
    difference: float
    run_error: float
    bandit_error: float
    below: int
    first: int
    wrong: int
    most_wrong: int
    cut_off: int
    wrong_leaders: int
    runs: int


class Loss(NamedTuple):
    """A bandit on which the reference takes more samples than another strategy: how many times as many."""

    bandit: str
    ratio: float
    error: float
    best: str


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
    """What `compare` returns.

    Attributes
    ----------
    bandits
        those that are complete, in the order of the suite
    simulation
        every run: `simulation["tas-d", 0.05, 3]` is the cell of the fourth bandit
    movements
        how much targets and pulls move, per strategy and bandit
    reference
        the strategy to which differences are given; None for the one with the least geometric mean
    complete
        False after Ctrl-C
    """

    bandits: tuple[Bandit, ...]
    simulation: Simulation
    movements: tuple[Movement, ...] = ()
    reference: str | None = None
    complete: bool = True

    @property
    def settings(self) -> dict[str, Any]:
        """What was compared, and how."""
        return dict(self.simulation.settings)

    @cached_property
    def strategies(self) -> tuple[str, ...]:
        """Their names, in the order given."""
        return tuple(dict.fromkeys(cell.strategy for cell in self.simulation))

    @cached_property
    def deltas(self) -> tuple[float, ...]:
        """The risks, in the order given."""
        return tuple(dict.fromkeys(cell.delta for cell in self.simulation))

    @cached_property
    def _cells(self) -> dict[tuple[int, str, float], Cell]:
        return {(cell.bandit or 0, cell.strategy, cell.delta): cell for cell in self.simulation}

    def cell(self, bandit: int, strategy: str, delta: float) -> Cell:
        """One strategy on one bandit, which is given by its number, at one risk."""
        return self._cells[bandit, strategy, delta]

    @cached_property
    def _ratios(self) -> dict[float, Ratios]:
        numbers = range(len(self.bandits))
        return {
            delta: Ratios.of(
                tuple(np.stack([self.cell(b, s, delta).samples for s in self.strategies]) for b in numbers)
            )
            for delta in self.deltas
        }

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """The table: for each risk the strategies, from the least geometric mean to the largest."""
        return tuple(row for delta in self.deltas for row in self._standings(delta))

    def _standings(self, delta: float) -> list[Standing]:
        ratios = self._ratios[delta]
        geometric, tails = ratios.geometric, ratios.tails(TAIL)
        worst, worst_error, where = ratios.worst
        order = np.argsort(geometric[0], kind="stable").tolist()
        against = order[0] if self.reference is None else self.strategies.index(self.reference)
        differences = ratios.above(against)
        least = ratios.means.min(axis=1)
        rows = []
        for s in order:
            cells = [self.cell(b, self.strategies[s], delta) for b in range(len(self.bandits))]
            rows.append(
                Standing(
                    delta=delta,
                    strategy=self.strategies[s],
                    geometric_mean=float(geometric[0][s]),
                    geometric_mean_error=float(geometric[1][s]),
                    worst=float(worst[s]),
                    worst_error=float(worst_error[s]),
                    worst_bandit=self.bandits[where[s]].name,
                    tail=float(tails[0][s]),
                    tail_error=float(tails[1][s]),
                    difference=float(differences[0][s]),
                    run_error=float(differences[1][s]),
                    bandit_error=float(differences[2][s]),
                    below=int((ratios.means[:, s] < ratios.means[:, against]).sum()),
                    first=int((ratios.means[:, s] == least).sum()),
                    wrong=sum(cell.errors for cell in cells),
                    most_wrong=max(cell.errors for cell in cells),
                    cut_off=sum(cell.censored for cell in cells),
                    wrong_leaders=sum(cell.wrong_leaders or 0 for cell in cells),
                    runs=sum(cell.runs for cell in cells),
                )
            )
        return rows

    @cached_property
    def groups(self) -> dict[str, tuple[int, ...]]:
        """The numbers of the bandits of each group; all first groups of a bandit, then all second ones."""
        most = max(len(bandit.groups) for bandit in self.bandits)
        names = dict.fromkeys(
            one for i in range(most) for bandit in self.bandits for one in bandit.groups[i : i + 1]
        )
        return {name: tuple(i for i, b in enumerate(self.bandits) if name in b.groups) for name in names}

    def by_group(self, delta: float) -> dict[str, dict[str, float]]:
        """For each strategy the geometric mean of its ratios within each group."""
        logs = np.log(self._ratios[delta].values)
        return {
            name: {group: float(np.exp(logs[list(which), s].mean())) for group, which in self.groups.items()}
            for s, name in enumerate(self.strategies)
        }

    def profile(self, delta: float, factors: Sequence[float] = FACTORS) -> dict[str, list[float]]:
        """For each strategy the share of bandits on which it takes at most so many times the least."""
        shares = self._ratios[delta].within(np.asarray(factors, dtype=np.float64))
        return {name: shares[s].tolist() for s, name in enumerate(self.strategies)}

    def ratios(self, delta: float) -> dict[str, list[float]]:
        """For each strategy its ratio on every bandit."""
        values = self._ratios[delta].values
        return {name: values[:, s].tolist() for s, name in enumerate(self.strategies)}

    def per_bandit(self) -> list[dict[str, Any]]:
        """One plain record per risk, bandit and strategy."""
        rows = []
        for delta in self.deltas:
            ratios = self._ratios[delta]
            for b, bandit in enumerate(self.bandits):
                for s, name in enumerate(self.strategies):
                    cell = self.cell(b, name, delta)
                    rows.append(
                        {
                            "delta": delta,
                            "bandit": bandit.name,
                            "arms": bandit.num_arms,
                            "strategy": name,
                            "mean_samples": cell.mean_samples,
                            "standard_error": cell.standard_error,
                            "quantile_0.95": cell.quantiles((TAIL,))[TAIL],
                            "ratio": float(ratios.values[b, s]),
                            "ratio_error": float(ratios.errors[b, s]),
                            "errors": cell.errors,
                            "censored": cell.censored,
                            "wrong_leaders": cell.wrong_leaders,
                            "runs": cell.runs,
                        }
                    )
        return rows

    def losses(self, delta: float) -> list[Loss]:
        """Where the reference is not the best by more than two standard errors, the largest loss first."""
        ratios, name = self._ratios[delta], self.reference_at(delta)
        s, best = self.strategies.index(name), ratios.means.argmin(axis=1)
        found = [
            Loss(
                bandit.name, float(ratios.values[b, s]), float(ratios.errors[b, s]), self.strategies[best[b]]
            )
            for b, bandit in enumerate(self.bandits)
            if ratios.values[b, s] - 1.0 > 2.0 * ratios.errors[b, s]
        ]
        return sorted(found, key=lambda loss: -loss.ratio)

    def movement(self, strategy: str) -> tuple[float, float]:
        """How much target and pulls of a strategy move per 1000 samples, on average over bandits, or NaN."""
        found = [(one.target, one.pulls) for one in self.movements if one.strategy == strategy]
        target, pulls = np.mean(found or [(np.nan, np.nan)], axis=0).tolist()
        return target, pulls

    # -- for programs ----------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain values: settings, the table, ratios by group, the profile, every bandit, movement, notes."""
        found = {
            "settings": self.settings,
            "complete": self.complete,
            "standings": [asdict(row) for row in self.standings],
            "groups": [{"delta": delta, "geometric_means": self.by_group(delta)} for delta in self.deltas],
            "losses": [{"delta": d} | loss._asdict() for d in self.deltas for loss in self.losses(d)],
            "profile": [
                {"delta": delta, "factors": list(FACTORS), "shares": self.profile(delta)}
                for delta in self.deltas
            ],
            "bandits": self.per_bandit(),
            "movements": [asdict(one) for one in self.movements],
            "notes": self.notes(),
        }
        return {key: plain(value) for key, value in found.items()}

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """`to_dict` as text; optionally into a file, whole or not at all."""
        return _written(json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n", path)

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """`per_bandit` as comma-separated values; optionally into a file, whole or not at all."""
        return _written(csv_text(self.per_bandit()), path)

    def to_frame(self) -> Any:
        """`per_bandit` as a pandas DataFrame; needs pandas."""
        return frame(self.per_bandit())

    # -- for people ------------------------------------------------------------------------------------

    def table(self) -> Table:
        """Header and rows of the standings."""
        return tables.standings(self)

    def order(self, delta: float) -> list[str]:
        """The strategies in the order of the standings at one risk."""
        return [row.strategy for row in self.standings if row.delta == delta]

    def reference_at(self, delta: float) -> str:
        """The strategy to which differences are given at one risk."""
        return self.reference or self.order(delta)[0]

    def notes(self) -> list[str]:
        """What a reader of the table must know."""
        return tables.notes(self)

    def __repr__(self) -> str:
        return "\n".join([*aligned(*self.table()), *self.notes()])

    def _repr_html_(self) -> str:
        return html_table(*self.table())

    def plot(self, delta: float | None = None) -> Any:
        """The performance profile as a Matplotlib figure; needs truebest[plots].

        Parameters
        ----------
        delta
            one of the risks, by default the first
        """
        risk = self.deltas[0] if delta is None else delta
        if risk not in self.deltas:
            raise InvalidInputError(
                f"delta must be one of the risks that were compared, {list(self.deltas)}, got {delta!r:.60}; "
                f"leave it out for the first."
            )
        ratios = self.ratios(risk)
        return profile.draw({name: ratios[name] for name in self.order(risk)})

    def save_html(self, path: str | os.PathLike[str]) -> None:
        """One page with all of it, which needs no network; the picture is in it if Matplotlib is there."""
        from .page import page

        write_whole(path, page(self))


def _written(text: str, path: str | os.PathLike[str] | None) -> str:
    if path is not None:
        write_whole(path, text)
    return text
