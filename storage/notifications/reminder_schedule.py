"""When an approver is reminded of a request, and when the request is escalated."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from storage.rules.worktime import Worktime, next_work_start, nth_working_day_after

# Working days of the approver after which they are reminded.
REMINDED_AFTER: Final = (1, 3, 5)
# After that many, the next level of the approval chain gets the request too.
ESCALATED_AFTER: Final = 6


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """Whether to remind or escalate now.

    ``sent`` counts the reminders that were used up. ``next_at`` is when to check again, or None
    without a working day in sight.
    """

    is_due: bool
    sent: int
    next_at: datetime | None
    is_escalated: bool = False


def plan(
    worktime: Worktime, asked_at: datetime, sent: int, *, now: datetime, is_daily: bool = False
) -> Plan:
    """Whether a reminder is due; reminders are due only while the approver is at work.

    Of several that are due, because no process ran, only the last one is sent. ``is_daily``: one is
    due on every working day instead.
    """
    asked_on = worktime.local_day(asked_at)
    times = [_begins(worktime, asked_on, number) for number in (*REMINDED_AFTER, ESCALATED_AFTER)]
    passed = sum(at is not None and at <= now for at in times)
    next_start = next_work_start(worktime, now)
    if not worktime.is_at_work(now) and (is_daily or passed > sent):
        return Plan(is_due=False, sent=sent, next_at=next_start)
    is_escalated = sent < passed == len(times)
    if is_daily:
        return Plan(
            is_due=passed > 0, sent=max(sent, passed), next_at=next_start, is_escalated=is_escalated
        )
    next_at = times[passed] if passed < len(times) else None
    return Plan(
        is_due=passed > sent and not is_escalated,
        sent=max(sent, passed),
        next_at=next_at,
        is_escalated=is_escalated,
    )


def _begins(worktime: Worktime, asked_on: date, number: int) -> datetime | None:
    day = nth_working_day_after(worktime.halves, asked_on, number)
    return None if day is None else worktime.begins_at(day)
