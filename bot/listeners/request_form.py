"""The request form: open, refresh, submit and edit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from bot.base import ids, language
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.interaction import errors, identity
from bot.interaction.interaction import Interaction
from bot.interaction.listening import Listener
from bot.typed import typed_leave
from bot.typed.date_order import is_month_first
from bot.typed.typed_leave import ParsedLeave, ParsingContext
from bot.views import live_line, request_form, request_values, typed_problems
from bot.views.request_values import Filled
from storage.base.clock import local_day
from storage.base.errors import DomainError, InvalidTransition
from storage.base.values import Caller, LeaveRequest, as_dict
from storage.db.database import Transaction
from storage.directory import people_rows
from storage.events import organisation_config
from storage.events.organisation_config import OrganisationConfig
from storage.leave import leave_reading, leave_requests, previews
from storage.leave.previews import Preview
from storage.rules import working_week

_NO_TYPES: Final = gettext_noop("Your organisation has no leave types yet.")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Form:
    """The data of the form. ``edited`` is the request that it edits."""

    config: OrganisationConfig
    filled: Filled
    preview: Preview | None
    edited: LeaveRequest | None = None

    def view(self, asides: list[Block]) -> View:
        problems = errors.before_sending(self.preview.refusals) if self.preview else []
        return request_form.view(
            self.config.leave_types.values(),
            self.filled,
            live_line.blocks(self.preview, problems),
            asides,
            edited_id="" if self.edited is None else self.edited.id,
        )


async def open_form(interaction: Interaction) -> None:
    # Acknowledged first: the form is opened by a separate call.
    await interaction.ack()
    by = await identity.caller(interaction)
    await _open_filled_in(interaction, by, ParsedLeave())


async def open_typed(interaction: Interaction, typed: str) -> bool:
    """Open the form filled in from the typed text; False if the text is not about leave."""
    await interaction.ack()
    by = await identity.caller(interaction)
    context = await interaction.services.database.read(_parsing_context, by=by, now=interaction.now)
    leave = typed_leave.parse(typed, context)
    if leave.is_about_leave:
        await _open_filled_in(interaction, by, leave)
    return leave.is_about_leave


async def open_edit(interaction: Interaction) -> None:
    await interaction.ack()
    by = await identity.caller(interaction)
    form = await interaction.services.database.read(
        _edit_form, interaction.value, None, by=by, now=interaction.now
    )
    await interaction.open(form.view([]))


async def recount(interaction: Interaction) -> None:
    """Refresh the form's total after a selection."""
    await interaction.ack()
    by = await identity.caller(interaction)
    view = interaction.body["view"]
    asides: list[Block] = [
        dict(block) for block in view["blocks"] if block.get("block_id") == ids.ASIDES
    ]
    load = _edit_form if view["callback_id"] == ids.EDIT_FORM else _form_of_values

    async def render() -> View:
        filled = request_values.filled_of(interaction.values)
        about = interaction.private_metadata
        form = await interaction.services.database.read(
            load, about, filled, by=by, now=interaction.now
        )
        return form.view(asides)

    await interaction.services.refreshes.refresh(interaction.client, interaction.body, render)


async def submitted(interaction: Interaction) -> None:
    """Submit the request; errors are shown at their fields."""
    by = await identity.caller(interaction)
    try:
        draft = request_values.draft_of(request_values.filled_of(interaction.values))
        await interaction.services.database.write(
            leave_requests.submit, by=by, draft=draft, now=interaction.now
        )
    except DomainError as refusal:
        await _refused(interaction, refusal)


async def edited(interaction: Interaction) -> None:
    """Save the edited request, or say that it is no longer pending."""
    by = await identity.caller(interaction)
    request_id = interaction.private_metadata
    filled = request_values.filled_of(interaction.values)
    try:
        await interaction.services.database.write(
            _edit, request_id, filled, by=by, now=interaction.now
        )
    except InvalidTransition as refusal:
        await interaction.tell(errors.sentence(refusal))
    except DomainError as refusal:
        await _refused(interaction, refusal)


async def _refused(interaction: Interaction, refusal: DomainError) -> None:
    if interaction.is_answered:
        raise refusal  # The form is already acknowledged: show the sentence elsewhere.
    blocks = interaction.body["view"]["blocks"]
    inputs = {block["block_id"] for block in blocks if block["type"] == "input"}
    await interaction.ack(response_action="errors", errors=errors.inline(refusal, inputs))


async def _open_filled_in(interaction: Interaction, by: Caller, leave: ParsedLeave) -> None:
    form = await interaction.services.database.read(
        _form_of_typed, leave, by=by, now=interaction.now
    )
    if not request_form.requestable(form.config.leave_types.values()):
        await interaction.tell(gettext(_NO_TYPES))
        return
    await interaction.open(form.view(typed_problems.asides(leave.problems)))


def _parsing_context(tx: Transaction, *, by: Caller, now: datetime) -> ParsingContext:
    config = organisation_config.of_organisation(tx, by.organisation_id)
    user = people_rows.get(tx, str(by.user_id), by=by)
    week = working_week.working_week(user.working_days or config.organisation.working_days)
    return ParsingContext(
        today=local_day(now, user.timezone or config.organisation.timezone),
        leave_types=list(config.leave_types.values()),
        is_month_first=is_month_first(config.organisation.country_code),
        weekdays=frozenset(weekday for weekday, halves in enumerate(week) if halves),
        language=language.locale().language,
    )


def _form_of_typed(tx: Transaction, leave: ParsedLeave, *, by: Caller, now: datetime) -> _Form:
    context = _parsing_context(tx, by=by, now=now)
    offered = request_form.requestable(context.leave_types)
    # Days that were not understood are not replaced by today.
    otherwise = None if leave.has_unclear_days else context.today
    filled = Filled(
        leave_type_id=offered[0].id if len(offered) == 1 else leave.leave_type_id,
        start_date=leave.start_date or otherwise,
        end_date=leave.end_date or otherwise,
        begins_at_midday=leave.start_half_day == "pm",
        ends_at_midday=leave.end_half_day == "am",
    )
    return _form_of_values(tx, "", filled, by=by, now=now)


def _form_of_values(tx: Transaction, _: str, filled: Filled, *, by: Caller, now: datetime) -> _Form:
    config = organisation_config.of_organisation(tx, by.organisation_id)
    return _Form(config=config, filled=filled, preview=_preview(tx, filled, None, by=by, now=now))


def _edit_form(
    tx: Transaction, request_id: str, filled: Filled | None, *, by: Caller, now: datetime
) -> _Form:
    """``filled`` is None when the form is opened.

    Raises NotFound, InsufficientRole, or InvalidTransition for a request that is not pending.
    """
    request = leave_requests.editable(tx, request_id, by=by, now=now)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    shown = Filled.with_request(request)
    if filled is not None:
        shown = replace(filled, leave_type_id=request.leave_type_id)
    return _Form(
        config=config,
        filled=shown,
        preview=_preview(tx, shown, request.id, by=by, now=now),
        edited=request,
    )


def _preview(
    tx: Transaction, filled: Filled, edited_id: str | None, *, by: Caller, now: datetime
) -> Preview | None:
    draft = filled.draft()
    if draft is None:
        return None
    return previews.preview(tx, by=by, draft=draft, now=now, replaces=edited_id)


def _edit(
    tx: Transaction, request_id: str, filled: Filled, *, by: Caller, now: datetime
) -> LeaveRequest:
    before = leave_reading.get(tx, request_id, by=by, now=now)
    filled = replace(filled, leave_type_id=before.leave_type_id)
    changes = as_dict(request_values.draft_of(filled))
    del changes["leave_type_id"]
    if replace(filled, note=None) == replace(Filled.with_request(before), note=None):
        # The same time may be written in another way, which is not a change.
        changes = {"note": filled.note}
    return leave_requests.edit(tx, request_id, changes, by=by, now=now)


LISTENERS: Final = (
    Listener(kind="action", name=ids.RECOUNT, act=recount),
    Listener(kind="action", name=ids.EDIT, act=open_edit),
    Listener(kind="view", name=ids.REQUEST_FORM, act=submitted),
    Listener(kind="view", name=ids.EDIT_FORM, act=edited),
)
