"""The country of a time zone: where a new organisation most likely keeps its holidays."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import resources

from storage.base.errors import InvalidInput
from storage.rules import holiday_calendar


def country_of(timezone: str) -> str | None:
    """``GB`` for ``Europe/London``; None where no country with known holidays keeps that time."""
    code = _countries().get(timezone)
    if code is None:
        return None
    try:
        return holiday_calendar.check_country(code)
    except InvalidInput:
        return None


@lru_cache(maxsize=1)
def _countries() -> Mapping[str, str]:
    """Zone to ISO 3166 code. Source: the time zone database's own table, ``zone.tab``."""
    table = resources.files("tzdata").joinpath("zoneinfo", "zone.tab").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in table.splitlines() if line and line[0] != "#")
    return {row[2]: row[0] for row in rows}
