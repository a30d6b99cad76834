"""A leave request as its approvers and its requester see it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime

from storage.base.errors import NotFound
from storage.base.ids import is_id
from storage.base.leave_values import Amendment, CountedAmendment, LeaveRequest, LeaveType
from storage.base.values import Caller, User, local_day
from storage.db.database import Transaction
from storage.leave import (
    covers,
    interruptions,
    leave_amendments,
    leave_balances,
    leave_requests,
    leave_rows,
    limit_checks,
    returns,
    suggestions,
)
from storage.leave.leave_balances import YearBalance
from storage.leave.leave_rows import CancellationCause
from storage.leave.limit_checks import LimitExcess, TeamStrength
from storage.leave.returns import Return
from storage.leave.suggestions import Suggestion
from storage.outbox import notification_outbox, organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import approval_rule, approvers, colleagues, employment_by_date, people_rows
from storage.people.approvers import MAX_APPROVERS
from storage.people.colleagues import ColleagueOff
from storage.rules import absence_limits, counted_days, lifecycle, second_approvals
from storage.rules.lifecycle import CancelEffect


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


def shown_amendment(
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
    counted = leave_amendments.counted(config, people[request.user_id], request, newest)
    ended_by = people.get(newest.decided_by or "")
    return CardAmendment(
        amendment=newest,
        leave_type=config.leave_types[newest.leave_type_id],
        counted_halves=counted.counted_halves,
        total_half_days=counted.total_half_days,
        ended_by_name=None if ended_by is None else ended_by.name,
    )


def amended(request: LeaveRequest, card_amendment: CardAmendment | None) -> LeaveRequest:
    if card_amendment is None or not card_amendment.is_open:
        return request
    counted = CountedAmendment(
        amendment=card_amendment.amendment,
        counted_halves=card_amendment.counted_halves,
        total_half_days=card_amendment.total_half_days,
    )
    return leave_amendments.amended(request, counted)


@dataclass(frozen=True, kw_only=True, slots=True)
class Uncovered:
    """Leave of another person for which the absent person was to cover.

    ``is_own``: it is the viewer's. ``may_change``: the viewer may choose another cover for it.
    """

    request: LeaveRequest
    person_name: str
    is_own: bool
    may_change: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ToldAbsence:
    """What the viewer may know besides name and dates.

    ``sees_request``: they are an approver and see the leave type. ``uncovered``: all of it for
    them; of others, only leave of the viewer's own and of people whose approver they are.
    """

    sees_request: bool
    uncovered: tuple[Uncovered, ...]
    today: date


def told_to(
    tx: Transaction, config: OrganisationConfig, request: LeaveRequest, viewer: User, today: date
) -> ToldAbsence | None:
    """None for the person's own leave, and for leave that was not approved at once."""
    if viewer.id == request.user_id or not lifecycle.is_approved_at_once(request):
        return None
    organisation_id, is_admin = config.organisation.id, viewer.role in ("admin", "owner")
    sees_request = viewer.id == request.decided_by or approvers.may_decide(
        tx, organisation_id, request.id, viewer.id, is_admin=is_admin, today=today
    )
    leave = []
    if request.status == "approved":
        leave = covers.left_uncovered(tx, config, request, today)
    owner_ids = {each.user_id for each in leave}
    names = people_rows.names(tx, organisation_id, owner_ids)
    approvers_of = approvers.of_people(tx, organisation_id, owner_ids, today=today)
    uncovered = []
    for each in leave:
        is_own = each.user_id == viewer.id
        is_approver = viewer.id in {user.id for user in approvers_of.get(each.user_id, [])}
        if is_own or is_approver or sees_request:
            uncovered.append(
                Uncovered(
                    request=each,
                    person_name=names[each.user_id],
                    is_own=is_own,
                    may_change=is_own or (is_approver and is_admin),
                )
            )
    return ToldAbsence(sees_request=sees_request, uncovered=tuple(uncovered), today=today)


def approvers_told(
    tx: Transaction, organisation_id: str, request: LeaveRequest, today: date
) -> list[User]:
    """The person's approvers who have a message about the leave, or will get it."""
    told_ids = notification_outbox.card_holders(tx, organisation_id, request)
    people = approvers.of_person(tx, organisation_id, request.user_id, today=today)
    return [person for person in people if person.id in told_ids]


@dataclass(frozen=True, kw_only=True, slots=True)
class CardCover:
    """The cover of a request. ``days_off``: those of pending leave on which the cover is off.

    Unlike in a preview, pending leave of the cover counts: approvers see colleagues' anyway.
    """

    name: str
    days_off: tuple[date, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class CardSuggestion:
    """Other dates that an approver suggested for the request as it is: open, or declined."""

    suggestion: Suggestion
    suggested_by_name: str
    half_days: int

    @property
    def is_open(self) -> bool:
        return self.suggestion.status == "open"


def _suggested(
    config: OrganisationConfig,
    people: Mapping[str, User],
    request: LeaveRequest,
    suggestion: Suggestion | None,
) -> CardSuggestion | None:
    if suggestion is None:
        return None
    return CardSuggestion(
        suggestion=suggestion,
        suggested_by_name=people[suggestion.suggested_by].name,
        half_days=suggestions.half_days(config, people[request.user_id], suggestion),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class ApprovalCard:
    """A request as one person may see it.

    ``awaited_names`` are the approvers of a pending request or an open amendment, without the
    viewer; ``awaits_viewer``: whether the viewer is one of them. ``may_decide``: whether the viewer
    could approve or decline it now; ``may_reverse``: whether they could reverse the decision.
    ``balances`` has the leave years of a pending or approved request, oldest first, unless its type
    does not deduct. ``colleagues``: at most ten, by first day, of ``colleagues_count``. With an
    open amendment, both are about the proposed leave. ``timezone`` is the viewer's.
    ``cancelled_by_name`` is None unless a person cancelled it; ``cancelled_because`` is what else
    they did that cancelled it. ``recorded_by_name`` and ``has_objected`` are about leave recorded
    for the requester. ``cancel_effect``: what cancelling it does; None if the viewer is not its
    requester, or if they cannot cancel it. ``can_be_interrupted``: whether to offer that sick
    leave, or another such type, replaces days. ``told`` is what the viewer may know of leave that
    was approved at once, ``told_names`` are the approvers who were told of it. ``next_end`` of the
    viewer's own sick leave is its last day if it goes on. ``strength`` of the requester's
    department, and ``over_limits``, where it exceeds absence limits, are of requests and amendments
    that await a decision. ``first_approver_name`` is set while the second approval is awaited,
    ``second_approver_name`` too if a person gives it, not any admin. ``may_decline`` and
    ``may_take_back``: the viewer gave the first approval, and may still decline or take the
    approval back. ``ended_by_viewer``: they brought the request to its status. ``back``: when the
    requester works again after leave that is pending or approved; None for work elsewhere, and
    where no such day is near.
    """

    request: LeaveRequest
    requester: User
    viewer: User
    leave_type: LeaveType
    decided_by_name: str | None
    awaited_names: tuple[str, ...]
    awaits_viewer: bool
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
    first_approver_name: str | None = None
    second_approver_name: str | None = None
    may_decline: bool = False
    may_take_back: bool = False
    strength: TeamStrength | None = None
    over_limits: tuple[LimitExcess, ...] = ()
    ended_by_viewer: bool = False
    back: Return | None = None
    suggestion: CardSuggestion | None = None

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
    config = organisation_config.of_organisation(tx, organisation_id)
    return cards(tx, config, request_id, viewer_ids=[viewer_id], now=now).get(viewer_id)


def cards(
    tx: Transaction,
    config: OrganisationConfig,
    request_id: str,
    *,
    viewer_ids: Collection[str],
    now: datetime,
) -> dict[str, ApprovalCard]:
    """As ``card``, by viewer; what they share is read once."""
    organisation_id = config.organisation.id
    request = leave_rows.find(tx, organisation_id, request_id) if is_id(request_id) else None
    if request is None:
        return {}
    today = local_day(now, config.organisation.timezone)
    pending_approvers = []
    if lifecycle.is_undecided(request):
        pending_approvers = approvers.of_request(tx, organisation_id, request, today=today)
    newest = None
    if request.status == "approved":
        newest = leave_amendments.last_of(tx, organisation_id, request.id)
    cancelled_by = leave_rows.cancelled_by(tx, organisation_id, request)
    suggestion = suggestions.current(tx, organisation_id, request)
    known_ids = (
        request.user_id,
        request.decided_by,
        request.recorded_by,
        request.cover_user_id,
        request.first_approver_id,
        cancelled_by,
        None if newest is None else newest.decided_by,
        None if suggestion is None else suggestion.suggested_by,
    )
    people = people_rows.of_ids(tx, organisation_id, {*viewer_ids, *filter(None, known_ids)})
    requester = people[request.user_id]

    def name_of(user_id: str | None) -> str | None:
        return people[user_id].name if user_id in people else None

    amendment = shown_amendment(config, people, request, newest)
    shown = amended(request, amendment)
    off = colleagues.off_with(
        tx, organisation_id, requester, counted_days.span_of(shown), includes_pending=True
    )
    is_reversible = (
        not lifecycle.is_undecided(request)
        and lifecycle.is_reversible(request, now)
        # An amendment that was decided later makes the decision final.
        and not (newest and leave_amendments.is_decided(tx, organisation_id, request))
    )
    strength, over_limits = _attendance(tx, config, request, shown, requester)
    awaits_second = second_approvals.is_awaited(request)
    named = [user for user in pending_approvers if user.id == request.second_approver_id]
    told_approvers: list[User] = []
    if requester.id in viewer_ids and lifecycle.is_approved_at_once(request):
        told_approvers = approvers_told(tx, organisation_id, request, today)
    shared = ApprovalCard(
        request=request,
        requester=requester,
        viewer=requester,
        leave_type=config.leave_types[request.leave_type_id],
        decided_by_name=name_of(request.decided_by),
        awaited_names=(),
        awaits_viewer=False,
        may_decide=False,
        may_reverse=False,
        balances=leave_balances.around_request(
            tx, config, shown, requester, changed=request if shown is not request else None
        ),
        colleagues=tuple(off.named),
        colleagues_count=off.count,
        timezone=config.organisation.timezone,
        cancelled_by_name=name_of(cancelled_by),
        is_cancelled_by_requester=cancelled_by == request.user_id,
        cancelled_because=leave_rows.cancelled_because(tx, organisation_id, request),
        recorded_by_name=name_of(request.recorded_by),
        has_objected=leave_requests.has_objected(tx, organisation_id, request),
        can_be_interrupted=interruptions.can_be_interrupted(config, request, today),
        cover=_cover(tx, config, shown, people.get(request.cover_user_id or "")),
        amendment=amendment,
        told_names=tuple(approver.name for approver in told_approvers),
        today=today,
        strength=strength,
        over_limits=over_limits,
        first_approver_name=name_of(request.first_approver_id) if awaits_second else None,
        second_approver_name=named[0].name if awaits_second and named else None,
        back=returns.after(tx, config, requester, shown),
        suggestion=_suggested(config, people, request, suggestion),
    )
    ended_by = cancelled_by if request.status == "cancelled" else request.decided_by
    found: dict[str, ApprovalCard] = {}
    for viewer in (people[viewer_id] for viewer_id in viewer_ids if viewer_id in people):
        is_own = viewer.id == requester.id
        found[viewer.id] = replace(
            shared,
            viewer=viewer,
            awaited_names=tuple(each.name for each in pending_approvers if each.id != viewer.id),
            awaits_viewer=any(each.id == viewer.id for each in pending_approvers),
            may_decide=_may_decide(tx, organisation_id, request, viewer, pending_approvers, today),
            may_reverse=is_reversible and _may_reverse(tx, organisation_id, request, viewer, today),
            may_decline=second_approvals.may_decline(request, viewer.id),
            may_take_back=second_approvals.may_take_back(request, viewer.id, now),
            timezone=viewer.timezone or shared.timezone,
            ended_by_viewer=viewer.id == ended_by,
            cancel_effect=_cancel_effect(tx, config, request, today) if is_own else None,
            told=told_to(tx, config, request, viewer, today),
            told_names=shared.told_names if is_own else (),
            next_end=leave_requests.next_end(config, viewer, request, today) if is_own else None,
        )
    return found


def visible_card(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> ApprovalCard:
    """As ``card``. Raises NotFound for a request that the caller cannot see."""
    leave_rows.get(tx, request_id, by=by, now=now)
    found = card(tx, by.organisation_id, request_id, viewer_id=str(by.user_id), now=now)
    if found is None:
        raise NotFound("leave request")
    return found


def _attendance(
    tx: Transaction,
    config: OrganisationConfig,
    request: LeaveRequest,
    shown: LeaveRequest,
    requester: User,
) -> tuple[TeamStrength | None, tuple[LimitExcess, ...]]:
    """Who is away of the department on the days of undecided leave, and the limits it exceeds."""
    leave_type = config.leave_types[shown.leave_type_id]
    if not lifecycle.is_undecided(request) or not leave_type.is_away:
        return None, ()
    halves = absence_limits.added_halves(None, shown.start_date, shown.counted_halves)
    replaced = request if shown is not request else None
    added = limit_checks.added(config, leave_type, shown.start_date, shown.counted_halves, replaced)
    return (
        limit_checks.team_strength(tx, config, requester, halves),
        tuple(limit_checks.exceeded(tx, config, requester, added)),
    )


def _may_decide(
    tx: Transaction,
    organisation_id: str,
    request: LeaveRequest,
    viewer: User,
    pending_approvers: Collection[User],
    today: date,
) -> bool:
    if not lifecycle.is_undecided(request) or viewer.id == request.user_id:
        return False
    if not approval_rule.is_reachable(viewer):
        return False
    if viewer.id in {approver.id for approver in pending_approvers}:
        return True
    if viewer.role not in ("admin", "owner") and len(pending_approvers) < MAX_APPROVERS:
        return False
    if second_approvals.is_awaited(request):
        return _is_admin(viewer) and viewer.id != request.first_approver_id
    return approvers.may_decide(
        tx, organisation_id, request.id, viewer.id, is_admin=_is_admin(viewer), today=today
    )


def _may_reverse(
    tx: Transaction, organisation_id: str, request: LeaveRequest, viewer: User, today: date
) -> bool:
    if viewer.status != "active" or viewer.id == request.user_id:
        return False
    return approvers.may_reverse(
        tx, organisation_id, request, viewer.id, is_admin=_is_admin(viewer), today=today
    )


def _is_admin(viewer: User) -> bool:
    return viewer.role in ("admin", "owner")


def _cancel_effect(
    tx: Transaction, config: OrganisationConfig, request: LeaveRequest, today: date
) -> CancelEffect | None:
    return leave_amendments.cancel_effects(tx, config, [request], request.user_id, today).get(
        request.id
    )


def _cover(
    tx: Transaction, config: OrganisationConfig, request: LeaveRequest, cover: User | None
) -> CardCover | None:
    if cover is None:
        return None
    days_off: list[date] = []
    if lifecycle.is_undecided(request):
        worked = employment_by_date.count(config, cover, counted_days.span_of(request))
        days_off = covers.days_off(
            tx,
            config,
            cover,
            start_date=request.start_date,
            counted_halves=request.counted_halves,
            worked_halves=counted_days.counted_halves(worked),
            includes_pending=True,
        )
    return CardCover(name=cover.name, days_off=tuple(days_off))
