"""The contents of a person's App Home."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Final, TypeVar

from storage.base.calendar_values import Absence
from storage.base.errors import NotFound, UnusableCursor
from storage.base.leave_values import CountedAmendment, LeaveRequest, LeaveType, TimeCredit
from storage.base.values import Caller, Organisation, User, local_day
from storage.calendars import absences, wallchart
from storage.calendars.wallchart import Wallchart
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf
from storage.leave import (
    covers,
    decision_inbox,
    form_defaults,
    interruptions,
    leave_amendments,
    leave_balances,
    leave_lists,
    leave_requests,
    ledgers,
    time_credit_lists,
)
from storage.leave.covers import Covered
from storage.leave.decision_inbox import Inbox
from storage.leave.leave_balances import YearBalance
from storage.leave.ledgers import Balance
from storage.notifications import time_credit_cards
from storage.notifications.time_credit_cards import TimeCreditCard
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import approvers, colleagues, people_rows
from storage.people.colleagues import ColleagueOff
from storage.rules import counted_days, second_approvals
from storage.rules.lifecycle import CancelEffect
from storage.workspaces import setup_checklist
from storage.workspaces.setup_checklist import Checklist
from storage.workspaces.slack_workspaces import PageCursors, find_opened_home

# Items on a page of each list.
MAX_OWN: Final = 8
MAX_WAITING: Final = 10
MAX_AWAY: Final = 12
MAX_WAITING_CLAIMS: Final = 5
MAX_OWN_CLAIMS: Final = 5
# One more is read, to say that there are others.
MAX_COVERING: Final = 5
# Days from today on whose absences are shown.
DAY_COUNT: Final = 14
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """A request with its requester's name, its type, its cover's name and its open amendment.

    ``first_approver_name`` is set while the second approval is awaited, ``second_approver_name``
    too if a person gives it, not any admin. ``can_be_interrupted`` and ``cancel_effect`` as in
    `ApprovalCard`, and so are ``balances`` and the colleagues of a waiting request.
    """

    request: LeaveRequest
    person_name: str
    leave_type: LeaveType
    cover_name: str | None = None
    amendment: ProposedLeave | None = None
    can_be_interrupted: bool = False
    cancel_effect: CancelEffect | None = None
    balances: tuple[YearBalance, ...] = ()
    colleagues: tuple[ColleagueOff, ...] = ()
    colleagues_count: int = 0
    first_approver_name: str | None = None
    second_approver_name: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ProposedLeave:
    """An open amendment and the proposed leave type."""

    counted: CountedAmendment
    leave_type: LeaveType


@dataclass(frozen=True, kw_only=True, slots=True)
class Home:
    """``own``: pending leave, and approved leave that has not ended, earliest first.

    ``waiting``: requests that await the viewer's decision, oldest first. ``away``: leave between
    ``today`` and ``last_day``, by first day: approved, or pending if the viewer could decide on it;
    ``chart`` has the days of these people. ``elsewhere``: today's leave of people who are at work
    elsewhere, as in ``absences.elsewhere``; only beside the first page of ``away``.
    ``covering``: approved leave from today on that the viewer covers, at most six, by last day.
    ``cursors`` has the pages that are shown, and their scope, which is never None. ``may_record``:
    whether the viewer may record leave for anyone. ``may_report_sick``: whether there is a type
    for sick leave that needs no approval. ``balances``: today's leave year, then later
    ones with leave. ``may_claim``: whether there is an allowance for which days can be earned.
    ``waiting_claims``: time in lieu that awaits the viewer's decision, the oldest; ``own_claims``:
    their own that is pending or was decided of late, newest first. ``inbox``: several requests that
    wait, and which of them meet nothing; None with fewer, and after the first page of ``waiting``.
    """

    user: User
    organisation: Organisation
    today: date
    last_day: date
    balances: list[Balance]
    own: Page[Item]
    waiting: Page[Item]
    away: Page[Absence]
    chart: Wallchart
    elsewhere: list[Absence]
    covering: list[Covered]
    cursors: PageCursors
    may_record: bool = False
    may_report_sick: bool = False
    may_claim: bool = False
    waiting_claims: tuple[TimeCreditCard, ...] = ()
    has_more_claims: bool = False
    own_claims: tuple[TimeCreditCard, ...] = ()
    checklist: Checklist | None = None
    inbox: Inbox | None = None


def load(tx: Transaction, *, by: Caller, now: datetime) -> Home:
    """The caller's Home. A list whose cursor is no longer valid starts at its first page.

    ``away`` is of two weeks, and ``chart`` has the same people's days.
    """
    cursors = find_opened_home(tx, by=by, now=now) or PageCursors()
    config = organisation_config.of_organisation(tx, by.organisation_id)
    user = people_rows.find(tx, by.organisation_id, str(by.user_id))
    if user is None:
        raise NotFound("user")
    today = local_day(now, user.timezone or config.organisation.timezone)
    last_day = today + timedelta(days=DAY_COUNT - 1)
    scope = cursors.scope or ("team" if user.department_id else "org")
    cursors = replace(cursors, scope=scope)
    decides = by.is_admin or approvers.could_decide(tx, by.organisation_id, user.id)
    waiting, waiting_cursor = _page_after(
        cursors.waiting,
        MAX_WAITING,
        lambda page: (
            leave_lists.assigned(tx, page, by=by, now=now)
            if decides
            else Page(items=[], next_cursor=None)
        ),
    )
    own, own_cursor = _page_after(
        cursors.own, MAX_OWN, lambda page: leave_lists.own(tx, page, by=by, today=today)
    )
    pending = _pending_shown(by, waiting)
    office_today = local_day(now, config.organisation.timezone)
    away, away_cursor = _page_after(
        cursors.away,
        MAX_AWAY,
        lambda page: absences.away(
            tx,
            page,
            user,
            config.organisation,
            scope,
            config.leave_types,
            first_day=today,
            last_day=last_day,
            pending=pending,
            today=office_today,
        ),
    )
    awaiting: list[TimeCredit] = []
    if decides:
        awaiting = time_credit_lists.assigned(
            tx, by=by, today=office_today, limit=MAX_WAITING_CLAIMS + 1
        )
    claims = time_credit_cards.of_credits(tx, config, awaiting, user)
    own_claims = time_credit_lists.recent(tx, by=by, now=now, limit=MAX_OWN_CLAIMS)
    return Home(
        user=user,
        organisation=config.organisation,
        today=today,
        last_day=last_day,
        balances=ledgers.from_today(tx, config, user, now=now),
        own=_with_cancel_effects(tx, config, _items(tx, config, own, today), user, office_today),
        waiting=_with_card_facts(tx, config, _items(tx, config, waiting, today)),
        away=away,
        chart=wallchart.of_users(
            tx,
            config,
            viewer_id=user.id,
            user_ids=list(dict.fromkeys(str(absence.user_id) for absence in away.items)),
            first_day=today,
            day_count=DAY_COUNT,
            pending=pending,
            today=office_today,
        ),
        elsewhere=[]
        if away_cursor is not None
        else absences.elsewhere(
            tx,
            user,
            config.organisation,
            scope,
            config.leave_types,
            first_day=today,
            last_day=today,
        ),
        covering=covers.upcoming_covered(
            tx, by.organisation_id, user.id, today, limit=MAX_COVERING + 1
        ),
        cursors=PageCursors(own=own_cursor, waiting=waiting_cursor, away=away_cursor, scope=scope),
        may_claim=bool(time_credit_lists.earnable(config)),
        waiting_claims=tuple(claims[:MAX_WAITING_CLAIMS]),
        has_more_claims=len(claims) > MAX_WAITING_CLAIMS,
        own_claims=tuple(time_credit_cards.of_credits(tx, config, own_claims, user)),
        may_report_sick=form_defaults.sick_type(config.leave_types.values()) is not None,
        may_record=decides and leave_requests.are_any_recordable(tx, by=by, now=now),
        checklist=setup_checklist.find(tx, config, by=by, now=now),
        inbox=decision_inbox.load(tx, user, organisation_id=by.organisation_id, now=now)
        if waiting_cursor is None and len(waiting.items) > 1
        else None,
    )


def _pending_shown(by: Caller, waiting: Page[LeaveRequest]) -> absences.Pending:
    """Which pending absences are shown: only those that the viewer could approve or decline."""
    if by.is_admin:
        return "all"
    return "awaiting" if waiting.items else "none"


def _page_after(
    cursor: str | None, limit: int, read: Callable[[PageOf], Page[T]]
) -> tuple[Page[T], str | None]:
    """The page after the cursor and the cursor; the first page and None if that page is empty."""
    if cursor is not None:
        try:
            page = read(PageOf(limit=limit, cursor=cursor))
        except UnusableCursor:
            page = None
        if page is not None and page.items:
            return page, cursor
    return read(PageOf(limit=limit)), None


def _items(
    tx: Transaction, config: OrganisationConfig, page: Page[LeaveRequest], today: date
) -> Page[Item]:
    user_ids = {request.user_id for request in page.items}
    user_ids |= {request.cover_user_id for request in page.items if request.cover_user_id}
    awaiting = [each for each in page.items if second_approvals.is_awaited(each)]
    user_ids |= {each.first_approver_id for each in awaiting if each.first_approver_id}
    names = people_rows.names(tx, config.organisation.id, user_ids)
    seconds = approvers.second_of(tx, config.organisation.id, awaiting, today=today)
    amendments = leave_amendments.of_requests(tx, config.organisation.id, page.items)
    items = [
        Item(
            request=request,
            person_name=names[request.user_id],
            leave_type=config.leave_types[request.leave_type_id],
            cover_name=names.get(request.cover_user_id or ""),
            amendment=_proposed(config, amendments.get(request.id)),
            can_be_interrupted=interruptions.can_be_interrupted(config, request, today),
            first_approver_name=names[request.first_approver_id]
            if request in awaiting and request.first_approver_id
            else None,
            second_approver_name=next(
                (
                    user.name
                    for user in seconds.get(request.id, ())
                    if user.id == request.second_approver_id
                ),
                None,
            ),
        )
        for request in page.items
    ]
    return Page(items=items, next_cursor=page.next_cursor)


def _with_cancel_effects(
    tx: Transaction, config: OrganisationConfig, page: Page[Item], user: User, today: date
) -> Page[Item]:
    own = [item.request for item in page.items]
    effects = leave_amendments.cancel_effects(tx, config, own, user.id, today)
    items = [replace(item, cancel_effect=effects.get(item.request.id)) for item in page.items]
    return Page(items=items, next_cursor=page.next_cursor)


def _with_card_facts(tx: Transaction, config: OrganisationConfig, page: Page[Item]) -> Page[Item]:
    """The items with the balances and the colleagues that approval cards show."""
    if not page.items:
        return page
    shown = {item.request.id: _as_asked(item) for item in page.items}
    requesters = people_rows.of_ids(
        tx, config.organisation.id, {request.user_id for request in shown.values()}
    )
    changed = {item.request.id: item.request for item in page.items if item.amendment is not None}
    balances = leave_balances.around_requests(
        tx, config, list(shown.values()), requesters, changed=changed
    )
    off = colleagues.off_with_each(
        tx,
        config.organisation.id,
        {
            request.id: (requesters[request.user_id], counted_days.span_of(request))
            for request in shown.values()
        },
        includes_pending=True,
    )
    items = [
        replace(
            item,
            balances=balances.get(item.request.id, ()),
            colleagues=tuple(off[item.request.id].named),
            colleagues_count=off[item.request.id].count,
        )
        for item in page.items
    ]
    return Page(items=items, next_cursor=page.next_cursor)


def _as_asked(item: Item) -> LeaveRequest:
    """The request, or the leave as it would be with its amendment."""
    if item.amendment is None:
        return item.request
    return leave_amendments.amended(item.request, item.amendment.counted)


def _proposed(config: OrganisationConfig, counted: CountedAmendment | None) -> ProposedLeave | None:
    if counted is None:
        return None
    leave_type = config.leave_types[counted.amendment.leave_type_id]
    return ProposedLeave(counted=counted, leave_type=leave_type)
