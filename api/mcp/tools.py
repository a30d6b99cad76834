"""What each tool reads, as values with their schemas. One function for each, in a transaction.

Each calls the use case that REST and Slack call, so everyone sees what they see there: private
types of others are "Away". Notes and reasons are left out: other people wrote them, and a model
might take them for instructions.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Annotated, Final, Literal

from pydantic import Field
from typing_extensions import TypedDict

from api.routes import preview_records
from api.routes.balances import LeaveYearRecord, leave_year
from api.routes.preview_records import ColleagueOffRecord, RefusalRecord, WarningRecord
from storage.base.calendar_values import Absence, FeedScope
from storage.base.errors import InvalidInput
from storage.base.leave_values import HalfDay, LeaveRequest
from storage.base.values import Caller, User, days_of, local_day
from storage.calendars import absences
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.leave import leave_lists, leave_types, ledgers, previews
from storage.leave.drafts import Draft
from storage.leave.ledgers import Balance
from storage.leave.previews import Preview, YearChange
from storage.outbox import organisation_config
from storage.people import people_lists, people_rows

MAX_LISTED: Final = 50
MAX_PEOPLE: Final = 20
# The period of one question about absences.
MAX_DAYS: Final = 92

Days = Annotated[float, Field(description="Working days, in steps of 0.5; not calendar days.")]
FirstDay = Annotated[date, Field(description="The first day of leave.")]
LastDay = Annotated[date, Field(description="The last day of leave, included.")]
# The same halves as in REST.
Half = Annotated[HalfDay | None, Field(description="`am` or `pm`; null for the whole day.")]
HasMore = Annotated[bool, Field(description="Whether more were left out; narrow the question.")]


class BalanceFigures(TypedDict):
    """What is left of one leave year in one allowance."""

    allowance: Annotated[str, Field(description="The allowance's name.")]
    leave_year: LeaveYearRecord
    entitled_days: Days
    taken_days: Annotated[float, Field(description="Approved leave, past and future, in days.")]
    pending_days: Annotated[float, Field(description="Leave that awaits a decision, in days.")]
    remaining_days: Annotated[float, Field(description="What is left, in days; negative if over.")]
    lapsing_days: Annotated[
        float | None, Field(description="The part of it that lapses in this leave year, in days.")
    ]
    lapsing_after: Annotated[date | None, Field(description="The last day on which it counts.")]


class LeaveTypeName(TypedDict):
    """A leave type that can be asked for."""

    code: Annotated[str, Field(description="The `leave_type` of other tools.")]
    name: str


class MyBalance(TypedDict):
    """A person's balances."""

    person: str
    on: Annotated[date, Field(description="The day of the figures.")]
    balances: list[BalanceFigures]
    leave_types: list[LeaveTypeName]


class PersonAway(TypedDict):
    """One absence, as the asking person may see it."""

    person: str
    leave_type: Annotated[str, Field(description='The type\'s name; "Away" if it is private.')]
    start_date: FirstDay
    end_date: LastDay
    start_half_day: Annotated[Half, Field(description="`pm`: from midday on the first day.")]
    end_half_day: Annotated[Half, Field(description="`am`: until midday on the last day.")]


class WhoIsOut(TypedDict):
    """Approved absences between two days, both included."""

    first_day: date
    last_day: date
    scope: Literal["team", "everyone"]
    absences: Annotated[list[PersonAway], Field(description="By first day.")]
    working_elsewhere: Annotated[
        list[PersonAway],
        Field(description="People at work elsewhere, such as at home; at most 10."),
    ]
    has_more: HasMore


class BalanceChange(TypedDict):
    """What the leave does to one leave year."""

    leave_year: LeaveYearRecord
    before_days: Annotated[float, Field(description="Days left without this leave.")]
    after_days: Annotated[float, Field(description="Days left with this leave.")]


class DayOff(TypedDict):
    """A date between first and last day that does not count as a whole day."""

    date: date
    days: Annotated[float, Field(description="What it counts: 0 or 0.5 days.")]
    reason: Annotated[str, Field(description="Such as `not_worked` or `public_holiday`.")]
    holiday: str | None


class LeavePreview(TypedDict):
    """What would happen if the person requested this leave. Nothing is stored."""

    status: Annotated[
        Literal["pending", "approved"] | None,
        Field(description="The status it would have; null if it would be refused."),
    ]
    leave_type: str | None
    start_date: FirstDay
    end_date: LastDay
    total_days: Days
    not_whole_days: list[DayOff]
    balances: list[BalanceChange]
    approvers: Annotated[list[str], Field(description="The names of those who could decide.")]
    colleagues_off: Annotated[
        list[ColleagueOffRecord], Field(description="Colleagues off in these days, at most ten.")
    ]
    colleagues_off_count: int
    refusals: Annotated[list[RefusalRecord], Field(description="Why it would be refused.")]
    warnings: Annotated[list[WarningRecord], Field(description="These prevent nothing.")]


class PendingApproval(TypedDict):
    """A request that awaits the person's decision in Slack or through the API."""

    leave_request_id: str
    kind: Annotated[
        Literal["request", "amendment"],
        Field(description="Leave that is asked for, or a change of approved leave."),
    ]
    person: str
    leave_type: str
    start_date: Annotated[date, Field(description="The first day; of a change, the present one.")]
    end_date: Annotated[date, Field(description="The last day; of a change, the present one.")]
    total_days: Days
    requested_at: datetime


class PendingApprovals(TypedDict):
    """What awaits a decision of the person, oldest request first."""

    requests: list[PendingApproval]
    has_more: HasMore


class PersonFound(TypedDict):
    """An active person of the organisation."""

    name: str
    email: str
    job_title: str | None
    department: str | None
    user_id: str


class PeopleFound(TypedDict):
    """People whose name or address matches, by name."""

    people: list[PersonFound]
    has_more: HasMore


def my_balance(tx: Transaction, *, by: Caller, now: datetime, on: date | None) -> MyBalance:
    """Raises InvalidInput for a day that is too far away."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    user = people_rows.get(tx, str(by.user_id), by=by)
    on = on or local_day(now, user.timezone or config.organisation.timezone)
    found = ledgers.balances(tx, user.id, on=on, by=by, now=now)
    types = [each for each in config.leave_types.values() if not each.is_archived]
    return {
        "person": user.name,
        "on": on,
        "balances": [_figures(balance) for balance in found],
        "leave_types": [{"code": each.code, "name": each.name} for each in types[:MAX_LISTED]],
    }


def _figures(balance: Balance) -> BalanceFigures:
    is_lapsing = balance.lapsing_after is not None
    return {
        "allowance": balance.allowance.name,
        "leave_year": leave_year(balance.year),
        "entitled_days": days_of(balance.entitled_half_days),
        "taken_days": days_of(balance.taken_half_days),
        "pending_days": days_of(balance.pending_half_days),
        "remaining_days": days_of(balance.remaining_half_days),
        "lapsing_days": days_of(balance.lapsing_half_days) if is_lapsing else None,
        "lapsing_after": balance.lapsing_after,
    }


def who_is_out(
    tx: Transaction,
    *,
    by: Caller,
    now: datetime,
    first_day: date | None,
    last_day: date | None,
    scope: Literal["team", "everyone"],
) -> WhoIsOut:
    """Raises InvalidInput ``to_before_from`` and ``out_of_range``."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    user = people_rows.get(tx, str(by.user_id), by=by)
    first_day = first_day or local_day(now, user.timezone or config.organisation.timezone)
    last_day = last_day or first_day
    if last_day < first_day:
        raise InvalidInput.of("last_day", "to_before_from", "last_day is before first_day.")
    if last_day - first_day >= timedelta(days=MAX_DAYS):
        raise InvalidInput.of(
            "last_day", "out_of_range", "Ask for at most {most} days at once.", most=MAX_DAYS
        )
    feed_scope: FeedScope = "team" if scope == "team" else "org"
    page = absences.away(
        tx,
        PageOf(limit=MAX_LISTED),
        user,
        config.organisation,
        feed_scope,
        config.leave_types,
        first_day=first_day,
        last_day=last_day,
    )
    elsewhere = absences.elsewhere(
        tx,
        user,
        config.organisation,
        feed_scope,
        config.leave_types,
        first_day=first_day,
        last_day=last_day,
    )
    return {
        "first_day": first_day,
        "last_day": last_day,
        "scope": scope,
        "absences": [_away(absence) for absence in page.items],
        "working_elsewhere": [_away(each) for each in elsewhere[: absences.MAX_ELSEWHERE]],
        "has_more": page.next_cursor is not None,
    }


def _away(absence: Absence) -> PersonAway:
    return {
        "person": absence.person_name,
        "leave_type": absence.summary_type or "Away",
        "start_date": absence.start_date,
        "end_date": absence.end_date,
        "start_half_day": absence.start_half_day,
        "end_half_day": absence.end_half_day,
    }


def draft_of(
    tx: Transaction,
    leave_type: str,
    days: tuple[date, date, HalfDay | None, HalfDay | None],
    note: str | None,
    *,
    by: Caller,
) -> Draft:
    """``days``: first, last, and the halves in which they begin and end.

    Raises InvalidInput ``unknown_leave_type``.
    """
    config = organisation_config.of_organisation(tx, by.organisation_id)
    start_date, end_date, start_half_day, end_half_day = days
    return Draft(
        leave_type_id=leave_types.by_word(config, leave_type).id,
        start_date=start_date,
        end_date=end_date,
        start_half_day=start_half_day,
        end_half_day=end_half_day,
        note=note,
    )


def preview_leave(tx: Transaction, draft: Draft, *, by: Caller, now: datetime) -> LeavePreview:
    found = previews.preview(tx, by=by, draft=draft, now=now)
    record = preview_records.preview(found)
    return {
        "status": record["status"],
        "leave_type": None if found.leave_type is None else found.leave_type.name,
        "start_date": draft.start_date,
        "end_date": draft.end_date,
        "total_days": record["total_days"],
        "not_whole_days": _not_whole(found),
        "balances": [_change(change) for change in found.years],
        "approvers": [user.name for user in found.approvers[:MAX_PEOPLE]],
        "colleagues_off": record["colleagues_off"],
        "colleagues_off_count": record["colleagues_off_count"],
        "refusals": record["refusals"],
        "warnings": record["warnings"],
    }


def _not_whole(found: Preview) -> list[DayOff]:
    return [
        {
            "date": line.date,
            "days": days_of(line.half_days),
            "reason": line.reason,
            "holiday": line.holiday_name,
        }
        for line in found.lines
        if line.reason is not None
    ]


def _change(change: YearChange) -> BalanceChange:
    return {
        "leave_year": leave_year(change.year),
        "before_days": days_of(change.before_half_days),
        "after_days": days_of(change.after_half_days),
    }


def pending_approvals(tx: Transaction, *, by: Caller, now: datetime) -> PendingApprovals:
    page = leave_lists.assigned(tx, PageOf(limit=MAX_LISTED), by=by, now=now)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    people = people_rows.names(tx, by.organisation_id, {each.user_id for each in page.items})

    def shown(request: LeaveRequest) -> PendingApproval:
        return {
            "leave_request_id": request.id,
            "kind": "request" if request.status == "pending" else "amendment",
            "person": people[request.user_id],
            "leave_type": config.leave_types[request.leave_type_id].name,
            "start_date": request.start_date,
            "end_date": request.end_date,
            "total_days": days_of(request.total_half_days),
            "requested_at": request.created_at,
        }

    return {
        "requests": [shown(request) for request in page.items],
        "has_more": page.next_cursor is not None,
    }


def find_people(tx: Transaction, words: str, *, by: Caller) -> PeopleFound:
    departments = organisation_config.of_organisation(tx, by.organisation_id).departments

    def shown(user: User) -> PersonFound:
        department = departments.get(user.department_id or "")
        return {
            "name": user.name,
            "email": user.email,
            "job_title": user.job_title,
            "department": None if department is None else department.name,
            "user_id": user.id,
        }

    found = people_lists.reachable(tx, words, by=by)
    return {
        "people": [shown(user) for user in found[:MAX_PEOPLE]],
        "has_more": len(found) > MAX_PEOPLE,
    }
