"""Answers questions about people, days and one's own leave; they never become requests."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import Final

from bot.base.block_kit import Message
from bot.interaction import listening, typed_context
from bot.interaction.interaction import Interaction
from bot.listeners import own_leave, request_form
from bot.message_views import answers, people_answers
from bot.message_views.answers import OwnLeave
from bot.parsing import typed_leave, typed_phrases
from bot.parsing.typed_leave import ParsingContext
from bot.parsing.typed_questions import Question
from storage.base.values import Caller, User, local_day
from storage.calendars import attendance
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.leave import leave_amendments, leave_lists
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import approvers, employment_by_date, people_lists, people_rows

_MENTION: Final = re.compile(r"<@(?P<id>[uw][a-z0-9]+)")
# What begins the part of "move my leave in december to january" that the form asks for.
_NEW_DAYS: Final = re.compile(
    r"(?:^|[ ,]+)(?:(?:to|until|till|by|so|back|instead|um|auf|bis|nach|wieder|statt"
    r"|au|à|jusqu\w*|vers|al?|hasta|para)\b"
    # By how much: "move my leave in december a week back".
    r"|(?:d['’])?(?:an?|one|two|three|eine[nr]?|zwei|drei|une?|deux|trois|una?|dos|tres|\d+)"
    r" (?:days?|weeks?|tage?n?|wochen?|jours?|semaines?|d[ií]as?|semanas?)\b).*"
)
# Before the days of the leave: "cancel my leave from 3 august".
_OF: Final = re.compile(r"^(?:from|of|vom|von|du|de|del)\s(?:the\s)?")
_MAX_HOLIDAYS: Final = 20
_NEXT_HOLIDAYS: Final = 3
_MAX_MATCHES: Final = 100


async def answer(interaction: Interaction, question: Question, typed: str) -> bool:
    """Answer the question; False if it was not understood after all."""
    by = await listening.acknowledged(interaction)
    if question.name in ("change", "cancel"):
        return await _change(interaction, question, by)
    message = await interaction.database.read(_answer, question, typed, by=by, now=interaction.now)
    if message is not None:
        await interaction.reply(message)
    return message is not None


def _answer(
    tx: Transaction, question: Question, typed: str, *, by: Caller, now: datetime
) -> Message | None:
    config = organisation_config.of_organisation(tx, by.organisation_id)
    reader = people_rows.get(tx, str(by.user_id), by=by)
    context = typed_context.of_person(tx, reader, by=by, now=now)
    if question.name == "holidays":
        return holidays(config, reader, question.when, context)
    if question.name == "approvers":
        deciders = approvers.of_person(
            tx, by.organisation_id, reader.id, today=local_day(now, config.organisation.timezone)
        )
        return people_answers.approvers([user.name or user.email for user in deciders])
    if question.name == "booked" and not question.when:
        return None
    days = typed_leave.period_in(question.when, context)
    if days is None:
        return None
    if question.name == "holiday":
        return _holiday(config, reader, days)
    if question.name == "booked":
        return _booked(tx, config, days, context, by=by)
    person = reader
    if question.who:
        people = _people(tx, question.who, by=by)
        if len(people) > 1:
            return people_answers.several(question.who, [user.name for user in people])
        if not people:
            is_asked = question.name == "person_back" or typed_phrases.is_question(typed)
            is_asked = is_asked and not _says_when(question.who, context)
            return people_answers.unknown_person(question.who) if is_asked else None
        (person,) = people
        if person.id == reader.id and question.name == "person_back":
            return None
    today = context.today
    if question.who:
        today = local_day(now, person.timezone or config.organisation.timezone)
        if not question.when:
            days = today, today
    if question.name == "person_back":
        away = attendance.next_away(tx, config, person, viewer_id=reader.id, today=today)
        return people_answers.back(person.name, away, today)
    first_day, last_day = days
    found = attendance.days(
        tx,
        config,
        person,
        viewer_id=reader.id,
        first_day=first_day,
        # Those who are away at the end are back later.
        last_day=last_day + timedelta(days=attendance.MAX_DAYS_AHEAD),
    )
    if person.id == reader.id and first_day != last_day:
        return _booked(tx, config, days, context, by=by)
    asked = [day for day in found if day.date <= last_day]
    name = None if person.id == reader.id else person.name
    return people_answers.at_work(
        name, asked, list(attendance.away_in(found)), config.leave_types, today
    )


def _people(tx: Transaction, who: str, *, by: Caller) -> list[User]:
    """The active people with all of these names, or the mentioned one."""
    if mention := _MENTION.match(who):
        slack_user_id = mention["id"].upper()
        user = people_rows.find_by_slack_id(tx, by.organisation_id, slack_user_id)
        return [] if user is None else [user]
    words = who.split()
    people = [
        user
        for user in people_lists.named(tx, " ".join(words), by=by)
        if user.status != "deactivated" and {*words} <= {*user.name.casefold().split()}
    ]
    exact = [user for user in people if user.name.casefold() == who]
    return exact or people


def _says_when(who: str, context: ParsingContext) -> bool:
    """Whether a word in the place of a name says when: "is friday off okay?"."""
    return any(typed_leave.may_move(word, context.language) for word in who.split())


def holidays(
    config: OrganisationConfig, reader: User, typed: str, context: ParsingContext
) -> Message | None:
    """The reader's public holidays of the typed days, "" for the next ones; None if unreadable."""
    days: tuple[date, date] | None = (context.today, context.today + timedelta(days=400))
    if typed:
        days = typed_leave.period_in(typed, context)
    if days is None:
        return None
    code = employment_by_date.country_code_of(config, reader)
    found = employment_by_date.holidays_between(config, code, *days)
    shown = sorted(found.items())[: _MAX_HOLIDAYS if typed else _NEXT_HOLIDAYS]
    when = answers.period(*days, context.today) if typed else ""
    return people_answers.holidays(shown, when)


def _holiday(config: OrganisationConfig, reader: User, days: tuple[date, date]) -> Message:
    code = employment_by_date.country_code_of(config, reader)
    found = employment_by_date.holidays_between(config, code, *days)
    return people_answers.is_holiday(days[0], days[1], sorted(found.items())[:_MAX_HOLIDAYS])


def _booked(
    tx: Transaction,
    config: OrganisationConfig,
    days: tuple[date, date],
    context: ParsingContext,
    *,
    by: Caller,
) -> Message:
    own = _own_between(tx, config, days, by=by)
    return answers.own_between(own, answers.period(*days, context.today))


def _own_between(
    tx: Transaction, config: OrganisationConfig, days: tuple[date, date], *, by: Caller
) -> OwnLeave:
    """The caller's pending and approved leave on these days."""
    page = leave_lists.filtered(
        tx,
        PageOf(limit=_MAX_MATCHES),
        by=by,
        user_id=by.user_id,
        first_day=days[0],
        last_day=days[1],
        sort="start_date",
    )
    items = [each for each in page.items if each.status in ("pending", "approved")]
    shown = items[: answers.MAX_OWN]
    next_cursor = page.next_cursor if len(shown) == len(items) else ""
    return OwnLeave(
        page=type(page)(items=shown, next_cursor=next_cursor),
        leave_types=config.leave_types,
        cancel_effects={},
    )


async def _change(interaction: Interaction, question: Question, by: Caller) -> bool:
    """List the leave that can be changed or cancelled; the form of the only one is opened.

    New days are chosen in the form, and words that name them are not read.
    """
    own, is_found, unread = await interaction.database.read(
        _own_to_change, question.when, by=by, now=interaction.now
    )
    if question.name == "cancel":
        message = answers.own_leave_to_cancel(own, people_answers.to_cancel(is_found, unread))
    elif interaction.message is None and is_found and len(own.page.items) == 1:
        await request_form.open_edit_of(interaction, own.page.items[0].id)
        return True
    else:
        heading = people_answers.to_change(is_found, unread, has_any=bool(own.page.items))
        message = answers.own_leave_to_change(own, heading)
    await interaction.reply(message)
    return True


def _own_to_change(
    tx: Transaction, when: str, *, by: Caller, now: datetime
) -> tuple[OwnLeave, bool | None, str]:
    """The leave on these days, whether there is any, and the words that were not read.

    All upcoming leave if there is none, or no days were named; None if these were not understood.
    """
    config = organisation_config.of_organisation(tx, by.organisation_id)
    reader = people_rows.get(tx, str(by.user_id), by=by)
    context = typed_context.of_person(tx, reader, by=by, now=now)
    own = own_leave.upcoming(tx, by=by, now=now)
    if not when:
        return own, True, ""
    of_leave = _NEW_DAYS.sub("", when).strip()
    unread = when.removeprefix(of_leave).strip(" ,")
    days = typed_leave.period_in(when, context) if unread else None
    if days is not None:
        unread = ""
    elif of_leave:
        days = typed_leave.period_in(of_leave, context) or typed_leave.period_in(
            _OF.sub("", of_leave), context
        )
    if days is None:
        return own, None if of_leave else True, when if of_leave else unread
    page = _own_between(tx, config, days, by=by).page
    ids = {request.id for request in own.page.items}
    items = [request for request in page.items if request.id in ids]
    if not items:
        return own, False, unread
    shown = OwnLeave(
        page=type(page)(items=items, next_cursor=None),
        leave_types=config.leave_types,
        cancel_effects=leave_amendments.cancel_effects(
            tx, config, items, reader.id, local_day(now, config.organisation.timezone)
        ),
    )
    return shown, True, unread
