"""What a person may take in a leave year, and what is left of it (contract 5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from operator import itemgetter
from typing import Any, NamedTuple

from peewee import Select

from storage import days, leave_years, rows
from storage.compiled import Place, compiled
from storage.database import Transaction
from storage.leave_years import LeaveYear, LeaveYearRule
from storage.reference import Reference
from storage.rules import YearDemand
from storage.tables import LeaveRequestRow
from storage.values import HalfDay, User


class TakenLeave(NamedTuple):
    """Pending or approved leave of one person."""

    id: str
    leave_type_id: str
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None
    counted_halves: str

    @property
    def span(self) -> days.Span:
        return days.Span(self.start_date, self.end_date, self.start_half_day, self.end_half_day)


def leave_year_rule(reference: Reference, user: User) -> LeaveYearRule:
    """When this person's leave years begin."""
    organisation = reference.organisation
    return LeaveYearRule(
        organisation.leave_year_type,
        organisation.leave_year_start_month,
        organisation.leave_year_start_day,
        user.start_date,
    )


def allowance_half_days(reference: Reference, user: User, year: LeaveYear) -> int:
    """What the person is granted for a leave year, before anything is taken.

    The person's own figure, else the department's, else the organisation's; pro rata in the year
    in which the person starts.
    """
    granted = user.leave_allowance_half_days
    if granted is None and user.department_id is not None:
        department = reference.departments.get(user.department_id)
        granted = department and department.default_leave_allowance_half_days
    if granted is None:
        granted = reference.organisation.default_leave_allowance_half_days
    return leave_years.prorated_half_days(granted, year, user.start_date)


def taken_between(
    tx: Transaction, organisation_id: str, user_id: str, first_day: date, last_day: date
) -> list[TakenLeave]:
    """The person's pending and approved leave that shares a date with the two days or between.

    Earliest first.
    """
    found = tx.all(
        _taken,
        organisation_id=organisation_id,
        user_id=user_id,
        first_day=first_day.isoformat(),
        last_day=last_day.isoformat(),
    )
    return [
        TakenLeave(row[0], row[1], rows.day(row[2]), rows.day(row[3]), row[4], row[5], row[6])
        # Not by the query: SQLite would walk through all leave of the organisation in this order.
        for row in sorted(found, key=itemgetter(2))
    ]


def demands(
    reference: Reference,
    user: User,
    years: Sequence[LeaveYear],
    taken: Iterable[TakenLeave],
    counted_halves: str,
    start_date: date,
) -> list[YearDemand]:
    """For each leave year what is left, and what a request with these counted halves needs of it.

    ``taken`` covers all the years and leaves out the request itself; leave of types that do not
    deduct is passed over.
    """
    deducting = [
        leave for leave in taken if reference.leave_types[leave.leave_type_id].deducts_allowance
    ]
    return [
        YearDemand(
            year,
            allowance_half_days(reference, user, year)
            - sum(
                days.half_days_in(leave.counted_halves, leave.start_date, *year)
                for leave in deducting
            ),
            days.half_days_in(counted_halves, start_date, *year),
        )
        for year in years
    ]


@compiled
def _taken(organisation_id: Place, user_id: Place, first_day: Place, last_day: Place) -> Select:
    columns: tuple[Any, ...] = tuple(getattr(LeaveRequestRow, name) for name in TakenLeave._fields)
    return LeaveRequestRow.select(*columns).where(
        LeaveRequestRow.organisation_id == organisation_id,
        LeaveRequestRow.user_id == user_id,
        LeaveRequestRow.end_date >= first_day,
        LeaveRequestRow.start_date <= last_day,
        LeaveRequestRow.status.in_(("pending", "approved")),
    )
