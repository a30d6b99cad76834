"""The people of an organisation: made, read, changed. Joining and leaving are elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final, Literal, TypedDict

from storage.admin import effects, reassignment, recalculation
from storage.admin.effects import EffectsRecorder
from storage.base import fields
from storage.base.amounts import check_half_days
from storage.base.clock import local_day
from storage.base.errors import (
    Conflict,
    InsufficientRole,
    InvalidInput,
    LastOwner,
    NotFound,
)
from storage.base.values import ROLES, Caller, LeaveRequest, Role, User, UserStatus
from storage.db import locks, rows
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf, page_of, position
from storage.directory import people_changes, people_rows
from storage.events import organisation_config
from storage.events.organisation_config import Reference
from storage.leave import card_refreshes
from storage.rules import holiday_calendar, request_rules, working_week

# The most that the unpaged list holds.
Sort = Literal["created_at", "-created_at"]
# The most people in one answer.
MAX_LIST: Final = 10_000

_UPDATE_CHECKS: Final[Mapping[str, fields.Check]] = {
    "first_name": fields.name,
    "last_name": fields.name,
    "role": fields.one_of(*ROLES),
    "department_id": fields.unchecked,
    "manager_id": fields.unchecked,
    "job_title": fields.optional(fields.name),
    "start_date": fields.unchecked,
    "working_days": fields.optional(working_week.check_working_days),
    "public_holiday_country_code": fields.optional(holiday_calendar.check_country),
    "leave_allowance_half_days": fields.optional(check_half_days),
    "avatar_url": fields.unchecked,
    "timezone": fields.optional(fields.timezone),
}
_NO_SUCH_FIELD: Final = object()
_CREATE_CHECKS: Final = {"email": fields.email, **_UPDATE_CHECKS}
# These look at other people, their leave or the organisation, so they go one after the other: of
# two changes at once of what a day counts, or of who decides, the later one sees the earlier.
_LOOKING_AROUND: Final = (
    "role",
    "department_id",
    "manager_id",
    "working_days",
    "public_holiday_country_code",
)
# These decide about the balance and the colleagues on the cards of a person's own requests.
_ON_CARDS: Final = ("leave_allowance_half_days", "start_date", "department_id", "manager_id")


class UserArchived(Conflict):
    """An archived person stays as they were, readable, until they are restored."""

    code = "user_archived"
    title = "The user is archived."

    def __init__(self) -> None:
        super().__init__(
            "This user is archived and cannot be changed. Restore them first, or create a new user."
        )


def create(
    tx: Transaction, fields_of_user: Mapping[str, object], *, by: Caller, now: datetime
) -> User:
    """Add a pending person: ``email``, ``first_name``, ``last_name``, other ``update`` fields.

    Needs an admin, and an owner to make an owner. Raises InsufficientRole, InvalidInput or
    EmailTaken; then nothing has changed.
    """
    request_rules.check_role(by.role, "admin")
    fields.require(fields_of_user, "email", "first_name", "last_name")
    values = fields.checked(fields_of_user, _CREATE_CHECKS)
    role: Role = values.pop("role", "member")
    check_may_manage(by, None, role)
    locks.organisation(tx, by.organisation_id)
    check_department(tx, values.get("department_id"), by=by)
    check_manager(tx, values.get("manager_id"), by=by)
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
    reference = organisation_config.of_organisation(tx, by.organisation_id)
    pending = _concerned(tx, reference, user, after, now)
    asked_before = reassignment.approvers_by_requester(tx, reference, pending, now=now)
    if recorder is not None:
        today = local_day(now, reference.organisation.timezone)
        recorder.read_balances_before(tx, reference, [user], today=today)
    after = people_changes.save(tx, user, after, "user.updated", by=by, now=now)
    cause = recalculation.cause_of(user, after)
    leave = [] if cause is None else recalculation.plan(tx, reference, [after], now=now)
    if cause is not None:
        recalculation.apply(tx, reference, leave, cause, by=by, now=now)
    asked_after = reassignment.approvers_by_requester(tx, reference, pending, now=now)
    reassigned = reassignment.difference(pending, asked_before, asked_after)
    reassignment.apply(tx, reference, reassigned, by=by, now=now)
    _refresh_cards(tx, reference, user, after, now)
    if recorder is not None:
        chosen = after.public_holiday_country_code
        balances = recorder.balance_changes(tx, reference, [after])
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
    tx: Transaction, reference: Reference, user: User, after: User, now: datetime
) -> None:
    """Redraw open cards on which the change shows another balance or other colleagues."""
    if any(getattr(user, name) != getattr(after, name) for name in _ON_CARDS):
        card_refreshes.enqueue(tx, reference=reference, now=now, user_ids={user.id})
    if user.department_id != after.department_id:
        # Former and new colleagues: their cards list this person's leave no longer, or from now on.
        for department_id in {user.department_id, after.department_id} - {None}:
            card_refreshes.enqueue(tx, reference=reference, now=now, department_id=department_id)
    if user.manager_id != after.manager_id:
        managers = {one for one in (user.manager_id, after.manager_id) if one is not None}
        card_refreshes.enqueue(tx, reference=reference, now=now, user_ids=managers)


def _concerned(
    tx: Transaction, reference: Reference, user: User, after: User, now: datetime
) -> list[LeaveRequest]:
    """Pending requests that may go to other approvers, read before the change.

    The person's own, and those of people whose approver they are before or after the change.
    """
    concerned: list[LeaveRequest] = []
    if (after.manager_id, after.department_id) != (user.manager_id, user.department_id):
        concerned += reassignment.pending_of(tx, reference, user_id=user.id)
    if _is_another_approver(user, after):
        concerned += reassignment.assigned_to(tx, reference, user, now=now)
        if after.role in ("admin", "owner"):
            concerned += reassignment.pending_of(tx, reference)
        elif after.role == "approver" and after.department_id is not None:
            concerned += reassignment.pending_of(tx, reference, department_id=after.department_id)
    return list({request.id: request for request in concerned}.values())


def _is_another_approver(user: User, after: User) -> bool:
    """Whether the person may decide on other people's leave than before, by their role."""
    if after.role != user.role:
        return True
    return after.role == "approver" and after.department_id != user.department_id


def _checked_update(
    tx: Transaction, user_id: str, changes: Mapping[str, object], *, by: Caller
) -> tuple[User, User]:
    """The person before and after the change, once everything about it is sound."""
    if not by.is_admin:
        if user_id != by.user_id:
            raise InsufficientRole("admin")
        user = people_rows.get(tx, user_id, by=by)
        request_rules.check_own_fields(_differing(user, changes))
    values = fields.checked(changes, _UPDATE_CHECKS)
    if not values.keys().isdisjoint(_LOOKING_AROUND):
        locks.organisation(tx, by.organisation_id)
    user = people_rows.get(tx, user_id, by=by, for_update=True)
    if by.is_admin:
        check_may_manage(by, user, values.get("role"))
    if user.status == "archived":
        raise UserArchived
    after = replace(user, **values)
    if after.role != user.role:
        check_owner_remains(tx, user, by=by)
    if after.department_id != user.department_id:
        check_department(tx, after.department_id, by=by)
    if after.manager_id != user.manager_id:
        check_manager(tx, after.manager_id, by=by, of_user_id=user.id)
    return user, after


def _differing(user: User, changes: Mapping[str, object]) -> dict[str, object]:
    """The changes that change something: a client may send a whole object back."""
    return {
        name: value
        for name, value in changes.items()
        if getattr(user, name, _NO_SUCH_FIELD) != (tuple(value) if type(value) is list else value)
    }


def list_all(tx: Transaction, /, *, by: Caller) -> list[User]:
    """At most 10,000 people."""
    return page(tx, PageOf(limit=MAX_LIST), by=by).items


class _PageFilters(TypedDict):
    status: str | None
    department_id: str | None
    role: str | None
    manager_id: str | None
    email_key: str | None


def page(
    tx: Transaction,
    page: PageOf,
    *,
    by: Caller,
    status: UserStatus | None = None,
    department_id: str | None = None,
    role: Role | None = None,
    manager_id: str | None = None,
    email: str | None = None,
    sort: Sort = "created_at",
) -> Page[User]:
    """One page of the people who pass the filters, by the time at which they were added.

    Raises NotFound for an unknown department or manager, UnusableCursor.
    """
    _check_filter(tx, department_id, by=by)
    if manager_id is not None:
        people_rows.get(tx, manager_id, by=by)
    filters = _PageFilters(
        status=status,
        department_id=department_id,
        role=role,
        manager_id=manager_id,
        email_key=None if email is None else email.casefold(),
    )
    bound_to = ("users", by.organisation_id, *filters.values(), sort)
    after = position(tx, page, *bound_to)
    found = tx.all(
        people_rows.users,
        organisation_id=by.organisation_id,
        descends=sort == "-created_at",
        after_at=after[0] if after else None,
        after_id=after[1] if after else None,
        limit=page.limit + 1,
        **filters,
    )
    return page_of(tx, page, found, rows.user, lambda row: [row.created_at, row.id], *bound_to)


def find_by_email(tx: Transaction, organisation_id: str, email: str) -> User | None:
    """The person with that address, case-insensitive, in any status."""
    return people_rows.find_by_email(tx, organisation_id, email)


def find_by_slack_id(tx: Transaction, organisation_id: str, slack_user_id: str) -> User | None:
    """The person who was linked to that Slack user, in any status."""
    return people_rows.find_by_slack_id(tx, organisation_id, slack_user_id)


def check_may_manage(by: Caller, user: User | None, new_role: Role | None = None) -> None:
    """Raises InsufficientRole unless ``by`` may make, change or archive that person."""
    target_role = None if user is None else user.role
    if not request_rules.may_manage(by.role, target_role, new_role):
        raise InsufficientRole(request_rules.role_needed_to_manage(target_role, new_role))


def check_owner_remains(tx: Transaction, user: User, *, by: Caller) -> None:
    """Raises LastOwner when no other active owner would remain; needs the organisation's lock."""
    if user.role != "owner" or user.status in ("deactivated", "archived"):
        return
    if not people_rows.has_other_active_owner(tx, by.organisation_id, user.id):
        raise LastOwner


def check_department(tx: Transaction, department_id: str | None, *, by: Caller) -> None:
    """Raises InvalidInput ``not_found``; a department that passes is not deleted meanwhile."""
    if department_id is not None and not people_rows.has_department(
        tx, by.organisation_id, department_id, for_update=True
    ):
        raise InvalidInput.of("department_id", "not_found", "There is no such department.")


def check_manager(
    tx: Transaction, manager_id: str | None, *, by: Caller, of_user_id: str | None = None
) -> None:
    """Refuse a manager who is unknown, archived or managed by the person.

    Raises InvalidInput ``not_found``, ``manager_archived`` or ``manager_cycle``. The last needs
    the organisation's lock.
    """
    people_rows.check_can_manage(tx, by.organisation_id, manager_id)
    if manager_id is None or of_user_id is None:
        return
    if people_rows.is_above(tx, by.organisation_id, of_user_id, manager_id):
        raise InvalidInput.of(
            "manager_id",
            "manager_cycle",
            "This manager already reports to this person, directly or indirectly.",
        )


def _check_filter(tx: Transaction, department_id: str | None, *, by: Caller) -> None:
    if department_id is not None and not people_rows.has_department(
        tx, by.organisation_id, department_id
    ):
        raise NotFound("department")
