"""Future leave, recalculated when what its days count has changed.

What lies ahead are the days from today on, in the organisation's time zone: a request that is
running keeps what its past days counted. Recalculation never takes leave away: it stays
even where nothing of it counts any more, or where it overdraws the allowance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import reduce
from operator import or_
from typing import Final, Literal

from peewee import Select

from storage.base.clock import local_day
from storage.base.values import Caller, LeaveEffect, LeaveRequest, User
from storage.db import locks, rows
from storage.db.compiled import Engine, Expr, Param, any_of, compiled, compiled_per_engine
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow, UserRow
from storage.events import audit_log, notification_outbox, webhook_outbox
from storage.events.organisation_config import Reference
from storage.leave import card_refreshes, drafts, leave_rows
from storage.rules import days, halves, spans

CauseCode = Literal[
    "working_days_changed",
    "public_holidays_changed",
    "working_days_and_public_holidays_changed",
    "public_holiday_added",
    "public_holiday_removed",
    "public_holiday_changed",
]
# Statuses of leave that takes up days.
_STANDING: Final = ("pending", "approved")


@dataclass(frozen=True, kw_only=True, slots=True)
class Cause:
    """Why leave was recalculated. The last three codes come with the date, and a name if known."""

    code: CauseCode
    holiday_date: date | None = None
    holiday_name: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TotalChange:
    """What the owner of a recounted request is told."""

    before_half_days: int
    after_half_days: int
    cause: Cause


@dataclass(frozen=True, kw_only=True, slots=True)
class AffectedPeople:
    """The people whose leave may change: all who use one of these, except archived people.

    ``own_country``: this code as ``public_holiday_country_code``. ``default_country`` and
    ``default_week``: none of one's own, so that the organisation's holds.
    """

    own_country: str | None = None
    default_country: bool = False
    default_week: bool = False


def cause_of(before: User, after: User) -> Cause | None:
    """Why a change of a person recalculates their leave; None when it does not."""
    return _cause(
        before.working_days != after.working_days,
        before.public_holiday_country_code != after.public_holiday_country_code,
    )


def cause_of_settings(*, other_week: bool, other_country: bool) -> Cause | None:
    """As ``cause_of``, for the organisation's own working days and country."""
    return _cause(other_week, other_country)


def _cause(other_week: bool, other_country: bool) -> Cause | None:
    if other_week and other_country:
        return Cause(code="working_days_and_public_holidays_changed")
    if other_week:
        return Cause(code="working_days_changed")
    return Cause(code="public_holidays_changed") if other_country else None


def lock_people(tx: Transaction, organisation_id: str, affected: AffectedPeople) -> list[User]:
    """Everyone whom a change concerns.

    None of them asks for leave, changes or cancels any before this transaction ends.
    """
    if affected == AffectedPeople():
        return []
    found = tx.all(
        _people,
        organisation_id=organisation_id,
        own_country=affected.own_country,
        default_country=affected.default_country,
        default_week=affected.default_week,
    )
    return [rows.user(row) for row in found]


def plan(
    tx: Transaction,
    reference: Reference,
    users: Sequence[User],
    *,
    now: datetime,
    first_day: date = date.min,
    last_day: date = date.max,
) -> list[LeaveEffect]:
    """The leave of these people that counts differently now, by first day; ``apply`` writes it.

    ``reference`` and ``users`` are those after the change. ``first_day`` and ``last_day`` bound
    what can have changed, both included. Lock the people first.
    """
    today = local_day(now, reference.organisation.timezone)
    if not users or last_day < today:
        return []
    of_id = {user.id: user for user in users}
    found = tx.all(
        _ahead,
        organisation_id=reference.organisation.id,
        user_ids=list(of_id),
        first_day=max(first_day, today).isoformat(),
        last_day=last_day.isoformat(),
    )
    recounted = []
    for row in found:
        before = rows.leave_request(row)
        user = of_id[before.user_id]
        counted_halves = _counted(reference, user, before, today)
        if counted_halves != before.counted_halves:
            after = replace(
                before,
                counted_halves=counted_halves,
                total_half_days=halves.total_half_days(counted_halves),
                updated_at=now,
                version=before.version + 1,
            )
            recounted.append(LeaveEffect(user=user, before=before, after=after))
    return sorted(recounted, key=lambda one: (one.before.start_date, one.before.id))


def apply(
    tx: Transaction,
    reference: Reference,
    recounted: Sequence[LeaveEffect],
    cause: Cause,
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Write the planned counts, audit entries and ``leave_request.updated`` events.

    Owners are told in Slack where the total differs, and approvers' cards are redrawn.
    """
    if not recounted:
        return
    why: dict[str, object] = {"why": cause.code}
    if cause.holiday_date is not None:
        why |= {"holiday_date": cause.holiday_date, "holiday_name": cause.holiday_name}
    moved = [(one.before, one.after) for one in recounted]
    leave_rows.save_all(tx, "leave_request.recounted", moved, by=by, now=now, why=why)
    changed = [(one.after, one.user) for one in recounted]
    webhook_outbox.enqueue_all(tx, "leave_request.updated", changed, reference=reference, now=now)
    notification_outbox.notify_all(
        tx,
        "leave_request.recounted",
        [one.after for one in recounted],
        notified=[
            one.after
            for one in recounted
            if one.after.total_half_days != one.before.total_half_days
        ],
        reference=reference,
        now=now,
    )
    card_refreshes.enqueue(
        tx,
        reference=reference,
        now=now,
        user_ids={one.user.id for one in recounted},
        except_ids={one.after.id for one in recounted},
    )


def total_change_at(
    tx: Transaction, organisation_id: str, request_id: str, at: datetime
) -> TotalChange | None:
    """What the recount at that instant did to a request, from the audit trail."""
    changes = audit_log.changes_at(tx, organisation_id, "leave_request.recounted", request_id, at)
    if changes is None or "total_days" not in changes:
        return None
    after = {name: change["after"] for name, change in changes.items()}
    day = after.get("holiday_date")
    return TotalChange(
        before_half_days=round(2 * changes["total_days"]["before"]),
        after_half_days=round(2 * after["total_days"]),
        cause=Cause(
            code=after["why"],
            holiday_date=None if day is None else rows.day(day),
            holiday_name=after.get("holiday_name"),
        ),
    )


def _counted(reference: Reference, user: User, request: LeaveRequest, today: date) -> str:
    """What the request's dates count by today's rules; those before today as they did."""
    span = spans.Span(
        start_date=request.start_date,
        end_date=request.end_date,
        start_half_day=request.start_half_day,
        end_half_day=request.end_half_day,
    )
    counted_halves = days.counted_halves(drafts.count(reference, user, span))
    past = max((today - request.start_date).days, 0)
    return request.counted_halves[:past] + counted_halves[past:]


@compiled_per_engine
def _people(
    engine: Engine,
    organisation_id: Param[str],
    own_country: Param[str] | None,
    default_country: bool,
    default_week: bool,
) -> Select:
    choices: Iterable[Expr] = (
        *(() if own_country is None else (UserRow.public_holiday_country_code == own_country,)),
        *((UserRow.public_holiday_country_code.is_null(),) if default_country else ()),
        *((UserRow.working_days.is_null(),) if default_week else ()),
    )
    # In one order, to avoid deadlocks.
    query = (
        UserRow.select(*rows.USER)
        .where(
            UserRow.organisation_id == organisation_id,
            UserRow.status != "archived",
            reduce(or_, choices),
        )
        .order_by(UserRow.id)
    )
    return locks.locked(query, engine)


@compiled
def _ahead(
    organisation_id: Param[str],
    user_ids: Param[list[str]],
    first_day: Param[str],
    last_day: Param[str],
) -> Select:
    return LeaveRequestRow.select(*rows.LEAVE_REQUEST).where(
        LeaveRequestRow.organisation_id == organisation_id,
        any_of(LeaveRequestRow.user_id, user_ids),
        LeaveRequestRow.end_date >= first_day,
        LeaveRequestRow.start_date <= last_day,
        LeaveRequestRow.status.in_(_STANDING),
    )
