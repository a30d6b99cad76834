"""Approve, decline and change a decision on an approval card."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.interaction import errors, listening
from bot.interaction.interaction import Clicked, Interaction
from bot.message_views import approver_messages, cards
from bot.messages import home_tab
from bot.views import decline
from storage.base.errors import (
    DomainError,
    InsufficientAllowance,
    InvalidTransition,
    OverlappingLeave,
    OverrideNotAllowed,
    OwnRequest,
)
from storage.base.leave_values import LeaveRequest
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.leave import decisions, leave_rows
from storage.leave.decisions import Decision, NotYourApproval, SecondApprovalAwaited
from storage.notifications import approval_cards, slack_messages
from storage.notifications.approval_cards import ApprovalCard
from storage.notifications.slack_messages import PostedMessage


async def approve(interaction: Interaction) -> None:
    """Approve and refresh the card; a stale click gets the current status."""
    by = await listening.acknowledged(interaction)
    clicked = interaction.clicked
    try:
        await interaction.database.write(
            _decide,
            clicked,
            lambda tx: decisions.approve(
                tx, clicked.value, by=by, now=interaction.now, is_pending_only=True
            ),
            by=by,
            interaction=interaction,
        )
    except (InvalidTransition, NotYourApproval, SecondApprovalAwaited) as refusal:
        await _stale(interaction, clicked, by, refusal)
        return
    except OverlappingLeave as refusal:
        await interaction.tell(errors.not_reversible(refusal))
    except InsufficientAllowance as refusal:
        await not_enough(interaction, clicked.value, refusal, by, clicked.packed())
    await _refresh(interaction, clicked, by)


async def not_enough(
    interaction: Interaction,
    request_id: str,
    refusal: InsufficientAllowance,
    by: Caller,
    private_metadata: str,
) -> None:
    """Say that too little allowance is left; ask admins for a reason to approve it anyway."""
    if not by.is_admin:
        await interaction.tell(errors.too_little_left(refusal))
        return
    card = await interaction.database.read(card_to_decide, request_id, by=by, now=interaction.now)
    why = errors.too_little_left(refusal)
    await interaction.open(decline.approve_anyway(card, why, private_metadata))


async def approve_anyway(interaction: Interaction) -> None:
    """Approve past the allowance; replace the form with a sentence if that is not possible.

    The form was opened on a card or on Home. Other errors are shown at the reason field.
    """
    by = await listening.caller(interaction)
    is_on_card = " " in interaction.private_metadata
    request_id = interaction.private_metadata.split(" ", maxsplit=1)[0]
    reason = decline.override_reason_of(interaction.values)
    try:
        await interaction.database.write(
            decisions.approve,
            request_id,
            override_reason=reason,
            by=by,
            now=interaction.now,
            is_pending_only=True,
        )
    except (
        InvalidTransition,
        NotYourApproval,
        SecondApprovalAwaited,
        OverrideNotAllowed,
        OverlappingLeave,
    ) as refusal:
        await interaction.tell(errors.not_approvable(refusal))
    await interaction.ack()
    if is_on_card:
        await _refresh(interaction, interaction.clicked_before_form, by)
    else:
        await home_tab.show_again(interaction, by)


async def ask_reason(interaction: Interaction) -> None:
    """Open the decline form, if the request is still pending."""
    by = await listening.acknowledged(interaction)
    clicked = interaction.clicked
    card = await interaction.database.read(
        card_to_decide, clicked.value, by=by, now=interaction.now
    )
    if card.request.status != "pending":
        refusal = InvalidTransition("declined", card.request.status, card.ended_by_name)
        await _stale(interaction, clicked, by, refusal)
        return
    await interaction.open(decline.view(card, clicked.packed()))


async def decline_with_reason(interaction: Interaction) -> None:
    """Decline; replace the form with a sentence if others, or no one, decide by now.

    Other errors are shown at the reason field (listening.py).
    """
    by = await listening.caller(interaction)
    clicked = interaction.clicked_before_form
    reason = decline.reason_of(interaction.values)
    try:
        await interaction.database.write(
            _decide,
            clicked,
            lambda tx: decisions.decline(
                tx,
                clicked.value,
                reason=reason,
                by=by,
                now=interaction.now,
                is_pending_only=True,
            ),
            by=by,
            interaction=interaction,
        )
    except (InvalidTransition, NotYourApproval) as refusal:
        await interaction.tell(errors.sentence(refusal))
    await interaction.ack()
    await _refresh(interaction, clicked, by)


async def take_back(interaction: Interaction) -> None:
    """Take back the first of two approvals, within the reversal window."""
    by = await listening.acknowledged(interaction)
    clicked = interaction.clicked
    try:
        await interaction.database.write(
            decisions.take_back_approval, clicked.value, by=by, now=interaction.now
        )
    except (InvalidTransition, NotYourApproval) as refusal:
        await _stale(interaction, clicked, by, refusal)
        return
    await _refresh(interaction, clicked, by)


async def open_reversal(interaction: Interaction) -> None:
    """Open the form that changes the decision, within the reversal window."""
    by = await listening.acknowledged(interaction)
    clicked = interaction.clicked
    card = await interaction.database.read(
        card_to_decide, clicked.value, by=by, now=interaction.now
    )
    if not card.may_reverse:
        refusal = InvalidTransition("changed", card.request.status, card.ended_by_name)
        await _stale(interaction, clicked, by, refusal)
        return
    await interaction.open(decline.reversal(card, clicked.packed()))


async def reverse_to_approved(interaction: Interaction) -> None:
    """Reverse a decline within the reversal window."""
    await _reverse(interaction, "approved")


async def reverse_to_declined(interaction: Interaction) -> None:
    """Reverse an approval within the reversal window."""
    await _reverse(interaction, "declined")


async def _reverse(interaction: Interaction, to_status: Decision) -> None:
    by = await listening.caller(interaction)
    clicked = interaction.clicked_before_form
    reason = decline.reason_of(interaction.values) if to_status == "declined" else None
    try:
        await interaction.database.write(
            _decide,
            clicked,
            lambda tx: decisions.change_decision(
                tx, clicked.value, to_status, reason=reason, by=by, now=interaction.now
            ),
            by=by,
            interaction=interaction,
        )
    except (OverlappingLeave, InsufficientAllowance) as refusal:
        await interaction.tell(errors.not_reversible(refusal))
    except (InvalidTransition, NotYourApproval) as refusal:
        await interaction.tell(errors.sentence(refusal))
    await interaction.ack()
    await _refresh(interaction, clicked, by)


def _decide(
    tx: Transaction,
    clicked: Clicked,
    decide: Callable[[Transaction], LeaveRequest],
    *,
    by: Caller,
    interaction: Interaction,
) -> None:
    """Decide, and store the clicked card if it is not known yet, in one transaction."""
    card_key = (by.organisation_id, clicked.value, str(by.user_id))
    if slack_messages.find(tx, *card_key) is None:
        # The request may be another organisation's.
        leave_rows.get(tx, clicked.value, by=by, now=interaction.now)
        message = PostedMessage(channel=clicked.channel, ts=clicked.ts)
        slack_messages.save(tx, *card_key, message, now=interaction.now)
    decide(tx)


def card_to_decide(tx: Transaction, request_id: str, *, by: Caller, now: datetime) -> ApprovalCard:
    """The card of a request that the caller may decide on, or that was decided.

    Raises NotFound, OwnRequest or NotYourApproval, as deciding would.
    """
    request = leave_rows.get(tx, request_id, by=by, now=now)
    if request.user_id == by.user_id:
        raise OwnRequest
    card = approval_cards.card(
        tx, by.organisation_id, request_id, viewer_id=str(by.user_id), now=now
    )
    if card is None or (
        request.status == "pending" and not card.may_decide and not card.may_decline
    ):
        raise NotYourApproval
    return card


async def _card(interaction: Interaction, request_id: str, by: Caller) -> ApprovalCard | None:
    return await interaction.database.read(
        approval_cards.card,
        by.organisation_id,
        request_id,
        viewer_id=str(by.user_id),
        now=interaction.now,
    )


async def _stale(
    interaction: Interaction, clicked: Clicked, by: Caller, refusal: DomainError
) -> None:
    await interaction.tell(errors.sentence(refusal))
    await _refresh(interaction, clicked, by)


async def _refresh(interaction: Interaction, clicked: Clicked, by: Caller) -> None:
    """Refresh the clicked message; the outbox refreshes all stored ones."""
    card = await _card(interaction, clicked.value, by)
    if card is not None:
        await show_card(interaction, clicked, card, by)


async def show_card(
    interaction: Interaction, clicked: Clicked, card: ApprovalCard, by: Caller
) -> None:
    """Show the card in the clicked message, which may be a reminder of it."""
    stored = await interaction.database.read(
        slack_messages.find, by.organisation_id, card.request.id, str(by.user_id)
    )
    is_reminder = stored is not None and stored.reply_ts == clicked.ts
    render = approver_messages.reminder if is_reminder else cards.message
    await interaction.refresh_clicked(clicked, render(card, interaction.home_url))


def register(app: AsyncApp) -> None:
    app.action(ids.APPROVE)(approve)
    app.view(ids.APPROVE_ANYWAY_FORM)(approve_anyway)
    app.action(ids.DECLINE)(ask_reason)
    app.view(ids.DECLINE_FORM)(decline_with_reason)
    app.action(ids.TAKE_BACK)(take_back)
    app.action(ids.REVERSE)(open_reversal)
    app.view(ids.REVERSE_TO_APPROVED_FORM)(reverse_to_approved)
    app.view(ids.REVERSE_TO_DECLINED_FORM)(reverse_to_declined)
