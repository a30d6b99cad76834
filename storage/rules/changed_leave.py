"""Changes of approved leave: what is counted, and whether an approver has to agree.

``before`` and ``after`` are the same request without and with the change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import Final, Literal

from storage.base.errors import InvalidInput
from storage.base.leave_values import LeaveRequest, LeaveType
from storage.rules import counted_days, spans
from storage.rules.counted_days import NOTHING, DayCount

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


def counted_halves(before: LeaveRequest, counts: Iterable[DayCount]) -> str:
    """The counted halves of the changed leave; days that stay as they are keep their count.

    So past days keep it after working days or holidays have changed; of later days the stored count
    is current. ``counts`` are those of the changed leave by the current working days and holidays.
    """
    span_before = spans.of_request(before)
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
