"""Changes of approved leave: amendments, and interruptions by illness."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import View
from bot.interaction import errors, listening, modals
from bot.interaction.interaction import Clicked, Interaction
from bot.listeners import decisions as cards
from bot.message_views import requester_messages
from bot.messages import home_tab
from bot.views import decline, request_form, request_values
from bot.views.request_values import Filled
from storage.base.errors import AmendmentEnded, DomainError, InvalidTransition, NotFound
from storage.base.leave_values import LeaveRequest
from storage.base.values import Caller, local_day
from storage.db.database import Transaction
from storage.leave import decisions, interruptions, leave_changes, leave_rows
from storage.leave.decisions import NotYourApproval
from storage.leave.drafts import Draft
from storage.notifications import approval_cards
from storage.notifications.approval_cards import ApprovalCard
from storage.outbox import organisation_config
from storage.people import people_rows
from storage.rules import counted_days, lifecycle


async def approve(interaction: Interaction) -> None:
    """Approve and refresh the card; say why if it is stale or no longer possible."""
    by = await listening.acknowledged(interaction)
    clicked = interaction.clicked
    await _approve(interaction, clicked.value, by)
    await _refresh(interaction, clicked, by)


async def ask_reason(interaction: Interaction) -> None:
    """Open the decline form, if the amendment is still open."""
    by = await listening.acknowledged(interaction)
    clicked = interaction.clicked
    try:
        card = await _card_to_decide(interaction, clicked.value, by)
    except AmendmentEnded as refusal:
        await interaction.tell(errors.sentence(refusal))
        await _refresh(interaction, clicked, by)
        return
    await interaction.open(decline.view(card, clicked.packed()))


async def decline_with_reason(interaction: Interaction) -> None:
    """Decline; replace the form with a sentence if the amendment is no longer open."""
    by = await listening.caller(interaction)
    clicked = interaction.clicked_before_form
    reason = decline.reason_of(interaction.values)
    try:
        await interaction.database.write(
            decisions.decline_amendment, clicked.value, reason=reason, by=by, now=interaction.now
        )
    except AmendmentEnded as refusal:
        await interaction.tell(errors.sentence(refusal))
    await interaction.ack()
    await _refresh(interaction, clicked, by)


async def withdraw(interaction: Interaction) -> None:
    """Withdraw the caller's change and refresh their message."""
    by = await listening.acknowledged(interaction)
    await _withdraw(interaction, by)
    card = await interaction.database.read(_card, interaction.value, by=by, now=interaction.now)
    if card.request.user_id == by.user_id:
        await interaction.refresh(requester_messages.own_request(card))


async def withdraw_on_home(interaction: Interaction) -> None:
    by = await listening.acknowledged(interaction)
    await _withdraw(interaction, by)
    await home_tab.show_again(interaction, by)


async def approve_on_home(interaction: Interaction) -> None:
    by = await listening.acknowledged(interaction)
    await _approve(interaction, interaction.value, by)
    await home_tab.show_again(interaction, by)


async def ask_reason_on_home(interaction: Interaction) -> None:
    by = await listening.acknowledged(interaction)
    try:
        card = await _card_to_decide(interaction, interaction.value, by)
    except DomainError as refusal:
        await interaction.tell(errors.sentence(refusal))
        await home_tab.show_again(interaction, by)
        return
    await interaction.open(decline.view_from_home(card))


async def decline_on_home(interaction: Interaction) -> None:
    by = await listening.caller(interaction)
    reason = decline.reason_of(interaction.values)
    try:
        await interaction.database.write(
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


async def _approve(interaction: Interaction, amendment_id: str, by: Caller) -> None:
    approve, now = decisions.approve_amendment, interaction.now
    await interaction.write_or_tell(errors.not_approvable, approve, amendment_id, by=by, now=now)


async def _withdraw(interaction: Interaction, by: Caller) -> None:
    await interaction.write_or_tell(
        errors.sentence, leave_changes.withdraw_one, interaction.value, by=by, now=interaction.now
    )


async def _refresh(interaction: Interaction, clicked: Clicked, by: Caller) -> None:
    """Refresh the clicked message; the outbox refreshes all stored ones."""
    card = await interaction.database.read(_card, clicked.value, by=by, now=interaction.now)
    await cards.show_card(interaction, clicked, card, by)


async def _card_to_decide(interaction: Interaction, amendment_id: str, by: Caller) -> ApprovalCard:
    return await interaction.database.read(_open_card, amendment_id, by=by, now=interaction.now)


def _open_card(tx: Transaction, amendment_id: str, *, by: Caller, now: datetime) -> ApprovalCard:
    """Raises AmendmentEnded, and as deciding would."""
    amendment = decisions.find_amendment(tx, amendment_id, by=by)
    card = cards.card_to_decide(tx, amendment.leave_request_id, by=by, now=now)
    if amendment.status != "open":
        raise AmendmentEnded(amendment.status)
    if not card.may_decide and not card.may_decline:
        raise NotYourApproval
    return card


def _card(tx: Transaction, amendment_id: str, *, by: Caller, now: datetime) -> ApprovalCard:
    """The card of the amendment's leave, for people who may see it."""
    amendment = decisions.find_amendment(tx, amendment_id, by=by)
    return approval_cards.visible_card(tx, amendment.leave_request_id, by=by, now=now)


async def open_form(interaction: Interaction) -> None:
    by = await listening.acknowledged(interaction)
    try:
        view = await interaction.database.read(
            _form, interaction.value, None, by=by, now=interaction.now
        )
    except DomainError as refusal:
        await interaction.tell(errors.sentence(refusal))
        return
    await interaction.open(view)


async def submitted(interaction: Interaction) -> None:
    """Book the interruption; errors are shown at their fields."""
    by = await listening.caller(interaction)
    request_id = interaction.private_metadata
    try:
        draft = request_values.draft_of(request_values.filled_of(interaction.values))
    except DomainError as refusal:
        await modals.show_error(interaction, refusal)
        return
    try:
        await interaction.database.write(_interrupt, request_id, draft, by=by, now=interaction.now)
    except InvalidTransition as refusal:
        await interaction.tell(errors.sentence(refusal))
    except DomainError as refusal:
        await modals.show_error(interaction, refusal)
        return
    await interaction.ack()
    await home_tab.show_again(interaction, by)


def form_of_typed(tx: Transaction, filled: Filled, *, by: Caller, now: datetime) -> View | None:
    """The form, if what was typed would interrupt the caller's approved leave."""
    draft = filled.draft()
    if draft is None or draft.end_date < draft.start_date:
        return None
    config = organisation_config.of_organisation(tx, by.organisation_id)
    span = counted_days.Span(
        start_date=draft.start_date,
        end_date=draft.end_date,
        start_half_day=draft.start_half_day,
        end_half_day=draft.end_half_day,
    )
    leave = interruptions.interrupted_by(
        tx, config, span, draft.leave_type_id, user_id=str(by.user_id)
    )
    return None if leave is None else _form(tx, leave.id, filled, by=by, now=now)


def _form(
    tx: Transaction, request_id: str, filled: Filled | None, *, by: Caller, now: datetime
) -> View:
    """``filled`` is None where nothing was typed: then it is today, or the first or last day.

    Raises NotFound for another person's leave, or InvalidTransition unless it is approved.
    """
    request = leave_rows.get(tx, request_id, by=by, now=now)
    if request.user_id != by.user_id:
        raise NotFound("leave request")
    lifecycle.check_transition("interrupt", request.status)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    offered = interruptions.types_for(config, request.leave_type_id)
    if not offered:
        raise NotFound("leave type")
    if filled is None:
        user = people_rows.get(tx, request.user_id, by=by)
        today = local_day(now, user.timezone or config.organisation.timezone)
        day = min(max(today, request.start_date), request.end_date)
        filled = Filled(leave_type_id=offered[0].id, start_date=day, end_date=day)
    return request_form.interruption_view(
        request, config.leave_types[request.leave_type_id], offered, filled
    )


def _interrupt(
    tx: Transaction, request_id: str, draft: Draft, *, by: Caller, now: datetime
) -> None:
    request = leave_rows.get(tx, request_id, by=by, now=now)
    interruptions.interrupt(tx, request_id, _within(draft, request), by=by, now=now)


def _within(draft: Draft, request: LeaveRequest) -> Draft:
    """On the first and last day of the leave, only its halves.

    The form cannot preset them: its halves stay as they are when another day is picked.
    """
    leave = counted_days.span_of(request)
    span = counted_days.requested_span(
        draft.start_date, draft.end_date, draft.start_half_day, draft.end_half_day
    )
    if (
        draft.start_date == leave.start_date
        and span.first_slot < leave.first_slot <= span.last_slot
    ):
        draft = replace(draft, start_half_day="pm")
    if draft.end_date == leave.end_date and span.first_slot <= leave.last_slot < span.last_slot:
        draft = replace(draft, end_half_day="am")
    return draft


def register(app: AsyncApp) -> None:
    app.action(ids.AMENDMENT_APPROVE)(approve)
    app.action(ids.AMENDMENT_DECLINE)(ask_reason)
    app.view(ids.AMENDMENT_DECLINE_FORM)(decline_with_reason)
    app.action(ids.WITHDRAW)(withdraw)
    app.action(ids.HOME_AMENDMENT_APPROVE)(approve_on_home)
    app.action(ids.HOME_AMENDMENT_DECLINE)(ask_reason_on_home)
    app.view(ids.HOME_AMENDMENT_DECLINE_FORM)(decline_on_home)
    app.action(ids.INTERRUPT)(open_form)
    app.view(ids.INTERRUPTION_FORM)(submitted)
