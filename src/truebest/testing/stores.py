"""`check_store`: what is demanded of every store, ours or yours."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from .. import _args
from ..errors import InvalidInputError
from ..experiment.experiment import Experiment
from ..experiment.pulls import Pull
from ..experiment.store import Store, open_store
from . import blocks, lines, upkeep
from .demands import Demands, Report, require
from .places import Opener

MEANS = {"a": 0.45, "b": 0.5, "c": 0.8}
WHOLE: Demands[Opener] = Demands()


def check_store(
    open: Callable[[], Store], *, only: str | Sequence[str] | None = None, wait: float = 20.0
) -> Report:
    """Check that a store does what every store must do, as far as one process can tell.

    open     a function that opens the store, each time at the same place; the experiments that are made there
             have names of their own and stay there, so give it a place to throw away
    only     the names of the demands to check, of STORE_DEMANDS; by default all
    wait     seconds after which a call that should go on at once counts as waiting for another
    Returns  Report, which prints as a table
    Raises   ContractError at the first demand that is broken: which one, on what, and what to do

    What takes more than one process is left to you: that a writer which is killed leaves whole blocks and no
    lock, that what was acknowledged survives a loss of power, and that a damaged line is refused.
    """
    if not callable(open):
        raise InvalidInputError(
            f"check_store takes a function that opens the store, got {_args.short(open)}; write "
            f"check_store(lambda: MyStore(...))."
        )
    case = Opener(open, _args.scalar("wait", wait))
    store = open()
    if isinstance(store, Store):
        store.close()
    return DEMANDS.check(f"the store {type(store).__name__}", case, only)


@WHOLE.demand("experiment", "an experiment goes the same way as in memory")
def _experiment(case: Opener) -> str:
    want = _course(open_store("memory:"), "check")
    with case.opened() as at:
        got = _course(at.store, at.name)
        audit = Experiment.open(at.store, at.name).verify()
    for what in want:
        found = f"{what} was {got[what]!r:.80}, in memory {want[what]!r:.80}"
        require(got[what] == want[what], found, "look at the other demands first")
    require(audit.sound, f"verify() says: {audit}", "give back what was written")
    return f"{got['samples']} samples, {len(got['log'])} lines, decided for {got['decision']}"  # type: ignore[arg-type]


def _value(pull: Pull) -> float:
    return float(random.Random(pull.seed).random() < MEANS[pull.arm])


def _course(store: Store, name: str) -> dict[str, object]:
    """An experiment from its creation to its decision, taken up again on the way, and all that it left."""
    experiment = Experiment.create(
        store, name, list(MEANS), bounds=(0, 1), seed=7, strategy="ebs-c", lease=None
    )
    experiment.observe("b", [0.0, 1.0])
    one, two, three = experiment.ask(3)
    answers = [
        experiment.tell(two, _value(two)),
        experiment.tell(two, _value(two)),
        experiment.fail(one, "é"),
    ]
    answers += experiment.tell([(one, _value(one)), (three, _value(three))])
    experiment.retract(three, "a clerical error", 0.5)
    turns = 0
    while pulls := experiment.ask(2):
        answers += experiment.tell([(pull, _value(pull)) for pull in pulls])
        turns += 1
        if turns % 20 == 0:
            experiment = Experiment.open(store, name)
    status = experiment.status()
    return {
        "answers": answers,
        "log": [(e.seq, e.kind, e.pull, e.arm, e.value, e.data) for e in experiment.history()],
        "samples": status.samples,
        "means": status.means,
        "statistic": status.progress.statistic,
        "decision": status.best,
    }


DEMANDS: Demands[Opener] = lines.DEMANDS + blocks.DEMANDS + upkeep.DEMANDS + WHOLE
STORE_DEMANDS = DEMANDS.names
