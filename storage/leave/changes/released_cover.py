"""The leave that loses its cover when they are archived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from peewee import Select

from storage.base.values import Caller, LeaveRequest, User
from storage.db import locks, rows
from storage.db.compiled import Engine, Param, any_of, compiled, compiled_per_engine
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow, UserRow
from storage.events import notification_outbox, webhook_outbox
from storage.events.organisation_config import OrganisationConfig
from storage.leave import leave_rows
from storage.leave.amendments import counted_amendments

_BECAUSE = {"why": "cover_archived"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Released:
    """Pending and future leave that loses its cover; its people are locked."""

    leave: Sequence[LeaveRequest]
    requesters: Mapping[str, User]


def lock_covered(
    tx: Transaction, organisation_id: str, cover_user_id: str, today: date
) -> Released:
    """The pending leave, and approved leave from today on, that the person covers.

    Needs the organisation's lock: with it, no other leave gets this cover.
    """
    where = {
        "organisation_id": organisation_id,
        "cover_user_id": cover_user_id,
        "today": today.isoformat(),
    }
    requester_ids = {row.user_id for row in tx.all(_covered, **where)}
    if not requester_ids:
        return Released(leave=(), requesters={})
    locked = tx.all(_people, organisation_id=organisation_id, user_ids=sorted(requester_ids))
    # Read again: it may have changed before its person was locked.
    leave = [rows.leave_request(row) for row in tx.all(_covered, **where)]
    leave.sort(key=lambda request: (request.start_date, request.id))
    return Released(leave=leave, requesters={row.id: rows.user(row) for row in locked})


def release(
    tx: Transaction,
    config: OrganisationConfig,
    released: Released,
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Clear the cover of this leave, with audit entries and events; its people are told."""
    if not released.leave:
        return
    changes = [
        (
            before,
            replace(before, cover_user_id=None, updated_at=now, version=before.version + 1),
        )
        for before in released.leave
    ]
    leave_rows.save_all(tx, "leave_request.updated", changes, by=by, now=now, why=_BECAUSE)
    after = [changed for _, changed in changes]
    pairs = [(request, released.requesters[request.user_id]) for request in after]
    amendments = counted_amendments.of_requests(tx, config.organisation.id, after)
    webhook_outbox.enqueue_all(
        tx, "leave_request.updated", pairs, amendments, config=config, now=now
    )
    notification_outbox.notify_all(tx, "cover.left", after, notified=after, config=config, now=now)


@compiled
def _covered(organisation_id: Param[str], cover_user_id: Param[str], today: Param[str]) -> Select:
    # Not sorted here: SQLite would read all leave of the organisation in that order.
    return LeaveRequestRow.select(*rows.LEAVE_REQUEST).where(
        LeaveRequestRow.organisation_id == organisation_id,
        LeaveRequestRow.cover_user_id == cover_user_id,
        (LeaveRequestRow.status == "pending")
        | ((LeaveRequestRow.status == "approved") & (LeaveRequestRow.end_date >= today)),
    )


@compiled_per_engine
def _people(engine: Engine, organisation_id: Param[str], user_ids: Param[list[str]]) -> Select:
    query = UserRow.select(*rows.USER).where(
        UserRow.organisation_id == organisation_id, any_of(UserRow.id, user_ids)
    )
    return locks.locked(query.order_by(UserRow.id), engine)
