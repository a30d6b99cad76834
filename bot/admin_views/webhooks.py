"""Admin settings: webhooks, their health and their buttons."""

from __future__ import annotations

from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.blocks import fields, layout, text, words
from bot.blocks.fields import Option
from storage.base.event_values import EVENT_TYPES, LoggedDelivery, Webhook, WebhookHealth
from storage.db.pages import Page

_MAX_URL: Final = 2_000
# Forty webhooks still fit in a view of 250 kB.
_MAX_LISTED: Final = 150
_EVERY: Final = "*"
_ALL_EVENTS: Final = gettext_noop("All events")


def webhooks(page: Page[Webhook]) -> View:
    blocks = [layout.actions(layout.button(gettext("Add a webhook"), ids.WEBHOOK_NEW))]
    for webhook in page.items:
        open_button = layout.button(
            gettext("Open"),
            ids.WEBHOOK,
            webhook.id,
            spoken=gettext("Open {name}", name=webhook.url),
        )
        lines = text.verbatim(f"{text.cut(webhook.url, _MAX_LISTED)}\n{_state(webhook)}")
        blocks.append({"type": "section", "text": lines, "accessory": open_button})
    if not page.items:
        blocks.append(text.section(gettext("There are no webhooks yet.")))
    return layout.modal(
        gettext("Webhooks"), blocks + layout.show_more(ids.WEBHOOKS_MORE, page.next_cursor)
    )


def form(webhook: Webhook | None = None) -> View:
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
        return layout.modal(
            gettext("Add a webhook"), blocks, ids.WEBHOOK_FORM, gettext("Add"), gettext("Back")
        )
    blocks.append(
        text.quiet(gettext("Pending events go to the new URL, and the failure count starts over."))
    )
    return layout.modal(
        gettext("Edit webhook"),
        blocks,
        ids.WEBHOOK_EDIT_FORM,
        gettext("Save"),
        gettext("Back"),
        webhook.id,
    )


def secret(signing_secret: str) -> View:
    """Shows a signing secret, only this once."""
    blocks = [
        text.section(f"```{signing_secret}```"),
        text.section(
            gettext(
                "Every event is signed with this secret. Copy it to your endpoint now. You "
                "won't see it again."
            )
        ),
    ]
    return layout.modal(gettext("Signing secret"), blocks, close=gettext("Done"))


def webhook(
    webhook: Webhook,
    health: WebhookHealth,
    last: LoggedDelivery | None,
    timezone: str,
    notice: str = "",
) -> View:
    """A webhook: its state, last attempt and buttons. ``notice`` is shown at the top."""
    lines = [
        text.cut(webhook.url, 1_000),
        ", ".join(gettext(_ALL_EVENTS) if event == _EVERY else event for event in webhook.events),
        _state(webhook),
        *_health(health, timezone),
        _last(last, timezone),
    ]
    blocks: list[Block] = [text.paragraph("\n".join(lines))]
    if notice:
        blocks.insert(0, text.section(notice))
    rotate = layout.button(gettext("Rotate secret"), ids.WEBHOOK_ROTATE, webhook.id)
    rotate["confirm"] = layout.confirm(
        gettext("Rotate the secret?"),
        gettext("For 24 hours, events are signed with both the old and the new secret."),
        gettext("Rotate secret"),
        gettext("Keep it"),
    )
    delete = layout.button(gettext("Delete"), ids.WEBHOOK_DELETE, webhook.id, "danger")
    delete["confirm"] = layout.confirm(
        gettext("Delete this webhook?"),
        gettext("Pending events won't be sent."),
        gettext("Delete"),
        gettext("Keep it"),
    )
    if webhook.is_active:
        switches = [
            layout.button(gettext("Send a test"), ids.WEBHOOK_TEST, webhook.id),
            layout.button(gettext("Switch off"), ids.WEBHOOK_OFF, webhook.id),
        ]
    else:
        switches = [layout.button(gettext("Switch on"), ids.WEBHOOK_ON, webhook.id, "primary")]
    edit = layout.button(gettext("Edit"), ids.WEBHOOK_EDIT, webhook.id)
    blocks.append(layout.actions(edit, *switches, rotate, delete))
    return layout.modal(gettext("Webhook"), blocks, private_metadata=webhook.id)


def _state(webhook: Webhook) -> str:
    if webhook.is_active:
        return gettext("Active")
    if webhook.disabled_reason:
        reason = text.cut(gettext(webhook.disabled_reason), _MAX_LISTED)
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
