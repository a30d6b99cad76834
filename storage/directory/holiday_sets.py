"""Holiday sets: a country's public holidays with the overrides of the organisation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Final, Literal

from peewee import Select

from storage.base.calendar_values import HolidayOnDate, HolidaySet
from storage.base.errors import AlreadyExists, InvalidInput, NotFound
from storage.base.ids import new_id
from storage.base.values import Caller, HalfDay, User, as_dict
from storage.db import locks, rows
from storage.db.compiled import Param, compiled
from storage.db.database import DuplicateRow, Transaction
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import HolidaySetRow
from storage.events import audit, organisation_config
from storage.events.organisation_config import Reference
from storage.rules import holiday_calendar, roles
from storage.rules.days import Holiday
from storage.rules.halves import AFTERNOON, MORNING, NOTHING, WHOLE_DAY
from storage.rules.holiday_calendar import country_name

# Lunar calendars are computed for these years only.
EARLIEST_YEAR: Final = 1900
LATEST_YEAR: Final = 2100

_MASK_OF_HALF: Final[Mapping[HalfDay | None, int]] = {
    None: WHOLE_DAY,
    "am": MORNING,
    "pm": AFTERNOON,
}
_HALF_OF_MASK: Final = {mask: half for half, mask in _MASK_OF_HALF.items()}


def add(tx: Transaction, country_code: str, *, by: Caller, now: datetime) -> HolidaySet:
    """Add a country or one of its regions, so that people can be given its holidays.

    Raises InsufficientRole, InvalidInput ``unknown_country`` or AlreadyExists.
    """
    roles.check_role(by.role, "admin")
    code = holiday_calendar.check_country(country_code)
    if _exists(tx, code, by=by):
        raise AlreadyExists("There is already a holiday set for {code}.", code=code)
    try:
        return _insert(tx, code, by=by, now=now)
    except DuplicateRow as error:
        raise AlreadyExists("There is already a holiday set for {code}.", code=code) from error


def ensure(tx: Transaction, country_code: str, *, by: Caller, now: datetime) -> None:
    """Add a checked code if it is missing; needs the organisation's lock."""
    if not _exists(tx, country_code, by=by):
        _insert(tx, country_code, by=by, now=now)


def page(tx: Transaction, page: PageOf, *, by: Caller) -> Page[HolidaySet]:
    """One page of the sets, oldest first. Raises UnusableCursor."""
    bound_to = ("holiday_sets", by.organisation_id)
    after = position(tx, page, *bound_to)
    set_rows = tx.all(
        _sets,
        organisation_id=by.organisation_id,
        after_id=after[0] if after else None,
        limit=page.limit + 1,
    )
    return page_of(
        tx,
        page,
        set_rows,
        rows.holiday_set,
        lambda row: [row.id],
        *bound_to,
    )


def get(reference: Reference, set_id: str) -> HolidaySet:
    """One set of the organisation. Raises NotFound."""
    holiday_set = reference.holiday_sets.get(set_id)
    if holiday_set is None:
        raise NotFound("public holiday set")
    return holiday_set


def to_change(tx: Transaction, set_id: str, *, by: Caller) -> tuple[Reference, HolidaySet]:
    """The set and the reference data, for an admin who changes the set.

    Locks the organisation. Raises InsufficientRole or NotFound.
    """
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    reference = organisation_config.of_organisation(tx, by.organisation_id)
    return reference, get(reference, set_id)


def check_year(year: int, field: str) -> None:
    """Raises InvalidInput ``out_of_range`` for a year whose public holidays are unknown."""
    if not EARLIEST_YEAR <= year <= LATEST_YEAR:
        raise InvalidInput.of(
            field,
            "out_of_range",
            "Choose a year from {first} to {last}.",
            first=str(EARLIEST_YEAR),
            last=str(LATEST_YEAR),
        )


def year_of(reference: Reference, country_code: str, year: int) -> list[HolidayOnDate]:
    """The public holidays of a calendar year and those that overrides remove, earliest first.

    Raises InvalidInput ``out_of_range`` or ``unknown_country``.
    """
    check_year(year, "year")
    first_day, last_day = date(year, 1, 1), date(year, 12, 31)
    in_force = holidays_between(reference, country_code, first_day, last_day)
    overrides = {
        date.fromisoformat(override.date): override
        for override in reference.overrides.get(country_code, ())
    }
    dates: list[HolidayOnDate] = []
    for day, holiday in in_force.items():
        half = _HALF_OF_MASK[holiday.halves]
        override = overrides.pop(day, None)
        source: Literal["country", "override"] = "country" if override is None else "override"
        dates.append(
            HolidayOnDate(
                date=day,
                name=holiday.name,
                source=source,
                half=half,
                is_holiday=True,
                override_id=None if override is None else override.id,
            )
        )
    # The other overrides remove a holiday, or a day that was none.
    dates += [
        HolidayOnDate(
            date=day,
            name=override.name,
            source="override",
            half=None,
            is_holiday=False,
            override_id=override.id,
        )
        for day, override in overrides.items()
        if first_day <= day <= last_day
    ]
    return sorted(dates, key=lambda on_date: on_date.date)


def country_code_of(reference: Reference, user: User) -> str:
    """The country whose public holidays the person has: their choice, else the organisation's."""
    return user.public_holiday_country_code or reference.organisation.country_code


def holidays_between(
    reference: Reference, country_code: str, first_day: date, last_day: date
) -> Mapping[date, Holiday]:
    """The public holidays between two dates, both included, with the overrides of that set.

    An override replaces the country's holiday on that date, or removes it or one half of it.
    Raises InvalidInput ``unknown_country``.
    """
    holidays = holiday_calendar.holidays_between(country_code, first_day, last_day)
    for override in reference.overrides.get(country_code, ()):
        day = date.fromisoformat(override.date)
        if not first_day <= day <= last_day:
            continue
        halves = _MASK_OF_HALF[override.half]
        if override.is_holiday:
            holidays[day] = Holiday(name=override.name, halves=halves)
        elif day in holidays:
            other_halves = holidays[day].halves & ~halves
            if other_halves == NOTHING:
                del holidays[day]
            else:
                holidays[day] = replace(holidays[day], halves=other_halves)
    return holidays


def holiday_count(reference: Reference, country_code: str, year: int) -> int:
    """How many dates of a calendar year are public holidays at least in part."""
    return len(holidays_between(reference, country_code, date(year, 1, 1), date(year, 12, 31)))


def _exists(tx: Transaction, code: str, *, by: Caller) -> bool:
    return tx.first(_set_of_code, organisation_id=by.organisation_id, country_code=code) is not None


def _insert(tx: Transaction, code: str, *, by: Caller, now: datetime) -> HolidaySet:
    holiday_set = HolidaySet(id=new_id(now), country_code=code, created_at=now)
    tx.insert(HolidaySetRow, organisation_id=by.organisation_id, **as_dict(holiday_set))
    audit.record(
        tx,
        "holiday_set.created",
        "holiday_set",
        holiday_set.id,
        by=by,
        now=now,
        after={"country_code": code},
    )
    organisation_config.changed(tx, by.organisation_id)
    return holiday_set


@compiled
def _set_of_code(organisation_id: Param[str], country_code: Param[str]) -> Select:
    return HolidaySetRow.select(HolidaySetRow.id).where(
        HolidaySetRow.organisation_id == organisation_id,
        HolidaySetRow.country_code == country_code,
    )


@compiled
def _sets(organisation_id: Param[str], after_id: Param[str] | None, limit: Param[int]) -> Select:
    query = HolidaySetRow.select(
        HolidaySetRow.id, HolidaySetRow.country_code, HolidaySetRow.created_at
    ).where(HolidaySetRow.organisation_id == organisation_id)
    if after_id is not None:
        query = query.where(HolidaySetRow.id > after_id)
    return query.order_by(HolidaySetRow.id).limit(limit)


__all__ = [
    "EARLIEST_YEAR",
    "LATEST_YEAR",
    "add",
    "check_year",
    "country_code_of",
    "country_name",
    "ensure",
    "get",
    "holiday_count",
    "holidays_between",
    "page",
    "to_change",
    "year_of",
]
