"""The strategy and the stopping rule of an experiment: how they are stored, and found again."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from typing import Any, NamedTuple

from .. import _door, strategies
from ..errors import InvalidInputError, StoreError
from ..strategies import CustomStrategy, Strategy, find_strategy
from ..theory.stopping import RULES, StoppingRule, stopping_rule


class Chosen(NamedTuple):
    """A strategy, None where it is the user's own and was not passed again; and how it is stored."""

    strategy: Strategy | None
    record: dict[str, Any]

    @property
    def name(self) -> str:
        """What tables call it."""
        return self.strategy.name if self.strategy else str(self.record["custom"])

    def with_own(self, given: Strategy | None) -> Chosen:
        """With the strategy that the user passes again; any but the stored one is refused."""
        if given is None:
            return self
        if "custom" in self.record:
            if given.name != self.record["custom"]:
                raise InvalidInputError(
                    f"the experiment was created with the strategy {self.record['custom']!r}, got "
                    f"{given.name!r}; pass that one."
                )
            return Chosen(given, self.record)
        if self.strategy != given:
            raise InvalidInputError(
                f"the experiment was created with the strategy {self.name!r}, got {given.name!r}; leave "
                f"the strategy out."
            )
        return self


def choose_strategy(given: str | Strategy) -> Chosen:
    """By name or as an object; stored by its class and parameters, its entry point, or its name alone."""
    strategy = find_strategy(given)
    kind = type(strategy).__name__
    if getattr(strategies, kind, None) is type(strategy) and not isinstance(strategy, CustomStrategy):
        assert is_dataclass(strategy)
        parameters = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(strategy).items()}
        return Chosen(strategy, {"class": kind, "parameters": parameters})
    record = {"installed": given} if isinstance(given, str) else {"custom": strategy.name}
    return Chosen(strategy, {**record, "stops_itself": strategy.stops_itself})


def recall_strategy(record: dict[str, Any]) -> Chosen:
    """As it was stored."""
    if "custom" in record:
        return Chosen(None, record)
    if "installed" in record:
        return Chosen(find_strategy(record["installed"]), record)
    kind = getattr(strategies, record["class"], None)
    parameters = {k: tuple(v) if isinstance(v, list) else v for k, v in record["parameters"].items()}
    try:
        found: Strategy = kind(**parameters)  # type: ignore[misc]
    except TypeError:
        raise StoreError(_unknown("strategy", repr(record["class"]), parameters)) from None
    return Chosen(found, record)


def choose_rule(given: str | StoppingRule) -> StoppingRule:
    """One of bestarm's own, by name or as an object."""
    rule = stopping_rule(given)
    if rule.name not in RULES or type(rule) is not type(RULES[rule.name]):
        raise InvalidInputError(
            f"stopping must be one of bestarm's own rules, got {_door.short(given)}; a live experiment "
            f"must be able to find it again, for instance 'mixture'."
        )
    return rule


def rule_record(rule: StoppingRule) -> dict[str, Any]:
    """As it is stored."""
    parameters = asdict(rule)  # type: ignore[call-overload]
    return {"name": rule.name, "version": rule.version, "parameters": parameters}


def recall_rule(record: dict[str, Any]) -> StoppingRule:
    """As it was stored; version 0.1 stored no version of a rule, which means 1."""
    name, version = record["name"], record.get("version", 1)
    known = {(rule.name, rule.version): type(rule) for rule in RULES.values()}
    try:
        return known[name, version](**record["parameters"])
    except (KeyError, TypeError):
        raise StoreError(_unknown("rule", f"{name!r}, version {version}", record["parameters"])) from None


def _unknown(what: str, name: str, parameters: dict[str, Any]) -> str:
    words = ", ".join(f"{key}={value}" for key, value in parameters.items())
    return (
        f"the experiment was created with the {what} {name}{f', {words}' if words else ''}, which this "
        f"bestarm does not know; resume it with the bestarm that created it, or a newer one"
    )
