"""Messages to covers in Slack: when leave is approved, changed or cancelled; dates only."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime

from storage.base.event_values import NotificationEvent
from storage.base.values import LeaveRequest
from storage.db.database import Transaction
from storage.db.tables import NotificationRow
from storage.events import notification_outbox
from storage.events.organisation_config import OrganisationConfig
from storage.leave import card_refreshes


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
