"""Strategies: which arm to pull next. One file each; `finding` finds a strategy by its name.

To add one: a file with a kernel and a frozen dataclass (`uniform.py` is the shortest), an entry in the
table `STRATEGIES` of `truebest/_catalogue.py`, an entry in `tests/contracts/`. Third-party packages register
theirs under the entry point group "truebest.strategies"; a user's own function becomes a strategy with
`truebest.strategy`.
"""

from __future__ import annotations

from ._base import Strategy
from .best_challenger import BestChallenger
from .custom import CustomStrategy, strategy
from .custom_rule import CustomRule, Stopped, stopped_by, stopping_rule
from .ebs import EBS
from .finding import find_strategies, find_strategy, strategy_names
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
    "CustomRule",
    "CustomStrategy",
    "FrankWolfe",
    "OpenEBS",
    "Racing",
    "Stopped",
    "Strategy",
    "TopTwo",
    "TrackAndStop",
    "Uniform",
    "find_strategies",
    "find_strategy",
    "stopped_by",
    "stopping_rule",
    "strategy",
    "strategy_names",
]
