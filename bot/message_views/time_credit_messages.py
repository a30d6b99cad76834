"""Time in lieu in messages and on Home: the approvers' card, and what the claimer reads."""

from __future__ import annotations

from bot.base import ids
from bot.base.block_kit import Block, Message
from bot.base.language import gettext
from bot.blocks import layout, words
from bot.message_views import cards
from storage.base.event_values import NotificationEvent
from storage.base.leave_values import LeaveStatus
from storage.notifications.time_credit_cards import TimeCreditCard

# What each event is about; a later one has its own notification.
_STATUS_OF: dict[NotificationEvent, LeaveStatus] = {
    "time_credit.created": "pending",
    "time_credit.approved": "approved",
    "time_credit.declined": "declined",
    "time_credit.cancelled": "cancelled",
}


def message(card: TimeCreditCard) -> Message:
    """The approver's card, with buttons only while they can decide."""
    state = _state_of_approver(card)
    blocks = [
        _first_line(card, state),
        block(card, _buttons(card)),
    ]
    # Removed by retention, or when the person was erased.
    if card.credit.reason:
        blocks.append(layout.paragraph(gettext("Reason: {reason}", reason=card.credit.reason)))
    if card.credit.decision_reason:
        declined = gettext("Why it was declined: {reason}", reason=card.credit.decision_reason)
        blocks.append(layout.paragraph(declined))
    return {"text": _text(card, _claimed(card), state), "blocks": blocks}


def reminder(card: TimeCreditCard) -> Message:
    """The card again, in the thread of the unanswered one."""
    shown = message(card)
    if not card.may_decide:
        return shown
    title = gettext("Still waiting for your decision")
    return {
        "text": words.labelled(title, shown["text"]),
        "blocks": [_first_line(card, title), *shown["blocks"][1:]],
    }


def _first_line(card: TimeCreditCard, sentence: str, *facts: str) -> Block:
    """The state, and facts in mrkdwn below it."""
    line = f"{cards.SYMBOLS[card.credit.status]} *{layout.escaped(sentence)}*"
    return layout.section("\n".join((line, *facts)))


def block(card: TimeCreditCard, buttons: list[Block]) -> Block:
    """The card block: person, day and days, and where the days go."""
    facts = [
        gettext(
            "Adds to {allowance}",
            allowance=layout.cut(words.allowance(card.allowance), layout.MAX_NAME),
        )
    ]
    if card.expires_on is not None:
        facts.append(gettext("Expires after {day}", day=words.day(card.expires_on)))
    return layout.card(_title(card), _worked(card), "\n".join(facts), buttons)


def home_block(card: TimeCreditCard) -> Block:
    """As ``block`` with the reason in it, and buttons that decide."""
    reason = layout.one_line(card.credit.reason)
    return layout.card(
        _title(card),
        _worked(card),
        gettext("Reason: {reason}", reason=reason),
        _buttons(card),
    )


def own_message(card: TimeCreditCard) -> Message:
    """The claimer's message, which always shows the current state."""
    sentence = _own_sentence(card)
    blocks = [_first_line(card, sentence, _own_facts(card)), *_reason(card)]
    if card.credit.status == "pending":
        blocks.append(layout.actions(cancel_button(card)))
    return {"text": _text(card, sentence, ""), "blocks": blocks}


def own_news(card: TimeCreditCard, event_type: NotificationEvent) -> Message | None:
    """What the claimer is told about an event; None if a later notification says more."""
    if _STATUS_OF.get(event_type) != card.credit.status:
        return None
    return own_message(card)


def own_line(card: TimeCreditCard) -> str:
    """One of the person's own claims in a list, in mrkdwn."""
    allowance = layout.name(words.allowance(card.allowance))
    line = words.labelled(f"*{allowance}*", layout.escaped(_when(card)))
    return f"{line}\n{layout.escaped(state(card))}"


def cancel_button(card: TimeCreditCard) -> Block:
    when, label = _when(card), gettext("Cancel claim")
    spoken = words.labelled(label, when)
    button = layout.button(label, ids.TIME_CREDIT_CANCEL, card.credit.id, spoken=spoken)
    button["confirm"] = layout.confirm(
        gettext("Cancel this claim?"), f"{when}.", gettext("Cancel claim"), gettext("Keep it")
    )
    return button


def state(card: TimeCreditCard) -> str:
    """The status, by whom and when, in plain text."""
    credit = card.credit
    by = card.decided_by_name and layout.cut(card.decided_by_name, layout.MAX_NAME)
    is_by_viewer = credit.decided_by == card.viewer.id
    match credit.status:
        case "pending":
            return words.awaiting(card.awaited_names, awaits_reader=card.awaits_viewer)
        case "cancelled":
            return gettext("Cancelled")
        case "approved" if is_by_viewer:
            what = gettext("Approved by you")
        case "approved":
            what = (
                gettext("Approved by {name}", name=by) if by else gettext("Approved automatically")
            )
            if card.is_own and card.expires_on is not None:
                expires = gettext("Expires after {day}", day=words.day(card.expires_on))
                return f"{what}. {expires}"
        case _ if is_by_viewer:
            what = gettext("Declined by you")
        case _:
            what = gettext("Declined by {name}", name=by or "")
    if credit.decided_at is None or card.is_own:
        return what
    when = words.moment(credit.decided_at, card.timezone)
    return gettext("{what}, {when}", what=what, when=when)


def what(card: TimeCreditCard) -> str:
    """The claim in one line, in mrkdwn."""
    return words.labelled(f"*{layout.name(card.claimer.name)}*", layout.escaped(_when(card)))


def _title(card: TimeCreditCard) -> str:
    what = gettext("Time in lieu")
    return f"{layout.cut(card.claimer.name, layout.MAX_NAME)} · {what}"


def _when(card: TimeCreditCard) -> str:
    return f"{words.day(card.credit.worked_on)} · {words.amount(card.credit.half_days)}"


def _worked(card: TimeCreditCard) -> str:
    """For approvers, whose other cards have the days of leave in this line."""
    return gettext(
        "Worked on {day} · {amount}",
        day=words.day(card.credit.worked_on),
        amount=words.amount(card.credit.half_days),
    )


def _own_sentence(card: TimeCreditCard) -> str:
    by = layout.cut(card.decided_by_name or "", layout.MAX_NAME)
    match card.credit.status:
        case "pending" if card.awaited_names:
            names = [layout.cut(name, layout.MAX_NAME) for name in card.awaited_names]
            return gettext("Your time in lieu was sent to {names}.", names=words.names(names))
        case "pending":
            return gettext("Your time in lieu awaits a decision.")
        case "approved" if by and card.credit.decided_by != card.claimer.id:
            return gettext("{name} approved your time in lieu.", name=by)
        case "approved":
            return gettext("Your time in lieu was approved.")
        case "declined":
            return gettext("{name} declined your time in lieu.", name=by)
    return gettext("Your time in lieu was cancelled.")


def _own_facts(card: TimeCreditCard) -> str:
    facts = [f"{layout.name(words.allowance(card.allowance))}, {layout.escaped(_when(card))}"]
    if card.credit.status in ("pending", "approved") and card.expires_on is not None:
        facts.append(gettext("Expires after {day}", day=words.day(card.expires_on)))
    return "\n".join(facts)


def _reason(card: TimeCreditCard) -> list[Block]:
    """Why it was declined; before that, what the work was."""
    reason = card.credit.reason
    if card.credit.status == "declined":
        if not card.credit.decision_reason:
            return []
        reason = card.credit.decision_reason
    return [layout.paragraph(gettext("Reason: {reason}", reason=reason))]


def _claimed(card: TimeCreditCard) -> str:
    return gettext(
        "{name} claims time in lieu.", name=layout.cut(card.claimer.name, layout.MAX_NAME)
    )


def _text(card: TimeCreditCard, sentence: str, ending: str) -> str:
    """All of it, because screen readers and phones show only the text."""
    credit = card.credit
    parts = [
        layout.escaped(sentence),
        f"{layout.name(words.allowance(card.allowance))}, {words.day(credit.worked_on)}, "
        f"{words.amount(credit.half_days)}.",
    ]
    if credit.status in ("pending", "approved") and card.expires_on is not None:
        parts.append(gettext("Expires after {day}", day=words.day(card.expires_on)) + ".")
    if ending:
        parts.append(f"{layout.escaped(ending)}.")
    reason = credit.reason
    if credit.status == "declined" and credit.decision_reason:
        reason = credit.decision_reason
    if reason:
        shown = layout.excerpt(reason, layout.room_after(parts))
        parts.append(gettext("Reason: {reason}", reason=shown))
    return " ".join(parts)


def _state_of_approver(card: TimeCreditCard) -> str:
    if card.credit.status == "pending" and not card.may_decide:
        return gettext("You no longer need to decide. {state}", state=state(card))
    return state(card)


def _buttons(card: TimeCreditCard) -> list[Block]:
    if not card.may_decide:
        return []
    approve, decline = ids.TIME_CREDIT_APPROVE, ids.TIME_CREDIT_DECLINE
    return layout.decision_buttons(approve, decline, card.credit.id, card.claimer.name)
