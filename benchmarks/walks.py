"""How far a call walks: through how many files of the package, and how often from one to another.

    python -m benchmarks.walks

One simulated step, a live tell, the tell that completes a round, the same tell over HTTP, and `truebest
identify` with two commands, each uncompiled, so that kernels are seen as well. A file counts if one of its
functions is called; a change is one file entered after another. Importing does not count.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

os.environ["TRUEBEST_JIT"] = "0"  # before the package is imported

import numpy as np

import truebest
from truebest.cli import main as command
from truebest.experiment.store import open_store
from truebest.kernels.steps import begin, step
from truebest.server.app import make_app
from truebest.server.tokens import Tokens
from truebest.server.way import Way
from truebest.simulation.job import Job
from truebest.simulation.work import make_works

SOURCE = f"{Path(truebest.__file__).parent}{os.sep}"
TOKEN = "the-token-of-the-walk"


class Walk:
    """The files of the package that were entered, in their order."""

    def __init__(self) -> None:
        self.entered: list[str] = []

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:  # noqa: ARG002
        """A profiler's function."""
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(SOURCE) and not code.co_name.startswith("<"):
            self.entered.append(code.co_filename.removeprefix(SOURCE))

    def __str__(self) -> str:
        changes = sum(one != other for one, other in pairwise(self.entered))
        return f"{len(set(self.entered)):4} files {changes:6} changes"


@contextmanager
def walking(found: Walk) -> Iterator[None]:
    """Follow the calls of this thread and of those that begin in it."""
    threading.setprofile(found)
    sys.setprofile(found)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def walk(task: Callable[[], object]) -> Walk:
    """What one call enters."""
    found = Walk()
    with walking(found):
        task()
    return found


def simulated_step() -> Walk:
    """EBS-D on five arms, after a hundred samples."""
    works = make_works("simulate", "ebs-d", [[0.9, 0.7, 0.5, 0.3, 0.1]], 0.05, 1, {})
    job = works.jobs[0][0]
    assert isinstance(job, Job)
    room, task, source = job.room().room, job.task, job.source
    with np.errstate(all="ignore"):
        now = begin(0, task, source, room)
        for _ in range(100):
            now = step(job.select, task, source, room, now)
        return walk(lambda: step(job.select, task, source, room, now))


def made(**settings: Any) -> Any:
    """An experiment on three arms that has begun."""
    experiment = truebest.Experiment.create("memory:", "walk", list("abc"), bounds=(0, 1), seed=1, **settings)
    for pull in experiment.ask(6):
        experiment.tell(pull.id, 0.5)
    return experiment


def live_tell() -> Walk:
    """Of an independent pull."""
    experiment = made()
    (pull,) = experiment.ask(1)
    return walk(lambda: experiment.tell(pull.id, 0.7))


def completing_tell() -> Walk:
    """Of the last value of a round."""
    experiment = made(items=100)
    *others, last = experiment.ask(3)
    for pull in others:
        experiment.tell(pull.id, 0.7)
    return walk(lambda: experiment.tell(last.id, 0.4))


def http_tell() -> Walk:
    """Of an independent pull, from the request to the answer, in all threads."""
    store = open_store("memory:")
    experiment = truebest.Experiment.create(store, "walk", list("abc"), bounds=(0, 1), seed=1)
    found = Walk()

    async def calls() -> None:
        app, _ = make_app(store, Tokens(TOKEN), Way("127.0.0.1"))
        for _ in range(8):
            (pull,) = experiment.ask(1)
            body = f'{{"experiment": "walk", "results": [{{"pull": {pull.id}, "value": 0.5}}]}}'
            found.entered.clear()
            await request(app, body.encode())

    with walking(found):
        asyncio.run(calls())
    return found


async def request(app: Any, body: bytes) -> None:
    """POST /v1/tell; its answer must be one of success."""
    headers = [
        (b"host", b"127.0.0.1"),
        (b"authorization", f"Bearer {TOKEN}".encode()),
        (b"content-type", b"application/json"),
    ]
    scope = {"type": "http", "method": "POST", "path": "/v1/tell", "raw_path": b"/v1/tell"}
    scope |= {"query_string": b"", "client": ("127.0.0.1", 1), "http_version": "1.1", "scheme": "http"}
    scope["headers"] = headers

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        assert message.get("status", 200) == 200, message

    await app(scope, receive, send)


def identify_command() -> Walk:
    """Two commands, three samples, and the table."""
    arms = ["--arm", "a=echo 0.5", "--arm", "b=echo 0.4"]
    return walk(lambda: command(["identify", *arms, "--bounds", "0,1", "--max-samples", "3"]))


def main() -> None:
    """Print a line for each."""
    for task in (simulated_step, live_tell, completing_tell, http_tell, identify_command):
        found = task()
        print(f"{task.__name__.replace('_', ' '):18}{found}")


if __name__ == "__main__":
    main()
