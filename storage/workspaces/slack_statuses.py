"""People whose Slack status shows their leave: connecting, disconnecting, and what a check needs.

A check compares what the status should be with what Hiatus set last, and asks Slack only if they
differ. It is claimed (``people.slack_status_rows``); leave that changes makes it due at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Final

import orjson
from cryptography.fernet import InvalidToken

from storage.base.errors import Forbidden, Sentence
from storage.base.event_values import AuditAction
from storage.base.ids import new_id
from storage.base.values import Caller, User
from storage.calendars import absences
from storage.db import locks, rows
from storage.db.database import Row, Transaction
from storage.db.tables import SlackStatusRow
from storage.outbox import audit, notification_outbox, organisation_config
from storage.outbox.leased_queue import wait_after
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import employment_by_date, people_rows
from storage.people.slack_status_rows import QUEUE
from storage.rules import slack_status
from storage.rules.counted_days import AFTERNOON, MORNING, Span
from storage.rules.slack_status import Away, Halves, Known, Status

# Days before today in which the leave may lie that a row of free days follows.
_DAYS_BACK: Final = 31
# Days ahead in which the next working day is looked for: first in few, then in many.
_DAYS_AHEAD: Final = (31, 400)
# Working days, holidays and leave types change without making a check due.
_SPACING_AWAY: Final = timedelta(hours=1)
_SPACING: Final = timedelta(days=1)
# A status of the person's own may end: it is looked at again.
WAIT: Final = timedelta(hours=1)
_RETRY_AFTER: Final = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
)
# An ended connection is deleted after so many failures, even if its token could not be revoked.
_MAX_FAILURES_OF_ENDED: Final = 10


class NotTheirAccount(Forbidden):
    """While connecting a Slack status: another account agreed than the one that the person uses
    Hiatus with.
    """

    code = "not_their_slack_account"
    title = "This is another Slack account."
    cure = "Switch to the account with which you use Hiatus, and connect the status again."
    sentence = Sentence(
        "You agreed with another Slack account than the one that you use Hiatus with. Sign in "
        "with that one, and try again."
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Connection:
    """A person's connection as the person sees it."""

    user_id: str
    connected_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """A claimed connection, and what its status should show.

    ``emoji`` has no colons. ``next_at`` is when something changes without a change of leave.
    ``is_ending``: the status is removed, then the token is revoked.
    """

    organisation_id: str
    id: str
    claim_id: str
    user_id: str
    team_id: str
    slack_user_id: str
    token: str
    locale: str | None
    away: Away | None
    emoji: str
    known: Known
    next_at: datetime
    is_ending: bool
    failures: int

    def __repr__(self) -> str:
        return f"Check({self.organisation_id!r}, {self.id!r})"

    @property
    def key(self) -> tuple[str, str]:
        return self.organisation_id, self.id


def find(tx: Transaction, *, by: Caller) -> Connection | None:
    """The caller's own connection."""
    row = tx.find(SlackStatusRow, organisation_id=by.organisation_id, user_id=by.user_id)
    if row is None or row.ending_at is not None:
        return None
    return Connection(user_id=row.user_id, connected_at=rows.instant(row.connected_at))


def is_connected(tx: Transaction, team_id: str, slack_user_id: str) -> bool:
    """Whether a person is connected with this Slack account."""
    return bool(tx.select(SlackStatusRow, team_id=team_id, slack_user_id=slack_user_id))


def connect(
    tx: Transaction,
    *,
    organisation_id: str,
    user_id: str,
    team_id: str,
    slack_user_id: str,
    token: str,
    now: datetime,
) -> User:
    """Connect the person with the token that their Slack account agreed to.

    Raises NotTheirAccount unless it is the account, in the workspace, that they use Hiatus with.
    """
    user = people_rows.find(tx, organisation_id, user_id)
    config = organisation_config.of_organisation(tx, organisation_id)
    if (
        user is None
        or user.status != "active"
        or user.slack_user_id != slack_user_id
        or config.organisation.slack_team_id != team_id
        or not config.is_in_slack
    ):
        raise NotTheirAccount
    columns: dict[str, object] = {
        "team_id": team_id,
        "slack_user_id": slack_user_id,
        "token_encrypted": tx.secrets.encrypt(token),
        "connected_at": now,
        "ending_at": None,
        "due_at": now,
        "claim_id": None,
        "failures": 0,
        "left_alone_until": None,
    }
    row = _of_person(tx, organisation_id, user_id)
    connection_id = new_id(now) if row is None else row.id
    if row is None:
        key = {"organisation_id": organisation_id, "id": connection_id, "user_id": user_id}
        tx.insert(SlackStatusRow, **key, **columns)
    else:
        tx.update(SlackStatusRow, columns, organisation_id=organisation_id, id=connection_id)
    by = Caller.in_slack(organisation_id, user_id, user.role)
    _record(tx, "slack_status.connected", user_id, by=by, now=now)
    return user


def disconnect(tx: Transaction, *, by: Caller, now: datetime) -> None:
    """Remove the status and revoke the token soon; without a connection nothing changes."""
    row = _of_person(tx, by.organisation_id, str(by.user_id))
    if row is None or row.ending_at is not None:
        return
    _end_soon(tx, row, now)
    _record(tx, "slack_status.disconnected", row.user_id, by=by, now=now)


def revoked(tx: Transaction, team_id: str, slack_user_ids: Sequence[str], *, now: datetime) -> int:
    """Slack revoked the tokens of these accounts: end their connections, and tell each once."""
    found = [
        row
        for slack_user_id in slack_user_ids[:1_000]
        for row in tx.select(SlackStatusRow, team_id=team_id, slack_user_id=slack_user_id)
    ]
    for row in found:
        _delete_revoked(tx, row, now)
    return len(found)


def claim(tx: Transaction, *, claim_id: str, now: datetime, limit: int) -> list[tuple[str, str]]:
    """Claim due connections; ``claim_id`` is new for every call."""
    claimed = QUEUE.claim(tx, claim_id=claim_id, now=now, limit=limit)
    return [(row.organisation_id, row.id) for row in claimed]


def load(
    tx: Transaction, organisation_id: str, id: str, claim_id: str, *, now: datetime
) -> Check | None:
    """The claimed check; None if the claim no longer holds or there is nothing to do now."""
    row = tx.find(SlackStatusRow, organisation_id=organisation_id, id=id, claim_id=claim_id)
    if row is None:
        return None
    config = organisation_config.of_organisation(tx, organisation_id)
    user = people_rows.find(tx, organisation_id, row.user_id)
    assert user is not None
    if row.ending_at is None and _has_left(user, row, config):
        _end_soon(tx, row, now)
        by = Caller.system(organisation_id, "scheduler")
        _record(tx, "slack_status.ended", row.user_id, by=by, now=now)
        return None
    away, next_at = None, now + _SPACING
    if row.ending_at is None and user.status == "active":
        away, next_at = _away(tx, config, user, now)
    left_alone_until = rows.instant_or_none(row.left_alone_until)
    known = _known(row.known)
    if away is not None and left_alone_until is not None and left_alone_until > now:
        QUEUE.release(tx, (organisation_id, id), claim_id, {"due_at": left_alone_until})
        return None
    try:
        token = tx.secrets.decrypt(row.token_encrypted)
    except InvalidToken:
        if row.ending_at is not None:
            tx.delete(SlackStatusRow, organisation_id=organisation_id, id=id)
            return None
        # Operators restore the key, or the person connects again.
        QUEUE.release(tx, (organisation_id, id), claim_id, {"due_at": now + _SPACING})
        return None
    emoji = slack_status.NEUTRAL_EMOJI
    if away is not None:
        leave_type = config.leave_types[away.leave_type_id]
        if leave_type.emoji and not leave_type.is_private:
            emoji = leave_type.emoji
        if emoji == row.refused_emoji:
            emoji = slack_status.NEUTRAL_EMOJI
    return Check(
        organisation_id=organisation_id,
        id=id,
        claim_id=claim_id,
        user_id=row.user_id,
        team_id=row.team_id,
        slack_user_id=row.slack_user_id,
        token=token,
        locale=people_rows.locale_of(tx, organisation_id, row.user_id),
        away=away,
        emoji=emoji,
        known=known,
        next_at=next_at,
        is_ending=row.ending_at is not None,
        failures=row.failures,
    )


def _has_left(user: User, row: Row, config: OrganisationConfig) -> bool:
    """Whether the person was archived, or uses Hiatus with another account or none."""
    return (
        user.status == "archived"
        or user.slack_user_id != row.slack_user_id
        or config.organisation.slack_team_id != row.team_id
    )


def _away(
    tx: Transaction, config: OrganisationConfig, user: User, now: datetime
) -> tuple[Away | None, datetime]:
    """The person's absence now, and when it is looked at again."""
    for days_ahead in _DAYS_AHEAD:
        halves = _halves(tx, config, user, now, days_ahead)
        away, changes_at = slack_status.away_at(halves, now)
        if away is None or away.returns_on is not None:
            break
    spacing = _SPACING if away is None else _SPACING_AWAY
    latest = now + spacing
    return away, latest if changes_at is None else min(changes_at, latest)


def _halves(
    tx: Transaction, config: OrganisationConfig, user: User, now: datetime, days_ahead: int
) -> Halves:
    today = now.date()
    first_day, last_day = today - timedelta(days=_DAYS_BACK), today + timedelta(days=days_ahead)
    leave: dict[int, str] = {}
    for counted in absences.of_people(
        tx,
        config.organisation.id,
        config.leave_types,
        user.id,
        [user.id],
        first_day=first_day,
        last_day=last_day,
    ).get(user.id, ()):
        if counted.is_pending or not counted.is_away or counted.leave_type_id is None:
            continue
        for number, mask in enumerate(map(int, counted.counted_halves)):
            slots = _slots(counted.start_date + timedelta(days=number), mask)
            leave |= dict.fromkeys(slots, counted.leave_type_id)
    span = Span(start_date=first_day, end_date=last_day)
    worked = {
        slot
        for count in employment_by_date.count(config, user, span)
        for slot in _slots(count.date, count.counted)
    }
    return Halves(
        leave=leave,
        is_worked=worked.__contains__,
        first_slot=span.first_slot,
        last_slot=span.last_slot,
        midday_at=config.organisation.midday_at,
        timezone=user.timezone or config.organisation.timezone,
    )


def _slots(day: date, mask: int) -> list[int]:
    morning = 2 * day.toordinal()
    return [morning] * bool(mask & MORNING) + [morning + 1] * bool(mask & AFTERNOON)


def begin(tx: Transaction, check: Check, sent: Status) -> bool:
    """Record what is about to be sent; False if the claim no longer holds.

    If Slack does not answer or the process crashes, the next check knows it for Hiatus's own.
    """
    known = replace(check.known, sent=sent, is_unconfirmed=True)
    where = {"organisation_id": check.organisation_id, "id": check.id, "claim_id": check.claim_id}
    return tx.update(SlackStatusRow, {"known": _text_of(known)}, **where) == 1


def record_result(
    tx: Transaction,
    check: Check,
    known: Known,
    *,
    due_at: datetime | None = None,
    refused_emoji: str | None = None,
    left_alone_until: datetime | None = None,
) -> None:
    """Record what Slack shows of Hiatus's; checked again at ``due_at``, else at ``next_at``."""
    changes: dict[str, object] = {
        "known": _text_of(known),
        "due_at": due_at or check.next_at,
        "failures": 0,
        "left_alone_until": left_alone_until,
    }
    if refused_emoji is not None:
        changes["refused_emoji"] = refused_emoji
    QUEUE.release(tx, check.key, check.claim_id, changes)


def fail(
    tx: Transaction, check: Check, *, retry_after_seconds: int | None = None, now: datetime
) -> None:
    """Try again later, no sooner than Slack's Retry-After."""
    failures = check.failures + 1
    if check.is_ending and failures >= _MAX_FAILURES_OF_ENDED:
        finish(tx, check)
        return
    wait = max(wait_after(failures, _RETRY_AFTER), timedelta(seconds=retry_after_seconds or 0))
    changes: dict[str, object] = {"due_at": now + wait, "failures": failures}
    QUEUE.release(tx, check.key, check.claim_id, changes)


def postpone(tx: Transaction, check: Check, *, until: datetime) -> None:
    """Look again then: another check met the rate limit of the workspace."""
    QUEUE.release(tx, check.key, check.claim_id, {"due_at": until})


def finish(tx: Transaction, check: Check) -> None:
    """Delete an ended connection, unless the person connected again meanwhile."""
    where = {"organisation_id": check.organisation_id, "id": check.id, "claim_id": check.claim_id}
    tx.delete(SlackStatusRow, **where)


def refuse(tx: Transaction, check: Check, *, now: datetime) -> None:
    """Slack refused the token: end the connection, and tell the person once."""
    where = {"organisation_id": check.organisation_id, "id": check.id, "claim_id": check.claim_id}
    row = tx.find(SlackStatusRow, locks.ROW, **where)
    if row is not None:
        _delete_revoked(tx, row, now)


def _delete_revoked(tx: Transaction, row: Row, now: datetime) -> None:
    if not tx.delete(SlackStatusRow, organisation_id=row.organisation_id, id=row.id):
        return
    if row.ending_at is not None:
        return  # The person or Hiatus revoked it.
    by = Caller.system(row.organisation_id, "slack")
    _record(tx, "slack_status.ended", row.user_id, by=by, now=now)
    notification_outbox.tell_status_ended(
        tx, row.user_id, organisation_id=row.organisation_id, now=now
    )


def _end_soon(tx: Transaction, row: Row, now: datetime) -> None:
    changes = {"ending_at": now, "due_at": now, "claim_id": None, "failures": 0}
    tx.update(SlackStatusRow, changes, organisation_id=row.organisation_id, id=row.id)


def _of_person(tx: Transaction, organisation_id: str, user_id: str) -> Row | None:
    """The person's connection, locked."""
    return tx.find(SlackStatusRow, locks.ROW, organisation_id=organisation_id, user_id=user_id)


def _record(
    tx: Transaction, action: AuditAction, user_id: str, *, by: Caller, now: datetime
) -> None:
    audit.record(tx, action, "user", user_id, by=by, now=now)


def _text_of(known: Known) -> str | None:
    if known == Known():
        return None
    return rows.json_text(
        {
            "sent": _members(known.sent),
            "shown": _members(known.shown),
            "is_unconfirmed": known.is_unconfirmed,
        }
    )


def _members(status: Status | None) -> Mapping[str, object] | None:
    if status is None:
        return None
    expires_at = status.expires_at
    return {
        "text": status.text,
        "emoji": status.emoji,
        "expires_at": None if expires_at is None else int(expires_at.timestamp()),
    }


def _known(text: str | None) -> Known:
    if text is None:
        return Known()
    members: dict[str, Any] = orjson.loads(text)
    return Known(
        sent=_status(members["sent"]),
        shown=_status(members["shown"]),
        is_unconfirmed=members["is_unconfirmed"],
    )


def _status(members: dict[str, Any] | None) -> Status | None:
    if members is None:
        return None
    seconds = members["expires_at"]
    return Status(
        text=members["text"],
        emoji=members["emoji"],
        expires_at=None if seconds is None else rows.instant(seconds * 1000),
    )
