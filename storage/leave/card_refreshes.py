"""Refreshes open approval cards when the balance or the colleagues on them change.

The balance on a card depends on the requester's other leave and on what they are granted; the
colleagues depend on the leave of the people whom the card lists (colleagues.py). The request
itself stays as it is: its own changes refresh its cards through ``notification_outbox.notify``.

A changed balance queues the refreshes at once: every transaction that changes it locks the
requester's row or the organisation's. Changed colleagues queue one ``cover_changed`` notification,
and ``expand`` finds the cards after the commit. Two colleagues may submit requests at the same
moment; neither transaction sees the other's, so only a search after both commits finds both cards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from peewee import Select, fn

from storage.base.leave_values import LeaveRequest, LeaveStatus
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
from storage.outbox import notification_outbox
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import people_rows

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


# Changes within this time share one refresh.
COVER_DELAY: Final = timedelta(seconds=2)


@dataclass(frozen=True, kw_only=True, slots=True)
class CoverChange:
    """A person whose leave changed, and the first and last changed day."""

    organisation_id: str
    user_id: str
    first_day: date
    last_day: date


def leave_changed(
    tx: Transaction,
    changes: Sequence[tuple[LeaveRequest | None, LeaveRequest]],
    *,
    config: OrganisationConfig,
    now: datetime,
) -> None:
    """Refresh the other cards that changes of one person's leave affect.

    Each change is a request before (None: it is new) and after it.
    """
    if not config.is_in_slack:
        return
    if any(
        _deducted(before) != _deducted(after)
        for before, after in changes
        if config.allowance_of(after.leave_type_id, after.start_date) is not None
    ):
        requester_ids = {after.user_id for _, after in changes}
        enqueue(
            tx,
            config=config,
            now=now,
            user_ids=requester_ids,
            except_ids=[after.id for _, after in changes],
        )
    cover_changes = [pair for pair in changes if _cover(pair[0], config) != _cover(pair[1], config)]
    if cover_changes:
        _enqueue_cover_change(tx, cover_changes, config.organisation.id, now)


def enqueue(
    tx: Transaction,
    *,
    config: OrganisationConfig,
    now: datetime,
    user_ids: Collection[str] | None = None,
    department_id: str | None = None,
    except_ids: Collection[str] = (),
) -> None:
    """Queue refreshes of the open cards of these people, of a department, or of all people."""
    if not config.is_in_slack:
        return
    cards = of_requesters(
        tx, config.organisation.id, user_ids=user_ids, department_id=department_id
    )
    _refresh(tx, config.organisation.id, cards, now, except_ids)


def expand(tx: Transaction, change: CoverChange, *, now: datetime) -> None:
    """Queue refreshes of the open cards that list the person's leave between the two days."""
    person = people_rows.find(tx, change.organisation_id, change.user_id)
    if person is None:
        return
    cards = listing(tx, change.organisation_id, person, change.first_day, change.last_day)
    _refresh(tx, change.organisation_id, cards, now)


def _deducted(request: LeaveRequest | None) -> tuple[LeaveStatus, date, date, str] | None:
    """The request's deduction from the allowance, and whether it is pending."""
    if request is None or request.status not in ("pending", "approved"):
        return None
    return request.status, request.start_date, request.end_date, request.counted_halves


def _cover(
    request: LeaveRequest | None, config: OrganisationConfig
) -> tuple[LeaveStatus, str, date, date, str | None, str | None] | None:
    """The request's fields on the cards of colleagues, which list absences only."""
    if request is None or request.status not in ("pending", "approved"):
        return None
    if not config.leave_types[request.leave_type_id].is_away:
        return None
    return (
        request.status,
        request.leave_type_id,
        request.start_date,
        request.end_date,
        request.start_half_day,
        request.end_half_day,
    )


def _enqueue_cover_change(
    tx: Transaction,
    changes: Sequence[tuple[LeaveRequest | None, LeaveRequest]],
    organisation_id: str,
    now: datetime,
) -> None:
    requests = [request for pair in changes for request in pair if request is not None]
    row = notification_outbox.notification_row(
        organisation_id,
        "cover_changed",
        requests[0].user_id,
        None,
        notification_outbox.CARD_REFRESH,
        now,
    )
    span = {
        "first_day": min(request.start_date for request in requests).isoformat(),
        "last_day": max(request.end_date for request in requests).isoformat(),
        "due_at": now + COVER_DELAY,
    }
    tx.insert(NotificationRow, **row | span)


def _refresh(
    tx: Transaction,
    organisation_id: str,
    cards: Iterable[tuple[str, str]],
    now: datetime,
    except_ids: Collection[str] = (),
) -> None:
    refreshed = [
        notification_outbox.notification_row(
            organisation_id,
            "approval_card",
            user_id,
            request_id,
            notification_outbox.CARD_REFRESH,
            now,
        )
        for request_id, user_id in sorted(cards)
        if request_id not in except_ids
    ]
    if refreshed:
        tx.insert_all(NotificationRow, refreshed)
        tx.notify(notification_outbox.NOTIFICATIONS)
