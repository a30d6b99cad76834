"""The calendar of who is off, by person and day: a table in messages, lines in modals.

Screen readers get the lines, with every day in words, in a message's text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import groupby
from typing import Final, Literal, get_args

from slack_sdk.models.blocks import TableBlock

from bot.base import ids
from bot.base.block_kit import Block, Message, View
from bot.base.language import gettext, gettext_noop, ngettext
from bot.blocks import layout, words
from storage.base.leave_values import HalfDay
from storage.calendars.wallchart import Day, Off, PersonDays, ShownType, Wallchart
from storage.rules import counted_days
from storage.rules.counted_days import AFTERNOON, MORNING, NOTHING

# Two weeks: ten columns where people work on five days a week, at most 14 of Slack's 20.
DAY_COUNT: Final = 14
# With the longest names and emoji, the table has fewer than Slack's 10,000 characters.
MAX_PEOPLE: Final = 15
_MAX_NAME: Final = 35
# Standard emoji have up to 54 characters, which count as those of the table.
_MAX_EMOJI: Final = 30
_NOT_OFF: Final = "·"
_NOT_WORKED: Final = "–"
HOLIDAY: Final = "🎉"


@dataclass(frozen=True, kw_only=True, slots=True)
class Leave:
    """Leave of one type on consecutive working days."""

    off: Off
    start_date: date
    end_date: date
    start_half_day: HalfDay | None
    end_half_day: HalfDay | None


def columns(chart: Wallchart) -> list[date]:
    """The days on which the organisation works."""
    week = counted_days.working_week(chart.config.organisation.working_days)
    days = (day.date for day in chart.people[0].days) if chart.people else ()
    return [day for day in days if week[day.weekday()] != NOTHING]


def table(chart: Wallchart) -> Block:
    """A row for each person. The chart has at most ``MAX_PEOPLE`` people and ``DAY_COUNT`` days."""
    shown = columns(chart)
    heading = [gettext("Name"), *(words.weekday_and_number(day) for day in shown)]
    # Cells as plain dictionaries: `slack_sdk` takes 4 ms to convert 120 of its own.
    rows = [[_raw(title) for title in heading]]
    table = TableBlock(
        rows=[*rows, *(_row(person, set(shown)) for person in chart.people)],
        column_settings=[{"is_wrapped": True}],
    )
    return dict(table.to_dict())


def legend(chart: Wallchart) -> str:
    """What the cells mean, in mrkdwn; only what the chart shows."""
    days = [day for person in chart.people for day in person.days]
    meanings = [_type_meaning(leave_type) for leave_type in chart.leave_types]
    if any(off and off.is_pending for day in days for off in (day.morning, day.afternoon)):
        meanings.append(gettext("( ) pending"))
    meanings += [
        words.labelled(f"{HOLIDAY} {words.short_day(day)}", layout.name(holiday))
        for day, holiday in holidays(days)
    ]
    return layout.cut(" · ".join(meanings), layout.MAX_SECTION)


def holidays(days: Iterable[Day]) -> list[tuple[date, str]]:
    """The public holidays on working days, by date.

    Christmas Day has several German names, each country its own: only the first is shown.
    """
    shown: dict[tuple[date, str], str] = {}
    for day in days:
        if day.worked and day.holiday_name:
            name = words.holiday(day.holiday_name, day.holiday_country, day.date)
            shown.setdefault((day.date, day.holiday_name), name)
    return sorted({(day, name) for (day, _), name in shown.items()})


def leave_lines(chart: Wallchart) -> list[str]:
    """A line for each leave, in plain text: ``Grace Hopper: Mon 3 Aug 2026 (Annual leave)``."""
    return [
        words.labelled(f"• {person_name(person)}", f"{words.dates(leave)} ({type_name(leave.off)})")
        for person in chart.people
        for leave in leave_of(person)
    ]


def leave_of(person: PersonDays) -> list[Leave]:
    """The person's leave, earliest first; days off work do not end it."""
    halves = [
        (day.date, half, off)
        for day in person.days
        for half, mask, off in (("am", MORNING, day.morning), ("pm", AFTERNOON, day.afternoon))
        if off is not None or day.worked & ~day.holiday & mask
    ]
    return [
        _leave(off, [(day, half) for day, half, _ in run])
        for off, run in groupby(halves, key=lambda half: half[2])
        if off is not None
    ]


def _leave(off: Off, halves: Sequence[tuple[date, str]]) -> Leave:
    (start_date, start_half), (end_date, end_half) = halves[0], halves[-1]
    return Leave(
        off=off,
        start_date=start_date,
        end_date=end_date,
        start_half_day="pm" if start_half == "pm" else None,
        end_half_day="am" if end_half == "am" else None,
    )


def _row(person: PersonDays, shown: set[date]) -> list[Block]:
    cells = [_cell(day) for day in person.days if day.date in shown]
    return [_raw(person_name(person) or "?"), *cells]


def _cell(day: Day) -> Block:
    worked = day.worked & ~day.holiday
    morning = day.morning if worked & MORNING or day.morning else day.afternoon
    afternoon = day.afternoon if worked & AFTERNOON or day.afternoon else day.morning
    if morning is None and afternoon is None:
        empty = _NOT_WORKED if day.worked == NOTHING else _NOT_OFF
        return _raw(HOLIDAY if day.worked and not worked else empty)
    if morning != afternoon:
        return _raw(" ".join(_half_letters(morning, afternoon)))
    assert morning is not None
    letter = _letter(morning)
    emoji_name = morning.leave_type.emoji or ""
    if not 0 < len(emoji_name) <= _MAX_EMOJI:
        return _raw(letter)
    parts = [{"type": "emoji", "name": emoji_name}, {"type": "text", "text": f" {letter}"}]
    section = {"type": "rich_text_section", "elements": parts}
    return {"type": "rich_text", "elements": [section]}


def _raw(shown: str) -> Block:
    return {"type": "raw_text", "text": shown}


def _half_letters(morning: Off | None, afternoon: Off | None) -> Iterable[str]:
    if morning is not None:
        yield gettext("{letter} am", letter=_letter(morning))
    if afternoon is not None:
        yield gettext("{letter} pm", letter=_letter(afternoon))


def _letter(off: Off) -> str:
    return f"({off.leave_type.letter})" if off.is_pending else off.leave_type.letter


def _type_meaning(leave_type: ShownType) -> str:
    emoji = f":{leave_type.emoji}: " if leave_type.emoji else ""
    if leave_type.name is None:
        shown = _hidden_type(leave_type)
    else:
        shown = _with_working(leave_type, layout.name(leave_type.name))
    return f"{emoji}{layout.escaped(leave_type.letter)} {shown}"


def type_name(off: Off) -> str:
    leave_type = off.leave_type
    if leave_type.name is None:
        shown = _hidden_type(leave_type)
    else:
        shown = layout.cut(leave_type.name, _MAX_NAME)
    if off.is_pending:
        return gettext("{leave_type}, pending", leave_type=shown)
    return shown if leave_type.name is None else _with_working(leave_type, shown)


def _hidden_type(leave_type: ShownType) -> str:
    return gettext("Away") if leave_type.is_away else gettext("Working elsewhere")


def _with_working(leave_type: ShownType, name: str) -> str:
    return name if leave_type.is_away else gettext("{leave_type}, working", leave_type=name)


def person_name(person: PersonDays) -> str:
    if person.is_viewer:
        return gettext("You")
    return layout.one_line(layout.cut(person.name, _MAX_NAME))


CalendarScope = Literal["team", "department", "everyone"]

SCOPE_NAMES: Final[dict[CalendarScope, str]] = {
    "team": gettext_noop("Your team"),
    "department": gettext_noop("Your department"),
    "everyone": gettext_noop("Everyone"),
}
_WEEK: Final = timedelta(weeks=1)
# As far as the calendar on the web.
_PAST: Final = timedelta(weeks=52)
_AHEAD: Final = timedelta(weeks=104)


@dataclass(frozen=True, kw_only=True, slots=True)
class CalendarPage:
    """``first_day`` is a Monday; ``people`` is the page of people, from 1."""

    scope: CalendarScope
    first_day: date
    people: int = 1

    def packed(self) -> str:
        """As the value of a button."""
        return f"{self.scope} {self.first_day.isoformat()} {self.people}"

    @classmethod
    def unpacked(cls, packed: str) -> CalendarPage | None:
        """The inverse of ``packed``; None for any other value."""
        scope, _, rest = packed.partition(" ")
        first_day, _, people = rest.partition(" ")
        known = next((each for each in get_args(CalendarScope) if each == scope), None)
        try:
            monday = date.fromisoformat(first_day)
            return known and cls(scope=known, first_day=monday, people=int(people))
        except ValueError:
            return None

    def within(self, today: date) -> CalendarPage:
        """The page in the weeks that can be shown, beginning on a Monday."""
        day = min(max(self.first_day, today - _PAST), today + _AHEAD)
        return replace(self, first_day=day - timedelta(days=day.weekday()))


def buttons(shown: CalendarPage, chart: Wallchart) -> Block:
    """One week back and forth, whose days are shown, and further people."""
    back = replace(shown, first_day=shown.first_day - _WEEK).packed()
    forth = replace(shown, first_day=shown.first_day + _WEEK).packed()
    elements = [
        layout.button(gettext("Week back"), ids.CALENDAR_BACK, back),
        layout.button(gettext("Week forward"), ids.CALENDAR_FORTH, forth),
        _scopes(shown),
    ]
    if chart.page > 1:
        first = replace(shown, people=1).packed()
        elements.append(layout.button(gettext("First people"), ids.CALENDAR_FIRST, first))
    if chart.page < chart.pages:
        following = replace(shown, people=chart.page + 1).packed()
        elements.append(layout.button(gettext("Next people"), ids.CALENDAR_NEXT, following))
    return layout.actions(*elements)


def _scopes(shown: CalendarPage) -> Block:
    options = {
        scope: {
            "text": layout.plain(gettext(name), layout.MAX_OPTION),
            "value": replace(shown, scope=scope, people=1).packed(),
        }
        for scope, name in SCOPE_NAMES.items()
    }
    return {
        "type": "static_select",
        "action_id": ids.CALENDAR_SCOPE,
        "options": list(options.values()),
        "initial_option": options[shown.scope],
    }


# For the number of lines that are left out.
_ROOM_FOR_MORE: Final = 40


def message(shown: CalendarPage, chart: Wallchart) -> Message:
    heading = title(shown, chart)
    blocks: list[Block] = [layout.section(f"*{layout.escaped(heading)}*")]
    if chart.people:
        blocks.append(table(chart))
    if meanings := legend(chart):
        blocks.append(layout.quiet(meanings))
    blocks.append(buttons(shown, chart))
    return {"text": _in_words(heading, chart), "blocks": blocks}


def title(shown: CalendarPage, chart: Wallchart) -> str:
    """Whose days, which days, and which of several pages of people; plain text."""
    scope = gettext(SCOPE_NAMES[shown.scope])
    heading = f"{scope}, {words.span(chart.first_day, chart.last_day)}"
    if chart.pages == 1:
        return heading
    return gettext(
        "{heading} (page {page} of {pages})", heading=heading, page=chart.page, pages=chart.pages
    )


def _in_words(heading: str, chart: Wallchart) -> str:
    """Everything that the table shows, within the length of a message's text."""
    lines = leave_lines(chart) or [gettext("No one is out.")]
    said = [layout.escaped(f"{heading}:")]
    shown = layout.that_fit(lines, layout.MAX_MESSAGE - _ROOM_FOR_MORE - len(said[0]))
    said += map(layout.escaped, shown)
    if more := len(lines) - len(shown):
        said.append(ngettext("… and {count} more", "… and {count} more", more))
    return "\n".join(said)


# So long that the lines of a day, at most one holiday and one leave a person, fit in a section.
_MAX_HOLIDAY: Final = 80
_MAX_OFF: Final = 100


def view(shown: CalendarPage, chart: Wallchart, web_url: str | None) -> View:
    """``web_url`` is secret and leads to the viewer's wallchart; None before they have a feed."""
    blocks: list[Block] = [
        buttons(shown, chart),
        layout.paragraph(title(shown, chart)),
    ]
    blocks += [_day(day, chart) for day in columns(chart)]
    if web_url is not None:
        blocks.append(
            layout.section(f"<{web_url}|{gettext('See who is out this month in your browser')}>")
        )
    return layout.modal(gettext("Calendar"), blocks)


def _day(day: date, chart: Wallchart) -> Block:
    lines = list(_lines(day, chart)) or [gettext("No one is out.")]
    heading = f"*{words.short_day(day)}*"
    return layout.section("\n".join([heading, *lines]))


def _lines(day: date, chart: Wallchart) -> Iterator[str]:
    """The public holidays of that day, and everyone who is off."""
    days = [(person, each) for person in chart.people for each in person.days if each.date == day]
    for _, name in holidays(each for _, each in days):
        yield f"{HOLIDAY} {layout.escaped_within(name, _MAX_HOLIDAY)}"
    for person, each in days:
        if each.morning is not None or each.afternoon is not None:
            yield f"• {layout.escaped_within(_off(person, each), _MAX_OFF)}"


def _off(person: PersonDays, day: Day) -> str:
    kinds = []
    if day.morning is not None and day.morning == day.afternoon:
        kinds.append(type_name(day.morning))
    else:
        if day.morning is not None:
            name = type_name(day.morning)
            kinds.append(gettext("{leave_type}, morning", leave_type=name))
        if day.afternoon is not None:
            name = type_name(day.afternoon)
            kinds.append(gettext("{leave_type}, afternoon", leave_type=name))
    return words.labelled(person_name(person), "; ".join(kinds))
