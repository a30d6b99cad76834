"""The balance report: what each person has left on a day, a row for each person and allowance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from typing import Annotated

from pydantic import ConfigDict, Field

from storage.base.allowance_values import Allowance, Amount
from storage.base.leave_values import LeaveStatus
from storage.base.values import IN_DAYS, About, Caller, Id, User
from storage.db.database import Transaction
from storage.leave import leave_balances, ledgers
from storage.leave.bookings import NO_BOOKINGS, BookedLeave
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import allowance_terms
from storage.reports import reports
from storage.reports.reports import Run
from storage.rules import employment_terms, leave_years, year_balances
from storage.rules.leave_years import LeaveYear
from storage.rules.year_balances import LeaveYearBalance


@dataclass(frozen=True, kw_only=True, slots=True)
class BalanceReportRow:
    """A person's balance in one allowance.

    `left` is `entitled + carried - expired - taken - booked - pending`.
    """

    __pydantic_config__ = ConfigDict(title="BalanceReportRow")

    employee_number: Annotated[str | None, About(example="10042")]
    last_name: Annotated[str, About(example="Lovelace")]
    first_name: Annotated[str, About(example="Ada")]
    department: Annotated[str | None, About(description="Its name on the day.", example="Sales")]
    allowance: Annotated[str, About(description="Its name.", example="Annual leave")]
    allowance_code: Annotated[str, About(example="annual")]
    year_start: Annotated[date, About(description="The first day of the leave year.")]
    year_end: date
    entitled_half_days: Annotated[
        Amount,
        Field(serialization_alias="entitled"),
        IN_DAYS,
        About(
            description="Days granted by the day, with adjustments and credits, without "
            "carried-over days.",
            example=25,
        ),
    ]
    carried_half_days: Annotated[
        Amount,
        Field(serialization_alias="carried"),
        IN_DAYS,
        About(description="Days from the leave year before.", example=3),
    ]
    expired_half_days: Annotated[
        Amount,
        Field(serialization_alias="expired"),
        IN_DAYS,
        About(description="Carried-over days and credits that were not taken in time.", example=1),
    ]
    taken_half_days: Annotated[
        Amount,
        Field(serialization_alias="taken"),
        IN_DAYS,
        About(description="Approved leave of the leave year up to the day.", example=10),
    ]
    booked_half_days: Annotated[
        Amount,
        Field(serialization_alias="booked"),
        IN_DAYS,
        About(description="Approved leave of the leave year after the day.", example=5),
    ]
    pending_half_days: Annotated[
        Amount,
        Field(serialization_alias="pending"),
        IN_DAYS,
        About(description="Leave that awaits a decision.", example=0),
    ]
    left_half_days: Annotated[
        Amount,
        Field(serialization_alias="left"),
        IN_DAYS,
        About(
            description="`remaining` of the person's balance; negative if overdrawn.", example=12
        ),
    ]
    user_id: Id


@dataclass(frozen=True, kw_only=True, slots=True)
class YearOfPerson:
    """An allowance's balances of a leave year, one for each period of employment in it."""

    user: User
    allowance: Allowance
    leave: Sequence[BookedLeave]
    balances: Sequence[LeaveYearBalance]

    @property
    def last(self) -> LeaveYearBalance:
        return self.balances[-1]


def start(tx: Transaction, on: date | None, *, by: Caller, now: datetime) -> Run[BalanceReportRow]:
    """The report of a day, today by default: of people who work in the leave year of the day.

    Raises InsufficientRole or InvalidInput ``out_of_range``.
    """
    on = checked_day(tx, on, by=by, now=now)
    return reports.start(
        tx, "balances", BalanceReportRow, partial(_rows, on=on), {"on": on}, by=by, now=now
    )


def checked_day(tx: Transaction, on: date | None, *, by: Caller, now: datetime) -> date:
    """The day, today by default. Raises InvalidInput ``out_of_range``."""
    today = organisation_config.today(tx, by.organisation_id, now)
    return ledgers.checked_day(on or today, today)


def years_of(
    tx: Transaction, config: OrganisationConfig, users: Sequence[User], on: date
) -> Iterator[YearOfPerson]:
    """The leave year of the day for each person who works in it, and each allowance.

    Reads the bookings of all of these people in one query.
    """
    years = {
        user.id: leave_years.leave_year_containing(
            allowance_terms.leave_year_rule(config, user), on
        )
        for user in users
    }
    users = [user for user in users if _works_in(user, years[user.id])]
    booked = leave_balances.bookings_of(tx, config, users, on)
    for user in users:
        own = booked.get(user.id, NO_BOOKINGS)
        leave = leave_balances.leave_by_allowance(config, own)
        for allowance in config.allowances.values():
            drawn = leave.get(allowance.id, [])
            balances = year_balances.of_years(
                leave_balances.account_of(config, user, own, allowance.id),
                [leave_balances.deduction(each) for each in drawn],
                years[user.id].first_day,
                on,
            )
            yield YearOfPerson(user=user, allowance=allowance, leave=drawn, balances=balances)


def _works_in(user: User, year: LeaveYear) -> bool:
    """Whether the person is employed in the leave year.

    Archived people without a last day are not: it is not known until when they were.
    """
    if user.status == "archived" and user.end_date is None:
        return False
    return any(
        (period.start_date or date.min) <= year.last_day
        and (period.end_date or date.max) >= year.first_day
        for period in employment_terms.periods_of(user)
    )


def _rows(
    tx: Transaction, config: OrganisationConfig, users: Sequence[User], *, on: date
) -> list[BalanceReportRow]:
    found = [_row(config, each, on) for each in years_of(tx, config, users, on)]
    default_code = config.allowances[config.default_allowance_id].code
    return [row for row in found if row.allowance_code == default_code or _holds_anything(row)]


def _row(config: OrganisationConfig, year: YearOfPerson, on: date) -> BalanceReportRow:
    last = year.last
    expired = last.lapsed_half_days(on)
    expired += sum(credit.left_half_days for credit in last.lapsed_credits(on))
    taken = _half_days(year, "approved", last_day=on)
    approved = _half_days(year, "approved", last_day=date.max)
    pending = _half_days(year, "pending", last_day=date.max)
    left = last.remaining_half_days(on)
    return BalanceReportRow(
        employee_number=year.user.employee_number,
        last_name=year.user.last_name,
        first_name=year.user.first_name,
        department=reports.department_name(config, year.user, on),
        allowance=year.allowance.name,
        allowance_code=year.allowance.code,
        year_start=last.year.first_day,
        year_end=last.year.last_day,
        entitled_half_days=left + approved + pending + expired - last.carried_half_days,
        carried_half_days=last.carried_half_days,
        expired_half_days=expired,
        taken_half_days=taken,
        booked_half_days=approved - taken,
        pending_half_days=pending,
        left_half_days=left,
        user_id=year.user.id,
    )


def _half_days(year: YearOfPerson, status: LeaveStatus, *, last_day: date) -> int:
    """The leave of that status in the leave year, by the day."""
    return sum(
        leave_balances.deduction(leave).half_days_in(
            balance.first_day, min(balance.last_day, last_day)
        )
        for balance in year.balances
        for leave in year.leave
        if leave.status == status
    )


def _holds_anything(row: BalanceReportRow) -> bool:
    return any(
        (
            row.entitled_half_days,
            row.carried_half_days,
            row.taken_half_days,
            row.booked_half_days,
            row.pending_half_days,
            row.left_half_days,
        )
    )
