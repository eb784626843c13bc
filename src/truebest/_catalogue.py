"""Strategies, stopping rules and models of values by name: all else that lists them is derived from here.

An entry says where a class is and how it is constructed, and is imported only when it is made, so that a
`--help` that lists the names loads no numerics. To add a strategy, a rule or a model, add an entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """What a name stands for.

    module     within truebest
    kind       the class
    arguments  with which it is constructed
    """

    module: str
    kind: str
    arguments: Mapping[str, object] = {}

    def load(self) -> Any:
        """The class."""
        return getattr(import_module(f"truebest.{self.module}"), self.kind)

    def make(self) -> Any:
        """The strategy or the rule."""
        return self.load()(**self.arguments)


STRATEGIES = {
    "ebs-c": Entry("strategies.ebs", "EBS", {"tracking": "C"}),
    "ebs-d": Entry("strategies.ebs", "EBS", {"tracking": "D"}),
    "ebs-open-equal": Entry("strategies.open_ebs", "OpenEBS", {"weights": "equal"}),
    "ebs-open-gaps": Entry("strategies.open_ebs", "OpenEBS", {"weights": "gaps"}),
    "ebs-open-need": Entry("strategies.open_ebs", "OpenEBS", {"weights": "need"}),
    "tas-c": Entry("strategies.track_and_stop", "TrackAndStop", {"tracking": "C"}),
    "tas-d": Entry("strategies.track_and_stop", "TrackAndStop", {"tracking": "D"}),
    "racing": Entry("strategies.racing", "Racing"),
    "lucb++": Entry("strategies.lucb", "LUCB"),
    "bc": Entry("strategies.best_challenger", "BestChallenger"),
    "t3c": Entry("strategies.top_two", "TopTwo", {"leader": "thompson"}),
    "t3c-ids": Entry("strategies.top_two", "TopTwo", {"leader": "thompson", "split": "ids"}),
    "ttts": Entry("strategies.top_two", "TopTwo", {"leader": "thompson", "challenger": "resampled"}),
    "eb-tci": Entry("strategies.top_two", "TopTwo", {"leader": "best", "challenger": "penalised"}),
    "ttucb": Entry("strategies.top_two", "TopTwo", {"leader": "ucb", "tracked": True}),
    "eb-tc-eps": Entry("strategies.top_two", "TopTwo", {"leader": "best", "slack": 0.1, "tracked": "pairs"}),
    "fws": Entry("strategies.frank_wolfe", "FrankWolfe"),
    "uniform": Entry("strategies.uniform", "Uniform"),
}
COMPARED = ("ebs-d", "tas-d", "racing", "lucb++", "uniform")  # by `truebest simulate`, if none is named
DEFAULT_STRATEGY = "ebs-open-need"  # of a live experiment; docs/decisions/0008-default-strategy.md
IN_TURN = "uniform"  # where another question is asked than which arm is best

STOPPING_RULES = {
    "practical": Entry("theory.stopping", "Practical"),
    "gk16": Entry("theory.stopping", "GK16"),
    "gk16-printed": Entry("theory.stopping", "GK16", {"printed": True}),
    "kaufmann-koolen": Entry("theory.stopping", "KaufmannKoolen"),
    "mixture": Entry("theory.mixture", "Mixture"),
    "tilt": Entry("theory.tilt", "Tilt"),
    "student": Entry("theory.student", "StudentRule"),
}
MODELS = {  # by class: their parameters are given
    "Gaussian": Entry("theory.models", "Gaussian"),
    "Bounded": Entry("theory.models", "Bounded"),
    "Bernoulli": Entry("theory.models", "Bernoulli"),
    "Poisson": Entry("theory.models", "Poisson"),
    "Exponential": Entry("theory.models", "Exponential"),
    "Student": Entry("theory.models", "Student"),
}
NAMED_MODELS = ("bernoulli", "poisson", "exponential", "student")  # those without parameters
DEFAULT_RULE = "tilt"  # of a live experiment: proven, and the cheapest of those that are
SIMULATED_RULE = "practical"  # of a simulation, as in the paper
FAMILY_RULE = "kaufmann-koolen"  # where that one cannot compute with the model
