"""The runs on a Dask cluster: a part of them is a pure function of (job, first run, number).

So it does not matter which machine does which part, nor how often: what a lost worker had, Dask gives to
another, and the result is the same to the bit. Workers must have the same version of truebest, which is
checked.
"""

from __future__ import annotations

import socket
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from .. import __version__
from .._signature import callers
from ..errors import InvalidInputError, TruebestError
from .progress import Reporter
from .runs import Collected
from .work import Part, Work

CHUNK_SECONDS = 1.0  # how long a worker works before it reports; the next chunk is sized by the last
AHEAD = 2  # parts under way for each thread of the cluster
LOOK, PATIENCE = 1.0, 10.0  # seconds between looks at the workers; how long one may be paused unsaid


def run_on_cluster(work: Sequence[Collected[Any]], cluster: Any, reporter: Reporter) -> bool:
    """Do all runs; False if interrupted, or if the cluster failed on the way, which a warning says.

    cluster  a `dask.distributed.Client`, or the address of a scheduler
    Raises   InvalidInputError if it is neither; TruebestError if the cluster fails before any run is done;
             what a strategy raised
    """
    with _client(cluster) as (client, dask):
        waiting = dask.as_completed(loop=client.loop, with_results=True, raise_errors=False)
        whose: dict[str, Collected[Any]] = {}
        try:
            most = AHEAD * max(1, sum(client.nthreads().values()))
            for one in _ahead(work, most):
                _submit(client, waiting, whose, one)
            for future, result in _results(waiting, client):
                one = whose.pop(future.key)
                if future.status != "finished":
                    _say_failure(_failure(future), any(each.runs for each in work))
                    return False
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


def _results(waiting: Any, client: Any) -> Iterator[tuple[Any, Any]]:
    """Futures that are done, with their results, as they come; workers that are paused are said meanwhile."""
    since: dict[str, float] = {}
    looked, said = time.monotonic(), False
    while not waiting.is_empty():
        if waiting.has_ready():
            yield next(waiting)
        elif said or time.monotonic() - looked < LOOK:
            time.sleep(0.02)
        else:
            looked = time.monotonic()
            since = {worker: since.get(worker, looked) for worker in _paused(client)}
            if said := any(looked - begun >= PATIENCE for begun in since.values()):
                warnings.warn(
                    f"{len(since)} of {len(client.nthreads())} workers are paused, as their memory is full, "
                    f"and do nothing: {', '.join(sorted(since)[:3])}; start them with more memory "
                    f"(--memory-limit), or fewer on each machine.",
                    stacklevel=callers(),
                )


def _paused(client: Any) -> list[str]:
    """The workers that take no work, since they lack memory."""
    try:
        known = client.scheduler_info(n_workers=-1)["workers"]
    except Exception:  # the scheduler is gone, which the futures will tell
        return []
    return [address for address, worker in known.items() if worker.get("status") == "paused"]


def _ahead(work: Sequence[Collected[Any]], room: int) -> Iterator[Collected[Any]]:
    """Whose runs come next, until every thread of the cluster has enough to do."""
    for one in work:
        while room > 0 and one.given < one.wanted:
            room -= 1
            yield one


def _submit(client: Any, waiting: Any, whose: dict[str, Collected[Any]], one: Collected[Any]) -> None:
    first, runs = one.give(one.chunk)
    future = client.submit(do_part, one.job, first, runs, __version__, pure=False)
    whose[future.key] = one
    waiting.add(future)


def do_part(job: Work, first: int, runs: int, version: str) -> tuple[Part, float]:
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


def _failure(future: Any) -> str:
    """Why a part is not done, in one sentence without its end; Raises what is ours as it is."""
    try:
        error = future.exception(timeout=10)
    except Exception as lost:  # the scheduler is gone, or nothing of ours could be read
        error = lost
    if isinstance(error, TruebestError):
        raise error
    if error is None or future.status in ("cancelled", "lost"):
        return "the cluster was lost: its scheduler has ended, or the work was cancelled"
    said = next(iter(str(error).splitlines()), "")
    return f"the cluster failed ({type(error).__name__}: {said[:200]})"


def _say_failure(failure: str, some: bool) -> None:
    """A warning where runs are kept, an error where there are none."""
    advice = "see that its scheduler and workers run and have the same truebest, or simulate without it."
    if not some:
        raise TruebestError(f"{failure}; {advice}")
    warnings.warn(
        f"{failure}; the runs before the first missing one are kept, and more= continues them; {advice}",
        stacklevel=callers(),
    )
