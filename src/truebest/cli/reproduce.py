"""`truebest reproduce`: the paper's table and figures, reproduced and compared."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._files import write_whole
from .._records import csv_text
from ..errors import InvalidInputError
from ..plots import save
from ..studies.paper.catalogue import FIGURES
from ._numbers import read_number
from ._output import Format, Output, number, print_table, put

if TYPE_CHECKING:
    from ..studies.ledger import Ledger
    from ..studies.paper.claims import Claim
    from ..studies.paper.table1 import TableCell


TARGETS = ("table1", *FIGURES, "stability", "claims", "all")
# By module of `studies.paper`: the function that makes it, and what a countdown calls it
PARTS = {
    "table1": ("make_table", "Table 1"),
    "stability": ("measure", "Stability"),
    "claims": ("check_claims", "Claims"),
}


def reproduce(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help=f"What to reproduce: {', '.join(TARGETS)}.")
    ],
    runs: Annotated[
        str | None, typer.Option(metavar="INT", help="Number of runs; default: as many as in the paper.")
    ] = None,
    seed: Annotated[str, typer.Option(metavar="INT", help="The same seed gives the same result.")] = "0",
    output: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Folder for pictures and data; an interrupted call resumes from there."
        ),
    ] = None,
    format: Annotated[
        Format,
        typer.Option(help="Output format of the numbers; not for 'all', which writes them to files."),
    ] = Format.table,
) -> None:
    """Reproduce a table or figure of the paper, beside what was published.

    Example: truebest reproduce table1 --output report
    """
    from .. import _args

    _args.choice("target", target, TARGETS)
    count = read_number(runs)
    if count is not None:
        _args.whole("runs", count, 2, 10**9, "one run has no standard error")
    key = _args.whole("seed", read_number(seed), 0, 2**53 - 1, "any number will do")
    if target == "all" and format is not Format.table:
        raise InvalidInputError(
            f"the target all writes the numbers of every part beside its report, as CSV and JSON, got "
            f"--format {format.value}; leave it out."
        )
    folder = None if output is None else _folder(output)
    if target in PRINTED:
        PRINTED[target](count or 1000, key, folder, format)
    elif folder is None:
        raise InvalidInputError("figures and the report need a folder to be written to; give --output DIR.")
    elif target == "all":
        _report(count, key, folder)
    else:
        paths, rows = _figure(target, count, key, folder)
        put(format, Output(rows, list(rows[0]), people=lambda: print(*paths, sep="\n")))


def _folder(output: str) -> Path:
    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(
            f"cannot use the folder {output!r}: {error.strerror}; choose another for --output."
        ) from None
    return folder


def _countdown(what: str) -> Callable[[int, int, int], None]:
    """A line on a terminal that says how far it is and how long it still takes.

    What was taken over took no time, and says nothing about what is left.
    """
    start = time.monotonic()

    def report(done: int, total: int, kept: int) -> None:
        if sys.stderr is not None and sys.stderr.isatty():
            left = (time.monotonic() - start) / max(done - kept, 1) * (total - done)
            end = "\n" if done == total else ""
            print(
                f"\r{what}: {done} of {total}, about {left:.0f} s left   ",
                end=end,
                file=sys.stderr,
                flush=True,
            )

    return report


def _ledger(folder: Path | None, name: str, title: str, place: str = "") -> Ledger:
    """Finished parts are kept in the folder, if there is one, and told on a terminal."""
    from ..studies.ledger import Ledger

    return Ledger(None if folder is None else folder / f"{name}.json", _countdown(place + title))


def _made(part: str, runs: int, seed: int, folder: Path | None, place: str = "") -> list[Any]:
    """A part that takes long; what is finished of it, and its rows, are kept in the folder."""
    function, title = PARTS[part]
    make = getattr(import_module(f"truebest.studies.paper.{part}"), function)
    found: list[Any] = make(runs, seed, _ledger(folder, part, title, place))
    _keep(folder, part, [asdict(one) for one in found])
    return found


def _table_1(runs: int, seed: int, folder: Path | None, format: Format) -> None:
    from ..studies.paper import table1

    cells: list[TableCell] = _made("table1", runs, seed, folder)
    joint = table1.joint_test(cells)
    rows = [asdict(cell) for cell in cells]

    def people() -> None:
        _print_table_1(cells)
        print("", *table1.bandits(), sep="\n")
        print(f"\nAll {joint.cells} distinct cells together: {joint}.")
        if runs < table1.ENOUGH:
            print(f"With fewer than {table1.ENOUGH} runs z is far from normal: the joint test means little.")
        precise = table1.joint_test(table1.precise_table())
        print(f"From 100,000 runs per cell, kept in the package: {precise}.")

    put(format, Output(rows, list(rows[0]), {"cells": rows, "joint": vars(joint)}, people=people))


def _report(runs: int | None, seed: int, folder: Path) -> None:
    """Everything, into one page beside its data; the four long parts say how far each is."""
    from ..studies.certified import kept_certified
    from ..studies.paper import report, table1

    cells = _made("table1", runs or 1000, seed, folder, "1 of 4, ")
    pictures = {}
    for name, figure in FIGURES.items():
        paths, _ = _figure(name, runs, seed, folder, "2 of 4, ")
        pictures[f"{figure.title}. {figure.caption}"] = paths[0].read_text()
    steady = _made("stability", runs or 1000, seed, folder, "3 of 4, ")
    checked = _made("claims", runs or 1000, seed, folder, "4 of 4, ")
    _keep(folder, "certified", [record for row in kept_certified() for record in row.to_records()])
    settings = {
        "runs per cell of Table 1": runs or 1000,
        **{f"runs of {figure.title}": runs or figure.runs for figure in FIGURES.values() if figure.runs},
        "runs of the stability": runs or 1000,
        "instances per claim": runs or 1000,
        "seed": seed,
        "to make it again": "truebest reproduce all"
        + (f" --runs {runs}" if runs else "")
        + f" --seed {seed} --output DIR",
    }
    text = report.page(cells, table1.joint_test(cells), pictures, steady, checked, settings)
    write_whole(folder / "index.html", text)
    print(folder / "index.html")


def _print_table_1(cells: list[TableCell]) -> None:
    from ..studies.paper.published import STRATEGIES, TABLE_1

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


def _stability(runs: int, seed: int, folder: Path | None, format: Format) -> None:
    rows = [asdict(one) for one in _made("stability", runs, seed, folder)]
    names = ("total_variation", "leader_changes", "uniform_rounds")
    header = ["strategy", "total variation", "changes of the most-targeted arm", "uniform rounds", "runs"]
    cells = [
        [
            str(row["strategy"]),
            *(f"{row[name]:.2f} ± {row[name + '_error']:.2f}" for name in names),
            str(row["runs"]),
        ]
        for row in rows
    ]

    def people() -> None:
        print_table(header, cells, "Target weights over the first 1200 rounds")

    put(format, Output(rows, list(rows[0]), table=(header, cells), people=people))


def _claims(instances: int, seed: int, folder: Path | None, format: Format) -> None:
    found: list[Claim] = _made("claims", instances, seed, folder)
    header = ["statement", "verdict", "instances", "broken"]
    cells = [[claim.number, claim.verdict, str(claim.instances), str(claim.broken)] for claim in found]

    def people() -> None:
        print_table(header, cells)
        print()
        width = min(max(shutil.get_terminal_size((100, 24)).columns, 40), 110)
        for claim in found:
            print(_wrapped(f"{claim.number}. {claim.statement}", width, ""))
            if claim.note:
                print(_wrapped(claim.note, width, "    "))

    put(format, Output(list(map(vars, found)), list(vars(found[0])), table=(header, cells), people=people))


def _wrapped(text: str, width: int, first: str) -> str:
    return textwrap.fill(
        text,
        width,
        initial_indent=first,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _keep(folder: Path | None, name: str, rows: list[dict[str, Any]]) -> None:
    """The rows as CSV, if there is a folder for them."""
    if folder is not None:
        write_whole(folder / f"{name}.csv", csv_text(rows))


def _keep_json(file: Path, rows: list[dict[str, Any]]) -> None:
    """The rows as JSON, a line each."""
    write_whole(file, "[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")


def _figure(
    name: str, runs: int | None, seed: int, folder: Path, place: str = ""
) -> tuple[list[Path], list[dict[str, Any]]]:
    """The picture as SVG and PNG, and the numbers that it shows, which are kept beside it."""
    figure = FIGURES[name]
    picture, rows = figure.make(runs, seed, _ledger(folder, name, figure.title, place))
    _keep(folder, name, rows)
    if "ledger" not in figure.needs:  # else that file holds the finished parts
        _keep_json(folder / f"{name}.json", rows)
    return save(picture, folder / name), rows


# What is printed, and written to files on request.
PRINTED = {"table1": _table_1, "stability": _stability, "claims": _claims}
