"""The organisation's holiday sets: a country's public holidays with its own overrides laid over."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Final

from peewee import Select

from storage import audit, holiday_calendar, reference, rows, rules
from storage.compiled import Place, compiled
from storage.database import DuplicateRow, Transaction
from storage.days import AFTERNOON, MORNING, NOTHING, WHOLE_DAY, Holiday
from storage.errors import AlreadyExists
from storage.holiday_calendar import country_name
from storage.ids import new_id
from storage.pages import Page, PageOf, page_of, position
from storage.reference import Reference
from storage.tables import HolidaySetRow
from storage.values import Caller, HolidaySet, User

_MASK_OF_HALF: Final[Mapping[str | None, int]] = {None: WHOLE_DAY, "am": MORNING, "pm": AFTERNOON}


def add(tx: Transaction, country_code: str, *, by: Caller, now: datetime) -> HolidaySet:
    """Set up a country or one of its regions, so that people can be given its holidays.

    Raises InsufficientRole, InvalidInput ``unknown_country`` or AlreadyExists.
    """
    rules.check_role(by.role, "admin")
    code = holiday_calendar.check_country(country_code)
    if _exists(tx, code, by=by):
        raise AlreadyExists(f"There is a holiday set for {code} already.")
    try:
        return _insert(tx, code, by=by, now=now)
    except DuplicateRow as error:
        raise AlreadyExists(f"There is a holiday set for {code} already.") from error


def ensure(tx: Transaction, country_code: str, *, by: Caller, now: datetime) -> None:
    """Set up a checked code where it is missing; needs the organisation's lock."""
    if not _exists(tx, country_code, by=by):
        _insert(tx, country_code, by=by, now=now)


def page(tx: Transaction, page: PageOf, *, by: Caller) -> Page[HolidaySet]:
    """One page of the sets, oldest first. Raises UnusableCursor."""
    bound_to = ("holiday_sets", by.organisation_id)
    after = position(tx, page, *bound_to)
    found = tx.all(
        _sets,
        organisation_id=by.organisation_id,
        after_id=after and after[0],
        limit=page.limit + 1,
    )
    return page_of(
        tx,
        page,
        found,
        lambda row: HolidaySet(row[0], row[1], rows.instant(row[2])),
        lambda row: [row[0]],
        *bound_to,
    )


def country_code_of(known: Reference, user: User) -> str:
    """Whose public holidays hold for the person: his own choice, else the organisation's."""
    return user.public_holiday_country_code or known.organisation.country_code


def holidays_between(
    known: Reference, country_code: str, first_day: date, last_day: date
) -> Mapping[date, Holiday]:
    """The public holidays between two dates, both included, with the overrides of that set.

    An override replaces whatever the country says of that date, or takes it (or one half) away.
    Raises InvalidInput ``unknown_country``.
    """
    found = holiday_calendar.holidays_between(country_code, first_day, last_day)
    for override in known.overrides.get(country_code, ()):
        day = date.fromisoformat(override.date)
        if not first_day <= day <= last_day:
            continue
        halves = _MASK_OF_HALF[override.half]
        if override.is_holiday:
            found[day] = Holiday(override.name, halves)
        elif day in found:
            left = found[day].halves & ~halves
            if left == NOTHING:
                del found[day]
            else:
                found[day] = found[day]._replace(halves=left)
    return found


def holiday_count(known: Reference, country_code: str, year: int) -> int:
    """How many dates of a calendar year are public holidays at least in part."""
    return len(holidays_between(known, country_code, date(year, 1, 1), date(year, 12, 31)))


def _exists(tx: Transaction, code: str, *, by: Caller) -> bool:
    places = {"organisation_id": by.organisation_id, "country_code": code}
    return tx.first(_set_of_code, **places) is not None


def _insert(tx: Transaction, code: str, *, by: Caller, now: datetime) -> HolidaySet:
    holiday_set = HolidaySet(new_id(now), code, now)
    tx.insert(HolidaySetRow, organisation_id=by.organisation_id, **holiday_set._asdict())
    audit.record(
        tx,
        "holiday_set.created",
        "holiday_set",
        holiday_set.id,
        by=by,
        now=now,
        after={"country_code": code},
    )
    reference.changed(tx, by.organisation_id)
    return holiday_set


@compiled
def _set_of_code(organisation_id: Place, country_code: Place) -> Select:
    return HolidaySetRow.select(HolidaySetRow.id).where(
        HolidaySetRow.organisation_id == organisation_id,
        HolidaySetRow.country_code == country_code,
    )


@compiled
def _sets(organisation_id: Place, after_id: Place | None, limit: Place) -> Select:
    query = HolidaySetRow.select(
        HolidaySetRow.id, HolidaySetRow.country_code, HolidaySetRow.created_at
    ).where(HolidaySetRow.organisation_id == organisation_id)
    if after_id is not None:
        query = query.where(HolidaySetRow.id > after_id)
    return query.order_by(HolidaySetRow.id).limit(limit)


__all__ = [
    "add",
    "country_code_of",
    "country_name",
    "ensure",
    "holiday_count",
    "holidays_between",
    "page",
]
