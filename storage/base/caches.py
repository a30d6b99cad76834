"""A cache of values that differ in size. Functions are cached by ``functools.lru_cache``."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LRUCache(Generic[K, V]):
    """Drops the least recently used values, to stay within ``max_size``. Thread-safe."""

    def __init__(self, max_size: int) -> None:
        self._max_size = max_size
        self._size = 0
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: K, value: V, size: int = 1) -> None:
        """Replace the key's value. A value that alone exceeds the bound is not cached."""
        with self._lock:
            replaced = self._entries.pop(key, None)
            if replaced is not None:
                self._size -= replaced[1]
            if size > self._max_size:
                return
            self._entries[key] = value, size
            self._size += size
            while self._size > self._max_size:
                _, (_, dropped) = self._entries.popitem(last=False)
                self._size -= dropped
