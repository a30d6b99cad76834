"""One query for the feed tokens of all requests that arrive in the same event-loop iteration."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from storage.access.feed_owners import FeedOwner

FindAll = Callable[[set[str]], Awaitable[Mapping[str, FeedOwner]]]


class OwnerLookup:
    """Coalesces concurrent look-ups of feed tokens. For one event loop.

    A request joins only a query that has not begun, so a token that was revoked before the request
    is not found. ``find_all`` runs the query; see ``feed_owners.find_by_tokens``.
    """

    def __init__(self, find_all: FindAll) -> None:
        self._find_all = find_all
        # For the next query.
        self._tokens: set[str] = set()
        self._next_query: asyncio.Task[Mapping[str, FeedOwner]] | None = None

    async def find(self, token: str) -> FeedOwner | None:
        """The owner of the feed with this token, if any. Raises what ``find_all`` raises."""
        self._tokens.add(token)
        if self._next_query is None:
            # A task begins in the next iteration of the event loop.
            self._next_query = asyncio.create_task(self._query())
        # A cancelled request must not cancel the query of the others.
        owners = await asyncio.shield(self._next_query)
        return owners.get(token)

    async def _query(self) -> Mapping[str, FeedOwner]:
        tokens, self._tokens, self._next_query = self._tokens, set(), None
        return await self._find_all(tokens)
