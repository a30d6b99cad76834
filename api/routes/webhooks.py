"""`/webhooks`: endpoints for events and their deliveries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from api.http.fields import (
    ABSENT,
    NO_NUL,
    Body,
    Flag,
    Instant,
    Listing,
    Paged,
    Word,
    is_true,
    listing,
    listing_of,
)
from api.http.operations import Created, RequestContext, Services, Tag, created, operation
from api.webhooks import webhook_urls
from storage.base.event_values import (
    EVENT_TYPES,
    DeliveryEvent,
    DeliveryStatus,
    LoggedDelivery,
    Webhook,
)
from storage.base.values import About, Id, as_dict
from storage.db.database import Transaction
from storage.webhooks import delivery_log, endpoint_health, webhooks

WEBHOOKS = Tag(
    "Webhooks",
    "Endpoints that receive events, for admins and owners. *Events* describes what is sent.",
    "webhooks",
)

_RULES = (
    "no_events",
    "unknown_event",
    "url_has_user_info",
    "url_invalid",
    "url_not_https",
    "url_private_address",
)


Url = Annotated[str, Field(max_length=2_000, json_schema_extra={"format": "uri"}), NO_NUL]


Events = Annotated[
    list[Word],
    Field(max_length=20, description="Event types, or `*` for all of them."),
    About(enum=("*", *EVENT_TYPES)),
]


class WebhookChanges(Body):
    url: Url = ABSENT
    events: Events = ABSENT
    is_active: bool = ABSENT


class RedeliverFailed(Body):
    since: Annotated[
        Instant, Field(description="Send deliveries that failed at this time or later.")
    ]


class NewWebhook(Body):
    url: Url
    events: Events


class ListOfDeliveries(Paged):
    status: Annotated[DeliveryStatus | None, Field(description="Only items with this status.")] = (
        None
    )
    event: Annotated[DeliveryEvent | None, Field(description="Only this event type.")] = None


class ListOfWebhooks(Paged):
    is_active: Annotated[
        Flag | None, Field(description="`true` for webhooks that receive events.")
    ] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownWebhook(Webhook):
    """A webhook, without its secret."""

    __pydantic_config__ = ConfigDict(title="Webhook")

    failing_since: Annotated[
        datetime | None,
        About(description="The time since which every attempt has failed; null after a success."),
    ]
    next_attempt_at: Annotated[
        datetime | None,
        About(description="When the next delivery is attempted; null if none is waiting."),
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class DeliveryWithBody(LoggedDelivery):
    """A delivery with the body that every attempt sends."""

    __pydantic_config__ = ConfigDict(title="DeliveryWithBody")

    body: Annotated[
        str,
        About(
            example='{"type":"leave_request.approved","timestamp":"2026-06-16T13:05:00.078000Z","data":{}}'
        ),
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class WebhookWithSecret(ShownWebhook):
    """A webhook with the secret that signs its deliveries, shown only once."""

    __pydantic_config__ = ConfigDict(title="WebhookWithSecret")

    secret: Annotated[str, About(example="whsec_c2VjcmV0LWV4YW1wbGUtb2YtYS13ZWJob29rLTAxIQ==")]


class PingRecord(TypedDict):
    """A queued ping; `id` is its `webhook-id`."""

    id: Id
    type: Annotated[str, About(enum=("ping",))]


class RedeliveredRecord(TypedDict):
    """The number of deliveries that are sent again."""

    count: int
    has_more: Annotated[bool, Field(description="Whether more deliveries remain: repeat the call.")]


async def check_url(body: Body, services: Services) -> None:
    """Resolve the URL's host before any transaction begins. Raises InvalidInput."""
    url = body.sent().get("url")
    if url is not None:
        await webhook_urls.resolve_and_check(
            url,
            allow_private=services.allow_private_webhooks,
            allow_loopback=services.allow_loopback_webhooks,
        )


@operation("GET", "/webhooks", tag=WEBHOOKS, role="admin")
def page(tx: Transaction, context: RequestContext, query: ListOfWebhooks) -> Listing[ShownWebhook]:
    """List webhooks.

    Every webhook of the organisation, without its secret.
    """
    active = is_true(query.is_active)
    page = webhooks.page(tx, query.page, by=context.caller, is_active=active)
    ids = [webhook.id for webhook in page.items]
    health = endpoint_health.of_webhooks(tx, ids, by=context.caller)
    return listing_of(
        page, lambda webhook: ShownWebhook(**as_dict(webhook), **as_dict(health[webhook.id]))
    )


def _shown(tx: Transaction, context: RequestContext, webhook: Webhook) -> ShownWebhook:
    health = endpoint_health.of_webhooks(tx, [webhook.id], by=context.caller)[webhook.id]
    return ShownWebhook(**as_dict(webhook), **as_dict(health))


@operation("GET", "/webhooks/{id}", tag=WEBHOOKS, role="admin", kind="webhook", is_resource=True)
def get(tx: Transaction, context: RequestContext) -> ShownWebhook:
    """Read a webhook.

    Without its secret. `disabled_reason` says why the webhook was disabled; `failing_since` and
    `next_attempt_at` describe a failing one that is still active.
    """
    return _shown(tx, context, webhooks.get(tx, context.id, by=context.caller))


@operation(
    "POST",
    "/webhooks",
    role="admin",
    resource=get,
    prepare=check_url,
    shows_secret=True,
    refusals=(webhooks.TooManyWebhooks,),
    rules=_RULES,
    example={"url": "https://example.com/hooks/leave", "events": ["leave_request.approved"]},
)
def create(
    tx: Transaction, context: RequestContext, body: NewWebhook
) -> Created[WebhookWithSecret]:
    """Register a webhook.

    `secret` signs the deliveries (Standard Webhooks). It is only shown in this response. Private,
    loopback and link-local addresses are refused.
    """
    webhook, secret = webhooks.create(tx, body.url, body.events, by=context.caller, now=context.now)
    shown = WebhookWithSecret(**as_dict(_shown(tx, context, webhook)), secret=secret)
    return created(f"/api/v1/webhooks/{webhook.id}", shown)


@operation(
    "PATCH",
    "/webhooks/{id}",
    role="admin",
    resource=get,
    prepare=check_url,
    rules=_RULES,
    example={"events": ["*"], "is_active": True},
)
def update(tx: Transaction, context: RequestContext, body: WebhookChanges) -> ShownWebhook:
    """Change a webhook.

    `is_active` true enables a disabled webhook again: its failures are reset, and deliveries that
    were waiting for it are sent if they are at most 30 days old, unless the operator changed that.
    Events that happened while it was disabled are only sent by `redeliver-failed`.
    """
    webhook = webhooks.update(tx, context.id, body.sent(), by=context.caller, now=context.now)
    return _shown(tx, context, webhook)


@operation("DELETE", "/webhooks/{id}", role="admin", resource=get)
def delete(tx: Transaction, context: RequestContext) -> None:
    """Delete a webhook.

    Also deletes its deliveries.
    """
    webhooks.delete(tx, context.id, by=context.caller, now=context.now)


@operation(
    "POST",
    "/webhooks/{id}/rotate-secret",
    tag=WEBHOOKS,
    role="admin",
    kind="webhook",
    shows_secret=True,
)
def rotate_secret(tx: Transaction, context: RequestContext) -> WebhookWithSecret:
    """Rotate a webhook's secret.

    Deliveries are also signed with the old secret for another 24 hours.
    """
    webhook, secret = webhooks.rotate_secret(tx, context.id, by=context.caller, now=context.now)
    return WebhookWithSecret(**as_dict(_shown(tx, context, webhook)), secret=secret)


@operation(
    "POST",
    "/webhooks/{id}/test",
    tag=WEBHOOKS,
    role="admin",
    kind="webhook",
    status=202,
    refusals=(delivery_log.WebhookDisabled,),
)
def test(tx: Transaction, context: RequestContext) -> PingRecord:
    """Send a ping.

    Sends one signed `ping`, even if the webhook does not subscribe to it. It is not retried.
    """
    event_id = delivery_log.ping(tx, context.id, by=context.caller, now=context.now)
    return {"id": event_id, "type": "ping"}


@operation("GET", "/webhooks/{id}/deliveries", tag=WEBHOOKS, role="admin", kind="webhook")
def deliveries_page(
    tx: Transaction, context: RequestContext, query: ListOfDeliveries
) -> Listing[LoggedDelivery]:
    """List a webhook's deliveries.

    Newest first, each with its attempts. They are kept for 30 days after delivery or final failure,
    unless the operator changed it.
    """
    page = delivery_log.page(
        tx, context.id, query.page, by=context.caller, status=query.status, event=query.event
    )
    return listing(page)


@operation(
    "GET", "/webhooks/{id}/deliveries/{delivery_id}", tag=WEBHOOKS, role="admin", kind="delivery"
)
def delivery(tx: Transaction, context: RequestContext) -> DeliveryWithBody:
    """Read a delivery.

    Includes the body that every attempt sends.
    """
    delivery = delivery_log.get(tx, context.id, context.ids["delivery_id"], by=context.caller)
    body = delivery_log.body_of(tx, delivery, by=context.caller)
    return DeliveryWithBody(**as_dict(delivery), body=body.decode())


@operation(
    "POST",
    "/webhooks/{id}/deliveries/{delivery_id}/redeliver",
    tag=WEBHOOKS,
    role="admin",
    kind="delivery",
    status=202,
    refusals=(delivery_log.WebhookDisabled,),
)
def redeliver(tx: Transaction, context: RequestContext) -> LoggedDelivery:
    """Send a delivery again.

    Sends the same bytes under the same `webhook-id` immediately, then on the usual retry schedule.
    A delivered one can be sent again, too. A delivery that is waiting for its next attempt is sent
    now; one that is being sent at this moment is left alone.
    """
    return delivery_log.redeliver(
        tx, context.id, context.ids["delivery_id"], by=context.caller, now=context.now
    )


@operation(
    "POST",
    "/webhooks/{id}/redeliver-failed",
    tag=WEBHOOKS,
    role="admin",
    kind="webhook",
    status=202,
    refusals=(delivery_log.WebhookDisabled,),
    example={"since": "2026-06-15T09:30:00Z"},
)
def redeliver_failed(
    tx: Transaction, context: RequestContext, body: RedeliverFailed
) -> RedeliveredRecord:
    """Send failed deliveries again.

    Sends every delivery that failed since `since`, and every event since then that the webhook
    subscribes to and missed while it was disabled: the same bytes under the same `webhook-id`,
    immediately, then on the usual retry schedule. At most 1,000 at a time, oldest first; `has_more`
    says whether there are more. Waiting and delivered ones are left alone, so repeating the call
    sends nothing twice.
    """
    batch = delivery_log.redeliver_failed(
        tx, context.id, body.since, by=context.caller, now=context.now
    )
    return {"count": batch.queued, "has_more": batch.has_more}


OPERATIONS = (
    page,
    create,
    get,
    update,
    delete,
    test,
    rotate_secret,
    deliveries_page,
    delivery,
    redeliver,
    redeliver_failed,
)
