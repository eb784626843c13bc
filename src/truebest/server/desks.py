"""The experiments that are in use: one object each, for all who call and watch.

A desk has the `Experiment`, through which everything goes, and what follows it for those who watch. It is
opened when somebody asks for it, and put away when the store fails, or when many others were asked for since.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from itertools import islice
from typing import Any, Generic, TypeVar

from ..errors import InvalidInputError, StoreError, TruebestError
from ..experiment.experiment import Experiment
from ..experiment.names import check_name
from ..experiment.overview import overview
from ..experiment.pulls import Pulls
from ..experiment.store import Store
from .answers import ProblemError
from .live import Live
from .views import summary

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Pairs = list[tuple[int, float]]

THREADS, WATCHERS = 8, 4
MOST = 64  # calls that are made as one
SLOW = 0.25  # seconds after which the next call is made beside the one that is under way
AT_ONCE = 3  # of them at once; there are more threads than that
MOST_DESKS, MOST_SUMMARIES = 500, 2_000


class Gathered(Generic[Item, Answer]):
    """Hands lists of items to a function that answers each of them; those that come meanwhile are gathered.

    A commit takes milliseconds, most of them spent waiting for the disk, however much is in it. So sixty-four
    clients that tell ten results each take one or two commits, and not sixty-four. A call that decides may
    take seconds, as its log is replayed. The next one waits only a moment for it.

    function  called in a thread, and not twice at once unless it takes long; if it raises InvalidInputError
              it must have done nothing, and is called again for each item alone, so that one caller's mistake
              is only theirs
    """

    def __init__(self, function: Callable[[Sequence[Item]], list[Answer]], pool: Executor) -> None:
        self._function, self._pool = function, pool
        self._waiting: list[tuple[Item, asyncio.Future[Answer]]] = []
        self._task: asyncio.Task[None] | None = None
        self._under_way: set[asyncio.Task[None]] = set()

    async def __call__(self, item: Item) -> Answer:
        """The answer to one item."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer] = loop.create_future()
        self._waiting.append((item, future))
        if self._task is None:
            self._task = loop.create_task(self._work())
        return await future

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            some, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
            made = loop.create_task(self._make(some))
            self._under_way.add(made)
            made.add_done_callback(self._under_way.discard)
            await asyncio.wait({made}, timeout=SLOW)
            if len(self._under_way) >= AT_ONCE:
                await asyncio.wait(self._under_way, return_when=asyncio.FIRST_COMPLETED)
        self._task = None

    async def _make(self, some: list[tuple[Item, asyncio.Future[Answer]]]) -> None:
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(self._pool, self._answers, [item for item, _ in some])
        for (_, future), answer in zip(some, found, strict=True):
            if future.done():  # who asked is gone
                continue
            if isinstance(answer, BaseException):
                future.set_exception(answer)
            else:
                future.set_result(answer)

    def _answers(self, items: list[Item]) -> Sequence[Answer | Exception]:
        try:
            return self._function(items)
        except InvalidInputError as error:
            if len(items) == 1:
                return [error]
        except Exception as error:
            return [error] * len(items)
        return [answer for item in items for answer in self._answers([item])]


class OpenExperiment:
    """One experiment.

    pool      the threads in which it is read and changed
    watchers  those in which it is followed, which may take longer
    """

    def __init__(
        self, experiment: Experiment, pool: ThreadPoolExecutor, watchers: ThreadPoolExecutor
    ) -> None:
        self.experiment = experiment
        self.live = Live(experiment, watchers)
        self.ask: Gathered[tuple[str, int], Pulls] = Gathered(self._ask, pool)
        self.tell: Gathered[Pairs, list[str]] = Gathered(self._tell, pool)

    def _ask(self, wanted: Sequence[tuple[str, int]]) -> list[Pulls]:
        return self.experiment.ask_for(wanted)

    def _tell(self, told: Sequence[Pairs]) -> list[list[str]]:
        outcomes = iter(self.experiment.tell([pair for pairs in told for pair in pairs]))
        return [list(islice(outcomes, len(pairs))) for pairs in told]


class Desks:
    """All of them, and the threads in which experiments are read and changed."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._pool = ThreadPoolExecutor(THREADS, "truebest")
        self._watchers = ThreadPoolExecutor(WATCHERS, "truebest-live")
        self._desks: OrderedDict[str, OpenExperiment] = OrderedDict()
        self._was_there = store.exists()
        self._summaries: dict[str, tuple[tuple[int, str], dict[str, Any]]] = {}  # of logs that end so

    async def call(self, function: Callable[[], Answer]) -> Answer:
        """Do something that takes a while, in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, function)

    def check_there(self) -> None:
        """Refuse to take a store that is gone for one that is still to be made.

        Raises  StoreError if the store was there before and is not any more
        """
        there = self.store.exists()
        if self._was_there and not there:
            raise StoreError(
                f"the store {self.store.place} is gone: it was moved or deleted while it was served; put it "
                f"back, then repeat the call."
            )
        self._was_there = there

    async def names(self) -> list[str]:
        """All experiments; none if the store is still to be made."""
        self.check_there()
        return await self.call(self.store.names) if self._was_there else []

    def summary(self, name: str) -> dict[str, Any]:
        """A line for the list, made anew if the log has grown."""
        with self.store.reading(name) as log:
            end = log.last, log.head
        known = self._summaries.get(name)
        if known is None or known[0] != end:
            if len(self._summaries) >= MOST_SUMMARIES:
                self._summaries.clear()
            known = self._summaries[name] = end, summary(overview(self.store, name))
        return known[1]

    async def at(self, name: str) -> OpenExperiment:
        """The desk of an experiment.

        Raises  ProblemError if there is no such experiment, StoreError
        """
        if name not in self._desks:
            check_name("the name of an experiment", name)
            try:
                experiment = await self.call(lambda: Experiment.open(self.store, name))
            except InvalidInputError as error:
                self.check_there()
                raise ProblemError(404, "missing", str(error)) from error
            self.keep(experiment)
        self._desks.move_to_end(name)
        return self._desks[name]

    def keep(self, experiment: Experiment) -> None:
        """Make a desk for an experiment, unless there is one; put one away that nobody has used for long."""
        self._was_there = True
        if experiment.name not in self._desks:
            self._desks[experiment.name] = OpenExperiment(experiment, self._pool, self._watchers)
        if len(self._desks) > MOST_DESKS:
            idle = next((name for name, desk in self._desks.items() if not desk.live.viewers), None)
            if idle is not None and idle != experiment.name:
                del self._desks[idle]

    async def use(self, name: str, function: Callable[[Experiment], Answer]) -> Answer:
        """Do something with an experiment, in a thread; what fails is opened anew the next time."""
        desk = await self.at(name)
        try:
            return await self.call(lambda: function(desk.experiment))
        except TruebestError as error:
            await self.failed(name, error)
            raise

    async def failed(self, name: str, error: TruebestError) -> None:
        """Put a desk away after a failure of the store, or if its experiment was deleted.

        Raises  ProblemError in the second case
        """
        if isinstance(error, StoreError):
            self._desks.pop(name, None)
        elif isinstance(error, InvalidInputError) and name not in await self.names():
            self._desks.pop(name, None)
            raise ProblemError(404, "missing", str(error)) from error

    def forget(self, desk: OpenExperiment) -> None:
        """Put a desk away, so that its experiment is opened anew."""
        if self._desks.get(desk.experiment.name) is desk:
            del self._desks[desk.experiment.name]

    def end(self) -> None:
        """Let everybody who watches go; no more is followed."""
        for desk in self._desks.values():
            desk.live.end()

    def close(self) -> None:
        """Wait for what is being done, and close the store."""
        self._watchers.shutdown()
        self._pool.shutdown()
        self.store.close()
