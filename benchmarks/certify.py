"""How often is the answer wrong, with its exact interval: `python -m benchmarks.certify FOLDER`.

For strategies, models, rules and bandits, at four risks. Every group of cells is a file of the folder, which
is continued: a call that is interrupted, or that asked for fewer runs, is resumed by the next, on the
processor (`--device cpu`) or on a GPU. `--part 1/4` does every fourth group, for several machines; the files
can be copied together, and a last call makes the table of whatever is there.

    python -m benchmarks.certify certified --runs 100000 --device cuda
    python -m benchmarks.certify certified --runs 100000000 --device cuda --only tas-c/tilt/mu2
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bestarm
from bestarm.paper.published import BANDITS

from .measure import show

DELTAS = [0.1, 0.01, 0.001, 1e-5]
STRATEGIES = ("tas-c", "tas-d", "ebs-c", "ebs-d", "racing", "lucb++", "uniform")
LIMIT = 200_000  # samples; a run that is cut off there gives no wrong answer
SHORT = 20_000  # for arms that are tied, or nearly
PART = 10_000_000  # runs between two savings
TIED = {"near tie": (0.5, 0.49, 0.3), "equal": (0.5, 0.5, 0.3)}


@dataclass(frozen=True)
class Group:
    """Cells that one call simulates: a strategy on a bandit under a rule, at all risks."""

    strategy: str
    rule: str
    bandit: str
    means: tuple[float, ...]
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Also of its file."""
        return f"{self.strategy}/{self.rule}/{self.bandit}"

    def file(self, folder: Path) -> Path:
        """Where its runs are kept."""
        return folder / f"{self.name.replace('/', '_').replace(' ', '-')}.json"

    def simulate(self, runs: int, seed: int, device: str, kept: bestarm.Simulation | None) -> Any:
        """So many runs, or so many more."""
        return bestarm.simulate(
            self.strategy, self.means, DELTAS, runs=runs, seed=seed, stopping=self.rule, device=device,
            keep="summary", more=kept, progress=False, **self.options,
        )  # fmt: skip


def groups() -> Iterator[Group]:
    """Every strategy under every rule, on the paper's bandits and on ties; other models on one bandit."""
    for strategy in STRATEGIES:
        for rule in ("practical", "gk16", "kaufmann-koolen", "mixture", "tilt"):
            for bandit, means in BANDITS.items():
                yield Group(strategy, rule, bandit, means, {"max_samples": LIMIT})
            for bandit, means in TIED.items():
                yield Group(strategy, rule, bandit, means, {"max_samples": SHORT})
        coins = (0.7, 0.5, 0.4)
        for rule, model in (("tilt", None), ("mixture", None), ("kaufmann-koolen", bestarm.Bernoulli())):
            options = {"rewards": "bernoulli", "model": model, "max_samples": LIMIT}
            yield Group(strategy, rule, "0 or 1" if model is None else "Bernoulli", coins, options)
        student = {"model": bestarm.Student(), "max_samples": LIMIT}
        yield Group(strategy, "student", "Student", BANDITS["mu2"], student)


def advance(group: Group, folder: Path, runs: int, seed: int, device: str) -> bestarm.Simulation:
    """The runs of a group up to so many, saved after each part."""
    file = group.file(folder)
    kept = bestarm.load_simulation(file) if file.exists() else None
    while kept is None or min(cell.runs for cell in kept) < runs:
        done = max(cell.runs for cell in kept) if kept else 0
        kept = group.simulate(max(1, min(PART, runs - done)), seed, device, kept)
        kept.save(file)
        if not kept.complete:
            raise KeyboardInterrupt
    return kept


def verdict(cell: bestarm.Cell) -> str:
    """What the exact 95% interval for the error rate says."""
    low, high = cell.error_interval()
    if high <= cell.delta:
        return "within delta"
    return "not within delta" if low > cell.delta else "open"


def rows(group: Group, found: bestarm.Simulation, device: str) -> list[dict[str, Any]]:
    """A line of the table for each risk."""
    return [
        {
            "bandit": group.bandit,
            "rule": group.rule,
            "answers": cell.answers.tolist(),
            "verdict": verdict(cell),
            "device": device,
            "version": bestarm.__version__,
            **{
                key: value
                for key, value in cell.to_dict().items()
                if key not in ("mean_pulls", "quantiles", "stopping")
            },
        }
        for cell in found
    ]


def main() -> None:
    """Do the groups of this part, and make the table of all that are there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--part", default="1/1", metavar="I/N")
    parser.add_argument("--only", default="", metavar="NAMES", help="groups such as tas-c/tilt/mu2, by comma")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    part, of = (int(word) for word in given.part.split("/"))
    wanted = [group for group in groups() if not given.only or group.name in given.only.split(",")]
    for i, group in enumerate(wanted[part - 1 :: of]):
        found = advance(group, given.folder, given.runs, given.seed, given.device)
        print(f"{i + 1}: {group.name}: {[cell.errors for cell in found]} errors", flush=True)
    table = [
        row
        for group in groups()
        if group.file(given.folder).exists()
        for row in rows(group, bestarm.load_simulation(group.file(given.folder)), given.device)
    ]
    (given.folder / "certified.json").write_text(json.dumps(table, indent=1) + "\n")
    shown = [
        "strategy",
        "rule",
        "bandit",
        "delta",
        "runs",
        "errors",
        "error_rate_high",
        "mean_samples",
        "verdict",
    ]
    show(shown, [[_text(row[key]) for key in shown] for row in table], "errors, with the exact 95% interval")


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
