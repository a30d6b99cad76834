"""What the benchmark's figures must not exceed: the budget, and the expected ratios."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

SQLITE: Final = "sqlite"
POSTGRESQL: Final = "postgresql"
ENGINES: Final = (SQLITE, POSTGRESQL)


@dataclass(frozen=True, kw_only=True, slots=True)
class Bound:
    """``is_ratio``: the higher the better; else a cost, the lower the better."""

    value: float
    is_ratio: bool = False

    def is_met(self, figure: float) -> bool:
        return figure >= self.value if self.is_ratio else figure <= self.value

    def verdict(self, figure: float) -> str:
        if self.is_met(figure):
            return "ok"
        return f"{'UNDER' if self.is_ratio else 'OVER'} {self.value:g}"


# Milliseconds of 95 % of everything that a person waits for, of all kinds together.
MOST_REQUESTS: Final = Bound(value=100.0)
FETCHED_BY_PROGRAMS: Final = ("feed", "feed, unchanged")
# Milliseconds of what people see while they type and click.
INTERACTIVE_MEDIAN: Final = Bound(value=50.0)
INTERACTIVE: Final = (
    "preview",
    "Slack: Home",
    "Slack: form",
    "Slack: typed command",
    "Slack: Approve",
)
UNUSUAL: Final = "list, unusual filters"
UNUSUAL_AT_MOST: Final = Bound(value=250.0)

# Statements of an approval with two approvers, deliveries of its messages included.
STATEMENTS: Final[Mapping[str, Bound]] = {"approve in Slack, delivered": Bound(value=42)}

# Requests a second of a bare route's, on SQLite; PostgreSQL reaches half of them.
_RATIOS: Final = {
    "list": 0.07,
    "create": 0.035,
    "approve": 0.045,
    "preview": 0.04,
    "feed-304": 0.15,
}
RATIOS: Final[Mapping[tuple[str, str], Bound]] = {
    (scenario, engine): Bound(value=ratio * share, is_ratio=True)
    for scenario, ratio in _RATIOS.items()
    for engine, share in ((SQLITE, 1.0), (POSTGRESQL, 0.5))
}
# Deliveries a second, of a bare loop's of httpx.
DELIVERIES: Final = Bound(value=0.7, is_ratio=True)

START_SECONDS: Final = Bound(value=1.2)
IDLE_MEGABYTES: Final = Bound(value=140.0)
MIXED_MEGABYTES: Final = Bound(value=200.0)
