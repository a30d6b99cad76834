"""The messages in Slack that show the card of a request, one for each person who has the card."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from peewee import Delete, Insert, Select, Update

from storage.base.ids import new_id
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import SlackMessageRow


@dataclass(frozen=True, kw_only=True, slots=True)
class PostedMessage:
    """Slack's id of the conversation, and the time stamp that identifies the message in it.

    ``reply_ts`` is the last reply that shows the card again, for an approver who was reminded, or
    the requester's last news that the conversation shows, too.
    """

    channel: str
    ts: str
    reply_ts: str | None = None

    @property
    def reply(self) -> PostedMessage | None:
        if self.reply_ts is None:
            return None
        return PostedMessage(channel=self.channel, ts=self.reply_ts)


def find(
    tx: Transaction, organisation_id: str, leave_request_id: str, user_id: str
) -> PostedMessage | None:
    return of_request(tx, organisation_id, leave_request_id).get(user_id)


def of_request(
    tx: Transaction, organisation_id: str, leave_request_id: str
) -> dict[str, PostedMessage]:
    messages = tx.all(_messages, organisation_id=organisation_id, leave_request_id=leave_request_id)
    return {row.user_id: _posted(row) for row in messages}


_posted: Final = rows.mapper(PostedMessage)


def save(
    tx: Transaction,
    organisation_id: str,
    leave_request_id: str,
    user_id: str,
    message: PostedMessage,
    *,
    now: datetime,
) -> None:
    """Save the message of a card; it replaces the card's earlier message, but not its reply."""
    tx.change(
        _save,
        organisation_id=organisation_id,
        message_id=new_id(now),
        leave_request_id=leave_request_id,
        user_id=user_id,
        channel=message.channel,
        ts=message.ts,
        now=now,
    )


def save_reply(
    tx: Transaction, organisation_id: str, leave_request_id: str, user_id: str, reply_ts: str
) -> None:
    """Save the reply that shows the card again; it replaces the earlier one."""
    tx.change(
        _save_reply,
        organisation_id=organisation_id,
        leave_request_id=leave_request_id,
        user_id=user_id,
        reply_ts=reply_ts,
    )


def delete(
    tx: Transaction,
    organisation_id: str,
    leave_request_id: str,
    user_id: str,
    message: PostedMessage,
) -> None:
    """Delete a message that Slack no longer has, unless the card has another one by now."""
    tx.change(
        _delete,
        organisation_id=organisation_id,
        leave_request_id=leave_request_id,
        user_id=user_id,
        channel=message.channel,
        ts=message.ts,
    )


def delete_all_of(tx: Transaction, organisation_id: str, user_id: str) -> None:
    """Delete the messages of a person's cards, so that their next cards are new messages."""
    tx.change(_delete_all_of, organisation_id=organisation_id, user_id=user_id)


@compiled
def _delete_all_of(organisation_id: Param[str], user_id: Param[str]) -> Delete:
    return SlackMessageRow.delete().where(
        SlackMessageRow.organisation_id == organisation_id, SlackMessageRow.user_id == user_id
    )


@compiled
def _messages(organisation_id: Param[str], leave_request_id: Param[str]) -> Select:
    message = SlackMessageRow
    return message.select(message.user_id, message.channel, message.ts, message.reply_ts).where(
        message.organisation_id == organisation_id, message.leave_request_id == leave_request_id
    )


@compiled
def _save(
    organisation_id: Param[str],
    message_id: Param[str],
    leave_request_id: Param[str],
    user_id: Param[str],
    channel: Param[str],
    ts: Param[str],
    now: Param[datetime],
) -> Insert:
    # One statement: a click and a delivery may report a card at the same moment.
    columns = {"channel": channel, "ts": ts, "posted_at": now}
    return SlackMessageRow.insert(
        organisation_id=organisation_id,
        id=message_id,
        leave_request_id=leave_request_id,
        user_id=user_id,
        **columns,
    ).on_conflict(
        conflict_target=(
            SlackMessageRow.organisation_id,
            SlackMessageRow.leave_request_id,
            SlackMessageRow.user_id,
        ),
        update=columns,
    )


@compiled
def _save_reply(
    organisation_id: Param[str],
    leave_request_id: Param[str],
    user_id: Param[str],
    reply_ts: Param[str],
) -> Update:
    return SlackMessageRow.update(reply_ts=reply_ts).where(
        SlackMessageRow.organisation_id == organisation_id,
        SlackMessageRow.leave_request_id == leave_request_id,
        SlackMessageRow.user_id == user_id,
    )


@compiled
def _delete(
    organisation_id: Param[str],
    leave_request_id: Param[str],
    user_id: Param[str],
    channel: Param[str],
    ts: Param[str],
) -> Delete:
    return SlackMessageRow.delete().where(
        SlackMessageRow.organisation_id == organisation_id,
        SlackMessageRow.leave_request_id == leave_request_id,
        SlackMessageRow.user_id == user_id,
        SlackMessageRow.channel == channel,
        SlackMessageRow.ts == ts,
    )
