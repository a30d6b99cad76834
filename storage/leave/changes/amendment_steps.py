"""Amendments are requested, replaced, withdrawn and declined; none of it changes the leave.

Each step is one conditional UPDATE of the request, whose version rises, with the amendment, the
audit entry, the event and the notifications in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final, Literal

from storage.base import fields
from storage.base.errors import AmendmentEnded, InvalidTransition, NotFound
from storage.base.ids import new_id
from storage.base.values import Amendment, Caller, LeaveRequest, User
from storage.db.database import Transaction
from storage.events import notification_outbox, webhook_outbox
from storage.leave import leave_rows, request_steps
from storage.leave.amendments import amendment_rows, counted_amendments
from storage.leave.cover import cover_notices
from storage.leave.request_steps import Subject

_Event = Literal[
    "leave_request.amendment_requested",
    "leave_request.amendment_declined",
    "leave_request.amendment_withdrawn",
]
_PROPOSED: Final = (
    "leave_type_id",
    "start_date",
    "end_date",
    "start_half_day",
    "end_half_day",
    "note",
)


def request(
    tx: Transaction,
    subject: Subject,
    before: LeaveRequest,
    proposed: LeaveRequest,
    approvers: Iterable[User],
    *,
    assigns_cover: bool = False,
    cancels: bool = False,
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    """Propose a change to the approvers; it replaces an open amendment.

    ``proposed`` is the request as it would be. The same proposal as the open one changes nothing.
    ``assigns_cover`` and ``cancels`` as in `Amendment`.
    """
    values = {name: getattr(proposed, name) for name in _PROPOSED}
    open_one = None
    if before.amendment_id is not None:
        open_one = amendment_rows.find(tx, by.organisation_id, before.amendment_id)
        if open_one is not None and _is_same(open_one, values, cancels=cancels):
            return before
    amendment = Amendment(
        id=new_id(now),
        leave_request_id=before.id,
        status="open",
        requested_by=str(by.user_id),
        requested_at=now,
        cancels=cancels,
        assigns_cover=assigns_cover or (open_one is not None and open_one.assigns_cover),
        **values,
    )
    # Before the new one: the database allows one open amendment.
    if open_one is not None:
        amendment_rows.end(
            tx, by.organisation_id, open_one.id, "replaced", by_id=by.user_id, now=now
        )
    amendment_rows.add(tx, by.organisation_id, amendment)
    return _save(
        tx,
        "leave_request.amendment_requested",
        before,
        subject,
        (open_one, amendment),
        approvers=approvers,
        by=by,
        now=now,
    )


def _is_same(amendment: Amendment, values: Mapping[str, object], *, cancels: bool) -> bool:
    proposed = {name: getattr(amendment, name) for name in _PROPOSED}
    return proposed == values and amendment.cancels == cancels


def withdraw(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> LeaveRequest:
    """Withdraw the open amendment, as the leave's owner, an admin or an owner.

    Raises NotFound (also without an open amendment) or InsufficientRole; then nothing has changed.
    """
    subject, before = request_steps.lock_request(tx, request_id, by=by, now=now)
    request_steps.check_own_or_managed(before, by)
    return end(tx, subject, before, "withdrawn", by=by, now=now)


def withdraw_one(tx: Transaction, amendment_id: str, *, by: Caller, now: datetime) -> LeaveRequest:
    """As ``withdraw``, for this amendment only. Raises AmendmentEnded if it is no longer open."""
    amendment = None
    if fields.is_id(amendment_id):
        amendment = amendment_rows.find(tx, by.organisation_id, amendment_id)
    if amendment is None:
        raise NotFound("leave request")
    subject, before = request_steps.lock_request(tx, amendment.leave_request_id, by=by, now=now)
    request_steps.check_own_or_managed(before, by)
    if before.amendment_id != amendment.id:
        ended = amendment_rows.find(tx, by.organisation_id, amendment.id)
        raise AmendmentEnded("ended" if ended is None else ended.status)
    return end(tx, subject, before, "withdrawn", by=by, now=now)


def end(
    tx: Transaction,
    subject: Subject,
    before: LeaveRequest,
    status: Literal["declined", "withdrawn"],
    *,
    reason: str | None = None,
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    """End the open amendment; the leave stays as it is. Raises NotFound without one."""
    amendment = None
    if before.amendment_id is not None and before.status == "approved":
        amendment = amendment_rows.find(tx, by.organisation_id, before.amendment_id)
    if amendment is None:
        raise NotFound("amendment")
    amendment_rows.end(
        tx, by.organisation_id, amendment.id, status, by_id=by.user_id, reason=reason, now=now
    )
    event: _Event = (
        "leave_request.amendment_declined"
        if status == "declined"
        else "leave_request.amendment_withdrawn"
    )
    after = _save(tx, event, before, subject, (amendment, None), reason=reason, by=by, now=now)
    known = request_steps.known_to_cover(before, amendment)
    cover_notices.enqueue(tx, [(known, after)], config=subject.config, today=subject.today, now=now)
    return after


def audited(amendment: Amendment | None, reason: str | None = None) -> dict[str, object]:
    """The fields of an amendment in the audit trail; none without one."""
    if amendment is None:
        return {} if reason is None else {"decision_reason": reason}
    shown: dict[str, object] = {name: getattr(amendment, name) for name in _PROPOSED}
    if amendment.cancels:
        shown["cancels"] = True
    return {"amendment_id": amendment.id, **shown}


def _save(
    tx: Transaction,
    event: _Event,
    before: LeaveRequest,
    subject: Subject,
    amendments: tuple[Amendment | None, Amendment | None],
    *,
    reason: str | None = None,
    approvers: Iterable[User] = (),
    by: Caller,
    now: datetime,
) -> LeaveRequest:
    """Write a step with its audit entry, event and notifications.

    ``amendments`` are the open ones before and after it.
    """
    config = subject.config
    amendment = amendments[1]
    after = replace(
        before,
        amendment_id=None if amendment is None else amendment.id,
        updated_at=now,
        version=before.version + 1,
    )
    changes = audited(amendments[0]), audited(amendment, reason)
    if not leave_rows.save_amendment_only(tx, event, before, after, changes, by=by, now=now):
        raise InvalidTransition("changed", before.status)
    counted = None
    if amendment is not None:
        counted = counted_amendments.counted(config, subject.user, after, amendment)
    webhook_outbox.enqueue(
        tx, event, after, counted, requester=subject.user, config=config, now=now
    )
    notification_outbox.notify(tx, event, after, by=by, approvers=approvers, config=config, now=now)
    return after
