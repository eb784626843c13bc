"""What an experiment is: fixed when it is created, stored with it, checked when it is taken up again."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any

import numpy as np

from .. import _door, strategies
from ..errors import InvalidInputError, StoreError
from ..strategies import CustomStrategy, Strategy, find_strategy
from ..theory.stopping import RULES, StoppingRule, stopping_rule
from .names import check_name
from .values import refuse_distant

DECISIONS = 1  # raised whenever the same results would be judged otherwise than before
DEFAULT_STRATEGY = "tas-c"  # docs/decisions/0003-default-strategy.md has the measurement
DEFAULT_LEASE = 3600.0
ORDERS = ("ask", "arrival")
LONGEST = 3.2e9  # seconds: a third of what locks can wait for where a pointer has 64 bits


@dataclass(frozen=True)
class Settings:
    """arms, delta, scale, strategy, rule, and what else decides how results are judged.

    sigma        sub-Gaussian scale of one value: given, or half the width of `bounds`
    bounds       (lo, hi) that every value must respect, or None
    strategy     None where the stored one is the user's own and was not handed in: then nothing is chosen
    minimize     whether the smallest mean is the best
    order        in which results count: "ask", or "arrival" if durations do not depend on values
    seed         of the pulls' seeds and of the strategy's own draws
    lease        seconds until an unanswered pull is issued again, None for never
    about        what each arm is, in the order of the arms, or None
    """

    arms: tuple[str, ...]
    delta: float
    sigma: float
    bounds: tuple[float, float] | None
    strategy: Strategy | None
    strategy_record: dict[str, Any]
    stopping: StoppingRule
    minimize: bool
    order: str
    seed: int
    lease: float | None
    about: tuple[str, ...] | None

    @property
    def strategy_name(self) -> str:
        """What tables call it."""
        return self.strategy.name if self.strategy else str(self.strategy_record["custom"])

    @property
    def level(self) -> float:
        """The rule's level for these arms and this risk."""
        return self.stopping.level(len(self.arms), self.delta)

    def allows(self, value: float) -> bool:
        """Whether a value respects the bounds, if there are any."""
        return self.bounds is None or self.bounds[0] <= value <= self.bounds[1]

    def to_record(self) -> dict[str, Any]:
        """As it is stored."""
        return {
            "decisions": DECISIONS,
            "arms": list(self.arms),
            "delta": self.delta,
            "bounds": None if self.bounds is None else list(self.bounds),
            "sigma": self.sigma,
            "strategy": self.strategy_record,
            "stopping": {"name": self.stopping.name, "parameters": asdict(self.stopping)},  # type: ignore[call-overload]
            "minimize": self.minimize,
            "order": self.order,
            "seed": self.seed,
            "lease": self.lease,
            "about": None if self.about is None else list(self.about),
        }


def make_settings(
    arms: Iterable[str],
    delta: float,
    sigma: float | None,
    bounds: tuple[float, float] | None,
    strategy: str | Strategy,
    stopping: str | StoppingRule,
    minimize: bool,
    order: str,
    seed: int | None,
    lease: float | None,
    about: Mapping[str, str] | None,
) -> Settings:
    """Check everything that a new experiment is given."""
    names = _arms(arms)
    scale, ends = _scale(sigma, bounds)
    chosen = find_strategy(strategy)
    return Settings(
        arms=names,
        delta=_door.delta(delta),
        sigma=scale,
        bounds=ends,
        strategy=chosen,
        strategy_record=_describe(chosen, strategy),
        stopping=_known_rule(stopping),
        minimize=_flag("minimize", minimize),
        order=_door.choice("order", order, ORDERS),
        seed=secrets.randbits(53) if seed is None else _seed(seed),
        lease=None if lease is None else seconds("lease", lease),
        about=None if about is None else tuple(str(about.get(arm, "")) for arm in names),
    )


def read_settings(record: dict[str, Any], strategy: Strategy | None = None) -> Settings:
    """Settings as they were stored; a strategy of the user's own must be handed in."""
    if record.get("decisions") != DECISIONS:
        raise StoreError(
            f"the experiment was made with rules of version {record.get('decisions')}, and this bestarm has "
            f"version {DECISIONS}; take it up with the bestarm that made it."
        )
    rule = record["stopping"]
    return Settings(
        arms=tuple(record["arms"]),
        delta=record["delta"],
        sigma=record["sigma"],
        bounds=None if record["bounds"] is None else tuple(record["bounds"]),
        strategy=_restore(record["strategy"], strategy),
        strategy_record=record["strategy"],
        stopping=type(RULES[rule["name"]])(**rule["parameters"]),
        minimize=record["minimize"],
        order=record["order"],
        seed=record["seed"],
        lease=record["lease"],
        about=None if record["about"] is None else tuple(record["about"]),
    )


def refuse_difference(name: str, stored: dict[str, Any], given: dict[str, Any], ignored: set[str]) -> None:
    """Refuse to take up an experiment with other settings than its own, but for those ignored."""
    for key, value in stored.items():
        if key not in ignored and given[key] != value:
            raise InvalidInputError(
                f"experiment {name!r} exists with {key} {_shown(value)}, got {_shown(given[key])}; take it "
                f"up with its own settings, or give another name to a new one."
            )


def _arms(given: Iterable[str]) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInputError(
            f"arms must be a list of names, got {_door.short(given)}; give at least two, "
            f"such as ['old', 'new']."
        )
    names = tuple(check_name("the name of an arm", name) for name in given)
    if len(names) < 2:
        raise InvalidInputError(
            f"arms must be at least two, got {len(names)}; with fewer there is nothing to choose between."
        )
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InvalidInputError(f"the names of the arms must differ, got {name!r} twice; rename one.")
        seen.add(name)
    return names


def _scale(
    sigma: float | None, bounds: tuple[float, float] | None
) -> tuple[float, tuple[float, float] | None]:
    """The sub-Gaussian scale: given, or (hi - lo)/2 by Hoeffding's lemma."""
    if (sigma is None) == (bounds is None):
        raise InvalidInputError(
            f"give either sigma= (the known standard deviation, or sub-Gaussian scale, of one value) or "
            f"bounds=(lo, hi) that every value respects, got {'neither' if sigma is None else 'both'}; "
            f"without a scale nothing can be promised."
        )
    if sigma is not None:
        return _door.scale(_door.sigma(sigma)), None
    try:
        if isinstance(bounds, str | bytes):
            raise TypeError
        low, high = (float(x) for x in bounds)  # type: ignore[union-attr]
        if not (np.isfinite(low) and np.isfinite(high) and low < high and np.isfinite(high - low)):
            raise ValueError
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"bounds must be (lo, hi) with lo < hi, both finite, got {_door.short(bounds)}; every value must "
            f"lie between them, such as (0, 1) for a score or a success."
        ) from None
    scale = _door.scale((high - low) / 2.0)
    refuse_distant("bounds", max(abs(low), abs(high)), scale)
    return scale, (low, high)


def _known_rule(given: str | StoppingRule) -> StoppingRule:
    rule = stopping_rule(given)
    if rule.name not in RULES or type(rule) is not type(RULES[rule.name]):
        raise InvalidInputError(
            f"stopping must be one of bestarm's own rules, got {_door.short(given)}; a live experiment "
            f"must be able to find it again, for instance 'mixture'."
        )
    return rule


def _describe(strategy: Strategy, given: str | Strategy) -> dict[str, Any]:
    """How to find a strategy again: its class and parameters, its entry point, or its name alone."""
    kind = type(strategy).__name__
    if getattr(strategies, kind, None) is type(strategy) and not isinstance(strategy, CustomStrategy):
        assert is_dataclass(strategy)
        return {"class": kind, "parameters": asdict(strategy)}
    record = {"installed": given} if isinstance(given, str) else {"custom": strategy.name}
    return {**record, "stops_itself": strategy.stops_itself}


def _restore(record: dict[str, Any], given: Strategy | None) -> Strategy | None:
    if "custom" in record:
        if given is not None and given.name != record["custom"]:
            raise InvalidInputError(
                f"the experiment was made with the strategy {record['custom']!r}, got {given.name!r}; "
                f"hand in that one."
            )
        return given
    found = None
    if "installed" in record:
        found = find_strategy(record["installed"])
    elif "class" in record:
        parameters = {k: tuple(v) if isinstance(v, list) else v for k, v in record["parameters"].items()}
        found = getattr(strategies, record["class"])(**parameters)
    if given is not None and found != given:
        raise InvalidInputError(
            f"the experiment was made with the strategy {getattr(found, 'name', found)!r}, got "
            f"{given.name!r}; leave the strategy out."
        )
    return found


def _flag(name: str, value: bool) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise InvalidInputError(f"{name} must be True or False, got {_door.short(value)}; choose one.")
    return bool(value)


def _seed(value: int) -> int:
    return _door.whole("seed", value, 0, 2**53, "any number will do, and the same one gives the same asks")


def seconds(name: str, value: float) -> float:
    """A positive time that every platform can wait for."""
    number = _door.scalar(name, value)
    if not 0.0 < number <= LONGEST:
        raise InvalidInputError(
            f"{name} must be positive and at most {LONGEST:g} seconds (a hundred years), got {number:g}; for "
            f"no limit give None."
        )
    return number


def _shown(value: object) -> str:
    if not isinstance(value, dict):
        return _door.short(value)
    name = value.get("class") or value.get("name") or value.get("installed") or value.get("custom")
    parameters = ", ".join(f"{key}={item}" for key, item in value.get("parameters", {}).items())
    return f"{name}({parameters})" if parameters else str(name)
