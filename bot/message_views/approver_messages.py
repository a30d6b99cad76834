"""Messages to approvers beside the approval card: news and reminders."""

from __future__ import annotations

from bot.base import ids
from bot.base.block_kit import Message
from bot.base.language import gettext
from bot.blocks import layout, words
from bot.message_views import card_amendments, cards
from storage.base.event_values import NotificationEvent
from storage.notifications.approval_cards import ApprovalCard


def notification(
    card: ApprovalCard, event_type: NotificationEvent, viewer_id: str
) -> Message | None:
    """The DM to a person who need not decide: leave ends, or the requester objects to it.

    None if the request's status has changed since.
    """
    if event_type == "leave_request.objected":
        return objection(card, viewer_id)
    sentence = _sentence(card, event_type)
    return None if sentence is None else {"text": f"{sentence} {cards.summary(card)}."}


def notification_below_card(
    card: ApprovalCard, event_type: NotificationEvent, viewer_id: str
) -> Message | None:
    """As ``notification``, as a reply to the card: it shows only what happened on which dates."""
    message = notification(card, event_type, viewer_id)
    sentence = _sentence(card, event_type)
    if message is None or sentence is None:
        return message
    dates = words.dates(card.request)
    about = gettext("This is about {dates}.", dates=dates)
    if event_type in ("leave_request.updated", "leave_request.shortened"):
        about = gettext("It's now {dates}.", dates=dates)
    return {"text": message["text"], "blocks": [layout.section(f"{sentence} {about}")]}


def _sentence(card: ApprovalCard, event_type: NotificationEvent) -> str | None:
    """What happened to approved leave, in mrkdwn."""
    request = card.request
    requester = layout.name(card.requester.name)
    if event_type == "leave_request.cancelled" and request.status == "cancelled":
        by = card.cancelled_by_name
        if card.cancelled_because == "employment_ends":
            return gettext(
                "{requester}'s approved leave was cancelled, because their employment ends.",
                requester=requester,
            )
        if card.cancelled_because == "lapsed":
            return gettext(
                "{requester}'s request lapsed. Its last day was two weeks ago, and it still "
                "awaited a decision.",
                requester=requester,
            )
        if card.cancelled_because == "employment_starts":
            return gettext(
                "{requester}'s approved leave was cancelled, because their employment starts "
                "later.",
                requester=requester,
            )
        if by is None:
            return gettext("{requester}'s approved leave was cancelled.", requester=requester)
        if card.cancelled_because == "amendment_approved":
            return gettext(
                "{name} approved cancelling {requester}'s leave.",
                name=layout.name(by),
                requester=requester,
            )
        if card.is_cancelled_by_requester:
            return gettext("{requester} cancelled their approved leave.", requester=requester)
        return gettext(
            "{name} cancelled {requester}'s approved leave.",
            name=layout.name(by),
            requester=requester,
        )
    if event_type == "leave_request.interrupted" and request.status == "approved":
        return gettext("{requester}'s approved leave was interrupted.", requester=requester)
    if event_type == "leave_request.interruption_ended" and request.status == "approved":
        return gettext("{requester} is back on leave earlier.", requester=requester)
    if event_type == "leave_request.interruption_ended" and request.status == "cancelled":
        return gettext(
            "{requester}'s approved leave is no longer interrupted.", requester=requester
        )
    if event_type == "leave_request.updated" and request.status == "approved":
        return gettext("{requester}'s approved leave was changed.", requester=requester)
    if event_type == "leave_request.shortened" and request.status == "approved":
        return gettext("{requester}'s approved leave was shortened.", requester=requester)
    return None


def asks_again(card: ApprovalCard, event_type: NotificationEvent) -> bool:
    """Whether the approver has to decide again, although they had the card before."""
    is_amendment = event_type == "leave_request.amendment_requested"
    is_asked = event_type in ("leave_request.approval_given", "leave_request.approval_taken_back")
    return card.may_decide and (is_asked or (is_amendment and card.open_amendment is not None))


def reply(card: ApprovalCard, event_type: NotificationEvent) -> Message | None:
    """The reply in the card's thread: what changed since the approver got the card.

    None if they need not decide, or if the card says it all.
    """
    suggested = card.suggestion
    if event_type == "leave_request.suggestion_declined" and suggested is not None:
        # Who suggested nothing reads it on the card.
        is_theirs = suggested.suggestion.suggested_by == card.viewer.id and not suggested.is_open
        line = layout.escaped(cards.suggestion_line(card))
        return {"text": line, "blocks": [layout.section(line)]} if is_theirs else None
    if not card.may_decide or event_type != "leave_request.updated":
        return None
    requester = layout.name(card.requester.name)
    sentence = gettext(
        "{requester} edited this request. It's now {dates}, {amount}.",
        requester=requester,
        dates=words.dates(card.request),
        amount=words.amount(card.request.total_half_days),
    )
    return {"text": sentence, "blocks": [layout.section(sentence)]}


def reminder(card: ApprovalCard, home_url: str | None) -> Message:
    """The reply in the thread of an unanswered card: the card again, with its buttons.

    Once the card is decided, only the outcome.
    """
    if not card.may_decide:
        return cards.outcome(card)
    title = gettext("Still waiting for your decision")
    sentence = " ".join((_reminder_sentence(card), *cards.return_sentence(card)))
    return {"text": sentence, "blocks": cards.blocks(card, home_url, title)}


def _reminder_sentence(card: ApprovalCard) -> str:
    request, proposed = card.request, card.open_amendment
    if proposed is not None:
        return gettext(
            "Still waiting for your decision: {what}",
            what=card_amendments.amendment_sentence(card, proposed),
        )
    return gettext(
        "Still waiting for your decision: {requester} requested {leave_type}, {dates}, {amount}.",
        requester=layout.name(card.requester.name),
        leave_type=layout.name(words.leave_type(card.leave_type)),
        dates=words.dates(request),
        amount=words.amount(request.total_half_days),
    )


def objection(card: ApprovalCard, viewer_id: str) -> Message:
    """The message to the recorder and the admins, who may cancel the leave."""
    request = card.request
    requester = layout.name(card.requester.name)
    if request.recorded_by == viewer_id:
        news = gettext("{requester} objects to leave that you recorded.", requester=requester)
    else:
        news = gettext(
            "{requester} objects to leave that {name} recorded.",
            requester=requester,
            name=layout.name(card.recorded_by_name or ""),
        )
    summary = cards.summary(card)
    blocks = [layout.section(f"{news}\n{summary}")]
    if request.status == "approved":
        what = layout.cut(f"{card.requester.name}, {words.dates(request)}", layout.MAX_NAME)
        button = cards.cancel_button(ids.CANCEL_RECORDED, request, what)
        blocks.append(layout.actions(button))
    else:
        blocks.append(layout.quiet(layout.escaped(cards.state(card))))
    return {"text": f"{news} {summary}.", "blocks": blocks}
