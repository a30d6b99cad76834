"""When an organisation's people are compared with its Slack workspace: daily and on request.

One row for each organisation that is linked to a workspace. A claim moves ``due_at`` to the end of
a lease, so that several processes never compare the same workspace, and a process that dies is
followed by another one. A failure is backed off for that workspace alone.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from peewee import Case, Delete, Insert, Select, Update

from storage.db.compiled import Param, any_of, compiled
from storage.db.database import Transaction
from storage.db.tables import OrganisationRow, SlackSyncRow

INTERVAL: Final = timedelta(days=1)
# Between a comparison and the next one that `request_soon` asks for.
SPACING: Final = timedelta(minutes=10)
# Renewed with every page of the member list; longer than one page may take.
LEASE: Final = timedelta(minutes=5)
# Waits after the 1st, 2nd … failure in a row; the last one again and again.
RETRY_AFTER: Final = (
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=6),
)


class Sync(NamedTuple):
    """A comparison that this process has claimed; ``started_at`` is when."""

    organisation_id: str
    team_id: str
    claim_id: str
    failures: int
    started_at: datetime


def begin(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Compare the people of an organisation that was linked to a workspace, from now on."""
    tx.change(_begin, organisation_id=organisation_id, now=now)


def end(tx: Transaction, organisation_id: str) -> None:
    """Compare them no more: the workspace is not a real one."""
    tx.change(_end, organisation_id=organisation_id)


def request(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """Have the organisation's people compared at the next run of the scheduler.

    Nothing for one that was never linked. A comparison that is under way loses its claim, because
    it may have missed what is new.
    """
    tx.change(_request, organisation_id=organisation_id, now=now)


def request_soon(tx: Transaction, organisation_id: str, *, now: datetime) -> None:
    """As ``request``, at most once per ``SPACING``, and never sooner than after a failure's wait.

    For what may happen many times a minute.
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
    """Take comparisons that are due; ``claim_id`` is new for every call."""
    teams = dict(tx.all(_due, now=now, limit=limit))
    if not teams:
        return []
    claimed = tx.all(
        _take,
        organisation_ids=sorted(teams),
        now=now,
        lease_expires_at=now + LEASE,
        claim_id=claim_id,
    )
    return [
        Sync(
            organisation_id=organisation_id,
            team_id=teams[organisation_id],
            claim_id=claim_id,
            failures=failures,
            started_at=now,
        )
        for organisation_id, failures in claimed
    ]


def renew(tx: Transaction, sync: Sync, *, now: datetime) -> bool:
    """Extend the lease; False when another process has taken over, or a new request came in."""
    renewed = tx.change(
        _renew,
        organisation_id=sync.organisation_id,
        claim_id=sync.claim_id,
        lease_expires_at=now + LEASE,
    )
    return renewed == 1


def finish(tx: Transaction, sync: Sync, *, now: datetime) -> None:
    """The comparison is done; the next one is tomorrow's."""
    tx.change(
        _finish,
        organisation_id=sync.organisation_id,
        claim_id=sync.claim_id,
        due_at=sync.started_at + INTERVAL,
        now=now,
    )


def fail(
    tx: Transaction,
    sync: Sync,
    error: str,
    *,
    now: datetime,
    retry_after_seconds: int | None = None,
) -> None:
    """It did not work: tried again later, and no sooner than Slack asked for."""
    wait = RETRY_AFTER[min(sync.failures, len(RETRY_AFTER) - 1)]
    wait = max(wait, timedelta(seconds=retry_after_seconds or 0))
    tx.change(
        _fail,
        organisation_id=sync.organisation_id,
        claim_id=sync.claim_id,
        due_at=now + min(wait, INTERVAL),
        error=error[:100],
    )


@compiled
def _begin(organisation_id: Param[str], now: Param[datetime]) -> Insert:
    due = {"due_at": now, "claim_id": None, "failures": 0}
    return SlackSyncRow.insert(organisation_id=organisation_id, **due).on_conflict(
        conflict_target=(SlackSyncRow.organisation_id,), update=due
    )


@compiled
def _end(organisation_id: Param[str]) -> Delete:
    return SlackSyncRow.delete().where(SlackSyncRow.organisation_id == organisation_id)


@compiled
def _request(organisation_id: Param[str], now: Param[datetime]) -> Update:
    row = SlackSyncRow
    return row.update({row.due_at: now, row.claim_id: None}).where(
        row.organisation_id == organisation_id
    )


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
        # Otherwise it is due soon enough: the statement then locks nothing.
        row.due_at > spacing_after,
    )


@compiled
def _due(now: Param[datetime], limit: Param[int]) -> Select:
    return (
        SlackSyncRow.select(SlackSyncRow.organisation_id, OrganisationRow.slack_team_id)
        .join(OrganisationRow, on=(OrganisationRow.id == SlackSyncRow.organisation_id))
        .where(SlackSyncRow.due_at <= now, OrganisationRow.slack_team_id.is_null(False))
        .order_by(SlackSyncRow.due_at)
        .limit(limit)
    )


@compiled
def _take(
    organisation_ids: Param[list[str]],
    now: Param[datetime],
    lease_expires_at: Param[datetime],
    claim_id: Param[str],
) -> Update:
    row = SlackSyncRow
    return (
        row.update({row.due_at: lease_expires_at, row.claim_id: claim_id})
        .where(any_of(row.organisation_id, organisation_ids), row.due_at <= now)
        .returning(row.organisation_id, row.failures)
    )


@compiled
def _renew(
    organisation_id: Param[str], claim_id: Param[str], lease_expires_at: Param[datetime]
) -> Update:
    row = SlackSyncRow
    return row.update({row.due_at: lease_expires_at}).where(
        row.organisation_id == organisation_id, row.claim_id == claim_id
    )


@compiled
def _finish(
    organisation_id: Param[str], claim_id: Param[str], due_at: Param[datetime], now: Param[datetime]
) -> Update:
    row = SlackSyncRow
    done = {
        row.due_at: due_at,
        row.claim_id: None,
        row.failures: 0,
        row.last_error: None,
        row.synced_at: now,
    }
    return row.update(done).where(row.organisation_id == organisation_id, row.claim_id == claim_id)


@compiled
def _fail(
    organisation_id: Param[str], claim_id: Param[str], due_at: Param[datetime], error: Param[str]
) -> Update:
    row = SlackSyncRow
    failed = {
        row.due_at: due_at,
        row.claim_id: None,
        row.failures: row.failures + 1,
        row.last_error: error,
    }
    return row.update(failed).where(
        row.organisation_id == organisation_id, row.claim_id == claim_id
    )
