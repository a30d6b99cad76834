"""Slash commands: subcommands, and everything else parsed as a leave request."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base import ids, type_names
from bot.base.block_kit import Message
from bot.base.language import gettext
from bot.interaction import errors, listening, typed_context
from bot.interaction.interaction import Interaction
from bot.listeners import (
    balance,
    calendar,
    confirming,
    own_leave,
    questions,
    record_form,
    request_form,
    time_credits,
)
from bot.message_views import answers
from bot.message_views.answers import Away
from bot.parsing import (
    typed_leave,
    typed_names,
    typed_phrases,
    typed_questions,
    typed_topics,
    typed_work,
)
from bot.parsing.languages import in_english
from bot.parsing.typed_leave import ParsedLeave
from bot.parsing.typed_names import plain
from bot.parsing.typed_terms import Problem
from bot.views import conversation, request_values, typed_problems
from bot.views.request_values import Filled
from bot.views.typed_problems import Reading
from storage.base.errors import DomainError
from storage.base.values import Caller, User, local_day
from storage.calendars import absences
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.leave import leave_requests
from storage.outbox import organisation_config
from storage.people import people_lists, people_rows

# As long as a message in Slack may be; nothing that is understood is longer.
_MAX_TYPED: Final = 3_000


async def timeoff(interaction: Interaction) -> None:
    """Run a subcommand, or open a form filled in from the typed text."""
    await answer(interaction, str(interaction.body.get("text") or ""))


async def answer(interaction: Interaction, text: str) -> None:
    """Answer what a person typed after the command, or wrote in the conversation with the app.

    A form needs a click or a command, so in the conversation a button opens it.
    """
    typed = " ".join(text[:_MAX_TYPED].split())
    subcommand = SUBCOMMANDS.get(in_english(plain(typed)))
    if subcommand is not None:
        await subcommand(interaction)
        return
    if typed_work.language_of(typed) is not None:
        await time_credits.open_typed(interaction, typed)
        return
    if calendar.is_typed(typed):
        if not await calendar.show_typed(interaction, typed):
            await _not_understood(interaction, typed)
        return
    command = typed_phrases.command_of(typed)
    question = typed_questions.question_of(typed)
    is_question = question is not None and (
        command is None or command.name not in ("balance", "what_if")
    )
    if (
        question is not None
        and is_question
        and await questions.answer(interaction, question, typed)
    ):
        return
    if mentions := typed_names.mentions_of(typed):
        if typed_phrases.is_question(typed):
            await _not_understood(interaction, typed)
            return
        await record_form.open_typed(interaction, mentions)
        return
    if command is not None and command.name == "out":
        if await show(interaction, command.rest):
            return
        # "Out tomorrow, dentist" is leave.
    elif command is not None and command.name == "what_if":
        await listening.acknowledged(interaction)
        await interaction.reply(answers.what_would_be_left(interaction.command))
        return
    elif command is not None and command.name == "balance":
        by = await listening.acknowledged(interaction)
        # What comes after the question is read as a day, or named as unread.
        asked = plain(typed).removesuffix(command.rest) if command.rest else typed
        if await interaction.database.read(_is_of_other, asked, by=by):
            await _not_understood(interaction, typed)
            return
        await balance.show(interaction, command.rest)
        return
    elif command is not None and command.name == "mine":
        # The days of a question that was not answered.
        await own_leave.show(interaction, question.when if question is not None else "")
        return
    elif command is not None:
        await SUBCOMMANDS[command.name](interaction)
        return
    first, _, rest = typed.partition(" ")
    if SUBCOMMANDS.get(in_english(plain(first))) is request_form.open_form:
        typed = rest
    typed = typed_phrases.without_whats_left(typed)
    by, leave = await request_form.parsed(interaction, typed)
    if not leave.fills_form:
        await reply(interaction, typed, leave)
    elif interaction.message is None and not leave.further:
        await request_form.open_parsed(interaction, by, leave)
    else:
        # A form has one period.
        await confirming.show(interaction, leave, by=by)


async def _not_understood(interaction: Interaction, typed: str) -> None:
    unknown = Problem(kind="unknown", typed=typed)
    leave = ParsedLeave(problems=(unknown,), is_question=typed_phrases.is_question(typed))
    await reply(interaction, typed, leave)


async def _help(interaction: Interaction) -> None:
    await interaction.ack()
    await listening.greet(interaction)
    contact = interaction.services.support_contact
    if interaction.message is not None:
        await interaction.reply(conversation.help_message(contact=contact))
        return
    await interaction.reply({"text": answers.help_text(interaction.command, contact=contact)})


async def _out(interaction: Interaction) -> None:
    await show(interaction, "")


# In all languages for everyone, because no word has different meanings in two languages.
SUBCOMMANDS: Final[Mapping[str, Callable[[Interaction], Awaitable[None]]]] = {
    "": request_form.open_form,
    "request": request_form.open_form,
    "help": _help,
    "balance": balance.show,
    "out": _out,
    "mine": own_leave.show,
    "cancel": own_leave.show_to_cancel,
    "antrag": request_form.open_form,
    "beantragen": request_form.open_form,
    "hilfe": _help,
    "konto": balance.show,
    "resturlaub": balance.show,
    "meine": own_leave.show,
    "stornieren": own_leave.show_to_cancel,
}


# The answer begins with the team anyway.
_TEAM: Final = re.compile(
    r"(?<!\S)(?:(?:in|on|from|of) (?:my|our|the) team|(?:aus|in|im|von) "
    r"(?:meinem|unserem|dem|der)? ?(?:team|abteilung)|(?:dans|de) (?:mon |notre |l')équipe"
    r"|(?:en|de) (?:mi|nuestro|el) (?:equipo|departamento)|del (?:equipo|departamento))(?!\S)",
    re.IGNORECASE,
)


async def show(interaction: Interaction, typed: str) -> bool:
    """Show who is off on the typed days; False if they were not understood."""
    by = await listening.acknowledged(interaction)
    away = await interaction.database.read(_away, typed, by=by, now=interaction.now)
    if away is not None:
        await interaction.reply(answers.out(away))
    return away is not None


def _away(tx: Transaction, typed: str, *, by: Caller, now: datetime) -> Away | None:
    """Absences: those of the team, then everyone's."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    user = people_rows.get(tx, str(by.user_id), by=by)
    today = local_day(now, user.timezone or config.organisation.timezone)
    days = _days(tx, typed, user, today, by=by, now=now)
    if days is None:
        return None
    first_day, last_day = days
    page = PageOf(limit=answers.MAX_AWAY)
    team, everyone = (
        absences.away(
            tx,
            page,
            user,
            config.organisation,
            scope,
            config.leave_types,
            first_day=first_day,
            last_day=last_day,
        )
        for scope in ("team", "org")
    )
    elsewhere = absences.elsewhere(
        tx,
        user,
        config.organisation,
        "team" if user.department_id else "org",
        config.leave_types,
        first_day=first_day,
        last_day=last_day,
    )
    return Away(
        today=today,
        first_day=first_day,
        last_day=last_day,
        team=team,
        everyone=everyone,
        elsewhere=elsewhere,
    )


def _days(
    tx: Transaction, typed: str, user: User, today: date, *, by: Caller, now: datetime
) -> tuple[date, date] | None:
    context = typed_context.of_person(tx, user, by=by, now=now)
    return typed_leave.period_in(_TEAM.sub("", typed).strip(), context)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Person:
    """Whose leave was typed: ``user``, or the reader's own if ``is_own``; else it is unclear."""

    is_own: bool = False
    user: User | None = None


async def reply(interaction: Interaction, typed: str, leave: ParsedLeave) -> None:
    """Say what was not understood. A button opens the form with all of what was read, or is absent.

    Leave of a person who is named is recorded for them, by those who may.
    """
    by = await listening.caller(interaction)
    is_polite = leave.is_question and typed_phrases.is_polite_request(typed)
    is_clear = is_polite and leave.is_about_leave and not (leave.unknown or leave.lacks_home_office)
    if interaction.message is not None and is_clear:
        # "Can I take Friday off?" is answered by what it comes to, or by what is missing.
        await confirming.show(interaction, leave, by=by)
        return
    if leave.lacks_home_office:
        await interaction.reply(typed_problems.no_home_office())
        return
    try:
        reading = await interaction.database.read(
            _reading, typed, leave, by=by, now=interaction.now
        )
    except DomainError as refusal:
        await interaction.tell(errors.sentence(refusal))
        return
    command = interaction.command
    if reading is not None and (leave.is_question or reading.person is not None):
        message = typed_problems.offer(reading)
    elif leave.is_question and not (leave.asks_for_leave and leave.is_about_leave):
        answered = await interaction.database.read(
            _answer_to_topic, typed, by=by, now=interaction.now
        )
        message = answered or typed_problems.no_answer(command, typed)
    elif not leave.unknown:
        # Only thanks, a greeting, or a smiley.
        is_greeting = typed_phrases.is_greeting(typed)
        polite = gettext("Hello!") if is_greeting else gettext("Happy to help!")
        message = {"text": f"{polite} {typed_problems.examples(command)}"}
    else:
        unknown = leave.unknown_words if leave.is_about_leave else typed
        message = typed_problems.not_understood(command, unknown, reading)
    await interaction.reply(message)


def _is_of_other(tx: Transaction, typed: str, *, by: Caller) -> bool:
    return typed_topics.is_of_other(typed, _names_of_others(tx, typed, by=by))


def _names_of_others(tx: Transaction, typed: str, *, by: Caller) -> set[str]:
    """The words of the names of colleagues who may be in the text."""
    people = people_lists.named(tx, " ".join(_words(typed)), by=by)
    others = (person for person in people if person.id != by.user_id)
    return {part for person in others for part in person.name.casefold().split()}


def _answer_to_topic(tx: Transaction, typed: str, *, by: Caller, now: datetime) -> Message | None:
    """What can be said of the question's topic, with the words that were not read; else None."""
    reader = people_rows.get(tx, str(by.user_id), by=by)
    context = typed_context.of_person(tx, reader, by=by, now=now)
    asked = typed_topics.asked(typed, context, _names_of_others(tx, typed, by=by))
    if asked is None:
        return None
    message: Message | None = None
    match asked.topic:
        case "balance":
            shown = balance.typed_balances(tx, asked.when, by=by, now=now)
            message = None if shown is None else answers.balance(*shown)
        case "holidays":
            config = organisation_config.of_organisation(tx, by.organisation_id)
            message = questions.holidays(config, reader, asked.when, context)
        case "out":
            away = _away(tx, asked.when, by=by, now=now)
            message = None if away is None else answers.out(away)
    return None if message is None else answers.beside_unread(message, asked.unread)


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
            leave_requests.check_recordable_type(leave_type, by=by)
    return Reading(
        filled=Filled.of_typed(leave.otherwise, leave.leave_type_id, leave.note),
        type_name=None if leave_type is None else type_names.shown(leave_type.type_name),
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
    await request_form.open_read(interaction, request_values.unpacked(interaction.value))


async def open_recording(interaction: Interaction) -> None:
    """Open the form that records leave, with the person and what was read."""
    user_id, _, packed = interaction.value.partition("|")
    await record_form.open_filled_in(interaction, user_id, request_values.unpacked(packed))


def register(app: AsyncApp, command: str) -> None:
    """The configured command, and ``/leave`` for workspaces in which Slack does not reserve it."""
    for name in dict.fromkeys((command, ids.LEAVE_COMMAND)):
        app.command(name)(timeoff)
    app.action(ids.OPEN_UNDERSTOOD)(open_own)
    app.action(ids.RECORD_UNDERSTOOD)(open_recording)
