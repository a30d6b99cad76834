"""Callers on an event loop who ask the same at the same moment, answered by one question."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Gathering(Generic[K, V]):
    """Collects keys while a question is on its way, and asks for all of them with the next one.

    Every answer belongs to a question that was sent after its caller came: nobody is told what was
    true before he asked. For one event loop.
    """

    def __init__(self, ask: Callable[[list[K]], Awaitable[Mapping[K, V]]]) -> None:
        self._ask = ask
        self._waiting: dict[K, list[asyncio.Future[V | None]]] = {}
        self._asking: asyncio.Task[None] | None = None

    async def get(self, key: K) -> V | None:
        """What is found for the key, None for nothing. Raises whatever the question raises."""
        waiter: asyncio.Future[V | None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, []).append(waiter)
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask_until_nobody_waits())
        return await waiter

    async def _ask_until_nobody_waits(self) -> None:
        while self._waiting:
            asked, self._waiting = self._waiting, {}
            try:
                found = await self._ask([*asked])
            except asyncio.CancelledError:
                for waiter in _unsettled(asked):
                    waiter.cancel()
                raise
            except Exception as error:  # noqa: BLE001  # carried to those who asked
                for waiter in _unsettled(asked):
                    waiter.set_exception(error)
            else:
                for key, waiters in asked.items():
                    for waiter in _unsettled({key: waiters}):
                        waiter.set_result(found.get(key))


def _unsettled(asked: Mapping[K, list[asyncio.Future[V | None]]]) -> list[asyncio.Future[V | None]]:
    """Those who still wait: whoever went away meanwhile is told nothing."""
    return [waiter for waiters in asked.values() for waiter in waiters if not waiter.done()]
