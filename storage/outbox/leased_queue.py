"""A table as a queue: each due row is claimed by one process at a time, for a limited time.

A row is due when its ``due_at`` has passed. A claim moves ``due_at`` to the end of the lease, so no
other process takes the row meanwhile. ``release`` ends the claim: the row is done, or due again
after a back-off. A process that crashes releases nothing; its rows are due again as soon as the
lease expires.

Claims never wait for each other. PostgreSQL skips rows that another claim has locked; SQLite has
one writing transaction at a time (BEGIN IMMEDIATE).

Two tables differ. Reminders (``notifications.reminders``) are queued by the transaction that locks
the due rows, so they need ``skip_locked`` and no lease. Slack's events (``slack_events`` of
``workspaces``) are claimed by their id as they arrive, and Slack itself repeats an event that no
process finished.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import and_
from typing import Literal, TypeAlias, TypeVar

from peewee import SQL, Field, Model, Select, Tuple, Update

from storage.db.compiled import Engine, Expr, Param, compiled_per_engine
from storage.db.database import Row, Transaction

Wait = TypeVar("Wait")

# The keys of due rows in the order in which they are claimed, at most ``limit`` of them, as a query
# of (engine, now, limit). It reads the table under an alias.
DueRows: TypeAlias = Callable[[Engine, Expr, Expr], Select]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class LeasedQueue:
    """Declares a table with ``due_at`` as a queue.

    ``owner`` is the column that tells whether a claim still holds: ``claim_id``, or ``due_at``
    where the table has no ``claim_id``; that is when the lease expires, which differs between
    claims. ``returned`` are the columns that ``claim`` reads.
    """

    table: type[Model]
    key: tuple[str, ...]
    due: DueRows
    lease: timedelta
    returned: tuple[Field, ...]
    owner: Literal["claim_id", "due_at"] = "claim_id"

    def claim(
        self,
        tx: Transaction,
        *,
        claim_id: str = "",
        now: datetime,
        limit: int,
        lease: timedelta | None = None,
    ) -> list[Row]:
        """Claim up to ``limit`` due rows; the ``returned`` columns of each, in no order.

        ``claim_id`` is new for every call. ``lease`` replaces the queue's own.
        """
        return tx.all(
            _claim,
            queue=self,
            now=now,
            lease_expires_at=now + (lease or self.lease),
            claim_id=claim_id,
            limit=limit,
        )

    def oldest_due_at(self, tx: Transaction, *, now: datetime) -> int | None:
        """When the first row to be claimed was due, in milliseconds; None without a due row."""
        row = tx.first(_first_due, queue=self, now=now)
        return None if row is None else row.due_at

    def renew(
        self, tx: Transaction, key: Sequence[str], owner: str | datetime, *, now: datetime
    ) -> bool:
        """Extend the lease from ``now``; False when the claim no longer holds."""
        return self._change(tx, key, owner, {"due_at": now + self.lease})

    def release(
        self,
        tx: Transaction,
        key: Sequence[str],
        owner: str | datetime,
        changes: Mapping[str, object],
    ) -> bool:
        """End a claim and change its row; False, and no change, when the claim no longer holds.

        The changes say when the row is due again (``due_at``) or that it is done.
        """
        claim_end = {} if self.owner == "due_at" else {"claim_id": None}
        return self._change(tx, key, owner, {**changes, **claim_end})

    def _change(
        self, tx: Transaction, key: Sequence[str], owner: str | datetime, changes: dict[str, object]
    ) -> bool:
        where = dict(zip(self.key, key, strict=True))
        return tx.update(self.table, changes, **where, **{self.owner: owner}) == 1


def skip_locked(query: Expr, engine: Engine, row: Expr = None) -> Select:
    """Lock the rows of ``row`` (or all) that a query finds, without those locked by others."""
    if engine == "sqlite":
        return query
    return query.for_update("FOR UPDATE SKIP LOCKED", of=row)


def wait_after(failures: int, waits: Sequence[Wait]) -> Wait:
    """The wait after that many failures in a row; the last one is repeated."""
    return waits[min(failures, len(waits)) - 1]


@compiled_per_engine
def _first_due(engine: Engine, queue: LeasedQueue, now: Param[datetime]) -> Select:
    key = [getattr(queue.table, name) for name in queue.key]
    first = queue.due(engine, now, SQL("1"))
    return queue.table.select(queue.table.due_at).where(Tuple(*key).in_(first))


@compiled_per_engine
def _claim(
    engine: Engine,
    queue: LeasedQueue,
    now: Param[datetime],
    lease_expires_at: Param[datetime],
    claim_id: Param[str],
    limit: Param[int],
) -> Update:
    changes: dict[str, object] = {"due_at": lease_expires_at}
    if queue.owner == "claim_id":
        changes["claim_id"] = claim_id
    claimed = queue.table.update(changes).returning(*queue.returned)
    key = [getattr(queue.table, name) for name in queue.key]
    due = skip_locked(queue.due(engine, now, limit), engine)
    if engine == "sqlite":
        return claimed.where(Tuple(*key).in_(due))
    # A query of its own around it: Peewee drops the WITH of a query that becomes a CTE.
    rows = due.alias("due")
    keys = Select([rows], [getattr(rows.c, name) for name in queue.key])
    # Materialised: otherwise PostgreSQL may run the limited query more than once.
    claimable = keys.cte("claimable", materialized=True, columns=queue.key)
    is_claimable = [column == getattr(claimable.c, column.name) for column in key]
    return claimed.from_(claimable).where(reduce(and_, is_claimable)).with_cte(claimable)
