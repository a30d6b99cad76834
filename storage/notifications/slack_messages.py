"""Where in Slack the card of a request stands, for each person who has one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from peewee import Delete, Insert, Select

from storage.base.ids import new_id
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import SlackMessageRow


@dataclass(frozen=True, kw_only=True, slots=True)
class Posted:
    """A message of ours: the conversation's id and the message's time stamp, both Slack's own."""

    channel: str
    ts: str


def find(
    tx: Transaction, organisation_id: str, leave_request_id: str, user_id: str
) -> Posted | None:
    """The card that this person has of this request."""
    row = tx.first(
        _message,
        organisation_id=organisation_id,
        leave_request_id=leave_request_id,
        user_id=user_id,
    )
    return None if row is None else Posted(channel=row.channel, ts=row.ts)


def remember(
    tx: Transaction,
    organisation_id: str,
    leave_request_id: str,
    user_id: str,
    message: Posted,
    *,
    now: datetime,
) -> None:
    """Keep where the card stands, in place of where it stood before."""
    tx.change(
        _remember,
        organisation_id=organisation_id,
        message_id=new_id(now),
        leave_request_id=leave_request_id,
        user_id=user_id,
        channel=message.channel,
        ts=message.ts,
        now=now,
    )


def forget(
    tx: Transaction, organisation_id: str, leave_request_id: str, user_id: str, message: Posted
) -> None:
    """Drop what is known of a message that is gone; of another one nothing is dropped."""
    tx.change(
        _forget,
        organisation_id=organisation_id,
        leave_request_id=leave_request_id,
        user_id=user_id,
        channel=message.channel,
        ts=message.ts,
    )


def forget_all_of(tx: Transaction, organisation_id: str, user_id: str) -> None:
    """Forget the messages that show one person's cards, so that the next cards are new ones."""
    tx.change(_forget_all_of, organisation_id=organisation_id, user_id=user_id)


@compiled
def _forget_all_of(organisation_id: Param[str], user_id: Param[str]) -> Delete:
    return SlackMessageRow.delete().where(
        SlackMessageRow.organisation_id == organisation_id, SlackMessageRow.user_id == user_id
    )


@compiled
def _message(
    organisation_id: Param[str], leave_request_id: Param[str], user_id: Param[str]
) -> Select:
    return SlackMessageRow.select(SlackMessageRow.channel, SlackMessageRow.ts).where(
        SlackMessageRow.organisation_id == organisation_id,
        SlackMessageRow.leave_request_id == leave_request_id,
        SlackMessageRow.user_id == user_id,
    )


@compiled
def _remember(
    organisation_id: Param[str],
    message_id: Param[str],
    leave_request_id: Param[str],
    user_id: Param[str],
    channel: Param[str],
    ts: Param[str],
    now: Param[datetime],
) -> Insert:
    # One statement: a click and a delivery may both learn of a card at the same moment.
    place = {"channel": channel, "ts": ts, "posted_at": now}
    return SlackMessageRow.insert(
        organisation_id=organisation_id,
        id=message_id,
        leave_request_id=leave_request_id,
        user_id=user_id,
        **place,
    ).on_conflict(
        conflict_target=(
            SlackMessageRow.organisation_id,
            SlackMessageRow.leave_request_id,
            SlackMessageRow.user_id,
        ),
        update=place,
    )


@compiled
def _forget(
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
