"""When an organisation's people are compared with its Slack workspace: daily and on request.

One row for each organisation that is linked to a workspace. A comparison is claimed, so that only
one process compares a workspace. A failure is backed off for that workspace alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from peewee import Case, Select, Update

from storage.db.compiled import Engine, Expr, Param, compiled
from storage.db.database import Transaction
from storage.db.tables import OrganisationRow, SlackSyncRow
from storage.outbox.leased_queue import LeasedQueue, wait_after

INTERVAL: Final = timedelta(days=1)
# Between a comparison and the next one that `request_soon` asks for.
SPACING: Final = timedelta(minutes=10)
# Waits after the 1st, 2nd … failure in a row; the last one repeats.
RETRY_AFTER: Final = (
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=6),
)


def _due(_: Engine, now: Expr, limit: Expr) -> Select:
    row = SlackSyncRow.alias()
    linked = OrganisationRow.select(OrganisationRow.id).where(
        OrganisationRow.slack_team_id.is_null(False)
    )
    query: Select = row.select(row.organisation_id).where(
        row.due_at <= now, row.organisation_id.in_(linked)
    )
    return query.order_by(row.due_at).limit(limit)


QUEUE: Final = LeasedQueue(
    table=SlackSyncRow,
    key=("organisation_id",),
    due=_due,
    # Renewed with every page of the member list; longer than one page may take.
    lease=timedelta(minutes=5),
    returned=(SlackSyncRow.organisation_id, SlackSyncRow.failures),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sync:
    """A comparison that this process has claimed; ``started_at`` is when."""

    organisation_id: str
    team_id: str
    claim_id: str
    failures: int
    started_at: datetime


def begin(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Start comparing the people of an organisation that was linked to a workspace."""
    key = {"organisation_id": organisation_id}
    tx.upsert(SlackSyncRow, key, due_at=now, claim_id=None, failures=0)


def end(tx: Transaction, organisation_id: str) -> None:
    """Stop comparing them: the workspace is the playground's."""
    tx.delete(SlackSyncRow, organisation_id=organisation_id)


def request(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Compare the organisation's people at the next run of the scheduler, if it is linked.

    A running comparison loses its claim, because it may have missed the latest change.
    """
    changes = {"due_at": now, "claim_id": None}
    tx.update(SlackSyncRow, changes, organisation_id=organisation_id)


def request_soon(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """As ``request``, at most once per ``SPACING`` and not while backing off after a failure.

    For callers that run many times a minute.
    """
    tx.change(
        _request_soon,
        organisation_id=organisation_id,
        now=now,
        spacing_before=now - SPACING,
        spacing_after=now + SPACING,
        spacing_milliseconds=int(SPACING.total_seconds() * 1000),
    )


def claim(tx: Transaction, *, claim_id: str, now: datetime, limit: int) -> list[Sync]:
    """Claim due comparisons; ``claim_id`` is new for every call."""
    failures: dict[str, int] = dict(QUEUE.claim(tx, claim_id=claim_id, now=now, limit=limit))
    if not failures:
        return []
    return [
        Sync(
            organisation_id=row.id,
            team_id=row.slack_team_id,
            claim_id=claim_id,
            failures=failures[row.id],
            started_at=now,
        )
        for row in tx.select(OrganisationRow, id=sorted(failures))
    ]


def renew(tx: Transaction, sync: Sync, *, now: datetime) -> bool:
    """Extend the lease; False when another process has taken over, or a new request came in."""
    return QUEUE.renew(tx, (sync.organisation_id,), sync.claim_id, now=now)


def finish(tx: Transaction, sync: Sync, *, now: datetime) -> None:
    """Record the result; the next comparison is due after ``INTERVAL``."""
    columns = {
        "due_at": sync.started_at + INTERVAL,
        "failures": 0,
        "last_error": None,
        "synced_at": now,
    }
    QUEUE.release(tx, (sync.organisation_id,), sync.claim_id, columns)


def fail(
    tx: Transaction,
    sync: Sync,
    error: str,
    *,
    now: datetime,
    retry_after_seconds: int | None = None,
) -> None:
    """Record a failure; the retry is no sooner than Slack's Retry-After."""
    failures = sync.failures + 1
    wait = wait_after(failures, RETRY_AFTER)
    wait = max(wait, timedelta(seconds=retry_after_seconds or 0))
    columns = {
        "due_at": now + min(wait, INTERVAL),
        "failures": failures,
        "last_error": error[:100],
    }
    QUEUE.release(tx, (sync.organisation_id,), sync.claim_id, columns)


@compiled
def _request_soon(
    organisation_id: Param[str],
    now: Param[datetime],
    spacing_before: Param[datetime],
    spacing_after: Param[datetime],
    spacing_milliseconds: Param[int],
) -> Update:
    row = SlackSyncRow
    is_long_ago = row.synced_at.is_null() | (row.synced_at <= spacing_before)
    due_at = Case(None, ((is_long_ago, now),), row.synced_at + spacing_milliseconds)
    return row.update({row.due_at: due_at}).where(
        row.organisation_id == organisation_id,
        row.claim_id.is_null(),
        row.failures == 0,
        # A comparison that is due sooner is not updated, which locks nothing.
        row.due_at > spacing_after,
    )
