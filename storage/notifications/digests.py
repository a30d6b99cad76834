"""Who is out today, for one channel of an organisation: what to say, and when.

A row for each organisation with a channel. The process that moves its ``due_at`` on posts
the message; a process that dies meanwhile is followed by another one after the lease. The message
is compared with what was shown last, so that leave needs no event of its own to get in.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from peewee import JOIN, SQL, Delete, Insert, Select, fn

from storage.base.values import HalfDay, Organisation
from storage.db import rows
from storage.db.compiled import Expr, Param, compiled
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.tables import DigestRow, LeaveRequestRow, LeaveTypeRow, OrganisationRow, UserRow
from storage.directory import holiday_sets, people_rows, slack_locales
from storage.events import admin_notifications, organisation_config
from storage.events.digest_queue import QUEUE
from storage.events.organisation_config import Reference
from storage.rules import working_week
from storage.rules.halves import AFTERNOON, MORNING, NOTHING

# On the organisation's clock.
POSTED_AT: Final = time(9)
# How soon a change of leave shows on a day that has its digest.
LOOK_AGAIN: Final = timedelta(minutes=1)
# When an organisation is looked at again whose data met an error.
BACK_OFF: Final = timedelta(minutes=15)
MAX_SHOWN: Final = 100
# No request is longer, so leave that began earlier is over.
_MAX_DURATION: Final = timedelta(days=366)
_HALVES: Final[dict[int, HalfDay]] = {MORNING: "am", AFTERNOON: "pm"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Out:
    """A person's approved leave. ``type_name`` is None where the type is private, ``half`` where
    it takes the whole day."""

    name: str
    type_name: str | None
    half: HalfDay | None
    last_day: date


@dataclass(frozen=True, kw_only=True, slots=True)
class Digest:
    """What to show in which channel. ``ts`` is today's message in it, if there is one;
    ``shown_sha256`` tells what it shows. ``total`` counts those who are not named, too."""

    organisation_id: str
    team_id: str
    channel: str
    locale: str | None
    day: date
    out: tuple[Out, ...]
    total: int
    ts: str | None
    shown_sha256: str | None
    lease_expires_at: datetime
    tomorrow_at: datetime


def claim(tx: Transaction, *, now: datetime, limit: int = 20) -> list[str]:
    """Claim due digests; the ids of their organisations."""
    tx.change(_begin, limit=limit)
    return [organisation_id for (organisation_id,) in QUEUE.claim(tx, now=now, limit=limit)]


def load(tx: Transaction, organisation_id: str, *, now: datetime) -> Digest | None:
    """What a claimed organisation's digest shows; None, and moved on, where there is nothing to do.

    ``now`` is that of the claim. A transaction of its own: another organisation's may fail.
    """
    return _look(tx, organisation_config.of_organisation(tx, organisation_id), now)


def back_off(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Look at a claimed organisation again later: its digest met an error. ``now`` as for look."""
    _release(tx, organisation_id, now + QUEUE.lease, now + BACK_OFF)


def record_result(
    tx: Transaction, digest: Digest, *, ts: str | None, shown_sha256: str | None, now: datetime
) -> None:
    """Record what the channel shows; None where nothing is shown today. Looked at again soon."""
    _release(
        tx,
        digest.organisation_id,
        digest.lease_expires_at,
        now + LOOK_AGAIN,
        channel=digest.channel,
        day=digest.day.isoformat(),
        ts=ts or "",
        shown_sha256=shown_sha256 or "",
    )


def postpone(tx: Transaction, digest: Digest, seconds: float, *, now: datetime) -> None:
    """Slack did not take it: look again after that time."""
    at = now + timedelta(seconds=max(seconds, LOOK_AGAIN.total_seconds()))
    _release(tx, digest.organisation_id, digest.lease_expires_at, at)


def refuse(tx: Transaction, digest: Digest, because: str, *, now: datetime) -> None:
    """Slack refused the channel: admins are notified, and it is not tried again there."""
    is_released = _release(
        tx,
        digest.organisation_id,
        digest.lease_expires_at,
        digest.tomorrow_at,
        refused_channel=digest.channel,
        refused_because=because[:64],
    )
    if is_released:
        admin_notifications.notify_of_refused_digest(tx, digest.organisation_id, now=now)


def refusal(tx: Transaction, organisation_id: str) -> tuple[str, str] | None:
    """The channel of the organisation's choice and why Slack refused it; None where it did not."""
    row = tx.first(_row, organisation_id=organisation_id)
    channel = organisation_config.of_organisation(tx, organisation_id).organisation.digest_channel
    if row is None or channel is None or row.refused_channel != channel:
        return None
    return channel, row.refused_because


def is_digest_day(reference: Reference, day: date) -> bool:
    """Whether the organisation works that day: a working day of its own, and no public holiday."""
    organisation = reference.organisation
    week = working_week.working_week(organisation.working_days)
    holidays = holiday_sets.holidays_between(reference, organisation.country_code, day, day)
    off = holidays[day].halves if day in holidays else NOTHING
    return week[day.weekday()] & ~off != NOTHING


def _look(tx: Transaction, reference: Reference, now: datetime) -> Digest | None:
    organisation = reference.organisation
    local = now.astimezone(ZoneInfo(organisation.timezone))
    today = local.date()
    row = tx.first(_row, organisation_id=organisation.id)
    channel, team_id = organisation.digest_channel, organisation.slack_team_id
    if row is None or channel is None:
        # Choosing a channel again starts over.
        tx.change(_forget, organisation_id=organisation.id)
        return None
    due_at = _next_look(reference, today, local.time())
    if (
        due_at is not None
        or row.refused_channel == channel
        or team_id is None
        or not reference.is_in_slack
    ):
        _release(
            tx,
            organisation.id,
            now + QUEUE.lease,
            due_at or min(_tomorrow(organisation, today), now + timedelta(hours=1)),
        )
        return None
    is_todays = row.day == today.isoformat() and row.channel == channel
    found = tx.all(
        _out,
        organisation_id=organisation.id,
        today=today.isoformat(),
        earliest_start=(today - _MAX_DURATION).isoformat(),
        limit=MAX_SHOWN,
    )
    return Digest(
        organisation_id=organisation.id,
        team_id=team_id,
        channel=channel,
        locale=_locale(tx, organisation.id),
        day=today,
        out=tuple(_absent(one, today) for one in found),
        total=found[0].total if found else 0,
        ts=(row.ts or None) if is_todays else None,
        shown_sha256=(row.shown_sha256 or None) if is_todays else None,
        lease_expires_at=now + QUEUE.lease,
        tomorrow_at=_tomorrow(organisation, today),
    )


def _next_look(reference: Reference, today: date, clock: time) -> datetime | None:
    """When the next digest begins; None while today's stands."""
    if not is_digest_day(reference, today):
        return _tomorrow(reference.organisation, today)
    return _begins(reference.organisation, today) if clock < POSTED_AT else None


def _begins(organisation: Organisation, day: date) -> datetime:
    return datetime.combine(day, POSTED_AT, ZoneInfo(organisation.timezone)).astimezone(UTC)


def _tomorrow(organisation: Organisation, today: date) -> datetime:
    return _begins(organisation, today + timedelta(days=1))


def _release(
    tx: Transaction,
    organisation_id: str,
    lease_expires_at: datetime,
    due_at: datetime,
    **changes: str,
) -> bool:
    return QUEUE.release(tx, (organisation_id,), lease_expires_at, {"due_at": due_at, **changes})


def _locale(tx: Transaction, organisation_id: str) -> str | None:
    """A channel has no language that we may ask for: that of one of the owners, always the same."""
    owners = sorted(
        user_id
        for (user_id,) in tx.all(
            people_rows.active_owners, organisation_id=organisation_id, limit=50
        )
    )
    locales = slack_locales.of_people(tx, organisation_id, owners)
    return next((locales[user_id] for user_id in owners if user_id in locales), None)


def _absent(row: Row, today: date) -> Out:
    mask = int(row.counted_halves[(today - rows.day(row.start_date)).days])
    return Out(
        name=f"{row.first_name} {row.last_name}".strip(),
        type_name=None if row.is_private else row.type_name,
        half=_HALVES.get(mask),
        last_day=rows.day(row.end_date),
    )


@compiled
def _begin(limit: Param[int]) -> Insert:
    """Rows for organisations that have named a channel since."""
    new: Expr = (
        OrganisationRow.select(OrganisationRow.id, SQL("0"))
        .join(DigestRow, JOIN.LEFT_OUTER, on=(DigestRow.organisation_id == OrganisationRow.id))
        .where(OrganisationRow.digest_channel.is_null(False), DigestRow.organisation_id.is_null())
        .limit(limit)
    )
    return DigestRow.insert_from(
        new, [DigestRow.organisation_id, DigestRow.due_at]
    ).on_conflict_ignore()


@compiled
def _forget(organisation_id: Param[str]) -> Delete:
    return DigestRow.delete().where(DigestRow.organisation_id == organisation_id)


@compiled
def _row(organisation_id: Param[str]) -> Select:
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
    organisation_id: Param[str], today: Param[str], earliest_start: Param[str], limit: Param[int]
) -> Select:
    """Approved leave on a day, by name; each row tells how much there is."""
    return (
        rows.with_names(
            LeaveRequestRow.select(
                fn.COUNT(LeaveRequestRow.id).over().alias("total"),
                UserRow.first_name,
                UserRow.last_name,
                LeaveRequestRow.start_date,
                LeaveRequestRow.end_date,
                LeaveRequestRow.counted_halves,
                LeaveTypeRow.name.alias("type_name"),
                LeaveTypeRow.is_private,
            )
        )
        .where(
            LeaveRequestRow.organisation_id == organisation_id,
            LeaveRequestRow.status == "approved",
            LeaveRequestRow.start_date >= earliest_start,
            LeaveRequestRow.start_date <= today,
            LeaveRequestRow.end_date >= today,
            UserRow.status << ("pending", "active"),
        )
        .order_by(UserRow.first_name, UserRow.last_name, LeaveRequestRow.id)
        .limit(limit)
    )
