"""When an approver is at work, is reminded of a request, and when the request is escalated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from peewee import Select

from storage.base.values import User
from storage.db import rows
from storage.db.compiled import Param, any_of, compiled
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import colleagues, employment_by_date
from storage.rules import counted_days, worktime
from storage.rules.worktime import Hours, Worktime, next_work_start, nth_working_day_after

_MAX_ABSENCES: Final = 2_000


def of_people(
    tx: Transaction,
    config: OrganisationConfig,
    people: Iterable[User],
    first_day: date,
    today: date,
) -> dict[str, Worktime]:
    """Each person's working time, by id, from two days before ``first_day`` for over a year."""
    users = list(people)
    first, last = first_day - timedelta(days=2), today + timedelta(worktime.MAX_DAYS)
    away = _away(tx, config.organisation.id, [user.id for user in users], first)
    organisation = config.organisation
    worktimes = {}
    for user in users:
        country_code = employment_by_date.country_code_of(config, user)
        worktimes[user.id] = Worktime(
            week=counted_days.working_week(user.working_days or organisation.working_days),
            holidays=employment_by_date.holidays_between(config, country_code, first, last),
            away=away[user.id],
            hours=Hours(
                starts_at=organisation.day_starts_at,
                midday_at=organisation.midday_at,
                ends_at=organisation.day_ends_at,
                timezone=user.timezone or organisation.timezone,
            ),
        )
    return worktimes


def _away(
    tx: Transaction, organisation_id: str, user_ids: Sequence[str], first_day: date
) -> Mapping[str, dict[date, int]]:
    """The halves of each person's days on which they are away, with approved leave."""
    leave = tx.all(
        _leave,
        organisation_id=organisation_id,
        user_ids=sorted(user_ids),
        first_day=first_day.isoformat(),
        limit=_MAX_ABSENCES,
    )
    away: dict[str, dict[date, int]] = defaultdict(dict)
    for user_id, start_date, counted_halves in leave:
        for offset, halves in enumerate(counted_halves):
            day = rows.day(start_date) + timedelta(days=offset)
            away[user_id][day] = away[user_id].get(day, 0) | int(halves)
    return away


@compiled
def _leave(
    organisation_id: Param[str],
    user_ids: Param[list[str]],
    first_day: Param[str],
    limit: Param[int],
) -> Select:
    return (
        LeaveRequestRow.select(
            LeaveRequestRow.user_id, LeaveRequestRow.start_date, LeaveRequestRow.counted_halves
        )
        .where(
            LeaveRequestRow.organisation_id == organisation_id,
            any_of(LeaveRequestRow.user_id, user_ids),
            LeaveRequestRow.status == "approved",
            LeaveRequestRow.end_date >= first_day,
            colleagues.is_absence(LeaveRequestRow),
        )
        .order_by(LeaveRequestRow.user_id, LeaveRequestRow.end_date)
        .limit(limit)
    )


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
