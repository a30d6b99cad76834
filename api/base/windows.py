"""Windows in which requests are counted: they begin with their first request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
            self._drop_ended(now)
            while len(self._windows) >= _MAX_WINDOWS:
                # The one that ends next; its client may begin again.
                del self._windows[next(iter(self._windows))]
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
