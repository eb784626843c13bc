"""Strategies: which arm to pull next. One file each; this one finds a strategy by its name.

To add one: a file with a kernel and a frozen dataclass (`uniform.py` is the shortest), an entry in the
table `STRATEGIES` of `bestarm/_catalogue.py`, an entry in `tests/contracts/`. Third-party packages register
theirs under the entry point group "bestarm.strategies"; a user's own function becomes a strategy with
`bestarm.strategy`.
"""

from __future__ import annotations

from importlib.metadata import entry_points

from .. import _door
from .._catalogue import STRATEGIES
from ..errors import InvalidInputError
from ._base import Strategy
from .best_challenger import BestChallenger
from .custom import CustomStrategy, strategy
from .ebs import EBS
from .frank_wolfe import FrankWolfe
from .lucb import LUCB
from .open_ebs import OpenEBS
from .racing import Racing
from .top_two import TopTwo
from .track_and_stop import TrackAndStop
from .uniform import Uniform

__all__ = [
    "EBS",
    "LUCB",
    "BestChallenger",
    "CustomStrategy",
    "FrankWolfe",
    "OpenEBS",
    "Racing",
    "Strategy",
    "TopTwo",
    "TrackAndStop",
    "Uniform",
    "find_strategy",
    "strategy",
    "strategy_names",
]

ENTRY_POINTS = "bestarm.strategies"


def strategy_names() -> list[str]:
    """The names that `find_strategy` knows: the built-in ones, then those of installed packages."""
    return [*STRATEGIES, *sorted(set(entry_points(group=ENTRY_POINTS).names) - set(STRATEGIES))]


def find_strategy(given: str | Strategy) -> Strategy:
    """A strategy by its name; a strategy itself is returned as it is."""
    if isinstance(given, Strategy):
        return given
    if isinstance(given, str) and given in STRATEGIES:
        made: Strategy = STRATEGIES[given].make()
        return made
    if not isinstance(given, str):
        raise InvalidInputError(
            f"a strategy must be a name or a Strategy, got {given!r:.60}; construct one, or "
            f"turn your own function into one with @bestarm.strategy."
        )
    name = _door.choice("strategy", given, strategy_names())
    try:
        loaded = next(iter(entry_points(group=ENTRY_POINTS, name=name))).load()
        found = loaded() if isinstance(loaded, type) else loaded
    except Exception as error:
        raise InvalidInputError(
            f"the strategy {name!r} of an installed package cannot be loaded: "
            f"{type(error).__name__}: {error}; "
            f"fix or remove that package."
        ) from error
    if not isinstance(found, Strategy):
        raise InvalidInputError(
            f"the entry point {name!r} must give a bestarm Strategy, got {type(found).__name__}; "
            f"make it one with @bestarm.strategy."
        )
    return found
