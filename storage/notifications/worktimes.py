"""When people are at work: working days and hours, less public holidays and approved leave."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Final

from peewee import Select

from storage.base.values import User
from storage.db import rows
from storage.db.compiled import Param, any_of, compiled
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow
from storage.directory import public_holidays
from storage.events.organisation_config import OrganisationConfig
from storage.rules import counted_days, worktime
from storage.rules.worktime import Hours, Worktime

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
        country_code = public_holidays.country_code_of(config, user)
        worktimes[user.id] = Worktime(
            week=counted_days.working_week(user.working_days or organisation.working_days),
            holidays=public_holidays.holidays_between(config, country_code, first, last),
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
    """The halves of each person's days that are approved leave."""
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
        )
        .order_by(LeaveRequestRow.user_id, LeaveRequestRow.end_date)
        .limit(limit)
    )
