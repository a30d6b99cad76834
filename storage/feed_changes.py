"""One number an organisation that grows whenever its calendars might show something else.

It is kept in 16 counters, so that people who ask for leave at the same moment seldom wait for one
another. What ``reference_version`` covers is not counted here.
"""

from __future__ import annotations

from typing import Final

from peewee import Insert, Select, fn

from storage.compiled import Place, compiled
from storage.database import Transaction
from storage.tables import FeedChangesRow

SHARDS: Final = 16


def count(tx: Transaction, organisation_id: str, user_id: str) -> None:
    """Note that a person's leave, or what calendars show of him, changes in this transaction.

    Call it last: others of the same counter wait until the transaction ends.
    """
    # The last digit of a version 7 UUID is random.
    tx.change_soon(_count, organisation_id=organisation_id, shard=int(user_id[-1], SHARDS))


def total(organisation_id: object) -> Select:
    """A subquery for the organisation's number; null before its first change."""
    return FeedChangesRow.select(fn.SUM(FeedChangesRow.changes)).where(
        FeedChangesRow.organisation_id == organisation_id
    )


@compiled
def _count(organisation_id: Place, shard: Place) -> Insert:
    return FeedChangesRow.insert(
        {
            FeedChangesRow.organisation_id: organisation_id,
            FeedChangesRow.shard: shard,
            FeedChangesRow.changes: 1,
        }
    ).on_conflict(
        conflict_target=(FeedChangesRow.organisation_id, FeedChangesRow.shard),
        update={FeedChangesRow.changes: FeedChangesRow.changes + 1},
    )
