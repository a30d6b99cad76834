"""People created and changed by admins, and by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Final

from storage.admin import (
    employment_records,
    erasure,
    people_status,
    person_changes,
    reassignment,
)
from storage.admin.effects import EffectsRecorder
from storage.base import fields, texts
from storage.base.amounts import check_amount
from storage.base.errors import EmailTaken, InsufficientRole, InvalidInput
from storage.base.values import ROLES, Caller, EmploymentPeriod, Role, User, local_day
from storage.db import locks
from storage.db.database import Transaction
from storage.leave import closure_leave
from storage.outbox import audit, organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import department_rows, employment_by_date, people_changes, people_rows
from storage.rules import counted_days, employment_terms, holiday_calendar, roles

_UPDATE_CHECKS: Final[Mapping[str, fields.Check]] = {
    "first_name": texts.name,
    "last_name": texts.name,
    "role": fields.one_of(*ROLES, code="unknown_role"),
    "department_id": fields.unchecked,
    "manager_id": fields.unchecked,
    "job_title": fields.optional(texts.name),
    "employee_number": fields.optional(texts.employee_number),
    "start_date": fields.unchecked,
    "end_date": fields.unchecked,
    "working_days": fields.optional(counted_days.check_working_days),
    "public_holiday_country_code": fields.optional(holiday_calendar.check_country),
    "leave_allowance_half_days": fields.optional(check_amount),
    "avatar_url": fields.unchecked,
    "timezone": fields.optional(fields.timezone),
}
_NO_SUCH_FIELD: Final = object()
_CREATE_CHECKS: Final = {"email": texts.new_email, **_UPDATE_CHECKS}
_CHANGE_CHECKS: Final = {**_UPDATE_CHECKS, "effective_from": fields.unchecked}
# Checking or applying these reads other people or leave. They lock the organisation, so that of two
# concurrent changes the second sees the first.
_NEED_LOCK: Final = (
    "role",
    "department_id",
    "manager_id",
    "working_days",
    "public_holiday_country_code",
    "start_date",
    "end_date",
)


def create(
    tx: Transaction, fields_of_user: Mapping[str, object], *, by: Caller, now: datetime
) -> User:
    """Add a pending person: ``email``, ``first_name``, ``last_name``, other ``update`` fields.

    Needs an admin, and an owner to make an owner. Raises InsufficientRole, InvalidInput,
    EmailTaken or EmployeeNumberTaken; then nothing has changed.
    """
    roles.check_role(by.role, "admin")
    fields.require(fields_of_user, "email", "first_name", "last_name")
    values = fields.checked(fields_of_user, _CREATE_CHECKS)
    employment_records.check_employment(values.get("start_date"), values.get("end_date"))
    role: Role = values.pop("role", "member")
    people_status.check_may_manage(by, None, role)
    locks.organisation(tx, by.organisation_id)
    department_rows.check(tx, values.get("department_id"), by=by)
    people_status.check_manager(tx, values.get("manager_id"), by=by)
    user = people_changes.add(tx, values | {"role": role}, "pending", by=by, now=now)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    closure_leave.fill(tx, config, [user], by=by, now=now)
    return user


def update(
    tx: Transaction,
    user_id: str,
    changes: Mapping[str, object],
    *,
    by: Caller,
    now: datetime,
    recorder: EffectsRecorder | None = None,
) -> User:
    """Change the fields that are in ``changes``; null clears one that may be null.

    ``effective_from`` among them dates the working days, public holidays, department and allowance
    (employment_records.py). What follows for leave and approvers is in person_changes.py.

    Admins and owners change everything, only owners change owners; everyone changes their own
    names and job title. An archived person is never changed. Raises NotFound, InsufficientRole,
    NotYourField, InvalidInput, UserArchived, LastOwner or EmployeeNumberTaken; then nothing has
    changed.
    """
    config, user, after = _checked_update(tx, user_id, changes, by=by, now=now)
    if after == user:
        return user
    return person_changes.write(
        tx, config, user, after, "user.updated", by=by, now=now, recorder=recorder
    )


def _checked_update(
    tx: Transaction, user_id: str, changes: Mapping[str, object], *, by: Caller, now: datetime
) -> tuple[OrganisationConfig, User, User]:
    """The person before and after the change, checked and locked."""
    if not by.is_admin:
        if user_id != by.user_id:
            raise InsufficientRole("admin")
        user = people_rows.get(tx, user_id, by=by)
        roles.check_own_fields(_differing(user, changes))
    values = fields.checked(changes, _CHANGE_CHECKS)
    if not values.keys().isdisjoint(_NEED_LOCK):
        locks.organisation(tx, by.organisation_id)
    user = people_rows.get(tx, user_id, by=by, for_update=True)
    if by.is_admin:
        people_status.check_may_manage(by, user, values.get("role"))
    if user.status == "archived":
        raise people_status.UserArchived
    config = organisation_config.of_organisation(tx, by.organisation_id)
    after = employment_records.with_changes(config, user, values, now=now)
    if after.role != user.role or (after.end_date is not None and user.end_date is None):
        people_status.check_owner_remains(tx, user, by=by)
    if values.get("department_id") != user.department_id:
        department_rows.check(tx, values.get("department_id"), by=by)
    if after.manager_id != user.manager_id:
        people_status.check_manager(tx, after.manager_id, by=by, of_user_id=user.id)
    return config, user, after


def _differing(user: User, changes: Mapping[str, object]) -> dict[str, object]:
    """Without values that are the same: clients may send a whole object back."""
    return {
        name: value
        for name, value in changes.items()
        if getattr(user, name, _NO_SUCH_FIELD) != (tuple(value) if type(value) is list else value)
    }


# Bounds the row of a person, where the periods are.
MAX_EARLIER_PERIODS: Final = 20


def restore(
    tx: Transaction, user_id: str, *, start_date: date | None = None, by: Caller, now: datetime
) -> User:
    """Restore an archived person as pending; returns other people unchanged.

    With ``start_date`` they are hired again from then on: their employment until now is an earlier
    one. Without it, employment continues, and a past last day is removed. Keys and feeds stay
    revoked, cancelled leave stays cancelled. The person is active again with
    their first key, or as soon as they use Slack; their Slack account is theirs again unless it is
    linked to another person. Raises NotFound, InsufficientRole (only an owner restores an
    owner), InvalidInput, EmailTaken while another person has the address, or EmployeeNumberTaken
    while another has the number; then nothing has changed.
    """
    user = people_status.lock_to_manage(tx, user_id, by=by)
    if user.status != "archived":
        if start_date not in (None, user.start_date):
            raise InvalidInput.of(
                "start_date",
                "user_not_archived",
                "Only archived people are hired again. Change start_date of the user instead.",
            )
        return user
    if erasure.erased_on(tx, by.organisation_id, user_id) is not None:
        raise erasure.UserErased
    if people_rows.has_email(tx, by.organisation_id, user.email):
        raise EmailTaken(user.email)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(now, config.organisation.timezone)
    restored = employment_terms.with_records(user, employment_terms.records_of(user), today)
    restored = replace(restored, status="pending")
    if start_date is not None:
        restored = _hired_again(tx, config, restored, start_date, by=by)
    elif user.end_date is not None and user.end_date < today:
        restored = replace(restored, end_date=None)
    if user.slack_user_id is not None:
        other = people_rows.find_by_slack_id(tx, by.organisation_id, user.slack_user_id)
        if other is not None and other.status != "archived":
            restored = replace(restored, slack_user_id=None)
    restored = people_changes.save(tx, user, restored, "user.restored", by=by, now=now)
    closure_leave.fill(tx, config, [restored], by=by, now=now)
    reassignment.apply(
        tx, config, people_status.returned(tx, config, restored, now), by=by, now=now
    )
    return restored


def _hired_again(
    tx: Transaction, config: OrganisationConfig, user: User, start_date: date, *, by: Caller
) -> User:
    """The person with a new employment; the one before it ended when they were archived."""
    employment_by_date.check_year(start_date.year, "start_date")
    archived_at = audit.last_at(tx, by.organisation_id, "user.archived", user.id)
    archived_on = local_day(archived_at or user.updated_at, config.organisation.timezone)
    # Without a last day in time, they may have been archived later than they left.
    ended_on = min(archived_on, start_date - timedelta(days=1))
    if user.end_date is not None and user.end_date <= archived_on:
        ended_on = user.end_date
    earlier = user.earlier_periods
    if (user.start_date or date.min) <= ended_on:
        earlier += (EmploymentPeriod(start_date=user.start_date, end_date=ended_on),)
    if len(earlier) > MAX_EARLIER_PERIODS:
        raise InvalidInput.of(
            "start_date",
            "too_many_employments",
            "A person can be hired again at most {most} times.",
            most=MAX_EARLIER_PERIODS,
        )
    after = replace(user, start_date=start_date, end_date=None, earlier_periods=earlier)
    employment_records.check_dates(after)
    return after
