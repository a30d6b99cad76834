"""What the `holidays` library knows about countries, their regions and their public holidays.

Read once a country and year, then kept. An organisation's own overrides are not in here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from types import MappingProxyType
from typing import Final

import holidays
from babel import Locale
from holidays.registry import COUNTRIES

from storage.base.calendar_values import Country
from storage.base.errors import InvalidInput
from storage.rules.days import WHOLE_DAY, Holiday

# The registry lists the alpha-2 code right after the class name; later ones are aliases (GBR, UK).
_CODES: Final = frozenset(entry[1] for entry in COUNTRIES.values())

ENGLISH: Final = Locale("en")


def warm_up() -> None:
    """Load what every country needs: up to a second that no request is to wait for."""
    holidays_of("GB", 2000)


def countries(locale: Locale = ENGLISH) -> tuple[str, ...]:
    """Every country's code, in the order of their names."""
    return tuple(sorted(_CODES, key=lambda code: country_name(code, locale)))


def check_country(code: str, field: str = "country_code") -> str:
    """The code in capitals: ISO 3166-1 alpha-2, or that with a region, as in ``GB-SCT``.

    Raises InvalidInput ``unknown_country`` when the library has no such country or region.
    """
    canonical = code.strip().upper()
    country, hyphen, region = canonical.partition("-")
    if country not in _CODES or (hyphen and region not in _regions(country)):
        raise InvalidInput.of(
            field,
            "unknown_country",
            "No public holidays are known for {code}. Use an ISO code such as GB or GB-SCT.",
            code=repr(code),
        )
    return canonical


def country_name(code: str, locale: Locale = ENGLISH) -> str:
    """The name in a language, with the region in brackets: ``United Kingdom (Scotland)``.

    A region goes by its first name in the library, which may be in its own language, or by its
    code. Raises InvalidInput ``unknown_country``.
    """
    country, hyphen, region = check_country(code).partition("-")
    name = locale.territories[country]
    return f"{name} ({_region_name(country, region)})" if hyphen else name


def regions(country: str) -> list[str]:
    """The full codes of a country's regions (``GB-ENG``, …), sorted; empty where it has none.

    Raises InvalidInput ``unknown_country``.
    """
    country = check_country(country).partition("-")[0]
    return [f"{country}-{region}" for region in sorted(_regions(country))]


def has_regions(code: str) -> bool:
    """Whether a country stands alone and has regions, so that a closer choice is possible."""
    return "-" not in code and bool(_regions(check_country(code)))


@lru_cache(maxsize=16)
def all_countries(locale: Locale = ENGLISH) -> tuple[Country, ...]:
    """Every country, by name. The first call in a process takes most of a second."""
    return tuple(
        Country(
            code=code,
            name=country_name(code, locale),
            regions=tuple((region, region_name(region)) for region in regions(code)),
        )
        for code in countries(locale)
    )


def region_name(code: str) -> str:
    """A region's own name: ``Scotland`` for ``GB-SCT``. Raises InvalidInput ``unknown_country``."""
    country, _, region = check_country(code).partition("-")
    return _region_name(country, region)


@lru_cache(maxsize=4096)
def holidays_of(code: str, year: int) -> Mapping[date, Holiday]:
    """The public holidays of a calendar year (1 to 9999), by date, each a whole day; unchangeable.

    A country alone gives only those that hold in all of it: ``GB`` lacks the August bank holiday
    that ``GB-ENG`` has. In English where the library has English names. Raises InvalidInput
    ``unknown_country``.
    """
    country, _, region = check_country(code).partition("-")
    own_language = _library_calendar(country).default_language or ""
    known = holidays.country_holidays(
        country,
        subdiv=_regions(country)[region] if region else None,
        years=year,
        # Never None: the library would then ask the machine's locale.
        language=own_language if own_language.startswith("en") else "en_US",
    )
    return MappingProxyType(
        {
            day: Holiday(name=name, halves=WHOLE_DAY)
            for day, name in sorted(known.items())
            if day.year == year
        }
    )


def holidays_between(code: str, first_day: date, last_day: date) -> dict[date, Holiday]:
    """The public holidays between two dates, both included, by date.

    Raises InvalidInput ``unknown_country``.
    """
    return {
        day: holiday
        for year in range(first_day.year, last_day.year + 1)
        for day, holiday in holidays_of(code, year).items()
        if first_day <= day <= last_day
    }


@lru_cache(maxsize=512)
def _library_calendar(country: str) -> holidays.HolidayBase:
    """An empty calendar of the library, which says what it knows of a country.

    The first call in a process imports every country's module, about 0.3 s.
    """
    return holidays.country_holidays(country)


@lru_cache(maxsize=512)
def _regions(country: str) -> Mapping[str, str]:
    """The library's spelling of each region (``Augsburg``) by its capitals."""
    return {region.upper(): region for region in _library_calendar(country).subdivisions}


def _region_name(country: str, region: str) -> str:
    spelling = _regions(country)[region]
    names = _library_calendar(country).subdivisions_aliases.items()
    return next((name for name, named in names if named == spelling), spelling)
