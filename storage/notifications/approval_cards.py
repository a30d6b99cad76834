"""A leave request as its approvers and its requester see it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from peewee import Select

from storage.base import fields
from storage.base.clock import local_day
from storage.base.errors import NotFound
from storage.base.values import Caller, LeaveRequest, LeaveType, User
from storage.db import rows
from storage.db.compiled import Param, compiled
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow
from storage.directory import approval_rule, colleagues, pending_approvals, people_rows
from storage.directory.colleagues import ColleagueOff
from storage.directory.employment import by_date
from storage.events import organisation_config
from storage.events.organisation_config import OrganisationConfig
from storage.leave import continued_leave, leave_reading, request_balances
from storage.leave.amendments import amendment_rows
from storage.leave.changes import cancelling
from storage.leave.cover import away
from storage.leave.interruptions import offering
from storage.leave.leave_reading import CancellationCause
from storage.leave.recorded import objections
from storage.leave.request_balances import YearBalance
from storage.notifications import card_amendments, told_absences
from storage.notifications.card_amendments import CardAmendment
from storage.notifications.told_absences import ToldAbsence
from storage.rules import days, lifecycle, spans
from storage.rules.changed_leave import CancelEffect


@dataclass(frozen=True, kw_only=True, slots=True)
class CardCover:
    """The cover of a request. ``days_off``: those of pending leave on which the cover is off.

    Unlike in a preview, pending leave of the cover counts: approvers see colleagues' anyway.
    """

    name: str
    days_off: tuple[date, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ApprovalCard:
    """A request as one person may see it.

    ``awaited_names`` are the approvers of a pending request or an open amendment. ``may_decide``:
    whether the viewer could approve or decline it now; ``may_reverse``: whether they could reverse
    the decision. ``balances`` has the leave years of a pending or approved request, oldest first,
    unless its type does not deduct. ``colleagues``: at most ten, by first day, of
    ``colleagues_count``. With an open amendment, both are about the proposed leave.
    ``timezone`` is the viewer's. ``cancelled_by_name`` is None unless a person cancelled it;
    ``cancelled_because`` is what else they did that cancelled it.
    ``recorded_by_name`` and ``has_objected`` are about leave recorded for the requester.
    ``cancel_effect``: what cancelling it does; None if the viewer is not its requester, or if they
    cannot cancel it.
    ``can_be_interrupted``: whether to offer that sick leave, or another such type, replaces days.
    ``told`` is what the viewer may know of leave that was approved at once, ``told_names`` are the
    approvers who were told of it. ``next_end`` of the viewer's own sick leave is its last day if it
    goes on.
    """

    request: LeaveRequest
    requester: User
    leave_type: LeaveType
    decided_by_name: str | None
    awaited_names: tuple[str, ...]
    may_decide: bool
    may_reverse: bool
    balances: tuple[YearBalance, ...]
    colleagues: tuple[ColleagueOff, ...]
    colleagues_count: int
    timezone: str
    cancelled_by_name: str | None = None
    is_cancelled_by_requester: bool = False
    cancelled_because: CancellationCause | None = None
    recorded_by_name: str | None = None
    has_objected: bool = False
    can_be_interrupted: bool = False
    cancel_effect: CancelEffect | None = None
    cover: CardCover | None = None
    amendment: CardAmendment | None = None
    told: ToldAbsence | None = None
    told_names: tuple[str, ...] = ()
    next_end: date | None = None
    today: date = date.min

    @property
    def open_amendment(self) -> CardAmendment | None:
        return self.amendment if self.amendment is not None and self.amendment.is_open else None

    @property
    def is_undecided(self) -> bool:
        """Whether the request or its amendment awaits a decision."""
        return self.request.status == "pending" or self.open_amendment is not None

    @property
    def ended_by_name(self) -> str | None:
        """The person who brought the request to its status."""
        if self.request.status == "cancelled":
            return self.cancelled_by_name
        return self.decided_by_name


def card(
    tx: Transaction, organisation_id: str, request_id: str, *, viewer_id: str, now: datetime
) -> ApprovalCard | None:
    """The request as it is now; None when there is no such request or viewer.

    The caller checks that the viewer may see it.
    """
    row = (
        tx.first(_request, organisation_id=organisation_id, request_id=request_id)
        if fields.is_id(request_id)
        else None
    )
    viewer = people_rows.find(tx, organisation_id, viewer_id)
    if row is None or viewer is None:
        return None
    request = rows.leave_request(row)
    requester = people_rows.find(tx, organisation_id, request.user_id)
    if requester is None:
        return None
    config = organisation_config.of_organisation(tx, organisation_id)
    today = local_day(now, config.organisation.timezone)
    pending_approvers = []
    if lifecycle.is_undecided(request):
        pending_approvers = pending_approvals.of_request(tx, organisation_id, request, today=today)
    amendment = card_amendments.newest(tx, config, requester, request)
    shown = card_amendments.amended(request, amendment)
    off = colleagues.off_with(
        tx, organisation_id, requester, spans.of_request(shown), includes_pending=True
    )
    cancelled_by = leave_reading.cancelled_by(tx, organisation_id, request)
    is_own = viewer.id == requester.id
    told = told_absences.load(tx, organisation_id, request, viewer, today)
    told_approvers: list[User] = []
    if is_own and lifecycle.is_approved_at_once(request):
        told_approvers = told_absences.told_approvers(tx, organisation_id, request, today)
    return ApprovalCard(
        request=request,
        requester=requester,
        leave_type=config.leave_types[request.leave_type_id],
        decided_by_name=_name_of(tx, organisation_id, request.decided_by),
        awaited_names=tuple(approver.name for approver in pending_approvers),
        may_decide=_may_decide(tx, organisation_id, request, viewer, today),
        may_reverse=_may_reverse(tx, organisation_id, request, viewer, today=today, now=now),
        balances=request_balances.of_request(
            tx, config, shown, requester, changed=request if shown is not request else None
        ),
        colleagues=tuple(off.named),
        colleagues_count=off.count,
        timezone=viewer.timezone or config.organisation.timezone,
        cancelled_by_name=_name_of(tx, organisation_id, cancelled_by),
        is_cancelled_by_requester=cancelled_by == request.user_id,
        cancelled_because=leave_reading.cancelled_because(tx, organisation_id, request),
        recorded_by_name=_name_of(tx, organisation_id, request.recorded_by),
        has_objected=objections.is_sent(tx, organisation_id, request),
        can_be_interrupted=offering.can_be_interrupted(config, request, today),
        cancel_effect=_cancel_effect(tx, config, request, viewer, today),
        cover=_cover(tx, config, shown),
        amendment=amendment,
        told=told,
        told_names=tuple(approver.name for approver in told_approvers),
        next_end=continued_leave.next_end(config, requester, request, today) if is_own else None,
        today=today,
    )


def visible_card(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> ApprovalCard:
    """As ``card``. Raises NotFound for a request that the caller cannot see."""
    leave_reading.get(tx, request_id, by=by, now=now)
    found = card(tx, by.organisation_id, request_id, viewer_id=str(by.user_id), now=now)
    if found is None:
        raise NotFound("leave request")
    return found


def _may_decide(
    tx: Transaction, organisation_id: str, request: LeaveRequest, viewer: User, today: date
) -> bool:
    if not lifecycle.is_undecided(request) or viewer.id == request.user_id:
        return False
    if not approval_rule.is_reachable(viewer):
        return False
    is_admin = viewer.role in ("admin", "owner")
    return pending_approvals.may_decide(
        tx, organisation_id, request.id, viewer.id, is_admin=is_admin, today=today
    )


def _may_reverse(
    tx: Transaction,
    organisation_id: str,
    request: LeaveRequest,
    viewer: User,
    *,
    today: date,
    now: datetime,
) -> bool:
    # Of leave with an open amendment, the reversal would end that.
    if lifecycle.is_undecided(request) or not lifecycle.is_reversible(request, now):
        return False
    if amendment_rows.is_decided(tx, organisation_id, request):
        return False
    if viewer.status != "active" or viewer.id == request.user_id:
        return False
    is_admin = viewer.role in ("admin", "owner")
    return pending_approvals.may_reverse(
        tx, organisation_id, request, viewer.id, is_admin=is_admin, today=today
    )


def _cancel_effect(
    tx: Transaction, config: OrganisationConfig, request: LeaveRequest, viewer: User, today: date
) -> CancelEffect | None:
    if viewer.id != request.user_id:
        return None
    return cancelling.offered(tx, config, [request], viewer.id, today).get(request.id)


def _name_of(tx: Transaction, organisation_id: str, user_id: str | None) -> str | None:
    user = None if user_id is None else people_rows.find(tx, organisation_id, user_id)
    return None if user is None else user.name


def _cover(tx: Transaction, config: OrganisationConfig, request: LeaveRequest) -> CardCover | None:
    if request.cover_user_id is None:
        return None
    organisation_id = config.organisation.id
    cover = people_rows.find(tx, organisation_id, request.cover_user_id)
    if cover is None:
        return None
    days_off: list[date] = []
    if lifecycle.is_undecided(request):
        worked = by_date.count(config, cover, spans.of_request(request))
        days_off = away.days_off(
            tx,
            organisation_id,
            cover,
            start_date=request.start_date,
            counted_halves=request.counted_halves,
            worked_halves=days.counted_halves(worked),
            includes_pending=True,
        )
    return CardCover(name=cover.name, days_off=tuple(days_off))


@compiled
def _request(organisation_id: Param[str], request_id: Param[str]) -> Select:
    return LeaveRequestRow.select(*rows.LEAVE_REQUEST).where(
        LeaveRequestRow.organisation_id == organisation_id, LeaveRequestRow.id == request_id
    )
