"""The lifecycle of a leave request: which status follows which, and for how long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from storage.base.errors import InvalidTransition
from storage.base.leave_values import LeaveRequest, LeaveStatus

Action = Literal[
    "edit",
    "approve",
    "decline",
    "cancel",
    "change",
    "amend",
    "interrupt",
    "reverse_to_approved",
    "reverse_to_declined",
]

# The reversal window: how long a decision can be changed in Slack.
REVERSAL_WINDOW: Final = timedelta(minutes=10)


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """The statuses in which an action is possible, the status after it, and its past participle."""

    from_statuses: tuple[LeaveStatus, ...]
    to_status: LeaveStatus
    done: str


# Creation is not an action: a new request has no earlier status.
LIFECYCLE: Final[Mapping[Action, Step]] = {
    "edit": Step(from_statuses=("pending",), to_status="pending", done="edited"),
    "approve": Step(from_statuses=("pending",), to_status="approved", done="approved"),
    "decline": Step(from_statuses=("pending",), to_status="declined", done="declined"),
    "cancel": Step(from_statuses=("pending", "approved"), to_status="cancelled", done="cancelled"),
    # Approved leave: at once, or with an approved amendment.
    "change": Step(from_statuses=("approved",), to_status="approved", done="changed"),
    "amend": Step(from_statuses=("approved",), to_status="approved", done="changed"),
    # Halves leave the request, or come back to it.
    "interrupt": Step(from_statuses=("approved",), to_status="approved", done="interrupted"),
    # Only in Slack, within the reversal window (`is_reversible`).
    "reverse_to_approved": Step(from_statuses=("declined",), to_status="approved", done="approved"),
    "reverse_to_declined": Step(from_statuses=("approved",), to_status="declined", done="declined"),
}


def is_reversible(request: LeaveRequest, now: datetime) -> bool:
    """Whether the approver can still reverse the decision.

    Automatic approvals cannot be reversed. Interruptions are cancelled instead, which gives their
    days back.
    """
    if request.interrupts is not None:
        return False
    is_decided = request.status in ("approved", "declined") and request.decided_by is not None
    if not is_decided or request.decided_at is None:
        return False
    return now < request.decided_at + REVERSAL_WINDOW


def is_approved_at_once(request: LeaveRequest) -> bool:
    """Whether the request was approved without a decision, or recorded; also if cancelled since."""
    was_approved = request.status in ("approved", "cancelled") and request.decided_at is not None
    return was_approved and request.decided_by in (None, request.recorded_by)


def is_undecided(request: LeaveRequest) -> bool:
    """Whether the request, or an amendment of the approved leave, awaits a decision."""
    return request.status == "pending" or (
        request.status == "approved" and request.amendment_id is not None
    )


def is_possible(action: Action, status: LeaveStatus) -> bool:
    """Whether the action is possible in ``status``, regardless of the caller."""
    return status in LIFECYCLE[action].from_statuses


def check_transition(
    action: Action, status: LeaveStatus, decided_by_name: str | None = None
) -> None:
    """Raises InvalidTransition if the action is impossible in ``status``."""
    if not is_possible(action, status):
        raise InvalidTransition(LIFECYCLE[action].done, status, decided_by_name)
