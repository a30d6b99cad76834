"""The welcome to new people, and messages to admins about webhooks and digests that fail."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, Message
from bot.base.language import gettext
from bot.blocks import layout, words
from bot.message_views import answers
from storage.base.event_values import Webhook
from storage.notifications.notification_data import Welcome
from storage.webhooks.endpoint_health import FAILING_FOR


def welcome_message(welcome: Welcome, command: str, contact: str) -> Message:
    if welcome.recipient.role in ("admin", "owner"):
        return _for_admins(welcome, command, contact)
    return {
        "text": gettext(
            "Welcome to Hiatus! Type `{command}` to request leave; your balance is on my Home tab.",
            command=command,
        )
    }


def _for_admins(welcome: Welcome, command: str, contact: str) -> Message:
    heading = gettext(
        "Welcome to Hiatus! {organisation} is ready in three steps:",
        organisation=layout.name(welcome.organisation.name),
    )
    if welcome.organisation.slack_members_join:
        third = gettext(
            "Tell your team. They join when they type `{command}` for the first time.",
            command=command,
        )
    else:
        third = gettext("Add your team on my Home tab, under People.")
    steps = [
        gettext("Open my Home tab. The list there shows what's left to set up."),
        gettext("Type `{command}` and look at the form that everyone will use.", command=command),
        third,
    ]
    numbered = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))
    lines = [heading, numbered]
    blocks: list[Block] = [
        layout.section(f"*{heading}*"),
        layout.section(numbered),
        layout.actions(layout.button(gettext("Request leave"), ids.HOME_REQUEST)),
    ]
    # Without a contact, the line says to ask an admin, and the reader is the only one.
    if contact:
        question = answers.contact_line(contact)
        lines.append(question)
        blocks.append(layout.quiet(question))
    return {"text": "\n".join(lines), "blocks": blocks}


# Our own reason beside Slack's error codes.
SHARED: Final = "externally_shared"


def webhook_disabled(webhook: Webhook) -> Message:
    """The DM to an admin about a webhook that was switched off, with the reason."""
    sentence = gettext("One of your organisation's webhooks was switched off.")
    reason = gettext(str(webhook.disabled_reason))
    advice = layout.section(
        gettext(
            "I've stopped sending events there. Once your endpoint is fixed, open the "
            "webhook and switch it on to send the pending events."
        )
    )
    blocks: list[Block] = [
        layout.section(f"*{sentence}*"),
        layout.paragraph(webhook.url),
        layout.paragraph(gettext("Reason: {reason}", reason=reason)),
        advice,
        _open_webhook(webhook),
    ]
    fallback = " ".join(
        (sentence, layout.excerpt(webhook.url, 2_000), layout.excerpt(reason, 1_000))
    )
    return {"text": fallback, "blocks": blocks}


def webhook_failing(webhook: Webhook, since: datetime, timezone: str) -> Message:
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
        layout.section(f"*{sentence}*"),
        layout.paragraph(webhook.url),
        layout.section(warning),
        _open_webhook(webhook),
    ]
    fallback = " ".join((sentence, layout.excerpt(webhook.url, 2_000), warning))
    return {"text": fallback, "blocks": blocks}


def _open_webhook(webhook: Webhook) -> Block:
    return layout.actions(layout.button(gettext("Open webhook"), ids.WEBHOOK, webhook.id))


def digest_refused(channel: str, because: str) -> Message:
    """The notice to admins. ``because`` is Slack's error code, or ``SHARED``."""
    problem = gettext("I can't post the list of who's out.")
    reason = why_no_digest(because)
    advice = gettext("Then choose the channel again, or another one, on my Home tab.")
    if because in (SHARED, "is_archived"):
        advice = gettext("Choose another channel on my Home tab.")
    where = gettext("Channel: {channel}", channel=layout.escaped(channel))
    return {
        "text": " ".join((problem, reason, advice, where)),
        "blocks": [layout.section(f"*{problem}*\n{reason} {advice}"), layout.quiet(where)],
    }


def why_no_digest(because: str) -> str:
    """Why nothing is posted, in mrkdwn. ``because`` is Slack's error code, or ``SHARED``."""
    reasons = {
        "not_in_channel": gettext("I'm not in the channel yet. Type /invite @Hiatus there."),
        "channel_not_found": gettext(
            "The channel doesn't exist, or it's private and I'm not in it. Type /invite "
            "@Hiatus there."
        ),
        SHARED: gettext(
            "The channel is shared with another organisation (Slack Connect), and they would "
            "see who's out."
        ),
        "is_archived": gettext("The channel was archived."),
    }
    return reasons.get(because, gettext("Slack refused: {reason}.", reason=layout.escaped(because)))


def status_ended() -> Message:
    """The notice to a person whose token Slack revoked."""
    problem = gettext("Your Slack status no longer shows your leave.")
    advice = gettext(
        "Slack ended my permission to set it. To allow it again, open “Slack status” in the "
        "settings on my Home tab."
    )
    return {
        "text": f"{problem} {advice}",
        "blocks": [layout.section(f"*{problem}*\n{advice}")],
    }
