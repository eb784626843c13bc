"""The model, the strategy and the stopping rule of an experiment: how they are stored, and found again."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from .. import _args
from .._catalogue import MODELS, STRATEGIES
from ..designs import Ordered
from ..errors import InvalidInputError, StoreError, TruebestError
from ..strategies import Strategy, find_strategy
from ..theory.models import Bounded, Gaussian, Model, Values, find_model, refuse_distant
from ..theory.stopping import StoppingRule, find_rule, rules

Ends = tuple[float, float]
ROUNDS = "rounds"  # the name of strategy and rule in rounds on common items, where there is no choice


class Chosen(NamedTuple):
    """A strategy, None where it is the user's own and was not passed again; and how it is stored."""

    strategy: Strategy | None
    record: dict[str, Any]

    @property
    def name(self) -> str:
        """What tables call it."""
        return self.strategy.name if self.strategy else str(self.record.get("custom", ROUNDS))

    @property
    def missing(self) -> bool:
        """Whether it is the user's own and was not passed again."""
        return self.strategy is None and "custom" in self.record

    @property
    def stops_itself(self) -> bool:
        """Whether it decides when to stop: as it was when the experiment was created."""
        own = self.strategy is not None and self.strategy.stops_itself
        return bool(self.record.get("stops_itself", own))

    @property
    def open_only(self) -> bool:
        """Whether the rule settles arms for it: as it was when the experiment was created."""
        own = self.strategy is not None and self.strategy.open_only
        return bool(self.record.get("open_only", own))

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
            self._refuse_other_stop(given, InvalidInputError)
            return Chosen(given, self.record)
        if self.strategy not in (given, given.once()):
            raise InvalidInputError(
                f"the experiment was created with the strategy {self.name!r}, got {given.name!r}; leave "
                f"the strategy out."
            )
        return self

    def _refuse_other_stop(self, given: Strategy, error: type[TruebestError]) -> None:
        """Refuse one that decides when to stop where the stored one did not, or the other way round."""
        if given.stops_itself != self.record.get("stops_itself", given.stops_itself):
            words = ("does", "did not") if given.stops_itself else ("does not", "did")
            raise error(
                f"the strategy {given.name!r} {words[0]} stop by itself, and the one that the experiment was "
                f"created with {words[1]}; use the strategy as it was then, or create another experiment"
            )


def same_strategy(given: Chosen, own: Chosen) -> bool:
    """Whether a stored strategy is a given one of truebest's own, as that is or as it was once."""
    one = given.strategy
    return one is not None and own.strategy is not None and own.strategy in (one, one.once())


IN_ROUNDS = Chosen(None, {"class": ROUNDS, "parameters": {}})


def choose_strategy(given: str | Strategy) -> Chosen:
    """By name or as an object; stored by its class and parameters, its entry point, or its name alone."""
    strategy = find_strategy(given)
    kind = type(strategy).__name__
    if _own_strategy(kind) is type(strategy):
        return Chosen(strategy, {"class": kind, "parameters": _parameters(strategy)})
    record: dict[str, Any] = {"custom": strategy.name} if not isinstance(given, str) else {"installed": given}
    record["stops_itself"] = strategy.stops_itself
    return Chosen(strategy, {**record, "open_only": True} if strategy.open_only else record)


def recall_strategy(record: dict[str, Any]) -> Chosen:
    """As it was stored."""
    if "custom" in record or record == IN_ROUNDS.record:
        return Chosen(None, record)
    if "installed" in record:
        found = Chosen(find_strategy(record["installed"]), record)
        assert found.strategy is not None
        found._refuse_other_stop(found.strategy, StoreError)
        return found
    kind, parameters = record["class"], record["parameters"]
    try:
        known = _own_strategy(kind)
        older = {} if known is None else known.older
        return Chosen(_made(known, {**older, **parameters}), record)
    except TypeError:
        raise StoreError(_unknown("strategy", repr(kind), parameters)) from None


def _own_strategy(kind: str) -> Any:
    """The class of that name among truebest's own strategies, None for none."""
    entry = next((entry for entry in STRATEGIES.values() if entry.kind == kind), None)
    return None if entry is None else entry.load()


def choose_model(bounds: Any, sigma: Any, model: str | Model | None, arms: tuple[str, ...]) -> Model:
    """What is assumed of a value; a sub-Gaussian scale and bounds are short for models."""
    given = [
        name for name, one in (("sigma=", sigma), ("bounds=", bounds), ("model=", model)) if one is not None
    ]
    if len(given) != 1:
        raise InvalidInputError(
            f"give one of sigma= (the known standard deviation, or sub-Gaussian scale, of one value), "
            f"bounds=(lo, hi) that every value respects, or model=, got {' and '.join(given) or 'none'}; "
            f"without a scale nothing can be promised, unless values are Gaussian: model=truebest.Student()."
        )
    model = None if model is None else find_model(model)
    if sigma is not None:
        model = Gaussian(_per_arm(sigma, arms) if isinstance(sigma, Mapping) else _args.sigma(sigma))
    elif model is None:
        model = _bounded(bounds)
    elif type(model).__name__ not in MODELS or type(model) is not MODELS[type(model).__name__].load():
        raise InvalidInputError(
            f"model must be one of truebest's own, got {_args.short(model)}; choose from {', '.join(MODELS)}."
        )
    _args.scale(model.unit)
    model.variances(len(arms))  # refuses another number of arms
    if model.limits is not None and not model.needs_origin:
        refuse_distant("bounds", max(map(abs, model.limits)), model.unit)
    return model


def _per_arm(sigma: Mapping[str, float], arms: tuple[str, ...]) -> tuple[float, ...]:
    if set(sigma) != set(arms):
        raise InvalidInputError(
            f"sigma must have a number for each arm, got {', '.join(map(str, sigma)) or 'none'} for the arms "
            f"{', '.join(arms)}; name every arm once, or give one number for all."
        )
    return tuple(sigma[arm] for arm in arms)


def _bounded(bounds: Any) -> Bounded:
    try:
        if isinstance(bounds, str | bytes):
            raise TypeError
        return Bounded(*bounds)
    except TypeError:
        raise InvalidInputError(
            f"bounds must be (lo, hi) with lo < hi, both finite, got {_args.short(bounds)}; every value must "
            f"lie between them, such as (0, 1) for a score or a success."
        ) from None


def values_record(values: Values) -> tuple[Ends | None, float | None, dict[str, Any] | None]:
    """As they are stored: bounds, sigma if it is known, and the model itself unless these say it all."""
    bounds = None if values.needs_origin else values.limits
    short = not values.needs_origin and recall_values(bounds, values.unit, None) == values
    named = None if short else {"class": type(values).__name__, "parameters": _parameters(values)}
    return bounds, values.unit if math.isfinite(values.smallest_scale) else None, named


def recall_values(bounds: Sequence[float] | None, sigma: float, model: dict[str, Any] | None) -> Values:
    """As they were stored; version 0.1 stored bounds and sigma."""
    if model is None:
        return Gaussian(sigma) if bounds is None else Bounded(bounds[0], bounds[1])
    kind, parameters = model["class"], model["parameters"]
    try:
        known = Ordered if kind == Ordered.__name__ else MODELS[kind].load()
        found: Values = _made(known, parameters)
    except (KeyError, TypeError):
        raise StoreError(_unknown("model", repr(kind), parameters)) from None
    return found


def _parameters(given: Any) -> dict[str, Any]:
    """The parameters of a dataclass, for JSON."""
    return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(given).items()}


def _made(kind: Any, parameters: dict[str, Any]) -> Any:
    """The inverse; TypeError if the class has no such parameters, or there is none."""
    return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in parameters.items()})


def choose_rule(given: str | StoppingRule) -> StoppingRule:
    """One of truebest's own, by name or as an object."""
    rule = find_rule(given)
    if type(rule) is not type(rules().get(rule.name)):
        raise InvalidInputError(
            f"stopping must be one of truebest's own rules, got {_args.short(given)}; a live experiment "
            f"must be able to find it again, for instance 'mixture'."
        )
    return rule


def rule_record(rule: StoppingRule | None) -> dict[str, Any]:
    """As it is stored; None for rounds, whose items say by which version of the rule they are judged."""
    if rule is None:
        return {"name": ROUNDS, "parameters": {}}
    parameters = asdict(rule)  # type: ignore[call-overload]
    return {"name": rule.name, "version": rule.version, "parameters": parameters}


def recall_rule(record: dict[str, Any]) -> StoppingRule | None:
    """As it was stored; version 0.1 stored no version of a rule, which means 1."""
    if record["name"] == ROUNDS:
        return None
    name, version = record["name"], record.get("version", 1)
    kinds = [(rule.name, kind) for rule in rules().values() for kind in (type(rule), *rule.former)]
    known = {(one, kind.version): kind for one, kind in kinds}
    try:
        return known[name, version](**record["parameters"])
    except (KeyError, TypeError):
        raise StoreError(_unknown("rule", f"{name!r}, version {version}", record["parameters"])) from None


def same_rule(given: StoppingRule, stored: StoppingRule | None) -> bool:
    """Whether an experiment has that rule, of whichever version: it keeps the one that it began with."""
    return stored is not None and rule_record(given) == {**rule_record(stored), "version": given.version}


def _unknown(what: str, name: str, parameters: dict[str, Any]) -> str:
    words = ", ".join(f"{key}={value}" for key, value in parameters.items())
    return (
        f"the experiment was created with the {what} {name}{f', {words}' if words else ''}, which this "
        f"truebest does not know; resume it with the truebest that created it, or a newer one"
    )
