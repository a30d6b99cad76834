"""The messages in Slack about a time credit, one for each person who has one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from peewee import Select, Update

from storage.db.compiled import Param, any_of_keys, compiled, json_of_keys
from storage.db.database import Transaction
from storage.db.tables import NotificationRow, TimeCreditCardRow, TimeCreditRow
from storage.notifications.slack_messages import PostedMessage
from storage.outbox.notification_outbox import NOTIFICATIONS, notification_row

# Organisation, credit, person, and the version of the credit that their card shows.
Shown = tuple[str, str, str, int]


def of_credit(tx: Transaction, organisation_id: str, credit_id: str) -> dict[str, PostedMessage]:
    cards = tx.select(TimeCreditCardRow, organisation_id=organisation_id, time_credit_id=credit_id)
    return {
        row.user_id: PostedMessage(channel=row.channel, ts=row.ts, reply_ts=row.reply_ts)
        for row in cards
        if row.channel is not None
    }


def save(
    tx: Transaction,
    organisation_id: str,
    credit_id: str,
    user_id: str,
    message: PostedMessage,
    *,
    is_reminded: bool,
    now: datetime,
) -> None:
    """Save a message that was sent; it replaces the person's earlier one.

    ``is_reminded``: they are an approver, who is reminded of it from now on.
    """
    key = _key(organisation_id, credit_id, user_id)
    columns = {"channel": message.channel, "ts": message.ts}
    schedule = {
        "asked_at": now,
        "sent": 0,
        "is_next_step": False,
        "due_at": now if is_reminded else None,
    }
    if not tx.insert_new(TimeCreditCardRow, **key, **columns, **schedule):
        tx.update(TimeCreditCardRow, columns, **key)


def save_reply(
    tx: Transaction, organisation_id: str, credit_id: str, user_id: str, reply_ts: str
) -> None:
    """Save the reply that shows the card again; it replaces the earlier one."""
    key = _key(organisation_id, credit_id, user_id)
    tx.update(TimeCreditCardRow, {"reply_ts": reply_ts}, **key)


def delete(
    tx: Transaction, organisation_id: str, credit_id: str, user_id: str, message: PostedMessage
) -> None:
    """Forget a message that Slack no longer has, unless the person has another one by now."""
    key = _key(organisation_id, credit_id, user_id)
    forgotten = {"channel": None, "ts": None, "reply_ts": None}
    tx.update(TimeCreditCardRow, forgotten, **key, channel=message.channel, ts=message.ts)


def delete_all_of(tx: Transaction, organisation_id: str, user_id: str) -> None:
    """Forget a person's messages, so that their next ones are new."""
    key = {"organisation_id": organisation_id, "user_id": user_id}
    tx.update(TimeCreditCardRow, {"channel": None, "ts": None, "reply_ts": None}, **key)


def restart(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Restart the schedules of all reminders, since none could be sent until now."""
    tx.change(_restart, organisation_id=organisation_id, now=now)


def render_outdated_again(tx: Transaction, shown: Sequence[Shown], *, now: datetime) -> None:
    """Queue the cards whose credit changed while they were rendered: their buttons must go."""
    if not shown:
        return
    keys = {(organisation_id, credit_id) for organisation_id, credit_id, _, _ in shown}
    versions = {row.id: row.version for row in tx.all(_versions, keys=json_of_keys(keys))}
    outdated = [
        notification_row(
            organisation_id, "time_credit_card", user_id, None, "time_credit.rerouted", now
        )
        | {"time_credit_id": credit_id}
        for organisation_id, credit_id, user_id, version in shown
        if versions.get(credit_id, version) != version
    ]
    if outdated:
        tx.insert_all(NotificationRow, outdated)
        tx.notify(NOTIFICATIONS)


def _key(organisation_id: str, credit_id: str, user_id: str) -> dict[str, str]:
    return {
        "organisation_id": organisation_id,
        "time_credit_id": credit_id,
        "user_id": user_id,
    }


@compiled
def _versions(keys: Param[str]) -> Select:
    return TimeCreditRow.select(TimeCreditRow.id, TimeCreditRow.version).where(
        any_of_keys(TimeCreditRow, keys)
    )


@compiled
def _restart(organisation_id: Param[str], now: Param[datetime]) -> Update:
    return TimeCreditCardRow.update(asked_at=now, sent=0, due_at=now).where(
        TimeCreditCardRow.organisation_id == organisation_id,
        TimeCreditCardRow.due_at.is_null(False),
    )
