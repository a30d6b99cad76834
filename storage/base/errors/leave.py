"""Refusals that concern leave requests."""

from __future__ import annotations

from datetime import date

from storage.base.errors.general import Conflict, DomainError, Forbidden
from storage.base.errors.sentences import HalfDays


class OwnRequest(Forbidden):
    """People of any role cannot decide on their own requests."""

    code = "own_request"
    title = "You cannot decide on your own request."

    def __init__(self) -> None:
        super().__init__("You cannot decide on your own leave request. Another approver has to.")


class RecordingNotAllowed(Forbidden):
    """The caller is neither an admin nor an approver of the person."""

    code = "recording_not_allowed"
    title = "You cannot record leave for this person."
    field = "user_id"

    def __init__(self) -> None:
        super().__init__("Only admins, owners and the person's approvers can record their leave.")


class LeaveTypeNotRecordable(Forbidden):
    """Approvers record only types that allow it."""

    code = "leave_type_not_recordable"
    title = "Approvers cannot record this leave type."
    field = "leave_type_id"

    def __init__(self, leave_type: str) -> None:
        super().__init__(
            "Only admins and owners can record {leave_type} for others.", leave_type=leave_type
        )


class OverrideNotAllowed(Forbidden):
    """Only admins and owners override rules."""

    code = "override_not_allowed"
    title = "You cannot override the rules of leave."
    field = "override_reason"

    def __init__(self) -> None:
        super().__init__("Only admins and owners can override the allowance and a type's rules.")


class InvalidTransition(Conflict):
    """The leave request's status does not allow the action."""

    code = "invalid_transition"
    title = "The leave request's status does not allow this."

    def __init__(self, action: str, status: str, decided_by_name: str | None = None) -> None:
        super().__init__(
            "The request is {status}, so it cannot be {action}.", status=status, action=action
        )
        self.action = action
        self.status = status
        self.decided_by_name = decided_by_name


class AlreadyObjected(Conflict):
    """The person has already objected to the leave that was recorded for them."""

    code = "already_objected"
    title = "You have already objected to this leave."

    def __init__(self) -> None:
        super().__init__("You have already objected. Your objection was sent.")


class AmendmentEnded(Conflict):
    """The amendment was decided, withdrawn or replaced, or its leave was changed or cancelled."""

    code = "amendment_ended"
    title = "This change no longer awaits a decision."

    def __init__(self, status: str) -> None:
        super().__init__("The amendment is {status}.", status=status)
        self.status = status


class OverlappingLeave(Conflict):
    """The person already has pending or approved leave in the same half-days."""

    code = "overlapping_leave"
    title = "This overlaps with other leave."

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
        self.other_id = other_id
        self.start_date = start_date
        self.end_date = end_date
        self.begins_at_midday = begins_at_midday
        self.ends_at_midday = ends_at_midday


class DaysNoLongerFit(Conflict):
    """The days of an interruption cannot go back: the leave year has too little left."""

    code = "days_no_longer_fit"
    title = "The days no longer fit into the allowance."

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
        self.leave_year = refusal.leave_year


class InsufficientAllowance(DomainError):
    """A leave year of the request has too little left. Both amounts are in half-days."""

    code = "insufficient_allowance"
    title = "Not enough leave is left."

    def __init__(self, remaining_half_days: int, needed_half_days: int, leave_year: str) -> None:
        super().__init__(
            "{remaining} left in the leave year {leave_year}. This request needs {needed}.",
            leave_year=leave_year,
            remaining=HalfDays(remaining_half_days),
            needed=HalfDays(needed_half_days),
        )
        self.remaining_half_days = remaining_half_days
        self.needed_half_days = needed_half_days
        self.leave_year = leave_year
