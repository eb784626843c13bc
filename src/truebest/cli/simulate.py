"""`truebest simulate`: compare strategies by Monte Carlo."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from .._catalogue import COMPARED, IN_TURN, SIMULATED_RULE, STOPPING_RULES, STRATEGIES
from ..errors import InvalidInputError
from . import say
from ._experiment import Listing, OutputFile, remarks
from ._numbers import read_number, read_numbers
from ._output import Format, check_writable, number, print_result
from ._pilot import read_pilot, read_table, refuse_few
from ._settings import ANSWERS, QUESTION, SEED, THREADS, Option, asked_words, with_settings

if TYPE_CHECKING:
    from ..strategies import Strategy
    from ..theory.stopping import StoppingRule

WHICH = (
    f"Strategies to compare: {', '.join(STRATEGIES)}, or an installed one; with parameters as in "
    "'ebs-d(gamma=0.01)', or one strategy for each of several values, 'ebs-d(gamma=0.01|0.05)'; or your "
    "own in a Python file, my_file.py:my_strategy"
)
DELTAS = Option("Accepted probabilities of a wrong answer.", "D1,D2,...", read_numbers, "0.05")
SIMULATED = {
    "means": Option("Means of the arms; or --data.", "M1,M2,..."),
    "data": Option(
        "Draw rewards from a pilot's values: CSV with a named column per arm, or with the columns "
        "arm,value; - for standard input.",
        "FILE",
    ),
    "delta": DELTAS,
    "strategy": Option(
        f"{WHICH}; default: {','.join(COMPARED)}, or for a question {IN_TURN}, which samples in turn.",
        "S1,S2,...",
    ),
    "runs": Option("Number of runs of each strategy.", "INT", read_number, "1000"),
    "seed": SEED,
    "rewards": Option(
        "Kind of rewards: gaussian (the default), uniform, bernoulli, beta, poisson or exponential.", "KIND"
    ),
    "noise": Option(
        "Standard deviation, or half-width if uniform; one or one per arm; default: 1.", "N1,N2,..."
    ),
    "sigma": Option(
        "The scale to assume, one or one per arm; default: the largest noise, or standard deviation of "
        "the data; for other kinds what they are.",
        "S1,S2,...",
    ),
    "stopping": Option(
        f"When to stop: {', '.join(STOPPING_RULES)}; or your own rule, my_file.py:my_rule; default: "
        f"{SIMULATED_RULE}, or for a question that of a live experiment.",
        "NAME",
    ),
    "items": Option(
        "Compare the arms in rounds, on common items: how many there are, each used at most once, in random "
        "order; or inf for an unlimited source. With --data, whose lines are the items, or with --means, "
        "--rewards bernoulli and --correlation.",
        "INT|inf",
        read_number,
    ),
    "correlation": Option(
        "With --items and --means: the correlation of the two best arms' rewards on one item.",
        "FLOAT",
        read_number,
    ),
    "failures": Option(
        "With --items or --compare wins: what an empty cell counts as; default: it is refused.",
        "worst|loss|FLOAT",
        read_number,
    ),
    **ANSWERS,
    "max_samples": Option("Where to cut a run off.", "INT", read_number),
    "threads": THREADS,
    "device": Option(
        "cpu, or cuda for a GPU (needs truebest\\[cuda]); the same runs.", "NAME", default="cpu"
    ),
    "cluster": Option("Do the runs on a Dask cluster: the address of its scheduler.", "ADDRESS"),
    "keep": Option(
        "runs: keep every run; summary: counts, sums and a histogram, for very many.", "WHAT", default="runs"
    ),
}
WINS = "wins"  # of --compare
FEW = 12  # arms that a remark lists


@with_settings("bounds", "model", "tolerance", "compare", *QUESTION, own=SIMULATED)
def simulate(*, settings: dict[str, Any], format: Listing = Format.table, output: OutputFile = None) -> int:
    """Compare strategies on one bandit: the mean number of samples and the error rate.

    Example: truebest simulate --means 0.9,0.8,0.6,0.4,0.4 --delta 0.1,0.01 --strategy ebs-d,tas-d --seed 1

    A sweep: truebest simulate --means 0.9,0.8,0.6 --strategy 'ebs-d(gamma=0.01|0.05|0.2),my_file.py:mine'

    On common items: truebest simulate --data scores.csv --items 500

    A gate: truebest simulate --means 0.8,0.75 --rewards bernoulli --gate 1 --margin 0.1
    """
    if output is not None:
        check_writable(output)
    rounds = "items" in settings or settings.get("compare") == WINS
    pilot = _pilot(settings.pop("data", None), settings, read_table if rounds else read_pilot)
    from ..simulation.simulate import simulate as run

    asked = settings.get("question")
    if not rounds and asked is None:
        settings.setdefault("strategy", ",".join(COMPARED))
    _find(settings)
    assumed = _assumed(*(settings.pop(name, None) for name in ("sigma", "bounds", "model")))
    for name, read in (("means", read_numbers), ("noise", _one_or_more)):
        if name in settings:
            settings[name] = read(settings[name])
    names = list(pilot) or [str(a + 1) for a in range(len(settings["means"]))]
    if pilot:
        settings["rewards"] = list(pilot.values())
    if asked is not None:
        settings["question"] = asked.bound(names)
    with remarks():
        result = run(**assumed, **settings)
    print_result(result, result.records(), format, output)
    for note in [*asked_words(asked, names), *result.notes()]:
        say(note)
    if pilot:
        best = result.cells[0].best if asked is None else frozenset[int]()
        say(_about(pilot, best, bool(assumed) or rounds))
    return 0 if result.complete else 130


def strategies_and_rule(
    strategy: str, stopping: str | None
) -> tuple[list[Strategy], str | StoppingRule | None]:
    """The strategies and the rule that words name; files among them run."""
    from ..strategies.finding import find_strategies, rule_of_word, split_words

    with redirect_stdout(sys.stderr):  # what a file prints must not come between the data
        strategies = [one for word in split_words(strategy) for one in find_strategies(word)]
        return strategies, None if stopping is None else rule_of_word(stopping)


def _find(settings: dict[str, Any]) -> None:
    """The strategies and the rule in the place of their words."""
    strategies, rule = strategies_and_rule(settings.pop("strategy", ""), settings.pop("stopping", None))
    settings |= {name: one for name, one in (("strategies", strategies), ("stopping", rule)) if one}


def _pilot(
    file: str | None, others: dict[str, Any], read: Callable[[str], dict[str, list[float]]]
) -> dict[str, list[float]]:
    """The values of each arm, if there is a file of them; it takes the place of some options."""
    if file is None:
        if "means" not in others:
            raise InvalidInputError(
                "give either --means M1,M2,... or --data FILE with the values of a pilot, got neither; write "
                "for example --means 0.9,0.8,0.6."
            )
        return {}
    for name in ("means", "rewards", "noise"):
        if name in others:
            raise InvalidInputError(
                f"give either --data or --{name}, got --data {file} and --{name} {others[name]}; data have "
                f"means and noise of their own, so leave --{name} out."
            )
    found = read(file)
    refuse_few(found, others)
    return found


def _assumed(sigma: str | None, bounds: Any, model: str | None) -> dict[str, Any]:
    """What is assumed of a reward, if it was given."""
    given = {"sigma=": sigma, "bounds=": bounds, "model=": model}
    named = [name for name, one in given.items() if one is not None]
    if len(named) > 1:
        raise InvalidInputError(f"give one of {', '.join(given)}, got {' and '.join(named)}; leave one out.")
    if sigma is not None:
        return {"sigma": _one_or_more(sigma)}
    from ..experiment.choices import choose_model

    return {"model": choose_model(bounds, None, model, ())} if named else {}


def _about(pilot: dict[str, list[float]], best: frozenset[int], assumed: bool) -> str:
    """Which arm is which, which answer is right, and the scale that is assumed if none was given."""
    from ..simulation.rewards import make_rewards

    known = [[value for value in values if value == value] for values in pilot.values()]
    rewards = make_rewards(known, None, 1.0)
    arms = [
        f"{a + 1} is {name}, mean {number(mean)} of {len(known[a])}"
        for a, (name, mean) in enumerate(zip(pilot, rewards.means, strict=True))
        if a in best or len(pilot) <= FEW
    ]
    right = " or ".join(name for a, name in enumerate(pilot) if a in best)
    said = [f"the right answer is {right}"] if right else []
    said += [f"arm {one}" for one in arms]
    said += [] if assumed else [f"assumed: {rewards.assumed().words}"]
    return f"{'; '.join(said)}."


def _one_or_more(words: str) -> Any:
    found = read_numbers(words)
    return found[0] if len(found) == 1 else found
