"""People created and changed, and what a change does to their leave and to others'."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from storage.admin import effects, people_checks, reassignment, recalculation, recalculation_causes
from storage.admin.effects_recorder import EffectsRecorder
from storage.base import fields, texts
from storage.base.amounts import check_half_days
from storage.base.clock import local_day
from storage.base.errors import (
    InsufficientRole,
)
from storage.base.values import ROLES, Caller, LeaveRequest, Role, User
from storage.db import locks
from storage.db.database import Transaction
from storage.directory import people_changes, people_rows
from storage.events import organisation_config
from storage.events.organisation_config import OrganisationConfig
from storage.leave import card_refreshes
from storage.rules import holiday_calendar, roles, working_week

_UPDATE_CHECKS: Final[Mapping[str, fields.Check]] = {
    "first_name": texts.name,
    "last_name": texts.name,
    "role": fields.one_of(*ROLES),
    "department_id": fields.unchecked,
    "manager_id": fields.unchecked,
    "job_title": fields.optional(texts.name),
    "start_date": fields.unchecked,
    "working_days": fields.optional(working_week.check_working_days),
    "public_holiday_country_code": fields.optional(holiday_calendar.check_country),
    "leave_allowance_half_days": fields.optional(check_half_days),
    "avatar_url": fields.unchecked,
    "timezone": fields.optional(fields.timezone),
}
_NO_SUCH_FIELD: Final = object()
_CREATE_CHECKS: Final = {"email": texts.email, **_UPDATE_CHECKS}
# Checking or applying these reads other people or leave. They lock the organisation, so that of two
# concurrent changes the second sees the first.
_NEED_LOCK: Final = (
    "role",
    "department_id",
    "manager_id",
    "working_days",
    "public_holiday_country_code",
)
# The fields that affect the balance and the colleagues on cards of a person's own requests.
_ON_CARDS: Final = ("leave_allowance_half_days", "start_date", "department_id", "manager_id")


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

    New working days or public holidays recalculate the person's future leave (recalculation.py);
    a new manager, department or role gives the new approvers their cards (reassignment.py).

    Admins and owners change everything, only owners change owners; everyone changes their own
    names and job title. An archived person is never changed. Raises NotFound, InsufficientRole,
    NotYourField, InvalidInput, UserArchived or LastOwner; then nothing has changed.
    """
    user, after = _checked_update(tx, user_id, changes, by=by)
    if after == user:
        return user
    config = organisation_config.of_organisation(tx, by.organisation_id)
    pending = _pending_with_other_approvers(tx, config, user, after, now)
    approvers_before = reassignment.approvers_by_requester(tx, config, pending, now=now)
    if recorder is not None:
        today = local_day(now, config.organisation.timezone)
        recorder.read_balances_before(tx, config, [user], today=today)
    after = people_changes.save(tx, user, after, "user.updated", by=by, now=now)
    cause = recalculation_causes.cause_of(user, after)
    leave = [] if cause is None else recalculation.plan(tx, config, [after], now=now)
    if cause is not None:
        recalculation.apply(tx, config, leave, cause, by=by, now=now)
    approvers_after = reassignment.approvers_by_requester(tx, config, pending, now=now)
    reassigned = reassignment.difference(pending, approvers_before, approvers_after)
    reassignment.apply(tx, config, reassigned, by=by, now=now)
    _refresh_cards(tx, config, user, after, now)
    if recorder is not None:
        chosen = after.public_holiday_country_code
        balances = recorder.balance_changes(tx, config, [after])
        recorder.effects = replace(
            recorder.effects,
            leave=tuple(leave),
            chosen_country_code=None if chosen == user.public_holiday_country_code else chosen,
            reassigned=tuple(reassigned),
            balances=balances,
            overdrawn=effects.overdrawn(balances),
        )
    return after


def _refresh_cards(
    tx: Transaction, config: OrganisationConfig, user: User, after: User, now: datetime
) -> None:
    """Refresh open cards whose balance or colleagues the change alters."""
    if any(getattr(user, name) != getattr(after, name) for name in _ON_CARDS):
        card_refreshes.enqueue(tx, config=config, now=now, user_ids={user.id})
    if user.department_id != after.department_id:
        # The cards of former and new colleagues list this person's leave.
        for department_id in {user.department_id, after.department_id} - {None}:
            card_refreshes.enqueue(tx, config=config, now=now, department_id=department_id)
    if user.manager_id != after.manager_id:
        managers = {manager for manager in (user.manager_id, after.manager_id) if manager}
        card_refreshes.enqueue(tx, config=config, now=now, user_ids=managers)


def _pending_with_other_approvers(
    tx: Transaction, config: OrganisationConfig, user: User, after: User, now: datetime
) -> list[LeaveRequest]:
    """Pending requests that the change may give other approvers, read before it.

    The person's own, and those of people whose approver they are before or after the change.
    """
    requests: list[LeaveRequest] = []
    if (after.manager_id, after.department_id) != (user.manager_id, user.department_id):
        requests += reassignment.pending_of(tx, config, user_id=user.id)
    if _has_other_requesters(user, after):
        requests += reassignment.assigned_to(tx, config, user, now=now)
        if after.role in ("admin", "owner"):
            requests += reassignment.pending_of(tx, config)
        elif after.role == "approver" and after.department_id is not None:
            requests += reassignment.pending_of(tx, config, department_id=after.department_id)
    return list({request.id: request for request in requests}.values())


def _has_other_requesters(user: User, after: User) -> bool:
    """Whether the role or department lets the person decide on other people's leave than before."""
    if after.role != user.role:
        return True
    return after.role == "approver" and after.department_id != user.department_id


def _checked_update(
    tx: Transaction, user_id: str, changes: Mapping[str, object], *, by: Caller
) -> tuple[User, User]:
    """The person before and after the change, checked and locked."""
    if not by.is_admin:
        if user_id != by.user_id:
            raise InsufficientRole("admin")
        user = people_rows.get(tx, user_id, by=by)
        roles.check_own_fields(_differing(user, changes))
    values = fields.checked(changes, _UPDATE_CHECKS)
    if not values.keys().isdisjoint(_NEED_LOCK):
        locks.organisation(tx, by.organisation_id)
    user = people_rows.get(tx, user_id, by=by, for_update=True)
    if by.is_admin:
        people_checks.check_may_manage(by, user, values.get("role"))
    if user.status == "archived":
        raise people_checks.UserArchived
    after = replace(user, **values)
    if after.role != user.role:
        people_checks.check_owner_remains(tx, user, by=by)
    if after.department_id != user.department_id:
        people_checks.check_department(tx, after.department_id, by=by)
    if after.manager_id != user.manager_id:
        people_checks.check_manager(tx, after.manager_id, by=by, of_user_id=user.id)
    return user, after


def _differing(user: User, changes: Mapping[str, object]) -> dict[str, object]:
    """Without values that are the same: clients may send a whole object back."""
    return {
        name: value
        for name, value in changes.items()
        if getattr(user, name, _NO_SUCH_FIELD) != (tuple(value) if type(value) is list else value)
    }
