"""Dates, amounts, names and colleagues who are off, as text in the current language.

Dates are formatted here and not by Slack's date markup, which would use the time zone of the
reader's device. Date patterns are translated like sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from fractions import Fraction
from functools import lru_cache
from typing import Final, Protocol
from zoneinfo import ZoneInfo

from babel import Locale
from babel.dates import format_date, format_datetime, format_skeleton, format_time
from babel.lists import format_list
from babel.numbers import format_decimal

from bot.base import language, type_names
from bot.base.language import gettext, gettext_noop, ngettext
from bot.blocks import layout
from storage.base.allowance_values import Allowance, Amount
from storage.base.calendar_values import Absence
from storage.base.errors import Days
from storage.base.leave_values import HalfDay, LeaveType, TypeName
from storage.calendars.absences import MAX_ELSEWHERE
from storage.people.colleagues import ColleagueOff
from storage.rules import holiday_calendar
from storage.rules.leave_years import LeaveYear

_MAX_NAMES: Final = 5
_MAX_DAYS_NAMED: Final = 4
_ROLES: Final[Mapping[str, str]] = {
    "member": gettext_noop("Member"),
    "approver": gettext_noop("Approver"),
    "admin": gettext_noop("Admin"),
    "owner": gettext_noop("Owner"),
}


class Dated(Protocol):
    """Leave in any form: a request, its amendment, an absence."""

    @property
    def start_date(self) -> date: ...
    @property
    def end_date(self) -> date: ...
    @property
    def start_half_day(self) -> HalfDay | None: ...
    @property
    def end_half_day(self) -> HalfDay | None: ...


def day(value: date) -> str:
    """``Mon 3 Aug 2026``."""
    return _dated(value, gettext("EEE d MMM y"))


def _dated(value: date, pattern: str) -> str:
    """The date in a Unicode date pattern (UTS 35); in French the first of a month is "1er"."""
    locale = language.locale()
    formatted = format_datetime if isinstance(value, datetime) else format_date
    text = formatted(value, pattern, locale=locale)
    if value.day == 1 and locale.language == "fr":
        return re.sub(r"(?<!\d)1(?!\d)", "1er", text, count=1)
    return text


def plain_day(value: date) -> str:
    """``3 Aug 2026``."""
    return _dated(value, gettext("d MMM y"))


def leave_year(year: LeaveYear) -> str:
    """``2026``, or ``1 Apr 2026 to 31 Mar 2027``."""
    if "/" not in year.name:
        return year.name
    return gettext(
        "{first} to {last}", first=plain_day(year.first_day), last=plain_day(year.last_day)
    )


def short_day(value: date) -> str:
    """``Mon 3 Aug``."""
    return _dated(value, gettext("EEE d MMM"))


def day_of_year(value: date) -> str:
    """``3 Aug``."""
    return _dated(value, gettext("d MMM"))


def weekday_and_number(value: date) -> str:
    """``Mon 3``."""
    return _dated(value, gettext("EEE d"))


def span(
    start_date: date,
    end_date: date,
    start_half_day: HalfDay | None = None,
    end_half_day: HalfDay | None = None,
) -> str:
    """A span of dates, both inclusive, with halves: ``Mon 3 from midday to Fri 7 Aug 2026``."""
    last = day(end_date)
    if start_date == end_date:
        return _one_day(last, start_half_day, end_half_day)
    first = _first_day(start_date, end_date)
    match start_half_day == "pm", end_half_day == "am":
        case True, True:
            return gettext("{first} from midday to {last} until midday", first=first, last=last)
        case True, False:
            return gettext("{first} from midday to {last}", first=first, last=last)
        case False, True:
            return gettext("{first} to {last} until midday", first=first, last=last)
    return gettext("{first} to {last}", first=first, last=last)


def short_span(first_day: date, last_day: date) -> str:
    """``Mon 3 to Fri 7 Aug``; with the years if there are two."""
    if first_day == last_day:
        return short_day(first_day)
    is_one_year = first_day.year == last_day.year
    last = short_day(last_day) if is_one_year else day(last_day)
    return gettext("{first} to {last}", first=_first_day(first_day, last_day), last=last)


def _first_day(start_date: date, end_date: date) -> str:
    """The first day of a span, without what its last day says already."""
    if start_date.year != end_date.year:
        return day(start_date)
    if start_date.month != end_date.month:
        return short_day(start_date)
    return weekday_and_number(start_date)


def dates(leave: Dated) -> str:
    """The dates of leave, as ``span``."""
    return span(leave.start_date, leave.end_date, leave.start_half_day, leave.end_half_day)


def month(number: int) -> str:
    """``August`` for 8."""
    return str(language.locale().months["stand-alone"]["wide"][number])


def month_of_year(value: date) -> str:
    """``August 2026``."""
    return str(format_skeleton("yMMMM", value, locale=language.locale()))


def weekday(number: int) -> str:
    """``Monday`` for 0."""
    return str(language.locale().days["stand-alone"]["wide"][number])


def short_weekday(number: int) -> str:
    """``Mon`` for 0."""
    return str(language.locale().days["stand-alone"]["abbreviated"][number])


def amount(half_days: Amount) -> str:
    """``2.5 days``, ``1 day``, ``half a day``."""
    if half_days == 1:
        return gettext("half a day")
    return ngettext(
        "{days} day", "{days} days", plural_number(half_days), days=number(half_days / 2)
    )


def plural_number(half_days: Amount) -> int:
    """The number whose plural form days take: for 1.5 days 2, and in French 1."""
    if half_days % 2 == 0:
        return half_days // 2
    return 1 if language.locale().plural_form(float(half_days / 2)) == "one" else 2


def holiday(name: str, country_code: str | None, day: date) -> str:
    """A public holiday's name, in the current language if its country's calendar has it."""
    return holiday_calendar.translated(name, country_code, day, language.locale().language)


def leave_type(leave_type: LeaveType) -> str:
    """The type's name in the current language."""
    return type_names.shown(leave_type.type_name)


def type_name(name: TypeName) -> str:
    """As ``leave_type``, of a value that has only the name."""
    return type_names.shown(name)


def allowance(allowance: Allowance) -> str:
    """The allowance's name, in the current language if it is called like a type of Hiatus."""
    return type_names.shown(TypeName(allowance.name))


def role(value: str) -> str:
    """``Approver`` for ``approver``."""
    return gettext(_ROLES[value])


def number(value: float | Fraction) -> str:
    """``2.5``, with the locale's decimal separator and at most two decimals."""
    return _formatted(round(float(value), 2), language.locale())


# Home has many numbers, and Babel takes as long for each one as a short query does.
@lru_cache(maxsize=4_096)
def _formatted(value: float, locale: Locale) -> str:
    return str(format_decimal(value, locale=locale))


def with_allowance(line: str, allowance_name: str | None) -> str:
    """A line about a balance; None for the default allowance, which needs no name."""
    if allowance_name is None:
        return line
    return gettext("{balance} ({allowance})", balance=line, allowance=allowance_name)


def left(half_days: Amount, year_name: str) -> str:
    """The balance after a request: ``After this: 2.5 days left in 2026``."""
    if half_days < 0:
        over = amount(-half_days)
        return gettext("After this: overdrawn by {amount} in {year}", amount=over, year=year_name)
    if half_days == 0:
        return gettext("After this: no days left in {year}", year=year_name)
    return gettext("After this: {amount} left in {year}", amount=amount(half_days), year=year_name)


def left_before_and_after(before_half_days: Amount, after_half_days: Amount, year_name: str) -> str:
    """The balance before and after a request: ``20 → 17.5 days left in 2026``."""
    before = number(before_half_days / 2)
    if after_half_days < 0:
        return gettext(
            "{before} → overdrawn by {amount} in {year}",
            before=before,
            amount=amount(-after_half_days),
            year=year_name,
        )
    if after_half_days == 0:
        return gettext("{before} → no days left in {year}", before=before, year=year_name)
    after = amount(after_half_days)
    return gettext("{before} → {after} left in {year}", before=before, after=after, year=year_name)


def moment(instant: datetime, timezone: str) -> str:
    """``2 Jun 2026, 10:05`` in an IANA time zone."""
    local = instant.astimezone(ZoneInfo(timezone))
    return _dated(local, gettext("d MMM y, HH:mm"))


def clock(value: str) -> str:
    """``13:00``, of a time such as ``13:00``."""
    pattern = gettext("HH:mm")
    return format_time(time.fromisoformat(value), pattern, locale=language.locale())


def quoted(text: str) -> str:
    """A short text in the quotation marks of the language."""
    return gettext("“{words}”", words=layout.cut(text, layout.MAX_NAME))


def names(people: Sequence[str], most: int = _MAX_NAMES) -> str:
    """``Grace, Hedy and Ada``; names beyond ``most`` are counted."""
    shown = list(people[:most])
    if more := len(people) - len(shown):
        shown.append(ngettext("{count} more", "{count} more", more))
    return format_list(shown, locale=language.locale()) if shown else ""


def awaiting(approver_names: Sequence[str], *, awaits_reader: bool) -> str:
    """Who has to decide, the reader first: ``Waiting for you and Hedy``, ``Awaiting Hedy``."""
    approvers = [layout.cut(name, layout.MAX_NAME) for name in approver_names]
    if awaits_reader:
        # The object of the sentence: in German, "dich".
        reader = gettext("you")
        return gettext("Waiting for {names}", names=names([reader, *approvers]))
    if not approvers:
        return gettext("Awaiting a decision")
    return gettext("Awaiting {names}", names=names(approvers))


# Ten names with types and dates fit in a section.
_MAX_NAME_ELSEWHERE: Final = 35


def working_elsewhere(leave: Sequence[Absence], first_day: date, last_day: date) -> list[str]:
    """``Working elsewhere: Ada Lovelace (Home office)`` in plain text; no line without such leave.

    Dates are named of leave that is only a part of these days.
    """
    if not leave:
        return []
    shown = [_elsewhere(each, first_day, last_day) for each in leave[:MAX_ELSEWHERE]]
    if len(leave) > len(shown):
        shown.append(gettext("others"))
    people = format_list(shown, locale=language.locale())
    return [gettext("Working elsewhere: {people}", people=people)]


def _elsewhere(leave: Absence, first_day: date, last_day: date) -> str:
    name = gettext("You") if leave.is_own else layout.cut(leave.person_name, _MAX_NAME_ELSEWHERE)
    name = layout.one_line(name)
    facts = []
    if leave.summary_type is not None:
        facts.append(
            layout.one_line(layout.cut(type_name(leave.summary_type), _MAX_NAME_ELSEWHERE))
        )
    begins_later = leave.start_date > first_day or leave.start_half_day is not None
    if begins_later or leave.end_date < last_day or leave.end_half_day is not None:
        facts.append(dates(leave))
    return f"{name} ({', '.join(facts)})" if facts else name


def labelled(label: str, text: str) -> str:
    """``Grace Hopper: Mon 3 Aug 2026``; in French, a space comes before the colon."""
    return gettext("{label}: {text}", label=label, text=text)


def with_cover(line: str, cover_name: str | None) -> str:
    """A line about leave, and who covers for the person; both in the same markup."""
    return gettext("{line}, covered by {name}", line=line, name=cover_name) if cover_name else line


def few_days(days: Sequence[str]) -> str:
    """Days that are shown already: the first four, and how many more there are."""
    return _with_more(days[:_MAX_DAYS_NAMED], len(days) - _MAX_DAYS_NAMED)


def few_runs(days: Days) -> str:
    """The first four days, or spans of days that follow one another, and how many more days."""
    runs = days.runs()
    shown = [short_span(first, last) for first, last in runs[:_MAX_DAYS_NAMED]]
    more = sum((last - first).days + 1 for first, last in runs[_MAX_DAYS_NAMED:])
    return _with_more(shown, more)


def _with_more(shown: Sequence[str], more: int) -> str:
    days = list(shown)
    if more > 0:
        days.append(ngettext("{count} more day", "{count} more days", more))
    return ", ".join(days)


def _one_day(shown: str, start: HalfDay | None, end: HalfDay | None) -> str:
    if start == "pm" or (start is None and end == "pm"):
        return gettext("{day}, afternoon", day=shown)
    if end == "am" or (end is None and start == "am"):
        return gettext("{day}, morning", day=shown)
    return shown


def colleagues_off(shown: Sequence[ColleagueOff], count: int, pending: int = 0) -> list[str]:
    """A heading, a line for each, and the number of the ``count`` that is not shown.

    ``pending`` is the number of their pending requests, which are told without names.
    """
    more = count - len(shown)
    lines = [f"• {colleague_off(colleague)}" for colleague in shown]
    if more > 0:
        lines.append(ngettext("… and {count} more", "… and {count} more", more))
    if lines:
        lines.insert(0, gettext("Also off:"))
    if pending > 0:
        lines.append(
            ngettext(
                "{count} request of a colleague for these days is pending.",
                "{count} requests of colleagues for these days are pending.",
                pending,
            )
        )
    return lines


def first_colleague_off(shown: Sequence[ColleagueOff], count: int) -> str:
    """The first in one line, and how many more there are."""
    also_off = gettext("Also off: {colleague}", colleague=colleague_off(shown[0]))
    more = count - 1
    if more < 1:
        return also_off
    return ngettext(
        "{also_off}, and {count} more", "{also_off}, and {count} more", more, also_off=also_off
    )


def colleague_off(colleague: ColleagueOff) -> str:
    """Name, dates and type of one, and whether the leave is pending."""
    when = dates(colleague)
    what = (
        gettext("Away")
        if colleague.type_name is None
        else layout.cut(type_name(colleague.type_name), layout.MAX_NAME)
    )
    if colleague.is_pending:
        what = gettext("{leave_type}, pending", leave_type=what)
    return labelled(layout.cut(colleague.name, layout.MAX_NAME), f"{when} ({what})")
