"""Which picture is drawn next: organisations take turns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from api.http.errors import RateLimited

MAX_AT_ONCE: Final = 2
# Drawn within half the time that proxies wait for a response, even if each takes a second.
MAX_WAITING: Final = 14
RETRY_AFTER_SECONDS: Final = 5


@dataclass(kw_only=True, slots=True)
class _Organisation:
    requests: int = 0
    at_once: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_AT_ONCE))


class Turns:
    """Turns at drawing, one at a time: each picture takes one processor and much memory.

    First come, first served, with at most two pictures of an organisation: the one that is drawn
    and the next. Its others wait until one of these is done, so another organisation waits for two
    pictures at most, and not for all of them. For the event loop only.
    """

    def __init__(self) -> None:
        self._drawing = asyncio.Semaphore(1)
        self._organisations: dict[str, _Organisation] = {}

    @asynccontextmanager
    async def turn(self, organisation_id: str) -> AsyncIterator[None]:
        """Waits for a turn, and ends it. A request that is cancelled leaves the queue.

        Raises RateLimited if too many of the organisation's pictures wait.
        """
        organisation = self._organisations.setdefault(organisation_id, _Organisation())
        if organisation.requests >= MAX_AT_ONCE + MAX_WAITING:
            raise RateLimited(
                "Too many pictures of this organisation are being drawn; try again in "
                f"{RETRY_AFTER_SECONDS} seconds.",
                RETRY_AFTER_SECONDS,
            )
        organisation.requests += 1
        try:
            async with organisation.at_once, self._drawing:
                yield
        finally:
            organisation.requests -= 1
            if not organisation.requests:
                del self._organisations[organisation_id]
