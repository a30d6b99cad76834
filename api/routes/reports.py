"""`/reports`: rows of many people for payroll and people teams, as JSON or CSV."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Final

from pydantic import Field
from typing_extensions import TypedDict

from api.http.fields import Day, LastDay, Query
from api.http.operations import RequestContext, Streamed, Tag, operation
from storage.base import errors
from storage.db.database import Transaction
from storage.reports import balances as balance_report
from storage.reports import expiring as expiring_report
from storage.reports import formats
from storage.reports import leave as leave_report
from storage.reports.balances import BalanceReportRow
from storage.reports.expiring import ExpiringReportRow
from storage.reports.formats import Format
from storage.reports.leave import LeaveReportRow
from storage.reports.reports import Run

REPORTS = Tag(
    "Reports",
    "Rows of many people for payroll and people teams, as JSON or as CSV for spreadsheets. Admins "
    "and owners read everyone's; approvers those of the people whose leave they decide on.",
    "leave",
)
_CONTENT_TYPES: Final[dict[Format, bytes]] = {
    "json": b"application/json",
    "csv": b"text/csv; charset=utf-8",
}

ReportFormat = Annotated[
    Format,
    Field(
        description="`csv` is UTF-8 with a byte order mark, commas and CRLF. Texts that a "
        "spreadsheet would run as a formula begin with an apostrophe there."
    ),
]


class LeavePeriod(Query):
    first_day: Annotated[
        Day | None,
        Field(
            alias="from",
            description="The first day. Without `from` and `to`, last month; without one of them, "
            "the month of the other.",
        ),
    ] = None
    last_day: Annotated[
        LastDay, Field(alias="to", description="The last day, at most 366 days from the first.")
    ] = None
    format: ReportFormat = "json"


class OnDay(Query):
    on: Annotated[Day | None, Field(description="By default, today.")] = None
    format: ReportFormat = "json"


LeaveReport = TypedDict("LeaveReport", {"from": date, "to": date, "data": list[LeaveReportRow]})
LeaveReport.__doc__ = "Days of approved leave in a period."


class BalanceReport(TypedDict):
    """What people have left on a day."""

    on: date
    data: list[BalanceReportRow]


class ExpiringReport(TypedDict):
    """Days that lapse on a day or later."""

    on: date
    data: list[ExpiringReportRow]


@operation(
    "GET",
    "/reports/leave",
    tag=REPORTS,
    refusals=(errors.InsufficientRole,),
    rules=("to_before_from", "too_long"),
    csv_example="employee_number,last_name,first_name,department,leave_type,leave_type_code,is_paid,"
    "is_away,days,user_id\r\n10042,Lovelace,Ada,Sales,Annual leave,annual,true,true,2.5,"
    "019e8269-4e80-7e8f-9eff-078e9174496d\r\n",
)
def leave(tx: Transaction, context: RequestContext, query: LeavePeriod) -> Streamed[LeaveReport]:
    """Report days of leave.

    One row for each person and leave type with approved leave in the period, with the days that
    lie in it. People who have left are in it, pending and cancelled leave is not. `is_paid` and
    `is_away` are the leave type's settings of today. The rows are in the order in which people were
    added.
    """
    run = leave_report.start(
        tx, query.first_day, query.last_day, by=context.caller, now=context.now
    )
    return _streamed(tx, run, query.format)


@operation(
    "GET",
    "/reports/balances",
    tag=REPORTS,
    refusals=(errors.InsufficientRole,),
    rules=("out_of_range",),
    csv_example="employee_number,last_name,first_name,department,allowance,allowance_code,"
    "year_start,year_end,entitled,carried,expired,taken,booked,pending,left,user_id\r\n"
    "10042,Lovelace,Ada,Sales,Annual leave,annual,2027-01-01,2027-12-31,25,3,1,10,5,0,12,"
    "019e8269-4e80-7e8f-9eff-078e9174496d\r\n",
)
def balances(tx: Transaction, context: RequestContext, query: OnDay) -> Streamed[BalanceReport]:
    """Report balances.

    One row for each allowance of the people who are employed in the leave year of the day: the
    default one, and others that hold anything. `left` is `remaining` of
    `GET /users/{id}/balances` on that day. People who have left are in it for the leave year of
    their last day. The rows are in the order in which people were added.
    """
    run = balance_report.start(tx, query.on, by=context.caller, now=context.now)
    return _streamed(tx, run, query.format)


@operation(
    "GET",
    "/reports/expiring",
    tag=REPORTS,
    refusals=(errors.InsufficientRole,),
    rules=("out_of_range",),
    csv_example="employee_number,last_name,first_name,department,allowance,allowance_code,"
    "reason,days,lapses_on,told_at,acknowledged_at,user_id\r\n"
    "10042,Lovelace,Ada,Sales,Annual leave,annual,year_end,1,2027-12-31,2027-10-01T08:00:12Z,"
    "2027-10-01T08:05:40Z,019e8269-4e80-7e8f-9eff-078e9174496d\r\n",
)
def expiring(tx: Transaction, context: RequestContext, query: OnDay) -> Streamed[ExpiringReport]:
    """Report days that lapse.

    One row for each day on which a person loses days of an allowance, in the leave year of `on` and
    as it is on that day: days carried over, time in lieu, and at the end of the leave year what
    cannot be carried over. Pending and approved leave before the day counts as taken. With when the
    person was told in Slack, and when they clicked "Got it". People who lose nothing are not in it.
    """
    run = expiring_report.start(tx, query.on, by=context.caller, now=context.now)
    return _streamed(tx, run, query.format)


def _streamed(tx: Transaction, run: Run[Any], format: Format) -> Streamed[Any]:
    disposition = f'attachment; filename="{run.file_name}.{format}"'
    return Streamed(
        first=formats.read(tx, run, format),
        headers=[
            (b"content-type", _CONTENT_TYPES[format]),
            (b"content-disposition", disposition.encode("ascii")),
        ],
    )


OPERATIONS = (leave, balances, expiring)
