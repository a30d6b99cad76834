"""Messages to admins about a webhook that fails."""

from __future__ import annotations

from datetime import datetime

from bot.base import ids
from bot.base.block_kit import Block, Message
from bot.base.language import gettext
from bot.blocks import layout, text, words
from storage.base.event_values import Webhook
from storage.webhooks.endpoint_health import FAILING_FOR


def disabled(webhook: Webhook) -> Message:
    """The DM to an admin about a webhook that was switched off, with the reason."""
    sentence = gettext("One of your organisation's webhooks was switched off.")
    url = text.verbatim(webhook.url)
    reason = gettext(str(webhook.disabled_reason))
    advice = text.section(
        gettext(
            "I've stopped sending events there. Once your endpoint is fixed, open the "
            "webhook and switch it on to send the pending events."
        )
    )
    blocks: list[Block] = [
        text.section(f"*{sentence}*"),
        {"type": "section", "text": url},
        text.paragraph(gettext("Reason: {reason}", reason=reason)),
        advice,
        _open_webhook(webhook),
    ]
    fallback = " ".join((sentence, text.excerpt(webhook.url, 2_000), text.excerpt(reason, 1_000)))
    return {"text": fallback, "blocks": blocks}


def failing(webhook: Webhook, since: datetime, timezone: str) -> Message:
    """The DM to an admin about a webhook that has failed for a day, before it is switched off."""
    sentence = gettext("One of your organisation's webhooks keeps failing.")
    off_at = words.moment(since + FAILING_FOR, timezone)
    warning = gettext(
        "Every attempt has failed since {when}. Unless one succeeds, the webhook will be "
        "switched off on {off_at}.",
        when=words.moment(since, timezone),
        off_at=off_at,
    )
    blocks: list[Block] = [
        text.section(f"*{sentence}*"),
        text.paragraph(webhook.url),
        text.section(warning),
        _open_webhook(webhook),
    ]
    fallback = " ".join((sentence, text.excerpt(webhook.url, 2_000), warning))
    return {"text": fallback, "blocks": blocks}


def _open_webhook(webhook: Webhook) -> Block:
    button = layout.button(gettext("Open webhook"), ids.WEBHOOK, webhook.id)
    return {"type": "actions", "elements": [button]}
