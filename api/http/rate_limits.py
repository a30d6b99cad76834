"""Rate limits of API keys and feed tokens, and of failed authentications per address.

Windows begin with their first request and are counted in this process, or in Redis for many.
Source: draft-ietf-httpapi-ratelimit-headers.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

import limits
import structlog
from limits.aio.storage import RedisStorage
from limits.errors import StorageError
from limits.storage import storage_from_string
from starlette.types import Scope

from api.base.client_address import client_address, customer_network
from api.http.errors import RateLimited

# Failed authentications per address: at least a tenth of a key's limit. Only failures are counted
# and refused: keys of 32 random bytes cannot be guessed, so valid keys are not affected by other
# clients at the same address.
FAILURE_LIMIT: Final = limits.parse("60/minute")
# The time-out of Redis, and how long it is not called after a time-out.
REDIS_SECONDS: Final = 0.25
REDIS_PAUSE_SECONDS: Final = 5.0

Seconds = Callable[[], float]
_log = structlog.stdlib.get_logger("hiatus.rate_limits")


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """The number of requests in the window, including this one, and the seconds until it ends."""

    number: int
    ends_in_seconds: float


class Counter(Protocol):
    """Counts requests by name. ``hit`` returns None if the count is unknown: no limit applies."""

    async def hit(self, name: str) -> Hit | None: ...


class MemoryCounter:
    """Fixed windows in memory. Unlike the library's storage, it never scans all windows."""

    def __init__(self, limit: limits.RateLimitItem, seconds: Seconds) -> None:
        self._length = limit.get_expiry()
        self._seconds = seconds
        # Ordered by end, because all windows have the same length.
        self._windows: dict[str, tuple[int, float]] = {}

    async def hit(self, name: str) -> Hit:
        return self.hit_now(name)

    def hit_now(self, name: str) -> Hit:
        now = self._seconds()
        number, ends_at = self._windows.get(name, (0, now))
        if ends_at <= now:
            self._drop_ended(now)
            number, ends_at = 0, now + self._length
        self._windows[name] = (number + 1, ends_at)
        return Hit(number=number + 1, ends_in_seconds=ends_at - now)

    def _drop_ended(self, now: float) -> None:
        for name in list(self._ended(now)):
            del self._windows[name]

    def _ended(self, now: float) -> Iterator[str]:
        for name, (_, ends_at) in self._windows.items():
            if ends_at > now:
                return
            yield name


class RedisCounter:
    """Windows in Redis, shared by all processes. While Redis is unavailable, nothing is limited."""

    def __init__(
        self, limit: limits.RateLimitItem, storage: RedisStorage, seconds: Seconds
    ) -> None:
        self._limit = limit
        self._storage = storage
        self._seconds = seconds
        self._paused_until = -math.inf

    async def hit(self, name: str) -> Hit | None:
        if self._seconds() < self._paused_until:
            return None
        key = self._limit.key_for("hiatus", name)
        try:
            async with asyncio.timeout(REDIS_SECONDS):
                count = await self._storage.incr(key, self._limit.get_expiry())
                ends_at = await self._storage.get_expiry(key)
        except (StorageError, OSError, TimeoutError) as error:
            self._paused_until = self._seconds() + REDIS_PAUSE_SECONDS
            # Its text may contain the URL with a password.
            _log.warning("nothing is limited: Redis is unavailable", error=type(error).__name__)
            return None
        return Hit(number=count, ends_in_seconds=max(ends_at - time.time(), 0.0))


class Policy:
    """Applies one limit: refuses requests beyond it and adds the RateLimit headers."""

    def __init__(self, limit: limits.RateLimitItem, counter: Counter) -> None:
        self._limit = limit
        self._counter = counter
        self._header = (
            b"ratelimit-policy",
            b'"default";q=%d;w=%d' % (limit.amount, limit.get_expiry()),
        )

    async def hit(self, scope: Scope, name: str) -> None:
        """Count a request and set its response headers. Raises RateLimited."""
        hit = await self._counter.hit(name)
        if hit is None:
            return
        remaining = self._limit.amount - hit.number
        seconds = _whole_seconds(hit, self._limit)
        state = b'"default";r=%d;t=%d' % (max(remaining, 0), seconds)
        scope["rate_limit"] = (self._header, (b"ratelimit", state))
        if remaining < 0:
            raise _rate_limited(self._limit, seconds)


class RateLimits:
    """All limits of a process."""

    def __init__(
        self,
        per_key: str,
        storage_url: str = "memory://",
        seconds: Seconds = time.monotonic,
        per_feed: str = "120/hour",
    ) -> None:
        self._redis = _redis(storage_url)
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
            return Policy(limit, MemoryCounter(limit, self._seconds))
        return Policy(limit, RedisCounter(limit, self._redis, self._seconds))

    async def close(self) -> None:
        """Close the connection to Redis; call on the event loop that uses it."""
        if self._redis is not None:
            # The bridge's attributes depend on the Redis library, so its type does not have them.
            await self._redis.bridge.get_connection().aclose()  # type: ignore[attr-defined]

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
        f"At most {limit.amount} requests in {limit.get_expiry()} seconds; "
        f"try again in {seconds} seconds.",
        seconds,
    )


def _redis(url: str) -> RedisStorage | None:
    if url == "memory://":
        return None
    storage = storage_from_string(
        f"async+{url}",
        implementation="redispy",
        wrap_exceptions=True,
        socket_timeout=REDIS_SECONDS,
        socket_connect_timeout=REDIS_SECONDS,
    )
    assert isinstance(storage, RedisStorage)
    return storage
