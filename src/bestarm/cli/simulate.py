"""`bestarm simulate`: compare strategies by Monte Carlo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .._catalogue import COMPARED, STOPPING_RULES, STRATEGIES
from .._files import write_whole
from . import say
from ._experiment import remarks
from ._numbers import cut, to_number, to_whole
from ._output import ListingFormat, check_writable, print_csv_lines, print_json, print_table

if TYPE_CHECKING:
    from ..simulation.results import Simulation


Means = Annotated[str, typer.Option(metavar="M1,M2,...", help="Means of the arms.")]
Deltas = Annotated[str, typer.Option(metavar="D1,D2,...", help="Accepted probabilities of a wrong answer.")]
Strategies = Annotated[
    str,
    typer.Option(
        metavar="S1,S2,...", help=f"Strategies to compare: {', '.join(STRATEGIES)}, or an installed one."
    ),
]
Runs = Annotated[str, typer.Option(metavar="INT", help="Number of runs of each strategy.")]
Seed = Annotated[str, typer.Option(metavar="INT", help="The same seed gives the same result.")]
Rewards = Annotated[
    str, typer.Option(help="Kind of rewards: gaussian, uniform, bernoulli, beta, poisson or exponential.")
]
Noise = Annotated[
    str,
    typer.Option(
        metavar="N1,N2,...", help="Standard deviation, or half-width if uniform; one or one per arm."
    ),
]
Scale = Annotated[
    str | None,
    typer.Option(
        metavar="S1,S2,...",
        help="The scale to assume, one or one per arm; default: the largest noise, for bernoulli and beta "
        "the bounds 0 and 1; poisson and exponential need one.",
    ),
]
Rule = Annotated[str, typer.Option(help=f"When to stop: {', '.join(STOPPING_RULES)}.")]
Tolerance = Annotated[
    str, typer.Option(metavar="FLOAT", help="How far below the best an answer may be and be right.")
]
MaxSamples = Annotated[str | None, typer.Option(metavar="INT", help="Where to cut a run off.")]
Threads = Annotated[str | None, typer.Option(metavar="INT", help="Threads; default: one per core.")]
Format = Annotated[ListingFormat, typer.Option(help="Output format.")]
Output = Annotated[str | None, typer.Option(help="Write the output to a file instead of stdout.")]


DEFAULT = ",".join(COMPARED)


def simulate(
    means: Means,
    delta: Deltas = "0.05",
    strategy: Strategies = DEFAULT,
    runs: Runs = "1000",
    seed: Seed = "0",
    rewards: Rewards = "gaussian",
    noise: Noise = "1",
    sigma: Scale = None,
    stopping: Rule = "practical",
    tolerance: Tolerance = "0",
    max_samples: MaxSamples = None,
    threads: Threads = None,
    format: Format = ListingFormat.table,
    output: Output = None,
) -> int:
    """Compare strategies on one bandit: the mean number of samples and the error rate.

    Example: bestarm simulate --means 0.9,0.8,0.6,0.4,0.4 --delta 0.1,0.01 --strategy ebs-d,tas-d --seed 1
    """
    if output is not None:
        check_writable(output)
    from ..simulation.runner import simulate as run

    spread = _numbers(noise, "noise")
    assumed = None if sigma is None else _numbers(sigma, "sigma")
    with remarks():
        result = run(
            cut(strategy),
            means=_numbers(means, "means"),
            delta=_numbers(delta, "delta"),
            runs=to_whole(runs, "runs"),
            seed=to_whole(seed, "seed"),
            rewards=rewards,
            noise=spread if len(spread) > 1 else spread[0],
            sigma=None if assumed is None else assumed if len(assumed) > 1 else assumed[0],
            stopping=stopping,
            tolerance=to_number(tolerance, "tolerance"),
            max_samples=None if max_samples is None else to_whole(max_samples, "max-samples"),
            threads=None if threads is None else to_whole(threads, "threads"),
        )
    _show(result, format, output)
    return 0 if result.complete else 130


def _numbers(text: str, what: str) -> list[float]:
    from ..errors import InvalidInputError

    words = cut(text)
    if not words:
        raise InvalidInputError(f"{what} must be one or more numbers, got nothing; write them like 0.9,0.8.")
    return [to_number(word, what) for word in words]


def _show(result: Simulation, format: ListingFormat, output: str | None) -> None:
    import contextlib
    import io

    text = io.StringIO()
    with contextlib.redirect_stdout(text) if output else contextlib.nullcontext():
        if format is ListingFormat.json:
            print_json(result.to_dict())
        elif format is ListingFormat.csv:
            print_csv_lines(result.to_csv().split("\n")[:-1])
        else:
            print_table(*result.table())
    if output:
        write_whole(output, text.getvalue())
    for note in result.notes():
        say(note)
