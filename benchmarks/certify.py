"""How often is the answer wrong, with its exact interval: `python -m benchmarks.certify FOLDER`.

For strategies, models, rules and bandits, at four risks (`truebest.studies.certified`). The runs of every
group are a file of the folder, which is continued: a call that is interrupted, or that asked for fewer runs,
is resumed by the next, on the processor (`--device cpu`) or on a GPU. `--minutes` shares so much time among
the groups, whatever their runs find; `--part 1/4` does every fourth group, for several machines, whose files
can be copied together. `--processes 8` does so many groups at a time: on a GPU compiling takes most of the
time, and some run while others compile. `certified.json` in the folder is the table, which begins with the
one in the package; `--keep` puts it there, and into docs/certified.md.

    python -m benchmarks.certify certified --runs 100000 --device cuda --processes 8
    python -m benchmarks.certify certified --runs 100000000 --device cuda --only ebs-d/tilt/mu2 --risks 1e-5
    python -m benchmarks.certify certified --runs 4000 --minutes 20 --threads 1
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from fnmatch import fnmatchcase
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import truebest
from truebest._files import write_whole
from truebest.studies import certified
from truebest.studies.certified import DELTAS, FIRST, VERDICTS, Certified, Group, groups

from .measure import show

PART = 10_000_000  # runs between two savings
PACKAGE = Path(certified.__file__).with_name("certified_kept.json")
PAGE = Path(__file__).parents[1] / "docs" / "certified.md"
MARK = "<!-- what follows is written by `python -m benchmarks.certify FOLDER --keep` -->\n"


def file_of(group: Group, folder: Path, risks: Sequence[float] = DELTAS) -> Path:
    """Where the runs of a group are kept, at all risks or some of them."""
    only = "".join(f"_{risk:g}" for risk in risks) if risks != DELTAS else ""
    return folder / f"{group.name.replace('/', '_').replace(' ', '-')}{only}.json"


def advance(
    group: Group, folder: Path, runs: int, seconds: float = math.inf, risks: Sequence[float] = DELTAS,
    **options: Any,
) -> truebest.Simulation:  # fmt: skip
    """The runs of a group up to so many, or until about so much time has passed; saved after each part."""
    file, start = file_of(group, folder, risks), time.monotonic()
    kept = truebest.load_simulation(file) if file.exists() else None
    done = before = min(cell.runs for cell in kept) if kept else 0
    while done < runs:
        part = min(PART, runs - done)
        if seconds < math.inf:
            taken = time.monotonic() - start
            if done > before and taken >= 0.9 * seconds:
                break
            likely = int((done - before) * (seconds / taken - 1.0)) if done > before else FIRST
            part = max(1, min(part, likely))
        kept = group.simulate(part, more=kept, deltas=risks, **options)
        kept.save(file)
        done = min(cell.runs for cell in kept)
        if not kept.complete:
            raise KeyboardInterrupt
    assert kept is not None
    return kept


def device_name(device: str) -> str:
    """The processor's or the GPU's name, for the table; InvalidInputError without a GPU."""
    if device == "cuda":
        truebest.simulate("uniform", (9.0, 0.0), 0.1, runs=1, seed=1, device="cuda", progress=False)
        name = import_module("numba.cuda").get_current_device().name
        return name.decode() if isinstance(name, bytes) else str(name)
    named = [line.partition(":")[2] for line in _cpu_lines() if line.startswith("model name")]
    return named[0].strip() if named else platform.processor() or platform.machine()


def _cpu_lines() -> list[str]:
    file = Path("/proc/cpuinfo")
    return file.read_text().splitlines() if file.exists() else []


def first_samples(group: Group, table: list[Certified]) -> list[int]:
    """Of the first runs at each risk: as in the table, or simulated."""
    known = [row.first_samples for row in table if row.name == group.name and row.first_samples]
    return known[0] if known else group.first_samples()


def enter(table: list[Certified], row: Certified) -> list[Certified]:
    """The table with a row of its group, in place of those of fewer runs, whose devices it names, too.

    Rows that have a risk which this one lacks stay. One of fewer runs is left out, if the other has all that
    it has: both are of the same seed.
    """
    same = [old for old in table if old.name == row.name]
    for old in same:
        means = old.runs == row.runs or old.mean_samples is not None or row.mean_samples is None
        if old.runs >= row.runs and set(row.levels) <= set(old.levels) and means:
            return table
    fewer = [old for old in same if old.runs <= row.runs and set(old.levels) <= set(row.levels)]
    devices = dict.fromkeys([*(device for old in fewer for device in old.device.split(" and ")), row.device])
    row = Certified(**{**vars(row), "device": " and ".join(devices)})
    order = {group.name: i for i, group in enumerate(groups())}
    rest = [old for old in table if old not in fewer]
    return sorted([*rest, row], key=lambda one: (order.get(one.name, len(order)), -one.runs))


def page(text: str, table: list[Certified]) -> str:
    """The page with what follows its mark written anew, from the table."""
    risks = [f"delta = {delta:g}" for delta in DELTAS]
    counts = certified.verdict_counts(table)
    lines = [f"Groups of runs that are {' / '.join(VERDICTS)} delta:", ""]
    lines += _markdown(
        ["rule", *risks],
        [[f"`{rule}`", *(" / ".join(map(str, one)) for one in each)] for rule, each in counts.items()],
    )
    for rule in counts:
        rows = [
            [row.parts[2], f"`{row.parts[0]}`", f"{row.runs:,}", *map(row.text, range(len(DELTAS)))]
            for row in table
            if row.parts[1] == rule
        ]
        lines += ["", f"## {rule}", "", *_markdown(["bandit", "strategy", "runs", *risks], rows)]
    runs: dict[tuple[str, str, str], int] = {}
    for row in table:
        made = (row.device, row.version, str(row.seed))
        runs[made] = runs.get(made, 0) + row.runs
    lines += ["", "## Where the runs were made", ""]
    header = ["device", "version of truebest", "seed", "runs"]
    lines += _markdown(header, [[*made, f"{number:,}"] for made, number in runs.items()])
    return text.partition(MARK)[0] + MARK + "\n" + "\n".join(lines) + "\n"


def _markdown(header: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]


def bundles(wanted: Sequence[Group]) -> list[list[Group]]:
    """Groups that a GPU does with the same program, which is then compiled once for all of them."""
    found: dict[tuple[object, ...], list[Group]] = {}
    for group in wanted:
        key = (group.strategy, group.rule, len(group.means), group.model, group.rewards)
        found.setdefault(key, []).append(group)
    return list(found.values())


def advance_all(
    bundle: Sequence[Group], folder: Path, runs: int, seconds: float, until: float, **options: Any
) -> Sequence[Group]:
    """`advance` for each of them, in a process of its own that ends when it is interrupted.

    until  when all have to be done, as a `time.time`
    """
    try:
        for group in bundle:
            advance(group, folder, runs, max(0.1, min(seconds, until - time.time())), **options)
    except KeyboardInterrupt:
        os._exit(1)  # what is done is saved; to raise would let the next group begin
    return bundle


def advanced(
    wanted: Sequence[Group], folder: Path, runs: int, minutes: float, processes: int, **options: Any
) -> Iterator[Group]:
    """Every group when its runs are in the folder."""
    until = time.time() + 60 * minutes
    if processes == 1:
        for i, group in enumerate(wanted):
            advance(group, folder, runs, max(0.1, (until - time.time()) / (len(wanted) - i)), **options)
            yield group
        return
    parts = bundles(wanted)
    share = 60 * minutes * min(processes, len(parts)) / max(1, len(wanted))
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        tasks = [pool.submit(advance_all, one, folder, runs, share, until, **options) for one in parts]
        try:
            for task in as_completed(tasks):
                yield from task.result()
        finally:
            pool.shutdown(cancel_futures=True)


def whole(text: str) -> int:
    """A number of runs, threads or processes."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 on, got {text!r}")
    return int(text)


def positive(text: str) -> float:
    """A number of minutes."""
    with suppress(ValueError):
        if float(text) > 0.0:
            return float(text)
    raise argparse.ArgumentTypeError(f"must be a number above 0, got {text!r}")


def some_risks(text: str) -> list[float]:
    """Risks of the table, the largest first."""
    with suppress(ValueError):
        risks = sorted({float(word) for word in text.split(",")}, reverse=True)
        if set(risks) <= set(DELTAS):
            return risks
    raise argparse.ArgumentTypeError(f"must be some of 0.1,0.01,0.001,1e-5, got {text!r}")


def part_of(text: str) -> tuple[int, int]:
    """1/4 is the first of four parts."""
    part, _, of = text.partition("/")
    if not part.isdecimal() or not of.isdecimal() or not 1 <= int(part) <= int(of):
        raise argparse.ArgumentTypeError(f"must be one of so many parts, such as 1/4, got {text!r}")
    return int(part), int(of)


def arguments() -> argparse.Namespace:
    """What the command is given, and the groups that are wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=whole, default=100_000, help="of a group, at most")
    parser.add_argument("--minutes", type=positive, default=math.inf, help="for all groups together")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--threads", type=whole)
    parser.add_argument("--processes", type=whole, default=1, help="groups at a time")
    parser.add_argument("--part", type=part_of, default=(1, 1), metavar="I/N")
    parser.add_argument("--only", default="*", metavar="NAMES", help="such as tas-c/tilt/mu2,*/mu1")
    parser.add_argument("--risks", type=some_risks, default=DELTAS, help="some of 0.1,0.01,0.001,1e-5")
    parser.add_argument("--keep", action="store_true", help="put the table into the package and the docs")
    given = parser.parse_args()
    patterns, (part, of) = given.only.split(","), given.part
    named = [one for one in groups() if any(fnmatchcase(one.name, pattern) for pattern in patterns)]
    if not named:
        parser.error(f"--only must name groups such as tas-c/tilt/mu2, got {given.only!r}, which is none")
    given.wanted = named[part - 1 :: of]
    return given


def main() -> None:
    """Do the groups of this part, and enter them into the table."""
    given = arguments()
    given.folder.mkdir(parents=True, exist_ok=True)
    file = given.folder / "certified.json"
    table = certified.read(file if file.exists() else PACKAGE)
    device = device_name(given.device)
    options = {"risks": given.risks, "device": given.device, "threads": given.threads}
    amount = (given.runs, given.minutes, given.processes)
    for i, group in enumerate(advanced(given.wanted, given.folder, *amount, **options)):
        found = truebest.load_simulation(file_of(group, given.folder, given.risks))
        first = first_samples(group, table) if given.risks == DELTAS else None
        row = Certified.of(group, found, first, device)
        table = enter(table, row)
        write_whole(file, certified.write(table))
        print(f"{i + 1} of {len(given.wanted)}: {group.name}: {row.errors} of {row.runs}", flush=True)
    if given.keep:
        write_whole(PACKAGE, certified.write(table))
        write_whole(PAGE, page(PAGE.read_text(), table))
    counts = certified.verdict_counts(table)
    show(
        ["rule", *(f"delta = {delta:g}" for delta in DELTAS)],
        [[rule, *(" / ".join(map(str, one)) for one in of_rule)] for rule, of_rule in counts.items()],
        f"groups {', '.join(VERDICTS)} delta",
    )


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted; what was done is in the folder, and the same command goes on from there")
    except truebest.TruebestError as error:
        sys.exit(str(error))
