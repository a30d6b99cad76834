"""What waits for a person's decision, and which of it meets nothing and can be approved together.

A request is clear if no other waiting or approved leave on the team calendar takes the same half of
a day (as ``colleagues.py`` has it for cards), no absence limit is exceeded, and enough allowance is
left. Changes of approved leave are never clear: they are compared with what they change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final, Literal

from storage.base.leave_values import AbsenceLimit, LeaveRequest, LeaveType, TimeCredit
from storage.base.values import Caller, User, local_day
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow
from storage.leave import (
    decisions,
    leave_amendments,
    leave_balances,
    leave_lists,
    limit_checks,
    request_steps,
    time_credit_lists,
)
from storage.leave.leave_balances import YearBalance
from storage.leave.limit_checks import LimitExcess
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import colleagues, people_rows
from storage.people.colleagues import ColleagueOff
from storage.rules import counted_days

# Requests, those that wait longest, and claims of time in lieu.
MAX_WAITING: Final = 20
MAX_CLAIMS: Final = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """A request as it would be if it was approved, and what speaks against that.

    ``colleagues``: at most ten of ``colleagues_count``, who are off in the same half-days.
    """

    request: LeaveRequest
    person_name: str
    leave_type: LeaveType
    is_amendment: bool = False
    cancels: bool = False
    colleagues: tuple[ColleagueOff, ...] = ()
    colleagues_count: int = 0
    over_limits: tuple[LimitExcess, ...] = ()
    balances: tuple[YearBalance, ...] = ()

    @property
    def short(self) -> YearBalance | None:
        """The first leave year in which too little is left."""
        return next((balance for balance in self.balances if balance.is_short), None)

    @property
    def meets_on(self) -> date | None:
        """The first day on which a colleague is off, too."""
        days = [max(self.request.start_date, each.start_date) for each in self.colleagues]
        return min(days, default=None)

    @property
    def is_clear(self) -> bool:
        return not (
            self.is_amendment or self.colleagues_count or self.over_limits or self.short is not None
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """Time in lieu that waits for the person's decision."""

    credit: TimeCredit
    person_name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Inbox:
    """``waiting``: requests, those that wait longest; ``has_more``: there are others."""

    waiting: tuple[Waiting, ...]
    has_more: bool
    claims: tuple[Claim, ...]
    has_more_claims: bool

    @property
    def is_empty(self) -> bool:
        return not self.waiting and not self.claims

    @property
    def clear(self) -> tuple[Waiting, ...]:
        return tuple(each for each in self.waiting if each.is_clear)

    @property
    def rest(self) -> tuple[Waiting, ...]:
        return tuple(each for each in self.waiting if not each.is_clear)


def load(tx: Transaction, user: User, *, organisation_id: str, now: datetime) -> Inbox:
    """What waits for the person."""
    config = organisation_config.of_organisation(tx, organisation_id)
    today = local_day(now, config.organisation.timezone)
    by = Caller.in_slack(organisation_id, user.id, user.role)
    requests = leave_lists.all_assigned(
        tx,
        organisation_id,
        user.id,
        is_admin=by.is_admin,
        today=today,
        limit=MAX_WAITING + 1,
    )
    credits = time_credit_lists.assigned(tx, by=by, today=today, limit=MAX_CLAIMS + 1)
    names = people_rows.names(tx, organisation_id, {credit.user_id for credit in credits})
    claims = [Claim(credit=credit, person_name=names[credit.user_id]) for credit in credits]
    return Inbox(
        waiting=tuple(examine(tx, config, requests[:MAX_WAITING])),
        has_more=len(requests) > MAX_WAITING,
        claims=tuple(claims[:MAX_CLAIMS]),
        has_more_claims=len(claims) > MAX_CLAIMS,
    )


def examine(
    tx: Transaction, config: OrganisationConfig, requests: Sequence[LeaveRequest]
) -> list[Waiting]:
    """The requests with all that speaks against approving them."""
    if not requests:
        return []
    organisation_id = config.organisation.id
    amendments = leave_amendments.of_requests(tx, organisation_id, requests)
    asked = {
        request.id: leave_amendments.amended(request, amendments[request.id])
        if request.id in amendments
        else request
        for request in requests
    }
    people = people_rows.of_ids(tx, organisation_id, {each.user_id for each in requests})
    changed = {request.id: request for request in requests if request.id in amendments}
    balances = leave_balances.around_requests(
        tx, config, list(asked.values()), people, changed=changed
    )
    away = {
        request_id: (people[request.user_id], counted_days.span_of(request))
        for request_id, request in asked.items()
        if config.leave_types[request.leave_type_id].is_away and request.total_half_days
    }
    off = colleagues.off_with_each(tx, organisation_id, away, includes_pending=True)
    waiting = [
        Waiting(
            request=request,
            person_name=people[request.user_id].name,
            leave_type=config.leave_types[request.leave_type_id],
            is_amendment=request_id in amendments,
            cancels=request_id in amendments and amendments[request_id].amendment.cancels,
            colleagues=tuple(off[request_id].named) if request_id in off else (),
            colleagues_count=off[request_id].count if request_id in off else 0,
            balances=balances.get(request_id, ()),
        )
        for request_id, request in asked.items()
    ]
    limits = limit_checks.active(tx, organisation_id)
    if not limits:
        return waiting
    return [
        replace(each, over_limits=_exceeded(tx, config, people, each, limits))
        if each.is_clear
        else each
        for each in waiting
    ]


def _exceeded(
    tx: Transaction,
    config: OrganisationConfig,
    people: Mapping[str, User],
    waiting: Waiting,
    limits: Sequence[AbsenceLimit],
) -> tuple[LimitExcess, ...]:
    """The limits that an otherwise clear request exceeds, as its card has them.

    Each request's days are read on their own: days between distant requests would be far more.
    """
    request = waiting.request
    added = limit_checks.added(
        config, waiting.leave_type, request.start_date, request.counted_halves
    )
    return tuple(limit_checks.exceeded(tx, config, people[request.user_id], added, among=limits))


def names_of(
    tx: Transaction, organisation_id: str, request_ids: Sequence[str]
) -> Mapping[str, str]:
    """The names of the people of these requests, by request."""
    found = tx.select(LeaveRequestRow, organisation_id=organisation_id, id=list(request_ids))
    names = people_rows.names(tx, organisation_id, {row.user_id for row in found})
    return {row.id: names[row.user_id] for row in found}


Result = Literal["approved", "changed", "not_clear"]


def approve(tx: Transaction, request_id: str, version: int, *, by: Caller, now: datetime) -> Result:
    """Approve one of several requests, if it is still clear and has that version.

    The caller calls it for each in a transaction of its own, so that each is decided or not. Raises
    the errors of ``decisions.approve``.
    """
    requester, request = request_steps.lock_request(
        tx, request_id, by=by, now=now, is_counting=True
    )
    if request.status == "pending" and request.version != version:
        return "changed"
    if request.status == "pending" and not examine(tx, requester.config, [request])[0].is_clear:
        return "not_clear"
    decisions.approve(tx, request_id, by=by, now=now, is_pending_only=True)
    return "approved"
