"""Tells covers in Slack about leave, dates only, and releases those who are archived."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from peewee import Select

from storage.base.event_values import NotificationEvent
from storage.base.leave_values import LeaveRequest
from storage.base.values import Caller, User
from storage.db import locks, rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow, NotificationRow, UserRow
from storage.leave import card_refreshes, leave_amendments, leave_rows
from storage.outbox import notification_outbox, webhook_outbox
from storage.outbox.organisation_config import OrganisationConfig


def enqueue(
    tx: Transaction,
    changes: Iterable[tuple[LeaveRequest | None, LeaveRequest]],
    *,
    config: OrganisationConfig,
    today: date,
    now: datetime,
) -> None:
    """Queue what the covers of changed requests, each before and after, have to know.

    Leave that is over is left out.
    """
    if not config.is_in_slack:
        return
    changes = [
        (before, after)
        for before, after in changes
        if max(after.end_date, after.end_date if before is None else before.end_date) >= today
    ]
    queued = [
        _row(config.organisation.id, event_type, cover_user_id, before, after, now)
        for before, after in changes
        for event_type, cover_user_id in _news(before, after)
    ]
    if queued:
        tx.insert_all(NotificationRow, queued)
        tx.notify(notification_outbox.NOTIFICATIONS)
    _refresh_absences(tx, config.organisation.id, changes, now)


def _refresh_absences(
    tx: Transaction,
    organisation_id: str,
    changes: Iterable[tuple[LeaveRequest | None, LeaveRequest]],
    now: datetime,
) -> None:
    """Refresh the messages about a cover's own absence that list leave they no longer cover."""
    covered = [
        before
        for before, after in changes
        if before is not None and _cover(before) and _news(before, after)
    ]
    if not covered:
        return
    messages = card_refreshes.of_absences(
        tx,
        organisation_id,
        {str(leave.cover_user_id) for leave in covered},
        min(leave.start_date for leave in covered),
        max(leave.end_date for leave in covered),
    )
    notification_outbox.refresh_absences(tx, organisation_id, messages, now=now)


def _news(before: LeaveRequest | None, after: LeaveRequest) -> list[tuple[NotificationEvent, str]]:
    """The events of a change, each with the cover whom it concerns."""
    former, current = _cover(before), _cover(after)
    if former == current:
        if current is None or _days(before) == _days(after):
            return []
        return [("cover.changed", current)]
    ended: list[tuple[NotificationEvent, str]] = [("cover.ended", former)] if former else []
    return [*ended, ("cover.assigned", current)] if current else ended


def _cover(request: LeaveRequest | None) -> str | None:
    """Only approved leave is covered."""
    return request.cover_user_id if request is not None and request.status == "approved" else None


def _days(request: LeaveRequest | None) -> object:
    return request and (
        request.start_date,
        request.end_date,
        request.start_half_day,
        request.end_half_day,
    )


def _row(
    organisation_id: str,
    event_type: NotificationEvent,
    cover_user_id: str,
    before: LeaveRequest | None,
    after: LeaveRequest,
    now: datetime,
) -> dict[str, object]:
    row = notification_outbox.notification_row(
        organisation_id, "cover_notice", cover_user_id, after.id, event_type, now
    )
    # A former cover must not learn the new days.
    known = before if event_type == "cover.ended" and before is not None else after
    return row | {
        "first_day": known.start_date.isoformat(),
        "last_day": known.end_date.isoformat(),
    }


_BECAUSE = {"why": "cover_archived"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Released:
    """Pending and future leave that loses its cover; its people are locked."""

    leave: Sequence[LeaveRequest]
    requesters: Mapping[str, User]


def lock_covered(
    tx: Transaction, organisation_id: str, cover_user_id: str, today: date
) -> Released:
    """The pending leave, and approved leave from today on, that the person covers.

    Needs the organisation's lock: with it, no other leave gets this cover.
    """
    where = {
        "organisation_id": organisation_id,
        "cover_user_id": cover_user_id,
        "today": today.isoformat(),
    }
    requester_ids = {row.user_id for row in tx.all(_covered, **where)}
    if not requester_ids:
        return Released(leave=(), requesters={})
    locked = tx.select(
        UserRow, locks.ROW, organisation_id=organisation_id, id=sorted(requester_ids)
    )
    # Read again: it may have changed before its person was locked.
    leave = [rows.leave_request(row) for row in tx.all(_covered, **where)]
    leave.sort(key=lambda request: (request.start_date, request.id))
    return Released(leave=leave, requesters={row.id: rows.user(row) for row in locked})


def release(
    tx: Transaction,
    config: OrganisationConfig,
    released: Released,
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Clear the cover of this leave, with audit entries and events; its people are told."""
    if not released.leave:
        return
    changes = [
        (
            before,
            replace(before, cover_user_id=None, updated_at=now, version=before.version + 1),
        )
        for before in released.leave
    ]
    leave_rows.save_all(tx, "leave_request.updated", changes, by=by, now=now, why=_BECAUSE)
    after = [changed for _, changed in changes]
    pairs = [(request, released.requesters[request.user_id]) for request in after]
    amendments = leave_amendments.of_requests(tx, config.organisation.id, after)
    webhook_outbox.enqueue_all(
        tx, "leave_request.updated", pairs, amendments, config=config, now=now
    )
    notification_outbox.notify_all(tx, "cover.left", after, notified=after, config=config, now=now)


@compiled
def _covered(organisation_id: Param[str], cover_user_id: Param[str], today: Param[str]) -> Select:
    # Not sorted here: SQLite would read all leave of the organisation in that order.
    return LeaveRequestRow.select(*rows.LEAVE_REQUEST).where(
        LeaveRequestRow.organisation_id == organisation_id,
        LeaveRequestRow.cover_user_id == cover_user_id,
        (LeaveRequestRow.status == "pending")
        | ((LeaveRequestRow.status == "approved") & (LeaveRequestRow.end_date >= today)),
    )
