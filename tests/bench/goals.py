"""What the benchmark's figures should reach (targets) and must never miss (floors)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True, slots=True)
class AtLeast:
    """Bounds of a ratio, the higher the better."""

    floor: float
    target: float | None = None

    def is_met(self, value: float) -> bool:
        return value >= self.floor

    def verdict(self, value: float) -> str:
        if value < self.floor:
            return f"BELOW THE FLOOR {self.floor:g}"
        if self.target is None:
            return f"above the floor {self.floor:g}"
        reached = "reaches" if value >= self.target else "misses"
        return f"above the floor {self.floor:g}, {reached} the target {self.target:g}"


@dataclass(frozen=True, kw_only=True, slots=True)
class AtMost:
    """The bound of a cost, the lower the better."""

    limit: float

    def is_met(self, value: float) -> bool:
        return value < self.limit

    def verdict(self, value: float) -> str:
        return f"{'below' if self.is_met(value) else 'NOT BELOW'} the limit {self.limit:g}"


Goal = AtLeast | AtMost

SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"

# By scenario and engine: ratios to the bare route of the same round.
RATIOS: Final[Mapping[tuple[str, str], AtLeast]] = {
    ("list", SQLITE): AtLeast(floor=0.12, target=0.25),
    ("list", POSTGRESQL): AtLeast(floor=0.05, target=0.15),
    ("preview", SQLITE): AtLeast(floor=0.038),
    ("preview", POSTGRESQL): AtLeast(floor=0.031),
    ("create", SQLITE): AtLeast(floor=0.045, target=0.12),
    ("create", POSTGRESQL): AtLeast(floor=0.028, target=0.07),
    ("approve", SQLITE): AtLeast(floor=0.07),
    ("approve", POSTGRESQL): AtLeast(floor=0.04),
    ("feed-304", SQLITE): AtLeast(floor=0.30, target=0.35),
    ("feed-304", POSTGRESQL): AtLeast(floor=0.25, target=0.35),
}
# Of a bare loop of httpx.
DELIVERIES: Final = AtLeast(floor=0.6, target=0.75)
# A feed that is served again, of the time of its first rendering.
WARM_BIG_FEED: Final = AtMost(limit=0.05)
START_SECONDS: Final = AtMost(limit=1.0)
IDLE_MEGABYTES: Final = AtMost(limit=140.0)
# At the end of an hour of mixed load.
SOAKED_MEGABYTES: Final = AtMost(limit=160.0)
# One caller's median in a large organisation; on SQLite's event loop less, as all others wait.
GROWN_MILLISECONDS: Final = AtMost(limit=25.0)
ON_EVENT_LOOP_MILLISECONDS: Final = AtMost(limit=5.0)
