"""Slack's events, each handled once: Slack sends an event up to four times, to any process.

This is no queue (``outbox.leased_queue``): an event is claimed by its id when it arrives, and Slack
sends it again until a process has answered.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from peewee import Update

from storage.base import retention
from storage.db.compiled import NOT_NULL, Param, compiled
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
    return tx.find(SlackEventRow, event_id=event_id, handled_at=NOT_NULL) is not None


def finish(tx: Transaction, event_id: str, *, now: datetime) -> None:
    """Record that the event was handled."""
    tx.update(SlackEventRow, {"handled_at": now}, event_id=event_id)


def release(tx: Transaction, event_id: str) -> None:
    """End a claim that failed, so that the next retry is handled."""
    tx.delete(SlackEventRow, event_id=event_id, handled_at=None)


def prune(tx: Transaction, *, now: datetime, limit: int = 1_000) -> int:
    """Delete up to ``limit`` events that Slack no longer retries; their number."""
    return tx.delete_before(SlackEventRow, "received_at", now - retention.SLACK_EVENTS, limit)


@compiled
def _take_over(event_id: Param[str], now: Param[datetime], before: Param[datetime]) -> Update:
    return SlackEventRow.update(received_at=now).where(
        SlackEventRow.event_id == event_id,
        SlackEventRow.handled_at.is_null(),
        SlackEventRow.received_at < before,
    )
