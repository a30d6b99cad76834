"""Amendments: proposed changes of approved leave, their rows and their days.

Days are counted whenever an amendment is shown, so they follow every change of working days and
public holidays until the decision, like a preview. Requests without one cost no query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime

from storage.base import leave_values
from storage.base.errors import (
    InvalidInput,
)
from storage.base.leave_values import (
    Amendment,
    AmendmentStatus,
    Approval,
    CountedAmendment,
    LeaveRequest,
    LeaveRequestRecord,
)
from storage.base.values import User
from storage.db import rows
from storage.db.database import Transaction
from storage.db.tables import AmendmentRow
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import approvers, employment_by_date, people_rows
from storage.rules import counted_days, lifecycle
from storage.rules.lifecycle import CancelEffect


def find(tx: Transaction, organisation_id: str, amendment_id: str) -> Amendment | None:
    """The amendment of that id, open or ended."""
    row = tx.find(AmendmentRow, organisation_id=organisation_id, id=amendment_id)
    return None if row is None else rows.amendment(row)


def last_of(tx: Transaction, organisation_id: str, request_id: str) -> Amendment | None:
    """The newest amendment of a request, open or ended."""
    amendments = _all_of(tx, organisation_id, request_id)
    # Of the same millisecond, the later id.
    return max(amendments, key=lambda each: (each.requested_at, each.id), default=None)


def _all_of(tx: Transaction, organisation_id: str, request_id: str) -> list[Amendment]:
    found = tx.select(AmendmentRow, organisation_id=organisation_id, leave_request_id=request_id)
    return [*map(rows.amendment, found)]


def is_decided(tx: Transaction, organisation_id: str, request: LeaveRequest) -> bool:
    """Whether an amendment was decided after the request: neither decision can be reversed."""
    if request.status != "approved" or request.decided_at is None:
        return False
    return any(
        each.status in ("approved", "declined")
        and each.decided_at is not None
        and each.decided_at >= request.decided_at
        for each in _all_of(tx, organisation_id, request.id)
    )


def add(tx: Transaction, organisation_id: str, amendment: Amendment) -> None:
    tx.insert(AmendmentRow, organisation_id=organisation_id, **rows.columns(amendment))


def end(
    tx: Transaction,
    organisation_id: str,
    amendment_id: str,
    status: AmendmentStatus,
    *,
    by_id: str | None,
    reason: str | None = None,
    now: datetime,
) -> None:
    """Record how an open amendment ended."""
    tx.update(
        AmendmentRow,
        {"status": status, "decided_by": by_id, "decided_at": now, "decision_reason": reason},
        organisation_id=organisation_id,
        id=amendment_id,
        status="open",
    )


def approve_first(
    tx: Transaction, organisation_id: str, amendment_id: str, approvals: Sequence[Approval]
) -> None:
    """Record the first approval of an open amendment that needs a second one."""
    tx.update(
        AmendmentRow,
        {"approvals": rows.json_text(approvals)},
        organisation_id=organisation_id,
        id=amendment_id,
        status="open",
    )


def end_all(
    tx: Transaction,
    organisation_id: str,
    amendment_ids: Sequence[str],
    *,
    by_id: str | None,
    now: datetime,
) -> None:
    """Record that open amendments ended with a change or the cancellation of their leave."""
    if amendment_ids:
        tx.update(
            AmendmentRow,
            {"status": "ended", "decided_by": by_id, "decided_at": now},
            organisation_id=organisation_id,
            id=list(amendment_ids),
            status="open",
        )


def of_requests(
    tx: Transaction, organisation_id: str, requests: Iterable[LeaveRequest]
) -> Mapping[str, CountedAmendment]:
    """The open amendments by the requests' ids.

    During an upgrade, processes without amendments cancel leave that keeps its ``amendment_id``.
    """
    amended = {
        request.amendment_id: request
        for request in requests
        if request.amendment_id is not None and request.status == "approved"
    }
    if not amended:
        return {}
    config = organisation_config.of_organisation(tx, organisation_id)
    found = tx.select(AmendmentRow, organisation_id=organisation_id, id=sorted(amended))
    amendments = [*map(rows.amendment, found)]
    requester_ids = {amendment.requested_by for amendment in amendments}
    requesters = people_rows.of_ids(tx, organisation_id, requester_ids)
    return {
        each.leave_request_id: counted(
            config, requesters[each.requested_by], amended[each.id], each
        )
        for each in amendments
    }


def of_request(
    tx: Transaction, organisation_id: str, request: LeaveRequest
) -> CountedAmendment | None:
    return of_requests(tx, organisation_id, [request]).get(request.id)


def counted(
    config: OrganisationConfig, user: User, request: LeaveRequest, amendment: Amendment
) -> CountedAmendment:
    span = counted_days.Span(
        start_date=amendment.start_date,
        end_date=amendment.end_date,
        start_half_day=amendment.start_half_day,
        end_half_day=amendment.end_half_day,
    )
    counts = employment_by_date.count(config, user, span)
    counted_halves = lifecycle.halves_after_change(request, counts)
    return CountedAmendment(
        amendment=amendment,
        counted_halves=counted_halves,
        total_half_days=counted_days.total_half_days(counted_halves),
    )


def record(tx: Transaction, organisation_id: str, request: LeaveRequest) -> LeaveRequestRecord:
    """The public record of a request with its amendment."""
    return leave_values.leave_request_record(request, of_request(tx, organisation_id, request))


def record_all(
    tx: Transaction, organisation_id: str, requests: Sequence[LeaveRequest]
) -> list[LeaveRequestRecord]:
    """As ``record`` for many requests."""
    amendments = of_requests(tx, organisation_id, requests)
    return [
        leave_values.leave_request_record(request, amendments.get(request.id))
        for request in requests
    ]


def amended(request: LeaveRequest, counted: CountedAmendment) -> LeaveRequest:
    """The request as it would be with the amendment; cancelled leave counts nothing."""
    amendment = counted.amendment
    if amendment.cancels:
        nothing = "0" * len(request.counted_halves)
        return replace(request, counted_halves=nothing, total_half_days=0)
    return replace(
        request,
        leave_type_id=amendment.leave_type_id,
        start_date=amendment.start_date,
        end_date=amendment.end_date,
        start_half_day=amendment.start_half_day,
        end_half_day=amendment.end_half_day,
        note=amendment.note,
        counted_halves=counted.counted_halves,
        total_half_days=counted.total_half_days,
    )


def cancel_effects(
    tx: Transaction,
    config: OrganisationConfig,
    requests: Iterable[LeaveRequest],
    user_id: str,
    today: date,
) -> Mapping[str, CancelEffect]:
    """What cancelling does to each of a person's own requests; without those they cannot cancel."""
    booked = [
        request
        for request in requests
        if request.status in ("pending", "approved") and request.closure_id is None
    ]
    # Approvers matter only where the answer depends on them.
    has_approver = any(
        request.status == "approved"
        and (
            lifecycle.has_begun(request, today)
            or config.leave_types[request.leave_type_id].changes_need_approval
        )
        for request in booked
    ) and bool(approvers.of_person(tx, config.organisation.id, user_id, today=today))
    effects: dict[str, CancelEffect] = {}
    for request in booked:
        try:
            effects[request.id] = lifecycle.cancel_effect(
                request,
                config.leave_types[request.leave_type_id],
                is_own=True,
                has_approver=has_approver,
                today=today,
            )
        except InvalidInput:
            continue
    return effects
