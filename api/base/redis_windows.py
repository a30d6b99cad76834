"""Windows in Redis, shared by all processes. While Redis is unavailable, nothing is limited.

The library ``redis`` takes 0.15 s to import, so it is imported where it is needed.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import limits
import structlog
from limits.aio.storage import RedisStorage
from limits.errors import ConfigurationError
from limits.storage import storage_from_string

# The time-out of a count, and how long Redis is not called after a failure.
REDIS_SECONDS: Final = 0.25
REDIS_PAUSE_SECONDS: Final = 5.0

_DEFAULT_PORT: Final = 6379
# How the messages of servers begin: MISCONF, NOREPLICAS, CLUSTERDOWN.
_SERVERS_CODE: Final = re.compile(r"[A-Z]{3,20}\b")

_log = structlog.stdlib.get_logger("hiatus.rate_limits")
Seconds = Callable[[], float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """The number of requests in the window, including this one, and the seconds until it ends."""

    number: int
    ends_in_seconds: float


class RedisUnavailable(Exception):
    """A count failed. The message is a reason without the URL, which may contain a password."""


class RedisWindows:
    """For one event loop. Raises ValueError if the URL cannot be used."""

    def __init__(self, url: str, seconds: Seconds = time.monotonic) -> None:
        self._storage = _open(url)
        self._seconds = seconds
        self._is_away = False
        self._paused_until = -math.inf

    async def hit(self, limit: limits.RateLimitItem, name: str) -> Hit | None:
        """Count a request; None if Redis is unavailable: no limit applies."""
        now = self._seconds()
        if now < self._paused_until:
            return None
        was_away = self._is_away
        if was_away:
            # The other requests do not wait with this one to see whether Redis is back.
            self._paused_until = now + REDIS_PAUSE_SECONDS
        try:
            hit = await self.count(limit, name)
        except RedisUnavailable as error:
            # Requests that were sent at the same time fail for the same reason.
            if was_away or not self._is_away:
                _log.warning("nothing is limited: Redis is unavailable", reason=str(error))
            self._is_away, self._paused_until = True, self._seconds() + REDIS_PAUSE_SECONDS
            return None
        if was_away:
            self._is_away, self._paused_until = False, -math.inf
            _log.info("limits hold again: Redis is available")
        return hit

    async def count(self, limit: limits.RateLimitItem, name: str) -> Hit:
        """Count a request. Raises RedisUnavailable."""
        from redis.exceptions import RedisClusterException, RedisError

        key = limit.key_for("hiatus", name)
        try:
            async with asyncio.timeout(REDIS_SECONDS):
                number = await self._storage.incr(key, limit.get_expiry())
                ends_at = await self._storage.get_expiry(key)
        except (RedisError, RedisClusterException, OSError) as error:
            raise RedisUnavailable(_reason(error)) from error
        return Hit(number=number, ends_in_seconds=max(ends_at - time.time(), 0.0))

    async def close(self) -> None:
        """Close the connections; call on the event loop that uses them."""
        # The bridge's attributes depend on the Redis library, so its type does not have them.
        await self._storage.bridge.get_connection().aclose()  # type: ignore[attr-defined]


def is_usable(url: str) -> bool:
    """Whether ``RedisWindows`` accepts the URL; it does not connect."""
    try:
        _open(url)
    except ValueError:
        return False
    return True


def _open(url: str) -> RedisStorage:
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff
    from redis.exceptions import RedisClusterException, RedisError

    try:
        storage = storage_from_string(
            f"async+{_with_port(url)}",
            implementation="redispy",
            socket_timeout=REDIS_SECONDS,
            socket_connect_timeout=REDIS_SECONDS,
            # Redis may have closed a connection that was idle.
            retry=Retry(NoBackoff(), 1),  # type: ignore[arg-type]  # passed on as it is
        )
        assert isinstance(storage, RedisStorage)
        if url.startswith(("redis://", "rediss://", "redis+unix://")):
            # An unknown parameter would only be found with the first connection.
            storage.bridge.get_connection().connection_pool.make_connection()  # type: ignore[attr-defined]
    except (ConfigurationError, RedisClusterException, RedisError, TypeError, ValueError):
        # Their messages contain the URL.
        raise ValueError("The URL cannot be used.") from None
    return storage


def _with_port(url: str) -> str:
    """The URL of one server with its port, which the library ``limits`` requires."""
    parts = urlsplit(url)
    if parts.fragment:
        raise ValueError("A # begins a fragment, and is probably part of a password.")
    if parts.scheme not in ("redis", "rediss") or not parts.hostname or parts.port is not None:
        return url
    return parts._replace(netloc=f"{parts.netloc.rstrip(':')}:{_DEFAULT_PORT}").geturl()


def _reason(error: Exception) -> str:
    from redis import exceptions

    match error:
        case exceptions.AuthenticationError() | exceptions.AuthenticationWrongNumberOfArgsError():
            return "it refuses the user or the password"
        case exceptions.NoPermissionError():
            return "its user may not run EVALSHA, SCRIPT LOAD and TTL"
        case TimeoutError() | exceptions.TimeoutError():
            return f"no answer within {REDIS_SECONDS:g} s"
        case exceptions.RedisClusterException():
            return "no node of the cluster answers"
        case exceptions.BusyLoadingError():
            return "it is still loading its data"
        case exceptions.ReadOnlyError():
            return "it is a replica"
        case exceptions.OutOfMemoryError():
            return "its memory is full"
        case exceptions.ConnectionError() | OSError():
            return "its certificate is not trusted" if _is_certificate(error) else "no connection"
        case _:
            code = _SERVERS_CODE.match(str(error))
            return code[0] if code else type(error).__name__


def _is_certificate(error: Exception) -> bool:
    return "CERTIFICATE_VERIFY_FAILED" in str(error)
