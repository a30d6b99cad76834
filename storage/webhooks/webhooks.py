"""Webhook endpoints: created, changed, disabled and deleted by admins.

``api.webhooks`` checks whether a URL's host may be reached, and sends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from peewee import Delete, Select, fn

from storage.base import fields
from storage.base.errors import Conflict, InvalidInput, NotFound
from storage.base.event_values import EVENT_TYPES, Webhook
from storage.base.ids import new_id
from storage.base.secrets import InvalidToken, new_signing_secret
from storage.base.values import Caller
from storage.db import locks, rows
from storage.db.compiled import Engine, Expr, Param, compiled, compiled_per_engine, milliseconds
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.pages import Page, PageOf, page_of, position
from storage.db.tables import DeliveryAttemptRow, DeliveryRow, NotificationRow, WebhookRow
from storage.events import audit, organisation_config
from storage.rules import roles

MAX_WEBHOOKS: Final = 100
MAX_URL_CHARACTERS: Final = 2_000
EVERY_EVENT: Final = "*"
# How long the old secret signs beside the new one.
SECRET_OVERLAP: Final = timedelta(hours=24)


class TooManyWebhooks(Conflict):
    """The organisation has reached the limit for webhooks."""

    code = "too_many_webhooks"
    title = "There are too many webhooks."
    cure = "Delete one, or let one endpoint receive several events."

    def __init__(self) -> None:
        super().__init__(
            "An organisation can have at most {most} webhooks. Delete one first.", most=MAX_WEBHOOKS
        )


def create(
    tx: Transaction, url: str, events: Iterable[str], *, by: Caller, now: datetime
) -> tuple[Webhook, str]:
    """Register an endpoint; the second item is its signing secret, shown only now.

    Needs an admin. Raises InsufficientRole, InvalidInput or TooManyWebhooks.
    """
    roles.check_role(by.role, "admin")
    checked = {"url": check_url(url), "events": check_events(events)}
    locks.organisation(tx, by.organisation_id)
    count = tx.first(_count, organisation_id=by.organisation_id)
    if count is not None and count.total >= MAX_WEBHOOKS:
        raise TooManyWebhooks
    secret = new_signing_secret()
    webhook_id = new_id(now)
    tx.insert(
        WebhookRow,
        organisation_id=by.organisation_id,
        id=webhook_id,
        url=checked["url"],
        events=rows.json_text(checked["events"]),
        is_active=True,
        secret_encrypted=tx.secrets.encrypt(secret),
        created_by=by.user_id,
        created_at=now,
        updated_at=now,
        version=1,
    )
    audit.record(
        tx,
        "webhook.created",
        "webhook",
        webhook_id,
        by=by,
        now=now,
        after=checked | {"is_active": True},
    )
    organisation_config.changed(tx, by.organisation_id)
    return get(tx, webhook_id, by=by), secret


def page(
    tx: Transaction, page: PageOf, *, by: Caller, is_active: bool | None = None
) -> Page[Webhook]:
    """The organisation's endpoints, active or not or both, newest first.

    Raises InsufficientRole or UnusableCursor.
    """
    roles.check_role(by.role, "admin")
    bound_to = ("webhooks", by.organisation_id, is_active)
    after = position(tx, page, *bound_to)
    webhook_rows = tx.all(
        _page,
        organisation_id=by.organisation_id,
        is_active=is_active,
        after_id=after[0] if after else None,
        limit=page.limit + 1,
    )
    return page_of(tx, page, webhook_rows, rows.webhook, lambda row: [row.id], *bound_to)


def get(tx: Transaction, webhook_id: str, *, by: Caller, is_locked: bool = False) -> Webhook:
    """An endpoint, which ``is_locked`` locks.

    Raises InsufficientRole or NotFound.
    """
    return _get(tx, webhook_id, "FOR NO KEY UPDATE" if is_locked else "", by=by)


def update(
    tx: Transaction, webhook_id: str, changes: Mapping[str, object], *, by: Caller, now: datetime
) -> Webhook:
    """Change ``url``, ``events`` or ``is_active``, as far as they are in ``changes``.

    Enabling an endpoint or changing its URL clears its failures. Its paused deliveries are due when
    it is enabled. Needs an admin. Raises InsufficientRole, NotFound or InvalidInput; then nothing
    has changed.
    """
    webhook = get_locked(tx, webhook_id, by=by)
    checked = fields.checked(
        changes,
        {
            "url": lambda value, _: check_url(value),
            "events": lambda value, _: tuple(check_events(value)),
            "is_active": fields.boolean,
        },
    )
    after = replace(webhook, **checked)
    if after == webhook:
        return webhook
    columns: dict[str, object] = {}
    is_enabled = after.is_active and not webhook.is_active
    if is_enabled:
        after = replace(after, disabled_reason=None)
    if is_enabled or after.url != webhook.url:
        columns = {"failing_since_at": None}
    after = replace(after, updated_at=now, version=webhook.version + 1)
    tx.update(
        WebhookRow,
        columns
        | {
            "url": after.url,
            "events": rows.json_text(after.events),
            "is_active": after.is_active,
            "disabled_reason": after.disabled_reason,
            "updated_at": now,
            "version": after.version,
        },
        organisation_id=by.organisation_id,
        id=webhook_id,
    )
    audit.record(
        tx,
        "webhook.updated",
        "webhook",
        webhook_id,
        by=by,
        now=now,
        before=_audited(webhook),
        after=_audited(after),
    )
    organisation_config.changed(tx, by.organisation_id)
    return after


def delete(tx: Transaction, webhook_id: str, *, by: Caller, now: datetime) -> None:
    """Remove an endpoint with its deliveries, their attempts and notifications about it.

    Needs an admin. Raises InsufficientRole or NotFound.
    """
    # The strongest lock: its foreign keys make a new delivery wait.
    webhook = get_locked(tx, webhook_id, by=by, strength="FOR UPDATE")
    for statement in (_delete_attempts, _delete_deliveries, _delete_notifications, _delete):
        tx.change(statement, organisation_id=by.organisation_id, webhook_id=webhook_id)
    audit.record(
        tx,
        "webhook.deleted",
        "webhook",
        webhook_id,
        by=by,
        now=now,
        before=_audited(webhook),
    )
    organisation_config.changed(tx, by.organisation_id)


def disable(
    tx: Transaction, organisation_id: str, webhook_id: str, reason: str, *, now: datetime
) -> bool:
    """Disable an endpoint; its admins read the reason. False if it was disabled or deleted."""
    changed = tx.update(
        WebhookRow,
        {"is_active": False, "disabled_reason": reason, "updated_at": now},
        organisation_id=organisation_id,
        id=webhook_id,
        is_active=True,
    )
    if not changed:
        return False
    tx.change(_raise_version, organisation_id=organisation_id, webhook_id=webhook_id)
    audit.record(
        tx,
        "webhook.disabled",
        "webhook",
        webhook_id,
        by=Caller.system(organisation_id, "scheduler"),
        now=now,
        before={"is_active": True, "disabled_reason": None},
        after={"is_active": False, "disabled_reason": reason},
    )
    organisation_config.changed(tx, organisation_id)
    return True


def rotate_secret(
    tx: Transaction, webhook_id: str, *, by: Caller, now: datetime
) -> tuple[Webhook, str]:
    """Give an endpoint a new secret, shown only now; the old one signs too for 24 hours.

    Needs an admin. Raises InsufficientRole or NotFound.
    """
    webhook = get_locked(tx, webhook_id, by=by)
    row = tx.first(_secrets, organisation_id=by.organisation_id, webhook_id=webhook_id)
    if row is None:
        raise NotFound("webhook")
    secret = new_signing_secret()
    until = now + SECRET_OVERLAP
    tx.update(
        WebhookRow,
        {
            "secret_encrypted": tx.secrets.encrypt(secret),
            "previous_secret_encrypted": row.secret_encrypted,
            "previous_secret_until": until,
            "updated_at": now,
            "version": webhook.version + 1,
        },
        organisation_id=by.organisation_id,
        id=webhook_id,
    )
    audit.record(
        tx,
        "webhook.secret_rotated",
        "webhook",
        webhook_id,
        by=by,
        now=now,
        after={"previous_secret_until": until},
    )
    organisation_config.changed(tx, by.organisation_id)
    return get(tx, webhook_id, by=by), secret


def signing_secrets(tx: Transaction, row: Row, *, now: datetime) -> list[str]:
    """The signing secrets in the columns of a row of webhooks.

    Raises InvalidToken when no key decrypts the secret; the previous one is then useless as well.
    """
    secrets = [tx.secrets.decrypt_cached(row.secret_encrypted)]
    previous = row.previous_secret_encrypted
    if previous is not None and row.previous_secret_until > milliseconds(now):
        # It cannot be decrypted where it was rotated because its key was lost.
        with suppress(InvalidToken):
            secrets.append(tx.secrets.decrypt_cached(previous))
    return secrets


def check_url(url: object) -> str:
    """The URL unchanged. Raises InvalidInput ``url_invalid``."""
    if isinstance(url, str) and len(url) <= MAX_URL_CHARACTERS and url.isprintable():
        try:
            parts = urlsplit(url)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme in ("http", "https") and parts.hostname and " " not in url:
            return url
    raise InvalidInput.of(
        "url",
        "url_invalid",
        "Use a URL such as https://example.com/hook, with at most {most} characters.",
        most=MAX_URL_CHARACTERS,
    )


def check_events(events: Iterable[str] | None) -> list[str]:
    """The names without duplicates. Raises InvalidInput ``no_events`` or ``unknown_event``."""
    event_types = (*EVENT_TYPES, EVERY_EVENT)
    chosen = list(dict.fromkeys([] if isinstance(events, str) else events or []))
    unknown = [str(name) for name in chosen if name not in event_types]
    if unknown:
        raise InvalidInput.of(
            "events",
            "unknown_event",
            "There is no event {unknown}. Available events: {known}.",
            unknown=tuple(unknown),
            known=event_types,
        )
    if not chosen:
        raise InvalidInput.of(
            "events",
            "no_events",
            "Choose at least one event. Available events: {known}.",
            known=event_types,
        )
    return chosen


def get_locked(
    tx: Transaction, webhook_id: str, *, by: Caller, strength: str = "FOR NO KEY UPDATE"
) -> Webhook:
    """The endpoint, locked after its organisation, in the order of ``locks``.

    Raises InsufficientRole or NotFound.
    """
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    return _get(tx, webhook_id, strength, by=by)


def _get(tx: Transaction, webhook_id: str, strength: str, *, by: Caller) -> Webhook:
    roles.check_role(by.role, "admin")
    row = None
    if fields.is_id(webhook_id):
        row = tx.first(
            _webhook, organisation_id=by.organisation_id, webhook_id=webhook_id, strength=strength
        )
    if row is None:
        raise NotFound("webhook")
    return rows.webhook(row)


def _audited(webhook: Webhook) -> dict[str, object]:
    return {
        "url": webhook.url,
        "events": list(webhook.events),
        "is_active": webhook.is_active,
        "disabled_reason": webhook.disabled_reason,
    }


@compiled
def _count(organisation_id: Param[str]) -> Select:
    return WebhookRow.select(fn.COUNT(WebhookRow.id).alias("total")).where(
        WebhookRow.organisation_id == organisation_id
    )


@compiled_per_engine
def _webhook(
    engine: Engine, organisation_id: Param[str], webhook_id: Param[str], strength: str
) -> Select:
    """Locked with that strength, unless it is empty."""
    query = WebhookRow.select(*rows.WEBHOOK).where(
        WebhookRow.organisation_id == organisation_id, WebhookRow.id == webhook_id
    )
    return locks.locked(query, engine, strength) if strength else query


@compiled
def _page(
    organisation_id: Param[str],
    is_active: bool | None,
    after_id: Param[str] | None,
    limit: Param[int],
) -> Select:
    query = WebhookRow.select(*rows.WEBHOOK).where(WebhookRow.organisation_id == organisation_id)
    if is_active is not None:
        query = query.where(WebhookRow.is_active == is_active)
    if after_id is not None:
        query = query.where(WebhookRow.id < after_id)
    # Ids are made in order of time.
    return query.order_by(WebhookRow.id.desc()).limit(limit)


@compiled
def _raise_version(organisation_id: Param[str], webhook_id: Param[str]) -> Expr:
    return WebhookRow.update(version=WebhookRow.version + 1).where(
        WebhookRow.organisation_id == organisation_id, WebhookRow.id == webhook_id
    )


@compiled
def _delete_attempts(organisation_id: Param[str], webhook_id: Param[str]) -> Delete:
    of_webhook = DeliveryRow.select(DeliveryRow.id).where(
        DeliveryRow.organisation_id == organisation_id, DeliveryRow.webhook_id == webhook_id
    )
    return DeliveryAttemptRow.delete().where(
        DeliveryAttemptRow.organisation_id == organisation_id,
        DeliveryAttemptRow.delivery_id.in_(of_webhook),
    )


@compiled
def _delete_deliveries(organisation_id: Param[str], webhook_id: Param[str]) -> Delete:
    return DeliveryRow.delete().where(
        DeliveryRow.organisation_id == organisation_id, DeliveryRow.webhook_id == webhook_id
    )


@compiled
def _delete_notifications(organisation_id: Param[str], webhook_id: Param[str]) -> Delete:
    return NotificationRow.delete().where(
        NotificationRow.organisation_id == organisation_id, NotificationRow.webhook_id == webhook_id
    )


@compiled
def _delete(organisation_id: Param[str], webhook_id: Param[str]) -> Delete:
    return WebhookRow.delete().where(
        WebhookRow.organisation_id == organisation_id, WebhookRow.id == webhook_id
    )


@compiled
def _secrets(organisation_id: Param[str], webhook_id: Param[str]) -> Select:
    return WebhookRow.select(
        WebhookRow.secret_encrypted,
        WebhookRow.previous_secret_encrypted,
        WebhookRow.previous_secret_until,
    ).where(WebhookRow.organisation_id == organisation_id, WebhookRow.id == webhook_id)
