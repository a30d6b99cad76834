"""Who is out on the days that a digest shows, and when digests are posted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from peewee import Select, fn

from storage.base.leave_values import HalfDay, TypeName
from storage.base.values import DigestFrequency, Organisation
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import Row, Transaction
from storage.db.tables import LeaveRequestRow, LeaveTypeRow, UserRow
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import colleagues, employment_by_date, people_rows
from storage.rules import counted_days
from storage.rules.counted_days import AFTERNOON, MORNING, NOTHING

MAX_SHOWN: Final = 100
_HALVES: Final[dict[int, HalfDay]] = {MORNING: "am", AFTERNOON: "pm"}


@dataclass(frozen=True, kw_only=True, slots=True)
class DayOut:
    """A day of leave; ``half`` is None for the whole day."""

    day: date
    half: HalfDay | None


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonOut:
    """A person's approved leave. ``days`` are those of it that the digest shows.

    ``type_name`` is None for a private type, ``cover_name`` without a cover.
    """

    name: str
    type_name: TypeName | None
    days: tuple[DayOut, ...]
    last_day: date
    cover_name: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Absences:
    """``total`` also counts those that are not in ``out``."""

    out: tuple[PersonOut, ...]
    total: int


def on_day(
    tx: Transaction, organisation_id: str, department_id: str | None, today: date
) -> Absences:
    """Who is out on a day, also those who do not work on it between days of their leave."""
    leave, total = _leave(tx, organisation_id, department_id, today, today)
    covers = _covers(tx, organisation_id, leave)
    return Absences(
        out=tuple(
            _person(row, (_day_out(row, today) or DayOut(day=today, half=None),), covers)
            for row in leave
        ),
        total=total,
    )


def in_week(
    tx: Transaction, organisation_id: str, department_id: str | None, monday: date
) -> Absences:
    week = [monday + timedelta(days=number) for number in range(7)]
    leave, total = _leave(tx, organisation_id, department_id, week[0], week[-1])
    covers = _covers(tx, organisation_id, leave)
    people = [
        _person(row, tuple(day for day in (_day_out(row, day) for day in week) if day), covers)
        for row in leave
    ]
    out = tuple(person for person in people if person.days)
    return Absences(out=out, total=total - (len(people) - len(out)))


def _leave(
    tx: Transaction, organisation_id: str, department_id: str | None, first: date, last: date
) -> tuple[list[Row], int]:
    """Leave that overlaps the days, and how much there is without the limit."""
    leave = tx.all(
        _out,
        organisation_id=organisation_id,
        department_id=department_id,
        first_day=first.isoformat(),
        last_day=last.isoformat(),
        starts_from=counted_days.earliest_start(first).isoformat(),
        limit=MAX_SHOWN,
    )
    return leave, leave[0].total if leave else 0


def _covers(tx: Transaction, organisation_id: str, leave: list[Row]) -> Mapping[str, str]:
    cover_ids = {row.cover_user_id for row in leave if row.cover_user_id is not None}
    return people_rows.names(tx, organisation_id, cover_ids)


def _day_out(row: Row, day: date) -> DayOut | None:
    """The day of this leave; None where none of the day counts."""
    number = (day - rows.day(row.start_date)).days
    if not 0 <= number < len(row.counted_halves):
        return None
    halves = int(row.counted_halves[number])
    return DayOut(day=day, half=_HALVES.get(halves)) if halves else None


def _person(row: Row, days: tuple[DayOut, ...], covers: Mapping[str, str]) -> PersonOut:
    return PersonOut(
        name=f"{row.first_name} {row.last_name}".strip(),
        type_name=None if row.is_private else rows.type_name(row),
        days=days,
        last_day=rows.day(row.end_date),
        cover_name=covers.get(row.cover_user_id),
    )


@compiled
def _out(
    organisation_id: Param[str],
    department_id: Param[str] | None,
    first_day: Param[str],
    last_day: Param[str],
    starts_from: Param[str],
    limit: Param[int],
) -> Select:
    """Absences on these days, by name; each row has the number of rows without the limit."""
    query = (
        rows.with_names(
            LeaveRequestRow.select(
                fn.COUNT(LeaveRequestRow.id).over().alias("total"),
                UserRow.first_name,
                UserRow.last_name,
                LeaveRequestRow.start_date,
                LeaveRequestRow.end_date,
                LeaveRequestRow.counted_halves,
                LeaveRequestRow.cover_user_id,
                *rows.TYPE_NAME,
                LeaveTypeRow.is_private,
            )
        )
        .where(
            LeaveRequestRow.organisation_id == organisation_id,
            LeaveRequestRow.status == "approved",
            LeaveTypeRow.is_away,
            colleagues.overlaps(first_day, last_day, starts_from),
            UserRow.status << ("pending", "active"),
        )
        .order_by(
            UserRow.first_name, UserRow.last_name, LeaveRequestRow.start_date, LeaveRequestRow.id
        )
        .limit(limit)
    )
    return query if department_id is None else query.where(UserRow.department_id == department_id)


# On the organisation's clock.
POSTED_AT: Final = time(9)


def days_shown(frequency: DigestFrequency, today: date) -> tuple[date, date]:
    """The first and last day of the digest: today, or the week from Monday to Sunday."""
    if frequency == "daily":
        return today, today
    monday = today - timedelta(days=today.weekday())
    return monday, monday + timedelta(days=6)


def next_digest_at(config: OrganisationConfig, now: datetime) -> datetime | None:
    """When digests are posted next; None while they are posted and kept up to date.

    The same for both frequencies: what a weekly one shows stays the same until Monday, so that
    after a public holiday on Monday it is posted on Tuesday.
    """
    local_now = now.astimezone(ZoneInfo(config.organisation.timezone))
    today = local_now.date()
    if not is_digest_day(config, today):
        return tomorrow_at(config.organisation, today)
    return _due_at(config.organisation, today) if local_now.time() < POSTED_AT else None


def is_digest_day(config: OrganisationConfig, day: date) -> bool:
    """Whether the day is one of the organisation's working days and no public holiday."""
    organisation = config.organisation
    week = counted_days.working_week(organisation.working_days)
    holidays = employment_by_date.holidays_between(config, organisation.country_code, day, day)
    off = holidays[day].halves if day in holidays else NOTHING
    return week[day.weekday()] & ~off != NOTHING


def tomorrow_at(organisation: Organisation, today: date) -> datetime:
    return _due_at(organisation, today + timedelta(days=1))


def _due_at(organisation: Organisation, day: date) -> datetime:
    return datetime.combine(day, POSTED_AT, ZoneInfo(organisation.timezone)).astimezone(UTC)
