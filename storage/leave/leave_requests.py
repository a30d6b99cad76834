"""The life of a leave request: asked for, changed, decided, cancelled. REST and Slack call these.

Every step is one conditional UPDATE with its audit entry, its event and its notices in the same
transaction. Reading is in leave_reading.py, what may be asked for at all in drafts.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Literal

from peewee import Select, fn

from storage.base import fields
from storage.base.clock import local_day
from storage.base.errors import (
    Forbidden,
    InsufficientRole,
    InvalidInput,
    InvalidTransition,
    NotFound,
    OwnRequest,
    Unauthenticated,
)
from storage.base.event_values import EventType, NotificationEvent
from storage.base.ids import new_id
from storage.base.values import Caller, LeaveRequest, LeaveType, User, field_names
from storage.db import locks, rows
from storage.db.compiled import Engine, Expr, Param, compiled_per_engine
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.tables import LeaveRequestRow, OrganisationRow, UserRow
from storage.directory import approvers, pending_approvals, people_rows, slack_syncs
from storage.events import notification_outbox, organisation_config, webhook_outbox
from storage.events.organisation_config import Reference
from storage.leave import card_refreshes, drafts, leave_reading, leave_rows
from storage.leave.drafts import Draft
from storage.rules import days, request_rules

Decision = Literal["approved", "declined"]
WhyUnasked = Literal["no_approval_needed", "nobody_could_approve"]

# Bounded for the same reason as a note.
LONGEST_REASON = 1_000


class NotYourApproval(Forbidden):
    """The request can be seen, and its decision lies with others."""

    code = "not_your_approval"
    title = "Others decide on this request."

    def __init__(self) -> None:
        super().__init__("The request does not await your approval.")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Subject:
    """Whose leave it is, with the person's row held, and the organisation around.

    ``has_admin``: another admin or owner can decide, so that the request is never stuck.
    """

    user: User
    reference: Reference
    today: date
    has_admin: bool


def submit(tx: Transaction, *, by: Caller, draft: Draft, now: datetime) -> LeaveRequest:
    """Ask for leave for oneself; pending, or approved where nobody needs to or could approve.

    Raises InvalidInput, OverlappingLeave or InsufficientAllowance, Unauthenticated when the person
    was switched off since he was recognised; then nothing has changed. Source: contract 4.
    """
    if by.user_id is None:
        raise InsufficientRole("member")
    subject = _subject(tx, by.organisation_id, by.user_id, now)
    if subject.user.status in ("deactivated", "archived"):
        raise Unauthenticated
    found = drafts.assess(tx, subject.reference, subject.user, draft, today=subject.today)
    asked = _asked(tx, subject) if found.leave_type.requires_approval else []
    request = LeaveRequest(
        id=new_id(now),
        user_id=by.user_id,
        leave_type_id=found.leave_type.id,
        status="pending",
        start_date=draft.start_date,
        end_date=draft.end_date,
        start_half_day=draft.start_half_day,
        end_half_day=draft.end_half_day,
        total_half_days=days.total_half_days(found.counted_halves),
        counted_halves=found.counted_halves,
        note=found.note,
        decided_by=None,
        decided_at=None,
        decision_reason=None,
        cancelled_at=None,
        created_at=now,
        updated_at=now,
        version=1,
    )
    leave_rows.add(tx, request, by=by, now=now)
    webhook_outbox.enqueue(
        tx,
        "leave_request.created",
        request,
        requester=subject.user,
        reference=subject.reference,
        now=now,
    )
    somebody_decides = found.leave_type.requires_approval and (
        subject.has_admin or bool(asked or _deciders(tx, subject))
    )
    if not somebody_decides:
        return _approve_unasked(tx, request, subject, found.leave_type, by=by, now=now)
    _look_for_approvers(tx, subject, asked, now)
    notification_outbox.notify(
        tx,
        "leave_request.created",
        request,
        by=by,
        approvers=asked,
        reference=subject.reference,
        now=now,
    )
    _refresh_cards(tx, None, request, subject, now)
    return request


def editable(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> LeaveRequest:
    """The request, for whoever could edit it now.

    Raises NotFound, InsufficientRole or InvalidTransition.
    """
    found = _own_or_managed(tx, request_id, by=by, now=now)
    _check_transition(tx, "edit", found, by)
    return found


def edit(
    tx: Transaction, request_id: str, changes: Mapping[str, object], *, by: Caller, now: datetime
) -> LeaveRequest:
    """Change a pending request's dates, halves or note; recounted and checked anew.

    ``changes`` holds only what was sent; where they change nothing, nobody is told. By its owner,
    admins and owners. Raises NotFound, InvalidTransition and whatever ``submit`` raises; then
    nothing has changed.
    """
    unknown = changes.keys() - {"start_date", "end_date", "start_half_day", "end_half_day", "note"}
    if unknown:
        raise InvalidInput.of(min(unknown), "unknown_field", "This cannot be changed.")
    subject = _requester(tx, request_id, by=by, now=now, is_counting=True)
    before = _own_or_managed(tx, request_id, by=by, now=now)
    _check_transition(tx, "edit", before, by)
    draft = Draft(**{name: getattr(before, name) for name in field_names(Draft)} | dict(changes))
    if draft.start_date is None or draft.end_date is None:
        field = "start_date" if draft.start_date is None else "end_date"
        raise InvalidInput.of(field, "required", "{field} cannot be null.", field=field)
    found = drafts.assess(
        tx, subject.reference, subject.user, draft, today=subject.today, replaces=before.id
    )
    after = replace(
        before,
        start_date=draft.start_date,
        end_date=draft.end_date,
        start_half_day=draft.start_half_day,
        end_half_day=draft.end_half_day,
        total_half_days=days.total_half_days(found.counted_halves),
        counted_halves=found.counted_halves,
        note=found.note,
    )
    if after == before:
        return before
    return _step(tx, "edit", before, after, subject, by=by, now=now)


def hold(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> None:
    """Let no other transaction change the request until this one ends.

    Raises NotFound for one that the caller cannot see.
    """
    _requester(tx, request_id, by=by, now=now, is_counting=True)
    leave_reading.get(tx, request_id, by=by, now=now)


def approve(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> LeaveRequest:
    """Approve a pending request.

    By whoever it awaits, admins and owners; never by its owner. Raises NotFound, OwnRequest,
    NotYourApproval or InvalidTransition; then nothing has changed.
    """
    return _decide(tx, request_id, "approve", None, by=by, now=now)


def decline(
    tx: Transaction, request_id: str, *, reason: str | None, by: Caller, now: datetime
) -> LeaveRequest:
    """Decline a pending request, if need be with a reason. As ``approve`` otherwise."""
    reason = fields.optional_text(reason, "reason", LONGEST_REASON)
    return _decide(tx, request_id, "decline", reason, by=by, now=now)


def cancel(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> LeaveRequest:
    """Cancel a pending or approved request: its owner, admins and owners.

    Raises NotFound, InsufficientRole or InvalidTransition; then nothing has changed.
    """
    subject = _requester(tx, request_id, by=by, now=now)
    before = _own_or_managed(tx, request_id, by=by, now=now)
    _check_transition(tx, "cancel", before, by)
    after = replace(before, status="cancelled", cancelled_at=now)
    after = _step(tx, "cancel", before, after, subject, by=by, now=now)
    tell_approvers(
        tx,
        subject.reference,
        subject.user,
        [before],
        "leave_request.cancelled",
        by=by,
        now=now,
    )
    return after


def tell_approvers(
    tx: Transaction,
    known: Reference,
    user: User,
    leave_before: Sequence[LeaveRequest],
    event: NotificationEvent,
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Tell approvers in Slack that the person's approved leave was cancelled or shortened.

    ``leave_before`` is as it was before. The person who approved it is told and those who
    would decide now, except the actor. No one is told of leave that never needed an approval.
    """
    approved = [
        request
        for request in leave_before
        if request.status == "approved"
        and (
            request.decided_by is not None
            or known.leave_types[request.leave_type_id].requires_approval
        )
    ]
    if not approved or not known.is_in_slack:
        return
    today = local_day(now, known.organisation.timezone)
    current = approvers.of_person(tx, known.organisation.id, user.id, today=today)
    told: dict[str, set[str]] = {}
    for request in approved:
        deciders = {one for one in (request.decided_by,) if one is not None}
        told[request.id] = (deciders | {one.id for one in current}) - {by.user_id or "", user.id}
    notification_outbox.notify_approvers(
        tx, event, told, organisation_id=known.organisation.id, now=now
    )


def change_decision(
    tx: Transaction,
    request_id: str,
    to_status: Decision,
    *,
    reason: str | None = None,
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    """Decide otherwise than a moment ago: approved leave declined, or declined leave approved.

    For ten minutes, by whoever decided, if that is still his to do, admins and owners. What is
    approved is held against other leave and the allowance again. Raises NotFound, OwnRequest,
    NotYourApproval, InvalidTransition (also when it is too late), OverlappingLeave or
    InsufficientAllowance; then nothing has changed.
    """
    reason = fields.optional_text(reason, "reason", LONGEST_REASON)
    subject = _requester(tx, request_id, by=by, now=now, is_counting=to_status == "approved")
    before = leave_reading.get(tx, request_id, by=by, now=now)
    if before.user_id == by.user_id:
        raise OwnRequest
    action: request_rules.Action = (
        "approve_after_all" if to_status == "approved" else "decline_after_all"
    )
    _check_transition(tx, action, before, by)
    if not pending_approvals.may_reconsider(
        tx, by.organisation_id, before, by.user_id, is_admin=by.is_admin, today=subject.today
    ):
        raise NotYourApproval
    if not request_rules.may_reconsider(before, now):
        name = _decider_name(tx, before, by)
        raise InvalidTransition(request_rules.LIFECYCLE[action].done, before.status, name)
    after = replace(
        before, status=to_status, decided_by=by.user_id, decided_at=now, decision_reason=reason
    )
    if to_status == "approved":
        counted_halves = drafts.recheck(tx, subject.reference, subject.user, before)
        after = replace(
            after,
            counted_halves=counted_halves,
            total_half_days=days.total_half_days(counted_halves),
        )
    if to_status == "declined":
        leave_rows.note_reversed_approval(tx, before.id, by=by, now=now)
    return _step(tx, action, before, after, subject, by=by, now=now, why="decision_changed")


def _decide(
    tx: Transaction,
    request_id: str,
    action: request_rules.Action,
    reason: str | None,
    *,
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    subject = _requester(tx, request_id, by=by, now=now)
    before = leave_reading.get(tx, request_id, by=by, now=now)
    if before.user_id == by.user_id:
        raise OwnRequest
    if not pending_approvals.may_decide(
        tx,
        by.organisation_id,
        before.id,
        by.user_id,
        is_admin=by.is_admin,
        today=subject.today,
    ):
        raise NotYourApproval
    _check_transition(tx, action, before, by)
    after = replace(
        before,
        status=request_rules.LIFECYCLE[action].to_status,
        decided_by=by.user_id,
        decided_at=now,
        decision_reason=reason,
    )
    return _step(tx, action, before, after, subject, by=by, now=now)


def _approve_unasked(
    tx: Transaction,
    request: LeaveRequest,
    subject: _Subject,
    leave_type: LeaveType,
    *,
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    """Approve what nobody has to, or could, decide on; the audit says which of the two it was."""
    why = why_unasked(leave_type)
    after = replace(request, status="approved", decided_at=now, decision_reason=None)
    return _step(tx, "approve", request, after, subject, by=by, now=now, why=why, is_new=True)


def why_unasked(leave_type: LeaveType) -> WhyUnasked:
    """Why leave of this type, for which nobody is asked, is approved at once."""
    return "nobody_could_approve" if leave_type.requires_approval else "no_approval_needed"


_EVENTS: Mapping[request_rules.Action, EventType] = {
    "edit": "leave_request.updated",
    "approve": "leave_request.approved",
    "decline": "leave_request.declined",
    "cancel": "leave_request.cancelled",
    "approve_after_all": "leave_request.approved",
    "decline_after_all": "leave_request.declined",
}
# What the requester hears, where that is not the event.
_NEWS: Mapping[request_rules.Action, NotificationEvent] = {
    "approve_after_all": "leave_request.decision_changed",
    "decline_after_all": "leave_request.decision_changed",
}


def _step(
    tx: Transaction,
    action: request_rules.Action,
    before: LeaveRequest,
    after: LeaveRequest,
    subject: _Subject,
    *,
    by: Caller,
    now: datetime,
    why: str | None = None,
    is_new: bool = False,
) -> LeaveRequest:
    """Take one step of the lifecycle, with everything that follows from it.

    ``is_new``: the request was created in this transaction.
    """
    after = replace(after, updated_at=now, version=before.version + 1)
    event = _EVENTS[action]
    if not leave_rows.save(tx, event, before, after, by=by, now=now, why=why):
        raise InvalidTransition(request_rules.LIFECYCLE[action].done, before.status)
    webhook_outbox.enqueue(
        tx, event, after, requester=subject.user, reference=subject.reference, now=now
    )
    asked = _asked(tx, subject) if action == "edit" else []
    news = _NEWS.get(action, event)
    notification_outbox.notify(
        tx, news, after, by=by, approvers=asked, reference=subject.reference, now=now
    )
    _refresh_cards(tx, None if is_new else before, after, subject, now)
    return after


def _refresh_cards(
    tx: Transaction,
    before: LeaveRequest | None,
    after: LeaveRequest,
    subject: _Subject,
    now: datetime,
) -> None:
    card_refreshes.leave_changed(tx, [(before, after)], reference=subject.reference, now=now)


def _asked(tx: Transaction, subject: _Subject) -> list[User]:
    """Who gets the request's card in Slack: whoever it awaits, where there is a workspace."""
    if not subject.reference.is_in_slack:
        return []
    return _deciders(tx, subject)


def _look_for_approvers(
    tx: Transaction, subject: _Subject, asked: Sequence[User], now: datetime
) -> None:
    """Request a look-up in Slack if the approval chain skipped pending people."""
    if not subject.reference.is_in_slack or subject.user.manager_id in {one.id for one in asked}:
        return
    organisation_id = subject.reference.organisation.id
    if approvers.unreachable(
        tx, organisation_id, subject.user.id, asked=asked, today=subject.today
    ):
        slack_syncs.request_soon(tx, organisation_id, now=now)


def _deciders(tx: Transaction, subject: _Subject) -> list[User]:
    organisation_id = subject.reference.organisation.id
    return approvers.of_person(tx, organisation_id, subject.user.id, today=subject.today)


def _subject(tx: Transaction, organisation_id: str, user_id: str, now: datetime) -> _Subject:
    """The person who asks for leave, locked: no two requests of theirs overlap or overdraw."""
    row = tx.first(_person, organisation_id=organisation_id, user_id=user_id)
    if row is None:
        raise NotFound("user")
    return _subject_of(tx, organisation_id, row, now)


def _requester(
    tx: Transaction, request_id: str, *, by: Caller, now: datetime, is_counting: bool = False
) -> _Subject:
    """The person whose request it is, locked. Raises NotFound.

    Every change of leave locks the person first. So the request cannot change any more, and has
    to be read after this. ``is_counting``: nor can what counts as a day.
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
    return _subject_of(tx, by.organisation_id, row, now)


def _subject_of(tx: Transaction, organisation_id: str, row: Row, now: datetime) -> _Subject:
    known = organisation_config.of_organisation(tx, organisation_id, row.reference_version)
    today = local_day(now, known.organisation.timezone)
    return _Subject(
        user=rows.user(row), reference=known, today=today, has_admin=bool(row.has_admin)
    )


def _own_or_managed(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> LeaveRequest:
    found = leave_reading.get(tx, request_id, by=by, now=now)
    if found.user_id != by.user_id and not by.is_admin:
        raise InsufficientRole("admin")
    return found


def _check_transition(
    tx: Transaction, action: request_rules.Action, request: LeaveRequest, by: Caller
) -> None:
    if not request_rules.may_follow(action, request.status):
        name = _decider_name(tx, request, by)
        request_rules.check_transition(action, request.status, name)


def _decider_name(tx: Transaction, request: LeaveRequest, by: Caller) -> str | None:
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
            approvers.is_reachable(admin),
            admin.id != UserRow.id,
        )
    )
    query = (
        UserRow.select(*rows.USER, has_admin.alias("has_admin"), organisation.reference_version)
        .join(organisation, on=organisation.id == UserRow.organisation_id)
        .where(UserRow.organisation_id == organisation_id, UserRow.id == user_id)
    )
    # PostgreSQL reads a row again after waiting for its lock. A transaction that counts days waits
    # for a change of what counts as a day, and then sees the version that the change left.
    # The organisation is locked before the person, as everywhere, to avoid deadlocks.
    counting = 'FOR SHARE OF "organisation" ' if is_counting else ""
    return locks.locked(query, engine, counting + 'FOR NO KEY UPDATE OF "t1"')
