"""Answers to questions about people, days and public holidays."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date

from bot.base.block_kit import Message
from bot.base.language import gettext
from bot.blocks import layout, words
from bot.message_views import answers
from storage.base.leave_values import HalfDay, LeaveType
from storage.calendars.attendance import Away, PersonDay
from storage.rules.counted_days import AFTERNOON, MORNING, Holiday

# Names that a sentence lists, and periods of a person.
_MAX_NAMED = 5
_MAX_PERIODS = 10


def _said(*sentences: str) -> Message:
    # In French, "14 déc." ends with the full stop of the sentence.
    text = re.sub(r"\.\.(?=\s|$)", ".", " ".join(filter(None, sentences)))
    return {"text": layout.escaped(text)}


def several(who: str, names: Sequence[str]) -> Message:
    """Asks which of the people with a name is meant."""
    shown = words.names([layout.cut(name, layout.MAX_NAME) for name in names], _MAX_NAMED)
    return _said(
        gettext(
            "Several people match “{name}”: {names}. Please write the full name.",
            name=layout.cut(who, layout.MAX_NAME),
            names=shown,
        )
    )


def unknown_person(who: str) -> Message:
    return _said(
        gettext(
            "I can't find “{name}” among your colleagues.", name=layout.cut(who, layout.MAX_NAME)
        )
    )


def approvers(names: Sequence[str]) -> Message:
    if not names:
        return _said(
            gettext("No one else can approve your leave, so it's approved as soon as you send it.")
        )
    shown = words.names([layout.cut(name, layout.MAX_NAME) for name in names], _MAX_NAMED)
    return _said(gettext("Your requests go to {names} for approval.", names=shown))


def holidays(days: Sequence[tuple[date, Holiday]], when: str) -> Message:
    """The next public holidays, or those of a period."""
    if not days:
        return _said(gettext("There is no public holiday {when}.", when=when))
    heading = (
        gettext("Public holidays {when}:", when=when) if when else gettext("Next public holidays:")
    )
    return {"text": layout.escaped("\n".join([heading, *(f"• {_named(*day)}" for day in days)]))}


def _named(day: date, holiday: Holiday) -> str:
    return gettext("{day}: {holiday}", day=words.day(day), holiday=_holiday_name(day, holiday))


def _holiday_name(day: date, holiday: Holiday) -> str:
    return layout.cut(words.holiday(holiday.name, holiday.country_code, day), layout.MAX_NAME)


def is_holiday(first: date, last: date, days: Sequence[tuple[date, Holiday]]) -> Message:
    """Whether a day is a public holiday of the reader."""
    if not days and first == last:
        return _said(gettext("No, {day} isn't a public holiday.", day=words.day(first)))
    if not days:
        return _said(gettext("No, none of these days is a public holiday."))
    return _said(
        gettext("Yes: {days}.", days=words.names([_named(*day) for day in days], _MAX_NAMED))
    )


def back(name: str, away: Away | None, today: date) -> Message:
    """When a person is back; if they are not off now, when they are off next."""
    name = layout.cut(name, layout.MAX_NAME)
    if away is None:
        return _said(gettext("{name} isn't off, and has no leave booked.", name=name))
    returns = _returns(name, away)
    if away.first.date <= today:
        return _said(returns)
    dates = _dates(away)
    return _said(gettext("{name} isn't off today, but {dates}.", name=name, dates=dates), returns)


def _returns(name: str, away: Away) -> str:
    if away.back is None:
        return gettext("{name} isn't back within a year.", name=name)
    if away.back.date == away.last.date:
        return gettext(
            "{name} is back on {day} at midday.", name=name, day=words.day(away.back.date)
        )
    return gettext("{name} is back on {day}.", name=name, day=words.day(away.back.date))


def _dates(away: Away) -> str:
    first, last = away.first, away.last
    begins: HalfDay | None = "pm" if first.away == AFTERNOON and first.at_work else None
    ends: HalfDay | None = "am" if last.away == MORNING and last.at_work else None
    return words.span(first.date, last.date, begins, ends)


def at_work(
    name: str | None,
    days: Sequence[PersonDay],
    periods: Sequence[Away],
    leave_types: Mapping[str, LeaveType],
    today: date,
) -> Message:
    """Whether a person works on these days; ``name`` is None for the reader.

    ``periods`` are those with leave from the first of the days on.
    """
    last_day = days[-1].date
    away = [each for each in periods if each.first.date <= last_day][:_MAX_PERIODS]
    if len(days) == 1:
        return _said(*_of_day(name, days[0], away, leave_types, today))
    # Only others are asked about several days: the reader's own leave is listed.
    shown = layout.cut(name or "", layout.MAX_NAME)
    when = answers.period(days[0].date, last_day, today)
    if not away:
        return _said(gettext("{name} has no leave booked {when}.", name=shown, when=when))
    lines = [gettext("{name} is off {when}:", name=shown, when=when)]
    lines += [f"• {_dates(each)} ({_type(each.first, leave_types)})" for each in away]
    return {"text": layout.escaped("\n".join(lines))}


def _type(day: PersonDay, leave_types: Mapping[str, LeaveType]) -> str:
    """The leave type, as the viewer may know it."""
    if day.leave_type_id is None:
        return gettext("Away")
    return layout.cut(words.leave_type(leave_types[day.leave_type_id]), layout.MAX_NAME)


def _of_day(
    name: str | None,
    day: PersonDay,
    away: Sequence[Away],
    leave_types: Mapping[str, LeaveType],
    today: date,
) -> list[str]:
    shown = layout.cut(name or "", layout.MAX_NAME)
    when = words.short_day(day.date)
    if not day.worked:
        return [_not_worked(shown, day, when)]
    what = _type(day, leave_types)
    if day.is_pending:
        what = gettext("{leave_type}, awaiting approval", leave_type=what)
    if day.away:
        whole = not day.at_work
        if not whole:
            starts: HalfDay | None = "pm" if day.away == AFTERNOON else None
            ends: HalfDay | None = "am" if day.away == MORNING else None
            when = words.span(day.date, day.date, starts, ends)
        sentence = (
            gettext("{name} is off on {day} ({leave_type}).", name=shown, day=when, leave_type=what)
            if name
            else gettext("You're off on {day} ({leave_type}).", day=when, leave_type=what)
        )
        returns = _returns(shown, away[0]) if name and whole and away else ""
        return [sentence, returns]
    if day.elsewhere:
        return [
            gettext("{name} works on {day} ({leave_type}).", name=shown, day=when, leave_type=what)
            if name
            else gettext("You work on {day} ({leave_type}).", day=when, leave_type=what)
        ]
    if name:
        return [gettext("As far as I know, {name} is in on {day}.", name=shown, day=when)]
    return [gettext("You work on {day}: you have no leave booked.", day=when)]


def _not_worked(name: str, day: PersonDay, when: str) -> str:
    if day.holiday_name is None:
        if name:
            return gettext("{day} isn't a working day of {name}.", day=when, name=name)
        return gettext("{day} isn't one of your working days.", day=when)
    holiday = layout.cut(
        words.holiday(day.holiday_name, day.holiday_country, day.date), layout.MAX_NAME
    )
    if name:
        return gettext("{name} is off on {day}: {holiday}.", name=name, day=when, holiday=holiday)
    return gettext("You're off on {day}: {holiday}.", day=when, holiday=holiday)


def to_cancel(is_found: bool | None, unread: str) -> str:
    """Before the list of all leave, where none was on the named days, or these are unclear."""
    if is_found is None:
        return answers.not_read(unread)
    return "" if is_found else gettext("I found no leave of yours on those days.")


def to_change(is_found: bool | None, unread: str, *, has_any: bool) -> str:
    """The heading of the leave to change; ``unread`` are words that were not understood."""
    sentences = [to_cancel(is_found, unread)]
    if unread and is_found is not None:
        sentences.append(answers.not_read(unread))
    if has_any:
        sentences.append(gettext("“Change” opens the form, where you choose the new days."))
    return " ".join(filter(None, sentences))
