"""Messages to admins: webhooks and digests that fail, and balances that are not right."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, Message
from bot.base.language import gettext
from bot.blocks import balance_lines, layout, words
from storage.base.event_values import Webhook
from storage.notifications.notification_data import BalanceQuestion
from storage.webhooks.endpoint_health import FAILING_FOR

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


def balance_question(question: BalanceQuestion) -> Message:
    """A person says that their balance is not right; the button opens their settings."""
    name, balance = question.user.name, question.balance
    heading = gettext(
        "{name} says that their days aren't right.", name=layout.name(layout.one_line(name))
    )
    figures = gettext(
        "Hiatus has {left} until {day}.",
        left=balance_lines.left(balance.remaining_half_days),
        day=words.day(balance.year.last_day),
    )
    advice = gettext("Correct the allowance or the first day, or adjust the balance.")
    spoken = gettext("Open person: {name}", name=name)
    button = layout.button(gettext("Open person"), ids.OPEN_PERSON, question.user.id, spoken=spoken)
    return {
        "text": f"{heading} {figures}",
        "blocks": [
            layout.section(f"*{heading}*\n{figures} {advice}"),
            layout.actions(button),
        ],
    }
