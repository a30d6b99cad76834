"""Changes of approved leave: approve, decline and withdraw them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.interaction import errors, identity
from bot.interaction.interaction import Clicked, Interaction
from bot.listeners import decisions as cards
from bot.message_views import requester_messages
from bot.messages import home_tab
from bot.views import decline
from storage.base.errors import AmendmentEnded, DomainError
from storage.base.values import Caller, LeaveRequest
from storage.db.database import Transaction
from storage.leave import decisions, leave_changes
from storage.leave.decisions import NotYourApproval
from storage.notifications import approval_cards
from storage.notifications.approval_cards import ApprovalCard


async def approve(interaction: Interaction) -> None:
    """Approve and refresh the card; say why if it is stale or no longer possible."""
    await interaction.ack()
    by = await identity.caller(interaction)
    clicked = interaction.clicked
    await _decide(
        interaction,
        clicked,
        by,
        lambda tx: decisions.approve_amendment(tx, clicked.value, by=by, now=interaction.now),
    )


async def ask_reason(interaction: Interaction) -> None:
    """Open the decline form, if the amendment is still open."""
    await interaction.ack()
    by = await identity.caller(interaction)
    clicked = interaction.clicked
    try:
        card = await _card_to_decide(interaction, clicked.value, by)
    except AmendmentEnded as refusal:
        await interaction.tell(errors.sentence(refusal))
        await _refresh(interaction, clicked, by)
        return
    await interaction.open(decline.view(card, cards.subject_of(clicked)))


async def decline_with_reason(interaction: Interaction) -> None:
    """Decline; replace the form with a sentence if the amendment is no longer open."""
    by = await identity.caller(interaction)
    clicked = cards.clicked_of_form(interaction)
    reason = decline.reason_of(interaction.values)
    try:
        await interaction.services.database.write(
            decisions.decline_amendment, clicked.value, reason=reason, by=by, now=interaction.now
        )
    except AmendmentEnded as refusal:
        await interaction.tell(errors.sentence(refusal))
    await interaction.ack()
    await _refresh(interaction, clicked, by)


async def withdraw(interaction: Interaction) -> None:
    """Withdraw the caller's change and refresh their message."""
    await interaction.ack()
    by = await identity.caller(interaction)
    await _withdraw(interaction, by)
    card = await interaction.services.database.read(
        _card, interaction.value, by=by, now=interaction.now
    )
    if card.request.user_id == by.user_id:
        await interaction.refresh(requester_messages.own_request(card))


async def withdraw_on_home(interaction: Interaction) -> None:
    await interaction.ack()
    by = await identity.caller(interaction)
    await _withdraw(interaction, by)
    await home_tab.show_again(interaction, by)


async def approve_on_home(interaction: Interaction) -> None:
    await interaction.ack()
    by = await identity.caller(interaction)
    try:
        await interaction.services.database.write(
            decisions.approve_amendment, interaction.value, by=by, now=interaction.now
        )
    except DomainError as refusal:
        await interaction.tell(errors.not_approvable(refusal))
    await home_tab.show_again(interaction, by)


async def ask_reason_on_home(interaction: Interaction) -> None:
    await interaction.ack()
    by = await identity.caller(interaction)
    try:
        card = await _card_to_decide(interaction, interaction.value, by)
    except DomainError as refusal:
        await interaction.tell(errors.sentence(refusal))
        await home_tab.show_again(interaction, by)
        return
    await interaction.open(decline.view_from_home(card))


async def decline_on_home(interaction: Interaction) -> None:
    by = await identity.caller(interaction)
    reason = decline.reason_of(interaction.values)
    try:
        await interaction.services.database.write(
            decisions.decline_amendment,
            interaction.private_metadata,
            reason=reason,
            by=by,
            now=interaction.now,
        )
    except (AmendmentEnded, NotYourApproval) as refusal:
        await interaction.tell(errors.sentence(refusal))
    await interaction.ack()
    await home_tab.show_again(interaction, by)


async def _decide(
    interaction: Interaction,
    clicked: Clicked,
    by: Caller,
    decide: Callable[[Transaction], LeaveRequest],
) -> None:
    try:
        await interaction.services.database.write(decide)
    except DomainError as refusal:
        await interaction.tell(errors.not_approvable(refusal))
    await _refresh(interaction, clicked, by)


async def _withdraw(interaction: Interaction, by: Caller) -> None:
    try:
        await interaction.services.database.write(
            leave_changes.withdraw_one, interaction.value, by=by, now=interaction.now
        )
    except DomainError as refusal:
        await interaction.tell(errors.sentence(refusal))


async def _refresh(interaction: Interaction, clicked: Clicked, by: Caller) -> None:
    """Refresh the clicked message; the outbox refreshes all stored ones."""
    card = await interaction.services.database.read(
        _card, clicked.value, by=by, now=interaction.now
    )
    await cards.show_card(interaction, clicked, card, by)


async def _card_to_decide(interaction: Interaction, amendment_id: str, by: Caller) -> ApprovalCard:
    return await interaction.services.database.read(
        _open_card, amendment_id, by=by, now=interaction.now
    )


def _open_card(tx: Transaction, amendment_id: str, *, by: Caller, now: datetime) -> ApprovalCard:
    """Raises AmendmentEnded, and as deciding would."""
    amendment = decisions.find_amendment(tx, amendment_id, by=by)
    card = cards.card_to_decide(tx, amendment.leave_request_id, by=by, now=now)
    if amendment.status != "open":
        raise AmendmentEnded(amendment.status)
    if not card.may_decide:
        raise NotYourApproval
    return card


def _card(tx: Transaction, amendment_id: str, *, by: Caller, now: datetime) -> ApprovalCard:
    """The card of the amendment's leave, for people who may see it."""
    amendment = decisions.find_amendment(tx, amendment_id, by=by)
    return approval_cards.visible_card(tx, amendment.leave_request_id, by=by, now=now)


def register(app: AsyncApp) -> None:
    app.action(ids.AMENDMENT_APPROVE)(approve)
    app.action(ids.AMENDMENT_DECLINE)(ask_reason)
    app.view(ids.AMENDMENT_DECLINE_FORM)(decline_with_reason)
    app.action(ids.WITHDRAW)(withdraw)
    app.action(ids.HOME_WITHDRAW)(withdraw_on_home)
    app.action(ids.HOME_AMENDMENT_APPROVE)(approve_on_home)
    app.action(ids.HOME_AMENDMENT_DECLINE)(ask_reason_on_home)
    app.view(ids.HOME_AMENDMENT_DECLINE_FORM)(decline_on_home)
