"""`truebest create`, `ask`, `tell`, `retract` and `observe`: run an experiment from any language."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InvalidInputError, SuspendedError
from . import DONE, OVER, UNDECIDED, say
from ._experiment import Listing, Name, StoreUrl, Worker, opened, pull_of, store_url
from ._numbers import cut, read_number, read_text, read_words, to_number
from ._output import Format, Output, put, show
from ._settings import SETTINGS, with_settings

if TYPE_CHECKING:
    from ..experiment.experiment import Experiment
    from ..experiment.pulls import Pull

PullId = Annotated[
    str, typer.Argument(metavar="PULL", help="The pull's id, as printed by ask.", show_default=False)
]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="What happened; it is kept in the log.")]


@with_settings(*SETTINGS)
def create(
    name: Name,
    arm: Annotated[list[str], typer.Option(metavar="NAME", help="An option to compare; at least two.")],
    store: StoreUrl = None,
    *,
    settings: dict[str, Any],
    format: Listing = Format.table,
) -> None:
    """Create an experiment in a store.

    If it already exists, nothing changes, and settings that differ from its own are refused.

    Example: truebest create prompts --store sqlite:///runs.db --arm short --arm long --bounds 0,1
    """
    url = store_url(store)
    from ..experiment.experiment import Experiment
    from ..experiment.store import open_store

    place = open_store(url)
    known = name in place.names()
    with Experiment.create(place, name, arm, **settings) as experiment:
        if known:
            say(f"experiment {name!r} exists already, with these settings.")
        _show_settings(name, experiment, format)


def _show_settings(name: str, experiment: Experiment, format: Format) -> None:
    record = {"name": name, **experiment.settings.to_record()}
    del record["decisions"]
    named = {"strategy": experiment.settings.strategy_name, "stopping": experiment.settings.rule_name}
    named |= {"known": str(experiment.settings.known)} if record["known"] else {}
    rows = [{"setting": key, "value": value} for key, value in (record | named).items()]
    put(format, Output(rows, ["setting", "value"], record))


def ask(
    name: Name,
    store: StoreUrl = None,
    n: Annotated[str, typer.Option("-n", metavar="INT", help="The largest number of pulls to issue.")] = "1",
    worker: Worker = None,
    format: Listing = Format.table,
) -> int:
    """Get the next pulls: which arm to sample, with which seed, and by when.

    Exits with code 0 if there are some, 3 if an earlier pull must be settled first (wait and ask again), 4 if
    the experiment is decided or was stopped, 1 if it is suspended. JSON gives the same as "reason": "",
    "wait", "decided", "stopped" or "suspended".

    Example: truebest ask prompts --store sqlite:///runs.db -n 4 --format csv
    """
    caller = f"{socket.gethostname()}:{os.getppid()}"  # it lives on, this process does not
    with opened(store, name, worker or caller) as experiment:
        try:
            pulls = experiment.ask(read_number(n))
        except SuspendedError:
            _show_pulls([], "suspended", format, ())
            raise
        if not pulls:
            _say_why_nothing(experiment)
        fields = experiment.settings.design.pull_fields
    _show_pulls(pulls, pulls.reason, format, fields)
    return {"": DONE, "wait": UNDECIDED}.get(pulls.reason, OVER)


def _show_pulls(pulls: list[Pull], reason: str, format: Format, more: tuple[str, ...]) -> None:
    fields = ["id", "arm", "seed", "deadline", *more]
    rows = [{name: getattr(pull, name) for name in fields} for pull in pulls]
    if reason != "suspended" or format is Format.json:
        put(format, Output(rows, fields, {"reason": reason, "pulls": rows}))


def _say_why_nothing(experiment: Experiment) -> None:
    from ..telling.answers import UsedUp
    from ..telling.words import hold

    now = experiment.status()
    if now.over or isinstance(now.answer, UsedUp):
        say(f"nothing more to ask: {now}.")
    elif hold(now):
        say(f"nothing to ask for now: {hold(now)}.")
    else:
        say("nothing to ask for now: pulls that are pending must be settled first.")


def tell(
    name: Name,
    pull: Annotated[
        str | None,
        typer.Argument(metavar="PULL", help="The pull's id, as printed by ask; - to read from stdin."),
    ] = None,
    value: Annotated[str | None, typer.Argument(metavar="VALUE", help="Its value.")] = None,
    store: StoreUrl = None,
    file: Annotated[
        str | None,
        typer.Option(help="Read many from a file, in one commit: lines 'pull,value'; - for stdin."),
    ] = None,
    format: Listing = Format.table,
) -> None:
    """Record the values of pulls. Repeating it does no harm: the first value of a pull counts.

    Prints for each pull: told (it counts), repeated (known already), or late (another value already counts).

    Example: truebest tell prompts 1 0.73 --store sqlite:///runs.db
    """
    pairs = _pairs(pull, value, file)
    with opened(store, name) as experiment:
        before = experiment.status().decided
        outcomes = experiment.tell(pairs) if pairs else []
        after = experiment.status()
    if not pairs:
        say("there was nothing to tell.")
    rows = [{"pull": p, "value": v, "outcome": o} for (p, v), o in zip(pairs, outcomes, strict=True)]
    show(rows, ["pull", "value", "outcome"], format)
    late = [str(row["pull"]) for row in rows if row["outcome"] == "late"]
    if late:
        say(
            f"late, so not counted (already settled): {', '.join(late[:10])}"
            f"{' ...' if len(late) > 10 else ''}; to correct a clerical error, use retract."
        )
    if after.decided and not before:
        say(f"decided: {after}.")


def _pairs(pull: str | None, value: str | None, file: str | None) -> list[tuple[Any, float]]:
    if pull == "-" and value is None and file is None:
        pull, file = None, "-"
    if file is None:
        if pull is None or value is None:
            raise InvalidInputError(
                "tell needs a pull and its value, like: truebest tell NAME 1 0.73; for many, use --file."
            )
        return [(pull_of(pull), to_number(value, "a value"))]
    if pull is not None:
        raise InvalidInputError(
            f"give results either on the command line or with --file, got both ({pull!r} and --file {file}); "
            f"leave one out."
        )
    lines = [(number, cut(line)) for number, line in enumerate(read_text(file).splitlines(), 1)]
    lines = [(number, words) for number, words in lines if words]
    if lines and lines[0][1] == ["pull", "value"]:
        lines.pop(0)
    return [_pair(number, words) for number, words in lines]


def _pair(line: int, words: list[str]) -> tuple[int, float]:
    try:
        if len(words) != 2:
            raise InvalidInputError(f"a result is a pull and its value, got {' '.join(words)[:40]!r}; ")
        return pull_of(words[0]), to_number(words[1], "a value")
    except InvalidInputError as error:
        reason = str(error).partition("; ")[0]
        raise InvalidInputError(
            f"line {line}: {reason}; write lines like 1,0.73; nothing was stored."
        ) from None


def retract(
    name: Name,
    pull: PullId,
    reason: Reason,
    value: Annotated[str | None, typer.Option(metavar="FLOAT", help="The right value, if known.")] = None,
    store: StoreUrl = None,
    format: Listing = Format.table,
) -> None:
    """Take back or correct a value: for clerical errors, decided without regard to values and arms.

    After a decision the experiment is reopened, and the rule decides again.

    If the decision may already use the value, this has a price: each such retraction adds delta to the
    promised probability of a wrong answer. How long pulls take must then depend on neither, either.

    Example: truebest retract prompts 3 --reason "a typing error" --value 0.37 --store sqlite:///runs.db
    """
    number, new = pull_of(pull), None if value is None else to_number(value, "a value")
    with opened(store, name) as experiment:
        before = experiment.status()
        experiment.retract(number, reason, new)
        after = experiment.status()
    show([{"pull": number, "value": new, "outcome": "retracted"}], ["pull", "value", "outcome"], format)
    if before.decided:
        from ..telling.words import claim

        found = claim(before.answer, before.settings)
        now = claim(after.answer, after.settings) if after.decided else "it is undecided"
        say(f"the experiment, which had found that {found}, was reopened; now {now}.")
    if after.promise.bound != before.promise.bound:
        say(f"the promise is now: {after.promise.words}.")


def observe(
    name: Name,
    arm: Annotated[str, typer.Argument(metavar="ARM", help="The arm's name.", show_default=False)],
    values: Annotated[
        list[str] | None,
        typer.Argument(metavar="[VALUE]...", help="Values of the arm; - to read from stdin."),
    ] = None,
    store: StoreUrl = None,
    file: Annotated[str | None, typer.Option(help="Read the values from a file, - for stdin.")] = None,
    format: Listing = Format.table,
) -> None:
    """Add an arm's values from before the experiment, in one commit; they must not have been chosen by value.

    They are judged once, when all are in. If an earlier experiment chose how many values each arm got, they
    belong together: give them in one file to `truebest import`.

    Example: truebest observe prompts long 0.7 0.9 0.4 --store sqlite:///runs.db
    """
    numbers = [to_number(word, "values") for word in read_words(values or [], file)]
    if not numbers:
        raise InvalidInputError("no values were given; write them like: truebest observe NAME ARM 0.7 0.9.")
    with opened(store, name) as experiment:
        experiment.observe(arm, numbers)
        now = experiment.status()
    show([{"arm": arm, "observed": len(numbers)}], ["arm", "observed"], format)
    if now.decided:
        say(f"decided: {now}.")
