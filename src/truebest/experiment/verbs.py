"""Plain verbs: each is said once, and is a command, an address of the service and a method of its client.

A verb is a function of an experiment and of what else must be said. Its parameters are the words of the
command, the fields of a request, and the arguments of the client's method, in this order; its docstring is
the command's help, of which the address shows the first paragraph. It answers with a record. A command or an
address that does more (asks, remarks, makes several calls as one) is written by hand and takes precedence.

This loads no numerical code, so `--help` is quick.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_type_hints

if TYPE_CHECKING:
    from .experiment import Experiment

Record = dict[str, Any]


class Word(NamedTuple):
    """What a parameter is, for people.

    help     what it says
    metavar  how a command's help shows it
    kind     what the client checks it as: "pull", "pulls", "reason", "value", or "" for nothing
    option   whether it is an option of the command, and not an argument
    """

    help: str
    metavar: str
    kind: str = ""
    option: bool = False


PullId = Annotated[int, Word("The pull's id, as printed by ask.", "PULL", "pull")]
PullIds = Annotated[list[int], Word("Ids of pulls, as printed by ask.", "PULL...", "pulls")]
Reason = Annotated[str, Word("What happened; it is kept in the log.", "TEXT", "reason", True)]
RightValue = Annotated[float | None, Word("The right value, if known.", "FLOAT", "value", True)]
WorkerName = Annotated[str | None, Word("Only the pulls of this worker; default: all.", "NAME", "", True)]


class Verb(NamedTuple):
    """A verb.

    function    from an experiment and the parameters to the answer, a record
    parameters  without the experiment
    kinds       Python's type of each parameter, and its word
    gives       which entry of the record the client's method returns; "" for the whole, None for nothing
    harmless    whether it does no harm to send it twice
    looks       whether it changes nothing: any token permits it, and its address is read with GET
    """

    function: Callable[..., Record]
    parameters: tuple[Parameter, ...]
    kinds: dict[str, tuple[Any, Word]]
    gives: str | None
    harmless: bool
    looks: bool

    @property
    def summary(self) -> str:
        """The first paragraph of its docstring."""
        return (self.function.__doc__ or "").partition("\n\n")[0]


VERBS: dict[str, Verb] = {}


def verb(
    gives: str | None, *, harmless: bool = False, looks: bool = False
) -> Callable[[Callable[..., Record]], Callable[..., Record]]:
    """Make a function a verb; `Verb` says what of."""

    def add(function: Callable[..., Record]) -> Callable[..., Record]:
        hints = get_type_hints(function, localns={"Experiment": object}, include_extras=True)
        parameters = tuple(signature(function).parameters.values())[1:]
        kinds = {
            one.name: (hints[one.name].__origin__, hints[one.name].__metadata__[0]) for one in parameters
        }
        VERBS[function.__name__] = Verb(function, parameters, kinds, gives, harmless or looks, looks)
        return function

    return add


@verb("outcome")
def fail(experiment: Experiment, pull: PullId, reason: Reason) -> Record:
    """Report that a pull gave no value: ask will issue it again first.

    It is never dropped, since that would bias the arm.

    Example: truebest fail prompts 3 --reason "out of memory" --store sqlite:///runs.db
    """
    return {"pull": pull, "outcome": experiment.fail(pull, reason)}


@verb(None)
def retract(experiment: Experiment, pull: PullId, reason: Reason, value: RightValue = None) -> Record:
    """Take a pull's value back, or put the right one in its place, for a clerical error."""
    experiment.retract(pull, reason, value)
    return {"pull": pull, "outcome": "retracted"}


@verb("renewed", harmless=True)
def renew(experiment: Experiment, pulls: PullIds) -> Record:
    """Say that pulls are still being evaluated: their leases begin anew. Answers how many are pending."""
    return {"renewed": experiment.renew(pulls)}


@verb("reclaimed")
def reclaim(experiment: Experiment, worker: WorkerName = None) -> Record:
    """Take back pulls whose worker is gone, so that ask issues them again first.

    If that worker lives after all, a pull is evaluated twice, and the first value counts.

    Example: truebest reclaim prompts --worker build-7:4711 --store sqlite:///runs.db
    """
    return {"reclaimed": experiment.reclaim(worker)}


@verb("", harmless=True)
def stop(experiment: Experiment, reason: Reason = "no reason given") -> Record:
    """End an experiment undecided, for good: nothing more is asked, and no result counts any more."""
    return experiment.stop(reason).to_dict()


@verb("", looks=True)
def verify(experiment: Experiment) -> Record:
    """Whether every line of the log is intact, and the decision follows from it."""
    return experiment.verify().to_dict()
