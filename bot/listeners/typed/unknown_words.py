"""Typed questions and words that were not understood: one line, and a button for what was read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.interaction import errors, identity
from bot.interaction.interaction import Interaction
from bot.listeners import record_form, request_form
from bot.parsing import typed_names, typed_phrases
from bot.parsing.typed_leave import ParsedLeave
from bot.views import request_values, typed_problems
from bot.views.request_values import Filled
from bot.views.typed_problems import Reading
from storage.base.errors import DomainError
from storage.base.values import Caller, User
from storage.db.database import Transaction
from storage.directory import people_lists
from storage.events import organisation_config
from storage.leave import recorded_leave


@dataclass(frozen=True, kw_only=True, slots=True)
class _Person:
    """Whose leave was typed: ``user``, or the reader's own if ``is_own``; else it is unclear."""

    is_own: bool = False
    user: User | None = None


async def reply(interaction: Interaction, typed: str, leave: ParsedLeave) -> None:
    """Say what was not understood. A button opens the form with all of what was read, or is absent.

    Leave of a person who is named is recorded for them, by those who may.
    """
    by = await identity.caller(interaction)
    try:
        reading = await interaction.services.database.read(
            _reading, typed, leave, by=by, now=interaction.now
        )
    except DomainError as refusal:
        await interaction.tell(errors.sentence(refusal))
        return
    command = str(interaction.body["command"])
    if reading is not None and (leave.is_question or reading.person is not None):
        message = typed_problems.offer(reading)
    elif leave.is_question:
        message = typed_problems.no_answer(command, typed)
    elif not leave.unknown:
        # Only thanks, or a smiley.
        message = {"text": typed_problems.examples(command)}
    else:
        unknown = leave.unknown_words if leave.is_about_leave else typed
        message = typed_problems.not_understood(command, unknown, reading)
    await interaction.reply(message)


def _reading(
    tx: Transaction, typed: str, leave: ParsedLeave, *, by: Caller, now: datetime
) -> Reading | None:
    """What a button may offer. Raises the errors of ``permissions`` about the person and type."""
    if leave.otherwise.start_date is None:
        return None
    if leave.is_question and (leave.unknown or not leave.asks_for_leave):
        return None
    person = _person(tx, typed, leave, by=by)
    if not person.is_own and person.user is None:
        return None
    types = organisation_config.of_organisation(tx, by.organisation_id).leave_types
    leave_type = None if leave.leave_type_id is None else types[leave.leave_type_id]
    if person.user is not None:
        record_form.check_recordable(tx, person.user, by=by, now=now)
        if leave_type is not None:
            recorded_leave.check_type(leave_type, by=by)
    return Reading(
        filled=Filled(
            leave_type_id=leave.leave_type_id,
            start_date=leave.otherwise.start_date,
            end_date=leave.otherwise.end_date,
            begins_at_midday=leave.otherwise.start_half_day == "pm",
            ends_at_midday=leave.otherwise.end_half_day == "am",
            note=leave.note,
        ),
        type_name=None if leave_type is None else leave_type.name,
        person=person.user,
    )


def _person(tx: Transaction, typed: str, leave: ParsedLeave, *, by: Caller) -> _Person:
    """The person whom the unknown words name; unclear if any words may name other people."""
    if not leave.unknown:
        return _Person(is_own=True)
    people = people_lists.named(tx, " ".join(_words(typed)), by=by)
    if not people:
        return _Person(is_own=not leave.has_subject)
    unknown = set(_words(leave.unknown_words))
    if len(people) > 1 or not unknown.issubset(people[0].name.casefold().split()):
        return _Person()
    is_own = people[0].id == by.user_id
    return _Person(is_own=is_own, user=None if is_own else people[0])


def _words(typed: str) -> list[str]:
    words = re.findall(r"[\w'-]+", typed_names.plain(typed[: typed_phrases.MAX_LENGTH]))
    return [word.removesuffix("'s") for word in words]


async def open_own(interaction: Interaction) -> None:
    """Open the request form with what was read."""
    await request_form.open_filled_in(interaction, request_values.unpacked(interaction.value))


async def open_recording(interaction: Interaction) -> None:
    """Open the form that records leave, with the person and what was read."""
    user_id, _, packed = interaction.value.partition("|")
    await record_form.open_filled_in(interaction, user_id, request_values.unpacked(packed))


def register(app: AsyncApp) -> None:
    app.action(ids.OPEN_UNDERSTOOD)(open_own)
    app.action(ids.RECORD_UNDERSTOOD)(open_recording)
