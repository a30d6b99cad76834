"""Queues what Slack shows of time in lieu, in the transaction of the change.

Approvers get a card; the person who claimed it has a message. Both are rendered when they are sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from peewee import Select

from storage.base.event_values import NotificationEvent
from storage.base.leave_values import TimeCredit
from storage.base.values import Caller
from storage.db.compiled import Engine, Param, any_of, compiled, compiled_per_engine
from storage.db.database import Transaction
from storage.db.tables import NotificationRow, TimeCreditCardRow
from storage.outbox.leased_queue import skip_locked
from storage.outbox.notification_outbox import (
    CARD_REWRITTEN,
    NOTIFICATIONS,
    REMINDER,
    NotificationKind,
    notification_row,
)
from storage.outbox.organisation_config import OrganisationConfig


def notify(
    tx: Transaction,
    event_type: NotificationEvent,
    credit: TimeCredit,
    *,
    approver_ids: Iterable[str] = (),
    by: Caller,
    config: OrganisationConfig,
    now: datetime,
) -> None:
    """Queue the notifications of one event; none where no workspace has the app.

    The person who claimed it is told, each approver gets the card, and every card that was sent is
    refreshed. Who cancels their own in Slack is not told: their message is refreshed.
    """
    if not config.is_in_slack:
        return
    organisation_id = config.organisation.id
    holders = {user_id for _, user_id in cards_of(tx, organisation_id, [credit.id])}
    is_own = by.source == "slack" and by.user_id == credit.user_id
    kind: NotificationKind = "time_credit_notice"
    if is_own and event_type == "time_credit.cancelled":
        kind = "time_credit_card"
    rows = [_row(organisation_id, kind, credit.user_id, credit, event_type, now)]
    rows += [
        _row(organisation_id, "time_credit_card", user_id, credit, event_type, now)
        for user_id in sorted((holders | {*approver_ids}) - {credit.user_id})
    ]
    _queue(tx, rows)


def reassign(
    tx: Transaction,
    credits: Sequence[TimeCredit],
    approver_ids: Mapping[str, Iterable[str]],
    *,
    config: OrganisationConfig,
    now: datetime,
) -> None:
    """Queue the cards that approvers of pending credits lack, and refresh the others' cards.

    ``approver_ids`` has the approvers of each person who claimed one. Where all approvers have
    their card, and no one else has one, nothing changes.
    """
    if not config.is_in_slack or not credits:
        return
    organisation_id = config.organisation.id
    credit_ids = [credit.id for credit in credits]
    cards = cards_of(tx, organisation_id, credit_ids)
    # Rendered when they are sent, so an import that changes many people queues each card once.
    queued = set(tx.all(_unclaimed, organisation_id=organisation_id, credit_ids=credit_ids))
    rows = []
    for credit in credits:
        holders = {user_id for credit_id, user_id in cards if credit_id == credit.id}
        holders -= {credit.user_id}
        assigned = {*approver_ids.get(credit.user_id, ())} - {credit.user_id}
        if holders != assigned:
            rows += [
                _row(
                    organisation_id,
                    "time_credit_card",
                    user_id,
                    credit,
                    "time_credit.rerouted",
                    now,
                )
                for user_id in sorted(holders | assigned)
                if (credit.id, user_id) not in queued
            ]
    _queue(tx, rows)


def escalate(
    tx: Transaction,
    credits: Iterable[tuple[TimeCredit, Iterable[str]]],
    config: OrganisationConfig,
    *,
    now: datetime,
) -> None:
    """Queue the cards of the approvers to whom each credit is escalated."""
    organisation_id = config.organisation.id
    rows = [
        _row(organisation_id, "time_credit_card", user_id, credit, "time_credit.rerouted", now)
        for credit, user_ids in credits
        for user_id in user_ids
    ]
    _queue(tx, rows)


def remind(
    tx: Transaction,
    organisation_id: str,
    reminders: Sequence[tuple[TimeCredit, str]],
    *,
    now: datetime,
) -> None:
    """Queue reminders; each is of a time credit and a person."""
    _queue(
        tx,
        [
            _row(organisation_id, "time_credit_reminder", user_id, credit, REMINDER, now)
            for credit, user_id in reminders
        ],
    )


def rewrite_cards(
    tx: Transaction, organisation_id: str, cards: Iterable[tuple[str, str]], *, now: datetime
) -> None:
    """Queue updates of messages that were sent, each given as credit and recipient."""
    _queue(
        tx,
        [
            notification_row(
                organisation_id, "time_credit_card", user_id, None, CARD_REWRITTEN, now
            )
            | {"time_credit_id": credit_id}
            for credit_id, user_id in sorted(cards)
        ],
    )


def cards_of(
    tx: Transaction, organisation_id: str, credit_ids: Sequence[str]
) -> set[tuple[str, str]]:
    """Credit and person of messages that were sent, or that are queued."""
    return set(tx.all(_cards, organisation_id=organisation_id, credit_ids=list(credit_ids)))


def _row(
    organisation_id: str,
    kind: NotificationKind,
    user_id: str,
    credit: TimeCredit,
    event_type: str,
    now: datetime,
) -> dict[str, object]:
    row = notification_row(organisation_id, kind, user_id, None, event_type, now)
    return row | {"time_credit_id": credit.id}


def _queue(tx: Transaction, rows: Sequence[dict[str, object]]) -> None:
    if rows:
        tx.insert_all(NotificationRow, rows)
        tx.notify(NOTIFICATIONS)


@compiled
def _cards(organisation_id: Param[str], credit_ids: Param[list[str]]) -> Select:
    sent = TimeCreditCardRow.select(
        TimeCreditCardRow.time_credit_id, TimeCreditCardRow.user_id
    ).where(
        TimeCreditCardRow.organisation_id == organisation_id,
        any_of(TimeCreditCardRow.time_credit_id, credit_ids),
        TimeCreditCardRow.channel.is_null(False),
    )
    queued = NotificationRow.select(NotificationRow.time_credit_id, NotificationRow.user_id).where(
        NotificationRow.organisation_id == organisation_id,
        any_of(NotificationRow.time_credit_id, credit_ids),
        NotificationRow.kind == "time_credit_card",
        NotificationRow.status == "pending",
    )
    return sent.union(queued)


@compiled_per_engine
def _unclaimed(engine: Engine, organisation_id: Param[str], credit_ids: Param[list[str]]) -> Select:
    """Credit and person of queued cards that no process has begun to send, locked.

    So no process begins before this change is committed, and sends what was before it.
    """
    query = NotificationRow.select(NotificationRow.time_credit_id, NotificationRow.user_id).where(
        NotificationRow.organisation_id == organisation_id,
        any_of(NotificationRow.time_credit_id, credit_ids),
        NotificationRow.kind == "time_credit_card",
        NotificationRow.status == "pending",
        NotificationRow.claim_id.is_null(),
    )
    return skip_locked(query, engine)
