"""What changes an experiment, as the commands of the same names do. The token for everything is needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import fields
from typing import Any, TypeVar

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from .._args import known_arguments
from ..designs.rounds import MOST_ITEMS
from ..errors import InvalidInputError, StoreError, TruebestError
from ..experiment.choices import recall_rule, recall_strategy, recall_values
from ..experiment.experiment import Experiment
from ..experiment.items import ItemSet, recall_items
from ..experiment.known import recall_known
from ..experiment.pulls import Pull
from ..experiment.settings import Given
from ..experiment.values import listed_rows
from ..experiment.verbs import VERBS, Verb
from ..questions import recall_question
from . import requests
from .answers import as_json
from .desks import Desks, OpenExperiment

Answer = TypeVar("Answer")


class Writes:
    """What each address does."""

    def __init__(self, desks: Desks) -> None:
        self._desks = desks

    def router(self) -> APIRouter:
        """The addresses: one per method, of the same name, and one per plain verb."""
        router = APIRouter(prefix="/v1", tags=["change an experiment"])
        router.add_api_route("/ask", self.ask, methods=["POST"], response_model=requests.Asked)
        router.add_api_route("/tell", self.tell, methods=["POST"], response_model=requests.Outcomes)
        for verb in (self.create, self.observe):
            router.add_api_route(f"/{verb.__name__}", verb, methods=["POST"])
        for name, plain in VERBS.items():
            if not plain.looks:
                router.add_api_route(f"/{name}", self._address(plain), methods=["POST"])
        return router

    async def create(self, body: requests.Create) -> Response:
        """Create an experiment, or check that one of that name has these settings.

        It takes what `Experiment.create` takes; a setting that is left out has its default. A model, a
        strategy or a stopping rule with parameters is an object as the log has it, such as
        {"class": "Student", "parameters": {}}.
        """
        given = settings_given(body)
        self._desks.check_there()
        made = await self._desks.call(lambda: Experiment.create(self._desks.store, body.experiment, **given))
        self._desks.keep(made)
        return as_json({"experiment": made.name, "settings": made.settings.to_record()})

    async def ask(self, body: requests.Ask) -> Response:
        """Get the next pulls: which arm to sample, with which seed, and by when.

        If there are none, `reason` says why: "decided", "stopped", "used up" if there are no more items, or
        "wait" for pulls that are pending.
        """
        pulls = await self._gathered(body.experiment, lambda desk: desk.ask((body.worker, body.n)))
        return JSONResponse({"pulls": [_record(pull) for pull in pulls], "reason": pulls.reason})

    async def tell(self, body: requests.Tell) -> Response:
        """Tell the values of pulls, in one commit. To tell one again does no harm: it is "repeated"."""
        pairs = [(one.pull, one.value) for one in body.results]
        kinds = await self._gathered(body.experiment, lambda desk: desk.tell(pairs))
        told = [{"pull": pull, "outcome": kind} for (pull, _), kind in zip(pairs, kinds, strict=True)]
        return JSONResponse({"outcomes": told})

    async def observe(self, body: requests.Observe) -> Response:
        """Add values of arms that existed before; they must not have been chosen by value.

        The values of one earlier experiment belong in one request.
        """
        await self._change(body.experiment, lambda experiment: experiment.observe(body.values))
        rows, _ = listed_rows(body.values, None)
        return as_json({"observed": Counter(arm for arm, _ in rows)})

    def _address(self, verb: Verb) -> Callable[[Any], Awaitable[Response]]:
        """What a plain verb does with a request."""
        kind = requests.of_verb(verb)

        async def address(body: requests.Body) -> Response:
            given = {one.name: getattr(body, one.name) for one in verb.parameters}
            found = await self._change(body.experiment, lambda one: verb.function(one, **given))
            return as_json(found)

        address.__name__, address.__doc__ = verb.function.__name__, verb.summary
        address.__annotations__ = {"body": kind, "return": Response}
        return address

    async def _change(self, name: str, function: Callable[[Experiment], Answer]) -> Answer:
        found = await self._desks.use(name, function)
        (await self._desks.at(name)).live.changed()
        return found

    async def _gathered(self, name: str, call: Callable[[OpenExperiment], Awaitable[Answer]]) -> Answer:
        desk = await self._desks.at(name)
        try:
            found = await call(desk)
        except TruebestError as error:
            await self._desks.failed(name, error)
            raise
        desk.live.changed()
        return found


def _record(pull: Pull) -> dict[str, Any]:
    """A pull for JSON; `asdict` would copy every field, which takes ten times as long."""
    return {name: getattr(pull, name) for name in _FIELDS}


_FIELDS = [each.name for each in fields(Pull)]


def settings_given(body: requests.Create) -> dict[str, Any]:
    """What `Experiment.create` is given: objects in place of their records."""
    given = body.model_dump(exclude_unset=True, exclude={"experiment"})
    try:
        known_arguments("create", given, ("arms", "delta", *Given.__annotations__))
    except TypeError as error:
        raise InvalidInputError(str(error)) from error
    read: dict[str, Callable[[Any], Any]] = {
        "model": lambda record: recall_values(None, 1.0, record),
        "strategy": lambda record: recall_strategy(record).strategy,
        "stopping": recall_rule,
        "question": recall_question,
        "items": _items,
        "known": _known,
    }
    for key, recall in read.items():
        if isinstance(given.get(key), dict):
            try:
                found = recall(given[key])
            except (AttributeError, LookupError, TypeError, ValueError, StoreError):
                found = None
            if found is None:
                plainly = {"items": "a number, a list", "known": "lists of numbers by name"}.get(
                    key, "a name"
                )
                raise InvalidInputError(
                    f"{key} must be {plainly}, or an object as the log of an experiment has it, got "
                    f"{given[key]!r:.200}; what is not truebest's own cannot be sent to a server."
                )
            given[key] = found
    return given


def _known(record: dict[str, Any]) -> Any:
    """What the settings have of known scores, or these as they are; None for a file, which is not read."""
    if isinstance(record.get("digest"), str):
        return recall_known(record)
    return record if all(isinstance(scores, list) for scores in record.values()) else None


def _items(record: dict[str, Any]) -> ItemSet | None:
    """What the settings have of items; None if that is nothing that they could have."""
    found = recall_items({"digest": "", **record})
    assert found is not None
    size = type(found.size) is int and 1 <= found.size <= MOST_ITEMS
    return found if (size or found.size is None) and isinstance(found.digest, str) else None
