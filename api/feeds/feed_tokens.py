"""The token in a path as a credential: what it opens, and the limits of its use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from starlette.types import Scope

from api.http.handlers import Services
from storage.base import secrets
from storage.base.errors import NotFound
from storage.db.database import Transaction

T = TypeVar("T")


class FeedTokens(Generic[T]):
    """Finds owners of tokens. ``kind`` names what is not found.

    ``prefix`` is what the tokens of the kind begin with.
    """

    def __init__(
        self,
        services: Services,
        kind: str,
        find_by_token: Callable[[Transaction, str], T | None],
        prefix: str = "",
    ) -> None:
        self._database = services.database
        self._limits = services.rate_limits
        self._kind = kind
        self._prefix = prefix
        self._find = find_by_token

    async def owner(self, scope: Scope, token: str) -> T:
        """Raises NotFound; RateLimited for too many requests of a feed or too many wrong tokens."""
        # A malformed token costs no query.
        is_token = token.startswith(self._prefix) and secrets.is_token(
            token.removeprefix(self._prefix)
        )
        owner = await self._database.read(self._find, token) if is_token else None
        if owner is None:
            if self._limits is not None:
                self._limits.record_failure(scope)
            raise NotFound(self._kind)
        if self._limits is not None:
            await self._limits.feeds.hit(scope, secrets.fingerprint(token))
        return owner
