"""`truebest simulate`: compare strategies by Monte Carlo."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._catalogue import COMPARED, STOPPING_RULES, STRATEGIES
from ..errors import InvalidInputError
from . import say
from ._experiment import remarks
from ._numbers import read_number, read_numbers
from ._output import ListingFormat, check_writable, number, print_result
from ._pilot import read_pilot
from ._settings import with_settings

if TYPE_CHECKING:
    from ..strategies import Strategy
    from ..theory.stopping import StoppingRule

Means = Annotated[
    str | None, typer.Option(metavar="M1,M2,...", help="Means of the arms; or --data.", show_default=False)
]
Data = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Draw rewards from a pilot's values: CSV with a named column per arm, or with the columns "
        "arm,value; - for standard input.",
    ),
]
Deltas = Annotated[str, typer.Option(metavar="D1,D2,...", help="Accepted probabilities of a wrong answer.")]
WHICH = (
    f"Strategies to compare: {', '.join(STRATEGIES)}, or an installed one; with parameters as in "
    "'ebs-d(gamma=0.01)', or one strategy for each of several values, 'ebs-d(gamma=0.01|0.05)'; or your "
    "own in a Python file, my_file.py:my_strategy"
)
Strategies = Annotated[str, typer.Option(metavar="S1,S2,...", help=f"{WHICH}.")]
Runs = Annotated[str, typer.Option(metavar="INT", help="Number of runs of each strategy.")]
Seed = Annotated[str, typer.Option(metavar="INT", help="The same seed gives the same result.")]
Rewards = Annotated[
    str | None,
    typer.Option(
        metavar="KIND",
        help="Kind of rewards: gaussian (the default), uniform, bernoulli, beta, poisson or exponential.",
    ),
]
Noise = Annotated[
    str | None,
    typer.Option(
        metavar="N1,N2,...",
        help="Standard deviation, or half-width if uniform; one or one per arm; default: 1.",
    ),
]
Scale = Annotated[
    str | None,
    typer.Option(
        metavar="S1,S2,...",
        help="The scale to assume, one or one per arm; default: the largest noise, or standard deviation of "
        "the data; for other kinds what they are.",
    ),
]
Rule = Annotated[
    str,
    typer.Option(help=f"When to stop: {', '.join(STOPPING_RULES)}; or your own rule, my_file.py:my_rule."),
]
MaxSamples = Annotated[str | None, typer.Option(metavar="INT", help="Where to cut a run off.")]
Threads = Annotated[str | None, typer.Option(metavar="INT", help="Threads; default: one per core.")]
Device = Annotated[
    str, typer.Option(metavar="NAME", help="cpu, or cuda for a GPU (needs truebest[cuda]); the same runs.")
]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Do the runs on a Dask cluster: the address of its scheduler."),
]
Keep = Annotated[
    str,
    typer.Option(
        metavar="WHAT", help="runs: keep every run; summary: counts, sums and a histogram, for very many."
    ),
]
Format = Annotated[ListingFormat, typer.Option(help="Output format.")]
Output = Annotated[str | None, typer.Option(help="Write the output to a file instead of stdout.")]


DEFAULT = ",".join(COMPARED)
FEW = 12  # arms that a remark lists


@with_settings("bounds", "model", "tolerance")
def simulate(
    *,
    means: Means = None,
    data: Data = None,
    delta: Deltas = "0.05",
    strategy: Strategies = DEFAULT,
    runs: Runs = "1000",
    seed: Seed = "0",
    rewards: Rewards = None,
    noise: Noise = None,
    sigma: Scale = None,
    settings: dict[str, Any],
    stopping: Rule = "practical",
    max_samples: MaxSamples = None,
    threads: Threads = None,
    device: Device = "cpu",
    cluster: Cluster = None,
    keep: Keep = "runs",
    format: Format = ListingFormat.table,
    output: Output = None,
) -> int:
    """Compare strategies on one bandit: the mean number of samples and the error rate.

    Example: truebest simulate --means 0.9,0.8,0.6,0.4,0.4 --delta 0.1,0.01 --strategy ebs-d,tas-d --seed 1

    A sweep: truebest simulate --means 0.9,0.8,0.6 --strategy 'ebs-d(gamma=0.01|0.05|0.2),my_file.py:mine'
    """
    if output is not None:
        check_writable(output)
    pilot = _pilot(data, {"--means": means, "--rewards": rewards, "--noise": noise})
    from ..simulation.simulate import simulate as run

    strategies, rule = strategies_and_rule(strategy, stopping)
    assumed = _assumed(sigma, settings.pop("bounds", None), settings.pop("model", None))
    with remarks():
        result = run(
            strategies,
            means=None if means is None else read_numbers(means),
            delta=read_numbers(delta),
            runs=read_number(runs),
            seed=read_number(seed),
            rewards=list(pilot.values()) or ("gaussian" if rewards is None else rewards),
            noise=1.0 if noise is None else _one_or_more(noise),
            stopping=rule,
            max_samples=read_number(max_samples),
            threads=read_number(threads),
            device=device,
            cluster=cluster,
            keep=keep,
            **assumed,
            **settings,
        )
    print_result(result, format, output)
    for note in result.notes():
        say(note)
    if pilot:
        say(_about(pilot, result.cells[0].best, bool(assumed)))
    return 0 if result.complete else 130


def strategies_and_rule(strategy: str, stopping: str) -> tuple[list[Strategy], str | StoppingRule]:
    """The strategies and the rule that words name; files among them run."""
    from ..strategies.finding import find_strategies, rule_of_word, split_words

    with redirect_stdout(sys.stderr):  # what a file prints must not come between the data
        strategies = [one for word in split_words(strategy) for one in find_strategies(word)]
        return strategies, rule_of_word(stopping)


def _pilot(file: str | None, others: dict[str, str | None]) -> dict[str, list[float]]:
    """The values of each arm, if there is a file of them; it takes the place of the other options."""
    if file is None:
        if others["--means"] is None:
            raise InvalidInputError(
                "give either --means M1,M2,... or --data FILE with the values of a pilot, got neither; write "
                "for example --means 0.9,0.8,0.6."
            )
        return {}
    for option, given in others.items():
        if given is not None:
            raise InvalidInputError(
                f"give either --data or {option}, got --data {file} and {option} {given}; data have means "
                f"and noise of their own, so leave {option} out."
            )
    return read_pilot(file)


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

    rewards = make_rewards(list(pilot.values()), None, 1.0)
    arms = [
        f"{a + 1} is {name}, mean {number(mean)} of {len(pilot[name])}"
        for a, (name, mean) in enumerate(zip(pilot, rewards.means, strict=True))
        if a in best or len(pilot) <= FEW
    ]
    right = " or ".join(name for a, name in enumerate(pilot) if a in best)
    scale = "" if assumed else f"; assumed: {rewards.assumed().words}"
    return f"the right answer is {right}; arm {'; arm '.join(arms)}{scale}."


def _one_or_more(words: str) -> Any:
    found = read_numbers(words)
    return found[0] if len(found) == 1 else found
