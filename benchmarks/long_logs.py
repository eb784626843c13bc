"""A long log: what it costs to verify, to replay before a decision, to export and to report, per line.

Two logs, of independent pulls and of rounds on common items, as four workers would have left them: every pull
is asked for and told once, and told in another order. Files in a folder of their own under the current one.

    python -m benchmarks long_logs                 # 200,000 lines
    LINES=1000000 python -m benchmarks long_logs
    ONLY=verify,replay LINES=1000000 python -m benchmarks long_logs  # some of the work, by how it begins

To compare two versions in turns, run the same file with PYTHONPATH at the source of either.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from truebest.experiment.events import ASKED, CREATED, TOLD, Entry
from truebest.experiment.experiment import Experiment
from truebest.experiment.exports import exported
from truebest.experiment.proof import Proof
from truebest.experiment.reading import stored_lines
from truebest.experiment.settings import Settings, new_settings
from truebest.experiment.state import new_state
from truebest.experiment.store import open_store

from .measure import show

ARMS = ("a", "b", "c", "d", "e")
LINES = int(os.environ.get("LINES", "200000"))
ONLY = tuple(os.environ.get("ONLY", "").split(","))
WORKERS, BATCH = 4, 50_000


def main() -> None:
    """Print CPU time per line."""
    folder = Path(tempfile.mkdtemp(prefix=".bench-", dir="."))
    try:
        url = f"sqlite:///{folder / 'bench.db'}"
        _write(url, "pulls", new_settings(list(ARMS), 1e-300, bounds=(0, 1), seed=1))
        _write(url, "rounds", new_settings(list(ARMS), 1e-300, bounds=(0, 1), items=float("inf"), seed=1))
        before = _megabytes()
        rows = [[what, *_both(url, work)] for what, work in WORK.items() if what.startswith(ONLY)]
    finally:
        shutil.rmtree(folder)
    show(["us per line", "pulls", "rounds"], rows, f"A log of {LINES:,} lines on SQLite, CPU time")
    print(f"Most memory: {_megabytes():.0f} MB, {_megabytes() - before:.0f} MB more than to write it\n")


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def _both(url: str, work: Callable[[str, str], object]) -> list[str]:
    return [f"{_cpu(url, name, work):.1f}" for name in ("pulls", "rounds")]


def _cpu(url: str, name: str, work: Callable[[str, str], object]) -> float:
    best = float("inf")
    for _ in range(2):  # the first may run uncompiled for a while
        begun = time.process_time()
        work(url, name)
        best = min(best, time.process_time() - begun)
    return 1e6 * best / LINES


def _verify(url: str, name: str) -> None:
    assert Experiment.open(url, name).verify().sound


def _read(url: str, name: str) -> None:
    experiment = Experiment.open(url, name)
    for _ in stored_lines(experiment._store, name):
        pass


def _prove(url: str, name: str) -> None:
    experiment = Experiment.open(url, name)
    recall = partial(stored_lines, experiment._store, name, 0)
    proof = Proof(experiment._store, name, experiment.settings, recall)
    proof.advance(LINES + 1)
    assert not proof.lacks(LINES + 1)


def _export(form: str) -> Callable[[str, str], None]:
    def work(url: str, name: str) -> None:
        for _ in exported(Experiment.open(url, name), form):
            pass

    return work


def _report(url: str, name: str) -> None:
    file = Path(url.removeprefix("sqlite:///")).with_name("report.html")
    Experiment.open(url, name).report(file)


WORK: dict[str, Callable[[str, str], object]] = {
    "read and check hashes": _read,
    "verify": _verify,
    "replay before a decision": _prove,
    "export as JSON lines": _export("jsonl"),
    "export as JSON": _export("json"),
    "export as CSV": _export("csv"),
    "report": _report,
}


def _write(url: str, name: str, settings: Settings) -> None:
    store = open_store(url)
    store.create(name, Entry(CREATED, data=settings.to_record()))
    lines = _lines(settings)
    while batch := list(islice(lines, BATCH)):
        with store.writing(name) as log:
            log.append(batch)
    store.close()


def _lines(settings: Settings) -> Iterator[Entry]:
    """Asked and told by some workers at once; which arms and rounds, says the state of the experiment."""
    rng, out = random.Random(1), list[tuple[int, int]]()
    rounds = None if settings.design is None else new_state(settings, chooses=False)
    asked, now = 0, 1.7e9
    for _ in range(LINES):
        now += 0.01
        if len(out) < WORKERS:
            asked += 1
            arm, more = (asked % len(ARMS), {}) if rounds is None else rounds.next() or (0, {})
            more = {"deadline": now + 600.0, "worker": f"host:{asked % WORKERS}", **more}
            line = Entry(ASKED, asked, arm, None, more, time=now)
            out.append((asked, arm))
        else:
            pull, arm = out.pop(rng.randrange(WORKERS))
            line = Entry(TOLD, pull, arm, round(rng.random(), 6), time=now)
        if rounds is not None:
            rounds.apply(line._replace(seq=asked))
        yield line
