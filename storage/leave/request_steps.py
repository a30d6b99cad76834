"""One step of a request's lifecycle: the change with its audit entry, events and notifications.

``leave_requests`` and ``decisions`` apply the steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, Literal
from zoneinfo import ZoneInfo

from peewee import Select, fn

from storage.base.errors import InsufficientRole, InvalidTransition, NotFound
from storage.base.event_values import AuditAction, LeaveEventType, NotificationEvent
from storage.base.ids import is_id
from storage.base.leave_values import Amendment, LeaveRequest, LeaveType
from storage.base.values import Caller, User, field_names, local_day
from storage.db import locks, rows
from storage.db.compiled import Engine, Expr, Param, compiled_per_engine
from storage.db.database import Row, Transaction
from storage.db.tables import LeaveRequestRow, OrganisationRow, ReminderRow, UserRow
from storage.leave import (
    card_refreshes,
    closure_leave,
    cover_notices,
    covers,
    leave_amendments,
    leave_rows,
)
from storage.outbox import notification_outbox, organisation_config, webhook_outbox
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import approval_rule, approvers, people_rows
from storage.rules import counted_days, lifecycle, second_approvals

# Why a step was taken: an approver approved the amendment.
AMENDED: Final = "amendment_approved"
AutoApprovalReason = Literal["no_approval_needed", "nobody_could_approve", "recorded"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Requester:
    """The requester, whose row is locked, with the organisation's data."""

    user: User
    config: OrganisationConfig
    today: date


def add(
    tx: Transaction, request: LeaveRequest, requester: Requester, *, by: Caller, now: datetime
) -> None:
    """Store a new request with its audit entry and event."""
    leave_rows.add(tx, request, by=by, now=now)
    webhook_outbox.enqueue(
        tx,
        "leave_request.created",
        request,
        requester=requester.user,
        config=requester.config,
        now=now,
    )


def approve_at_once(
    tx: Transaction,
    request: LeaveRequest,
    requester: Requester,
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
        requester,
        by=by,
        now=now,
        why=auto_approval_reason(leave_type),
        is_new=True,
    )


def auto_approval_reason(leave_type: LeaveType) -> AutoApprovalReason:
    return "nobody_could_approve" if leave_type.requires_approval else "no_approval_needed"


_EVENTS: Mapping[lifecycle.Action, LeaveEventType] = {
    "edit": "leave_request.updated",
    "approve": "leave_request.approved",
    "decline": "leave_request.declined",
    "cancel": "leave_request.cancelled",
    "change": "leave_request.updated",
    "amend": "leave_request.updated",
    "interrupt": "leave_request.updated",
    "reverse_to_approved": "leave_request.approved",
    "reverse_to_declined": "leave_request.declined",
    # Receivers learn of approvals that are not final as of other changes of pending requests.
    "approve_first": "leave_request.updated",
    "take_back": "leave_request.updated",
    "reverse_to_first_approval": "leave_request.updated",
}
# What the audit trail has, where it differs from the event.
_AUDITED: Mapping[lifecycle.Action, AuditAction] = {
    "approve_first": "leave_request.approval_given",
    "take_back": "leave_request.approval_taken_back",
    "reverse_to_first_approval": "leave_request.approval_given",
}
# The requester's notification, where it differs from the event.
_NOTIFICATIONS: Mapping[lifecycle.Action, NotificationEvent] = {
    "amend": "leave_request.amendment_approved",
    "reverse_to_approved": "leave_request.decision_changed",
    "reverse_to_declined": "leave_request.decision_changed",
    "approve_first": "leave_request.approval_given",
    "take_back": "leave_request.approval_taken_back",
    "reverse_to_first_approval": "leave_request.approval_given",
}
# After these, approvers are asked.
_ASKS: Final = frozenset(("edit", "approve_first", "take_back", "reverse_to_first_approval"))


def apply(
    tx: Transaction,
    action: lifecycle.Action,
    before: LeaveRequest,
    after: LeaveRequest,
    requester: Requester,
    *,
    by: Caller,
    now: datetime,
    why: str | None = None,
    is_new: bool = False,
    notification: NotificationEvent | None = None,
    tells_cover: bool = True,
    assigns_cover: bool = False,
    fills_closures: bool = True,
) -> LeaveRequest:
    """Save the changed request and write the audit entry, events and notifications of the step.

    Every step ends an open amendment. ``is_new``: the request was created in this transaction.
    ``notification``: the requester's, if not the action's. ``assigns_cover`` as in `Amendment`: the
    next step of the transaction requests it. ``fills_closures``: closures book the halves that it
    gives up, unless a later step of the transaction takes them. Raises InvalidTransition when
    another step came first.
    """
    after = replace(after, updated_at=now, version=before.version + 1, amendment_id=None)
    event = _EVENTS[action]
    audited = _AUDITED.get(action, event)
    if not leave_rows.save(tx, audited, before, after, by=by, now=now, why=why):
        raise InvalidTransition(lifecycle.LIFECYCLE[action].done, before.status)
    known = before
    if before.amendment_id is not None:
        amendment = leave_amendments.find(tx, by.organisation_id, before.amendment_id)
        known = known_to_cover(before, amendment)
        leave_amendments.end(
            tx,
            by.organisation_id,
            before.amendment_id,
            "approved" if why == AMENDED else "ended",
            by_id=by.user_id,
            now=now,
        )
    webhook_outbox.enqueue(
        tx, event, after, requester=requester.user, config=requester.config, now=now
    )
    if after.status == "pending" and after.first_approver_id != before.first_approver_id:
        # Other people decide from now on, and are reminded from then on.
        tx.delete(ReminderRow, organisation_id=by.organisation_id, leave_request_id=after.id)
    recipients = card_recipients(tx, requester, after) if action in _ASKS else []
    notification = notification or _NOTIFICATIONS.get(action, event)
    notification_outbox.notify(
        tx, notification, after, by=by, approvers=recipients, config=requester.config, now=now
    )
    _offer_interruption(tx, after, requester, now)
    if tells_cover or known is not before:
        told = replace(after, cover_user_id=None) if assigns_cover else after
        cover_notices.enqueue(
            tx, [(known, told)], config=requester.config, today=requester.today, now=now
        )
    refresh_cards(tx, None if is_new else before, after, requester, now)
    if fills_closures and _gives_halves_up(before, after):
        closure_leave.fill_freed(tx, before, requester.user, by=by, now=now)
    leave_type = requester.config.leave_types[after.leave_type_id]
    if action == "approve" and not is_new and not leave_type.is_away:
        # Closures take days of work elsewhere, once it is approved.
        closure_leave.fill_freed(tx, after, requester.user, by=by, now=now)
        return leave_rows.find(tx, by.organisation_id, after.id) or after
    return after


def _gives_halves_up(before: LeaveRequest, after: LeaveRequest) -> bool:
    """Whether leave of the person's own ends, or no longer covers all of its time."""
    if before.closure_id is not None or before.status not in ("pending", "approved"):
        return False
    if after.status not in ("pending", "approved"):
        return True
    span_before, span = counted_days.span_of(before), counted_days.span_of(after)
    return not counted_days.lies_within(span_before, span)


def _offer_interruption(
    tx: Transaction, request: LeaveRequest, requester: Requester, now: datetime
) -> None:
    """Queue the refresh that offers the requester to interrupt their leave when it begins soon."""
    config = requester.config
    offered_on = request.start_date - lifecycle.INTERRUPTION_OFFERED_BEFORE
    is_offered = request.status == "approved" and request.interrupts is None
    if config.is_in_slack and is_offered and offered_on > requester.today:
        midnight = datetime.combine(
            offered_on, time.min, ZoneInfo(config.organisation.timezone)
        ).astimezone(UTC)
        notification_outbox.refresh_own_message(
            tx, request, config.organisation.id, due_at=midnight, now=now
        )


def known_to_cover(before: LeaveRequest, amendment: Amendment | None) -> LeaveRequest:
    """The leave as its cover knows it: not at all while the amendment that assigned them is open.

    The same object if they know it as it is.
    """
    if amendment is None or not amendment.assigns_cover:
        return before
    return replace(before, cover_user_id=None)


def notify_approvers(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    leave_before: Sequence[LeaveRequest],
    event: NotificationEvent,
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Notify approvers in Slack that approved leave was cancelled, shortened or changed.

    ``leave_before`` is the leave before the change. The person who approved it and the current
    approvers are notified, except the actor. Leave that never needed an approval, or that a closure
    booked, is left out. Of
    recorded leave only its recorder is notified: approvers have a message, which is updated.
    """
    approved = [
        request
        for request in leave_before
        if request.status == "approved"
        and request.closure_id is None
        and (
            request.decided_by is not None
            or config.leave_types[request.leave_type_id].requires_approval
        )
    ]
    if not approved or not config.is_in_slack:
        return
    today = local_day(now, config.organisation.timezone)
    current = approvers.of_person(tx, config.organisation.id, user.id, today=today)
    notified: dict[str, set[str]] = {}
    for request in approved:
        recipients = {request.decided_by or ""}
        if not lifecycle.is_approved_at_once(request):
            recipients |= {approver.id for approver in current}
        notified[request.id] = recipients - {by.user_id, user.id, ""}
    notification_outbox.notify_approvers(
        tx, event, notified, organisation_id=config.organisation.id, now=now
    )


def refresh_cards(
    tx: Transaction,
    before: LeaveRequest | None,
    after: LeaveRequest,
    requester: Requester,
    now: datetime,
) -> None:
    card_refreshes.leave_changed(tx, [(before, after)], config=requester.config, now=now)


def card_recipients(
    tx: Transaction, requester: Requester, request: LeaveRequest | None = None
) -> list[User]:
    """The approvers who get the request's card in Slack; empty without a workspace.

    Those of the request's second approval, if it awaits that.
    """
    config = requester.config
    if not config.is_in_slack:
        return []
    if request is None or not second_approvals.is_awaited(request):
        return approvers_of(tx, requester)
    seconds = approvers.second_of(tx, config.organisation.id, [request], today=requester.today)
    return seconds[request.id]


def approvers_of(tx: Transaction, requester: Requester) -> list[User]:
    organisation_id = requester.config.organisation.id
    return approvers.of_person(tx, organisation_id, requester.user.id, today=requester.today)


def lock_person(
    tx: Transaction, organisation_id: str, user_id: str, now: datetime
) -> tuple[Requester, bool]:
    """Lock the requester, so that concurrent requests can neither overlap nor overdraw.

    Also returns whether another admin or owner can decide. Raises NotFound.
    """
    row = tx.first(_person, organisation_id=organisation_id, user_id=user_id)
    if row is None:
        raise NotFound("user")
    return _subject(tx, organisation_id, row, now), bool(row.has_admin)


def lock_request(
    tx: Transaction, request_id: str, *, by: Caller, now: datetime, is_counting: bool = False
) -> tuple[Requester, LeaveRequest]:
    """Lock the requester, then the request. Raises NotFound for one that the caller cannot see.

    ``is_counting`` also locks the organisation's working days and holidays.
    """
    requester, request = lock_unchecked(tx, request_id, by=by, now=now, is_counting=is_counting)
    leave_rows.check_visible(tx, request, by=by, today=requester.today)
    return requester, request


def lock_unchecked(
    tx: Transaction, request_id: str, *, by: Caller, now: datetime, is_counting: bool
) -> tuple[Requester, LeaveRequest]:
    """As ``lock_request``; the caller checks who may see the request."""
    row = None
    if is_id(request_id):
        row = tx.first(
            _request,
            organisation_id=by.organisation_id,
            request_id=request_id,
            is_counting=is_counting,
        )
    if row is None:
        raise NotFound("leave request")
    return _subject(tx, by.organisation_id, row, now), _locked_request(row)


def _subject(tx: Transaction, organisation_id: str, row: Row, now: datetime) -> Requester:
    config = organisation_config.of_organisation(tx, organisation_id, row.reference_version)
    return Requester(
        user=rows.user(row),
        config=config,
        today=local_day(now, config.organisation.timezone),
    )


def check_own_or_managed(request: LeaveRequest, by: Caller) -> None:
    """Raises InsufficientRole for another person's request unless the caller is an admin."""
    if request.user_id != by.user_id and not by.is_admin:
        raise InsufficientRole("admin")


def check_transition(
    tx: Transaction, action: lifecycle.Action, request: LeaveRequest, by: Caller
) -> None:
    if not lifecycle.is_possible(action, request.status):
        name = decider_name(tx, request, by)
        lifecycle.check_transition(action, request.status, name)


def decider_name(tx: Transaction, request: LeaveRequest, by: Caller) -> str | None:
    user_id = request.decided_by
    if request.status == "cancelled":
        user_id = leave_rows.cancelled_by(tx, by.organisation_id, request)
    decider = None if user_id is None else people_rows.find(tx, by.organisation_id, user_id)
    return None if decider is None else decider.name


# Requests and people share names of columns.
_PREFIX: Final = "request_"
_locked_request: Final = rows.mapper(LeaveRequest, prefix=_PREFIX)


@compiled_per_engine
def _person(engine: Engine, organisation_id: Param[str], user_id: Param[str]) -> Select:
    admin, person = UserRow.alias(), UserRow.alias("person")
    has_admin = fn.EXISTS(
        admin.select(admin.id).where(
            admin.organisation_id == organisation_id,
            admin.role.in_(("admin", "owner")),
            approval_rule.is_reachable_sql(admin),
            admin.id != person.id,
        )
    )
    query = _with_version(person.select(*_columns_of(person), has_admin.alias("has_admin")), person)
    return locks.locked(
        query.where(person.organisation_id == organisation_id, person.id == user_id),
        engine,
        f"{_LOCK_COUNTING} {_LOCK_PERSON}",
    )


@compiled_per_engine
def _request(
    engine: Engine, organisation_id: Param[str], request_id: Param[str], is_counting: bool
) -> Select:
    person, request = UserRow.alias("person"), LeaveRequestRow.alias("request")
    columns = [getattr(request, name).alias(_PREFIX + name) for name in field_names(LeaveRequest)]
    query = (
        _with_version(person.select(*_columns_of(person), *columns), person)
        .join_from(
            person,
            request,
            on=(request.organisation_id == person.organisation_id) & (request.user_id == person.id),
        )
        .where(request.organisation_id == organisation_id, request.id == request_id)
    )
    counting = f"{_LOCK_COUNTING} " if is_counting else ""
    return locks.locked(query, engine, f'{counting}{_LOCK_PERSON} FOR NO KEY UPDATE OF "request"')


# PostgreSQL reads a row again after waiting for its lock. A transaction that counts days waits
# for a change of working days or holidays, and then sees the new reference_version.
# The organisation is locked before the person, as everywhere, to avoid deadlocks.
_LOCK_COUNTING: Final = 'FOR SHARE OF "organisation"'
_LOCK_PERSON: Final = 'FOR NO KEY UPDATE OF "person"'


def _columns_of(person: Expr) -> list[Expr]:
    return [getattr(person, column.name) for column in rows.USER]


def _with_version(query: Select, person: Expr) -> Select:
    organisation = OrganisationRow.alias("organisation")
    return query.select_extend(organisation.reference_version).join(
        organisation, on=organisation.id == person.organisation_id
    )


# Leave that ended earlier is no news: records of the past are often added in bulk.
_NEWS_FOR: Final = timedelta(days=31)


def tell_of_absence(
    tx: Transaction, request: LeaveRequest, requester: Requester, *, by: Caller, now: datetime
) -> None:
    """Queue the messages to all who have none yet, after leave was approved at once or changed.

    The person's approvers are told, except the actor and the recorder of the leave; people for whom
    the person was to cover; and the approvers of these.
    """
    config = requester.config
    leave_type = config.leave_types[request.leave_type_id]
    if not (
        config.is_in_slack
        and leave_type.tells_approvers
        and request.status == "approved"
        and request.end_date >= requester.today - _NEWS_FOR
        and lifecycle.is_approved_at_once(request)
    ):
        return
    organisation_id = config.organisation.id
    uncovered = covers.left_uncovered(tx, config, request, requester.today)
    uncovered_ids = {leave.user_id for leave in uncovered}
    approvers_of = approvers.of_people(
        tx, organisation_id, {request.user_id, *uncovered_ids}, today=requester.today
    )
    approver_ids = {approver.id for people in approvers_of.values() for approver in people}
    told = (approver_ids - {by.user_id, request.recorded_by}) | uncovered_ids
    notification_outbox.tell_absence(
        tx, request, told - {request.user_id}, organisation_id=organisation_id, now=now
    )
