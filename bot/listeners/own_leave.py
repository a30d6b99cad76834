"""The caller's own leave: list and cancel."""

from __future__ import annotations

from datetime import datetime

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.language import gettext
from bot.blocks import layout, words
from bot.interaction import errors, listening, modals
from bot.interaction.interaction import Interaction
from bot.listeners import request_form
from bot.message_views import answers, approver_messages, requester_messages
from bot.message_views.answers import OwnLeave
from bot.views.request_values import Filled
from storage.base.errors import AlreadyObjected, DomainError, InvalidTransition
from storage.base.values import Caller, local_day
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.leave import leave_amendments, leave_lists, leave_requests
from storage.notifications import approval_cards
from storage.notifications.approval_cards import ApprovalCard
from storage.outbox import organisation_config
from storage.people import people_rows


async def show(interaction: Interaction, unread: str = "") -> None:
    """List upcoming leave and pending requests; ``unread`` are words that were not understood."""
    await interaction.ack()
    leave = await _own_leave(interaction, await listening.caller(interaction))
    await interaction.reply(answers.own_leave(leave, unread))


async def show_to_cancel(interaction: Interaction) -> None:
    """List them with cancel buttons."""
    await interaction.ack()
    leave = await _own_leave(interaction, await listening.caller(interaction))
    await interaction.reply(answers.own_leave_to_cancel(leave))


async def cancel_listed(interaction: Interaction) -> None:
    """Cancel a listed request and refresh the list."""
    by = await listening.acknowledged(interaction)
    result = await _cancel(interaction, by)
    leave = await _own_leave(interaction, by)
    await interaction.refresh(answers.own_leave_to_cancel(leave, result))


async def cancel(interaction: Interaction) -> None:
    """Cancel the request of the clicked message and refresh the message."""
    by = await listening.acknowledged(interaction)
    await _cancel(interaction, by)
    card = await interaction.database.read(
        approval_cards.card,
        by.organisation_id,
        interaction.value,
        viewer_id=str(by.user_id),
        now=interaction.now,
    )
    if card is not None and card.request.user_id == by.user_id:
        await interaction.refresh(requester_messages.own_request(card))


async def still_sick(interaction: Interaction) -> None:
    """Extend sick leave by a working day and refresh the message; a second click says so."""
    by = await listening.acknowledged(interaction)
    request_id, _, known_end = interaction.value.partition(" ")
    continued = await interaction.database.write(
        leave_requests.extend, request_id, known_end, by=by, now=interaction.now
    )
    card = await interaction.database.read(
        approval_cards.visible_card, request_id, by=by, now=interaction.now
    )
    await interaction.refresh(requester_messages.own_request(card))
    if not continued.is_extended:
        day = words.day(continued.request.end_date)
        await interaction.tell(
            gettext(
                "Nothing changed: this leave ends on {day}. “Change” sets another day.", day=day
            )
            if continued.request.status == "approved"
            else gettext("Nothing changed: this leave is no longer booked.")
        )


async def ask_again(interaction: Interaction) -> None:
    """Open the request form with all values of a declined request but its dates."""
    by = await listening.acknowledged(interaction)
    card = await interaction.database.read(
        approval_cards.visible_card, interaction.value, by=by, now=interaction.now
    )
    if card.request.status != "declined":
        refusal = InvalidTransition("declined", card.request.status, card.ended_by_name)
        await interaction.tell(errors.sentence(refusal))
        return
    request = card.request
    filled = Filled(
        leave_type_id=request.leave_type_id,
        start_date=None,
        end_date=None,
        note=request.note,
        cover_user_id=request.cover_user_id,
    )
    await request_form.open_filled_in(interaction, filled, needs_days=False)


async def _cancel(interaction: Interaction, by: Caller) -> str:
    """Cancel the clicked request; returns the sentence to show, "" if an error was shown."""
    try:
        request = await interaction.database.write(
            leave_requests.cancel, interaction.value, by=by, now=interaction.now
        )
    except DomainError as refusal:
        result = errors.sentence(refusal)
        await interaction.tell(result)
        return ""
    if request.status == "approved":
        return gettext("Your approver has to agree. Until then, it stays booked.")
    return gettext("Cancelled.")


async def _own_leave(interaction: Interaction, by: Caller) -> OwnLeave:
    return await interaction.database.read(upcoming, by=by, now=interaction.now)


def upcoming(tx: Transaction, *, by: Caller, now: datetime) -> OwnLeave:
    config = organisation_config.of_organisation(tx, by.organisation_id)
    user = people_rows.get(tx, str(by.user_id), by=by)
    today = local_day(now, user.timezone or config.organisation.timezone)
    page = leave_lists.own(tx, PageOf(limit=answers.MAX_OWN), by=by, today=today)
    office_today = local_day(now, config.organisation.timezone)
    return OwnLeave(
        page=page,
        leave_types=config.leave_types,
        cancel_effects=leave_amendments.cancel_effects(
            tx, config, page.items, user.id, office_today
        ),
    )


async def object_to(interaction: Interaction) -> None:
    """Tell the recorder and the admins; Slack has asked for confirmation."""
    by = await listening.acknowledged(interaction)
    try:
        await interaction.database.write(
            leave_requests.object_to, interaction.value, by=by, now=interaction.now
        )
    except (AlreadyObjected, InvalidTransition) as refusal:
        await interaction.tell(errors.sentence(refusal))
    card = await _card(interaction, by)
    await interaction.refresh(requester_messages.own_request(card))


async def cancel_recorded(interaction: Interaction) -> None:
    """Cancel it as its recorder or an admin, and refresh the clicked message or modal."""
    by = await listening.acknowledged(interaction)
    try:
        await interaction.database.write(
            leave_requests.cancel, interaction.value, by=by, now=interaction.now
        )
    except InvalidTransition as refusal:
        await interaction.tell(errors.sentence(refusal))
    card = await _card(interaction, by)
    if "view" in interaction.body:
        await modals.refresh(
            interaction, layout.notice(gettext("Record leave"), gettext("Cancelled."))
        )
    else:
        await interaction.refresh(approver_messages.objection(card, str(by.user_id)))


async def _card(interaction: Interaction, by: Caller) -> ApprovalCard:
    return await interaction.database.read(
        approval_cards.visible_card, interaction.value, by=by, now=interaction.now
    )


def register(app: AsyncApp) -> None:
    app.action(ids.CANCEL)(cancel)
    app.action(ids.ASK_AGAIN)(ask_again)
    app.action(ids.STILL_SICK)(still_sick)
    app.action(ids.CANCEL_LISTED)(cancel_listed)
    app.action(ids.OBJECT)(object_to)
    app.action(ids.CANCEL_RECORDED)(cancel_recorded)
