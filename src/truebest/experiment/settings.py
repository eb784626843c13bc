"""What an experiment is: fixed when it is created, stored with it, compared when it is resumed.

A setting is declared once, as a field of `Settings`: how it is checked, what a new experiment takes when it
is not given, how it is stored, and what a log without it means, written before there was such a setting. The
type of its argument is declared in `Shared`, for `Experiment.create`, `identify` and `aidentify`.
"""

from __future__ import annotations

import json
import operator
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any, TypedDict, Unpack

from .. import _args
from .._catalogue import DEFAULT_RULE, DEFAULT_STRATEGY, IN_TURN
from ..designs import COMPARED, MEANS, Design, Wins, kind_of
from ..designs.rounds import KNOWN_VERSION
from ..designs.units import ITEMS, Units, check_epochs, check_largest, check_weigh
from ..errors import InvalidInputError, StoreError, TruebestError
from ..questions import BEST, PerArm, Question, find_question, question_record, recall_question
from ..strategies import Strategy
from ..theory.models import Model, Values
from ..theory.stopping import StoppingRule
from .about import same_about
from .checks import (
    check_about,
    check_arms,
    check_budget,
    check_control,
    check_lease,
    check_order,
    check_question,
    check_seed,
    read_about,
    read_arms,
    read_lease,
)
from .choices import (
    IN_ROUNDS,
    ROUNDS,
    Chosen,
    choose_model,
    choose_rule,
    choose_strategy,
    recall_rule,
    recall_strategy,
    recall_values,
    rule_record,
    same_rule,
    same_strategy,
    values_record,
)
from .items import ItemSet, check_items, items_record, recall_items
from .known import Known, check_known, find_known, known_record, recall_known

DECISIONS = 3  # raised whenever the same results would be judged otherwise than before
NEWER_DECISIONS = 4  # as 3, where what is asked, or what a row is, must not be judged by a truebest of before
_RESTORE = "restore the store from a backup"
READ = (1, 2, 3, 4)  # 1 is that of version 0.1; what differs between them asks `Settings.decisions`
REQUIRED = object()  # the default of a setting that must be given


@dataclass(frozen=True)
class Setting:
    """Everything there is to know about one setting.

    arguments  by which it is given
    check      what was given, as it is kept, or a refusal
    default    what a new experiment takes, as it would be given; a function is called; REQUIRED for none
    keys       under which it is stored, if not by the names of its arguments
    write      what is kept, for JSON; a tuple, where there are several keys
    read       the inverse, of the values of all keys; without one, what is stored must pass the check
    older      key -> the stored value that a log without this key stands for
    fixed      whether any value but the experiment's own is refused; otherwise it is ignored
    same       whether what is given may be what is stored, both as they are kept
    per_arm    whether the check needs the arms, too
    nullable   whether None is a value, and does not mean "not given"
    """

    arguments: tuple[str, ...]
    check: Callable[..., Any]
    default: Any = REQUIRED
    keys: tuple[str, ...] = ()
    write: Callable[[Any], Any] = lambda value: value
    read: Callable[..., Any] | None = None
    older: Mapping[str, Any] = field(default_factory=dict)
    fixed: bool = True
    same: Callable[[Any, Any], bool] = operator.eq
    per_arm: bool = False
    nullable: bool = False

    def take(self, values: list[Any], arms: tuple[str, ...]) -> Any:
        """What is kept of the arguments."""
        return self.check(*values, arms) if self.per_arm else self.check(*values)

    def recall(self, values: list[Any], arms: tuple[str, ...]) -> Any:
        """What is kept, of what was stored."""
        return self.take(values, arms) if self.read is None else self.read(*values)

    def usual(self, arms: tuple[str, ...]) -> Any:
        """What a new experiment takes; if it must be given, the refusal of the check."""
        if self.default is REQUIRED:
            return self.take([None] * len(self.arguments), arms)
        return self.take([self.default() if callable(self.default) else self.default], arms)


def setting(*arguments: str, check: Callable[..., Any], **how: Any) -> dict[str, Setting]:
    """What a field of `Settings` carries along: its `Setting`."""
    return {"setting": Setting(arguments, check, **{"keys": arguments, **how})}


class Shared(TypedDict, total=False):
    """What `Experiment.create`, `identify` and `aidentify` take besides the arms and delta.

    What is left out, or None, is not given: a new experiment takes the default, an existing one its own.
    """

    sigma: float | Mapping[str, float] | None
    bounds: tuple[float, float] | None
    model: str | Model | None
    strategy: str | Strategy | None
    stopping: str | StoppingRule | None
    tolerance: float | None
    minimize: bool | None
    order: str | None
    items: Any
    known: Mapping[str, Any] | None
    proxies: Any
    cluster: str | Callable[[Any], Any] | None
    weigh: str | None
    largest: int | None
    failures: str | float | None
    compare: str | None
    direct: bool | None
    question: Question | None
    sampled: bool | None
    epochs: int | None
    about: Mapping[str, str] | None
    control: str | None


class Given(Shared, total=False):
    """What `Experiment.create` takes; here a lease of None is a value: never."""

    seed: int | None
    lease: float | None
    max_samples: int | None


NO_NEW_ARMS = (
    "arms cannot be added midway, as the promise is about those that it began with: begin a new experiment "
    "under another name, and give it the values that you have with observe, all of them, not chosen by value"
)


def _readable(version: Any) -> int:
    if version not in READ:
        raise StoreError(
            f"the experiment was created with version {version} of the rules, and this truebest knows "
            f"{', '.join(map(str, READ[:-1]))} and {READ[-1]}; resume it with the truebest that created it, "
            f"or a newer one"
        )
    return int(version)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """arms, delta, model, strategy, rule, and what else decides how results are judged.

    decisions    the version of the code by which results are judged: an experiment keeps its own
    values       what is assumed of a value; stored as bounds and sigma, if these say it all
    chosen       the strategy
    stopping     the rule; None in rounds, which have one of their own
    tolerance    how far below the best a declared arm may be, in the values' units
    minimize     whether the smallest mean is the best
    order        in which results count: "ask", or "arrival" if durations do not depend on values
    items        what all arms are evaluated on, in rounds; None for independent pulls
    known        the scores of arms that are not asked, on all items; None if all arms are
    failures     in rounds, what counts in the place of a value that an arm does not give
    compare      "means", or "wins" if only who was better counts in each round
    direct       with wins, whether it may be found that no arm wins against all others
    question     what is asked, if not which arm is best
    sampled      whether the items are a random sample, so that something holds for items like these
    weigh        where items are in clusters, what counts alike: "items" or "clusters"
    largest      the most items that any cluster can have, None if that is unknown
    epochs       how often each arm answers an item
    seed         of the pulls' seeds, of the order of items and of the strategy's own draws
    alarm        whether values that vary more than sigma allows suspend, where the model has a sigma
    max_samples  how many samples were to be taken at most, as far as that was known; the rule prepares for it
    lease        seconds until an unanswered pull is issued again, None for never
    about        what each arm is, in the order of the arms, or None
    control      the arm that the others are compared with, or None; no decision depends on it
    """

    decisions: int = field(
        metadata=setting(check=int, default=DECISIONS, keys=("decisions",), read=_readable)
    )
    arms: tuple[str, ...] = field(metadata=setting("arms", check=check_arms, read=read_arms))
    delta: float = field(metadata=setting("delta", check=_args.delta, default=0.05))
    values: Values = field(
        metadata=setting(
            *("bounds", "sigma", "model"),
            check=choose_model,
            write=values_record,
            read=recall_values,
            older={"model": None},
            per_arm=True,
        )
    )
    chosen: Chosen = field(
        metadata=setting(
            "strategy",
            check=choose_strategy,
            default=DEFAULT_STRATEGY,
            same=same_strategy,
            write=lambda chosen: chosen.record,
            read=recall_strategy,
        )
    )
    stopping: StoppingRule | None = field(
        metadata=setting(
            "stopping",
            check=choose_rule,
            default=DEFAULT_RULE,
            write=rule_record,
            read=recall_rule,
            same=same_rule,
        )
    )
    tolerance: float = field(
        metadata=setting("tolerance", check=_args.tolerance, default=0.0, older={"tolerance": 0.0})
    )
    minimize: bool = field(metadata=setting("minimize", check=partial(_args.flag, "minimize"), default=False))
    order: str = field(metadata=setting("order", check=check_order, default="ask"))
    items: ItemSet | None = field(
        metadata=setting(
            *("items", "cluster"),
            check=check_items,
            default=None,
            keys=("items",),
            write=items_record,
            read=recall_items,
            older={"items": None},
            same=lambda given, stored: stored is not None and stored.agrees(given),
        )
    )
    known: Known | None = field(
        metadata=setting(
            *("known", "proxies"),
            check=check_known,
            default=None,
            keys=("known",),
            write=known_record,
            read=recall_known,
            older={"known": None},
            same=lambda given, stored: given.agrees(stored),
        )
    )
    failures: str | float = field(
        metadata=setting(
            "failures",
            check=lambda given: Wins(failures=given).failures,
            default="repeat",
            older={"failures": "repeat"},
        )
    )
    compare: str = field(
        metadata=setting(
            "compare",
            check=lambda given: _args.choice("compare", given, COMPARED),
            default=MEANS,
            older={"compare": MEANS},
        )
    )
    direct: bool = field(
        metadata=setting(
            "direct", check=partial(_args.flag, "direct"), default=False, older={"direct": False}
        )
    )
    question: Question = field(
        metadata=setting(
            "question",
            check=check_question,
            default=BEST,
            per_arm=True,
            write=question_record,
            read=recall_question,
            older={"question": None},
        )
    )
    sampled: bool = field(
        metadata=setting(
            "sampled", check=partial(_args.flag, "sampled"), default=False, older={"sampled": False}
        )
    )
    weigh: str = field(metadata=setting("weigh", check=check_weigh, default=ITEMS, older={"weigh": ITEMS}))
    largest: int | None = field(
        metadata=setting(
            "largest",
            check=check_largest,
            default=None,
            older={"largest": None},
        )
    )
    epochs: int = field(metadata=setting("epochs", check=check_epochs, default=1, older={"epochs": 1}))
    seed: int = field(metadata=setting("seed", check=check_seed, default=lambda: secrets.randbits(53)))
    alarm: bool = field(
        metadata=setting(
            check=partial(_args.flag, "alarm"), default=True, keys=("alarm",), older={"alarm": False}
        )
    )
    lease: float | None = field(
        metadata=setting(
            "lease", check=check_lease, default=3600.0, nullable=True, fixed=False, read=read_lease
        )
    )
    max_samples: int | None = field(
        metadata=setting(
            "max_samples",
            check=check_budget,
            default=None,
            per_arm=True,
            older={"max_samples": None},
            fixed=False,
        )
    )
    about: tuple[str, ...] | None = field(
        metadata=setting(
            "about", check=check_about, default=None, per_arm=True, read=read_about, same=same_about
        )
    )

    control: str | None = field(
        metadata=setting("control", check=check_control, default=None, per_arm=True, older={"control": None})
    )

    @cached_property
    def design(self) -> Design:
        """What one sample is, and all that depends on it."""
        return kind_of({name: getattr(self, name) for name in DECLARED}).of(self)

    @cached_property
    def known_summary(self) -> dict[str, tuple[float, float | None]]:
        """The mean of every arm that is not asked, and the standard deviation, over all items."""
        return {} if self.known is None else self.known.summary(_units(vars(self)))

    @property
    def model(self) -> Model:
        """What is assumed of a value, where means are computed with."""
        assert isinstance(self.values, Model)
        return self.values

    @property
    def strategy(self) -> Strategy | None:
        """None if the stored one is the user's own and was not passed: then nothing is chosen."""
        return self.chosen.strategy

    @property
    def rule(self) -> StoppingRule | None:
        """The stopping rule, prepared for the budget; None in rounds."""
        return None if self.stopping is None else self.stopping.prepared_for(self.max_samples)

    @property
    def rule_name(self) -> str:
        """What tables call the stopping rule."""
        return ROUNDS if self.stopping is None else self.stopping.name

    @property
    def strategy_name(self) -> str:
        """What tables call it."""
        return self.chosen.name

    @property
    def strategy_record(self) -> dict[str, Any]:
        """How the strategy is stored."""
        return self.chosen.record

    def allows(self, value: float) -> bool:
        """Whether a value is as assumed."""
        return self.values.allows(value)

    def to_record(self) -> dict[str, Any]:
        """As it is stored."""
        return written({name: getattr(self, name) for name in DECLARED})

    def are_of(self, record: dict[str, Any]) -> bool:
        """Whether a stored experiment has these settings."""
        try:
            return read_settings(record, self.strategy).to_record() == self.to_record()
        except TruebestError:
            return False


DECLARED: dict[str, Setting] = {item.name: item.metadata["setting"] for item in fields(Settings)}


@dataclass(frozen=True)
class Request:
    """What a caller says of an experiment to create or resume: checked, by field of `Settings`.

    kept     what is given
    follows  what follows from it in its design
    """

    kept: dict[str, Any]
    follows: dict[str, Any]

    @classmethod
    def of(cls, arms: Iterable[str], delta: float | None = None, **given: Unpack[Given]) -> Request:
        """Check everything that is given. None is not given, apart from a lease, where it means never."""
        _args.known_arguments("Experiment.create", given, tuple(Given.__annotations__))
        known = find_known(given.get("known"), given.get("proxies"), given.get("items"))
        names = check_arms(arms, () if known is None else known.arms)
        said: dict[str, Any] = {"delta": delta, **given, "known": known, "proxies": None}
        question = given.get("question")
        kept: dict[str, Any] = {"arms": names}
        for name, how in DECLARED.items():
            if name == "question" and known is not None and question is not None:
                units = _units({**kept, "weigh": said.get("weigh") or ITEMS})
                said[name] = find_question(question).bound(names, partial(known.mean, units=units))
            values = [said.get(argument) for argument in how.arguments]
            if any(value is not None for value in values) or (how.nullable and name in said):
                kept[name] = how.take(values, names)
        follows = kind_of(kept).usual(kept)
        if kept.get("question", BEST).by_claims:
            follows = {"chosen": choose_strategy(IN_TURN), **follows}
        return cls(kept, follows)

    @property
    def enough(self) -> bool:
        """Whether it says everything that a new experiment needs."""
        known = self.kept.keys() | self.follows.keys()
        return all(name in known or how.default is not REQUIRED for name, how in DECLARED.items())

    def complete(self) -> Settings:
        """The settings of a new experiment; what is not given takes its default."""
        kept = self.follows | self.kept
        rest = {name: how for name, how in DECLARED.items() if name not in kept}
        made = Settings(**kept, **{name: how.usual(kept["arms"]) for name, how in rest.items()})
        made.question.check(len(made.arms), made.values.limits, made.minimize)
        rule = made.design.complete(replace(made, question=made.question.spelled(made.arms)), self.kept)
        chosen = made.chosen if made.design.steered else IN_ROUNDS
        asks_more = made.question.by_claims or not made.design.units.single
        version, items = NEWER_DECISIONS if asks_more else made.decisions, made.items
        if made.known is not None and items is not None:
            items = items._replace(rule_version=KNOWN_VERSION)
        return replace(made, stopping=rule, chosen=chosen, decisions=version, items=items)

    def resumed(self, name: str, record: dict[str, Any]) -> Settings:
        """The settings of the stored experiment of that name; given ones that differ are refused."""
        own = read_settings(record)
        given, stored = written(self.kept), own.to_record()
        for field_name, how in ((one, DECLARED[one]) for one in self.kept):
            if how.same is not operator.eq and how.same(self.kept[field_name], getattr(own, field_name)):
                continue
            for key in how.keys:
                if key == "known":
                    raise InvalidInputError(
                        f"experiment {name!r} was created with {own.known or 'no known scores'}, got "
                        f"{self.kept['known']}; what was found beside some scores says nothing of others, so "
                        f"resume it with those that it keeps, by leaving known= and proxies= out, or by its "
                        f"own name in the place of the scores, or give a new experiment another name."
                    )
                if how.fixed and key == "items" and given[key] != stored[key]:
                    raise InvalidInputError(
                        f"experiment {name!r} compares arms on {own.items or 'independent pulls'}, got "
                        f"{self.kept['items']}; what was found on some items says nothing of others, so "
                        f"resume it with the same items, or give a new experiment another name."
                    )
                if how.fixed and given[key] != stored[key]:
                    raise InvalidInputError(_differs(name, key, stored[key], given[key], own.arms))
        chosen: Chosen | None = self.kept.get("chosen")
        return own if chosen is None else replace(own, chosen=own.chosen.with_own(chosen.strategy))


def _units(kept: Mapping[str, Any]) -> Units:
    """What a known score is of, and what of it counts alike, of settings by field."""
    items = kept.get("items")
    return Units(1, None if items is None else items.clusters, kept["weigh"])


def new_settings(arms: Iterable[str], delta: float | None = None, **given: Unpack[Given]) -> Settings:
    """The settings of a new experiment."""
    return Request.of(arms, delta, **given).complete()


def read_settings(record: dict[str, Any], strategy: Strategy | None = None) -> Settings:
    """Settings as they were stored; a strategy of the user's own must be passed.

    Keys that this truebest does not know are ignored: what changes a decision raises DECISIONS.
    """
    kept: dict[str, Any] = {}
    for name, how in DECLARED.items():
        whole = {**how.older, **record}
        for key in how.keys:
            if key not in whole:
                raise StoreError(
                    f"the settings of the experiment lack {key}, which every truebest stores; {_RESTORE}"
                )
        try:
            kept[name] = how.recall([whole[key] for key in how.keys], kept.get("arms", ()))
        except StoreError:
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, TruebestError) as error:
            refusal = isinstance(error, TruebestError)
            why = str(error).rstrip(".") if refusal else f"{type(error).__name__}: {error}"
            raise StoreError(
                f"{' and '.join(how.keys)} of the experiment cannot be read ({why}); {_RESTORE}"
            ) from error
    settings = Settings(**kept)
    if misfit := settings.design.misfit(settings):
        raise StoreError(f"the settings of the experiment do not go together ({misfit}); {_RESTORE}")
    return replace(settings, chosen=settings.chosen.with_own(strategy))


def written(kept: dict[str, Any]) -> dict[str, Any]:
    """Settings, by field, as the record that is stored: with lists for tuples, as it comes back."""
    record: dict[str, Any] = {}
    for name, value in kept.items():
        how = DECLARED[name]
        stored = how.write(value)
        record |= zip(how.keys, stored if len(how.keys) > 1 else (stored,), strict=True)
    plain: dict[str, Any] = json.loads(json.dumps(record))
    return plain


def _differs(name: str, key: str, own: Any, given: Any, arms: tuple[str, ...]) -> str:
    """Why an experiment cannot be resumed with this setting."""
    if key == "arms":
        words = f"experiment {name!r} compares {', '.join(own)}, got {', '.join(given)}"
        added = set(given) - set(own)
        return f"{words}; {NO_NEW_ARMS if added else 'resume it with its own arms, in their order'}."
    if key == "about" and own is not None:
        arm, was, now = next(x for x in zip(arms, own, given, strict=True) if x[1] != x[2])
        return (
            f"arm {arm!r} of experiment {name!r} was {was!r:.200} when it was created, got {now!r:.200}; the "
            f"values would be of something else, so give the experiment another name."
        )
    if key == "question":
        return (
            f"experiment {name!r} exists with question {_asked(own, arms)}, got {_asked(given, arms)}; "
            f"resume it with the same question, or give a new experiment another name."
        )
    return (
        f"experiment {name!r} exists with {key} {_shown(own)}, got {_shown(given)}; resume it without "
        f"giving its settings, or give a new experiment another name."
    )


def _asked(record: dict[str, Any] | None, arms: tuple[str, ...]) -> str:
    """What is asked, by name and in words."""
    question = recall_question(record)
    kind = type(question).__name__
    if not isinstance(question, PerArm):
        return kind
    return f"{kind} ({question.verdict(True, arms)}{', as a list' * question.pools})"


def _shown(value: object) -> str:
    if not isinstance(value, dict):
        return _args.short(value)
    name = value.get("class") or value.get("name") or value.get("installed") or value.get("custom")
    parameters = ", ".join(f"{key}={item}" for key, item in value.get("parameters", {}).items())
    return f"{name}({parameters})" if parameters else str(name)
