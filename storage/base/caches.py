"""Caches, each with a bound that HIATUS_CACHE_MB lowers, and the list of them.

Every cache that grows with data or with what callers send is made here. Caches of what the code
itself contains, such as parsed catalogues, are plain ``functools.cache``.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import lru_cache, wraps
from itertools import groupby
from typing import Final, Generic, TypeVar, TypeVarTuple, Unpack
from weakref import WeakSet

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
Ts = TypeVarTuple("Ts")
T = TypeVar("T")

# About how much memory all caches of a process may take. The bounds in the code are for this value.
DEFAULT_MEGABYTES: Final = 64

_caches: Final[WeakSet[Cache]] = WeakSet()
_share = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class CacheSize:
    """How full a cache is; ``unit`` says what is counted."""

    name: str
    size: int
    max_size: int
    unit: str


def limit_caches(megabytes: int) -> None:
    """Give every cache, also those made later, its share of this instead of the default."""
    global _share
    _share = megabytes / DEFAULT_MEGABYTES
    for cache in list(_caches):
        cache.resize()


def limited(max_size: int) -> int:
    """The bound for a cache that may have ``max_size`` by default; at least 1."""
    return max(int(max_size * _share), 1)


def cache_sizes() -> list[CacheSize]:
    """Every cache of this process by name; those with the same name are added up."""
    sizes = sorted((cache.measure() for cache in list(_caches)), key=lambda size: size.name)
    return [_sum(same) for _, same in groupby(sizes, key=lambda size: size.name)]


def _sum(sizes: Iterable[CacheSize]) -> CacheSize:
    first, *others = sizes
    return CacheSize(
        name=first.name,
        size=first.size + sum(other.size for other in others),
        max_size=first.max_size + sum(other.max_size for other in others),
        unit=first.unit,
    )


class Cache(ABC):
    """What ``limit_caches`` and ``cache_sizes`` use of a cache. ``name`` is a label of metrics."""

    def __init__(self, name: str, max_size: int, unit: str = "entries") -> None:
        self.name = name
        self.unit = unit
        self._default_max_size = max_size
        self.max_size = limited(max_size)
        _caches.add(self)

    def resize(self) -> None:
        """Apply a new limit. Entries beyond it go with the next one that is added."""
        self.max_size = limited(self._default_max_size)

    def measure(self) -> CacheSize:
        return CacheSize(name=self.name, size=self.size(), max_size=self.max_size, unit=self.unit)

    @abstractmethod
    def size(self) -> int: ...


class MeasuredCache(Cache):
    """A cache whose owner keeps it within ``limited(max_size)``."""

    def __init__(self, name: str, max_size: int, measured: Callable[[], int]) -> None:
        super().__init__(name, max_size)
        self._measured = measured

    def size(self) -> int:
        return self._measured()


class _FunctionCache(Cache, Generic[*Ts, T]):
    def __init__(self, name: str, max_size: int, function: Callable[[Unpack[Ts]], T]) -> None:
        super().__init__(name, max_size)
        self._function = function
        self.resize()

    def resize(self) -> None:
        super().resize()
        self.lookup = lru_cache(self.max_size)(self._function)

    def size(self) -> int:
        return self.lookup.cache_info().currsize


def cached(
    name: str, max_size: int
) -> Callable[[Callable[[Unpack[Ts]], T]], Callable[[Unpack[Ts]], T]]:
    """As ``functools.lru_cache``, for functions of what callers send or rows contain.

    The bound of lru_cache alone would be fixed at import, before the settings are read. A cached
    result takes 0.1 µs longer. Arguments are positional.
    """

    def decorate(function: Callable[[Unpack[Ts]], T]) -> Callable[[Unpack[Ts]], T]:
        cache = _FunctionCache(name, max_size, function)

        @wraps(function)
        def call(*args: *Ts) -> T:
            return cache.lookup(*args)

        return call

    return decorate


class FIFOCache(Cache, Generic[K, V]):
    """Drops the values that were added first. ``get`` is that of a dict. Thread-safe."""

    def __init__(self, name: str, max_size: int) -> None:
        super().__init__(name, max_size)
        self._entries: dict[K, V] = {}
        self._lock = threading.Lock()
        self.get = self._entries.get

    def size(self) -> int:
        return len(self._entries)

    def put(self, key: K, value: V) -> V:
        """Returns the value."""
        with self._lock:
            while len(self._entries) >= self.max_size:
                del self._entries[next(iter(self._entries))]
            self._entries[key] = value
        return value


class LRUCache(Cache, Generic[K, V]):
    """Drops the least recently used values. Each has a size in ``unit``. Thread-safe."""

    def __init__(self, name: str, max_size: int, unit: str = "entries") -> None:
        super().__init__(name, max_size, unit)
        self._size = 0
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def size(self) -> int:
        return self._size

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
            if size > self.max_size:
                return
            self._entries[key] = value, size
            self._size += size
            while self._size > self.max_size:
                _, (_, dropped) = self._entries.popitem(last=False)
                self._size -= dropped
