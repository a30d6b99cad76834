"""The leave type and the day with which a request form opens."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Final

from peewee import Select

from storage.base.leave_values import LeaveType
from storage.base.values import User
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow, LeaveTypeRow
from storage.leave import bookings
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import employment_by_date
from storage.rules import free_days
from storage.rules.counted_days import Span

# A free day further ahead is not worth finding.
_REACH_DAYS: Final = 92


def usual_type(tx: Transaction, config: OrganisationConfig, user: User) -> LeaveType | None:
    """The planned type that the person requested last, else the main type, else the first.

    Planned leave needs approval. A sick day, or one of work at home, says nothing about the next
    request.
    """
    row = tx.first(_last_planned, organisation_id=config.organisation.id, user_id=user.id)
    if row is not None and row.leave_type_id in config.leave_types:
        return config.leave_types[row.leave_type_id]
    in_use = [each for each in config.leave_types.values() if not each.is_archived]
    return main_type(in_use) or min(
        in_use,
        key=lambda each: (
            not each.is_away,
            not each.requires_approval,
            each.created_at,
            each.id,
        ),
        default=None,
    )


def main_type(leave_types: Iterable[LeaveType]) -> LeaveType | None:
    """The oldest type in use that deducts from the allowance: what people call vacation."""
    deducting = (
        leave_type
        for leave_type in leave_types
        if leave_type.deducts_allowance and not leave_type.is_archived
    )
    return min(
        deducting, key=lambda leave_type: (leave_type.created_at, leave_type.id), default=None
    )


def sick_type(leave_types: Iterable[LeaveType]) -> LeaveType | None:
    """The oldest type in use for sick leave, which needs no approval and replaces other leave."""
    of_sickness = (
        leave_type
        for leave_type in leave_types
        if leave_type.may_interrupt
        and not leave_type.requires_approval
        and not leave_type.is_archived
    )
    return min(
        of_sickness, key=lambda leave_type: (leave_type.created_at, leave_type.id), default=None
    )


def next_free_day(
    tx: Transaction,
    config: OrganisationConfig,
    user: User,
    leave_type: LeaveType | None,
    *,
    today: date,
) -> date:
    """The next working day without leave that the type's notice allows; today if there is none.

    Types that need approval are planned, so the next day is after today; others may begin today.
    """
    days_ahead = 0
    if leave_type is not None:
        days_ahead = max(int(leave_type.requires_approval), leave_type.min_notice_days)
    first_day = max(today + timedelta(days=days_ahead), user.start_date or date.min)
    last_day = min(first_day + timedelta(days=_REACH_DAYS), user.end_date or date.max)
    if last_day < first_day:
        return today
    booked = bookings.of_person(tx, config.organisation.id, user.id, first_day, last_day)
    counts = employment_by_date.count(config, user, Span(start_date=first_day, end_date=last_day))
    return free_days.first_free(counts, [leave.span for leave in booked.leave]) or today


@compiled
def _last_planned(organisation_id: Param[str], user_id: Param[str]) -> Select:
    leave, of_type = LeaveRequestRow, LeaveTypeRow
    is_its_type = (of_type.organisation_id == leave.organisation_id) & (
        of_type.id == leave.leave_type_id
    )
    return (
        leave.select(leave.leave_type_id)
        .join(of_type, on=is_its_type)
        .where(
            leave.organisation_id == organisation_id,
            leave.user_id == user_id,
            of_type.requires_approval,
            of_type.is_away,
            ~of_type.is_archived,
            # What others recorded says nothing about what the person requests.
            leave.recorded_by.is_null(),
        )
        .order_by(leave.created_at.desc(), leave.id.desc())
        .limit(1)
    )
