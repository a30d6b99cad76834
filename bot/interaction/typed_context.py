"""What typed words mean depends on the person: their day, week, holidays, country and language."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Final

from bot.base import language
from bot.blocks import words
from bot.parsing import spelling, typed_names
from bot.parsing.typed_dates import is_month_first
from bot.parsing.typed_leave import ParsingContext
from bot.parsing.typed_names import TypeNames
from storage.base.values import Caller, User, local_day
from storage.db.database import Transaction
from storage.leave import form_defaults
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import employment_by_date, people_lists, people_rows
from storage.rules import counted_days

# Public holidays that move may be more than a year apart.
_MAX_DAYS_TO_HOLIDAY: Final = 400


def of_caller(tx: Transaction, *, by: Caller, now: datetime, typed: str = "") -> ParsingContext:
    """The context of the caller's own leave, with another's name if the typed text has one."""
    context = of_person(tx, people_rows.get(tx, str(by.user_id), by=by), by=by, now=now)
    names = typed_names.possible_names(typed)
    people = people_lists.named(tx, " ".join(names), by=by) if names else []
    words = [person.name.casefold().split() for person in people if person.id != by.user_id]
    others = [name for name in names if any(set(name.split()) <= set(each) for each in words)]
    # A colleague called Augusta is no typing error in "august".
    _, doubtful = spelling.corrected(
        typed_names.plain(typed), context.language, TypeNames(context.leave_types)
    )
    if doubtful:
        namesakes = people_lists.named(tx, " ".join(word for word, _ in doubtful), by=by)
        parts = (part for person in namesakes for part in person.name.casefold().split())
        context = replace(context, names=frozenset(parts))
    return replace(context, other_person=others[0]) if others else context


def of_person(tx: Transaction, user: User, *, by: Caller, now: datetime) -> ParsingContext:
    """The context of leave of that person."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    week = counted_days.working_week(user.working_days or config.organisation.working_days)
    today = local_day(now, user.timezone or config.organisation.timezone)
    main_type = form_defaults.main_type(config.leave_types.values())
    return ParsingContext(
        today=today,
        leave_types=list(config.leave_types.values()),
        is_month_first=is_month_first(config.organisation.country_code),
        weekdays=frozenset(weekday for weekday, halves in enumerate(week) if halves),
        language=language.locale().language,
        main_type_id=None if main_type is None else main_type.id,
        holidays=_next_holidays(config, user, today),
    )


def _next_holidays(config: OrganisationConfig, user: User, today: date) -> dict[str, date]:
    """The next public holiday of each name, in English and in the person's language."""
    code = employment_by_date.country_code_of(config, user)
    until = today + timedelta(days=_MAX_DAYS_TO_HOLIDAY)
    days = employment_by_date.holidays_between(config, code, today, until)
    return {
        typed_names.plain(name): day
        for day, holiday in sorted(days.items(), reverse=True)
        for name in (holiday.name, words.holiday(holiday.name, holiday.country_code, day))
    }
