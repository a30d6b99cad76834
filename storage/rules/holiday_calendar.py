"""Countries, their regions and public holidays, from the `holidays` library.

Cached by country and year. Overrides of organisations are not included.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import date
from functools import cache, lru_cache
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import MappingProxyType
from typing import Final

import holidays
from babel import Locale
from holidays.registry import COUNTRIES

from storage.base import texts
from storage.base.caches import cached
from storage.base.calendar_values import Country, Region
from storage.base.errors import InvalidInput
from storage.rules.days import Holiday
from storage.rules.halves import WHOLE_DAY

# In the registry the alpha-2 code follows the class name; later ones are aliases (GBR, UK).
_CODES: Final = frozenset(entry[1] for entry in COUNTRIES.values())

ENGLISH: Final = Locale("en")

# By English name: the names of holidays that many countries have, for those without names of their
# own in the language. With a month and a day, only then: elsewhere the name means something else.
_SHARED_NAMES: Final[Mapping[str, Mapping[str, tuple[str, tuple[int, int] | None]]]] = {
    "de": {
        "All Saints' Day": ("Allerheiligen", None),
        "Ascension Day": ("Christi Himmelfahrt", None),
        "Assumption Day": ("Mariä Himmelfahrt", None),
        "Christmas Day": ("Erster Weihnachtstag", (12, 25)),
        "Corpus Christi": ("Fronleichnam", None),
        "Easter Monday": ("Ostermontag", None),
        "Epiphany": ("Heilige Drei Könige", (1, 6)),
        "Good Friday": ("Karfreitag", None),
        "Immaculate Conception": ("Mariä Empfängnis", None),
        "Labor Day": ("Erster Mai", (5, 1)),
        "New Year's Day": ("Neujahr", None),
        "Pentecost Monday": ("Pfingstmontag", None),
        "Reformation Day": ("Reformationstag", None),
        "Saint Stephen's Day": ("Stephanstag", None),
        "Second Day of Christmas": ("Zweiter Weihnachtstag", None),
    }
}

_ENGLISH_REGIONS_FILE: Final = Path(__file__).with_name("english_regions.txt")

# The package of the library's countries imports all 250 modules: 9 MB and 0.15 s. Without its
# ``__init__``, the library imports each country when it is first needed, in 1 to 4 ms.
if "holidays.countries" not in sys.modules:
    _spec = find_spec("holidays.countries")
    assert _spec is not None
    sys.modules["holidays.countries"] = module_from_spec(_spec)


def warm_up() -> None:
    """Import at start what the countries share: the first request would take 4 ms longer."""
    import holidays.groups  # noqa: F401


def countries(locale: Locale = ENGLISH) -> tuple[str, ...]:
    """The codes of all countries, by name."""
    return tuple(sorted(_CODES, key=lambda code: country_name(code, locale)))


def check_country(code: str, field: str = "country_code") -> str:
    """The code in capitals: ISO 3166-1 alpha-2, with or without a region: ``GB-SCT``.

    Raises InvalidInput ``unknown_country`` if the library does not know the country or region.
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

    A region has its first name in the library, which may be in its own language, or its code.
    Raises InvalidInput ``unknown_country``.
    """
    country, hyphen, region = check_country(code).partition("-")
    name = locale.territories[country]
    return f"{name} ({_region_name(country, region)})" if hyphen else name


def regions(country: str) -> list[str]:
    """The full codes of a country's regions (``GB-ENG``, …), sorted; may be empty.

    Raises InvalidInput ``unknown_country``.
    """
    country = check_country(country).partition("-")[0]
    return [f"{country}-{region}" for region in sorted(_regions(country))]


def has_regions(code: str) -> bool:
    """Whether the code has no region although its country has some."""
    return "-" not in code and bool(_regions(check_country(code)))


@lru_cache(maxsize=16)
def all_countries(locale: Locale = ENGLISH) -> tuple[Country, ...]:
    """All countries, by name. The first call in a process takes most of a second."""
    return tuple(
        Country(
            code=code,
            name=country_name(code, locale),
            search_key=texts.search_key(_country_names(code, locale)),
            regions=tuple(
                Region(
                    code=region, name=region_name(region), search_key=_search_key(region, locale)
                )
                for region in regions(code)
            ),
        )
        for code in countries(locale)
    )


def _country_names(code: str, locale: Locale) -> str:
    return f"{code} {country_name(code, locale)} {country_name(code)}"


def _search_key(code: str, locale: Locale) -> str:
    country, _, region = code.partition("-")
    names = [*_region_names(country, region), _english_regions().get(code, "")]
    return texts.search_key(" ".join((code, _country_names(country, locale), *names)))


@cache
def _english_regions() -> Mapping[str, str]:
    """The English names of regions that the library lacks, by code."""
    lines = _ENGLISH_REGIONS_FILE.read_text(encoding="utf-8").splitlines()
    named = (line.partition(" ") for line in lines if not line.startswith("#"))
    return {code: name for code, _, name in named}


def region_name(code: str) -> str:
    """A region's own name: ``Scotland`` for ``GB-SCT``. Raises InvalidInput ``unknown_country``."""
    country, _, region = check_country(code).partition("-")
    return _region_name(country, region)


@cached("public_holidays", 2_048)
def holidays_of(code: str, year: int) -> Mapping[date, Holiday]:
    """The public holidays of a calendar year (1 to 9999), by date, each a whole day.

    A country without a region has only nationwide holidays: ``GB`` lacks the August bank holiday
    of ``GB-ENG``. In English where the library has English names. Raises InvalidInput
    ``unknown_country``.
    """
    code = check_country(code)
    own_language = _library_calendar(code.partition("-")[0]).default_language or ""
    language = own_language if own_language.startswith("en") else "en_US"
    return MappingProxyType(
        {
            day: Holiday(name=name, halves=WHOLE_DAY, country_code=code)
            for day, name in sorted(_library_names(code, year, language).items())
            if day.year == year
        }
    )


def translated(name: str, country_code: str | None, day: date, language: str) -> str:
    """The name of a public holiday in a language (``de``) as far as it is known.

    Only the country's or region's own name for that day has a translation: what an organisation
    typed stays as it is.
    """
    if country_code is None or language == ENGLISH.language or _name_on(country_code, day) != name:
        return name
    return _translations(country_code, day.year, language).get(day, name)


@cached("translated_holidays", 1_024)
def _translations(code: str, year: int, language: str) -> Mapping[date, str]:
    """The names of a year's public holidays, by date, as far as they are known."""
    known = _library_calendar(code.partition("-")[0]).supported_languages
    spelling = next((each for each in known if each.partition("_")[0] == language), None)
    if spelling is not None:
        return _library_names(code, year, spelling)
    shared = _SHARED_NAMES.get(language, {})
    names = ((day, shared.get(holiday.name)) for day, holiday in holidays_of(code, year).items())
    return {
        day: named[0]
        for day, named in names
        if named is not None and named[1] in (None, (day.month, day.day))
    }


def _name_on(code: str, day: date) -> str | None:
    holiday = holidays_of(code, day.year).get(day)
    return None if holiday is None else holiday.name


def _library_names(code: str, year: int, language: str) -> Mapping[date, str]:
    """The library's calendar of a year; ``language`` is one of its spellings.

    It is never None: the library would use the locale of the machine.
    """
    country, _, region = code.partition("-")
    subdivision = _regions(country)[region] if region else None
    return dict(
        holidays.country_holidays(country, subdiv=subdivision, years=year, language=language)
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
    """The library's calendar of a country, without a year. The first call imports the country."""
    return holidays.country_holidays(country)


@lru_cache(maxsize=512)
def _regions(country: str) -> Mapping[str, str]:
    """The library's spelling of each region (``Augsburg``), by its capitals."""
    return {region.upper(): region for region in _library_calendar(country).subdivisions}


def _region_name(country: str, region: str) -> str:
    return _region_names(country, region)[0]


def _region_names(country: str, region: str) -> list[str]:
    """The names in the library, or the code if it has none."""
    spelling = _regions(country)[region]
    names = _library_calendar(country).subdivisions_aliases.items()
    return [name for name, named in names if named == spelling] or [spelling]
