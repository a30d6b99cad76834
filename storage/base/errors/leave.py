"""Refusals that concern leave requests."""

from __future__ import annotations

from datetime import date

from storage.base.allowance_values import Amount
from storage.base.errors.general import Conflict, DomainError, Forbidden
from storage.base.errors.sentences import HalfDays, Sentence, ShortDay
from storage.base.leave_values import LeaveStatus
from storage.base.values import days_of


class OwnRequest(Forbidden):
    """No one can approve or decline their own leave, in any role."""

    code = "own_request"
    title = "You cannot decide on your own request."
    cure = "Let another approver decide. Cancelling your own request is always possible."
    sentence = Sentence("You cannot decide on your own leave request. Another approver has to.")


class RecordingNotAllowed(Forbidden):
    """You do not decide on the leave of the person in `user_id`; only admins and owners record
    leave for everyone.
    """

    code = "recording_not_allowed"
    title = "You cannot record leave for this person."
    cure = "Ask one of the person's approvers, an admin or an owner."
    field = "user_id"
    members = ("errors",)
    sentence = Sentence("Only admins, owners and the person's approvers can record their leave.")


class LeaveTypeNotRecordable(Forbidden):
    """Approvers record only leave types with `approvers_may_record` for others, and no leave that
    needs a second approval.
    """

    code = "leave_type_not_recordable"
    title = "Approvers cannot record this leave type."
    cure = "Ask an admin or owner to record it, or the person to request it."
    example = ("Annual leave",)
    field = "leave_type_id"
    members = ("errors",)

    def __init__(self, leave_type: str) -> None:
        super().__init__(
            "Only admins and owners can record {leave_type} for others.", leave_type=leave_type
        )


class OverrideNotAllowed(Forbidden):
    """Only admins and owners can send `override_reason`."""

    code = "override_not_allowed"
    title = "You cannot override the rules of leave."
    cure = "Leave it out, or ask an admin or owner to record the leave."
    field = "override_reason"
    members = ("errors",)
    sentence = Sentence("Only admins and owners can override the allowance and a type's rules.")


class InvalidTransition(Conflict):
    """This action is not possible in the leave request's current status, which `leave_status`
    names. Declined and cancelled leave cannot be changed.
    """

    code = "invalid_transition"
    title = "The leave request's status does not allow this."
    cure = "Read the request again. For leave on other dates, create a new request."
    example = (
        "approved",
        "cancelled",
    )
    members = ("leave_status",)
    leave_status: LeaveStatus

    def __init__(
        self, action: str, status: LeaveStatus, decided_by_name: str | None = None
    ) -> None:
        super().__init__(
            "The request is {status}, so it cannot be {action}.", status=status, action=action
        )
        self.action = action
        self.leave_status = status
        self.decided_by_name = decided_by_name


class AlreadyObjected(Conflict):
    """In Slack: an objection to leave that was recorded for you is sent once."""

    code = "already_objected"
    title = "You have already objected to this leave."
    cure = "Talk to the person who recorded it, or cancel the leave."
    sentence = Sentence("You have already objected. Your objection was sent.")


class AmendmentEnded(Conflict):
    """In Slack: the change of approved leave whose buttons were used was decided, withdrawn or
    replaced, or the leave was changed or cancelled.
    """

    code = "amendment_ended"
    title = "This change no longer awaits a decision."
    cure = "Decide on the change that the newest message shows."
    example = ("replaced",)

    def __init__(self, status: str) -> None:
        super().__init__("The amendment is {status}.", status=status)
        self.status = status


class OverlappingLeave(Conflict):
    """The person already has pending or approved leave in one of these half-days;
    `leave_request_id` is that request.
    """

    code = "overlapping_leave"
    title = "This overlaps with other leave."
    cure = "Choose other dates or halves, or edit or cancel the other request first."
    example = (
        "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11",
        date(2026, 8, 3),
        date(2026, 8, 7),
    )
    members = ("leave_request_id",)
    leave_request_id: str

    def __init__(
        self,
        other_id: str,
        start_date: date,
        end_date: date,
        *,
        begins_at_midday: bool = False,
        ends_at_midday: bool = False,
    ) -> None:
        first = f"{start_date} (afternoon)" if begins_at_midday else str(start_date)
        last = f"{end_date} (morning)" if ends_at_midday else str(end_date)
        if start_date == end_date:
            dates = last if ends_at_midday else first
        else:
            dates = f"{first} to {last}"
        super().__init__(
            "This overlaps with leave request {other_id} ({other_dates}).",
            other_id=other_id,
            other_dates=dates,
        )
        self.leave_request_id = other_id
        self.start_date = start_date
        self.end_date = end_date
        self.begins_at_midday = begins_at_midday
        self.ends_at_midday = ends_at_midday


class InsufficientAllowance(DomainError):
    """One of the leave years that the request touches has too few days left; `leave_year`,
    `remaining_days` and `needed_days` say which and by how much. Days that later leave needs are
    not left.
    """

    code = "insufficient_allowance"
    title = "Not enough leave is left."
    cure = (
        "Request fewer days, use a leave type that may be overdrawn, or ask an admin to adjust the "
        "allowance."
    )
    example = (
        5,
        9,
        "2026",
    )
    members = ("remaining_days", "needed_days", "leave_year")
    remaining_days: float
    needed_days: float
    leave_year: str

    def __init__(
        self,
        remaining_half_days: Amount,
        needed_half_days: Amount,
        leave_year: str,
        *,
        allowance_name: str | None = None,
        later_leave: tuple[date, date] | None = None,
    ) -> None:
        because = ""
        if later_leave is not None:
            because = f" The leave from {later_leave[0]} to {later_leave[1]} needs the rest."
        super().__init__(
            "{remaining}{of_allowance} left in the leave year {leave_year}. This request needs "
            "{needed}.{because}",
            leave_year=leave_year,
            remaining=HalfDays(remaining_half_days),
            of_allowance="" if allowance_name is None else f" of {allowance_name}",
            needed=HalfDays(needed_half_days),
            because=because,
        )
        self.allowance_name = allowance_name
        self.later_leave = later_leave
        self.remaining_half_days = remaining_half_days
        self.needed_half_days = needed_half_days
        self.remaining_days = days_of(remaining_half_days)
        self.needed_days = days_of(needed_half_days)
        self.leave_year = leave_year


class ClosureLeave(Conflict):
    """A closure booked this leave (`closure_id`). It changes with the closure; only admins and
    owners can cancel it for one person, who has to work then.
    """

    code = "closure_leave"
    title = "This leave is part of a closure."
    cure = "Change the closure, or ask an admin to cancel this leave."
    sentence = Sentence("The company is closed then, so this leave cannot be changed.")


class AbsenceLimitExceeded(DomainError):
    """Too many people of a group would be away, or too few at work; `day` is the first such day,
    `absence_limit_id` the limit.
    """

    code = "absence_limit"
    title = "Too many people would be away."
    cure = "Choose other days, or ask an admin or owner to record the leave with `override_reason`."
    example = (
        "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11",
        date(2026, 12, 18),
        Sentence(
            "{day}: {count} of {people} away (limit {limit})",
            day=ShortDay(day=date(2026, 12, 18)),
            count=3,
            people=4,
            limit=2,
        ),
    )
    members = ("day", "absence_limit_id")
    day: str
    absence_limit_id: str

    def __init__(self, limit_id: str, first_day: date, sentence: Sentence) -> None:
        super().__init__(sentence)
        self.day = first_day.isoformat()
        self.absence_limit_id = limit_id


class DaysNoLongerFit(Conflict):
    """The days of a cancelled interruption would go back to leave that uses the allowance, but they
    have been used otherwise since; `leave_year`, `remaining_days` and `needed_days` say which
    and by how much.
    """

    code = "days_no_longer_fit"
    title = "The days no longer fit into the allowance."
    cure = (
        "Cancel or shorten other leave of that year first, or ask an admin to adjust the allowance."
    )
    example = (InsufficientAllowance(2, 4, "2026"),)
    members = ("remaining_days", "needed_days", "leave_year")
    remaining_days: float
    needed_days: float
    leave_year: str

    def __init__(self, refusal: InsufficientAllowance) -> None:
        super().__init__(
            "Only {remaining} left in the leave year {leave_year}. The days that go back to the "
            "leave need {needed}.",
            leave_year=refusal.leave_year,
            remaining=HalfDays(refusal.remaining_half_days),
            needed=HalfDays(refusal.needed_half_days),
        )
        self.remaining_half_days = refusal.remaining_half_days
        self.needed_half_days = refusal.needed_half_days
        self.remaining_days, self.needed_days = refusal.remaining_days, refusal.needed_days
        self.leave_year = refusal.leave_year
