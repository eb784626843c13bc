"""Calls that come while one is being made are gathered, and made together as the next one.

A commit takes milliseconds, most of them spent waiting for the disk, however much is in it. So sixty-four
clients that tell ten results each take one or two commits, and not sixty-four.

A call that decides may take seconds, as its log is replayed. The next one waits only a moment for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Generic, TypeVar

from ..errors import InvalidInputError

Item = TypeVar("Item")
Answer = TypeVar("Answer")

MOST = 64  # calls that are made as one
SLOW = 0.25  # seconds after which the next call is made beside the one that is under way
BESIDE = 3  # of them at once; there are more threads than that


class Gathered(Generic[Item, Answer]):
    """Hands lists of items to a function that answers each of them.

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
            if len(self._under_way) >= BESIDE:
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
