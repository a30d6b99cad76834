"""Redraws the approval cards of pending requests when the balance or the cover on them changes.

The balance on a card depends on the requester's other leave and on what they are granted; the
cover depends on the leave of the colleagues whom the card lists (colleagues.py). The request
itself stays as it is: its own changes redraw its cards through ``notification_outbox.notify``.

Another balance queues the redraws at once: the requester's row or the organisation's is locked by
every transaction that changes it. For another cover one ``cover_changed`` notification is queued,
and ``expand`` finds the cards after the commit. Two colleagues may submit requests at the same
moment; neither transaction sees the other's, so only a search after both commits finds both cards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from peewee import Select

from storage.base.values import LeaveRequest, LeaveStatus
from storage.db.compiled import Expr, Param, any_of, compiled
from storage.db.database import Transaction
from storage.db.tables import (
    DepartmentRow,
    LeaveRequestRow,
    NotificationRow,
    SlackMessageRow,
    UserRow,
)
from storage.directory import people_rows
from storage.events import notification_outbox
from storage.events.organisation_config import Reference

# Changes within this time are drawn together.
COVER_DELAY: Final = timedelta(seconds=2)
# How many cards one change redraws at most.
MAX_CARDS: Final = 5_000


@dataclass(frozen=True, kw_only=True, slots=True)
class CoverChange:
    """Whose leave changed, between which days, both included."""

    organisation_id: str
    user_id: str
    first_day: date
    last_day: date


def leave_changed(
    tx: Transaction,
    changes: Sequence[tuple[LeaveRequest | None, LeaveRequest]],
    *,
    reference: Reference,
    now: datetime,
) -> None:
    """Redraw what these changes of one person's leave make different on other cards.

    Each change is a request before (None: it is new) and after it.
    """
    if not reference.is_in_slack:
        return
    if any(
        _on_balance(before) != _on_balance(after)
        for before, after in changes
        if reference.leave_types[after.leave_type_id].deducts_allowance
    ):
        people = {after.user_id for _, after in changes}
        enqueue(
            tx,
            reference=reference,
            now=now,
            user_ids=people,
            except_ids=[after.id for _, after in changes],
        )
    moved = [pair for pair in changes if _as_cover(pair[0]) != _as_cover(pair[1])]
    if moved:
        _enqueue_cover_change(tx, moved, reference.organisation.id, now)


def enqueue(
    tx: Transaction,
    *,
    reference: Reference,
    now: datetime,
    user_ids: Collection[str] | None = None,
    department_id: str | None = None,
    except_ids: Collection[str] = (),
) -> None:
    """Queue redraws of the open cards of these people, of a department, or of everyone."""
    if not reference.is_in_slack:
        return
    cards = tx.all(
        _open_cards,
        organisation_id=reference.organisation.id,
        user_ids=None if user_ids is None else sorted(user_ids),
        department_id=department_id,
        limit=MAX_CARDS,
    )
    _refresh(tx, reference.organisation.id, cards, now, except_ids)


def expand(tx: Transaction, change: CoverChange, *, now: datetime) -> None:
    """Queue the redraws of the open cards that list the person's leave between the two days."""
    person = people_rows.find(tx, change.organisation_id, change.user_id)
    if person is None:
        return
    cards = tx.all(
        _cards_listing,
        organisation_id=change.organisation_id,
        user_id=person.id,
        manager_id=person.manager_id,
        department_id=person.department_id,
        first_day=change.first_day.isoformat(),
        last_day=change.last_day.isoformat(),
        limit=MAX_CARDS,
    )
    _refresh(tx, change.organisation_id, cards, now)


def _on_balance(request: LeaveRequest | None) -> tuple[date, date, str] | None:
    """What the request takes off the allowance."""
    if request is None or request.status not in ("pending", "approved"):
        return None
    return request.start_date, request.end_date, request.counted_halves


def _as_cover(
    request: LeaveRequest | None,
) -> tuple[LeaveStatus, str, date, date, str | None, str | None] | None:
    """What the cards of colleagues show of the request."""
    if request is None or request.status not in ("pending", "approved"):
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
    moved: Sequence[tuple[LeaveRequest | None, LeaveRequest]],
    organisation_id: str,
    now: datetime,
) -> None:
    requests = [request for pair in moved for request in pair if request is not None]
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
    tx.enqueue_insert(NotificationRow, **row | span)


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


@compiled
def _open_cards(
    organisation_id: Param[str],
    user_ids: Param[list[str]] | None,
    department_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    concerned: list[Expr] = []
    if user_ids is not None:
        concerned.append(any_of(LeaveRequestRow.user_id, user_ids))
    if department_id is not None:
        members = UserRow.select(UserRow.id).where(
            UserRow.organisation_id == organisation_id, UserRow.department_id == department_id
        )
        concerned.append(LeaveRequestRow.user_id.in_(members))
    return _cards(organisation_id, concerned).limit(limit)


@compiled
def _cards_listing(
    organisation_id: Param[str],
    user_id: Param[str],
    manager_id: Param[str] | None,
    department_id: Param[str] | None,
    first_day: Param[str],
    last_day: Param[str],
    limit: Param[int],
) -> Select:
    concerned = [
        LeaveRequestRow.user_id.in_(
            _people_listing(organisation_id, user_id, manager_id, department_id)
        ),
        LeaveRequestRow.user_id != user_id,
        LeaveRequestRow.start_date <= last_day,
        LeaveRequestRow.end_date >= first_day,
    ]
    return _cards(organisation_id, concerned).limit(limit)


def _people_listing(
    organisation_id: Param[str],
    user_id: Param[str],
    manager_id: Param[str] | None,
    department_id: Param[str] | None,
) -> Select:
    """The ids of those whose ``colleagues.team`` has the person: the same rule, inverted."""
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


def _cards(organisation_id: Param[str], concerned: Sequence[Expr]) -> Select:
    """The cards of pending requests, posted or about to be: request and approver.

    A notification that is being delivered may have been rendered before the change.
    """
    posted = _of_pending_requests(
        SlackMessageRow,
        organisation_id,
        # A requester's own message is no card.
        SlackMessageRow.user_id != LeaveRequestRow.user_id,
        *concerned,
    )
    on_its_way = _of_pending_requests(
        NotificationRow,
        organisation_id,
        NotificationRow.kind == "approval_card",
        NotificationRow.status == "pending",
        *concerned,
    )
    return posted.union(on_its_way)


def _of_pending_requests(row: Expr, organisation_id: Param[str], *conditions: Expr) -> Select:
    """Request and recipient of the rows about pending requests that meet the conditions."""
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
            LeaveRequestRow.status == "pending",
            *conditions,
        )
    )
