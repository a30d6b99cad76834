"""The lifecycle of a leave request: which status follows which, and changes of approved leave.

A change of approved leave applies at once, or an approver has to agree. ``before`` and ``after``
are the same request without and with the change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, Literal

from storage.base.errors import InvalidInput, InvalidTransition
from storage.base.leave_values import LeaveRequest, LeaveStatus, LeaveType
from storage.rules import counted_days
from storage.rules.counted_days import NOTHING, DayCount

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
    "approve_first",
    "take_back",
    "reverse_to_first_approval",
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
    # Leave that needs a second approval awaits it (`second_approvals`).
    "approve_first": Step(from_statuses=("pending",), to_status="pending", done="approved"),
    "take_back": Step(from_statuses=("pending",), to_status="pending", done="changed"),
    "reverse_to_first_approval": Step(
        from_statuses=("declined",), to_status="pending", done="approved"
    ),
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


# What a change does to approved leave: nothing, it applies at once, or an approver decides on it.
Effect = Literal["nothing", "at_once", "amendment"]
# People who fall ill before their leave begins know it by then.
INTERRUPTION_OFFERED_BEFORE: Final = timedelta(days=2)
# What cancelling leave does: it is cancelled, or an approver decides on it.
CancelEffect = Literal["at_once", "amendment"]
# What changes at once.
_FREE: Final = frozenset(("note", "cover_user_id"))
_TIME: Final = ("leave_type_id", "start_date", "end_date", "start_half_day", "end_half_day")


def effect_of(
    before: LeaveRequest,
    after: LeaveRequest,
    *,
    type_before: LeaveType,
    type_after: LeaveType,
    is_by_admin: bool,
    has_approver: bool,
    today: date,
) -> Effect:
    """What the change does if nothing refuses it.

    ``is_by_admin``: an admin or owner changes another person's leave. ``has_approver``: another
    person could decide. Raises InvalidInput ``past_days`` if it changes days before today that only
    an admin may change.
    """
    changed = {name for name in (*_TIME, *_FREE) if getattr(after, name) != getattr(before, name)}
    if not changed:
        return "nothing"
    if is_by_admin or not has_approver or changed <= _FREE:
        return "at_once"
    if not type_after.requires_approval and not type_before.changes_need_approval:
        # New leave of this type would be approved at once, too.
        return "at_once"
    _check_past(before, after, today)
    if type_before.changes_need_approval or first_added_day(before, after) is not None:
        return "amendment"
    return "at_once"


def cancel_effect(
    leave: LeaveRequest, leave_type: LeaveType, *, is_own: bool, has_approver: bool, today: date
) -> CancelEffect:
    """What cancelling pending or approved leave does.

    ``is_own`` and ``has_approver``: its requester cancels it, and another person could decide.
    Raises InvalidInput ``past_days`` for leave of which they took days before today.
    """
    if leave.status == "pending" or not is_own or not has_approver:
        return "at_once"
    if has_begun(leave, today):
        if leave.end_date > today:
            raise InvalidInput.of(
                "end_date",
                "past_days",
                "This leave has begun, so only an admin can cancel it. To end it today, change its "
                "last day to {today}.",
                today=today,
            )
        raise InvalidInput.of(
            "end_date",
            "past_days",
            "Days of this leave have passed, so only an admin can cancel it.",
        )
    return "amendment" if leave_type.changes_need_approval else "at_once"


def has_begun(leave: LeaveRequest, today: date) -> bool:
    """Whether a half before today counts."""
    return bool(_until(leave, today))


def first_added_day(before: LeaveRequest, after: LeaveRequest) -> date | None:
    """The first day on which the change counts a half that was not leave of this type."""
    is_other_type = after.leave_type_id != before.leave_type_id
    halves_before = {} if is_other_type else _counted_by_day(before)
    added = (
        day
        for day, counted in _counted_by_day(after).items()
        if counted & ~halves_before.get(day, NOTHING)
    )
    return next(added, None)


def halves_after_change(before: LeaveRequest, counts: Iterable[DayCount]) -> str:
    """The counted halves of the changed leave; days that stay as they are keep their count.

    So past days keep it after working days or holidays have changed; of later days the stored count
    is current. ``counts`` are those of the changed leave by the current working days and holidays.
    """
    span_before = counted_days.span_of(before)
    stored = _counted_by_day(before)

    def counted(count: DayCount) -> int:
        is_kept = (
            count.date in stored
            and counted_days.requested_halves(span_before, count.date) == count.requested
        )
        return stored[count.date] if is_kept else count.counted

    return "".join(["0123"[counted(count)] for count in counts])


def _check_past(before: LeaveRequest, after: LeaveRequest, today: date) -> None:
    """Raises InvalidInput ``past_days`` unless days before today stay as they are.

    Leave that has begun cannot end before today either.
    """
    is_other_type = after.leave_type_id != before.leave_type_id
    past_before, past_after = _until(before, today), _until(after, today)
    ends_in_past = before.start_date < today and after.end_date < min(today, before.end_date)
    has_past = bool(past_before or past_after)
    if past_before == past_after and not (is_other_type and has_past):
        if not ends_in_past or _counted_by_day(before) == _counted_by_day(after):
            return
        field = "end_date"
    elif is_other_type:
        field = "leave_type_id"
    else:
        starts = [(leave.start_date, leave.start_half_day) for leave in (before, after)]
        field = "end_date" if starts[0] == starts[1] else "start_date"
    raise InvalidInput.of(
        field,
        "past_days",
        "Days before today ({today}) can no longer be changed. Ask an admin to change them.",
        today=today,
    )


def _until(leave: LeaveRequest, today: date) -> dict[date, int]:
    """The counted halves of days before today."""
    return {
        day: counted for day, counted in _counted_by_day(leave).items() if counted and day < today
    }


def _counted_by_day(leave: LeaveRequest) -> dict[date, int]:
    return dict(_days_of(leave.start_date, [int(digit) for digit in leave.counted_halves]))


def _days_of(first_day: date, masks: Sequence[int]) -> Iterator[tuple[date, int]]:
    for number, mask in enumerate(masks):
        yield first_day + timedelta(days=number), mask
