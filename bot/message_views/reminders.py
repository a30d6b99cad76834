"""Reminders to approvers."""

from __future__ import annotations

from bot.base.block_kit import Message
from bot.base.language import gettext, ngettext
from bot.blocks import text, words
from bot.message_views import amendment_lines
from bot.message_views import card as cards
from storage.notifications.approval_cards import ApprovalCard
from storage.notifications.reminder_summaries import SummaryNotificationData, WaitingRequest


def reminder(card: ApprovalCard, home_url: str | None) -> Message:
    """The reply in the thread of an unanswered card: the card again, with its buttons.

    Once the card is decided, only the outcome.
    """
    if not card.may_decide:
        return cards.outcome(card)
    title = gettext("Still waiting for your decision")
    blocks = [text.section(f"*{title}*"), *cards.blocks(card, home_url)]
    return {"text": _sentence(card), "blocks": blocks}


def _sentence(card: ApprovalCard) -> str:
    request, proposed = card.request, card.open_amendment
    if proposed is not None:
        return gettext(
            "Still waiting for your decision: {what}",
            what=amendment_lines.sentence(card, proposed),
        )
    return gettext(
        "Still waiting for your decision: {requester} requested {leave_type}, {dates}, {amount}.",
        requester=text.name(card.requester.name),
        leave_type=text.name(card.leave_type.name),
        dates=cards.dates(request),
        amount=words.amount(request.total_half_days),
    )


def summary(data: SummaryNotificationData) -> Message:
    """The daily summary for an approver with many pending requests."""
    title = ngettext(
        "{count} request is waiting for your decision",
        "{count} requests are waiting for your decision",
        data.total,
    )
    lines = [f"• {_waiting(request)}" for request in data.requests]
    if more := data.total - len(data.requests):
        lines.append(ngettext("… and {count} more", "… and {count} more", more))
    advice = gettext("Approve or decline them on my Home tab.")
    fallback = "\n".join((f"{title}:", *(text.escaped(line) for line in lines), advice))
    return {
        "text": fallback if len(fallback) <= text.MAX_MESSAGE else f"{title}. {advice}",
        "blocks": [
            text.section(f"*{title}*"),
            text.paragraph("\n".join(lines)),
            text.quiet(advice),
        ],
    }


def _waiting(request: WaitingRequest) -> str:
    when = words.span(
        request.start_date, request.end_date, request.start_half_day, request.end_half_day
    )
    if request.is_amendment:
        return gettext(
            "{requester}: change of {leave_type}, {dates}",
            requester=text.cut(request.requester_name, text.MAX_NAME),
            leave_type=text.cut(request.leave_type_name, text.MAX_NAME),
            dates=when,
        )
    return gettext(
        "{requester}: {leave_type}, {dates}, {amount}",
        requester=text.cut(request.requester_name, text.MAX_NAME),
        leave_type=text.cut(request.leave_type_name, text.MAX_NAME),
        dates=when,
        amount=words.amount(request.total_half_days),
    )
