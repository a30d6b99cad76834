"""Pending requests whose approvers change: found, audited and notified.

Approvers are computed on every read (approvers.py), so no assignment is stored. New approvers get
the request's card, its other cards are refreshed, and the audit trail has the approvers before and
after.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from storage.base.leave_values import LeaveRequest, Reassignment
from storage.base.values import Caller, User, local_day
from storage.db.database import Transaction
from storage.leave import leave_lists, leave_rows, time_credit_lists
from storage.outbox import audit, notification_outbox
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import approval_rule, approvers

# Requests that one change can reassign.
MAX_REQUESTS: Final = 5_000

ApproversByRequest = dict[str, list[User]]


def if_inactive(
    tx: Transaction, config: OrganisationConfig, user: User, *, now: datetime
) -> list[Reassignment]:
    """The requests that would be assigned to others if the person were inactive."""
    requests = assigned_to(tx, config, user, now=now)
    before = approvers_by_request(tx, config, requests, now=now)
    after = approvers_by_request(tx, config, requests, now=now, absent_id=user.id)
    return difference(requests, before, after)


def assigned_to(
    tx: Transaction, config: OrganisationConfig, user: User, *, now: datetime
) -> list[LeaveRequest]:
    """Pending requests that are assigned to the person, oldest first."""
    return leave_lists.all_assigned(
        tx,
        config.organisation.id,
        user.id,
        is_admin=user.role in ("admin", "owner"),
        today=local_day(now, config.organisation.timezone),
        limit=MAX_REQUESTS,
    )


def pending_of(
    tx: Transaction,
    config: OrganisationConfig,
    *,
    user_id: str | None = None,
    department_id: str | None = None,
) -> list[LeaveRequest]:
    return leave_rows.pending_of(
        tx,
        config.organisation.id,
        user_id=user_id,
        department_id=department_id,
        limit=MAX_REQUESTS,
    )


def approvers_by_request(
    tx: Transaction,
    config: OrganisationConfig,
    requests: Sequence[LeaveRequest],
    *,
    now: datetime,
    absent_id: str | None = None,
) -> ApproversByRequest:
    """The approvers of each request, by its id, without ``absent_id``."""
    return approvers.of_requests(
        tx,
        config.organisation.id,
        requests,
        today=local_day(now, config.organisation.timezone),
        absent_id=absent_id,
    )


def difference(
    requests: Sequence[LeaveRequest], before: ApproversByRequest, after: ApproversByRequest
) -> list[Reassignment]:
    candidates = [
        Reassignment(
            request=request,
            before=tuple(before.get(request.id, ())),
            after=tuple(after.get(request.id, ())),
        )
        for request in requests
    ]
    return [
        candidate
        for candidate in candidates
        if {user.id for user in candidate.before} != {user.id for user in candidate.after}
    ]


def send_cards_to_linked(
    tx: Transaction,
    config: OrganisationConfig,
    before: User,
    after: User,
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Send a person whose Slack account became known the cards of requests assigned to them.

    ``before`` and ``after``: the person without and with the account. A pending person becomes an
    approver by it; an active one was an approver before, whom no card could reach.
    """
    _reassign_time_credits(tx, config, now)
    requests = assigned_to(tx, config, after, now=now)
    if not requests:
        return
    if approval_rule.is_reachable(before):
        notification_outbox.post_missing_cards(tx, after.id, requests, config=config, now=now)
        return
    approvers_before = approvers_by_request(tx, config, requests, now=now, absent_id=after.id)
    approvers_after = approvers_by_request(tx, config, requests, now=now)
    apply(tx, config, difference(requests, approvers_before, approvers_after), by=by, now=now)


def apply(
    tx: Transaction,
    config: OrganisationConfig,
    reassigned: Sequence[Reassignment],
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Audit the new approvers, send them cards and refresh the others' cards.

    Called after every change of people: time in lieu is read again, whatever is ``reassigned``.
    """
    _reassign_time_credits(tx, config, now)
    ids = [
        (
            reassignment.request.id,
            [user.id for user in reassignment.before],
            [user.id for user in reassignment.after],
        )
        for reassignment in reassigned
    ]
    changes = [
        (request_id, {"approvers": before}, {"approvers": after})
        for request_id, before, after in ids
    ]
    audit.record_all(tx, "leave_request.rerouted", "leave_request", changes, by=by, now=now)
    notification_outbox.notify_all(
        tx,
        "leave_request.rerouted",
        [reassignment.request for reassignment in reassigned],
        approvers={request_id: set(after) - set(before) for request_id, before, after in ids},
        config=config,
        now=now,
    )


def _reassign_time_credits(tx: Transaction, config: OrganisationConfig, now: datetime) -> None:
    today = local_day(now, config.organisation.timezone)
    time_credit_lists.reassign(tx, config, today=today, now=now)
