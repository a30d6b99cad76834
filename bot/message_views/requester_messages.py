"""Messages to requesters about their own leave."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, Message
from bot.base.language import gettext
from bot.blocks import layout, words
from bot.message_views import card_amendments, cards, requester_sentences
from storage.admin.recalculation import TotalChange
from storage.base.event_values import NotificationEvent
from storage.notifications.approval_cards import ApprovalCard, CardAmendment

# Events that the requester causes and that change nothing yet.
_CONFIRMATIONS: Final = frozenset({"leave_request.created", "leave_request.amendment_requested"})


def notification(
    card: ApprovalCard, event_type: NotificationEvent, news: TotalChange | None = None
) -> Message | None:
    """The DM to the requester about an event, complete by itself; None if nothing is to be told.

    That is if the request has changed again since: the later change has its own notification, so
    the outdated one would only confuse.
    """
    sentence = requester_sentences.of_event(card, event_type, news)
    if sentence is None:
        return None
    facts = _facts(card, _symbol(card, event_type), sentence)
    blocks = [
        *facts,
        *_reason_blocks(card),
        *_suggestion_buttons(card),
        *_own_buttons(card),
        *_again(card),
    ]
    return {"text": _text(card, sentence), "blocks": blocks}


def is_booked(card: ApprovalCard) -> bool:
    """Whether the leave is approved without a decision, and was not recorded by another person."""
    return card.request.status == "approved" and card.request.decided_by is None


def own_request(card: ApprovalCard) -> Message:
    """The requester's first message, which always shows the current state.

    The reply about a decline has the reason and the button for other dates.
    """
    sentence = requester_sentences.of_status(card)
    symbol = cards.symbol(card, of_amendment=False)
    blocks = _facts(card, symbol, sentence)
    if suggested := requester_sentences.suggested(card):
        blocks += [layout.paragraph(suggested), *_suggestion_buttons(card)]
    return {"text": _text(card, sentence), "blocks": [*blocks, *_own_buttons(card)]}


def reply(
    card: ApprovalCard, event_type: NotificationEvent, news: TotalChange | None = None
) -> Message | None:
    """The reply in the first message's thread: what happened on which dates.

    The text has all facts, because it is also what a phone shows. The reply is updated only by
    ``outdated_reply``, so it has only the button that stays valid until then. None as for
    ``notification``.
    """
    sentence = requester_sentences.of_event(card, event_type, news)
    if sentence is None:
        return None
    shown = requester_sentences.with_dates(card, event_type, sentence)
    if symbol := _symbol(card, event_type):
        shown = f"{symbol} {shown}"
    blocks = [layout.paragraph(shown), *_reason_blocks(card), *_again(card)]
    if event_type == "leave_request.dates_suggested":
        edit = layout.button(gettext("Choose other dates"), ids.EDIT, card.request.id)
        blocks += _suggestion_buttons(card, edit)
    return {"text": _text(card, sentence), "blocks": blocks}


def outdated_reply(card: ApprovalCard, event_type: NotificationEvent) -> Message | None:
    """What the last reply says after this event; None if it stays as it is.

    The reply about a reversed decision loses its button. After people cancel, an approval is not
    the last that their conversation shows.
    """
    if event_type == "leave_request.cancelled":
        return reply(card, event_type)
    if event_type != "leave_request.decision_changed":
        return None
    by = layout.cut(card.ended_by_name or "", layout.MAX_NAME)
    sentence = gettext("{name} changed this decision. See the message below.", name=by)
    return {"text": layout.escaped(sentence), "blocks": [layout.paragraph(sentence)]}


def is_broadcast(card: ApprovalCard, event_type: NotificationEvent) -> bool:
    """Whether the reply is also shown in the conversation: not if it only confirms a request."""
    return event_type not in _CONFIRMATIONS and not (
        event_type == "leave_request.updated" and card.request.status == "pending"
    )


def _suggestion_buttons(card: ApprovalCard, *more: Block) -> list[Block]:
    """The answers to an open suggestion."""
    shown = card.suggestion
    if shown is None or not shown.is_open:
        return []
    suggestion_id = shown.suggestion.id
    accept = layout.button(
        gettext("Take these dates"), ids.SUGGESTION_ACCEPT, suggestion_id, "primary"
    )
    keep = layout.button(gettext("Keep my dates"), ids.SUGGESTION_DECLINE, suggestion_id)
    return [layout.actions(accept, keep, *more)]


def answered(sentence: str) -> Message:
    """What takes the place of a suggestion once it is answered, or has ended; plain text."""
    return {"text": layout.escaped(sentence), "blocks": [layout.paragraph(sentence)]}


def _symbol(card: ApprovalCard, event_type: NotificationEvent) -> str:
    """That of the state in the first line; none for events that are about something else."""
    if event_type == "leave_request.dates_suggested":
        return "📅"
    if event_type in ("cover.left", "leave_request.recounted"):
        return ""
    return cards.symbol(card, of_amendment=event_type.startswith("leave_request.amendment_"))


def _facts(card: ApprovalCard, symbol: str, sentence: str) -> list[Block]:
    proposed = card.open_amendment
    lines = [cards.summary(card)]
    if proposed is not None:
        lines = card_amendments.card_differences(card, proposed)
        if proposed.leave_type.id == card.leave_type.id:
            lines.insert(0, layout.name(words.leave_type(card.leave_type)))
    first_line = f"{symbol} *{layout.escaped(sentence)}*".lstrip()
    shown = "\n".join((first_line, *lines, *_balances(card)))
    return [layout.section(shown), *(layout.paragraph(line) for line in _recorded_lines(card))]


def _text(card: ApprovalCard, sentence: str) -> str:
    """All that the person may want to know, because screen readers read only the text."""
    proposed = card.open_amendment
    facts = [cards.summary(card)]
    if proposed is not None:
        facts = card_amendments.card_differences(card, proposed, is_bold=False)
    parts = [f"{layout.escaped(sentence)} {'. '.join((', '.join(facts), *_balances(card)))}."]
    if reason := _reason(card):
        shown = layout.excerpt(reason, layout.room_after(parts))
        parts.append(gettext("Reason: {reason}", reason=shown))
    for line in _recorded_lines(card):
        parts.append(layout.excerpt(line, layout.room_after(parts)))
    return " ".join(parts)


def _balances(card: ApprovalCard) -> list[str]:
    return [cards.balance_after(year) for year in card.balances]


def _recorded_lines(card: ApprovalCard) -> list[str]:
    if not requester_sentences.is_shown_as_recorded(card):
        return []
    return [line for line in (_override(card), _objected(card)) if line]


def _reason(card: ApprovalCard) -> str | None:
    """Why the request, or the last change of it, was declined."""
    if card.request.status == "declined":
        return card.request.decision_reason
    return None if card.amendment is None else card.amendment.amendment.decision_reason


def _reason_blocks(card: ApprovalCard) -> list[Block]:
    reason = _reason(card)
    return [layout.paragraph(gettext("Reason: {reason}", reason=reason))] if reason else []


def _again(card: ApprovalCard) -> list[Block]:
    if card.request.status != "declined":
        return []
    again = layout.button(gettext("Ask for other dates"), ids.ASK_AGAIN, card.request.id)
    return [layout.actions(again)]


def _own_buttons(card: ApprovalCard) -> list[Block]:
    if card.request.status not in ("pending", "approved"):
        return []
    proposed = card.open_amendment
    leave_type = layout.cut(words.leave_type(card.leave_type), layout.MAX_NAME)
    what = (
        f"{leave_type}, {words.dates(card.request)}, {words.amount(card.request.total_half_days)}"
    )
    is_pending = card.request.status == "pending"
    buttons = [] if is_pending else _object_button(card)
    if card.next_end is not None:
        buttons.append(_still_sick(card, card.next_end))
    edit = gettext("Edit") if is_pending else gettext("Change")
    if card.request.closure_id is None:
        buttons.append(layout.button(edit, ids.EDIT, card.request.id))
    if proposed is not None:
        buttons.append(_withdraw(proposed))
    if card.cancel_effect is not None and not (proposed and proposed.amendment.cancels):
        needs_approval = card.cancel_effect == "amendment"
        buttons.append(
            cards.cancel_button(ids.CANCEL, card.request, what, needs_approval=needs_approval)
        )
    if card.can_be_interrupted:
        buttons.append(layout.button(gettext("I fell ill"), ids.INTERRUPT, card.request.id))
    return [layout.actions(*buttons)] if buttons else []


def _still_sick(card: ApprovalCard, next_end: date) -> Block:
    """The value has the day on which the leave ends, so that a second click does nothing."""
    if next_end == card.today + timedelta(days=1):
        label = gettext("Still sick tomorrow")
    elif next_end == card.today:
        label = gettext("Still sick today")
    else:
        label = gettext("Still sick on {day}", day=words.short_day(next_end))
    value = f"{card.request.id} {card.request.end_date.isoformat()}"
    return layout.button(label, ids.STILL_SICK, value)


def _withdraw(proposed: CardAmendment) -> Block:
    cancels = proposed.amendment.cancels
    label = gettext("Keep this leave") if cancels else gettext("Withdraw change")
    return layout.button(label, ids.WITHDRAW, proposed.amendment.id)


def _override(card: ApprovalCard) -> str:
    """Why rules were overridden, in plain text; "" if they were not."""
    reason = card.request.override_reason
    return gettext("Reason for the exception: {reason}", reason=reason) if reason else ""


def _objected(card: ApprovalCard) -> str:
    """What the person reads after they objected; "" before."""
    if not card.has_objected:
        return ""
    return gettext(
        "You objected. {name} and the admins were told.", name=requester_sentences.recorder(card)
    )


def _object_button(card: ApprovalCard) -> list[Block]:
    """The button by which the person objects, until they have."""
    if not requester_sentences.is_shown_as_recorded(card) or card.has_objected:
        return []
    button = layout.button(gettext("Object"), ids.OBJECT, card.request.id)
    button["confirm"] = layout.confirm(
        gettext("Object to this leave?"),
        gettext(
            "{name} and the admins will be told. The leave itself stays as it is.",
            name=requester_sentences.recorder(card),
        ),
        gettext("Object"),
        gettext("Back"),
        "primary",
    )
    return [button]
