"""What can be read of experiments. Any token will do."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from inspect import Parameter, Signature
from itertools import chain, islice
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.responses import Response, StreamingResponse

from ..errors import InvalidInputError, TruebestError
from ..experiment.experiment import Experiment
from ..experiment.exports import exported, json_record
from ..experiment.verbs import VERBS, Verb
from ..telling import words
from . import requests
from .answers import ProblemError, as_json
from .desks import Desks
from .live import MOST_VIEWERS
from .views import BADGES

Name = Annotated[str, Query(description="The experiment's name.")]
MOST_LISTED = 500
MOST_EVENTS = 10_000
LINES_AT_ONCE = 1_000
TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json", "jsonl": "application/x-ndjson"}


class Reads:
    """What each address shows."""

    def __init__(self, desks: Desks) -> None:
        self._desks = desks

    def router(self) -> APIRouter:
        """The addresses: one per method, of the same name, and one per plain verb."""
        router = APIRouter(prefix="/v1", tags=["look at experiments"])
        for look in (self.experiments, self.status, self.settings, self.forecast, self.history, self.export):
            router.add_api_route(f"/{look.__name__}", look)
        router.add_api_route("/report", self.report)
        for name, plain in VERBS.items():
            if plain.looks:
                router.add_api_route(f"/{name}", self._address(plain))
        watched = [Depends(self.watched)]  # it may refuse, which is too late once the stream has begun
        router.add_api_route("/live", self.live, response_class=EventSourceResponse, dependencies=watched)
        return router

    async def experiments(self, search: str = "", limit: Annotated[int, Query(ge=1)] = 500) -> Response:
        """The experiments of the store whose names contain a text: which is best, or who leads.

        At most 500 are looked at; `total` says how many there are.
        """
        names = await self._desks.names()
        wanted = [name for name in names if search.casefold() in name.casefold()]
        found = [await self._summary(name) for name in wanted[: min(limit, MOST_LISTED)]]
        return as_json({"experiments": found, "total": len(wanted)})

    async def status(self, experiment: Name) -> Response:
        """Where an experiment stands; the fields are those of `truebest.Account`, and some sentences."""
        now = await self._desks.use(experiment, Experiment.status)
        headline = words.headline(now.answer, now.settings, now.progress.waiting)
        return as_json({**now.to_dict(), "headline": headline, "hold": words.hold(now)})

    async def settings(self, experiment: Name) -> Response:
        """What an experiment was created with."""
        record = await self._desks.use(experiment, lambda one: one.settings.to_record())
        return as_json({"experiment": experiment, "settings": record})

    async def forecast(self, experiment: Name) -> Response:
        """How many more samples are needed, and of which arms, if the estimated means are true.

        `uniform_samples` is how many uniform sampling would take in total.
        """
        found = await self._desks.use(experiment, Experiment.forecast)
        uniform = await self._desks.use(experiment, Experiment.uniform_samples)
        return as_json({**found.to_dict(), "uniform_samples": uniform})

    async def history(self, experiment: Name, after: int = 0, limit: int = MOST_EVENTS) -> Response:
        """What happened, line by line, after line number `after`; at most 10,000 lines at once.

        An infinite value, which JSON does not have, is the text "inf" or "-inf".
        """
        most = _whole_limit(limit)
        found = await self._desks.use(experiment, lambda one: list(islice(one.events(after), most)))
        return as_json({"events": [json_record(event) for event in found]})

    async def export(self, experiment: Name, format: requests.Format = "jsonl") -> Response:
        """The whole log with the settings, as a file."""
        pieces, first = await self._desks.use(experiment, lambda one: _begun(exported(one, format)))
        return StreamingResponse(chain(first, pieces), 200, _file_name(experiment, format), TYPES[format])

    async def report(self, experiment: Name) -> Response:
        """One self-contained HTML page for the people who decide."""
        page = await self._desks.use(experiment, Experiment.report)
        return Response(page, 200, _file_name(experiment, "html"), "text/html; charset=utf-8")

    def _address(self, verb: Verb) -> Callable[[str], Awaitable[Response]]:
        """What a plain verb that changes nothing shows; its parameters are those of the query."""

        async def address(experiment: str, **given: Any) -> Response:
            return as_json(await self._desks.use(experiment, lambda one: verb.function(one, **given)))

        words = [one.replace(annotation=verb.kinds[one.name][0]) for one in verb.parameters]
        names = [Parameter("experiment", Parameter.POSITIONAL_OR_KEYWORD, annotation=Name), *words]
        address.__name__, address.__doc__ = verb.function.__name__, verb.summary
        address.__signature__ = Signature(names, return_annotation=Response)  # type: ignore[attr-defined]
        return address

    async def watched(self, experiment: Name) -> None:
        """Refuse to show what does not exist, or what too many watch."""
        if len((await self._desks.at(experiment)).live.viewers) >= MOST_VIEWERS:
            words = f"at most {MOST_VIEWERS} may watch an experiment, and so many do; try again in a minute."
            raise ProblemError(503, "busy", words, {"Retry-After": "60"})

    async def live(self, experiment: Name) -> AsyncIterator[ServerSentEvent]:
        """Server-sent events for the page: the whole, then what is new, within a second."""
        desk = await self._desks.at(experiment)
        async for message in desk.live.watch():
            yield message
        if desk.live.broken:
            self._desks.forget(desk)

    async def _summary(self, name: str) -> dict[str, Any]:
        try:
            return await self._desks.call(lambda: self._desks.summary(name))
        except Exception as error:  # the others are still worth a look
            known = str(error) if isinstance(error, TruebestError) else f"unexpected {type(error).__name__}"
            badge = {"state": "broken", "badge": BADGES["broken"], "facts": []}
            return {"name": name, **badge, "headline": f"cannot be read: {known}"}


def _file_name(name: str, ending: str) -> dict[str, str]:
    """The header under which a browser saves an answer: no name leads it to another folder."""
    safe = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:80] or "experiment"
    full = quote(re.sub(r"[/\\:*?\"<>|]+", "_", name)[:80].strip(". ") or "experiment", safe="")
    return {
        "Content-Disposition": f"attachment; filename=\"{safe}.{ending}\"; filename*=UTF-8''{full}.{ending}"
    }


def _whole_limit(limit: int) -> int:
    if not 1 <= limit <= MOST_EVENTS:
        raise InvalidInputError(
            f"limit must be a whole number from 1 to {MOST_EVENTS}, got {limit}; read on with after=SEQ."
        )
    return limit


def _begun(lines: Iterator[str]) -> tuple[Iterator[str], list[str]]:
    """All pieces but the first, and that one: what fails at once fails before the answer begins."""
    pieces = _pieces(lines)
    return pieces, list(islice(pieces, 1))


def _pieces(lines: Iterator[str]) -> Iterator[str]:
    """Many lines at once: each piece is read in a thread."""
    while piece := list(islice(lines, LINES_AT_ONCE)):
        yield "\n".join(piece) + "\n"
