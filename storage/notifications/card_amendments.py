"""The amendment that an approval card shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from storage.base.values import Amendment, CountedAmendment, LeaveRequest, LeaveType, User
from storage.events.organisation_config import OrganisationConfig
from storage.leave.amendments import counted_amendments


@dataclass(frozen=True, kw_only=True, slots=True)
class CardAmendment:
    """The open amendment of approved leave, or the one whose end was its last change.

    ``ended_by_name`` is who decided on it or withdrew it.
    """

    amendment: Amendment
    leave_type: LeaveType
    counted_halves: str
    total_half_days: int
    ended_by_name: str | None

    @property
    def is_open(self) -> bool:
        return self.amendment.status == "open"


def shown(
    config: OrganisationConfig,
    people: Mapping[str, User],
    request: LeaveRequest,
    newest: Amendment | None,
) -> CardAmendment | None:
    """The newest amendment; None if the request was changed after it."""
    if newest is None:
        return None
    is_open = newest.id == request.amendment_id
    if not is_open and newest.decided_at != request.updated_at:
        return None
    counted = counted_amendments.counted(config, people[request.user_id], request, newest)
    ended_by = people.get(newest.decided_by or "")
    return CardAmendment(
        amendment=newest,
        leave_type=config.leave_types[newest.leave_type_id],
        counted_halves=counted.counted_halves,
        total_half_days=counted.total_half_days,
        ended_by_name=None if ended_by is None else ended_by.name,
    )


def amended(request: LeaveRequest, card_amendment: CardAmendment | None) -> LeaveRequest:
    """The request as it would be with its open amendment."""
    if card_amendment is None or not card_amendment.is_open:
        return request
    counted = CountedAmendment(
        amendment=card_amendment.amendment,
        counted_halves=card_amendment.counted_halves,
        total_half_days=card_amendment.total_half_days,
    )
    return counted_amendments.amended(request, counted)
