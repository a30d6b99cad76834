"""Recalculates leave after changes of working days and public holidays; its owner hears why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import reduce
from operator import or_
from typing import Literal

from peewee import Select

from storage.base.leave_values import LeaveEffect, LeaveRequest
from storage.base.values import Caller, User, local_day
from storage.db import locks, rows
from storage.db.compiled import Engine, Expr, Param, compiled_per_engine
from storage.db.database import Transaction
from storage.db.tables import UserRow
from storage.leave import card_refreshes, leave_amendments, leave_rows
from storage.outbox import audit, notification_outbox, webhook_outbox
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import employment_by_date
from storage.rules import counted_days

CauseCode = Literal[
    "working_days_changed",
    "public_holidays_changed",
    "working_days_and_public_holidays_changed",
    "public_holiday_added",
    "public_holiday_removed",
    "public_holiday_changed",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Cause:
    """Why leave was recalculated. The last three codes have the date, and the name if known.

    ``holiday_country`` is the country or region whose public holidays the owner has on that date.
    """

    code: CauseCode
    holiday_date: date | None = None
    holiday_name: str | None = None
    holiday_country: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TotalChange:
    """The total of a request before and after it was recalculated."""

    before_half_days: int
    after_half_days: int
    cause: Cause


def cause_of(*, other_week: bool, other_country: bool) -> Cause | None:
    """Why a change of working days or country recalculates leave; None if it does not."""
    if other_week and other_country:
        return Cause(code="working_days_and_public_holidays_changed")
    if other_week:
        return Cause(code="working_days_changed")
    return Cause(code="public_holidays_changed") if other_country else None


def total_change_at(
    tx: Transaction, config: OrganisationConfig, owner: User, request_id: str, at: datetime
) -> TotalChange | None:
    """How the recalculation at that instant changed a request, from the audit trail."""
    changes = audit.changes_at(
        tx, config.organisation.id, "leave_request.recounted", request_id, at
    )
    if changes is None or "total_days" not in changes:
        return None
    after = {name: change["after"] for name, change in changes.items()}
    cause = Cause(code=after["why"])
    if "holiday_date" in after:
        day = rows.day(after["holiday_date"])
        cause = Cause(
            code=cause.code,
            holiday_date=day,
            holiday_name=after.get("holiday_name"),
            holiday_country=employment_by_date.country_code_of(
                config, employment_by_date.of_day(owner, day)
            ),
        )
    return TotalChange(
        before_half_days=round(2 * changes["total_days"]["before"]),
        after_half_days=round(2 * after["total_days"]),
        cause=cause,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class AffectedPeople:
    """The people whose leave may change, except archived ones: those who match any field.

    ``own_country``: this ``public_holiday_country_code``. ``default_country``, ``default_week``:
    no public holidays or working days of their own, so that the organisation's apply.
    """

    own_country: str | None = None
    default_country: bool = False
    default_week: bool = False


def lock_people(tx: Transaction, organisation_id: str, affected: AffectedPeople) -> list[User]:
    """The affected people, locked: they cannot change leave until this transaction ends."""
    if affected == AffectedPeople():
        return []
    users = tx.all(
        _people,
        organisation_id=organisation_id,
        own_country=affected.own_country,
        default_country=affected.default_country,
        default_week=affected.default_week,
    )
    return [rows.user(row) for row in users]


def plan(
    tx: Transaction,
    config: OrganisationConfig,
    users: Sequence[User],
    *,
    now: datetime,
    first_day: date = date.min,
    last_day: date = date.max,
) -> list[LeaveEffect]:
    """The leave whose count changes, by first day; ``apply`` writes it. Lock the people first.

    ``config`` and ``users`` are those after the change. Only dates from ``first_day`` to
    ``last_day``, both included, can have changed.
    """
    today = local_day(now, config.organisation.timezone)
    if last_day < today:
        return []
    return plan_periods(tx, config, users, [(max(first_day, today), last_day)], now=now)


def plan_periods(
    tx: Transaction,
    config: OrganisationConfig,
    users: Sequence[User],
    periods: Sequence[tuple[date, date]],
    *,
    now: datetime,
) -> list[LeaveEffect]:
    """As ``plan``, for the days of these periods: their first and last days."""
    if not users or not periods:
        return []
    users_by_id = {user.id: user for user in users}
    leave = leave_rows.standing_between(
        tx,
        config.organisation.id,
        users_by_id,
        min(first_day for first_day, _ in periods),
        max(last_day for _, last_day in periods),
    )
    recalculated = []
    for before in leave:
        user = users_by_id[before.user_id]
        counted_halves = _counted(config, user, before, periods)
        if counted_halves != before.counted_halves:
            after = replace(
                before,
                counted_halves=counted_halves,
                total_half_days=counted_days.total_half_days(counted_halves),
                updated_at=now,
                version=before.version + 1,
            )
            recalculated.append(LeaveEffect(user=user, before=before, after=after))
    return sorted(recalculated, key=lambda effect: (effect.before.start_date, effect.before.id))


def apply(
    tx: Transaction,
    config: OrganisationConfig,
    recalculated: Sequence[LeaveEffect],
    cause: Cause,
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Write the planned counts, audit entries and ``leave_request.updated`` events.

    Owners are notified if the total changes, and approvers' cards are refreshed.
    """
    if not recalculated:
        return
    why: dict[str, object] = {"why": cause.code}
    if cause.holiday_date is not None:
        why |= {"holiday_date": cause.holiday_date, "holiday_name": cause.holiday_name}
    changes = [(effect.before, effect.after) for effect in recalculated]
    leave_rows.save_all(tx, "leave_request.recounted", changes, by=by, now=now, why=why)
    changed = [(effect.after, effect.user) for effect in recalculated]
    amendments = leave_amendments.of_requests(
        tx, config.organisation.id, [effect.after for effect in recalculated]
    )
    webhook_outbox.enqueue_all(
        tx, "leave_request.updated", changed, amendments, config=config, now=now
    )
    notification_outbox.notify_all(
        tx,
        "leave_request.recounted",
        [effect.after for effect in recalculated],
        notified=[
            effect.after
            for effect in recalculated
            if effect.after.total_half_days != effect.before.total_half_days
        ],
        config=config,
        now=now,
    )
    card_refreshes.enqueue(
        tx,
        config=config,
        now=now,
        user_ids={effect.user.id for effect in recalculated},
        except_ids={effect.after.id for effect in recalculated},
    )


def _counted(
    config: OrganisationConfig,
    user: User,
    request: LeaveRequest,
    periods: Iterable[tuple[date, date]],
) -> str:
    """The halves that count by the current rules in the periods; other days as before."""
    now_counted = counted_days.counted_halves(
        employment_by_date.count(config, user, counted_days.span_of(request))
    )
    counted = request.counted_halves
    for first_day, last_day in periods:
        begin = max((first_day - request.start_date).days, 0)
        end = max((last_day - request.start_date).days + 1, 0)
        counted = counted[:begin] + now_counted[begin:end] + counted[end:]
    return counted


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
        # Any of their records may match.
        UserRow.employment.is_null(is_null=False),
    )
    # Always in the same order, to avoid deadlocks.
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
