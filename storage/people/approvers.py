"""Who approves a person's leave: computed from the current data on every call.

The approval chain has four levels: the person's manager, the department's manager, the department's
approvers, admins and owners. A level is assigned when no one on the levels below is present: active
or pending with a known Slack account, not the requester, and not on approved leave today.
``approval_rule`` has that as SQL.

Undecided requests are pending ones, and approved ones with an open amendment. They are assigned by
the approval chain and by escalation (``_escalated``). Decisions, buttons and lists use these two
expressions. Admins and owners may decide on every request, but their lists have only the requests
that are assigned to them.

Leave that needs a second approval is assigned to its second approvers once it has the first one
(``storage/rules/second_approvals``), and escalated to admins and owners.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date
from typing import Final

from peewee import Select, fn

from storage.base.leave_values import LeaveRequest
from storage.base.values import Caller, User
from storage.db import rows
from storage.db.compiled import Expr, Param, compiled
from storage.db.database import Transaction
from storage.db.tables import LeaveRequestRow, ReminderRow, TimeCreditCardRow, UserRow
from storage.people import approval_rule
from storage.rules import second_approvals
from storage.rules.second_approvals import Candidate

# Bounds the messages that one request causes.
MAX_APPROVERS: Final = 50
# Unreachable approvers that a preview names.
MAX_NAMED: Final = 5
_ABOVE_ALL_LEVELS: Final = 5


def of_person(tx: Transaction, organisation_id: str, user_id: str, *, today: date) -> list[User]:
    """The approvers of a person's leave, ordered by id; empty when no one else could decide."""
    return of_people(tx, organisation_id, [user_id], today=today).get(user_id, [])


def of_people(
    tx: Transaction,
    organisation_id: str,
    user_ids: Collection[str],
    *,
    today: date,
    absent_id: str | None = None,
) -> dict[str, list[User]]:
    """As ``of_person`` for many people; people without approvers are left out.

    ``absent_id`` is a person who counts as inactive.
    """
    if not user_ids:
        return {}
    approver_rows = tx.all(
        _approvers,
        organisation_id=organisation_id,
        user_ids=sorted(user_ids),
        today=today.isoformat(),
        absent_id=absent_id,
    )
    by_requester: dict[str, list[User]] = {}
    for row in approver_rows:
        users = by_requester.setdefault(row.requester_id, [])
        if len(users) < MAX_APPROVERS:
            users.append(rows.user(row))
    return by_requester


def is_approver_of(
    tx: Transaction, organisation_id: str, user_id: str, *, approver_id: str, today: date
) -> bool:
    """Whether a person's leave is assigned to this approver; `may_decide` is about requests."""
    row = tx.first(
        _is_approver_of,
        organisation_id=organisation_id,
        user_id=user_id,
        approver_id=approver_id,
        today=today.isoformat(),
    )
    return row is not None


def may_read_employment(
    tx: Transaction, users: Sequence[User], *, by: Caller, today: date
) -> frozenset[str]:
    """The ids of those whose last day and allowance the caller may read.

    The caller's own, those of people whose leave they approve, and everyone's for admins.
    """
    if by.is_admin or by.user_id is None:
        return frozenset(user.id for user in users)
    others = {user.id for user in users} - {by.user_id}
    readable = {user.id for user in users} - others
    if len(others) == 1:
        (other,) = others
        if is_approver_of(tx, by.organisation_id, other, approver_id=by.user_id, today=today):
            readable.add(other)
    elif others:
        readable |= people_of(tx, by.organisation_id, by.user_id, today=today)
    return frozenset(readable)


def people_of(
    tx: Transaction, organisation_id: str, approver_id: str, *, today: date
) -> frozenset[str]:
    """The ids of the people whose leave is assigned to an approver who is not an admin."""
    requesters = tx.all(
        _requesters_of,
        organisation_id=organisation_id,
        approver_id=approver_id,
        today=today.isoformat(),
    )
    return frozenset(requester_id for (requester_id,) in requesters)


def chains(
    tx: Transaction, organisation_id: str, user_ids: Collection[str], *, today: date
) -> dict[str, list[tuple[int, User]]]:
    """All present people of each person's approval chain with their level, 1 to 4, lowest first."""
    chain_rows = tx.all(
        _chains,
        organisation_id=organisation_id,
        user_ids=sorted(user_ids),
        today=today.isoformat(),
    )
    by_requester: dict[str, list[tuple[int, User]]] = {}
    for row in chain_rows:
        by_requester.setdefault(row.requester_id, []).append((row.level, rows.user(row)))
    return by_requester


def with_unreachable(
    tx: Transaction, organisation_id: str, user_id: str, *, today: date
) -> tuple[list[User], list[User]]:
    """The approvers as ``of_person``, and the people whom the approval chain skips for them.

    Those are pending, without a known Slack account; the lowest level first.
    """
    assigned = of_person(tx, organisation_id, user_id, today=today)
    unreachable = tx.all(_unreachable, organisation_id=organisation_id, user_ids=[user_id])
    if not unreachable:
        return assigned, []
    assigned_ids = {user.id for user in assigned}
    present = chains(tx, organisation_id, [user_id], today=today).get(user_id, [])
    highest = max(
        (level for level, user in present if user.id in assigned_ids), default=_ABOVE_ALL_LEVELS
    )
    skipped = [rows.user(row) for row in unreachable if row.level < highest]
    return assigned, skipped[:MAX_NAMED]


@compiled
def _approvers(
    organisation_id: Param[str],
    user_ids: Param[list[str]],
    today: Param[str],
    absent_id: Param[str] | None,
) -> Select:
    candidate, requester, department, query = approval_rule.chains_of(organisation_id, user_ids)
    return query.where(
        approval_rule.is_assigned_to(candidate, requester, department, today, absent_id)
    ).order_by(requester.id, candidate.id)


@compiled
def _chains(organisation_id: Param[str], user_ids: Param[list[str]], today: Param[str]) -> Select:
    candidate, requester, department, query = approval_rule.chains_of(organisation_id, user_ids)
    level = approval_rule.level_of(candidate, requester, department)
    return (
        query.select_extend(level.alias("level"))
        .where(
            approval_rule.is_reachable_sql(candidate),
            candidate.id != requester.id,
            level > 0,
            ~approval_rule.is_away(candidate, today),
        )
        .order_by(requester.id, level, candidate.id)
    )


@compiled
def _unreachable(organisation_id: Param[str], user_ids: Param[list[str]]) -> Select:
    """The people on these chains who are pending, without a known Slack account."""
    candidate, requester, department, query = approval_rule.chains_of(organisation_id, user_ids)
    level = approval_rule.level_of(candidate, requester, department)
    return (
        query.select_extend(level.alias("level"))
        .where(
            candidate.status == "pending",
            candidate.slack_user_id.is_null(),
            candidate.id != requester.id,
            level > 0,
        )
        .order_by(level, candidate.id)
        .limit(MAX_APPROVERS)
    )


@compiled
def _is_approver_of(
    organisation_id: Param[str], user_id: Param[str], approver_id: Param[str], today: Param[str]
) -> Select:
    query, requester = approval_rule.assigned_to(organisation_id, approver_id, today)
    return query.where(requester.id == user_id)


@compiled
def _requesters_of(
    organisation_id: Param[str], approver_id: Param[str], today: Param[str]
) -> Select:
    """The people whose leave is assigned to an approver who is not an admin."""
    return approval_rule.requesters_of(organisation_id, approver_id, today)


def could_decide(tx: Transaction, organisation_id: str, user_id: str) -> bool:
    """Whether anything could be assigned to a person who is no admin: for most people, nothing.

    The lists of what is assigned to them cost much more.
    """
    return tx.first(_assignable, organisation_id=organisation_id, user_id=user_id) is not None


def may_decide(
    tx: Transaction,
    organisation_id: str,
    request_id: str,
    user_id: str | None,
    *,
    is_admin: bool,
    today: date,
) -> bool:
    """Whether the person may decide on the request; the caller excludes own requests.

    Of leave that has its first approval, its approvers and its first approver still see it, and
    after the decision its second approver: whether they decide says `second_of`.
    """
    if is_admin or user_id is None:
        return is_admin
    row = tx.first(
        _assigned,
        organisation_id=organisation_id,
        request_id=request_id,
        viewer_id=user_id,
        today=today.isoformat(),
    )
    return row is not None


def may_reverse(
    tx: Transaction,
    organisation_id: str,
    request: LeaveRequest,
    user_id: str | None,
    *,
    is_admin: bool,
    today: date,
) -> bool:
    """Whether the person may reverse the decision, within the reversal window."""
    if not is_admin and request.decided_by != user_id:
        return False
    return may_decide(tx, organisation_id, request.id, user_id, is_admin=is_admin, today=today)


def of_request(
    tx: Transaction, organisation_id: str, request: LeaveRequest, *, today: date
) -> list[User]:
    """The approvers of a pending request, at most 50 of each kind: assigned, then by escalation."""
    assigned = of_requests(tx, organisation_id, [request], today=today).get(request.id, [])
    approver_ids = {user.id for user in assigned}
    if second_approvals.is_awaited(request):
        approver_ids.add(str(request.first_approver_id))
    escalated = tx.all(
        _escalated_users,
        organisation_id=organisation_id,
        request_id=request.id,
        limit=MAX_APPROVERS,
    )
    users = map(rows.user, escalated)
    return assigned + [user for user in users if user.id not in approver_ids]


def of_requests(
    tx: Transaction,
    organisation_id: str,
    requests: Iterable[LeaveRequest],
    *,
    today: date,
    absent_id: str | None = None,
) -> dict[str, list[User]]:
    """The approvers of each undecided request, by its id, without those by escalation."""
    requests = list(requests)
    seconds = second_of(tx, organisation_id, requests, today=today, absent_id=absent_id)
    firsts = [request for request in requests if request.id not in seconds]
    chain = of_people(
        tx,
        organisation_id,
        {request.user_id for request in firsts},
        today=today,
        absent_id=absent_id,
    )
    return seconds | {request.id: chain.get(request.user_id, []) for request in firsts}


def second_of(
    tx: Transaction,
    organisation_id: str,
    requests: Iterable[LeaveRequest],
    *,
    today: date,
    absent_id: str | None = None,
) -> dict[str, list[User]]:
    """The second approvers of those requests that await them, by id, each ordered by id.

    The first approver decides if no one else can any more.
    """
    awaiting = [request for request in requests if second_approvals.is_awaited(request)]
    candidates = _second_candidates_of(tx, organisation_id, awaiting, today, absent_id)
    return {
        request.id: _second_approvers(candidates, request)
        or [each.user for each in candidates if each.user.id == request.first_approver_id]
        for request in awaiting
    }


def second_after(
    tx: Transaction, organisation_id: str, request: LeaveRequest, *, today: date
) -> list[User]:
    """The second approvers of a request that gets its first approval; empty if there are none.

    It has ``first_approver_id`` and ``second_approver_id`` already.
    """
    candidates = _second_candidates_of(tx, organisation_id, [request], today, None)
    return _second_approvers(candidates, request)


def second_chains(
    tx: Transaction, organisation_id: str, requests: Iterable[LeaveRequest], *, today: date
) -> dict[str, list[tuple[int, User]]]:
    """As ``chains``, by request, of those that await their second approval.

    The named person is on level 1, other admins and owners on level 2.
    """
    awaiting = [request for request in requests if second_approvals.is_awaited(request)]
    candidates = [
        candidate
        for candidate in _second_candidates_of(tx, organisation_id, awaiting, today, None)
        if not candidate.is_away
    ]
    return {
        request.id: [
            (1 if candidate.user.id == request.second_approver_id else 2, candidate.user)
            for candidate in candidates
            if candidate.user.id not in (request.user_id, request.first_approver_id)
            and (candidate.user.id == request.second_approver_id or _is_admin(candidate.user))
        ]
        for request in awaiting
    }


def _second_approvers(candidates: Sequence[Candidate], request: LeaveRequest) -> list[User]:
    found = second_approvals.approvers(
        candidates,
        requester_id=request.user_id,
        first_approver_id=request.first_approver_id,
        named_id=request.second_approver_id,
    )
    return sorted(found, key=lambda user: user.id)[:MAX_APPROVERS]


def _second_candidates_of(
    tx: Transaction,
    organisation_id: str,
    requests: Sequence[LeaveRequest],
    today: date,
    absent_id: str | None,
) -> list[Candidate]:
    if not requests:
        return []
    named = {each.second_approver_id for each in requests}
    user_ids = sorted(filter(None, named | {each.first_approver_id for each in requests}))
    found = tx.all(
        _second_candidates,
        organisation_id=organisation_id,
        user_ids=user_ids,
        today=today.isoformat(),
        # One more than are shown, as the requester may be one of them.
        limit=len(user_ids) + MAX_APPROVERS + 1,
    )
    return [
        Candidate(user=rows.user(row), is_away=bool(row.is_away))
        for row in found
        if row.id != absent_id
    ]


def _is_admin(user: User) -> bool:
    return user.role in ("admin", "owner")


def is_assigned(organisation_id: Expr, viewer_id: Expr, today: Expr, *, for_each: bool) -> Expr:
    """Whether a leave request is assigned to the viewer, as SQL over ``LeaveRequestRow``.

    ``for_each``: the approval chain is checked for each request, which admins need: every chain may
    end at them. Else it is checked once for all people who could have the viewer on theirs.
    """
    leave, viewer = LeaveRequestRow, UserRow.alias()
    awaits_first = leave.first_approver_id.is_null()
    is_second = fn.EXISTS(
        viewer.select(viewer.id).where(
            viewer.organisation_id == organisation_id,
            viewer.id == viewer_id,
            approval_rule.is_second_approver(viewer, leave, today),
        )
    )
    is_escalated = leave.id.in_(_escalated_ids(organisation_id, viewer_id)) & (
        awaits_first | (leave.first_approver_id != viewer_id)
    )
    is_on_chain = _is_on_chain(organisation_id, viewer_id, today, for_each=for_each)
    return (awaits_first & is_on_chain) | (~awaits_first & is_second) | is_escalated


def _is_on_chain(organisation_id: Expr, viewer_id: Expr, today: Expr, *, for_each: bool) -> Expr:
    if for_each:
        query, requester = approval_rule.assigned_to(organisation_id, viewer_id, today)
        # Not EXISTS: PostgreSQL could then check the chains of all people of the organisation.
        requester_id = query.where(requester.id == LeaveRequestRow.user_id)
        return LeaveRequestRow.user_id == requester_id
    requesters = approval_rule.requesters_of(organisation_id, viewer_id, today)
    return LeaveRequestRow.user_id.in_(requesters)


def assigned_ids(organisation_id: Expr, viewer_id: Expr, today: Expr) -> Expr:
    """The ids of all requests, decided ones too, that a person who is no admin sees as approver."""
    request, of_two = LeaveRequestRow.alias(), LeaveRequestRow.alias()
    is_of_two = of_two.organisation_id == organisation_id
    requesters = approval_rule.requesters_of(organisation_id, viewer_id, today)
    return (
        request.select(request.id)
        .where(request.organisation_id == organisation_id, request.user_id.in_(requesters))
        .union_all(_escalated_ids(organisation_id, viewer_id))
        .union_all(of_two.select(of_two.id).where(is_of_two, of_two.first_approver_id == viewer_id))
        .union_all(
            of_two.select(of_two.id).where(is_of_two, of_two.second_approver_id == viewer_id)
        )
    )


def _escalated_ids(organisation_id: Expr, viewer_id: Expr) -> Select:
    return _escalated(ReminderRow.leave_request_id).where(
        ReminderRow.organisation_id == organisation_id, ReminderRow.user_id == viewer_id
    )


def _escalated(*columns: Expr) -> Select:
    """Requests and the people to whom they were escalated, as earlier approvers did not answer."""
    return (
        ReminderRow.select(*columns)
        .join(
            UserRow,
            on=(UserRow.organisation_id == ReminderRow.organisation_id)
            & (UserRow.id == ReminderRow.user_id),
        )
        .where(ReminderRow.is_next_step, approval_rule.is_reachable_sql(UserRow))
    )


@compiled
def _assignable(organisation_id: Param[str], user_id: Param[str]) -> Select:
    """People and requests that a person could have to decide about."""
    leave, escalated, card = LeaveRequestRow.alias(), ReminderRow, TimeCreditCardRow
    is_own = leave.organisation_id == organisation_id
    return (
        approval_rule.potential_requesters(organisation_id, user_id)
        .union_all(leave.select(leave.id).where(is_own, leave.first_approver_id == user_id))
        .union_all(leave.select(leave.id).where(is_own, leave.second_approver_id == user_id))
        .union_all(
            escalated.select(escalated.leave_request_id).where(
                escalated.organisation_id == organisation_id,
                escalated.user_id == user_id,
                escalated.is_next_step,
            )
        )
        .union_all(
            card.select(card.time_credit_id).where(
                card.organisation_id == organisation_id,
                card.user_id == user_id,
                card.is_next_step,
            )
        )
        .limit(1)
    )


@compiled
def _assigned(
    organisation_id: Param[str], request_id: Param[str], viewer_id: Param[str], today: Param[str]
) -> Select:
    return LeaveRequestRow.select(LeaveRequestRow.id).where(
        LeaveRequestRow.organisation_id == organisation_id,
        LeaveRequestRow.id == request_id,
        _is_on_chain(organisation_id, viewer_id, today, for_each=True)
        | LeaveRequestRow.id.in_(_escalated_ids(organisation_id, viewer_id))
        | (LeaveRequestRow.first_approver_id == viewer_id)
        | (LeaveRequestRow.second_approver_id == viewer_id),
    )


@compiled
def _second_candidates(
    organisation_id: Param[str], user_ids: Param[list[str]], today: Param[str], limit: Param[int]
) -> Select:
    return approval_rule.second_candidates(organisation_id, user_ids, today).limit(limit)


@compiled
def _escalated_users(
    organisation_id: Param[str], request_id: Param[str], limit: Param[int]
) -> Select:
    return (
        _escalated(*rows.USER)
        .where(
            ReminderRow.organisation_id == organisation_id,
            ReminderRow.leave_request_id == request_id,
        )
        .order_by(UserRow.id)
        .limit(limit)
    )
