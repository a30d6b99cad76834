"""Previews of leave, and the days of a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from typing import Annotated, Literal, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from api.http import errors
from api.http.errors import FieldErrorRecord
from api.routes.balances import LeaveYearRecord, leave_year
from storage.base import values
from storage.base.errors import DomainError, FieldError, InvalidInput
from storage.base.leave_values import HalfDay, LeaveRequestRecord, LeaveStatus
from storage.base.values import About, Days, Id, User, UserSummaryRecord, days_of
from storage.leave.previews import ExplainedRequest, Preview, YearChange
from storage.leave.request_steps import AutoApprovalReason
from storage.people.colleagues import ColleagueOff
from storage.rules.counted_days import DayLine
from storage.rules.free_days import Bridge


class YearChangeRecord(TypedDict):
    """The balance of a leave year that the request affects, on the last day of leave in it."""

    allowance_id: Annotated[
        Id,
        Field(
            description="The allowance that the leave draws on; the default one, which stays as it "
            "is, if it draws on none."
        ),
    ]
    leave_year: LeaveYearRecord
    before: Annotated[float, Field(description="Days left without this request.")]
    days: Annotated[Days, Field(description="The days of the request in this leave year.")]
    after: Annotated[
        float,
        Field(description="Days left with this request, including its effect on the carry-over."),
    ]


class ColleagueOffRecord(TypedDict):
    """A colleague's approved leave in the same half-days."""

    name: Annotated[str, About(example="Alan Turing")]
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None
    leave_type: Annotated[
        str,
        Field(description='The type\'s name; "Away" if it is private.', examples=["Annual leave"]),
    ]


class RefusalRecord(TypedDict):
    """A reason for which the request would be refused."""

    status: int
    code: Annotated[str, About(example="overlapping_leave")]
    title: Annotated[str, About(example="This overlaps with other leave.")]
    detail: Annotated[str, About(example="This overlaps with other leave.")]
    errors: NotRequired[list[FieldErrorRecord]]
    remaining_days: NotRequired[float]
    needed_days: NotRequired[float]
    leave_year: NotRequired[str]
    leave_request_id: NotRequired[Id]
    leave_status: NotRequired[LeaveStatus]
    day: NotRequired[str]
    absence_limit_id: NotRequired[Id]


WarningCode = Literal["absence_limit", "cover_away", "unusually_far_ahead"]


class WarningRecord(TypedDict):
    """Something to consider before the request is made."""

    code: Annotated[
        WarningCode,
        Field(
            description=(
                "`absence_limit`: too many people of a group would be away, or too few at work. "
                "`cover_away`: the cover is on approved leave, or does not work, on one of the "
                "days. `unusually_far_ahead`: the leave needs no approval and starts more than "
                "seven days from today; the form in Slack asks to confirm it."
            )
        ),
    ]
    pointer: Annotated[
        str,
        Field(description="A JSON pointer to the field of the body.", examples=["/cover_user_id"]),
    ]
    detail: Annotated[str, About(example="Grace Hopper is off on 2026-08-04.")]


class SavedLeaveRequestRecord(LeaveRequestRecord):
    """A leave request as it was created or changed."""

    warnings: Annotated[
        list[WarningRecord],
        Field(
            description="The absence limits that its new days exceed and that only warn.",
            examples=[[]],
        ),
    ]


class PreviewRecord(TypedDict):
    """A preview of a leave request."""

    status: Annotated[
        Literal["pending", "approved"] | None,
        Field(description="The status it would have; null if it would be refused."),
    ]
    effect: Annotated[
        Literal["at_once", "amendment"] | None,
        Field(
            description=(
                "What a change of approved leave does: it applies at once, or becomes an "
                "amendment that needs approval. Null for other requests, and if it changes "
                "nothing."
            )
        ),
    ]
    total_days: Days
    days: Annotated[list[DayLine], Field(description="Every date, first to last.")]
    balances: Annotated[
        list[YearChangeRecord], Field(description="Every leave year involved, oldest first.")
    ]
    approvers: Annotated[
        list[UserSummaryRecord], Field(description="The approvers who could decide.")
    ]
    approved_because: Annotated[
        AutoApprovalReason | None, Field(description="Why it would be approved immediately.")
    ]
    approvers_note: Annotated[
        str | None,
        Field(
            description=(
                "Approvers who come before these and cannot be asked yet: pending people "
                "without a known Slack account. Null if there are none."
            )
        ),
    ]
    colleagues_off: Annotated[
        list[ColleagueOffRecord],
        Field(description="The first ten colleagues of the team calendar, by first day."),
    ]
    colleagues_off_count: Annotated[
        int, Field(description="The number of colleagues who are off, up to 1,000.")
    ]
    colleagues_pending_count: Annotated[
        int,
        Field(
            description=(
                "The number of colleagues' pending requests for these days; their names are not "
                "shown."
            )
        ),
    ]
    refusals: Annotated[
        list[RefusalRecord],
        Field(
            description="Empty if it could be requested. The request itself would be "
            "refused with the first "
            "one.",
            examples=[[]],
        ),
    ]
    warnings: Annotated[
        list[WarningRecord], Field(description="Reasons to reconsider; they prevent nothing.")
    ]
    bridge_day: Annotated[
        Bridge | None,
        Field(
            description=(
                "The working day worth adding, between the leave and a public holiday or more days "
                "off. Null if there is none, and for leave that is not taken from the allowance."
            )
        ),
    ]


class DaysRecord(TypedDict):
    """How the days of a leave request were counted."""

    leave_request_id: Id
    total_days: Days
    days: Annotated[list[DayLine], Field(description="Every date, first to last.")]


def preview(value: Preview) -> PreviewRecord:
    status: Literal["pending", "approved"] | None = None
    if not value.refusals:
        is_approved = value.replaced is not None and value.replaced.status == "approved"
        is_approved = is_approved or value.approved_because is not None
        status = "approved" if is_approved else "pending"
    return {
        "status": status,
        "effect": value.effect,
        "total_days": days_of(value.total_half_days),
        "days": value.lines,
        "balances": [_year(change) for change in value.years],
        "approvers": [values.user_summary(user) for user in value.approvers],
        "approved_because": value.approved_because,
        "approvers_note": _note(value.unreachable),
        "colleagues_off": [_colleague(colleague) for colleague in value.colleagues],
        "colleagues_off_count": value.colleagues_count,
        "colleagues_pending_count": value.pending_colleagues_count,
        "refusals": [_refusal(refusal) for refusal in value.refusals],
        "warnings": [_warning(warning) for warning in value.warnings],
        "bridge_day": value.bridge,
    }


def explained(value: ExplainedRequest) -> DaysRecord:
    return {
        "leave_request_id": value.request.id,
        "total_days": days_of(value.request.total_half_days),
        "days": value.lines,
    }


def _note(unreachable: Sequence[User]) -> str | None:
    if not unreachable:
        return None
    names = ", ".join(user.name or user.email for user in unreachable)
    return (
        "Skipped, because they have not used Hiatus yet and no Slack account with their confirmed "
        f"e-mail address is known: {names}."
    )


def _year(change: YearChange) -> YearChangeRecord:
    return {
        "allowance_id": change.allowance_id,
        "leave_year": leave_year(change.year),
        "before": days_of(change.before_half_days),
        "days": days_of(change.half_days),
        "after": days_of(change.after_half_days),
    }


def _colleague(colleague: ColleagueOff) -> ColleagueOffRecord:
    return {
        "name": colleague.name,
        "start_date": colleague.start_date,
        "end_date": colleague.end_date,
        "start_half_day": colleague.start_half_day,
        "end_half_day": colleague.end_half_day,
        "leave_type": colleague.type_name or "Away",
    }


def saved(request: LeaveRequestRecord, warnings: Sequence[FieldError]) -> SavedLeaveRequestRecord:
    return {**request, "warnings": [_warning(warning) for warning in warnings]}


def _warning(warning: FieldError) -> WarningRecord:
    record = {"code": warning.code, "pointer": warning.pointer, "detail": warning.detail}
    return cast(WarningRecord, record)


def _refusal(refusal: DomainError) -> RefusalRecord:
    record = {
        "status": errors.status_of(type(refusal)),
        "code": refusal.code,
        "title": refusal.title,
        "detail": refusal.detail,
        **errors.extension_members(refusal),
    }
    if isinstance(refusal, InvalidInput):
        # MCP checks these values against their types; only orjson takes dataclasses for objects.
        record["errors"] = [asdict(each) for each in refusal.errors]
    return cast(RefusalRecord, record)
