"""Tells people of days that lapse, with proof: what was said, when, and when they saw it.

A notice is a row with the figures that its message shows, so it says later what it said then. It is
written with its notification in one transaction, once a day and person at most; that it was sent
and seen is audited. ``expiring_days`` of the rules says which days lapse and when they are told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from peewee import JOIN, Select, Update

from storage.base.allowance_values import Allowance
from storage.base.errors import NotFound
from storage.base.ids import is_id, new_id
from storage.base.values import Caller, Organisation, User, local_day
from storage.db import locks, rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import ExpiryCheckRow, ExpiryNoticeRow, OrganisationRow, UserRow
from storage.leave import lapsing_days
from storage.leave.lapsing_days import ExpiryNotice, TellsOf
from storage.notifications.slack_messages import PostedMessage
from storage.outbox import audit, notification_outbox, organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import approval_rule, employment_by_date, people_rows
from storage.rules import expiring_days
from storage.rules.counted_days import Span
from storage.rules.expiring_days import Due, KnownFrom, NoticeKind, Pot, Told

# Organisations that a periodic run checks; the next run follows within a minute.
MAX_ORGANISATIONS: Final = 1_000
# People whose balances are read at once: in about 20 ms.
BATCH_SIZE: Final = 10
# Much longer than the wait between two runs. If none follows, another process begins again.
LEASE: Final = timedelta(minutes=10)
# The wait after an error in an organisation's data.
BACK_OFF: Final = timedelta(minutes=15)
# A day off may be followed by holidays; then a notice no longer waits for a working day.
_DAYS_AHEAD: Final = 14


# Which organisations and people are checked, and when.


def due_organisations(tx: Transaction, *, now: datetime) -> list[str]:
    """The organisations in Slack whose check is due, those due longest first."""
    return [row.id for row in tx.all(_due_organisations, now=now)]


@compiled
def _due_organisations(now: Param[datetime]) -> Select:
    organisation, check = OrganisationRow, ExpiryCheckRow
    return (
        organisation.select(organisation.id)
        .join(check, JOIN.LEFT_OUTER, on=(check.organisation_id == organisation.id))
        .where(
            organisation.slack_team_id.is_null(False),
            organisation.expiry_notices,
            check.due_at.is_null() | (check.due_at <= now),
        )
        .order_by(check.due_at)
        .limit(MAX_ORGANISATIONS)
    )


def claim(tx: Transaction, organisation_id: str, *, now: datetime) -> bool:
    """Begin the check of an organisation; False if it is not due, or another process has it.

    People are told within the organisation's working hours; the check waits for them.
    """
    config = organisation_config.of_organisation(tx, organisation_id)
    begins_at = _next_check(config.organisation, now)
    is_checked = begins_at <= now and config.is_in_slack and config.organisation.expiry_notices
    due_at = now + LEASE if is_checked else max(begins_at, now + LEASE)
    if tx.insert_new(ExpiryCheckRow, organisation_id=organisation_id, due_at=due_at):
        return is_checked
    is_claimed = tx.change(_move, organisation_id=organisation_id, now=now, due_at=due_at)
    return is_checked and bool(is_claimed)


@compiled
def _move(organisation_id: Param[str], now: Param[datetime], due_at: Param[datetime]) -> Update:
    return ExpiryCheckRow.update(due_at=due_at).where(
        ExpiryCheckRow.organisation_id == organisation_id, ExpiryCheckRow.due_at <= now
    )


def finish(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """The organisation was checked; the next check is on the next day."""
    organisation = organisation_config.of_organisation(tx, organisation_id).organisation
    tomorrow = local_day(now, organisation.timezone) + timedelta(days=1)
    due_at = _at(organisation, tomorrow, organisation.day_starts_at)
    tx.update(ExpiryCheckRow, {"due_at": due_at}, organisation_id=organisation_id)


def go_on_later(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Keep the check of the organisation, whose next people follow in the next run."""
    tx.update(ExpiryCheckRow, {"due_at": now + LEASE}, organisation_id=organisation_id)


def back_off(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Check the organisation later, after an error."""
    due_at = now + BACK_OFF
    tx.update(ExpiryCheckRow, {"due_at": due_at}, organisation_id=organisation_id)


def _next_check(organisation: Organisation, now: datetime) -> datetime:
    """When people may be told: now within working hours, else when they begin."""
    today = local_day(now, organisation.timezone)
    begins_at = _at(organisation, today, organisation.day_starts_at)
    if now < _at(organisation, today, organisation.day_ends_at):
        return begins_at
    return _at(organisation, today + timedelta(days=1), organisation.day_starts_at)


def _at(organisation: Organisation, day: date, clock: str) -> datetime:
    zone = ZoneInfo(organisation.timezone)
    return datetime.combine(day, time.fromisoformat(clock), zone).astimezone(UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class DueNotice:
    """A notice to write, and what it says."""

    kind: NoticeKind
    contents: tuple[TellsOf, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class DuePeople:
    """The notices of a batch of ``people`` by person.

    ``after_id`` is where the next batch begins; None: nowhere.
    """

    notices: Mapping[str, DueNotice]
    people: int
    after_id: str | None


def due_people(
    tx: Transaction, organisation_id: str, after_id: str | None, *, now: datetime
) -> DuePeople:
    """The people of a batch for whom a notice is due now, with what it says."""
    config = organisation_config.of_organisation(tx, organisation_id)
    found = tx.all(
        _reachable_people, organisation_id=organisation_id, after_id=after_id, limit=BATCH_SIZE
    )
    users = [rows.user(row) for row in found]
    return DuePeople(
        notices=_due(tx, config, users, now),
        people=len(users),
        after_id=users[-1].id if len(users) == BATCH_SIZE else None,
    )


@compiled
def _reachable_people(
    organisation_id: Param[str], after_id: Param[str] | None, limit: Param[int]
) -> Select:
    query = UserRow.select(*rows.USER).where(
        UserRow.organisation_id == organisation_id, approval_rule.is_reachable_sql(UserRow)
    )
    if after_id is not None:
        query = query.where(UserRow.id > after_id)
    return query.order_by(UserRow.id).limit(limit)


def tell(
    tx: Transaction, organisation_id: str, due: Mapping[str, DueNotice], *, now: datetime
) -> int:
    """Write the notices, by person, and queue their messages; the number of notices.

    The people are locked, and those left out who were told today: another process may do the same.
    """
    config = organisation_config.of_organisation(tx, organisation_id)
    today = local_day(now, config.organisation.timezone)
    people_rows.lock(tx, organisation_id, due.keys())
    told = lapsing_days.of_people(tx, organisation_id, due.keys(), today)
    notices = [
        {
            "organisation_id": organisation_id,
            "id": new_id(now),
            "user_id": user_id,
            "kind": notice.kind,
            "told_on": today.isoformat(),
            "contents": rows.json_text(notice.contents),
            "created_at": now,
        }
        for user_id, notice in due.items()
        if user_id not in told
    ]
    tx.insert_all(ExpiryNoticeRow, notices)
    notification_outbox.tell_expiry(
        tx,
        [(str(each["id"]), str(each["user_id"])) for each in notices],
        organisation_id=organisation_id,
        now=now,
    )
    return len(notices)


def _due(
    tx: Transaction, config: OrganisationConfig, users: Sequence[User], now: datetime
) -> dict[str, DueNotice]:
    """The notices that are due now, by person."""
    if not users or not config.is_in_slack or not config.organisation.expiry_notices:
        return {}
    today = local_day(now, config.organisation.timezone)
    users = [user for user in users if approval_rule.is_reachable(user)]
    pots = lapsing_days.pots_of_people(tx, config, users, today)
    # A leave year and the time in which a notice may be merged or late.
    since = today - timedelta(days=400)
    notices = lapsing_days.of_people(tx, config.organisation.id, [*pots], since) if pots else {}
    due: dict[str, DueNotice] = {}
    for user in users:
        if user.id not in pots:
            continue
        told = [_told(each) for each in notices.get(user.id, [])]
        known = _known(config, user)
        found = expiring_days.due(pots[user.id], told, known, today)
        if found is None or any(each.on == today for each in told):
            continue
        working_days = _working_days(config, user, today)
        if expiring_days.is_sent_on(today, working_days, found.first_last_day):
            due[user.id] = notice(found, pots[user.id])
    return due


def _told(notice: ExpiryNotice) -> Told:
    return Told(
        on=notice.told_on,
        is_statement=notice.kind == "statement",
        named=frozenset(notice.named),
    )


def _known(config: OrganisationConfig, user: User) -> KnownFrom:
    timezone = config.organisation.timezone
    return KnownFrom(
        organisation=local_day(config.organisation.created_at, timezone),
        person=local_day(user.created_at, timezone),
        employment=user.start_date,
    )


def _working_days(config: OrganisationConfig, user: User, today: date) -> list[date]:
    span = Span(start_date=today, end_date=today + timedelta(days=_DAYS_AHEAD))
    return [each.date for each in employment_by_date.count(config, user, span) if each.counted]


def notice(due: Due, pots: Mapping[str, Pot]) -> DueNotice:
    """It says something of each allowance that it names and that holds anything."""
    contents = tuple(
        TellsOf(allowance_id=allowance_id, pot=replace(pots[allowance_id], lapses=lapses))
        for allowance_id, lapses in due.named.items()
        if not pots[allowance_id].is_empty
    )
    return DueNotice(kind=due.kind, contents=contents)


# What becomes of a notice.


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownNotice:
    """A notice with what its message needs; ``allowances`` are by id."""

    notice: ExpiryNotice
    allowances: Mapping[str, Allowance]
    timezone: str


def find(tx: Transaction, organisation_id: str, notice_id: str) -> ShownNotice | None:
    row = None
    if is_id(notice_id):
        row = tx.find(ExpiryNoticeRow, organisation_id=organisation_id, id=notice_id)
    if row is None:
        return None
    config = organisation_config.of_organisation(tx, organisation_id)
    return ShownNotice(
        notice=lapsing_days.notice(row),
        allowances=config.allowances,
        timezone=config.organisation.timezone,
    )


def record_sent(
    tx: Transaction, sent: Iterable[tuple[str, str, PostedMessage]], *, now: datetime
) -> None:
    """Record that Slack took the messages of notices: their organisation, id and message.

    A message that a crash has repeated is recorded once.
    """
    by_organisation: dict[str, dict[str, PostedMessage]] = {}
    for organisation_id, notice_id, message in sent:
        by_organisation.setdefault(organisation_id, {})[notice_id] = message
    for organisation_id, messages in by_organisation.items():
        unsent = tx.select(
            ExpiryNoticeRow,
            locks.ROW,
            organisation_id=organisation_id,
            id=sorted(messages),
            sent_at=None,
        )
        notices = [lapsing_days.notice(row) for row in unsent]
        if not notices:
            continue
        tx.update(
            ExpiryNoticeRow,
            {"sent_at": now},
            organisation_id=organisation_id,
            id=[notice.id for notice in notices],
        )
        audit.record_all(
            tx,
            "expiry_notice.sent",
            "user",
            [(each.user_id, {}, _audited(each, messages[each.id])) for each in notices],
            by=Caller.system(organisation_id, "scheduler"),
            now=now,
        )


def _audited(notice: ExpiryNotice, message: PostedMessage) -> dict[str, object]:
    lapses = [
        {"allowance_id": allowance_id, "days": float(lapse.half_days) / 2, "lapses_on": day}
        for (allowance_id, day), lapse in notice.named.items()
    ]
    return {
        "expiry_notice_id": notice.id,
        "kind": notice.kind,
        "lapses": lapses,
        "slack_channel": message.channel,
        "slack_ts": message.ts,
    }


def see(tx: Transaction, notice_id: str, *, by: Caller, now: datetime) -> ShownNotice:
    """Record that the caller saw their own notice, once. Raises NotFound."""
    shown = find(tx, by.organisation_id, notice_id)
    if shown is None or shown.notice.user_id != by.user_id:
        raise NotFound("expiry notice")
    is_first = tx.update(
        ExpiryNoticeRow,
        {"seen_at": now},
        organisation_id=by.organisation_id,
        id=notice_id,
        seen_at=None,
    )
    if not is_first:
        return shown
    after = {"expiry_notice_id": notice_id}
    audit.record(
        tx, "expiry_notice.seen", "user", shown.notice.user_id, by=by, now=now, after=after
    )
    return replace(shown, notice=replace(shown.notice, seen_at=now))
