"""Which leave a person can interrupt, and with which leave types."""

from __future__ import annotations

from datetime import date

from storage.base.values import LeaveRequest, LeaveType
from storage.db.database import Transaction
from storage.events.organisation_config import OrganisationConfig
from storage.leave import bookings
from storage.leave.bookings import BookedLeave
from storage.rules import changed_leave, spans
from storage.rules.spans import Span


def types_for(config: OrganisationConfig, leave_type_id: str) -> list[LeaveType]:
    """The types that can replace leave of a type, by name."""
    return sorted(
        (
            leave_type
            for leave_type in config.leave_types.values()
            if leave_type.may_interrupt
            and not leave_type.is_archived
            and leave_type.id != leave_type_id
        ),
        key=lambda leave_type: (leave_type.name.casefold(), leave_type.id),
    )


def can_be_interrupted(config: OrganisationConfig, request: LeaveRequest, today: date) -> bool:
    """Whether the request is approved leave, soon begins or has begun, and interrupts none."""
    return (
        request.status == "approved"
        and request.interrupts is None
        and request.start_date <= today + changed_leave.INTERRUPTION_OFFERED_BEFORE
        and bool(types_for(config, request.leave_type_id))
    )


def interrupted_by(
    tx: Transaction, config: OrganisationConfig, span: Span, leave_type_id: str, *, user_id: str
) -> BookedLeave | None:
    """The person's approved leave in which leave of a type would be an interruption."""
    booked = bookings.of_person(tx, config.organisation.id, user_id, span.start_date, span.end_date)
    return next(
        (
            leave
            for leave in booked.leave
            if leave.status == "approved"
            and leave_type_id in {each.id for each in types_for(config, leave.leave_type_id)}
            and spans.lies_within(span, leave.span)
        ),
        None,
    )
