"""Leave that was approved at once, as the people see it who are told of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from storage.base.values import LeaveRequest, User
from storage.db.database import Transaction
from storage.directory import approvers, pending_approvals, people_rows
from storage.events import notification_outbox
from storage.leave.cover import covered
from storage.rules import lifecycle


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


def load(
    tx: Transaction, organisation_id: str, request: LeaveRequest, viewer: User, today: date
) -> ToldAbsence | None:
    """None for the person's own leave, and for leave that was not approved at once."""
    if viewer.id == request.user_id or not lifecycle.is_approved_at_once(request):
        return None
    is_admin = viewer.role in ("admin", "owner")
    sees_request = viewer.id == request.decided_by or pending_approvals.may_decide(
        tx, organisation_id, request.id, viewer.id, is_admin=is_admin, today=today
    )
    leave = []
    if request.status == "approved":
        leave = covered.overlapping(tx, organisation_id, request, today)
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


def told_approvers(
    tx: Transaction, organisation_id: str, request: LeaveRequest, today: date
) -> list[User]:
    """The person's approvers who have a message about the leave, or will get it."""
    told_ids = notification_outbox.card_holders(tx, organisation_id, request)
    people = approvers.of_person(tx, organisation_id, request.user_id, today=today)
    return [person for person in people if person.id in told_ids]
