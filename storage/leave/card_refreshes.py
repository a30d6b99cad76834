"""Refreshes the approval cards of pending requests when the balance or the cover on them changes.

The balance on a card depends on the requester's other leave and on what they are granted; the
cover depends on the leave of the colleagues whom the card lists (colleagues.py). The request
itself stays as it is: its own changes refresh its cards through ``notification_outbox.notify``.

A changed balance queues the refreshes at once: every transaction that changes it locks the
requester's row or the organisation's. A changed cover queues one ``cover_changed`` notification,
and ``expand`` finds the cards after the commit. Two colleagues may submit requests at the same
moment; neither transaction sees the other's, so only a search after both commits finds both cards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from storage.base.values import LeaveRequest, LeaveStatus
from storage.db.database import Transaction
from storage.db.tables import (
    NotificationRow,
)
from storage.directory import people_rows
from storage.events import notification_outbox, open_cards
from storage.events.organisation_config import OrganisationConfig

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
        if config.leave_types[after.leave_type_id].deducts_allowance
    ):
        requester_ids = {after.user_id for _, after in changes}
        enqueue(
            tx,
            config=config,
            now=now,
            user_ids=requester_ids,
            except_ids=[after.id for _, after in changes],
        )
    cover_changes = [pair for pair in changes if _cover(pair[0]) != _cover(pair[1])]
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
    cards = open_cards.of_requesters(
        tx, config.organisation.id, user_ids=user_ids, department_id=department_id
    )
    _refresh(tx, config.organisation.id, cards, now, except_ids)


def expand(tx: Transaction, change: CoverChange, *, now: datetime) -> None:
    """Queue refreshes of the open cards that list the person's leave between the two days."""
    person = people_rows.find(tx, change.organisation_id, change.user_id)
    if person is None:
        return
    cards = open_cards.listing(
        tx, change.organisation_id, person, change.first_day, change.last_day
    )
    _refresh(tx, change.organisation_id, cards, now)


def _deducted(request: LeaveRequest | None) -> tuple[LeaveStatus, date, date, str] | None:
    """The request's deduction from the allowance, and whether it is pending."""
    if request is None or request.status not in ("pending", "approved"):
        return None
    return request.status, request.start_date, request.end_date, request.counted_halves


def _cover(
    request: LeaveRequest | None,
) -> tuple[LeaveStatus, str, date, date, str | None, str | None] | None:
    """The request's fields on the cards of colleagues."""
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
