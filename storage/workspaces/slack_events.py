"""Slack's events, each handled once: Slack sends an event up to four times, to any process.

This is no queue (``outbox.leased_queue``): an event is claimed by its id when it arrives, and Slack
sends it again until a process has answered.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from peewee import Delete, Select, Update

from storage.base import retention
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import SlackEventRow

# Longer than handling takes, and shorter than the wait before Slack's second retry, which then
# takes over an event whose process crashed.
LEASE: Final = timedelta(seconds=50)


def claim(tx: Transaction, event_id: str, *, now: datetime) -> bool:
    """Claim the event for the caller to handle; False when it is handled or claimed."""
    if tx.insert_new(SlackEventRow, event_id=event_id, received_at=now):
        return True
    taken_over = tx.change(_take_over, event_id=event_id, now=now, before=now - LEASE)
    return bool(taken_over)


def is_handled(tx: Transaction, event_id: str) -> bool:
    """Whether the event was handled; False while it is being handled."""
    return tx.first(_handled, event_id=event_id) is not None


def finish(tx: Transaction, event_id: str, *, now: datetime) -> None:
    """Record that the event was handled."""
    tx.update(SlackEventRow, {"handled_at": now}, event_id=event_id)


def release(tx: Transaction, event_id: str) -> None:
    """End a claim that failed, so that the next retry is handled."""
    tx.delete(SlackEventRow, event_id=event_id, handled_at=None)


def prune(tx: Transaction, *, now: datetime, limit: int = 1_000) -> int:
    """Delete up to ``limit`` events that Slack no longer retries; their number."""
    return tx.change(_prune, before=now - retention.SLACK_EVENTS, limit=limit)


@compiled
def _handled(event_id: Param[str]) -> Select:
    return SlackEventRow.select(SlackEventRow.event_id).where(
        SlackEventRow.event_id == event_id, SlackEventRow.handled_at.is_null(False)
    )


@compiled
def _take_over(event_id: Param[str], now: Param[datetime], before: Param[datetime]) -> Update:
    return SlackEventRow.update(received_at=now).where(
        SlackEventRow.event_id == event_id,
        SlackEventRow.handled_at.is_null(),
        SlackEventRow.received_at < before,
    )


@compiled
def _prune(before: Param[datetime], limit: Param[int]) -> Delete:
    old = (
        SlackEventRow.select(SlackEventRow.event_id)
        .where(SlackEventRow.received_at < before)
        .limit(limit)
    )
    return SlackEventRow.delete().where(SlackEventRow.event_id.in_(old))
