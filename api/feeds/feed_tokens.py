"""The token of a feed as a credential: its owner, and the limits of its use."""

from __future__ import annotations

from starlette.types import Scope

from api.base.shared_lookup import SharedLookup
from api.http.handlers import Services
from storage.access import feed_owners
from storage.access.feed_owners import FeedOwner
from storage.base import secrets
from storage.base.errors import NotFound


class FeedTokens:
    """Finds owners in one query for all concurrent requests. ``kind`` names what is not found."""

    def __init__(self, services: Services, kind: str) -> None:
        self._limits = services.rate_limits
        self._kind = kind
        self._owners = SharedLookup(
            lambda tokens: services.database.read(feed_owners.find_by_tokens, tokens)
        )

    async def owner(self, scope: Scope, token: str) -> FeedOwner:
        """Raises NotFound; RateLimited for too many requests of a feed or too many wrong tokens."""
        # A malformed token costs no query.
        owner = await self._owners.find(token) if secrets.is_token(token) else None
        if owner is None:
            if self._limits is not None:
                self._limits.record_failure(scope)
            raise NotFound(self._kind)
        if self._limits is not None:
            await self._limits.feeds.hit(scope, secrets.fingerprint(token))
        return owner
