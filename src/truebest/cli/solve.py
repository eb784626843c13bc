"""`truebest solve`: optimal weights and characteristic time, or the exploration-biased weights of a box."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InvalidInputError
from ._experiment import Listing
from ._numbers import read_words, to_number
from ._output import Format, Output, number, print_table, put, show

if TYPE_CHECKING:
    from ..theory.complexity import ComplexityBounds


def solve(
    values: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MEAN]...", help="Means, or with --box intervals like 0.1:0.9; - for stdin."),
    ] = None,
    delta: Annotated[
        str, typer.Option(metavar="FLOAT", help="Accepted probability of a wrong answer.")
    ] = "0.05",
    box: Annotated[
        bool, typer.Option("--box", help="Take intervals, and compute the exploration-biased weights.")
    ] = False,
    file: Annotated[str | None, typer.Option(help="Read the numbers from a file, - for stdin.")] = None,
    format: Listing = Format.table,
) -> None:
    """Compute the optimal weights w, the characteristic time T and bounds of a bandit from its means.

    Example: truebest solve 0.9 0.8 0.6 0.4 0.4 --delta 0.1
    """
    words = read_words(values or [], file)
    if not words:
        raise InvalidInputError(
            "no numbers were given; give at least two, like: truebest solve 0.9 0.8 0.6, or --file FILE."
        )
    from .. import _args

    risk = _args.delta(to_number(delta, "delta"))
    if box:
        _solve_box(words, format)
    else:
        _solve_means([to_number(word, "means") for word in words], risk, format)


def _solve_means(means: list[float], delta: float, format: Format) -> None:
    import numpy as np

    from ..theory.complexity import complexity_bounds, lower_bound, optimal_weights

    bound = lower_bound(means, delta)
    solution, bounds = optimal_weights(means), complexity_bounds(means)
    gaps = (np.max(means) - np.array(means)).tolist()
    rows = [
        {"arm": a + 1, "mean": m, "gap": d, "weight": w}
        for a, (m, d, w) in enumerate(zip(means, gaps, solution.weights.tolist(), strict=True))
    ]
    document = {
        "arms": rows,
        "time": solution.time,
        "log_time": solution.log_time,
        "ratio": solution.ratio,
        "delta": delta,
        "lower_bound": bound,
        "bounds": {
            "ratio": [bounds.ratio_lower, bounds.ratio_upper],
            "max_weight": [bounds.max_weight_lower, bounds.max_weight_upper],
            "time": [bounds.time_lower, bounds.time_upper],
            "min_weight": [bounds.min_weight_lower, None],
        },
    }

    def people() -> None:
        show(rows, list(rows[0]), Format.table)
        print()
        print_table(
            ["quantity", "value", "at least", "at most"],
            [
                *_bound_rows(solution.weights, float(solution.ratio), float(solution.time), bounds),
                [f"samples needed at delta {number(delta)}", number(bound), "", ""],
            ],
        )
        if not np.isfinite(solution.log_time):
            print(
                "\nSeveral arms are best: they share the weight, and no number of samples tells them apart."
            )

    found = Output(rows, list(rows[0]), document, people=people)
    put(format, found)


def _bound_rows(weights: object, ratio: float, time: float, bounds: ComplexityBounds) -> list[list[str]]:
    import numpy as np

    w = np.asarray(weights)
    return [
        ["characteristic time T", number(time), number(bounds.time_lower), number(bounds.time_upper)],
        ["ratio r", number(ratio), number(bounds.ratio_lower), number(bounds.ratio_upper)],
        [
            "largest weight",
            number(w.max()),
            number(bounds.max_weight_lower),
            number(bounds.max_weight_upper),
        ],
        ["smallest weight", number(w.min()), number(bounds.min_weight_lower), ""],
    ]


def _solve_box(words: list[str], format: Format) -> None:
    from ..theory.exploration import exploration_biased_weights

    lower, upper = zip(*(_interval(word) for word in words), strict=True)
    solution = exploration_biased_weights(lower, upper)
    columns = (lower, upper, solution.bandit.tolist(), solution.weights.tolist())
    names, best = ("lower", "upper", "biased_mean", "weight"), int(solution.best)
    rows = [
        {"arm": a + 1, **dict(zip(names, row, strict=True))}
        for a, row in enumerate(zip(*columns, strict=True))
    ]

    def people() -> None:
        show(rows, list(rows[0]), Format.table)
        if best < 0:
            print("\nAll intervals have a common point: any arm may be the best, so the weights are uniform.")
        else:
            hardest = f"arm {best + 1} is the best"
            print(f"\nMost exploration is needed if {hardest}: the weights are optimal for that.")

    found = Output(
        rows, list(rows[0]), {"arms": rows, "best": best + 1 if best >= 0 else None}, people=people
    )
    put(format, found)


def _interval(word: str) -> tuple[float, float]:
    ends = word.split(":")
    if len(ends) != 2:
        raise InvalidInputError(
            f"with --box every interval must be LOWER:UPPER, got {word[:40]!r}; write it like 0.1:0.9."
        )
    return to_number(ends[0], "interval ends"), to_number(ends[1], "interval ends")
