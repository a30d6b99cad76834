"""Digests: who is out, today or this week, of everyone or of a department, for one channel.

A due digest is claimed and loaded; its message is compared with what the channel shows, so changes
of leave need no events; and the result of posting it is recorded. The organisation's own digest and
those of channels have a table each, so the queue is made of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from peewee import JOIN, SQL, Insert, Model, Select

from storage.admin import channel_digests
from storage.base.values import DigestFrequency
from storage.db import rows
from storage.db.compiled import Engine, Expr, Param, compiled
from storage.db.database import Transaction
from storage.db.tables import ChannelDigestRow, DigestRow, OrganisationRow
from storage.notifications import digest_absences
from storage.notifications.digest_absences import Absences
from storage.outbox import notification_outbox, organisation_config
from storage.outbox.leased_queue import LeasedQueue
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import people_rows

# How soon a digest that was posted shows a change of leave.
REFRESH_INTERVAL: Final = timedelta(minutes=1)
# The wait after an error in an organisation's data.
BACK_OFF: Final = timedelta(minutes=15)


@dataclass(frozen=True, kw_only=True, slots=True)
class DigestKey:
    """A digest; ``digest_id`` is None for the organisation's own."""

    organisation_id: str
    digest_id: str | None = None


def _queue(table: type[Model], *key: str) -> LeasedQueue:
    def due(_: Engine, now: Expr, limit: Expr) -> Select:
        row = table.alias()
        query: Select = row.select(*(getattr(row, name) for name in key)).where(row.due_at <= now)
        return query.order_by(row.due_at).limit(limit)

    returned = tuple(getattr(table, name) for name in key)
    return LeasedQueue(
        table=table,
        key=key,
        due=due,
        lease=channel_digests.LEASE,
        returned=returned,
        owner="due_at",
    )


_OF_ORGANISATIONS: Final = _queue(DigestRow, "organisation_id")
_OF_CHANNELS: Final = _queue(ChannelDigestRow, "organisation_id", "id")


def oldest_due_at(tx: Transaction, *, now: datetime) -> int | None:
    """When the first due digest was due, in milliseconds; None where none is, or is new."""
    queues = (_OF_ORGANISATIONS, _OF_CHANNELS)
    # 0 is the due time of an organisation's digest that was never posted.
    return min(filter(None, (queue.oldest_due_at(tx, now=now) for queue in queues)), default=None)


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
            tx.delete(DigestRow, organisation_id=organisation.id)
        return None
    today = now.astimezone(ZoneInfo(organisation.timezone)).date()
    day, last_day = digest_absences.days_shown(settings.frequency, today)
    is_current = settings.day == day.isoformat()
    # It was posted by a process that crashed, or Slack did not answer: a second message would be
    # worse than one that is not kept up to date.
    is_unconfirmed = is_current and bool(settings.shown_sha256) and not settings.ts
    team_id, lease_expires_at = organisation.slack_team_id, now + channel_digests.LEASE
    due_at = digest_absences.next_digest_at(config, now)
    if (
        due_at is not None
        or settings.refused_because is not None
        or is_unconfirmed
        or team_id is None
        or not config.is_in_slack
    ):
        tomorrow_at = digest_absences.tomorrow_at(organisation, today)
        later = due_at or min(tomorrow_at, now + timedelta(hours=1))
        _release(tx, key, lease_expires_at, later)
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
        tomorrow_at=digest_absences.tomorrow_at(organisation, today),
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
    row = tx.find(ChannelDigestRow, organisation_id=key.organisation_id, id=key.digest_id)
    if row is None:
        return None
    return _settings_of(row)


_settings_of: Final = rows.mapper(_Settings)


def _of_organisation(tx: Transaction, config: OrganisationConfig) -> _Settings | None:
    organisation_id, channel = config.organisation.id, config.organisation.digest_channel
    row = tx.find(DigestRow, organisation_id=organisation_id)
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
    owners = [owner.id for owner in people_rows.active_owners(tx, organisation_id)]
    locales = people_rows.locales_of(tx, organisation_id, owners)
    return next((locales[user_id] for user_id in owners if user_id in locales), None)


def claim(tx: Transaction, *, now: datetime, limit: int = 10) -> list[DigestKey]:
    """Claim due digests, up to ``limit`` of each kind."""
    tx.change(_insert_new, limit=limit)
    own = _OF_ORGANISATIONS.claim(tx, now=now, limit=limit)
    of_channels = _OF_CHANNELS.claim(tx, now=now, limit=limit)
    return [
        *(DigestKey(organisation_id=row.organisation_id) for row in own),
        *(DigestKey(organisation_id=row.organisation_id, digest_id=row.id) for row in of_channels),
    ]


def back_off(tx: Transaction, key: DigestKey, *, now: datetime) -> None:
    """Retry a claimed digest later, after an error; ``now`` is that of the claim."""
    _release(tx, key, now + channel_digests.LEASE, now + BACK_OFF)


def begin(tx: Transaction, digest: Digest, shown_sha256: str) -> bool:
    """Record that the message is about to be posted; False if the claim no longer holds.

    Slack cannot tell whether it has a message already. If the process crashes before it records the
    result, this record keeps other processes from posting the message again.
    """
    changes = _state(digest, None, shown_sha256)
    lease_expires_at = digest.lease_expires_at
    return _release(tx, digest.key, lease_expires_at, lease_expires_at, **changes)


def record_result(
    tx: Transaction, digest: Digest, *, ts: str | None, shown_sha256: str | None, now: datetime
) -> None:
    """Record what the channel shows, both None for nothing; due again after the interval."""
    changes = _state(digest, ts, shown_sha256)
    due_at = now + REFRESH_INTERVAL
    _release(tx, digest.key, digest.lease_expires_at, due_at, **changes)


def postpone(
    tx: Transaction, digest: Digest, seconds: float, *, is_unconfirmed: bool, now: datetime
) -> None:
    """Retry a digest that Slack did not accept after that time.

    ``is_unconfirmed``: Slack may have accepted it, so a new message is not posted again.
    """
    due_at = now + timedelta(seconds=max(seconds, REFRESH_INTERVAL.total_seconds()))
    changes = {} if is_unconfirmed else _state(digest, digest.ts, digest.shown_sha256)
    _release(tx, digest.key, digest.lease_expires_at, due_at, **changes)


def refuse(tx: Transaction, digest: Digest, because: str, *, now: datetime) -> None:
    """Slack refused the channel: notify admins, and post no more in it."""
    changes = _state(digest, digest.ts, digest.shown_sha256) | {"refused_because": because[:64]}
    if digest.key.digest_id is None:
        changes["refused_channel"] = digest.channel
    if _release(tx, digest.key, digest.lease_expires_at, digest.tomorrow_at, **changes):
        notification_outbox.notify_admins(
            tx,
            digest.key.organisation_id,
            "digest_refused",
            digest_id=digest.key.digest_id,
            now=now,
        )


def _state(digest: Digest, ts: str | None, shown_sha256: str | None) -> dict[str, str]:
    """The columns that have the digest's last message."""
    state = {"day": digest.day.isoformat(), "ts": ts or "", "shown_sha256": shown_sha256 or ""}
    if digest.key.digest_id is None:
        state["channel"] = digest.channel
    return state


def _release(
    tx: Transaction,
    key: DigestKey,
    lease_expires_at: datetime,
    due_at: datetime,
    **changes: str,
) -> bool:
    """End a claim, or keep it with the same ``due_at``; False when it no longer holds."""
    columns = {"due_at": due_at, **changes}
    if key.digest_id is None:
        return _OF_ORGANISATIONS.release(tx, (key.organisation_id,), lease_expires_at, columns)
    return _OF_CHANNELS.release(tx, (key.organisation_id, key.digest_id), lease_expires_at, columns)


@compiled
def _insert_new(limit: Param[int]) -> Insert:
    """Add organisations that have chosen a channel."""
    new: Expr = (
        OrganisationRow.select(OrganisationRow.id, SQL("0"))
        .join(DigestRow, JOIN.LEFT_OUTER, on=(DigestRow.organisation_id == OrganisationRow.id))
        .where(OrganisationRow.digest_channel.is_null(False), DigestRow.organisation_id.is_null())
        .limit(limit)
    )
    return DigestRow.insert_from(
        new, [DigestRow.organisation_id, DigestRow.due_at]
    ).on_conflict_ignore()
