"""An experiment behind a server, with the interface of `Experiment`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from functools import wraps
from inspect import signature
from typing import Any, Concatenate, ParamSpec, TypeVar, overload

import numpy as np

from .. import _args
from ..experiment.events import Event
from ..experiment.experiment import Experiment
from ..experiment.forecast import Forecast
from ..experiment.leases import worker_name
from ..experiment.pulls import Pull, Pulls
from ..experiment.settings import Settings
from ..experiment.shown import Shown
from ..experiment.values import check_reason, check_value, listed_pairs, listed_rows
from ..experiment.verbs import VERBS
from ..experiment.verification import Verification
from ..telling.account import Account
from .wire import Wire, Wired

PAGE = 10_000  # lines of the log that are fetched at once


P = ParamSpec("P")
Answer = TypeVar("Answer")


def _sent(method: Callable[Concatenate[Experiment, P], Answer]) -> Callable[Concatenate[Any, P], Answer]:
    """A method of `Experiment` that is a plain verb, done by the server."""
    verb, like = VERBS[method.__name__], signature(method)

    @wraps(method)
    def send(self: Any, /, *args: P.args, **keywords: P.kwargs) -> Any:
        given = like.bind(self, *args, **keywords)
        given.apply_defaults()
        return self._do(method.__name__, dict(zip(verb.kinds, given.args[1:], strict=True)))

    return send


class RemoteExperiment(Wired, Shown):
    """What `connect(...).create` and `open` give: the methods of `Experiment`, done by the server."""

    def __init__(self, wire: Wire, name: str, settings: Settings, worker: str | None = None) -> None:
        super().__init__(wire)
        self.name, self.settings = name, settings
        self._worker = None if worker is None else worker_name(worker)
        self._over = ""  # what the last answer said: "decided", "stopped" or ""

    @property
    def worker(self) -> str:
        """The name of this worker, which is kept with its pulls."""
        return worker_name(self._worker)

    @property
    def decided(self) -> bool:
        """Whether this process knows of a decision; `status` asks the server."""
        return self._over == "decided"

    @property
    def stopped(self) -> bool:
        """Whether this process knows that somebody stopped it; `status` asks the server."""
        return self._over == "stopped"

    # -- ask and tell ----------------------------------------------------------------------------------

    def ask(self, n: int = 1) -> Pulls:
        """The next pulls, or none and the `reason`."""
        answer = self._post("ask", n=n, worker=self.worker)
        self._note(answer["reason"])
        return Pulls([_made(Pull, one) for one in answer["pulls"]], answer["reason"])

    @overload
    def tell(self, pull: int | Pull, value: float) -> str: ...
    @overload
    def tell(self, pull: Iterable[tuple[int | Pull, float]]) -> list[str]: ...
    def tell(self, pull: Any, value: Any = None) -> str | list[str]:
        """Record the value of a pull; or a list of (pull, value), in one commit."""
        single = value is not None or isinstance(pull, int | np.integer | Pull)
        pairs = [(pull, value)] if single else listed_pairs(pull)
        results = [{"pull": _id(p), "value": check_value(v, self.settings)} for p, v in pairs]
        told = self._post("tell", harmless=True, results=results)["outcomes"]
        kinds = [str(one["outcome"]) for one in told]
        return kinds[0] if single else kinds

    def observe(self, arm: Any, value: Any = None) -> None:
        """Add values that existed before, in one commit: an arm and its values, arm -> values, or rows."""
        rows, ordered = listed_rows(arm, value)
        checked = [(name, check_value(v, self.settings)) for name, v in rows]
        by_arm: dict[str, list[float]] = {}
        for name, number in checked:
            by_arm.setdefault(name, []).append(number)
        self._post("observe", values=checked if ordered else by_arm)

    fail = _sent(Experiment.fail)
    retract = _sent(Experiment.retract)
    renew = _sent(Experiment.renew)
    reclaim = _sent(Experiment.reclaim)

    def stop(self, reason: str = "no reason given") -> Account:
        """End the experiment undecided, for good."""
        return self._status(self._do("stop", {"reason": reason}))

    # -- look ------------------------------------------------------------------------------------------

    def status(self) -> Account:
        """Where the experiment stands."""
        return self._status(self._get("status"))

    def forecast(self) -> Forecast:
        """How many more samples, and of which arms, if the estimated means are the true ones."""
        found: Forecast = _made(Forecast, self._get("forecast"))
        return found

    def uniform_samples(self) -> int | None:
        """How many samples uniform sampling would take in total, if the estimated means are the true ones."""
        found: int | None = self._get("forecast")["uniform_samples"]
        return found

    def events(self, after: int = 0) -> Iterator[Event]:
        """`history` one event at a time, for a log that is too long to hold in memory."""
        line = _args.whole("after", after, 0, 2**53, "it is the seq of an event")
        while True:
            some = self._get("history", after=line, limit=PAGE)["events"]
            yield from (_event(one) for one in some)
            if len(some) < PAGE:
                return
            line = some[-1]["seq"]

    def verify(self) -> Verification:
        """Read the whole log, check every line against its hash, and check whether the decision follows."""
        found: Verification = _made(Verification, self._do("verify", {}))
        return found

    def __repr__(self) -> str:
        return f"RemoteExperiment({self._wire.url!r}, {self.name!r}, {len(self.settings.arms)} arms)"

    # -- inside ----------------------------------------------------------------------------------------

    def _get(self, what: str, **query: Any) -> Any:
        return self._wire.get(f"/v1/{what}", experiment=self.name, **query)

    def _post(self, verb: str, *, harmless: bool = False, **body: Any) -> Any:
        return self._wire.post(f"/v1/{verb}", {"experiment": self.name, **body}, harmless=harmless)

    def _do(self, name: str, given: dict[str, Any]) -> Any:
        """A plain verb."""
        verb = VERBS[name]
        fields = {key: self._checked(verb.kinds[key][1].kind, value) for key, value in given.items()}
        if verb.looks:
            record = self._get(name, **fields)
        else:
            record = self._post(name, harmless=verb.harmless, **fields)
        return record[verb.gives] if verb.gives else None if verb.gives is None else record

    def _checked(self, kind: str, value: Any) -> Any:
        """What is sent for an argument."""
        match kind:
            case "pull":
                return _id(value)
            case "pulls":
                return [_id(one) for one in (value if isinstance(value, Iterable) else [value])]
            case "reason":
                return check_reason(value)
            case "value" if value is not None:
                return check_value(value, self.settings)
        return value

    def _status(self, record: Mapping[str, Any]) -> Account:
        now = Account.from_dict(record, self.settings)
        over = "" if not now.over else "decided" if now.decided else "stopped"
        self._note(over)
        return now

    def _note(self, reason: str) -> None:
        self._over = reason if reason in ("decided", "stopped") else ""


def _made(kind: Any, record: Mapping[str, Any]) -> Any:
    """A dataclass from its fields; what a newer server has besides is left out."""
    return kind(**{each.name: record[each.name] for each in fields(kind) if each.name in record})


def _event(record: Mapping[str, Any]) -> Event:
    """A line of the log; an infinite value comes as a text."""
    value = record["value"]
    event: Event = _made(Event, {**record, "value": None if value is None else float(value)})
    return event


def _id(pull: int | Pull) -> int:
    if isinstance(pull, Pull):
        return pull.id
    return _args.whole("a pull", pull, 1, 2**53, "give the id of a pull that ask issued")
