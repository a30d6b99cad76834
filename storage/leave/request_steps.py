"""One step of a request's lifecycle: the change with its audit entry, events and notifications.

``leave_requests`` and ``decisions`` apply the steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Literal

from peewee import Select, fn

from storage.base import fields
from storage.base.clock import local_day
from storage.base.errors import (
    InsufficientRole,
    InvalidTransition,
    NotFound,
)
from storage.base.event_values import EventType, NotificationEvent
from storage.base.values import Caller, LeaveRequest, LeaveType, User
from storage.db import locks, rows
from storage.db.compiled import Engine, Expr, Param, compiled_per_engine
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.tables import LeaveRequestRow, OrganisationRow, UserRow
from storage.directory import approval_rule, approvers, people_rows
from storage.events import notification_outbox, organisation_config, webhook_outbox
from storage.events.organisation_config import Reference
from storage.leave import card_refreshes, leave_reading, leave_rows
from storage.rules import lifecycle

AutoApprovalReason = Literal["no_approval_needed", "nobody_could_approve"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """The requester, whose row is locked, with the organisation's data.

    ``has_admin``: another admin or owner can decide.
    """

    user: User
    reference: Reference
    today: date
    has_admin: bool


def approve_at_once(
    tx: Transaction,
    request: LeaveRequest,
    subject: Subject,
    leave_type: LeaveType,
    *,
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    """Approve a request that needs no decision or has no possible approver."""
    after = replace(request, status="approved", decided_at=now, decision_reason=None)
    return apply(
        tx,
        "approve",
        request,
        after,
        subject,
        by=by,
        now=now,
        why=auto_approval_reason(leave_type),
        is_new=True,
    )


def auto_approval_reason(leave_type: LeaveType) -> AutoApprovalReason:
    return "nobody_could_approve" if leave_type.requires_approval else "no_approval_needed"


_EVENTS: Mapping[lifecycle.Action, EventType] = {
    "edit": "leave_request.updated",
    "approve": "leave_request.approved",
    "decline": "leave_request.declined",
    "cancel": "leave_request.cancelled",
    "reverse_to_approved": "leave_request.approved",
    "reverse_to_declined": "leave_request.declined",
}
# The requester's notification, where it differs from the event.
_NOTIFICATIONS: Mapping[lifecycle.Action, NotificationEvent] = {
    "reverse_to_approved": "leave_request.decision_changed",
    "reverse_to_declined": "leave_request.decision_changed",
}


def apply(
    tx: Transaction,
    action: lifecycle.Action,
    before: LeaveRequest,
    after: LeaveRequest,
    subject: Subject,
    *,
    by: Caller,
    now: datetime,
    why: str | None = None,
    is_new: bool = False,
) -> LeaveRequest:
    """Save the changed request and write the audit entry, events and notifications of the step.

    ``is_new``: the request was created in this transaction. Raises InvalidTransition when another
    step came first.
    """
    after = replace(after, updated_at=now, version=before.version + 1)
    event = _EVENTS[action]
    if not leave_rows.save(tx, event, before, after, by=by, now=now, why=why):
        raise InvalidTransition(lifecycle.LIFECYCLE[action].done, before.status)
    webhook_outbox.enqueue(
        tx, event, after, requester=subject.user, reference=subject.reference, now=now
    )
    recipients = card_recipients(tx, subject) if action == "edit" else []
    notification = _NOTIFICATIONS.get(action, event)
    notification_outbox.notify(
        tx, notification, after, by=by, approvers=recipients, reference=subject.reference, now=now
    )
    refresh_cards(tx, None if is_new else before, after, subject, now)
    return after


def refresh_cards(
    tx: Transaction,
    before: LeaveRequest | None,
    after: LeaveRequest,
    subject: Subject,
    now: datetime,
) -> None:
    card_refreshes.leave_changed(tx, [(before, after)], reference=subject.reference, now=now)


def card_recipients(tx: Transaction, subject: Subject) -> list[User]:
    """The approvers who get the request's card in Slack; empty without a workspace."""
    if not subject.reference.is_in_slack:
        return []
    return approvers_of(tx, subject)


def approvers_of(tx: Transaction, subject: Subject) -> list[User]:
    organisation_id = subject.reference.organisation.id
    return approvers.of_person(tx, organisation_id, subject.user.id, today=subject.today)


def lock_person(tx: Transaction, organisation_id: str, user_id: str, now: datetime) -> Subject:
    """Lock the requester, so that concurrent requests can neither overlap nor overdraw.

    Raises NotFound.
    """
    row = tx.first(_person, organisation_id=organisation_id, user_id=user_id)
    if row is None:
        raise NotFound("user")
    return _subject(tx, organisation_id, row, now)


def lock_requester(
    tx: Transaction, request_id: str, *, by: Caller, now: datetime, is_counting: bool = False
) -> Subject:
    """Lock the person whose request it is. Raises NotFound.

    Every change of leave locks the person first: read the request after this. ``is_counting`` also
    locks the organisation's working days and holidays.
    """
    row = None
    if fields.is_id(request_id):
        row = tx.first(
            _person_of_request,
            organisation_id=by.organisation_id,
            request_id=request_id,
            is_counting=is_counting,
        )
    if row is None:
        raise NotFound("leave request")
    return _subject(tx, by.organisation_id, row, now)


def _subject(tx: Transaction, organisation_id: str, row: Row, now: datetime) -> Subject:
    reference = organisation_config.of_organisation(tx, organisation_id, row.reference_version)
    return Subject(
        user=rows.user(row),
        reference=reference,
        today=local_day(now, reference.organisation.timezone),
        has_admin=bool(row.has_admin),
    )


def own_or_managed(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> LeaveRequest:
    request = leave_reading.get(tx, request_id, by=by, now=now)
    if request.user_id != by.user_id and not by.is_admin:
        raise InsufficientRole("admin")
    return request


def check_transition(
    tx: Transaction, action: lifecycle.Action, request: LeaveRequest, by: Caller
) -> None:
    if not lifecycle.is_possible(action, request.status):
        name = decider_name(tx, request, by)
        lifecycle.check_transition(action, request.status, name)


def decider_name(tx: Transaction, request: LeaveRequest, by: Caller) -> str | None:
    """The person who approved, declined or cancelled the request."""
    user_id = request.decided_by
    if request.status == "cancelled":
        user_id = leave_reading.cancelled_by(tx, by.organisation_id, request)
    decider = None if user_id is None else people_rows.find(tx, by.organisation_id, user_id)
    return None if decider is None else decider.name


@compiled_per_engine
def _person(engine: Engine, organisation_id: Param[str], user_id: Param[str]) -> Select:
    return _locked_person(engine, organisation_id, user_id, is_counting=True)


@compiled_per_engine
def _person_of_request(
    engine: Engine, organisation_id: Param[str], request_id: Param[str], is_counting: bool
) -> Select:
    user_id = LeaveRequestRow.select(LeaveRequestRow.user_id).where(
        LeaveRequestRow.organisation_id == organisation_id, LeaveRequestRow.id == request_id
    )
    return _locked_person(engine, organisation_id, user_id, is_counting=is_counting)


def _locked_person(
    engine: Engine, organisation_id: Expr, user_id: Expr, *, is_counting: bool
) -> Select:
    admin, organisation = UserRow.alias(), OrganisationRow.alias("organisation")
    has_admin = fn.EXISTS(
        admin.select(admin.id).where(
            admin.organisation_id == organisation_id,
            admin.role.in_(("admin", "owner")),
            approval_rule.is_reachable_sql(admin),
            admin.id != UserRow.id,
        )
    )
    query = (
        UserRow.select(*rows.USER, has_admin.alias("has_admin"), organisation.reference_version)
        .join(organisation, on=organisation.id == UserRow.organisation_id)
        .where(UserRow.organisation_id == organisation_id, UserRow.id == user_id)
    )
    # PostgreSQL reads a row again after waiting for its lock. A transaction that counts days waits
    # for a change of working days or holidays, and then sees the new reference_version.
    # The organisation is locked before the person, as everywhere, to avoid deadlocks.
    counting = 'FOR SHARE OF "organisation" ' if is_counting else ""
    return locks.locked(query, engine, counting + 'FOR NO KEY UPDATE OF "t1"')
