"""Who has opened the App Home, and so may be looking at it when something changes."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from peewee import Insert, Select

from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import SlackHomeRow

# Slack tells us whenever the tab is opened, and it is drawn then; whoever opened it longer ago is
# not looking at it.
WATCHED: Final = timedelta(days=7)


def remember(
    tx: Transaction, organisation_id: str, user_id: str, leafed: str, *, now: datetime
) -> None:
    """Keep that the person looks at his Home, and at which part of its lists."""
    tx.change(_remember, organisation_id=organisation_id, user_id=user_id, leafed=leafed, now=now)


def find(tx: Transaction, organisation_id: str, user_id: str, *, now: datetime) -> str | None:
    """What ``remember`` kept in the last seven days; None for whoever is not looking."""
    since = now - WATCHED
    row = tx.first(_looked_since, organisation_id=organisation_id, user_id=user_id, since=since)
    return None if row is None else row.leafed


@compiled
def _remember(
    organisation_id: Param[str], user_id: Param[str], leafed: Param[str], now: Param[datetime]
) -> Insert:
    kept = {"opened_at": now, "leafed": leafed}
    return SlackHomeRow.insert(
        organisation_id=organisation_id, user_id=user_id, **kept
    ).on_conflict(conflict_target=(SlackHomeRow.organisation_id, SlackHomeRow.user_id), update=kept)


@compiled
def _looked_since(
    organisation_id: Param[str], user_id: Param[str], since: Param[datetime]
) -> Select:
    return SlackHomeRow.select(SlackHomeRow.leafed).where(
        SlackHomeRow.organisation_id == organisation_id,
        SlackHomeRow.user_id == user_id,
        SlackHomeRow.opened_at > since,
    )
