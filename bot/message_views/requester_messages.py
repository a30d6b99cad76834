"""Messages to requesters about their own leave."""

from __future__ import annotations

from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, Message
from bot.base.language import gettext, gettext_noop
from bot.blocks import text, words
from bot.message_views import answers
from bot.message_views import card as cards
from storage.admin.recalculation_causes import Cause, TotalChange
from storage.base.event_values import NotificationEvent
from storage.notifications.approval_cards import ApprovalCard

_SEE_BELOW: Final = {
    "pending": gettext_noop("Updated. See the message below."),
    "approved": gettext_noop("Approved. See the message below."),
    "declined": gettext_noop("Declined. See the message below."),
    "cancelled": gettext_noop("Cancelled. See the message below."),
}
_CANCELLED: Final = gettext_noop("Your request was cancelled.")


def notification(
    card: ApprovalCard, event_type: NotificationEvent, news: TotalChange | None = None
) -> Message | None:
    """The DM to the requester about an event; None if the request has changed again since.

    The later change has its own notification, so the outdated one would only confuse.
    """
    sentence = _event_sentence(card, event_type) if news is None else _recalculated(card, news)
    if sentence is None:
        return None
    return _own_message(card, sentence, has_buttons=True)


def own_request(card: ApprovalCard) -> Message:
    """The requester's message after its button was used: the current state without buttons."""
    return _own_message(card, _status_sentence(card), has_buttons=False)


def superseded(card: ApprovalCard) -> Message:
    """The text that replaces an earlier message when a newer one is sent.

    The details are only in the newer message, so that screen readers do not read them twice.
    """
    where = gettext(_SEE_BELOW[card.request.status])
    leave_type, when = text.name(card.leave_type.name), cards.dates(card.request)
    shown = text.section(f"*{leave_type}*\n{when}")
    which = gettext("Your request: {what}.", what=cards.summary(card))
    return {"text": f"{which} {where}", "blocks": [shown, text.quiet(where)]}


def _own_message(card: ApprovalCard, sentence: str, *, has_buttons: bool) -> Message:
    request = card.request
    summary = cards.summary(card)
    blocks: list[Block] = [text.section(f"*{text.escaped(sentence)}*\n{summary}")]
    fallback = f"{text.escaped(sentence)} {summary}."
    if request.status == "declined" and request.decision_reason:
        reason = request.decision_reason
        blocks.append(text.paragraph(gettext("Reason: {reason}", reason=reason)))
        shown = text.excerpt(reason, text.room_after([fallback]))
        fallback += " " + gettext("Reason: {reason}", reason=shown)
    if has_buttons and request.status in ("pending", "approved"):
        blocks.append(_own_buttons(card))
    return {"text": fallback, "blocks": blocks}


def _own_buttons(card: ApprovalCard) -> Block:
    what = (
        f"{text.cut(card.leave_type.name, text.MAX_NAME)}, {cards.dates(card.request)}, "
        f"{words.amount(card.request.total_half_days)}"
    )
    edit: Block = {
        "type": "button",
        "action_id": ids.EDIT,
        "text": text.plain(gettext("Edit")),
        "value": card.request.id,
    }
    cancel = answers.cancel_button(ids.CANCEL, card.request, what)
    is_pending = card.request.status == "pending"
    return {"type": "actions", "elements": [edit, cancel] if is_pending else [cancel]}


def _recalculated(card: ApprovalCard, news: TotalChange) -> str | None:
    if card.request.status not in ("pending", "approved"):
        return None
    sentence = gettext(
        "Your leave now counts as {after} instead of {before}, because {why}.",
        after=_amount_or_nothing(news.after_half_days),
        before=_amount_or_nothing(news.before_half_days),
        why=_because(news.cause),
    )
    if news.after_half_days == 0:
        sentence += " " + gettext("It stays booked. Cancel it if you no longer need it.")
    return sentence


def _amount_or_nothing(half_days: int) -> str:
    return words.amount(half_days) if half_days else gettext("no days")


def _because(cause: Cause) -> str:
    match cause.code:
        case "working_days_changed":
            return gettext("your working days changed")
        case "public_holidays_changed":
            return gettext("different public holidays now apply to you")
        case "working_days_and_public_holidays_changed":
            return gettext("your working days and public holidays changed")
    if cause.holiday_date is None:
        return gettext("public holidays changed")
    day = words.day(cause.holiday_date)
    name = f" ({text.cut(cause.holiday_name, 80)})" if cause.holiday_name else ""
    match cause.code:
        case "public_holiday_added":
            return gettext("{day} is now a public holiday", day=day) + name
        case "public_holiday_removed":
            return gettext("{day} is no longer a public holiday", day=day) + name
    return gettext("the public holiday on {day} changed", day=day) + name


def _event_sentence(card: ApprovalCard, event_type: NotificationEvent) -> str | None:
    status = card.request.status
    if event_type in ("leave_request.created", "leave_request.updated"):
        if status != "pending":
            return None
        return _sent(card, is_new=event_type == "leave_request.created")
    if event_type == "leave_request.decision_changed":
        if status not in ("approved", "declined"):
            return None
        return _reversed(card)
    if event_type != f"leave_request.{status}":
        return None
    return _status_sentence(card)


def _status_sentence(card: ApprovalCard) -> str:
    """The status as a sentence to the requester: ``Grace declined your request.``"""
    by = card.ended_by_name and text.cut(card.ended_by_name, text.MAX_NAME)
    match card.request.status:
        case "pending":
            return _sent(card, is_new=card.request.version == 1)
        case "approved" if by:
            return gettext("{name} approved your request.", name=by)
        case "approved":
            return gettext("Your request was approved automatically.")
        case "declined" if by:
            return gettext("{name} declined your request.", name=by)
        case "declined":
            return gettext("Your request was declined automatically.")
    if card.ended_by_name == card.requester.name:
        return gettext("You cancelled your request.")
    return gettext("{name} cancelled your request.", name=by) if by else gettext(_CANCELLED)


def _reversed(card: ApprovalCard) -> str:
    by = text.cut(card.ended_by_name or "", text.MAX_NAME)
    if card.request.status == "approved":
        return gettext("{name} changed the decision: your request is now approved.", name=by)
    return gettext("{name} changed the decision: your request is now declined.", name=by)


def _sent(card: ApprovalCard, *, is_new: bool) -> str:
    names = words.names([text.cut(name, text.MAX_NAME) for name in card.awaited_names])
    if is_new and names:
        return gettext("Your request was sent to {names} for approval.", names=names)
    if is_new:
        return gettext("Your request was sent for approval.")
    if names:
        return gettext("Your updated request was sent to {names} for approval.", names=names)
    return gettext("Your updated request was sent for approval.")
