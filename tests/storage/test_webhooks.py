"""Records of webhook endpoints: permissions, valid values, and the secrets that sign."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from storage.base.errors import InvalidInput, NotFound
from storage.base.event_values import EVENT_TYPES, Webhook
from storage.base.ids import new_id
from storage.base.values import Caller
from storage.db import locks
from storage.db.compiled import Param, compiled
from storage.db.database import Database, Transaction
from storage.db.tables import DeliveryAttemptRow, DeliveryRow, EventRow, WebhookRow
from storage.leave import decisions, leave_requests, leave_rows
from storage.leave.drafts import Draft
from storage.outbox import organisation_config
from storage.webhooks import webhooks
from storage.webhooks.webhooks import MAX_WEBHOOKS, TooManyWebhooks
from tests.builders import (
    NOW,
    Acme,
    a_person,
    a_request,
    an_organisation,
    audit_entries,
    caller_for,
    signing_secrets,
    type_id,
)
from tests.refusals import crossing

pytestmark = pytest.mark.shared_database

MONDAY = date(2026, 8, 3)

URL = "https://example.com/hook"
LATER = NOW + timedelta(minutes=5)


def a_webhook(database: Database, acme: Acme, **fields: Any) -> tuple[Webhook, str]:
    fields = {"url": URL, "events": ["*"]} | fields
    return database.write_now(webhooks.create, by=acme.caller, now=NOW, **fields)


def secrets_of(database: Database, acme: Acme, webhook: Webhook, after: timedelta) -> list[str]:
    return database.read_now(signing_secrets, acme.id, webhook.id, now=NOW + after)


def disable(tx: Transaction, webhook_id: str, by: Caller) -> None:
    webhooks.update(tx, webhook_id, {"is_active": False}, by=by, now=NOW)


def rotate_secret(tx: Transaction, webhook_id: str, by: Caller) -> None:
    webhooks.rotate_secret(tx, webhook_id, by=by, now=NOW)


def active_ids(database: Database, acme: Acme) -> list[str]:
    """The webhooks to which the outbox sends."""
    config = database.read_now(organisation_config.of_organisation, acme.id)
    return [webhook.id for webhook in config.webhooks if webhook.is_active]


def row_count(database: Database, acme: Acme) -> int:
    """Webhooks, deliveries and attempts of the organisation, all together."""
    return len(database.read_now(lambda tx: tx.all(all_rows, organisation_id=acme.id)))


@compiled
def all_rows(organisation_id: Param[str]) -> Any:
    webhook = WebhookRow.select(WebhookRow.id).where(WebhookRow.organisation_id == organisation_id)
    delivery = DeliveryRow.select(DeliveryRow.id).where(
        DeliveryRow.organisation_id == organisation_id
    )
    attempt = DeliveryAttemptRow.select(DeliveryAttemptRow.id).where(
        DeliveryAttemptRow.organisation_id == organisation_id
    )
    return webhook.union_all(delivery).union_all(attempt)


def test_a_new_webhook_has_a_signing_secret(database: Database, acme: Acme) -> None:
    webhook, secret = a_webhook(database, acme, events=["leave_request.approved"])

    assert webhook == acme.read(webhooks.get, webhook.id)
    assert (webhook.url, webhook.events) == (URL, ("leave_request.approved",))
    assert (webhook.is_active, webhook.disabled_reason, webhook.version) == (True, None, 1)
    assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 32
    assert secrets_of(database, acme, webhook, timedelta()) == [secret]
    assert active_ids(database, acme) == [webhook.id]


@pytest.mark.parametrize(
    ("events", "code"),
    [
        ([], "no_events"),
        (["leave_request.approve"], "unknown_event"),
        (["*", "ping"], "unknown_event"),
        (["*", ""], "unknown_event"),
    ],
)
def test_unknown_event_names_are_refused(database: Database, events: list[str], code: str) -> None:
    acme = an_organisation(database)

    with pytest.raises(InvalidInput) as refusal:
        a_webhook(database, acme, events=events)

    assert refusal.value.code == code
    assert refusal.value.errors[0].pointer == "/events"
    assert all(name in str(refusal.value) for name in (*EVENT_TYPES, "*"))


def test_duplicate_events_are_removed(database: Database, acme: Acme) -> None:
    twice = ["leave_request.updated", "leave_request.created", "leave_request.updated"]

    webhook, _ = a_webhook(database, acme, events=twice)

    assert webhook.events == ("leave_request.updated", "leave_request.created")


@pytest.mark.parametrize(
    "url",
    ["", "example.com", "ftp://example.com", "https://", "https://e.com/a b", "https://[::1/"],
)
def test_a_malformed_url_is_refused(database: Database, acme: Acme, url: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        a_webhook(database, acme, url=url)

    assert refusal.value.code == "url_invalid"


def test_an_update_changes_only_the_fields_sent(database: Database, acme: Acme) -> None:
    webhook, _ = a_webhook(database, acme, events=["leave_request.created"])
    assert active_ids(database, acme) == [webhook.id]

    changed = acme.write(webhooks.update, webhook.id, {"url": URL + "/2"}, now=LATER)

    assert changed == replace(webhook, url=URL + "/2", updated_at=LATER, version=2)
    assert changed == acme.read(webhooks.get, webhook.id)
    assert database.read_now(organisation_config.of_organisation, acme.id).webhooks == [changed]


def test_a_disabled_webhook_has_a_reason_until_it_is_enabled(database: Database) -> None:
    acme = an_organisation(database)
    webhook, _ = a_webhook(database, acme)

    assert active_ids(database, acme) == [webhook.id]
    assert database.write_now(webhooks.disable, acme.id, webhook.id, "It said 410.", now=NOW)
    disabled = acme.read(webhooks.get, webhook.id)
    after_disabling = active_ids(database, acme)
    again = acme.write(webhooks.update, webhook.id, {"is_active": True}, now=LATER)

    assert (disabled.is_active, disabled.disabled_reason) == (False, "It said 410.")
    assert disabled.version == 2
    assert after_disabling == []
    assert (again.is_active, again.disabled_reason) == (True, None)
    assert active_ids(database, acme) == [webhook.id]


def test_enabling_clears_the_first_failure(database: Database, acme: Acme) -> None:
    webhook, _ = a_webhook(database, acme)
    where = {"organisation_id": acme.id, "id": webhook.id}
    database.write_now(lambda tx: tx.update(WebhookRow, {"failing_since_at": NOW}, **where))
    for is_active in (False, True):
        changes = {"is_active": is_active}
        acme.write(webhooks.update, webhook.id, changes, now=LATER)

    still_failing = database.write_now(
        lambda tx: tx.update(WebhookRow, {"is_active": True}, **where, failing_since_at=NOW)
    )
    assert still_failing == 0


def test_disabling_is_audited_once_as_the_system(database: Database, acme: Acme) -> None:
    webhook, _ = a_webhook(database, acme)

    first = database.write_now(webhooks.disable, acme.id, webhook.id, "Gone.", now=NOW)
    second = database.write_now(webhooks.disable, acme.id, webhook.id, "Other.", now=LATER)

    entries = audit_entries(database, acme.caller, action="webhook.disabled")
    assert (first, second) == (True, False)
    assert [(entry.actor_id, entry.source) for entry in entries] == [(None, "scheduler")]


def test_both_secrets_sign_for_a_day_after_rotation(database: Database, acme: Acme) -> None:
    webhook, old = a_webhook(database, acme)

    rotated, new = acme.write(webhooks.rotate_secret, webhook.id)

    almost = timedelta(hours=24) - timedelta(milliseconds=1)
    assert rotated.version == 2
    assert new != old
    assert secrets_of(database, acme, webhook, timedelta()) == [new, old]
    assert secrets_of(database, acme, webhook, almost) == [new, old]
    assert secrets_of(database, acme, webhook, timedelta(hours=24)) == [new]


def a_delivery(database: Database, acme: Acme, webhook: Webhook) -> None:
    delivery_id, event_id = new_id(NOW), new_id(NOW)

    def write(tx: Transaction) -> None:
        tx.insert(
            EventRow,
            organisation_id=acme.id,
            id=event_id,
            type="ping",
            sequence=1,
            body=b"{}",
            created_at=NOW,
        )
        tx.insert(
            DeliveryRow,
            organisation_id=acme.id,
            id=delivery_id,
            webhook_id=webhook.id,
            event_id=event_id,
            event_type="ping",
            sequence=1,
            status="pending",
            attempts=1,
            due_at=NOW,
            created_at=NOW,
        )
        tx.insert(
            DeliveryAttemptRow,
            organisation_id=acme.id,
            id=new_id(NOW),
            delivery_id=delivery_id,
            attempted_at=NOW,
            status_code=500,
            duration_milliseconds=3,
        )

    database.write_now(write)


def test_deleting_a_webhook_deletes_only_its_deliveries_and_attempts(database: Database) -> None:
    acme = an_organisation(database)
    (deleted, _), (other, _) = a_webhook(database, acme), a_webhook(database, acme)
    for webhook in (deleted, deleted, other):
        a_delivery(database, acme, webhook)
    before = row_count(database, acme)
    assert set(active_ids(database, acme)) == {deleted.id, other.id}

    acme.write(webhooks.delete, deleted.id)

    assert (before, row_count(database, acme)) == (2 + 3 + 3, 1 + 1 + 1)
    assert active_ids(database, acme) == [other.id]
    assert database.read_now(signing_secrets, acme.id, deleted.id, now=NOW) == []
    with pytest.raises(NotFound):
        acme.read(webhooks.get, deleted.id)


def test_an_organisation_has_a_maximum_number_of_webhooks(database: Database, acme: Acme) -> None:
    existing = [a_webhook(database, acme)[0] for _ in range(MAX_WEBHOOKS)]

    with pytest.raises(TooManyWebhooks):
        a_webhook(database, acme)

    acme.write(webhooks.delete, existing[0].id)
    a_webhook(database, acme)


def test_requesting_leave_and_deleting_a_webhook_do_not_deadlock(
    database: Database, acme: Acme
) -> None:
    webhook, _ = a_webhook(database, acme)
    ada = a_person(database, acme)
    draft = Draft(leave_type_id=type_id(database, acme), start_date=MONDAY, end_date=MONDAY)

    runs = crossing(
        database,
        lambda tx: locks.organisation(tx, acme.id),
        lambda tx: leave_requests.submit(tx, by=caller_for(acme, ada), draft=draft, now=NOW),
        lambda tx: webhooks.delete(tx, webhook.id, by=acme.caller, now=NOW),
    )

    assert runs == 2


@pytest.mark.parametrize("change", [disable, rotate_secret])
def test_changing_and_deleting_a_webhook_do_not_deadlock(
    database: Database, acme: Acme, change: Callable[[Transaction, str, Caller], object]
) -> None:
    webhook, _ = a_webhook(database, acme)
    refused: list[str] = []

    def change_if_found(tx: Transaction) -> None:
        try:
            change(tx, webhook.id, acme.caller)
        except NotFound as refusal:
            refused.append(refusal.code)

    runs = crossing(
        database,
        lambda tx: locks.organisation(tx, acme.id),
        lambda tx: webhooks.delete(tx, webhook.id, by=acme.caller, now=NOW),
        change_if_found,
    )

    assert (runs, refused) == (2, ["not_found"])


def test_a_webhook_is_deleted_with_a_concurrent_delivery(database: Database, acme: Acme) -> None:
    webhook, _ = a_webhook(database, acme)
    request = a_request(database, acme, a_person(database, acme))

    def approve(tx: Transaction) -> None:
        decisions.approve(tx, request.id, by=acme.caller, now=NOW)
        # A read writes the enqueued rows.
        leave_rows.get(tx, request.id, by=acme.caller, now=NOW)

    runs = crossing(
        database,
        approve,
        lambda tx: None,
        lambda tx: webhooks.delete(tx, webhook.id, by=acme.caller, now=NOW),
    )

    assert runs == 2
    assert active_ids(database, acme) == []
