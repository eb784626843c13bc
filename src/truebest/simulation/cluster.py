"""The runs on a Dask cluster: a part of them is a pure function of (job, first run, number).

So it does not matter which machine does which part, nor how often: what a lost worker had, Dask gives to
another, and the result is the same to the bit. Workers must have the same version of truebest, which is
checked.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from .. import __version__
from ..errors import InvalidInputError, TruebestError
from .gathering import Gathered
from .job import Job, Part
from .progress import Reporter

CHUNK_SECONDS = 1.0  # how long a worker works before it reports; the next chunk is sized by the last
AHEAD = 2  # parts under way for each thread of the cluster


def run_on_cluster(work: Sequence[Gathered[Job]], cluster: Any, reporter: Reporter) -> bool:
    """Do all runs; False if interrupted.

    cluster  a `dask.distributed.Client`, or the address of a scheduler
    Raises   InvalidInputError if it is neither; TruebestError if the cluster fails
    """
    with _client(cluster) as (client, dask):
        waiting = dask.as_completed(loop=client.loop, with_results=True, raise_errors=False)
        whose: dict[str, Gathered[Job]] = {}
        try:
            most = AHEAD * max(1, sum(client.nthreads().values()))
            for one in _ahead(work, most):
                _submit(client, waiting, whose, one)
            for future, result in waiting:
                one = whose.pop(future.key)
                if future.status != "finished":
                    raise _failure(future)
                part, seconds = result
                one.add(part)
                wanted = int(part.runs * CHUNK_SECONDS / max(seconds, 1e-6)) + 1
                one.chunk = max(1, min(wanted, 4 * one.chunk, 1 + one.wanted // 16))
                reporter.add(part.runs)
                for later in _ahead(work, most - len(whose)):
                    _submit(client, waiting, whose, later)
        except KeyboardInterrupt:
            return False
        finally:
            waiting.clear()
            client.cancel([dask.Future(key, client) for key in whose], force=True)
    return True


def _ahead(work: Sequence[Gathered[Job]], room: int) -> Iterator[Gathered[Job]]:
    """Whose runs come next, until every thread of the cluster has enough to do."""
    for one in work:
        while room > 0 and one.given < one.wanted:
            room -= 1
            yield one


def _submit(client: Any, waiting: Any, whose: dict[str, Gathered[Job]], one: Gathered[Job]) -> None:
    first, runs = one.give(one.chunk)
    future = client.submit(do_part, one.job, first, runs, __version__, pure=False)
    whose[future.key] = one
    waiting.add(future)


def do_part(job: Job, first: int, runs: int, version: str) -> tuple[Part, float]:
    """On a worker: some runs, and how long they took."""
    if version != __version__:
        raise InvalidInputError(
            f"a worker of the cluster must have truebest {version}, as the caller has, got {__version__}; "
            f"install that version on all workers."
        )
    start = time.perf_counter()
    part = job.part(first, runs, job.room())
    return part, time.perf_counter() - start


@contextmanager
def _client(cluster: Any) -> Iterator[tuple[Any, Any]]:
    """A client of the cluster, closed in the end if it was opened here, and the package it is of."""
    given = type(cluster).__module__.startswith("distributed") and hasattr(cluster, "submit")
    if not given and not isinstance(cluster, str):
        raise InvalidInputError(
            f"cluster must be a dask.distributed.Client or the address of a scheduler, got {cluster!r:.60}; "
            f"give 'tcp://host:8786', say, or Client(...) of a LocalCluster."
        )
    if given and cluster.status != "running":
        raise InvalidInputError(
            f"cluster must be a Client that is running, got one that is {cluster.status}; open another."
        )
    try:
        dask: Any = import_module("distributed")
    except ImportError:
        raise InvalidInputError(
            "a cluster needs the package distributed of Dask, which is not installed; pip install "
            "'truebest[dask]', or leave out the cluster."
        ) from None
    if given:
        yield cluster, dask
        return
    try:
        _try_address(cluster)
        client = dask.Client(cluster, timeout=10, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError, TimeoutError) as error:
        raise InvalidInputError(
            f"cluster must be the address of a running Dask scheduler, got {cluster!r}, where none answers "
            f"({type(error).__name__}); start one with `dask scheduler`, or correct the address."
        ) from None
    try:
        yield client, dask
    finally:
        client.close()


def _try_address(address: str) -> None:
    """ValueError or OSError where no scheduler can be; a client that finds this out leaves threads behind."""
    comm: Any = import_module("distributed.comm")
    scheme, place = comm.parse_address(address)
    import_module("distributed.comm.registry").get_backend(scheme)
    if scheme == "tcp":
        socket.create_connection(comm.parse_host_port(place), timeout=10).close()


def _failure(future: Any) -> TruebestError:
    """What a part failed with: ours as it is, anything else in one sentence."""
    try:
        error = future.exception(timeout=10)
    except Exception as lost:  # cancelled, by another client or because the scheduler is gone
        error = lost
    if isinstance(error, TruebestError):
        return error
    said = next(iter(str(error).splitlines()), "")
    return TruebestError(
        f"the cluster failed ({type(error).__name__}: {said[:200]}); see that its workers run and have the "
        f"same truebest, or simulate without it."
    )
