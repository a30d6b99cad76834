"""What this process counts and times, in memory; ``api.base.metrics`` shows it to Prometheus.

Each family is declared in the module that fills it. Labels come from the code, never from
requests: each id would be a series of its own. Prometheus' own classes take twice the time for each
observation, and their import would delay every command.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final, Generic, Literal, TypeVar

T = TypeVar("T")

# All families, by name.
FAMILIES: Final[dict[str, Numbers | Timings]] = {}


class Number:
    """A counter or a gauge. Safe to use from several threads."""

    __slots__ = ("value", "_lock")

    def __init__(self) -> None:
        self.value = 0.0
        self._lock = threading.Lock()

    def add(self, amount: float = 1) -> None:
        with self._lock:
            self.value += amount

    def set(self, value: float) -> None:
        self.value = value


class Histogram:
    """How many durations there were up to each bound. Safe to use from several threads."""

    __slots__ = ("sum", "_bounds", "_counts", "_lock")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.sum = 0.0
        self._bounds = bounds
        # The last one counts durations above every bound.
        self._counts = [0] * (len(bounds) + 1)
        self._lock = threading.Lock()

    def observe(self, seconds: float) -> None:
        index = bisect_left(self._bounds, seconds)
        with self._lock:
            self._counts[index] += 1
            self.sum += seconds

    def cumulative(self) -> Iterator[tuple[str, int]]:
        """Each upper bound with the number of durations up to it."""
        total = 0
        for bound, count in zip((*map(str, self._bounds), "+Inf"), self._counts, strict=True):
            total += count
            yield bound, total


class _Family(ABC, Generic[T]):
    """A metric with one series for each combination of the values of its labels."""

    def __init__(self, name: str, meaning: str, labels: tuple[str, ...] = ()) -> None:
        self.name = name
        self.meaning = meaning
        self.labels = labels
        self.series: dict[tuple[str, ...], T] = {}

    def of(self, *values: str) -> T:
        """The series with these values of the labels. Keep it where it is used often."""
        series = self.series.get(values)
        return self.series.setdefault(values, self._new()) if series is None else series

    @abstractmethod
    def _new(self) -> T: ...


class Numbers(_Family[Number]):
    """Counters, whose names end in ``_total``, or gauges."""

    def __init__(self, name: str, meaning: str, labels: tuple[str, ...] = ()) -> None:
        super().__init__(name, meaning, labels)
        self.kind: Literal["counter", "gauge"] = "counter" if name.endswith("_total") else "gauge"
        FAMILIES[name] = self

    def _new(self) -> Number:
        return Number()


class Timings(_Family[Histogram]):
    """Durations in seconds."""

    def __init__(
        self, name: str, meaning: str, bounds: Sequence[float], labels: tuple[str, ...] = ()
    ) -> None:
        super().__init__(name, meaning, labels)
        self._bounds = bounds
        FAMILIES[name] = self

    def _new(self) -> Histogram:
        return Histogram(self._bounds)
