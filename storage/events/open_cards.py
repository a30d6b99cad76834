"""Finds the open approval cards: of undecided requests, in Slack or about to be posted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date
from typing import Final

from peewee import Select, fn

from storage.base.values import User
from storage.db import rows
from storage.db.compiled import Expr, Param, any_of, compiled
from storage.db.database import Transaction
from storage.db.tables import (
    AmendmentRow,
    DepartmentRow,
    LeaveRequestRow,
    NotificationRow,
    SlackMessageRow,
    UserRow,
)

# One change refreshes at most so many.
MAX_CARDS: Final = 5_000

# The request and the approver of a card.
Card = tuple[str, str]


def of_requesters(
    tx: Transaction,
    organisation_id: str,
    *,
    user_ids: Collection[str] | None = None,
    department_id: str | None = None,
) -> Sequence[Card]:
    """The cards of requests of these people, of a department, or of all people."""
    return tx.all(
        _of_requesters,
        organisation_id=organisation_id,
        user_ids=None if user_ids is None else sorted(user_ids),
        department_id=department_id,
        limit=MAX_CARDS,
    )


def listing(
    tx: Transaction, organisation_id: str, colleague: User, first_day: date, last_day: date
) -> Sequence[Card]:
    """The cards that list this colleague's leave, or show them as cover, between two days."""
    return tx.all(
        _listing,
        organisation_id=organisation_id,
        user_id=colleague.id,
        manager_id=colleague.manager_id,
        department_id=colleague.department_id,
        first_day=first_day.isoformat(),
        last_day=last_day.isoformat(),
        limit=MAX_CARDS,
    )


def of_absences(
    tx: Transaction,
    organisation_id: str,
    cover_user_ids: Collection[str],
    first_day: date,
    last_day: date,
) -> Sequence[Card]:
    """The messages about these people's leave between two days that was approved at once.

    They list the leave for which the people were to cover.
    """
    return tx.all(
        _of_absences,
        organisation_id=organisation_id,
        user_ids=sorted(cover_user_ids),
        first_day=first_day.isoformat(),
        last_day=last_day.isoformat(),
        limit=MAX_CARDS,
    )


@compiled
def _of_absences(
    organisation_id: Param[str],
    user_ids: Param[list[str]],
    first_day: Param[str],
    last_day: Param[str],
    limit: Param[int],
) -> Select:
    request = LeaveRequestRow
    return (
        SlackMessageRow.select(SlackMessageRow.leave_request_id, SlackMessageRow.user_id)
        .join(
            request,
            on=(request.organisation_id == SlackMessageRow.organisation_id)
            & (request.id == SlackMessageRow.leave_request_id),
        )
        .where(
            SlackMessageRow.organisation_id == organisation_id,
            request.organisation_id == organisation_id,
            any_of(request.user_id, user_ids),
            request.status == "approved",
            request.decided_by.is_null() | (request.decided_by == request.recorded_by),
            request.end_date >= first_day,
            request.start_date <= last_day,
            SlackMessageRow.user_id != request.user_id,
        )
        .limit(limit)
    )


@compiled
def _of_requesters(
    organisation_id: Param[str],
    user_ids: Param[list[str]] | None,
    department_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    conditions: list[Expr] = []
    if user_ids is not None:
        conditions.append(any_of(LeaveRequestRow.user_id, user_ids))
    if department_id is not None:
        members = UserRow.select(UserRow.id).where(
            UserRow.organisation_id == organisation_id, UserRow.department_id == department_id
        )
        conditions.append(LeaveRequestRow.user_id.in_(members))
    return _cards(organisation_id, conditions).limit(limit)


@compiled
def _listing(
    organisation_id: Param[str],
    user_id: Param[str],
    manager_id: Param[str] | None,
    department_id: Param[str] | None,
    first_day: Param[str],
    last_day: Param[str],
    limit: Param[int],
) -> Select:
    listing = _people_listing(organisation_id, user_id, manager_id, department_id)
    lists_leave = LeaveRequestRow.user_id.in_(listing) & (LeaveRequestRow.user_id != user_id)
    conditions = [
        lists_leave | (LeaveRequestRow.cover_user_id == user_id),
        _overlaps(first_day, last_day),
    ]
    return _cards(organisation_id, conditions).limit(limit)


def _overlaps(first_day: Param[str], last_day: Param[str]) -> Expr:
    """Whether the request, or its amendment, is about days between two days."""
    request = (LeaveRequestRow.start_date <= last_day) & (LeaveRequestRow.end_date >= first_day)
    amendment = fn.EXISTS(
        AmendmentRow.select(AmendmentRow.id).where(
            AmendmentRow.organisation_id == LeaveRequestRow.organisation_id,
            AmendmentRow.id == LeaveRequestRow.amendment_id,
            AmendmentRow.start_date <= last_day,
            AmendmentRow.end_date >= first_day,
        )
    )
    return request | amendment


def _people_listing(
    organisation_id: Param[str],
    user_id: Param[str],
    manager_id: Param[str] | None,
    department_id: Param[str] | None,
) -> Select:
    """The ids of people whose ``colleagues.team`` has the person: the same rule, inverted."""
    headed = DepartmentRow.select(DepartmentRow.id).where(
        DepartmentRow.organisation_id == organisation_id, DepartmentRow.manager_id == user_id
    )
    owner = UserRow.alias()
    lists_person = owner.department_id.in_(headed)
    if manager_id is not None:
        lists_person = lists_person | (owner.id == manager_id)
    if department_id is not None:
        head = DepartmentRow.select(DepartmentRow.manager_id).where(
            DepartmentRow.organisation_id == organisation_id,
            DepartmentRow.id == department_id,
            DepartmentRow.manager_id.is_null(False),
        )
        lists_person = lists_person | (owner.department_id == department_id) | owner.id.in_(head)
    return owner.select(owner.id).where(owner.organisation_id == organisation_id, lists_person)


def _cards(organisation_id: Param[str], conditions: Sequence[Expr]) -> Select:
    """Cards in Slack and queued ones: a queued card may have been rendered before the change."""
    posted = _of_undecided_requests(
        SlackMessageRow,
        organisation_id,
        # A requester's own message is not a card.
        SlackMessageRow.user_id != LeaveRequestRow.user_id,
        *conditions,
    )
    queued = _of_undecided_requests(
        NotificationRow,
        organisation_id,
        NotificationRow.kind == "approval_card",
        NotificationRow.status == "pending",
        *conditions,
    )
    return posted.union(queued)


def _of_undecided_requests(row: Expr, organisation_id: Param[str], *conditions: Expr) -> Select:
    """Request and recipient of the rows about undecided requests that meet the conditions."""
    return (
        row.select(row.leave_request_id, row.user_id)
        .join(
            LeaveRequestRow,
            on=(LeaveRequestRow.organisation_id == row.organisation_id)
            & (LeaveRequestRow.id == row.leave_request_id),
        )
        .where(
            row.organisation_id == organisation_id,
            LeaveRequestRow.organisation_id == organisation_id,
            rows.is_undecided(LeaveRequestRow),
            *conditions,
        )
    )
