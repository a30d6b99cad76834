"""Open amendments with their days, which are counted whenever they are shown.

So they follow every change of working days and public holidays until the decision, like a preview.
Requests without an amendment cost no query.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from storage.base import records
from storage.base.records import LeaveRequestRecord
from storage.base.values import Amendment, CountedAmendment, LeaveRequest, User
from storage.db import rows
from storage.db.database import Transaction
from storage.directory.employment import by_date
from storage.events import organisation_config
from storage.events.organisation_config import OrganisationConfig
from storage.leave.amendments import amendment_rows
from storage.rules import changed_leave, counted_days, spans

_requester: Final = rows.mapper(User, prefix="user_")


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
    found: dict[str, CountedAmendment] = {}
    for row in amendment_rows.with_requesters(tx, organisation_id, sorted(amended)):
        request = amended[row.id]
        found[request.id] = counted(config, _requester(row), request, rows.amendment(row))
    return found


def of_request(
    tx: Transaction, organisation_id: str, request: LeaveRequest
) -> CountedAmendment | None:
    """The open amendment of one request."""
    return of_requests(tx, organisation_id, [request]).get(request.id)


def counted(
    config: OrganisationConfig, user: User, request: LeaveRequest, amendment: Amendment
) -> CountedAmendment:
    span = spans.Span(
        start_date=amendment.start_date,
        end_date=amendment.end_date,
        start_half_day=amendment.start_half_day,
        end_half_day=amendment.end_half_day,
    )
    counts = by_date.count(config, user, span)
    counted_halves = changed_leave.counted_halves(request, counts)
    return CountedAmendment(
        amendment=amendment,
        counted_halves=counted_halves,
        total_half_days=counted_days.total_half_days(counted_halves),
    )


def record(tx: Transaction, organisation_id: str, request: LeaveRequest) -> LeaveRequestRecord:
    """The public record of a request with its amendment."""
    return records.leave_request(request, of_request(tx, organisation_id, request))


def add_to_records(
    tx: Transaction,
    organisation_id: str,
    amended: Iterable[tuple[LeaveRequest, LeaveRequestRecord]],
) -> None:
    """Put the amendments into the records of the requests that have one."""
    shown = {request.id: (request, record) for request, record in amended}
    if not shown:
        return
    found = of_requests(tx, organisation_id, [request for request, _ in shown.values()])
    for request_id, amendment in found.items():
        shown[request_id][1]["amendment"] = records.open_amendment(amendment)


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
