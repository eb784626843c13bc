"""Who has a pull, and for how long: names of workers, leases, and what the decision waits for.

A pull that nobody answers is issued again when its lease ends. Whoever evaluates it may renew the lease, so
that a pull lapses when its worker is silent, and not when it is slow: issuing slow pulls again would draw
their values again, and favour those that come quickly. Renewals are kept beside the log (`Log.renew`): no
decision depends on them.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

from ..errors import InvalidInputError
from .names import check_name

SILENCE = 180.0  # seconds after which a worker that renews its leases by itself counts as gone
BEATS = 3  # renewals within a lease: one may fail
CLOCK_STEP = 60.0  # seconds that a clock may be set back before a deadline counts as one of a wrong clock


class Open(NamedTuple):
    """A pull without a value: being evaluated (`out`), or waiting to be issued again.

    check     whether the rule is asked after its value
    together  whether its value is one of several from before, of which the order is not known
    """

    arm: int
    check: bool
    deadline: float | None
    out: bool
    worker: str | None = None
    together: bool = False


def expired(
    pulls: Mapping[int, Open],
    now: float,
    lease: float | None,
    renewed: Callable[[], Mapping[int, float]],
) -> list[int]:
    """Pulls that are pending for longer than their lease, or were asked when the clock was far ahead.

    lease    of the experiment, in seconds
    renewed  reads until when leases were renewed; called only if a deadline has passed
    """
    length = lease or 0.0
    farthest = now + length + max(length, CLOCK_STEP)
    late = [
        pull
        for pull, item in pulls.items()
        if item.out and item.deadline is not None and not now < item.deadline <= farthest
    ]
    if not late:
        return []
    until = renewed()
    return [pull for pull in late if not now < until.get(pull, 0.0) <= farthest]


def worker_name(given: str | None) -> str:
    """A name for this worker: the host and the process, unless another one is given."""
    if given is None:
        return f"{_host()}:{os.getpid()}"
    return check_name("the name of a worker", given)


@cache
def _host() -> str:
    """The name of this computer, asked for once."""
    return socket.gethostname()


def own_lease(lease: float | None) -> float | None:
    """The lease of a worker that renews it: short, since silence is all that ends it."""
    return None if lease is None else min(lease, SILENCE)


def is_gone(worker: str | None) -> bool:
    """Whether a worker surely works no more: it is named after a process of this host that has ended."""
    host, _, process = (worker or "").rpartition(":")
    if host != _host() or not process.isdecimal() or os.name != "posix":
        return False
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:  # somebody else's
        pass
    return False


def refuse_unknown(worker: str, pulls: Mapping[int, Open], experiment: str) -> None:
    """Refuse the name of a worker that has no pull."""
    known = sorted({item.worker for item in pulls.values() if item.out and item.worker is not None})
    if worker not in known:
        raise InvalidInputError(
            f"no worker {worker!r:.80} has a pull of experiment {experiment!r}; pending pulls are with "
            f"{', '.join(known[:8]) or 'workers without a name'}."
        )
