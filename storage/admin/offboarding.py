"""What follows when somebody is archived or deactivated (contract 2): worked out, then done.

``foresee_…`` works it out and changes nothing; the same answer is what is then carried out.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from peewee import Select, fn

from storage.admin import reassignment
from storage.admin.effects import Effects
from storage.base.clock import local_day
from storage.base.values import Caller, LeaveEffect, LeaveRequest, User
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import ApiKeyRow, CalendarFeedRow, UserRow
from storage.events import outbox
from storage.events.organisation_config import Reference
from storage.leave import card_refreshes, leave_rows
from storage.leave.leave_requests import tell_approvers
from storage.rules import days

_BECAUSE = {"why": "user_archived"}


def foresee_archiving(tx: Transaction, known: Reference, user: User, *, now: datetime) -> Effects:
    """Pending leave is cancelled, and approved leave from tomorrow on given up.

    A request that is running ends today: what is past and today itself stay taken. Reports and
    departments keep the archived manager on record, and the ladder of approvers passes him over.
    """
    today = local_day(now, known.organisation.timezone)
    standing = leave_rows.standing_of(tx, known.organisation.id, user.id, today)
    given_up = [(before, _given_up(before, today, now)) for before in standing]
    params = {"organisation_id": known.organisation.id, "user_id": user.id}
    return foresee_deactivating(tx, known, user, now=now)._replace(
        leave=tuple(
            LeaveEffect(user, before, after) for before, after in given_up if after is not None
        ),
        reports=tuple(user_id for (user_id,) in tx.all(_reports, **params)),
        departments=tuple(
            one.id for one in known.departments.values() if one.manager_id == user.id
        ),
    )


def foresee_deactivating(
    tx: Transaction, known: Reference, user: User, *, now: datetime
) -> Effects:
    """Keys and feeds stop answering, and what awaits the person awaits others."""
    params = {"organisation_id": known.organisation.id, "user_id": user.id}
    keys, feeds = tx.first(_keys, **params), tx.first(_feeds, **params)
    return Effects(
        rerouted=tuple(reassignment.without(tx, known, user, now=now)),
        api_keys=0 if keys is None else keys[0],
        calendar_feeds=0 if feeds is None else feeds[0],
    )


def archived(
    tx: Transaction, known: Reference, effects: Effects, *, by: Caller, now: datetime
) -> None:
    """Carry out what was foreseen of an archiving, keys and feeds aside."""
    cancelled = [one for one in effects.leave if one.after.status == "cancelled"]
    shortened = [one for one in effects.leave if one.after.status != "cancelled"]
    _move(tx, known, "leave_request.cancelled", cancelled, by=by, now=now)
    _move(tx, known, "leave_request.shortened", shortened, by=by, now=now)
    deactivated(tx, known, effects, by=by, now=now)


def deactivated(
    tx: Transaction, known: Reference, effects: Effects, *, by: Caller, now: datetime
) -> None:
    """Tell whom it concerns what awaits others from now on."""
    reassignment.tell(tx, known, effects.rerouted, by=by, now=now)


def _given_up(before: LeaveRequest, today: date, now: datetime) -> LeaveRequest | None:
    """The request once its days after today are given up; None where there are none to give."""
    after = before._replace(updated_at=now, version=before.version + 1)
    kept = before.counted_halves[: max((today - before.start_date).days + 1, 0)]
    kept_half_days = days.total_half_days(kept)
    if before.status == "pending" or kept_half_days == 0:
        return after._replace(status="cancelled", cancelled_at=now)
    if kept_half_days == before.total_half_days:
        return None
    # On a single day "am" alone would mean the morning, and the whole day was taken.
    is_whole_day = before.start_date == today and before.start_half_day == "am"
    return after._replace(
        end_date=today,
        end_half_day="pm" if is_whole_day else None,
        counted_halves=kept,
        total_half_days=kept_half_days,
    )


def _move(
    tx: Transaction,
    known: Reference,
    action: Any,
    leave: Sequence[LeaveEffect],
    *,
    by: Caller,
    now: datetime,
) -> None:
    if not leave:
        return
    is_cancelled = action == "leave_request.cancelled"
    moved = [(one.before, one.after) for one in leave]
    leave_rows.save_all(tx, action, moved, by=by, now=now, why=_BECAUSE)
    changed = [(one.after, one.user) for one in leave]
    event: Any = action if is_cancelled else "leave_request.updated"
    outbox.announce_all(tx, event, changed, reference=known, now=now)
    # The owner has left and is not told. Cards show the outcome, and approvers are told.
    news: Any = action if is_cancelled else "leave_request.recounted"
    outbox.notify_all(tx, news, [one.after for one in leave], reference=known, now=now)
    card_refreshes.leave_changed(tx, moved, reference=known, now=now)
    before = [one.before for one in leave]
    tell_approvers(tx, known, leave[0].user, before, action, by=by, now=now)


@compiled
def _keys(organisation_id: Param[str], user_id: Param[str]) -> Select:
    return ApiKeyRow.select(fn.COUNT(ApiKeyRow.id)).where(
        ApiKeyRow.organisation_id == organisation_id,
        ApiKeyRow.user_id == user_id,
        ApiKeyRow.revoked_at.is_null(),
    )


@compiled
def _feeds(organisation_id: Param[str], user_id: Param[str]) -> Select:
    return CalendarFeedRow.select(fn.COUNT(CalendarFeedRow.id)).where(
        CalendarFeedRow.organisation_id == organisation_id,
        CalendarFeedRow.user_id == user_id,
        CalendarFeedRow.revoked_at.is_null(),
    )


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
