"""The Home tab, the most important first."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext
from bot.blocks import layout, request_card, text, words
from bot.message_views import amendment_lines, answers
from bot.message_views import card as cards
from bot.views.home import absences, balance, checklist, covering, settings
from bot.views.home.pages import page_buttons
from storage.base.values import Amendment, LeaveRequest, LeaveType
from storage.slack.home import Home, Item, ProposedLeave

# After escaping, the longest note and two names still fit in a section.
_MAX_NOTE: Final = 200


def view(home: Home) -> View:
    return {
        "type": "home",
        "callback_id": ids.HOME,
        "blocks": [
            text.section(f"*{text.name(home.organisation.name)}*\n{words.day(home.today)}"),
            *_pending_approvals(home),
            *checklist.blocks(home.checklist),
            *balance.blocks(home.balances),
            *_own_leave(home),
            *covering.blocks(home.covering),
            *absences.blocks(home),
            _quick_actions(home),
            *settings.blocks(home.user),
        ],
    }


def closed(sentence: str) -> View:
    """The Home tab of a person who cannot use Hiatus, with the reason in plain text."""
    return {
        "type": "home",
        "callback_id": ids.HOME,
        "blocks": [text.paragraph(sentence)],
    }


def _quick_actions(home: Home) -> Block:
    buttons = [layout.button(gettext("Request leave"), ids.HOME_REQUEST, style="primary")]
    if home.may_record:
        buttons.append(layout.button(gettext("Record leave"), ids.HOME_RECORD))
    return layout.actions(*buttons, layout.button(gettext("Calendar"), ids.CALENDAR))


def _pending_approvals(home: Home) -> list[Block]:
    if not home.waiting.items:
        return []
    blocks = [layout.header(gettext("Waiting for your decision"))]
    for item in home.waiting.items:
        blocks += _pending_request(item)
    cursors, cursor = home.cursors, home.waiting.next_cursor
    return blocks + page_buttons(
        cursors.waiting,
        cursor,
        replace(cursors, waiting=None),
        replace(cursors, waiting=cursor),
    )


def _pending_request(item: Item) -> list[Block]:
    """The card of approvers' messages, and below it the cover and the note."""
    request, proposed = item.request, item.amendment
    approve, decline, value = ids.HOME_APPROVE, ids.HOME_DECLINE, request.id
    asked: LeaveRequest | Amendment = request
    if proposed is not None:
        approve, decline = ids.HOME_AMENDMENT_APPROVE, ids.HOME_AMENDMENT_DECLINE
        asked = proposed.counted.amendment
        value = asked.id
    shown = [
        request_card.block(
            requester_name=item.person_name,
            leave_type_name=(proposed or item).leave_type.name,
            dates=cards.dates(asked),
            half_days=(proposed.counted if proposed else request).total_half_days,
            facts=cards.facts(item.balances, item.colleagues, item.colleagues_count),
            buttons=request_card.decision_buttons(approve, decline, value, item.person_name),
            kind=amendment_lines.kind(None if proposed is None else proposed.counted.amendment),
        )
    ]
    if proposed is not None:
        shown.append(
            text.section("\n".join(amendment_lines.differences(*_compared(item, proposed))))
        )
    elif item.cover_name:
        shown.append(
            text.paragraph(
                gettext("Covered by {name}", name=text.cut(item.cover_name, text.MAX_NAME))
            )
        )
    if asked.note:
        # In plain text as on the card, so that Slack does not format user input.
        note = text.cut(text.one_line(asked.note), _MAX_NOTE)
        shown.append(text.paragraph(gettext("Note: {note}", note=note)))
    return shown


def _compared(
    item: Item, proposed: ProposedLeave
) -> tuple[LeaveRequest, LeaveType, Amendment, LeaveType, int]:
    """The leave as it is and as it is proposed."""
    counted = proposed.counted
    return (
        item.request,
        item.leave_type,
        counted.amendment,
        proposed.leave_type,
        counted.total_half_days,
    )


def _own_leave(home: Home) -> list[Block]:
    blocks = [layout.header(gettext("Your leave"))]
    if not home.own.items:
        return [*blocks, text.section(gettext("You have no upcoming leave."))]
    for item in home.own.items:
        buttons = _own_buttons(item)
        if item.can_be_interrupted:
            buttons.append(_fell_ill(item))
        blocks += [text.section(_own_line(item)), layout.actions(*buttons)]
    cursors, cursor = home.cursors, home.own.next_cursor
    return blocks + page_buttons(
        cursors.own, cursor, replace(cursors, own=None), replace(cursors, own=cursor)
    )


def _own_line(item: Item) -> str:
    request = item.request
    status = gettext("Awaiting a decision") if request.status == "pending" else gettext("Approved")
    status = _with_cover(status, item)
    if item.amendment is not None and item.amendment.counted.amendment.cancels:
        status = gettext("{status}. Cancellation awaiting a decision", status=status)
    elif item.amendment is not None:
        changes = amendment_lines.news(*_compared(item, item.amendment))
        status = gettext(
            "{status}. Change awaiting a decision: {changes}", status=status, changes=changes
        )
    return (
        f"*{text.name(item.leave_type.name)}*: {cards.dates(request)}, "
        f"{words.amount(request.total_half_days)}\n{status}"
    )


def _with_cover(line: str, item: Item) -> str:
    return words.with_cover(line, item.cover_name and text.name(item.cover_name))


def _own_buttons(item: Item) -> list[Block]:
    request, when = item.request, cards.dates(item.request)
    spoken = gettext("Cancel: {dates}", dates=when)
    cancel = layout.button(gettext("Cancel leave"), ids.HOME_CANCEL, request.id, spoken=spoken)
    cancel["confirm"] = layout.confirm(
        gettext("Cancel this leave?"),
        answers.what_is_cancelled(
            request, f"{when}.", needs_approval=item.cancel_effect == "amendment"
        ),
        gettext("Cancel leave"),
        gettext("Keep it"),
    )
    edit = layout.button(
        gettext("Edit"), ids.EDIT, request.id, spoken=gettext("Edit {name}", name=when)
    )
    if request.status == "approved":
        spoken = gettext("Change: {dates}", dates=when)
        edit = layout.button(gettext("Change"), ids.EDIT, request.id, spoken=spoken)
    amendment = None if item.amendment is None else item.amendment.counted.amendment
    is_asked = amendment is not None and amendment.cancels
    cancels = [cancel] if item.cancel_effect is not None and not is_asked else []
    if amendment is None:
        return [edit, *cancels]
    label = gettext("Withdraw change")
    spoken = gettext("Withdraw the change: {dates}", dates=when)
    if is_asked:
        label = gettext("Keep this leave")
        spoken = gettext("Keep this leave: {dates}", dates=when)
    withdraw = layout.button(label, ids.HOME_WITHDRAW, amendment.id, spoken=spoken)
    return [edit, withdraw, *cancels]


def _fell_ill(item: Item) -> Block:
    spoken = gettext("I fell ill: {dates}", dates=cards.dates(item.request))
    return layout.button(gettext("I fell ill"), ids.INTERRUPT, item.request.id, spoken=spoken)
