"""Leave that was read of what a person wrote: shown with its effects, and sent by a button."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import Message
from bot.base.language import gettext
from bot.blocks import words
from bot.interaction import errors, listening, typed_context
from bot.interaction.interaction import Interaction
from bot.listeners import amendments, request_form
from bot.parsing.typed_leave import ParsedLeave
from bot.views import conversation as views
from bot.views import typed_problems
from bot.views.conversation import ReadLeave
from bot.views.request_values import Filled
from bot.views.typed_problems import Reading
from storage.base.errors import DomainError, OverlappingLeave
from storage.base.leave_values import LeaveType
from storage.base.values import Caller
from storage.db.database import Database, Transaction
from storage.leave import form_defaults, leave_requests, leave_rows, previews
from storage.leave.drafts import Draft
from storage.outbox import organisation_config
from storage.people import people_rows


class _Changed(Exception):
    """The effects are no longer those that the card shows."""


async def show(interaction: Interaction, leave: ParsedLeave, *, by: Caller) -> None:
    """Show what was read with Send; if something has to be chosen, offer the form."""
    read = await interaction.database.read(_filled, leave, by=by, now=interaction.now)
    if leave.problems or any(filled.draft() is None for filled in read):
        await interaction.reply(
            await interaction.database.read(_to_complete, leave, read[0], by=by)
        )
        return
    asides = typed_problems.corrections(leave.corrected)
    message = await card(
        interaction.database,
        read,
        by=by,
        now=interaction.now,
        asides=asides,
        checks_interruption=True,
    )
    await interaction.reply(message)


async def card(
    database: Database,
    read: Sequence[Filled],
    *,
    by: Caller,
    now: datetime,
    asides: Sequence[str] = (),
    checks_interruption: bool = False,
    is_typed: bool = True,
) -> Message:
    """What the leave comes to, with Send, in the current language."""
    run = database.read if len(read) == 1 else database.dry_run
    shown = await run(_read_leave, read, is_typed=is_typed, by=by, now=now)
    if checks_interruption and len(read) == 1:
        interruption = await database.read(amendments.form_of_typed, read[0], by=by, now=now)
        if interruption is not None:
            return views.interrupting(shown[0])
    return views.to_confirm(shown, asides)


def _filled(tx: Transaction, leave: ParsedLeave, *, by: Caller, now: datetime) -> list[Filled]:
    """The leave that was read, with the usual type if none was.

    Only leave without approval begins today if no day was named: "sick".
    """
    context = typed_context.of_caller(tx, by=by, now=now)
    first = request_form.filled_of_typed(leave, context.leave_types, context.today)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    leave_type = config.leave_types.get(first.leave_type_id or "")
    is_today = leave_type is not None and not leave_type.requires_approval
    if leave.start_date is None and not (is_today and not leave.has_unclear_days):
        first = replace(first, start_date=None, end_date=None)
    if leave_type is None and not leave.has_unclear_type:
        user = people_rows.get(tx, str(by.user_id), by=by)
        usual = form_defaults.usual_type(tx, config, user)
        first = replace(first, leave_type_id=None if usual is None else usual.id)
    further = [Filled.of_typed(span, first.leave_type_id, first.note) for span in leave.further]
    return [first, *further]


def _to_complete(tx: Transaction, leave: ParsedLeave, filled: Filled, *, by: Caller) -> Message:
    types = organisation_config.of_organisation(tx, by.organisation_id).leave_types
    leave_type = types.get(leave.leave_type_id or "")
    reading = Reading(
        filled=filled, type_name=None if leave_type is None else words.leave_type(leave_type)
    )
    return typed_problems.to_complete(leave.problems, reading)


def _draft(filled: Filled) -> Draft:
    draft = filled.draft()
    assert draft is not None
    return draft


def _read_leave(
    tx: Transaction, read: Sequence[Filled], *, is_typed: bool, by: Caller, now: datetime
) -> list[ReadLeave]:
    """The effects of each after those before it: in a dry run, because these are submitted."""
    shown = []
    for at, filled in enumerate(read):
        preview = previews.preview(tx, by=by, draft=_draft(filled), now=now)
        problems = errors.before_sending(preview.refusals).values()
        shown.append(
            ReadLeave(
                filled=filled,
                preview=preview,
                problems=[sentence for sentences in problems for sentence in sentences],
                warnings=errors.of_fields(preview.warnings),
                is_typed=is_typed,
            )
        )
        if at + 1 < len(read) and not preview.refusals:
            leave_requests.submit(tx, by=by, draft=_draft(filled), now=now)
    return shown


async def send(interaction: Interaction) -> None:
    """Send what the card shows, all or nothing; if something changed since, show it again."""
    by = await listening.acknowledged(interaction)
    shown = views.unpacked(interaction.value)
    if not shown:
        await interaction.tell(gettext(errors.OUTDATED))
        return
    leave = [filled for _, filled in shown]
    try:
        await interaction.database.write(_send, shown, by=by, now=interaction.now)
    except OverlappingLeave as refusal:
        if not await interaction.database.read(
            _is_sent, refusal.leave_request_id, leave, by=by, now=interaction.now
        ):
            await _show_again(interaction, leave, by, errors.sentence(refusal))
            return
    except DomainError as refusal:
        await _show_again(interaction, leave, by, errors.sentence(refusal))
        return
    except _Changed:
        await _show_again(interaction, leave, by, views.changed_since())
        return
    types = await interaction.database.read(_types, leave, by=by)
    await interaction.refresh(views.sent(leave, list(map(words.leave_type, types))))


async def _show_again(
    interaction: Interaction, leave: Sequence[Filled], by: Caller, why: str
) -> None:
    """Show the card with the effects as they are now, and why nothing was sent."""
    message = await card(interaction.database, leave, by=by, now=interaction.now, asides=[why])
    await interaction.refresh(message)


def _send(
    tx: Transaction, shown: Sequence[tuple[str, Filled]], *, by: Caller, now: datetime
) -> None:
    """Raises _Changed, or the errors of ``leave_requests.submit``."""
    for effects, filled in shown:
        preview = previews.preview(tx, by=by, draft=_draft(filled), now=now)
        if preview.refusals:
            raise preview.refusals[0]
        if ReadLeave(filled=filled, preview=preview).effects != effects:
            raise _Changed
        leave_requests.submit(tx, by=by, draft=_draft(filled), now=now)


def _is_sent(
    tx: Transaction, request_id: str, leave: Sequence[Filled], *, by: Caller, now: datetime
) -> bool:
    """Whether the first of it is this request: Send was pressed twice."""
    request = leave_rows.get(tx, request_id, by=by, now=now)
    return Filled.with_request(request) == leave[0]


def _types(tx: Transaction, leave: Sequence[Filled], *, by: Caller) -> list[LeaveType]:
    types = organisation_config.of_organisation(tx, by.organisation_id).leave_types
    return [types[filled.leave_type_id or ""] for filled in leave]


def register(app: AsyncApp) -> None:
    app.action(ids.SEND_UNDERSTOOD)(send)
