"""`bestarm create`, `ask`, `tell`, `fail`, `retract` and `observe`: run an experiment from any language."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InvalidInputError
from . import say
from ._experiment import (
    Bounds,
    Delta,
    Listing,
    Minimize,
    Name,
    Order,
    Seed,
    Sigma,
    StoppingName,
    StoreUrl,
    StrategyName,
    opened,
    pull_of,
    require_scale,
    seed_of,
    settings_of,
    store_url,
    without_compiling,
)
from ._listing import show
from ._numbers import cut, read_text, read_words, to_number, to_seconds, to_whole
from ._output import ListingFormat, print_json

if TYPE_CHECKING:
    from ..experiment.experiment import Experiment

PullId = Annotated[str, typer.Argument(metavar="PULL", help="The id that ask gave.", show_default=False)]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="What happened; it is kept in the log.")]


def create(
    name: Name,
    arm: Annotated[list[str], typer.Option(metavar="NAME", help="An option to compare; at least two.")],
    store: StoreUrl = None,
    delta: Delta = None,
    bounds: Bounds = None,
    sigma: Sigma = None,
    strategy: StrategyName = None,
    stopping: StoppingName = None,
    minimize: Minimize = False,
    order: Order = None,
    seed: Seed = None,
    lease: Annotated[
        str | None,
        typer.Option(
            metavar="SECONDS", help="When an unanswered pull is issued again, or never; default: 3600."
        ),
    ] = None,
    format: Listing = ListingFormat.table,
) -> None:
    """Begin an experiment in a store.

    For one that exists this changes nothing, and settings that differ from its own are refused.

    Example: bestarm create prompts --store sqlite:///runs.db --arm short --arm long --bounds 0,1
    """
    url = store_url(store)
    settings = settings_of(delta, sigma, bounds, strategy, stopping, minimize, order)
    if lease is not None:
        settings["lease"] = None if lease == "never" else to_seconds(lease, "lease", "write never")
    key = seed_of(seed)
    without_compiling()
    from ..experiment.experiment import Experiment
    from ..experiment.store import open_store

    place = open_store(url)
    known = name in place.names()
    require_scale(settings, lambda: known)
    with Experiment.create(place, name, arm, seed=key, **settings) as experiment:
        if known:
            say(f"experiment {name!r} exists already, with these settings.")
        _show_settings(name, experiment, format)


def _show_settings(name: str, experiment: Experiment, format: ListingFormat) -> None:
    record = {"name": name, **experiment.settings.to_record()}
    del record["decisions"]
    if format is ListingFormat.json:
        print_json(record)
        return
    record["strategy"] = experiment.settings.strategy_name
    record["stopping"] = experiment.settings.stopping.name
    show([{"setting": key, "value": value} for key, value in record.items()], ["setting", "value"], format)


def ask(
    name: Name,
    store: StoreUrl = None,
    n: Annotated[str, typer.Option("-n", metavar="INT", help="How many pulls at most.")] = "1",
    format: Listing = ListingFormat.table,
) -> None:
    """The next pulls: which arm to sample, with which seed, until when.

    Prints an empty list once the experiment is decided.

    Example: bestarm ask prompts --store sqlite:///runs.db -n 4 --format csv
    """
    count = to_whole(n, "n")
    with opened(store, name) as experiment:
        pulls = experiment.ask(count)
        if not pulls:
            _say_why_nothing(experiment)
    rows = [{"id": p.id, "arm": p.arm, "seed": p.seed, "deadline": p.deadline} for p in pulls]
    show(rows, ["id", "arm", "seed", "deadline"], format)


def _say_why_nothing(experiment: Experiment) -> None:
    status = experiment.status()
    if status.decision is not None:
        say(f"nothing more to ask: {status.decision} is best; {status.assumes}; {status.samples} samples.")
    elif status.waiting:
        say(
            f"nothing to ask: {status.waiting} results wait for an earlier pull, and will decide when it is "
            f"told; it is issued again when its lease ends."
        )
    else:
        say("nothing to ask until a pull that is out is told: the strategy must see its result first.")


def tell(
    name: Name,
    pull: Annotated[
        str | None, typer.Argument(metavar="PULL", help="The id that ask gave; - to read stdin.")
    ] = None,
    value: Annotated[str | None, typer.Argument(metavar="VALUE", help="What it gave.")] = None,
    store: StoreUrl = None,
    file: Annotated[
        str | None, typer.Option(help="Many at once, in one commit: lines 'pull,value'; - for stdin.")
    ] = None,
    format: Listing = ListingFormat.table,
) -> None:
    """What pulls gave. Repeating it does no harm: the first value of a pull counts.

    Prints per pull: told (it counts), repeated (known already), or late (another value counts already).

    Example: bestarm tell prompts 1 0.73 --store sqlite:///runs.db
    """
    pairs = _pairs(pull, value, file)
    with opened(store, name) as experiment:
        before = experiment.status().decision
        outcomes = experiment.tell(pairs) if pairs else []
        after = experiment.status()
    if not pairs:
        say("there was nothing to tell.")
    rows = [{"pull": p, "value": v, "outcome": o} for (p, v), o in zip(pairs, outcomes, strict=True)]
    show(rows, ["pull", "value", "outcome"], format)
    late = [str(row["pull"]) for row in rows if row["outcome"] == "late"]
    if late:
        say(
            f"late and not counted: {', '.join(late[:10])}{' ...' if len(late) > 10 else ''}; such a pull "
            f"was settled before; a clerical error is corrected with retract."
        )
    if after.decision is not None and before is None:
        say(f"decided: {after}.")


def _pairs(pull: str | None, value: str | None, file: str | None) -> list[tuple[Any, float]]:
    if pull == "-" and value is None and file is None:
        pull, file = None, "-"
    if file is None:
        if pull is None or value is None:
            raise InvalidInputError(
                "tell needs a pull and its value, like: bestarm tell NAME 1 0.73; or many, with --file."
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


def fail(
    name: Name, pull: PullId, reason: Reason, store: StoreUrl = None, format: Listing = ListingFormat.table
) -> None:
    """A pull gave no value; ask issues the same pull again first. It is never dropped: that would bias.

    Example: bestarm fail prompts 3 --reason "out of memory" --store sqlite:///runs.db
    """
    number = pull_of(pull)
    with opened(store, name) as experiment:
        outcome = experiment.fail(number, reason)
    show([{"pull": number, "outcome": outcome}], ["pull", "outcome"], format)


def retract(
    name: Name,
    pull: PullId,
    reason: Reason,
    value: Annotated[str | None, typer.Option(metavar="FLOAT", help="The right value, if known.")] = None,
    store: StoreUrl = None,
    format: Listing = ListingFormat.table,
) -> None:
    """Take a value back, or correct it: for clerical errors, decided without regard to values and arms.

    After a decision the experiment is reopened, and the rule decides again.

    A value that the decision may already use costs: every such retraction adds delta to the promise.

    Example: bestarm retract prompts 3 --reason "a typing error" --value 0.37 --store sqlite:///runs.db
    """
    number, new = pull_of(pull), None if value is None else to_number(value, "a value")
    with opened(store, name) as experiment:
        before = experiment.status()
        experiment.retract(number, reason, new)
        after = experiment.status()
    show([{"pull": number, "value": new, "outcome": "retracted"}], ["pull", "value", "outcome"], format)
    if before.decision is not None:
        now = "it is open again" if after.decision is None else f"now {after.decision} is best"
        say(f"the decision for {before.decision} fell with this value; {now}.")
    if after.promise != before.promise:
        say(f"the promise is now: {after.assumes}.")


def observe(
    name: Name,
    arm: Annotated[str, typer.Argument(metavar="ARM", help="The arm's name.", show_default=False)],
    values: Annotated[
        list[str] | None, typer.Argument(metavar="[VALUE]...", help="What it gave; - for stdin.")
    ] = None,
    store: StoreUrl = None,
    file: Annotated[str | None, typer.Option(help="Read the values from a file, - for stdin.")] = None,
    format: Listing = ListingFormat.table,
) -> None:
    """Values that existed before, in one commit; they must not have been chosen by value.

    Example: bestarm observe prompts long 0.7 0.9 0.4 --store sqlite:///runs.db
    """
    numbers = [to_number(word, "values") for word in read_words(values or [], file)]
    if not numbers:
        raise InvalidInputError("no values were given; write them like: bestarm observe NAME ARM 0.7 0.9.")
    with opened(store, name) as experiment:
        experiment.observe(arm, numbers)
        status = experiment.status()
    show([{"arm": arm, "observed": len(numbers)}], ["arm", "observed"], format)
    if status.decision is not None:
        say(f"decided: {status}.")
