"""Falling ill on leave: the form that books sick leave in place of days of approved leave."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import View
from bot.interaction import errors, identity, modals
from bot.interaction.interaction import Interaction
from bot.messages import home_tab
from bot.views import request_form, request_values
from bot.views.request_values import Filled
from storage.base.clock import local_day
from storage.base.errors import DomainError, InvalidTransition, NotFound
from storage.base.values import Caller, LeaveRequest
from storage.db.database import Transaction
from storage.directory import people_rows
from storage.events import organisation_config
from storage.leave import interruptions, leave_reading
from storage.leave.drafts import Draft
from storage.rules import lifecycle, spans


async def open_form(interaction: Interaction) -> None:
    await interaction.ack()
    by = await identity.caller(interaction)
    try:
        view = await interaction.services.database.read(
            _form, interaction.value, None, by=by, now=interaction.now
        )
    except DomainError as refusal:
        await interaction.tell(errors.sentence(refusal))
        return
    await interaction.open(view)


async def submitted(interaction: Interaction) -> None:
    """Book the interruption; errors are shown at their fields."""
    by = await identity.caller(interaction)
    request_id = interaction.private_metadata
    try:
        draft = request_values.draft_of(request_values.filled_of(interaction.values))
    except DomainError as refusal:
        await modals.show_error(interaction, refusal)
        return
    try:
        await interaction.services.database.write(
            _interrupt, request_id, draft, by=by, now=interaction.now
        )
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
    span = spans.Span(
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
    request = leave_reading.get(tx, request_id, by=by, now=now)
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
    request = leave_reading.get(tx, request_id, by=by, now=now)
    interruptions.interrupt(tx, request_id, _within(draft, request), by=by, now=now)


def _within(draft: Draft, request: LeaveRequest) -> Draft:
    """On the first and last day of the leave, only its halves.

    The form cannot preset them: its halves stay as they are when another day is picked.
    """
    leave = spans.of_request(request)
    span = spans.requested_span(
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
    app.action(ids.INTERRUPT)(open_form)
    app.view(ids.INTERRUPTION_FORM)(submitted)
