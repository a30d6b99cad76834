"""Rate limits of API keys and feed tokens, and of failed authentications per address.

Windows begin with their first request and are counted in this process, or in Redis for many.
Source: draft-ietf-httpapi-ratelimit-headers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import limits
from starlette.types import Scope

from api.base.client_address import client_address, customer_network
from api.base.redis_windows import RedisWindows
from api.base.settings import MEMORY_URL
from api.base.windows import Hit, MemoryCounter, Seconds
from api.http.errors import RateLimited
from storage.base import texts

# Failed authentications per address: at least a tenth of a key's limit. Only failures are counted
# and refused: keys of 32 random bytes cannot be guessed, so valid keys are not affected by other
# clients at the same address.
FAILURE_LIMIT: Final = limits.parse("60/minute")


# Counts a request by name. Returns None if the count is unknown: no limit applies.
Count = Callable[[str], Awaitable[Hit | None]]


class Policy:
    """Applies one limit: refuses requests beyond it and adds the RateLimit headers."""

    def __init__(self, limit: limits.RateLimitItem, count: Count) -> None:
        self._limit = limit
        self._count = count
        self._header = (
            b"ratelimit-policy",
            b'"default";q=%d;w=%d' % (limit.amount, limit.get_expiry()),
        )

    async def hit(self, scope: Scope, name: str) -> None:
        """Count a request and set its response headers. Raises RateLimited."""
        hit = await self._count(name)
        if hit is None:
            return
        remaining = self._limit.amount - hit.number
        seconds = _whole_seconds(hit, self._limit)
        state = b'"default";r=%d;t=%d' % (max(remaining, 0), seconds)
        scope["rate_limit"] = (self._header, (b"ratelimit", state))
        if remaining < 0:
            raise _rate_limited(self._limit, seconds)


class RateLimits:
    def __init__(
        self,
        per_key: str,
        storage_url: str = MEMORY_URL,
        seconds: Seconds = time.monotonic,
        per_feed: str = "120/hour",
    ) -> None:
        self._redis = None if storage_url == MEMORY_URL else RedisWindows(storage_url, seconds)
        self._seconds = seconds
        self.keys = self._policy(limits.parse(per_key))
        self.feeds = self._policy(limits.parse(per_feed))
        # Always in memory, to protect this process and its database.
        self._failure_limit = limits.RateLimitItemPerMinute(
            max(FAILURE_LIMIT.amount, limits.parse(per_key).amount // 10)
        )
        self._failures = MemoryCounter(self._failure_limit, seconds)

    def _policy(self, limit: limits.RateLimitItem) -> Policy:
        if self._redis is None:
            return Policy(limit, MemoryCounter(limit, self._seconds).hit)
        return Policy(limit, partial(self._redis.hit, limit))

    async def connect(self) -> None:
        """Log at the start, and not with the first request, that Redis is unavailable."""
        if self._redis is not None:
            await self._redis.hit(self._failure_limit, "start")

    async def close(self) -> None:
        """Close the connections to Redis; call on the event loop that uses them."""
        if self._redis is not None:
            await self._redis.close()

    def record_failure(self, scope: Scope) -> None:
        """Count a failed authentication of the client's address. Raises RateLimited over the limit.

        Call it once the key or token is known to be wrong.
        """
        hit = self._failures.hit_now(customer_network(client_address(scope)))
        if hit.number > self._failure_limit.amount:
            raise _rate_limited(self._failure_limit, _whole_seconds(hit, self._failure_limit))


def _whole_seconds(hit: Hit, limit: limits.RateLimitItem) -> int:
    """At most the window, because rounding may turn 60 into 60.000000000001."""
    return min(math.ceil(hit.ends_in_seconds), limit.get_expiry())


def _rate_limited(limit: limits.RateLimitItem, seconds: int) -> RateLimited:
    return RateLimited(
        f"At most {texts.counted(limit.amount, 'request')} in "
        f"{texts.counted(limit.get_expiry(), 'second')}; "
        f"try again in {texts.counted(seconds, 'second')}.",
        seconds,
    )
