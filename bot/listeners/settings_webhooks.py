"""Settings of an admin: webhooks, how they are, and what can be done about it."""

from __future__ import annotations

from typing import Any, Final

from bot.admin_views import settings_webhooks as views
from bot.base import ids
from bot.base.language import say
from bot.interaction import modals
from bot.interaction.forms import Form
from bot.interaction.listening import Listener, Visit
from bot.views import replies
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.events import deliveries, delivery_log, organisation_config, webhooks

_SHOWN: Final = 40


async def list_webhooks(visit: Visit) -> None:
    """Open the list of endpoints."""
    await visit.ack()
    by = await modals.admin(visit)
    await visit.open(await _webhooks(visit, by))


async def more_webhooks(visit: Visit) -> None:
    """Show the next part of the list."""
    await visit.ack()
    by = await modals.admin(visit)
    await modals.redraw(visit, await _webhooks(visit, by, modals.clicked(visit)))


async def new_webhook(visit: Visit) -> None:
    """Open the form that adds an endpoint."""
    await visit.ack()
    await modals.admin(visit)
    await visit.open(views.form())


async def add_webhook(visit: Visit) -> None:
    """Register an endpoint, and show its secret this once in place of the form."""
    by, form = await modals.admin(visit), Form(visit)
    url, events = form.text("url") or "", form.several("events")
    if not await modals.passed(visit, visit.edge.check_webhook_url(url)):
        return
    added = await modals.sent(
        visit, lambda tx: webhooks.create(tx, url, events, by=by, now=visit.now)
    )
    if added is not None:
        await visit.ack(response_action="update", view=views.secret(added[1]))
        await modals.redraw_below(visit, await _webhooks(visit, by))


async def open_webhook(visit: Visit) -> None:
    """Open one endpoint."""
    await visit.ack()
    by = await modals.admin(visit)
    await visit.open(await _webhook(visit, by, modals.clicked(visit)))


async def edit_webhook(visit: Visit) -> None:
    """Open the form of one endpoint."""
    await visit.ack()
    by = await modals.admin(visit)
    one = await visit.edge.database.read(webhooks.get, modals.clicked(visit), by=by)
    await visit.open(views.form(one))


async def save_webhook(visit: Visit) -> None:
    """Change where an endpoint is and what it hears of, as PATCH does."""
    by, form = await modals.admin(visit), Form(visit)
    one = await visit.edge.database.read(webhooks.get, form.about, by=by)
    changes: dict[str, Any] = {}
    if (url := form.text("url") or "") != one.url:
        changes["url"] = url
    if set(events := form.several("events")) != set(one.events):
        changes["events"] = events
    # An address that stays is not looked up again.
    if "url" in changes and not await modals.passed(visit, visit.edge.check_webhook_url(url)):
        return
    saved = await modals.sent(
        visit, lambda tx: webhooks.update(tx, one.id, changes, by=by, now=visit.now)
    )
    if saved is not None:
        await visit.ack()
        await modals.redraw_below(visit, await _webhook(visit, by, saved.id))
        await modals.redraw_first(visit, await _webhooks(visit, by))


async def test(visit: Visit) -> None:
    """Send a ping."""
    await visit.ack()
    by = await modals.admin(visit)
    webhook_id = modals.clicked(visit)
    await visit.edge.database.write(deliveries.ping, webhook_id, by=by, now=visit.now)
    told = say("Sending a test. Reopen this webhook to see the result.")
    await modals.redraw(visit, await _webhook(visit, by, webhook_id, told))


async def rotate(visit: Visit) -> None:
    """Make a new secret, and show it this once; Slack has asked whether that is meant."""
    await visit.ack()
    by = await modals.admin(visit)
    _, secret = await visit.edge.database.write(
        webhooks.rotate_secret, modals.clicked(visit), by=by, now=visit.now
    )
    await visit.open(views.secret(secret))


async def switch_on(visit: Visit) -> None:
    """Send there again; its failures are forgiven."""
    await _switch(visit, is_active=True)


async def switch_off(visit: Visit) -> None:
    """Send nothing there any more."""
    await _switch(visit, is_active=False)


async def delete(visit: Visit) -> None:
    """Remove the endpoint; Slack has asked whether that is meant."""
    await visit.ack()
    by = await modals.admin(visit)
    # Its deliveries go with it, and there may be very many.
    await visit.edge.database.write_long(
        webhooks.delete, modals.clicked(visit), by=by, now=visit.now
    )
    await modals.redraw(visit, replies.notice(say("Webhook"), say("The webhook was deleted.")))
    await modals.redraw_below(visit, await _webhooks(visit, by))


async def _switch(visit: Visit, *, is_active: bool) -> None:
    await visit.ack()
    by = await modals.admin(visit)
    changed = await visit.edge.database.write(
        webhooks.update,
        modals.clicked(visit),
        {"is_active": is_active},
        by=by,
        now=visit.now,
    )
    await modals.redraw(visit, await _webhook(visit, by, changed.id))
    await modals.redraw_below(visit, await _webhooks(visit, by))


async def _webhooks(visit: Visit, by: Caller, cursor: str | None = None) -> dict[str, Any]:
    page = await visit.edge.database.read(webhooks.page, PageOf(limit=_SHOWN, cursor=cursor), by=by)
    return views.webhooks(page)


async def _webhook(visit: Visit, by: Caller, webhook_id: str, told: str = "") -> dict[str, Any]:
    def read(tx: Transaction) -> dict[str, Any]:
        one = webhooks.get(tx, webhook_id, by=by)
        log = delivery_log.page(tx, one.id, PageOf(limit=1), by=by)
        organisation = organisation_config.of_organisation(tx, by.organisation_id).organisation
        last = log.items[0] if log.items else None
        health = webhooks.health(tx, [one.id], by=by)[one.id]
        return views.webhook(one, health, last, organisation.timezone, told)

    return await visit.edge.database.read(read)


LISTENERS: Final = (
    Listener(kind="action", name=ids.WEBHOOKS, act=list_webhooks),
    Listener(kind="action", name=ids.WEBHOOKS_MORE, act=more_webhooks),
    Listener(kind="action", name=ids.WEBHOOK_NEW, act=new_webhook),
    Listener(kind="view", name=ids.WEBHOOK_FORM, act=add_webhook),
    Listener(kind="action", name=ids.WEBHOOK, act=open_webhook),
    Listener(kind="action", name=ids.WEBHOOK_EDIT, act=edit_webhook),
    Listener(kind="view", name=ids.WEBHOOK_EDIT_FORM, act=save_webhook),
    Listener(kind="action", name=ids.WEBHOOK_TEST, act=test),
    Listener(kind="action", name=ids.WEBHOOK_ROTATE, act=rotate),
    Listener(kind="action", name=ids.WEBHOOK_ON, act=switch_on),
    Listener(kind="action", name=ids.WEBHOOK_OFF, act=switch_off),
    Listener(kind="action", name=ids.WEBHOOK_DELETE, act=delete),
)
