"""When the Slack statuses of connected people are checked: a queue of their connections.

``workspaces.slack_statuses`` has what a check reads and records.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

from peewee import Select, Update

from storage.db.compiled import Engine, Expr, Param, any_of, compiled
from storage.db.database import Transaction
from storage.db.tables import SlackStatusRow
from storage.outbox.leased_queue import LeasedQueue


def _due(_: Engine, now: Expr, limit: Expr) -> Select:
    row = SlackStatusRow.alias()
    query: Select = row.select(row.organisation_id, row.id).where(row.due_at <= now)
    return query.order_by(row.due_at).limit(limit)


QUEUE: Final = LeasedQueue(
    table=SlackStatusRow,
    key=("organisation_id", "id"),
    due=_due,
    # Longer than the calls for all connections that are claimed at once.
    lease=timedelta(minutes=10),
    returned=(SlackStatusRow.organisation_id, SlackStatusRow.id),
)


def check_soon(
    tx: Transaction, organisation_id: str, user_ids: Collection[str], *, now: datetime
) -> None:
    """Check these people's statuses at the next run of the job, because their leave changed.

    A running check loses its claim, because it may have missed the change.
    """
    if user_ids:
        tx.change(_check_soon, organisation_id=organisation_id, user_ids=sorted(user_ids), now=now)


@compiled
def _check_soon(
    organisation_id: Param[str], user_ids: Param[list[str]], now: Param[datetime]
) -> Update:
    row = SlackStatusRow
    changes: dict[str, object] = {"due_at": now, "claim_id": None}
    return row.update(changes).where(
        row.organisation_id == organisation_id, any_of(row.user_id, user_ids)
    )
