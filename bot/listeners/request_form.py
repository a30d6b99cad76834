"""The request form: open, refresh, submit and edit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base import ids, payloads
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.interaction import errors, listening, typed_context
from bot.interaction.interaction import Interaction
from bot.listeners import amendments
from bot.parsing import typed_leave
from bot.parsing.typed_leave import ParsedLeave
from bot.views import conversation, live_line, request_form, request_values, typed_problems
from bot.views.request_values import Alerts, Filled
from storage.base.errors import DomainError, FieldError, InvalidInput, InvalidTransition
from storage.base.leave_values import LeaveRequest, LeaveType
from storage.base.values import Caller, User, as_dict, local_day
from storage.db.database import Transaction
from storage.leave import covers, form_defaults, leave_requests, leave_rows, previews
from storage.leave.covers import Candidates
from storage.leave.drafts import Draft
from storage.leave.previews import Preview
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import people_rows
from storage.rules import request_rules

_NO_TYPES: Final = gettext_noop("Your organisation has no leave types yet.")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Form:
    """The data of the form. ``edited`` is the request that it edits, ``cover`` the chosen one."""

    config: OrganisationConfig
    filled: Filled
    preview: Preview | None
    edited: LeaveRequest | None = None
    cover: User | None = None

    def view(
        self, asides: Sequence[Block], *, is_sent: bool = False, is_at_cover: bool = False
    ) -> View:
        problems = errors.before_sending(self.preview.refusals) if self.preview else {}
        warnings = errors.of_fields(self.preview.warnings) if self.preview else []
        return request_form.view(
            self.config.leave_types.values(),
            self.filled,
            live_line.blocks(self.preview, warnings, can_send=not problems),
            asides,
            alerts=Alerts(problems=problems, is_sent=is_sent),
            edited=self.edited,
            cover=self.cover,
            is_at_cover=is_at_cover,
            is_far_ahead=self.preview is not None
            and any(warning.code == "unusually_far_ahead" for warning in self.preview.warnings),
        )


async def open_form(interaction: Interaction) -> None:
    # Acknowledged first: the form is opened by a separate call.
    by = await listening.acknowledged(interaction)
    if interaction.message is not None:
        await interaction.reply(conversation.form_offer())
        return
    await open_parsed(interaction, by, ParsedLeave())


async def open_sick(interaction: Interaction) -> None:
    """Open the form of sick leave for today, or that of leave on which the person fell ill."""
    by = await listening.acknowledged(interaction)
    leave = await interaction.database.read(_sick_today, by=by, now=interaction.now)
    await open_parsed(interaction, by, leave)


def _sick_today(tx: Transaction, *, by: Caller, now: datetime) -> ParsedLeave:
    context = typed_context.of_caller(tx, by=by, now=now)
    sick = form_defaults.sick_type(context.leave_types)
    return ParsedLeave(
        start_date=context.today,
        end_date=context.today,
        leave_type_id=None if sick is None else sick.id,
    )


async def open_filled_in(
    interaction: Interaction, filled: Filled, *, needs_days: bool = True
) -> None:
    """Open the form with these values, for buttons that know some of them; the others are usual.

    ``needs_days``: days that are missing are the next free ones, too.
    """
    by = await listening.acknowledged(interaction)
    form = await interaction.database.read(
        _form_with_defaults, filled, by=by, now=interaction.now, needs_days=needs_days
    )
    await _open(interaction, form)


async def open_typed_or_empty(interaction: Interaction, typed: str) -> None:
    """Open the form, filled in if the typed text is about leave."""
    by, leave = await parsed(interaction, typed)
    await open_parsed(interaction, by, leave if leave.is_about_leave else ParsedLeave())


async def open_read(interaction: Interaction, filled: Filled) -> None:
    """Open the form with what was read; leave that interrupts other leave has its own form.

    Days that were not read are empty.
    """
    by = await listening.acknowledged(interaction)
    interruption = await interaction.database.read(
        amendments.form_of_typed, filled, by=by, now=interaction.now
    )
    if interruption is not None:
        await interaction.open(interruption)
        return
    await open_filled_in(interaction, filled, needs_days=False)


async def parsed(interaction: Interaction, typed: str) -> tuple[Caller, ParsedLeave]:
    """The person and the leave that they typed; acknowledges first."""
    by = await listening.acknowledged(interaction)
    context = await interaction.database.read(
        typed_context.of_caller, by=by, now=interaction.now, typed=typed
    )
    return by, typed_leave.parse(typed, replace(context, takes_several=True))


async def open_edit(interaction: Interaction) -> None:
    await _open_edit(interaction)


async def open_other_cover(interaction: Interaction) -> None:
    """Open the form of covered leave at its cover."""
    await _open_edit(interaction, is_at_cover=True)


async def open_edit_of(interaction: Interaction, request_id: str) -> None:
    """Open the form of this request."""
    await _open_edit(interaction, request_id=request_id)


async def _open_edit(
    interaction: Interaction, *, request_id: str | None = None, is_at_cover: bool = False
) -> None:
    by = await listening.acknowledged(interaction)
    request_id = interaction.value if request_id is None else request_id
    form = await interaction.database.read(_edit_form, request_id, None, by=by, now=interaction.now)
    await interaction.open(form.view([], is_at_cover=is_at_cover))


async def recount(interaction: Interaction) -> None:
    """Refresh the form's total after a selection."""
    by = await listening.acknowledged(interaction)

    async def render() -> View:
        filled = request_values.after_selection(
            interaction.body["view"], interaction.body["actions"][0]
        )
        return await _rendered(interaction, filled, by=by)

    await interaction.services.refreshes.refresh(
        interaction.client, interaction.body, render, shows_one_form=True
    )


async def _rendered(
    interaction: Interaction, filled: Filled, *, by: Caller, is_sent: bool = False
) -> View:
    """The clicked or submitted form with these values."""
    is_edit = interaction.body["view"]["callback_id"] == ids.EDIT_FORM
    form = await interaction.database.read(
        _edit_form if is_edit else _form_of_values,
        interaction.private_metadata,
        filled,
        by=by,
        now=interaction.now,
    )
    return form.view(asides_of(interaction), is_sent=is_sent)


async def offer_covers(interaction: Interaction) -> None:
    """The colleagues who can cover: the team's, or those who match the typed text."""
    by = await listening.caller(interaction)
    typed = str(interaction.body.get("value") or "")
    view = interaction.body["view"]
    edited_id = interaction.private_metadata if view["callback_id"] == ids.EDIT_FORM else ""
    candidates = await interaction.database.read(
        _candidates, edited_id, typed, request_values.shown_days(view), by=by, now=interaction.now
    )
    await interaction.ack(
        option_groups=request_form.cover_options(candidates, with_no_one=not typed.strip())
    )


def _candidates(
    tx: Transaction,
    edited_id: str,
    typed: str,
    days: tuple[date | None, date | None],
    *,
    by: Caller,
    now: datetime,
) -> Candidates:
    requester_id = str(by.user_id)
    if edited_id:
        requester_id = leave_rows.get(tx, edited_id, by=by, now=now).user_id
    return covers.candidates(tx, typed, requester_id, *days, by=by)


def asides_of(interaction: Interaction) -> list[Block]:
    """The blocks at the form's top about typed words that were not understood."""
    blocks = interaction.body["view"].get("blocks", ())
    return [dict(block) for block in blocks if block.get("block_id") == ids.ASIDES]


async def submitted(interaction: Interaction) -> None:
    """Submit the request; errors are shown at their fields."""
    by = await listening.caller(interaction)
    filled = request_values.filled_of(interaction.values)
    try:
        await interaction.database.write(_submit, filled, by=by, now=interaction.now)
    except DomainError as refusal:
        await _refused(interaction, refusal, filled, by=by)


async def edited(interaction: Interaction) -> None:
    """Save the edited request, or say that it has ended."""
    by = await listening.caller(interaction)
    request_id = interaction.private_metadata
    filled = request_values.filled_of(interaction.values)
    try:
        await interaction.database.write(_edit, request_id, filled, by=by, now=interaction.now)
    except InvalidTransition as refusal:
        await interaction.tell(errors.sentence(refusal))
    except DomainError as refusal:
        await _refused(interaction, refusal, filled, by=by)


async def _refused(
    interaction: Interaction, refusal: DomainError, filled: Filled, *, by: Caller
) -> None:
    async def render() -> View:
        return await _rendered(interaction, filled, by=by, is_sent=True)

    shown = payloads.inputs(interaction.body["view"])
    is_unconfirmed = isinstance(refusal, InvalidInput) and any(
        error.pointer == f"/{ids.FAR_AHEAD}" for error in refusal.errors
    )
    if is_unconfirmed and filled.far_ahead_block not in shown and not interaction.is_answered:
        # The form was sent before it showed the box.
        await interaction.ack(response_action="update", view=await render())
        return
    await show_refusal(interaction, refusal, render)


async def show_refusal(
    interaction: Interaction,
    refusal: DomainError,
    render: Callable[[], Awaitable[View]],
    *,
    is_own: bool = True,
) -> None:
    """Show the refusal at its field, or the form again if an alert in it says the same.

    ``render`` makes that form, whose alerts are now errors.
    """
    view = interaction.body["view"]
    inputs = payloads.inputs(view)
    if interaction.is_answered or not inputs:
        raise refusal  # Shown elsewhere: the form is acknowledged, or its fields are unknown.
    unseen = errors.inline(refusal, inputs, shown=request_values.shown_alerts(view), is_own=is_own)
    if unseen:
        await interaction.ack(response_action="errors", errors=unseen)
    else:
        await interaction.ack(response_action="update", view=await render())


async def open_parsed(interaction: Interaction, by: Caller, leave: ParsedLeave) -> None:
    """Open the form filled in from typed leave."""
    interruption, form = await interaction.database.read(
        _forms_of_typed, leave, by=by, now=interaction.now
    )
    if interruption is not None:
        await interaction.open(interruption)
        return
    await _open(interaction, form, typed_problems.asides(leave))


async def _open(interaction: Interaction, form: _Form, asides: Sequence[Block] = ()) -> None:
    if not request_form.requestable(form.config.leave_types.values()):
        await interaction.tell(gettext(_NO_TYPES))
        return
    await interaction.open(form.view(asides))


def _forms_of_typed(
    tx: Transaction, leave: ParsedLeave, *, by: Caller, now: datetime
) -> tuple[View | None, _Form]:
    """The form to interrupt leave, for someone who fell ill on it, and the request form."""
    context = typed_context.of_caller(tx, by=by, now=now)
    filled = filled_of_typed(leave, context.leave_types, context.today)
    interruption = amendments.form_of_typed(tx, filled, by=by, now=now)
    if leave.start_date is None and not leave.has_unclear_days:
        filled = replace(filled, start_date=None, end_date=None)
    filled = _with_defaults(
        tx,
        filled,
        by=by,
        today=context.today,
        needs_type=not leave.has_unclear_type,
        needs_days=not leave.has_unclear_days,
    )
    return interruption, _form_of_values(tx, "", filled, by=by, now=now)


def _form_with_defaults(
    tx: Transaction, filled: Filled, *, by: Caller, now: datetime, needs_days: bool
) -> _Form:
    today = typed_context.of_caller(tx, by=by, now=now).today
    filled = _with_defaults(tx, filled, by=by, today=today, needs_days=needs_days)
    return _form_of_values(tx, "", filled, by=by, now=now)


def _with_defaults(
    tx: Transaction,
    filled: Filled,
    *,
    by: Caller,
    today: date,
    needs_type: bool = True,
    needs_days: bool = True,
) -> Filled:
    """The values with the usual type and the next free day in place of missing ones."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    user = people_rows.get(tx, str(by.user_id), by=by)
    leave_type = config.leave_types.get(filled.leave_type_id or "")
    if leave_type is None and needs_type:
        leave_type = form_defaults.usual_type(tx, config, user)
        filled = replace(filled, leave_type_id=None if leave_type is None else leave_type.id)
    if filled.start_date is None and needs_days:
        day = form_defaults.next_free_day(tx, config, user, leave_type, today=today)
        filled = replace(filled, start_date=day, end_date=day)
    return filled


def filled_of_typed(leave: ParsedLeave, leave_types: Iterable[LeaveType], today: date) -> Filled:
    """The form's initial values."""
    offered = request_form.requestable(leave_types)
    # Days that were not understood are not replaced by today.
    otherwise = None if leave.has_unclear_days else today
    leave_type_id = offered[0].id if len(offered) == 1 else leave.leave_type_id
    filled = Filled.of_typed(leave, leave_type_id, leave.note)
    return replace(
        filled,
        start_date=filled.start_date or otherwise,
        end_date=filled.end_date or otherwise,
    )


def _form_of_values(tx: Transaction, _: str, filled: Filled, *, by: Caller, now: datetime) -> _Form:
    config = organisation_config.of_organisation(tx, by.organisation_id)
    return _Form(
        config=config,
        filled=filled,
        preview=_preview(tx, filled, None, by=by, now=now),
        cover=_cover(tx, filled, by=by),
    )


def _cover(tx: Transaction, filled: Filled, *, by: Caller) -> User | None:
    if filled.cover_user_id is None:
        return None
    return people_rows.find(tx, by.organisation_id, filled.cover_user_id)


def _edit_form(
    tx: Transaction, request_id: str, filled: Filled | None, *, by: Caller, now: datetime
) -> _Form:
    """``filled`` is None when the form is opened.

    Raises NotFound, InsufficientRole, or InvalidTransition for a request that has ended.
    """
    request = leave_requests.editable(tx, request_id, by=by, now=now)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    shown = Filled.with_request(request)
    if filled is not None:
        shown = _with_type(filled, request)
    return _Form(
        config=config,
        filled=shown,
        preview=_preview(tx, shown, request.id, by=by, now=now),
        edited=request,
        cover=_cover(tx, shown, by=by),
    )


def _with_type(filled: Filled, request: LeaveRequest) -> Filled:
    """The form has no leave type if it was opened while the request was pending."""
    if request.status != "pending" and filled.leave_type_id is not None:
        return filled
    return replace(filled, leave_type_id=request.leave_type_id)


def _preview(
    tx: Transaction, filled: Filled, edited_id: str | None, *, by: Caller, now: datetime
) -> Preview | None:
    draft = filled.draft()
    if draft is None:
        return None
    return previews.preview(tx, by=by, draft=draft, now=now, replaces=edited_id)


def _check_confirmed(
    tx: Transaction,
    filled: Filled,
    draft: Draft,
    before: LeaveRequest | None,
    *,
    by: Caller,
    now: datetime,
) -> None:
    """Raises InvalidInput at ``FAR_AHEAD`` for leave that starts unusually far ahead.

    REST only warns: its callers see no form.
    """
    config = organisation_config.of_organisation(tx, by.organisation_id)
    leave_type = config.leave_types.get(draft.leave_type_id)
    today = local_day(now, config.organisation.timezone)
    if leave_type is None or filled.is_confirmed:
        return
    if request_rules.far_ahead(leave_type, draft.start_date, today, before):
        detail = gettext("Tick the box to send this, or choose another day or leave type.")
        raise InvalidInput(
            [FieldError(pointer=f"/{ids.FAR_AHEAD}", code="required", detail=detail)]
        )


def _submit(tx: Transaction, filled: Filled, *, by: Caller, now: datetime) -> LeaveRequest:
    draft = request_values.draft_of(filled)
    _check_confirmed(tx, filled, draft, None, by=by, now=now)
    return leave_requests.submit(tx, by=by, draft=draft, now=now)


def _edit(
    tx: Transaction, request_id: str, filled: Filled, *, by: Caller, now: datetime
) -> LeaveRequest:
    before = leave_rows.get(tx, request_id, by=by, now=now)
    filled = _with_type(filled, before)
    draft = request_values.draft_of(filled)
    _check_confirmed(tx, filled, draft, before, by=by, now=now)
    changes = as_dict(draft)
    note, cover_user_id = filled.note, filled.cover_user_id
    same_days = replace(Filled.with_request(before), note=note, cover_user_id=cover_user_id)
    if filled == same_days:
        # The same time may be written in another way, which is not a change.
        changes = {"note": note, "cover_user_id": cover_user_id}
    return leave_requests.edit(tx, request_id, changes, by=by, now=now)


def register(app: AsyncApp) -> None:
    app.action(ids.RECOUNT)(recount)
    app.action(ids.COVER_SEARCH)(recount)
    app.options(ids.COVER_SEARCH)(offer_covers)
    app.action(ids.SICK)(open_sick)
    app.action(ids.EDIT)(open_edit)
    app.action(ids.OTHER_COVER)(open_other_cover)
    app.view(ids.REQUEST_FORM)(submitted)
    app.view(ids.EDIT_FORM)(edited)
    app.shortcut(ids.REQUEST_SHORTCUT)(open_form)
