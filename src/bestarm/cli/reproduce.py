"""`bestarm reproduce`: the paper's table and figures, made anew and compared."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._text import csv_text
from ..errors import InvalidInputError
from ._numbers import to_whole
from ._output import ListingFormat, number, print_json, print_table

if TYPE_CHECKING:
    from ..paper.claims import Claim
    from ..paper.ledger import Ledger
    from ..paper.stability import Stability
    from ..paper.table1 import TableCell


class Target(StrEnum):
    """What can be reproduced."""

    table1 = "table1"
    figure1 = "figure1"
    figure2 = "figure2"
    figure3 = "figure3"
    figure4 = "figure4"
    figure5 = "figure5"
    stability = "stability"
    claims = "claims"
    all = "all"


def reproduce(
    target: Annotated[Target, typer.Argument(help="Which table or figure.")],
    runs: Annotated[
        str | None, typer.Option(metavar="INT", help="Runs; default: as many as the paper.")
    ] = None,
    seed: Annotated[str, typer.Option(metavar="INT", help="The same seed gives the same result.")] = "0",
    output: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Folder for pictures and data; an interrupted call resumes there."),
    ] = None,
    format: Annotated[ListingFormat, typer.Option(help="How to print a table.")] = ListingFormat.table,
) -> None:
    """A table or figure of the paper: ours beside the published one.

    Example: bestarm reproduce table1 --output report
    """
    count = None if runs is None else to_whole(runs, "runs")
    if count is not None and count < 2:
        raise InvalidInputError(f"runs must be at least 2, got {count}; one run has no standard error.")
    key = to_whole(seed, "seed")
    if not 0 <= key < 2**53:
        raise InvalidInputError(f"seed must be a whole number from 0 to 2**53, got {key}; any will do.")
    folder = _folder(output, needed=target is Target.all or target.value.startswith("figure"))
    if target is Target.table1:
        _table_1(count or 1000, key, folder, format)
    elif target is Target.stability:
        _stability(count or 1000, key, folder, format)
    elif target is Target.claims:
        _claims(count or 1000, key, folder, format)
    elif folder is not None and target is Target.all:
        _report(count, key, folder)
    elif folder is not None:
        for path in _figure(target, count, key, folder):
            print(path)


def _folder(output: str | None, needed: bool) -> Path | None:
    if output is None:
        if needed:
            raise InvalidInputError(
                "figures and the report need a folder to be written to; give --output DIR."
            )
        return None
    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(
            f"cannot use the folder {output!r}: {error.strerror}; choose another for --output."
        ) from None
    return folder


def _countdown(what: str) -> Callable[[int, int], None]:
    """A line on a terminal that says how far it is and how long it still takes."""
    start = time.monotonic()

    def report(done: int, total: int) -> None:
        if sys.stderr is not None and sys.stderr.isatty():
            left = (time.monotonic() - start) / done * (total - done)
            end = "\n" if done == total else ""
            print(
                f"\r{what}: {done} of {total}, about {left:.0f} s left   ",
                end=end,
                file=sys.stderr,
                flush=True,
            )

    return report


def _ledger(folder: Path | None, name: str, title: str) -> Ledger:
    """Finished parts are kept in the folder, if there is one, and told on a terminal."""
    from ..paper.ledger import Ledger

    return Ledger(None if folder is None else folder / f"{name}.json", _countdown(title))


def _make_table(runs: int, seed: int, folder: Path | None) -> list[TableCell]:
    from ..paper import table1

    cells = table1.make_table(runs, seed, _ledger(folder, "table1", "Table 1"))
    _keep(folder, "table1", table1.to_dict(cells))
    return cells


def _make_stability(runs: int, seed: int, folder: Path | None) -> list[Stability]:
    from ..paper import stability

    found = stability.measure(runs, seed, _ledger(folder, "stability", "Stability"))
    _keep(folder, "stability", stability.to_dict(found))
    return found


def _make_claims(instances: int, seed: int, folder: Path | None) -> list[Claim]:
    from ..paper.claims import check_claims

    found = check_claims(instances, seed, _ledger(folder, "claims", "Claims"))
    _keep(folder, "claims", [vars(claim) for claim in found])
    return found


def _table_1(runs: int, seed: int, folder: Path | None, format: ListingFormat) -> None:
    from ..paper import table1

    cells = _make_table(runs, seed, folder)
    joint = table1.joint_test(cells)
    if format is ListingFormat.json:
        print_json({"cells": table1.to_dict(cells), "joint": vars(joint)})
    elif format is ListingFormat.csv:
        print(csv_text(table1.to_dict(cells)), end="")
    else:
        _print_table_1(cells)
        print("", *table1.bandits(), sep="\n")
        print(f"\nAll {joint.cells} distinct cells together: {joint}.")
        if runs < table1.ENOUGH:
            print(f"With fewer than {table1.ENOUGH} runs z is far from normal: the joint test means little.")
        precise = table1.joint_test(table1.precise_table())
        print(f"From 100,000 runs per cell, kept in the package: {precise}.")


def _report(runs: int | None, seed: int, folder: Path) -> None:
    """Everything, into one page beside its data."""
    from ..paper import report, table1
    from ..simulation.results import write_whole

    cells = _make_table(runs or 1000, seed, folder)
    names = [target for target in Target if target.value.startswith("figure")]
    pictures = {target.value: _figure(target, runs, seed, folder)[0].read_text() for target in names}
    steady = _make_stability(runs or 1000, seed, folder)
    checked = _make_claims(runs or 1000, seed, folder)
    settings = {
        "runs per cell of Table 1": runs or 1000,
        "runs of Figure 5": runs or 500,
        "runs of the stability": runs or 1000,
        "instances per claim": runs or 1000,
        "seed": seed,
        "to make it again": "bestarm reproduce all"
        + (f" --runs {runs}" if runs else "")
        + f" --seed {seed} --output DIR",
    }
    text = report.page(cells, table1.joint_test(cells), pictures, steady, checked, settings)
    write_whole(folder / "index.html", text)
    print(folder / "index.html")


def _print_table_1(cells: list[TableCell]) -> None:
    from ..paper.published import STRATEGIES, TABLE_1

    rows = []
    for i, setting in enumerate(TABLE_1):
        ours = [cell for cell in cells if cell.row == i]
        head = [setting.bandit, number(setting.delta), number(setting.gamma), str(setting.lower_bound)]
        rows.append([*head, "published", *(str(cell.published) for cell in ours)])
        rows.append(
            ["", "", "", "", "ours ± se", *(f"{c.mean_samples:.0f} ± {c.standard_error:.0f}" for c in ours)]
        )
        rows.append(["", "", "", "", "z", *(f"{cell.z:+.2f}" for cell in ours)])
        rows.append(["", "", "", "", "error rate", *(f"{cell.error_rate:.4f}" for cell in ours)])
    print_table(
        ["bandit", "delta", "gamma", "T kl", "", *STRATEGIES], rows, "Expected number of draws (Table 1)"
    )


def _stability(runs: int, seed: int, folder: Path | None, format: ListingFormat) -> None:
    from ..paper import stability

    rows = stability.to_dict(_make_stability(runs, seed, folder))
    if format is not ListingFormat.table:
        _print_rows(rows, format)
    else:
        names = ("total_variation", "leader_changes", "uniform_rounds")
        print_table(
            ["strategy", "total variation", "changes of the most-targeted arm", "uniform rounds", "runs"],
            [
                [
                    str(row["strategy"]),
                    *(f"{row[name]:.2f} ± {row[name + '_error']:.2f}" for name in names),
                    str(row["runs"]),
                ]
                for row in rows
            ],
            "Target weights over the first 1200 rounds",
        )


def _claims(instances: int, seed: int, folder: Path | None, format: ListingFormat) -> None:
    found = _make_claims(instances, seed, folder)
    if format is not ListingFormat.table:
        _print_rows([vars(claim) for claim in found], format)
        return
    print_table(
        ["statement", "verdict", "instances", "broken"],
        [[claim.number, claim.verdict, str(claim.instances), str(claim.broken)] for claim in found],
    )
    print()
    for claim in found:
        if claim.note:
            print(f"{claim.number}. {claim.statement} {claim.note}")


def _keep(folder: Path | None, name: str, rows: list[dict[str, Any]]) -> None:
    """The rows as CSV, if there is a folder for them."""
    from ..simulation.results import write_whole

    if folder is not None:
        write_whole(folder / f"{name}.csv", csv_text(rows))


def _print_rows(rows: list[dict[str, Any]], format: ListingFormat) -> None:
    if format is ListingFormat.json:
        print_json(rows)
    else:
        print(csv_text(rows), end="")


def _figure(target: Target, runs: int | None, seed: int, folder: Path) -> list[Path]:
    from ..paper import figures
    from ..plots import paper as plots
    from ..plots import save

    if target is Target.figure1:
        picture = plots.figure_1(figures.candidates())
    elif target is Target.figure2:
        picture = plots.figure_2(*figures.runs_of_both(seed))
    elif target is Target.figure3:
        picture = plots.figure_3(*figures.runs_of_both(seed))
    elif target is Target.figure4:
        picture = plots.figure_4(figures.proof_steps())
    else:
        draws = figures.draws_against_delta(runs, seed, _ledger(folder, "figure5", "Figure 5"))
        _keep(folder, "figure5", figures.to_dict(draws))
        picture = plots.figure_5(draws)
    return save(picture, folder / target.value)
