from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from storage.admin import (
    holiday_overrides,
    holiday_set_changes,
    organisation_settings,
    people_status,
)
from storage.admin.holiday_overrides import NewOverride
from storage.base.calendar_values import HolidayOnDate, HolidayOverride, HolidaySet
from storage.base.errors import NotFound
from storage.base.leave_values import HalfDay
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.outbox import organisation_config
from storage.people import employment_by_date, holiday_sets
from tests.builders import NOW, Acme, a_person, an_organisation, audit_entries
from tests.refusals import at_once, codes_of, errors_of

pytestmark = pytest.mark.shared_database

CHRISTMAS = date(2026, 12, 25)
MARKET_DAY = date(2026, 6, 10)


def own_set(database: Database, acme: Acme, code: str = "GB") -> HolidaySet:
    config = database.read_now(organisation_config.of_organisation, acme.id)
    return next(
        holiday_set
        for holiday_set in config.holiday_sets.values()
        if holiday_set.country_code == code
    )


def added(
    database: Database,
    acme: Acme,
    day: date,
    name: str | None = "Market day",
    *,
    is_holiday: bool = True,
    half: HalfDay | None = None,
    every_year: bool = False,
    code: str = "GB",
) -> HolidayOverride:
    new = NewOverride(date=day, name=name, is_holiday=is_holiday, half=half, every_year=every_year)
    set_id = own_set(database, acme, code).id
    return acme.write(holiday_overrides.add, set_id, new)


def removed(database: Database, acme: Acme, override_id: str, code: str = "GB") -> None:
    set_id = own_set(database, acme, code).id
    acme.write(holiday_overrides.remove, set_id, override_id)


def on(database: Database, acme: Acme, day: date) -> HolidayOnDate | None:
    config = database.read_now(organisation_config.of_organisation, acme.id)
    return {
        holiday.date: holiday
        for holiday in employment_by_date.holidays_of_year(config, "GB", day.year)
    }.get(day)


def test_an_override_makes_a_day_a_public_holiday_until_it_is_removed(
    database: Database, acme: Acme
) -> None:
    override = added(database, acme, MARKET_DAY, half="pm")

    expected = HolidayOnDate(
        date=MARKET_DAY,
        name="Market day",
        source="override",
        half="pm",
        is_holiday=True,
        override_id=override.id,
    )
    assert on(database, acme, MARKET_DAY) == expected
    removed(database, acme, override.id)
    assert on(database, acme, MARKET_DAY) is None


def test_an_override_removes_a_public_holiday(database: Database, acme: Acme) -> None:
    country = HolidayOnDate(
        date=CHRISTMAS,
        name="Christmas Day",
        source="country",
        half=None,
        is_holiday=True,
        override_id=None,
    )
    assert on(database, acme, CHRISTMAS) == country

    override = added(database, acme, CHRISTMAS, None, is_holiday=False)

    gone = HolidayOnDate(
        date=CHRISTMAS,
        name="Christmas Day",
        source="override",
        half=None,
        is_holiday=False,
        override_id=override.id,
    )
    assert on(database, acme, CHRISTMAS) == gone
    removed(database, acme, override.id)
    assert on(database, acme, CHRISTMAS) == country


def test_removing_the_morning_keeps_the_afternoon(database: Database, acme: Acme) -> None:
    override = added(database, acme, CHRISTMAS, None, is_holiday=False, half="am")

    afternoon = HolidayOnDate(
        date=CHRISTMAS,
        name="Christmas Day",
        source="override",
        half="pm",
        is_holiday=True,
        override_id=override.id,
    )
    assert on(database, acme, CHRISTMAS) == afternoon


def test_there_is_one_override_for_each_date(database: Database, acme: Acme) -> None:
    acme.write(holiday_sets.add, "FR")

    codes = at_once(*[lambda: added(database, acme, MARKET_DAY)] * 4)

    assert codes == ["already_exists"] * 3
    assert added(database, acme, MARKET_DAY, code="FR").date == MARKET_DAY


def test_overrides_are_listed_by_date(database: Database, acme: Acme) -> None:
    set_id = own_set(database, acme).id
    later, earlier = added(database, acme, CHRISTMAS), added(database, acme, MARKET_DAY)

    first = acme.read(holiday_overrides.page, set_id, PageOf(limit=1))
    second = acme.read(holiday_overrides.page, set_id, PageOf(limit=1, cursor=first.next_cursor))

    assert (first.items, second.items) == ([earlier], [later])
    assert second.next_cursor is None


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"name": None}, ("/name", "required")),
        ({"name": "  "}, ("/name", "required")),
        ({"date": date(1899, 12, 31)}, ("/date", "out_of_range")),
        ({"date": date(2101, 1, 1)}, ("/date", "out_of_range")),
        ({"half": "noon"}, ("/half", "unknown_half")),
    ],
    ids=str,
)
def test_invalid_overrides_are_rejected(
    database: Database, acme: Acme, wrong: dict[str, Any], error: tuple[str, str]
) -> None:
    new = replace(NewOverride(date=MARKET_DAY, name="Market day"), **wrong)
    set_id = own_set(database, acme).id

    refused = errors_of(lambda: acme.write(holiday_overrides.add, set_id, new))

    assert refused == [error]


@pytest.mark.slow
def test_a_set_has_a_limit_of_overrides(database: Database, acme: Acme) -> None:
    set_id = own_set(database, acme).id

    def fill(tx: Any) -> None:
        for number in range(holiday_overrides.MAX_OVERRIDES):
            day = date.fromordinal(CHRISTMAS.toordinal() + number)
            new = NewOverride(date=day, name="Closed")
            holiday_overrides.add(tx, set_id, new, by=acme.caller, now=NOW)

    database.write_now(fill)

    assert codes_of(lambda: added(database, acme, MARKET_DAY)) == ["too_many_overrides"]


def test_another_organisations_sets_and_overrides_are_unknown(database: Database) -> None:
    acme, globex = an_organisation(database), an_organisation(database, name="Globex")
    acme.write(holiday_sets.add, "FR")
    theirs = own_set(database, globex).id
    override = added(database, globex, MARKET_DAY)
    ours = added(database, acme, MARKET_DAY)

    with pytest.raises(NotFound):
        acme.write(holiday_overrides.add, theirs, NewOverride(date=CHRISTMAS, name="x"))
    codes = codes_of(
        lambda: removed(database, acme, override.id),
        lambda: removed(database, acme, ours.id, code="FR"),
    )
    assert codes == ["not_found"] * 2
    assert on(database, globex, MARKET_DAY) is not None


def test_an_unused_set_is_deleted_with_its_overrides(database: Database, acme: Acme) -> None:
    acme.write(holiday_sets.add, "FR")
    france = own_set(database, acme, "FR")
    added(database, acme, MARKET_DAY, code="FR")
    ada = a_person(database, acme, public_holiday_country_code="FR")

    def delete(set_id: str) -> None:
        acme.write(holiday_set_changes.remove, set_id)

    own = own_set(database, acme).id
    assert codes_of(lambda: delete(own), lambda: delete(france.id)) == ["holiday_set_in_use"] * 2
    acme.write(people_status.archive, ada.id)
    delete(france.id)

    config = database.read_now(organisation_config.of_organisation, acme.id)
    assert [holiday_set.country_code for holiday_set in config.holiday_sets.values()] == ["GB"]
    assert config.overrides == {}
    assert codes_of(lambda: delete(france.id)) == ["not_found"]
    acme.write(holiday_sets.add, "FR")
    assert database.read_now(organisation_config.of_organisation, acme.id).overrides == {}


def test_the_set_of_a_former_country_can_be_deleted(database: Database, acme: Acme) -> None:
    britain = own_set(database, acme).id
    change = {"country_code": "IE"}

    acme.write(organisation_settings.update, change)
    acme.write(holiday_set_changes.remove, britain)

    config = database.read_now(organisation_config.of_organisation, acme.id)
    assert [holiday_set.country_code for holiday_set in config.holiday_sets.values()] == ["IE"]


def test_overrides_are_audited(database: Database, acme: Acme) -> None:
    acme.write(holiday_sets.add, "FR")
    override = added(database, acme, MARKET_DAY, half="am", code="FR")
    removed(database, acme, override.id, code="FR")
    added(database, acme, CHRISTMAS, code="FR")
    france = own_set(database, acme, "FR").id
    acme.write(holiday_set_changes.remove, france)

    entries = {
        (entry.action, entry.subject_id): entry.changes
        for entry in audit_entries(database, acme.caller)
    }
    assert entries["holiday_override.created", override.id] == {
        "country_code": {"before": None, "after": "FR"},
        "date": {"before": None, "after": "2026-06-10"},
        "name": {"before": None, "after": "Market day"},
        "is_holiday": {"before": None, "after": True},
        "half": {"before": None, "after": "am"},
        "every_year": {"before": None, "after": False},
    }
    assert entries["holiday_override.deleted", override.id]["name"]["before"] == "Market day"
    overrides: Any = entries["holiday_set.deleted", france]["overrides"]["before"]
    assert [override["date"] for override in overrides] == ["2026-12-25"]


EVE = date(2026, 12, 24)


def in_year(day: date, year: int) -> date:
    return day.replace(year=year)


def test_an_override_of_every_year_holds_from_its_date_on(database: Database, acme: Acme) -> None:
    override = added(database, acme, EVE, "Christmas Eve", half="pm", every_year=True)

    assert on(database, acme, in_year(EVE, 2025)) is None
    for year in (2026, 2027, 2031, 2100):
        assert on(database, acme, in_year(EVE, year)) == HolidayOnDate(
            date=in_year(EVE, year),
            name="Christmas Eve",
            source="override",
            half="pm",
            is_holiday=True,
            override_id=override.id,
        )
    removed(database, acme, override.id)
    assert on(database, acme, in_year(EVE, 2027)) is None


def test_a_holiday_can_be_removed_in_every_year(database: Database, acme: Acme) -> None:
    added(database, acme, CHRISTMAS, None, is_holiday=False, every_year=True)

    days = [on(database, acme, in_year(CHRISTMAS, year)) for year in (2025, 2026, 2027)]
    assert [day is not None and day.is_holiday for day in days] == [True, False, False]


def test_the_twenty_ninth_of_february_is_in_leap_years(database: Database, acme: Acme) -> None:
    added(database, acme, date(2028, 2, 29), "Leap day", every_year=True)

    config = database.read_now(organisation_config.of_organisation, acme.id)
    first, last = date(2026, 1, 1), date(2036, 12, 31)
    days = employment_by_date.holidays_between(config, "GB", first, last).items()
    assert [str(day) for day, holiday in days if holiday.name == "Leap day"] == [
        "2028-02-29",
        "2032-02-29",
        "2036-02-29",
    ]


def test_an_override_of_one_date_replaces_that_of_every_year(database: Database) -> None:
    acme = an_organisation(database)
    added(database, acme, EVE, "Christmas Eve", every_year=True)

    working = added(database, acme, in_year(EVE, 2027), None, is_holiday=False)
    own_name = added(database, acme, EVE, "Long Christmas")

    shown = {year: on(database, acme, in_year(EVE, year)) for year in (2026, 2027, 2028)}
    assert {year: (day.name, day.is_holiday) for year, day in shown.items() if day is not None} == {
        2026: ("Long Christmas", True),
        2027: ("Working day", False),
        2028: ("Christmas Eve", True),
    }
    removed(database, acme, working.id)
    removed(database, acme, own_name.id)
    assert on(database, acme, in_year(EVE, 2027)) == replace(
        shown[2028],
        date=in_year(EVE, 2027),  # type: ignore[type-var]
    )


def test_a_day_has_one_override_of_every_year(database: Database, acme: Acme) -> None:
    codes = at_once(*[lambda: added(database, acme, EVE, every_year=True)] * 4)

    assert codes == ["already_exists"] * 3
    assert codes_of(lambda: added(database, acme, in_year(EVE, 2028), every_year=True)) == [
        "already_exists"
    ]


def test_both_overrides_of_a_day_are_paged(database: Database, acme: Acme) -> None:
    both = [added(database, acme, EVE, every_year=every_year) for every_year in (True, False)]
    set_id = own_set(database, acme).id
    listed: list[HolidayOverride] = []
    cursor = None
    while True:
        page = acme.read(holiday_overrides.page, set_id, PageOf(limit=1, cursor=cursor))
        listed += page.items
        cursor = page.next_cursor
        if cursor is None:
            break

    assert listed == both[::-1]
