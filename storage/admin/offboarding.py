"""What happens to the leave and the reports of a person who is archived."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Literal

from peewee import Select

from storage.base.clock import local_day
from storage.base.event_values import EventType, NotificationEvent
from storage.base.values import Caller, LeaveEffect, LeaveRequest, User
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import UserRow
from storage.events import notification_outbox, webhook_outbox
from storage.events.organisation_config import Reference
from storage.leave import card_refreshes, leave_rows
from storage.leave.leave_requests import notify_approvers
from storage.rules import halves

_BECAUSE = {"why": "user_archived"}


def end_leave(
    tx: Transaction, reference: Reference, user: User, *, by: Caller, now: datetime
) -> tuple[LeaveEffect, ...]:
    """Cancel pending leave, and end approved leave today; returns what changed, by first day.

    Of a request that is running, the past days and today stay taken.
    """
    today = local_day(now, reference.organisation.timezone)
    standing = leave_rows.current_of(tx, reference.organisation.id, user.id, today)
    given_up = [(before, _given_up(before, today, now)) for before in standing]
    leave = tuple(
        LeaveEffect(user=user, before=before, after=after)
        for before, after in given_up
        if after is not None
    )
    cancelled = [one for one in leave if one.after.status == "cancelled"]
    shortened = [one for one in leave if one.after.status != "cancelled"]
    _move(tx, reference, "leave_request.cancelled", cancelled, by=by, now=now)
    _move(tx, reference, "leave_request.shortened", shortened, by=by, now=now)
    return leave


def reports(tx: Transaction, organisation_id: str, user_id: str) -> tuple[str, ...]:
    """The ids of the person's direct reports, who keep an archived manager on record."""
    found = tx.all(_reports, organisation_id=organisation_id, user_id=user_id)
    return tuple(report_id for (report_id,) in found)


def _given_up(before: LeaveRequest, today: date, now: datetime) -> LeaveRequest | None:
    """The request once its days after today are given up; None where there are none to give."""
    after = replace(before, updated_at=now, version=before.version + 1)
    kept = before.counted_halves[: max((today - before.start_date).days + 1, 0)]
    kept_half_days = halves.total_half_days(kept)
    if before.status == "pending" or kept_half_days == 0:
        return replace(after, status="cancelled", cancelled_at=now)
    if kept_half_days == before.total_half_days:
        return None
    # On a single day "am" alone would mean the morning, and the whole day was taken.
    is_whole_day = before.start_date == today and before.start_half_day == "am"
    return replace(
        after,
        end_date=today,
        end_half_day="pm" if is_whole_day else None,
        counted_halves=kept,
        total_half_days=kept_half_days,
    )


def _move(
    tx: Transaction,
    reference: Reference,
    action: Literal["leave_request.cancelled", "leave_request.shortened"],
    leave: Sequence[LeaveEffect],
    *,
    by: Caller,
    now: datetime,
) -> None:
    if not leave:
        return
    moved = [(one.before, one.after) for one in leave]
    leave_rows.save_all(tx, action, moved, by=by, now=now, why=_BECAUSE)
    changed = [(one.after, one.user) for one in leave]
    # The owner has left and is not told. Cards show the outcome, and approvers are told.
    event: EventType = "leave_request.updated"
    news: NotificationEvent = "leave_request.recounted"
    if action == "leave_request.cancelled":
        event = news = action
    webhook_outbox.enqueue_all(tx, event, changed, reference=reference, now=now)
    notification_outbox.notify_all(
        tx, news, [one.after for one in leave], reference=reference, now=now
    )
    card_refreshes.leave_changed(tx, moved, reference=reference, now=now)
    before = [one.before for one in leave]
    notify_approvers(tx, reference, leave[0].user, before, action, by=by, now=now)


@compiled
def _reports(organisation_id: Param[str], user_id: Param[str]) -> Select:
    return (
        UserRow.select(UserRow.id)
        .where(
            UserRow.organisation_id == organisation_id,
            UserRow.manager_id == user_id,
            UserRow.status != "archived",
        )
        .order_by(UserRow.id)
    )
