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

from peewee import Delete

from storage.base import fields, ids
from storage.base.errors import Conflict, InvalidInput, NotFound, Sentence
from storage.base.event_values import EVENT_TYPES, AuditAction, Webhook
from storage.base.ids import new_id
from storage.base.secrets import InvalidToken, new_signing_secret
from storage.base.values import Caller
from storage.db import locks, pages, rows
from storage.db.compiled import Param, compiled, milliseconds
from storage.db.database import Row, Transaction
from storage.db.pages import Page, PageOf
from storage.db.tables import DeliveryAttemptRow, DeliveryRow, NotificationRow, WebhookRow
from storage.outbox import audit, organisation_config
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
    sentence = Sentence(
        "An organisation can have at most {most} webhooks. Delete one first.", most=MAX_WEBHOOKS
    )


def create(
    tx: Transaction, url: str, events: Iterable[str], *, by: Caller, now: datetime
) -> tuple[Webhook, str]:
    """Register an endpoint; the second item is its signing secret, shown only now.

    Needs an admin. Raises InsufficientRole, InvalidInput or TooManyWebhooks.
    """
    roles.check_role(by.role, "admin")
    checked_url, checked_events = check_url(url), tuple(check_events(events))
    locks.organisation(tx, by.organisation_id)
    if len(tx.select(WebhookRow, organisation_id=by.organisation_id)) >= MAX_WEBHOOKS:
        raise TooManyWebhooks
    secret = new_signing_secret()
    webhook = Webhook(
        id=new_id(now),
        url=checked_url,
        events=checked_events,
        is_active=True,
        disabled_reason=None,
        created_at=now,
        updated_at=now,
        version=1,
    )
    tx.insert(
        WebhookRow,
        organisation_id=by.organisation_id,
        secret_encrypted=tx.secrets.encrypt(secret),
        created_by=by.user_id,
        **rows.columns(webhook),
    )
    _record(tx, "webhook.created", None, webhook, by=by, now=now)
    return webhook, secret


def page(
    tx: Transaction, page: PageOf, *, by: Caller, is_active: bool | None = None
) -> Page[Webhook]:
    """The organisation's endpoints, active or not or both, newest first.

    Raises InsufficientRole or UnusableCursor.
    """
    roles.check_role(by.role, "admin")
    return pages.by_id(
        tx,
        page,
        WebhookRow,
        rows.webhook,
        "webhooks",
        by.organisation_id,
        descends=True,
        is_active=is_active,
    )


def get(tx: Transaction, webhook_id: str, *, by: Caller, lock: str = "") -> Webhook:
    """An endpoint, locked with that strength of PostgreSQL's unless it is empty.

    Raises InsufficientRole or NotFound.
    """
    roles.check_role(by.role, "admin")
    if ids.is_id(webhook_id):
        row = tx.find(WebhookRow, lock, organisation_id=by.organisation_id, id=webhook_id)
        if row is not None:
            return rows.webhook(row)
    raise NotFound("webhook")


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
    is_enabled = after.is_active and not webhook.is_active
    if is_enabled:
        after = replace(after, disabled_reason=None)
    after = replace(after, updated_at=now, version=webhook.version + 1)
    columns = rows.changes(after)
    if is_enabled or after.url != webhook.url:
        columns["failing_since_at"] = None
    tx.update(WebhookRow, columns, organisation_id=by.organisation_id, id=webhook_id)
    _record(tx, "webhook.updated", webhook, after, by=by, now=now)
    return after


def delete(tx: Transaction, webhook_id: str, *, by: Caller, now: datetime) -> None:
    """Remove an endpoint with its deliveries, their attempts and notifications about it.

    Needs an admin. Raises InsufficientRole or NotFound.
    """
    # The strongest lock: its foreign keys make a new delivery wait.
    webhook = get_locked(tx, webhook_id, by=by, lock="FOR UPDATE")
    tx.change(_delete_attempts, organisation_id=by.organisation_id, webhook_id=webhook_id)
    for table in (DeliveryRow, NotificationRow):
        tx.delete(table, organisation_id=by.organisation_id, webhook_id=webhook_id)
    tx.delete(WebhookRow, organisation_id=by.organisation_id, id=webhook_id)
    _record(tx, "webhook.deleted", webhook, None, by=by, now=now)


def disable(
    tx: Transaction, organisation_id: str, webhook_id: str, reason: str, *, now: datetime
) -> bool:
    """Disable an endpoint; its admins read the reason. False if it was disabled or deleted."""
    row = tx.find(WebhookRow, locks.ROW, organisation_id=organisation_id, id=webhook_id)
    if row is None or not row.is_active:
        return False
    before = rows.webhook(row)
    after = replace(
        before,
        is_active=False,
        disabled_reason=reason,
        updated_at=now,
        version=before.version + 1,
    )
    tx.update(WebhookRow, rows.changes(after), organisation_id=organisation_id, id=webhook_id)
    by = Caller.system(organisation_id, "scheduler")
    _record(tx, "webhook.disabled", before, after, by=by, now=now)
    return True


def rotate_secret(
    tx: Transaction, webhook_id: str, *, by: Caller, now: datetime
) -> tuple[Webhook, str]:
    """Give an endpoint a new secret, shown only now; the old one signs too for 24 hours.

    Needs an admin. Raises InsufficientRole or NotFound.
    """
    webhook = get_locked(tx, webhook_id, by=by)
    row = tx.find(WebhookRow, organisation_id=by.organisation_id, id=webhook_id)
    assert row is not None
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


def get_locked(tx: Transaction, webhook_id: str, *, by: Caller, lock: str = locks.ROW) -> Webhook:
    """The endpoint, locked after its organisation, in the order of ``locks``.

    Raises InsufficientRole or NotFound.
    """
    roles.check_role(by.role, "admin")
    locks.organisation(tx, by.organisation_id)
    return get(tx, webhook_id, by=by, lock=lock)


def _record(
    tx: Transaction,
    action: AuditAction,
    before: Webhook | None,
    after: Webhook | None,
    *,
    by: Caller,
    now: datetime,
) -> None:
    fields = ("url", "events", "is_active", "disabled_reason")
    audit.record_value(tx, action, "webhook", before, after, fields, by=by, now=now)
    organisation_config.changed(tx, by.organisation_id)


@compiled
def _delete_attempts(organisation_id: Param[str], webhook_id: Param[str]) -> Delete:
    of_webhook = DeliveryRow.select(DeliveryRow.id).where(
        DeliveryRow.organisation_id == organisation_id, DeliveryRow.webhook_id == webhook_id
    )
    return DeliveryAttemptRow.delete().where(
        DeliveryAttemptRow.organisation_id == organisation_id,
        DeliveryAttemptRow.delivery_id.in_(of_webhook),
    )
