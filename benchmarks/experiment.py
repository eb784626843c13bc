"""Live experiments: the cost of a call, durable tells a second, many workers on one experiment, a long log.

SQLite in a folder of its own under the current one (a real disk, not a temporary file system); PostgreSQL
a server of its own with fsync, if its programs are there.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from truebest._catalogue import DEFAULT_STRATEGY
from truebest.experiment.experiment import Experiment
from truebest.experiment.store import open_store

from .measure import cpu_seconds, duration, show

ARMS = ("a", "b", "c", "d", "e")
BATCH = 100
WORKERS = 64
HUGE = 20_000  # pulls that one client asks for, and tells, at once
HUGE_NAME = f"a client of {HUGE:,} pulls"
SECONDS = 8.0
LONG = 1_000_000


def main() -> None:
    """Print the tables."""
    calls()
    with _places() as places:
        tells(places)
        workers(places)
        long_log(places["SQLite"])


def _create(url: str, name: str, **options: object) -> Experiment:
    """Arms that never decide: their scale is huge."""
    return Experiment.create(url, name, ARMS, sigma=1e6, seed=1, **options)  # type: ignore[arg-type]


def calls() -> None:
    """CPU time of ask and tell without a store's own cost."""
    rows = []
    for strategy in (DEFAULT_STRATEGY, "tas-c", "ebs-c", "uniform"):
        experiment = _create("memory:", "x", strategy=strategy)
        experiment.tell([(p, 0.5) for p in experiment.ask(5)])

        def ask_and_tell(experiment: Experiment = experiment) -> None:
            experiment.tell(experiment.ask()[0], 0.5)

        rows.append([strategy, duration(cpu_seconds(ask_and_tell, repeats=5))])
    show(
        ["strategy", "ask and tell"],
        rows,
        "One ask and one tell, K = 5, store in memory (aim: ask below 200 us)",
    )


def tells(places: dict[str, str]) -> None:
    """Durable tells a second, in batches of one commit."""
    rows = []
    for place, url in places.items():
        with _create(url, "tells") as experiment:
            rates = []
            for _ in range(7):
                pulls = experiment.ask(BATCH)
                start = time.perf_counter()
                experiment.tell([(p, 0.5) for p in pulls])
                rates.append(BATCH / (time.perf_counter() - start))
            pull = experiment.ask()[0]
            start = time.perf_counter()
            experiment.tell(pull, 0.5)
            single = time.perf_counter() - start
        rows.append([place, f"{max(rates):.0f}", f"{sorted(rates)[3]:.0f}", duration(single)])
    header = ["store", "tells/s, best", "median", "a single tell"]
    show(
        header,
        rows,
        f"Durable tells in batches of {BATCH} (aim: 1000 a second on SQLite, 2000 on PostgreSQL)",
    )


def workers(places: dict[str, str]) -> None:
    """Processes that ask and tell on one experiment, alone and beside a huge client; the log is audited."""
    rows = []
    for place, url in places.items():
        for beside in ("nobody", HUGE_NAME):
            name = f"workers beside {beside}"
            _create(url, name, lease=None).close()
            children = [_fork(url, name, i, 4) for i in range(WORKERS)]
            hog = None if beside == "nobody" else _fork(url, name, WORKERS, HUGE)
            codes = [os.waitpid(child, 0)[1] for child in children]
            if hog is not None:
                os.kill(hog, signal.SIGKILL)  # it may be in the middle of many more
                os.waitpid(hog, 0)
            rows.append([place, beside, *_audit(url, name), str(sum(map(bool, codes)))])
    header = [
        "store",
        "beside",
        "told by workers",
        "per second",
        "lost",
        "doubled",
        "other events",
        "refused",
    ]
    show(header, rows, f"{WORKERS} processes, each ask(4) and tell(4), {SECONDS:g} s")


def _audit(url: str, name: str) -> list[str]:
    """What the workers' values (at most 10 in size) have become; a huge client's are 100."""
    told: list[int | None] = []
    asked, huge, strange = set(), set(), 0
    with Experiment.open(url, name) as experiment:
        for event in experiment.events():
            strange += event.kind in ("late", "lapsed", "failed")
            if event.kind == "told" and event.value == 100.0:
                huge.add(event.pull)
            elif event.kind == "told":
                told.append(event.pull)
            elif event.kind == "asked":
                asked.add(event.pull)
        out = sum(one.pending for one in experiment.status().standings)
    lost = len(asked) - len(huge) - len(set(told)) - (out if HUGE_NAME in name else 0)  # those of the killed
    rate = f"{len(told) / SECONDS:.0f}"
    return [str(len(told)), rate, str(lost), str(len(told) - len(set(told))), str(strange)]


def _fork(url: str, name: str, number: int, size: int) -> int:
    child = os.fork()
    if child:
        return child
    try:
        rng = np.random.default_rng(number)
        with Experiment.open(url, name) as experiment:
            end = time.monotonic() + SECONDS
            while time.monotonic() < end:
                pulls = experiment.ask(size)
                values = rng.normal(size=4) if size == 4 else np.full(len(pulls), 100.0)
                experiment.tell([(p, float(x)) for p, x in zip(pulls, values, strict=True)])
        os._exit(0)
    except BaseException as error:
        print(f"worker {number}: {error!r}", file=sys.stderr)
        os._exit(1)


def long_log(url: str) -> None:
    """A million observations: how long until a new process knows where the experiment stands."""
    with _create(url, "long") as experiment:
        start = time.perf_counter()
        for arm in ARMS:
            experiment.observe(arm, np.random.default_rng(1).normal(size=LONG // len(ARMS)))
        filled = time.perf_counter() - start
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        store = open_store(url)
        Experiment.open(store, "long").status()
        best = min(best, time.perf_counter() - start)
        store.close()
    rows = [[f"{LONG:,}", duration(filled), duration(best)]]
    show(
        ["observations", "to store them", "to open, with status"],
        rows,
        "A long log on SQLite (aim: open below 1 s)",
    )


@contextmanager
def _places() -> Iterator[dict[str, str]]:
    folder = Path(tempfile.mkdtemp(prefix=".bench-", dir="."))
    places = {"SQLite": f"sqlite:///{folder / 'bench.db'}"}
    server = _server()
    if server is not None:
        places["PostgreSQL"] = server.new_database()
    try:
        yield places
    finally:
        if server is not None:
            server.close()
        shutil.rmtree(folder)


def _server() -> Any:
    """The tests' own server, or None where there is no PostgreSQL."""
    sys.path.insert(0, "tests")
    from _pytest.outcomes import Skipped

    from support.postgres import PostgresServer, find_postgres

    try:
        server = PostgresServer(find_postgres())
    except Skipped as reason:
        print(f"without PostgreSQL: {reason}\n")
        return None
    server.start()
    return server
