"""The form that records leave for another person: open, refresh and submit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.blocks import words
from bot.client import slack_web
from bot.interaction import errors, listening, modals, typed_context
from bot.interaction.interaction import Interaction
from bot.listeners import request_form as own_form
from bot.parsing import typed_leave, typed_names
from bot.parsing.typed_leave import ParsedLeave
from bot.parsing.typed_names import Mention
from bot.screens import searches
from bot.views import (
    conversation,
    live_line,
    record_form,
    request_form,
    request_values,
    typed_problems,
)
from bot.views.record_form import Entered
from bot.views.request_values import Alerts, Filled
from bot.views.typed_problems import Reading
from storage.base.errors import DomainError, FieldError, InvalidInput, OverlappingLeave
from storage.base.leave_values import LeaveRequest, LeaveType
from storage.base.values import Caller, User, local_day
from storage.db.database import Transaction
from storage.leave import covers, interruptions, leave_requests, previews
from storage.leave.bookings import BookedLeave
from storage.leave.drafts import Draft
from storage.leave.previews import Preview
from storage.notifications import approval_cards
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import people_lists, people_rows
from storage.people.people_rows import SlackProfile
from storage.rules import counted_days, roles

_NO_TYPES: Final = gettext_noop("There are no leave types that you can record.")
_ONE_PERSON: Final = gettext_noop("Record leave for one person at a time.")
_NOT_IN_HIATUS: Final = gettext_noop("This person isn't in Hiatus yet. An admin can add them.")
# Names that a sentence lists.
_MAX_NAMED: Final = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class _Form:
    """The data of the form. ``preview`` is None while something is not chosen.

    ``replaced`` is the person's leave of which the recorded leave replaces days.
    """

    leave_types: Sequence[LeaveType]
    entered: Entered
    person: User | None
    preview: Preview | None
    replaced: BookedLeave | None
    cover: User | None
    may_override: bool

    def view(self, asides: list[Block], *, is_sent: bool = False) -> View:
        refusals = self.preview.refusals if self.preview else []
        if self.replaced is not None:
            refusals = [each for each in refusals if not isinstance(each, OverlappingLeave)]
        problems = errors.before_sending(refusals, is_own=False)
        warnings = errors.of_fields(self.preview.warnings) if self.preview else []
        return record_form.view(
            self.leave_types,
            self.entered,
            None if self.person is None else searches.person_option(self.person),
            live_line.blocks(
                self.preview,
                warnings,
                can_send=not problems,
                is_own=False,
                replaced_dates=None if self.replaced is None else words.dates(self.replaced),
            ),
            asides,
            alerts=Alerts(problems=problems, is_sent=is_sent),
            cover=self.cover,
            may_override=self.may_override,
        )


async def open_form(interaction: Interaction) -> None:
    """Open the form without a person."""
    by = await listening.acknowledged(interaction)
    await _open(interaction, by, None, ParsedLeave())


async def open_typed(interaction: Interaction, mentions: Sequence[Mention]) -> None:
    """Open the form for the mentioned person, filled in from the rest of the typed text."""
    by = await listening.acknowledged(interaction)
    if len(mentions) > 1:
        await interaction.tell(gettext(_ONE_PERSON))
        return
    (mention,) = mentions
    if mention.slack_user_id is not None:
        user, typed = await _person_of_account(interaction, by, mention.slack_user_id), mention.rest
    else:
        user, typed = await _person_of_name(interaction, by, mention)
    if user is None:
        return
    if user.id == by.user_id:
        if interaction.message is not None:
            await interaction.reply(conversation.form_offer())
            return
        await own_form.open_typed_or_empty(interaction, typed)
        return
    leave = await interaction.database.read(_parsed, user.id, typed, by=by, now=interaction.now)
    if interaction.message is not None:
        await interaction.reply(typed_problems.to_complete(leave.problems, _reading(user, leave)))
        return
    await _open(interaction, by, user.id, leave)


def _reading(user: User, leave: ParsedLeave) -> Reading:
    """What the button opens the form with, in a conversation."""
    filled = Filled.of_typed(leave, leave.leave_type_id, leave.note)
    return Reading(filled=filled, person=user)


async def _person_of_account(
    interaction: Interaction, by: Caller, slack_user_id: str
) -> User | None:
    """The person with that Slack account; None after telling that there is none."""
    read = interaction.database.read
    user = await read(people_rows.find_by_slack_id, by.organisation_id, slack_user_id)
    if user is None:
        member = await listening.full_member(interaction, slack_user_id)
        profile: SlackProfile = slack_web.profile_of(member)
        user = await read(people_rows.find_by_profile, by.organisation_id, profile)
    if user is None:
        await interaction.tell(gettext(_NOT_IN_HIATUS))
    return user


async def _person_of_name(
    interaction: Interaction, by: Caller, mention: Mention
) -> tuple[User | None, str]:
    """The person with the typed name and the remaining text; None after telling why not."""
    people = await interaction.database.read(
        leave_requests.find_recordable, mention.name, by=by, now=interaction.now
    )
    matches, typed = typed_names.named(mention, people)
    if len(matches) == 1:
        return matches[0], typed
    if matches:
        names = [user.name or user.email for user in matches[:_MAX_NAMED]]
        await interaction.tell(
            gettext(
                "Several people match @{name}: {names}. Type the full name, or use “Record leave” "
                "on my Home tab.",
                name=mention.name,
                names=words.names(names),
            )
        )
    else:
        await interaction.tell(
            gettext(
                "I can't find @{name} among the people whose leave you can record.",
                name=mention.name,
            )
        )
    return None, typed


def _parsed(tx: Transaction, user_id: str, typed: str, *, by: Caller, now: datetime) -> ParsedLeave:
    """The typed leave. Raises the errors of ``permissions`` about the person and the type."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    user = people_rows.get(tx, user_id, by=by)
    check_recordable(tx, user, by=by, now=now)
    context = typed_context.of_person(tx, user, by=by, now=now)
    leave = typed_leave.parse(typed, context)
    if leave.leave_type_id is not None:
        leave_requests.check_recordable_type(config.leave_types[leave.leave_type_id], by=by)
    return leave


def check_recordable(tx: Transaction, user: User, *, by: Caller, now: datetime) -> None:
    """Raises the errors of ``permissions.check_person``."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(now, config.organisation.timezone)
    leave_requests.check_recordable_person(tx, user, by=by, today=today)


async def open_filled_in(interaction: Interaction, user_id: str, filled: Filled) -> None:
    """Open the form for the person with these values."""
    by = await listening.acknowledged(interaction)

    def form(tx: Transaction) -> _Form:
        check_recordable(tx, people_rows.get(tx, user_id, by=by), by=by, now=interaction.now)
        return _form(tx, Entered(filled=filled, user_id=user_id), by=by, now=interaction.now)

    await _show(interaction, await interaction.database.read(form), [])


async def _open(
    interaction: Interaction, by: Caller, user_id: str | None, leave: ParsedLeave
) -> None:
    form = await interaction.database.read(
        _form_of_typed, user_id, leave, by=by, now=interaction.now
    )
    await _show(interaction, form, typed_problems.asides(leave))


async def _show(interaction: Interaction, form: _Form, asides: list[Block]) -> None:
    if not request_form.requestable(form.leave_types):
        await interaction.tell(gettext(_NO_TYPES))
        return
    await interaction.open(form.view(asides))


async def offer_people(interaction: Interaction) -> None:
    """The people whose leave the user may record and who match the typed text."""
    by = await listening.caller(interaction)
    typed = str(interaction.body.get("value") or "")
    users = await interaction.database.read(
        leave_requests.find_recordable, typed, by=by, now=interaction.now
    )
    await interaction.ack(options=searches.person_options(users, with_no_one=False))


async def offer_covers(interaction: Interaction) -> None:
    """The colleagues who can cover for the chosen person."""
    by = await listening.caller(interaction)
    typed = str(interaction.body.get("value") or "")
    view = interaction.body["view"]
    candidates = await interaction.database.read(
        covers.candidates,
        typed,
        record_form.shown_person(view) or str(by.user_id),
        *request_values.shown_days(view),
        by=by,
    )
    await interaction.ack(
        option_groups=request_form.cover_options(candidates, with_no_one=not typed.strip())
    )


async def recount(interaction: Interaction) -> None:
    """Refresh the form's total after a selection."""
    by = await listening.acknowledged(interaction)

    async def render() -> View:
        view, action = interaction.body["view"], interaction.body["actions"][0]
        filled = request_values.after_selection(view, action)
        entered = replace(Entered.of(interaction.values), filled=filled)
        return await _rendered(interaction, entered, by=by)

    # The view shows the recorded leave after it was sent.
    await interaction.services.refreshes.refresh(
        interaction.client, interaction.body, render, shows_one_form=False
    )


async def _rendered(
    interaction: Interaction, entered: Entered, *, by: Caller, is_sent: bool = False
) -> View:
    form = await interaction.database.read(_form, entered, by=by, now=interaction.now)
    return form.view(own_form.asides_of(interaction), is_sent=is_sent)


async def submitted(interaction: Interaction) -> None:
    """Record the leave and show it in place of the form; errors are shown at their fields."""
    by = await listening.caller(interaction)
    entered = Entered.of(interaction.values)
    try:
        if entered.user_id is None:
            detail = gettext("Choose one.")
            raise InvalidInput([FieldError(pointer="/user_id", code="required", detail=detail)])
        request = await interaction.database.write(
            _record,
            entered,
            request_values.draft_of(entered.filled),
            entered.user_id,
            by=by,
            now=interaction.now,
        )
    except DomainError as refusal:

        async def render() -> View:
            return await _rendered(interaction, entered, by=by, is_sent=True)

        await own_form.show_refusal(interaction, refusal, render, is_own=False)
        return
    card = await interaction.database.read(
        approval_cards.card,
        by.organisation_id,
        request.id,
        viewer_id=str(by.user_id),
        now=interaction.now,
    )
    if card is not None:
        await modals.replace_form(interaction, record_form.done(card))


def _record(
    tx: Transaction, entered: Entered, draft: Draft, user_id: str, *, by: Caller, now: datetime
) -> LeaveRequest:
    """Record the leave, in place of days of other leave if it can replace them."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    replaced = _replaced(tx, config, entered, draft)
    if replaced is not None:
        return interruptions.interrupt(tx, replaced.id, draft, by=by, now=now).interruption
    return leave_requests.create(
        tx,
        by=by,
        draft=draft,
        user_id=user_id,
        override_reason=entered.override_reason,
        now=now,
    )


def _replaced(
    tx: Transaction, config: OrganisationConfig, entered: Entered, draft: Draft
) -> BookedLeave | None:
    """The person's leave of which the draft would replace days.

    None with a reason for an exception or a cover: an interruption has the cover of the leave.
    """
    if entered.user_id is None or entered.override_reason or draft.cover_user_id is not None:
        return None
    if draft.end_date < draft.start_date:
        return None
    span = counted_days.Span(
        start_date=draft.start_date,
        end_date=draft.end_date,
        start_half_day=draft.start_half_day,
        end_half_day=draft.end_half_day,
    )
    return interruptions.interrupted_by(
        tx, config, span, draft.leave_type_id, user_id=entered.user_id
    )


def _form_of_typed(
    tx: Transaction, user_id: str | None, leave: ParsedLeave, *, by: Caller, now: datetime
) -> _Form:
    user = people_rows.get(tx, user_id or str(by.user_id), by=by)
    context = typed_context.of_person(tx, user, by=by, now=now)
    types = _types(context.leave_types, by)
    filled = own_form.filled_of_typed(leave, types, context.today)
    return _form(tx, Entered(filled=filled, user_id=user_id), by=by, now=now)


def _form(tx: Transaction, entered: Entered, *, by: Caller, now: datetime) -> _Form:
    config = organisation_config.of_organisation(tx, by.organisation_id)
    draft = entered.filled.draft()
    person = preview = replaced = None
    if entered.user_id is not None:
        person = people_rows.get(tx, entered.user_id, by=by)
        if draft is not None:
            preview = previews.preview(
                tx,
                by=by,
                draft=draft,
                user_id=entered.user_id,
                override_reason=entered.override_reason,
                now=now,
            )
            replaced = _replaced(tx, config, entered, draft)
    return _Form(
        leave_types=_types(config.leave_types.values(), by),
        entered=entered,
        person=person,
        preview=preview,
        replaced=replaced,
        cover=people_lists.option(tx, entered.filled.cover_user_id, by=by),
        may_override=by.is_admin,
    )


def _types(leave_types: Iterable[LeaveType], by: Caller) -> list[LeaveType]:
    return [leave_type for leave_type in leave_types if roles.may_record_type(leave_type, by=by)]


def register(app: AsyncApp) -> None:
    app.options(ids.RECORD_PERSON)(offer_people)
    app.action(ids.RECORD_PERSON)(recount)
    app.options(ids.RECORD_COVER)(offer_covers)
    app.action(ids.RECORD_COVER)(recount)
    app.action(ids.RECORD_RECOUNT)(recount)
    app.view(ids.RECORD_FORM)(submitted)
