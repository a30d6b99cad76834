"""Whether 3/8 is in March or in August, by country. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from bot.typed import typed_dates
from bot.typed.problems import Unclear
from bot.typed.typed_terms import Day

# Countries that write the month before the day. Source: CLDR's short date patterns.
_MONTH_FIRST: Final = frozenset(
    ("AS", "CN", "FM", "GU", "HU", "JP", "KP", "KR", "LT", "MH", "MP")
    + ("PA", "PH", "PR", "PW", "TW", "UM", "US", "VI")
)
# Both orders are in use there, so 3/8 is ambiguous.
_EITHER: Final = frozenset(("CA", "ZA"))


def is_month_first(country_code: str) -> bool | None:
    """Whether 3/8 is 8 March in a country; None if it may be either."""
    country = country_code.split("-")[0]
    return None if country in _EITHER else country in _MONTH_FIRST


def in_order(day: Day, is_month_first: bool | None) -> Day:
    """Resolve a pair of numbers to day and month. Raises Unclear."""
    if day.pair is None:
        return day
    ways = [way for way in (day.pair, day.pair[::-1]) if typed_dates.is_day(*way, day.year)]
    if not ways:
        raise Unclear("impossible_day", day.typed)
    if len(set(ways)) > 1:
        if is_month_first is None or (is_month_first and day.is_dotted):
            raise Unclear("which_day", day.typed)
        ways = [day.pair[::-1] if is_month_first else day.pair]
    return replace(day, number=ways[0][0], month=ways[0][1], pair=None)
