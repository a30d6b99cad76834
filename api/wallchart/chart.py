"""What the page and the picture of a wallchart have in common, in words and cells.

A cell shows one state, or one for each half of the day.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import groupby
from typing import Final, Literal

from babel.dates import format_date, format_interval, format_skeleton, get_day_names

from api.wallchart.wallchart_requests import WallchartRequest
from api.wallchart.wallchart_texts import TEXTS
from storage.calendars.wallchart import Day, Off, ShownType, Wallchart
from storage.rules import counted_days, holiday_calendar
from storage.rules.counted_days import AFTERNOON, MORNING

# "elsewhere" is leave of a type that does not count as away.
Kind = Literal["work", "off", "holiday", "leave", "elsewhere", "pending"]

# Leave that is "Away" has no colour of its own.
AWAY_COLOUR: Final = "#5f6f70"


@dataclass(frozen=True, kw_only=True, slots=True)
class Half:
    """One half of a day, or both if they are the same. ``text`` is for screen readers."""

    kind: Kind
    text: str = ""
    letter: str = ""
    colour: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """``halves`` are one for the whole day or two."""

    halves: tuple[Half, ...]
    is_today: bool

    @property
    def text(self) -> str:
        return ", ".join(half.text for half in self.halves if half.text)


def _cell(day: Day, texts: Mapping[str, str], language: str, today: date) -> Cell:
    morning = _half(day, MORNING, day.morning, texts, language)
    afternoon = _half(day, AFTERNOON, day.afternoon, texts, language)
    halves: tuple[Half, ...] = (morning,)
    if morning != afternoon:
        halves = (
            _named(morning, texts["morning"]),
            _named(afternoon, texts["afternoon"]),
        )
    return Cell(halves=halves, is_today=day.date == today)


def _half(day: Day, half: int, off: Off | None, texts: Mapping[str, str], language: str) -> Half:
    if off is not None:
        leave_type = off.leave_type
        return Half(
            kind="pending" if off.is_pending else kind_of(leave_type),
            text=f"{type_name(leave_type, texts)} ({texts['pending']})"
            if off.is_pending
            else meaning(leave_type, texts),
            letter=leave_type.letter,
            colour=leave_type.colour or AWAY_COLOUR,
        )
    if day.holiday & half:
        name = holiday_calendar.translated(
            day.holiday_name or "", day.holiday_country, day.date, language
        )
        return Half(kind="holiday", text=f"{texts['public_holiday']}: {name}")
    return Half(kind="work" if day.worked & half else "off")


def _named(half: Half, when: str) -> Half:
    return replace(half, text=f"{half.text}, {when}" if half.text else "")


def kind_of(leave_type: ShownType) -> Kind:
    return "leave" if leave_type.is_away else "elsewhere"


def type_name(leave_type: ShownType, texts: Mapping[str, str]) -> str:
    return leave_type.name or texts["away" if leave_type.is_away else "elsewhere"]


def meaning(leave_type: ShownType, texts: Mapping[str, str]) -> str:
    """The type's name, and that its people work where it does not count as away."""
    name = type_name(leave_type, texts)
    if leave_type.is_away or leave_type.name is None:
        return name
    return f"{name} ({texts['working']})"


def ink_on(colour: str) -> str:
    """Black or white, whichever is easier to read on ``#rrggbb``. Source: WCAG 2.2."""
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#ffffff" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else "#000000"


def _linear(channel: float) -> float:
    if channel <= 0.04045:
        return channel / 12.92
    linear: float = ((channel + 0.055) / 1.055) ** 2.4
    return linear


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownDay:
    """``text`` is for screen readers; ``is_off``: the organisation does not work on that day."""

    number: int
    letter: str
    text: str
    is_off: bool
    is_today: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownMonth:
    """The part of a month that a chart of several months has; without a name if it is too short."""

    name: str
    day_count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownPerson:
    name: str
    is_viewer: bool
    cells: list[Cell]


@dataclass(frozen=True, kw_only=True, slots=True)
class LegendItem:
    name: str
    kind: Kind
    letter: str
    colour: str


class ShownChart:
    def __init__(
        self,
        chart: Wallchart,
        request: WallchartRequest,
        language: str,
        today: date,
    ) -> None:
        self.texts = TEXTS[language]
        locale = self.texts["lang"].replace("-", "_")
        self.is_display = request.is_display
        if self.is_display:
            when = format_interval(chart.first_day, chart.last_day, "yMMMd", locale=locale)
        else:
            when = format_skeleton("yMMMM", chart.first_day, locale=locale)
        department = chart.config.departments.get(request.department_id or "")
        people = self.texts[request.scope] if department is None else department.name
        self.caption = f"{people}, {when}"
        self.people = [
            ShownPerson(
                name=person.name,
                is_viewer=person.is_viewer,
                cells=[_cell(day, self.texts, language, today) for day in person.days],
            )
            for person in chart.people
        ]
        week = counted_days.working_week(chart.config.organisation.working_days)
        days = [
            chart.first_day + timedelta(days=number)
            for number in range((chart.last_day - chart.first_day).days + 1)
        ]
        names = get_day_names("short", locale=locale)
        self.days = [
            ShownDay(
                number=day.day,
                letter=names[day.weekday()],
                text=self._text(day, locale, today),
                is_off=not week[day.weekday()],
                is_today=day == today,
            )
            for day in days
        ]
        self.months = _months(days, locale) if self.is_display else []
        self.legend = [
            LegendItem(
                name=meaning(leave_type, self.texts),
                kind=kind_of(leave_type),
                letter=leave_type.letter,
                colour=leave_type.colour or AWAY_COLOUR,
            )
            for leave_type in chart.leave_types
        ]
        # Only the viewer's own pending leave is shown.
        self.shows_pending = any(
            half.kind == "pending"
            for person in self.people
            if person.is_viewer
            for cell in person.cells
            for half in cell.halves
        )

    def _text(self, day: date, locale: str, today: date) -> str:
        text = format_date(day, "full" if self.is_display else "EEEE d", locale=locale)
        return f"{text}, {self.texts['today']}" if day == today else text


def _months(days: list[date], locale: str) -> list[ShownMonth]:
    months = [[*each] for _, each in groupby(days, key=lambda day: (day.year, day.month))]
    return [
        ShownMonth(
            name=format_date(each[0], "LLLL", locale=locale) if len(each) > 2 else "",
            day_count=len(each),
        )
        for each in months
    ]
