"""Another attempt at a digest that Slack refused, once an admin has chosen its channel."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from peewee import Case, Update

from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import DigestRow

# How long a process that has claimed a digest may take to post it. Slack takes less.
LEASE: Final = timedelta(minutes=2)


def retry(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Forget that Slack refused a channel, and post soon: an admin chose one, maybe the same."""
    tx.change(_retry, organisation_id=organisation_id, now=now, lease_ends_at=now + LEASE)


@compiled
def _retry(
    organisation_id: Param[str], now: Param[datetime], lease_ends_at: Param[datetime]
) -> Update:
    row = DigestRow
    # A digest that is due within a lease may be claimed: its process looks for the same due_at.
    due_at = Case(None, ((row.due_at > lease_ends_at, now),), row.due_at)
    again = {row.refused_channel: None, row.refused_because: None, row.due_at: due_at}
    return row.update(again).where(
        row.organisation_id == organisation_id, row.refused_channel.is_null(False)
    )
