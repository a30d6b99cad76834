"""Holiday sets added and their categories changed, and the leave that a set's days recalculate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Final

from peewee import Select, fn

from storage.admin import effects, recalculation
from storage.admin.effects import EffectsRecorder
from storage.admin.recalculation import Cause, CauseCode
from storage.base.calendar_values import HolidaySet
from storage.base.errors import InUse
from storage.base.leave_values import LeaveEffect
from storage.base.values import Caller, local_day
from storage.db import locks, rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import HolidayOverrideRow, HolidaySetRow, UserRow
from storage.leave import closure_leave
from storage.outbox import audit, organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import employment_by_date, holiday_sets, people_rows
from storage.rules import holiday_calendar, roles

# The fields of a changed day in the audit trail.
OVERRIDE_FIELDS: Final = ("date", "name", "is_holiday", "half", "every_year")


def add(
    tx: Transaction,
    country_code: str,
    categories: Iterable[str] | None = None,
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> HolidaySet:
    """Add a country or one of its regions; without ``categories``, with its default ones.

    People may have the country already. Raises InsufficientRole, InvalidInput ``unknown_country``
    or ``unknown_category``, or AlreadyExists; then nothing has changed.
    """
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    before = organisation_config.of_organisation(tx, by.organisation_id)
    holiday_set = holiday_sets.add(tx, country_code, categories, by=by, now=now)
    code = holiday_set.country_code
    if holiday_set.categories != holiday_calendar.default_categories(code):
        recalculate(tx, before, code, by=by, now=now, recorder=recorder)
    return holiday_set


def change_categories(
    tx: Transaction,
    set_id: str,
    categories: Iterable[str],
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> HolidaySet:
    """Choose the categories of a set, and recalculate leave from today on.

    Raises InsufficientRole, NotFound or InvalidInput ``unknown_category``; then nothing has
    changed.
    """
    config, before = holiday_sets.to_change(tx, set_id, by=by)
    checked = holiday_calendar.check_categories(before.country_code, categories, "categories")
    if checked == before.categories:
        return before
    after = replace(before, categories=checked)
    tx.update(HolidaySetRow, rows.changes(after), organisation_id=by.organisation_id, id=before.id)
    fields = ("categories",)
    audit.record_value(
        tx, "holiday_set.updated", "holiday_set", before, after, fields, by=by, now=now
    )
    organisation_config.changed(tx, by.organisation_id)
    recalculate(tx, config, before.country_code, by=by, now=now, recorder=recorder)
    return after


def recalculate(
    tx: Transaction,
    before: OrganisationConfig,
    country_code: str,
    days: Sequence[date] | None = None,
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None,
) -> None:
    """Recalculate the leave of people with this country, from today on.

    ``before`` is the configuration before the change. Only ``days`` can have changed; any day if
    it is None.
    """
    config = organisation_config.of_organisation(tx, by.organisation_id)
    affected = recalculation.AffectedPeople(
        own_country=country_code,
        default_country=country_code == config.organisation.country_code,
    )
    users = recalculation.lock_people(tx, by.organisation_id, affected)
    today = local_day(now, config.organisation.timezone)
    periods = (
        [(today, date.max)]
        if days is None
        else [(day, day) for day in sorted(days) if day >= today]
    )
    leave = recalculation.plan_periods(tx, config, users, periods, now=now)
    owners = effects.owners(leave)
    if recorder is not None:
        recorder.read_balances_before(tx, before, owners, today=today)
    if days is None:
        cause = Cause(code="public_holidays_changed")
        recalculation.apply(tx, config, leave, cause, by=by, now=now)
    else:
        by_day: dict[date, list[LeaveEffect]] = {}
        for effect in leave:
            by_day.setdefault(_first_changed_day(effect, days), []).append(effect)
        for day, of_day in by_day.items():
            cause = _cause(before, config, country_code, day)
            recalculation.apply(tx, config, of_day, cause, by=by, now=now)
    closed = closure_leave.fill(tx, config, users, by=by, now=now)
    if recorder is not None:
        recorder.effects = replace(
            recorder.effects,
            leave=tuple(leave),
            closed=tuple(closed),
            balances=recorder.balance_changes(tx, config, owners),
        )


def _first_changed_day(effect: LeaveEffect, days: Iterable[date]) -> date:
    def counted(day: date) -> tuple[str, str]:
        index = (day - effect.before.start_date).days
        return effect.before.counted_halves[index], effect.after.counted_halves[index]

    first, last = effect.before.start_date, effect.before.end_date
    return next(
        day for day in sorted(days) if first <= day <= last and counted(day)[0] != counted(day)[1]
    )


def _cause(before: OrganisationConfig, after: OrganisationConfig, code: str, day: date) -> Cause:
    old = employment_by_date.holidays_between(before, code, day, day).get(day)
    new = employment_by_date.holidays_between(after, code, day, day).get(day)
    kind: CauseCode = "public_holiday_changed"
    if old is None or new is None:
        kind = "public_holiday_added" if old is None else "public_holiday_removed"
    holiday = new or old
    return Cause(
        code=kind, holiday_date=day, holiday_name=None if holiday is None else holiday.name
    )


class HolidaySetInUse(InUse):
    """The organisation, or a person who is not archived, has these public holidays."""

    code = "holiday_set_in_use"
    title = "The holiday set is still in use."
    cure = "Give them another country code first, then delete the set."
    example = ("The public holidays of GB still apply to people (3).",)


def remove(tx: Transaction, set_id: str, *, by: Caller, now: datetime) -> HolidaySet:
    """Delete an unused set with its overrides; archived people do not count.

    No leave is recalculated, since the set is not in use. Raises NotFound, InsufficientRole or
    HolidaySetInUse; then nothing has changed.
    """
    config, holiday_set = holiday_sets.to_change(tx, set_id, by=by)
    _check_unused(tx, config, holiday_set)
    overrides = config.overrides.get(holiday_set.country_code, [])
    own = {"organisation_id": by.organisation_id}
    tx.delete(HolidayOverrideRow, **own, holiday_set_id=holiday_set.id)
    tx.delete(HolidaySetRow, **own, id=holiday_set.id)
    audit.record(
        tx,
        "holiday_set.deleted",
        "holiday_set",
        holiday_set.id,
        by=by,
        now=now,
        before={
            "country_code": holiday_set.country_code,
            "categories": holiday_set.categories,
            "overrides": [
                {name: getattr(override, name) for name in OVERRIDE_FIELDS}
                for override in overrides
            ],
        },
    )
    organisation_config.changed(tx, by.organisation_id)
    return holiday_set


def _check_unused(tx: Transaction, config: OrganisationConfig, holiday_set: HolidaySet) -> None:
    """Raises HolidaySetInUse."""
    code = holiday_set.country_code
    if code == config.organisation.country_code:
        raise HolidaySetInUse(
            "The organisation uses the public holidays of {code}. Choose another country for "
            "the organisation first.",
            code=code,
        )
    row = tx.first(
        _users_of,
        organisation_id=config.organisation.id,
        country_code=code,
        records_like=people_rows.pattern_of_records(code),
    )
    if row is not None and row.total:
        raise HolidaySetInUse(
            "The public holidays of {code} still apply to people ({count}). Choose other public "
            "holidays for them first.",
            code=code,
            count=row.total,
        )


@compiled
def _users_of(
    organisation_id: Param[str], country_code: Param[str], records_like: Param[str]
) -> Select:
    return UserRow.select(fn.COUNT(UserRow.id).alias("total")).where(
        UserRow.organisation_id == organisation_id,
        (UserRow.public_holiday_country_code == country_code) | (UserRow.employment**records_like),
        UserRow.status != "archived",
    )
