"""What the page and the picture of a wallchart have in common, in words and cells."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby

from babel.dates import format_date, format_interval, format_skeleton, get_day_names

from api.wallchart.cells import AWAY_COLOUR, Cell, Cells, type_name
from api.wallchart.wallchart_requests import DisplayRequest, WallchartRequest
from api.wallchart.wallchart_texts import TEXTS
from storage.access.wallcharts.chart_values import Wallchart
from storage.rules import working_week


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
    letter: str
    colour: str


class ShownChart:
    def __init__(
        self,
        chart: Wallchart,
        request: WallchartRequest | DisplayRequest,
        language: str,
        today: date,
    ) -> None:
        self.texts = TEXTS[language]
        locale = self.texts["lang"].replace("-", "_")
        self.is_display = isinstance(request, DisplayRequest)
        if self.is_display:
            when = format_interval(chart.first_day, chart.last_day, "yMMMd", locale=locale)
        else:
            when = format_skeleton("yMMMM", chart.first_day, locale=locale)
        department = chart.config.departments.get(request.department_id or "")
        scope = "org" if isinstance(request, DisplayRequest) else request.scope
        people = self.texts[scope] if department is None else department.name
        self.caption = f"{people}, {when}"
        cells = Cells(self.texts, language, today)
        self.people = [
            ShownPerson(name=person.name, is_viewer=person.is_viewer, cells=cells.of(person))
            for person in chart.people
        ]
        week = working_week.working_week(chart.config.organisation.working_days)
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
                name=type_name(leave_type, self.texts),
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
