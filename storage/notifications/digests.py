"""The daily digest of who is out, for one channel of an organisation.

``digest_attempts`` claims the organisation's row. The message is compared with what the channel
shows, so changes of leave need no events.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from peewee import Delete, Select, fn

from storage.base.values import HalfDay, Organisation
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.tables import DigestRow, LeaveRequestRow, LeaveTypeRow, UserRow
from storage.directory import colleagues, people_rows, public_holidays, slack_locales
from storage.events import digest_queue, organisation_config
from storage.events.organisation_config import OrganisationConfig
from storage.rules import spans, working_week
from storage.rules.halves import AFTERNOON, MORNING, NOTHING

# On the organisation's clock.
POSTED_AT: Final = time(9)
MAX_SHOWN: Final = 100
_HALVES: Final[dict[int, HalfDay]] = {MORNING: "am", AFTERNOON: "pm"}


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonOut:
    """A person's approved leave today. ``type_name`` is None for a private type, ``half`` for the
    whole day, ``cover_name`` without a cover."""

    name: str
    type_name: str | None
    half: HalfDay | None
    last_day: date
    cover_name: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Digest:
    """``ts`` is today's message in the channel, ``shown_sha256`` the hash of its content; None
    without one. ``total`` also counts people who are not in ``out``."""

    organisation_id: str
    team_id: str
    channel: str
    locale: str | None
    day: date
    out: tuple[PersonOut, ...]
    total: int
    ts: str | None
    shown_sha256: str | None
    lease_expires_at: datetime
    tomorrow_at: datetime


def load(tx: Transaction, organisation_id: str, *, now: datetime) -> Digest | None:
    """The digest of a claimed organisation; None, and due later, where there is nothing to post.

    ``now`` is that of the claim. Call it in a transaction for each organisation: one may fail.
    """
    config = organisation_config.of_organisation(tx, organisation_id)
    organisation = config.organisation
    local_now = now.astimezone(ZoneInfo(organisation.timezone))
    today = local_now.date()
    row = tx.first(_digest, organisation_id=organisation.id)
    channel, team_id = organisation.digest_channel, organisation.slack_team_id
    if row is None or channel is None:
        # A channel that is chosen later starts a new schedule.
        tx.change(_delete, organisation_id=organisation.id)
        return None
    due_at = _next_digest_at(config, today, local_now.time())
    if (
        due_at is not None
        or row.refused_channel == channel
        or team_id is None
        or not config.is_in_slack
    ):
        digest_queue.release(
            tx,
            organisation.id,
            now + digest_queue.QUEUE.lease,
            due_at or min(_tomorrow_at(organisation, today), now + timedelta(hours=1)),
        )
        return None
    is_todays = row.day == today.isoformat() and row.channel == channel
    out_rows = tx.all(
        _out,
        organisation_id=organisation.id,
        today=today.isoformat(),
        short_until=spans.latest_short_end(today).isoformat(),
        long_until=spans.latest_end(today).isoformat(),
        limit=MAX_SHOWN,
    )
    cover_ids = {row.cover_user_id for row in out_rows if row.cover_user_id is not None}
    covers = people_rows.names(tx, organisation.id, cover_ids)
    return Digest(
        organisation_id=organisation.id,
        team_id=team_id,
        channel=channel,
        locale=_locale(tx, organisation.id),
        day=today,
        out=tuple(_person_out(row, today, covers) for row in out_rows),
        total=out_rows[0].total if out_rows else 0,
        ts=(row.ts or None) if is_todays else None,
        shown_sha256=(row.shown_sha256 or None) if is_todays else None,
        lease_expires_at=now + digest_queue.QUEUE.lease,
        tomorrow_at=_tomorrow_at(organisation, today),
    )


def refusal(tx: Transaction, organisation_id: str) -> tuple[str, str] | None:
    """The organisation's channel and why Slack refused it; None where Slack did not."""
    row = tx.first(_digest, organisation_id=organisation_id)
    channel = organisation_config.of_organisation(tx, organisation_id).organisation.digest_channel
    if row is None or channel is None or row.refused_channel != channel:
        return None
    return channel, row.refused_because


def is_digest_day(config: OrganisationConfig, day: date) -> bool:
    """Whether the day is one of the organisation's working days and no public holiday."""
    organisation = config.organisation
    week = working_week.working_week(organisation.working_days)
    holidays = public_holidays.holidays_between(config, organisation.country_code, day, day)
    off = holidays[day].halves if day in holidays else NOTHING
    return week[day.weekday()] & ~off != NOTHING


def _next_digest_at(config: OrganisationConfig, today: date, local_time: time) -> datetime | None:
    """When the next digest is due; None when today's is due or posted."""
    if not is_digest_day(config, today):
        return _tomorrow_at(config.organisation, today)
    return _due_at(config.organisation, today) if local_time < POSTED_AT else None


def _due_at(organisation: Organisation, day: date) -> datetime:
    return datetime.combine(day, POSTED_AT, ZoneInfo(organisation.timezone)).astimezone(UTC)


def _tomorrow_at(organisation: Organisation, today: date) -> datetime:
    return _due_at(organisation, today + timedelta(days=1))


def _locale(tx: Transaction, organisation_id: str) -> str | None:
    """A channel has no language in Slack: that of the first owner whose language is known."""
    owners = sorted(
        user_id
        for (user_id,) in tx.all(
            people_rows.active_owners, organisation_id=organisation_id, limit=50
        )
    )
    locales = slack_locales.of_people(tx, organisation_id, owners)
    return next((locales[user_id] for user_id in owners if user_id in locales), None)


def _person_out(row: Row, today: date, covers: Mapping[str, str]) -> PersonOut:
    mask = int(row.counted_halves[(today - rows.day(row.start_date)).days])
    return PersonOut(
        name=f"{row.first_name} {row.last_name}".strip(),
        type_name=None if row.is_private else row.type_name,
        half=_HALVES.get(mask),
        last_day=rows.day(row.end_date),
        cover_name=covers.get(row.cover_user_id),
    )


@compiled
def _delete(organisation_id: Param[str]) -> Delete:
    return DigestRow.delete().where(DigestRow.organisation_id == organisation_id)


@compiled
def _digest(organisation_id: Param[str]) -> Select:
    return DigestRow.select(
        DigestRow.channel,
        DigestRow.day,
        DigestRow.ts,
        DigestRow.refused_channel,
        DigestRow.refused_because,
        DigestRow.shown_sha256,
    ).where(DigestRow.organisation_id == organisation_id)


@compiled
def _out(
    organisation_id: Param[str],
    today: Param[str],
    short_until: Param[str],
    long_until: Param[str],
    limit: Param[int],
) -> Select:
    """Approved leave on a day, by name; each row has the number of rows without the limit."""
    return (
        rows.with_names(
            LeaveRequestRow.select(
                fn.COUNT(LeaveRequestRow.id).over().alias("total"),
                UserRow.first_name,
                UserRow.last_name,
                LeaveRequestRow.start_date,
                LeaveRequestRow.end_date,
                LeaveRequestRow.counted_halves,
                LeaveRequestRow.cover_user_id,
                LeaveTypeRow.name.alias("type_name"),
                LeaveTypeRow.is_private,
            )
        )
        .where(
            LeaveRequestRow.organisation_id == organisation_id,
            LeaveRequestRow.status == "approved",
            colleagues.is_between(today, today, short_until, long_until),
            UserRow.status << ("pending", "active"),
        )
        .order_by(UserRow.first_name, UserRow.last_name, LeaveRequestRow.id)
        .limit(limit)
    )
