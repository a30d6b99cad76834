from __future__ import annotations

from collections.abc import MutableMapping
from datetime import date
from pathlib import Path
from typing import cast

import pytest
from babel import Locale

from storage.base.errors import InvalidInput
from storage.rules import holiday_calendar
from storage.rules.counted_days import AFTERNOON, WHOLE_DAY, Holiday

AUGUST_BANK_HOLIDAY = date(2026, 8, 31)


@pytest.mark.parametrize(
    ("code", "canonical"),
    [
        pytest.param("GB", "GB", id="country"),
        pytest.param("gb", "GB", id="small letters"),
        pytest.param(" de-by ", "DE-BY", id="region"),
        pytest.param("FR-57", "FR-57", id="numbered region"),
        pytest.param("de-augsburg", "DE-AUGSBURG", id="city"),
    ],
)
def test_a_known_code_is_normalised_to_capitals(code: str, canonical: str) -> None:
    assert holiday_calendar.check_country(code) == canonical


@pytest.mark.parametrize(
    "code",
    ["", "XX", "UK", "GBR", "GB-XX", "GB-", "-GB", "GB-SCT-1", "XNYS", "UnitedKingdom", "ES-"],
)
def test_an_unknown_code_is_refused(code: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        holiday_calendar.check_country(code)

    assert refusal.value.code == "unknown_country"
    assert refusal.value.errors[0].pointer == "/country_code"


def test_an_unknown_code_is_refused_at_the_given_field() -> None:
    with pytest.raises(InvalidInput) as refusal:
        holiday_calendar.check_country("XX", field="public_holiday_country_code")

    assert refusal.value.errors[0].pointer == "/public_holiday_country_code"


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("GB", "United Kingdom"),
        ("GB-SCT", "United Kingdom (Scotland)"),
        ("de-by", "Germany (Bayern)"),
        ("DE-AUGSBURG", "Germany (Augsburg)"),
        ("US-CA", "United States (California)"),
        ("US", "United States"),
        ("HK", "Hong Kong SAR China"),
        ("IM", "Isle of Man"),
        ("CI", "Côte d’Ivoire"),
        ("CD", "Congo - Kinshasa"),
        ("VC", "St. Vincent & Grenadines"),
    ],
)
def test_a_country_has_an_english_name(code: str, name: str) -> None:
    assert holiday_calendar.country_name(code) == name


def test_every_country_has_a_name_in_the_readers_language() -> None:
    german = {
        country.code: country.name for country in holiday_calendar.all_countries(Locale("de"))
    }

    assert german["GB"] == "Vereinigtes Königreich"
    assert german.keys() == {country.code for country in holiday_calendar.all_countries()}
    assert all(german.values())


def test_countries_are_listed_by_name() -> None:
    names = [holiday_calendar.country_name(code) for code in holiday_calendar.countries()]

    assert len(names) > 200
    assert names == sorted(names)


def test_every_english_name_of_a_region_belongs_to_one_that_has_no_such_name_yet() -> None:
    lines = Path(holiday_calendar.__file__).with_name("english_regions.txt").read_text("utf-8")
    named = dict(line.split(" ", 1) for line in lines.splitlines() if not line.startswith("#"))
    names = {
        region.code: region.name
        for country in holiday_calendar.all_countries()
        for region in country.regions
    }

    assert named.keys() <= names.keys()
    assert {code for code, name in named.items() if name == names[code]} == set()


def test_regions_are_codes_that_can_be_used() -> None:
    assert holiday_calendar.regions("gb") == ["GB-ENG", "GB-NIR", "GB-SCT", "GB-WLS"]
    assert holiday_calendar.regions("JP") == []


@pytest.mark.parametrize(
    ("code", "has_regions"),
    [("GB", True), ("gb", True), ("JP", False), ("GB-SCT", False)],
)
def test_only_a_country_without_a_region_has_regions_to_choose(
    code: str, has_regions: bool
) -> None:
    assert holiday_calendar.has_regions(code) is has_regions


def test_a_country_without_a_region_has_only_nationwide_holidays() -> None:
    assert AUGUST_BANK_HOLIDAY not in holiday_calendar.holidays_of("GB", 2026)
    assert AUGUST_BANK_HOLIDAY in holiday_calendar.holidays_of("GB-ENG", 2026)
    assert AUGUST_BANK_HOLIDAY not in holiday_calendar.holidays_of("GB-SCT", 2026)
    assert date(2026, 11, 30) in holiday_calendar.holidays_of("GB-SCT", 2026)


@pytest.mark.parametrize(
    ("code", "day", "name"),
    [
        pytest.param("DE-BY", date(2026, 1, 6), "Epiphany", id="translated"),
        pytest.param("DE", date(2026, 10, 3), "German Unity Day", id="translated country"),
        pytest.param("GB", date(2026, 5, 4), "May Day", id="its own English"),
        pytest.param("CA", date(2026, 9, 7), "Labour Day", id="its own spelling"),
        pytest.param("NZ", date(2026, 2, 6), "Waitangi Day", id="no translations"),
        pytest.param("DE-AUGSBURG", date(2026, 8, 8), "Augsburg Peace Festival", id="city"),
    ],
)
def test_holidays_are_whole_days_with_english_names(code: str, day: date, name: str) -> None:
    assert holiday_calendar.holidays_of(code, 2026)[day] == Holiday(
        name=name, halves=WHOLE_DAY, country_code=code
    )


def test_holiday_names_do_not_depend_on_the_machines_locale(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LANGUAGE", "de")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")

    assert holiday_calendar.holidays_of("AT", 2031)[date(2031, 12, 25)].name == "Christmas Day"


def in_german(code: str, year: int) -> dict[date, str]:
    return {
        day: holiday_calendar.translated(holiday.name, holiday.country_code, day, "de")
        for day, holiday in holiday_calendar.holidays_of(code, year).items()
    }


def test_a_german_reads_the_names_of_bavaria_that_they_know() -> None:
    assert in_german("DE-BY", 2026) == {
        date(2026, 1, 1): "Neujahr",
        date(2026, 1, 6): "Heilige Drei Könige",
        date(2026, 4, 3): "Karfreitag",
        date(2026, 4, 6): "Ostermontag",
        date(2026, 5, 1): "Erster Mai",
        date(2026, 5, 14): "Christi Himmelfahrt",
        date(2026, 5, 25): "Pfingstmontag",
        date(2026, 6, 4): "Fronleichnam",
        date(2026, 10, 3): "Tag der Deutschen Einheit",
        date(2026, 11, 1): "Allerheiligen",
        date(2026, 12, 25): "Erster Weihnachtstag",
        date(2026, 12, 26): "Zweiter Weihnachtstag",
    }


@pytest.mark.parametrize(
    ("code", "day", "name"),
    [
        pytest.param("AT", date(2026, 5, 1), "Staatsfeiertag", id="of Austria"),
        pytest.param("CH-ZH", date(2026, 5, 1), "Tag der Arbeit", id="of Zürich"),
        pytest.param("PL", date(2026, 11, 1), "Allerheiligen", id="of Poland"),
        pytest.param("LU", date(2024, 5, 9), "Christi Himmelfahrt; Europatag", id="two on a day"),
        pytest.param("GB", date(2026, 4, 3), "Karfreitag", id="as in Germany"),
        pytest.param("GR", date(2026, 4, 10), "Karfreitag", id="on another date"),
        pytest.param("US", date(2026, 9, 7), "Labor Day", id="another holiday of that name"),
        pytest.param("RO", date(2026, 12, 26), "Christmas Day", id="the second of that name"),
        pytest.param("ET", date(2026, 1, 19), "Epiphany", id="another feast of that name"),
        pytest.param("GB", date(2026, 5, 4), "May Day", id="not in German"),
        pytest.param("US", date(2027, 7, 5), "Independence Day (observed)", id="moved"),
    ],
)
def test_a_holiday_has_the_german_name_of_its_country(code: str, day: date, name: str) -> None:
    assert in_german(code, day.year)[day] == name


@pytest.mark.parametrize(
    ("name", "country_code", "day", "language"),
    [
        pytest.param("Good Friday", "DE", date(2026, 4, 3), "en", id="English reader"),
        pytest.param("Good Friday", None, date(2026, 4, 3), "de", id="named by the organisation"),
        pytest.param("Founders' Day", "DE", date(2026, 4, 3), "de", id="another name on that day"),
        pytest.param("Good Friday", "DE", date(2026, 4, 2), "de", id="no public holiday"),
        pytest.param("Good Friday", "DE", date(2026, 4, 3), "ja", id="a language without names"),
    ],
)
def test_other_names_stay_as_they_are(
    name: str, country_code: str | None, day: date, language: str
) -> None:
    assert holiday_calendar.translated(name, country_code, day, language) == name


def test_every_holiday_has_a_name_for_german_readers() -> None:
    """Countries without German names share those of holidays that many countries have."""
    german = {"AT", "BE", "CH", "CV", "DE", "LI", "LU", "PL"}
    regions = {region for code in german for region in holiday_calendar.regions(code)}
    shared: dict[str, set[str]] = {}

    for code in (*holiday_calendar.countries(), *regions):
        for year in range(2024, 2031):
            names = in_german(code, year)
            for day, holiday in holiday_calendar.holidays_of(code, year).items():
                assert names[day].strip(), (code, day)
                if code[:2] not in german and names[day] != holiday.name:
                    shared.setdefault(holiday.name, set()).add(names[day])

    assert shared == {
        "New Year's Day": {"Neujahr"},
        "Epiphany": {"Heilige Drei Könige"},
        "Good Friday": {"Karfreitag"},
        "Easter Monday": {"Ostermontag"},
        "Labor Day": {"Erster Mai"},
        "Ascension Day": {"Christi Himmelfahrt"},
        "Pentecost Monday": {"Pfingstmontag"},
        "Corpus Christi": {"Fronleichnam"},
        "Reformation Day": {"Reformationstag"},
        "Assumption Day": {"Mariä Himmelfahrt"},
        "All Saints' Day": {"Allerheiligen"},
        "Immaculate Conception": {"Mariä Empfängnis"},
        "Christmas Day": {"Erster Weihnachtstag"},
        "Christmas Eve": {"Heiligabend"},
        "Midsummer Eve": {"Mittsommerabend"},
        "New Year's Eve": {"Silvester"},
        "Second Day of Christmas": {"Zweiter Weihnachtstag"},
        "Saint Stephen's Day": {"Stephanstag"},
    }


@pytest.mark.parametrize("code", ["GB", "gb-eng", "US", "NP", "UA"])
@pytest.mark.parametrize("year", [1, 2027, 9999])
def test_a_year_has_only_its_own_dates_in_order(code: str, year: int) -> None:
    dates = list(holiday_calendar.holidays_of(code, year))

    assert dates == sorted(dates)
    assert {day.year for day in dates} <= {year}


def test_cached_holidays_cannot_be_changed() -> None:
    cached = holiday_calendar.holidays_of("GB", 2026)

    assert holiday_calendar.holidays_of("GB", 2026) is cached
    with pytest.raises(TypeError):
        cast("MutableMapping[date, Holiday]", cached)[date(2026, 8, 31)] = Holiday(name="Mine")


def test_holidays_between_includes_both_ends_and_crosses_years() -> None:
    between = holiday_calendar.holidays_between("GB", date(2025, 12, 26), date(2026, 1, 1))

    assert list(between) == [date(2025, 12, 26), date(2026, 1, 1)]
    assert holiday_calendar.holidays_between("GB", date(2025, 12, 27), date(2025, 12, 31)) == {}


def test_holidays_of_an_unknown_country_are_refused() -> None:
    with pytest.raises(InvalidInput):
        holiday_calendar.holidays_of("XX", 2026)


@pytest.mark.parametrize("year", range(2026, 2031))
def test_swedes_have_three_eves_and_munich_has_the_assumption(year: int) -> None:
    def added(code: str, category: str) -> dict[date, Holiday]:
        public = holiday_calendar.holidays_of(code, year)
        both = holiday_calendar.holidays_of(code, year, ("public", category))
        return {day: holiday for day, holiday in both.items() if day not in public}

    # The Friday before the Saturday of 20 to 26 June.
    midsummer_eve = next(
        day for day in (date(year, 6, day) for day in range(19, 26)) if day.weekday() == 4
    )
    assert added("SE", "de_facto") == {
        midsummer_eve: Holiday(name="Midsummer Eve", country_code="SE"),
        date(year, 12, 24): Holiday(name="Christmas Eve", country_code="SE"),
        date(year, 12, 31): Holiday(name="New Year's Eve", country_code="SE"),
    }
    assert added("DE-BY", "catholic") == {
        date(year, 8, 15): Holiday(name="Assumption Day", country_code="DE-BY")
    }


@pytest.mark.parametrize(
    ("code", "categories"),
    [
        ("SE", ("public", "de_facto")),
        ("DE-BY", ("public", "catholic")),
        ("IS", ("public", "half_day")),
        ("TR", ("public", "half_day")),
        ("GB-ENG", ("public",)),
        ("DE", ("public",)),
        ("DE-AUGSBURG", ("public",)),
        ("AT", ("public",)),
    ],
)
def test_a_country_has_the_categories_that_employers_there_give(
    code: str, categories: tuple[str, ...]
) -> None:
    assert holiday_calendar.default_categories(code) == categories
    assert set(categories) <= set(holiday_calendar.categories(code))


def test_a_country_has_the_categories_that_add_days_off() -> None:
    available = {
        code: holiday_calendar.categories(code)
        for code in ("SE", "DE-BY", "DE-BE", "BE", "FI", "GB")
    }

    # School breaks are weeks, and the days of "workday" are worked.
    assert available == {
        "SE": ("public", "bank", "de_facto", "optional"),
        "DE-BY": ("public", "catholic"),
        "DE-BE": ("public",),
        "BE": ("public", "bank"),
        "FI": ("public", "unofficial"),
        "GB": ("public",),
    }


@pytest.mark.parametrize(
    ("code", "category", "day", "halves"),
    [
        pytest.param("IS", "half_day", date(2026, 12, 24), AFTERNOON, id="from 1pm"),
        pytest.param("GR", "half_day", date(2026, 12, 24), AFTERNOON, id="half a day"),
        pytest.param("SE", "bank", date(2026, 4, 30), AFTERNOON, id="of banks, from 2pm"),
        pytest.param("LU", "bank", date(2026, 12, 24), AFTERNOON, id="of banks, afternoon"),
        pytest.param("SE", "bank", date(2026, 12, 24), WHOLE_DAY, id="of banks, all day"),
        pytest.param("AU-SA", "half_day", date(2026, 12, 24), None, id="in the evening"),
        pytest.param("IS", "half_day", date(2028, 12, 25), WHOLE_DAY, id="public as well"),
    ],
)
def test_days_that_begin_in_the_afternoon_are_half_days(
    code: str, category: str, day: date, halves: int | None
) -> None:
    holiday = holiday_calendar.holidays_of(code, day.year, ("public", category)).get(day)

    assert (holiday and holiday.halves) == halves


def test_public_holidays_are_always_chosen_and_in_order() -> None:
    for chosen in ([], ["public"]):
        assert holiday_calendar.check_categories("SE", chosen, "categories") == ("public",)
    chosen = ["optional", "bank", "bank"]
    checked = holiday_calendar.check_categories("SE", chosen, "categories")
    assert checked == ("public", "bank", "optional")


@pytest.mark.parametrize(
    ("code", "category"), [("SE", "catholic"), ("GB", "Public"), ("DE-BY", "school"), ("FI", "")]
)
def test_an_unknown_category_is_refused_with_those_that_exist(code: str, category: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        holiday_calendar.check_categories(code, ["public", category], "categories")

    (error,) = refused.value.errors
    assert (error.pointer, error.code) == ("/categories/1", "unknown_category")
    assert ", ".join(holiday_calendar.categories(code)) in error.detail


@pytest.mark.parametrize(
    ("code", "day", "name", "german"),
    [
        ("SE", date(2026, 12, 24), "Christmas Eve", "Heiligabend"),
        ("SE", date(2027, 6, 25), "Midsummer Eve", "Mittsommerabend"),
        ("DE-BY", date(2026, 8, 15), "Assumption Day", "Mariä Himmelfahrt"),
        ("IS", date(2026, 12, 31), "New Year's Eve (from 1pm)", "Silvester (ab 13 Uhr)"),
    ],
)
def test_days_of_other_categories_have_german_names(
    code: str, day: date, name: str, german: str
) -> None:
    assert holiday_calendar.translated(name, code, day, "de") == german


def test_spanish_readers_know_holidays_of_countries_with_and_without_spanish_names() -> None:
    christmas_eve = date(2026, 12, 24)

    assert holiday_calendar.translated("Christmas Eve", "SE", christmas_eve, "es") == "Nochebuena"
    assert holiday_calendar.translated("Epiphany", "ES", date(2026, 1, 6), "es") == (
        "Epifanía del Señor"
    )


@pytest.mark.parametrize(
    ("code", "day", "name", "french"),
    [
        ("FR", date(2027, 5, 17), "Pentecost Monday", "Lundi de Pentecôte"),
        ("SE", date(2026, 12, 24), "Christmas Eve", "Veille de Noël"),
        ("DE", date(2026, 4, 3), "Good Friday", "Vendredi saint"),
    ],
)
def test_french_readers_know_holidays_of_countries_with_and_without_french_names(
    code: str, day: date, name: str, french: str
) -> None:
    assert holiday_calendar.translated(name, code, day, "fr") == french
