"""Who is off, by person and day: as a table, and as lines for screen readers.

Screen readers get the lines, with every day in words, in a message's text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Final

from slack_sdk.models.blocks import TableBlock

from bot.base.block_kit import Block
from bot.base.language import gettext
from bot.blocks import text, words
from storage.access.wallchart import Day, Off, PersonDays, ShownType, Wallchart
from storage.base.values import HalfDay
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
        f"{HOLIDAY} {words.short_day(day)}: {text.name(holiday)}" for day, holiday in holidays(days)
    ]
    return text.cut(" · ".join(meanings), text.MAX_SECTION)


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


def lines(chart: Wallchart) -> list[str]:
    """A line for each leave, in plain text: ``Grace Hopper: Mon 3 August 2026 (Annual leave)``."""
    return [
        f"• {name(person)}: {_when(leave)} ({type_name(leave.off)})"
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
    return [_raw(name(person) or "?"), *cells]


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
    shown = gettext("Away") if leave_type.name is None else text.name(leave_type.name)
    return f"{emoji}{text.escaped(leave_type.letter)} {shown}"


def type_name(off: Off) -> str:
    shown = gettext("Away")
    if off.leave_type.name is not None:
        shown = text.cut(off.leave_type.name, _MAX_NAME)
    return gettext("{leave_type}, pending", leave_type=shown) if off.is_pending else shown


def name(person: PersonDays) -> str:
    if person.is_viewer:
        return gettext("You")
    return text.one_line(text.cut(person.name, _MAX_NAME))


def _when(leave: Leave) -> str:
    return words.span(leave.start_date, leave.end_date, leave.start_half_day, leave.end_half_day)
