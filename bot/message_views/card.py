"""The approval card in an approver's DM, rendered from the request's current state."""

from __future__ import annotations

from bot.base import ids
from bot.base.block_kit import Block, Message
from bot.base.language import gettext
from bot.blocks import colleagues, text, words
from storage.base.values import LeaveRequest
from storage.notifications.approval_cards import ApprovalCard


def message(card: ApprovalCard) -> Message:
    """``text`` and ``blocks`` of a message; buttons only while the viewer can decide.

    The text has all the information, because screen readers read only the text
    (docs.slack.dev, chat.postMessage, "Accessibility considerations").
    """
    return {"text": _text(card), "blocks": blocks(card)}


def blocks(card: ApprovalCard) -> list[Block]:
    request = card.request
    shown = [
        text.section(
            gettext(
                "*{requester}* requested *{leave_type}*",
                requester=text.name(card.requester.name),
                leave_type=text.name(card.leave_type.name),
            )
        ),
        text.section(f"{dates(request)}\n{words.amount(request.total_half_days)}"),
    ]
    if card.balances:
        shown.append(text.section("\n".join(_balance_lines(card))))
    if card.colleagues and request.status == "pending":
        lines = colleagues.lines(card.colleagues, card.colleagues_count)
        shown.append(text.paragraph("\n".join(lines)))
    if request.note:
        shown.append(text.paragraph(gettext("Note: {note}", note=request.note)))
    if request.status == "declined" and request.decision_reason:
        reason = gettext("Reason: {reason}", reason=request.decision_reason)
        shown.append(text.paragraph(reason))
    shown.append(text.quiet(text.escaped(_status_line(card))))
    if card.may_decide:
        shown.append(_buttons(request.id))
    if card.may_reverse:
        shown.append({"type": "actions", "elements": [_change_button(request.id)]})
    return shown


def dates(request: LeaveRequest) -> str:
    """The request's dates with halves as text."""
    return words.span(
        request.start_date, request.end_date, request.start_half_day, request.end_half_day
    )


def state(card: ApprovalCard) -> str:
    """The status, by whom and when: ``Approved by Grace, 2 June 2026, 10:05``."""
    request = card.request
    if request.status == "pending":
        return _pending_state(card)
    at = request.cancelled_at if request.status == "cancelled" else request.decided_at
    what = _outcome(card)
    if at is None:
        return what
    return gettext("{what}, {when}", what=what, when=words.moment(at, card.timezone))


def _outcome(card: ApprovalCard) -> str:
    by = card.ended_by_name and text.cut(card.ended_by_name, text.MAX_NAME)
    match card.request.status:
        case "cancelled":
            return gettext("Cancelled by {name}", name=by) if by else gettext("Cancelled")
        case "approved":
            return (
                gettext("Approved by {name}", name=by) if by else gettext("Approved automatically")
            )
    return gettext("Declined by {name}", name=by) if by else gettext("Declined automatically")


def _pending_state(card: ApprovalCard) -> str:
    request = card.request
    names = [text.cut(name, text.MAX_NAME) for name in card.awaited_names]
    awaiting = gettext("Awaiting {names}", names=words.names(names))
    sentence = awaiting if names else gettext("Awaiting a decision")
    if request.version > 1:
        when = words.moment(request.updated_at, card.timezone)
        return gettext("{sentence}. Updated {when}", sentence=sentence, when=when)
    return sentence


def _balance_lines(card: ApprovalCard) -> list[str]:
    return [words.left(balance.remaining_half_days, balance.year_name) for balance in card.balances]


def _status_line(card: ApprovalCard) -> str:
    """As ``state`` for an approver: also says if they no longer need to decide."""
    if card.request.status == "pending" and not card.may_decide:
        return gettext("You no longer need to decide. {state}", state=state(card))
    return state(card)


def _change_button(request_id: str) -> Block:
    return {
        "type": "button",
        "action_id": ids.RECONSIDER,
        "text": text.plain(gettext("Change decision")),
        "value": request_id,
    }


def _buttons(request_id: str) -> Block:
    return {
        "type": "actions",
        "elements": [
            {
                "type": "button",
                "action_id": ids.APPROVE,
                "text": text.plain(gettext("Approve")),
                "style": "primary",
                "value": request_id,
            },
            {
                "type": "button",
                "action_id": ids.DECLINE,
                "text": text.plain(gettext("Decline")),
                "style": "danger",
                "value": request_id,
            },
        ],
    }


def _text(card: ApprovalCard) -> str:
    request = card.request
    parts = [
        gettext(
            "{requester} requested {leave_type}: {dates}, {amount}.",
            requester=text.name(card.requester.name),
            leave_type=text.name(card.leave_type.name),
            dates=dates(request),
            amount=words.amount(request.total_half_days),
        ),
        *(f"{line}." for line in _balance_lines(card)),
        f"{text.escaped(_status_line(card))}.",
    ]
    if request.note:
        parts.append(
            gettext("Note: {note}", note=text.excerpt(request.note, text.room_after(parts)))
        )
    return " ".join(parts)


def summary(card: ApprovalCard) -> str:
    """Leave type, dates and amount in one line, in mrkdwn."""
    request = card.request
    amount = words.amount(request.total_half_days)
    return ", ".join((text.name(card.leave_type.name), dates(request), amount))
