"""Defaults of a new organisation: its e-mail domain and the country of its time zone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Final

from storage.base.errors import InvalidInput
from storage.rules import holiday_calendar

_PUBLIC_PROVIDERS: Final = frozenset(
    {
        "163.com",
        "aol.com",
        "fastmail.com",
        "gmail.com",
        "gmx.at",
        "gmx.com",
        "gmx.de",
        "gmx.net",
        "googlemail.com",
        "hey.com",
        "hotmail.co.uk",
        "hotmail.com",
        "icloud.com",
        "live.com",
        "mac.com",
        "mail.com",
        "mail.ru",
        "me.com",
        "msn.com",
        "orange.fr",
        "outlook.com",
        "pm.me",
        "proton.me",
        "protonmail.com",
        "qq.com",
        "t-online.de",
        "web.de",
        "yahoo.co.uk",
        "yahoo.com",
        "yandex.ru",
        "ymail.com",
        "zoho.com",
    }
)


def employer_domain(email: str) -> str | None:
    """``example.com`` for ``Ada@Example.com``; None for an address of a public provider."""
    domain = email.rpartition("@")[2].strip().lower()
    return domain if domain and domain not in _PUBLIC_PROVIDERS else None


def country_of_timezone(timezone: str) -> str | None:
    """``GB`` for ``Europe/London``; None if no country with known holidays uses it."""
    code = _countries_by_timezone().get(timezone)
    if code is None:
        return None
    try:
        return holiday_calendar.check_country(code)
    except InvalidInput:
        return None


@lru_cache(maxsize=1)
def _countries_by_timezone() -> Mapping[str, str]:
    """ISO 3166 codes by time zone. Source: ``zone.tab`` of the time zone database."""
    table = resources.files("tzdata").joinpath("zoneinfo", "zone.tab").read_text(encoding="utf-8")
    lines = (line.split("\t") for line in table.splitlines() if line and line[0] != "#")
    return {zone: country for country, _, zone, *_ in lines}
