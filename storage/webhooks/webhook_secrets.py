"""The secrets that sign deliveries: rotated and decrypted."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from peewee import Select

from storage.base.errors import NotFound
from storage.base.event_values import Webhook
from storage.base.secrets import InvalidToken, new_signing_secret
from storage.base.values import Caller
from storage.db.compiled import Param, compiled, milliseconds
from storage.db.database import Transaction
from storage.db.named_rows import Row
from storage.db.tables import WebhookRow
from storage.events import audit, organisation_config
from storage.webhooks import webhooks

# How long the old secret signs beside the new one.
SECRET_OVERLAP: Final = timedelta(hours=24)


def rotate(tx: Transaction, webhook_id: str, *, by: Caller, now: datetime) -> tuple[Webhook, str]:
    """Give an endpoint a new secret, shown only now; the old one signs too for 24 hours.

    Needs an admin. Raises InsufficientRole or NotFound.
    """
    webhook = webhooks.get_locked(tx, webhook_id, by=by)
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
    return webhooks.get(tx, webhook_id, by=by), secret


def decrypted(tx: Transaction, row: Row, *, now: datetime) -> list[str]:
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


@compiled
def _secrets(organisation_id: Param[str], webhook_id: Param[str]) -> Select:
    return WebhookRow.select(
        WebhookRow.secret_encrypted,
        WebhookRow.previous_secret_encrypted,
        WebhookRow.previous_secret_until,
    ).where(WebhookRow.organisation_id == organisation_id, WebhookRow.id == webhook_id)
