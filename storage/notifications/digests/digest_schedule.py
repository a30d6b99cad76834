"""When digests are posted: at nine, on the organisation's working days."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from storage.base.values import DigestFrequency, Organisation
from storage.directory import public_holidays
from storage.events.organisation_config import OrganisationConfig
from storage.rules import counted_days
from storage.rules.counted_days import NOTHING

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
    holidays = public_holidays.holidays_between(config, organisation.country_code, day, day)
    off = holidays[day].halves if day in holidays else NOTHING
    return week[day.weekday()] & ~off != NOTHING


def tomorrow_at(organisation: Organisation, today: date) -> datetime:
    return _due_at(organisation, today + timedelta(days=1))


def _due_at(organisation: Organisation, day: date) -> datetime:
    return datetime.combine(day, POSTED_AT, ZoneInfo(organisation.timezone)).astimezone(UTC)
