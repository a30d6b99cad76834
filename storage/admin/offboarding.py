"""Effects of archiving a person on their leave and reports."""

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
from storage.events.organisation_config import OrganisationConfig
from storage.leave import card_refreshes, leave_rows
from storage.leave.leave_requests import notify_approvers
from storage.rules import halves

_BECAUSE = {"why": "user_archived"}


def end_leave(
    tx: Transaction, config: OrganisationConfig, user: User, *, by: Caller, now: datetime
) -> tuple[LeaveEffect, ...]:
    """Cancel pending leave, and end approved leave today; returns the changes, by first day.

    A request that has begun keeps its days up to today.
    """
    today = local_day(now, config.organisation.timezone)
    standing = leave_rows.current_of(tx, config.organisation.id, user.id, today)
    ended = [(before, _ended(before, today, now)) for before in standing]
    leave = tuple(
        LeaveEffect(user=user, before=before, after=after)
        for before, after in ended
        if after is not None
    )
    cancelled = [effect for effect in leave if effect.after.status == "cancelled"]
    shortened = [effect for effect in leave if effect.after.status != "cancelled"]
    _apply(tx, config, "leave_request.cancelled", cancelled, by=by, now=now)
    _apply(tx, config, "leave_request.shortened", shortened, by=by, now=now)
    return leave


def reports(tx: Transaction, organisation_id: str, user_id: str) -> tuple[str, ...]:
    """The ids of the person's direct reports, who keep an archived manager on record."""
    report_rows = tx.all(_reports, organisation_id=organisation_id, user_id=user_id)
    return tuple(report_id for (report_id,) in report_rows)


def _ended(before: LeaveRequest, today: date, now: datetime) -> LeaveRequest | None:
    """The request without its days after today; None if it has none."""
    after = replace(before, updated_at=now, version=before.version + 1)
    past_halves = before.counted_halves[: max((today - before.start_date).days + 1, 0)]
    past_half_days = halves.total_half_days(past_halves)
    if before.status == "pending" or past_half_days == 0:
        return replace(after, status="cancelled", cancelled_at=now)
    if past_half_days == before.total_half_days:
        return None
    # On a single day "am" alone would mean the morning only, and the whole day was leave.
    is_whole_day = before.start_date == today and before.start_half_day == "am"
    return replace(
        after,
        end_date=today,
        end_half_day="pm" if is_whole_day else None,
        counted_halves=past_halves,
        total_half_days=past_half_days,
    )


def _apply(
    tx: Transaction,
    config: OrganisationConfig,
    action: Literal["leave_request.cancelled", "leave_request.shortened"],
    leave: Sequence[LeaveEffect],
    *,
    by: Caller,
    now: datetime,
) -> None:
    if not leave:
        return
    changes = [(effect.before, effect.after) for effect in leave]
    leave_rows.save_all(tx, action, changes, by=by, now=now, why=_BECAUSE)
    changed = [(effect.after, effect.user) for effect in leave]
    # The owner has left and is not notified; approvers are, and their cards are refreshed.
    event: EventType = "leave_request.updated"
    notification: NotificationEvent = "leave_request.recounted"
    if action == "leave_request.cancelled":
        event = notification = action
    webhook_outbox.enqueue_all(tx, event, changed, config=config, now=now)
    notification_outbox.notify_all(
        tx, notification, [effect.after for effect in leave], config=config, now=now
    )
    card_refreshes.leave_changed(tx, changes, config=config, now=now)
    before = [effect.before for effect in leave]
    notify_approvers(tx, config, leave[0].user, before, action, by=by, now=now)


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
