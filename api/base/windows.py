"""Windows in which requests are counted: they begin with their first request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import limits

# The clients of one window. With more, some have a higher limit.
_MAX_WINDOWS: Final = 32_768

Seconds = Callable[[], float]


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """The number of requests in the window, including this one, and the seconds until it ends."""

    number: int
    ends_in_seconds: float


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
