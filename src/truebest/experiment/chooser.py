"""What to sample next: the strategy of an experiment, and all that it remembers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidInputError
from ..kernels._types import Array
from ..kernels.claims import allowed
from ..kernels.layout import PULLS, SQUARES
from ..kernels.random import open_stream
from ..kernels.tracking import leading_arm, least_pulled
from ..strategies._admit import kernel_of, raised_by
from .bodies import Bodies
from .settings import Settings

_PLAIN = ("chosen", "called", "last")


class Chooser:
    """Calls the strategy.

    asked    pulls as the strategy sees them: with those that are out
    memory   (rows, K), the strategy's own; `random` is its stream
    chosen   an action that has not become a pull yet
    called   whether the strategy was called before
    last     the arm asked last
    changed  the arms that are not as the strategy saw them last
    """

    def __init__(self, settings: Settings) -> None:
        self.settings, K = settings, len(settings.arms)
        strategy = settings.strategy
        self.select = kernel_of(strategy) if strategy else None
        self.asked = np.zeros(K)
        self.memory = np.zeros((strategy.memory_rows(K) if strategy else 0, K))
        self.random = np.zeros(2, np.uint64)
        with np.errstate(over="ignore"):
            open_stream(np.uint64(settings.seed), np.uint64(0), np.uint64(K), self.random)
        self.chosen: int | None = None
        self.called = False
        self.last = -1
        self.changed: set[int] = set()

    def copy(self) -> Chooser:
        """A copy, which may go its own way."""
        twin = Chooser.__new__(Chooser)
        twin.__dict__.update(self.__dict__)
        twin.asked, twin.memory, twin.random = self.asked.copy(), self.memory.copy(), self.random.copy()
        twin.changed = self.changed.copy()
        return twin

    def count(self, arm: int, pulls: float) -> None:
        """So many more pulls of an arm, or another value of it."""
        self.asked[arm] += pulls
        self.changed.add(arm)

    def all_changed(self) -> None:
        """All means have moved."""
        self.changed.update(range(self.asked.size))

    def forget(self) -> None:
        """Begin again, with what is known now."""
        self.memory[:], self.called, self.chosen = 0.0, False, None

    def choose(self, bodies: Bodies) -> int:
        """The strategy's next action; the same until it has become a pull.

        Every arm is pulled once at first. Until each has a value, the arm with the fewest pulls is next.
        """
        strategy = self.settings.strategy
        if strategy is None or self.select is None:
            raise InvalidInputError(
                f"the experiment was created with a user's own strategy, {self.settings.strategy_name!r}; "
                f"pass it: Experiment.open(store, name, strategy=...)."
            )
        if self.chosen is None:
            rarest = least_pulled(self.asked)
            told = bodies.told
            if self.asked[rarest] == 0.0 or told[least_pulled(told)] == 0.0:
                self.chosen = rarest
        if self.chosen is None:
            alone = self.called and self.changed <= {self.last}
            last, seen = self.last if alone else -1, self.seen(bodies)
            leader, t = leading_arm(seen), float(np.add.reduce(self.asked))
            given = (t, last, leader, seen, bodies.params.copy(), self.memory, self.random)
            with np.errstate(all="ignore"), raised_by(strategy):
                self.chosen = allowed(bodies.params, seen, int(self.select(*given)))
            self.called, self.changed = True, set()
            self._refuse_bad(strategy.name, strategy.stops_itself, self.chosen)
        return self.chosen

    def seen(self, bodies: Bodies) -> Array:
        """What the strategy sees: all results, and the pulls that are out, as if they varied alike."""
        seen = bodies.seen()
        seen[SQUARES] *= self.asked / seen[PULLS]
        seen[PULLS] = self.asked
        return seen

    def _refuse_bad(self, name: str, stops_itself: bool, action: int) -> None:
        K = len(self.settings.arms)
        if K <= action < 2 * K and not stops_itself:
            raise InvalidInputError(
                f"the strategy {name!r} returned a stop, which is allowed only with stops_itself=True, in "
                f"place of the stopping rule; set that, or return an arm."
            )
        if not -K <= action < 2 * K:
            raise InvalidInputError(
                f"the strategy {name!r} returned {action}; it must return an arm from 0 to {K - 1}, ~arm to "
                f"skip the check for stopping, or {K} + arm to stop if it has stops_itself=True."
            )

    # -- snapshots -------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """What must be kept, as JSON can hold it."""
        return {
            **{name: getattr(self, name) for name in _PLAIN},
            "asked": self.asked.tolist(),
            "memory": self.memory.tolist(),
            "random": self.random.tolist(),
            "changed": sorted(self.changed),
        }

    def restore(self, data: dict[str, Any]) -> None:
        """What `to_dict` gave, bit for bit; ValueError if it is another strategy's."""
        memory = np.array(data["memory"], np.float64).reshape(-1, self.asked.size)
        if self.settings.strategy is not None and memory.shape != self.memory.shape:
            raise ValueError("a snapshot without the strategy's memory")
        self.asked, self.memory = np.array(data["asked"], np.float64), memory
        self.random, self.changed = np.array(data["random"], np.uint64), set(data["changed"])
        for name in _PLAIN:
            setattr(self, name, data[name])
