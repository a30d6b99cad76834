"""People created and changed by admins, and by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from storage.admin import people_checks, person_changes
from storage.admin.effects_recorder import EffectsRecorder
from storage.admin.employment import effective
from storage.base import fields, texts
from storage.base.amounts import check_half_days
from storage.base.errors import (
    InsufficientRole,
)
from storage.base.values import ROLES, Caller, Role, User
from storage.db import locks
from storage.db.database import Transaction
from storage.directory import people_changes, people_rows
from storage.events import organisation_config
from storage.events.organisation_config import OrganisationConfig
from storage.rules import counted_days, holiday_calendar, roles

_UPDATE_CHECKS: Final[Mapping[str, fields.Check]] = {
    "first_name": texts.name,
    "last_name": texts.name,
    "role": fields.one_of(*ROLES, code="unknown_role"),
    "department_id": fields.unchecked,
    "manager_id": fields.unchecked,
    "job_title": fields.optional(texts.name),
    "start_date": fields.unchecked,
    "end_date": fields.unchecked,
    "working_days": fields.optional(counted_days.check_working_days),
    "public_holiday_country_code": fields.optional(holiday_calendar.check_country),
    "leave_allowance_half_days": fields.optional(check_half_days),
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

    Needs an admin, and an owner to make an owner. Raises InsufficientRole, InvalidInput or
    EmailTaken; then nothing has changed.
    """
    roles.check_role(by.role, "admin")
    fields.require(fields_of_user, "email", "first_name", "last_name")
    values = fields.checked(fields_of_user, _CREATE_CHECKS)
    effective.check_employment(values.get("start_date"), values.get("end_date"))
    role: Role = values.pop("role", "member")
    people_checks.check_may_manage(by, None, role)
    locks.organisation(tx, by.organisation_id)
    people_checks.check_department(tx, values.get("department_id"), by=by)
    people_checks.check_manager(tx, values.get("manager_id"), by=by)
    return people_changes.add(tx, values | {"role": role}, "pending", by=by, now=now)


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
    (employment/effective.py). What follows for leave and approvers is in person_changes.py.

    Admins and owners change everything, only owners change owners; everyone changes their own
    names and job title. An archived person is never changed. Raises NotFound, InsufficientRole,
    NotYourField, InvalidInput, UserArchived or LastOwner; then nothing has changed.
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
        people_checks.check_may_manage(by, user, values.get("role"))
    if user.status == "archived":
        raise people_checks.UserArchived
    config = organisation_config.of_organisation(tx, by.organisation_id)
    after = effective.with_changes(config, user, values, now=now)
    if after.role != user.role or (after.end_date is not None and user.end_date is None):
        people_checks.check_owner_remains(tx, user, by=by)
    if values.get("department_id") != user.department_id:
        people_checks.check_department(tx, values.get("department_id"), by=by)
    if after.manager_id != user.manager_id:
        people_checks.check_manager(tx, after.manager_id, by=by, of_user_id=user.id)
    return config, user, after


def _differing(user: User, changes: Mapping[str, object]) -> dict[str, object]:
    """Without values that are the same: clients may send a whole object back."""
    return {
        name: value
        for name, value in changes.items()
        if getattr(user, name, _NO_SUCH_FIELD) != (tuple(value) if type(value) is list else value)
    }
