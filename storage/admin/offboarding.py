"""What happens to a person's leave and reports when their employment ends or starts later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any, Final, Literal

from storage.base.event_values import LeaveEventType, NotificationEvent
from storage.base.leave_values import LeaveEffect, LeaveRequest
from storage.base.values import Caller, User, local_day
from storage.db.database import Transaction
from storage.db.tables import UserRow
from storage.leave import card_refreshes, cover_notices, leave_rows
from storage.leave.request_steps import notify_approvers
from storage.outbox import notification_outbox, webhook_outbox
from storage.outbox.organisation_config import OrganisationConfig
from storage.rules import counted_days, employment_terms

Reason = Literal["user_archived", "employment_ends", "employment_starts"]


def end_leave(
    tx: Transaction, config: OrganisationConfig, user: User, *, by: Caller, now: datetime
) -> tuple[LeaveEffect, ...]:
    """Cancel pending leave, and end approved leave today; returns the changes, by first day.

    A request that has begun keeps its days up to today.
    """
    today = local_day(now, config.organisation.timezone)
    standing = leave_rows.current_of(tx, config.organisation.id, user.id, today)
    ended = [(before, _ended(before, today, now)) for before in standing]
    leave = _apply_all(tx, config, user, ended, "user_archived", by=by, now=now)
    _withdraw_amendments(tx, config, user, by=by, now=now)
    return leave


def end_leave_after(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    last_day: date,
    *,
    by: Caller,
    now: datetime,
) -> tuple[LeaveEffect, ...]:
    """Cancel leave after the last day of employment and shorten leave that crosses it.

    Pending or approved; returns the changes, by first day. The person is notified.
    """
    standing = leave_rows.current_of(tx, config.organisation.id, user.id, last_day)
    ended = [
        (before, _shortened(before, last_day, now))
        for before in standing
        if before.end_date > last_day
    ]
    return _apply_all(tx, config, user, ended, "employment_ends", by=by, now=now)


def end_leave_before(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    first_day: date,
    *,
    by: Caller,
    now: datetime,
) -> tuple[LeaveEffect, ...]:
    """Cancel leave before the first day of employment and shorten leave that crosses it.

    As ``end_leave_after``. Leave of an earlier employment stays.
    """
    ended_on = employment_terms.last_ended_on(user) or date.min
    standing = leave_rows.standing_before(tx, config.organisation.id, user.id, first_day)
    ended = [
        (before, _started_later(before, first_day, now))
        for before in standing
        if before.end_date > ended_on
    ]
    return _apply_all(tx, config, user, ended, "employment_starts", by=by, now=now)


def _apply_all(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    ended: Sequence[tuple[LeaveRequest, LeaveRequest | None]],
    why: Reason,
    *,
    by: Caller,
    now: datetime,
) -> tuple[LeaveEffect, ...]:
    leave = tuple(
        LeaveEffect(user=user, before=before, after=after)
        for before, after in ended
        if after is not None
    )
    cancelled = [effect for effect in leave if effect.after.status == "cancelled"]
    shortened = [effect for effect in leave if effect.after.status != "cancelled"]
    _apply(tx, config, "leave_request.cancelled", cancelled, why, by=by, now=now)
    _apply(tx, config, "leave_request.shortened", shortened, why, by=by, now=now)
    return leave


def _withdraw_amendments(
    tx: Transaction, config: OrganisationConfig, user: User, *, by: Caller, now: datetime
) -> None:
    """Withdraw the amendments of leave that has ended anyway."""
    amended = leave_rows.amended_of(tx, config.organisation.id, user.id)
    if not amended:
        return
    changes = [(before, _next(before, now)) for before in amended]
    action: Final = "leave_request.amendment_withdrawn"
    leave_rows.save_all(tx, action, changes, by=by, now=now, why={"why": "user_archived"})
    changed = [(after, user) for _, after in changes]
    webhook_outbox.enqueue_all(tx, action, changed, config=config, now=now)
    notification_outbox.notify_all(
        tx, action, [after for _, after in changes], config=config, now=now
    )


def reports(tx: Transaction, organisation_id: str, user_id: str) -> tuple[str, ...]:
    """The ids of the person's direct reports, who keep an archived manager on record."""
    reports = tx.select(UserRow, organisation_id=organisation_id, manager_id=user_id)
    return tuple(sorted(row.id for row in reports if row.status != "archived"))


def managed_departments(config: OrganisationConfig, user_id: str) -> tuple[str, ...]:
    """The ids of the departments that keep an archived manager on record."""
    return tuple(
        department.id
        for department in config.departments.values()
        if department.manager_id == user_id
    )


def _ended(before: LeaveRequest, today: date, now: datetime) -> LeaveRequest | None:
    """The request without its days after today, cancelled if pending; None if it has none."""
    if before.status == "pending":
        return _cancelled(before, now)
    after = _shortened(before, today, now)
    is_over = after.status == "approved" and after.total_half_days == before.total_half_days
    return None if is_over else after


def _cancelled(before: LeaveRequest, now: datetime) -> LeaveRequest:
    return _next(before, now, status="cancelled", cancelled_at=now)


def _next(before: LeaveRequest, now: datetime, **changes: Any) -> LeaveRequest:
    """The next version of the request, without its amendment."""
    version = before.version + 1
    return replace(before, amendment_id=None, updated_at=now, version=version, **changes)


def _shortened(before: LeaveRequest, last_day: date, now: datetime) -> LeaveRequest:
    """The request up to a day; cancelled if nothing counts until then."""
    halves_until = before.counted_halves[: max((last_day - before.start_date).days + 1, 0)]
    half_days = counted_days.total_half_days(halves_until)
    if half_days == 0:
        return _cancelled(before, now)
    # On a single day "am" alone would mean the morning only, and the whole day was leave.
    is_whole_day = before.start_date == last_day and before.start_half_day == "am"
    return _next(
        before,
        now,
        end_date=last_day,
        end_half_day="pm" if is_whole_day else None,
        counted_halves=halves_until,
        total_half_days=half_days,
    )


def _started_later(before: LeaveRequest, first_day: date, now: datetime) -> LeaveRequest:
    """The request from a day on; cancelled if nothing counts from then on."""
    halves_from = before.counted_halves[(first_day - before.start_date).days :]
    half_days = counted_days.total_half_days(halves_from)
    if half_days == 0:
        return _cancelled(before, now)
    # On a single day "pm" alone would mean the afternoon only, and the last day was whole.
    is_whole_day = before.end_date == first_day and before.end_half_day == "pm"
    return _next(
        before,
        now,
        start_date=first_day,
        start_half_day=None,
        end_half_day=None if is_whole_day else before.end_half_day,
        counted_halves=halves_from,
        total_half_days=half_days,
    )


def _apply(
    tx: Transaction,
    config: OrganisationConfig,
    action: Literal["leave_request.cancelled", "leave_request.shortened"],
    leave: Sequence[LeaveEffect],
    why: Reason,
    *,
    by: Caller,
    now: datetime,
) -> None:
    if not leave:
        return
    changes = [(effect.before, effect.after) for effect in leave]
    leave_rows.save_all(tx, action, changes, by=by, now=now, why={"why": why})
    changed = [(effect.after, effect.user) for effect in leave]
    changed_leave = [effect.after for effect in leave]
    # An archived person has left and is not notified; approvers are, and their cards refreshed.
    notified = () if why == "user_archived" else changed_leave
    event: LeaveEventType = "leave_request.updated"
    notification: NotificationEvent = "leave_request.shortened"
    if action == "leave_request.cancelled":
        event = notification = action
    webhook_outbox.enqueue_all(tx, event, changed, config=config, now=now)
    notification_outbox.notify_all(
        tx, notification, changed_leave, notified=notified, config=config, now=now
    )
    today = local_day(now, config.organisation.timezone)
    cover_notices.enqueue(tx, changes, config=config, today=today, now=now)
    card_refreshes.leave_changed(tx, changes, config=config, now=now)
    before = [effect.before for effect in leave]
    notify_approvers(tx, config, leave[0].user, before, action, by=by, now=now)
