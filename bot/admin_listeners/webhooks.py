"""Admin settings: webhooks, their health and their buttons."""

from __future__ import annotations

from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.admin_views import webhooks as views
from bot.base import ids
from bot.base.block_kit import View
from bot.base.language import gettext
from bot.interaction import modals
from bot.interaction.forms import Form
from bot.interaction.interaction import Interaction
from bot.views import notice
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.events import organisation_config
from storage.webhooks import delivery_log, endpoint_health, webhooks

_SHOWN: Final = 40


async def list_webhooks(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    await interaction.open(await _webhooks(interaction, by))


async def more_webhooks(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    await modals.refresh(interaction, await _webhooks(interaction, by, interaction.value))


async def new_webhook(interaction: Interaction) -> None:
    await interaction.ack()
    await modals.admin(interaction)
    await interaction.open(views.form())


async def add_webhook(interaction: Interaction) -> None:
    """Register a webhook and show its secret once in place of the form."""
    by, form = await modals.admin(interaction), Form(interaction)
    url, events = form.text("url") or "", form.several("events")
    if not await modals.passes(interaction, interaction.services.check_webhook_url(url)):
        return
    added = await modals.run_once(
        interaction, lambda tx: webhooks.create(tx, url, events, by=by, now=interaction.now)
    )
    if added is not None:
        await interaction.ack(response_action="update", view=views.secret(added[1]))
        await modals.refresh_below(interaction, await _webhooks(interaction, by))


async def open_webhook(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    await interaction.open(await _webhook(interaction, by, interaction.value))


async def edit_webhook(interaction: Interaction) -> None:
    """Open the form of one endpoint."""
    await interaction.ack()
    by = await modals.admin(interaction)
    webhook = await interaction.services.database.read(webhooks.get, interaction.value, by=by)
    await interaction.open(views.form(webhook))


async def save_webhook(interaction: Interaction) -> None:
    """Change a webhook's URL and events."""
    by, form = await modals.admin(interaction), Form(interaction)
    webhook = await interaction.services.database.read(webhooks.get, form.about, by=by)
    changes: dict[str, object] = {}
    if (url := form.text("url") or "") != webhook.url:
        changes["url"] = url
    if set(events := form.several("events")) != set(webhook.events):
        changes["events"] = events
    # An unchanged URL is not resolved again.
    if "url" in changes and not await modals.passes(
        interaction, interaction.services.check_webhook_url(url)
    ):
        return
    saved = await modals.run_once(
        interaction, lambda tx: webhooks.update(tx, webhook.id, changes, by=by, now=interaction.now)
    )
    if saved is not None:
        await interaction.ack()
        await modals.refresh_below(interaction, await _webhook(interaction, by, saved.id))
        await modals.refresh_first(interaction, await _webhooks(interaction, by))


async def test(interaction: Interaction) -> None:
    """Send a ping."""
    await interaction.ack()
    by = await modals.admin(interaction)
    webhook_id = interaction.value
    await interaction.services.database.write(
        delivery_log.ping, webhook_id, by=by, now=interaction.now
    )
    notice = gettext("Sending a test. Reopen this webhook to see the result.")
    await modals.refresh(interaction, await _webhook(interaction, by, webhook_id, notice))


async def rotate(interaction: Interaction) -> None:
    """Create a new secret and show it once; Slack has asked for confirmation."""
    await interaction.ack()
    by = await modals.admin(interaction)
    _, secret = await interaction.services.database.write(
        webhooks.rotate_secret, interaction.value, by=by, now=interaction.now
    )
    await interaction.open(views.secret(secret))


async def switch_on(interaction: Interaction) -> None:
    """Enable the webhook and reset its failures."""
    await _switch(interaction, is_active=True)


async def switch_off(interaction: Interaction) -> None:
    await _switch(interaction, is_active=False)


async def delete(interaction: Interaction) -> None:
    """Delete the webhook; Slack has asked for confirmation."""
    await interaction.ack()
    by = await modals.admin(interaction)
    # Also deletes its deliveries, which may be very many.
    await interaction.services.database.write(
        webhooks.delete, interaction.value, by=by, now=interaction.now
    )
    await modals.refresh(
        interaction, notice.view(gettext("Webhook"), gettext("The webhook was deleted."))
    )
    await modals.refresh_below(interaction, await _webhooks(interaction, by))


async def _switch(interaction: Interaction, *, is_active: bool) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    changed = await interaction.services.database.write(
        webhooks.update,
        interaction.value,
        {"is_active": is_active},
        by=by,
        now=interaction.now,
    )
    await modals.refresh(interaction, await _webhook(interaction, by, changed.id))
    await modals.refresh_below(interaction, await _webhooks(interaction, by))


async def _webhooks(interaction: Interaction, by: Caller, cursor: str | None = None) -> View:
    page = await interaction.services.database.read(
        webhooks.page, PageOf(limit=_SHOWN, cursor=cursor), by=by
    )
    return views.webhooks(page)


async def _webhook(interaction: Interaction, by: Caller, webhook_id: str, notice: str = "") -> View:
    def read(tx: Transaction) -> View:
        webhook = webhooks.get(tx, webhook_id, by=by)
        log = delivery_log.page(tx, webhook.id, PageOf(limit=1), by=by)
        organisation = organisation_config.of_organisation(tx, by.organisation_id).organisation
        last = log.items[0] if log.items else None
        health = endpoint_health.of_webhooks(tx, [webhook.id], by=by)[webhook.id]
        return views.webhook(webhook, health, last, organisation.timezone, notice)

    return await interaction.services.database.read(read)


def register(app: AsyncApp) -> None:
    app.action(ids.WEBHOOKS)(list_webhooks)
    app.action(ids.WEBHOOKS_MORE)(more_webhooks)
    app.action(ids.WEBHOOK_NEW)(new_webhook)
    app.view(ids.WEBHOOK_FORM)(add_webhook)
    app.action(ids.WEBHOOK)(open_webhook)
    app.action(ids.WEBHOOK_EDIT)(edit_webhook)
    app.view(ids.WEBHOOK_EDIT_FORM)(save_webhook)
    app.action(ids.WEBHOOK_TEST)(test)
    app.action(ids.WEBHOOK_ROTATE)(rotate)
    app.action(ids.WEBHOOK_ON)(switch_on)
    app.action(ids.WEBHOOK_OFF)(switch_off)
    app.action(ids.WEBHOOK_DELETE)(delete)
