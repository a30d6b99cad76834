"""Balances, their ledgers and adjustments."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from storage.base.records import About, Days, Id
from storage.base.values import Adjustment, days_of
from storage.directory.employment_by_date import AllowanceSource
from storage.leave.leave_balances import BookedLeave
from storage.leave.ledgers import Balance, Line
from storage.rules.leave_years import LeaveYear

SignedDays = Annotated[float, Field(description="Days, in half-day steps; negative if deducted.")]


class LeaveYearRecord(TypedDict):
    """A leave year, with its first and last day inclusive."""

    name: Annotated[
        str,
        Field(
            description="`2026`, or `2026/27` if it does not start on 1 January.",
            examples=["2026/27"],
        ),
    ]
    first_day: Annotated[date, About(example="2026-04-01")]
    last_day: Annotated[date, About(example="2027-03-31")]


class AllowanceLine(TypedDict):
    """The allowance for a whole leave year."""

    type: Literal["allowance"]
    days: SignedDays
    source: Annotated[AllowanceSource, Field(description="Where the allowance is set.")]


class ProRataLine(TypedDict):
    """The deduction in the leave year in which the person starts, rounded to a half-day."""

    type: Literal["pro_rata"]
    days: SignedDays
    start_date: date


class AllowanceChangeLine(TypedDict):
    """The difference that another allowance makes from a date on, by calendar days."""

    type: Literal["allowance_change"]
    days: SignedDays
    valid_from: date


class EmploymentEndLine(TypedDict):
    """The deduction in the leave year in which employment ends, by calendar days."""

    type: Literal["employment_end"]
    days: SignedDays
    end_date: date


class EarlierEmploymentLine(TypedDict):
    """The days of an earlier employment in this leave year: its allowance and what was added."""

    type: Literal["earlier_employment"]
    days: SignedDays
    end_date: date


class EarlierEmploymentSettledLine(TypedDict):
    """What was left when an earlier employment ended, negative, or overdrawn, positive.

    It does not pass to the present one.
    """

    type: Literal["earlier_employment_settled"]
    days: SignedDays
    end_date: date


class CarryOverLine(TypedDict):
    """Days left from the previous leave year, up to the carry-over limit."""

    type: Literal["carry_over"]
    days: SignedDays
    from_leave_year: Annotated[str, About(example="2025/26")]


class AdjustmentLine(TypedDict):
    """A correction by an admin or owner."""

    type: Literal["adjustment"]
    days: SignedDays
    adjustment_id: Id
    reason: Annotated[str, About(example="Worked on Saturday 6 June.")]
    created_by: Id | None
    created_at: datetime


class LeaveLine(TypedDict):
    """The days of one leave request in this leave year."""

    type: Literal["leave"]
    days: SignedDays
    leave_request_id: Id
    leave_type_id: Id
    status: Literal["pending", "approved"]
    start_date: date
    end_date: date


class ExpiredLine(TypedDict):
    """Days carried over that expired unused."""

    type: Literal["carry_over_expired"]
    days: SignedDays
    usable_until: date


LedgerLine = Annotated[
    EarlierEmploymentLine
    | EarlierEmploymentSettledLine
    | AllowanceLine
    | ProRataLine
    | AllowanceChangeLine
    | EmploymentEndLine
    | CarryOverLine
    | AdjustmentLine
    | LeaveLine
    | ExpiredLine,
    Field(discriminator="type"),
]


class LapsingRecord(TypedDict):
    """Days carried over that expire if they are not taken in time."""

    days: Days
    usable_until: date


class BalanceRecord(TypedDict):
    """The balance of one leave year of a person on a date."""

    user_id: Id
    on: date
    working_days: Annotated[
        list[str],
        Field(
            description="The person's own working days, or else the organisation's.",
            examples=[["monday", "tuesday", "wednesday", "thursday", "friday"]],
        ),
    ]
    leave_year: LeaveYearRecord
    ledger: Annotated[list[LedgerLine], Field(description="Adds up to `remaining`.")]
    entitled: Annotated[
        float, Field(description="The sum of every line except leave, in days.", examples=[27])
    ]
    taken: Annotated[Days, Field(description="Approved leave, past or future, in days.")]
    pending: Annotated[Days, Field(description="Leave awaiting a decision, in days.")]
    remaining: Annotated[
        float, Field(description="In days; negative if overdrawn.", examples=[22.5])
    ]
    lapsing: Annotated[
        LapsingRecord | None,
        Field(description="The part of `remaining` that expires within this leave year."),
    ]


class AdjustmentRecord(TypedDict):
    """A correction of a person's balance in a leave year."""

    id: Id
    user_id: Id
    leave_year: Annotated[
        int, Field(description="The calendar year in which the leave year begins.")
    ]
    days: Annotated[float, Field(description="In half-day steps; negative if deducted.")]
    reason: Annotated[str, About(example="Worked on Saturday 6 June.")]
    created_by: Id | None
    created_at: datetime


def leave_year(year: LeaveYear) -> LeaveYearRecord:
    return {"name": year.name, "first_day": year.first_day, "last_day": year.last_day}


def balance(value: Balance) -> BalanceRecord:
    lapsing: LapsingRecord | None = None
    if value.lapsing_after is not None:
        lapsing = {
            "days": days_of(value.lapsing_half_days),
            "usable_until": value.lapsing_after,
        }
    return {
        "user_id": value.user_id,
        "on": value.on,
        "working_days": list(value.working_days),
        "leave_year": leave_year(value.year),
        "ledger": [_line(line) for line in value.lines],
        "entitled": days_of(value.entitled_half_days),
        "taken": days_of(value.taken_half_days),
        "pending": days_of(value.pending_half_days),
        "remaining": days_of(value.remaining_half_days),
        "lapsing": lapsing,
    }


def adjustment(value: Adjustment) -> AdjustmentRecord:
    return {
        "id": value.id,
        "user_id": value.user_id,
        "leave_year": value.leave_year,
        "days": days_of(value.half_days),
        "reason": value.reason,
        "created_by": value.created_by,
        "created_at": value.created_at,
    }


def _line(line: Line) -> LedgerLine:
    days = days_of(line.half_days)
    match line:
        case Line(source=str(source)):
            return {"type": "allowance", "days": days, "source": source}
        case Line(type="pro_rata", day=date() as day):
            return {"type": "pro_rata", "days": days, "start_date": day}
        case Line(type="allowance_change", day=date() as day):
            return {"type": "allowance_change", "days": days, "valid_from": day}
        case Line(type="employment_end", day=date() as day):
            return {"type": "employment_end", "days": days, "end_date": day}
        case Line(type="earlier_employment", day=date() as day):
            return {"type": "earlier_employment", "days": days, "end_date": day}
        case Line(type="earlier_employment_settled", day=date() as day):
            return {"type": "earlier_employment_settled", "days": days, "end_date": day}
        case Line(from_year=LeaveYear() as year):
            return {"type": "carry_over", "days": days, "from_leave_year": year.name}
        case Line(adjustment=Adjustment() as adjustment):
            return {
                "type": "adjustment",
                "days": days,
                "adjustment_id": adjustment.id,
                "reason": adjustment.reason,
                "created_by": adjustment.created_by,
                "created_at": adjustment.created_at,
            }
        case Line(leave=BookedLeave() as leave):
            return {
                "type": "leave",
                "days": days,
                "leave_request_id": leave.id,
                "leave_type_id": leave.leave_type_id,
                "status": "approved" if leave.status == "approved" else "pending",
                "start_date": leave.start_date,
                "end_date": leave.end_date,
            }
    assert line.day is not None
    return {"type": "carry_over_expired", "days": days, "usable_until": line.day}
