"""Time in lieu: claim it, cancel a claim, and approve or decline those of others."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import Block, Message
from bot.base.language import gettext
from bot.blocks import layout
from bot.interaction import errors, listening, modals, typed_context
from bot.interaction.interaction import Clicked, Interaction
from bot.message_views import time_credit_messages
from bot.messages import home_tab
from bot.parsing import typed_work
from bot.parsing.typed_work import ParsedWork
from bot.views import conversation, decline, time_credit_form, typed_problems
from bot.views.time_credit_form import WORKED_ON, FilledClaim
from storage.base.allowance_values import Allowance
from storage.base.errors import DomainError, InsufficientRole, OwnRequest
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.leave import time_credit_lists, time_credits
from storage.leave.time_credits import TimeCreditDecided, TimeCreditExists
from storage.notifications import time_credit_cards
from storage.notifications import time_credit_messages as sent_messages
from storage.notifications.slack_messages import PostedMessage
from storage.notifications.time_credit_cards import TimeCreditCard
from storage.outbox import organisation_config


async def open_form(interaction: Interaction) -> None:
    """Open the empty form, with one day as the usual."""
    await _open(interaction, FilledClaim(half_days=2))


async def open_typed(interaction: Interaction, typed: str) -> None:
    """Open the form with what was read of ``worked sat 1 day release``."""
    by = await listening.acknowledged(interaction)
    context = await interaction.database.read(typed_context.of_caller, by=by, now=interaction.now)
    work = typed_work.parse(typed, context)
    # No usual number in place of one that was typed.
    half_days = 2.0 if work.days is None else work.days * 2
    filled = FilledClaim(worked_on=work.worked_on, half_days=half_days, reason=work.reason)
    if interaction.message is not None:
        problems = typed_problems.sentences(work.problems)
        await interaction.reply(conversation.claim_offer(filled, problems))
        return
    await _open(interaction, filled, _asides(work, context.today))


async def open_read(interaction: Interaction) -> None:
    """Open the form with what was read in a conversation."""
    await _open(interaction, conversation.unpacked_claim(interaction.value))


def _asides(work: ParsedWork, today: date) -> list[Block]:
    """What was typed and cannot be claimed."""
    lines = []
    if work.days is not None and work.days * 2 not in range(1, time_credits.MAX_HALF_DAYS + 1):
        lines.append(time_credit_form.too_many_days(work.days))
    if work.worked_on is not None and work.worked_on > today:
        lines.append(gettext("Time in lieu is for days on which you have already worked."))
    blocks = typed_problems.as_block(typed_problems.sentences(work.problems))
    return [*blocks, *(layout.paragraph(line) for line in lines)]


async def _open(
    interaction: Interaction, filled: FilledClaim, asides: Sequence[Block] = ()
) -> None:
    by = await listening.acknowledged(interaction)
    allowances = await interaction.database.read(_earnable, by=by)
    if not allowances:
        await interaction.tell(time_credit_form.none_earnable())
        return
    await interaction.open(time_credit_form.view(allowances, filled, asides))


def _earnable(tx: Transaction, *, by: Caller) -> list[Allowance]:
    config = organisation_config.of_organisation(tx, by.organisation_id)
    return time_credit_lists.earnable(config)


async def submitted(interaction: Interaction) -> None:
    """Claim the days; errors are shown at their fields."""
    by = await listening.caller(interaction)
    filled = time_credit_form.filled_of(interaction.values, interaction.private_metadata)
    try:
        await interaction.database.write(_claim, filled, by=by, now=interaction.now)
    except TimeCreditExists as refusal:
        if interaction.is_answered:
            raise
        shown = {WORKED_ON: errors.sentence(refusal)}
        await interaction.ack(response_action="errors", errors=shown)
        return
    except DomainError as refusal:
        await modals.show_error(interaction, refusal)
        return
    await interaction.ack()
    modals.refresh_home(interaction)


def _claim(tx: Transaction, filled: FilledClaim, *, by: Caller, now: datetime) -> None:
    # The form's fields are required: Slack sends none of them empty.
    time_credits.create(
        tx,
        allowance_id=filled.allowance_id or "",
        worked_on=filled.worked_on or now.date(),
        days=(filled.half_days or 0) / 2,
        reason=filled.reason or "",
        by=by,
        now=now,
    )


async def cancel(interaction: Interaction) -> None:
    """Cancel the caller's own claim, on Home or in their message; Slack asked for confirmation."""
    by = await listening.acknowledged(interaction)
    credit_id = interaction.value
    await interaction.write_or_tell(
        _not_cancelled, time_credits.cancel, credit_id, by=by, now=interaction.now
    )
    await _show_again(interaction, _clicked(interaction), credit_id, by)


def _not_cancelled(refusal: DomainError) -> str:
    """Buttons cancel pending claims only: the click was late if it takes an admin by now."""
    is_late = isinstance(refusal, InsufficientRole)
    return errors.sentence(TimeCreditDecided("approved") if is_late else refusal)


async def approve(interaction: Interaction) -> None:
    """Approve; if another approver was faster, say so and refresh the card."""
    by = await listening.acknowledged(interaction)
    credit_id = interaction.value
    clicked = _clicked(interaction)
    try:
        await interaction.database.write(_approve, credit_id, clicked, by=by, now=interaction.now)
    except DomainError as refusal:
        await interaction.tell(errors.sentence(refusal))
    await _show_again(interaction, clicked, credit_id, by)


def _approve(
    tx: Transaction, credit_id: str, clicked: Clicked | None, *, by: Caller, now: datetime
) -> None:
    _save_clicked(tx, credit_id, clicked, by=by, now=now)
    time_credits.approve(tx, credit_id, by=by, now=now)


async def ask_reason(interaction: Interaction) -> None:
    """Open the decline form, if the claim is still pending."""
    by = await listening.acknowledged(interaction)
    credit_id = interaction.value
    clicked = _clicked(interaction)
    try:
        card = await interaction.database.read(
            time_credit_cards.get, credit_id, by=by, now=interaction.now
        )
        if card.is_own:
            raise OwnRequest
        if not card.may_decide:
            raise TimeCreditDecided(card.credit.status)
    except DomainError as refusal:
        await interaction.tell(errors.sentence(refusal))
        await _show_again(interaction, clicked, credit_id, by)
        return
    kept = credit_id if clicked is None else clicked.packed()
    await interaction.open(time_credit_form.decline(card, kept))


async def decline_with_reason(interaction: Interaction) -> None:
    """Decline; replace the form with a sentence if the claim is no longer pending."""
    by = await listening.caller(interaction)
    is_on_card = " " in interaction.private_metadata
    clicked = interaction.clicked_before_form if is_on_card else None
    credit_id = interaction.private_metadata.split(" ", maxsplit=1)[0]
    reason = decline.reason_of(interaction.values)
    try:
        await interaction.database.write(
            _decline, credit_id, clicked, reason, by=by, now=interaction.now
        )
    except (TimeCreditDecided, OwnRequest) as refusal:
        await interaction.tell(errors.sentence(refusal))
    await interaction.ack()
    await _show_again(interaction, clicked, credit_id, by)


def _decline(
    tx: Transaction,
    credit_id: str,
    clicked: Clicked | None,
    reason: str | None,
    *,
    by: Caller,
    now: datetime,
) -> None:
    _save_clicked(tx, credit_id, clicked, by=by, now=now)
    time_credits.decline(tx, credit_id, reason=reason, by=by, now=now)


def _save_clicked(
    tx: Transaction, credit_id: str, clicked: Clicked | None, *, by: Caller, now: datetime
) -> None:
    """Store the clicked card if it is not known yet: a process was killed after sending it."""
    if clicked is None:
        return
    key = (by.organisation_id, credit_id, str(by.user_id))
    # The credit may be another organisation's.
    time_credits.get(tx, credit_id, by=by, now=now)
    if str(by.user_id) not in sent_messages.of_credit(tx, by.organisation_id, credit_id):
        message = PostedMessage(channel=clicked.channel, ts=clicked.ts)
        sent_messages.save(tx, *key, message, is_reminded=False, now=now)


def _clicked(interaction: Interaction) -> Clicked | None:
    """The clicked message; None for a button on Home."""
    return None if "view" in interaction.body else interaction.clicked


async def _show_again(
    interaction: Interaction, clicked: Clicked | None, credit_id: str, by: Caller
) -> None:
    """Refresh the clicked message or Home; the outbox refreshes everything else."""
    if clicked is None:
        await home_tab.show_again(interaction, by)
        return
    try:
        card = await interaction.database.read(
            time_credit_cards.get, credit_id, by=by, now=interaction.now
        )
    except DomainError:
        return
    await interaction.refresh_clicked(clicked, _message(card))


def _message(card: TimeCreditCard) -> Message:
    if card.is_own:
        return time_credit_messages.own_message(card)
    return time_credit_messages.message(card)


def register(app: AsyncApp) -> None:
    app.action(ids.CLAIM_UNDERSTOOD)(open_read)
    app.view(ids.TIME_CREDIT_FORM)(submitted)
    app.action(ids.TIME_CREDIT_CANCEL)(cancel)
    app.action(ids.TIME_CREDIT_APPROVE)(approve)
    app.action(ids.TIME_CREDIT_DECLINE)(ask_reason)
    app.view(ids.TIME_CREDIT_DECLINE_FORM)(decline_with_reason)
