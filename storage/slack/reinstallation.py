"""After the app was installed again, people get the notifications that they missed.

Nothing is queued while a workspace does not have the app. Afterwards approvers get the pending
requests, and requesters the decisions on theirs.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import Final

from peewee import Select

from storage.admin import reassignment
from storage.base.event_values import NotificationEvent
from storage.base.values import LeaveRequest, LeaveStatus
from storage.db import rows
from storage.db.compiled import Param, any_of, compiled
from storage.db.database import Transaction
from storage.db.tables import AuditRow, LeaveRequestRow
from storage.directory import slack_syncs
from storage.events import notification_outbox, organisation_config
from storage.events.organisation_config import OrganisationConfig
from storage.leave import leave_rows
from storage.notifications import reminders

# Of pending and of decided requests each; Home shows the rest.
MAX_REQUESTS: Final = 1_000

_DECISION_EVENTS: Final[dict[LeaveStatus, NotificationEvent]] = {
    "approved": "leave_request.approved",
    "declined": "leave_request.declined",
    "cancelled": "leave_request.cancelled",
}


def show_missed(
    tx: Transaction, organisation_id: str, *, since: datetime | None, now: datetime
) -> None:
    """Queue what people missed since the app was last installed; ``since`` None: never.

    Existing cards are refreshed, others posted; reminders restart.
    """
    config = organisation_config.of_organisation(tx, organisation_id)
    pending = leave_rows.pending_of(tx, organisation_id, limit=MAX_REQUESTS)
    new = [request for request in pending if since is not None and request.created_at >= since]
    _show_pending(tx, config, new, "leave_request.created", now, are_new=True)
    old = [request for request in pending if request not in new]
    _show_pending(tx, config, old, "leave_request.rerouted", now, are_new=False)
    if since is not None:
        _show_decided(tx, config, since, now)
    slack_syncs.request(tx, organisation_id, now=now)
    reminders.restart(tx, organisation_id, now=now)


def _show_pending(
    tx: Transaction,
    config: OrganisationConfig,
    requests: list[LeaveRequest],
    event: NotificationEvent,
    now: datetime,
    *,
    are_new: bool,
) -> None:
    approvers_by_user = reassignment.approvers_by_requester(tx, config, requests, now=now)
    notification_outbox.notify_all(
        tx,
        event,
        requests,
        notified=requests if are_new else (),
        approvers={
            request.id: [user.id for user in approvers_by_user.get(request.user_id, ())]
            for request in requests
        },
        config=config,
        now=now,
    )


def _show_decided(
    tx: Transaction, config: OrganisationConfig, since: datetime, now: datetime
) -> None:
    organisation_id = config.organisation.id
    decided_ids = tx.all(
        _decided,
        organisation_id=organisation_id,
        actions=sorted(_DECISION_EVENTS.values()),
        since=since,
        limit=MAX_REQUESTS,
    )
    by_status: dict[LeaveStatus, list[LeaveRequest]] = defaultdict(list)
    for row in tx.all(
        _requests,
        organisation_id=organisation_id,
        request_ids=sorted({request_id for (request_id,) in decided_ids}),
    ):
        request = rows.leave_request(row)
        by_status[request.status].append(request)
    for status, event in _DECISION_EVENTS.items():
        notification_outbox.notify_all(
            tx, event, by_status[status], notified=by_status[status], config=config, now=now
        )


@compiled
def _decided(
    organisation_id: Param[str],
    actions: Param[list[str]],
    since: Param[datetime],
    limit: Param[int],
) -> Select:
    """The ids of requests that were decided or cancelled, latest first."""
    return (
        AuditRow.select(AuditRow.subject_id)
        .where(
            AuditRow.organisation_id == organisation_id,
            any_of(AuditRow.action, actions),
            AuditRow.occurred_at >= since,
        )
        .order_by(AuditRow.occurred_at.desc())
        .limit(limit)
    )


@compiled
def _requests(organisation_id: Param[str], request_ids: Param[list[str]]) -> Select:
    return LeaveRequestRow.select(*rows.LEAVE_REQUEST).where(
        LeaveRequestRow.organisation_id == organisation_id,
        any_of(LeaveRequestRow.id, request_ids),
    )
