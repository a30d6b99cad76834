"""Short messages: help, notifications to requesters and admins, one-sentence modals."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, Message, View
from bot.base.language import gettext, gettext_noop
from bot.blocks import layout, text, words
from bot.views import answers
from bot.views import card as cards
from storage.admin.recalculation import Cause, TotalChange
from storage.base.event_values import NotificationEvent, Webhook
from storage.notifications.approval_cards import ApprovalCard
from storage.webhooks.endpoint_health import FAILING_FOR

OUTDATED = gettext_noop(
    "This is from an older version of Hiatus, so nothing was changed. Please open it again."
)

# Examples for the command; the parser must understand their translations, too.
EXAMPLES: Final = (
    gettext_noop("3-7 aug"),
    gettext_noop("next fri pm sick"),
    gettext_noop("24 dec - 2 jan unpaid"),
)

_MAX_COMMAND = 40


def help_text(command: str, unknown_words: str = "") -> str:
    """The command's help in mrkdwn; it first names ``unknown_words`` that were not understood."""
    intro = ""
    if unknown_words:
        shown = text.escaped(text.cut(unknown_words, _MAX_COMMAND))
        intro = gettext("Sorry, I didn't understand “{words}”.", words=shown) + "\n"
    examples = [f"{command} {gettext(typed)}" for typed in EXAMPLES]
    lines = (
        gettext("`{command}` opens the request form.", command=command),
        gettext(
            "`{one}`, `{other}` or `{third}` fills it in for you.",
            one=examples[0],
            other=examples[1],
            third=examples[2],
        ),
        gettext("`{command} balance` shows how many days you have left.", command=command),
        gettext(
            "`{command} out` shows who's off today; `{command} out week` shows the rest of "
            "the week (at weekends, next week too).",
            command=command,
        ),
        gettext(
            "`{command} mine` lists your leave; `{command} cancel` lets you cancel it.",
            command=command,
        ),
        gettext("`{command} help` shows this help.", command=command),
        gettext(
            "Your approver gets a message to approve or decline, and I'll tell you what they "
            "decide."
        ),
    )
    return intro + "\n".join(lines)


def unknown_command(command: str) -> str:
    """The response to a command that is in the manifest but not in the settings, in mrkdwn."""
    shown = text.escaped(text.cut(command, _MAX_COMMAND))
    return gettext(
        "Hiatus isn't set up for `{command}`. The people who run Hiatus can set the command "
        "in `HIATUS_SLACK_COMMAND`.",
        command=shown,
    )


def notice(title: str, sentence: str) -> View:
    """A modal with one sentence in plain text."""
    return {
        "type": "modal",
        "title": text.plain(title, text.MAX_TITLE),
        "close": text.plain(gettext("Close")),
        "blocks": [text.paragraph(sentence)],
    }


def requester_notice(
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
    which = gettext("Your request: {what}.", what=_summary(card))
    return {"text": f"{which} {where}", "blocks": [shown, text.quiet(where)]}


_SEE_BELOW: Final = {
    "pending": gettext_noop("Updated. See the message below."),
    "approved": gettext_noop("Approved. See the message below."),
    "declined": gettext_noop("Declined. See the message below."),
    "cancelled": gettext_noop("Cancelled. See the message below."),
}


def _own_message(card: ApprovalCard, sentence: str, *, has_buttons: bool) -> Message:
    request = card.request
    summary = _summary(card)
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


def _summary(card: ApprovalCard) -> str:
    request = card.request
    amount = words.amount(request.total_half_days)
    return ", ".join((text.name(card.leave_type.name), cards.dates(request), amount))


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


def webhook_disabled(webhook: Webhook) -> Message:
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


def webhook_failing(webhook: Webhook, since: datetime, timezone: str) -> Message:
    """The DM to an admin about a webhook that has failed for a day, before it is switched off."""
    sentence = gettext("One of your organisation's webhooks keeps failing.")
    off_at = words.moment(since + FAILING_FOR, timezone)
    failing = gettext(
        "Every attempt has failed since {when}. Unless one succeeds, the webhook will be "
        "switched off on {off_at}.",
        when=words.moment(since, timezone),
        off_at=off_at,
    )
    blocks: list[Block] = [
        text.section(f"*{sentence}*"),
        text.paragraph(webhook.url),
        text.section(failing),
        _open_webhook(webhook),
    ]
    fallback = " ".join((sentence, text.excerpt(webhook.url, 2_000), failing))
    return {"text": fallback, "blocks": blocks}


def _open_webhook(webhook: Webhook) -> Block:
    button = layout.button(gettext("Open webhook"), ids.WEBHOOK, webhook.id)
    return {"type": "actions", "elements": [button]}


def approver_notice(card: ApprovalCard, event_type: NotificationEvent) -> str | None:
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
    return f"{sentence} {_summary(card)}."


def changed_reply(card: ApprovalCard) -> str:
    """The reply in the card's thread when the requester edited the request."""
    return gettext(
        "{requester} edited this request. It's now {dates}, {amount}.",
        requester=text.name(card.requester.name),
        dates=cards.dates(card.request),
        amount=words.amount(card.request.total_half_days),
    )


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


_CANCELLED: Final = gettext_noop("Your request was cancelled.")


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
