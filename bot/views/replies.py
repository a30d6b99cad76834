"""Short answers: help, what a requester hears, the modal that says one sentence."""

from __future__ import annotations

from typing import Any

from bot.views import card as cards
from bot.views import text, words
from bot.views.text import Block
from storage.approval_cards import ApprovalCard
from storage.recount import Cause, News
from storage.values import NoticeEvent, Webhook

OUTDATED = (
    "This belongs to an older version of Hiatus, so nothing was changed. Please open it anew."
)

_LONGEST_COMMAND = 40


def help_text(command: str, unknown_words: str = "") -> str:
    """What the command can do, in mrkdwn; led by what it cannot, when something else was typed."""
    intro = ""
    if unknown_words:
        shown = text.escaped(text.cut(unknown_words, _LONGEST_COMMAND))
        intro = f"I do not understand “{shown}”.\n"
    return (
        f"{intro}`{command}` opens the form in which you request leave.\n"
        f"`{command} help` shows this.\n"
        "Whoever decides gets a message with buttons, and you hear from me what came of it."
    )


def unknown_command(command: str) -> str:
    """What somebody hears whose command the manifest knows and the settings do not, in mrkdwn."""
    shown = text.escaped(text.cut(command, _LONGEST_COMMAND))
    return (
        f"Hiatus does not listen to `{shown}`. Whoever operates it names the command in "
        "`HIATUS_SLACK_COMMAND`."
    )


def notice(title: str, sentence: str) -> dict[str, Any]:
    """A modal that says one thing; the sentence is plain text."""
    return {
        "type": "modal",
        "title": text.plain(title, text.LONGEST_TITLE),
        "close": text.plain("Close"),
        "blocks": [{"type": "section", "text": text.verbatim(sentence)}],
    }


def requester_notice(
    card: ApprovalCard, event_type: NoticeEvent, news: News | None = None
) -> dict[str, Any] | None:
    """The DM that tells a requester what happened; None when what happened is history already.

    Later news travels in a notice of its own, so an overtaken one would only confuse.
    """
    told = _told(card, event_type) if news is None else _recounted(card, news)
    if told is None:
        return None
    request = card.request
    what = (
        f"{text.name(card.leave_type.name)}, {cards.dates(request)}, "
        f"{words.amount(request.total_half_days)}"
    )
    blocks: list[Block] = [text.section(f"*{text.escaped(told)}*\n{what}")]
    fallback = f"{text.escaped(told)} {what}."
    if request.status == "declined" and request.decision_reason:
        reason = request.decision_reason
        blocks.append({"type": "section", "text": text.verbatim(f"Reason: {reason}")})
        fallback += f" Reason: {text.excerpt(reason, text.room_after([fallback]))}"
    return {"text": fallback, "blocks": blocks}


def webhook_disabled(webhook: Webhook) -> dict[str, Any]:
    """The DM that tells an admin of a webhook that was switched off, and the cure."""
    told = "A webhook of your organisation was switched off."
    url = text.verbatim(webhook.url)
    reason = text.verbatim(f"Reason: {webhook.disabled_reason}")
    cure = text.section(
        "Nothing is sent there any more. Once the receiver is mended, switch the webhook on again: "
        f'`PATCH /api/v1/webhooks/{webhook.id}` with `{{"is_active": true}}`. What waits for it '
        "is then sent."
    )
    blocks: list[Block] = [
        text.section(f"*{told}*"),
        {"type": "section", "text": url},
        {"type": "section", "text": reason},
        cure,
    ]
    return {"text": told, "blocks": blocks}


def changed_reply(card: ApprovalCard) -> str:
    """What an approver reads beneath the card when the request was changed."""
    return (
        f"{text.name(card.requester.name)} changed this request: {cards.dates(card.request)}, "
        f"{words.amount(card.request.total_half_days)}."
    )


def _recounted(card: ApprovalCard, news: News) -> str | None:
    if card.request.status not in ("pending", "approved"):
        return None
    now_counts = "now counts nothing" if news.after_half_days == 0 else "now counts"
    if news.after_half_days:
        now_counts += f" {words.amount(news.after_half_days)}"
    before = words.amount(news.before_half_days) if news.before_half_days else "nothing"
    sentence = f"Your leave {now_counts} instead of {before}: {_because(news.cause)}."
    if news.after_half_days == 0:
        sentence += " It stays where it is; cancel it if you no longer need it."
    return sentence


def _because(cause: Cause) -> str:
    match cause.code:
        case "working_days_changed":
            return "your working days changed"
        case "public_holidays_changed":
            return "other public holidays hold for you now"
        case "working_days_and_public_holidays_changed":
            return "your working days and public holidays changed"
    if cause.holiday_date is None:
        return "public holidays changed"
    day = words.day(cause.holiday_date)
    name = f" ({text.cut(cause.holiday_name, 80)})" if cause.holiday_name else ""
    match cause.code:
        case "public_holiday_added":
            return f"{day} is a public holiday now{name}"
        case "public_holiday_removed":
            return f"{day} is no longer a public holiday{name}"
    return f"the public holiday on {day} changed{name}"


def _told(card: ApprovalCard, event_type: NoticeEvent) -> str | None:
    status = card.request.status
    if event_type in ("leave_request.created", "leave_request.updated"):
        if status != "pending":
            return None
        sent_to = words.names([text.cut(one, text.LONGEST_NAME) for one in card.awaited_names])
        is_new = event_type == "leave_request.created"
        done = "Your request was sent" if is_new else "Your request was changed and sent"
        return f"{done} to {sent_to} for approval." if sent_to else f"{done} for approval."
    if event_type != f"leave_request.{status}":
        return None
    return f"Your request: {cards.state(card)}."
