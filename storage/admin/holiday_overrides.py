"""Overrides of a country's public holidays: added, listed and removed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final, get_args

from peewee import Select, Tuple

from storage.admin import holiday_set_changes
from storage.admin.effects import EffectsRecorder
from storage.base import texts
from storage.base.calendar_values import HolidayOverride, HolidaySet
from storage.base.errors import AlreadyExists, Conflict, InvalidInput, NotFound, Sentence
from storage.base.event_values import AuditAction
from storage.base.ids import new_id
from storage.base.leave_values import HalfDay
from storage.base.values import Caller, local_day
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import DuplicateRow, Transaction
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import HolidayOverrideRow
from storage.outbox import audit, organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import employment_by_date, holiday_sets

# All of them are kept in memory, and every count of days reads them.
MAX_OVERRIDES: Final = 500

# The fields of an override in the audit trail.
# Leave begins at most two years ahead and lasts a year at most, so it ends in one of these years.
_YEARS_OF_LEAVE: Final = 5


class TooManyOverrides(Conflict):
    """The holiday set has reached the limit for overrides."""

    code = "too_many_overrides"
    title = "There are too many overrides."
    cure = "Delete a past one."
    sentence = Sentence(
        "A holiday set can have at most {most} overrides. Delete one first.",
        most=MAX_OVERRIDES,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class NewOverride:
    """``name`` may be None where ``is_holiday`` is false: the country's name is taken."""

    date: date
    name: str | None = None
    is_holiday: bool = True
    half: HalfDay | None = None
    every_year: bool = False


def add(
    tx: Transaction,
    set_id: str,
    new: NewOverride,
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> HolidayOverride:
    """Make a day, or half of it, a public holiday in that set, or a working day.

    A date has at most one override of its own and one of every year, which the first replaces.
    Raises NotFound, InsufficientRole, InvalidInput, AlreadyExists or TooManyOverrides; then nothing
    has changed.
    """
    config, holiday_set = holiday_sets.to_change(tx, set_id, by=by)
    override = _checked(config, holiday_set, new, now)
    try:
        tx.insert(
            HolidayOverrideRow,
            organisation_id=by.organisation_id,
            holiday_set_id=holiday_set.id,
            **rows.columns(override),
        )
    except DuplicateRow as error:
        raise _taken(new) from error
    _record(tx, "holiday_override.created", holiday_set, None, override, by=by, now=now)
    _recalculate(tx, config, holiday_set, override, by=by, now=now, recorder=recorder)
    return override


def remove(
    tx: Transaction,
    set_id: str,
    override_id: str,
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> HolidayOverride:
    """Remove an override, so that the country's public holidays apply on that date.

    Returns the override as it was. Raises NotFound or InsufficientRole; then nothing has changed.
    """
    config, holiday_set = holiday_sets.to_change(tx, set_id, by=by)
    override = _get(tx, holiday_set, override_id, by=by)
    tx.delete(HolidayOverrideRow, organisation_id=by.organisation_id, id=override.id)
    _record(tx, "holiday_override.deleted", holiday_set, override, None, by=by, now=now)
    _recalculate(tx, config, holiday_set, override, by=by, now=now, recorder=recorder)
    return override


def _recalculate(
    tx: Transaction,
    before: OrganisationConfig,
    holiday_set: HolidaySet,
    override: HolidayOverride,
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None,
) -> None:
    """Recalculate the leave on the days of an override that was added or removed."""
    days = [override.date]
    if override.every_year:
        year = max(override.date.year, local_day(now, before.organisation.timezone).year)
        years = range(year, year + _YEARS_OF_LEAVE)
        days = [day for year in years if (day := employment_by_date.in_year(override.date, year))]
    holiday_set_changes.recalculate(
        tx, before, holiday_set.country_code, days, by=by, now=now, recorder=recorder
    )


def get(tx: Transaction, set_id: str, override_id: str, *, by: Caller) -> HolidayOverride:
    """One override of a set. Raises NotFound."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    return _get(tx, holiday_sets.get(config, set_id), override_id, by=by)


def page(tx: Transaction, set_id: str, page: PageOf, *, by: Caller) -> Page[HolidayOverride]:
    """One page of a set's overrides, earliest date first. Raises NotFound or UnusableCursor."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    holiday_set = holiday_sets.get(config, set_id)
    bound_to = ("holiday_overrides", "date, every_year", by.organisation_id, holiday_set.id)
    after = position(tx, page, *bound_to)
    page_rows = tx.all(
        _page,
        organisation_id=by.organisation_id,
        holiday_set_id=holiday_set.id,
        after_date=after[0] if after else None,
        after_every_year=after[1] if after else False,
        limit=page.limit + 1,
    )
    return page_of(
        tx, page, page_rows, _value, lambda row: [row.date, bool(row.every_year)], *bound_to
    )


def _get(
    tx: Transaction, holiday_set: HolidaySet, override_id: str, *, by: Caller
) -> HolidayOverride:
    row = tx.find(
        HolidayOverrideRow,
        organisation_id=by.organisation_id,
        id=override_id,
        holiday_set_id=holiday_set.id,
    )
    if row is None:
        raise NotFound("holiday override")
    return _value(row)


def _checked(
    config: OrganisationConfig, holiday_set: HolidaySet, new: NewOverride, now: datetime
) -> HolidayOverride:
    employment_by_date.check_year(new.date.year, "date")
    if new.half not in (None, *get_args(HalfDay)):
        raise InvalidInput.of(
            "half", "unknown_half", "A half must be am or pm, or null for all day."
        )
    code = holiday_set.country_code
    name = texts.optional_text(new.name, "name", texts.MAX_NAME_LENGTH)
    if name is None and not new.is_holiday:
        holiday = employment_by_date.holiday_of_country(config, code, new.date)
        name = "Working day" if holiday is None else holiday.name
    if name is None:
        raise InvalidInput.of("name", "required", "Enter the name of the public holiday.")
    others = config.overrides.get(code, [])
    # An override of every year has the same month and day, which is the end of the date.
    compared = slice(4 if new.every_year else 0, None)
    if any(
        other.every_year == new.every_year
        and other.date[compared] == new.date.isoformat()[compared]
        for other in others
    ):
        raise _taken(new)
    if len(others) >= MAX_OVERRIDES:
        raise TooManyOverrides
    return HolidayOverride(
        id=new_id(now),
        date=new.date,
        name=texts.name(name, "name"),
        is_holiday=new.is_holiday,
        half=new.half,
        every_year=new.every_year,
        created_at=now,
    )


def _taken(new: NewOverride) -> AlreadyExists:
    if new.every_year:
        return AlreadyExists(
            "There is already an override of every year for {day}. Delete it first.", day=new.date
        )
    return AlreadyExists("There is already an override for {day}. Delete it first.", day=new.date)


_value: Final = rows.mapper(HolidayOverride)


def _record(
    tx: Transaction,
    action: AuditAction,
    holiday_set: HolidaySet,
    before: HolidayOverride | None,
    after: HolidayOverride | None,
    *,
    by: Caller,
    now: datetime,
) -> None:
    def audited(override: HolidayOverride | None) -> Mapping[str, object]:
        if override is None:
            return {}
        fields = {name: getattr(override, name) for name in holiday_set_changes.OVERRIDE_FIELDS}
        return {**fields, "country_code": holiday_set.country_code}

    subject = after or before
    assert subject is not None
    audit.record(
        tx,
        action,
        "holiday_override",
        subject.id,
        by=by,
        now=now,
        before=audited(before),
        after=audited(after),
    )
    organisation_config.changed(tx, by.organisation_id)


_COLUMNS: Final = rows.columns_of(HolidayOverrideRow, HolidayOverride)


@compiled
def _page(
    organisation_id: Param[str],
    holiday_set_id: Param[str],
    after_date: Param[str] | None,
    after_every_year: Param[bool],
    limit: Param[int],
) -> Select:
    query = HolidayOverrideRow.select(*_COLUMNS).where(
        HolidayOverrideRow.organisation_id == organisation_id,
        HolidayOverrideRow.holiday_set_id == holiday_set_id,
    )
    order = (HolidayOverrideRow.date, HolidayOverrideRow.every_year)
    if after_date is not None:
        query = query.where(Tuple(*order) > Tuple(after_date, after_every_year))
    return query.order_by(*order).limit(limit)
