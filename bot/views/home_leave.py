"""The viewer's own leave on Home: a line with a menu for each, and the question before Cancel."""

from __future__ import annotations

from collections.abc import Sequence

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext
from bot.blocks import layout, words
from bot.message_views import card_amendments, cards
from storage.base.leave_values import Amendment, LeaveRequest, LeaveType
from storage.notifications.approval_cards import ApprovalCard
from storage.workspaces.home import Item, ProposedLeave


def rows(items: Sequence[Item]) -> list[Block]:
    if not items:
        return [layout.section(gettext("You have no upcoming leave."))]
    return list(map(_row, items))


def compared(
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


def _row(item: Item) -> Block:
    shown = layout.section(_line(item))
    choices = _choices(item)
    if not choices:
        return shown
    return {**shown, "accessory": layout.overflow(ids.HOME_LEAVE_MENU, choices)}


def _line(item: Item) -> str:
    request = item.request
    status = gettext("Awaiting a decision") if request.status == "pending" else gettext("Approved")
    if request.status == "pending" and item.first_approver_name is not None:
        waiting = cards.awaits_second(item.first_approver_name, item.second_approver_name)
        status = layout.escaped(waiting)
    if request.closure_id is not None:
        status = gettext("The company is closed")
    status = words.with_cover(status, item.cover_name and layout.name(item.cover_name))
    if item.amendment is not None and item.amendment.counted.amendment.cancels:
        status = gettext("{status}. Cancellation awaiting a decision", status=status)
    elif item.amendment is not None:
        changes = card_amendments.new_values(*compared(item, item.amendment))
        status = gettext(
            "{status}. Change awaiting a decision: {changes}", status=status, changes=changes
        )
    return words.labelled(
        f"*{layout.name(words.leave_type(item.leave_type))}*",
        f"{words.dates(request)}, {words.amount(request.total_half_days)} · {status}",
    )


def _choices(item: Item) -> list[tuple[str, str]]:
    """The labels of the menu, with what each does to which id."""
    request = item.request
    choices: list[tuple[str, str]] = []
    if request.closure_id is None:
        choices.append((gettext("Change"), f"{ids.MENU_EDIT} {request.id}"))
        if request.status == "pending":
            choices = [(gettext("Edit"), f"{ids.MENU_EDIT} {request.id}")]
        amendment = None if item.amendment is None else item.amendment.counted.amendment
        is_cancelling = amendment is not None and amendment.cancels
        if amendment is not None:
            label = gettext("Keep this leave") if is_cancelling else gettext("Withdraw change")
            choices.append((label, f"{ids.MENU_WITHDRAW} {amendment.id}"))
        if item.cancel_effect is not None and not is_cancelling:
            choices.append((gettext("Cancel leave…"), f"{ids.MENU_CANCEL} {request.id}"))
    if item.can_be_interrupted:
        choices.append((gettext("I fell ill"), f"{ids.MENU_FELL_ILL} {request.id}"))
    return choices


def cancel_view(card: ApprovalCard) -> View:
    """Asks to confirm the cancellation."""
    request = card.request
    question = cards.what_is_cancelled(
        request, f"{words.dates(request)}.", needs_approval=card.cancel_effect == "amendment"
    )
    return layout.modal(
        gettext("Cancel this leave?"),
        [layout.paragraph(question)],
        ids.HOME_CANCEL_FORM,
        gettext("Cancel leave"),
        gettext("Keep it"),
        request.id,
    )
