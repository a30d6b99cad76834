"""Settings: webhooks, their health and their buttons."""

from __future__ import annotations

from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.blocks import fields, layout, words
from bot.blocks.fields import Option
from bot.interaction import modals
from bot.interaction.interaction import Interaction
from bot.screens import screen
from bot.screens.forms import Form
from bot.screens.screen import Screen
from storage.base.event_values import EVENT_TYPES, LoggedDelivery, Webhook, WebhookHealth
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.db.pages import Page, PageOf
from storage.outbox import organisation_config
from storage.webhooks import delivery_log, endpoint_health, webhooks

NAME: Final = "settings.webhooks"
# One webhook, and what starts its actions; a button in messages opens it as well.
ONE: Final = ids.WEBHOOK
_MAX_URL: Final = 2_000
# Forty webhooks still fit in a view of 250 kB.
_MAX_LISTED: Final = 150
_EVERY: Final = "*"
_ALL_EVENTS: Final = gettext_noop("All events")


def _read_list(tx: Transaction, interaction: Interaction, by: Caller, cursor: str) -> View:
    return list_view(webhooks.page(tx, screen.page_of(cursor), by=by))


def list_view(page: Page[Webhook]) -> View:
    blocks = [layout.actions(layout.button(gettext("Add a webhook"), f"{NAME}.new"))]
    for webhook in page.items:
        open_button = layout.button(
            gettext("Open"),
            ONE,
            webhook.id,
            spoken=gettext("Open {name}", name=webhook.url),
        )
        lines = layout.verbatim(f"{layout.cut(webhook.url, _MAX_LISTED)}\n{_state(webhook)}")
        blocks.append({"type": "section", "text": lines, "accessory": open_button})
    if not page.items:
        blocks.append(layout.section(gettext("There are no webhooks yet.")))
    return screen.list_view(NAME, gettext("Webhooks"), blocks, page.next_cursor)


def _read_form(tx: Transaction, interaction: Interaction, by: Caller, webhook_id: str) -> View:
    return form_view(webhooks.get(tx, webhook_id, by=by))


def form_view(webhook: Webhook | None = None) -> View:
    """The form of a webhook; ``webhook`` is None for a new one."""
    events = [
        Option(label=gettext(_ALL_EVENTS), value=_EVERY),
        *(Option(label=name, value=name) for name in EVENT_TYPES),
    ]
    url = fields.text_input(
        webhook.url if webhook else None, _MAX_URL, placeholder="https://example.com/hook"
    )
    blocks = [
        fields.field("url", gettext("URL"), url),
        fields.field(
            "events",
            gettext("Events"),
            fields.multi_select(events, webhook.events if webhook else _EVERY),
        ),
    ]
    if webhook is None:
        return screen.form_view(f"{NAME}.form", gettext("Add a webhook"), blocks)
    blocks.append(
        layout.quiet(
            gettext("Pending events go to the new URL, and the failure count starts over.")
        )
    )
    return screen.form_view(f"{ONE}.edit.form", gettext("Edit webhook"), blocks, webhook.id)


def secret_view(signing_secret: str) -> View:
    """Shows a signing secret, only this once."""
    blocks = [
        layout.section(f"```{signing_secret}```"),
        layout.section(
            gettext(
                "Every event is signed with this secret. Copy it to your endpoint now. You "
                "won't see it again."
            )
        ),
    ]
    return layout.modal(gettext("Signing secret"), blocks, close=gettext("Done"))


def _read_webhook(
    tx: Transaction, interaction: Interaction, by: Caller, webhook_id: str, notice: str = ""
) -> View:
    webhook = webhooks.get(tx, webhook_id, by=by)
    log = delivery_log.page(tx, webhook.id, PageOf(limit=1), by=by)
    organisation = organisation_config.of_organisation(tx, by.organisation_id).organisation
    last = log.items[0] if log.items else None
    health = endpoint_health.of_webhooks(tx, [webhook.id], by=by)[webhook.id]
    return webhook_view(webhook, health, last, organisation.timezone, notice)


def webhook_view(
    webhook: Webhook,
    health: WebhookHealth,
    last: LoggedDelivery | None,
    timezone: str,
    notice: str = "",
) -> View:
    """A webhook: its state, last attempt and buttons. ``notice`` is shown at the top."""
    lines = [
        layout.cut(webhook.url, 1_000),
        ", ".join(gettext(_ALL_EVENTS) if event == _EVERY else event for event in webhook.events),
        _state(webhook),
        *_health(health, timezone),
        _last(last, timezone),
    ]
    blocks: list[Block] = [layout.paragraph("\n".join(lines))]
    if notice:
        blocks.insert(0, layout.section(notice))
    rotate = layout.button(gettext("Rotate secret"), f"{ONE}.rotate", webhook.id)
    rotate["confirm"] = layout.confirm(
        gettext("Rotate the secret?"),
        gettext("For 24 hours, events are signed with both the old and the new secret."),
        gettext("Rotate secret"),
        gettext("Keep it"),
    )
    delete = layout.button(gettext("Delete"), f"{ONE}.delete", webhook.id, "danger")
    delete["confirm"] = layout.confirm(
        gettext("Delete this webhook?"),
        gettext("Pending events won't be sent."),
        gettext("Delete"),
        gettext("Keep it"),
    )
    if webhook.is_active:
        switches = [
            layout.button(gettext("Send a test"), f"{ONE}.test", webhook.id),
            layout.button(gettext("Switch off"), f"{ONE}.off", webhook.id),
        ]
    else:
        switches = [layout.button(gettext("Switch on"), f"{ONE}.on", webhook.id, "primary")]
    edit = layout.button(gettext("Edit"), f"{ONE}.edit", webhook.id)
    blocks.append(layout.actions(edit, *switches, rotate, delete))
    return layout.modal(gettext("Webhook"), blocks, private_metadata=webhook.id)


def _state(webhook: Webhook) -> str:
    if webhook.is_active:
        return gettext("Active")
    if webhook.disabled_reason:
        reason = layout.cut(gettext(webhook.disabled_reason), _MAX_LISTED)
        return gettext("Switched off: {reason}", reason=reason)
    return gettext("Switched off")


def _health(health: WebhookHealth, timezone: str) -> list[str]:
    lines = []
    if health.failing_since is not None:
        since = words.moment(health.failing_since, timezone)
        lines.append(gettext("Every attempt has failed since {when}.", when=since))
    if health.next_attempt_at is not None:
        at = words.moment(health.next_attempt_at, timezone)
        lines.append(gettext("Next attempt: {when}", when=at))
    return lines


def _last(last: LoggedDelivery | None, timezone: str) -> str:
    if last is None:
        return gettext("Nothing sent yet.")
    if not last.attempts and last.status == "failed":
        return gettext(
            "The last event ({event}) wasn't sent because the webhook was switched off.",
            event=last.event_type,
        )
    if not last.attempts:
        return gettext("The last event ({event}) is waiting to be sent.", event=last.event_type)
    attempt = last.attempts[-1]
    when = words.moment(attempt.attempted_at, timezone)
    result = str(attempt.status_code or attempt.error or "")
    return gettext(
        "Last attempt: {event}, {when}: {answer}", event=last.event_type, when=when, answer=result
    )


async def _add(interaction: Interaction) -> None:
    """Register a webhook and show its secret once in place of the form."""
    by, form = await modals.admin(interaction), Form(interaction)
    url, events = form.text("url") or "", form.several("events")
    if not await modals.passes(interaction, interaction.services.check_webhook_url(url)):
        return
    added = await modals.run_once(
        interaction, lambda tx: webhooks.create(tx, url, events, by=by, now=interaction.now)
    )
    if added is not None:
        _, secret = added
        await interaction.ack(response_action="update", view=secret_view(secret))
        await modals.refresh_below(interaction, await screen.view(interaction, _read_list, by))


async def _save(interaction: Interaction) -> None:
    """Change a webhook's URL and events."""
    by, form = await modals.admin(interaction), Form(interaction)
    webhook = await interaction.database.read(webhooks.get, form.about, by=by)
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
        one = await screen.view(interaction, _read_webhook, by, saved.id)
        await modals.refresh_below(interaction, one)
        await modals.refresh_first(interaction, await screen.view(interaction, _read_list, by))


async def _test(interaction: Interaction) -> None:
    """Send a ping."""
    await interaction.ack()
    by = await modals.admin(interaction)
    await interaction.database.write(
        delivery_log.ping, interaction.value, by=by, now=interaction.now
    )
    sent = gettext("Sending a test. Reopen this webhook to see the result.")
    view = await interaction.database.read(_read_webhook, interaction, by, interaction.value, sent)
    await modals.refresh(interaction, view)


async def _rotate(interaction: Interaction) -> None:
    """Create a new secret and show it once; Slack has asked for confirmation."""
    await interaction.ack()
    by = await modals.admin(interaction)
    _, secret = await interaction.database.write(
        webhooks.rotate_secret, interaction.value, by=by, now=interaction.now
    )
    await interaction.open(secret_view(secret))


def _switches(*, is_active: bool) -> screen.Listener:
    """Switch the webhook on, which resets its failures, or off."""

    async def listener(interaction: Interaction) -> None:
        await interaction.ack()
        by = await modals.admin(interaction)
        changes = {"is_active": is_active}
        changed = await interaction.database.write(
            webhooks.update, interaction.value, changes, by=by, now=interaction.now
        )
        one = await screen.view(interaction, _read_webhook, by, changed.id)
        await modals.refresh(interaction, one)
        await modals.refresh_below(interaction, await screen.view(interaction, _read_list, by))

    return listener


def register(app: AsyncApp) -> None:
    app.action(NAME)(screen.opens(_read_list))
    app.action(f"{NAME}.more")(screen.shows_more(_read_list))
    app.action(f"{NAME}.new")(screen.opens(lambda *_: form_view()))
    app.view(f"{NAME}.form")(_add)
    app.action(ONE)(screen.opens(_read_webhook))
    app.action(f"{ONE}.edit")(screen.opens(_read_form))
    app.view(f"{ONE}.edit.form")(_save)
    app.action(f"{ONE}.test")(_test)
    app.action(f"{ONE}.rotate")(_rotate)
    app.action(f"{ONE}.on")(_switches(is_active=True))
    app.action(f"{ONE}.off")(_switches(is_active=False))
    deleted = (gettext_noop("Webhook"), gettext_noop("The webhook was deleted."))
    app.action(f"{ONE}.delete")(screen.deletes(webhooks.delete, _read_list, done=deleted))


SCREEN: Final = Screen(gettext_noop("Webhooks"), NAME, register)
