"""Rate limits of API keys and feed tokens, and of failed authentications per address.

Windows begin with their first request and are counted in this process, or in Redis for many. An
address is the client's, from the server and its trusted proxies.
Source: draft-ietf-httpapi-ratelimit-headers.
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections.abc import Awaitable, Callable
from functools import lru_cache, partial
from typing import Final

import limits
from starlette.types import Scope

from api.base.redis_windows import Hit, RedisWindows, Seconds
from api.base.settings import MEMORY_URL
from api.http.errors import RateLimited
from storage.base import texts

# Failed authentications per address: at least a tenth of a key's limit. Only failures are counted
# and refused: keys of 32 random bytes cannot be guessed, so valid keys are not affected by other
# clients at the same address.
FAILURE_LIMIT: Final = limits.parse("60/minute")
# The clients of one window. With more, some have a higher limit.
_MAX_WINDOWS: Final = 32_768


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
            # Those that have ended and, if there are too many, the next to end.
            while self._windows:
                oldest = next(iter(self._windows))
                if self._windows[oldest][1] > now and len(self._windows) < _MAX_WINDOWS:
                    break
                del self._windows[oldest]
            number, ends_at = 0, now + self._length
        self._windows[name] = (number + 1, ends_at)
        return Hit(number=number + 1, ends_in_seconds=ends_at - now)


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


def client_address(scope: Scope) -> str:
    """The client's IP address in its shortest form; "" if the forwarded value is not an address."""
    client = scope.get("client")
    return _shortest(client[0]) if client else ""


@lru_cache(maxsize=4_096)
def customer_network(address: str) -> str:
    """The usual range of one customer: the IPv4 address, or the /64 of an IPv6 address."""
    if ":" not in address:
        return address
    return str(ipaddress.ip_network((address.partition("%")[0], 64), strict=False))


@lru_cache(maxsize=4_096)
def _shortest(text: str) -> str:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(address)
