"""The messages in Slack that show the card of a request, one for each person who has the card."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from storage.base.ids import new_id
from storage.db import rows
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
    messages = tx.select(
        SlackMessageRow, organisation_id=organisation_id, leave_request_id=leave_request_id
    )
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
    key = _key(organisation_id, leave_request_id, user_id)
    columns = {"channel": message.channel, "ts": message.ts, "posted_at": now}
    # A click and a delivery may report a card at the same moment.
    if not tx.insert_new(SlackMessageRow, id=new_id(now), **key, **columns):
        tx.update(SlackMessageRow, columns, **key)


def save_reply(
    tx: Transaction, organisation_id: str, leave_request_id: str, user_id: str, reply_ts: str
) -> None:
    """Save the reply that shows the card again; it replaces the earlier one."""
    key = _key(organisation_id, leave_request_id, user_id)
    tx.update(SlackMessageRow, {"reply_ts": reply_ts}, **key)


def delete(
    tx: Transaction,
    organisation_id: str,
    leave_request_id: str,
    user_id: str,
    message: PostedMessage,
) -> None:
    """Delete a message that Slack no longer has, unless the card has another one by now."""
    key = _key(organisation_id, leave_request_id, user_id)
    tx.delete(SlackMessageRow, **key, channel=message.channel, ts=message.ts)


def delete_all_of(tx: Transaction, organisation_id: str, user_id: str) -> None:
    """Delete the messages of a person's cards, so that their next cards are new messages."""
    tx.delete(SlackMessageRow, organisation_id=organisation_id, user_id=user_id)


def _key(organisation_id: str, leave_request_id: str, user_id: str) -> dict[str, str]:
    return {
        "organisation_id": organisation_id,
        "leave_request_id": leave_request_id,
        "user_id": user_id,
    }
