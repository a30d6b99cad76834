"""Countries, their regions and public holidays, from the `holidays` library.

Cached by country, categories and year. Overrides of organisations are not included.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

import holidays
from babel import Locale
from holidays.registry import COUNTRIES

from storage.base import texts
from storage.base.calendar_values import Country, Region
from storage.base.errors import FieldError, InvalidInput, Sentence
from storage.rules.counted_days import AFTERNOON, NOTHING, WHOLE_DAY, Holiday

# In the registry the alpha-2 code follows the class name; later ones are aliases (GBR, UK).
_CODES: Final = frozenset(entry[1] for entry in COUNTRIES.values())

ENGLISH: Final = Locale("en")

# The library's category of every calendar.
PUBLIC: Final = "public"
_HALF_DAY: Final = "half_day"
# School breaks are weeks, and the days of "workday" are worked.
_NOT_DAYS_OFF: Final = frozenset({"school", "workday"})
# Days that most employers of a country or region give, or the law, in other categories of the
# library: 15 August in 1,700 of Bavaria's 2,056 communes, afternoons in Iceland and Turkey, and
# Sweden's three eves.
_USUAL: Final[Mapping[str, tuple[str, ...]]] = {
    "DE-BY": ("catholic",),
    "IS": (_HALF_DAY,),
    "SE": ("de_facto",),
    "TR": (_HALF_DAY,),
}
# A category exists where it adds a day in one of these years.
_SAMPLE_YEARS: Final = range(2024, 2034)
_AFTERNOON: Final = re.compile(r"\((?:from (?:12|[1-4])pm|afternoon)\)", re.IGNORECASE)
_EVENING: Final = re.compile(r"\(from [5-9]pm\)")

# By English name: the names of holidays that many countries have, for those without names of their
# own in the language. With a month and a day, only then: elsewhere the name means something else.
_SHARED_NAMES: Final[Mapping[str, Mapping[str, tuple[str, tuple[int, int] | None]]]] = {
    "de": {
        "All Saints' Day": ("Allerheiligen", None),
        "Ascension Day": ("Christi Himmelfahrt", None),
        "Assumption Day": ("Mariä Himmelfahrt", None),
        "Christmas Day": ("Erster Weihnachtstag", (12, 25)),
        "Christmas Eve": ("Heiligabend", (12, 24)),
        "Christmas Eve (from 1pm)": ("Heiligabend (ab 13 Uhr)", (12, 24)),
        "Corpus Christi": ("Fronleichnam", None),
        "Easter Monday": ("Ostermontag", None),
        "Epiphany": ("Heilige Drei Könige", (1, 6)),
        "Good Friday": ("Karfreitag", None),
        "Immaculate Conception": ("Mariä Empfängnis", None),
        "Labor Day": ("Erster Mai", (5, 1)),
        "Midsummer Eve": ("Mittsommerabend", None),
        "New Year's Day": ("Neujahr", None),
        "New Year's Eve": ("Silvester", (12, 31)),
        "New Year's Eve (from 1pm)": ("Silvester (ab 13 Uhr)", (12, 31)),
        "Pentecost Monday": ("Pfingstmontag", None),
        "Reformation Day": ("Reformationstag", None),
        "Saint Stephen's Day": ("Stephanstag", None),
        "Second Day of Christmas": ("Zweiter Weihnachtstag", None),
    },
    "fr": {
        "All Saints' Day": ("Toussaint", None),
        "Ascension Day": ("Ascension", None),
        "Assumption Day": ("Assomption", None),
        "Christmas Day": ("Noël", (12, 25)),
        "Christmas Eve": ("Veille de Noël", (12, 24)),
        "Christmas Eve (from 1pm)": ("Veille de Noël (à partir de 13 h)", (12, 24)),
        "Corpus Christi": ("Fête-Dieu", None),
        "Easter Monday": ("Lundi de Pâques", None),
        "Epiphany": ("Épiphanie", (1, 6)),
        "Good Friday": ("Vendredi saint", None),
        "Immaculate Conception": ("Immaculée Conception", None),
        "Labor Day": ("Fête du Travail", (5, 1)),
        "Midsummer Day": ("Saint-Jean", None),
        "Midsummer Eve": ("Veille de la Saint-Jean", None),
        "National Day": ("Fête nationale", None),
        "New Year's Day": ("Jour de l'an", None),
        "New Year's Eve": ("Saint-Sylvestre", (12, 31)),
        "New Year's Eve (from 1pm)": ("Saint-Sylvestre (à partir de 13 h)", (12, 31)),
        "Pentecost Monday": ("Lundi de Pentecôte", None),
        "Reformation Day": ("Fête de la Réformation", None),
        "Saint Stephen's Day": ("Saint-Étienne", None),
        "Second Day of Christmas": ("Lendemain de Noël", None),
    },
    "es": {
        "All Saints' Day": ("Todos los Santos", None),
        "Ascension Day": ("Ascensión", None),
        "Assumption Day": ("Asunción de la Virgen", None),
        "Christmas Day": ("Navidad", (12, 25)),
        "Christmas Eve": ("Nochebuena", (12, 24)),
        "Christmas Eve (from 1pm)": ("Nochebuena (desde las 13 h)", (12, 24)),
        "Corpus Christi": ("Corpus Christi", None),
        "Easter Monday": ("Lunes de Pascua", None),
        "Easter Sunday": ("Domingo de Pascua", None),
        "Epiphany": ("Epifanía", (1, 6)),
        "Good Friday": ("Viernes Santo", None),
        "Immaculate Conception": ("Inmaculada Concepción", None),
        "Labor Day": ("Día del Trabajo", (5, 1)),
        "Midsummer Eve": ("Víspera de San Juan", None),
        "New Year's Day": ("Año Nuevo", None),
        "New Year's Eve": ("Nochevieja", (12, 31)),
        "New Year's Eve (from 1pm)": ("Nochevieja (desde las 13 h)", (12, 31)),
        "Pentecost": ("Pentecostés", None),
        "Pentecost Monday": ("Lunes de Pentecostés", None),
        "Reformation Day": ("Día de la Reforma", None),
        "Saint Stephen's Day": ("San Esteban", None),
        "Second Day of Christmas": ("Segundo día de Navidad", None),
    },
}

_ENGLISH_REGIONS_FILE: Final = Path(__file__).with_name("english_regions.txt")


def countries(locale: Locale = ENGLISH) -> tuple[str, ...]:
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
            has_regions=has_regions(code),
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


@lru_cache(maxsize=512)
def categories(code: str) -> tuple[str, ...]:
    """The categories of days off of a country or region, ``public`` first.

    Raises InvalidInput ``unknown_country``.
    """
    code = check_country(code)
    public = {year: _names(code, year, PUBLIC) for year in _SAMPLE_YEARS}
    others = (
        category
        for category in _categories_of_country(code)
        if category != PUBLIC
        and any(_names(code, year, category).keys() - public[year].keys() for year in _SAMPLE_YEARS)
    )
    return PUBLIC, *others


def days_by_category(code: str, first_day: date, last_day: date) -> dict[str, list[date]]:
    """The days between two dates that each category adds to the public holidays."""
    public = holidays_between(code, first_day, last_day)
    return {
        category: sorted(
            holidays_between(code, first_day, last_day, (PUBLIC, category)).keys() - public.keys()
        )
        for category in categories(code)
        if category != PUBLIC
    }


def default_categories(code: str) -> tuple[str, ...]:
    """The categories whose days most employers of a country or region give."""
    return PUBLIC, *_USUAL.get(code, ())


def check_categories(code: str, chosen: Iterable[str], field: str) -> tuple[str, ...]:
    """The categories in the order of ``categories``; ``public`` is always among them.

    Raises InvalidInput ``unknown_category`` for each that the country or region does not have.
    """
    known, chosen = categories(code), list(chosen)
    errors = [
        FieldError(
            pointer=f"/{field}/{index}",
            code="unknown_category",
            detail=Sentence(
                "{code} has no category {category}. Use {words}.",
                code=code,
                category=repr(category),
                words=known,
            ),
        )
        for index, category in enumerate(chosen)
        if category not in known
    ]
    if errors:
        raise InvalidInput(errors)
    return tuple(category for category in known if category == PUBLIC or category in chosen)


def holidays_of(
    code: str, year: int, categories: tuple[str, ...] = (PUBLIC,)
) -> Mapping[date, Holiday]:
    """The holidays of a calendar year (1 to 9999) in these categories, by date.

    A country without a region has only nationwide holidays: ``GB`` lacks the August bank holiday
    of ``GB-ENG``. Each is a whole day, but those of ``half_day`` and others that begin in the
    afternoon have only that half. In English where the library has English names. Raises
    InvalidInput ``unknown_country``.
    """
    return _holidays_of(check_country(code), year, categories)


@lru_cache(maxsize=2_048)
def _holidays_of(code: str, year: int, categories: tuple[str, ...]) -> Mapping[date, Holiday]:
    by_day: dict[date, Holiday] = {}
    for category in categories:
        for day, name in _names(code, year, category).items():
            halves = _halves_of(category, name)
            earlier = by_day.get(day)
            # A whole day has the name of the whole day.
            if halves & ~(NOTHING if earlier is None else earlier.halves):
                halves |= NOTHING if earlier is None else earlier.halves
                by_day[day] = Holiday(name=name, halves=halves, country_code=code)
    return MappingProxyType(dict(sorted(by_day.items())))


def _halves_of(category: str, name: str) -> int:
    """The halves that are a holiday; evenings are after work."""
    if category == PUBLIC:
        return WHOLE_DAY
    if _EVENING.search(name):
        return NOTHING
    return AFTERNOON if category == _HALF_DAY or _AFTERNOON.search(name) else WHOLE_DAY


def translated(name: str, country_code: str | None, day: date, language: str) -> str:
    """The name of a public holiday in a language (``de``) as far as it is known.

    Only the country's or region's own name for that day has a translation: what an organisation
    typed stays as it is.
    """
    if country_code is None or language == ENGLISH.language:
        return name
    return _translations(country_code, day.year, language).get((day, name), name)


@lru_cache(maxsize=1_024)
def _translations(code: str, year: int, language: str) -> Mapping[tuple[date, str], str]:
    """The names of a year's holidays of any category, by date and English name."""
    known = _library_calendar(code.partition("-")[0]).supported_languages
    spelling = next((each for each in known if each.partition("_")[0] == language), None)
    shared = _SHARED_NAMES.get(language, {})
    translations: dict[tuple[date, str], str] = {}
    for category in _categories_of_country(code):
        spelled = _library_names(code, year, spelling, category) if spelling is not None else {}
        for day, name in _names(code, year, category).items():
            shared_name, only_on = shared.get(name, (name, None))
            if spelling is not None:
                translations[day, name] = spelled.get(day, name)
            elif only_on in (None, (day.month, day.day)):
                translations[day, name] = shared_name
    return translations


def _categories_of_country(code: str) -> list[str]:
    """The categories of days off that the library has for the country, ``public`` first."""
    supported = _library_calendar(code.partition("-")[0]).supported_categories
    return [PUBLIC, *sorted({*supported} - _NOT_DAYS_OFF - {PUBLIC})]


def _names(code: str, year: int, category: str) -> Mapping[date, str]:
    """The days of a category in a year, in English where the library has English names."""
    own_language = _library_calendar(code.partition("-")[0]).default_language or ""
    language = own_language if own_language.startswith("en") else "en_US"
    named = _library_names(code, year, language, category).items()
    return {day: name for day, name in named if day.year == year}


def _library_names(code: str, year: int, language: str, category: str) -> Mapping[date, str]:
    """The library's calendar of a category and year; ``language`` is one of its spellings.

    It is never None: the library would use the locale of the machine.
    """
    country, _, region = code.partition("-")
    return dict(
        holidays.country_holidays(
            country,
            subdiv=_regions(country)[region] if region else None,
            years=year,
            language=language,
            categories=category,
        )
    )


def holidays_between(
    code: str, first_day: date, last_day: date, categories: tuple[str, ...] = (PUBLIC,)
) -> dict[date, Holiday]:
    """The holidays between two dates, both included, in these categories, by date.

    Raises InvalidInput ``unknown_country``.
    """
    return {
        day: holiday
        for year in range(first_day.year, last_day.year + 1)
        for day, holiday in holidays_of(code, year, categories).items()
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
