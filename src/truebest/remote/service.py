"""`truebest.connect`: the experiments of a server."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack
from urllib.parse import urlsplit

from .._signature import spelled_out
from ..errors import InvalidInputError
from ..experiment.checks import seconds
from ..experiment.choices import choose_rule, choose_strategy, rule_record, values_record
from ..experiment.items import check_items, items_record
from ..experiment.known import find_known, known_record, with_stored
from ..experiment.settings import DECLARED, Given, read_settings
from ..questions import find_question, question_record
from .experiment import RemoteExperiment
from .wire import Wire, Wired


class Service(Wired):
    """The experiments of one server."""

    def names(self, search: str = "") -> list[str]:
        """The names of the first 500 experiments, of those that contain a text."""
        found = self._wire.get("/v1/experiments", search=search)
        return [one["name"] for one in found["experiments"]]

    @spelled_out(Given.__annotations__, lease=DECLARED["lease"].default)
    def create(
        self,
        name: str,
        arms: Iterable[str],
        delta: float | None = None,
        *,
        worker: str | None = None,
        **settings: Unpack[Given],
    ) -> RemoteExperiment:
        """A new experiment, or the existing one of that name; as `Experiment.create`, without its store.

        A strategy of your own cannot be sent: it would have to run on the server.
        Raises  InvalidInputError, StoreError
        """
        given: dict[str, Any] = dict(settings)
        given["known"] = with_stored(given.get("known"), given.get("proxies"), self.names, self.open, name)
        if delta is not None:
            given["delta"] = delta
        body = {"experiment": name, "arms": list(arms), **_records(given)}
        made = self._wire.post("/v1/create", body, harmless=True)
        return RemoteExperiment(self._wire, name, read_settings(made["settings"]), worker)

    def open(self, name: str, *, worker: str | None = None) -> RemoteExperiment:
        """An existing experiment.

        Raises  InvalidInputError if there is none, StoreError
        """
        found = self._wire.get("/v1/settings", experiment=name)
        return RemoteExperiment(self._wire, name, read_settings(found["settings"]), worker)

    def __repr__(self) -> str:
        return f"Service({self._wire.url!r})"


def connect(url: str, *, token: str, timeout: float = 60.0, patience: float = 30.0) -> Service:
    """The experiments of a server, with the interface of `Experiment`; see docs/guides/serve.md.

    Parameters
    ----------
    url
        where `truebest serve` listens, such as "http://127.0.0.1:8000"
    token
        that it printed or was given
    timeout
        seconds to wait for an answer
    patience
        seconds during which a call that failed is repeated, if that does no harm: a server may be restarted
        meanwhile

    Raises
    ------
    InvalidInputError
        if that is no such address, or no such token
    StoreError
        if nobody answers
    """
    try:
        place = urlsplit(url)
        fine = place.scheme in ("http", "https") and bool(place.hostname) and place.username is None
        fine = fine and not place.query and place.port != 0
    except (AttributeError, TypeError, ValueError):
        fine = False
    if not fine:
        raise InvalidInputError(
            f"a server must be given as http://HOST:PORT or https://HOST, got {url!r:.100}; its token is "
            f"given as token=."
        )
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise InvalidInputError(
            "a token must be a text of visible ASCII characters, got something else; give what `truebest "
            "serve` printed."
        )
    service = Service(Wire(url, token, seconds("timeout", timeout), seconds("patience", patience)))
    try:
        service.names()  # so that a wrong address or token is noticed here
    except BaseException:
        service.close()
        raise
    return service


def _records(given: dict[str, Any]) -> dict[str, Any]:
    """Settings for JSON: objects of truebest as the log has them."""
    sent = dict(given)
    if given.get("model") is not None:
        bounds, sigma, named = values_record(given["model"])
        del sent["model"]
        sent |= {"model": named} if named else {"bounds": bounds} if bounds else {"sigma": sigma}
    if given.get("strategy") is not None and not isinstance(given["strategy"], str):
        sent["strategy"] = choose_strategy(given["strategy"]).record
    if given.get("stopping") is not None and not isinstance(given["stopping"], str):
        sent["stopping"] = rule_record(choose_rule(given["stopping"]))
    if given.get("question") is not None:
        sent["question"] = question_record(find_question(given["question"]))
    if given.get("bounds") is not None:
        sent["bounds"] = list(given["bounds"])
    known = find_known(given.get("known"), given.get("proxies"), given.get("items"))
    if known is not None:
        sent["known"], sent["proxies"] = known_record(known), None
    if given.get("items") is not None:  # the items stay here: the server knows them by their number
        sent["items"] = items_record(check_items(given["items"], sent.pop("cluster", None)))
    return {key: value for key, value in sent.items() if value is not None or key == "lease"}
