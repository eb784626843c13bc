"""The paired design: rounds in which every arm in the race is evaluated on the same item.

Values on one item go up and down together, and their differences vary far less than the values themselves. In
which order items are taken follows from the experiment's seed alone; `kernels/paired.py` has the rule.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .. import _door
from .._door import Array
from .._former_name import FORMER_NAME
from ..errors import InvalidInputError
from ..kernels import paired
from ..kernels._types import Indices

MOST_ITEMS = 10**7
MOST_ARMS = 200  # every pair of arms has sums of its own
FAILURES = ("repeat", "worst")
LOSS = "loss"  # where only wins count, a failure may count as one


@dataclass(frozen=True)
class Paired:
    """Rounds on common items.

    items     how many there are, if they are a closed set of which each is used once, in random order; None
              for an unlimited source, from which every round draws an item of its own
    failures  what becomes of a value that an arm does not give: "repeat" asks for it again; "worst" takes
              what is worst for whatever is claimed; a number is the value that counts in its place
    digest    a hash of the items; "" if only their number is known
    wins      whether only who was better counts, not by how much; failures may then be "loss", too
    direct    with wins: whether it may be found that no arm wins against all others
    """

    items: int | None = None
    failures: str | float = "repeat"
    digest: str = ""
    wins: bool = False
    direct: bool = False

    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if self.items is not None:
            object.__setattr__(self, "items", _door.whole("items", self.items, 1, MOST_ITEMS, _ADVICE))
        if isinstance(self.failures, str):
            if self.failures not in FAILURES and not (self.wins and self.failures == LOSS):
                raise InvalidInputError(
                    f"failures must be 'repeat', 'worst' or the value that a failure counts as, or 'loss' "
                    f"if arms are compared by wins, got {_door.short(self.failures)}; 'repeat' asks for the "
                    f"same value again."
                )
        else:
            object.__setattr__(self, "failures", _door.scalar("failures", self.failures))

    def share(self, num_arms: int, tolerance: float) -> float:
        """The weight of the comparator: a declared tolerance rests on pairs, and two arms are a pair."""
        return 0.0 if num_arms < 3 or self.direct else 0.25 if tolerance > 0.0 else 0.75

    def parameters(self, num_arms: int, delta: float, tolerance: float = 0.0) -> Array:
        """What the kernels are told; the tolerance for values in [0, 1], or with wins as a part of the best.

        A wrong statement about who wins against all needs one of K fixed pairs, about the best of means one
        of K - 1.
        Raises  InvalidInputError for too many arms
        """
        if num_arms > MOST_ARMS:
            raise InvalidInputError(
                f"at most {MOST_ARMS} arms can share items, got {num_arms}; every pair of arms is compared, "
                f"so choose among parts of them first."
            )
        share = self.share(num_arms, tolerance)
        params = np.zeros(paired.PARAMS)
        params[paired.LEVEL] = -math.log(delta)
        params[paired.PAIR_LEVEL] = math.log((num_arms - 1.0) / (1.0 - share)) - math.log(delta)
        params[paired.SHARE], params[paired.TOLERANCE] = share, tolerance
        params[paired.ITEMS] = math.inf if self.items is None else self.items
        if self.wins:
            params[paired.WINS], params[paired.TOLERANCE] = 1.0, 0.0
            params[paired.RATIO] = 1.0 + tolerance if tolerance > 0.0 else 0.0
            params[paired.ROUNDING] = 1e-14
        if self.direct:
            params[paired.DIRECT] = 1.0
            params[paired.LEVEL] = params[paired.PAIR_LEVEL] = math.log(num_arms) - math.log(delta)
        return params

    @staticmethod
    def blank(num_arms: int) -> tuple[Array, Array]:
        """Pairs and arms before the first round."""
        return np.zeros((paired.PAIR_ROWS, num_arms**2)), np.zeros((paired.ARM_ROWS, num_arms))


def rounds_needed(params: Array, pairs: Array, arms: Array, leader: int, race: list[int]) -> list[float]:
    """How many rounds each arm will have had in the end, if differences go on as they did.

    The evidence of the best bet on the leader against arm i grows by its rate in every round; mixtures fall
    short of it by about 1.4 nats. What is left of a closed set shortens the way.
    """
    level = params[paired.LEVEL] + 1.4 - math.log(params[paired.SHARE] or 1.0)
    needed, items = [float(n) for n in arms[paired.ROUNDS]], float(params[paired.ITEMS])
    for i in race:
        if i != leader:
            rate = paired.best_rate(pairs, arms, leader, i)
            tau = level / rate if rate > 0.0 else math.inf
            needed[i] = max(tau / (1.0 + tau / items) if tau < math.inf else items, max(arms[paired.ROUNDS]))
    needed[leader] = max(n for i, n in enumerate(needed) if i != leader)
    return needed


_ADVICE = "it is how many items there are, each of which is used once at most"


def shuffled(count: int, *key: int | str) -> Indices:
    """0 ... count-1 in an order that looks random and follows from the key, on every machine and for ever.

    Numerics: sorted by 64 bits of SHAKE-128 each; two of a million are equal with probability 3e-8.
    """
    text = "/".join(map(str, (FORMER_NAME, *key)))  # for ever: stored experiments continue in this order
    words = np.frombuffer(hashlib.shake_128(text.encode()).digest(8 * count), np.dtype("<u8"))
    order: Indices = np.argsort(words, kind="stable").astype(np.int64)
    return order
