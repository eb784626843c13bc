"""A writer that is killed again and again, and what must be true afterwards."""

from __future__ import annotations

import json
import os
import random
import signal
import struct
import time
from collections.abc import Callable

from truebest.experiment.experiment import Experiment
from truebest.experiment.pulls import Pull, pull_seed
from truebest.experiment.store import Store, open_store

ARMS = ("a", "b", "c")
MEANS = {"a": 0.45, "b": 0.5, "c": 0.8}


def value_of(pull: Pull) -> float:
    """What a pull gives: a function of its seed, so that a repeated pull gives the same."""
    return float(random.Random(pull.seed).random() < MEANS[pull.arm])


def begin(store: str | Store, name: str) -> Experiment:
    """The experiment that is worked on; lease None, so that only a takeover issues a pull again."""
    return Experiment.create(store, name, ARMS, bounds=(0, 1), seed=7, strategy="ebs-c", lease=None)


def work(experiment: Experiment, acknowledge: Callable[[int], object] = lambda pull: None) -> None:
    """Take over what is out, then ask and tell until it is decided."""
    experiment.reclaim()
    while pulls := experiment.ask():
        experiment.tell(pulls[0], value_of(pulls[0]))
        acknowledge(pulls[0].id)


def killed_worker(url: str, name: str, seconds: float) -> tuple[list[int], bool]:
    """Fork a worker, kill it so long after its first sign of life; returns what it acknowledged.

    The second answer is whether it had come to its end before.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            os.write(writer, struct.pack("<q", 0))
            work(begin(url, name), lambda pull: os.write(writer, struct.pack("<q", pull)))
            os._exit(0)
        except BaseException as error:  # shown by the parent
            os.write(2, f"worker: {error!r}\n".encode())
            os._exit(1)
    os.close(writer)
    first = os.read(reader, 8)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    received = first
    while more := os.read(reader, 65536):
        received += more
    os.close(reader)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the worker failed"
    numbers = [n for (n,) in struct.iter_unpack("<q", received[: len(received) // 8 * 8])]
    return numbers[1:], not os.WIFSIGNALED(status)


def check(url: str, name: str, acknowledged: set[int]) -> None:
    """Every acknowledged pull is in the log once, with its own value; the log has no holes."""
    store = open_store(url)
    experiment = Experiment.open(store, name)
    events = experiment.history()
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    told = [event for event in events if event.kind == "told"]
    numbers = [event.pull for event in told]
    assert len(set(numbers)) == len(numbers), "an observation was doubled"
    assert acknowledged <= set(numbers), "an acknowledged observation was lost"
    asked = {e.pull: e.arm for e in events if e.kind == "asked"}
    for event in told:
        assert event.arm == asked[event.pull]
        number = event.pull or 0
        pull = Pull(number, event.arm or "", pull_seed(experiment.settings.seed, number))
        assert event.value == value_of(pull)
    store.close()


def outcome(store: Store, name: str) -> str:
    """Everything that must not depend on crashes."""
    experiment = Experiment.open(store, name)
    status = experiment.status()
    asked = sorted({(e.pull or 0, e.arm) for e in experiment.history() if e.kind == "asked"})
    return json.dumps([status.best, status.samples, status.means, status.progress.statistic, asked])


def uninterrupted() -> str:
    """The outcome of the same experiment without a crash."""
    store = open_store("memory:")
    work(begin(store, "x"))
    return outcome(store, "x")
