"""Deletes old deliveries and events, and gives up deliveries to endpoints that stay disabled."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from peewee import SQL, Delete, Select, Tuple, Update, fn

from storage.base import ids
from storage.db.compiled import Param, any_of_keys, compiled, json_of_keys
from storage.db.database import Transaction
from storage.db.tables import DeliveryAttemptRow, DeliveryRow, EventRow, OrganisationRow
from storage.webhooks import delivery_backlog

KEPT_FOR: Final = timedelta(days=30)
# Why a delivery failed: its endpoint stayed disabled.
EXPIRED: Final = "expired"


@dataclass(frozen=True, kw_only=True, slots=True)
class Pruned:
    """How many rows of each kind one batch gave up or deleted."""

    expired: int
    deliveries: int
    events: int


def prune(tx: Transaction, *, now: datetime, limit: int = 500) -> Pruned:
    """Delete a batch of deliveries that ended 30 days ago, and one of events without deliveries.

    Deliveries that were paused for a disabled endpoint for as long are given up first.
    """
    before = now - KEPT_FOR
    expired = tx.all(delivery_backlog.paused, before=before, limit=limit)
    if expired:
        tx.change(_expire, keys=json_of_keys(expired), before=before, now=now)
    old = tx.all(_old, before=before, limit=limit)
    if old:
        tx.change(_delete_attempts, keys=json_of_keys(old))
        tx.change(_delete_deliveries, keys=json_of_keys(old), before=before)
    events = tx.change(_delete_events, before_id=ids.earliest_id(before), limit=limit)
    return Pruned(expired=len(expired), deliveries=len(old), events=events)


@compiled
def _expire(keys: Param[str], before: Param[datetime], now: Param[datetime]) -> Update:
    # A delivery that was claimed meanwhile is due when its lease expires, and is left alone.
    return DeliveryRow.update(
        status="failed", settled_at=now, last_error=EXPIRED, claim_id=None
    ).where(
        any_of_keys(DeliveryRow, keys),
        DeliveryRow.status == "pending",
        DeliveryRow.due_at < before,
    )


@compiled
def _old(before: Param[datetime], limit: Param[int]) -> Select:
    return (
        DeliveryRow.select(DeliveryRow.organisation_id, DeliveryRow.id)
        .where(DeliveryRow.settled_at < before)
        .limit(limit)
    )


@compiled
def _delete_attempts(keys: Param[str]) -> Delete:
    return DeliveryAttemptRow.delete().where(any_of_keys(DeliveryAttemptRow, keys, "delivery_id"))


@compiled
def _delete_deliveries(keys: Param[str], before: Param[datetime]) -> Delete:
    return DeliveryRow.delete().where(
        any_of_keys(DeliveryRow, keys), DeliveryRow.settled_at < before
    )


@compiled
def _delete_events(before_id: Param[str], limit: Param[int]) -> Delete:
    event, delivery = EventRow.alias(), DeliveryRow.alias()
    deliveries_of_event = delivery.select(SQL("1")).where(
        delivery.organisation_id == event.organisation_id, delivery.event_id == event.id
    )
    unneeded = (
        OrganisationRow.select(event.organisation_id, event.id)
        .join(event, on=event.organisation_id == OrganisationRow.id)
        .where(event.id < before_id, ~fn.EXISTS(deliveries_of_event))
        .limit(limit)
    )
    return EventRow.delete().where(Tuple(EventRow.organisation_id, EventRow.id).in_(unneeded))
