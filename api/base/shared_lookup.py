"""One query for the keys or feed tokens of all requests that arrive together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Generic, TypeVar

T = TypeVar("T")

# How many iterations of the event loop a query waits for more requests. Fewer queries leave the
# loop more time. A timer would wait a whole millisecond, for most of which the loop would be idle.
GATHERING_ITERATIONS: Final = 10

# How long a query waits for the one before it, which may hang.
MAX_WAIT_SECONDS: Final = 0.05


class SharedLookup(Generic[T]):
    """Coalesces concurrent look-ups of secrets. For one event loop.

    A request joins only a query that has not begun, so a secret that was revoked before the request
    is not found. ``find_all`` runs the query; secrets that it does not return are unknown.
    """

    def __init__(self, find_all: Callable[[set[str]], Awaitable[Mapping[str, T]]]) -> None:
        self._find_all = find_all
        # For the next query.
        self._secrets: set[str] = set()
        self._next_query: asyncio.Task[Mapping[str, T]] | None = None
        self._last_query: asyncio.Task[Mapping[str, T]] | None = None

    async def find(self, secret: str) -> T | None:
        """The value of the secret. Raises the errors of ``find_all``."""
        self._secrets.add(secret)
        if self._next_query is None:
            self._next_query = asyncio.create_task(self._query())
        # A cancelled request must not cancel the query of the others.
        values = await asyncio.shield(self._next_query)
        return values.get(secret)

    async def _query(self) -> Mapping[str, T]:
        for _ in range(GATHERING_ITERATIONS):
            await asyncio.sleep(0)
        if self._last_query is not None and not self._last_query.done():
            # Meanwhile more requests join this query: with many small queries at once, threads
            # compete for the interpreter lock.
            await asyncio.wait([self._last_query], timeout=MAX_WAIT_SECONDS)
        self._last_query, self._next_query = self._next_query, None
        secrets, self._secrets = self._secrets, set()
        return await self._find_all(secrets)
