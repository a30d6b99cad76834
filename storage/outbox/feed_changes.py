"""Change counters of an organisation's calendar feeds and wallcharts.

The number of changes grows whenever one of them might show something else. It is the sum of 16
counters, so that concurrent leave requests seldom wait for the same row. A change that replaces
``reference_version`` is not counted here.

The feed sequence is added to the ``SEQUENCE`` of every event. It grows with what events show beside
their own request: names of people and leave types, working hours, time zones.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from peewee import Case, Insert, Select, fn

from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import FeedChangesRow, FeedSequenceRow

SHARDS: Final = 16


def count(tx: Transaction, organisation_id: str, user_id: str) -> None:
    """Count a change of a person's leave, or of what feeds and wallcharts show of the person.

    Call it last: other changes of the same counter wait until the transaction ends.
    """
    # The last digit of a version 7 UUID is random.
    tx.change(_count, organisation_id=organisation_id, shard=int(user_id[-1], SHARDS))


def total(organisation_id: object) -> Select:
    """A subquery for the organisation's number; null before its first change."""
    return FeedChangesRow.select(fn.SUM(FeedChangesRow.changes)).where(
        FeedChangesRow.organisation_id == organisation_id
    )


def raise_sequence(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Give every event of the organisation's feeds a higher ``SEQUENCE`` in this transaction.

    Call it last: it locks one row of the organisation until the transaction ends.
    """
    tx.change(_raise_sequence, organisation_id=organisation_id, now=now)


@compiled
def _raise_sequence(organisation_id: Param[str], now: Param[datetime]) -> Insert:
    stored = FeedSequenceRow.changed_at
    return FeedSequenceRow.insert(
        {
            FeedSequenceRow.organisation_id: organisation_id,
            FeedSequenceRow.sequence: 1,
            FeedSequenceRow.changed_at: now,
        }
    ).on_conflict(
        conflict_target=(FeedSequenceRow.organisation_id,),
        update={
            FeedSequenceRow.sequence: FeedSequenceRow.sequence + 1,
            # Another process's clock may be ahead of this one's.
            FeedSequenceRow.changed_at: Case(None, ((stored < now, now),), stored),
        },
    )


@compiled
def _count(organisation_id: Param[str], shard: Param[int]) -> Insert:
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
