"""What a preview of leave and the days of a request look like."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from api.http import errors
from api.http.errors import FieldErrorRecord
from api.schemas.balance_answers import LeaveYearRecord, leave_year
from storage.base import records
from storage.base.errors import Refusal
from storage.base.records import Days, Id, UserSummaryRecord
from storage.base.values import HalfDay, LeaveStatus, User
from storage.directory.colleagues import ColleagueOff
from storage.leave.leave_requests import WhyUnasked
from storage.leave.previews import ExplainedRequest, Preview, YearChange
from storage.rules.day_lines import DayLine, HalfCount, LineReason


class DayLineRecord(TypedDict):
    """One date, explained half by half."""

    date: date
    days: Annotated[float, Field(description="What it counts: 0, 0.5 or 1.")]
    am: Annotated[
        HalfCount,
        Field(
            description=(
                "`not_counted`: it would count today, and did not when the request was counted."
            )
        ),
    ]
    pm: HalfCount
    reason: Annotated[
        LineReason | None,
        Field(
            description=(
                "Why it counts less than a whole day: `not_worked` (a weekend or another day off), "
                "`half_worked` (only one of the asked halves is worked), `public_holiday`, "
                "`not_asked` (outside the asked halves), `changed_since` (working days or "
                "holidays have changed since it was counted). Null for a whole day."
            )
        ),
    ]
    holiday: Annotated[str | None, Field(description="The public holiday on this date.")]
    has_changed: Annotated[bool, Field(description="It would count otherwise today.")]


class YearChangeRecord(TypedDict):
    """A leave year that the leave touches, as of the leave's last day in it."""

    leave_year: LeaveYearRecord
    before: Annotated[float, Field(description="Days left as things stand.")]
    days: Annotated[Days, Field(description="What the leave takes of this leave year.")]
    after: Annotated[
        float,
        Field(description="Days left then; it also reflects what is carried over less."),
    ]


class ColleagueOffRecord(TypedDict):
    """Approved leave of a colleague in the same halves."""

    name: str
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None
    leave_type: Annotated[str, Field(description='The type\'s name; "Away" where it is private.')]


class RefusalRecord(TypedDict):
    """What asking for this leave would be refused with."""

    status: int
    code: str
    title: str
    detail: str
    errors: NotRequired[list[FieldErrorRecord]]
    remaining_days: NotRequired[float]
    needed_days: NotRequired[float]
    leave_year: NotRequired[str]
    leave_request_id: NotRequired[Id]
    leave_status: NotRequired[LeaveStatus]


class PreviewRecord(TypedDict):
    """What would come of asking for leave."""

    status: Annotated[
        Literal["pending", "approved"] | None,
        Field(description="The status it would have; null where it would be refused."),
    ]
    total_days: Days
    days: Annotated[list[DayLineRecord], Field(description="Every date, first to last.")]
    balances: Annotated[
        list[YearChangeRecord], Field(description="Every leave year touched, oldest first.")
    ]
    approvers: Annotated[
        list[UserSummaryRecord], Field(description="Whose decision it would await.")
    ]
    approved_because: Annotated[
        WhyUnasked | None, Field(description="Why it would be approved at once.")
    ]
    approvers_note: Annotated[
        str | None,
        Field(
            description=(
                "Who would be asked before these approvers and cannot be yet: pending people "
                "without a known Slack account. Null where there are none."
            )
        ),
    ]
    colleagues_off: Annotated[
        list[ColleagueOffRecord],
        Field(description="Of the team calendar's people, by first day; the first ten."),
    ]
    colleagues_off_count: Annotated[int, Field(description="How many there are, up to 1,000.")]
    colleagues_pending_count: Annotated[
        int,
        Field(
            description=(
                "How many more requests of theirs for these days await a decision; their names "
                "are not shown."
            )
        ),
    ]
    refusals: Annotated[
        list[RefusalRecord],
        Field(description="Empty when it could be asked for; asking answers with the first."),
    ]


class DaysRecord(TypedDict):
    """How a leave request came to its days."""

    leave_request_id: Id
    total_days: Days
    days: Annotated[list[DayLineRecord], Field(description="Every date, first to last.")]


def preview(found: Preview) -> PreviewRecord:
    status: Literal["pending", "approved"] | None = None
    if not found.refusals:
        status = "pending" if found.approved_because is None else "approved"
    return {
        "status": status,
        "total_days": records.days(found.total_half_days),
        "days": [_day(line) for line in found.lines],
        "balances": [_year(change) for change in found.years],
        "approvers": [records.user_summary(user) for user in found.approvers],
        "approved_because": found.approved_because,
        "approvers_note": _note(found.unreachable),
        "colleagues_off": [_colleague(one) for one in found.colleagues],
        "colleagues_off_count": found.colleagues_count,
        "colleagues_pending_count": found.pending_colleagues_count,
        "refusals": [_refusal(one) for one in found.refusals],
    }


def explained(found: ExplainedRequest) -> DaysRecord:
    return {
        "leave_request_id": found.request.id,
        "total_days": records.days(found.request.total_half_days),
        "days": [_day(line) for line in found.lines],
    }


def _note(unreachable: Sequence[User]) -> str | None:
    if not unreachable:
        return None
    names = ", ".join(user.name or user.email for user in unreachable)
    return (
        "Skipped, because they have not used Hiatus yet and no Slack account with their confirmed "
        f"e-mail address is known: {names}."
    )


def _day(line: DayLine) -> DayLineRecord:
    return {
        "date": line.date,
        "days": records.days(line.half_days),
        "am": line.am,
        "pm": line.pm,
        "reason": line.reason,
        "holiday": line.holiday_name,
        "has_changed": line.has_changed,
    }


def _year(change: YearChange) -> YearChangeRecord:
    return {
        "leave_year": leave_year(change.year),
        "before": records.days(change.before_half_days),
        "days": records.days(change.half_days),
        "after": records.days(change.after_half_days),
    }


def _colleague(one: ColleagueOff) -> ColleagueOffRecord:
    return {
        "name": one.name,
        "start_date": one.start_date,
        "end_date": one.end_date,
        "start_half_day": one.start_half_day,
        "end_half_day": one.end_half_day,
        "leave_type": one.type_name or "Away",
    }


def _refusal(refusal: Refusal) -> Any:
    return {
        "status": errors.status_of(type(refusal)),
        "code": refusal.code,
        "title": refusal.title,
        "detail": refusal.detail,
        **errors.members(refusal),
    }
