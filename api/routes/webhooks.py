"""`/webhooks`: receivers of events."""

from __future__ import annotations

from typing import Any

from api.http.operations import Answer, Call, Edge, Operation, created
from api.schemas.answers import (
    Listing,
    PingRecord,
    RedeliveredRecord,
    WebhookWithSecretRecord,
    listing,
)
from api.schemas.bodies import NewWebhook, RedeliverFailed, WebhookChanges
from api.schemas.queries import ListOfDeliveries, ListOfWebhooks, is_true
from api.webhooks import addresses
from storage.base import errors, records
from storage.base.records import DeliveryRecord, DeliveryWithBodyRecord, WebhookRecord
from storage.base.values import Webhook
from storage.db.database import Transaction
from storage.events import deliveries, delivery_log, webhooks


async def check_url(call: Call, edge: Edge) -> None:
    """Look the URL's host up before any transaction begins. Raises InvalidInput."""
    url = call.body.sent().get("url")
    if url is not None:
        await addresses.resolve_and_check(url, allow_private=edge.allow_private_webhooks)


def page(tx: Transaction, call: Call) -> Any:
    query: ListOfWebhooks = call.query
    active = is_true(query.is_active)
    found = webhooks.page(tx, query.page, by=call.caller, is_active=active)
    health = webhooks.health(tx, [one.id for one in found.items], by=call.caller)
    return listing(found, lambda one: records.webhook(one, health[one.id]))


def _record(tx: Transaction, call: Call, webhook: Webhook) -> WebhookRecord:
    return records.webhook(webhook, webhooks.health(tx, [webhook.id], by=call.caller)[webhook.id])


def create(tx: Transaction, call: Call) -> Answer:
    body: NewWebhook = call.body
    webhook, secret = webhooks.create(tx, body.url, body.events, by=call.caller, now=call.now)
    record = _record(tx, call, webhook)
    return created(f"/api/v1/webhooks/{webhook.id}", {**record, "secret": secret})


def get(tx: Transaction, call: Call) -> Any:
    return _record(tx, call, webhooks.get(tx, call.id, by=call.caller))


def update(tx: Transaction, call: Call) -> Any:
    webhook = webhooks.update(tx, call.id, call.body.sent(), by=call.caller, now=call.now)
    return _record(tx, call, webhook)


def delete(tx: Transaction, call: Call) -> None:
    webhooks.delete(tx, call.id, by=call.caller, now=call.now)


def rotate_secret(tx: Transaction, call: Call) -> Any:
    webhook, secret = webhooks.rotate_secret(tx, call.id, by=call.caller, now=call.now)
    return {**_record(tx, call, webhook), "secret": secret}


def test(tx: Transaction, call: Call) -> Any:
    event_id = deliveries.ping(tx, call.id, by=call.caller, now=call.now)
    return {"id": event_id, "type": "ping"}


def deliveries_page(tx: Transaction, call: Call) -> Any:
    query: ListOfDeliveries = call.query
    found = delivery_log.page(
        tx, call.id, query.page, by=call.caller, status=query.status, event=query.event
    )
    return listing(found, records.delivery)


def delivery(tx: Transaction, call: Call) -> Any:
    found = delivery_log.get(tx, call.id, call.ids["delivery_id"], by=call.caller)
    body = delivery_log.body_of(tx, found, by=call.caller)
    return {**records.delivery(found), "body": body.decode()}


def redeliver(tx: Transaction, call: Call) -> Any:
    found = delivery_log.redeliver(
        tx, call.id, call.ids["delivery_id"], by=call.caller, now=call.now
    )
    return records.delivery(found)


def redeliver_failed(tx: Transaction, call: Call) -> Any:
    body: RedeliverFailed = call.body
    done = delivery_log.redeliver_failed(tx, call.id, body.since, by=call.caller, now=call.now)
    return {"count": done.queued, "has_more": done.has_more}


_RULES = (
    "no_events",
    "unknown_event",
    "url_has_user_info",
    "url_invalid",
    "url_not_https",
    "url_private_address",
)

OPERATIONS = (
    Operation(
        method="GET",
        path="/webhooks",
        summary="List webhooks",
        description="Every webhook of the organisation, without secrets.",
        handler=page,
        tag="Webhooks",
        scope="webhooks:read",
        role="admin",
        query=ListOfWebhooks,
        result=Listing[WebhookRecord],
        refusals=(errors.UnusableCursor,),
    ),
    Operation(
        method="POST",
        path="/webhooks",
        summary="Register a webhook",
        description=(
            "`secret` signs the deliveries (Standard Webhooks); it is shown in this answer only. "
            "Private, loopback and link-local addresses are refused."
        ),
        handler=create,
        tag="Webhooks",
        scope="webhooks:write",
        role="admin",
        body=NewWebhook,
        prepare=check_url,
        result=WebhookWithSecretRecord,
        shows_secret=True,
        status=201,
        refusals=(webhooks.TooManyWebhooks,),
        rules=_RULES,
        example={"url": "https://example.com/hooks/leave", "events": ["leave_request.approved"]},
    ),
    Operation(
        method="GET",
        path="/webhooks/{id}",
        summary="Read a webhook",
        description=(
            "Without its secret. `disabled_reason` says why one was switched off, `failing_since` "
            "and `next_attempt_at` how one does that is on."
        ),
        handler=get,
        tag="Webhooks",
        scope="webhooks:read",
        role="admin",
        kind="webhook",
        result=WebhookRecord,
    ),
    Operation(
        method="PATCH",
        path="/webhooks/{id}",
        summary="Change a webhook",
        description=(
            "`is_active` true switches one that was disabled on again: its failures are forgiven, "
            "and what waited for it is sent, up to 30 days old. What happens while a webhook is "
            "switched off is only sent by `redeliver-failed`."
        ),
        handler=update,
        tag="Webhooks",
        scope="webhooks:write",
        role="admin",
        kind="webhook",
        body=WebhookChanges,
        prepare=check_url,
        result=WebhookRecord,
        rules=_RULES,
        example={"events": ["*"], "is_active": True},
    ),
    Operation(
        method="DELETE",
        path="/webhooks/{id}",
        summary="Delete a webhook",
        description="Together with its deliveries.",
        handler=delete,
        tag="Webhooks",
        scope="webhooks:write",
        role="admin",
        kind="webhook",
        status=204,
    ),
    Operation(
        method="POST",
        path="/webhooks/{id}/test",
        summary="Send a ping",
        description="One signed `ping`, whatever the webhook subscribes to; never tried again.",
        handler=test,
        tag="Webhooks",
        scope="webhooks:write",
        role="admin",
        kind="webhook",
        result=PingRecord,
        status=202,
        refusals=(deliveries.WebhookDisabled,),
    ),
    Operation(
        method="POST",
        path="/webhooks/{id}/rotate-secret",
        summary="Give a webhook a new secret",
        description="The old one signs too for another 24 hours.",
        handler=rotate_secret,
        tag="Webhooks",
        scope="webhooks:write",
        role="admin",
        kind="webhook",
        result=WebhookWithSecretRecord,
        shows_secret=True,
    ),
    Operation(
        method="GET",
        path="/webhooks/{id}/deliveries",
        summary="List a webhook's deliveries",
        description=(
            "Newest first, each with its attempts; kept for 30 days after they are settled."
        ),
        handler=deliveries_page,
        tag="Webhooks",
        scope="webhooks:read",
        role="admin",
        kind="webhook",
        query=ListOfDeliveries,
        result=Listing[DeliveryRecord],
        is_long=True,
        refusals=(errors.UnusableCursor,),
    ),
    Operation(
        method="GET",
        path="/webhooks/{id}/deliveries/{delivery_id}",
        summary="Read a delivery",
        description="With the body that every attempt sends.",
        handler=delivery,
        tag="Webhooks",
        scope="webhooks:read",
        role="admin",
        kind="delivery",
        result=DeliveryWithBodyRecord,
    ),
    Operation(
        method="POST",
        path="/webhooks/{id}/deliveries/{delivery_id}/redeliver",
        summary="Send a delivery again",
        description=(
            "The same bytes under the same `webhook-id`, at once, and then on the usual schedule; "
            "a delivered one too. One that waits for its next attempt is sent now; one that is "
            "being sent at this moment is left to that."
        ),
        handler=redeliver,
        tag="Webhooks",
        scope="webhooks:write",
        role="admin",
        kind="delivery",
        result=DeliveryRecord,
        status=202,
        refusals=(deliveries.WebhookDisabled,),
    ),
    Operation(
        method="POST",
        path="/webhooks/{id}/redeliver-failed",
        summary="Send failed deliveries again",
        description=(
            "Every delivery that failed since `since`, and every event since then that the webhook "
            "subscribes to and missed while it was switched off: the same bytes under the same "
            "`webhook-id`, at once, and then on the usual schedule. Up to 1,000 at a time, oldest "
            "first; `has_more` says that there are more. What waits or was delivered is left "
            "alone, so asking twice sends nothing twice."
        ),
        handler=redeliver_failed,
        tag="Webhooks",
        scope="webhooks:write",
        role="admin",
        kind="webhook",
        body=RedeliverFailed,
        result=RedeliveredRecord,
        status=202,
        is_long=True,
        refusals=(deliveries.WebhookDisabled,),
        example={"since": "2026-06-15T09:30:00Z"},
    ),
)
