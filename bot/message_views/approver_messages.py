"""Messages to approvers beside the approval card."""

from __future__ import annotations

from bot.base.language import gettext
from bot.blocks import text, words
from bot.message_views import card as cards
from storage.base.event_values import NotificationEvent
from storage.notifications.approval_cards import ApprovalCard


def notification(card: ApprovalCard, event_type: NotificationEvent) -> str | None:
    """The DM to an approver when approved leave is shortened or cancelled, in mrkdwn.

    None if the request's status has changed since.
    """
    request = card.request
    requester = text.name(card.requester.name)
    if event_type == "leave_request.cancelled" and request.status == "cancelled":
        by = card.cancelled_by_name
        if by is None:
            sentence = gettext("{requester}'s approved leave was cancelled.", requester=requester)
        elif by == card.requester.name:
            sentence = gettext("{requester} cancelled their approved leave.", requester=requester)
        else:
            sentence = gettext(
                "{name} cancelled {requester}'s approved leave.",
                name=text.name(by),
                requester=requester,
            )
    elif event_type == "leave_request.shortened" and request.status == "approved":
        sentence = gettext("{requester}'s approved leave was shortened.", requester=requester)
    else:
        return None
    return f"{sentence} {cards.summary(card)}."


def changed_reply(card: ApprovalCard) -> str:
    """The reply in the card's thread when the requester edited the request."""
    return gettext(
        "{requester} edited this request. It's now {dates}, {amount}.",
        requester=text.name(card.requester.name),
        dates=cards.dates(card.request),
        amount=words.amount(card.request.total_half_days),
    )
