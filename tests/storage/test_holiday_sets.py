from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from storage.admin import holiday_overrides, holiday_set_changes
from storage.admin.holiday_overrides import NewOverride
from storage.base.calendar_values import HolidaySet
from storage.base.errors import InvalidInput
from storage.base.leave_values import HalfDay
from storage.base.values import Caller
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.outbox import organisation_config
from storage.people import employment_by_date, holiday_sets
from storage.rules import holiday_calendar
from storage.rules.counted_days import AFTERNOON, MORNING, WHOLE_DAY, Holiday
from tests.builders import (
    NOW,
    Acme,
    a_person,
    a_request,
    an_organisation,
    as_it_is,
    audit_entries,
    caller_for,
    dry_run,
)
from tests.refusals import codes_of

pytestmark = pytest.mark.shared_database

LATER = NOW + timedelta(hours=1)
CHRISTMAS = date(2026, 12, 25)
MARKET_DAY = date(2026, 6, 10)


def added(database: Database, acme: Acme, country_code: str) -> HolidaySet:
    return acme.write(holiday_sets.add, country_code, now=LATER)


def an_override(
    database: Database,
    acme: Acme,
    day: date,
    *,
    name: str = "Market day",
    is_holiday: bool = True,
    half: HalfDay | None = None,
) -> None:
    """An override of the organisation's own set."""
    config = database.read_now(organisation_config.of_organisation, acme.id)
    new = NewOverride(date=day, name=name, is_holiday=is_holiday, half=half)
    set_id = next(iter(config.holiday_sets))
    acme.write(holiday_overrides.add, set_id, new)


def holidays_on(database: Database, acme: Acme, day: date, code: str = "GB") -> Any:
    config = database.read_now(organisation_config.of_organisation, acme.id)
    return employment_by_date.holidays_between(config, code, day, day).get(day)


def test_a_country_is_added_once(database: Database, acme: Acme) -> None:
    holiday_set = added(database, acme, "de-by")

    assert (holiday_set.country_code, holiday_set.created_at) == ("DE-BY", LATER)
    codes = codes_of(
        lambda: added(database, acme, "DE-BY"),
        lambda: added(database, acme, "de-by"),
        lambda: added(database, acme, "GB"),
    )
    assert codes == ["already_exists"] * 3
    sets = acme.read(holiday_sets.page, PageOf()).items
    assert [holiday_set.country_code for holiday_set in sets] == ["GB", "DE-BY"]
    assert sets[1] == holiday_set


def test_an_unknown_country_is_refused(database: Database, acme: Acme) -> None:
    with pytest.raises(InvalidInput) as refusal:
        added(database, acme, "XX")

    assert [(e.pointer, e.code) for e in refusal.value.errors] == [
        ("/country_code", "unknown_country")
    ]


def test_pages_belong_to_one_organisation(database: Database) -> None:
    acme, globex = an_organisation(database), an_organisation(database, name="Globex")
    added(database, globex, "FR")
    added(database, acme, "DE")

    first = acme.read(holiday_sets.page, PageOf(limit=1))
    second = acme.read(holiday_sets.page, PageOf(limit=1, cursor=first.next_cursor))

    assert [holiday_set.country_code for holiday_set in (*first.items, *second.items)] == [
        "GB",
        "DE",
    ]
    assert second.next_cursor is None


def test_the_countrys_holidays_show_through(database: Database, acme: Acme) -> None:
    assert holidays_on(database, acme, CHRISTMAS) == Holiday(
        name="Christmas Day", halves=WHOLE_DAY, country_code="GB"
    )
    assert holidays_on(database, acme, MARKET_DAY) is None


@pytest.mark.parametrize(
    ("day", "is_holiday", "half", "halves"),
    [
        (MARKET_DAY, True, None, WHOLE_DAY),
        (MARKET_DAY, True, "am", MORNING),
        (MARKET_DAY, True, "pm", AFTERNOON),
        (CHRISTMAS, True, "pm", AFTERNOON),
        (CHRISTMAS, False, None, None),
        (CHRISTMAS, False, "am", AFTERNOON),
        (CHRISTMAS, False, "pm", MORNING),
        (MARKET_DAY, False, None, None),
    ],
)
def test_an_override_adds_replaces_or_takes_away_a_day_or_a_half(
    database: Database, day: date, is_holiday: bool, half: HalfDay | None, halves: int | None
) -> None:
    acme = an_organisation(database)

    an_override(database, acme, day, is_holiday=is_holiday, half=half)

    holiday = holidays_on(database, acme, day)
    if halves is None:
        assert holiday is None
    elif is_holiday:
        assert holiday == Holiday(name="Market day", halves=halves)
    else:
        assert holiday == Holiday(name="Christmas Day", halves=halves, country_code="GB")


def test_overrides_stay_with_their_set_and_organisation(database: Database) -> None:
    acme, globex = an_organisation(database), an_organisation(database, name="Globex")
    an_override(database, acme, MARKET_DAY)

    assert holidays_on(database, acme, MARKET_DAY, "GB-SCT") is None
    assert holidays_on(database, globex, MARKET_DAY) is None


def test_overrides_outside_the_dates_are_left_out(database: Database, acme: Acme) -> None:
    an_override(database, acme, MARKET_DAY)
    config = database.read_now(organisation_config.of_organisation, acme.id)

    holidays = employment_by_date.holidays_between(config, "GB", CHRISTMAS, date(2027, 1, 1))

    assert MARKET_DAY not in holidays
    assert (min(holidays), max(holidays)) == (CHRISTMAS, date(2027, 1, 1))


def test_the_count_of_a_year_includes_overrides(database: Database, acme: Acme) -> None:
    config = database.read_now(organisation_config.of_organisation, acme.id)
    before = employment_by_date.holiday_count(config, "GB", 2026)
    year_after = employment_by_date.holiday_count(config, "GB", 2027)

    an_override(database, acme, MARKET_DAY, half="am")
    an_override(database, acme, CHRISTMAS, is_holiday=False)
    an_override(database, acme, date(2026, 6, 11))

    config = database.read_now(organisation_config.of_organisation, acme.id)
    assert employment_by_date.holiday_count(config, "GB", 2026) == before + 1
    assert employment_by_date.holiday_count(config, "GB", 2027) == year_after


def test_a_person_has_their_own_country_or_the_organisations(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme, public_holiday_country_code="fr")
    hedy = a_person(database, acme, first_name="Hedy")
    config = database.read_now(organisation_config.of_organisation, acme.id)

    assert employment_by_date.country_code_of(config, ada) == "FR"
    assert employment_by_date.country_code_of(config, hedy) == "GB"
    assert holiday_calendar.country_name("GB-SCT") == "United Kingdom (Scotland)"


EVE = date(2026, 12, 24)


def chosen(database: Database, acme: Acme, set_id: str, *categories: str) -> HolidaySet:
    return acme.write(holiday_set_changes.change_categories, set_id, categories, now=LATER)


def test_a_swedish_organisation_has_its_eves_off(database: Database) -> None:
    acme = an_organisation(database, country_code="SE")
    ada = a_person(database, acme)

    (holiday_set,) = acme.read(holiday_sets.page, PageOf()).items
    eve = a_request(database, acme, ada, start_date=date(2026, 12, 23), end_date=EVE)

    assert holiday_set.categories == ("public", "de_facto")
    assert eve.counted_halves == "30"


def test_the_categories_of_a_set_are_chosen_once_and_leave_follows(database: Database) -> None:
    acme = an_organisation(database, country_code="SE")
    ada = a_person(database, acme)
    (holiday_set,) = acme.read(holiday_sets.page, PageOf()).items
    week = a_request(
        database, acme, ada, start_date=date(2027, 12, 23), end_date=date(2027, 12, 31)
    )
    assert week.counted_halves == "300033330"

    public = chosen(database, acme, holiday_set.id)

    assert public == replace(holiday_set, categories=("public",))
    assert as_it_is(database, acme, week).counted_halves == "330033333"
    of_banks = chosen(database, acme, holiday_set.id, "bank")
    assert of_banks.categories == ("public", "bank")
    # Half of the days before the eves is off, too.
    assert as_it_is(database, acme, week).counted_halves == "100033310"
    entries = audit_entries(database, acme.caller)
    changes = [entry.changes for entry in entries if entry.action == "holiday_set.updated"]
    assert changes[-1] == {"categories": {"before": ["public", "de_facto"], "after": ["public"]}}
    assert chosen(database, acme, holiday_set.id, "bank", "public") == of_banks
    assert audit_entries(database, acme.caller) == entries


def test_categories_are_changed_by_admins_and_only_to_known_ones(database: Database) -> None:
    acme = an_organisation(database, country_code="SE")
    ada = a_person(database, acme)
    (holiday_set,) = acme.read(holiday_sets.page, PageOf()).items

    def change(*categories: str, by: Caller, set_id: str = holiday_set.id) -> None:
        database.write_now(
            holiday_set_changes.change_categories, set_id, categories, by=by, now=LATER
        )

    codes = codes_of(
        lambda: change("public", by=caller_for(acme, ada)),
        lambda: change("catholic", by=acme.caller),
        lambda: change("public", by=an_organisation(database).caller),
    )
    assert codes == ["insufficient_role", "unknown_category", "not_found"]
    config = database.read_now(organisation_config.of_organisation, acme.id)
    assert config.holiday_sets == {holiday_set.id: holiday_set}


def test_people_of_a_country_without_a_set_have_its_usual_days_off(database: Database) -> None:
    acme = an_organisation(database)
    astrid = a_person(database, acme, public_holiday_country_code="SE")
    eve = a_request(database, acme, astrid, start_date=date(2026, 12, 23), end_date=EVE)
    assert eve.counted_halves == "30"

    added(database, acme, "SE")
    assert as_it_is(database, acme, eve) == eve


def test_a_set_with_other_categories_recalculates_leave_of_people_who_have_its_country(
    database: Database, acme: Acme
) -> None:
    astrid = a_person(database, acme, public_holiday_country_code="SE")
    eve = a_request(database, acme, astrid, start_date=date(2026, 12, 23), end_date=EVE)

    effects = dry_run(
        database, holiday_set_changes.add, "SE", ["public"], by=acme.caller, now=LATER
    )
    assert [effect.after.counted_halves for effect in effects.leave] == ["33"]
    assert as_it_is(database, acme, eve) == eve
    acme.write(holiday_set_changes.add, "SE", ["public"], now=LATER)
    assert as_it_is(database, acme, eve).counted_halves == "33"


def test_an_override_of_a_customary_day_has_its_name(database: Database) -> None:
    acme = an_organisation(database, country_code="SE")
    (set_id,) = database.read_now(organisation_config.of_organisation, acme.id).holiday_sets
    new = NewOverride(date=EVE, is_holiday=False)

    override = acme.write(holiday_overrides.add, set_id, new, now=LATER)

    assert override.name == "Christmas Eve"
