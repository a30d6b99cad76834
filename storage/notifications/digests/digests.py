"""Digests: who is out, today or this week, of everyone or of a department, for one channel.

``digest_attempts`` claims a digest. The message is compared with what the channel shows, so changes
of leave need no events.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from peewee import Delete, Select

from storage.base.values import DigestFrequency
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import ChannelDigestRow, DigestRow
from storage.directory import people_rows, slack_locales
from storage.events import digest_queue, organisation_config
from storage.events.digest_queue import DigestKey
from storage.events.organisation_config import OrganisationConfig
from storage.notifications.digests import digest_absences, digest_schedule
from storage.notifications.digests.digest_absences import Absences


@dataclass(frozen=True, kw_only=True, slots=True)
class Digest:
    """``day`` to ``last_day`` are the days that it shows; without a department it is everyone's.

    ``ts`` is its message in the channel, ``shown_sha256`` the hash of the content; None without.
    """

    key: DigestKey
    team_id: str
    channel: str
    locale: str | None
    frequency: DigestFrequency
    department_name: str | None
    day: date
    last_day: date
    absences: Absences
    ts: str | None
    shown_sha256: str | None
    lease_expires_at: datetime
    tomorrow_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class _Settings:
    """What the digest is, and its last message in this channel, as the columns of its row."""

    channel: str
    locale: str | None
    frequency: DigestFrequency
    department_id: str | None
    refused_because: str | None
    day: str | None
    ts: str | None
    shown_sha256: str | None


def load(tx: Transaction, key: DigestKey, *, now: datetime) -> Digest | None:
    """A claimed digest; None, and due later, where there is nothing to post.

    ``now`` is that of the claim. Call it in a transaction for each digest: one may fail.
    """
    config = organisation_config.of_organisation(tx, key.organisation_id)
    organisation = config.organisation
    settings = _settings(tx, key, config)
    if settings is None:
        if key.digest_id is None:
            # A channel that is chosen later starts a new schedule.
            tx.change(_delete, organisation_id=organisation.id)
        return None
    today = now.astimezone(ZoneInfo(organisation.timezone)).date()
    day, last_day = digest_schedule.days_shown(settings.frequency, today)
    is_current = settings.day == day.isoformat()
    # It was posted by a process that crashed, or Slack did not answer: a second message would be
    # worse than one that is not kept up to date.
    is_unconfirmed = is_current and bool(settings.shown_sha256) and not settings.ts
    team_id, lease_expires_at = organisation.slack_team_id, now + digest_queue.LEASE
    due_at = digest_schedule.next_digest_at(config, now)
    if (
        due_at is not None
        or settings.refused_because is not None
        or is_unconfirmed
        or team_id is None
        or not config.is_in_slack
    ):
        tomorrow_at = digest_schedule.tomorrow_at(organisation, today)
        later = due_at or min(tomorrow_at, now + timedelta(hours=1))
        digest_queue.release(tx, key, lease_expires_at, later)
        return None
    department = config.departments.get(settings.department_id or "")
    read = digest_absences.on_day if settings.frequency == "daily" else digest_absences.in_week
    return Digest(
        key=key,
        team_id=team_id,
        channel=settings.channel,
        locale=settings.locale,
        frequency=settings.frequency,
        department_name=None if department is None else department.name,
        day=day,
        last_day=last_day,
        absences=read(tx, organisation.id, settings.department_id, day),
        ts=(settings.ts or None) if is_current else None,
        shown_sha256=(settings.shown_sha256 or None) if is_current else None,
        lease_expires_at=lease_expires_at,
        tomorrow_at=digest_schedule.tomorrow_at(organisation, today),
    )


def refusal(tx: Transaction, key: DigestKey) -> tuple[str, str] | None:
    """The digest's channel and why Slack refused it; None where Slack did not."""
    config = organisation_config.of_organisation(tx, key.organisation_id)
    settings = _settings(tx, key, config)
    if settings is None or settings.refused_because is None:
        return None
    return settings.channel, settings.refused_because


def _settings(tx: Transaction, key: DigestKey, config: OrganisationConfig) -> _Settings | None:
    if key.digest_id is None:
        return _of_organisation(tx, config)
    row = tx.first(_channel_digest, organisation_id=key.organisation_id, digest_id=key.digest_id)
    if row is None:
        return None
    return _Settings(
        channel=row.channel,
        locale=row.locale,
        frequency=row.frequency,
        department_id=row.department_id,
        refused_because=row.refused_because,
        day=row.day,
        ts=row.ts,
        shown_sha256=row.shown_sha256,
    )


def _of_organisation(tx: Transaction, config: OrganisationConfig) -> _Settings | None:
    organisation_id, channel = config.organisation.id, config.organisation.digest_channel
    row = tx.first(_digest, organisation_id=organisation_id)
    if row is None or channel is None:
        return None
    is_in_channel = row.channel == channel
    return _Settings(
        channel=channel,
        locale=_locale(tx, organisation_id),
        frequency="daily",
        department_id=None,
        refused_because=row.refused_because if row.refused_channel == channel else None,
        day=row.day if is_in_channel else None,
        ts=row.ts if is_in_channel else None,
        shown_sha256=row.shown_sha256 if is_in_channel else None,
    )


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
def _channel_digest(organisation_id: Param[str], digest_id: Param[str]) -> Select:
    return ChannelDigestRow.select(
        ChannelDigestRow.channel,
        ChannelDigestRow.department_id,
        ChannelDigestRow.frequency,
        ChannelDigestRow.locale,
        ChannelDigestRow.day,
        ChannelDigestRow.ts,
        ChannelDigestRow.shown_sha256,
        ChannelDigestRow.refused_because,
    ).where(ChannelDigestRow.organisation_id == organisation_id, ChannelDigestRow.id == digest_id)
