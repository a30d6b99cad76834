"""`/users/{id}/balance` and `/users/{id}/adjustments`: a person's balance and its adjustments."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from api.http.fields import NO_NUL, Body, Day, Listing, Paged, Query, Uuid, listing, whole
from api.http.operations import RequestContext, Result, Tag, created, operation
from storage.base import errors
from storage.base.amounts import adjustment_half_days_of
from storage.base.leave_values import Adjustment
from storage.base.values import About, Days, Id, days_of
from storage.db.database import Transaction
from storage.leave import adjustments, ledgers
from storage.leave.bookings import BookedLeave
from storage.leave.ledgers import Balance, Line
from storage.people.allowance_terms import AllowanceSource
from storage.rules.leave_years import LeaveYear
from storage.rules.year_balances import CreditBalance

BALANCES = Tag(
    "Balances",
    "What is left of a person's leave year, as a ledger whose lines add up: allowance, carry-over, "
    "adjustments, and pending or approved leave.",
    "leave",
)

_VISIBILITY = "For the person, their approvers, admins and owners."

SignedDays = Annotated[
    float, Field(description="Days, with at most two decimals; negative if deducted.")
]


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


class CreditLine(TypedDict):
    """Days for work outside of working time, as far as they were left when the year began."""

    type: Literal["credit"]
    days: SignedDays
    time_credit_id: Id
    worked_on: date
    usable_until: date | None


class CreditExpiredLine(TypedDict):
    """Days of a credit that expired unused."""

    type: Literal["credit_expired"]
    days: SignedDays
    time_credit_id: Id
    usable_until: date


class NotGrantedYetLine(TypedDict):
    """What is granted later in the leave year, or is needed by leave that is booked for later."""

    type: Literal["not_granted_yet"]
    days: SignedDays


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
    | ExpiredLine
    | CreditLine
    | CreditExpiredLine
    | NotGrantedYetLine,
    Field(discriminator="type"),
]


class LapsingRecord(TypedDict):
    """Days carried over that expire if they are not taken in time."""

    days: Days
    usable_until: date


class BalanceRecord(TypedDict):
    """The balance of one leave year of a person in an allowance, on a date."""

    user_id: Id
    allowance_id: Id
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


def leave_year(year: LeaveYear) -> LeaveYearRecord:
    return {"name": year.name, "first_day": year.first_day, "last_day": year.last_day}


def _balance_record(value: Balance) -> BalanceRecord:
    lapsing: LapsingRecord | None = None
    if value.lapsing_after is not None:
        lapsing = {
            "days": days_of(value.lapsing_half_days),
            "usable_until": value.lapsing_after,
        }
    return {
        "user_id": value.user_id,
        "allowance_id": value.allowance.id,
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
        case Line(type="credit", credit=CreditBalance() as credit):
            return {
                "type": "credit",
                "days": days,
                "time_credit_id": credit.credit.id,
                "worked_on": credit.credit.worked_on,
                "usable_until": credit.credit.until,
            }
        case Line(type="credit_expired", credit=CreditBalance() as credit, day=date() as day):
            return {
                "type": "credit_expired",
                "days": days,
                "time_credit_id": credit.credit.id,
                "usable_until": day,
            }
        case Line(type="not_granted_yet"):
            return {"type": "not_granted_yet", "days": days}
    assert line.day is not None
    return {"type": "carry_over_expired", "days": days, "usable_until": line.day}


class NewAdjustment(Body):
    days: Annotated[
        float,
        Field(
            description="Days to add, or to remove if negative, in half-day steps; not 0.",
            json_schema_extra={
                "minimum": -366,
                "maximum": 366,
                "multipleOf": 0.5,
                "not": {"const": 0},
            },
        ),
    ]
    reason: Annotated[
        str, Field(max_length=500, description="Shown in the ledger; not empty."), NO_NUL
    ]
    leave_year: Annotated[
        int,
        Field(description="The calendar year in which the leave year begins: 2026 for 2026/27."),
    ]
    allowance_id: Annotated[
        Uuid | None, Field(description="The allowance; by default, and with null, the default one.")
    ] = None


class OfOneDay(Query):
    on: Annotated[Day | None, Field(description="The date of the balance; by default today.")] = (
        None
    )


@operation(
    "GET",
    "/users/{id}/balance",
    tag=BALANCES,
    scope="leave:read",
    kind="user",
    refusals=(errors.InsufficientRole,),
    rules=("out_of_range",),
)
def get(tx: Transaction, context: RequestContext, query: OfOneDay) -> BalanceRecord:
    """Read a user's balance.

    For the person, their approvers, admins and owners. The leave year that `on` falls in, with a
    ledger whose lines add up to `remaining`. Future leave counts; pending and approved leave of
    types that deduct is subtracted, each day in its leave year. Days carried over from the year
    before are used first; unused ones expire as the allowance's terms say, and are part of
    `remaining` until then. Nothing is carried over from
    leave years before the person was added: enter earlier days as an adjustment.
    """
    return _balance_record(
        ledgers.balance(tx, context.id, on=query.on, by=context.caller, now=context.now)
    )


@operation(
    "GET",
    "/users/{id}/balances",
    tag=BALANCES,
    kind="user",
    refusals=(errors.InsufficientRole,),
    rules=("out_of_range",),
)
def list_all(tx: Transaction, context: RequestContext, query: OfOneDay) -> Listing[BalanceRecord]:
    """List a user's balances.

    For the person, their approvers, admins and owners. One for each allowance that holds anything
    for them, the default one first; not paged. Each as `/balance` shows that of the default one.
    """
    found = ledgers.balances(tx, context.id, on=query.on, by=context.caller, now=context.now)
    return whole([_balance_record(value) for value in found])


@operation(
    "GET",
    "/users/{id}/adjustments",
    tag=BALANCES,
    scope="leave:read",
    kind="user",
    refusals=(errors.InsufficientRole,),
)
def page_of_adjustments(
    tx: Transaction, context: RequestContext, query: Paged
) -> Listing[Adjustment]:
    """List a user's adjustments.

    For the person, their approvers, admins and owners. Of all leave years, newest first.
    """
    page = adjustments.page(tx, context.id, query.page, by=context.caller, now=context.now)
    return listing(page)


@operation(
    "GET",
    "/users/{id}/adjustments/{adjustment_id}",
    tag=BALANCES,
    scope="leave:read",
    kind="user",
    is_resource=True,
    refusals=(errors.InsufficientRole,),
)
def get_adjustment(tx: Transaction, context: RequestContext) -> Adjustment:
    """Read an adjustment.

    For the person, their approvers, admins and owners.
    """
    return adjustments.get(
        tx, context.id, context.ids["adjustment_id"], by=context.caller, now=context.now
    )


@operation(
    "POST",
    "/users/{id}/adjustments",
    tag=BALANCES,
    scope="users:write",
    role="admin",
    status=201,
    resource=get_adjustment,
    refusals=(adjustments.TooManyAdjustments,),
    rules=("control_character", "not_half_days", "out_of_range", "unknown_allowance"),
    example={"days": 1.5, "reason": "Worked on Saturday 6 June.", "leave_year": 2026},
)
def add_adjustment(
    tx: Transaction, context: RequestContext, body: NewAdjustment
) -> Result[Adjustment]:
    """Adjust a user's balance.

    Adds days to one leave year or removes them; the balance can become negative. An adjustment
    cannot be changed or deleted; correct it with another one of the opposite sign. It belongs to
    the leave year that begins in the calendar year `leave_year`, even if the organisation's leave
    year or the person's start date changes later.
    """
    adjustment = adjustments.add(
        tx,
        context.id,
        half_days=adjustment_half_days_of(body.days, "days"),
        reason=body.reason,
        leave_year=body.leave_year,
        allowance_id=body.allowance_id,
        by=context.caller,
        now=context.now,
    )
    path = f"/api/v1/users/{adjustment.user_id}/adjustments/{adjustment.id}"
    return created(path, adjustment)


OPERATIONS = (get, list_all, page_of_adjustments, add_adjustment, get_adjustment)
