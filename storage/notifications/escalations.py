"""Escalations: an undecided request goes to the next level of the approval chain."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime

from peewee import Select

from storage.base.values import Caller, User
from storage.db import locks, rows
from storage.db.compiled import Engine, Param, any_of, compiled, compiled_per_engine
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow, ReminderRow
from storage.directory import approvers
from storage.directory.approvers import MAX_APPROVERS
from storage.events import audit, notification_outbox
from storage.events.organisation_config import OrganisationConfig
from storage.rules import lifecycle


def escalate(
    tx: Transaction,
    config: OrganisationConfig,
    unanswered: Mapping[str, str],
    today: date,
    now: datetime,
) -> None:
    """Assign requests to the next level too; ``unanswered`` maps them to their requesters."""
    organisation_id = config.organisation.id
    request_rows = tx.all(
        _requests, organisation_id=organisation_id, request_ids=sorted(unanswered)
    )
    requests = [
        request
        for request in map(rows.leave_request, request_rows)
        if lifecycle.is_undecided(request)
    ]
    chains = approvers.chains(tx, organisation_id, set(unanswered.values()), today=today)
    assigned: dict[str, set[str]] = defaultdict(set)
    for request_id, user_id in tx.all(
        _assigned, organisation_id=organisation_id, request_ids=sorted(unanswered)
    ):
        assigned[request_id].add(user_id)
    added = {
        request.id: next_level(chains.get(request.user_id, []), assigned[request.id])
        for request in requests
    }
    added = {request_id: user_ids for request_id, user_ids in added.items() if user_ids}
    if not added:
        return
    reminder_rows = [
        {
            "organisation_id": organisation_id,
            "leave_request_id": request_id,
            "user_id": user_id,
            "asked_at": now,
            "sent": 0,
            "is_next_step": True,
            "due_at": now,
        }
        for request_id, user_ids in added.items()
        for user_id in user_ids
    ]
    tx.insert_all(ReminderRow, reminder_rows)
    changes = [
        (
            request_id,
            {"approvers": sorted(assigned[request_id])},
            {"approvers": sorted(assigned[request_id] | set(user_ids))},
        )
        for request_id, user_ids in added.items()
    ]
    by = Caller.system(organisation_id, "scheduler")
    audit.record_all(tx, "leave_request.next_step_asked", "leave_request", changes, by=by, now=now)
    notification_outbox.notify_all(
        tx,
        "leave_request.rerouted",
        [request for request in requests if request.id in added],
        approvers=added,
        config=config,
        now=now,
    )


def next_level(chain: Sequence[tuple[int, User]], assigned: Collection[str]) -> list[str]:
    """The ids of the first level above everyone who is assigned; empty at the top."""
    highest = max((level for level, user in chain if user.id in assigned), default=0)
    above = [(level, user.id) for level, user in chain if level > highest]
    lowest = min((level for level, _ in above), default=0)
    return [user_id for level, user_id in above if level == lowest][:MAX_APPROVERS]


@compiled
def _assigned(organisation_id: Param[str], request_ids: Param[list[str]]) -> Select:
    return ReminderRow.select(ReminderRow.leave_request_id, ReminderRow.user_id).where(
        ReminderRow.organisation_id == organisation_id,
        any_of(ReminderRow.leave_request_id, request_ids),
    )


@compiled_per_engine
def _requests(engine: Engine, organisation_id: Param[str], request_ids: Param[list[str]]) -> Select:
    """The requests, locked, so that concurrent assignments come before or after."""
    query = (
        LeaveRequestRow.select(*rows.LEAVE_REQUEST)
        .where(
            LeaveRequestRow.organisation_id == organisation_id,
            any_of(LeaveRequestRow.id, request_ids),
        )
        .order_by(LeaveRequestRow.id)
    )
    # The strongest lock: foreign keys of new rows wait as well.
    return locks.locked(query, engine, "FOR UPDATE")
