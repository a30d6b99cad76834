"""What was used last, as much of it as fits: memory with a bound in bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Forgets what was used least recently beyond ``max_bytes``; safe between threads."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def size_bytes(self) -> int:
        """The sizes of what is kept, added up."""
        return self._bytes

    def get(self, key: K) -> V | None:
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: K, value: V, size_bytes: int) -> None:
        """Keep a value in place of the key's last one; what alone exceeds the bound is not kept."""
        with self._lock:
            replaced = self._kept.pop(key, None)
            if replaced is not None:
                self._bytes -= replaced[1]
            if size_bytes > self._max_bytes:
                return
            self._kept[key] = value, size_bytes
            self._bytes += size_bytes
            while self._bytes > self._max_bytes:
                _, (_, dropped) = self._kept.popitem(last=False)
                self._bytes -= dropped
