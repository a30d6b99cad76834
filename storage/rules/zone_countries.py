"""The country of a time zone: the default for the holidays of a new organisation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import resources

from storage.base.errors import InvalidInput
from storage.rules import holiday_calendar


def country_of(timezone: str) -> str | None:
    """``GB`` for ``Europe/London``; None if no country with known holidays uses it."""
    code = _countries().get(timezone)
    if code is None:
        return None
    try:
        return holiday_calendar.check_country(code)
    except InvalidInput:
        return None


@lru_cache(maxsize=1)
def _countries() -> Mapping[str, str]:
    """ISO 3166 codes by time zone. Source: ``zone.tab`` of the time zone database."""
    table = resources.files("tzdata").joinpath("zoneinfo", "zone.tab").read_text(encoding="utf-8")
    lines = (line.split("\t") for line in table.splitlines() if line and line[0] != "#")
    return {zone: country for country, _, zone, *_ in lines}
